"""Candidates: the terms near a term in the text, and those like it."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lexicon.small_corpus import make_corpus

from pair2vec.lexicon import candidates
from pair2vec.lexicon.candidates import CandidatePairs, terms_of
from pair2vec.lexicon.inverted_index import open_index
from pair2vec.text.corpus import Corpus

TEXTS = st.lists(
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12).map(" ".join), min_size=1
).map(lambda lines: "\n".join(["a b", *lines]))


def slow_counts(corpus: Corpus, word: str) -> Counter[str]:
    """How often each word is within five of a word."""
    found: Counter[str] = Counter()
    for sentence in corpus.words():
        for at, one in enumerate(sentence):
            if one == word:
                found.update(sentence[max(0, at - 5) : at] + sentence[at + 1 : at + 6])
    return found


@settings(deadline=None, max_examples=30)
@given(TEXTS, st.integers(5, 60))
def test_terms_near_a_term_are_those_of_a_plain_count(text: str, shard_ids: int) -> None:
    with TemporaryDirectory() as folder:
        corpus = make_corpus(Path(folder), text, shard_ids)
        index = open_index(corpus)
        known = [word for word in "abcde" if word in corpus.vocabulary.ids]
        terms = terms_of(known, corpus.vocabulary, corpus.vocabulary)
        vectors = np.zeros((len(corpus.vocabulary), 3), np.float32)
        found = CandidatePairs(index, terms, vectors)
        for number, word in enumerate(known):
            near = {other for other in slow_counts(corpus, word) if other in known} - {word}
            assert {terms.words[n] for n in found.of(number)} == near


def test_of_many_terms_the_nearest_and_the_most_alike_are_kept(tmp_path: Path) -> None:
    text = "a b\n" * 9 + "a c\n" * 4 + "c d\n" * 90 + "e f g\n" * 5
    with (
        patch.object(candidates, "NEAR", 1),
        patch.object(candidates, "ALIKE", 1),
    ):
        corpus = make_corpus(tmp_path, text)
        terms = terms_of("abcdefg", corpus.vocabulary, corpus.vocabulary)
        vectors = np.zeros((len(corpus.vocabulary), 2), np.float32)
        for word, angle in (("a", 0.0), ("e", 0.1), ("g", 0.2), ("c", 3.0)):
            vectors[corpus.vocabulary.ids[word]] = np.cos(angle), np.sin(angle)
        found = CandidatePairs(open_index(corpus), terms, vectors).of(0)
    assert [terms.words[number] for number in found] == ["b", "e"]
