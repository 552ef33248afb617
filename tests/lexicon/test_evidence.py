"""Evidence: sentences in which two words co-occur, found and ranked."""

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lexicon.small_corpus import make_corpus

from pair2vec.arrays import FloatArray
from pair2vec.lexicon import evidence
from pair2vec.lexicon.evidence import (
    Contexts,
    PairPosition,
    context_at,
    detokenise,
    evidence_text,
    find_evidence,
    find_positions,
)
from pair2vec.lexicon.inverted_index import InvertedIndex, open_index
from pair2vec.text.vocabulary import BOUNDARY, WordPair, X, Y

TEXTS = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=12).map(" ".join), min_size=1
).map("\n".join)


def index_of_text(folder: Path, text: str, shard_ids: int = 2**31) -> InvertedIndex:
    return open_index(make_corpus(folder, text, shard_ids))


def pair_of(index: InvertedIndex, x: str, y: str) -> WordPair:
    ids = index.corpus.vocabulary.ids
    return WordPair(ids[x], ids[y])


def slow_positions(index: InvertedIndex, pair: WordPair) -> list[PairPosition]:
    """By looking around every position of the rarer word, nearest first, to the right first."""
    counts = index.corpus.vocabulary.counts
    positions = []
    for number, shard in enumerate(index.corpus.shards):
        for sentence in range(len(shard.sentences) - 1):
            start = int(shard.sentences[sentence])
            words = shard.sentence(sentence).tolist()
            for at, word in enumerate(words):
                x_rarer = counts[pair.x] <= counts[pair.y]
                rarer, other = (pair.x, pair.y) if x_rarer else (pair.y, pair.x)
                if word != rarer:
                    continue
                steps = [step for d in range(1, 6) for step in (d, -d)]
                near = [at + s for s in steps if 0 <= at + s < len(words)]
                beside = [near_by for near_by in near if words[near_by] == other]
                if beside:
                    first, second = start + at, start + beside[0]
                    positions.append(
                        PairPosition(number, *((first, second) if x_rarer else (second, first)))
                    )
    return positions


@settings(max_examples=30)
@given(TEXTS, st.integers(5, 60))
def test_positions_are_those_of_a_plain_search(text: str, shard_ids: int) -> None:
    with TemporaryDirectory() as folder:
        index = index_of_text(Path(folder), text, shard_ids)
        known = [word for word in "abcd" if word in index.corpus.vocabulary.ids]
        for x in known:
            for y in known:
                if x != y:
                    pair = pair_of(index, x, y)
                    assert find_positions(index, pair) == slow_positions(index, pair)


def by_length(contexts: Contexts, x_first: bool) -> FloatArray:
    """The longer the better, and x before y by far."""
    return np.array([len(ids) + 100 * x_first for ids in contexts], np.float32)


def test_the_best_sentences_come_first_and_none_twice(tmp_path: Path) -> None:
    text = "hot or cold\nhot or cold\ncold or else hot\nhot , wet and cold\nhot alone\n"
    index = index_of_text(tmp_path, text)
    best = find_evidence(index, pair_of(index, "hot", "cold"), by_length, top=2)
    assert [(sentence.text, sentence.score) for sentence in best] == [
        ("hot, wet and cold", 107.0),
        ("hot or cold", 105.0),
    ]
    assert len(find_evidence(index, pair_of(index, "hot", "cold"), by_length, top=9)) == 3
    assert find_evidence(index, pair_of(index, "alone", "cold"), by_length) == []


def test_a_context_has_slots_for_the_two_words_in_their_order(tmp_path: Path) -> None:
    index = index_of_text(tmp_path, "so cold or hot .\n")
    (position,) = find_positions(index, pair_of(index, "hot", "cold"))
    ids = index.corpus.vocabulary.ids
    assert context_at(index, position) == (ids["so"], X, ids["or"], Y, ids["."])
    (tmp_path / "other").mkdir()
    index = index_of_text(tmp_path / "other", "cold hot\n")
    (position,) = find_positions(index, pair_of(index, "hot", "cold"))
    assert context_at(index, position) == (BOUNDARY, X, Y, BOUNDARY)


def test_a_long_sentence_is_cut_around_the_words(tmp_path: Path) -> None:
    words = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
    index = index_of_text(tmp_path, " ".join([*words[:60], "hot", "cold", *words[60:]]) + "\n")
    (position,) = find_positions(index, pair_of(index, "hot", "cold"))
    text = evidence_text(index, position)
    assert text.startswith("… ")
    assert text.endswith(" …")
    assert " hot cold " in text
    assert len(text.split()) == evidence.MAX_SENTENCE_WORDS + 2


def test_positions_of_a_frequent_word_are_subsampled_evenly(tmp_path: Path) -> None:
    lines = [f"hot cold {chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(90)]
    index = index_of_text(tmp_path, "\n".join(lines) + "\n")
    with patch.object(evidence, "MAX_PAIR_POSITIONS", 10):
        positions = find_positions(index, pair_of(index, "hot", "cold"))
    assert len(positions) == 10
    assert positions[-1].x - positions[0].x > 0.8 * len(index.corpus.tokens)


def test_detokenised_punctuation_has_no_space_before_it(tmp_path: Path) -> None:
    index = index_of_text(tmp_path, "rome ( italy ) , it ' s said , costs $ 5 ; really !\n")
    ids = index.corpus.shards[0].sentence(0).tolist()
    assert "rome (italy), it" in detokenise(ids, index.corpus.vocabulary)
    assert "really!" in detokenise(ids, index.corpus.vocabulary)
