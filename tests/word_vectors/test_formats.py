"""Files of word vectors: every format, read bit for bit, and errors that name the damage."""

import gzip
import struct
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray
from tests.real_data import real_data
from tests.word_vectors.small_words import COMPRESSIONS, SPECIAL, VECTORS, WORDS, vocabulary_of

from pair2vec.errors import InputError, UsageError
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount
from pair2vec.word_vectors.formats import (
    WordVectors,
    fill_missing,
    random_vectors,
    read_first_vectors,
    read_word_vectors,
    write_vec,
)


def text_rows(words: Sequence[str], vectors: NDArray[np.float32], end: str = "\n") -> bytes:
    rows = zip(words, vectors.tolist(), strict=True)
    return "".join(f"{word} {' '.join(map(repr, row))}{end}" for word, row in rows).encode()


def as_vec(words: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    return b"%d %d\n" % vectors.shape + text_rows(words, vectors)


def as_fasttext_vec(words: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    return b"%d %d\n" % vectors.shape + text_rows(words, vectors, " \n")


def as_glove(words: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    return text_rows(words, vectors)


def as_windows_glove(words: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    return text_rows(words, vectors, "\r\n")


def as_binary(words: Sequence[str], vectors: NDArray[np.float32], end: bytes = b"") -> bytes:
    rows = zip(words, vectors, strict=True)
    records = b"".join(word.encode() + b" " + row.tobytes() + end for word, row in rows)
    return b"%d %d\n" % vectors.shape + records


def as_binary_lines(words: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    return as_binary(words, vectors, b"\n")


FORMATS = [as_vec, as_fasttext_vec, as_glove, as_windows_glove, as_binary, as_binary_lines]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("encode", FORMATS)
@pytest.mark.parametrize("compress", COMPRESSIONS)
def test_every_format_is_recognised_by_its_content(
    encode: Callable[..., bytes], compress: Callable[[bytes], bytes], file: Path
) -> None:
    file.write_bytes(compress(encode(WORDS, VECTORS)))
    read = read_word_vectors(file, vocabulary_of("東京", "absent", *WORDS[:3]))
    assert read.vectors.dtype == np.float32
    assert read.found.tolist() == [False] * SPECIAL + [True, False, True, True, True]
    expected = np.zeros((SPECIAL + 5, 5), np.float32)
    expected[[4, 6, 7, 8]] = VECTORS[[3, 0, 1, 2]]
    np.testing.assert_array_equal(read.vectors, expected)


@pytest.mark.parametrize("encode", FORMATS)
def test_the_first_words_of_a_file_are_read_whatever_they_are(
    encode: Callable[[Sequence[str], NDArray[np.float32]], bytes], file: Path
) -> None:
    words = ["of", "Paris", "<s>", "the", "hot"]
    vectors = np.arange(10, dtype=np.float32).reshape(5, 2)
    file.write_bytes(encode(words, vectors))
    np.testing.assert_array_equal(read_first_vectors(file, 3), vectors[:3])
    np.testing.assert_array_equal(read_first_vectors(file, 99), vectors)
    with pytest.raises(InputError, match="no such file"):
        read_first_vectors(file.with_name("none"), 3)


def is_writable(word: str) -> bool:
    return word.split() == [word] and word not in SPECIAL_TOKENS


ANY_WORD = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8).filter(
    is_writable
)
ANY_VECTORS = array_shapes(min_dims=2, max_dims=2, max_side=6).flatmap(
    lambda shape: arrays(
        np.float32, shape, elements=st.floats(width=32, allow_infinity=False, allow_nan=False)
    )
)


@given(ANY_VECTORS, st.data(), st.sampled_from(["", ".gz", ".bz2", ".xz"]))
def test_vectors_are_read_back_bit_for_bit(
    vectors: NDArray[np.float32], data: st.DataObject, suffix: str
) -> None:
    assume(vectors.any())
    size = len(vectors)
    words = data.draw(st.lists(ANY_WORD, min_size=size, max_size=size, unique=True))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"words.vec{suffix}"
        write_vec(path, words, vectors)
        read = read_word_vectors(path, vocabulary_of(*words))
        assert [entry.name for entry in Path(folder).iterdir()] == [path.name]
    np.testing.assert_array_equal(read.vectors[SPECIAL:], vectors)


@pytest.mark.parametrize(
    ("words", "problem"), [(["new\tyork"], "white space"), (["a", "b"], "2 wo")]
)
def test_what_the_format_cannot_hold_is_not_written(
    words: list[str], problem: str, file: Path
) -> None:
    with pytest.raises(UsageError, match=problem):
        write_vec(file, words, VECTORS[:1])
    assert not file.exists()


def test_a_phrase_has_underscores_in_a_file(file: Path) -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
    write_vec(file, ["new", "new york", "usa"], vectors)
    assert file.read_text().split("\n")[2] == "new_york 3 4"
    known = vocabulary_of("usa", "new york", "new")
    np.testing.assert_array_equal(read_word_vectors(file, known).vectors[SPECIAL:], vectors[::-1])


@pytest.mark.parametrize("spelling", ["new york", "New_York", "NEW YORK"])
def test_a_phrase_is_found_in_any_spelling(file: Path, spelling: str) -> None:
    file.write_text(f"usa 1 2\n{spelling} 3 4\n. . . 5 6\n")
    read = read_word_vectors(file, vocabulary_of("new york", "usa", "york"))
    assert read.vectors[SPECIAL:].tolist() == [[3, 4], [1, 2], [0, 0]]


def test_a_word_with_an_underscore_goes_before_the_phrase(file: Path) -> None:
    file.write_text("new_york 1 2\n")
    read = read_word_vectors(file, vocabulary_of("new york", "new_york"))
    assert read.found[SPECIAL:].tolist() == [False, True]


def test_gensim_reads_what_we_write(file: Path) -> None:
    from gensim.models import KeyedVectors

    write_vec(file, WORDS, VECTORS)
    read = KeyedVectors.load_word2vec_format(str(file))
    assert read.index_to_key == WORDS
    np.testing.assert_array_equal(read.vectors, VECTORS)


@pytest.mark.parametrize("binary", [False, True])
def test_what_gensim_writes_is_read(file: Path, binary: bool) -> None:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(5)
    vectors.add_vectors(WORDS, VECTORS)
    vectors.save_word2vec_format(str(file), binary=binary)
    read = read_word_vectors(file, vocabulary_of(*WORDS))
    np.testing.assert_array_equal(read.vectors[SPECIAL:], VECTORS)


def test_the_exact_spelling_wins_else_the_first_that_differs_in_case(file: Path) -> None:
    written = ["Apple", "apple", "APPLE", "PARIS", "Paris", unicodedata.normalize("NFD", "Été")]
    file.write_bytes(as_vec(written, VECTORS))
    read = read_word_vectors(file, vocabulary_of("apple", "paris", "été"))
    np.testing.assert_array_equal(read.vectors[SPECIAL:], VECTORS[[1, 3, 5]])


def test_the_first_vector_of_a_repeated_word_counts(file: Path) -> None:
    file.write_bytes(as_glove(["a", "a"], VECTORS[:2]))
    read = read_word_vectors(file, vocabulary_of("a"))
    np.testing.assert_array_equal(read.vectors[SPECIAL], VECTORS[0])


def test_a_word_with_spaces_is_not_taken_for_its_first_part(file: Path) -> None:
    # GloVe's 840B file has such rows.
    file.write_bytes(as_glove(["the", ". . .", "at name@domain.com", "."], VECTORS[:4]))
    read = read_word_vectors(file, vocabulary_of(".", "at", "the"))
    assert read.found[SPECIAL:].tolist() == [True, False, True]
    np.testing.assert_array_equal(read.vectors[SPECIAL], VECTORS[3])


def test_special_tokens_get_nothing_from_a_file(file: Path) -> None:
    file.write_bytes(as_glove(["a", "<s>", "<x>"], VECTORS[:3]))
    assert read_word_vectors(file, vocabulary_of("a")).found.sum() == 1


def test_a_row_of_zeros_counts_as_not_found(file: Path) -> None:
    file.write_bytes(b"a 0 0\nb 1 0\n")
    assert read_word_vectors(file, vocabulary_of("a", "b")).found[SPECIAL:].tolist() == [
        False,
        True,
    ]


def test_coverage_counts_words_and_tokens(file: Path) -> None:
    file.write_bytes(b"a 1 2\nb 1 2\n")
    vocabulary = Vocabulary([WordCount("a", 70), WordCount("x", 20), WordCount("b", 10)])
    read = read_word_vectors(file, vocabulary)
    assert read.coverage == pytest.approx(2 / 3)
    assert read.token_coverage == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"a 1 2\nb 1\n", "line 2 has 1 values instead of 2"),
        (b"a 1 2\nother 1 2 3\n", "line 2 has 3 values instead of 2"),
        (b"2 2\na 1 2\n\nother 1\n", "line 4 has 1 values instead of 2"),
        (b"b 1 2\na 1 two\n", "line 2: could not convert string to float: b'two'"),
        (b"a 1 2\nb nan 2\n", "line 2 has a value that is not finite"),
        (b"a 1 2\nb 1e99 2\n", "line 2 has a value that is not finite"),
        (b"3 2\na 1 2\nb 1 2\n", "has 2 of the 3 rows line 1 says"),
        (b"3 2\n", "has 0 of the 3 rows line 1 says"),
        (b"3 0\na\n", "line 1 means vectors of 0 values"),
        (b"a\nb\n", "line 1 means vectors of 0 values"),
        (b"\n\n", "line 1 means vectors of 0 values"),
        (b"3 99999999999\na 1\n", "line 1 means vectors of 99,999,999,999 values"),
        (b"w 1 2\nv 1 2\n", "has none of the 2 words of the vocabulary"),
        (as_binary(["a"], np.full((1, 2), np.inf, np.float32)), "row 1 has a value that is not f"),
        (b"PK\x03\x04 and so on", "a zip archive: unpack it first"),
        (gzip.compress(b"a 1 2\n" * 99, mtime=0)[:-9], "the gzip data is cut short"),
    ],
)
def test_a_damaged_file_is_an_error_that_says_where(
    content: bytes, problem: str, file: Path
) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_word_vectors(file, vocabulary_of("a", "b"))
    assert str(caught.value).startswith(f"{file}: {problem}")


def test_a_file_that_is_not_there_or_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent: no such file"):
        read_word_vectors(tmp_path / "absent", vocabulary_of("a"))
    with pytest.raises(InputError, match="a folder"):
        read_word_vectors(tmp_path, vocabulary_of("a"))


BEGINNINGS = [
    b"",
    b"2 2\n",
    b"2 2\na ",
    struct.pack("<3i", 793712314, 12, 2),
    as_binary(["a"], VECTORS[:1]),
]


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=200))
def test_whatever_the_bytes_the_error_is_one_of_ours(beginning: bytes, rest: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        path.write_bytes(beginning + rest)
        with suppress(InputError):
            assert read_word_vectors(path, vocabulary_of("a", "b")).found.any()


def test_a_file_without_lines_is_refused_before_it_fills_the_memory(file: Path) -> None:
    file.write_bytes(bytes(40_000_000))
    with pytest.raises(InputError, match="not a file of word vectors"):
        read_word_vectors(file, vocabulary_of("a"))


def test_no_beginning_of_a_binary_file_passes_for_the_whole(file: Path) -> None:
    content = as_binary(WORDS, VECTORS)
    for size in range(len(content)):
        file.write_bytes(content[:size])
        with pytest.raises(InputError):
            read_word_vectors(file, vocabulary_of(*WORDS))


# Words without a vector


def half_found(words: int = 1000, dimension: int = 50) -> WordVectors:
    vocabulary = vocabulary_of(*(f"w{number}" for number in range(words)))
    found = np.arange(len(vocabulary)) % 2 == 1
    vectors = np.random.default_rng(1).normal(size=(len(vocabulary), dimension)).astype(np.float32)
    return WordVectors(vocabulary, vectors * found[:, None], found)


def test_filling_keeps_known_vectors_and_makes_the_others_small_but_not_zero() -> None:
    given_vectors = half_found()
    before = given_vectors.vectors.copy()
    filled = fill_missing(given_vectors, np.random.default_rng(0))
    assert filled.dtype == np.float32
    np.testing.assert_array_equal(given_vectors.vectors, before)
    found = given_vectors.found
    np.testing.assert_array_equal(filled[found], before[found])
    norms = np.linalg.norm(filled, axis=1)
    assert norms.min() > 0
    assert norms[~found].mean() == pytest.approx(0.1 * norms[found].mean(), rel=0.05)


def test_filling_depends_on_nothing_but_the_generator() -> None:
    first, second = (fill_missing(half_found(), np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_random_vectors_have_about_unit_norm() -> None:
    vectors = random_vectors(vocabulary_of(*"abcdefgh"), 300, np.random.default_rng(0))
    assert vectors.shape == (SPECIAL + 8, 300)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=0.2)


def test_real_glove_vectors_of_paris_and_london_are_similar() -> None:
    path = real_data("vectors/glove.6B.100d.subset.txt.xz")
    vocabulary = vocabulary_of("the", ",", "paris", "london", "banana", "qqqxyzzy")
    read = read_word_vectors(path, vocabulary)
    assert read.vectors.shape == (SPECIAL + 6, 100)
    assert read.found[SPECIAL:].tolist() == [True] * 5 + [False]
    paris, london, banana = read.vectors[SPECIAL + 2 : SPECIAL + 5]
    assert cosine(paris, london) > 0.6
    assert cosine(paris, banana) < 0.3


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
