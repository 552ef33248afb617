"""How well a model says which relation holds: on held-out words, and on what users ask it.

Four parts, each of which fails in another way: WordNet's pairs of words that nothing was learned
from (`held_out_pairs`), opposites and synonyms of software talk, random pairs, most of which are in
no relation, and the lists of the explorer's Word tab, judged by hand (`handwritten`).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Group
from rich.text import Text

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray
from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation.handwritten import (
    SoftwareScores,
    WordTabScores,
    read_software_talk,
    read_word_tab,
    score_software_talk,
    score_word_tab,
    software_part,
    word_tab_part,
)
from pair2vec.experiments.evaluation.held_out_pairs import (
    ALL,
    PAIRS_FILE,
    HeldOutPair,
    HeldOutScores,
    held_out_part,
    score_held_out_pairs,
)
from pair2vec.experiments.evaluation.results import RunResult, command_line, model_provenance
from pair2vec.experiments.nli.evaluate import LabelAccuracy, wilson_accuracy
from pair2vec.experiments.report.grid import Grid, ReportPart, grid_table
from pair2vec.model.folder import SavedModel
from pair2vec.relations.definitions import NONE, read_definitions
from pair2vec.relations.head import read_head_config
from pair2vec.relations.regression import UNRELATED
from pair2vec.relations.relate import UNCLEAR
from pair2vec.relations.relations import THRESHOLD, Relations
from pair2vec.relations.word_forms import is_form
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

HEAD, FITTED = "relation head", "fitted to the built-in examples"
"""What predicts relations: a taught model has both, the second as a baseline."""

RANDOM_PAIRS = 100_000
RANDOM_WORDS = 20_000
"""They are of so many most frequent words."""
RANDOM_SEED = 0

_MOST_CONFIDENT = 20
_DRAWS = 20
"""How often pairs are drawn anew at most, where forms of one word left too few."""


class RandomPair(NamedTuple):
    """A random pair that is called related."""

    x: str
    y: str
    relation: str
    probability: float


class RandomScores(NamedTuple):
    """How often random pairs are called related."""

    called: LabelAccuracy
    """The share of pairs in percent, with its interval."""
    by_relation: dict[str, int]
    """How many are called so, the most frequent relation first."""
    most_confident: list[RandomPair]

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        n, share, low, high = self.called
        pairs = [pair._asdict() for pair in self.most_confident]
        figures = {"pairs": n, "called_related": share, "interval": [low, high]}
        return {**figures, "by_relation": self.by_relation, "most_confident": pairs}


@dataclass(frozen=True, kw_only=True)
class RelateProtocol:
    """What the figures depend on."""

    model: str
    predicts: str
    """`HEAD` or `FITTED`: what the figures of the model are of."""
    vocabulary: int
    pairs: str
    """The file of held-out pairs."""
    own_pairs: bool
    """Whether it is another than that of the package."""
    unrelated: float
    """The share of pairs without a relation that the probabilities are calibrated for."""
    thresholds: dict[str, float]
    """Of each relation: one that is less probable is not named."""
    random_words: int = RANDOM_WORDS
    random_seed: int = RANDOM_SEED

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        names = ("model", "predicts", "vocabulary", "pairs", "unrelated", "thresholds")
        shown = {name: getattr(self, name) for name in names}
        return {**shown, "random_words": self.random_words, "random_seed": self.random_seed}


@dataclass(frozen=True, kw_only=True)
class RelateResult:
    """The figures of the four parts."""

    held_out: HeldOutScores
    software: dict[str, SoftwareScores]
    """By what predicts."""
    unknown_software_words: list[str]
    random: RandomScores
    word_tab: WordTabScores
    protocol: RelateProtocol

    def metrics(self) -> dict[str, int | float | None]:
        """The figures of the model itself, in percent where they are shares."""
        scores = self.held_out.rows[self.protocol.predicts][ALL]
        return {
            "macro_f1": round(scores.macro_f1, 2),
            **{f"{name}_f1": round(scores.f1[name], 2) for name in ("antonym", "synonym")},
            "synonym_or_antonym": round(scores.synonym_or_antonym, 2),
            "calibration_error": round(scores.calibration_error, 2),
            "wordnet_pairs": scores.pairs,
            **self.software[self.protocol.predicts].figures(),
            "random_called_related": self.random.called.accuracy,
            "word_tab_right": self.word_tab.count("right"),
            "word_tab_entries": len(self.word_tab.entries),
        }

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        software = {
            name: {**scores.figures(), "pairs": [called.to_json() for called in scores.pairs]}
            for name, scores in self.software.items()
        }
        return {
            "wordnet": self.held_out.to_json(),
            "software_talk": {"unknown": self.unknown_software_words, "rows": software},
            "random_pairs": self.random.to_json(),
            "word_tab": self.word_tab.to_json(),
            "protocol": self.protocol.to_json(),
        }

    def to_run_result(self, saved: SavedModel) -> RunResult:
        """The record of the run."""
        protocol = self.protocol
        options = {"--model": saved.folder.resolve().name}
        own = {"--pairs": Path(protocol.pairs).name} if protocol.own_pairs else {}
        names = {"model": Path(protocol.model).name, "pairs": Path(protocol.pairs).name}
        return {
            "task": "relate",
            **model_provenance(saved),
            **({"data": names["pairs"]} if own else {}),
            "metrics": self.metrics(),
            **self.to_json(),
            "protocol": {**protocol.to_json(), **names},
            "command": command_line(["eval", "relate"], options | own),
        }


def evaluate_relate(
    model: Pair2vec,
    pairs: Sequence[HeldOutPair],
    file: Path | None = None,
    *,
    random_pairs: int = RANDOM_PAIRS,
    report: Callable[[str], None] = lambda _: None,
) -> RelateResult:
    """Ask a model for all four parts, and on the first two what it would say untaught.

    Args:
        model: The model to evaluate.
        pairs: Held out from what it was taught.
        file: Where they are from; None is the file of the package.
        random_pairs: How many.
        report: Called with what is being done.
    """
    scorers = find_scorers(model, report)
    predicts = next(iter(scorers))
    report(f"{len(pairs):,} pairs of held-out words")
    held_out = score_held_out_pairs(model, scorers, pairs)
    talk = read_software_talk()
    software = {
        name: score_software_talk(model, relations, talk) for name, relations in scorers.items()
    }
    words = sorted({word for pair in talk for word in (pair.x, pair.y)})
    report(f"{random_pairs:,} random pairs")
    return RelateResult(
        held_out=held_out,
        software=software,
        unknown_software_words=[word for word in words if word not in model.vocabulary],
        random=score_random_pairs(model, draw_random_pairs(model.vocabulary, random_pairs)),
        word_tab=score_word_tab(model, read_word_tab()),
        protocol=RelateProtocol(
            model=str(model.saved.folder),
            predicts=predicts,
            vocabulary=len(model.vocabulary) - len(SPECIAL_TOKENS),
            pairs=str(file or PAIRS_FILE),
            own_pairs=file is not None,
            thresholds=dict(
                zip(
                    scorers[predicts].names,
                    np.round(scorers[predicts].thresholds.astype(np.float64), 2).tolist(),
                    strict=True,
                )
            ),
            unrelated=read_head_config(model.saved).unrelated if predicts == HEAD else UNRELATED,
        ),
    )


def find_scorers(
    model: Pair2vec, report: Callable[[str], None] = lambda _: None
) -> Mapping[str, Relations]:
    """What predicts relations: the model's own first; of a taught one, the untaught as well."""
    if not model.saved.has_head:
        return {FITTED: model.relations()}
    # To all that a head is taught: held-out pairs are in each of them.
    fitted = Relations(read_definitions(), model.space)
    try:
        # They are fitted at the first query, which fails where a relation has no known word.
        fitted.probabilities(np.zeros(0, np.intp), np.zeros(0, np.intp))
    except UsageError as error:
        report(f"no baseline: {error}")
        return {HEAD: model.relations()}
    return {HEAD: model.relations(), FITTED: fitted}


