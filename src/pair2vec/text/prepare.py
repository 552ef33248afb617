"""Raw text to a corpus folder: encode the pieces, choose the vocabulary, write the ids.

    sources ─► pieces ─► encoded pieces on disk ─► totals ─► (phrases) ─► vocabulary
                                  └────────────────────┴────────────────────┴─► tokens.bin

Each encoded piece is a file that is whole or absent, so a job that was killed resumes where it was:
finished pieces are not encoded again. An engine spreads the work on pieces; which one, and
over how many workers, changes nothing in the corpus.
"""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.runtime.jobs import JOB_FILE, LOCK_FILE, RUN_AGAIN, JobFolder
from pair2vec.runtime.storage import (
    PARTIAL,
    RemotePath,
    StoragePath,
    entries,
    remove_tree,
    size_of,
    storage_path,
    write_file,
)
from pair2vec.text.collocations import (
    PhraseConfig,
    as_lines,
    count_joined,
    find_phrases,
    sum_counts,
)
from pair2vec.text.corpus import (
    MANIFEST,
    SHARD_TOKENS,
    VOCABULARY_TSV,
    Corpus,
    CorpusWriter,
    Manifest,
    open_corpus,
    read_manifest,
)
from pair2vec.text.encodings import canonical_encoding
from pair2vec.text.engines import Engine, process_map
from pair2vec.text.phrases import phrases_in
from pair2vec.text.pieces import (
    PIECE_BYTES,
    Piece,
    PieceFile,
    PieceStatistics,
    PieceTask,
    cut_into_pieces,
    encode_to_bytes,
    encode_to_file,
    is_whole,
    load_words,
    piece_ids,
)
from pair2vec.text.sources import STANDARD_INPUT, Source, SourceRecord, find_sources
from pair2vec.text.vocabulary import (
    IncludedWords,
    Vocabulary,
    VocabularySelection,
    WordCounter,
    most_frequent,
)
from pair2vec.version import __version__

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_PIECES = "pieces"
"""The folder of encoded pieces, in that of the corpus until it is complete."""
_CORPUS_FILES = (
    *(MANIFEST, VOCABULARY_TSV, JOB_FILE, _PIECES, "tokens*.bin", "sentences*.bin"),
    *(f"*{PARTIAL}", LOCK_FILE),
    *("neighbours-*.npy", "occurrences"),  # of training and of the lexicon
)
"""Patterns of the names that a corpus folder may hold."""

_MOST_MIN_COUNT = 5
"""Also word2vec's and fastText's."""
_TOKENS_PER_COUNT = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class PrepareConfig:
    """What decides the content of a corpus, given its text."""

    vocabulary: int = 100_000
    """The words that get an id: the most frequent, after those of `include`."""
    min_count: int | None = None
    """A rarer word gets none, unless it is included; None leaves it to `fitting_min_count`."""
    include: IncludedWords | None = None
    piece_bytes: int = PIECE_BYTES
    """Paragraphs longer than this are cut."""
    shard_ids: int = SHARD_TOKENS
    encoding: str | None = None
    """Of the text, by a name that Python knows; None is UTF-8, and refuses what is not."""
    phrases: PhraseConfig | None = None
    """What is joined to words beside the phrases of `include`; None is nothing."""
    truncated_ok: bool = False
    """Whether a dump or compressed text may be cut short: what is whole in it is kept."""

    def __post_init__(self) -> None:
        for name, value in (("vocabulary", self.vocabulary), ("min_count", self.min_count)):
            if value is not None and value < 1:
                raise UsageError(f"{name} is {value}; it must be 1 or more")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", canonical_encoding(self.encoding))

    def settings(self) -> dict[str, Any]:
        """As JSON; included words by their hash, and no mention of what is not asked for."""
        # Not by `asdict`, which copies lists of words.
        settings = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in ("include", "encoding", "phrases", "truncated_ok"):
            if not settings[name]:
                del settings[name]
        if self.include:
            settings["include"] = self.include.settings()
        if self.phrases:
            settings["phrases"] = self.phrases.settings()
        return settings


