"""fastText's skip-gram on a CPU, as gensim implements it: word vectors trained on the corpus."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.ranges import Count, Range, Seed, Size, check_ranges
from pair2vec.text.corpus import Corpus, Shard
from pair2vec.text.vocabulary import SPECIAL_TOKENS


class VectorsProgress(NamedTuple):
    """How far training is; the words of an epoch are the tokens of the corpus."""

    words: int
    total_words: int


VectorsReport = Callable[[VectorsProgress], None]
"""Called many times in each epoch, and at its end; perhaps from another thread."""

SMALL_CORPUS = 20_000_000
"""In tokens: with fewer, 100 dimensions are learned as well as 300, in a fraction of the time."""

SAMPLING_THRESHOLD = 1e-4
"""Of subsampling frequent words: fastText's default, not gensim's."""

_LEARNING_RATE = 0.05  # fastText's default, not gensim's
_SENTENCES_AT_ONCE = 1_000
_MAX_SENTENCE = 10_000  # in words; gensim drops the rest


@dataclass(frozen=True, kw_only=True, slots=True)
class FasttextConfig:
    """Hyperparameters of fastText's skip-gram (Bojanowski et al., 2017), on a CPU or a GPU.

    A word predicts up to `window` words to either side, each against `negative` negative samples.
    """

    dimension: Size = 300
    epochs: Count = 5
    window: Annotated[int, Range(least=1, most=1_000)] = 5
    negative: Annotated[int, Range(least=1, most=1_000)] = 5
    ngrams: Annotated[tuple[int, int], Range(least=0, most=100)] = (3, 6)
    """Shortest and longest character n-gram, fastText's minn and maxn; none if the longest is 0."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)

    def buckets(self, words: int) -> int:
        """Rows for n-grams; a small vocabulary is not worth fastText's 2 million."""
        return min(2_000_000, 20 * words)


def fitting_dimension(tokens: int) -> int:
    """The dimension for a corpus of so many tokens: 300, as is usual, or 100 if it is small."""
    return 100 if tokens < SMALL_CORPUS else FasttextConfig().dimension


def check_positive(name: str, value: int) -> None:
    if value < 1:
        raise UsageError(f"{name} is {value}; it must be 1 or more")


def corpus_words(corpus: Corpus) -> list[str]:
    """The vocabulary without its special tokens.

    Raises:
        InputError: it has no words.
    """
    words = list(corpus.vocabulary.words[len(SPECIAL_TOKENS) :])
    if not words:
        raise InputError(f"{corpus.folder}: the vocabulary has no words; prepare with more text")
    return words


def train_fasttext(
    corpus: Corpus,
    config: FasttextConfig,
    *,
    workers: int,
    report: VectorsReport = lambda _: None,
) -> NDArray[np.float32]:
    """Train word vectors on the sentences of `corpus`.

    Args:
        corpus: Its vocabulary gets the vectors.
        config: The hyperparameters.
        workers: Threads; the vectors are reproducible only with one.
        report: Called with the words that gensim has taken, somewhat before they are learned.

    Returns:
        A row for each id; those of the special tokens are zero.
    """
    check_positive("workers", workers)
    words = corpus_words(corpus)
    # gensim would drop a word that never occurs; it gets a vector from its n-grams.
    counts = np.maximum(corpus.vocabulary.counts[len(SPECIAL_TOKENS) :], 1).tolist()
    model = _new_model(config, config.buckets(len(words)), workers)
    model.build_vocab_from_freq(dict(zip(words, counts, strict=True)))
    assert model.wv.index_to_key == words
    model.train(
        _Sentences(corpus, config.epochs, report),
        total_words=corpus.manifest.tokens,
        epochs=config.epochs,
    )
    vectors = np.zeros((len(corpus.vocabulary), config.dimension), np.float32)
    vectors[len(SPECIAL_TOKENS) :] = model.wv.vectors
    return vectors


def _new_model(config: FasttextConfig, buckets: int, workers: int) -> Any:  # noqa: ANN401 - gensim has no types
    try:
        # Imported here, because it takes seconds and only training needs it.
        from gensim.models import FastText
    except ImportError as error:
        raise Pair2vecError(
            "training fastText vectors needs gensim: pip install 'pair2vec[train]'"
        ) from error
    return FastText(
        sg=1,
        vector_size=config.dimension,
        window=config.window,
        negative=config.negative,
        min_n=config.ngrams[0],
        max_n=config.ngrams[1],
        bucket=buckets,
        alpha=_LEARNING_RATE,
        sample=SAMPLING_THRESHOLD,
        min_count=1,
        sorted_vocab=0,  # It is sorted; sorting again would reorder words of equal frequency.
        workers=workers,
        seed=config.seed,
    )


class _Sentences:
    """A corpus as lists of words, iterated once per epoch."""

    def __init__(
        self, corpus: Corpus, epochs: int = 1, report: VectorsReport = lambda _: None
    ) -> None:
        self._shards = corpus.shards
        self._words = corpus.vocabulary.words
        self._report = report
        self._given, self._total = 0, epochs * corpus.manifest.tokens

    def __iter__(self) -> Iterator[list[str]]:
        for shard in self._shards:
            for first in range(0, len(shard.sentences) - 1, _SENTENCES_AT_ONCE):
                for words in self._decode(shard, first):
                    self._given += len(words)
                    yield words
                self._report(VectorsProgress(self._given, self._total))

    def _decode(self, shard: Shard, first: int) -> Iterator[list[str]]:
        """Up to `_SENTENCES_AT_ONCE` sentences, looked up in one go."""
        edges = shard.sentences[first : first + _SENTENCES_AT_ONCE + 1].astype(np.int64)
        ids = shard.tokens[edges[0] : edges[-1]].tolist()
        words = list(map(self._words.__getitem__, ids))
        for start, next_start in pairwise((edges - edges[0]).tolist()):
            end = next_start - 1
            for part in range(start, end, _MAX_SENTENCE):
                yield words[part : min(end, part + _MAX_SENTENCE)]
