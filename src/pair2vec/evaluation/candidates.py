"""The words an analogy may be answered with: those that the model and the word vectors both know.

Shapes: V vocabulary, N candidates, E dimension of the word vectors.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.query.half_pair import Vectors, normalise
from pair2vec.query.pair_vectors import Numbers
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Words by their place, the most frequent first. Any other word is unknown to an exam."""

    ids: Numbers
    """In the model's vocabulary, (N,)."""
    vectors: Vectors
    """For 3CosAdd, of length one, (N, E)."""
    places: Mapping[str, int]

    def __len__(self) -> int:
        """N."""
        return len(self.ids)

    def place(self, spelling: str) -> int | None:
        """The place of a word as a published set spells it."""
        tokens = tokenize(spelling)
        return self.places.get(tokens[0]) if len(tokens) == 1 else None


def find_candidates(
    vocabulary: Vocabulary,
    vectors: Vectors,
    found: NDArray[np.bool_],
    limit: int | None = None,
) -> Candidates:
    """The words of a vocabulary that have a word vector.

    Both methods so choose from the same words, and neither has a question the other has not.

    Args:
        vocabulary: Of the model.
        vectors: For single words, a row an id: (V, E).
        found: Of each id, whether its row is a vector of the word: (V,).
        limit: Only so many of the most frequent words.
    """
    special = len(SPECIAL_TOKENS)
    end = len(vocabulary) if limit is None else special + limit
    ids = special + np.flatnonzero(found[special:end])
    if not len(ids):
        raise InputError("none of the model's words has a word vector; are they of one language?")
    places = {vocabulary.words[number]: place for place, number in enumerate(ids.tolist())}
    return Candidates(ids=ids, vectors=normalise(vectors[ids]), places=places)
