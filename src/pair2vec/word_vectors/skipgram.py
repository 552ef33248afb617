"""fastText's skip-gram in large batches, for a GPU: word vectors trained on the corpus.

The model is that of `fasttext`: a word's vector is the mean of its own row and those of its
character n-grams (Bojanowski et al., 2017, section 3.2), trained by negative sampling. Only the
order of the work differs: many centres of the corpus at a time, and `CENTRES_PER_GROUP` of them
share their negative samples, so that their scores are one matrix product.

Shapes: C centres, W window, G groups of centres, K negative samples per group, R rows, D dimension.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.word_vectors.fasttext import (
    SAMPLING_THRESHOLD,
    FasttextConfig,
    VectorsProgress,
    VectorsReport,
    check_positive,
    corpus_words,
)
from pair2vec.word_vectors.sampler import WordSampler

CENTRES_PER_GROUP = 32
"""Centres that share negative samples: as many as each would draw alone."""

_FIRST_WORD = len(SPECIAL_TOKENS)
_NEGATIVES_EXPONENT = 0.75

_LEARNING_RATE = 3.0
"""The length of a row's first step, whatever the dimension. Large, because Adagrad's steps shrink,
and large batches mean few of them: with a tenth of it all words stay near each other, as with plain
SGD in its first epochs."""

_MIN_STEPS = 500
"""Per epoch: a small corpus is trained on in smaller batches."""

_REPORT_STEPS = 50

_IDS_AT_ONCE = 1 << 26


def train_skipgram(
    corpus: Corpus,
    config: FasttextConfig,
    *,
    batch: int = 65536,
    device: torch.device,
    report: VectorsReport = lambda _: None,
) -> NDArray[np.float32]:
    """Train word vectors on the sentences of `corpus`.

    Args:
        corpus: Its vocabulary gets the vectors; its ids are held on the device, as int32.
        config: The hyperparameters; on a CPU the vectors are reproducible by their seed.
        batch: About the most pairs of words per step; fewer where the corpus is small.
        device: Where to train.
        report: Called with the words trained on, every few dozen steps.

    Returns:
        A row for each id; those of the special tokens are zero.
    """
    check_positive("batch", batch)
    words = corpus_words(corpus)
    counts = corpus.vocabulary.counts
    generator = torch.Generator(device).manual_seed(config.seed)
    buckets = config.buckets(len(words))
    subwords = SubwordRows.from_words(words, *config.ngrams, buckets, device)
    model = SkipGram(subwords, config.dimension, generator)
    sampler = WordSampler.smoothed(counts, _NEGATIVES_EXPONENT, device)
    keep = torch.from_numpy(keep_probability(counts)).to(device)
    corpus_ids, tokens = _corpus_ids(corpus, device), corpus.manifest.tokens
    for epoch in range(config.epochs):
        ids = subsample(corpus_ids, keep, generator)
        centres = _centres_per_step(batch, config.window, len(ids))
        steps = -(-len(ids) // centres)
        for step in range(steps):
            pairs = draw_pairs(ids, centres, config.window, generator)
            shape = (centres // CENTRES_PER_GROUP, config.negative * (config.window + 1))
            rate = _LEARNING_RATE * (1 - (epoch + step / steps) / config.epochs)
            model.step(pairs, sampler.draw(shape, generator), config.negative, rate)
            if step % _REPORT_STEPS == _REPORT_STEPS - 1 or step == steps - 1:
                done = epoch * tokens + (step + 1) * tokens // steps
                report(VectorsProgress(done, config.epochs * tokens))
    return model.word_vectors()


def _centres_per_step(batch: int, window: int, ids: int) -> int:
    """Whole groups of centres; with windows of 1 to W, each has W + 1 contexts on average.

    Both the number and the size of steps grow with the corpus.
    """
    centres = min(batch // (window + 1), math.isqrt(ids), ids // _MIN_STEPS)
    return CENTRES_PER_GROUP * max(1, centres // CENTRES_PER_GROUP)


class SubwordRows(NamedTuple):
    """The rows whose mean is a word's vector: first its own, then those of its n-grams."""

    rows: Tensor
    """Concatenated over words; n-grams have the rows from the vocabulary's size on."""
    offsets: Tensor
    """Into `rows`: the start of each id's, and, last, the end; special tokens have none."""
    row_count: int

    @classmethod
    def from_words(
        cls, words: Sequence[str], min_n: int, max_n: int, buckets: int, device: torch.device
    ) -> "SubwordRows":
        """For `words`, whose ids follow those of the special tokens."""
        owners, hashed = ngram_buckets(words, min_n, max_n, buckets)
        ids = np.arange(_FIRST_WORD, _FIRST_WORD + len(words))
        owners = np.concatenate([ids, owners + _FIRST_WORD])
        rows = np.concatenate([ids, hashed + _FIRST_WORD + len(words)])
        sizes = np.bincount(owners, minlength=_FIRST_WORD + len(words))
        return cls(
            torch.from_numpy(rows[np.argsort(owners, kind="stable")]).to(device),
            torch.from_numpy(np.concatenate([[0], np.cumsum(sizes)])).to(device),
            _FIRST_WORD + len(words) + buckets,
        )

    def select(self, ids: Tensor) -> "SubwordRows":
        """The rows of some words (N,), in their order."""
        starts = self.offsets[ids]
        sizes = self.offsets[ids + 1] - starts
        offsets = functional.pad(sizes.cumsum(0), (1, 0))
        shifts = torch.repeat_interleave(starts - offsets[:-1], sizes)
        indices = shifts + torch.arange(len(shifts), device=ids.device)
        return SubwordRows(self.rows[indices], offsets, self.row_count)

    def means(self, table: Tensor) -> Tensor:
        """The words' vectors (N, D); zero where there are no rows."""
        return functional.embedding_bag(self.rows, table, self.offsets[:-1], mode="mean")

    def means_backward(self, gradients: Tensor) -> Tensor:
        """Gradients of the words' vectors (N, D) to those of their rows (R, D)."""
        sizes = self.offsets.diff()
        shares = gradients / sizes.clamp_min(1)[:, None]
        return torch.repeat_interleave(shares, sizes, 0, output_size=len(self.rows))


