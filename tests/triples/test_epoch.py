"""An epoch of triples, its subsampling and its order, against a slow, plain enumeration."""

import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.triples.enumerator import Triple, enumerate_triples, make_corpus

from pair2vec.errors import InputError
from pair2vec.text.corpus import Corpus, open_corpus
from pair2vec.triples.epoch import (
    START,
    EpochPosition,
    FrequentPairs,
    NoSubsampling,
    PairSubsampling,
    SubsamplingRule,
    TripleBatch,
    TriplesConfig,
    TripleStream,
    WordSubsampling,
)
from pair2vec.triples.windows import find_triples, triple_words

EVERYTHING = TriplesConfig(subsampling="none", held_out=0.0)
TEXTS = st.lists(
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=12).map(" ".join), min_size=1
).map("\n".join)


def triples_of(batch: TripleBatch) -> Counter[Triple]:
    contexts = [tuple(row) for group in batch.contexts for row in group.tolist()]
    return Counter(zip(batch.x.tolist(), batch.y.tolist(), contexts, strict=True))


def epoch_of(
    stream: TripleStream, size: int, position: EpochPosition = START, **ranks: int
) -> list[TripleBatch]:
    batches: list[TripleBatch] = []
    for batch, after in stream.batches(size, position, **ranks):
        if after.epoch != position.epoch:
            return batches
        batches.append(batch)
    raise AssertionError


def total(batches: list[TripleBatch]) -> Counter[Triple]:
    triples: Counter[Triple] = Counter()
    for batch in batches:
        triples.update(triples_of(batch))
    return triples


@settings(max_examples=50)
@given(TEXTS, st.integers(4, 40))
def test_without_subsampling_an_epoch_is_every_triple_once(text: str, shard_ids: int) -> None:
    with TemporaryDirectory() as folder:
        corpus = make_corpus(Path(folder), text, shard_ids)
        expected = enumerate_triples(corpus)
        if expected:
            stream = TripleStream(corpus, EVERYTHING)
            assert total(epoch_of(stream, 1)) == expected


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    draw = np.random.default_rng(0)
    lines = [
        " ".join(f"w{n}" for n in draw.zipf(1.3, draw.integers(1, 30)) if n < 40)
        for _ in range(800)
    ]
    return make_corpus(tmp_path_factory.mktemp("corpus"), "\n".join(lines))


def test_any_batch_size_gives_the_same_order(corpus: Corpus) -> None:
    stream = TripleStream(corpus, TriplesConfig(chunk_blocks=7))
    singles = epoch_of(stream, 100)
    pairs = epoch_of(stream, 200)
    for number, batch in enumerate(pairs):
        assert triples_of(batch) == total(singles[2 * number : 2 * number + 2])


def test_an_epoch_can_be_resumed_at_any_batch(corpus: Corpus) -> None:
    stream = TripleStream(corpus, TriplesConfig(chunk_blocks=7))
    batches = []
    for batch, after in stream.batches(300):
        if after.epoch == 2:
            break
        batches.append((batch, after))
    for cut in range(0, len(batches), 9):
        resumed = TripleStream(corpus, TriplesConfig(chunk_blocks=7)).batches(300, batches[cut][1])
        for (batch, after), (again, after_again) in zip(batches[cut + 1 :], resumed, strict=False):
            assert after == after_again
            assert all(map(np.array_equal, batch.contexts, again.contexts))
            assert np.array_equal(batch.x, again.x)


def test_ranks_share_every_batch_without_overlap(corpus: Corpus) -> None:
    stream = TripleStream(corpus, TriplesConfig())
    alone = epoch_of(stream, 100)
    shared = [epoch_of(stream, 100, rank=rank, ranks=3) for rank in range(3)]
    for number, batch in enumerate(alone):
        assert triples_of(batch) == total([part[number] for part in shared])


def test_epochs_and_seeds_differ_in_order_and_subsampling(corpus: Corpus) -> None:
    first = epoch_of(TripleStream(corpus, TriplesConfig(threshold=1e-4)), 100)
    second = epoch_of(TripleStream(corpus, TriplesConfig(threshold=1e-4)), 100, EpochPosition(1))
    other = epoch_of(TripleStream(corpus, TriplesConfig(threshold=1e-4, seed=1)), 100)
    assert len({tuple(batches[0].x.tolist()) for batches in (first, second, other)}) == 3


def test_held_out_triples_are_never_trained_on_and_always_the_same(corpus: Corpus) -> None:
    config = TriplesConfig(subsampling="none", held_out=0.1)
    stream = TripleStream(corpus, config)
    held_out = total(list(stream.held_out(100)))
    assert total(list(TripleStream(corpus, config).held_out(77))) == held_out
    trained = total(epoch_of(stream, 20))
    left_out = enumerate_triples(corpus) - (trained + held_out)
    assert left_out.total() == enumerate_triples(corpus).total() - (trained + held_out).total() < 20
    assert 0.05 < held_out.total() / trained.total() < 0.2


