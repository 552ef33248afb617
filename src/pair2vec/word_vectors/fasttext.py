"""Word vectors trained on the corpus itself: fastText's skip-gram, as gensim implements it."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.text.corpus import Corpus, Shard
from pair2vec.text.vocabulary import SPECIAL_TOKENS

# The defaults of fastText itself, where gensim's are others.
_LEARNING_RATE = 0.05
_SAMPLING_THRESHOLD = 1e-4
_MOST_BUCKETS = 2_000_000

_BUCKETS_PER_WORD = 20
"""Rows for n-grams; a small vocabulary has too few to be worth 2 million rows of memory."""

_SENTENCES_AT_ONCE = 10_000

_LONGEST_SENTENCE = 10_000
"""In words; gensim drops what comes after."""


def _no_report(done_epochs: int, total_epochs: int) -> None:
    pass


def train_fasttext(  # noqa: PLR0913 - the knobs of fastText
    corpus: Corpus,
    *,
    dimension: int = 300,
    epochs: int = 5,
    window: int = 5,
    negative: int = 5,
    min_n: int = 3,
    max_n: int = 6,
    workers: int,
    seed: int,
    report: Callable[[int, int], None] = _no_report,
) -> NDArray[np.float32]:
    """Vectors for the vocabulary of `corpus`, learned from its sentences.

    Args:
        corpus: What to learn from.
        dimension: Of a vector.
        epochs: Times to go through the corpus.
        window: The most words to either side that a word is to predict.
        negative: Random words each observed one is compared with.
        min_n: Characters of the shortest n-gram that shares in a word's vector.
        max_n: Of the longest; 0 for whole words only.
        workers: Threads; only with one are the vectors the same from run to run.
        seed: Of all that is random.
        report: Called with the number of epochs done and in all, after each.

    Returns:
        A row for each id; those of the special tokens are zero.
    """
    _check(dimension=dimension, epochs=epochs, window=window, negative=negative, workers=workers)
    words, counts = _words_and_counts(corpus)
    model = _new_model(
        vector_size=dimension,
        window=window,
        negative=negative,
        min_n=min_n,
        max_n=max_n,
        bucket=min(_MOST_BUCKETS, _BUCKETS_PER_WORD * len(words)),
        workers=workers,
        seed=seed,
    )
    model.build_vocab_from_freq(dict(zip(words, counts, strict=True)))
    assert model.wv.index_to_key == words
    model.train(
        _Sentences(corpus),
        total_words=corpus.manifest.tokens,
        epochs=epochs,
        callbacks=[_Progress(report, epochs)],
    )
    vectors = np.zeros((len(corpus.vocabulary), dimension), np.float32)
    vectors[len(SPECIAL_TOKENS) :] = model.wv.vectors
    return vectors


def _check(**values: int) -> None:
    for name, value in values.items():
        if value < 1:
            raise UsageError(f"{name} is {value}; it must be 1 or more")


def _words_and_counts(corpus: Corpus) -> tuple[list[str], list[int]]:
    """Without the special tokens, which no sentence has."""
    words = list(corpus.vocabulary.words[len(SPECIAL_TOKENS) :])
    if not words:
        raise InputError(f"{corpus.folder}: the vocabulary has no words; prepare with more text")
    return words, corpus.vocabulary.counts[len(SPECIAL_TOKENS) :].tolist()


def _new_model(**settings: int) -> Any:  # noqa: ANN401 - gensim has no types
    try:
        # Here, because it takes seconds and only training needs it.
        from gensim.models import FastText
    except ImportError as error:
        raise Pair2vecError(
            "training fastText vectors needs gensim: pip install 'pair2vec[train]'"
        ) from error
    return FastText(
        sg=1,
        alpha=_LEARNING_RATE,
        sample=_SAMPLING_THRESHOLD,
        min_count=1,
        sorted_vocab=0,  # Sorted it is; sorting again would reorder words of equal frequency.
        **settings,
    )


class _Sentences:
    """A corpus as lists of words, as often as gensim asks."""

    def __init__(self, corpus: Corpus) -> None:
        self._shards = corpus.shards
        self._words = corpus.vocabulary.words

    def __iter__(self) -> Iterator[list[str]]:
        for shard in self._shards:
            for first in range(0, len(shard.sentences) - 1, _SENTENCES_AT_ONCE):
                yield from self._some(shard, first)

    def _some(self, shard: Shard, first: int) -> Iterator[list[str]]:
        """Up to `_SENTENCES_AT_ONCE` sentences, looked up in one go."""
        edges = shard.sentences[first : first + _SENTENCES_AT_ONCE + 1].astype(np.int64)
        ids = shard.tokens[edges[0] : edges[-1]].tolist()
        words = list(map(self._words.__getitem__, ids))
        for start, next_start in pairwise((edges - edges[0]).tolist()):
            end = next_start - 1
            for piece in range(start, end, _LONGEST_SENTENCE):
                yield words[piece : min(end, piece + _LONGEST_SENTENCE)]


class _Progress:
    """What gensim calls as it trains; not of its base class, which would mean importing gensim."""

    def __init__(self, report: Callable[[int, int], None], epochs: int) -> None:
        self._report = report
        self._epochs = epochs
        self._done = 0

    def on_train_begin(self, model: object) -> None:
        """Nothing to say yet."""

    def on_epoch_begin(self, model: object) -> None:
        """Nothing to say yet."""

    def on_epoch_end(self, model: object) -> None:
        """Say that another epoch is done."""
        self._done += 1
        self._report(self._done, self._epochs)

    def on_train_end(self, model: object) -> None:
        """All has been said."""