def fitting_min_count(tokens: int) -> int:
    """How often a word has to occur to get an id: 1 time, and 1 more for each million tokens, to 5.

    What a word means cannot be learned from one sentence, but a small text has no words to spare.
    """
    return min(_MOST_MIN_COUNT, 1 + tokens // _TOKENS_PER_COUNT)


class PrepareProgress(NamedTuple):
    """How far the work is."""

    stage: str
    done: int
    total: int | None
    """None if not known, as for standard input."""
    tokens: int
    """Encoded in this run; those of an earlier one do not count towards the speed."""


def _no_report(_: PrepareProgress) -> None:
    pass


def prepare(
    inputs: Sequence[str],
    out: str | os.PathLike[str],
    config: PrepareConfig | None = None,
    *,
    workers: int | None = 1,
    engine: str = "local",
    overwrite: bool = False,
    report: Callable[[PrepareProgress], None] = _no_report,
) -> Corpus:
    """Make a corpus as `make_corpus` does, in a local folder, and open it."""
    folder = storage_path(out)
    if isinstance(folder, RemotePath):
        raise UsageError(f"{out}: a remote corpus cannot be opened; use make_corpus and copy it")
    make_corpus(
        inputs, folder, config, workers=workers, engine=engine, overwrite=overwrite, report=report
    )
    return open_corpus(folder)


def make_corpus(
    inputs: Sequence[str],
    out: str | os.PathLike[str],
    config: PrepareConfig | None = None,
    *,
    workers: int | None = 1,
    engine: str = "local",
    overwrite: bool = False,
    report: Callable[[PrepareProgress], None] = _no_report,
) -> Manifest:
    """Make a corpus folder `out` of texts or dumps, or finish one that was begun.

    Args:
        inputs: Files, folders, URLs of them, or ``-`` for standard input.
        out: The folder to write, or its URL; refused if it holds anything but a begun part of the
            same job.
        config: Vocabulary size and the like.
        workers: Processes; the corpus is the same, to the byte, for any number of them. None for
            as many as the engine has cores.
        engine: ``local``, or ``ray`` for the cluster that RAY_ADDRESS names.
        overwrite: Replace a corpus that is there.
        report: Called now and then with the progress.
    """
    config = config or PrepareConfig()
    folder = storage_path(out)
    engine_context = open_engine(engine, workers)
    names = find_sources(inputs, exclude=folder)
    for name in names:
        _check_readable(name, config)
    identity = {"version": __version__, "sources": names, "settings": config.settings()}
    with _claim(folder, identity, overwrite=overwrite):
        pieces = folder / _PIECES
        # With a manifest, an earlier run was stopped after its very last write.
        if not (folder / MANIFEST).exists():
            pieces.mkdir(exist_ok=True)
            with engine_context as started, _scratch_folder(pieces) as scratch:
                run = _Run(folder, pieces, config, report, WordCounter(scratch))
                run.encode_sources(names, started)
                run.write_corpus(started)
        if pieces.exists():
            remove_tree(pieces)
        (folder / JOB_FILE).unlink()
    return read_manifest(folder)


def _claim(
    out: StoragePath, identity: Mapping[str, object], *, overwrite: bool
) -> AbstractContextManager[None]:
    """The corpus folder for this job alone, holding nothing but what it may resume from."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file, not a folder; give another --out")
    if out.exists() and not any((out / name).exists() for name in (JOB_FILE, MANIFEST)):
        others = [path.name for path in entries(out) if not _is_corpus_file(path)]
        if others:
            raise UsageError(
                f"{out}: is not a corpus and not empty ({others[0]}); give another --out"
            )
    job = JobFolder(
        out=out,
        state=out,
        complete=out / MANIFEST,
        product="a corpus",
        identity=identity,
        clear=lambda: _remove_corpus(out),
        resumed_by=RUN_AGAIN,
    )
    return job.claim(resume=not overwrite, overwrite=overwrite)


def _is_corpus_file(path: StoragePath) -> bool:
    return any(map(path.match, _CORPUS_FILES))


def _remove_corpus(out: StoragePath) -> None:
    # The manifest first: without it nothing else is taken for a corpus.
    (out / MANIFEST).unlink(missing_ok=True)
    for path in entries(out):
        if not _is_corpus_file(path) or path.name == LOCK_FILE:
            continue
        if path.is_dir():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def _scratch_folder(pieces: StoragePath) -> Iterator[Path]:
    """A local folder for word counts that exceed memory."""
    if isinstance(pieces, Path):
        yield pieces
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def open_engine(name: str, workers: int | None) -> AbstractContextManager[Engine]:
    """The engine of that name; with None as many workers as it has cores."""
    if workers is not None and workers < 1:
        raise UsageError(f"workers is {workers}; it must be 1 or more")
    if name == "local":
        return _local_engine(workers or len(os.sched_getaffinity(0)))
    if name != "ray":
        raise UsageError(f"engine is {name!r}; it must be local or ray")
    try:
        from pair2vec.text.ray_engine import ray_engine
    except ImportError as error:
        raise Pair2vecError("--engine ray needs Ray: pip install 'pair2vec[ray]'") from error
    return ray_engine(workers)


@contextmanager
def _local_engine(workers: int) -> Iterator[Engine]:
    with process_map(workers) as ordered_map:
        yield Engine(ordered_map, shares_disk=True)


def _check_readable(name: str, config: PrepareConfig) -> None:
    """Fail before hours of work rather than after."""
    if name != STANDARD_INPUT:
        with _open_source(name, config) as source:
            next(source.text_blocks(None), None)


def _open_source(name: str, config: PrepareConfig) -> Source:
    return Source(name, encoding=config.encoding, truncated_ok=config.truncated_ok)


@dataclass
class _Run:
    """One run, and what it has gathered."""

    out: StoragePath
    pieces_folder: StoragePath
    config: PrepareConfig
    report: Callable[[PrepareProgress], None]
    totals: WordCounter
    pieces: list[StoragePath] = field(default_factory=list)
    statistics: list[PieceStatistics] = field(default_factory=list)
    sources: list[SourceRecord] = field(default_factory=list)
    new_tokens: int = 0
    joined_tokens: int = 0

    def encode_sources(self, names: Sequence[str], engine: Engine) -> None:
        """Encode every piece that is not on disk yet, and count the words of all."""
        for task in self._encoded(self._tasks(names, engine), engine):
            words, counts, statistics = load_words(task.path)
            self.totals.add(words, counts.tolist())
            self.statistics.append(statistics)
            self.new_tokens += 0 if task.piece is None else statistics.tokens
            self.report(PrepareProgress("read", task.read, task.total, self.new_tokens))
        if not any(piece.tokens for piece in self.statistics):
            raise InputError(f"{', '.join(names)}: no words found; is the input empty?")

    def _encoded(self, tasks: Iterator[PieceTask], engine: Engine) -> Iterator[PieceTask]:
        """`tasks` as they are done, each with its piece on disk."""
        if self._workers_reach_pieces(engine):
            yield from engine.ordered_map(encode_to_file, tasks)
            return
        for task, encoded in engine.ordered_map(encode_to_bytes, tasks):
            if encoded is not None:
                write_file(task.path, encoded)
            yield task

    def _workers_reach_pieces(self, engine: Engine) -> bool:
        """Whether the engine's workers can read and write the pieces' files."""
        return engine.shares_disk or isinstance(self.pieces_folder, RemotePath)

    def _tasks(self, names: Sequence[str], engine: Engine) -> Iterator[PieceTask]:
        sizes = [None if name == STANDARD_INPUT else size_of(storage_path(name)) for name in names]
        total = None if None in sizes else sum(size for size in sizes if size)
        before = 0
        for name in names:
            with _open_source(name, self.config) as source:
                for piece in cut_into_pieces(
                    source.name,
                    source.text_blocks(engine.ordered_map),
                    self.config.piece_bytes,
                    truncated_ok=self.config.truncated_ok,
                ):
                    path = self._piece_path(piece)
                    missing = None if self._is_done(path) else piece
                    yield PieceTask(path, missing, before + source.position, total)
                before += source.position
                self.sources.append(source.record())
                if source.is_truncated:
                    _log.warning("%s is cut short: what is whole in it is kept", source.name)
                if source.position == 0:
                    _log.warning("%s is empty", source.name)

    def _piece_path(self, piece: Piece) -> StoragePath:
        path = self.pieces_folder / f"{len(self.pieces):06d}-{piece.checksum()}.npz"
        self.pieces.append(path)
        return path

    @staticmethod
    def _is_done(path: StoragePath) -> bool:
        """Whether a piece was encoded by an earlier run; one that is damaged is removed."""
        if not path.exists():
            return False
        if is_whole(path.read_bytes()):
            return True
        _log.warning("%s: is damaged, and made again", path)
        path.unlink()
        return False

    def write_corpus(self, engine: Engine) -> None:
        """Choose the vocabulary and write the corpus, its manifest last."""
        text_tokens = sum(piece.tokens for piece in self.statistics)
        min_count = self.config.min_count or fitting_min_count(text_tokens)
        (kept, dropped), joined = self._choose_words(engine, min_count)
        if not kept:
            raise InputError(f"no word occurs {min_count} times or more; lower --min-count")
        if len(kept) < self.config.vocabulary:
            if self.config.min_count is None and min_count > 1:
                _log.info(
                    "the vocabulary has the %s words that occur %d times or more, which suits a "
                    "text of %s tokens; --min-count changes it",
                    f"{len(kept):,}",
                    min_count,
                    f"{text_tokens:,}",
                )
            else:
                _log.warning(
                    "the vocabulary has %s words: the text has no more that are frequent enough",
                    f"{len(kept):,}",
                )
        vocabulary = Vocabulary(kept)
        if self.config.include:
            words = self.config.include.words
            _log.info(
                "%s of the %s words to include are in the vocabulary",
                f"{sum(word in vocabulary for word in words):,}",
                f"{len(words):,}",
            )
        with closing(CorpusWriter(self.out, vocabulary, self.config.shard_ids)) as writer:
            ids = partial(piece_ids, vocabulary=vocabulary.to_tsv())
            for number, tokens in enumerate(self._over_pieces(engine, ids), start=1):
                writer.append(tokens)
                self.report(PrepareProgress("write", number, len(self.pieces), writer.tokens))
            writer.finish(
                version=__version__,
                documents=sum(piece.documents for piece in self.statistics),
                text_tokens=text_tokens - joined,
                invalid_bytes=sum(piece.invalid_bytes for piece in self.statistics),
                words=len(kept),
                phrases=len(phrases_in(entry.word for entry in kept)),
                dropped=[list(entry) for entry in dropped],
                settings={**self.config.settings(), "min_count": min_count},
                sources=[asdict(source) for source in self.sources],
            )

    def _choose_words(self, engine: Engine, min_count: int) -> tuple[VocabularySelection, int]:
        """The vocabulary, and how many tokens fewer the text has where its phrases are joined."""
        include = self.config.include
        phrases = self._find_phrases(engine, min_count)
        while True:
            counts = self._count_joined(phrases, engine)
            selection = most_frequent(
                joined_totals(self.totals.items(), counts),
                self.config.vocabulary,
                min_count,
                include=include,
            )
            kept = {entry.word for entry in selection.kept}
            chosen = [phrase for phrase in phrases if phrase in kept]
            if len(chosen) == len(phrases):
                return selection, sum(count * phrase.count(" ") for phrase, count in counts.items())
            # The others fall apart again, so that the counts are others. Those chosen are so for
            # good: the loop ends, as a rule after the second time.
            phrases = chosen
            if phrases:
                first = self.config.include or IncludedWords(words=frozenset(phrases))
                include = replace(first, words=first.words.union(phrases))

    def _find_phrases(self, engine: Engine, min_count: int) -> list[str]:
        config, include = self.config.phrases, self.config.include
        included = frozenset(phrases_in(include.words)) if include else frozenset()
        if config is None:
            return sorted(included)
        return find_phrases(
            config,
            self.totals.items,
            partial(self._joining, engine),
            words=self.config.vocabulary,
            min_count=min_count,
            included=included,
        )

    def _count_joined(self, phrases: Sequence[str], engine: Engine) -> dict[str, int]:
        """How often each phrase is in the text that is joined by them."""
        if not phrases:
            return {}
        pieces = self._joining(engine, partial(count_joined, phrases=as_lines(phrases)))
        return dict(zip(phrases, sum_counts(pieces).tolist(), strict=False))

    def _joining(
        self, engine: Engine, function: Callable[[PieceFile], _Result]
    ) -> Iterator[_Result]:
        """`_over_pieces` with progress, in tokens of all passes so far."""
        results = self._over_pieces(engine, function)
        for number, (piece, result) in enumerate(
            zip(self.statistics, results, strict=True), start=1
        ):
            yield result
            self.joined_tokens += piece.tokens
            self.report(PrepareProgress("join", number, len(self.pieces), self.joined_tokens))

    def _over_pieces(
        self, engine: Engine, function: Callable[[PieceFile], _Result]
    ) -> Iterator[_Result]:
        """A function of each encoded piece."""
        reached = self._workers_reach_pieces(engine)
        pieces = (path if reached else path.read_bytes() for path in self.pieces)
        return engine.ordered_map(function, pieces)


def joined_totals(
    totals: Iterable[tuple[str, int]], joined: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """Counts of words and phrases, given those of words before phrases were joined."""
    in_phrases: Counter[str] = Counter()
    for phrase, count in joined.items():
        for token in phrase.split(" "):
            in_phrases[token] += count
    for word, count in totals:
        left = count - in_phrases.get(word, 0)
        if left:
            yield word, left
    for phrase, count in joined.items():
        if count:
            yield phrase, count
