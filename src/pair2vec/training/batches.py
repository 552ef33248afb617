"""Training batches: triples of a corpus with negatives sampled for them, on the device.

Shapes: V vocabulary, B triples, K negative words per side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.ranges import Count, OneOf, OptionalCount, Share, check_ranges
from pair2vec.runtime.prefetch import prefetch
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.training.distributed import ProcessGroup
from pair2vec.training.network import TrainingBatch
from pair2vec.training.optim import TrainingConfig
from pair2vec.triples.epoch import EpochPosition, TripleBatch, TripleStream
from pair2vec.triples.windows import WordMarginals
from pair2vec.word_vectors.sampler import WordSampler

_HASH_FACTOR = 6_364_136_223_846_793_005
"""Knuth's multiplier of a congruential generator modulo 2⁶⁴."""

_PREFETCHED = 8
"""Batches prepared while a GPU trains on others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """How many corrupted triples each observed triple is compared with."""

    contexts: OptionalCount = 2
    """k_c in the paper: triples with another context of the batch."""
    words: OptionalCount = 3
    """k_x and k_y: triples with another x, and as many with another y; 0 is the bivariate J_2NS."""
    typed: OptionalCount = 1
    """How many of `words` are drawn among the word's nearest neighbours."""
    words_from: Annotated[str, OneOf(("corpus", "triples"))] = "corpus"
    """"corpus": by the unigrams of the corpus; "triples": another x by P(x, ·, ·), another y by
    P(·, y, ·) of the triples that are left after subsampling."""
    exponent: Share = 0.75
    """Words are drawn by their count to this power."""
    context_exponent: Share = 1.0
    """Contexts are drawn by their count to this power; 1 is their own distribution P(·, ·, c)."""
    neighbours: Count = 100

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.typed > self.words:
            raise UsageError(
                f"typed is {self.typed}; it must be from 0 to words, which is {self.words}"
            )


class TripleTensors(NamedTuple):
    """A `TripleBatch` as CPU tensors."""

    x: Tensor
    y: Tensor
    contexts: tuple[Tensor, ...]

    @classmethod
    def from_numpy(cls, triples: TripleBatch, *, pinned: bool = False) -> "TripleTensors":
        """Share the arrays' memory; or copy them to pinned memory, which a GPU reads meanwhile."""

        def tensor(ids: NDArray[np.int64]) -> Tensor:
            shared = torch.from_numpy(ids)
            return shared.pin_memory() if pinned else shared

        return cls(tensor(triples.x), tensor(triples.y), tuple(map(tensor, triples.contexts)))


class NegativeSampler:
    """Samples the negatives of a batch."""

    def __init__(
        self,
        config: NegativesConfig,
        counts: NDArray[np.int64] | WordMarginals,
        neighbours: Tensor | None,
        device: torch.device,
        contexts: "ContextCounts | None" = None,
    ) -> None:
        """Sample words and contexts.

        Args:
            config: How many of each.
            counts: Of words (V,), of any word or of x and y.
            neighbours: Of `nearest_words`, for typed ones.
            device: Of the batches.
            contexts: Unless contexts are drawn as they come.
        """
        self._config = config
        as_x, as_y = counts if isinstance(counts, tuple) else (counts, None)
        self._as_x = WordSampler.smoothed(as_x, config.exponent, device)
        self._as_y = (
            self._as_x if as_y is None else WordSampler.smoothed(as_y, config.exponent, device)
        )
        self._contexts = contexts
        # Without neighbours, there are no typed negatives: all words are drawn by frequency.
        self.typed = 0 if neighbours is None else config.typed
        self._neighbours = None if neighbours is None else neighbours.to(device)
        self._device = device

    @classmethod
    def of_triples(
        cls,
        config: NegativesConfig,
        counts: NDArray[np.int64],
        triples: TripleStream,
        neighbours: Tensor | None,
        device: torch.device,
    ) -> "NegativeSampler":
        """With what `config` asks to be counted among the triples; `counts` are the corpus'."""
        by_triples = config.words and config.words_from == "triples"
        smooths = config.contexts and config.context_exponent < 1
        return cls(
            config,
            triples.word_marginals() if by_triples else counts,
            neighbours,
            device,
            ContextCounts(triples.sampled_contexts(), device) if smooths else None,
        )

    def complete(self, triples: TripleTensors, generator: torch.Generator) -> TrainingBatch:
        """`triples` on the device, with negatives drawn by `generator`."""
        x, y = (words.to(self._device, non_blocking=True) for words in (triples.x, triples.y))
        contexts = tuple(group.to(self._device, non_blocking=True) for group in triples.contexts)
        return TrainingBatch(
            x,
            y,
            contexts,
            self._other_words(x, self._as_x, generator),
            self._other_words(y, self._as_y, generator),
            self._other_contexts(contexts, len(x), generator),
        )

    def _other_words(
        self, words: Tensor, sampler: WordSampler, generator: torch.Generator
    ) -> Tensor:
        """(B, K): by frequency, then the typed ones."""
        by_frequency = sampler.draw((len(words), self._config.words - self.typed), generator)
        if self._neighbours is None or not self.typed:
            return by_frequency
        choices = self._neighbours.shape[1]
        pick = torch.randint(
            choices, (len(words), self.typed), generator=generator, device=self._device
        )
        typed = self._neighbours[words].gather(1, pick).to(by_frequency.dtype)
        return torch.cat([by_frequency, typed], dim=1)

    def _other_contexts(
        self, contexts: tuple[Tensor, ...], size: int, generator: torch.Generator
    ) -> Tensor:
        """(B, k_c): rows of the batch, smoothed or each column a random permutation of all."""
        if self._contexts is not None and self._config.contexts and size:
            # A row occurs as often as its context: the rest of the power is its weight.
            weights = self._contexts(contexts).pow(self._config.context_exponent - 1)
            drawn = torch.multinomial(
                weights, size * self._config.contexts, replacement=True, generator=generator
            )
            return drawn.view(size, self._config.contexts)
        columns = [
            torch.randperm(size, generator=generator, device=self._device)
            for _ in range(self._config.contexts)
        ]
        if not columns:
            return torch.empty(size, 0, dtype=torch.long, device=self._device)
        return torch.stack(columns, dim=1)


