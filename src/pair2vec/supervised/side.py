"""One of the two texts that every example of a task has, as tensors.

Shapes: B batch, n words of the longest.
"""

from dataclasses import dataclass, replace

from torch import Tensor

from pair2vec.embedders.embedder import Embedder, EmbedderInputs


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """The premises of a batch, or its hypotheses, passages or questions."""

    inputs: EmbedderInputs
    ids: Tensor
    """(B, n), of the relation source."""
    is_word: Tensor
    """(B, n)"""

    def read_by(self, embedder: Embedder) -> "Side":
        """With what is frozen of the embedder's work done."""
        return replace(self, inputs=embedder.read(self.inputs))