def draw_random_pairs(
    vocabulary: Vocabulary, count: int = RANDOM_PAIRS, *, seed: int = RANDOM_SEED
) -> list[tuple[str, str]]:
    """Pairs of two frequent words that are no forms of one; the same for the same vocabulary."""
    words = vocabulary.words[len(SPECIAL_TOKENS) :][:RANDOM_WORDS]
    random = np.random.default_rng(seed)
    pairs: list[tuple[str, str]] = []
    for _ in range(_DRAWS):
        drawn = random.integers(0, max(1, len(words)), (count, 2)).tolist() if words else []
        pairs += [(words[a], words[b]) for a, b in drawn if not is_form(words[a], words[b])]
        if len(pairs) >= count:
            break
    return pairs[:count]


def score_random_pairs(model: Pair2vec, pairs: Sequence[tuple[str, str]]) -> RandomScores:
    """How many of the pairs the model calls related."""
    batch = model.relate_many(pairs)
    names = batch.names.tolist()
    is_called = [name not in {NONE, UNCLEAR} for name in names]
    confidence: FloatArray = batch.probabilities.max(axis=1, initial=0)
    order = np.argsort(-confidence, kind="stable").tolist()
    first = [n for n in order if is_called[n]][:_MOST_CONFIDENT]
    counts = Counter(name for name, is_so in zip(names, is_called, strict=True) if is_so)
    return RandomScores(
        wilson_accuracy(is_called),
        dict(counts.most_common()),
        [
            RandomPair(pairs[n][0], pairs[n][1], names[n], round(float(confidence[n]), 4))
            for n in first
        ],
    )


