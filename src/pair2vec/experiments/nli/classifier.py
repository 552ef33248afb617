"""All settings of a classifier and of its training, beside the data and its inputs."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.experiments.nli.batches import EncodedExamples, NliBatches
from pair2vec.experiments.nli.esim import Attention, Esim, EsimConfig, attend
from pair2vec.experiments.nli.examples import LABELS, NliExample
from pair2vec.experiments.tasks.batches import batches_by_size
from pair2vec.experiments.tasks.inputs import Inputs, PairsConfig
from pair2vec.experiments.tasks.saved_network import load_network
from pair2vec.experiments.tasks.task import NetworkSpec, SupervisedConfig, assigned
from pair2vec.runtime.cuda_graphs import tree_to
from pair2vec.runtime.devices import autocast
from pair2vec.runtime.prefetch import prefetch
from pair2vec.training.recipes import with_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class NliSettings:
    """The paper's: "AllenNLP's implementations with default hyperparameters"."""

    esim: EsimConfig = field(default_factory=EsimConfig)
    pairs: PairsConfig = field(default_factory=PairsConfig)
    training: SupervisedConfig = field(default_factory=SupervisedConfig)


def nli_settings(assignments: Iterable[str], seed: int = 0) -> NliSettings:
    """The defaults, changed by ``key=value``s as in ``training.batch=256``."""
    return assigned(NliSettings(), assignments, seed)


def nli_settings_from_json(saved: Mapping[str, Any]) -> NliSettings:
    """The settings that ``asdict`` made this of."""
    return with_settings(NliSettings(), saved)


# == A trained classifier: asked, and loaded.
#
# Shapes: E examples.


_AT_ONCE = 256
_AHEAD = 4


def _make(inputs: Inputs, settings: NliSettings) -> Esim:
    return Esim(inputs.embedder, inputs.relations, settings.esim)


CLASSIFIER = NetworkSpec(
    name="nli classifier",
    noun="classifier",
    title="an NLI classifier",
    model="esim",
    command="pair2vec nli train",
    defaults=NliSettings(),
    make=_make,
    facts={"labels": list(LABELS)},
)


class Predictions(NamedTuple):
    """What a classifier says of examples."""

    labels: list[str]
    probabilities: NDArray[np.float32]
    """(E, 3), in the order of `LABELS`."""


@dataclass(frozen=True)
class Classifier:
    """A network that was trained, and what is known of it."""

    network: Esim
    config: Mapping[str, Any]
    device: torch.device

    def predict(self, examples: Sequence[NliExample]) -> Predictions:
        """The likeliest label of each example; its own label does not matter.

        Words that the classifier was not loaded for are unknown to it.
        """
        numbered = EncodedExamples(examples)
        batches = NliBatches(numbered, self.network.embedder, self.network.relations)
        probabilities = predict_batches(self.network, batches, self.device)
        labels = [LABELS[number] for number in probabilities.argmax(axis=1).tolist()]
        return Predictions(labels, probabilities)


@torch.no_grad()
def predict_batches(
    network: Esim, batches: NliBatches, device: torch.device
) -> NDArray[np.float32]:
    """The probability of each label for each example, (E, 3)."""
    was_training = network.training
    network.eval()
    orders = batches_by_size(batches.sizes, _AT_ONCE)
    made = (tree_to(batches.batch(numbers), device) for numbers in orders)
    with autocast(device):
        ready = prefetch(made, _AHEAD) if device.type == "cuda" else made
        found = [network(batch).softmax(dim=-1) for batch in ready]
    network.train(was_training)
    probabilities = np.zeros((len(batches), len(LABELS)), np.float32)
    if orders:
        probabilities[np.concatenate(orders)] = torch.cat(found).cpu().numpy()
    return probabilities


def load_classifier(
    folder: str | os.PathLike[str],
    words: Iterable[str],
    *,
    places: Mapping[str, str | None] | None = None,
    device: str = "auto",
) -> Classifier:
    """Open a classifier for these words; see `load_network`.

    Raises:
        InputError: there is none, it is not complete, or its inputs are not those it had.
    """
    return Classifier(*load_network(CLASSIFIER, folder, words, places=places, device=device))


# == Which pairs of words made a classifier choose a label.
#
# The margin z is the score of the label less the mean score of the others. Attention α reaches it in
# two ways: through the words that each word is aligned with, ā_i = Σ_j α_ij b_j, and through what is
# known of the pairs, r_i = Σ_j α_ij r_ij. The share of the pair (i, j) in one of these ways is
#
#     α_ij ∂z/∂α_ij + β_ji ∂z/∂β_ji
#
# where only the attention of that way varies: to first order, what z would lose if the pair's part of
# the sum were left out. A positive share speaks for the label, a negative one against it.
#
# Shapes: n and m words of premise and hypothesis.


class PairShare(NamedTuple):
    """A word of the premise and one of the hypothesis."""

    premise: str
    hypothesis: str
    pairs: float
    """The share through what is known of the pair."""
    words: float
    """The share through the alignment of the two words."""
    attention: float
    """The mean of α and β."""


class Explanation(NamedTuple):
    """What a classifier says of an example, and why."""

    label: str
    probabilities: dict[str, float]
    shares: list[PairShare]
    """Those that count most first: by what is known of pairs, or by words if nothing is."""


def explain(classifier: Classifier, example: NliExample, top: int = 10) -> Explanation:
    """Label an example, and say which pairs of words mattered most."""
    network, device = classifier.network.eval(), classifier.device
    batches = NliBatches(EncodedExamples([example]), network.embedder, network.relations)
    batch = tree_to(batches.batch(np.zeros(1, np.int64)), device)
    # cuDNN has no gradients of a network that is not training.
    with torch.backends.cudnn.flags(enabled=False):
        with torch.no_grad():
            encoded = network.encode(batch)
            found = attend(encoded, batch)
        ways = [Attention(*(part.clone().requires_grad_() for part in found)) for _ in range(2)]
        with torch.enable_grad():
            scores = network.classify(batch, encoded, *ways)[0]
            label = int(scores.argmax())
            margin = scores[label] - (scores.sum() - scores[label]) / (len(LABELS) - 1)
        by_words, by_pairs = _shares(margin, ways)
    probabilities = scores.detach().softmax(dim=-1).tolist()
    attention = (found.of_a + found.of_b.mT)[0] / 2
    shares = _ranked(example, by_pairs, by_words, attention)
    return Explanation(LABELS[label], dict(zip(LABELS, probabilities, strict=True)), shares[:top])


def _shares(margin: Tensor, ways: Sequence[Attention]) -> list[Tensor]:
    """Of each pair in each way, (n, m)."""
    leaves = [part for way in ways for part in way]
    found = torch.autograd.grad(margin, leaves, allow_unused=True, materialize_grads=True)
    shares = [(leaf * gradient).detach()[0] for leaf, gradient in zip(leaves, found, strict=True)]
    return [of_a + of_b.mT for of_a, of_b in zip(shares[::2], shares[1::2], strict=True)]


def _ranked(
    example: NliExample, by_pairs: Tensor, by_words: Tensor, attention: Tensor
) -> list[PairShare]:
    shares = [
        PairShare(
            premise,
            hypothesis,
            float(by_pairs[i, j]),
            float(by_words[i, j]),
            float(attention[i, j]),
        )
        for i, premise in enumerate(example.premise)
        for j, hypothesis in enumerate(example.hypothesis)
    ]
    # Without relations all shares of pairs are zero, and words decide.
    return sorted(shares, key=lambda share: (-abs(share.pairs), -abs(share.words)))
