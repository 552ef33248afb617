"""Relations of WordNet's pairs whose words no teacher's labels were learned from.

Shapes: N pairs, K relations.
"""

import lzma
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.report.grid import Grid, ReportPart
from pair2vec.relations.definitions import NONE, read_definitions
from pair2vec.relations.relations import Relations
from pair2vec.relations.scores import EIGHT, RelationScores, relation_scores
from pair2vec.teaching.labels import PARTS, Part, RelationNames

PAIRS_FILE = "wordnet_pairs.tsv.xz"
ALWAYS_NONE = "always none"
"""The baseline that says of every pair that it is in no relation."""
ALL, LABELLED, NOT_LABELLED = "all", "labelled by the teachers", "not labelled"
"""The pairs that scores are of."""

_REPORTED: Part = "test"
_XZ = b"\xfd7zXZ\x00"
_COLUMNS = ("part", "x", "y", "relation", "labelled")


class HeldOutPair(NamedTuple):
    """Two words and what the second is to the first, by WordNet."""

    x: str
    y: str
    relation: str
    labelled: bool
    """Whether it was among the candidates that the teachers labelled, by their own judgement."""


class HeldOutScores(NamedTuple):
    """How well relations are told of held-out pairs."""

    dropped: int
    """Pairs with a word that the model does not know."""
    examples: int
    """Of the others, those that are built-in examples, which the baseline is fitted to."""
    unrelated: float
    """The share of the others that are in no relation, in percent."""
    rows: dict[str, dict[str, RelationScores]]
    """By what predicts, and by the pairs; pairs of which there are none are left out."""

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        rows = {
            name: {pairs: _rounded(scores) for pairs, scores in row.items()}
            for name, row in self.rows.items()
        }
        return {**self._asdict(), "unrelated": round(self.unrelated, 2), "rows": rows}


def _rounded(scores: RelationScores) -> dict[str, object]:
    numbers = {name: round(value, 2) for name, value in scores.f1.items()}
    return {
        "pairs": scores.pairs,
        "macro_f1": round(scores.macro_f1, 2),
        "f1": numbers,
        "synonym_or_antonym": round(scores.synonym_or_antonym, 2),
        "calibration_error": round(scores.calibration_error, 2),
    }


def read_held_out_pairs(path: Path | None = None) -> list[HeldOutPair]:
    """The pairs to report on, of a file that also has those to choose and calibrate by.

    Args:
        path: Tab-separated, plain or compressed with xz: a line of titles, then part, x, y, the
            relation of x to y, and 1 or 0 for whether teachers labelled it; by default that of
            the package.

    Raises:
        InputError: there is no such file, a line is damaged, or there is no pair to report on.
    """
    source = path or Path(str(files(__package__) / "data" / PAIRS_FILE))
    names = {*(definition.name for definition in read_definitions()), NONE}
    pairs = [
        HeldOutPair(x, y, relation, labelled == "1")
        for own, x, y, relation, labelled in _rows(source, names)
        if own == _REPORTED
    ]
    if not pairs:
        raise InputError(f"{source}: has no pair of the part {_REPORTED!r}")
    return pairs


def _rows(path: Path, names: set[str]) -> Iterator[list[str]]:
    titles, *lines = _read_text(path).removesuffix("\n").split("\n")
    if titles.split("\t")[0] != _COLUMNS[0]:
        raise InputError(f"{path}, line 1: expected the titles {', '.join(_COLUMNS)}")
    for number, line in enumerate(lines, start=2):
        values = line.split("\t")
        is_whole = len(values) == len(_COLUMNS) and all(values)
        if not is_whole or values[0] not in PARTS or values[-1] not in {"0", "1"}:
            raise InputError(
                f"{path}, line {number}: expected {', '.join(_COLUMNS)} with tabs between, as in "
                f"'test hot cold antonym 1', got {line!r}"
            )
        if values[3] not in names:
            raise InputError(
                f"{path}, line {number}: relation {values[3]!r} must be one of "
                f"{', '.join(sorted(names))}"
            )
        yield values


def _read_text(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"{path}: no such file; give one of held-out pairs as --pairs FILE")
    content = path.read_bytes()
    try:
        plain = lzma.decompress(content) if content.startswith(_XZ) else content
        return plain.decode()
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is damaged: {error}") from error


