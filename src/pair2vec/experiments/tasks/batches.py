"""Batches of texts: bucketing by length, the order of an epoch, encoding, padding and collation.

On a GPU padded lengths are bucketed: batches then have few shapes, each of which is captured as one
CUDA graph.

Shapes: E examples, k measures of how long one is, S sentences, B batch, n padded length, W distinct
words.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import chain, count
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pair2vec.arrays import Int64Array
from pair2vec.experiments.embedders.embedder import Embedder, EmbedderInputs
from pair2vec.injection.sources import RelationSource
from pair2vec.runtime.cuda_graphs import BatchT, tree_to
from pair2vec.runtime.devices import autocast
from pair2vec.runtime.prefetch import prefetch

BatchT_co = TypeVar("BatchT_co", covariant=True)

_PREFETCHED = 4
"""Batches prepared while a GPU scores others."""

PadLength = Callable[[int], int]
"""From the length of the longest text of a batch to the padded length."""

_SMALLEST_BUCKET = 4
"""The smallest difference between the lengths of two buckets."""


def exact_length(longest: int) -> int:
    """The longest text sets the padded length."""
    return longest


def bucketed_length(longest: int) -> int:
    """The longest text's bucket sets the padded length."""
    return int(bucketed_lengths(np.array(longest)))


def bucketed_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest length in the bucket of each length.

    They are 4, 8, …, 32, 40, …, 64, 80, …, 128, 160, and so on: from 17 words on, a text fills at
    least four fifths of its bucket. Smaller buckets would make too many shapes, and leave too few
    second texts of similar length beside first ones of a bucket.
    """
    bits = np.frexp(np.maximum(lengths - 1, 0))[1]
    steps = np.maximum(_SMALLEST_BUCKET, 1 << np.maximum(bits - 3, 0)).astype(np.int64)
    bucketed: NDArray[np.int64] = -(-lengths // steps) * steps
    return bucketed


def epoch_batches(
    sizes: Int64Array, batch: int, *, seed: int, epoch: int, pool: int = 1000
) -> list[Int64Array]:
    """The indices of the examples of each batch: every example once.

    Examples are shuffled, sorted by size within `pool` batches of them, and cut; then batches are
    shuffled. So a batch holds examples of similar size, but others in each epoch. The order is a
    function of the seed and the epoch alone: a run can resume in the middle of it.

    Args:
        sizes: (E, k): the first measure, such as the length of the premise, is the first key.
        batch: Examples in a batch; the last may have fewer.
        seed: Of the run.
        epoch: Counted from 0.
        pool: Batches sorted together.
    """
    random = np.random.default_rng([seed, epoch])
    shuffled = random.permutation(len(sizes))
    batches: list[Int64Array] = []
    for start in range(0, len(shuffled), pool * batch):
        indices = shuffled[start : start + pool * batch]
        # Stable, so that examples of one size stay shuffled; the last key is the primary one.
        ordered = indices[np.lexsort(sizes[indices].T[::-1])]
        batches += np.split(ordered, range(batch, len(ordered), batch))
    return [batches[index] for index in random.permutation(len(batches))]


def batches_by_size(sizes: Int64Array, batch: int) -> list[Int64Array]:
    """All examples once, sorted by size, which needs the least padding."""
    ordered = np.lexsort(sizes.T[::-1])
    return np.split(ordered, range(batch, len(ordered), batch)) if len(ordered) else []


def length_buckets(sizes: Int64Array) -> Int64Array:
    """Sizes (E, 2) of two texts: the first by its bucket, the second by its length.

    Sorted by exact lengths, few batches would have first texts of one length, and then with second
    texts of all lengths: of the word pairs in a batch, two in three would be padding.
    """
    return np.stack([bucketed_lengths(sizes[:, 0]), sizes[:, 1]], axis=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextBatch:
    """One side of a batch as tensors: its premises, hypotheses, passages or questions."""

    inputs: EmbedderInputs
    ids: Tensor
    """(B, n), in the relation source's vocabulary."""
    is_word: Tensor
    """(B, n)"""


