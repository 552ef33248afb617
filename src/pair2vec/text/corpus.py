"""The corpus on disk: a stream of token ids with a boundary token at each sentence's edge.

A folder of

- ``tokens.bin``: little-endian ids, uint16 or uint32, ``<s> w w w <s> w w <s>``. One boundary
  stands between two sentences, so that the words around any position are a plain slice;
- ``sentences.bin``: uint64 offsets into it, of each sentence's first token and, last, of the end:
  sentence n is ``tokens[sentences[n] : sentences[n + 1] - 1]``;
- ``vocabulary.tsv``: word and count, one line per id;
- ``manifest.json``: written last; its presence means that the corpus is complete.

Above `SHARD_TOKENS` ids the two ``.bin`` files continue in ``tokens-1.bin``, ``sentences-1.bin``
and so on, so that a position within a shard fits an int32.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.runtime.checksums import (
    CHECKSUMS,
    check_file,
    check_once,
    is_size,
    read_checksums,
    strict_json,
    with_checksums,
)
from pair2vec.runtime.storage import StoragePath, write_file
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, Vocabulary

CORPUS_FORMAT = 1
SHARD_TOKENS = 2**31
MANIFEST = "manifest.json"
VOCABULARY_TSV = "vocabulary.tsv"
_DTYPES = ("<u2", "<u4")
_BLOCK = 1 << 22
_REPAIR_HINT = "copy the corpus, or prepare it, again"

Ids = NDArray[np.unsignedinteger]


@dataclass(frozen=True, kw_only=True)
class ShardSize:
    ids: int
    """Tokens and boundaries."""
    sentences: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Metadata of a corpus, as in ``manifest.json``."""

    format: int
    version: str
    """Of the package that wrote it."""
    fingerprint: str
    """SHA-256 of vocabulary, tokens and sentences: identifies the corpus by content."""
    documents: int
    sentences: int
    tokens: int
    """In the corpus, without boundaries and out-of-vocabulary words."""
    text_tokens: int
    """In the text, before out-of-vocabulary words were removed."""
    words: int
    """In the vocabulary, without special tokens."""
    invalid_bytes: int
    dtype: str
    shards: list[dict[str, int]]
    dropped: list[list[Any]]
    """The most frequent words without an id, with their counts."""
    settings: dict[str, Any]
    sources: list[dict[str, Any]]
    phrases: int = 0
    """Of the words, how many are phrases; not written where there are none."""
    checksums: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the other files; a corpus of an older version has none."""

    @property
    def out_of_vocabulary_rate(self) -> float:
        """The share of the text's tokens that was removed."""
        return 1 - self.tokens / max(1, self.text_tokens)

    def to_json(self) -> bytes:
        own = asdict(self)
        if not self.phrases:
            del own["phrases"]
        facts = with_checksums(MANIFEST, own, self.checksums)
        return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()


@dataclass(frozen=True)
class Shard:
    """Memory-mapped ids and sentence offsets."""

    tokens: Ids
    sentences: NDArray[np.uint64]

    def sentence(self, number: int) -> Ids:
        """The ids of one sentence, without its boundaries."""
        start, end = self.sentences[number : number + 2].tolist()
        return self.tokens[start : end - 1]


@dataclass(frozen=True)
class Corpus:
    """A complete corpus, open for reading."""

    folder: Path
    manifest: Manifest
    vocabulary: Vocabulary
    shards: tuple[Shard, ...]

    @property
    def tokens(self) -> Ids:
        """The ids of the only shard."""
        return self._only_shard().tokens

    @property
    def sentences(self) -> NDArray[np.uint64]:
        """The sentence offsets of the only shard."""
        return self._only_shard().sentences

    def _only_shard(self) -> Shard:
        if len(self.shards) > 1:
            raise ValueError(f"{self.folder} has {len(self.shards)} shards: go through `.shards`")
        return self.shards[0]

    def words(self) -> Iterator[list[str]]:
        """Each sentence as words; for inspection, not for speed."""
        for shard in self.shards:
            for number in range(len(shard.sentences) - 1):
                yield [self.vocabulary.words[token] for token in shard.sentence(number).tolist()]


def shard_file(content: str, number: int) -> str:
    """The name of a shard's file of ``tokens`` or ``sentences``."""
    return f"{content}-{number}.bin" if number else f"{content}.bin"


