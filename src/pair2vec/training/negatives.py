"""Negatives: corrupted triples that each observed one is compared with."""

from dataclasses import dataclass

import torch
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