def relate_tables(result: RelateResult) -> Group:
    """For a terminal: the four parts, each with its protocol and what is wrong with its data."""
    parts = [
        held_out_part(result.held_out),
        software_part(result.software, result.unknown_software_words),
        random_part(result.random),
        word_tab_part(result.word_tab),
    ]
    protocol = result.protocol
    higher = ", ".join(
        f"{name} {value:g}" for name, value in protocol.thresholds.items() if value > THRESHOLD
    )
    last = Text(
        f"{protocol.predicts} of {protocol.model}: {protocol.vocabulary:,} words; probabilities "
        f"are for pairs of which {100 * protocol.unrelated:.0f} % are in no relation, and a "
        f"relation is named from {THRESHOLD:g} on{f' ({higher})' if higher else ''}."
    )
    return Group(*(_shown(part) for part in parts), last)


def _shown(part: ReportPart) -> Group:
    notes = (Text(note, style="dim") for note in part.notes)
    return Group(*map(grid_table, part.grids), *notes, "")


def random_part(scores: RandomScores) -> ReportPart:
    """For a terminal."""
    n, share, low, high = scores.called
    rows = [("called related", f"{share:.2f} ({low:.2f}–{high:.2f})")]
    rows += [(name, f"{100 * count / max(1, n):.2f}") for name, count in scores.by_relation.items()]
    return ReportPart(
        "Random pairs",
        [Grid("Random pairs", ("", "% of pairs"), rows)],
        [
            f"{n:,} pairs of the {RANDOM_WORDS:,} most frequent words, seed {RANDOM_SEED}; no two "
            "forms of one word. Called related: relate gives another name than none or unclear. "
            "With Wilson's interval of 95 %, as if no word were in two pairs.",
            "Wrong with the data: nobody has judged these pairs, and some are related, two animals "
            "or two cities, say; the share is a limit to false alarms, not their rate. --json has "
            f"the {_MOST_CONFIDENT} most confident ones.",
        ],
    )
