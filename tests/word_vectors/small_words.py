"""A few words and their vectors, for tests of files of vectors."""

import bz2
import gzip
import lzma
from collections.abc import Callable

import numpy as np

from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount

SPECIAL = len(SPECIAL_TOKENS)
WORDS = ["paris", "été", ",", "東京", "u.s.", "1,000"]
VECTORS = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
COMPRESSIONS: list[Callable[[bytes], bytes]] = [bytes, gzip.compress, bz2.compress, lzma.compress]


def vocabulary_of(*words: str) -> Vocabulary:
    return Vocabulary(
        [WordCount(word, count) for count, word in enumerate(reversed(words), 1)][::-1]
    )
