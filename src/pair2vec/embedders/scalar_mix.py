"""The layers of a pretrained model, mixed into one vector a word as the task at hand learns to.

Shapes: K layers, B sentences, n words, D dimension.
"""

import torch
from torch import Tensor, nn

LAYERS = "layers"
"""What a batch that was read has of a pretrained model, (K, B, n, D)."""


class ScalarMix(nn.Module):
    """γ Σ_k softmax(w)_k h_k (Peters et al., 2018, equation 1); at first the mean of the layers."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """Mix layers (K, ...) of any shape."""
        shares = self.gamma * self.weights.softmax(0)
        mixed: Tensor = torch.tensordot(shares, layers, dims=1)
        return mixed
