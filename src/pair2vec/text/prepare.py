"""Raw text to a corpus folder: encode the pieces, choose the vocabulary, write the ids.

    sources ─► pieces ─► encoded pieces on disk ─► totals ─► vocabulary
                                  └────────────────────────────┴─► tokens.bin

Each encoded piece is a file that is whole or absent, so a job that was killed goes on where it
was: pieces that are there are not made again.
"""

import errno
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pair2vec import __version__
from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.text.corpus import SHARD_TOKENS, Corpus, CorpusWriter, Ids, open_corpus
from pair2vec.text.encoding import PieceStatistics, encode_piece, load_ids, load_words
from pair2vec.text.engine import local_engine
from pair2vec.text.job_folder import claimed_folder
from pair2vec.text.pieces import PIECE_BYTES, Piece, cut_into_pieces
from pair2vec.text.sources import OrderedMap, Source, SourceRecord, find_sources
from pair2vec.text.vocabulary import BOUNDARY, PADDING, Vocabulary, WordTotals, most_frequent

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class PrepareConfig:
    """What decides the content of a corpus, given its text."""

    vocabulary: int = 100_000
    """The most frequent words that get an id."""
    min_count: int = 1
    """A rarer word gets none."""
    piece_bytes: int = PIECE_BYTES
    """Paragraphs longer than this are cut."""
    shard_ids: int = SHARD_TOKENS

    def __post_init__(self) -> None:
        for name in ("vocabulary", "min_count"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be 1 or more")


class Progress(NamedTuple):
    """How far the work is."""

    stage: str
    done: int
    total: int | None
    """None if not known, as for standard input."""
    tokens: int
    """Made in this run; those found from an earlier one do not count for speed."""


def _no_report(_: Progress) -> None:
    pass


def prepare(
    inputs: Sequence[str],
    out: str | os.PathLike[str],
    config: PrepareConfig | None = None,
    *,
    workers: int = 1,
    overwrite: bool = False,
    report: Callable[[Progress], None] = _no_report,
) -> Corpus:
    """Make a corpus folder `out` of texts or dumps, or finish one that was begun.

    Args:
        inputs: Files, folders, or ``-`` for standard input.
        out: The folder to write; refused if it holds anything but a begun part of the same job.
        config: Vocabulary size and the like.
        workers: Processes; the corpus is the same, to the byte, for any number of them.
        overwrite: Replace a corpus that is there.
        report: Called now and then with the progress.
    """
    config = config or PrepareConfig()
    out = Path(out)
    if workers < 1:
        raise UsageError(f"workers is {workers}; it must be 1 or more")
    names = find_sources(inputs, without=out)
    for name in names:
        _check_readable(name)
    identity = {"version": __version__, "sources": names, "settings": asdict(config)}
    with _saying_how_to_go_on(out), claimed_folder(out, identity, overwrite=overwrite) as pieces:
        # Without pieces to make, an earlier run was stopped after its very last write.
        if pieces is not None:
            job = _Job(out, pieces, config, report)
            with local_engine(workers) as ordered_map:
                job.encode_sources(names, ordered_map)
            job.write_corpus()
    return open_corpus(out)


@contextmanager
def _saying_how_to_go_on(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise
        raise Pair2vecError(
            f"{out}: {error.strerror}; make room and run the same command again to go on"
        ) from error


def _check_readable(name: str) -> None:
    """Fail before hours of work rather than after."""
    if name != "-":
        with Source(name):
            pass


@dataclass
class _Job:
    """One run, and what it has gathered."""

    out: Path
    folder: Path
    """Where the encoded pieces are."""
    config: PrepareConfig
    report: Callable[[Progress], None]
    pieces: list[Path] = field(default_factory=list)
    statistics: list[PieceStatistics] = field(default_factory=list)
    sources: list[SourceRecord] = field(default_factory=list)
    tokens_made: int = 0

    def __post_init__(self) -> None:
        self.totals = WordTotals(self.folder)

    def encode_sources(self, names: Sequence[str], ordered_map: OrderedMap) -> None:
        """Encode every piece that is not on disk yet, and count the words of all."""
        tasks = self._tasks(names, ordered_map)
        for task in ordered_map(_encode_to_file, tasks):
            words, counts, statistics = load_words(task.path)
            self.totals.add(words, counts.tolist())
            self.statistics.append(statistics)
            self.tokens_made += 0 if task.piece is None else statistics.tokens
            self.report(Progress("read", task.read, task.total, self.tokens_made))
        if not any(piece.tokens for piece in self.statistics):
            raise InputError(f"{', '.join(names)}: no words found; is the input empty?")

    def _tasks(self, names: Sequence[str], ordered_map: OrderedMap) -> "Iterator[_Task]":
        sizes = [None if name == "-" else Path(name).stat().st_size for name in names]
        total = None if None in sizes else sum(size for size in sizes if size)
        before = 0
        for name in names:
            with Source(name) as source:
                blocks = source.blocks(ordered_map)
                for piece in cut_into_pieces(source.name, blocks, self.config.piece_bytes):
                    path = self._piece_path(piece)
                    missing = None if path.exists() else piece
                    yield _Task(path, missing, before + source.position, total)
                before += source.position
                self.sources.append(source.record())
                if source.position == 0:
                    _log.warning("%s is empty", source.name)

    def _piece_path(self, piece: Piece) -> Path:
        path = self.folder / f"{len(self.pieces):06d}-{piece.checksum()}.npz"
        self.pieces.append(path)
        return path

    def write_corpus(self) -> None:
        """Choose the vocabulary and write the corpus, its manifest last."""
        kept, dropped = most_frequent(
            self.totals.items(), self.config.vocabulary, self.config.min_count
        )
        if not kept:
            raise InputError(
                f"no word occurs {self.config.min_count} times or more; lower --min-count"
            )
        if len(kept) < self.config.vocabulary:
            _log.warning(
                "the vocabulary has %s words: the text has no more that are frequent enough",
                f"{len(kept):,}",
            )
        vocabulary = Vocabulary(kept)
        with closing(CorpusWriter(self.out, vocabulary, self.config.shard_ids)) as writer:
            for number, path in enumerate(self.pieces, start=1):
                writer.append(_ids_of_piece(path, vocabulary))
                self.report(Progress("write", number, len(self.pieces), writer.tokens))
            writer.finish(
                version=__version__,
                documents=sum(piece.documents for piece in self.statistics),
                text_tokens=sum(piece.tokens for piece in self.statistics),
                invalid_bytes=sum(piece.invalid_bytes for piece in self.statistics),
                words=len(kept),
                dropped=[list(entry) for entry in dropped],
                settings=asdict(self.config),
                sources=[asdict(source) for source in self.sources],
            )


class _Task(NamedTuple):
    """A piece to encode into a file, or None where the file is there."""

    path: Path
    piece: Piece | None
    read: int
    total: int | None


def _encode_to_file(task: _Task) -> _Task:
    if task.piece is None:
        return task
    encode_piece(task.piece).save(task.path)
    # The content need not travel back to the parent.
    return task._replace(piece=Piece(task.piece.source, task.piece.offset, b"", is_dump=False))


def _ids_of_piece(path: Path, vocabulary: Vocabulary) -> Ids:
    """A piece's sentences in the vocabulary's ids, `BOUNDARY` behind each, unknown words gone."""
    words, _, _ = load_words(path)
    ids = map(vocabulary.ids.get, words, repeat(PADDING))
    table = np.fromiter(chain([BOUNDARY], ids), np.uint32, len(words) + 1)
    tokens: Ids = table[load_ids(path)]
    tokens = tokens[tokens != PADDING]
    is_end = tokens == BOUNDARY
    # Of boundaries in a row only the first ends a sentence; one at the start ends none.
    repeats = is_end & np.concatenate([[True], is_end[:-1]])
    sentences: Ids = tokens[~repeats]
    return sentences