class ContextCounts:
    """How often a context occurs in a sample of triples, by a hash of its ids."""

    def __init__(self, contexts: Sequence[NDArray[np.int64]], device: torch.device) -> None:
        """Count contexts, one array per length; one that is seen once needs no memory."""
        hashes = torch.cat([_hashes(torch.from_numpy(group)) for group in contexts])
        keys, counts = np.unique(hashes.numpy(), return_counts=True)
        self._keys = torch.from_numpy(keys[counts > 1]).to(device)
        self._counts = torch.from_numpy(counts[counts > 1]).to(device)

    def __call__(self, contexts: tuple[Tensor, ...]) -> Tensor:
        """The counts of the contexts of a batch, 1 for one that is not known: (B,), float32."""
        hashes = torch.cat([_hashes(group) for group in contexts])
        if not len(self._keys):
            return torch.ones(len(hashes), device=hashes.device)
        rows = torch.searchsorted(self._keys, hashes).clamp_max(len(self._keys) - 1)
        counts: Tensor = self._counts[rows].where(self._keys[rows] == hashes, 1).float()
        return counts


def _hashes(contexts: Tensor) -> Tensor:
    """Of contexts of one length (n, L): (n,). Integers wrap around at 64 bits."""
    hashes = torch.full_like(contexts[:, 0], contexts.shape[1])
    for column in contexts.T:
        hashes = hashes * _HASH_FACTOR + column + 1
    return hashes


def nearest_words(vectors: Tensor, count: int, rows_at_once: int = 2048) -> Tensor:
    """For each word its nearest by cosine, without itself and special tokens: (V, count)."""
    unit = torch.nn.functional.normalize(vectors.float(), dim=1)
    nearest = torch.empty(len(unit), count, dtype=torch.int32)
    for start in range(0, len(unit), rows_at_once):
        rows = unit[start : start + rows_at_once]
        cosine = rows @ unit.T
        cosine[:, : len(SPECIAL_TOKENS)] = -2
        cosine[torch.arange(len(rows)), torch.arange(start, start + len(rows))] = -2
        nearest[start : start + len(rows)] = cosine.topk(count).indices.int().cpu()
    return nearest


def nearest_among(vectors: Tensor, words: Sequence[int], count: int) -> Tensor:
    """Each of some words with its nearest others of them, as pairs of ids: (2, P)."""
    special = len(SPECIAL_TOKENS)
    ids = torch.tensor([*range(special), *words])
    count = min(count, len(words) - 1)
    if count < 1:
        return torch.zeros(2, 0, dtype=torch.int32)
    nearest = nearest_words(vectors[ids.to(vectors.device)], count)[special:]
    pairs = ids[special:, None].expand(-1, count), ids[nearest.long()]
    return torch.stack([column.flatten() for column in pairs]).int()


class BatchSource(NamedTuple):
    """What the batches of a run are made from."""

    triples: TripleStream
    negatives: NegativeSampler
    config: TrainingConfig
    ranks: ProcessGroup
    device: torch.device


class BatchStream:
    """The batches of a run: of each, the part of this rank."""

    def __init__(self, source: BatchSource) -> None:
        self._triples, self._negatives, self._config, self._ranks, device = source
        self._on_gpu = device.type == "cuda"
        self.generator = torch.Generator(device).manual_seed(self._config.seed + 1)
        """Of negatives; its state is part of a checkpoint."""

    def batches(
        self, position: EpochPosition, steps: range
    ) -> Iterator[tuple[TrainingBatch, EpochPosition]]:
        """Those of `steps`, or until the last epoch ends, each with the position after it."""
        for step, (triples, after) in zip(steps, self._tensors(position), strict=False):
            if self._ranks.world_size > 1:
                # Seeded anew each step, so that a checkpoint holds no state of each rank.
                self.generator.manual_seed(
                    negatives_seed(self._config.seed, step, self._ranks.rank)
                )
            yield self._negatives.complete(triples, self.generator), after

    def _tensors(self, position: EpochPosition) -> Iterator[tuple[TripleTensors, EpochPosition]]:
        """Triples to the last epoch.

        Each rank finds the positions of all triples, which is cheap, and reads only its own.
        """
        tensors = (
            (TripleTensors.from_numpy(triples, pinned=self._on_gpu), after)
            for triples, after in takewhile(
                lambda item: item[1].epoch < self._config.epochs,
                self._triples.batches(
                    self._config.batch, position, self._ranks.rank, self._ranks.world_size
                ),
            )
        )
        # Beside training on a CPU, another thread would only compete for its cores.
        return prefetch(tensors, _PREFETCHED) if self._on_gpu else tensors


def negatives_seed(seed: int, step: int, rank: int) -> int:
    """For the negatives of one of several ranks in one step: different from that of any other."""
    return int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0])
