"""Weights: the part of a network that is learnt, at its start and as named tensors."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import InputError


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A layer whose first weights are drawn after Glorot & Bengio (2010), its biases zero."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def trainable_weights(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that want a gradient; what is frozen comes from where it came from before."""
    return {name: values for name, values in network.named_parameters() if values.requires_grad}


@torch.no_grad()
def set_weights(network: nn.Module, weights: Mapping[str, Tensor], source: str) -> None:
    """Copy weights into a network that was made with the same settings.

    Raises:
        InputError: they are those of another one; the message names `source`.
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
    """As they are now."""
    return {name: values.detach().clone() for name, values in trainable_weights(network).items()}


# == Sequences of several lengths: dropped out, attended, pooled.
#
# Shapes: B batch, n longest sequence of a block, D dimension.


class VariationalDropout(nn.Module):
    """Drops the same dimensions of all words of a sequence (Gal & Ghahramani, 2016)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, block: Tensor) -> Tensor:
        """(B, n, D), changed while training only."""
        if not self.training or not self.share:
            return block
        kept = torch.empty_like(block[:, :1]).bernoulli_(1 - self.share)
        return block * kept / (1 - self.share)

    def extra_repr(self) -> str:
        """What torch prints of it."""
        return f"share={self.share}"


def masked_softmax(scores: Tensor, is_in: Tensor, dim: int) -> Tensor:
    """Over the places that `is_in` allows, which is of the shape of the scores; zero elsewhere."""
    lowest = torch.finfo(scores.dtype).min
    # Where no place is allowed, softmax is even over nothing.
    return scores.masked_fill(~is_in, lowest).softmax(dim=dim).masked_fill(~is_in, 0)


def mean_words(block: Tensor, mask: Tensor) -> Tensor:
    """Over the words (B, n) of a block (B, n, D): (B, D); zero for a sequence without any."""
    total = (block * mask[..., None]).sum(
        dim=1, dtype=torch.promote_types(block.dtype, torch.float32)
    )
    return total / mask.sum(dim=1).clamp_min(1)[:, None]


def max_words(block: Tensor, mask: Tensor) -> Tensor:
    """The largest value of each dimension over the words of a block; zero without any: (B, D)."""
    if not block.shape[1]:
        return block.new_zeros(len(block), block.shape[2])
    lowest = torch.finfo(block.dtype).min
    largest = block.masked_fill(~mask[..., None], lowest).amax(dim=1)
    return largest.masked_fill(~mask.any(dim=1)[:, None], 0)


# == Recurrent networks over sequences of several lengths, in both directions.
#
# Shapes: B batch, n longest sequence of a block, D dimension.


class Bidirectional(nn.Module):
    """Both directions over blocks of sequences; cuDNN's on a GPU.

    Sequences run over the padding behind them, which does them no harm: forward, it comes after
    all that counts; backward, each sequence is turned round first. torch's packed sequences need
    their lengths on the CPU, so that no graph of a GPU can hold them, and take a CPU two to three
    times as long.
    """

    ahead: nn.RNNBase
    back: nn.RNNBase

    def __init__(self, ahead: nn.RNNBase, back: nn.RNNBase) -> None:
        """Take torch's own networks of one direction each; their weights are drawn anew."""
        super().__init__()
        self.ahead, self.back = ahead, back
        self.dimension = ahead.hidden_size + back.hidden_size
        for cells in (ahead, back):
            _initialise(cells)

    def forward(self, blocks: Sequence[Tensor], masks: Sequence[Tensor]) -> list[Tensor]:
        """Blocks (B, n, D) with words where masks (B, n) say, at the begin of each row.

        Returns:
            (B, n, 2 hidden) each; rows behind a sequence's end are zero.
        """
        if blocks[0].device.type == "cpu":
            return [self._run(*pair) for pair in zip(blocks, masks, strict=True)]
        # A GPU waits for one step after the other, and takes as long for few sequences as for many.
        width = max(block.shape[1] for block in blocks)
        joined, is_word = (
            torch.cat([_widened(part, width) for part in parts]) for parts in (blocks, masks)
        )
        found = torch.split(self._run(joined, is_word), [len(block) for block in blocks])
        return [part[:, : block.shape[1]] for part, block in zip(found, blocks, strict=True)]

    def _run(self, block: Tensor, is_word: Tensor) -> Tensor:
        if not block.numel():
            return block.new_zeros(*block.shape[:2], self.dimension)
        # torch would take float16 for bfloat16 here, in which small gradients are zero.
        with torch.autocast(block.device.type, enabled=False):
            block = block.to(torch.promote_types(block.dtype, torch.float32))
            places = torch.arange(block.shape[1], device=block.device)
            lengths = is_word.sum(dim=1, keepdim=True)
            turned = torch.where(is_word, lengths - 1 - places, places)[..., None]
            ahead = self.ahead(block)[0]
            back = self.back(block.take_along_dim(turned, dim=1))[0].take_along_dim(turned, dim=1)
            states = torch.cat([ahead, back], dim=-1)
            return states * is_word[..., None]


class BiLstm(Bidirectional):
    """Long short-term memory."""

    def __init__(self, inputs: int, hidden: int) -> None:
        """Initialise so that much is remembered at first."""
        super().__init__(*(nn.LSTM(inputs, hidden, batch_first=True) for _ in range(2)))
        for cells in (self.ahead, self.back):
            bias = cells.get_parameter("bias_hh_l0")
            # The second quarter belongs to the gate that keeps what was there before.
            nn.init.ones_(bias[hidden : 2 * hidden])


class BiGru(Bidirectional):
    """Gated recurrent units."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(*(nn.GRU(inputs, hidden, batch_first=True) for _ in range(2)))


def _initialise(cells: nn.RNNBase) -> None:
    """As AllenNLP does."""
    for name, values in cells.named_parameters():
        if "weight_ih" in name:
            nn.init.xavier_uniform_(values)
        elif "weight_hh" in name:
            nn.init.orthogonal_(values)
        else:
            nn.init.zeros_(values)


def _widened(block: Tensor, width: int) -> Tensor:
    """A block (B, n, D), or its mask (B, n), with zeros up to so many places."""
    missing = width - block.shape[1]
    return functional.pad(block, (0, 0) * (block.dim() - 2) + (0, missing)) if missing else block
