"""One of the two texts that every example of a task has, as tensors.

Shapes: B batch, n words of the longest.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from pair2vec.embedders.embedder import EmbedderInputs


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """The premises of a batch, or its hypotheses, passages or questions."""

    inputs: EmbedderInputs
    ids: Tensor
    """(B, n), of the relation source."""
    is_word: Tensor
    """(B, n)"""

    def to(self, device: torch.device) -> "Side":
        """On this device."""
        return Side(
            inputs=self.inputs.to(device), ids=self.ids.to(device), is_word=self.is_word.to(device)
        )
