"""A random corpus with its vectors and neighbours, for benchmarks that measure only speed.

Not a benchmark itself.
"""

from contextlib import closing
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pair2vec.text.corpus import Corpus, CorpusWriter
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, Vocabulary, WordCount
from pair2vec.training.recipes import Recipe
from pair2vec.version import __version__
from pair2vec.word_vectors.formats import random_vectors

SENTENCE = 100
"""Tokens of a sentence: enough that contexts of all lengths are about equally frequent."""


def write_corpus(folder: Path, words: int, tokens: int) -> None:
    """About `tokens` tokens, each drawn with probability ~ 1 / rank."""
    shares = 1 / np.arange(1, words + 1)
    shares /= shares.sum()
    # Counts as in a large corpus, so that every word can be drawn as a negative.
    counts = np.maximum(1, shares * 1e9).astype(np.int64).tolist()
    vocabulary = Vocabulary([WordCount(f"w{rank}", count) for rank, count in enumerate(counts)])
    tokens = tokens // SENTENCE * SENTENCE
    ranks = np.random.default_rng(0).choice(words, tokens, p=shares)
    lines = (ranks + len(SPECIAL_TOKENS)).astype(np.uint32).reshape(-1, SENTENCE)
    folder.mkdir()
    with closing(CorpusWriter(folder, vocabulary)) as writer:
        writer.append(np.pad(lines, ((0, 0), (0, 1)), constant_values=BOUNDARY).ravel())
        writer.finish(
            version=__version__,
            documents=1,
            text_tokens=tokens,
            invalid_bytes=0,
            words=words,
            dropped=[],
            settings={},
            sources=[],
        )


def start_vectors(corpus: Corpus, recipe: Recipe) -> Tensor:
    generator = np.random.default_rng(0)
    return torch.from_numpy(random_vectors(corpus.vocabulary, recipe.pair.dimension, generator))


def random_neighbours(corpus: Corpus, recipe: Recipe) -> Tensor:
    """A table of the size of the nearest-neighbour table."""
    shape = (len(corpus.vocabulary), recipe.negatives.neighbours)
    return torch.randint(len(SPECIAL_TOKENS), shape[0], shape, dtype=torch.int32)