def open_corpus(folder: str | os.PathLike[str]) -> Corpus:
    """Open a corpus made by ``pair2vec prepare``.

    Raises:
        InputError: there is none, it is not complete, or a file does not match the manifest.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    path = folder / VOCABULARY_TSV
    if not path.is_file():
        raise InputError(f"{path}: no such file; {_REPAIR_HINT}")
    vocabulary = Vocabulary.from_tsv(path)
    if len(vocabulary) - len(SPECIAL_TOKENS) != manifest.words:
        raise InputError(
            f"{path}: has {len(vocabulary) - len(SPECIAL_TOKENS):,} words where the manifest says "
            f"{manifest.words:,}; {_REPAIR_HINT}"
        )
    shards = tuple(
        Shard(
            _map_file(folder / shard_file("tokens", number), manifest.dtype, size["ids"]),
            _map_file(folder / shard_file("sentences", number), "<u8", size["sentences"] + 1),
        )
        for number, size in enumerate(manifest.shards)
    )
    corpus = Corpus(folder, manifest, vocabulary, shards)
    expected = json.dumps([manifest.fingerprint, manifest.checksums], sort_keys=True)
    files = [folder / name for name in _checked_files(manifest)]
    check_once(files, expected, lambda: _check_content(corpus))
    return corpus


def with_vocabulary(corpus: Corpus, vocabulary: Vocabulary) -> Corpus:
    """The corpus with the ids of another vocabulary, in memory: four bytes a token.

    As ``pair2vec prepare`` does, words that the vocabulary lacks are removed, and sentences of
    nothing else with them. Its counts are those of the corpus, in the order of the vocabulary.
    """
    missing = len(vocabulary)
    ids = [vocabulary.ids.get(word, missing) for word in corpus.vocabulary.words]
    new_ids = np.array(ids, np.uint32)
    counts = np.zeros(len(vocabulary) + 1, np.int64)
    counts[new_ids] = corpus.vocabulary.counts
    shards = tuple(_translated(shard, new_ids, missing) for shard in corpus.shards)
    sentences = sum(len(shard.sentences) - 1 for shard in shards)
    words = zip(vocabulary.words, counts.tolist(), strict=False)
    manifest = replace(
        corpus.manifest,
        sentences=sentences,
        tokens=sum(len(shard.tokens) for shard in shards) - sentences - len(shards),
        words=len(vocabulary) - len(SPECIAL_TOKENS),
        shards=[{"ids": len(s.tokens), "sentences": len(s.sentences) - 1} for s in shards],
    )
    entries = list(words)[len(SPECIAL_TOKENS) :]
    return Corpus(corpus.folder, manifest, Vocabulary(entries), shards)


def _translated(shard: Shard, new_ids: NDArray[np.uint32], missing: int) -> Shard:
    """A shard with other ids, without the words whose new id is `missing`."""
    parts = [new_ids[block] for block in _blocks(shard.tokens)]
    tokens = np.concatenate([part[part != missing] for part in parts])
    is_boundary = tokens == BOUNDARY
    # Behind a boundary, another one is the end of a sentence without words.
    is_boundary[1:] &= is_boundary[:-1]
    is_boundary[0] = False
    tokens = tokens[~is_boundary]
    ends = np.flatnonzero(tokens == BOUNDARY).astype(np.uint64)
    return Shard(tokens, ends + np.uint64(1))


def _checked_files(manifest: Manifest) -> list[str]:
    shards = range(len(manifest.shards))
    return [
        VOCABULARY_TSV,
        *(shard_file("tokens", number) for number in shards),
        *(shard_file("sentences", number) for number in shards),
    ]


def _check_content(corpus: Corpus) -> None:
    """Refuse files that are not those that were written, or have ids of no word."""
    folder, manifest = corpus.folder, corpus.manifest
    for name, checksum in manifest.checksums.items():
        check_file(folder / name, checksum, _REPAIR_HINT)
    # A corpus of an older version has this alone.
    if not manifest.checksums and _fingerprint(corpus) != manifest.fingerprint:
        raise InputError(f"{folder}: is damaged: its fingerprint is another one; {_REPAIR_HINT}")
    for number, shard in enumerate(corpus.shards):
        largest = max(int(block.max()) for block in _blocks(shard.tokens))
        if largest >= len(corpus.vocabulary):
            raise InputError(
                f"{folder / shard_file('tokens', number)}: has the id {largest:,} where the "
                f"vocabulary has {len(corpus.vocabulary):,}; {_REPAIR_HINT}"
            )
        if not _has_sentences(shard):
            raise InputError(
                f"{folder / shard_file('sentences', number)}: has offsets of no sentences; "
                f"{_REPAIR_HINT}"
            )


def _has_sentences(shard: Shard) -> bool:
    """Whether the offsets divide all tokens, each behind a boundary."""
    if shard.sentences[0] != 1 or shard.sentences[-1] != len(shard.tokens):
        return False
    # Each block with the first offset of the next.
    for offsets in _blocks(shard.sentences, overlap=1):
        if not (offsets[:-1] < offsets[1:]).all() or offsets.max() > len(shard.tokens):
            return False
        if not (shard.tokens[offsets - 1] == BOUNDARY).all():
            return False
    return True


def _blocks(array: NDArray[Any], overlap: int = 0) -> Iterator[NDArray[Any]]:
    for start in range(0, len(array), _BLOCK):
        yield array[start : start + _BLOCK + overlap]


def _fingerprint(corpus: Corpus) -> str:
    digests = [hashlib.sha256((corpus.folder / VOCABULARY_TSV).read_bytes())]
    for arrays in zip(*((shard.tokens, shard.sentences) for shard in corpus.shards), strict=True):
        digest = hashlib.sha256()
        for array in arrays:
            for block in _blocks(array):
                digest.update(block.data)
        digests.append(digest)
    return hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()


def read_manifest(folder: StoragePath) -> Manifest:
    """The manifest of a corpus.

    Raises:
        InputError: there is none, or it is damaged.
    """
    path = folder / MANIFEST
    if not folder.exists():
        raise InputError(f"{folder}: no such folder; make a corpus with 'pair2vec prepare'")
    if not path.exists():
        raise InputError(
            f"{folder}: not a complete corpus (no {MANIFEST}); "
            "if 'pair2vec prepare' was stopped, run the same command again"
        )
    try:
        saved = strict_json(path.read_bytes())
        newest = saved["format"]
        if is_size(newest) and newest > CORPUS_FORMAT:
            raise InputError(
                f"{folder}: corpus format {newest} is newer than this version reads "
                f"({CORPUS_FORMAT}); upgrade pair2vec"
            )
        checksums = read_checksums(path, saved, _REPAIR_HINT)
        others = {CHECKSUMS} if "phrases" in saved else {CHECKSUMS, "phrases"}
        names = [field.name for field in fields(Manifest) if field.name not in others]
        if CHECKSUMS not in saved and saved.keys() != set(names):
            raise ValueError("a manifest of an older version has these names and no others")
        manifest = Manifest(**{name: saved[name] for name in names}, checksums=checksums)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a corpus manifest; {_REPAIR_HINT}") from error
    if not _is_consistent(manifest):
        raise InputError(f"{path}: what it says of the corpus does not fit; {_REPAIR_HINT}")
    return manifest


def _is_consistent(manifest: Manifest) -> bool:
    """Whether all is of its type, and the shards have what the whole has."""
    counts = (manifest.documents, manifest.sentences, manifest.tokens, manifest.text_tokens)
    others = (manifest.words, manifest.phrases, manifest.invalid_bytes)
    lists = (manifest.shards, manifest.dropped, manifest.sources)
    sizes = manifest.shards
    if not (
        all(map(is_size, (*counts, *others, manifest.format)))
        and all(isinstance(value, list) for value in lists)
        and isinstance(manifest.settings, dict)
        and isinstance(manifest.version, str)
        and isinstance(manifest.fingerprint, str)
        and manifest.dtype in _DTYPES
        and sizes
        and all(isinstance(size, dict) and {"ids", "sentences"} <= size.keys() for size in sizes)
        and all(is_size(size[name]) for size in sizes for name in ("ids", "sentences"))
        and manifest.checksums.keys() in (set(), {*_checked_files(manifest)})
        and all(_is_word_count(entry) for entry in manifest.dropped)
        and all(isinstance(source, dict) for source in manifest.sources)
        and all(isinstance(source.get("name"), str) for source in manifest.sources)
        and all(is_size(source.get("bytes")) for source in manifest.sources)
    ):
        return False
    ids, sentences = (sum(size[name] for size in sizes) for name in ("ids", "sentences"))
    # Each sentence ends with a boundary, and each shard begins with one.
    return (sentences, ids - sentences - len(sizes)) == (manifest.sentences, manifest.tokens)


def _is_word_count(entry: object) -> bool:
    return isinstance(entry, list) and list(map(type, entry)) == [str, int] and is_size(entry[1])


def _map_file(path: Path, dtype: str, length: int) -> NDArray[Any]:
    expected = length * np.dtype(dtype).itemsize
    actual = path.stat().st_size if path.exists() else 0
    if actual != expected:
        raise InputError(
            f"{path}: has {actual:,} bytes where the manifest says {expected:,}; {_REPAIR_HINT}"
        )
    return np.memmap(path, dtype, mode="r")


class CorpusWriter:
    """Writes the files of a corpus in order, the manifest last."""

    def __init__(
        self, folder: StoragePath, vocabulary: Vocabulary, shard_ids: int = SHARD_TOKENS
    ) -> None:
        self.dtype = np.dtype(_DTYPES[0] if len(vocabulary) <= 1 << 16 else _DTYPES[1])
        self.sentences = 0
        self.tokens = 0
        self._folder = folder
        self._shard_ids = shard_ids
        self._shards: list[ShardSize] = []
        vocabulary_tsv = vocabulary.to_tsv()
        # One digest per kind of content, so that the sizes of writes do not matter.
        self._digests = [hashlib.sha256(vocabulary_tsv), hashlib.sha256(), hashlib.sha256()]
        self._checksums = {VOCABULARY_TSV: hashlib.sha256(vocabulary_tsv)}
        write_file(folder / VOCABULARY_TSV, vocabulary_tsv)
        self._open_shard()

    def _open_shard(self) -> None:
        number = len(self._shards)
        self._ids = 0
        self._shard_sentences = 0
        names = [shard_file(content, number) for content in ("tokens", "sentences")]
        self._token_file, self._sentence_file = ((self._folder / n).open("wb") for n in names)
        self._shard_digests = [hashlib.sha256() for _ in names]
        self._checksums |= zip(names, self._shard_digests, strict=True)
        self._write_tokens(np.array([BOUNDARY]))

    def _write_tokens(self, ids: NDArray[Any]) -> None:
        data = ids.astype(self.dtype).tobytes()
        for digest in (self._digests[1], self._shard_digests[0]):
            digest.update(data)
        self._token_file.write(data)
        self._ids += len(ids)

    def _write_offsets(self, offsets: NDArray[Any]) -> None:
        data = offsets.astype("<u8").tobytes()
        for digest in (self._digests[2], self._shard_digests[1]):
            digest.update(data)
        self._sentence_file.write(data)

    def append(self, ids: Ids) -> None:
        """Add whole sentences, each ended by a `BOUNDARY`."""
        while len(ids):
            ends = np.flatnonzero(ids == BOUNDARY)
            fitting = int(np.searchsorted(ends, self._shard_ids - self._ids, side="left"))
            if fitting == 0 and self._shard_sentences:
                self._close_shard()
                self._open_shard()
                continue
            # A sentence longer than a shard still has to go somewhere.
            ends = ends[: max(1, fitting)]
            self._append_to_shard(ids[: ends[-1] + 1], ends)
            ids = ids[ends[-1] + 1 :]

    def _append_to_shard(self, ids: Ids, ends: NDArray[np.intp]) -> None:
        starts = np.concatenate([[0], ends[:-1] + 1])
        self._write_offsets(starts + self._ids)
        self._write_tokens(ids)
        self._shard_sentences += len(ends)
        self.sentences += len(ends)
        self.tokens += len(ids) - len(ends)

    def _close_shard(self) -> None:
        self._write_offsets(np.array([self._ids]))
        self._shards.append(ShardSize(ids=self._ids, sentences=self._shard_sentences))
        for file in (self._token_file, self._sentence_file):
            file.flush()
            # A remote file is safe once it is closed.
            if isinstance(self._folder, Path):
                os.fsync(file.fileno())
        self.close()

    def close(self) -> None:
        """Close the files, whether or not the corpus is complete."""
        self._token_file.close()
        self._sentence_file.close()

    def finish(self, **facts: Any) -> Manifest:  # noqa: ANN401 - the manifest's other fields
        """Close the files and write the manifest, which makes the corpus complete."""
        self._close_shard()
        manifest = Manifest(
            format=CORPUS_FORMAT,
            fingerprint=hashlib.sha256(
                b"".join(digest.digest() for digest in self._digests)
            ).hexdigest(),
            sentences=self.sentences,
            tokens=self.tokens,
            dtype=self.dtype.str,
            shards=[asdict(size) for size in self._shards],
            checksums={name: digest.hexdigest() for name, digest in self._checksums.items()},
            **facts,
        )
        write_file(self._folder / MANIFEST, manifest.to_json())
        return manifest
