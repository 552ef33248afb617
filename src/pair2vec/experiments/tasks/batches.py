"""Widths: how many places the texts of a batch are given.

As many as the longest has words, or as many as the longest of its class may have. Classes make the
shapes of batches few, so that a GPU can be told once for each what to do.
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
"""Batches that are made before they are needed, on a GPU."""

PadLength = Callable[[int], int]
"""From the words of the longest text to its places."""

_NARROWEST = 4
"""Between two classes."""


def exact_length(longest: int) -> int:
    """No place more than there are words."""
    return longest


def bucketed_length(longest: int) -> int:
    """As many places as the widest of its class needs."""
    return int(bucketed_lengths(np.array(longest)))


def bucketed_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most words of the class of each length.

    They are 4, 8, …, 32, 40, …, 64, 80, …, 128, 160, and so on: from 17 words on, a text fills at
    least four fifths of its class. Smaller steps would make too many shapes, and leave too few
    second texts of about a length beside first ones of a class.
    """
    bits = np.frexp(np.maximum(lengths - 1, 0))[1]
    steps = np.maximum(_NARROWEST, 1 << np.maximum(bits - 3, 0)).astype(np.int64)
    widths: NDArray[np.int64] = -(-lengths // steps) * steps
    return widths


# == The order of an epoch: shuffled batches of examples that are about equally long.
#
# Shapes: E examples, k measures of how long one is.


def epoch_batches(
    sizes: Int64Array, batch: int, *, seed: int, epoch: int, pool: int = 1000
) -> list[Int64Array]:
    """The numbers of the examples of each batch: every example once.

    Examples are shuffled, sorted by size among `pool` batches of them, and cut; then batches are
    shuffled. So batches hold examples of about a size, but others each time. The order is a
    function of the seed and the epoch alone: a run can go on in the middle of it.

    Args:
        sizes: (E, k): the first measure counts most, as does the length of a premise.
        batch: Examples in a batch; the last may have fewer.
        seed: Of the run.
        epoch: Counted from 0.
        pool: Batches sorted together.
    """
    random = np.random.default_rng([seed, epoch])
    shuffled = random.permutation(len(sizes))
    batches: list[Int64Array] = []
    for start in range(0, len(shuffled), pool * batch):
        numbers = shuffled[start : start + pool * batch]
        # Stable, so that examples of one size stay shuffled; the last key counts most.
        ordered = numbers[np.lexsort(sizes[numbers].T[::-1])]
        batches += np.split(ordered, range(batch, len(ordered), batch))
    return [batches[place] for place in random.permutation(len(batches))]


def batches_by_size(sizes: Int64Array, batch: int) -> list[Int64Array]:
    """All examples once, sorted by size: the way to go through them that takes least time."""
    ordered = np.lexsort(sizes.T[::-1])
    return np.split(ordered, range(batch, len(ordered), batch)) if len(ordered) else []


def length_buckets(sizes: Int64Array) -> Int64Array:
    """Sizes (E, 2) of two texts: the first by the width of its class, the second by length.

    By length alone, hardly a batch of one length of the first text would be left, and all lengths
    of second ones were in it: of the pairs of words in a batch, two in three would be padding.
    """
    return np.stack([bucketed_lengths(sizes[:, 0]), sizes[:, 1]], axis=1)


# == One of the two texts that every example of a task has, as tensors.
#
# Shapes: B batch, n words of the longest.


@dataclass(frozen=True, kw_only=True, slots=True)
class TextBatch:
    """The premises of a batch, or its hypotheses, passages or questions."""

    inputs: EmbedderInputs
    ids: Tensor
    """(B, n), of the relation source."""
    is_word: Tensor
    """(B, n)"""


# == Sentences with their words as numbers: looked at once, however many networks learn of them.
#
# Shapes: S sentences, B batch, n places for its longest, W distinct words.


class EncodedSentences:
    """All words of some sentences in one array, so that no object is kept for each."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        """Number the words in the order in which they first occur."""
        number_of: defaultdict[str, int] = defaultdict(count().__next__)
        self.lengths: Int64Array = np.fromiter(map(len, sentences), np.int64, len(sentences))
        """(S,)"""
        numbers = map(number_of.__getitem__, chain.from_iterable(sentences))
        self._numbers = np.fromiter(numbers, np.int32, int(self.lengths.sum()))
        self._starts: Int64Array = np.cumsum(self.lengths) - self.lengths
        self.words = list(number_of)
        """(W,), each once; a word's number is its place."""

    def block(
        self,
        rows: Int64Array,
        first: Int64Array | int = 0,
        lengths: Int64Array | None = None,
        widths: PadLength = exact_length,
    ) -> tuple[Int64Array, NDArray[np.bool_]]:
        """The words of some sentences, and which places have one: (B, n) each.

        Args:
            rows: (B,), which sentences.
            first: (B,), the word of each to begin with.
            lengths: (B,), how many words of each; all by default.
            widths: How many places a longest sentence is given.
        """
        lengths = self.lengths[rows] - first if lengths is None else lengths
        places = np.arange(widths(int(lengths.max(initial=0))))
        is_word: NDArray[np.bool_] = places < lengths[:, None]
        words = np.zeros(is_word.shape, np.int64)
        words[is_word] = self._numbers[((self._starts[rows] + first)[:, None] + places)[is_word]]
        return words, is_word

    def text(self, words: Int64Array, is_word: NDArray[np.bool_]) -> list[list[str]]:
        """What `block` took, as words again."""
        return [
            [self.words[number] for number in row[:length]]
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


class BatchSource(Protocol[BatchT_co]):
    """Examples that can be asked for batches of them."""

    @property
    def sizes(self) -> Int64Array:
        """(E, k), how long each example is."""

    def batch(self, indices: Int64Array) -> BatchT_co:
        """These examples, on the CPU."""


@contextmanager
def evaluating(
    network: nn.Module, examples: BatchSource[BatchT], device: torch.device, batch: int
) -> Iterator[Iterator[tuple[BatchT, Int64Array]]]:
    """All examples once, in batches on `device` with their indices, to be scored by a network.

    The network is in eval mode meanwhile, without gradients and under autocast. On a GPU batches
    are prefetched.
    """
    order = batches_by_size(examples.sizes, batch)
    batches = ((tree_to(examples.batch(indices), device), indices) for indices in order)
    was_training = network.training
    network.eval()
    with torch.no_grad(), autocast(device):
        yield prefetch(batches, _PREFETCHED) if device.type == "cuda" else batches
    network.train(was_training)
