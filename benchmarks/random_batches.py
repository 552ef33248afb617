"""Batches of random ids by Zipf's law: few words are frequent, most are rare."""

import numpy as np
import torch
from torch import Tensor

from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import SPECIAL_TOKENS, X, Y
from pair2vec.training.batches import NegativesConfig
from pair2vec.training.network import TrainingBatch

TEXT, KEPT = 1.0, 0.5
"""By Zipf's law the n-th word has a chance of 1 / n in a text. Subsampling draws the root of it."""


def random_batches(
    words: int,
    size: int,
    negatives: NegativesConfig,
    count: int,
    device: torch.device,
    seed: int = 0,
) -> list[TrainingBatch]:
    """`count` batches, with contexts of all lengths in proportions that differ between them."""
    generator = torch.Generator(device).manual_seed(seed)
    group_sizes = np.random.default_rng(seed).multinomial(
        size, np.full(len(DISTANCES), 1 / len(DISTANCES)), count
    )

    def draw(shape: tuple[int, ...], power: float) -> Tensor:
        ranks = torch.arange(1, words + 1, dtype=torch.float64, device=device)
        chances = (ranks**-power).cumsum(0)
        picks = torch.rand(shape, dtype=torch.float64, device=device, generator=generator)
        return torch.searchsorted(chances, picks * chances[-1]) + len(SPECIAL_TOKENS)

    def contexts(rows: int, distance: int) -> Tensor:
        drawn = draw((rows, distance + 3), TEXT)
        drawn[:, 1], drawn[:, -2] = X, Y
        return drawn

    def shuffle() -> Tensor:
        return torch.randperm(size, generator=generator, device=device)

    return [
        TrainingBatch(
            draw((size,), KEPT),
            draw((size,), KEPT),
            tuple(map(contexts, rows, DISTANCES)),
            draw((size, negatives.words), negatives.exponent),
            draw((size, negatives.words), negatives.exponent),
            torch.stack([shuffle() for _ in range(negatives.contexts)], dim=1),
        )
        for rows in group_sizes.tolist()
    ]
