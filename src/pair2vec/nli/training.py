"""From labelled examples to a classifier's folder: what ``pair2vec nli train`` does."""

from pathlib import Path
from typing import Unpack

from torch import Tensor, nn

from pair2vec.nli.batches import NliBatch, NliBatches
from pair2vec.nli.classifier import CLASSIFIER, Classifier, predict_batches
from pair2vec.nli.data import NliData
from pair2vec.nli.esim import Esim
from pair2vec.nli.settings import NliSettings
from pair2vec.supervised.inputs import InputPlaces
from pair2vec.supervised.order import Numbers, classes_of_length
from pair2vec.supervised.task import Measures
from pair2vec.supervised.training import RunOptions, train_network, widths_of_training


class NliTask:
    """ESIM as the loop wants it."""

    def __init__(self, network: Esim, train: NliBatches, dev: NliBatches) -> None:
        self.network = network
        self._train, self._dev = train, dev
        self.sizes = classes_of_length(train.sizes)

    def batch(self, numbers: Numbers) -> NliBatch:
        """Of the examples to learn from."""
        return self._train.batch(numbers)

    def read(self, batch: NliBatch) -> NliBatch:
        """Both sides by the embedder."""
        return batch.read_by(self.network.embedder)

    def measure(self, batch: NliBatch) -> dict[str, Tensor]:
        """Cross entropy, and the share of labels that are right."""
        scores = self.network(batch)
        right = (scores.argmax(dim=-1) == batch.labels).float().mean()
        return {"loss": nn.functional.cross_entropy(scores, batch.labels), "accuracy": right}

    def score_dev(self) -> Measures:
        """The share of dev examples whose label is right."""
        device = next(self.network.parameters()).device
        found = predict_batches(self.network, self._dev, device).argmax(axis=1)
        return {"score": float((found == self._dev.labels).mean())}


def train_classifier(
    out: Path,
    data: NliData,
    places: InputPlaces,
    settings: NliSettings | None = None,
    **options: Unpack[RunOptions],
) -> Classifier:
    """Train a classifier, or go on with one, and save it; see `train_network`.

    Raises:
        Interrupted: it was asked to stop, and wrote a checkpoint.
    """

    def task(network: Esim) -> NliTask:
        inputs = network.embedder, network.relations
        train = NliBatches(data.train.numbered, *inputs, widths_of_training(network))
        return NliTask(network, train, NliBatches(data.dev.numbered, *inputs))

    chosen = settings or NliSettings()
    return Classifier(*train_network(CLASSIFIER, task, out, data, places, chosen, **options))
