"""How frequent words are, as a prior for what fills a slot.

R·C tends to a PMI: how much more often words and pattern meet than their own frequencies make them
meet. With the pattern and one word given, PMI + log p(other word) is, up to a constant, the log of
how likely the other word is there: a prior of 0 asks what is peculiar, 1 what is likely, and those
between weigh one against the other. That is for PMI itself: training draws negative words by a
smoothed frequency, and passes over many pairs of frequent words.
"""

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.query.half_pair import Vectors
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

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


def log_shares(vocabulary: Vocabulary) -> Vectors:
    """The log of each word's share of the corpus, (V,); a count of 0 is taken for 1."""
    counts = np.maximum(vocabulary.counts, 1).astype(np.float64)
    shares = counts / counts[len(SPECIAL_TOKENS) :].sum()
    logs: Vectors = np.log(shares).astype(np.float32)
    return logs
