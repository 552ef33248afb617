"""Tokens between white space, encoded: a text as ids of its distinct tokens.

A whitespace token (``"Don't!"``) is not yet a token of the corpus (``don't``, ``!``); `sentences`
splits it further. Whitespace tokens repeat: of a million, some hundred thousand are distinct, and
whatever depends on the token alone is computed once for each of those. Numpy encodes them in about
half the time of a dictionary: eight bytes are compared as one integer, so that most tokens never
become a Python object.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

LINE_END = 0
"""The id that stands for the end of a line."""

_Value = TypeVar("_Value", bound=np.generic)

_BLOCK_BYTES = 1 << 20
_LINE_END_BYTE = b"\xff"  # in no UTF-8 text
_SPACE, _NEWLINE = b" \n"
# By token length, the mask that keeps a token's bytes among eight; 0 for tokens longer than eight.
_MASKS = np.array([*((1 << 8 * size) - 1 for size in range(9)), 0], np.uint64)
_MULTIPLIER = 0x9E3779B97F4A7C15  # Fibonacci hashing: 2^64 / golden ratio, spreads over the table


class WhitespaceTokens(NamedTuple):
    """A text as ids of its distinct whitespace tokens."""

    blocks: list[NDArray[np.int32]]
    """The ids in the order of the text: whole lines per block, `LINE_END` after each line."""
    distinct: list[str]
    """Token by id, in the order of first appearance; "" for `LINE_END`."""


def encode_whitespace_tokens(text: bytes | bytearray) -> WhitespaceTokens:
    """Encode a UTF-8 `text`; white space is ASCII's, control characters included."""
    line_end = b" %b " % _LINE_END_BYTE
    # The zeros at the end allow eight bytes to be read from every position.
    text = b"".join([line_end, text.replace(b"\n", line_end), line_end, bytes(8)])
    text_bytes = np.frombuffer(text, np.uint8)
    blocks, distinct_spans, total = [], [], 0
    for spans in _token_spans_by_block(text, text_bytes):
        block_ids, block_spans = _encode_spans(text, spans)
        blocks.append(block_ids + np.int32(total))
        distinct_spans.append(block_spans)
        total += len(block_spans)
    # The same again for the tokens that are distinct within their block.
    ids, spans = _encode_spans(text, np.concatenate(distinct_spans))
    starts, stops = spans[1:].T
    # Including the white space after each token, which is turned into a newline.
    joined = concatenate_slices(text_bytes, starts, stops - starts + 1)
    joined[joined <= _SPACE] = _NEWLINE
    tokens = joined.tobytes().decode().split("\n")
    return WhitespaceTokens([ids[block] for block in blocks], ["", *tokens[:-1]])


def concatenate_slices(
    values: NDArray[_Value], starts: NDArray[np.int32], sizes: NDArray[np.int32]
) -> NDArray[_Value]:
    """``np.concatenate([values[start : start + size], ...])`` without the loop."""
    stops = np.cumsum(sizes, dtype=np.int32)
    indices = np.repeat(starts - (stops - sizes), sizes)
    indices += np.arange(len(indices), dtype=np.int32)
    joined: NDArray[_Value] = values[indices]
    return joined


def _token_spans_by_block(
    text: bytes, text_bytes: NDArray[np.uint8]
) -> Iterator[NDArray[np.int32]]:
    """Starts and stops of tokens (N, 2), for as many lines at a time as fit a processor's cache."""
    start, end = 0, text.rindex(_LINE_END_BYTE) + 1
    while start < end:
        stop = text.find(_LINE_END_BYTE, start + _BLOCK_BYTES) + 1 or end
        is_inside = text_bytes[start:stop] > _SPACE
        edges = np.flatnonzero(np.diff(is_inside, prepend=False, append=False)) + start
        yield edges.astype(np.int32).reshape(-1, 2)
        start = stop


def _encode_spans(
    text: bytes, spans: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The ids of the tokens at `spans`, and the spans of the distinct ones."""
    first = _first_equal_token(text, spans)
    is_first = first == np.arange(len(first), dtype=np.int32)
    return (np.cumsum(is_first, dtype=np.int32) - 1)[first], spans[is_first]


def _first_equal_token(text: bytes, spans: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each token the index of the first one equal to it."""
    starts, stops = spans.T
    sizes = stops - starts
    words = np.ndarray(len(text) - 7, "<u8", text, strides=(1,))  # eight bytes from each position
    first = _first_equal_key(words[starts] & _MASKS[np.minimum(sizes, 9)])
    longer = np.flatnonzero((sizes > 8) & (sizes <= 16))
    heads = _first_equal_key(words[starts[longer]])
    tails = _first_equal_key(words[starts[longer] + 8] & _MASKS[sizes[longer] - 8])
    first[longer] = longer[_first_equal_key(np.stack([heads, tails], 1).view(np.uint64).ravel())]
    # In most languages few words are longer still.
    longest = np.flatnonzero(sizes > 16)
    seen: dict[bytes, int] = {}
    for index, (start, stop) in zip(longest.tolist(), spans[longest].tolist(), strict=True):
        first[index] = seen.setdefault(text[start:stop], index)
    return first


def _first_equal_key(keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """For each key the index of the first one equal to it: a hash table in numpy."""
    first = np.empty(len(keys), np.int32)
    bits = len(keys).bit_length()
    table = np.empty(1 << bits, np.int32)
    multiplier = _MULTIPLIER
    indices, remaining = np.arange(len(keys), dtype=np.int32), keys
    while len(remaining):
        slots = (remaining * np.uint64(multiplier) >> np.uint64(64 - bits)).view(np.int64)
        # Written in reverse, so that the first of the keys that share a slot stays in it.
        table[slots[::-1]] = indices[::-1]
        owners = table[slots]
        first[indices] = owners
        # Keys that collided with another one try again, in a slot of their next hash.
        collided = keys[owners] != remaining
        indices, remaining = indices[collided], remaining[collided]
        multiplier = multiplier * _MULTIPLIER % (1 << 64)
    return first
