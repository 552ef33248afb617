"""A shortlist: the words that may answer a question, found without asking all of them exactly.

With one word given, R is a network with ReLUs, so a score is a piecewise linear function of the
other word. The vocabulary is divided into a few regions of like words once. For a question, the
network is run at the middle of each region, forwards and backwards; its tangent there scores every
word of the region by one dot product. The words with the best of these scores are the shortlist,
which is then scored exactly.
"""

from collections.abc import Iterable

import numpy as np

from pair2vec.query.half_pair import HalfPair, Readout, Vectors
from pair2vec.query.matches import best
from pair2vec.query.pair_vectors import Numbers

REGIONS = 32
SHORTLIST = 3_000


class Regions:
    """A vocabulary, divided."""

    def __init__(self, words: Vectors) -> None:
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

    def rough_scores(self, half: HalfPair, readout: Readout) -> Vectors:
        """What the tangents say of each word: (V,)."""
        values, gradients = half.tangents(self._middles, readout)
        at_zero = values - np.einsum("rd,rd->r", self._middles, gradients)
        by_region = self._words @ gradients.T
        picked: Vectors = np.take_along_axis(by_region, self._region[:, None], axis=1)[:, 0]
        picked += at_zero[self._region]
        return picked


def shortlist(rough_scores: Vectors, without: Iterable[int]) -> Numbers:
    """The words to score exactly, in order of their ids."""
    return np.sort(best(rough_scores, SHORTLIST, without))
