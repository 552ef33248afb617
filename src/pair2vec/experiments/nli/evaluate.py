"""How often a classifier, or WordNet alone, labels examples of NLI rightly, with intervals."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pair2vec.errors import UsageError
from pair2vec.experiments.nli.examples import NliExample, NliSet, read_set
from pair2vec.experiments.nli.wordnet_rule import wordnet_label
from pair2vec.wordnet.dictionary import WordNet

Labeller = Callable[[Sequence[NliExample]], Sequence[str | None]]
"""A label for each example; None for one that it has no label for, which counts as wrong."""

RULE = "wordnet rule"
"""What results call the labeller that asks WordNet alone."""

_Z = 1.959964
"""Standard deviations on each side of the mean that hold 95 % of a normal distribution."""


class LabelAccuracy(NamedTuple):
    """In percent, with an interval of 95 %."""

    n: int
    right: float
    low: float
    high: float


@dataclass(frozen=True)
class SetAccuracy:
    """Of one set of examples."""

    whole: LabelAccuracy
    dropped: int
    """Examples without a gold label, which were not asked."""
    answered: float
    """The share of examples that got a label at all, in percent."""
    categories: Mapping[str, LabelAccuracy] = field(default_factory=dict)
    """Of Breaking NLI, from the largest on."""


def accuracy(right: Sequence[bool]) -> LabelAccuracy:
    """With Wilson's interval, which stays within 0 and 100 also for few examples."""
    n, share = len(right), sum(right) / max(1, len(right))
    if not n:
        return LabelAccuracy(0, 0.0, 0.0, 100.0)
    spread = _Z * math.sqrt(share * (1 - share) / n + (_Z / (2 * n)) ** 2)
    middle = share + _Z**2 / (2 * n)
    low, high = ((middle + sign * spread) / (1 + _Z**2 / n) for sign in (-1, 1))
    # Rounding errors reach below 0 and above 1.
    within = (min(1.0, max(0.0, value)) for value in (share, low, high))
    return LabelAccuracy(n, *(round(100 * value, 2) for value in within))


def evaluate_nli(sets: Mapping[str, NliSet], labeller: Labeller) -> dict[str, SetAccuracy]:
    """The accuracy on each set."""
    return {name: _examine(found, labeller(found.examples)) for name, found in sets.items()}


def _examine(found: NliSet, labels: Sequence[str | None]) -> SetAccuracy:
    right = [e.label == label for e, label in zip(found.examples, labels, strict=True)]
    by_category: dict[str, list[bool]] = {}
    for example, is_right in zip(found.examples, right, strict=True):
        if example.category is not None:
            by_category.setdefault(example.category, []).append(is_right)
    ordered = sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0]))
    answered = sum(label is not None for label in labels) / max(1, len(labels))
    return SetAccuracy(
        accuracy(right),
        found.dropped,
        round(100 * answered, 2),
        {name: accuracy(answers) for name, answers in ordered},
    )


def wordnet_labeller(wordnet: WordNet) -> Labeller:
    """The rule baseline of Glockner et al.: what WordNet says of the words that differ."""
    return lambda examples: [wordnet_label(wordnet, e.premise, e.hypothesis) for e in examples]


def read_nli_sets(paths: Sequence[str], named: Sequence[str] = ()) -> dict[str, NliSet]:
    """Sets by name: that which a file's content or name tells, or the one given as ``NAME=FILE``.

    Raises:
        UsageError: it cannot be told which set a file is, or two are the same.
    """
    given = [_split_name(text) for text in named]
    sets: dict[str, NliSet] = {}
    for path, name in [*((path, "") for path in paths), *given]:
        found = read_set(path)
        own = name or nli_set_name(path, found)
        if own in sets:
            raise UsageError(f"{path}: is a second {own}; name one of them: --as NAME=FILE")
        sets[own] = found
    if not sets:
        raise UsageError("no examples to label; name files of them as --data")
    return sets


def _split_name(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise UsageError(f"--as {text}: expected NAME=FILE, as in snli_test=mine.jsonl")
    return path, name


def nli_set_name(path: str, found: NliSet) -> str:
    """Which of the known sets a file is, as in ``snli_test`` or ``multinli_matched``.

    Raises:
        UsageError: neither its content nor its name tells.
    """
    name = Path(path).name.lower()
    if "replaced_words" in name:  # made by benchmarks/replaced_words.py, with categories too
        return "replaced_words"
    if any(example.category for example in found.examples) or "breaking" in name:
        return "breaking_nli"
    if "multinli" in name or "mnli" in name:
        # The longer word first: each is in the other.
        for part in ("mismatched", "matched", "train"):
            if part in name:
                return f"multinli_{part}"
    elif "snli" in name:
        for part in ("test", "dev", "train"):
            if part in name:
                return f"snli_{part}"
    raise UsageError(
        f"{path}: neither its content nor its name tells which set it is; say --as NAME={path}"
    )
