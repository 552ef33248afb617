"""Two sentences beside each other: reversals, what else differs, and verdicts."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray
from pair2vec.relations.alignment import tokens_of
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.mlp import FeedForward, Mlp, MlpConfig
from pair2vec.relations.negation import negation
from pair2vec.relations.opposed import (
    UNSURE,
    VERDICTS,
    OpposedWeights,
    SentenceComparison,
    read_weights,
)
from pair2vec.relations.relations import Relations
from pair2vec.relations.sentence_features import (
    FEATURES,
    odd_probability,
    soft_alignment,
)

WORDS = """the is cache enabled disabled enable disable start begin red blue necessary unnecessary
    door open closed manage fail encrypt decrypt monday tuesday rome paris beats cheap train animal
    dog""".split()
RELATED = {
    ("enable", "disable"): "antonym",
    ("enabled", "disabled"): "antonym",
    ("open", "closed"): "antonym",
    ("necessary", "unnecessary"): "antonym",
    ("manage", "fail"): "antonym",
    ("encrypt", "decrypt"): "synonym",
    ("rome", "paris"): "synonym",
    ("start", "begin"): "synonym",
    ("red", "blue"): "co-hyponym",
    ("monday", "tuesday"): "co-hyponym",
    ("dog", "animal"): "hypernym",
}
INVERSE = {"hypernym": "hyponym"}


class TableScorer:
    """Relations that are written down, with a probability of 0.9."""

    unrelated = 0.5

    def __init__(self, model: Pair2vec) -> None:
        self._words = model.vocabulary.words
        self._names = [*(each.name for each in read_definitions()), "none"]
        self.thresholds = np.full(len(self._names), 0.5, np.float32)

    def __call__(self, x: IntArray, y: IntArray) -> FloatArray:
        rows = np.full((len(x), len(self._names)), 0.1 / (len(self._names) - 1), np.float32)
        for row, a, b in zip(rows, x.tolist(), y.tolist(), strict=True):
            pair = self._words[a], self._words[b]
            name = RELATED.get(pair) or RELATED.get(pair[::-1], "none")
            row[self._names.index(name if pair in RELATED else INVERSE.get(name, name))] = 0.9
        return rows


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> SentenceComparison:
    model = load(save_tiny_model(tmp_path_factory.mktemp("tiny"), WORDS))
    relations = Relations(read_definitions(), model.space, TableScorer(model))
    return SentenceComparison(relations)


def features(comparison: SentenceComparison, a: str, b: str) -> dict[str, float]:
    (item,) = comparison.prepare([(a, b)])
    assert item is not None
    (row,), _ = comparison.features([item])
    return dict(zip(FEATURES, row.tolist(), strict=True))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_the_probability_of_an_odd_number_is_the_sum_over_all_outcomes(flips: list[float]) -> None:
    expected = sum(
        float(np.prod([p if happens else 1 - p for p, happens in zip(flips, outcome, strict=True)]))
        for outcome in product([False, True], repeat=len(flips))
        if sum(outcome) % 2
    )
    assert odd_probability(flips) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "is_odd"),
    [
        ("enable the cache", "disable the cache", True),
        ("the cache is enabled", "the cache is not disabled", False),
        ("the door is open", "the door isn't open", True),
        ("the door is never open", "the door is not open", False),
        ("the door is necessary", "the door is not unnecessary", False),
        ("the train with the dog", "the train without the dog", True),
        ("the door is always open", "the door is never open", True),
        ("start the train", "begin the train", False),
        ("start before the train", "start after the train", True),
        ("the dog is no longer open", "the dog is open", True),
        ("the train failed to start", "the train did start", True),
        ("frobnicate the cheap cache", "unfrobnicate the cheap cache", True),
        ("neither the dog nor the train is open", "the dog and the train is open", True),
        ("the train is cheap", "is the train cheap, or not? why, or why not?", False),
        ("the train has yet to start", "the train has started", True),
    ],
)
def test_an_odd_number_of_opposites_and_negations_is_a_reversal(
    comparison: SentenceComparison, a: str, b: str, is_odd: bool
) -> None:
    assert (features(comparison, a, b)["odd"] > 0.5) is is_odd


def test_not_only_and_a_nor_after_neither_negate_nothing() -> None:
    tokens = tokens_of("not only neither this nor that, and never")
    assert [negation(tokens, n) > 0 for n in range(len(tokens))] == [
        token.word in {"neither", "never"} for token in tokens
    ]


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [
        ("the train is 5 cheap", "the train is 6 cheap", "numbers"),
        ("the train to Rome", "the train to Paris", "names"),
        ("rome beats paris", "paris beats rome", "exchanged"),
        ("a cheap train of 5 km", "a cheap train of 5 miles", "units"),
        ("the red door", "the blue door", "gap_co-hyponym"),
        ("start the dog", "begin the dog", "gap_synonym"),
        ("the dog", "the animal", "gap_hypernym"),
    ],
)
def test_what_differs_is_a_feature(
    comparison: SentenceComparison, a: str, b: str, name: str
) -> None:
    assert features(comparison, a, b)[name] > 0.5
    assert features(comparison, a, f"{a} please")[name] == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [("rome and paris", "paris and rome"), ("rome beats paris", "paris is beaten by rome")],
)
def test_words_around_and_and_of_a_passive_are_not_exchanged(
    comparison: SentenceComparison, a: str, b: str
) -> None:
    assert features(comparison, a, b)["exchanged"] == 0


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**31))
def test_a_soft_alignment_gives_each_word_at_most_one_counterpart(
    rows: int, columns: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    related, in_place = random.random((2, rows, columns), np.float32)
    weights = soft_alignment(related, in_place)
    assert (weights >= 0).all()
    assert (weights <= 1).all()
    np.testing.assert_allclose(soft_alignment(related.T, in_place.T).T, weights, rtol=1e-5)


SENTENCE = st.lists(st.sampled_from([*WORDS, "not", "never", "7", "Rome", "zzz"]), max_size=9)


@given(SENTENCE, SENTENCE)
@example(["the", "red"], [])
def test_the_answer_is_the_same_in_either_order(
    comparison: SentenceComparison, a: list[str], b: list[str]
) -> None:
    first, second = " ".join(a), " ".join(b)
    one, other = comparison.compare([(first, second), (second, first)])
    assert one.verdict == other.verdict
    assert one.probabilities == other.probabilities
    assert [(each.kind, each.a, each.b) for each in one.differences] == [
        (each.kind, each.b, each.a) for each in other.differences
    ]


@given(SENTENCE)
def test_a_sentence_is_the_same_as_itself_unless_it_is_empty(
    comparison: SentenceComparison, words: list[str]
) -> None:
    sentence = " ".join(words)
    (answer,) = comparison.compare([(sentence, f" {sentence.upper()}!")])
    assert answer.verdict == ("same" if words else UNSURE)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("", "the dog", "the first sentence has no words"),
        ("the dog", "?!", "the second sentence has no words"),
        (
            "dog " * 10_000,
            "dog",
            "the first sentence has 10,000 words; at most 256 are compared",
        ),
        ("ich mag hunde", "ich mag keine hunde", "most of the words are unknown to the model"),
        (
            "the cheap dog xyzzy",
            "the cheap dog plugh",
            "the words that differ are unknown to the model",
        ),
    ],
)
def test_nothing_is_said_of_what_cannot_be_compared(
    comparison: SentenceComparison, a: str, b: str, reason: str
) -> None:
    (answer,) = comparison.compare([(a, b)])
    assert answer.verdict in {UNSURE, "different"} if "differ" in reason else UNSURE
    if answer.verdict == UNSURE:
        assert answer.reason == reason


def always(comparison: SentenceComparison, verdict: str) -> SentenceComparison:
    """A comparison whose network finds this verdict certain."""
    size = len(FEATURES)
    none = np.zeros(size, np.float32)
    bias = np.array([10.0 * (name == verdict) for name in VERDICTS], np.float32)
    certain = FeedForward(none, none, none[:, None], none[:1], none[:3][None], bias)
    return SentenceComparison(comparison._relations, OpposedWeights(certain, 0.9))


def test_what_may_be_reversed_is_not_called_the_same(comparison: SentenceComparison) -> None:
    pairs = [("enable the cache", "disable the cache"), ("start the train", "begin the train")]
    reversed_, synonymous = always(comparison, "same").compare(pairs)
    assert reversed_.verdict == UNSURE
    assert reversed_.reason.startswith("not clear: enable / disable (opposite")
    assert synonymous.verdict == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("the red door", "the blue door"),
        ("the dog is cheap", "the animal is cheap"),
        ("the train to Rome", "the train to Paris"),
        ("rome beats paris", "paris beats rome"),
        ("the second train", "the third train"),
        ("the train is cheap", "the train is cheap 5"),
        ("encrypt the cache", "decrypt the cache"),
    ],
)
def test_only_what_has_a_synonym_in_each_place_is_called_the_same(
    comparison: SentenceComparison, a: str, b: str
) -> None:
    (answer,) = always(comparison, "same").compare([(a, b)])
    assert answer.verdict == UNSURE


def test_what_is_negated_twice_may_be_the_same(comparison: SentenceComparison) -> None:
    pair = ("the door is necessary", "the door is not unnecessary")
    (answer,) = always(comparison, "same").compare([pair])
    assert answer.verdict == "same"


def test_a_negation_that_has_an_opposite_reverses_once(comparison: SentenceComparison) -> None:
    """*fail to* as the opposite of *manage* and as a negation must not cancel out."""
    found = features(comparison, "you manage to start", "you fail to start")
    assert found["odd"] > 0.9
    assert found["more_negations"] == 0


def test_unknown_words_that_are_spelled_as_opposites_say_something(
    comparison: SentenceComparison,
) -> None:
    spelled = features(comparison, "frobnicate the cheap cache", "unfrobnicate the cheap cache")
    assert (spelled["unknown"], spelled["gap_antonym"] > 0.5) == (0, True)
    assert features(comparison, "frob the cheap cache", "grommet the cheap cache")["unknown"] == 1
    assert features(comparison, "frob the cheap cache", "start the cheap cache")["unknown"] == 0.5


def test_spelled_ordinals_are_numbers(comparison: SentenceComparison) -> None:
    (answer,) = comparison.compare([("the third train", "the 3rd train")])
    assert (answer.verdict, answer.reason) == ("same", "the same words")
    assert features(comparison, "the third train", "the 4th train")["numbers"] == 1


def test_nothing_is_called_opposed_without_words_that_decide(
    comparison: SentenceComparison,
) -> None:
    pairs = [("the dog of rome", "the dog for rome"), ("enable the cache", "disable the cache")]
    unnamed, named = always(comparison, "opposed").compare(pairs)
    assert unnamed.verdict == UNSURE
    assert not unnamed.differences
    assert named.verdict == "opposed"


def test_many_pairs_are_answered_as_each_alone(comparison: SentenceComparison) -> None:
    pairs = [("enable the cache", "disable the cache"), ("", "x"), ("red dog", "blue dog")]
    pairs += [("the dog", "the animal beats rome"), ("open", "not closed")]
    together = comparison.compare(pairs)
    for pair, answer in zip(pairs, together, strict=True):
        (alone,) = comparison.compare([pair])
        assert alone.verdict == answer.verdict
        assert alone.probabilities == pytest.approx(answer.probabilities, abs=1e-5)
    assert together[0].differences[0][:3] == ("opposite", "enable", "disable")


def test_probabilities_sum_to_one_and_json_has_the_words(comparison: SentenceComparison) -> None:
    (answer,) = comparison.compare([("the red door is open", "the blue door is closed")])
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert set(answer.probabilities) == set(VERDICTS)
    first = json.loads(json.dumps(answer.as_json()))["differences"][0]
    assert {"kind": "opposite", "a": "open", "b": "closed"}.items() <= first.items()


def test_weights_survive_json_and_those_of_other_features_are_refused(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = random.random((50, len(FEATURES)), np.float32)
    config = MlpConfig(hidden=4, steps=5, batch=10)
    network = Mlp(rows, random.integers(0, 3, 50), 3, config, random).network
    content = {"features": FEATURES, "threshold": 0.5, "network": network.to_json()}
    again = OpposedWeights.from_json(content).network
    np.testing.assert_allclose(again.probabilities(rows), network.probabilities(rows), rtol=1e-5)
    with pytest.raises(ValueError, match="other features"):
        OpposedWeights.from_json({**content, "features": FEATURES[1:]})
    assert read_weights().threshold >= 0.5