class EncodedSentences:
    """The words of all sentences as ids in one array, encoded once for any number of networks."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        """Encode words by the order of their first occurrence."""
        id_of: defaultdict[str, int] = defaultdict(count().__next__)
        self.lengths: Int64Array = np.fromiter(map(len, sentences), np.int64, len(sentences))
        """(S,)"""
        ids = map(id_of.__getitem__, chain.from_iterable(sentences))
        self._ids = np.fromiter(ids, np.int32, int(self.lengths.sum()))
        self._starts: Int64Array = np.cumsum(self.lengths) - self.lengths
        self.words = list(id_of)
        """(W,): the word of each id."""

    def block(
        self,
        rows: Int64Array,
        first: Int64Array | int = 0,
        lengths: Int64Array | None = None,
        pad_length: PadLength = exact_length,
    ) -> tuple[Int64Array, NDArray[np.bool_]]:
        """The word ids of some sentences, padded, and the mask of words: (B, n) each.

        Args:
            rows: (B,), the indices of the sentences.
            first: (B,), the first word of each to take.
            lengths: (B,), how many words of each; all by default.
            pad_length: From the largest length to n.
        """
        lengths = self.lengths[rows] - first if lengths is None else lengths
        positions = np.arange(pad_length(int(lengths.max(initial=0))))
        is_word: NDArray[np.bool_] = positions < lengths[:, None]
        words = np.zeros(is_word.shape, np.int64)
        words[is_word] = self._ids[((self._starts[rows] + first)[:, None] + positions)[is_word]]
        return words, is_word

    def text(self, words: Int64Array, is_word: NDArray[np.bool_]) -> list[list[str]]:
        """The words of a `block`."""
        return [
            [self.words[word] for word in row[:length]]
            for row, length in zip(words.tolist(), is_word.sum(axis=1).tolist(), strict=True)
        ]


class TextCollator:
    """Collates encoded sentences into the tensors of one network.

    Every distinct word is looked up once, in the relation source's vocabulary: a batch is then made
    of integers alone. Works on the CPU, and may be called by another thread.
    """

    def __init__(
        self,
        sentences: EncodedSentences,
        embedder: Embedder,
        relations: RelationSource,
        pad_length: PadLength = exact_length,
    ) -> None:
        self.sentences, self.pad_length, self._embedder = sentences, pad_length, embedder
        ids = relations.ids([[word] for word in sentences.words])
        self._ids: Int64Array = ids.cpu().numpy().reshape(-1)

    def block(
        self, rows: Int64Array, first: Int64Array | int = 0, lengths: Int64Array | None = None
    ) -> tuple[Int64Array, NDArray[np.bool_]]:
        """`EncodedSentences.block`, padded for this network."""
        return self.sentences.block(rows, first, lengths, self.pad_length)

    def collate(self, words: Int64Array, is_word: NDArray[np.bool_]) -> TextBatch:
        """The tensors of a block (B, n)."""
        ids = np.where(is_word, self._ids[words] if len(self._ids) else 0, 0)
        texts = self.sentences.text(words, is_word)
        return TextBatch(
            inputs=self._embedder.prepare(texts, words.shape[1]),
            ids=torch.from_numpy(ids),
            is_word=torch.from_numpy(is_word),
        )


def precompute_texts(batch: BatchT, embedder: Embedder) -> BatchT:
    """A batch whose `TextBatch` fields have the frozen part of the embedder's work done."""
    parts = {field.name: getattr(batch, field.name) for field in fields(cast(Any, batch))}
    computed = {
        name: replace(part, inputs=embedder.precompute(part.inputs))
        for name, part in parts.items()
        if isinstance(part, TextBatch)
    }
    return cast(BatchT, replace(cast(Any, batch), **computed))


class BatchedExamples(Protocol[BatchT_co]):
    """Examples that are read in batches."""

    @property
    def sizes(self) -> Int64Array:
        """How long each example is, (E, k)."""

    def batch(self, indices: Int64Array) -> BatchT_co:
        """The examples of these indices, on the CPU; may be called by another thread."""


@contextmanager
def evaluating(
    network: nn.Module, examples: BatchedExamples[BatchT], device: torch.device, batch: int
) -> Iterator[Iterator[tuple[BatchT, Int64Array]]]:
    """All examples once, in batches on `device` with their indices, to be scored by a network.

    The network is in eval mode meanwhile, without gradients and under autocast. On a GPU batches
    are prefetched.
    """
    order = batches_by_size(examples.sizes, batch)
    batches = ((tree_to(examples.batch(indices), device), indices) for indices in order)
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad(), autocast(device):
            yield prefetch(batches, _PREFETCHED) if device.type == "cuda" else batches
    finally:
        network.train(was_training)
