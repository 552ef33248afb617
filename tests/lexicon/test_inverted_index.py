"""The index has every position of every word that is not very frequent, and is built once."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lexicon.small_corpus import make_corpus

from pair2vec.lexicon import inverted_index
from pair2vec.lexicon.inverted_index import INDEX_FILE, INDEX_FOLDER, open_index

TEXTS = st.lists(
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=12).map(" ".join), min_size=1
).map("\n".join)


@settings(max_examples=30)
@given(TEXTS, st.integers(5, 60), st.integers(1, 9), st.sampled_from([0.05, 0.2, 1.0]))
def test_each_indexed_word_has_its_positions_in_order(
    text: str, shard_ids: int, block: int, share: float
) -> None:
    with (
        TemporaryDirectory() as folder,
        patch.object(inverted_index, "_BLOCK", block),
        patch.object(inverted_index, "MAX_INDEXED_SHARE", share),
        patch.object(inverted_index, "ALWAYS_INDEXED", 1),
    ):
        corpus = make_corpus(Path(folder), text, shard_ids)
        index = open_index(corpus)
        for shard, index_of_shard in zip(corpus.shards, index.shards, strict=True):
            for word in range(len(corpus.vocabulary)):
                expected = (shard.tokens == word) & index.is_indexed[word]
                np.testing.assert_array_equal(
                    index_of_shard.postings(word), np.flatnonzero(expected)
                )


def test_words_that_are_most_of_the_text_and_special_tokens_are_left_out(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "the cat\nthe dog\n" * 1000 + "a rare bird\n")
    assert open_index(corpus).is_indexed[4:].all()
    with patch.object(inverted_index, "ALWAYS_INDEXED", 10):
        index = open_index(corpus)
    indexed = {w for w, yes in zip(corpus.vocabulary.words, index.is_indexed, strict=True) if yes}
    assert indexed == {"a", "rare", "bird"}


def test_the_index_is_built_once_and_again_for_another_corpus(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "hot and cold\n")
    reported: list[tuple[int, int]] = []
    open_index(corpus, lambda done, total: reported.append((done, total)))
    assert reported == [(5, 5)]
    open_index(corpus, lambda *_: pytest.fail("built again"))
    (corpus.folder / INDEX_FOLDER / INDEX_FILE).write_text('{"format": 1, "corpus": "another"}')
    open_index(corpus, lambda done, total: reported.append((done, total)))
    assert len(reported) == 2


@pytest.mark.parametrize("name", ["positions-0.bin", "starts-0.bin", "index.json"])
def test_a_damaged_index_is_built_again(tmp_path: Path, name: str) -> None:
    corpus = make_corpus(tmp_path, "hot and cold\n")
    expected = [shard.positions.tolist() for shard in open_index(corpus).shards]
    path = corpus.folder / INDEX_FOLDER / name
    content = bytearray(path.read_bytes())
    content[-8] ^= 1
    built: list[tuple[int, int]] = []
    for times, damaged in enumerate((bytes(content), content[:-1], None)):
        path.unlink() if damaged is None else path.write_bytes(damaged)
        index = open_index(corpus, lambda *done: built.append(done))
        assert len(built) == times + 1, "not built again"
        assert [shard.positions.tolist() for shard in index.shards] == expected


def test_an_index_of_a_version_without_checksums_is_opened(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "hot and cold\n")
    open_index(corpus)
    path = corpus.folder / INDEX_FOLDER / INDEX_FILE
    identity = json.loads(path.read_bytes())
    del identity["checksums"]
    path.write_text(json.dumps(identity))
    open_index(corpus, lambda *_: pytest.fail("built again"))


def test_what_a_killed_process_left_is_not_taken_for_an_index(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, "hot and cold\n")
    with (
        patch.object(inverted_index, "_scatter", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        open_index(corpus)
    assert [path.name for path in corpus.folder.iterdir() if INDEX_FOLDER in path.name] == []
    (corpus.folder / INDEX_FOLDER).mkdir()
    (corpus.folder / INDEX_FOLDER / "positions-0.bin").write_bytes(b"1234")
    partial = corpus.folder / f"{INDEX_FOLDER}.partial"
    partial.mkdir()
    (partial / "positions-0.bin").write_bytes(b"1234")
    word = corpus.vocabulary.ids["hot"]
    assert open_index(corpus).shards[0].postings(word).tolist() == [1]
    assert not partial.exists()


def test_an_index_that_another_process_built_meanwhile_is_opened_not_built_again(
    tmp_path: Path,
) -> None:
    corpus = make_corpus(tmp_path, "hot and cold\n")
    open_index(corpus)
    # Missing at first sight, there once the lock is held.
    with (
        patch.object(inverted_index, "_belongs_to", side_effect=[False, True]),
        patch.object(inverted_index, "_build") as build,
    ):
        open_index(corpus)
    build.assert_not_called()
