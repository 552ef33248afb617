"""Terms: those a user lists, or what a corpus is about."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexicon.small_corpus import make_corpus

from pair2vec.errors import UsageError
from pair2vec.lexicon.candidates import keywords, log_likelihood, terms_of
from pair2vec.text.vocabulary import Vocabulary, WordCount


def vocabulary(*words: str, count: int = 10) -> Vocabulary:
    return Vocabulary(WordCount(word, count) for word in words)


def test_listed_terms_are_spelled_as_the_corpus_spells_them() -> None:
    corpus, model = (
        vocabulary("hot", "cold", "hot_dog", "warm"),
        vocabulary("cold", "hot_dog", "hot"),
    )
    found = terms_of(["Hot", "cold ", "", "hot dog", "warm", "hot", "icy"], corpus, model)
    assert found.words == ["hot", "cold", "hot_dog"]
    assert found.unknown == ["warm", "icy"]
    assert [corpus.words[id_] for id_ in found.in_corpus] == found.words
    assert [model.words[id_] for id_ in found.in_model] == found.words


def test_fewer_than_two_known_terms_are_refused() -> None:
    with pytest.raises(UsageError, match="of 2 terms, corpus and model both know 1"):
        terms_of(["hot", "icy"], vocabulary("hot"), vocabulary("hot"))


def test_keywords_are_what_the_corpus_has_more_of_than_the_model(tmp_path: Path) -> None:
    function_words = [f"f{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(150)]
    model = vocabulary(*function_words, "gene", "cell", "table", count=100)
    text = "gene cell table\n" * 20 + "gene cell\n" * 30 + "gene\n" * 100
    corpus = make_corpus(tmp_path, text + f"{function_words[0]}\n" * 200)
    assert keywords(corpus, model, 2).words == ["gene", "cell"]
    assert keywords(corpus, model, 9).words == ["gene", "cell", "table"]


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_log_likelihood_is_that_of_two_shares_against_one(
    here: int, there: int, others_here: int, others_there: int
) -> None:
    all_here, all_there = here + others_here, there + others_there
    found = log_likelihood(np.array([here]), all_here, np.array([there]), all_there)[0]
    share = (here + there) / (all_here + all_there)
    g = 2 * (
        here * math.log(here / (all_here * share)) + there * math.log(there / (all_there * share))
    )
    expected = g if here / all_here > there / all_there else 0.0
    assert found == pytest.approx(expected, abs=1e-6, rel=1e-6)
