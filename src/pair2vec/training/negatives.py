"""Negatives: corrupted triples that each observed one is compared with."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.text.vocabulary import SPECIAL_TOKENS


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """How many corrupted triples each observed triple is compared with."""

    contexts: int = 2
    """k_c in the paper: triples with another context of the batch."""
    words: int = 3
    """k_x and k_y: triples with another x, and as many with another y; 0 is the bivariate J_2NS."""
    typed: int = 1
    """How many of `words` are drawn among the word's nearest neighbours."""
    exponent: float = 0.75
    """Words are drawn by their count to this power."""
    neighbours: int = 100

    def __post_init__(self) -> None:
        if not 0 <= self.typed <= self.words:
            raise UsageError(
                f"typed is {self.typed}; it must be between 0 and words ({self.words})"
            )
        if self.typed and self.neighbours < 1:
            raise UsageError(f"neighbours is {self.neighbours}; it must be 1 or more")
        if self.contexts < 0:
            raise UsageError(f"contexts is {self.contexts}; it must be 0 or more")


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


def nearest_words(vectors: Tensor, count: int, rows_at_once: int = 2048) -> Tensor:
    """For each word its nearest by cosine, itself and special tokens left out: (V, count)."""
    unit = torch.nn.functional.normalize(vectors.float(), dim=1)
    found = torch.empty(len(unit), count, dtype=torch.int32)
    for start in range(0, len(unit), rows_at_once):
        rows = unit[start : start + rows_at_once]
        cosine = rows @ unit.T
        cosine[:, : len(SPECIAL_TOKENS)] = -2
        cosine[torch.arange(len(rows)), torch.arange(start, start + len(rows))] = -2
        found[start : start + len(rows)] = cosine.topk(count).indices.int().cpu()
    return found