def keep_probability(corpus: Corpus, rule: SubsamplingRule, x: int, y: int) -> float:
    counts = corpus.vocabulary.counts
    share = counts / counts.sum()
    if isinstance(rule, PairSubsampling):
        return min(1.0, math.sqrt(rule.threshold / (share[x] * share[y])))
    if isinstance(rule, WordSubsampling):
        single = [min(1, (rule.threshold / share[word]) ** 0.5) for word in (x, y)]
        return float(single[0] * single[1])
    return 1.0


@pytest.mark.parametrize("rule", [PairSubsampling(1e-3), WordSubsampling(1e-2), NoSubsampling()])
def test_pairs_are_kept_as_often_as_the_rule_says(corpus: Corpus, rule: SubsamplingRule) -> None:
    counts = corpus.vocabulary.counts
    pairs: Counter[tuple[int, int]] = Counter()
    for (x, y, _), count in enumerate_triples(corpus).items():
        pairs[x, y] += count
    generator = np.random.default_rng(0)
    kept: Counter[tuple[int, int]] = Counter()
    tokens = corpus.tokens
    repeats = 20
    for _ in range(repeats):
        triples = find_triples(tokens, 0, len(tokens), rule.weights(counts), generator)
        words = triple_words(tokens, triples)
        kept.update(zip(*(ids.tolist() for ids in words), strict=True))
    for pair, count in pairs.most_common(30):
        expected = keep_probability(corpus, rule, *pair)
        error = 5 * (expected * (1 - expected) / (count * repeats)) ** 0.5
        assert kept[pair] / (count * repeats) == pytest.approx(expected, abs=error + 1e-6)


def test_a_minimum_pair_count_leaves_out_rarer_pairs(corpus: Corpus) -> None:
    everything = enumerate_triples(corpus)
    pairs: Counter[tuple[int, int]] = Counter()
    for (x, y, _), count in everything.items():
        pairs[x, y] += count
    stream = TripleStream(corpus, TriplesConfig(subsampling="none", held_out=0, min_pair_count=20))
    expected = {triple: n for triple, n in everything.items() if pairs[triple[:2]] >= 20}
    triples = total(epoch_of(stream, 20))
    assert triples <= Counter(expected)
    assert Counter(expected).total() - triples.total() < 20
    frequent = FrequentPairs([corpus.tokens], len(corpus.vocabulary), 20)
    assert len(frequent) == sum(1 for count in pairs.values() if count >= 20)


@pytest.mark.parametrize("subsampling", ["pair", "word", "none"])
@pytest.mark.parametrize("min_pair_count", [0, 20])
@pytest.mark.parametrize("shard_ids", [300, 2**31])
def test_marginals_are_those_of_the_triples_that_subsampling_leaves(
    subsampling: str, min_pair_count: int, shard_ids: int, tmp_path: Path
) -> None:
    letters = np.random.default_rng(0).choice([*"aaaaaabbbcd"], (60, 9))
    corpus = make_corpus(tmp_path, "\n".join(map(" ".join, letters)), shard_ids)
    config = TriplesConfig(
        subsampling=subsampling, threshold=1e-2, min_pair_count=min_pair_count, held_out=0
    )
    everything = enumerate_triples(corpus)
    pairs: Counter[tuple[int, int]] = Counter()
    for (x, y, _), count in everything.items():
        pairs[x, y] += count
    expected = np.zeros((2, len(corpus.vocabulary)))
    for (x, y), count in pairs.items():
        if count >= min_pair_count:
            kept = count * keep_probability(corpus, config.rule(), x, y)
            expected[0, x] += kept
            expected[1, y] += kept
    found = TripleStream(corpus, config).word_marginals()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert not np.allclose(found.x, found.y)


def test_contexts_are_sampled_from_the_start_of_an_epoch(corpus: Corpus) -> None:
    stream = TripleStream(corpus, EVERYTHING)
    whole = [len(group) for group in stream.sampled_contexts()]
    assert sum(whole) == pytest.approx(enumerate_triples(corpus).total(), rel=0.02)
    few = stream.sampled_contexts(most=100)
    assert [group.shape[1] for group in few] == [4, 5, 6, 7, 8]
    assert 100 <= sum(map(len, few)) < sum(whole) / 2


def test_a_corpus_smaller_than_a_batch_is_an_error(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="fewer triples than one batch"):
        next(TripleStream(corpus, TriplesConfig()).batches(10**8))


def test_a_corpus_opened_again_gives_the_same_triples(corpus: Corpus) -> None:
    again = open_corpus(corpus.folder)
    first = epoch_of(TripleStream(corpus, TriplesConfig()), 500)
    second = epoch_of(TripleStream(again, TriplesConfig()), 500)
    assert total(first) == total(second)
