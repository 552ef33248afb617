"""A trained classifier: asked, saved and loaded.

A folder of

- ``weights.safetensors``: what was learnt; frozen word and pair vectors stay where they are;
- ``config.json``: written last; its presence means that the classifier is complete.

Shapes: E examples.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save

from pair2vec import __version__
from pair2vec.atomic import PARTIAL, write_whole
from pair2vec.errors import InputError, UsageError
from pair2vec.nli.batches import NliBatches, NumberedExamples
from pair2vec.nli.esim import Esim
from pair2vec.nli.examples import LABELS, NliExample
from pair2vec.nli.inputs import InputPlaces, check_source, open_inputs
from pair2vec.nli.settings import NliSettings, settings_from_json
from pair2vec.supervised.order import batches_by_size
from pair2vec.supervised.weights import copied_weights, set_weights
from pair2vec.training.devices import computing, find_device
from pair2vec.triples.ahead import made_ahead

FORMAT = 1
KIND = "nli classifier"
CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
TRAINING = "training"
"""Beside these, the folder with what training needs to go on."""

_AT_ONCE = 256
_AHEAD = 4


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
    made = (batches.batch(numbers).to(device) for numbers in orders)
    with computing(device):
        ready = made_ahead(made, _AHEAD) if device.type == "cuda" else made
        found = [network(batch).softmax(dim=-1) for batch in ready]
    network.train(was_training)
    probabilities = np.zeros((len(batches), len(LABELS)), np.float32)
    if orders:
        probabilities[np.concatenate(orders)] = torch.cat(found).cpu().numpy()
    return probabilities


def save_classifier(folder: Path, network: Esim, config: Mapping[str, Any]) -> dict[str, Any]:
    """Write a classifier over whatever one is in `folder`; returns its whole config."""
    weights = {name: values.cpu().contiguous() for name, values in copied_weights(network).items()}
    facts = {
        "kind": KIND,
        "format": FORMAT,
        "version": __version__,
        "labels": list(LABELS),
        **config,
        "weights": {name: list(values.shape) for name, values in weights.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    # Without its config, nothing in the folder is taken for a classifier.
    (folder / CONFIG).unlink(missing_ok=True)
    write_whole(folder / WEIGHTS, save(weights))
    write_whole(folder / CONFIG, f"{json.dumps(facts, indent=2, ensure_ascii=False)}\n".encode())
    return facts


def load_classifier(
    folder: str | os.PathLike[str],
    words: Iterable[str],
    *,
    places: Mapping[str, str | None] | None = None,
    device: str = "auto",
) -> Classifier:
    """Open a classifier that `save_classifier` wrote.

    Args:
        folder: Where it is.
        words: All that it is going to be asked about.
        places: By the names of `InputPlaces`, those that have moved since it was trained.
        device: "auto", "cpu", "cuda" or "cuda:N".

    Raises:
        InputError: there is none, it is not complete, or its inputs are not those it had.
    """
    folder, found_device = Path(folder), find_device(device)
    config = read_config(folder)
    settings, named = described(folder, config)
    weights = _read_weights(folder / WEIGHTS)
    inputs = open_inputs(named.replaced(places or {}), words, settings.pairs.on(found_device))
    check_source(inputs.source, config["pair_source"], folder)
    # What is drawn here is replaced at once, and must not be missed by others who draw.
    with torch.random.fork_rng(devices=[]):
        network = Esim(inputs.embedder, inputs.relations, settings.esim)
    set_weights(network, weights, os.fspath(folder))
    return Classifier(network.to(found_device).eval(), config, found_device)


def described(folder: Path, config: Mapping[str, Any]) -> tuple[NliSettings, InputPlaces]:
    """The settings and inputs that a config tells of."""
    try:
        return settings_from_json(config["settings"]), InputPlaces(**config["inputs"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{folder / CONFIG}: does not say how the classifier was made ({error}); train it again"
        ) from error


def read_config(folder: Path) -> dict[str, Any]:
    """What is known of a classifier.

    Raises:
        InputError: there is none, or it is not complete.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; make a classifier with 'pair2vec nli train'")
    if not (folder / CONFIG).exists():
        raise InputError(
            f"{folder}: not a complete classifier (no {CONFIG}); if training it was stopped, "
            "go on with --resume"
        )
    config = _parsed(folder / CONFIG)
    if config is None:
        raise InputError(f"{folder / CONFIG}: is not the config of an NLI classifier")
    if config["format"] > FORMAT:
        raise InputError(
            f"{folder}: format {config['format']} is newer than this version reads ({FORMAT}); "
            "upgrade pair2vec"
        )
    return config


def _parsed(path: Path) -> dict[str, Any] | None:
    """A config, or None for one that is not ours."""
    try:
        config = json.loads(path.read_bytes())
    except ValueError:
        return None
    is_ours = isinstance(config, dict) and config.get("kind") == KIND
    return config if is_ours and isinstance(config.get("format"), int) else None


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    try:
        return load(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; train or copy the classifier again") from error
    except SafetensorError as error:
        raise InputError(f"{path}: is damaged ({error}); train or copy it again") from error


def check_place(folder: Path) -> None:
    """Refuse a place that holds something else than a classifier, or a part of one.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another one")
    if not folder.exists() or ((folder / CONFIG).exists() and _parsed(folder / CONFIG)):
        return
    ours = {WEIGHTS, TRAINING}
    others = sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in ours and not path.name.endswith(PARTIAL)
    )
    if others:
        raise UsageError(
            f"{folder}: is not a classifier and not empty ({others[0]}); give another folder"
        )
