"""A trained classifier: asked, and loaded.

Shapes: E examples.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from pair2vec.nli.batches import NliBatches, NumberedExamples
from pair2vec.nli.esim import Esim
from pair2vec.nli.examples import LABELS, NliExample
from pair2vec.nli.settings import NliSettings
from pair2vec.supervised.batch_tensors import moved
from pair2vec.supervised.inputs import Inputs
from pair2vec.supervised.network_kind import NetworkKind
from pair2vec.supervised.order import batches_by_size
from pair2vec.supervised.saved_network import load_network
from pair2vec.training.devices import computing
from pair2vec.triples.ahead import made_ahead

_AT_ONCE = 256
_AHEAD = 4


def _make(inputs: Inputs, settings: NliSettings) -> Esim:
    return Esim(inputs.embedder, inputs.relations, settings.esim)


CLASSIFIER = NetworkKind(
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
        numbered = NumberedExamples(examples)
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
    made = (moved(batches.batch(numbers), device) for numbers in orders)
    with computing(device):
        ready = made_ahead(made, _AHEAD) if device.type == "cuda" else made
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
