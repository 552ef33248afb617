"""How often random pairs of frequent words are called related: most of them are not."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray
from pair2vec.experiments.nli.evaluate import LabelAccuracy, wilson_accuracy
from pair2vec.experiments.report.grid import Grid, ReportPart
from pair2vec.relations.definitions import NONE
from pair2vec.relations.relate import UNCLEAR
from pair2vec.relations.word_forms import is_form
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

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
