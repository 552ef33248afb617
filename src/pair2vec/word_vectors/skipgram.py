"""Word vectors trained on the corpus itself: fastText's skip-gram in large batches, for a GPU.

The model is that of `pair2vec.word_vectors.fasttext`: a word's vector is the mean of its own row and
those of its character n-grams (Bojanowski et al., 2017, section 3.2), learned by telling the words
around it from random ones. Only the order of the work is another: many centres of the corpus at a
time, and `CENTRES_A_GROUP` of them share their random words, so that they are one matrix product.

Shapes: C centres, W window, G groups of centres, K random words of a group, R rows, D dimension.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pair2vec.errors import InputError, UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.word_vectors.sampler import WordSampler

CENTRES_A_GROUP = 32
"""So many centres are compared with the same random words: as many as each would draw alone."""

_FIRST_WORD = len(SPECIAL_TOKENS)
_SAMPLING_THRESHOLD = 1e-4
_NEGATIVES_EXPONENT = 0.75
_MOST_BUCKETS = 2_000_000
_BUCKETS_PER_WORD = 20

_LEARNING_RATE = 3.0
"""The length of a row's first step, whatever the dimension. Large, because Adagrad's steps shrink
with each, and a large batch means few of them: with ten times less, all words stay near each other,
as those of plain descent do in its first epochs."""

_LEAST_STEPS = 500
"""In an epoch: a small corpus is taken in smaller batches, or it would be over before it began."""

_IDS_AT_ONCE = 1 << 26


def _no_report(done_epochs: int, total_epochs: int) -> None:
    pass


def train_skipgram(  # noqa: PLR0913 - the knobs of fastText
    corpus: Corpus,
    *,
    dimension: int = 300,
    epochs: int = 5,
    window: int = 5,
    negative: int = 5,
    min_n: int = 3,
    max_n: int = 6,
    batch: int = 65536,
    seed: int = 0,
    device: torch.device,
    report: Callable[[int, int], None] = _no_report,
) -> NDArray[np.float32]:
    """Vectors for the vocabulary of `corpus`, learned from its sentences.

    Args:
        corpus: What to learn from; its ids are held on the device, in four bytes each.
        dimension: Of a vector.
        epochs: Times to go through the corpus.
        window: The most words to either side that a word is to predict.
        negative: Random words each observed one is compared with.
        min_n: Characters of the shortest n-gram that shares in a word's vector.
        max_n: Of the longest; 0 for whole words only.
        batch: Pairs of words in a step, at most about; fewer where the corpus is small.
        seed: Of all that is random; on a CPU the vectors are the same from run to run.
        device: Where to train.
        report: Called with the number of epochs done and in all, after each.

    Returns:
        A row for each id; those of the special tokens are zero.
    """
    _check(dimension=dimension, epochs=epochs, window=window, negative=negative, batch=batch)
    vocabulary = corpus.vocabulary
    words = vocabulary.words[_FIRST_WORD:]
    if not words:
        raise InputError(f"{corpus.folder}: the vocabulary has no words; prepare with more text")
    generator = torch.Generator(device).manual_seed(seed)
    buckets = min(_MOST_BUCKETS, _BUCKETS_PER_WORD * len(words))
    parts = SubwordRows.of(words, min_n, max_n, buckets, device)
    model = SkipGram(parts, dimension, generator)
    sampler = WordSampler.smoothed(vocabulary.counts, _NEGATIVES_EXPONENT, device)
    keep = torch.from_numpy(keep_probability(vocabulary.counts)).to(device)
    corpus_ids = _ids_on(corpus, device)
    for epoch in range(epochs):
        ids = subsampled(corpus_ids, keep, generator)
        centres = _centres_a_step(batch, window, len(ids))
        steps = -(-len(ids) // centres)
        for step in range(steps):
            pairs = draw_pairs(ids, centres, window, generator)
            groups = (centres // CENTRES_A_GROUP, negative * (window + 1))
            rate = _LEARNING_RATE * (1 - (epoch + step / steps) / epochs)
            model.step(pairs, sampler.draw(groups, generator), negative, rate)
        report(epoch + 1, epochs)
    return model.word_vectors()


def _check(**values: int) -> None:
    for name, value in values.items():
        if value < 1:
            raise UsageError(f"{name} is {value}; it must be 1 or more")


def _centres_a_step(batch: int, window: int, ids: int) -> int:
    """Whole groups of centres; with windows of 1 to W, each has W + 1 contexts on average.

    A larger corpus is taken in more steps and in larger ones alike.
    """
    centres = min(batch // (window + 1), math.isqrt(ids), ids // _LEAST_STEPS)
    return CENTRES_A_GROUP * max(1, centres // CENTRES_A_GROUP)


class SubwordRows(NamedTuple):
    """The rows whose mean is a word's vector: first its own, then those of its n-grams."""

    rows: Tensor
    """Of one word after the other; n-grams have the rows from the vocabulary's size on."""
    offsets: Tensor
    """Where in `rows` those of an id begin, and, last, the end; special tokens have none."""
    row_count: int

    @classmethod
    def of(
        cls, words: Sequence[str], min_n: int, max_n: int, buckets: int, device: torch.device
    ) -> "SubwordRows":
        """For `words`, the first of which has the id after the special tokens."""
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

    def of_words(self, ids: Tensor) -> "SubwordRows":
        """Those of some words (N,), in their order."""
        starts = self.offsets[ids]
        sizes = self.offsets[ids + 1] - starts
        offsets = functional.pad(sizes.cumsum(0), (1, 0))
        shifts = torch.repeat_interleave(starts - offsets[:-1], sizes)
        places = shifts + torch.arange(len(shifts), device=ids.device)
        return SubwordRows(self.rows[places], offsets, self.row_count)

    def means(self, table: Tensor) -> Tensor:
        """The words' vectors (N, D); zero where there are no rows."""
        return functional.embedding_bag(self.rows, table, self.offsets[:-1], mode="mean")

    def spread(self, gradients: Tensor) -> Tensor:
        """Back from the words' vectors (N, D) to the rows they are the means of: (R, D)."""
        sizes = self.offsets.diff()
        shares = gradients / sizes.clamp_min(1)[:, None]
        return torch.repeat_interleave(shares, sizes, 0, output_size=len(self.rows))


