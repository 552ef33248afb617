"""``pair2vec prepare``: turn raw text into a corpus, and show the progress."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import (
    ProgressView,
    facts_table,
    print_table,
    say,
    show_progress,
)
from pair2vec.cli.options import OverwriteOption, WorkersOption, argument, check_choice
from pair2vec.cli.query_io import STDIN, read_lines
from pair2vec.cli.signals import terminated_like_ctrl_c
from pair2vec.errors import InputError, UsageError

if TYPE_CHECKING:
    from pair2vec.runtime.storage import StoragePath
    from pair2vec.text.collocations import PhraseConfig
    from pair2vec.text.corpus import Manifest
    from pair2vec.text.prepare import PrepareProgress
    from pair2vec.text.vocabulary import IncludedWords


def prepare_command(  # noqa: PLR0913, PLR0917 - the options of a command
    inputs: Annotated[
        list[str],
        argument(
            help="Plain text or MediaWiki XML dumps, also as .gz, .bz2 or .xz; folders of them; "
            "URLs such as s3://bucket/text; or - for standard input.",
            metavar="TEXT...",
        ),
    ],
    out: Annotated[
        str, typer.Option(help="The corpus folder to make, or its URL.", show_default=False)
    ],
    vocab: Annotated[
        int, typer.Option(min=1, help="Keep this many of the most frequent words.")
    ] = 100_000,
    min_count: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Drop words that are rarer.",
            show_default="1, and 1 more for each million tokens, to 5",
        ),
    ] = None,
    include: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep these words first, one a line, however rare; the most frequent others fill "
            "up to --vocab. - is standard input.",
            show_default="none",
        ),
    ] = None,
    include_count: Annotated[
        int,
        typer.Option(min=1, help="Of --include, only words that occur so often are kept first."),
    ] = 1,
    phrases: Annotated[
        bool,
        typer.Option(
            "--phrases",
            help="Find collocations such as 'new york' by normalised PMI (NPMI; Bouma 2009) in two "
            "passes, and join each to one word.",
        ),
    ] = False,
    phrase_threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="The least NPMI of --phrases, above 0.", show_default="0.5"
        ),
    ] = None,
    phrase_count: Annotated[
        int | None,
        typer.Option(min=1, help="The least count of --phrases.", show_default="10"),
    ] = None,
    phrase_list: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Join these phrases of up to five tokens, one a line, that occur --min-count "
            "times. - is standard input.",
            show_default="none",
        ),
    ] = None,
    include_unseen: Annotated[
        bool,
        typer.Option(
            "--include-unseen",
            help="Of --include, keep words that never occur, too: for train --more-vectors.",
        ),
    ] = False,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of all texts: utf-16, latin-1, cp1252, shift_jis and so on. With utf-8, what is "
            "not UTF-8 is replaced by white space.",
            show_default="UTF-8, and other text is refused",
        ),
    ] = None,
    truncated: Annotated[
        str,
        typer.Option(
            help="Of a dump, or of compressed text, that is cut short: ok keeps what is whole in "
            "it; refuse does not read it."
        ),
    ] = "refuse",
    workers: WorkersOption = None,
    engine: Annotated[
        str,
        typer.Option(
            help="local: this machine. ray: the cluster RAY_ADDRESS names, or one started here."
        ),
    ] = "local",
    overwrite: OverwriteOption = False,
) -> None:
    """Turn raw text into a corpus folder.

    Stopped or killed, the same command resumes from what is done.
    """
    from pair2vec.runtime.storage import RemotePath, storage_path
    from pair2vec.text.prepare import PrepareConfig, make_corpus

    check_choice("--truncated", truncated, ("refuse", "ok"))
    check_stdin_once(inputs, include, phrase_list)
    joined = phrase_config(phrase_list, phrase_threshold, phrase_count, find=phrases)
    included = None
    if include is not None:
        if include_unseen and include_count > 1:
            raise UsageError("--include-unseen keeps every word: leave out --include-count")
        included = read_included_words(include, 0 if include_unseen else include_count)
    elif include_unseen or include_count > 1:
        raise UsageError("--include-count and --include-unseen need the words to --include")
    with show_progress(PrepareView()) as report, terminated_like_ctrl_c():
        manifest = make_corpus(
            inputs,
            out,
            PrepareConfig(
                vocabulary=vocab,
                min_count=min_count,
                include=included,
                phrases=joined,
                encoding=encoding,
                truncated_ok=truncated == "ok",
            ),
            workers=workers,
            engine=engine,
            overwrite=overwrite,
            report=report,
        )
    print_table(corpus_summary(storage_path(out), manifest))
    if isinstance(storage_path(out), RemotePath):
        say(f"{out}: copy it to a local disk, or mount it, for the other commands")


def check_stdin_once(inputs: Sequence[str], include: Path | None, phrases: Path | None) -> None:
    """Either the text or one list can come from standard input."""
    if [*inputs, str(include), str(phrases)].count(STDIN) > 1:
        raise UsageError(
            "standard input is either the text, the words to --include or the --phrase-list"
        )


def phrase_config(
    path: Path | None, threshold: float | None, count: int | None, *, find: bool
) -> PhraseConfig | None:
    """The phrases to join; None for none."""
    from pair2vec.text.collocations import PhraseConfig

    if not find and (threshold, count) != (None, None):
        raise UsageError("--phrase-threshold and --phrase-count are of --phrases: give that, too")
    if path is None and not find:
        return None
    listed = frozenset() if path is None else read_phrases(path)
    default = PhraseConfig()
    return PhraseConfig(
        find=find,
        threshold=default.threshold if threshold is None else threshold,
        min_count=default.min_count if count is None else count,
        listed=listed,
    )


def read_phrases(path: Path) -> frozenset[str]:
    """The phrases of a file, one a line; other lines, such as single words, are left out.

    Raises:
        InputError: the file has none.
    """
    from pair2vec.text.phrases import MAX_PHRASE_TOKENS, spell_phrase

    lines = read_lines(path)
    spelled = list(map(spell_phrase, lines.values()))
    phrases = frozenset(phrase for phrase in spelled if phrase)
    what = f"phrases of two to {MAX_PHRASE_TOKENS} tokens"
    if not phrases:
        raise InputError(f"{path}: has no {what}; write one a line")
    if None in spelled:
        say(f"{path}: {spelled.count(None):,} of {len(lines):,} lines left out: no {what}")
    return phrases


def read_included_words(path: Path, min_count: int) -> IncludedWords:
    """The words of a file, one a line; those of several tokens are phrases.

    Raises:
        InputError: a line is neither a word nor a phrase, or the file has none.
    """
    from pair2vec.text.phrases import MAX_PHRASE_TOKENS
    from pair2vec.text.vocabulary import IncludedWords, spell_word

    words = set()
    for location, line in read_lines(path).items():
        try:
            word = spell_word(line)
        except UsageError as error:
            raise InputError(f"{location}: {error}") from error
        if word.count(" ") >= MAX_PHRASE_TOKENS:
            raise InputError(
                f"{location}: {line!r} is {1 + word.count(' ')} tokens to the tokeniser; a phrase "
                f"has up to {MAX_PHRASE_TOKENS}"
            )
        words.add(word)
    if not words:
        raise InputError(f"{path}: has no words")
    return IncludedWords(words=frozenset(words), min_count=min_count)


class PrepareView(ProgressView["PrepareProgress"]):
    """A bar for each stage, with tokens a second since the stage began."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description:>5}"),
            BarColumn(),
            _DoneColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self._tasks = {"read": self._bars.add_task("read", total=None, rate="")}
        self._stage = "read"
        self._start = self._last = time.monotonic()
        self._rate = ""

    def update(self, update: PrepareProgress) -> None:
        if update.stage != self._stage:
            self._stage, self._start = update.stage, self._last
        self._last = time.monotonic()
        millions = update.tokens / 1e6
        seconds = max(self._last - self._start, 1e-3)
        self._rate = f"{millions:,.1f} M tokens, {millions / seconds:.2f} M/s"
        if update.stage not in self._tasks:
            self._tasks[update.stage] = self._bars.add_task(update.stage, rate="")
        self._bars.update(
            self._tasks[update.stage],
            completed=update.done,
            total=update.total,
            rate=self._rate,
        )

    def render(self) -> Progress:
        return self._bars

    def line(self, update: PrepareProgress) -> str:
        if update.stage == "read":
            total = f" of {update.total / 1e6:,.1f}" if update.total else ""
            done = f"{update.done / 1e6:,.1f}{total} MB"
        else:
            done = f"{update.done} of {update.total} pieces"
        return f"{update.stage}: {done}, {self._rate}"


