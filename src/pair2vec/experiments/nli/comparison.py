"""Two classifiers on the same labelled examples: where one is right and the other wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.experiments.nli.classifier import Classifier, Predictions, explain
from pair2vec.experiments.nli.evaluate import LabelAccuracy, SetAccuracy, evaluate_nli
from pair2vec.experiments.nli.examples import LABELS, NliExample, NliSet

Through = Literal["pairs", "words"]
"""What shares are of: what is known of pairs, or alignments of words where nothing is."""

PAIRS_SHOWN = 5
"""The most deciding pairs of an example."""


class Gain(NamedTuple):
    """The accuracy of both on some examples."""

    base: LabelAccuracy
    model: LabelAccuracy

    @property
    def points(self) -> float:
        """What the model has more, in points of percent."""
        return round(self.model.right - self.base.right, 2)


class Verdict(NamedTuple):
    """What a classifier says of an example."""

    label: str
    probabilities: dict[str, float]


class DecidingPair(NamedTuple):
    """A word of the premise, one of the hypothesis, and their share in the label."""

    premise: str
    hypothesis: str
    share: float


class DecisiveExample(NamedTuple):
    """An example that the model gets right and the base wrong, and why."""

    example: NliExample
    base: Verdict
    model: Verdict
    pairs: list[DecidingPair]
    """In the model's label; those that count most first."""


@dataclass(frozen=True)
class Comparison:
    """What two classifiers make of the same examples."""

    whole: Gain
    categories: dict[str, Gain]
    """From the largest gain on; empty for examples that have none."""
    only_base: int
    """Examples that the base alone gets right."""
    only_model: int
    """Examples that the model alone gets right."""
    examples: list[DecisiveExample]
    through: Through

    @property
    def rows(self) -> list[tuple[str, Gain]]:
        """Of all examples, and of each category."""
        return [("all", self.whole), *self.categories.items()]

    @property
    def p_value(self) -> float:
        """Of McNemar's exact test."""
        return mcnemar(self.only_base, self.only_model)


def compare_classifiers(
    base: Classifier, model: Classifier, examples: Sequence[NliExample], shown: int = 10
) -> Comparison:
    """Ask both classifiers about all examples, and explain the `shown` most telling ones.

    Raises:
        UsageError: there are no examples.
    """
    if not examples:
        raise UsageError("no examples to compare classifiers on")
    of_base, of_model = base.predict(examples), model.predict(examples)
    base_right, model_right = _right(examples, of_base), _right(examples, of_model)
    base_scores, model_scores = _scores(examples, of_base), _scores(examples, of_model)
    through: Through = "pairs" if model.network.relations.dimension else "words"
    chosen = decisive_examples(examples, of_base, of_model)[:shown]
    return Comparison(
        whole=Gain(base_scores.whole, model_scores.whole),
        categories=_by_gain(base_scores.categories, model_scores.categories),
        only_base=int((base_right & ~model_right).sum()),
        only_model=int((model_right & ~base_right).sum()),
        examples=[
            DecisiveExample(
                example=examples[number],
                base=_verdict(of_base, number),
                model=_verdict(of_model, number),
                pairs=_deciding_pairs(model, examples[number], through),
            )
            for number in chosen
        ],
        through=through,
    )


def decisive_examples(
    examples: Sequence[NliExample], base: Predictions, model: Predictions
) -> list[int]:
    """The numbers of those that the model alone gets right, the most telling first.

    First the best example of each category, then the second best of each, and so on; better is one
    whose gold label gains more probability.
    """
    only_model = _right(examples, model) & ~_right(examples, base)
    gold = np.array([LABELS.index(example.label) for example in examples], np.int64)
    gains = (model.probabilities - base.probabilities)[np.arange(len(gold)), gold]
    seen: Counter[str | None] = Counter()
    rounds: dict[int, int] = {}
    for number in sorted(np.flatnonzero(only_model).tolist(), key=lambda one: -gains[one]):
        category = examples[number].category
        rounds[number] = seen[category]
        seen[category] += 1
    # Sorting is stable: within a round, the largest gains stay first.
    return sorted(rounds, key=rounds.__getitem__)


def mcnemar(only_base: int, only_model: int) -> float:
    """The two-sided exact test that each classifier is as likely to be the only one right."""
    n = only_base + only_model
    ways, term = 0, 1
    for k in range(min(only_base, only_model) + 1):
        ways += term
        term = term * (n - k) // (k + 1)
    return min(1.0, 2 * ways / (1 << n))


def _right(examples: Sequence[NliExample], said: Predictions) -> NDArray[np.bool_]:
    return np.array([e.label == label for e, label in zip(examples, said.labels, strict=True)])


def _scores(examples: Sequence[NliExample], said: Predictions) -> SetAccuracy:
    return evaluate_nli({"": NliSet(list(examples))}, lambda _: said.labels)[""]


def _by_gain(
    base: Mapping[str, LabelAccuracy], model: Mapping[str, LabelAccuracy]
) -> dict[str, Gain]:
    gains = {name: Gain(base[name], model[name]) for name in base}
    return dict(sorted(gains.items(), key=lambda item: (-item[1].points, item[0])))


def _verdict(said: Predictions, number: int) -> Verdict:
    chances = said.probabilities[number].tolist()
    return Verdict(said.labels[number], dict(zip(LABELS, chances, strict=True)))


def _deciding_pairs(model: Classifier, example: NliExample, through: Through) -> list[DecidingPair]:
    found = [
        DecidingPair(share.premise, share.hypothesis, getattr(share, through))
        for share in explain(model, example, PAIRS_SHOWN).shares
    ]
    # A pair of which nothing is known decides nothing.
    return [pair for pair in found if pair.share]
