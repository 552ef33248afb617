"""fastText's own model files, beside what gensim reads of them."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.word_vectors.small_words import COMPRESSIONS, SPECIAL, WORDS, vocabulary_of

from pair2vec.errors import InputError
from pair2vec.word_vectors.formats import read_word_vectors

MODEL_SENTENCES = [[*WORDS, "Берлин", "a", "Paris"], ["straße", "été", "paris", "𝒳y"]]
MODEL_WORDS = len({word for sentence in MODEL_SENTENCES for word in sentence})


def fasttext_model(path: Path, **settings: int) -> Path:
    """A small model as gensim trains it, in the format of fastText."""
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    settings = {"vector_size": 7, "bucket": 50, **settings}
    model = FastText(MODEL_SENTENCES, min_count=1, epochs=1, workers=1, **settings)
    # Larger than training leaves them, so that each term of a sum shows.
    generator = np.random.default_rng(0)
    for part in (model.wv.vectors_vocab, model.wv.vectors_ngrams):
        part[:] = generator.normal(size=part.shape)
    save_facebook_model(model, str(path))
    return path


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("compress", COMPRESSIONS)
@pytest.mark.parametrize(
    "settings",
    [{}, {"min_n": 1, "max_n": 2}, {"min_n": 2, "max_n": 9, "bucket": 3}, {"min_n": 1, "max_n": 0}],
    ids=str,
)
def test_a_fasttext_model_gives_what_gensim_reads(
    settings: dict[str, int], compress: Callable[[bytes], bytes], file: Path
) -> None:
    from gensim.models.fasttext import load_facebook_vectors

    reference: Any = load_facebook_vectors(str(fasttext_model(file, **settings)))
    file.write_bytes(compress(file.read_bytes()))
    known = ["paris", "été", "東京", "straße", "𝒳y", "a", ","]
    read = read_word_vectors(file, vocabulary_of("absent", *known, "берлин"))
    assert read.found[SPECIAL:].tolist() == [False] + [True] * 8
    expected = [reference[word] for word in [*known, "Берлин"]]
    np.testing.assert_allclose(read.vectors[SPECIAL + 1 :], expected, rtol=1e-5, atol=1e-6)
    assert not read.vectors[: SPECIAL + 1].any()


def test_a_fasttext_model_of_version_11_is_read_like_one_of_12(file: Path) -> None:
    content = fasttext_model(file).read_bytes()
    newer = read_word_vectors(file, vocabulary_of("paris"))
    file.write_bytes(content[:4] + struct.pack("<i", 11) + content[8:])
    older = read_word_vectors(file, vocabulary_of("paris"))
    np.testing.assert_array_equal(older.vectors, newer.vectors)


def test_no_beginning_of_a_fasttext_model_passes_for_the_whole(file: Path) -> None:
    content = fasttext_model(file, bucket=4).read_bytes()
    words = content.index(b"paris\0")
    matrix = content.index(struct.pack("<2q", MODEL_WORDS + 4, 7), words) + 16
    end = matrix + 4 * 7 * (MODEL_WORDS + 4)
    for size in [*range(words + 40), *range(matrix - 20, matrix + 20), *range(end - 20, end)]:
        file.write_bytes(content[:size])
        with pytest.raises(InputError):
            read_word_vectors(file, vocabulary_of("paris"))


@pytest.mark.parametrize(
    ("offset", "value", "problem"),
    [
        (4, 13, "a fastText model of version 13"),
        (8, 0, "damaged: its first bytes"),
        (8, 6, "damaged: the matrix"),
        (72, 1, "a fastText classifier"),
    ],
)
def test_a_fasttext_model_we_cannot_read_is_refused(
    offset: int, value: int, problem: str, file: Path
) -> None:
    content = bytearray(fasttext_model(file).read_bytes())
    content[offset : offset + 4] = struct.pack("<i", value)
    file.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_word_vectors(file, vocabulary_of("paris"))


def test_a_quantised_or_infinite_fasttext_model_is_refused(file: Path) -> None:
    content = fasttext_model(file).read_bytes()
    matrix = content.index(struct.pack("<2q", MODEL_WORDS + 50, 7))
    file.write_bytes(content[: matrix - 1] + b"\1" + content[matrix:])
    with pytest.raises(InputError, match="a quantised fastText model"):
        read_word_vectors(file, vocabulary_of("paris"))
    infinite = struct.pack("<f", np.inf) * 7 * MODEL_WORDS
    file.write_bytes(content[: matrix + 16] + infinite + content[matrix + 16 + len(infinite) :])
    with pytest.raises(InputError, match="not finite"):
        read_word_vectors(file, vocabulary_of("paris"))
