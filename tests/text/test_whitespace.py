"""Whitespace tokens encoded by numpy, against a plain split."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pair2vec.text import whitespace
from pair2vec.text.whitespace import (
    LINE_END,
    WhitespaceTokens,
    concatenate_slices,
    encode_whitespace_tokens,
)

# Few letters and all lengths around 8 and 16 bytes, so that tokens are often nearly equal.
TOKEN = st.one_of(
    st.text("ab", min_size=1, max_size=20),
    st.sampled_from(["a" * 7, "a" * 8, "a" * 9, "a" * 16, "a" * 17, "a" * 16 + "b", "字" * 6, "é"]),
    st.text(st.characters(codec="utf-8", min_codepoint=33), min_size=1, max_size=6),
)
SPACE = st.sampled_from([" ", "  ", "\t", "\r", "\x00", "\x1f", "\n", " \n\n "])
TEXT = st.lists(st.one_of(TOKEN, SPACE)).map("".join)


def plain_tokens(text: str) -> list[list[str]]:
    """The tokens of each line."""
    controls = dict.fromkeys(set(range(32)) - {ord("\n")}, " ")
    return [
        [part for part in line.split(" ") if part] for line in text.translate(controls).split("\n")
    ]


def decode_lines(tokens: WhitespaceTokens) -> list[list[str]]:
    """The lines that have tokens."""
    lines: list[list[str]] = [[]]
    for token_id in np.concatenate(tokens.blocks).tolist():
        if token_id == LINE_END:
            lines.append([])
        else:
            lines[-1].append(tokens.distinct[token_id])
    return [line for line in lines if line]


@given(TEXT)
@example("")
@example("aaaaaaaabbbbbbbb aaaaaaaa aaaaaaaabbbbbbbbc aaaaaaaab aaaaaaaa")
@example("aaaa b aaaa\tc aaaaaaaaa b aaaaaaaaa\tc")
def test_tokens_are_those_of_a_plain_split(text: str) -> None:
    tokens = encode_whitespace_tokens(text.encode())
    plain = [line for line in plain_tokens(text) if line]
    assert decode_lines(tokens) == plain
    distinct = dict.fromkeys(["", *(token for line in plain for token in line)])
    assert tokens.distinct == list(distinct)


@given(TEXT, st.integers(1, 40))
def test_tokens_do_not_depend_on_the_block_size(text: str, size: int) -> None:
    whole = encode_whitespace_tokens(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whitespace, "_BLOCK_BYTES", size)
        parts = encode_whitespace_tokens(text.encode())
    assert parts.distinct == whole.distinct
    assert decode_lines(parts) == decode_lines(whole)
    for block in parts.blocks:
        assert block[-1] == LINE_END


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=300))
def test_the_first_equal_key_is_found(keys: list[int]) -> None:
    first = {key: keys.index(key) for key in keys}
    indices = whitespace._first_equal_key(np.array(keys, np.uint64))
    assert indices.tolist() == [first[key] for key in keys]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_slices_are_concatenated_in_their_order(rows: list[tuple[int, int]]) -> None:
    values = np.arange(100, 110)
    starts, sizes = np.array(rows, np.int32).reshape(-1, 2).T
    expected = [value for start, size in rows for value in values[start : start + size].tolist()]
    assert concatenate_slices(values, starts, sizes).tolist() == expected
