"""Sentences that say the same, opposite or different things: verdicts beside labels.

A folder has files of sentence pairs, tab-separated with a header line: label, sentence1, sentence2,
possibly compressed. Each pair is in one of two halves by a hash of its first sentence: one to learn
weights and choose by, the other to report on.

Shapes: N pairs, F features.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from rich.console import Group
from rich.text import Text

from pair2vec.api import Pair2vec
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.results import RunResult, command_line, model_provenance
from pair2vec.experiments.nli.evaluate import LabelAccuracy, wilson_accuracy
from pair2vec.experiments.nli.examples import NliExample, read_nli_set
from pair2vec.experiments.report.grid import Grid, grid_table
from pair2vec.model.folder import SavedModel
from pair2vec.relations.opposed import UNSURE, VERDICTS
from pair2vec.text.sources import Source

Half = Literal["choose", "report"]
HALVES: tuple[Half, ...] = get_args(Half)

_COLUMNS = ("label", "sentence1", "sentence2")
_SUFFIXES = (".tsv", ".tsv.xz", ".tsv.gz", ".tsv.bz2")
_SHOWN = (*VERDICTS, UNSURE)
SNLI_TEST, BREAKING_NLI = "snli_test", "breaking_nli"
"""The first part of the names of the files that are asked for in the folder of NLI."""


class LabelledSentences(NamedTuple):
    """Two sentences, and whether they are the same, opposed or different."""

    label: str
    a: str
    b: str


class VerdictCounts(NamedTuple):
    """How often each verdict was given to the pairs of one label in a file."""

    name: str
    label: str
    counts: dict[str, int]

    def share(self, verdict: str) -> LabelAccuracy:
        """In percent, with its interval."""
        return wilson_accuracy([name == verdict for name in Counter(self.counts).elements()])

    def to_json(self) -> dict[str, object]:
        return {"name": self.name, "label": self.label, "verdicts": self.counts}


@dataclass(frozen=True, kw_only=True)
class OpposedResult:
    """Verdicts by file and label."""

    half: Half
    sentences: list[VerdictCounts]
    one_word: list[VerdictCounts]
    """SNLI's test pairs that differ in one word, by gold label; empty if it was not asked for."""
    breaking: list[VerdictCounts]
    """Breaking NLI by gold label and category."""

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        return {
            "half": self.half,
            "sentences": [row.to_json() for row in self.sentences],
            "snli_one_word": [row.to_json() for row in self.one_word],
            "breaking_nli": [row.to_json() for row in self.breaking],
        }

    def metrics(self) -> dict[str, float]:
        """The share of each label that is called opposed, by file, in percent."""
        return {
            f"{row.name} {row.label} called opposed": row.share("opposed").accuracy
            for row in self.sentences
        }

    def to_run_result(self, saved: SavedModel, data: Path, nli: Path | None = None) -> RunResult:
        """The record of the run."""
        options = {"--data": data.resolve().name, "--half": self.half}
        options |= {} if nli is None else {"--nli": nli.resolve().name}
        options |= {"--model": saved.folder.resolve().name}
        return {
            "task": "opposed",
            **model_provenance(saved),
            "data": data.resolve().name,
            "metrics": self.metrics(),
            **self.to_json(),
            "protocol": {"half": self.half},
            "command": command_line(["eval", "opposed"], options),
        }


def half_of(sentence: str) -> Half:
    """The half of the pairs with this first sentence, by a hash."""
    digest = hashlib.blake2b(sentence.encode(), digest_size=8).digest()
    return "choose" if digest[0] % 2 == 0 else "report"


def read_sentences(path: Path) -> list[LabelledSentences]:
    """The pairs of a file.

    Raises:
        InputError: it is not UTF-8, or has no header, a line with other than three columns, or an
            unknown label.
    """
    with Source(str(path)) as source:
        stored = b"".join(source.blocks(map))
    try:
        # Not by `splitlines`, which also splits at other characters than the end of a line.
        head, *lines = stored.decode().removesuffix("\n").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 at byte {error.start + 1:,}") from error
    if tuple(head.split("\t")) != _COLUMNS:
        raise InputError(f"{path}: the first line must be {', '.join(_COLUMNS)}, with tabs between")
    pairs = []
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        if len(fields) != len(_COLUMNS) or fields[0] not in VERDICTS:
            raise InputError(
                f"{path}, line {number:,}: expected {' or '.join(VERDICTS)}, and two sentences"
            )
        pairs.append(LabelledSentences(*fields))
    return pairs


