"""The few words scored with every α include the best of all words."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pair2vec.experiments.evaluation.alpha_sweep import (
    ALPHAS,
    AnalogyBatch,
    best_words_numpy,
    possible_winners,
)
from pair2vec.experiments.evaluation.alpha_sweep_torch import best_words_torch

BestWords = Callable[[NDArray[np.float32], NDArray[np.float32], AnalogyBatch], NDArray[np.intp]]


def with_torch(
    pair: NDArray[np.float32], offset: NDArray[np.float32], batch: AnalogyBatch
) -> NDArray[np.intp]:
    return best_words_torch(torch.from_numpy(pair.copy()), torch.from_numpy(offset.copy()), batch)


def with_numpy(
    pair: NDArray[np.float32], offset: NDArray[np.float32], batch: AnalogyBatch
) -> NDArray[np.intp]:
    return best_words_numpy(pair.copy(), offset.copy(), batch)


def by_trying_all(
    pair: NDArray[np.float32], offset: NDArray[np.float32], batch: AnalogyBatch
) -> list[list[int]]:
    """For each question and α the first of the highest scores."""
    best: list[list[int]] = []
    questions = zip(pair.tolist(), offset.tolist(), batch.a, batch.b, strict=True)
    for relational, single, a, b in questions:
        words = [word for word in range(len(single)) if word not in {a, b, batch.x}]
        best.append([])
        for alpha in ALPHAS.tolist():
            scores = {p: alpha * relational[p] + (1 - alpha) * single[p] for p in words}
            best[-1].append(max(words, key=scores.__getitem__))
    return best


@st.composite
def batches(
    draw: st.DrawFn,
) -> tuple[NDArray[np.float32], NDArray[np.float32], AnalogyBatch]:
    """Cosines from a coarse grid, so that many words are equal in one of them or in both."""
    questions, words = draw(st.integers(1, 4)), draw(st.integers(4, 12))
    cosine = st.integers(-8, 8).map(lambda number: number / 8)
    row = st.lists(cosine, min_size=words, max_size=words)
    tables = [
        np.array(draw(st.lists(row, min_size=questions, max_size=questions)), np.float32)
        for _ in range(2)
    ]
    index = st.lists(st.integers(0, words - 1), min_size=questions, max_size=questions)
    a, b = (np.array(draw(index), np.intp) for _ in range(2))
    return tables[0], tables[1], AnalogyBatch(draw(st.integers(0, words - 1)), a, b)


@pytest.mark.parametrize("best_words", [with_numpy, with_torch])
@given(case=batches())
def test_winners_for_every_alpha_are_those_of_trying_all(
    best_words: BestWords, case: tuple[NDArray[np.float32], NDArray[np.float32], AnalogyBatch]
) -> None:
    assert best_words(*case).tolist() == by_trying_all(*case)


@pytest.mark.parametrize("best_words", [with_numpy, with_torch])
@pytest.mark.parametrize("similarity", [0.0, 0.5, 0.9])
def test_few_of_many_words_are_scored_and_they_suffice(
    best_words: BestWords, similarity: float
) -> None:
    random = np.random.default_rng(0)
    questions, words = 4, 5_000
    pair, other = random.normal(0, 0.2, (2, questions, words)).clip(-1, 1).astype(np.float32)
    offset = np.float32(similarity) * pair + np.float32(1 - similarity) * other
    a, b = random.integers(0, words, (2, questions))
    batch = AnalogyBatch(7, a, b)
    assert best_words(pair, offset, batch).tolist() == by_trying_all(pair, offset, batch)
    assert possible_winners(pair, offset, batch, np.arange(questions)).mean() < 0.05


def test_a_b_and_x_never_win() -> None:
    pair = np.array([[0.1, 0.9, 0.9, 0.9]], np.float32)
    batch = AnalogyBatch(1, np.array([2]), np.array([3]))
    assert with_numpy(pair, pair, batch).tolist() == [[0] * len(ALPHAS)]


def test_alpha_goes_from_single_words_to_pairs_in_steps_of_a_twentieth() -> None:
    pair, offset = np.array([[0, 0, 0, 1, 0]]), np.array([[0, 0, 0, 0, 0.5]])
    batch = AnalogyBatch(0, np.array([1]), np.array([2]))
    (best,) = with_numpy(pair.astype(np.float32), offset.astype(np.float32), batch).tolist()
    # α > (1 − α) / 2 from a third on.
    assert best == [4] * 7 + [3] * 14
    np.testing.assert_allclose(ALPHAS, [number / 20 for number in range(21)])
