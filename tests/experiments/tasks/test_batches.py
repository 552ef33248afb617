"""Bucketing by length, the order of an epoch, and encoded sentences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.experiments.tasks.batches import (
    EncodedSentences,
    batches_by_size,
    bucketed_length,
    bucketed_lengths,
    epoch_batches,
    exact_length,
    length_buckets,
)

SIZES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60).map(
    lambda rows: np.array(rows, np.int64).reshape(-1, 2)
)
SENTENCES = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=8)


@given(st.integers(0, 100_000))
def test_a_bucket_has_room_for_its_texts_and_little_more(length: int) -> None:
    padded = bucketed_length(length)
    assert length <= padded < length + max(4, length / 4)
    assert bucketed_length(padded) == padded
    assert exact_length(length) == length


def test_buckets_are_few() -> None:
    lengths = np.unique(bucketed_lengths(np.arange(1, 401)))
    assert lengths.tolist() == [
        *(4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128),
        *(160, 192, 224, 256, 320, 384, 448),
    ]


@given(SIZES, st.integers(1, 7), st.integers(0, 3), st.integers(1, 4))
def test_every_example_comes_once_an_epoch_in_batches_of_the_given_size(
    sizes: np.ndarray, batch: int, epoch: int, pool: int
) -> None:
    batches = epoch_batches(sizes, batch, seed=1, epoch=epoch, pool=pool)
    assert sorted(np.concatenate([np.zeros(0, np.int64), *batches])) == list(range(len(sizes)))
    assert all(1 <= len(indices) <= batch for indices in batches)
    if len(sizes):
        by_size = batches_by_size(sizes, batch)
        assert sorted(np.concatenate(by_size)) == list(range(len(sizes)))


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    sizes = np.random.default_rng(0).integers(1, 30, (500, 2))

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in epoch_batches(sizes, 16, seed=seed, epoch=epoch)]

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


def test_a_batch_has_examples_of_similar_length_but_batches_come_in_any_order() -> None:
    sizes = np.random.default_rng(0).integers(1, 40, (6400, 2))
    batches = epoch_batches(sizes, 32, seed=0, epoch=0, pool=100)
    # Unsorted, a batch is padded to nearly twice its words; the second measure is sorted among
    # equals of the first.
    for measure, most in ((0, 1.1), (1, 1.6)):
        padded = sum(sizes[indices, measure].max() * len(indices) for indices in batches)
        assert padded < most * sizes[:, measure].sum()
    means = np.array([sizes[indices, 0].mean() for indices in batches])
    assert 0.3 < (np.diff(means) > 0).mean() < 0.7


def test_batches_hold_other_examples_in_every_epoch() -> None:
    sizes = np.ones((320, 1), np.int64)
    first, second = (epoch_batches(sizes, 32, seed=0, epoch=epoch) for epoch in range(2))
    together = {frozenset(indices.tolist()) for indices in first}
    assert not together & {frozenset(indices.tolist()) for indices in second}


@given(SENTENCES, st.data())
def test_a_block_has_the_words_of_its_sentences(
    sentences: list[list[str]], data: st.DataObject
) -> None:
    encoded = EncodedSentences(sentences)
    assert encoded.words == list(dict.fromkeys(word for s in sentences for word in s))
    assert encoded.lengths.tolist() == [*map(len, sentences)]
    rows = data.draw(st.lists(st.integers(0, len(sentences) - 1), min_size=1, max_size=5))
    first = [data.draw(st.integers(0, len(sentences[row]))) for row in rows]
    words, is_word = encoded.block(np.array(rows), np.array(first))
    expected = [sentences[row][begin:] for row, begin in zip(rows, first, strict=True)]
    assert encoded.text(words, is_word) == expected
    assert words.shape[1] == max(map(len, expected))
    assert not words[~is_word].any()


def test_a_block_can_end_before_its_sentences_do() -> None:
    encoded = EncodedSentences(["abcde", "fg"])
    words, is_word = encoded.block(np.array([0, 1, 0]), np.array([1, 0, 3]), np.array([3, 1, 2]))
    assert ["".join(row) for row in encoded.text(words, is_word)] == ["bcd", "f", "de"]


def test_sorting_by_buckets_leaves_less_padding_than_by_lengths() -> None:
    random = np.random.default_rng(0)
    sizes = np.stack([random.integers(30, 400, 5000), random.integers(4, 30, 5000)], axis=1)

    def pairs(batches: list[np.ndarray]) -> int:
        """Padded pairs of words."""
        return sum(len(o) * sizes[o, 0].max() * sizes[o, 1].max() for o in batches)

    by_bucket = pairs(batches_by_size(length_buckets(sizes), 32))
    assert by_bucket < 0.75 * pairs(batches_by_size(sizes, 32))
    assert by_bucket < 1.25 * (sizes[:, 0] * sizes[:, 1]).sum()