class _DoneColumn(ProgressColumn):
    """Bytes while reading, pieces while writing."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes = DownloadColumn()
        self._pieces = MofNCompleteColumn()

    def render(self, task: Task) -> Text:
        return (self._bytes if task.description == "read" else self._pieces).render(task)


def corpus_summary(folder: StoragePath, manifest: Manifest) -> Table:
    """The size of a corpus, and what its vocabulary left out."""
    dropped = "  ".join(f"{word} ({count:,})" for word, count in manifest.dropped) or "none"
    rows = {
        "corpus": str(folder),
        "documents": f"{manifest.documents:,}",
        "sentences": f"{manifest.sentences:,}",
        "tokens": f"{manifest.tokens:,}",
        "vocabulary": f"{manifest.words:,} words"
        + (f", {manifest.phrases:,} of them phrases" if manifest.phrases else ""),
        "out of vocabulary": f"{manifest.out_of_vocabulary_rate:.2%} of the text's "
        f"{manifest.text_tokens:,} tokens",
        "most frequent dropped": dropped,
        "made from": "  ".join(
            f"{Path(source['name']).name} ({decimal(source['bytes'])})"
            for source in manifest.sources[:5]
        )
        + (f"  and {len(manifest.sources) - 5} more" if len(manifest.sources) > 5 else ""),
        "fingerprint": manifest.fingerprint[:16],
    }
    if manifest.invalid_bytes:
        rows["invalid UTF-8"] = f"{manifest.invalid_bytes:,} places, replaced by white space"
    return facts_table(rows)
