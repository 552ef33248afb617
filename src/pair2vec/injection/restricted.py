"""A model of some words alone: all that a network needs which reads no others.

Shapes: V words of the model, K words kept, D dimension.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.injection.frozen_pair import PairSource
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary


class _Restricted(NamedTuple):
    """R of the words kept."""

    source: PairSource
    vocabulary: Vocabulary
    rows: NDArray[np.int64]
    """(K,), those of the words kept."""

    @property
    def config(self) -> Mapping[str, Any]:
        """What is known of the model."""
        return self.source.config

    def array(self, name: str) -> NDArray[np.float32]:
        """As in the model, but for the words."""
        values = self.source.array(name)
        return values[self.rows] if name == "pair.words" else values


def restricted(source: PairSource, words: Iterable[str]) -> PairSource:
    """R of those words that `source` knows, by the spellings that `spellings` finds."""
    known = source.vocabulary
    # In the order of the model: the special tokens stay first.
    rows = sorted(known.ids[word] for word in spellings(words) if word in known)
    kept = Vocabulary((known.words[row], int(known.counts[row])) for row in rows)
    return _Restricted(source, kept, np.array([*range(len(SPECIAL_TOKENS)), *rows], np.int64))


def spellings(words: Iterable[str]) -> list[str]:
    """Words of a text as a model spells them, each once; what is several words, or none, is none.

    No special token is among them: the tokeniser splits off their brackets.
    """
    tokens = map(tokenize, set(words))
    return sorted({found[0] for found in tokens if len(found) == 1})
