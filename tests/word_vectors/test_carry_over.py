"""Vectors carried over from other word vectors."""

import logging
from pathlib import Path

import numpy as np
import pytest

from pair2vec.arrays import FloatArray, normalise
from pair2vec.errors import InputError
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount
from pair2vec.word_vectors.carry_over import CarriedWords, carry_over
from pair2vec.word_vectors.formats import WordVectors, write_vec

SPECIAL = len(SPECIAL_TOKENS)
COUNTS = [*range(400, 100, -2), 100, 99, 20, 19, 1, 0, 0]
VOCABULARY = Vocabulary([WordCount(f"w{n}", count) for n, count in enumerate(COUNTS)])
MISSING = VOCABULARY.ids["w3"]
RARE = np.flatnonzero(VOCABULARY.counts < 20)[SPECIAL:]
RANDOM = np.random.default_rng(0)
TRUTH = normalise(RANDOM.normal(size=(len(VOCABULARY), 12)).astype(np.float32)) * np.float32(3)


def word_vectors(vectors: FloatArray, missing: list[int] | None = None) -> WordVectors:
    found = np.ones(len(vectors), np.bool_)
    found[[*range(SPECIAL), *(missing or [])]] = False
    return WordVectors(VOCABULARY, vectors * found[:, None], found)


def target_without_truth() -> WordVectors:
    """Of which one word is missing and the rare ones have random vectors."""
    vectors = TRUTH.copy()
    vectors[RARE] = 0.1 * RANDOM.normal(size=(len(RARE), 12))
    vectors[RARE] *= 3 / np.linalg.norm(vectors[RARE], axis=1, keepdims=True)
    return word_vectors(vectors, [MISSING])


@pytest.mark.parametrize("dimension", [12, 30])
def test_vectors_carried_over_from_a_linear_map_of_the_truth_equal_it(
    dimension: int, caplog: pytest.LogCaptureFixture
) -> None:
    rotation = np.linalg.qr(RANDOM.normal(size=(dimension, 12)))[0].T.astype(np.float32)
    source = (TRUTH @ rotation).astype(np.float32)
    with caplog.at_level(logging.INFO):
        carried = carry_over(target_without_truth(), word_vectors(source))
    np.testing.assert_allclose(carried.vectors[SPECIAL:], TRUTH[SPECIAL:], rtol=0, atol=1e-3)
    assert carried.found[SPECIAL:].all()
    assert not carried.found[:SPECIAL].any()
    assert not carried.vectors[:SPECIAL].any()
    assert "5 words have vectors carried over by a map learnt on 150 words" in caplog.text
    assert "mean cosine 1.00" in caplog.text


def test_only_missing_and_rare_words_that_the_source_has_are_carried_over() -> None:
    target, unknown = target_without_truth(), int(RARE[0])
    source = word_vectors(RANDOM.normal(size=TRUTH.shape).astype(np.float32), [unknown])
    carried = carry_over(target, source)
    changed = np.flatnonzero(np.any(carried.vectors != target.vectors, axis=1))
    assert changed.tolist() == [MISSING, *RARE[1:]]
    assert np.allclose(np.linalg.norm(carried.vectors[changed], axis=1), 3)
    assert carried.found.sum() == target.found.sum() + 1


def test_vectors_that_share_too_few_words_are_refused() -> None:
    source = word_vectors(RANDOM.normal(size=(len(TRUTH), 150)).astype(np.float32))
    with pytest.raises(InputError, match="only 150 words that occur 100 times or more"):
        carry_over(target_without_truth(), source)


def file_of(path: Path, words: list[str], vectors: FloatArray) -> Path:
    write_vec(path, words, vectors)
    return path


def known_world() -> tuple[Vocabulary, FloatArray, FloatArray]:
    """A vocabulary, its vectors, and other vectors of the same words and two more."""
    random = np.random.default_rng(3)
    other = random.normal(size=(3002, 6)).astype(np.float32)
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    own = other @ np.linalg.qr(random.normal(size=(6, 6)))[0].astype(np.float32)
    words = Vocabulary((f"w{number}", 1) for number in range(3000))
    return words, np.concatenate([np.zeros((4, 6), np.float32), own]), other


def test_words_that_a_model_lacks_are_carried_over_to_where_they_belong(tmp_path: Path) -> None:
    vocabulary, vectors, other = known_world()
    words = [*vocabulary.words[4:], "Unknown", "climate_change"]
    carried = CarriedWords.read(
        file_of(tmp_path / "other.vec", words, other), vocabulary, vectors[:3004]
    )
    for word, expected in zip(("unknown", "climate change"), vectors[3004:], strict=True):
        found = carried(word)
        assert found is not None
        assert found @ expected / np.linalg.norm(expected) > 0.99
    assert carried("nothing") is None


def test_vectors_that_say_nothing_about_the_model_are_refused(tmp_path: Path) -> None:
    vocabulary, vectors, other = known_world()
    shuffled = np.random.default_rng(4).permutation(other[:3000])
    path = file_of(tmp_path / "other.vec", list(vocabulary.words[4:]), shuffled)
    with pytest.raises(InputError, match="say nothing about the model's words"):
        CarriedWords.read(path, vocabulary, vectors[:3004])
    few = file_of(tmp_path / "few.vec", list(vocabulary.words[4:12]), other[:8])
    with pytest.raises(InputError, match=r"has 8 of the model's words; .* takes 12"):
        CarriedWords.read(few, vocabulary, vectors[:3004])