def ngram_buckets(
    words: Sequence[str], min_n: int, max_n: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The n-grams of all words: the index of each one's word, and its bucket in fastText's hash.

    The hash is FNV-1a of the UTF-8 bytes as signed integers; it is extended by a character at a
    time, for all positions of all words at once.
    """
    marked = [f"<{word}>" for word in words]
    owners = np.repeat(np.arange(len(words)), [len(word) for word in marked])
    characters = _utf8("".join(marked))
    is_mark = np.diff(owners, prepend=-1, append=len(words)) != 0
    hashed = np.full(len(owners), 2166136261, np.uint32)
    ngrams = [(owners[:0], owners[:0])]
    for length in range(1, max_n + 1):
        last = characters[length - 1 :]
        hashed = _fnv1a(hashed[: len(last)], last)
        first_owner = owners[: len(last)]
        inside = first_owner == owners[length - 1 :]
        if length == 1:
            inside &= ~(is_mark[:-1] | is_mark[1:])
        if length >= min_n:
            ngrams.append((first_owner[inside], (hashed[inside] % buckets).astype(np.int64)))
    ngram_owners, ngram_hashes = map(np.concatenate, zip(*ngrams, strict=True))
    return ngram_owners, ngram_hashes


def _utf8(text: str) -> NDArray[np.int16]:
    """The bytes of each character: (characters, 4), padded with -1."""
    encoded = np.frombuffer(text.encode(), np.uint8)
    is_first = encoded & 0xC0 != 0x80
    character = np.cumsum(is_first) - 1
    position = np.arange(len(encoded)) - np.flatnonzero(is_first)[character]
    table = np.full((len(text), 4), -1, np.int16)
    table[character, position] = encoded
    return table


def _fnv1a(hashed: NDArray[np.uint32], characters: NDArray[np.int16]) -> NDArray[np.uint32]:
    for byte in characters.T:
        signed = byte.astype(np.uint8).astype(np.int8).astype(np.uint32)
        hashed = np.where(byte < 0, hashed, (hashed ^ signed) * np.uint32(16777619))
    return hashed


def keep_probability(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Of an occurrence of each id: √(t / p); special tokens are always kept."""
    shares = np.maximum(counts, 1) / max(1, counts.sum())
    keep: NDArray[np.float64] = np.minimum(1, np.sqrt(SAMPLING_THRESHOLD / shares))
    keep[:_FIRST_WORD] = 1
    return keep.astype(np.float32)


def _corpus_ids(corpus: Corpus, device: torch.device) -> Tensor:
    """All shards concatenated; each begins and ends with a boundary."""
    ids = torch.empty(sum(len(shard.tokens) for shard in corpus.shards), dtype=torch.int32)
    ids = ids.to(device)
    end = 0
    for shard in corpus.shards:
        for start in range(0, len(shard.tokens), _IDS_AT_ONCE):
            part = shard.tokens[start : start + _IDS_AT_ONCE].astype(np.int32)
            ids[end : end + len(part)] = torch.from_numpy(part)
            end += len(part)
    return ids


def subsample(ids: Tensor, keep: Tensor, generator: torch.Generator) -> Tensor:
    """Drop frequent words at random, before windows are formed."""

    def kept(part: Tensor) -> Tensor:
        return part[torch.rand(part.shape, generator=generator, device=ids.device) < keep[part]]

    return torch.cat([kept(part) for part in torch.split(ids, _IDS_AT_ONCE)])


class SkipGramPairs(NamedTuple):
    """Centres and their context words."""

    centres: Tensor
    """(C,)."""
    contexts: Tensor
    """(C, 2W): the W words before, nearest first, and those after."""
    valid: Tensor
    """(C, 2W): whether each is in the centre's window."""


def draw_pairs(ids: Tensor, centres: int, window: int, generator: torch.Generator) -> SkipGramPairs:
    """Random positions of `ids`, each with a random window of 1 to `window` words to either side.

    A window ends before a special token, such as the boundary at either end of `ids`; a special
    token as centre has an empty one.
    """
    device = ids.device
    positions = torch.randint(len(ids), (centres, 1), generator=generator, device=device)
    reach = torch.randint(1, window + 1, (centres, 1), generator=generator, device=device)
    distances = torch.arange(1, window + 1, device=device)
    sides = [
        ids[(positions - distances).clamp_min(0)].long(),
        ids[(positions + distances).clamp_max(len(ids) - 1)].long(),
    ]
    words = ids[positions].long()
    inside = [(side >= _FIRST_WORD).cumprod(1).bool() & (distances <= reach) for side in sides]
    return SkipGramPairs(
        words[:, 0], torch.cat(sides, 1), torch.cat(inside, 1) & (words >= _FIRST_WORD)
    )


class _AdagradTable:
    """Rows trained by Adagrad with one step size per row; only rows of a batch are touched."""

    def __init__(self, values: Tensor) -> None:
        self.values = values
        self._squares = values.new_zeros(len(values))
        self._representative = torch.zeros(len(values), dtype=torch.int64, device=values.device)

    def update(self, rows: Tensor, gradients: Tensor, rate: float) -> None:
        """One step along the gradients (R, D) of `rows`; those of equal rows are summed first."""
        # One entry of the batch represents each row; any will do, all others get zero. This needs
        # neither sorting nor a synchronisation to learn how many rows are distinct.
        self._representative[rows] = torch.arange(len(rows), device=rows.device)
        sums = torch.zeros_like(gradients).index_add_(0, self._representative[rows], gradients)
        self._squares.index_add_(0, rows, sums.square().sum(1))
        sizes = rate / (self._squares[rows].sqrt() + 1e-10)
        self.values.index_add_(0, rows, sums * sizes[:, None], alpha=-1)


class SkipGram:
    """Input rows for words and n-grams, and an output row for each word as a context."""

    def __init__(self, subwords: SubwordRows, dimension: int, generator: torch.Generator) -> None:
        self._subwords = subwords
        device = generator.device
        inputs = torch.empty((subwords.row_count, dimension), device=device)
        inputs.uniform_(-1 / dimension, 1 / dimension, generator=generator)
        self.inputs = _AdagradTable(inputs)
        self.outputs = _AdagradTable(
            torch.zeros((len(subwords.offsets) - 1, dimension), device=device)
        )

    @torch.no_grad()
    def step(self, pairs: SkipGramPairs, negatives: Tensor, per_pair: int, rate: float) -> Tensor:
        """Train on the pairs, each against `per_pair` of the negative samples (G, K).

        Returns:
            The mean loss per pair, before the step.
        """
        subwords = self._subwords.select(pairs.centres)
        outputs = torch.cat([pairs.contexts.flatten(), negatives.flatten()])
        vectors = subwords.means(self.inputs.values).requires_grad_()
        output_rows = self.outputs.values[outputs].requires_grad_()
        with torch.enable_grad():
            loss = skipgram_loss(vectors, output_rows, pairs, negatives, per_pair)
        vector_grad, output_grad = torch.autograd.grad(loss, (vectors, output_rows))
        self.inputs.update(subwords.rows, subwords.means_backward(vector_grad), rate)
        self.outputs.update(outputs, output_grad, rate)
        return loss.detach() / pairs.valid.sum().clamp_min(1)

    @torch.no_grad()
    def word_vectors(self) -> NDArray[np.float32]:
        """A row for each id."""
        return self._subwords.means(self.inputs.values).cpu().numpy()


def skipgram_loss(
    vectors: Tensor, outputs: Tensor, pairs: SkipGramPairs, negatives: Tensor, per_pair: int
) -> Tensor:
    """Negative sampling (Mikolov et al., 2013, equation 4), summed over pairs.

    `outputs` has the rows of the contexts (C · 2W, D), then of the negative samples (G · K, D). A
    sample is a negative of every pair of its group but those whose context it is, and is weighted
    such that a pair has `per_pair` of them in total.
    """
    contexts = outputs[: pairs.contexts.numel()].view(*pairs.contexts.shape, -1)
    samples = outputs[pairs.contexts.numel() :].view(*negatives.shape, -1)
    observed = (contexts @ vectors[:, :, None]).squeeze(2)
    corrupted = (vectors.view(len(negatives), -1, vectors.shape[1]) @ samples.mT).flatten(0, 1)
    drawn = negatives.repeat_interleave(len(pairs.centres) // len(negatives), 0)
    is_negative = pairs.valid[:, :, None] & (pairs.contexts[:, :, None] != drawn[:, None, :])
    weights = is_negative.sum(1) * (per_pair / negatives.shape[1])
    negative_term = functional.logsigmoid(-corrupted) * weights
    return -(functional.logsigmoid(observed) * pairs.valid).sum() - negative_term.sum()
