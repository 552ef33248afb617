"""Word vectors trained by gensim: what they express, and what gensim is given."""

import sys
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.word_vectors.two_topics import CITIES, FOODS, mean_cosine

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.word_vectors import fasttext
from pair2vec.word_vectors.fasttext import FasttextConfig, VectorsProgress, train_fasttext

SMALL = FasttextConfig(dimension=20, epochs=20, window=3, seed=3)


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> NDArray[np.float32]:
    return train_fasttext(corpus, SMALL, workers=1)


def test_words_of_the_same_contexts_are_more_similar_than_others(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    across = mean_cosine(corpus, vectors, list(product(CITIES, FOODS)))
    assert mean_cosine(corpus, vectors, list(combinations(CITIES, 2))) > across + 0.3
    assert mean_cosine(corpus, vectors, list(combinations(FOODS, 2))) > across + 0.3


def test_every_word_has_a_row_at_its_id_and_special_tokens_a_zero_one(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    assert vectors.shape == (len(corpus.vocabulary), 20)
    assert vectors.dtype == np.float32
    is_zero = ~vectors.any(axis=1)
    assert np.flatnonzero(is_zero).tolist() == list(range(len(SPECIAL_TOKENS)))


def test_a_word_that_never_occurs_has_a_vector_of_its_ngrams(
    corpus_with_unseen_word: Corpus,
) -> None:
    corpus = corpus_with_unseen_word
    assert corpus.vocabulary.counts[-1] == 0
    vectors = train_fasttext(corpus, SMALL, workers=1)
    near, far = ([("visitedly", word)] for word in ("visited", "kitchen"))
    assert mean_cosine(corpus, vectors, near) > max(0.99, mean_cosine(corpus, vectors, far))


def test_one_worker_and_the_same_seed_give_the_same_vectors(corpus: Corpus) -> None:
    config = replace(SMALL, epochs=1)
    first = train_fasttext(corpus, config, workers=1)
    np.testing.assert_array_equal(first, train_fasttext(corpus, config, workers=1))
    other = train_fasttext(corpus, replace(config, seed=4), workers=1)
    assert not np.array_equal(first, other)


def test_progress_is_reported_within_epochs(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext, "_SENTENCES_AT_ONCE", 100)
    reports: list[VectorsProgress] = []
    config = replace(SMALL, epochs=3, ngrams=(3, 0))
    train_fasttext(corpus, config, workers=2, report=reports.append)
    assert len(reports) > 2 * config.epochs
    assert [progress.words for progress in reports] == sorted(
        {progress.words for progress in reports}
    )
    assert reports[-1] == (config.epochs * corpus.manifest.tokens,) * 2


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_gensim_is_given_the_sentences_of_the_corpus(
    corpus: Corpus, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext, "_SENTENCES_AT_ONCE", at_once)
    assert list(fasttext._Sentences(corpus)) == list(corpus.words())


def test_a_sentence_too_long_for_gensim_is_split(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext, "_MAX_SENTENCE", 3)
    whole = next(corpus.words())
    sentences = iter(fasttext._Sentences(corpus))
    assert [next(sentences) for _ in range(3)] == [whole[:3], whole[3:6], whole[6:]]


def test_without_gensim_the_error_says_how_to_get_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(Pair2vecError, match=r"pip install 'pair2vec\[train\]'"):
        train_fasttext(corpus, SMALL, workers=1)


@pytest.mark.parametrize("name", ["dimension", "epochs", "window", "negative"])
def test_a_setting_below_one_is_refused(name: str) -> None:
    settings: dict[str, Any] = {name: 0}
    with pytest.raises(UsageError, match=f"{name} is 0; it must be from 1 to "):
        replace(SMALL, **settings)


def test_fewer_workers_than_one_are_refused(corpus: Corpus) -> None:
    with pytest.raises(UsageError, match="workers is 0; it must be 1 or more"):
        train_fasttext(corpus, SMALL, workers=0)
