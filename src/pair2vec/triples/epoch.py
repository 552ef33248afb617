"""An epoch: every kept triple of a corpus once, in a shuffled order that can be resumed.

The corpus is divided into blocks. An epoch visits them in a random order, a chunk of blocks at a
time; the triples of a chunk are found with fresh subsampling and shuffled together. Everything is
drawn from generators seeded by (seed, epoch, chunk), so a position in the order is three integers,
and resuming there needs only its chunk. Triples are never materialised on disk.

Subsampling keeps a pair with a probability min(1, w(x)·w(y)), of one weight per word, which is what
makes it fast; p is a word's relative frequency in the corpus.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.errors import InputError
from pair2vec.ranges import (
    Count,
    Factor,
    OneOf,
    OptionalCount,
    PartialShare,
    Seed,
    check_ranges,
)
from pair2vec.runtime.prefetch import prefetch
from pair2vec.text.corpus import Corpus, Ids
from pair2vec.text.patterns import DISTANCES
from pair2vec.triples.windows import (
    Triples,
    WordMarginals,
    expected_marginals,
    find_triples,
    gather_contexts,
    triple_words,
)

_BLOCK = 1 << 22
_MAX_KEYS = 100_000_000
_SAMPLE_BATCH = 65_536


class SubsamplingRule(Protocol):
    """A pair is kept with probability min(1, product of its words' weights)."""

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The weight of each word, from its count in the corpus."""


@dataclass(frozen=True, slots=True)
class PairSubsampling:
    """The paper's rule: min(1, √(t / p(x)p(y))), with the pair's probability p(x)p(y)."""

    threshold: float = 5e-7

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """√(√t / p): the product of two of them is the square root above."""
        weights: NDArray[np.float64] = np.sqrt(
            np.sqrt(self.threshold) / _relative_frequency(counts)
        )
        return weights.astype(np.float32)


@dataclass(frozen=True, slots=True)
class WordSubsampling:
    """The released code's rule: min(1, √(t / p(x))) · min(1, √(t / p(y)))."""

    threshold: float = 5e-5

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """min(1, √(t / p))."""
        weights = np.minimum(1, np.sqrt(self.threshold / _relative_frequency(counts)))
        return weights.astype(np.float32)


@dataclass(frozen=True, slots=True)
class NoSubsampling:
    """Keeps every pair."""

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.ones(len(counts), np.float32)


def _relative_frequency(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each word's p; a word that never occurs gets that of a single occurrence."""
    frequency: NDArray[np.float64] = np.maximum(counts, 1) / max(int(counts.sum()), 1)
    return frequency


_RULES: dict[str, type[PairSubsampling | WordSubsampling]] = {
    "pair": PairSubsampling,
    "word": WordSubsampling,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TriplesConfig:
    """Which triples of a corpus are trained on, and in what order."""

    subsampling: Annotated[str, OneOf((*_RULES, "none"))] = "pair"
    """"pair" (the paper's rule), "word" (the released code's), or "none"."""
    threshold: Factor = 5e-7
    min_pair_count: OptionalCount = 0
    """Rarer pairs are left out; 0 or 1 skips the counting."""
    held_out: PartialShare = 0.01
    """Share of the corpus held out from training, for the validation loss."""
    seed: Seed = 0
    block_tokens: Count = 1 << 16
    chunk_blocks: Count = 64

    def __post_init__(self) -> None:
        check_ranges(self)

    def rule(self) -> SubsamplingRule:
        if self.subsampling == "none":
            return NoSubsampling()
        return _RULES[self.subsampling](self.threshold)


class EpochPosition(NamedTuple):
    """Where the next triple is in the order of all epochs."""

    epoch: int = 0
    chunk: int = 0
    offset: int = 0
    """In triples from the start of the chunk."""


START = EpochPosition()


class TripleBatch(NamedTuple):
    """Triples as ids, grouped by distance; `contexts` has one array per distance."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    contexts: tuple[NDArray[np.int64], ...]


class TripleStream:
    """All triples of a corpus, epoch after epoch."""

    def __init__(self, corpus: Corpus, config: TriplesConfig) -> None:
        self._config = config
        self._shards = [shard.tokens for shard in corpus.shards]
        # Positions of triples are global: those of a shard start where the last one ended.
        self._shard_starts = np.cumsum([0, *map(len, self._shards)])
        self._weights = config.rule().weights(corpus.vocabulary.counts)
        self._frequent: FrequentPairs | None = None
        if config.min_pair_count > 1:
            vocabulary = len(corpus.vocabulary)
            self._frequent = FrequentPairs(self._shards, vocabulary, config.min_pair_count)
        self._training_blocks, self._held_out_blocks = self._divide()

    def _divide(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows (shard, start, stop) of the blocks for training, and of those held out."""
        total = sum(map(len, self._shards))
        # A small corpus still gets a hundred blocks to shuffle and to hold out from.
        size = max(1, min(self._config.block_tokens, total // 100))
        blocks = np.array(
            [
                (number, start, min(start + size, len(tokens)))
                for number, tokens in enumerate(self._shards)
                for start in range(0, len(tokens), size)
            ]
        )
        order = np.random.default_rng([self._config.seed, 1]).permutation(len(blocks))
        held_out = round(len(blocks) * self._config.held_out)
        return blocks[np.sort(order[held_out:])], blocks[np.sort(order[:held_out])]

    def batches(
        self, size: int, position: EpochPosition = START, rank: int = 0, ranks: int = 1
    ) -> Iterator[tuple[TripleBatch, EpochPosition]]:
        """Batches from `position` on without end, each with the position after it.

        Every batch of `size` triples is divided evenly among the ranks. A batch may span two
        chunks; the last incomplete batch of an epoch is dropped.
        """
        low, high = size * rank // ranks, size * (rank + 1) // ranks
        while True:
            is_empty = True
            for triples, after in self._slices(size, position):
                is_empty = False
                yield self._batch(_rows(triples, low, high)), after
            if is_empty and position == EpochPosition(position.epoch):
                raise InputError(
                    f"an epoch of this corpus has fewer triples than one batch of {size}; "
                    "lower training.batch or prepare more text"
                )
            position = EpochPosition(position.epoch + 1)

    def _slices(
        self, size: int, position: EpochPosition
    ) -> Iterator[tuple[Triples, EpochPosition]]:
        """`size` triples at a time, to the end of the epoch of `position`."""
        pending = Triples(np.empty(0, np.int64), np.empty(0, np.uint8))
        skipped = position.offset
        chunks = (
            (chunk, self._chunk(position.epoch, chunk))
            for chunk in range(position.chunk, self._chunks())
        )
        for chunk, triples in prefetch(chunks, 1):
            carried = len(pending.position)
            pending = _concatenate([pending, _rows(triples, skipped, len(triples.position))])
            whole = len(pending.position) // size * size
            for start in range(0, whole, size):
                after = EpochPosition(position.epoch, chunk, skipped + start + size - carried)
                yield _rows(pending, start, start + size), after
            pending = _rows(pending, whole, len(pending.position))
            skipped = 0

    def expected_triples(self) -> int:
        """An estimate of the triples per epoch, from a sample of its blocks."""
        sample = self._training_blocks[:: max(1, len(self._training_blocks) // 32)]
        triples = self._shuffled(sample, np.random.default_rng([self._config.seed, 5]))
        sizes = self._training_blocks[:, 2] - self._training_blocks[:, 1]
        share = (sample[:, 2] - sample[:, 1]).sum() / sizes.sum()
        return int(len(triples.position) / share)

    def word_marginals(self) -> WordMarginals:
        """P(x, ·, ·) and P(·, y, ·) as expected counts in an epoch: (V,) each."""
        size = len(self._weights)
        total = WordMarginals(np.zeros(size), np.zeros(size))
        keeps = None if self._frequent is None else self._frequent.contains
        for shard, start, stop in self._training_blocks.tolist():
            tokens = self._shards[shard]
            block = expected_marginals(tokens, start, stop, self._weights, keeps)
            for whole, part in zip(total, block, strict=True):
                whole += part
        return total

    def sampled_contexts(self, most: int = 4_000_000) -> list[NDArray[np.int64]]:
        """The contexts of the first `most` triples of an epoch, one array per length.

        An epoch is shuffled, so that its start is a fair sample.
        """
        size = max(1, min(_SAMPLE_BATCH, self.expected_triples() // 100))
        groups, seen = [], 0
        for batch, position in self.batches(size):
            if position.epoch or seen >= most:
                break
            groups.append(batch.contexts)
            seen += len(batch.x)
        return [np.concatenate(group) for group in zip(*groups, strict=True)]

    def _chunks(self) -> int:
        return -(-len(self._training_blocks) // self._config.chunk_blocks)

    def _chunk(self, epoch: int, chunk: int) -> Triples:
        order = np.random.default_rng([self._config.seed, 2, epoch]).permutation(
            len(self._training_blocks)
        )
        size = self._config.chunk_blocks
        generator = np.random.default_rng([self._config.seed, 3, epoch, chunk])
        blocks = self._training_blocks[order[chunk * size : (chunk + 1) * size]]
        return self._shuffled(blocks, generator)

    def held_out(self, size: int) -> Iterator[TripleBatch]:
        """The held-out triples in batches of at most `size`, the same ones every time."""
        if not len(self._held_out_blocks):
            return
        generator = np.random.default_rng([self._config.seed, 4])
        triples = self._shuffled(self._held_out_blocks, generator)
        for start in range(0, len(triples.position), size):
            yield self._batch(_rows(triples, start, start + size))

    def _shuffled(self, blocks: NDArray[np.int64], generator: np.random.Generator) -> Triples:
        triples = _concatenate(
            [self._find(shard, start, stop, generator) for shard, start, stop in blocks.tolist()]
        )
        order = generator.permutation(len(triples.position))
        return Triples(triples.position[order], triples.distance[order])

    def _find(self, shard: int, start: int, stop: int, generator: np.random.Generator) -> Triples:
        tokens = self._shards[shard]
        triples = find_triples(tokens, start, stop, self._weights, generator)
        if self._frequent is not None:
            kept = self._frequent.contains(*triple_words(tokens, triples))
            triples = Triples(triples.position[kept], triples.distance[kept])
        return triples._replace(position=triples.position + self._shard_starts[shard])

    def _batch(self, triples: Triples) -> TripleBatch:
        parts = [self._batch_at_distance(triples, distance) for distance in DISTANCES]
        x, y, contexts = zip(*parts, strict=True)
        return TripleBatch(np.concatenate(x), np.concatenate(y), contexts)

    def _batch_at_distance(self, triples: Triples, distance: int) -> tuple[NDArray[np.int64], ...]:
        """The words x, the words y and the contexts of the triples of one distance."""
        positions = triples.position[triples.distance == distance]
        shards = np.searchsorted(self._shard_starts, positions, side="right") - 1
        columns = []
        for number, tokens in enumerate(self._shards):
            local = positions[shards == number] - self._shard_starts[number]
            x, y = triple_words(tokens, Triples(local, np.full(len(local), distance, np.uint8)))
            columns.append((x, y, gather_contexts(tokens, local, distance)))
        return tuple(map(np.concatenate, zip(*columns, strict=True)))


def _rows(triples: Triples, start: int, stop: int) -> Triples:
    return Triples(triples.position[start:stop], triples.distance[start:stop])


def _concatenate(parts: list[Triples]) -> Triples:
    return Triples(
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.distance for part in parts]),
    )


class FrequentPairs:
    """The ordered pairs (x, y) that occur at least `min_count` times within the window."""

    def __init__(self, shards: Sequence[Ids], vocabulary: int, min_count: int) -> None:
        self._vocabulary = vocabulary
        self._min_count = min_count
        tokens = sum(map(len, shards))
        # Several passes, each over its share of the pairs, bound the memory.
        passes = 1 + tokens * len(DISTANCES) // _MAX_KEYS
        parts = [self._frequent_keys(shards, number, passes) for number in range(passes)]
        self._keys = np.sort(np.concatenate(parts))

    def __len__(self) -> int:
        return len(self._keys)

    def contains(self, x: Int64Array, y: Int64Array) -> NDArray[np.bool_]:
        """Whether each of the pairs is frequent."""
        keys = self._key(x, y)
        index = np.minimum(np.searchsorted(self._keys, keys), max(0, len(self._keys) - 1))
        return self._keys[index] == keys if len(self._keys) else np.zeros(len(keys), np.bool_)

    def _key(self, x: Int64Array, y: Int64Array) -> Int64Array:
        return x * self._vocabulary + y

    def _frequent_keys(self, shards: Sequence[Ids], number: int, passes: int) -> Int64Array:
        """Those among the keys that are `number` modulo `passes`."""
        weights = np.ones(self._vocabulary, np.float32)
        generator = np.random.default_rng(0)
        keys = []
        for tokens in shards:
            for start in range(0, len(tokens), _BLOCK):
                stop = min(start + _BLOCK, len(tokens))
                triples = find_triples(tokens, start, stop, weights, generator)
                block_keys = self._key(*triple_words(tokens, triples))
                keys.append(block_keys[block_keys % passes == number])
        distinct, counts = np.unique(np.concatenate(keys), return_counts=True)
        return distinct[counts >= self._min_count]
