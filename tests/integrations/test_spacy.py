"""The relations of a text in a spaCy pipeline, and the matcher of them."""

import pickle
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from pair2vec.errors import UsageError

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402

from pair2vec.integrations.spacy import (  # noqa: E402
    NAME,
    RelationMatcher,
    make_relation_component,
)

TEXT = "The hotel is cheap, not expensive. Guitars are instruments. The guitar is cold."


@pytest.fixture(scope="module")
def nlp() -> Any:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe(NAME)
    return pipeline


def named(text: Any) -> list[tuple[str, str, str]]:
    return [(one.x.text, one.y.text, one.relation) for one in text._.relations]


def test_the_words_of_a_sentence_are_related(nlp: Any) -> None:
    doc = nlp(TEXT)
    found = [("cheap", "expensive", "antonym"), ("Guitars", "instruments", "hypernym")]
    assert named(doc) == found
    assert [named(sentence) for sentence in doc.sents] == [found[:1], found[1:], []]
    # A token has its relations to all others, whichever is first in the text.
    assert named(doc[3]) == found[:1]
    assert named(doc[6]) == [("expensive", "cheap", "antonym")]
    assert [one.relation for one in doc[10]._.relations] == ["hyponym"]
    relate = nlp.get_pipe(NAME).model.relate("cheap", "expensive", top=0)
    assert doc._.relations[0].probability == pytest.approx(relate.probability, abs=1e-4)


def test_settings_say_what_is_found(nlp: Any) -> None:
    def found(text: str, **config: object) -> list[tuple[str, str, str]]:
        blank = spacy.blank("en")
        blank.add_pipe(NAME, config=config)
        return named(blank(text))

    # Without sentences, a text is one.
    assert ("instruments", "guitar", "hyponym") in found(TEXT)
    assert found(TEXT, window=2) == [("Guitars", "instruments", "hypernym")]
    assert found(TEXT, relations=["hypernym"]) == [("Guitars", "instruments", "hypernym")]
    assert found("hot and cold", probability=1.0) == []
    # spaCy has these among its stop words.
    assert found("up and down") == []
    assert found("up and down", stop_words=True) == [("up", "down", "antonym")]
    for config, message in (
        ({"relations": ["cousin"]}, "relation 'cousin' is not one of synonym"),
        ({"window": 0}, "window is 0"),
        ({"probability": 2.0}, "probability is 2.0; it must be between 0 and 1"),
    ):
        with pytest.raises(UsageError, match=message):
            found(TEXT, **config)


def test_an_unknown_form_counts_as_its_lemma(nlp: Any) -> None:
    component = nlp.get_pipe(NAME)
    doc = Doc(nlp.vocab, ["Hottt", "or", "cold"], lemmas=["hot", "or", "cold"])
    assert named(component(doc)) == [("Hottt", "cold", "antonym")]


def test_a_pipeline_is_saved_with_its_settings(nlp: Any, tmp_path: Path) -> None:
    changed = spacy.blank("en")
    changed.add_pipe(NAME, config={"relations": ["antonym"], "window": 5, "unrelated": 0.5})
    settings = changed.get_pipe(NAME).settings()
    assert settings["model"] == "wikipedia"
    changed.to_disk(tmp_path / "pipeline")
    again = [spacy.load(tmp_path / "pipeline"), pickle.loads(pickle.dumps(changed))]
    other = spacy.blank("en")
    other.add_pipe(NAME)
    again.append(other.from_bytes(changed.to_bytes()))
    for pipeline in again:
        assert pipeline.get_pipe(NAME).settings() == settings
        assert named(pipeline(TEXT)) == [("cheap", "expensive", "antonym")]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of fork, in Python 3.12
def test_documents_keep_their_relations_and_processes_share_the_work(nlp: Any) -> None:
    docs = list(nlp.pipe([TEXT, "hot and cold", "Nothing."] * 2, n_process=2, batch_size=2))
    expected = [named(nlp(text)) for text in (TEXT, "hot and cold", "Nothing.")] * 2
    assert [named(doc) for doc in docs] == expected
    stored = DocBin(store_user_data=True, docs=docs).to_bytes()
    again = DocBin(store_user_data=True).from_bytes(stored).get_docs(nlp.vocab)
    assert [named(doc) for doc in again] == expected


def test_a_changed_text_is_not_read_with_old_relations(nlp: Any) -> None:
    doc = nlp(TEXT)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    with pytest.raises(UsageError, match="had 17 tokens when its relations were found, and has 16"):
        doc._.relations  # noqa: B018
    assert nlp.make_doc(TEXT)._.relations == []


def test_a_matcher_finds_relations_in_either_order(nlp: Any) -> None:
    doc = nlp(TEXT)
    seen: list[Any] = []
    matcher = RelationMatcher(nlp.vocab)
    kind = {"RELATION": "hypernym", "X": {"LOWER": {"IN": ["guitar", "guitars"]}}}
    matcher.add("KIND", [kind], on_match=lambda *found: seen.append(found))
    matcher.add("OPPOSITE", [{"RELATION": ["antonym", "synonym"], "PROBABILITY": 0.9}])
    matcher.add("NEVER", [{"RELATION": "hypernym", "Y": {"LOWER": "guitars"}}])
    number = nlp.vocab.strings
    found = [(number["KIND"], [8, 10]), (number["OPPOSITE"], [3, 6]), (number["OPPOSITE"], [6, 3])]
    assert matcher(doc) == found
    assert [(one[1], one[2]) for one in seen] == [(doc, 0)]
    second = list(doc.sents)[1]
    assert matcher(second) == [(number["KIND"], [0, 2])]
    turned = nlp("Instruments such as guitars.")
    assert matcher(turned) == [(number["KIND"], [3, 0])]
    assert "KIND" in matcher and len(matcher) == 3
    matcher.remove("KIND")
    assert "KIND" not in matcher
    assert matcher(doc) == found[1:]


def test_wrong_patterns_and_texts_are_refused(nlp: Any) -> None:
    matcher = RelationMatcher(nlp.vocab)
    for pattern, message in (
        ({}, "K: a pattern has no RELATION"),
        ({"RELATION": "antonym", "Z": {}}, "K: Z is not one of PROBABILITY, RELATION, X, Y"),
        ({"RELATION": "antonym", "X": {"LOWER": "hot", "OP": "+"}}, "X is one token"),
    ):
        with pytest.raises(UsageError, match=message):
            matcher.add("K", [pattern])
    with pytest.raises(UsageError, match="give a list of one or more patterns"):
        matcher.add("K", [])
    with pytest.raises(UsageError, match="'K' is not one of the matcher's names"):
        matcher.remove("K")
    with pytest.raises(UsageError, match="the text has no relations; add 'pair2vec_relations'"):
        matcher(nlp.make_doc(TEXT))


def test_an_installed_package_offers_the_component_by_name() -> None:
    path = Path(__file__).parents[2] / "pyproject.toml"
    offered = tomllib.loads(path.read_text())["project"]["entry-points"]["spacy_factories"]
    entry = EntryPoint(NAME, offered[NAME], "spacy_factories")
    assert entry.load() is make_relation_component
