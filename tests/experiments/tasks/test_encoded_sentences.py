"""Sentences with their words as numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.experiments.tasks.batches import EncodedSentences, batches_by_size, length_buckets

SENTENCES = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=8)


@given(SENTENCES, st.data())
def test_a_block_has_the_words_of_its_sentences(
    sentences: list[list[str]], data: st.DataObject
) -> None:
    numbered = EncodedSentences(sentences)
    assert numbered.words == list(dict.fromkeys(word for s in sentences for word in s))
    assert numbered.lengths.tolist() == [*map(len, sentences)]
    rows = data.draw(st.lists(st.integers(0, len(sentences) - 1), min_size=1, max_size=5))
    first = [data.draw(st.integers(0, len(sentences[row]))) for row in rows]
    words, is_word = numbered.block(np.array(rows), np.array(first))
    expected = [sentences[row][begin:] for row, begin in zip(rows, first, strict=True)]
    assert numbered.text(words, is_word) == expected
    assert words.shape[1] == max(map(len, expected))
    assert not words[~is_word].any()


def test_a_block_can_end_before_its_sentences_do() -> None:
    numbered = EncodedSentences(["abcde", "fg"])
    words, is_word = numbered.block(np.array([0, 1, 0]), np.array([1, 0, 3]), np.array([3, 1, 2]))
    assert ["".join(row) for row in numbered.text(words, is_word)] == ["bcd", "f", "de"]


def test_batches_by_classes_of_length_have_few_lengths_of_the_second_text() -> None:
    random = np.random.default_rng(0)
    sizes = np.stack([random.integers(30, 400, 5000), random.integers(4, 30, 5000)], axis=1)

    def pairs(orders: list[np.ndarray]) -> int:
        """Padded pairs of words."""
        return sum(len(o) * sizes[o, 0].max() * sizes[o, 1].max() for o in orders)

    by_class = pairs(batches_by_size(length_buckets(sizes), 32))
    assert by_class < 0.75 * pairs(batches_by_size(sizes, 32))
    assert by_class < 1.25 * (sizes[:, 0] * sizes[:, 1]).sum()
