"""From labelled examples to a classifier's folder: what ``pair2vec nli train`` does."""

import datetime
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from pair2vec.atomic import write_whole
from pair2vec.errors import UsageError
from pair2vec.nli.batches import NliBatch, NliBatches
from pair2vec.nli.classifier import (
    CONFIG,
    TRAINING,
    Classifier,
    check_place,
    load_classifier,
    predict_batches,
    save_classifier,
)
from pair2vec.nli.data import NliData
from pair2vec.nli.esim import Esim
from pair2vec.nli.inputs import InputPlaces, Inputs, open_inputs
from pair2vec.nli.settings import NliSettings, settings_from_json
from pair2vec.supervised.loop import SupervisedProgress, SupervisedTrainer, Surroundings
from pair2vec.supervised.order import Numbers
from pair2vec.supervised.randomness import seeded
from pair2vec.supervised.task import Measures
from pair2vec.training.devices import find_device, selected, threads
from pair2vec.training.train import Interrupted

_JOB = "job.json"

_FACTOR = 1.25
"""Between the longest premises of two classes: a larger one pads premises, a smaller hypotheses."""


class NliTask:
    """ESIM as the loop wants it."""

    def __init__(self, network: Esim, train: NliBatches, dev: NliBatches) -> None:
        self.network = network
        self._train, self._dev = train, dev
        self.sizes = _classes_of_length(train.sizes)

    def batch(self, numbers: Numbers) -> NliBatch:
        """Of the examples to learn from."""
        return self._train.batch(numbers)

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


def _classes_of_length(sizes: Numbers) -> Numbers:
    """Premises in classes by a factor of length, and hypotheses by length among those of a class.

    By length alone, hardly a batch of one length of premise would be left, and all lengths of
    hypotheses were in it: of the pairs of words in a batch, two in three would be padding.
    """
    classes = np.ceil(np.log(np.maximum(sizes[:, 0], 1)) / np.log(_FACTOR)).astype(np.int64)
    return np.stack([classes, sizes[:, 1]], axis=1)


def train_classifier(  # noqa: PLR0913 - the options of a command, side by side
    out: Path,
    data: NliData,
    places: InputPlaces,
    settings: NliSettings | None = None,
    *,
    more_words: Iterable[str] = (),
    device: str = "auto",
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[SupervisedProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Classifier:
    """Train a classifier, or go on with one, and save it.

    Args:
        out: Its folder; what is needed to go on is kept in its folder ``training`` until the end.
        data: What to learn from, and to choose the best weights by.
        places: Where words and pairs are from.
        settings: All the others.
        more_words: That the classifier returned is going to be asked about.
        device: "auto", "cpu", "cuda" or "cuda:N".
        resume: Go on from the last checkpoint; a classifier that is complete is only opened.
        overwrite: Replace a classifier or a begun training.
        report: Called with the metrics now and then.
        should_stop: Asked after each step.

    Raises:
        Interrupted: it was asked to stop, and wrote a checkpoint.
    """
    settings, found_device = settings or NliSettings(), find_device(device)
    words = list(dict.fromkeys([*data.words(), *more_words]))
    job = {
        "inputs": places.lasting(),
        "settings": asdict(settings),
        "data": data.fingerprint,
    }
    if _is_complete(out, job, resume=resume):
        return load_classifier(out, words, device=device)
    with (
        threads(settings.training.threads),
        selected(found_device),
        seeded(settings.training.seed, found_device),
    ):
        # What is wrong with the inputs is found out before anything is written.
        inputs = open_inputs(places, words, settings.pairs.on(found_device))
        folder = _claim(out, job, resume=resume, overwrite=overwrite)
        surroundings = Surroundings(
            folder=folder, device=found_device, report=report, should_stop=should_stop
        )
        network, trainer = _trainer(data, inputs, settings, surroundings)
        if not trainer.run():
            raise Interrupted
    facts = _facts(data, inputs, trainer) | {
        "inputs": places.lasting(),
        "settings": asdict(settings),
    }
    config = save_classifier(out, network, facts)
    _remove_checkpoints(folder)
    return Classifier(network.eval(), config, found_device)


def _trainer(
    data: NliData, inputs: Inputs, settings: NliSettings, surroundings: Surroundings
) -> tuple[Esim, SupervisedTrainer[NliBatch]]:
    network = Esim(inputs.embedder, inputs.relations, settings.esim)
    train, dev = (
        NliBatches(part.numbered, inputs.embedder, inputs.relations)
        for part in (data.train, data.dev)
    )
    task = NliTask(network, train, dev)
    return network, SupervisedTrainer(task, settings.training, surroundings)


def _facts(data: NliData, inputs: Inputs, trainer: SupervisedTrainer[NliBatch]) -> dict[str, Any]:
    """What a classifier's config says of how it came about."""
    return {
        "model": "esim",
        "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "pair_source": inputs.source,
        "word_dimension": inputs.embedder.dimension,
        "train": data.train.files,
        "dev": data.dev.files,
        "data": data.fingerprint,
        "epochs": trainer.epoch,
        "steps": trainer.step,
        "dev_score": round(100 * trainer.best_dev["score"], 2),
    }


def settings_of_begun(out: Path) -> tuple[NliSettings, InputPlaces] | None:
    """Those of a training begun in `out`, if there is one."""
    path = out / TRAINING / _JOB
    if not path.exists():
        return None
    job = json.loads(path.read_bytes())
    return settings_from_json(job["settings"]), InputPlaces(**job["inputs"])


def _is_complete(out: Path, job: dict[str, Any], *, resume: bool) -> bool:
    """Whether there is nothing left to do for a job that is to go on."""
    is_there = (out / CONFIG).exists() and (out / TRAINING / _JOB).exists()
    return resume and is_there and _is_same(out / TRAINING / _JOB, job)


def _is_same(path: Path, job: dict[str, Any]) -> bool:
    return bool(json.loads(path.read_bytes()) == json.loads(json.dumps(job)))


def _claim(out: Path, job: dict[str, Any], *, resume: bool, overwrite: bool) -> Path:
    """The folder for checkpoints, holding only what this job may go on from."""
    check_place(out)
    folder = out / TRAINING
    begun = (folder / _JOB).exists()
    if resume and not begun and (out / CONFIG).exists() and not overwrite:
        raise UsageError(
            f"{out}: holds a classifier, but no training to resume; --overwrite replaces it"
        )
    if begun and resume and not _is_same(folder / _JOB, job):
        raise UsageError(
            f"{out}: was begun with other examples, inputs or settings; resume with the same ones, "
            "or --overwrite"
        )
    if not resume and (begun or (out / CONFIG).exists()):
        if not overwrite:
            has_model = (out / CONFIG).exists()
            found = "a classifier" if has_model else "a begun training: --resume goes on with it"
            raise UsageError(f"{out}: already holds {found}; --overwrite replaces it")
        (out / CONFIG).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / _JOB, json.dumps(job, indent=2).encode())
    return folder


def _remove_checkpoints(folder: Path) -> None:
    """They are many times the classifier's size, and it is complete."""
    for path in folder.glob("step-*.safetensors"):
        path.unlink()
