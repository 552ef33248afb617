"""Terms that a user lists or a corpus is about, and the candidate pairs among them."""

import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lexicon.small_corpus import make_corpus

from pair2vec.errors import UsageError
from pair2vec.lexicon import candidates
from pair2vec.lexicon.candidates import CandidatePairs, find_terms, keywords, log_likelihood
from pair2vec.lexicon.inverted_index import open_index
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import Vocabulary, WordCount

TEXTS = st.lists(
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12).map(" ".join), min_size=1
).map(lambda lines: "\n".join(["a b", *lines]))


def vocabulary(*words: str, count: int = 10) -> Vocabulary:
    return Vocabulary(WordCount(word, count) for word in words)


def test_listed_terms_are_spelled_as_the_corpus_spells_them() -> None:
    corpus, model = (
        vocabulary("hot", "cold", "hot_dog", "warm"),
        vocabulary("cold", "hot_dog", "hot"),
    )
    terms = find_terms(["Hot", "cold ", "", "hot dog", "warm", "hot", "icy"], corpus, model)
    assert terms.words == ["hot", "cold", "hot_dog"]
    assert terms.unknown == ["warm", "icy"]
    assert [corpus.words[id_] for id_ in terms.in_corpus] == terms.words
    assert [model.words[id_] for id_ in terms.in_model] == terms.words


def test_phrases_are_terms_as_typed() -> None:
    corpus = vocabulary("hot dog", "new_york", "cold")
    model = vocabulary("cold", "hot dog", "new york")
    terms = find_terms(["Hot Dog", "hot_dog", "New York", "climate change"], corpus, model)
    assert terms.words == ["hot dog", "new_york"]
    assert terms.in_model.tolist() == [model.ids["hot dog"], model.ids["new york"]]
    assert terms.unknown == ["climate change"]


def test_fewer_than_two_known_terms_are_refused() -> None:
    with pytest.raises(UsageError, match="of 2 terms, corpus and model both know 1"):
        find_terms(["hot", "icy"], vocabulary("hot"), vocabulary("hot"))


def test_keywords_are_more_frequent_in_the_corpus_than_in_the_model(tmp_path: Path) -> None:
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
    computed = log_likelihood(np.array([here]), all_here, np.array([there]), all_there)[0]
    share = (here + there) / (all_here + all_there)
    g = 2 * (
        here * math.log(here / (all_here * share)) + there * math.log(there / (all_there * share))
    )
    expected = g if here / all_here > there / all_there else 0.0
    assert computed == pytest.approx(expected, abs=1e-6, rel=1e-6)


def slow_cooccurrences(corpus: Corpus, word: str) -> Counter[str]:
    """How often each word is within five of a word."""
    counts: Counter[str] = Counter()
    for sentence in corpus.words():
        for at, token in enumerate(sentence):
            if token == word:
                counts.update(sentence[max(0, at - 5) : at] + sentence[at + 1 : at + 6])
    return counts


@settings(max_examples=30)
@given(TEXTS, st.integers(5, 60))
def test_terms_that_cooccur_are_those_of_a_plain_count(text: str, shard_ids: int) -> None:
    with TemporaryDirectory() as folder:
        corpus = make_corpus(Path(folder), text, shard_ids)
        index = open_index(corpus)
        known = [word for word in "abcde" if word in corpus.vocabulary.ids]
        terms = find_terms(known, corpus.vocabulary, corpus.vocabulary)
        vectors = np.zeros((len(corpus.vocabulary), 3), np.float32)
        partners = CandidatePairs(index, terms, vectors).partners(range(len(known)))
        for word, others in zip(known, partners, strict=True):
            near = {other for other in slow_cooccurrences(corpus, word) if other in known} - {word}
            assert {terms.words[n] for n in others} == near


def test_the_terms_that_cooccur_most_and_the_most_similar_are_kept(tmp_path: Path) -> None:
    text = "a b\n" * 9 + "a c\n" * 4 + "c d\n" * 90 + "e f g\n" * 5
    with (
        patch.object(candidates, "MAX_COOCCURRING", 1),
        patch.object(candidates, "MAX_SIMILAR", 1),
    ):
        corpus = make_corpus(tmp_path, text)
        terms = find_terms("abcdefg", corpus.vocabulary, corpus.vocabulary)
        vectors = np.zeros((len(corpus.vocabulary), 2), np.float32)
        for word, angle in (("a", 0.0), ("e", 0.1), ("g", 0.2), ("c", 3.0)):
            vectors[corpus.vocabulary.ids[word]] = np.cos(angle), np.sin(angle)
        first, *_ = CandidatePairs(open_index(corpus), terms, vectors).partners(range(2))
    assert [terms.words[number] for number in first] == ["b", "e"]


def test_a_term_has_the_same_partners_in_any_block(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "a b c d e f g\nh i j\n")
    terms = find_terms("abcdefghij", corpus.vocabulary, corpus.vocabulary)
    random = np.random.default_rng(0)
    vectors = random.normal(size=(len(corpus.vocabulary), 4)).astype(np.float32)
    with patch.object(candidates, "MAX_SIMILAR", 2):
        pairs = CandidatePairs(open_index(corpus), terms, vectors)
        blocks = [*pairs.partners(range(3)), *pairs.partners(range(3, 10))]
        for term, others in enumerate(blocks):
            (alone,) = pairs.partners(range(term, term + 1))
            np.testing.assert_array_equal(others, alone)
            assert term not in others
