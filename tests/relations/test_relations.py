"""Relations of words, on a model whose words have known relations."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tiny_model import save_tiny_model

import pair2vec
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray
from pair2vec.errors import UsageError
from pair2vec.relations.definitions import RelationDefinition, read_definitions
from pair2vec.relations.examples import find_examples, unrelated_pairs
from pair2vec.relations.features import PatternScores, RelationFeatures
from pair2vec.relations.regression import shift_prior
from pair2vec.relations.relations import Relations, neighbour_order
from pair2vec.text.vocabulary import UnknownWordError

OTHERS = "the , . and or is of in neither nor".split()
CONTENT = [f"{kind}{number}" for kind in "abcd" for number in range(12)]
DEFINITIONS = (
    RelationDefinition(
        name="like",
        examples=tuple((f"a{n}", f"b{n}") for n in range(10)),
        patterns=("X and Y",),
        symmetric=True,
    ),
    RelationDefinition(
        name="above",
        definition="y is above x",
        examples=tuple((f"c{n}", f"d{n}") for n in range(10)),
        patterns=("Y of X", "the X Y"),
    ),
)
PAIRS = st.lists(
    st.tuples(st.sampled_from(CONTENT), st.sampled_from(CONTENT)), min_size=1, max_size=8
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", OTHERS + CONTENT))


@pytest.fixture(scope="module")
def relations(model: Pair2vec) -> Relations:
    return Relations(DEFINITIONS, model.space)


@pytest.fixture(scope="module")
def bundled() -> Pair2vec:
    return pair2vec.load()


@settings(max_examples=30)
@given(pairs=PAIRS, unrelated=st.floats(0.01, 0.99))
def test_probabilities_sum_to_one_and_do_not_depend_on_the_other_pairs(
    relations: Relations, pairs: list[tuple[str, str]], unrelated: float
) -> None:
    found = relations.predict_proba(pairs, unrelated=unrelated)
    assert found.shape == (len(pairs), 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    assert (found >= 0).all()
    for pair, row in zip(pairs, found, strict=True):
        np.testing.assert_allclose(
            relations.predict_proba([pair], unrelated=unrelated)[0], row, atol=1e-4
        )


def test_names_end_with_none_and_no_pairs_give_no_rows(relations: Relations) -> None:
    assert relations.names == ("like", "above", "none")
    assert relations.predict_proba([]).shape == (0, 3)
    assert relations.predict([]) == []
    best = relations.predict_proba([("c0", "d0")]).argmax()
    assert relations.predict([("c0", "d0")]) == [relations.names[best]]


def test_features_are_those_of_plain_loops(model: Pair2vec) -> None:
    space = model.space
    examples = find_examples(DEFINITIONS, space)
    ids = model.vocabulary.ids
    spelled = list(model.vocabulary.words)
    spelled[ids["b3"]], spelled[ids["d3"]] = "known", "unknown"
    features = RelationFeatures(space, DEFINITIONS, examples, spelled)
    x, y = np.array([ids["a0"], ids["b3"]]), np.array([ids["b0"], ids["d3"]])
    values = features(x, y)
    assert features(x[:0], y[:0]).shape == (0, values.shape[1])
    assert features.relation_scores == slice(2 * space.pairs.dimension, features.words.start)

    def vector(first: int, second: int) -> FloatArray:
        both = [space.whiten(space.pairs([a], [b])) for a, b in ((first, second), (second, first))]
        whole: FloatArray = np.concatenate(both, axis=1)[0]
        return whole

    for row, (first, second) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        own = vector(first, second)
        np.testing.assert_allclose(values[row, : len(own)], own, atol=1e-5)
        for relation in range(2):
            cosines = sorted(
                float(own @ vector(a, b)) / 2 if not {a, b} & {first, second} else -1.0
                for a, b, label in zip(
                    examples.x.tolist(), examples.y.tolist(), examples.relation, strict=True
                )
                if label == relation
            )
            assert values[row, len(own) + relation] == pytest.approx(
                np.mean(cosines[-3:]), abs=1e-5
            )
        words = model.unit_words
        similarity = float(words[first] @ words[second])
        negated = similarity if row == 1 else 0.0
        scores = values[row, len(own) + 6 : len(own) + 8]
        assert scores == pytest.approx([similarity, negated], abs=1e-5)
        both = [words[first], words[second], words[first] * words[second]]
        np.testing.assert_allclose(values[row, features.words], np.concatenate(both), atol=1e-5)
        offsets = words[examples.y] - words[examples.x]
        for relation in range(2):
            shifted = words[first] + offsets[examples.relation == relation].mean(axis=0)
            cosine = float(shifted @ words[second] / np.linalg.norm(shifted))
            assert values[row, len(own) + 4 + relation] == pytest.approx(cosine, abs=1e-5)


def test_a_pattern_with_y_before_x_takes_the_pair_the_other_way_round(model: Pair2vec) -> None:
    space, ids = model.space, model.vocabulary.ids
    scores = PatternScores(
        space, [RelationDefinition(name="one", patterns=("Y of X", "X unseen Y"))]
    )
    x, y = [ids["a1"], ids["c2"], ids["a7"]], [ids["b2"], ids["d0"], ids["c7"]]
    found = scores(space.pairs(x, y), space.pairs(y, x))[:, 0]
    spelled = model.vocabulary.words
    plain = model.scores([(spelled[b], spelled[a]) for a, b in zip(x, y, strict=True)], ["X of Y"])
    # The same but for its unit: standard deviations of random pairs.
    differences, expected = np.diff(found), np.diff(plain[:, 0])
    np.testing.assert_allclose(differences / differences[0], expected / expected[0], rtol=1e-3)
    assert np.sign(differences[0]) == np.sign(expected[0])


def test_unrelated_pairs_are_no_examples_and_no_word_with_itself(model: Pair2vec) -> None:
    examples = find_examples(DEFINITIONS, model.space)
    x, y = unrelated_pairs(examples, model.unit_words, np.random.default_rng(0))
    related = set(zip(examples.x.tolist(), examples.y.tolist(), strict=True))
    drawn = set(zip(x.tolist(), y.tolist(), strict=True))
    assert not drawn & (related | {(b, a) for a, b in related})
    assert (x != y).all()
    assert min(x.min(), y.min()) >= 4
    assert len(x) > len(examples.x)


def test_another_share_of_unrelated_pairs_changes_the_odds_by_bayes_rule() -> None:
    found = np.array([[0.2, 0.3, 0.5]], np.float32)
    np.testing.assert_allclose(shift_prior(found, 0.5, 0.5), found, atol=1e-6)
    (rare,) = shift_prior(found, 0.5, 0.9)
    assert rare[2] / rare[0] == pytest.approx(0.5 / 0.2 * 9, rel=1e-5)
    assert rare[1] / rare[0] == pytest.approx(1.5, rel=1e-5)
    assert rare.sum() == pytest.approx(1, abs=1e-6)


def test_neighbours_are_the_words_with_the_highest_probability(
    relations: Relations, model: Pair2vec
) -> None:
    everyone = [word for word in OTHERS + CONTENT if word != "a3"]
    ids = model.vocabulary.ids
    cosines = model.unit_words[[ids[word] for word in everyone]] @ model.unit_words[ids["a3"]]
    ranks = np.array([ids[word] for word in everyone])
    # The cosine of the words counts in a symmetric relation.
    for column, (name, weight) in enumerate((("like", 2.0), ("above", 0.0))):
        found = relations.neighbours("a3", name, top=5)
        scores = relations.predict_proba([("a3", word) for word in everyone])[:, column]
        order = np.argsort(-neighbour_order(scores, cosines, ranks, weight), kind="stable")[:5]
        assert [match.score for match in found] == pytest.approx(scores[order].tolist(), abs=1e-4)
    among = relations.neighbours("a3", "like", among=["b3", "c3", "a3"])
    assert {match.word for match in among} == {"b3", "c3"}
    typed = relations.typed_neighbours("a3", top=3)
    assert {match.relation for match in typed} <= {"like", "above"}
    assert typed[0].score >= found[0].score - 1e-6


def test_of_equally_probable_neighbours_the_similar_and_the_frequent_come_first() -> None:
    scores, cosines = np.full(3, 0.9, np.float32), np.array([0.1, 0.5, 0.1], np.float32)
    ids = np.array([500, 500, 40])
    assert neighbour_order(scores, cosines, ids, 0.0, 0.0) == pytest.approx([0.9] * 3)
    by_similarity = neighbour_order(scores, cosines, ids, 3.0, 0.0)
    assert by_similarity[1] / by_similarity[0] == pytest.approx(np.exp(1.2))
    by_frequency = neighbour_order(scores, cosines, ids, 0.0, 0.5)
    assert by_frequency[2] / by_frequency[0] == pytest.approx(np.sqrt(501 / 41))


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ((), "give at least one"),
        ((DEFINITIONS[0], DEFINITIONS[0]), "each once"),
    ],
)
def test_relations_need_names_of_their_own(
    model: Pair2vec, definitions: tuple[RelationDefinition, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Relations(definitions, model.space)


def test_wrong_queries_say_what_is_wrong(relations: Relations, model: Pair2vec) -> None:
    with pytest.raises(UsageError, match="'near' is not defined; it must be one of like, above"):
        relations.neighbours("a0", "near")
    with pytest.raises(UsageError, match="'none' is not defined"):
        relations.neighbours("a0", "none")
    with pytest.raises(UnknownWordError, match="'zzz'"):
        relations.predict_proba([("a0", "zzz")])
    for share in (0, 1, float("nan")):
        with pytest.raises(UsageError, match="unrelated is"):
            relations.predict_proba([("a0", "b0")], unrelated=share)
    unknown = RelationDefinition(name="far", examples=(("x", "y"),), patterns=("X afar Y",))
    with pytest.raises(UsageError, match="knows none of its examples and patterns"):
        Relations([unknown], model.space).predict_proba([("a0", "b0")])


def test_a_relation_by_patterns_alone_finds_its_own_examples(model: Pair2vec) -> None:
    definition = RelationDefinition(name="of", patterns=("X of Y", "the X of Y", "X unseen Y"))
    examples = find_examples([definition], model.space)
    assert 1 <= len(examples.x) <= 30
    words = [*examples.x.tolist(), *examples.y.tolist()]
    assert len(set(words)) == len(words)
    spelled = model.vocabulary.words
    chosen = [(spelled[a], spelled[b]) for a, b in zip(examples.x, examples.y, strict=True)]
    everyone = [(a, b) for a in CONTENT for b in CONTENT if a != b]
    mean = model.scores(everyone, ["X of Y", "the X of Y"]).mean()
    assert model.scores(chosen, ["X of Y", "the X of Y"]).mean() > mean


def test_the_bundled_model_predicts_common_relations(bundled: Pair2vec) -> None:
    expected = {
        ("lisbon", "portugal"): "located-in",
        ("bach", "composer"): "occupation",
        ("cheap", "eleven"): "none",
        ("senate", "banana"): "none",
    }
    examples = {pair for one in read_definitions() for pair in one.all_examples}
    assert not examples & expected.keys()
    assert bundled.relations().predict(expected) == list(expected.values())
    for word, opposite in (("cheap", "expensive"), ("increase", "decrease"), ("hot", "cold")):
        found = bundled.neighbours(word, relation="antonym", top=3)
        assert opposite in {match.word for match in found}
    words = {match.word for match in bundled.neighbours("cheap", "synonym", top=40)}
    assert not words & {"cheaper", "cheapest", "cheaply"}


def test_the_bundled_model_separates_antonyms_synonyms_and_co_hyponyms(
    bundled: Pair2vec,
) -> None:
    expected = {
        ("increase", "decrease"): "antonym",
        ("cheap", "expensive"): "antonym",
        ("hot", "cold"): "antonym",
        ("useful", "useless"): "antonym",
        ("inexpensive", "affordable"): "synonym",
        ("puccini", "liszt"): "co-hyponym",
    }
    examples = {word for one in read_definitions() for pair in one.examples for word in pair}
    assert not examples & {word for pair in expected for word in pair}
    assert dict(zip(expected, bundled.relations().predict(expected), strict=True)) == expected


def test_forms_of_a_word_are_in_no_relation(bundled: Pair2vec) -> None:
    relations = bundled.relations()
    forms = [("stands", "standing"), ("stood", "standing"), ("hold", "held"), ("town", "towns")]
    np.testing.assert_array_equal(relations.predict_proba(forms), [[0] * 13 + [1]] * len(forms))
    opposites = [match.word for match in bundled.neighbours("cheap", "antonym", top=5)]
    assert opposites[0] == "expensive"
    assert not {"cheaper", "cheaply"} & {*opposites}
    among = ["cheaper", "cheaply", "expensive"]
    assert relations.neighbours("cheap", "antonym", among=among)[0].word == "expensive"


def test_forms_are_related_where_an_example_has_two(bundled: Pair2vec, tmp_path: Path) -> None:
    file = tmp_path / "plural.toml"
    pairs = "town dog king river house tree ship letter army wall bird road".split()
    examples = [f"{word} {'armies' if word == 'army' else word + 's'}" for word in pairs]
    file.write_text(f'[plural]\ndefinition = "y is several of x"\nexamples = {examples}\n')
    plural = bundled.relations(file)
    assert plural.predict([("lake", "lakes"), ("lake", "senate")]) == ["plural", "none"]
    assert plural.neighbours("lake", "plural", top=1)[0].word == "lakes"


def test_relations_are_the_same_each_time(model: Pair2vec) -> None:
    pairs = [("a0", "b1"), ("c11", "d11")]
    first, second = (Relations(DEFINITIONS, model.space).predict_proba(pairs) for _ in range(2))
    np.testing.assert_array_equal(first, second)
