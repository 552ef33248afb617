"""The terms of a lexicon: a list of words, or what a corpus is about by itself.

Shapes: V vocabulary of the corpus, T terms.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray
from pair2vec.errors import UsageError
from pair2vec.lexicon.inverted_index import InvertedIndex
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import BOUNDARY, Vocabulary

_FUNCTION_WORDS = 150
"""The most frequent words of the model, which are no terms of anything."""
_SHORTEST = 3
_RAREST = 20
"""Words seen fewer times are no keywords: there is little to learn of them."""


class Terms(NamedTuple):
    """Words that both the corpus and the model know."""

    words: list[str]
    in_corpus: NDArray[np.intp]
    """(T,), ids."""
    in_model: NDArray[np.intp]
    """(T,), ids."""
    unknown: list[str]
    """Those asked for that one of them does not know."""


def terms_of(typed: Iterable[str], corpus: Vocabulary, model: Vocabulary) -> Terms:
    """The terms that a user lists, each once; a term of several words is joined by ``_``.

    Raises:
        UsageError: none of them is known.
    """
    distinct = dict.fromkeys(_spelled(word) for word in typed if word.strip())
    known = [word for word in distinct if word in corpus.ids and word in model.ids]
    unknown = [word for word in distinct if not (word in corpus.ids and word in model.ids)]
    if len(known) < 2:
        raise UsageError(
            f"of {len(distinct):,} terms, corpus and model both know {len(known)}; a lexicon needs "
            "two at least"
        )
    return _made(known, unknown, corpus, model)


def keywords(corpus: Corpus, model: Vocabulary, count: int) -> Terms:
    """What a corpus is about: its words that other text, that of the model, has more rarely.

    By Dunning's log-likelihood; of a corpus that is the model's own, its frequent words.
    """
    vocabulary = corpus.vocabulary
    candidates = [
        word
        for word in vocabulary.words
        if word.isalpha()
        and len(word) >= _SHORTEST
        and vocabulary.counts[vocabulary.ids[word]] >= _RAREST
        and model.ids.get(word, 0) >= _FUNCTION_WORDS
    ]
    if len(candidates) < 2:
        raise UsageError(f"{corpus.folder}: has too few words that the model knows; list --words")
    here = vocabulary.counts[[vocabulary.ids[word] for word in candidates]]
    there = model.counts[[model.ids[word] for word in candidates]]
    keyness = log_likelihood(here, int(vocabulary.counts.sum()), there, int(model.counts.sum()))
    order = np.lexsort((-here, -keyness))[:count]
    return _made([candidates[place] for place in order.tolist()], [], vocabulary, model)


def log_likelihood(
    here: NDArray[np.int64], all_here: int, there: NDArray[np.int64], all_there: int
) -> NDArray[np.float64]:
    """How surely words are more frequent here than there; 0 where they are not."""
    share = (here + there) / (all_here + all_there)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [
            np.where(seen > 0, seen * np.log(seen / (total * share)), 0.0)
            for seen, total in ((here, all_here), (there, all_there))
        ]
    more_here = here * all_there > there * all_here
    return np.where(more_here, 2 * (parts[0] + parts[1]), 0.0)


def _spelled(typed: str) -> str:
    """As a corpus spells it."""
    stripped = typed.strip()
    tokens = tokenize(stripped)
    return tokens[0] if len(tokens) == 1 else stripped.lower().replace(" ", "_")


def _made(words: list[str], unknown: list[str], corpus: Vocabulary, model: Vocabulary) -> Terms:
    return Terms(words, _ids(words, corpus), _ids(words, model), unknown)


def _ids(words: list[str], vocabulary: Vocabulary) -> NDArray[np.intp]:
    return np.array([vocabulary.ids[word] for word in words], np.intp)


# == Pairs of terms worth a look: those that stand near each other in the text, or are alike.
#
# Of ten thousand terms there are fifty million pairs, and a relation between hardly any of them.
#
# Shapes: T terms, K candidates of a term, D dimension.


NEAR, ALIKE = 24, 16
"""How many partners a term has by text, and by its vector."""
MAX_POSITIONS = 20_000
"""Of a frequent term that are looked at, spread over the corpus."""


class CandidatePairs:
    """Asked for the partners of one term after the other."""

    def __init__(self, index: InvertedIndex, terms: Terms, words: FloatArray) -> None:
        """`words` are the model's, of length one: (V, D)."""
        self._index, self._terms = index, terms
        self._vectors = words[terms.in_model]
        vocabulary = index.corpus.vocabulary
        self._number_of = np.full(len(vocabulary), -1, np.intp)
        self._number_of[terms.in_corpus] = np.arange(len(terms.words))
        self._roots = np.sqrt(vocabulary.counts[terms.in_corpus])

    def of(self, term: int) -> IntArray:
        """The numbers of terms that may be related to a term, in order."""
        partners = np.concatenate([self._near(term), self._alike(term)])
        return np.unique(partners[partners != term])

    def _near(self, term: int) -> IntArray:
        """By how often they stand near it, for how frequent they are."""
        counts = np.zeros(len(self._terms.words), np.int64)
        for found in self._windows(int(self._terms.in_corpus[term])):
            numbers = self._number_of[found]
            counts += np.bincount(numbers[numbers >= 0], minlength=len(counts))
        return _highest(counts / self._roots, NEAR)

    def _windows(self, word: int) -> Iterator[NDArray[np.unsignedinteger]]:
        """The words at each distance from a word, within its sentence."""
        for shard, listed in zip(self._index.corpus.shards, self._index.shards, strict=True):
            places = listed.of(word).astype(np.int64)
            places = places[:: max(1, -(-len(places) // MAX_POSITIONS))]
            for sign in (1, -1):
                still_open = places
                for distance in DISTANCES:
                    beside = still_open + sign * distance
                    inside = (beside >= 0) & (beside < len(shard.tokens))
                    still_open, beside = still_open[inside], beside[inside]
                    found = shard.tokens[beside]
                    is_word = found != BOUNDARY
                    still_open, found = still_open[is_word], found[is_word]
                    yield found

    def _alike(self, term: int) -> IntArray:
        """By their vectors."""
        likeness = self._vectors @ self._vectors[term]
        likeness[term] = 0
        return _highest(likeness, ALIKE)


def _highest(scores: NDArray[np.floating], count: int) -> IntArray:
    """The places of the highest scores above 0, in no order."""
    if len(scores) > count:
        places = np.argpartition(-scores, count - 1)[:count]
    else:
        places = np.arange(len(scores))
    chosen: IntArray = places[scores[places] > 0]
    return chosen
