import sys
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.word_vectors import fasttext
from pair2vec.word_vectors.fasttext import train_fasttext

# Each group has its own company; no name shares an n-gram with another of its group.
CITIES, FOODS = ["oslo", "lima", "rome", "cairo"], ["bread", "olives", "jam", "figs"]
OF_CITIES = ["mayor", "visited", "streets", "airport", "tram", "capital"]
OF_FOODS = ["baked", "tasty", "eaten", "dish", "spoon", "kitchen"]

SMALL: dict[str, Any] = {"dimension": 20, "epochs": 20, "window": 3, "workers": 1, "seed": 3}


def company(names: list[str], others: list[str], generator: np.random.Generator) -> str:
    words = [*generator.choice(others, 3), generator.choice(names), *generator.choice(others, 3)]
    return " ".join(words)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("fasttext")
    generator = np.random.default_rng(0)
    groups = [(CITIES, OF_CITIES), (FOODS, OF_FOODS)] * 4000
    lines = [company(names, others, generator) for names, others in groups]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    return prepare([str(folder / "text.txt")], folder / "corpus", PrepareConfig(min_count=1))


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> NDArray[np.float32]:
    return train_fasttext(corpus, **SMALL)


def test_words_of_the_same_company_are_closer_than_others(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    def closeness(ones: list[str], others: list[str]) -> float:
        pairs = [(one, other) for one, other in product(ones, others) if one != other]
        rows = np.array([[corpus.vocabulary.ids[word] for word in pair] for pair in pairs])
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return float(np.sum(units[rows[:, 0]] * units[rows[:, 1]], axis=1).mean())

    assert closeness(CITIES, CITIES) > closeness(CITIES, FOODS) + 0.3
    assert closeness(FOODS, FOODS) > closeness(CITIES, FOODS) + 0.3


def test_every_word_has_a_row_at_its_id_and_special_tokens_a_zero_one(
    corpus: Corpus, vectors: NDArray[np.float32]
) -> None:
    assert vectors.shape == (len(corpus.vocabulary), 20)
    assert vectors.dtype == np.float32
    is_zero = ~vectors.any(axis=1)
    assert np.flatnonzero(is_zero).tolist() == list(range(len(SPECIAL_TOKENS)))


def test_one_worker_and_the_same_seed_give_the_same_vectors(corpus: Corpus) -> None:
    few = {**SMALL, "epochs": 1}
    first = train_fasttext(corpus, **few)
    np.testing.assert_array_equal(first, train_fasttext(corpus, **few))
    assert not np.array_equal(first, train_fasttext(corpus, **{**few, "seed": 4}))


def test_each_epoch_is_reported(corpus: Corpus) -> None:
    reports: list[tuple[int, int]] = []
    few = {**SMALL, "epochs": 3, "workers": 2, "max_n": 0}
    train_fasttext(corpus, report=lambda done, total: reports.append((done, total)), **few)
    assert reports == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_gensim_is_given_the_sentences_of_the_corpus(
    corpus: Corpus, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext, "_SENTENCES_AT_ONCE", at_once)
    assert list(fasttext._Sentences(corpus)) == list(corpus.words())


def test_a_sentence_too_long_for_gensim_comes_in_pieces(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext, "_LONGEST_SENTENCE", 3)
    whole = next(corpus.words())
    sentences = iter(fasttext._Sentences(corpus))
    assert [next(sentences) for _ in range(3)] == [whole[:3], whole[3:6], whole[6:]]


def test_without_gensim_the_error_says_how_to_get_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(Pair2vecError, match=r"pip install 'pair2vec\[train\]'"):
        train_fasttext(corpus, **SMALL)


@pytest.mark.parametrize("name", ["dimension", "epochs", "window", "negative", "workers"])
def test_a_setting_below_one_is_refused(corpus: Corpus, name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is 0; it must be 1 or more"):
        train_fasttext(corpus, **{**SMALL, name: 0})
