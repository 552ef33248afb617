"""Batches: triples of a corpus with negatives drawn for them, on the device."""

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.runtime.prefetch import prefetch
from pair2vec.training.distributed import ProcessGroup
from pair2vec.training.negatives import NegativesConfig
from pair2vec.training.network import TrainingBatch
from pair2vec.training.recipes import TrainingConfig
from pair2vec.triples.epoch import EpochPosition, TripleBatch, TripleStream
from pair2vec.word_vectors.sampler import WordSampler

_AHEAD = 8
"""Batches made while a GPU learns from others."""


class TripleTensors(NamedTuple):
    """A `TripleBatch` as tensors of the host."""

    x: Tensor
    y: Tensor
    contexts: tuple[Tensor, ...]

    @classmethod
    def of(cls, triples: TripleBatch, *, pinned: bool = False) -> "TripleTensors":
        """The same numbers; where pinned, a GPU can fetch them while it computes."""

        def tensor(numbers: NDArray[np.int64]) -> Tensor:
            found = torch.from_numpy(numbers)
            return found.pin_memory() if pinned else found

        return cls(tensor(triples.x), tensor(triples.y), tuple(map(tensor, triples.contexts)))


def seed_for(seed: int, step: int, rank: int) -> int:
    """For the negatives of one of several ranks, in one step: unlike that of any other."""
    return int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0])


class NegativeSampler:
    """Draws the negatives of a batch."""

    def __init__(
        self,
        config: NegativesConfig,
        counts: NDArray[np.int64],
        neighbours: Tensor | None,
        device: torch.device,
    ) -> None:
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
        plain = self._words.draw((len(words), self._config.words - self.typed), generator)
        if self._neighbours is None or not self.typed:
            return plain
        choices = self._neighbours.shape[1]
        pick = torch.randint(
            choices, (len(words), self.typed), generator=generator, device=self._device
        )
        typed = self._neighbours[words].gather(1, pick).to(plain.dtype)
        return torch.cat([plain, typed], dim=1)

    def _shuffles(self, size: int, generator: torch.Generator) -> Tensor:
        """(B, k_c): each column a random order of the batch's rows."""
        columns = [
            torch.randperm(size, generator=generator, device=self._device)
            for _ in range(self._config.contexts)
        ]
        if not columns:
            return torch.empty(size, 0, dtype=torch.long, device=self._device)
        return torch.stack(columns, dim=1)


class BatchSource(NamedTuple):
    """What the batches of a run are made from, and for whom."""

    triples: TripleStream
    negatives: NegativeSampler
    config: TrainingConfig
    ranks: ProcessGroup
    device: torch.device


class BatchStream:
    """The batches of a run: of each, the part of this rank."""

    def __init__(self, supply: BatchSource) -> None:
        self._triples, self._negatives, self._config, self._ranks, device = supply
        self._on_gpu = device.type == "cuda"
        self.generator = torch.Generator(device).manual_seed(self._config.seed + 1)
        """Of negatives; its state is part of a checkpoint."""

    def batches(
        self, place: EpochPosition, steps: range
    ) -> Iterator[tuple[TrainingBatch, EpochPosition]]:
        """Those of some steps, as far as the epochs go, each with the place behind it."""
        for step, (triples, behind) in zip(steps, self._tensors(place), strict=False):
            if self._ranks.count > 1:
                # Anew each step, so that a checkpoint has nothing to say of each rank.
                self.generator.manual_seed(seed_for(self._config.seed, step, self._ranks.rank))
            yield self._negatives.complete(triples, self.generator), behind

    def _tensors(self, place: EpochPosition) -> Iterator[tuple[TripleTensors, EpochPosition]]:
        """Triples to the last epoch.

        Each rank finds the positions of all triples, which is cheap, and reads only its own.
        """
        found = (
            (TripleTensors.of(triples, pinned=self._on_gpu), behind)
            for triples, behind in takewhile(
                lambda item: item[1].epoch < self._config.epochs,
                self._triples.batches(
                    self._config.batch, place, self._ranks.rank, self._ranks.count
                ),
            )
        )
        # A CPU has no time to spare while it learns.
        return prefetch(found, _AHEAD) if self._on_gpu else found
