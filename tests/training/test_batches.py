"""Batches: triples as tensors, and negatives: what is drawn, how often, and what never is."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.draws import assert_drawn_as_often_as
from tests.triples.enumerator import make_corpus

from pair2vec.errors import UsageError
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.training.batches import (
    ContextCounts,
    NegativeSampler,
    NegativesConfig,
    TripleTensors,
    nearest_among,
    nearest_words,
)
from pair2vec.triples.epoch import TripleBatch, TriplesConfig, TripleStream
from pair2vec.triples.windows import WordMarginals

CPU = torch.device("cpu")
SPECIAL = len(SPECIAL_TOKENS)
COUNTS = np.array([0, 900, 0, 700, 400, 0, 200, 100, 50, 25, 1])
DRAWS = 200_000


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def triples(words: list[int], length: int = 4) -> TripleTensors:
    x = np.array(words)
    contexts = np.arange(len(x) * length).reshape(len(x), length) % len(COUNTS)
    return TripleTensors.from_numpy(TripleBatch(x, x[::-1].copy(), (contexts,)))


@pytest.mark.parametrize("rows_at_once", [7, 50, 2048])
def test_nearest_words_are_those_of_a_full_search(rows_at_once: int) -> None:
    vectors = torch.randn(50, 8, generator=generator())
    nearest = nearest_words(vectors, 6, rows_at_once)
    for word in range(50):
        others = [other for other in range(SPECIAL, 50) if other != word]
        cosine = {
            other: float(torch.cosine_similarity(vectors[word], vectors[other], dim=0))
            for other in others
        }
        assert nearest[word].tolist() == sorted(others, key=lambda n: -cosine[n])[:6]


def test_all_other_words_can_be_the_nearest() -> None:
    nearest = nearest_words(torch.randn(9, 3, generator=generator()), 4)
    assert set(nearest[6].tolist()) == {4, 5, 7, 8}


def test_nearest_among_some_words_are_of_them_alone() -> None:
    vectors = torch.randn(50, 8, generator=generator())
    some = [7, 11, 12, 30, 41, 49]
    pairs = nearest_among(vectors, some, 3)
    assert pairs.shape == (2, 18)
    for word in some:
        others = [other for other in some if other != word]
        cosine = {
            other: float(torch.cosine_similarity(vectors[word], vectors[other], dim=0))
            for other in others
        }
        nearest = pairs[1, pairs[0] == word].tolist()
        assert nearest == sorted(others, key=lambda n: -cosine[n])[:3]
    assert nearest_among(vectors, [9], 3).shape == (2, 0)
    assert nearest_among(vectors, some, 100).shape == (2, 30)


@pytest.mark.parametrize("typed", [0, 1, 3])
def test_typed_negatives_come_last_and_are_among_the_neighbours(typed: int) -> None:
    neighbours = torch.arange(len(COUNTS) * 2, dtype=torch.int32).view(-1, 2) + 1000
    config = NegativesConfig(words=3, typed=typed)
    sampler = NegativeSampler(config, COUNTS, neighbours, CPU)
    batch = sampler.complete(triples([4, 6, 10, 7] * 50), generator())
    assert sampler.typed == typed
    for words, others in ((batch.x, batch.other_x), (batch.y, batch.other_y)):
        assert others.shape == (200, 3)
        assert bool((others[:, : 3 - typed] < len(COUNTS)).all())
        for word, row in zip(words.tolist(), others[:, 3 - typed :].tolist(), strict=True):
            assert set(row) <= set(neighbours[word].tolist())
    seen = set(batch.other_x[:, 3 - typed :].flatten().tolist())
    assert seen == (set(neighbours[[4, 6, 7, 10]].flatten().tolist()) if typed else set())


def test_without_neighbours_all_negative_words_are_drawn_by_frequency() -> None:
    sampler = NegativeSampler(NegativesConfig(words=3, typed=2), COUNTS, None, CPU)
    batch = sampler.complete(triples([4, 6] * 30_000), generator())
    weights = COUNTS**0.75
    weights[:SPECIAL] = 0
    assert sampler.typed == 0
    assert_drawn_as_often_as(weights / weights.sum(), batch.other_x)
    assert_drawn_as_often_as(weights / weights.sum(), batch.other_y)


def test_x_and_y_are_drawn_by_the_marginals_of_triples_where_they_are_given() -> None:
    marginals = WordMarginals(COUNTS + 0.5, COUNTS[::-1] * 2.0)
    sampler = NegativeSampler(NegativesConfig(words=3, typed=0), marginals, None, CPU)
    batch = sampler.complete(triples([4, 6] * 30_000), generator())
    for counts, drawn in zip(marginals, (batch.other_x, batch.other_y), strict=True):
        weights = counts**0.75
        weights[:SPECIAL] = 0
        assert_drawn_as_often_as(weights / weights.sum(), drawn)


@pytest.mark.parametrize("words_from", ["corpus", "triples"])
def test_the_recipe_says_where_negative_words_come_from(words_from: str, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "\n".join(["the cat sat on the mat", "a dog sat"] * 200))
    stream = TripleStream(corpus, TriplesConfig(threshold=1e-4, held_out=0))
    config = NegativesConfig(words=3, typed=0, words_from=words_from)
    counts = corpus.vocabulary.counts
    sampler = NegativeSampler.of_triples(config, counts, stream, None, CPU)
    batch = sampler.complete(triples([4, 6] * 30_000), generator())
    expected = stream.word_marginals() if words_from == "triples" else (counts, counts)
    for own, drawn in zip(expected, (batch.other_x, batch.other_y), strict=True):
        weights = own.astype(np.float64) ** 0.75
        weights[:SPECIAL] = 0
        assert_drawn_as_often_as(weights / weights.sum(), drawn)
    with pytest.raises(UsageError, match="words_from is 'batch'; it must be one of corpus, tri"):
        NegativesConfig(words_from="batch")


def test_smoothed_contexts_are_drawn_by_their_count_to_the_power() -> None:
    """Of contexts that are 60, 30, 9 and 1 % of the triples, of two lengths."""
    shares = np.array([0.6, 0.3, 0.09, 0.01])
    kinds = np.repeat(np.arange(4), (shares * 1000).astype(int))
    short = np.array([[7, 1, 2, 8], [7, 1, 2, 9]])[kinds[kinds < 2]]
    long = np.array([[7, 1, 5, 2, 8], [5, 1, 7, 2, 8]])[kinds[kinds >= 2] - 2]
    counts = ContextCounts([short, long], CPU)
    words = np.full(len(kinds), 4)
    batch = TripleTensors.from_numpy(TripleBatch(words, words, (short, long)))
    config = NegativesConfig(contexts=50, words=0, typed=0, context_exponent=0.75)
    sampler = NegativeSampler(config, COUNTS, None, CPU, counts)
    drawn = sampler.complete(batch, generator()).shuffles
    assert drawn.shape == (1000, 50)
    smoothed = shares**0.75
    assert_drawn_as_often_as(smoothed / smoothed.sum(), torch.from_numpy(kinds)[drawn])


def test_a_context_that_was_not_counted_counts_as_one() -> None:
    counts = ContextCounts([np.array([[7, 1, 2, 8], [7, 1, 2, 8], [9, 1, 2, 8]])], CPU)
    groups = (
        torch.tensor([[8, 1, 2, 7], [7, 1, 2, 8], [9, 1, 2, 8]]),
        torch.tensor([[7, 1, 2, 8, 0]]),
    )
    assert counts(groups).tolist() == [1, 2, 1, 1]
    none = ContextCounts([np.array([[7, 1, 2, 8]])], CPU)
    assert none(groups).tolist() == [1, 1, 1, 1]


def test_contexts_are_counted_only_to_smooth_them(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "\n".join(["the cat sat on the mat", "a dog sat"] * 200))
    stream = TripleStream(corpus, TriplesConfig(subsampling="none"))
    for exponent, is_permutation in ((1.0, True), (0.75, False)):
        config = NegativesConfig(words=0, typed=0, context_exponent=exponent)
        sampler = NegativeSampler.of_triples(config, corpus.vocabulary.counts, stream, None, CPU)
        batch, _ = next(stream.batches(100))
        drawn = sampler.complete(TripleTensors.from_numpy(batch), generator()).shuffles
        assert (sorted(drawn[:, 0].tolist()) == list(range(100))) == is_permutation


def test_x_and_y_get_negatives_of_their_own() -> None:
    sampler = NegativeSampler(NegativesConfig(words=3, typed=0), COUNTS, None, CPU)
    batch = sampler.complete(triples([4, 6] * 100), generator())
    assert not torch.equal(batch.other_x, batch.other_y)


def test_each_negative_context_is_another_order_of_the_batch() -> None:
    sampler = NegativeSampler(NegativesConfig(contexts=3), COUNTS, None, CPU)
    batch = sampler.complete(triples([4, 6] * 50), generator())
    assert batch.shuffles.shape == (100, 3)
    for column in batch.shuffles.T:
        assert sorted(column.tolist()) == list(range(100))
        assert column.tolist() != list(range(100))
    assert len({tuple(column.tolist()) for column in batch.shuffles.T}) == 3


def test_there_may_be_no_negative_contexts_or_no_negative_words() -> None:
    batch = triples([4, 6, 7])
    without_contexts = NegativeSampler(NegativesConfig(contexts=0), COUNTS, None, CPU)
    assert without_contexts.complete(batch, generator()).shuffles.shape == (3, 0)
    bivariate = NegativeSampler(NegativesConfig(words=0, typed=0), COUNTS, None, CPU)
    assert bivariate.complete(batch, generator()).other_x.shape == (3, 0)


def test_completing_a_batch_leaves_its_triples_as_they_are() -> None:
    batch = triples([4, 6, 7])
    completed = NegativeSampler(NegativesConfig(), COUNTS, None, CPU).complete(batch, generator())
    assert completed.x.tolist() == batch.x.tolist()
    assert completed.y.tolist() == batch.y.tolist()
    assert [group.tolist() for group in completed.contexts] == [c.tolist() for c in batch.contexts]


def test_more_typed_negatives_than_negatives_are_refused() -> None:
    with pytest.raises(UsageError, match="typed is 4; it must be from 0 to words, which is 3"):
        NegativesConfig(typed=4)
    with pytest.raises(UsageError, match="typed is -1"):
        NegativesConfig(typed=-1)
    with pytest.raises(UsageError, match="contexts is -1; it must be from 0 to 1,000,000,000,000"):
        NegativesConfig(contexts=-1)


def test_triples_as_tensors_are_the_same_numbers() -> None:
    draw = np.random.default_rng(0)
    contexts = tuple(draw.integers(9, size=(size, length)) for size, length in [(3, 4), (0, 5)])
    triples = TripleBatch(draw.integers(9, size=3), draw.integers(9, size=3), contexts)
    tensors = TripleTensors.from_numpy(triples)
    assert tensors.x.tolist() == triples.x.tolist()
    assert tensors.y.tolist() == triples.y.tolist()
    assert [group.tolist() for group in tensors.contexts] == [c.tolist() for c in contexts]
    assert [group.shape for group in tensors.contexts] == [(3, 4), (0, 5)]
    assert {tensor.dtype for tensor in (tensors.x, tensors.y, *tensors.contexts)} == {torch.int64}
