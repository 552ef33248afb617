"""Two classifiers on the same examples: accuracies, McNemar's test, and decisive examples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.experiments.nli.classifier import Classifier, Predictions, explain
from pair2vec.experiments.nli.evaluate import LabelAccuracy, score_labels
from pair2vec.experiments.nli.examples import LABELS, NliExample, NliSet

Pathway = Literal["pairs", "words"]
"""Of attributions: relation vectors, or the alignment of words where there are none."""

PAIRS_SHOWN = 5
"""The most decisive pairs of an example."""


class Gain(NamedTuple):
    """The accuracies of base and model on the same examples."""

    base: LabelAccuracy
    model: LabelAccuracy

    @property
    def points(self) -> float:
        """Model less base, in percentage points."""
        return round(self.model.accuracy - self.base.accuracy, 2)


class LabelPrediction(NamedTuple):
    """The predicted label of one example."""

    label: str
    probabilities: dict[str, float]


class DecisivePair(NamedTuple):
    """A word of the premise, one of the hypothesis, and their attribution to the label."""

    premise: str
    hypothesis: str
    attribution: float


class DecisiveExample(NamedTuple):
    """An example that the model gets right and the base wrong, and why."""

    example: NliExample
    base: LabelPrediction
    model: LabelPrediction
    pairs: list[DecisivePair]
    """For the model's label, the largest attribution first."""


@dataclass(frozen=True)
class Comparison:
    """Two classifiers on the same examples."""

    overall: Gain
    categories: dict[str, Gain]
    """The largest gain first; empty for examples without categories."""
    only_base: int
    """Examples that only the base gets right."""
    only_model: int
    """Examples that only the model gets right."""
    examples: list[DecisiveExample]
    pathway: Pathway

    @property
    def rows(self) -> list[tuple[str, Gain]]:
        """The gain on all examples, and on each category."""
        return [("all", self.overall), *self.categories.items()]

    @property
    def p_value(self) -> float:
        """Of McNemar's exact test."""
        return mcnemar(self.only_base, self.only_model)


def compare_classifiers(
    base: Classifier, model: Classifier, examples: Sequence[NliExample], shown: int = 10
) -> Comparison:
    """Predict all examples with both classifiers, and explain the `shown` most decisive ones.

    Raises:
        UsageError: there are no examples.
    """
    if not examples:
        raise UsageError("no examples to compare classifiers on")
    predictions = base.predict(examples), model.predict(examples)
    base_right, model_right = (_is_right(examples, predicted) for predicted in predictions)
    base_scores, model_scores = (
        score_labels(NliSet(list(examples)), predicted.labels) for predicted in predictions
    )
    pathway: Pathway = "pairs" if model.network.relations.dimension else "words"
    return Comparison(
        overall=Gain(base_scores.overall, model_scores.overall),
        categories=_by_gain(base_scores.categories, model_scores.categories),
        only_base=int((base_right & ~model_right).sum()),
        only_model=int((model_right & ~base_right).sum()),
        examples=[
            DecisiveExample(
                example=examples[index],
                base=_prediction(predictions[0], index),
                model=_prediction(predictions[1], index),
                pairs=_decisive_pairs(model, examples[index], pathway),
            )
            for index in decisive_examples(examples, *predictions)[:shown]
        ],
        pathway=pathway,
    )


def decisive_examples(
    examples: Sequence[NliExample], base: Predictions, model: Predictions
) -> list[int]:
    """The indices of examples that only the model gets right, the most decisive first.

    First the best example of each category, then the second best of each, and so on; better is one
    whose gold label gains more probability.
    """
    only_model = _is_right(examples, model) & ~_is_right(examples, base)
    gold = np.array([LABELS.index(example.label) for example in examples], np.int64)
    gains = (model.probabilities - base.probabilities)[np.arange(len(gold)), gold]
    seen: Counter[str | None] = Counter()
    rounds: dict[int, int] = {}
    for index in sorted(np.flatnonzero(only_model).tolist(), key=lambda index: -gains[index]):
        category = examples[index].category
        rounds[index] = seen[category]
        seen[category] += 1
    # Sorting is stable: within a round, the largest gains stay first.
    return sorted(rounds, key=rounds.__getitem__)


def mcnemar(only_base: int, only_model: int) -> float:
    """The p-value of McNemar's exact test: two-sided, of equal odds of being the only one right."""
    n = only_base + only_model
    ways, term = 0, 1
    for k in range(min(only_base, only_model) + 1):
        ways += term
        term = term * (n - k) // (k + 1)
    return min(1.0, 2 * ways / (1 << n))


def _is_right(examples: Sequence[NliExample], predicted: Predictions) -> NDArray[np.bool_]:
    return np.array([e.label == label for e, label in zip(examples, predicted.labels, strict=True)])


def _by_gain(
    base: Mapping[str, LabelAccuracy], model: Mapping[str, LabelAccuracy]
) -> dict[str, Gain]:
    gains = {name: Gain(base[name], model[name]) for name in base}
    return dict(sorted(gains.items(), key=lambda item: (-item[1].points, item[0])))


def _prediction(predicted: Predictions, index: int) -> LabelPrediction:
    probabilities = predicted.probabilities[index].tolist()
    return LabelPrediction(predicted.labels[index], dict(zip(LABELS, probabilities, strict=True)))


def _decisive_pairs(model: Classifier, example: NliExample, pathway: Pathway) -> list[DecisivePair]:
    pairs = [
        DecisivePair(pair.premise, pair.hypothesis, getattr(pair, pathway))
        for pair in explain(model, example, PAIRS_SHOWN).attributions
    ]
    # A pair without a relation vector decides nothing.
    return [pair for pair in pairs if pair.attribution]
