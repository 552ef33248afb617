"""What a question is answered with: the best words, pairs or patterns, and their scores."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, top_k
from pair2vec.errors import UsageError
from pair2vec.query.pair_encoder import ConditionalPairNetwork, PairVectors, Readout
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, find_typed


class Match(NamedTuple):
    """A word that fits."""

    word: str
    score: float


class PairMatch(NamedTuple):
    """A pair that fits."""

    x: str
    y: str
    score: float


class PatternMatch(NamedTuple):
    """A pattern that fits."""

    pattern: str
    score: float


class RelationMatch(NamedTuple):
    """A word in a relation."""

    word: str
    relation: str
    score: float


# == How frequent words are, as a prior for what fills a slot.
#
# R·C tends to a PMI: how much more often words and pattern meet than their own frequencies make them
# meet. With the pattern and one word given, PMI + log p(other word) is, up to a constant, the log of
# how likely the other word is there: a prior of 0 asks what is peculiar, 1 what is likely, and those
# between weigh one against the other. That is for PMI itself: training draws negative words by a
# smoothed frequency, and passes over many pairs of frequent words.


LARGEST_PRIOR = 1e9
"""Far below this already, nothing but frequency counts."""


def check_prior(prior: float) -> float:
    """The same, if it can be one.

    Raises:
        UsageError: it is negative or not finite, or so large that sums with it would not be.
    """
    if not 0 <= prior <= LARGEST_PRIOR:
        raise UsageError(
            f"prior is {prior:g}; it must be a number from 0, which is plain R·C, to "
            f"{LARGEST_PRIOR:g}; 0.5, say"
        )
    return prior


def log_frequencies(vocabulary: Vocabulary) -> FloatArray:
    """The log of each word's share of the corpus, (V,); a count of 0 is taken for 1."""
    counts = np.maximum(vocabulary.counts, 1).astype(np.float64)
    shares = counts / counts[len(SPECIAL_TOKENS) :].sum()
    logs: FloatArray = np.log(shares).astype(np.float32)
    return logs


# == A shortlist: the words that may answer a question, found without asking all of them exactly.
#
# With one word given, R is a network with ReLUs, so a score is a piecewise linear function of the
# other word. The vocabulary is divided into a few regions of like words once. For a question, the
# network is run at the middle of each region, forwards and backwards; its tangent there scores every
# word of the region by one dot product. The words with the best of these scores are the shortlist,
# which is then scored exactly.


REGIONS = 32
SHORTLIST = 3_000


class Regions:
    """A vocabulary, divided."""

    def __init__(self, words: FloatArray) -> None:
        """Divide words by the nearest of some of them.

        Args:
            words: As R takes them, (V, D).
        """
        self._words = words
        chosen = np.random.default_rng(0).choice(len(words), min(REGIONS, len(words)), False)
        self._region = (words @ words[chosen].T).argmax(axis=1)
        sums = np.zeros((len(chosen), words.shape[1]), np.float32)
        np.add.at(sums, self._region, words)
        sizes = np.bincount(self._region, minlength=len(chosen))
        self._middles = sums / np.maximum(sizes, 1).astype(np.float32)[:, None]

    def rough_scores(self, half: ConditionalPairNetwork, readout: Readout) -> FloatArray:
        """What the tangents say of each word: (V,)."""
        values, gradients = half.tangents(self._middles, readout)
        at_zero = values - np.einsum("rd,rd->r", self._middles, gradients)
        by_region = self._words @ gradients.T
        picked: FloatArray = np.take_along_axis(by_region, self._region[:, None], axis=1)[:, 0]
        picked += at_zero[self._region]
        return picked


def shortlist(rough_scores: FloatArray, without: Iterable[int]) -> IntArray:
    """The words to score exactly, in order of their ids."""
    return np.sort(top_k(rough_scores, SHORTLIST, without))


# == The words that answer a question best, of all in the vocabulary or of some.


Search = Literal["exact", "shortlist"]
"""Score every word; or only some thousand that a rough score chooses (`query.search`)."""

CandidateIds = IntArray | slice
"""The ids of words to choose from, in order; or all of them, as a slice that copies nothing."""

_SPECIAL = range(len(SPECIAL_TOKENS))


class WordSearch:
    """A vocabulary, to be searched by scores."""

    def __init__(self, vocabulary: Vocabulary, pairs: PairVectors) -> None:
        self._vocabulary = vocabulary
        self._pairs = pairs

    @cached_property
    def regions(self) -> Regions:
        """What rough scores are made with."""
        return Regions(self._pairs.all_inputs)

    def inputs(self, ids: CandidateIds) -> FloatArray:
        """The vectors of words as R takes them."""
        return self._pairs.all_inputs if isinstance(ids, slice) else self._pairs.inputs(ids)

    def best_words(
        self,
        scores: Callable[[CandidateIds], FloatArray],
        rough_scores: Callable[[], FloatArray],
        given: Sequence[int],
        *,
        among: Iterable[str] | None,
        search: Search,
        top: int,
    ) -> list[Match]:
        """The words with the best scores, without special tokens and those given.

        Args:
            scores: Of some words.
            rough_scores: Of all words; asked for only where a shortlist is made.
            given: The ids of the words in the question.
            among: Words to choose from; all of the vocabulary otherwise.
            search: How.
            top: How many to return.
        """
        ids = self._candidates(among, search, given, rough_scores)
        found = scores(ids)
        numbers = np.arange(len(self._vocabulary))[ids]
        left_out = np.flatnonzero(np.isin(numbers, (*_SPECIAL, *given)))
        return [
            Match(self._vocabulary.words[numbers[place]], float(found[place]))
            for place in top_k(found, top, left_out.tolist())
        ]

    def _candidates(
        self,
        among: Iterable[str] | None,
        search: Search,
        given: Sequence[int],
        rough_scores: Callable[[], FloatArray],
    ) -> CandidateIds:
        """The words to score."""
        if search not in get_args(Search):
            raise UsageError(
                f"search is {search!r}; it must be one of {', '.join(get_args(Search))}"
            )
        if among is not None:
            return np.array(sorted({find_typed(word, self._vocabulary) for word in among}), np.intp)
        if search == "shortlist" and len(self._vocabulary) > SHORTLIST:
            return shortlist(rough_scores(), (*_SPECIAL, *given))
        return slice(None)
