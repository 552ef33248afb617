"""The NLI classifier: settings, loading, prediction, and explanations of a label.

Shapes: E examples, n and m words of premise and hypothesis.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.experiments.nli.batches import EncodedExamples, NliBatches
from pair2vec.experiments.nli.esim import Attention, Esim, EsimConfig
from pair2vec.experiments.nli.evaluate import ESIM, KIM
from pair2vec.experiments.nli.examples import LABELS, NliExample
from pair2vec.experiments.nli.kim import Kim, KimConfig
from pair2vec.experiments.tasks.batches import evaluating
from pair2vec.experiments.tasks.inputs import Inputs, PairsConfig
from pair2vec.experiments.tasks.saved_network import load_network
from pair2vec.experiments.tasks.task import (
    LoadOptions,
    NetworkSpec,
    SupervisedConfig,
    Trained,
    assigned,
)
from pair2vec.ranges import OneOf, check_ranges
from pair2vec.runtime.cuda_graphs import tree_to

_EVAL_BATCH = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class NliSettings:
    """The paper's: "AllenNLP's implementations with default hyperparameters"."""

    model: Annotated[str, OneOf((ESIM, KIM))] = ESIM
    """"esim", or "kim", which needs WordNet."""
    esim: EsimConfig = field(default_factory=EsimConfig)
    kim: KimConfig = field(default_factory=KimConfig)
    pairs: PairsConfig = field(default_factory=PairsConfig)
    training: SupervisedConfig = field(default_factory=SupervisedConfig)

    def __post_init__(self) -> None:
        check_ranges(self)


def nli_settings(assignments: Iterable[str], seed: int = 0) -> NliSettings:
    """The defaults, changed by ``key=value`` assignments such as ``training.batch=256``."""
    return assigned(NliSettings(), assignments, seed)


def _make(inputs: Inputs, settings: NliSettings) -> Esim:
    if settings.model == KIM:
        return Kim(inputs.embedder, inputs.relations, settings.esim, settings.kim)
    return Esim(inputs.embedder, inputs.relations, settings.esim)


CLASSIFIER = NetworkSpec(
    name="nli classifier",
    noun="classifier",
    title="an NLI classifier",
    model=ESIM,
    command="pair2vec nli train",
    defaults=NliSettings(),
    make=_make,
    facts={"labels": list(LABELS)},
)


class Predictions(NamedTuple):
    """The predicted label of each example, and the probabilities of all labels."""

    labels: list[str]
    probabilities: NDArray[np.float32]
    """(E, 3), in the order of `LABELS`."""


class Classifier(Trained[Esim]):
    """A trained ESIM or KIM."""

    def predict(self, examples: Sequence[NliExample]) -> Predictions:
        """The most probable label of each example, whose gold label is ignored.

        Words that the classifier was not loaded for are unknown to it.
        """
        network = self.network
        batches = NliBatches(EncodedExamples(examples), network.embedder, network.relations)
        probabilities = predict_probabilities(network, batches, self.device)
        labels = [LABELS[index] for index in probabilities.argmax(axis=1).tolist()]
        return Predictions(labels, probabilities)


def predict_probabilities(
    network: Esim, batches: NliBatches, device: torch.device
) -> NDArray[np.float32]:
    """The probability of each label for each example, (E, 3)."""
    probabilities = np.zeros((len(batches.sizes), len(LABELS)), np.float32)
    with evaluating(network, batches, device, _EVAL_BATCH) as on_device:
        # Copied to the CPU at the end: a copy waits for the device.
        predicted = [(indices, network(batch).softmax(dim=-1)) for batch, indices in on_device]
    for indices, batch_probabilities in predicted:
        probabilities[indices] = batch_probabilities.cpu().numpy()
    return probabilities


def load_classifier(
    folder: str | os.PathLike[str], words: Iterable[str], **options: Unpack[LoadOptions]
) -> Classifier:
    """Open a saved classifier for these words; see `load_network`."""
    return Classifier(*load_network(CLASSIFIER, folder, words, **options))


class PairAttribution(NamedTuple):
    """How much a word of the premise and one of the hypothesis contribute to a label."""

    premise: str
    hypothesis: str
    pairs: float
    """Through the relation vector of the pair."""
    words: float
    """Through the alignment of the two words."""
    attention: float
    """The mean of α and β."""


class Explanation(NamedTuple):
    """The predicted label of an example, and the pairs of words that it is due to."""

    label: str
    probabilities: dict[str, float]
    attributions: list[PairAttribution]
    """The largest first: through relation vectors, or through words if there are none."""


def explain(classifier: Classifier, example: NliExample, top: int = 10) -> Explanation:
    """Label an example, and attribute the label to pairs of words.

    The margin z is the score of the label less the mean score of the others. Attention α reaches
    it in two ways: through the words that each word is aligned with, ā_i = Σ_j α_ij b_j, and
    through relation vectors, r_i = Σ_j α_ij r_ij. The attribution of the pair (i, j) in one way is

        α_ij ∂z/∂α_ij + β_ji ∂z/∂β_ji

    where only the attention of that way varies: to first order, what z would lose without the
    pair's term of the sum. A positive attribution supports the label, a negative one opposes it.
    """
    network, device = classifier.network.eval(), classifier.device
    batches = NliBatches(EncodedExamples([example]), network.embedder, network.relations)
    batch = tree_to(batches.batch(np.zeros(1, np.int64)), device)
    # cuDNN has no gradients of an LSTM in eval mode.
    with torch.backends.cudnn.flags(enabled=False):
        with torch.no_grad():
            encoded = network.encode(batch)
            attention = network.attend(batch, encoded)
        leaves = [Attention(*(part.clone().requires_grad_() for part in attention)) for _ in (0, 1)]
        with torch.enable_grad():
            scores = network.classify(batch, encoded, *leaves)[0]
            label = int(scores.argmax())
            margin = scores[label] - (scores.sum() - scores[label]) / (len(LABELS) - 1)
        by_words, by_pairs = _attributions(margin, leaves)
    mean_attention = (attention.a_to_b + attention.b_to_a.mT)[0] / 2
    attributions = [
        PairAttribution(
            premise,
            hypothesis,
            float(by_pairs[i, j]),
            float(by_words[i, j]),
            float(mean_attention[i, j]),
        )
        for i, premise in enumerate(example.premise)
        for j, hypothesis in enumerate(example.hypothesis)
    ]
    # Without relation vectors all attributions through pairs are zero, and words decide.
    attributions.sort(key=lambda pair: (-abs(pair.pairs), -abs(pair.words)))
    probabilities = scores.detach().softmax(dim=-1).tolist()
    named = dict(zip(LABELS, probabilities, strict=True))
    return Explanation(LABELS[label], named, attributions[:top])


def _attributions(margin: Tensor, ways: Sequence[Attention]) -> list[Tensor]:
    """Attention times gradient of each pair, (n, m) for each way."""
    leaves = [part for way in ways for part in way]
    gradients = torch.autograd.grad(margin, leaves, allow_unused=True, materialize_grads=True)
    products = [
        (leaf * gradient).detach()[0] for leaf, gradient in zip(leaves, gradients, strict=True)
    ]
    return [
        a_to_b + b_to_a.mT for a_to_b, b_to_a in zip(products[::2], products[1::2], strict=True)
    ]
