"""Queries to a model, against answers computed plainly."""

import pickle
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.tiny_model import save_tiny_model

import pair2vec
from pair2vec.api import Pair2vec, load
from pair2vec.errors import InputError, UsageError
from pair2vec.text.vocabulary import PADDING, UnknownWordError

WORDS = "the , . and or of hot cold up down cheap dear france paris japan tokyo".split()
CONTENT = WORDS[6:]
CHOICE = st.sampled_from(CONTENT)
PAIRS = st.lists(st.tuples(CHOICE, CHOICE), min_size=1, max_size=12)
PATTERN = st.sampled_from(["X and Y", "X or Y .", "the X of Y", "the X , Y ,", "<s> X Y <s>"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", WORDS))


# Pairs.


@given(pairs=PAIRS, data=st.data())
def test_a_pair_does_not_depend_on_the_others_of_its_batch_or_their_order(
    model: Pair2vec, pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    together = model.pairs(pairs).vectors
    order = data.draw(st.permutations(range(len(pairs))))
    shuffled = model.pairs([pairs[n] for n in order]).vectors
    np.testing.assert_allclose(shuffled, together[order], rtol=0, atol=1e-5)
    for pair, vector in zip(pairs, together, strict=True):
        np.testing.assert_allclose(model.pair(*pair), vector, rtol=0, atol=1e-5)


def test_both_directions_are_concatenated_each_with_unit_norm(model: Pair2vec) -> None:
    both = model.pair("hot", "cold")
    forward = model.pair("hot", "cold", direction="forward")
    backward = model.pair("hot", "cold", direction="backward")
    np.testing.assert_allclose(both, np.concatenate([forward, backward]), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(backward, model.pair("cold", "hot", direction="forward"))
    assert np.linalg.norm(forward) == pytest.approx(1, abs=1e-6)
    assert np.abs(forward - backward).max() > 0.01


def test_the_norm_of_a_pair_is_kept_on_request(model: Pair2vec) -> None:
    raw = model.pair("hot", "cold", direction="forward", normalised=False)
    assert np.linalg.norm(raw) != pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(
        raw / np.linalg.norm(raw), model.pair("hot", "cold", direction="forward"), atol=1e-6
    )


def test_unknown_words_are_refused_skipped_or_zero_as_asked(model: Pair2vec) -> None:
    pairs = [("hot", "cold"), ("hot", "colt"), ("up", "down")]
    with pytest.raises(UnknownWordError, match="'colt' is not in the vocabulary; did you mean"):
        model.pairs(pairs)
    skipped = model.pairs(pairs, unknown="skip")
    zero = model.pairs(pairs, unknown="zero")
    assert skipped.known.tolist() == zero.known.tolist() == [True, False, True]
    np.testing.assert_array_equal(skipped.vectors, model.pairs([pairs[0], pairs[2]]).vectors)
    np.testing.assert_array_equal(zero.vectors[[0, 2]], skipped.vectors)
    assert not zero.vectors[1].any()
    assert model.pairs([], unknown="skip").vectors.shape == (0, 16)


def test_an_unknown_word_comes_with_suggestions_of_similar_spelling(model: Pair2vec) -> None:
    with pytest.raises(UnknownWordError) as caught:
        model.pair("hot", "colt")
    assert caught.value.word == "colt"
    assert caught.value.suggestions[0] == "cold"


def test_it_says_what_it_is_and_which_words_it_knows(model: Pair2vec) -> None:
    assert repr(model) == f"<Pair2vec 'model': {len(WORDS)} words, 8 dimensions>"
    assert "hot" in model
    assert "Hot" in model
    assert "colt" not in model
    assert "hot cold" not in model
    assert 7 not in model


def test_words_are_read_as_prepare_reads_them(model: Pair2vec) -> None:
    np.testing.assert_array_equal(model.pair("Hot", " COLD"), model.pair("hot", "cold"))
    with pytest.raises(UsageError, match="'hot cold' is not in the vocabulary"):
        model.pair("hot cold", "up")


# Patterns and scores.


@given(pairs=PAIRS, patterns=st.lists(PATTERN, min_size=1, max_size=4))
def test_a_score_is_the_product_of_pair_and_context_whatever_else_is_asked(
    model: Pair2vec, pairs: list[tuple[str, str]], patterns: list[str]
) -> None:
    scores = model.scores(pairs, patterns)
    for row, pair in enumerate(pairs):
        for column, pattern in enumerate(patterns):
            vector = model.pair(*pair, direction="forward", normalised=False)
            expected = float(vector @ model.context(pattern))
            assert scores[row, column] == pytest.approx(expected, abs=1e-4)
            assert model.score(*pair, pattern) == pytest.approx(expected, abs=1e-4)


def test_an_open_outer_word_is_the_mean_over_the_frequent_ones(model: Pair2vec) -> None:
    words, counts = model.vocabulary.words, model.vocabulary.counts
    weights = {words[n]: int(counts[n]) for n in range(4, 16)} | {"<s>": 500}
    expected = sum(
        weight * model.context(f"the X and Y {word}") for word, weight in weights.items()
    ) / sum(weights.values())
    np.testing.assert_allclose(model.context("the X and Y"), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("pattern", ["X and", "and Y", "X X Y", "Y and X", "X andd Y"])
def test_a_pattern_that_is_none_is_refused(model: Pair2vec, pattern: str) -> None:
    with pytest.raises(UsageError, match=r"pattern|vocabulary"):
        model.context(pattern)


# Slots.


@given(word=CHOICE, pattern=PATTERN, slot=st.sampled_from(["x", "y"]), top=st.integers(1, 20))
def test_fill_is_the_score_of_every_word_in_order(
    model: Pair2vec, word: str, pattern: str, slot: str, top: int
) -> None:
    x, y = (word, None) if slot == "x" else (None, word)
    found = model.fill(pattern, x=x, y=y, top=top, weights=pair2vec.PAPER_WEIGHTS, all_words=True)
    others = [other for other in WORDS if other != word]
    pairs = [(word, other) if slot == "x" else (other, word) for other in others]
    scores = dict(zip(others, model.scores(pairs, [pattern])[:, 0].tolist(), strict=True))
    assert len(found) == min(top, len(others))
    best = sorted(scores.values(), reverse=True)[:top]
    assert [match.score for match in found] == pytest.approx(best, abs=1e-4)
    assert all(match.score == pytest.approx(scores[match.word], abs=1e-4) for match in found)
    assert len({match.word for match in found}) == len(found)


def test_fill_among_some_words_ranks_those_as_among_all(model: Pair2vec) -> None:
    everything = model.fill("X and Y", x="hot", top=99, all_words=True)
    some = {"cold", "japan", "hot", "up"}
    expected = [match for match in everything if match.word in some]
    found = model.fill("X and Y", x="hot", among=[*some, "COLD"], top=99)
    assert [match.word for match in found] == [match.word for match in expected]
    assert [m.score for m in found] == pytest.approx([m.score for m in expected], abs=1e-4)


def test_several_patterns_are_ranked_for_a_pair(model: Pair2vec) -> None:
    patterns = ["X and Y", "X or Y .", "the X of Y"]
    found = model.fill(patterns, x="hot", y="cold")
    scores = {pattern: model.score("hot", "cold", pattern) for pattern in patterns}
    assert [match.pattern for match in found] == sorted(patterns, key=lambda p: -scores[p])
    assert [match.score for match in found] == pytest.approx(
        sorted(scores.values())[::-1], abs=1e-5
    )


def test_a_query_without_a_word_or_with_one_too_many_is_refused(model: Pair2vec) -> None:
    with pytest.raises(UsageError, match="give the word in slot X or the one in slot Y"):
        model.fill("X and Y")
    with pytest.raises(UsageError, match="give the word in slot X or the one in slot Y"):
        model.fill("X and Y", x="hot", y="cold")
    with pytest.raises(UsageError, match="give both x and y"):
        model.fill(["X and Y", "X or Y"], x="hot")  # type: ignore[call-overload]


def test_a_pair_is_explained_by_the_patterns_kept_with_the_model(
    model: Pair2vec, tmp_path: Path
) -> None:
    kept = model.patterns
    assert model.explain("hot", "cold", top=2) == model.fill(kept, x="hot", y="cold", top=2)
    without = load(save_tiny_model(tmp_path / "bare", WORDS, patterns=[]))
    with pytest.raises(InputError, match="has no patterns to explain pairs by"):
        without.explain("hot", "cold")


# Analogies.


def cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


@given(
    words=st.tuples(CHOICE, CHOICE, CHOICE),
    alpha=st.sampled_from([0.0, 0.3, 1.0]),
    direction=st.sampled_from(["both", "forward", "backward"]),
)
def test_an_analogy_mixes_the_two_cosines_and_never_returns_a_b_or_x(
    model: Pair2vec, words: tuple[str, str, str], alpha: float, direction: str
) -> None:
    a, b, x = words
    model = Pair2vec(model.saved, whitening=0)
    found = model.analogy(
        a,
        b,
        x,
        alpha=alpha,
        direction=direction,  # type: ignore[arg-type]
        top=99,
        all_words=True,
    )
    rows = model.saved.array("pair.words")
    unit = {
        word: rows[number] / np.linalg.norm(rows[number])
        for word, number in model.vocabulary.ids.items()
    }
    assert {match.word for match in found} == set(WORDS) - set(words)
    for match in found:
        pairs = model.pairs([(a, b), (x, match.word)], direction=direction).vectors  # type: ignore[arg-type]
        expected = alpha * cosine(*pairs)
        expected += (1 - alpha) * cosine(unit[b] - unit[a] + unit[x], unit[match.word])
        assert match.score == pytest.approx(expected, abs=1e-5)
    assert [match.score for match in found] == sorted((m.score for m in found), reverse=True)


def test_alpha_is_a_share(model: Pair2vec) -> None:
    with pytest.raises(UsageError, match=r"alpha is 1\.5; it must be between 0 and 1"):
        model.analogy("france", "paris", "japan", alpha=1.5)


# Nearest pairs.


def test_nearest_pairs_among_some_are_ranked_by_their_cosine(model: Pair2vec) -> None:
    pairs = [("up", "down"), ("france", "paris"), ("hot", "cold"), ("cold", "hot")]
    model = Pair2vec(model.saved, whitening=0)
    found = model.nearest("hot", "cold", among=pairs, alpha=1)
    example = model.pair("hot", "cold")
    expected = {pair: cosine(model.pair(*pair), example) for pair in pairs if pair != pairs[2]}
    assert [match[:2] for match in found] == sorted(expected, key=lambda pair: -expected[pair])
    assert [m.score for m in found] == pytest.approx([expected[m.x, m.y] for m in found], abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_nearest_mixes_the_cosines_of_pairs_and_of_offsets(model: Pair2vec, alpha: float) -> None:
    model = Pair2vec(model.saved, whitening=0)
    unit, ids = model.unit_words, model.vocabulary.ids

    def offset(x: str, y: str) -> NDArray[np.float32]:
        difference: NDArray[np.float32] = unit[ids[y]] - unit[ids[x]]
        return difference

    found = model.nearest("hot", "cold", words=["up", "down", "paris"], alpha=alpha, top=99)
    assert len(found) == 6
    for x, y, score in found:
        by_pair = cosine(model.pair(x, y), model.pair("hot", "cold"))
        by_offset = cosine(offset(x, y), offset("hot", "cold"))
        assert score == pytest.approx(alpha * by_pair + (1 - alpha) * by_offset, abs=1e-5)
    with pytest.raises(UsageError, match=r"alpha is -1; it must be between 0 and 1"):
        model.nearest("hot", "cold", alpha=-1)


def test_nearest_pairs_of_words_are_all_their_ordered_pairs(model: Pair2vec) -> None:
    found = model.nearest("hot", "cold", words=["up", "down", "hot", "cold"], top=99)
    assert len(found) == 4 * 3 - 1
    assert ("hot", "cold") not in {match[:2] for match in found}


def test_a_search_finds_pairs_without_a_word_twice(model: Pair2vec) -> None:
    found = model.nearest("hot", "cold", top=99)
    words = [word for match in found for word in (match.x, match.y)]
    assert found
    assert len(words) == len(set(words))
    assert not {"hot", "cold"} & set(words)


def test_unknown_words_of_a_list_are_an_error_or_skipped(model: Pair2vec) -> None:
    pairs = [("up", "down"), ("up", "dwon")]
    with pytest.raises(UnknownWordError):
        model.nearest("hot", "cold", among=pairs)
    assert len(model.nearest("hot", "cold", among=pairs, unknown="skip")) == 1
    with pytest.raises(UsageError, match="no pair can be ranked by"):
        model.nearest("hot", "cold", among=pairs, unknown="zero")
    with pytest.raises(UsageError, match="not both"):
        model.nearest("hot", "cold", among=pairs, words=["up"])


# The model.


def test_the_package_loads_a_model_by_its_folder(model: Pair2vec) -> None:
    loaded = pair2vec.load(model.saved.folder)
    np.testing.assert_array_equal(loaded.pair("hot", "cold"), model.pair("hot", "cold"))
    assert loaded.info()["words"] == str(len(WORDS))


def test_a_model_is_pickled_by_its_name_and_never_copied(model: Pair2vec) -> None:
    other = load(model.saved.folder, whitening=0.25)
    content = pickle.dumps(other)
    assert len(content) < 500
    again = pickle.loads(content)
    assert again.saved.folder == model.saved.folder
    assert again.space.whitening == 0.25
    assert deepcopy(other) is other
    # A bundled model is where the package is, on another machine somewhere else.
    bundled = load()
    assert str(bundled.saved.folder).encode() not in pickle.dumps(bundled)
    assert pickle.loads(pickle.dumps(bundled)).saved.folder == bundled.saved.folder


def test_what_is_no_model_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "nothing")
    folder = save_tiny_model(tmp_path / "model", WORDS)
    tensors = folder / "model.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"model\.safetensors: has .* bytes where its header says"):
        load(folder)


def test_a_choice_that_is_none_is_named(model: Pair2vec) -> None:
    with pytest.raises(UsageError, match="direction is 'up'; it must be one of both, forward"):
        model.pair("hot", "cold", direction="up")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="search is 'fast'; it must be one of exact, shortlist"):
        model.fill("X and Y", x="hot", search="fast")  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="unknown is 'drop'; it must be one of error, skip, zero"):
        model.pairs([("hot", "cold")], unknown="drop")  # type: ignore[arg-type]


def test_the_ids_of_a_pair_with_an_unknown_word_are_padding(model: Pair2vec) -> None:
    x, y, known = model.space.look_up_pairs([("hot", "colt"), ("up", "Down")], "skip")
    assert (x[0], y[0]) == (PADDING, PADDING)
    assert [model.vocabulary.words[word] for word in (x[1], y[1])] == ["up", "down"]
    assert known.tolist() == [False, True]
