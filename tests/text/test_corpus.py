import json
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import InputError
from pair2vec.runtime.checksums import file_checksum, with_checksums
from pair2vec.text.corpus import CorpusWriter, open_corpus, with_vocabulary
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


@given(SENTENCES, st.lists(st.sampled_from([*WORDS, "new"]), unique=True), st.integers(2, 9))
def test_with_another_vocabulary_a_corpus_is_as_if_prepared_with_it(
    sentences: list[list[str]], words: list[str], shard_ids: int
) -> None:
    with TemporaryDirectory() as folder:
        write(Path(folder), sentences, shard_ids)
        other = with_vocabulary(
            open_corpus(folder), Vocabulary([WordCount(word, 3) for word in words])
        )
    kept = [[word for word in sentence if word in words] for sentence in sentences]
    assert list(other.words()) == [sentence for sentence in kept if sentence]
    assert other.vocabulary.words[4:] == tuple(words)
    assert other.manifest.tokens == sum(map(len, kept))
    assert other.manifest.sentences == sum(map(bool, kept))
    for shard in other.shards:
        # Before the first sentence and behind the last, as on the disk.
        assert shard.tokens[0] == shard.tokens[-1] == BOUNDARY


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
        ({"checksums": None, "shards": None}, "not a corpus manifest"),
        ({"documents": 2}, "is damaged, or was edited by hand; copy the corpus"),
        ({"checksums": None, "shards": [{"ids": 10**15, "sentences": 1}]}, "does not fit"),
        ({"checksums": None, "shards": [{"ids": "3"}]}, "does not fit"),
        ({"checksums": None, "shards": []}, "does not fit"),
        ({"checksums": None, "dtype": "<i2"}, "does not fit"),
        ({"checksums": None, "dtype": "O"}, "does not fit"),
        ({"checksums": None, "tokens": 0}, "does not fit"),
        ({"checksums": None, "words": 10**9}, "has 4 words where the manifest says 1,000,000,000"),
        ({"checksums": None, "fingerprint": "0" * 64}, "its fingerprint is another one"),
        ({"checksums": {"../secret": "00"}}, "is damaged, or was edited by hand"),
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


def test_a_deeply_nested_manifest_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [["a"]])
    (tmp_path / "manifest.json").write_text("[" * 200_000)
    with pytest.raises(InputError, match="not a corpus manifest"):
        open_corpus(tmp_path)


# Damage: files of the right size that are not those that were written.


def as_older_version(folder: Path) -> None:
    """The corpus as a version without checksums wrote it."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    del manifest["checksums"]
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("name", ["tokens.bin", "tokens-1.bin", "sentences.bin", "vocabulary.tsv"])
def test_a_flipped_bit_in_any_file_is_refused(tmp_path: Path, name: str, is_older: bool) -> None:
    write(tmp_path, [["a", "b"], ["c", "d"]], shard_ids=4)
    if is_older:
        as_older_version(tmp_path)
    open_corpus(tmp_path)
    path = tmp_path / name
    content = bytearray(path.read_bytes())
    content[-2 if name == "vocabulary.tsv" else 2] ^= 1
    path.write_bytes(content)
    message = "its fingerprint is another one" if is_older else f"{name}: is damaged: its checksum"
    with pytest.raises(InputError, match=message):
        open_corpus(tmp_path)


def reseal(folder: Path) -> None:
    """Checksums of all files as they are: what a stranger may have written."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    names = [name for name in manifest["checksums"] if name != path.name]
    checksums = {name: file_checksum(folder / name) for name in names}
    path.write_text(json.dumps(with_checksums(path.name, manifest, checksums)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "tokens.bin",
            np.array([3, 4, 8, 3], "<u2").tobytes(),
            "the id 8 where",
        ),
        ("sentences.bin", np.array([1, 9], "<u8").tobytes(), "has offsets of no sentences"),
        ("sentences.bin", np.array([0, 4], "<u8").tobytes(), "has offsets of no sentences"),
        (
            "vocabulary.tsv",
            b"<pad>\t0\n<x>\t0\n<y>\t0\n<s>\t0\na\t1\n",
            "has 1 words where",
        ),
        ("vocabulary.tsv", b"a\t1\n", "does not begin with <pad>"),
        ("vocabulary.tsv", b"\xff\t1\n", "is not UTF-8"),
        ("vocabulary.tsv", "<pad>\t²\n".encode(), "line 1: expected a word, a tab and a count"),
        (
            "vocabulary.tsv",
            b"<pad>\t" + b"9" * 30 + b"\n",
            "line 1: expected a word",
        ),
        (
            "vocabulary.tsv",
            b"<pad>\t0\n<x>\t0\n<y>\t0\n<s>\t0\na\t1\na\t1\nc\t1\nd\t1\n",
            "has a word twice, or is cut short",
        ),
    ],
)
def test_content_that_does_not_fit_is_refused_whatever_its_checksum(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    write(tmp_path, [["a", "b"]])
    (tmp_path / name).write_bytes(content)
    reseal(tmp_path)
    with pytest.raises(InputError, match=message):
        open_corpus(tmp_path)


def test_a_vocabulary_that_is_gone_is_named(tmp_path: Path) -> None:
    write(tmp_path, [["a", "b"]])
    (tmp_path / "vocabulary.tsv").unlink()
    with pytest.raises(InputError, match=r"vocabulary\.tsv: no such file; copy the corpus"):
        open_corpus(tmp_path)
