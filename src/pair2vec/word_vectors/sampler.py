"""Negative sampling of words: by smoothed frequency, with Walker's alias method."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.text.vocabulary import SPECIAL_TOKENS


class WordSampler:
    """Draws ids in proportion to their weights; two look-ups per draw."""

    def __init__(self, weights: NDArray[np.float64], device: torch.device) -> None:
        probability, alias = alias_table(weights)
        self._probability = torch.from_numpy(probability).to(device)
        self._alias = torch.from_numpy(alias).to(device)

    @classmethod
    def smoothed(
        cls, counts: NDArray[np.int64] | NDArray[np.float64], exponent: float, device: torch.device
    ) -> "WordSampler":
        """In proportion to count ** `exponent`; special tokens are never drawn."""
        weights = counts.astype(np.float64) ** exponent
        weights[: len(SPECIAL_TOKENS)] = 0
        return cls(weights, device)

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        device = self._probability.device
        slot = torch.randint(len(self._probability), shape, generator=generator, device=device)
        coin = torch.rand(shape, generator=generator, device=device)
        return torch.where(coin < self._probability[slot], slot, self._alias[slot])


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """For each slot the probability of drawing its own word, and the word to draw otherwise."""
    scaled = weights / weights.sum() * len(weights)
    alias = np.arange(len(weights))
    probability = np.ones(len(weights))
    small = [n for n in range(len(weights)) if scaled[n] < 1]
    large = [n for n in range(len(weights)) if scaled[n] >= 1]
    while small and large:
        less, more = small.pop(), large[-1]
        probability[less], alias[less] = scaled[less], more
        scaled[more] -= 1 - scaled[less]
        if scaled[more] < 1:
            small.append(large.pop())
    # Rounding may leave a slot unassigned; a word of weight 0 must still never be drawn.
    probability[weights == 0] = 0
    return probability.astype(np.float32), alias
