"""Differences of given word vectors instead of R: the paper's "Unsupervised: Pair Dist".

Shapes: V words with a vector, D dimension.
"""

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.injection.frozen_pair import token_spellings, whitened_for_differences
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.query.space import FREQUENT_WORDS
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.word_vectors.formats import read_first_vectors, read_word_vectors


class _DifferenceWeights(NamedTuple):
    """R of word vectors alone, as `PairWeights`."""

    vocabulary: Vocabulary
    words: NDArray[np.float32]
    """(V, D)"""

    @property
    def config(self) -> dict[str, Any]:
        """As the recipe ``pair_distance`` publishes it."""
        return {"recipe": {"pair": {"composition": "difference", "layers": 1}}}

    def array(self, name: str) -> NDArray[np.float32]:
        return {"pair.words": self.words}[name]


def pair_distance_attention(
    path_of_word_vectors: str | os.PathLike[str],
    words: Iterable[str],
    *,
    dropout: float = 0.15,
    whitening: float = 0.0,
) -> PairAttention:
    """Attention over R(x, y) = (x − y) / ‖x − y‖, for the words of `words` that have a vector.

    Args:
        path_of_word_vectors: A file in any format that `read_word_vectors` reads.
        words: As spelled in the text; only their vectors are kept.
        dropout: Of the result, in training.
        whitening: From 0 (the paper) to 1, by the first words of the file, as of `PairAttention`.

    Raises:
        InputError: the file cannot be read, or has none of the words.
        UsageError: there is no word among `words`.
    """
    spellings = token_spellings(words)
    if not spellings:
        raise UsageError("words: has no word to look for in the word vectors; give some")
    read = read_word_vectors(path_of_word_vectors, Vocabulary((word, 1) for word in spellings))
    # A word at zero would have a difference to every other: it has to be unknown.
    rows = np.flatnonzero(read.found)
    kept = Vocabulary((read.vocabulary.words[row], 1) for row in rows)
    table = _with_special_tokens(read.vectors[rows])
    if whitening:
        # Not by the words of the text: a network must have the same vectors for any text.
        frequent = _with_special_tokens(read_first_vectors(path_of_word_vectors, FREQUENT_WORDS))
        table = whitened_for_differences(table, frequent, whitening)
    return PairAttention(_DifferenceWeights(kept, table), dropout=dropout, keep_parts=True)


def _with_special_tokens(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.pad(vectors, ((len(SPECIAL_TOKENS), 0), (0, 0)))
