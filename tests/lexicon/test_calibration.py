"""The correction of candidates is the same both ways, and the one that is written down."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.lexicon import calibration
from pair2vec.lexicon.calibration import SUPPORTING, CandidateCalibration, logit
from pair2vec.relations.definitions import fitted_definitions
from pair2vec.relations.relations import Relations
from pair2vec.relations.word_forms import is_form

WORDS = """
    the , . or in hot cold warm cool cheap dear big large small car cars city paris france road
""".split()
EXAMPLES = [word for known in fitted_definitions() for word in known.examples[0]]
PAIRS = [("hot", "cold"), ("car", "road"), ("paris", "france"), ("big", "large")]
# A car says nothing of another word and cars.
PAIRS += [(word, "cars") for word in ("dear", "city", "road", "hot", "small", "paris")]


@pytest.fixture(scope="module", params=[True, False], ids=["knows examples", "knows none"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    words = [*dict.fromkeys([*WORDS, *(EXAMPLES if request.param else [])])]
    return load(save_tiny_model(tmp_path_factory.mktemp("taught") / "model", words, hidden=6))


def plain_features(model: Pair2vec, x: str, relation: str, y: str) -> list[float]:
    """As the module's docstring defines them, pair by pair."""
    relations = model.relations()
    ids, vectors = model.vocabulary.ids, model.unit_words
    column = relations.names.index(relation)

    def log_odds(first: str, second: str) -> float:
        return float(logit(relations.predict_proba([(first, second)])[:, column])[0])

    def similar(word: str, other: str) -> list[str]:
        order = np.argsort(-vectors @ vectors[ids[word]])
        found = [model.vocabulary.words[n] for n in order]
        return [
            one
            for one in found
            if one.isalpha() and one not in {word, other} and not is_form(one, other)
        ][:SUPPORTING]

    sides = (
        np.mean([log_odds(one, y) for one in similar(x, y)]),
        np.mean([log_odds(x, one) for one in similar(y, x)]),
    )
    is_similar = relation in calibration.SIMILAR
    related = log_odds(x, y)
    if {*EXAMPLES} <= ids.keys():
        fitted = Relations(fitted_definitions(), model.space).predict_proba([(x, y)])[:, -1]
        related = float(-logit(fitted)[0])
    return [
        log_odds(x, y),
        float(vectors[ids[x]] @ vectors[ids[y]]) * is_similar,
        float(np.mean(sides)),
        related,
    ]


def features_of(model: Pair2vec, triples: list[tuple[str, str, str]]) -> NDArray[np.float64]:
    relations, ids = model.relations(), model.vocabulary.ids
    x, y = (np.array([ids[triple[n]] for triple in triples]) for n in (0, 2))
    columns = np.array([relations.names.index(name) for _, name, _ in triples])
    probabilities = relations.probabilities(x, y)[np.arange(len(x)), columns]
    return CandidateCalibration(model, relations, None).features(x, y, columns, probabilities)


def test_features_are_those_of_each_pair_by_itself(
    model: Pair2vec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "SIMILAR", frozenset(["antonym"]))
    triples = [(x, name, y) for x, y in PAIRS for name in ("antonym", "hyponym")]
    expected = [plain_features(model, *triple) for triple in triples]
    np.testing.assert_allclose(features_of(model, triples), expected, atol=1e-4)


def test_an_entry_and_its_inverse_differ_only_by_what_is_fitted(model: Pair2vec) -> None:
    one = features_of(model, [(x, "hypernym", y) for x, y in PAIRS])
    inverse = features_of(model, [(y, "hyponym", x) for x, y in PAIRS])
    np.testing.assert_allclose(one[:, :3], inverse[:, :3], atol=1e-4)
    intercepts = calibration.INTERCEPTS
    relations = model.relations()
    for name in ("hypernym", "hyponym"):
        definition = relations.definition(name)
        assert calibration.intercept(definition) == intercepts["hypernym"]
    assert "hyponym" not in intercepts


def test_support_and_similarity_speak_for_a_relation() -> None:
    assert min(calibration.WEIGHTS) > 0


def test_words_without_similar_ones_are_judged_by_themselves(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "model", [",", ".", "hot", "cold"], hidden=6))
    logits, _, support, _ = features_of(model, [("hot", "antonym", "cold")])[0]
    assert support == logits
