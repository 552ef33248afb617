"""Training batches: triples of a corpus with negatives sampled for them, on the device.

Shapes: V vocabulary, B triples, K negative words per side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.ranges import Count, OptionalCount, Share, check_ranges
from pair2vec.runtime.prefetch import prefetch
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.training.distributed import ProcessGroup
from pair2vec.training.network import TrainingBatch
from pair2vec.training.optim import TrainingConfig
from pair2vec.triples.epoch import EpochPosition, TripleBatch, TripleStream
from pair2vec.word_vectors.sampler import WordSampler

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
    exponent: Share = 0.75
    """Words are drawn by their count to this power."""
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
        counts: NDArray[np.int64],
        neighbours: Tensor | None,
        device: torch.device,
    ) -> None:
        """Sample words by `counts` (V,), and typed ones among `neighbours`, of `nearest_words`."""
        self._config = config
        self._words = WordSampler.smoothed(counts, config.exponent, device)
        # Without neighbours, there are no typed negatives: all words are drawn by frequency.
        self.typed = 0 if neighbours is None else config.typed
        self._neighbours = None if neighbours is None else neighbours.to(device)
        self._device = device

    def complete(self, triples: TripleTensors, generator: torch.Generator) -> TrainingBatch:
        """`triples` on the device, with negatives drawn by `generator`."""
        x, y = (words.to(self._device, non_blocking=True) for words in (triples.x, triples.y))
        contexts = tuple(group.to(self._device, non_blocking=True) for group in triples.contexts)
        return TrainingBatch(
            x,
            y,
            contexts,
            self._other_words(x, generator),
            self._other_words(y, generator),
            self._shuffles(len(x), generator),
        )

    def _other_words(self, words: Tensor, generator: torch.Generator) -> Tensor:
        """(B, K): by frequency, then the typed ones."""
        by_frequency = self._words.draw((len(words), self._config.words - self.typed), generator)
        if self._neighbours is None or not self.typed:
            return by_frequency
        choices = self._neighbours.shape[1]
        pick = torch.randint(
            choices, (len(words), self.typed), generator=generator, device=self._device
        )
        typed = self._neighbours[words].gather(1, pick).to(by_frequency.dtype)
        return torch.cat([by_frequency, typed], dim=1)

    def _shuffles(self, size: int, generator: torch.Generator) -> Tensor:
        """(B, k_c): each column a random permutation of the batch's rows."""
        columns = [
            torch.randperm(size, generator=generator, device=self._device)
            for _ in range(self._config.contexts)
        ]
        if not columns:
            return torch.empty(size, 0, dtype=torch.long, device=self._device)
        return torch.stack(columns, dim=1)


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
