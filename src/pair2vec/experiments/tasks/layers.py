"""Layers over padded sequences that tasks share, and the trainable weights of a network.

Shapes: B batch, n padded length, D dimension.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import InputError


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A layer with Glorot & Bengio's (2010) initial weights, and biases of zero."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def trainable_weights(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters with ``requires_grad``; frozen ones are read from their source again."""
    return {name: values for name, values in network.named_parameters() if values.requires_grad}


@torch.no_grad()
def set_weights(network: nn.Module, weights: Mapping[str, Tensor], source: str) -> None:
    """Copy weights into a network of the same architecture.

    Raises:
        InputError: names or shapes differ; the message names `source`.
    """
    wanted = trainable_weights(network)
    for name in sorted(wanted.keys() ^ weights.keys()):
        what = "lacks" if name in wanted else "has"
        raise InputError(f"{source}: {what} the weights {name!r}, unlike a network of its settings")
    for name, values in wanted.items():
        if weights[name].shape != values.shape:
            raise InputError(
                f"{source}: the weights {name!r} have shape {tuple(weights[name].shape)} where "
                f"its settings and inputs need {tuple(values.shape)}"
            )
    for name, values in wanted.items():
        values.copy_(weights[name])


def copy_weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: values.detach().clone() for name, values in trainable_weights(network).items()}


class VariationalDropout(nn.Module):
    """Drops the same dimensions of all words of a sequence (Gal & Ghahramani, 2016)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, block: Tensor) -> Tensor:
        """Of a block (B, n, D)."""
        if not self.training or not self.share:
            return block
        kept = torch.empty_like(block[:, :1]).bernoulli_(1 - self.share)
        return block * kept / (1 - self.share)

    def extra_repr(self) -> str:
        return f"share={self.share}"


def masked_softmax(scores: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Over the positions where `mask`, of the shape of `scores`, is True; zero elsewhere."""
    lowest = torch.finfo(scores.dtype).min
    # The second fill makes a row without any True zero, of which softmax is uniform.
    return scores.masked_fill(~mask, lowest).softmax(dim=dim).masked_fill(~mask, 0)


def mean_words(block: Tensor, mask: Tensor) -> Tensor:
    """The mean over the words (B, n) of a block (B, n, D): (B, D); zero without any word."""
    total = (block * mask[..., None]).sum(
        dim=1, dtype=torch.promote_types(block.dtype, torch.float32)
    )
    return total / mask.sum(dim=1).clamp_min(1)[:, None]


def max_words(block: Tensor, mask: Tensor) -> Tensor:
    """The maximum over the words (B, n) of a block (B, n, D): (B, D); zero without any word."""
    if not block.shape[1]:
        return block.new_zeros(len(block), block.shape[2])
    lowest = torch.finfo(block.dtype).min
    largest = block.masked_fill(~mask[..., None], lowest).amax(dim=1)
    return largest.masked_fill(~mask.any(dim=1)[:, None], 0)


class Bidirectional(nn.Module):
    """A bidirectional recurrent network over padded sequences; cuDNN's on a GPU.

    The networks also run over the padding, which does not change the states of words: forward, it
    comes after them; backward, each sequence is reversed first. torch's packed sequences need their
    lengths on the CPU, so that no CUDA graph can hold them, and take a CPU two to three times as
    long.
    """

    # The names are those of saved weights.
    ahead: nn.RNNBase
    back: nn.RNNBase

    def __init__(self, ahead: nn.RNNBase, back: nn.RNNBase) -> None:
        """Take unidirectional networks of torch, and initialise them as AllenNLP does."""
        super().__init__()
        self.ahead, self.back = ahead, back
        self.dimension = ahead.hidden_size + back.hidden_size
        for cells in (ahead, back):
            _initialise(cells)

    def forward(self, blocks: Sequence[Tensor], masks: Sequence[Tensor]) -> list[Tensor]:
        """The states of blocks (B, n, D), whose words, by masks (B, n), come before the padding.

        Returns:
            (B, n, 2 hidden) each; zero for padding.
        """
        if blocks[0].device.type == "cpu":
            return [self._run(*pair) for pair in zip(blocks, masks, strict=True)]
        # A GPU runs the steps one by one, and takes as long for few sequences as for many.
        length = max(block.shape[1] for block in blocks)
        joined, is_word = (
            torch.cat([_padded(part, length) for part in parts]) for parts in (blocks, masks)
        )
        states = torch.split(self._run(joined, is_word), [len(block) for block in blocks])
        return [part[:, : block.shape[1]] for part, block in zip(states, blocks, strict=True)]

    def _run(self, block: Tensor, is_word: Tensor) -> Tensor:
        if not block.numel():
            return block.new_zeros(*block.shape[:2], self.dimension)
        # Autocast would use float16 here, in which small gradients underflow to zero.
        with torch.autocast(block.device.type, enabled=False):
            block = block.to(torch.promote_types(block.dtype, torch.float32))
            positions = torch.arange(block.shape[1], device=block.device)
            lengths = is_word.sum(dim=1, keepdim=True)
            reverse = torch.where(is_word, lengths - 1 - positions, positions)[..., None]
            ahead = self.ahead(block)[0]
            back = self.back(block.take_along_dim(reverse, dim=1))[0].take_along_dim(reverse, dim=1)
            states = torch.cat([ahead, back], dim=-1)
            return states * is_word[..., None]


class BiLstm(Bidirectional):
    """A bidirectional LSTM, with forget gates biased to remember at first."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(*(nn.LSTM(inputs, hidden, batch_first=True) for _ in range(2)))
        for cells in (self.ahead, self.back):
            bias = cells.get_parameter("bias_hh_l0")
            # The second quarter is the forget gate's.
            nn.init.ones_(bias[hidden : 2 * hidden])


class BiGru(Bidirectional):
    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(*(nn.GRU(inputs, hidden, batch_first=True) for _ in range(2)))


def _initialise(cells: nn.RNNBase) -> None:
    for name, values in cells.named_parameters():
        if "weight_ih" in name:
            nn.init.xavier_uniform_(values)
        elif "weight_hh" in name:
            nn.init.orthogonal_(values)
        else:
            nn.init.zeros_(values)


def _padded(block: Tensor, length: int) -> Tensor:
    """A block (B, n, D), or its mask (B, n), with zeros up to `length`."""
    missing = length - block.shape[1]
    return functional.pad(block, (0, 0) * (block.dim() - 2) + (0, missing)) if missing else block
