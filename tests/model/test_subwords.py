"""Character n-grams: their hash, and the table that is fitted to word vectors."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny_model import reseal, save_tiny_model

from pair2vec.arrays import normalise
from pair2vec.errors import InputError
from pair2vec.model.folder import load_model
from pair2vec.model.shrink import shrink_model
from pair2vec.model.subwords import SubwordTable, fit_subwords, read_subwords, word_ngrams
from pair2vec.model.tensors import Precision
from pair2vec.text.vocabulary import Vocabulary

WORDS = ["cold", "colder", "coldest", "warm", "warmer", "warmest", "old", "older", "oldest"]


def plain_hash(text: str) -> int:
    """FNV-1a of 32 bits, a step for each code point."""
    found = 0x811C9DC5
    for character in text:
        found = (found ^ ord(character)) * 0x01000193 % 2**32
    return found


def plain_ngrams(word: str, shortest: int, longest: int) -> list[str]:
    marked = f"<{word}>"
    return [
        marked[start : start + length]
        for length in range(shortest, longest + 1)
        for start in range(len(marked) - length + 1)
        if length < len(marked)
    ]


def vocabulary(words: list[str]) -> Vocabulary:
    return Vocabulary((word, 1) for word in words)


def test_the_hash_is_fnv_1a_as_published() -> None:
    # http://www.isthe.com/chongo/src/fnv/test_fnv.c
    assert plain_hash("a") == 0xE40C292C
    assert plain_hash("foobar") == 0xBF9CF968
    assert 0xBF9CF968 in word_ngrams(["foobar"], 6, 6).hashes
    assert word_ngrams(["é"], 2, 2).hashes.tolist() == [plain_hash("<é"), plain_hash("é>")]


@given(st.lists(st.text(min_size=1, max_size=8), max_size=5), st.integers(1, 4), st.integers(0, 3))
def test_ngrams_are_those_of_a_plain_loop(words: list[str], shortest: int, more: int) -> None:
    found = word_ngrams(words, shortest, shortest + more)
    for number, word in enumerate(words):
        own = found.hashes[found.words == number].tolist()
        expected = [plain_hash(ngram) for ngram in plain_ngrams(word, shortest, shortest + more)]
        assert sorted(own) == sorted(expected)
    assert (np.diff(found.words) >= 0).all()


def test_a_vector_is_that_of_a_plain_loop() -> None:
    random = np.random.default_rng(0)
    buckets, directions, mean = (
        random.normal(size=shape).astype(np.float32) for shape in ((7, 3), (3, 5), (5,))
    )
    table = SubwordTable(buckets, directions, mean, 2, 4)
    found = [buckets[plain_hash(ngram) % 7] for ngram in plain_ngrams("warmest", 2, 4)]
    expected = np.sum(found, axis=0) / np.sqrt(len(found)) @ directions + mean
    np.testing.assert_allclose(
        table.vectors(["cold", "warmest"])[1], normalise(expected), atol=1e-5
    )


def test_the_buckets_are_the_ridge_regression_of_the_closed_form() -> None:
    random = np.random.default_rng(1)
    vectors = random.normal(size=(len(WORDS) + 4, 4)).astype(np.float32)
    table = fit_subwords(vocabulary(WORDS), vectors, buckets=30, rank=4, penalty=0.5)
    matrix = np.zeros((len(WORDS), 30))
    for row, word in enumerate(WORDS):
        ngrams = plain_ngrams(word, table.shortest, table.longest)
        for ngram in ngrams:
            matrix[row, plain_hash(ngram) % 30] += 1 / np.sqrt(len(ngrams))
    units = normalise(vectors[4:])
    targets = (units - units.mean(axis=0)) @ table.directions.T
    expected = np.linalg.solve(matrix.T @ matrix + 0.5 * np.eye(30), matrix.T @ targets)
    np.testing.assert_allclose(table.buckets, expected, atol=1e-3)
    np.testing.assert_allclose(table.mean, units.mean(axis=0), atol=1e-6)


def test_a_word_held_out_is_nearer_to_words_with_its_ending() -> None:
    comparative, other = np.eye(2, dtype=np.float32)
    words = [*(f"{stem}er" for stem in ("cold", "warm", "old", "fast")), "hut", "day", "sun", "kit"]
    vectors = np.array([*[comparative] * 4, *[other] * 4])
    table = fit_subwords(vocabulary(words), np.concatenate([np.zeros((4, 2), "f4"), vectors]))
    bigger, cup = table.vectors(["bolder", "cup"])
    assert bigger @ comparative > 0.85 > cup @ comparative


def test_a_table_of_eight_bits_gives_nearly_the_same_vectors(tmp_path: Path) -> None:
    precisions: tuple[Precision, ...] = ("float32", "int8")
    tables = [
        read_subwords(load_model(save_tiny_model(tmp_path / name, precision=name, composes=True)))
        for name in precisions
    ]
    exact, rounded = (table.vectors(WORDS) for table in tables if table)
    assert ((exact * rounded).sum(axis=1) > 0.999).all()


def test_a_model_without_ngrams_gets_some_when_it_is_shrunk(tmp_path: Path) -> None:
    old = load_model(save_tiny_model(tmp_path / "old"))
    assert read_subwords(old) is None
    shrink_model(old, tmp_path / "small", words=9, precision="float32")
    table = read_subwords(load_model(tmp_path / "small"))
    fitted = fit_subwords(old.vocabulary, old.array("pair.words"))
    assert table is not None
    np.testing.assert_array_equal(table.buckets, fitted.buckets)


def test_a_model_that_is_shrunk_again_keeps_its_ngrams(tmp_path: Path) -> None:
    whole = load_model(save_tiny_model(tmp_path / "whole", composes=True))
    shrink_model(whole, tmp_path / "small", words=9, precision="float32")
    small = load_model(tmp_path / "small")
    np.testing.assert_array_equal(small.array("subword.buckets"), whole.array("subword.buckets"))
    assert small.config["subwords"] == whole.config["subwords"]


@pytest.mark.parametrize(
    "facts",
    [{"hash": "md5", "shortest": 2, "longest": 4}, {"hash": "fnv1a-32"}, [], 3]
    + [{"hash": "fnv1a-32", "shortest": s, "longest": n} for s, n in ((0, 4), (4, 2), (2, 1 << 40))]
    + [{"hash": "fnv1a-32", "shortest": 2, "longest": 2.5}],
)
def test_a_config_that_says_nothing_usable_of_them_is_an_error(
    tmp_path: Path, facts: object
) -> None:
    folder = save_tiny_model(tmp_path / "model", composes=True)
    reseal(folder, lambda config: config.update(subwords=facts))
    with pytest.raises(InputError, match="n-grams of words in its config are damaged, or newer"):
        read_subwords(load_model(folder))


def test_parts_that_do_not_fit_each_other_are_refused(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model", composes=True)
    saved = load_model(folder)
    assert saved.config["tensors"]["subword.directions"][1] == 8
    reseal(folder, lambda config: config["tensors"].update({"subword.mean": [9]}))
    with pytest.raises(InputError, match=r"subword\.mean"):
        load_model(folder)
