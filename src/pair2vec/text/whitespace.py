"""Chunks of text, each what stands between white space, as numbers.

Chunks repeat: of a million, some hundred thousand are distinct, and what can be told from a chunk
alone is told once for each of those. Numpy numbers them in about half the time of a dictionary:
eight letters are one integer, so that most chunks never become a Python object.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

LINE_END = 0
"""The number that stands for the end of a line."""

_Value = TypeVar("_Value", bound=np.generic)

_BLOCK_BYTES = 1 << 20
_LINE_END_LETTER = b"\xff"  # in no UTF-8 text
_SPACE, _NEWLINE = b" \n"
# What keeps the first letters of eight; of more than eight nothing.
_MASKS = np.array([*((1 << 8 * size) - 1 for size in range(9)), 0], np.uint64)
_MULTIPLIER = 0x9E3779B97F4A7C15  # odd and irregular: its products spread over the slots of a table


class WhitespaceTokens(NamedTuple):
    """A text as numbers of its distinct chunks."""

    blocks: list[NDArray[np.int32]]
    """The numbers in the order of the text, whole lines a block, `LINE_END` behind each line."""
    distinct: list[str]
    """By number, which is the order of first appearance; "" for `LINE_END`."""


def number_tokens(text: bytes | bytearray) -> WhitespaceTokens:
    """The chunks of a UTF-8 `text`; white space is ASCII's, control characters included."""
    line_end = b" %b " % _LINE_END_LETTER
    # The zeros are there so that eight letters can be read from every place.
    text = b"".join([line_end, text.replace(b"\n", line_end), line_end, bytes(8)])
    letters = np.frombuffer(text, np.uint8)
    blocks, firsts, total = [], [], 0
    for spans in _spans_of_blocks(text, letters):
        numbers, first = _numbered(text, spans)
        blocks.append(numbers + np.int32(total))
        firsts.append(first)
        total += len(first)
    # The same once more, for the chunks that are distinct in their block.
    numbers_of_text, distinct = _numbered(text, np.concatenate(firsts))
    starts, stops = distinct[1:].T
    # With the white space behind each, which comes to be a newline.
    rows = concatenate_slices(letters, starts, stops - starts + 1)
    rows[rows <= _SPACE] = _NEWLINE
    strings = rows.tobytes().decode().split("\n")
    return WhitespaceTokens([numbers_of_text[block] for block in blocks], ["", *strings[:-1]])


def _spans_of_blocks(text: bytes, letters: NDArray[np.uint8]) -> Iterator[NDArray[np.int32]]:
    """Where chunks start and stop, for as many lines at a time as a processor's cache can hold."""
    start, end = 0, text.rindex(_LINE_END_LETTER) + 1
    while start < end:
        stop = text.find(_LINE_END_LETTER, start + _BLOCK_BYTES) + 1 or end
        is_inside = letters[start:stop] > _SPACE
        edges = np.flatnonzero(np.diff(is_inside, prepend=False, append=False)) + start
        yield edges.astype(np.int32).reshape(-1, 2)
        start = stop


def _numbered(text: bytes, spans: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The numbers of the chunks, and the spans of the distinct ones."""
    first = _first_equal_chunks(text, spans)
    is_first = first == np.arange(len(first), dtype=np.int32)
    return (np.cumsum(is_first, dtype=np.int32) - 1)[first], spans[is_first]


def _first_equal_chunks(text: bytes, spans: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each chunk the place of the first one that is equal."""
    starts, stops = spans.T
    sizes = stops - starts
    eights = np.ndarray(len(text) - 7, "<u8", text, strides=(1,))
    first = _first_equal(eights[starts] & _MASKS[np.minimum(sizes, 9)])
    longer = np.flatnonzero((sizes > 8) & (sizes <= 16))
    heads = _first_equal(eights[starts[longer]])
    tails = _first_equal(eights[starts[longer] + 8] & _MASKS[sizes[longer] - 8])
    first[longer] = longer[_first_equal(np.stack([heads, tails], 1).view(np.uint64).ravel())]
    # In most languages few words are longer still.
    longest = np.flatnonzero(sizes > 16)
    seen: dict[bytes, int] = {}
    for place, (start, stop) in zip(longest.tolist(), spans[longest].tolist(), strict=True):
        first[place] = seen.setdefault(text[start:stop], place)
    return first


def _first_equal(keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """For each key the place of the first one that is equal: a hash table by numpy."""
    first = np.empty(len(keys), np.int32)
    bits = len(keys).bit_length()
    table = np.empty(1 << bits, np.int32)
    multiplier = _MULTIPLIER
    places, rest = np.arange(len(keys), dtype=np.int32), keys
    while len(rest):
        slots = (rest * np.uint64(multiplier) >> np.uint64(64 - bits)).view(np.int64)
        # Written in reverse, so that of the keys of a slot the first one stays.
        table[slots[::-1]] = places[::-1]
        owners = table[slots]
        first[places] = owners
        # Keys whose slot belongs to another one try again, in a slot of their next hash.
        failed = keys[owners] != rest
        places, rest = places[failed], rest[failed]
        multiplier = multiplier * _MULTIPLIER % (1 << 64)
    return first


def concatenate_slices(
    values: NDArray[_Value], starts: NDArray[np.int32], sizes: NDArray[np.int32]
) -> NDArray[_Value]:
    """``values[start : start + size]`` for each start and size, one behind the other."""
    stops = np.cumsum(sizes, dtype=np.int32)
    places = np.repeat(starts - (stops - sizes), sizes)
    places += np.arange(len(places), dtype=np.int32)
    joined: NDArray[_Value] = values[places]
    return joined
