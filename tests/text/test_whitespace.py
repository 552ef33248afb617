import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pair2vec.text import whitespace as chunks
from pair2vec.text.whitespace import LINE_END, concatenate_slices, number_tokens

# Few letters and all lengths around 8 and 16 bytes, so that chunks are often nearly equal.
CHUNK = st.one_of(
    st.text("ab", min_size=1, max_size=20),
    st.sampled_from(["a" * 7, "a" * 8, "a" * 9, "a" * 16, "a" * 17, "a" * 16 + "b", "字" * 6, "é"]),
    st.text(st.characters(codec="utf-8", min_codepoint=33), min_size=1, max_size=6),
)
SPACE = st.sampled_from([" ", "  ", "\t", "\r", "\x00", "\x1f", "\n", " \n\n "])
TEXT = st.lists(st.one_of(CHUNK, SPACE)).map("".join)


def plain_chunks(text: str) -> list[list[str]]:
    """The chunks of each line."""
    controls = dict.fromkeys(set(range(32)) - {ord("\n")}, " ")
    return [
        [part for part in line.split(" ") if part] for line in text.translate(controls).split("\n")
    ]


def lines_of(found: chunks.WhitespaceTokens) -> list[list[str]]:
    """The lines that have chunks."""
    lines: list[list[str]] = [[]]
    for number in np.concatenate(found.blocks).tolist():
        if number == LINE_END:
            lines.append([])
        else:
            lines[-1].append(found.distinct[number])
    return [line for line in lines if line]


@given(TEXT)
@example("")
@example("aaaaaaaabbbbbbbb aaaaaaaa aaaaaaaabbbbbbbbc aaaaaaaab aaaaaaaa")
@example("aaaa b aaaa\tc aaaaaaaaa b aaaaaaaaa\tc")
def test_chunks_are_those_of_a_plain_split(text: str) -> None:
    found = number_tokens(text.encode())
    plain = [line for line in plain_chunks(text) if line]
    assert lines_of(found) == plain
    assert found.distinct == list(dict.fromkeys(["", *(chunk for line in plain for chunk in line)]))


@given(TEXT, st.integers(1, 40))
def test_chunks_do_not_depend_on_the_blocks(text: str, size: int) -> None:
    whole = number_tokens(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "_BLOCK_BYTES", size)
        parts = number_tokens(text.encode())
    assert parts.distinct == whole.distinct
    assert lines_of(parts) == lines_of(whole)
    for block in parts.blocks:
        assert block[-1] == LINE_END


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=300))
def test_the_first_equal_key_is_found(keys: list[int]) -> None:
    first = {key: keys.index(key) for key in keys}
    found = chunks._first_equal(np.array(keys, np.uint64))
    assert found.tolist() == [first[key] for key in keys]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_rows_are_joined_in_their_order(rows: list[tuple[int, int]]) -> None:
    values = np.arange(100, 110)
    starts, sizes = np.array(rows, np.int32).reshape(-1, 2).T
    expected = [value for start, size in rows for value in values[start : start + size].tolist()]
    assert concatenate_slices(values, starts, sizes).tolist() == expected
