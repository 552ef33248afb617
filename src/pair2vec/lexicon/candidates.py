"""The terms of a lexicon, and the pairs of them that are worth scoring.

Of ten thousand terms there are fifty million pairs, and a relation between hardly any of them:
candidates are terms that co-occur in the text or have similar vectors. Synonyms replace each other
and seldom co-occur, so that nearly all of them are found by their vectors.

Shapes: V vocabulary of the corpus, T terms, B terms of a block, D dimension.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, Int64Array, IntArray
from pair2vec.errors import UsageError
from pair2vec.lexicon.inverted_index import InvertedIndex
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import BOUNDARY, Vocabulary, find_word

MAX_COOCCURRING = 24
"""Partners of a term by co-occurrence."""
MAX_SIMILAR = 64
"""Partners of a term by cosine similarity of the model's word vectors.

Each makes more synonyms reachable and the lexicon slower: `benchmarks/lexicon_candidates.py`.
"""
MAX_POSITIONS = 20_000
"""Occurrences of a frequent term that are looked at in a shard."""

_FUNCTION_WORDS = 150
"""So many of the model's most frequent words are never keywords."""
_MIN_LETTERS = 3
_MIN_COUNT = 20
"""Rarer words are no keywords: there is little to learn about them."""


class Terms(NamedTuple):
    """Words in the vocabularies of both the corpus and the model."""

    words: list[str]
    in_corpus: IntArray
    """(T,), ids."""
    in_model: IntArray
    """(T,), ids."""
    unknown: list[str]
    """Requested terms that are in neither or only in one."""


def find_terms(typed: Iterable[str], corpus: Vocabulary, model: Vocabulary) -> Terms:
    """The terms that a user lists, words or phrases, without repetitions.

    Raises:
        UsageError: fewer than two are known.
    """
    distinct = {_spell(word): word for word in typed if word.strip()}
    known: dict[str, tuple[int, int]] = {}
    unknown = []
    for spelled, word in distinct.items():
        in_corpus, in_model = find_word(word, corpus), find_word(word, model)
        if in_corpus is None or in_model is None:
            unknown.append(spelled)
        else:
            # As *new york* and *new_york*, two terms may be one.
            known.setdefault(corpus.words[in_corpus], (in_corpus, in_model))
    if len(known) < 2:
        raise UsageError(
            f"of {len(distinct):,} terms, corpus and model both know {len(known)}; a lexicon needs "
            "at least two"
        )
    in_corpus, in_model = np.array(list(known.values()), np.intp).T
    return Terms(list(known), in_corpus, in_model, unknown)


def keywords(corpus: Corpus, model: Vocabulary, count: int) -> Terms:
    """The words that are more frequent in a corpus than in the text of the model.

    Ranked by Dunning's log-likelihood; for the model's own corpus, by frequency.

    Raises:
        UsageError: the corpus has too few words that the model knows.
    """
    vocabulary = corpus.vocabulary
    candidates = [
        word
        for word in vocabulary.words
        if word.replace(" ", "").isalpha()
        and len(word) >= _MIN_LETTERS
        and vocabulary.counts[vocabulary.ids[word]] >= _MIN_COUNT
        and model.ids.get(word, 0) >= _FUNCTION_WORDS
    ]
    if len(candidates) < 2:
        raise UsageError(f"{corpus.folder}: has too few words that the model knows; list --words")
    here = vocabulary.counts[[vocabulary.ids[word] for word in candidates]]
    there = model.counts[[model.ids[word] for word in candidates]]
    keyness = log_likelihood(here, int(vocabulary.counts.sum()), there, int(model.counts.sum()))
    order = np.lexsort((-here, -keyness))[:count]
    words = [candidates[row] for row in order.tolist()]
    in_corpus, in_model = (
        np.array([known.ids[word] for word in words], np.intp) for known in (vocabulary, model)
    )
    return Terms(words, in_corpus, in_model, [])


def log_likelihood(
    here: Int64Array, all_here: int, there: Int64Array, all_there: int
) -> NDArray[np.float64]:
    """Dunning's G² of words that are more frequent here than there; 0 for all others."""
    share = (here + there) / (all_here + all_there)
    with np.errstate(divide="ignore", invalid="ignore"):
        summands = [
            np.where(seen > 0, seen * np.log(seen / (total * share)), 0.0)
            for seen, total in ((here, all_here), (there, all_there))
        ]
    more_here = here * all_there > there * all_here
    return np.where(more_here, 2 * (summands[0] + summands[1]), 0.0)


def _spell(typed: str) -> str:
    """A term as a corpus spells it; what has no token stays as it is."""
    return " ".join(tokenize(typed)) or typed.strip()


class CandidatePairs:
    """The partners of a term that are worth scoring; terms are numbered from 0 to T - 1.

    Args:
        index: Of the corpus.
        terms: Of the lexicon.
        words: The model's word vectors, normalised: (V of the model, D).
    """

    def __init__(self, index: InvertedIndex, terms: Terms, words: FloatArray) -> None:
        self._index, self._terms = index, terms
        self._vectors = words[terms.in_model]
        vocabulary = index.corpus.vocabulary
        self._term_of_id = np.full(len(vocabulary), -1, np.intp)
        self._term_of_id[terms.in_corpus] = np.arange(len(terms.words))
        self._sqrt_counts = np.sqrt(vocabulary.counts[terms.in_corpus])

    def partners(self, block: range) -> list[IntArray]:
        """For each term of a block, the terms that may be related to it, ascending."""
        partners = []
        for term, similar in zip(block, self._similar(block), strict=True):
            both = np.concatenate([self._cooccurring(term), similar])
            partners.append(np.unique(both[both != term]))
        return partners

    def _cooccurring(self, term: int) -> IntArray:
        """By co-occurrences, over the root of their frequency."""
        ids = np.concatenate([*self._neighbouring_ids(int(self._terms.in_corpus[term]))])
        terms = self._term_of_id[ids]
        counts = np.bincount(terms[terms >= 0], minlength=len(self._terms.words))
        found = np.flatnonzero(counts)
        return found[_highest_positive(counts[found] / self._sqrt_counts[found], MAX_COOCCURRING)]

    def _neighbouring_ids(self, word: int) -> Iterator[NDArray[np.unsignedinteger]]:
        """The tokens at each distance from a word, within its sentence."""
        for tokens, positions in self._index.occurrences(word, MAX_POSITIONS):
            for sign in (1, -1):
                in_sentence = positions
                for distance in DISTANCES:
                    neighbours = in_sentence + sign * distance
                    inside = (neighbours >= 0) & (neighbours < len(tokens))
                    in_sentence, neighbours = in_sentence[inside], neighbours[inside]
                    ids = tokens[neighbours]
                    is_word = ids != BOUNDARY
                    in_sentence, ids = in_sentence[is_word], ids[is_word]
                    yield ids

    def _similar(self, block: range) -> list[IntArray]:
        """By cosine similarity: one product for the block, (B, T)."""
        similarity = self._vectors[block.start : block.stop] @ self._vectors.T
        similarity[np.arange(len(block)), np.array(block)] = 0
        return [_highest_positive(row, MAX_SIMILAR) for row in similarity]


def _highest_positive(scores: NDArray[np.floating], count: int) -> IntArray:
    """The rows of the highest scores above 0, in no order."""
    rows = np.arange(len(scores))
    if len(scores) > count:
        rows = np.argpartition(-scores, count - 1)[:count]
    highest: IntArray = rows[scores[rows] > 0]
    return highest