def ngram_buckets(
    words: Sequence[str], min_n: int, max_n: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The n-grams of all words: of which word each is, and its bucket, as fastText hashes it.

    The hash is FNV-1a of the bytes in UTF-8, taken as signed numbers; it grows by a character at a
    time, for all places of all words at once.
    """
    marked = [f"<{word}>" for word in words]
    owners = np.repeat(np.arange(len(words)), [len(word) for word in marked])
    characters = _utf8("".join(marked))
    is_mark = np.diff(owners, prepend=-1, append=len(words)) != 0
    hashed = np.full(len(owners), 2166136261, np.uint32)
    found = [(owners[:0], owners[:0])]
    for length in range(1, max_n + 1):
        last = characters[length - 1 :]
        hashed = _fnv1a(hashed[: len(last)], last)
        first_owner = owners[: len(last)]
        inside = first_owner == owners[length - 1 :]
        if length == 1:
            inside &= ~(is_mark[:-1] | is_mark[1:])
        if length >= min_n:
            found.append((first_owner[inside], (hashed[inside] % buckets).astype(np.int64)))
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def _utf8(text: str) -> NDArray[np.int16]:
    """The bytes of each character: (characters, 4), with -1 where it has fewer."""
    encoded = np.frombuffer(text.encode(), np.uint8)
    is_first = encoded & 0xC0 != 0x80
    character = np.cumsum(is_first) - 1
    place = np.arange(len(encoded)) - np.flatnonzero(is_first)[character]
    table = np.full((len(text), 4), -1, np.int16)
    table[character, place] = encoded
    return table


def _fnv1a(hashed: NDArray[np.uint32], characters: NDArray[np.int16]) -> NDArray[np.uint32]:
    for byte in characters.T:
        signed = byte.astype(np.uint8).astype(np.int8).astype(np.uint32)
        hashed = np.where(byte < 0, hashed, (hashed ^ signed) * np.uint32(16777619))
    return hashed


def keep_probability(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """How likely an occurrence of each id is kept: √(t / p); that of a special token always."""
    shares = np.maximum(counts, 1) / max(1, counts.sum())
    keep: NDArray[np.float64] = np.minimum(1, np.sqrt(_SAMPLING_THRESHOLD / shares))
    keep[:_FIRST_WORD] = 1
    return keep.astype(np.float32)


def _ids_on(corpus: Corpus, device: torch.device) -> Tensor:
    """All shards in a row; each begins and ends with a boundary."""
    ids = torch.empty(sum(len(shard.tokens) for shard in corpus.shards), dtype=torch.int32)
    ids = ids.to(device)
    end = 0
    for shard in corpus.shards:
        for start in range(0, len(shard.tokens), _IDS_AT_ONCE):
            piece = shard.tokens[start : start + _IDS_AT_ONCE].astype(np.int32)
            ids[end : end + len(piece)] = torch.from_numpy(piece)
            end += len(piece)
    return ids


def subsampled(ids: Tensor, keep: Tensor, generator: torch.Generator) -> Tensor:
    """The ids without a random part of the frequent ones; windows reach over those left out."""

    def kept(piece: Tensor) -> Tensor:
        return piece[torch.rand(piece.shape, generator=generator, device=ids.device) < keep[piece]]

    return torch.cat([kept(piece) for piece in torch.split(ids, _IDS_AT_ONCE)])


class SkipGramPairs(NamedTuple):
    """Centres and the words around them."""

    centres: Tensor
    """(C,)."""
    contexts: Tensor
    """(C, 2W): the W words before, nearest first, and those after."""
    valid: Tensor
    """(C, 2W): which of them belong to the centre."""


def draw_pairs(ids: Tensor, centres: int, window: int, generator: torch.Generator) -> SkipGramPairs:
    """Random places of `ids`, each with a window of its own of 1 to `window` words to either side.

    A window ends before a special token, such as the boundary at either end of `ids`, and there is
    none around one.
    """
    device = ids.device
    places = torch.randint(len(ids), (centres, 1), generator=generator, device=device)
    reach = torch.randint(1, window + 1, (centres, 1), generator=generator, device=device)
    distances = torch.arange(1, window + 1, device=device)
    sides = [
        ids[(places - distances).clamp_min(0)].long(),
        ids[(places + distances).clamp_max(len(ids) - 1)].long(),
    ]
    words = ids[places].long()
    inside = [(side >= _FIRST_WORD).cumprod(1).bool() & (distances <= reach) for side in sides]
    return SkipGramPairs(
        words[:, 0], torch.cat(sides, 1), torch.cat(inside, 1) & (words >= _FIRST_WORD)
    )


class _Table:
    """Rows that learn by Adagrad with one step size a row; only rows of a batch are touched."""

    def __init__(self, values: Tensor) -> None:
        self.values = values
        self._squares = values.new_zeros(len(values))
        self._place = torch.zeros(len(values), dtype=torch.int64, device=values.device)

    def update(self, rows: Tensor, gradients: Tensor, rate: float) -> None:
        """One step along gradients (R, D) of `rows`; those of the same row are added up first."""
        # One place in the batch stands for a row. Which one does not matter, all others get zero:
        # this needs no sorting, and no word from the device on how many rows are distinct.
        self._place[rows] = torch.arange(len(rows), device=rows.device)
        sums = torch.zeros_like(gradients).index_add_(0, self._place[rows], gradients)
        self._squares.index_add_(0, rows, sums.square().sum(1))
        sizes = rate / (self._squares[rows].sqrt() + 1e-10)
        self.values.index_add_(0, rows, sums * sizes[:, None], alpha=-1)


class SkipGram:
    """Input rows for words and n-grams, and an output row for each word as a context."""

    def __init__(self, parts: SubwordRows, dimension: int, generator: torch.Generator) -> None:
        self._parts = parts
        device = generator.device
        inputs = torch.empty((parts.row_count, dimension), device=device)
        self.inputs = _Table(inputs.uniform_(-1 / dimension, 1 / dimension, generator=generator))
        self.outputs = _Table(torch.zeros((len(parts.offsets) - 1, dimension), device=device))

    @torch.no_grad()
    def step(self, pairs: SkipGramPairs, negatives: Tensor, negative: int, rate: float) -> Tensor:
        """Learn from the pairs and their random words (G, K); the loss before, a pair."""
        parts = self._parts.of_words(pairs.centres)
        outputs = torch.cat([pairs.contexts.flatten(), negatives.flatten()])
        vectors = parts.means(self.inputs.values).requires_grad_()
        output_rows = self.outputs.values[outputs].requires_grad_()
        with torch.enable_grad():
            loss = skipgram_loss(vectors, output_rows, pairs, negatives, negative)
        of_vectors, of_outputs = torch.autograd.grad(loss, (vectors, output_rows))
        self.inputs.update(parts.rows, parts.spread(of_vectors), rate)
        self.outputs.update(outputs, of_outputs, rate)
        return loss.detach() / pairs.valid.sum().clamp_min(1)

    @torch.no_grad()
    def word_vectors(self) -> NDArray[np.float32]:
        """A row for each id."""
        return self._parts.means(self.inputs.values).cpu().numpy()


def skipgram_loss(
    vectors: Tensor, outputs: Tensor, pairs: SkipGramPairs, negatives: Tensor, negative: int
) -> Tensor:
    """Negative sampling (Mikolov et al., 2013, equation 4), summed over pairs.

    `outputs` has the rows of the contexts (C · 2W, D), then of the random words (G · K, D). Each
    random word counts for every pair of its group, but for those whose context it is, and so much
    that a pair is compared with `negative` of them in all.
    """
    contexts = outputs[: pairs.contexts.numel()].view(*pairs.contexts.shape, -1)
    others = outputs[pairs.contexts.numel() :].view(*negatives.shape, -1)
    observed = (contexts @ vectors[:, :, None]).squeeze(2)
    random = (vectors.view(len(negatives), -1, vectors.shape[1]) @ others.mT).flatten(0, 1)
    drawn = negatives.repeat_interleave(len(pairs.centres) // len(negatives), 0)
    is_other = pairs.valid[:, :, None] & (pairs.contexts[:, :, None] != drawn[:, None, :])
    weights = is_other.sum(1) * (negative / negatives.shape[1])
    told_apart = functional.logsigmoid(-random) * weights
    return -(functional.logsigmoid(observed) * pairs.valid).sum() - told_apart.sum()
