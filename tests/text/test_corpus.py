import json
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import InputError
from pair2vec.text.corpus import CorpusWriter, open_corpus
from pair2vec.text.vocabulary import BOUNDARY, Vocabulary, WordCount

WORDS = ["a", "b", "c", "d"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1)


def write(
    folder: Path, sentences: list[list[str]], shard_ids: int = 2**31, extra_words: int = 0
) -> None:
    vocabulary = Vocabulary(
        [WordCount(word, 1) for word in [*WORDS, *(f"w{n}" for n in range(extra_words))]]
    )
    with closing(CorpusWriter(folder, vocabulary, shard_ids)) as writer:
        for sentence in sentences:
            ids = [*(vocabulary.ids[word] for word in sentence), BOUNDARY]
            writer.append(np.array(ids, np.uint32))
        writer.finish(
            version="0",
            documents=1,
            text_tokens=writer.tokens,
            invalid_bytes=0,
            words=len(vocabulary) - 4,
            dropped=[],
            settings={},
            sources=[],
        )


@given(SENTENCES, st.integers(2, 40))
def test_a_corpus_gives_back_its_sentences_over_any_number_of_shards(
    sentences: list[list[str]], shard_ids: int
) -> None:
    with TemporaryDirectory() as name:
        write(Path(name), sentences, shard_ids)
        corpus = open_corpus(name)
        assert list(corpus.words()) == sentences
        assert corpus.manifest.sentences == len(sentences)
        assert corpus.manifest.tokens == sum(map(len, sentences))
        longest = max(map(len, sentences)) + 2
        for shard in corpus.shards:
            assert len(shard.tokens) <= max(shard_ids, longest)
            # Every sentence stands between two boundaries.
            assert (shard.tokens[shard.sentences - 1] == BOUNDARY).all()
            assert (shard.tokens == BOUNDARY).sum() == len(shard.sentences)


@pytest.mark.parametrize(("extra", "dtype"), [(65_528, "<u2"), (65_529, "<u4")])
def test_ids_take_two_bytes_while_they_fit(tmp_path: Path, extra: int, dtype: str) -> None:
    write(tmp_path, [["a", "b"]], extra_words=extra)
    corpus = open_corpus(tmp_path)
    assert corpus.tokens.dtype == np.dtype(dtype)
    assert corpus.tokens.tolist() == [3, 4, 5, 3]
    assert corpus.sentences.tolist() == [1, 4]


def test_different_corpora_have_different_fingerprints(tmp_path: Path) -> None:
    prints = []
    for number, sentences in enumerate([[["a", "b"]], [["a", "b"]], [["b", "a"]], [["a"], ["b"]]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder, sentences)
        prints.append(open_corpus(folder).manifest.fingerprint)
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_a_folder_without_manifest_is_no_corpus(tmp_path: Path) -> None:
    write(tmp_path, [["a"]])
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(InputError, match="not a complete corpus"):
        open_corpus(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        open_corpus(tmp_path / "nothing")


def test_a_corpus_that_does_not_match_its_manifest_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [["a", "b"]])
    tokens = tmp_path / "tokens.bin"
    tokens.write_bytes(tokens.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"tokens\.bin: has 7 bytes where the manifest says 8"):
        open_corpus(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "newer than this version reads"),
        ({"shards": None}, "not a corpus manifest"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    write(tmp_path, [["a"]])
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest.update(change)
    path.write_text(
        json.dumps({key: value for key, value in manifest.items() if value is not None})
    )
    with pytest.raises(InputError, match=message):
        open_corpus(tmp_path)
