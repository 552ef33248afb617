"""Random words: how often each is drawn, and which never."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.draws import assert_drawn_as_often_as

from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.word_vectors.sampler import WordSampler, alias_table

CPU = torch.device("cpu")
SPECIAL = len(SPECIAL_TOKENS)
COUNTS = np.array([0, 900, 0, 700, 400, 0, 200, 100, 50, 25, 1])
DRAWS = 200_000
WEIGHTS = st.lists(st.just(0.0) | st.floats(1e-3, 1e6), min_size=1, max_size=60).filter(any)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(WEIGHTS)
def test_the_alias_table_holds_exactly_the_given_shares(weights: list[float]) -> None:
    given_weights = np.array(weights)
    chance, alias = alias_table(given_weights)
    shares = chance.astype(np.float64)
    np.add.at(shares, alias, 1 - chance.astype(np.float64))
    shares /= len(weights)
    np.testing.assert_allclose(shares, given_weights / given_weights.sum(), rtol=0, atol=1e-6)
    assert not shares[given_weights == 0].any()


@pytest.mark.parametrize("exponent", [1.0, 0.75, 0.0])
def test_words_are_drawn_by_their_count_to_the_exponent(exponent: float) -> None:
    counts = np.maximum(COUNTS, 1)
    weights = counts**exponent
    weights[:SPECIAL] = 0
    drawn = WordSampler.smoothed(counts, exponent, CPU).draw((DRAWS // 4, 4), generator())
    assert drawn.shape == (DRAWS // 4, 4)
    assert_drawn_as_often_as(weights / weights.sum(), drawn)


def test_special_tokens_and_words_that_never_occur_are_never_drawn() -> None:
    drawn = WordSampler.smoothed(COUNTS, 0.75, CPU).draw((DRAWS,), generator())
    assert set(drawn.tolist()) == {4, 6, 7, 8, 9, 10}


def test_the_same_generator_draws_the_same_words() -> None:
    sampler = WordSampler.smoothed(COUNTS, 0.75, CPU)
    first, second, other = (sampler.draw((100,), generator(seed)) for seed in (0, 0, 1))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