def read_sentence_sets(folder: Path) -> dict[str, list[LabelledSentences]]:
    """The pairs of each file of a folder, by the beginning of its name."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    files = sorted(path for path in folder.glob("*") if path.name.endswith(_SUFFIXES))
    if not files:
        raise UsageError(f"{folder}: has no files of sentences ({', '.join(_SUFFIXES)})")
    names = [path.name.partition(".")[0] for path in files]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{folder}: has {name} twice, compressed in two ways; keep one")
    return dict(zip(names, map(read_sentences, files), strict=True))


def one_word_differs(example: NliExample) -> bool:
    """Whether premise and hypothesis have the same words but for one, in one place."""
    a, b = ([word.lower() for word in side] for side in example.sentences)
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1


def evaluate_opposed(
    model: Pair2vec,
    data: Path,
    *,
    half: Half = "report",
    nli: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> OpposedResult:
    """Ask a model for verdicts on a half of labelled sentences, and on NLI.

    Args:
        model: To evaluate.
        data: The folder of sentence pairs.
        half: Which to ask about.
        nli: A folder with SNLI's test set and Breaking NLI.
        report: Called with what is being done.
    """
    rows = []
    for name, pairs in read_sentence_sets(data).items():
        own = [pair for pair in pairs if half_of(pair.a) == half]
        report(f"{name}: {len(own):,} of {len(pairs):,} pairs")
        rows += count_verdicts(model, ((name, *pair) for pair in own))
    one_word, breaking = [], []
    if nli is not None:
        differing = filter(one_word_differs, _nli_examples(nli, SNLI_TEST))
        one_word = count_verdicts(model, (_as_row("one word", each) for each in differing))
        examples = _nli_examples(nli, BREAKING_NLI)
        breaking = count_verdicts(model, (_as_row("all", each) for each in examples))
        breaking += count_verdicts(model, (_as_row(str(e.category), e) for e in examples))
    return OpposedResult(half=half, sentences=rows, one_word=one_word, breaking=breaking)


def count_verdicts(
    model: Pair2vec, rows: Iterable[tuple[str, str, str, str]]
) -> list[VerdictCounts]:
    """The verdicts by name and label, of rows of name, label and two sentences."""
    given = list(rows)
    answers = model.opposed_many((a, b) for _, _, a, b in given)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for (name, label, _, _), answer in zip(given, answers, strict=True):
        counts.setdefault((name, label), Counter())[answer.verdict] += 1
    return [VerdictCounts(*key, dict(found)) for key, found in sorted(counts.items())]


def _as_row(name: str, example: NliExample) -> tuple[str, str, str, str]:
    return name, example.label, " ".join(example.premise), " ".join(example.hypothesis)


def _nli_examples(folder: Path, name: str) -> Sequence[NliExample]:
    files = sorted(folder.glob(f"{name}*"))
    if len(files) != 1:
        raise UsageError(f"{folder}: has {len(files)} files {name}*; it must have one")
    return read_nli_set(files[0]).examples


def opposed_tables(result: OpposedResult) -> Group:
    """For a terminal."""
    grids = [
        _grid(f"Sentences, the half to {result.half}", ("set", "label"), result.sentences),
        _grid("SNLI test, one word differs", ("", "gold label"), result.one_word),
        _grid("Breaking NLI", ("category", "gold label"), result.breaking),
    ]
    tables = [grid_table(grid) for grid in grids if grid.rows]
    note = Text("share of each verdict in percent, and the 95 % interval of opposed", style="dim")
    return Group(*tables, note)


def _grid(title: str, labels: tuple[str, str], rows: Sequence[VerdictCounts]) -> Grid:
    return Grid(
        title,
        (*labels, "pairs", *_SHOWN, "interval"),
        [
            (
                row.name,
                row.label,
                f"{sum(row.counts.values()):,}",
                *(f"{row.share(verdict).accuracy:.1f}" for verdict in _SHOWN),
                f"{row.share('opposed').low:.1f}–{row.share('opposed').high:.1f}",
            )
            for row in rows
        ],
        labels=2,
    )