def score_held_out_pairs(
    model: Pair2vec, scorers: Mapping[str, Relations], pairs: Sequence[HeldOutPair]
) -> HeldOutScores:
    """Scores in eight classes, of each scorer and of `ALWAYS_NONE`.

    Raises:
        UsageError: the model knows both words of no pair.
    """
    x, y, known = model.space.look_up_pairs(((pair.x, pair.y) for pair in pairs), "zero")
    kept = [pair for pair, is_known in zip(pairs, known.tolist(), strict=True) if is_known]
    if not kept:
        raise UsageError(f"the model knows both words of none of {len(pairs):,} held-out pairs")
    definitions = read_definitions()
    names, inverse = RelationNames.of_definitions(definitions)
    examples = {(*pair, d.name) for d in definitions for pair in d.all_examples}
    tables = {
        name: _columns(relations.probabilities(x[known], y[known]), relations.names, names)
        for name, relations in scorers.items()
    }
    tables[ALWAYS_NONE] = np.tile(np.eye(len(names), dtype=np.float32)[-1], (len(kept), 1))
    labels = np.array([names.index(pair.relation) for pair in kept], np.int64)
    labelled = np.array([pair.labelled for pair in kept], np.bool_)
    chosen = {ALL: np.ones_like(labelled), LABELLED: labelled, NOT_LABELLED: ~labelled}
    return HeldOutScores(
        len(pairs) - len(kept),
        sum((pair.x, pair.y, pair.relation) in examples for pair in kept),
        100 * sum(pair.relation == NONE for pair in kept) / len(kept),
        {
            name: {
                which: relation_scores(table[rows], labels[rows], names, inverse)
                for which, rows in chosen.items()
                if rows.any()
            }
            for name, table in tables.items()
        },
    )


def _columns(probabilities: FloatArray, names: Sequence[str], wanted: Sequence[str]) -> FloatArray:
    """The probabilities (N, K) in another order of the relations; zero for one that is lacking."""
    others = sorted(set(names) - set(wanted))
    if others:
        raise UsageError(
            f"relation {others[0]!r} of the model is none of those that WordNet's pairs are in: "
            f"{', '.join(wanted)}"
        )
    table = np.zeros((len(probabilities), len(wanted)), np.float32)
    table[:, [wanted.index(name) for name in names]] = probabilities
    return table


def held_out_part(scores: HeldOutScores) -> ReportPart:
    """For a terminal: what predicts, side by side, on each kind of pairs."""
    return ReportPart(
        "WordNet, unseen words",
        [_grid(scores, which) for which in (ALL, LABELLED, NOT_LABELLED)],
        [
            "In percent. Pairs of words of the test part, a quarter of all by a hash: no label of "
            "WordNet of theirs was learned from; the words of the dev part were calibrated on. "
            "Relations that WordNet has as kinds of these eight classes are counted as these. "
            "Synonym or antonym: of the pairs that are one of the two, the mean of the shares told "
            "rightly.",
            f"Left out because a word is unknown: {scores.dropped:,} pairs. Built-in examples, to "
            f"which the baseline is fitted: {scores.examples:,} of the pairs.",
            "Labelled by the teachers: a language model and word vectors that had learned from "
            "other words said what they took the pair for, and the head was taught that.",
            f"Wrong with the data: {scores.unrelated:.0f} % of the pairs are in no relation, far "
            "fewer than in text; what WordNet does not connect counts as none, also where a person "
            "would see a relation; a pair has one relation, whatever its other senses; and the "
            "language model may have read WordNet.",
        ],
    )


def _grid(scores: HeldOutScores, which: str) -> Grid:
    columns = {name: row[which] for name, row in scores.rows.items() if which in row}
    pairs = max((row.pairs for row in columns.values()), default=0)
    figures = {
        "macro-F1": [row.macro_f1 for row in columns.values()],
        **{f"F1, {name}": [row.f1[name] for row in columns.values()] for name in EIGHT},
        "synonym or antonym": [row.synonym_or_antonym for row in columns.values()],
        "calibration error": [row.calibration_error for row in columns.values()],
    }
    rows = [(name, *(f"{share:.1f}" for share in shares)) for name, shares in figures.items()]
    return Grid(f"WordNet, unseen words: {which}, {pairs:,} pairs", ("", *columns), rows)
