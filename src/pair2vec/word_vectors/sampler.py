"""Random words, drawn by how frequent they are."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.text.vocabulary import SPECIAL_TOKENS


class WordSampler:
    """Draws words by their smoothed frequency, with Walker's alias table: two look-ups a draw."""

    def __init__(self, weights: NDArray[np.float64], device: torch.device) -> None:
        chance, alias = alias_table(weights)
        self._chance = torch.from_numpy(chance).to(device)
        self._alias = torch.from_numpy(alias).to(device)

    @classmethod
    def smoothed(
        cls, counts: NDArray[np.int64], exponent: float, device: torch.device
    ) -> "WordSampler":
        """By count to the power of `exponent`; special tokens are never drawn."""
        weights = counts.astype(np.float64) ** exponent
        weights[: len(SPECIAL_TOKENS)] = 0
        return cls(weights, device)

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Words in a tensor of this shape."""
        device = self._chance.device
        slot = torch.randint(len(self._chance), shape, generator=generator, device=device)
        coin = torch.rand(shape, generator=generator, device=device)
        return torch.where(coin < self._chance[slot], slot, self._alias[slot])


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """For each slot the chance to stay in it, and the word to take otherwise."""
    scaled = weights / weights.sum() * len(weights)
    alias = np.arange(len(weights))
    chance = np.ones(len(weights))
    small = [n for n in range(len(weights)) if scaled[n] < 1]
    large = [n for n in range(len(weights)) if scaled[n] >= 1]
    while small and large:
        less, more = small.pop(), large[-1]
        chance[less], alias[less] = scaled[less], more
        scaled[more] -= 1 - scaled[less]
        if scaled[more] < 1:
            small.append(large.pop())
    # Rounding may leave a slot over; a word of weight 0 must still never be drawn.
    chance[weights == 0] = 0
    return chance.astype(np.float32), alias
