"""Words of two batches of sentences as ids, and the attention between them: made, and checked.

Shapes: B batch, n and m words of the sequences a and b.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pair2vec.errors import UsageError

PADDING = 0
"""The id behind the end of a short sentence, and of an unknown word."""


def padded_ids(
    sentences: Sequence[Sequence[str]], id_of: Callable[[str], int], device: torch.device
) -> Tensor:
    """Words as ids (B, n).

    Raises:
        UsageError: a sentence is a string, not its words.
    """
    for sentence in sentences:
        if isinstance(sentence, str):
            raise UsageError(f"{sentence!r} is a string; give a list of its words")
    longest = max(map(len, sentences), default=0)
    rows = [
        [*map(id_of, sentence), *[PADDING] * (longest - len(sentence))] for sentence in sentences
    ]
    numbers = torch.tensor(rows, dtype=torch.long, device=device)
    return numbers.reshape(len(rows), longest)


def check_ids(a_ids: Tensor, b_ids: Tensor) -> None:
    """Refuse what cannot be ids of words.

    Raises:
        UsageError: they are not whole numbers, or not of a batch of sentences.
    """
    for name, ids in (("a_ids", a_ids), ("b_ids", b_ids)):
        if ids.dim() != 2 or ids.is_floating_point():
            raise UsageError(
                f"{name} is {ids.dtype} of shape {tuple(ids.shape)}; it must be whole numbers "
                "(batch, words), as `ids` makes them"
            )


def check_range(ids: Tensor, size: int) -> None:
    """Refuse ids that are none of the layer's `size`; unseen while a GPU records what it is told.

    Raises:
        UsageError: one is negative, or too large.
    """
    if not ids.numel() or (ids.is_cuda and torch.cuda.is_current_stream_capturing()):
        return
    least, most = (int(number) for number in torch.aminmax(ids))
    if least < 0 or most >= size:
        raise UsageError(
            f"id {least if least < 0 else most} is not one of the model's, which go from 0 to "
            f"{size - 1:,}; make ids with `ids`, not with another tokeniser"
        )


def check_attention(a_ids: Tensor, b_ids: Tensor, attention: Tensor, sides: str) -> None:
    """Refuse attention that is not from each word of a to each of b, (B, n, m).

    Raises:
        UsageError: its shape is another, or it is not of floats.
    """
    fits = len(a_ids) == len(b_ids) and attention.shape == (*a_ids.shape, b_ids.shape[1])
    if not fits or not attention.is_floating_point():
        raise UsageError(
            f"attention_{sides} is {attention.dtype} of shape {tuple(attention.shape)} where "
            f"the ids have {tuple(a_ids.shape)} and {tuple(b_ids.shape)}; it must be floats "
            f"(batch, words of {sides[0]}, words of {sides[1]})"
        )


def check_dropout(dropout: float) -> float:
    """The same, if it is a share of the result that can be dropped.

    Raises:
        UsageError: it is not.
    """
    if not 0 <= dropout < 1:
        raise UsageError(f"dropout is {dropout}; it must be at least 0 and below 1")
    return dropout
