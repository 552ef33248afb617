"""Train a network of any task from labelled examples, and save it in a folder."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypedDict

from torch import nn

from pair2vec.errors import UsageError
from pair2vec.experiments.tasks.batches import PadLength, bucketed_length, exact_length
from pair2vec.experiments.tasks.inputs import InputPaths, Inputs, input_hashes, open_inputs
from pair2vec.experiments.tasks.saved_network import (
    NETWORK_CONFIG,
    TRAINING_STATE,
    check_network_folder,
    load_network,
    save_network,
)
from pair2vec.experiments.tasks.task import NetworkSpec, NetworkT, SettingsT, Task, Trained
from pair2vec.experiments.tasks.trainer import (
    SupervisedProgress,
    SupervisedRunContext,
    SupervisedTrainer,
)
from pair2vec.runtime.cuda_graphs import BatchT
from pair2vec.runtime.devices import find_device, forked_rng, select_device, torch_threads
from pair2vec.runtime.jobs import JobFolder, empty_folder
from pair2vec.training.checkpoint import check_begun
from pair2vec.training.recipes import with_settings
from pair2vec.training.train import Interrupted


class TrainingData(Protocol):
    """Training examples, and dev examples for early stopping."""

    def words(self) -> list[str]:
        """All distinct words."""

    @property
    def fingerprint(self) -> str:
        """Of all examples in their order: training resumes with the same ones only."""

    @property
    def facts(self) -> dict[str, Any]:
        """For the config: at least ``train`` and ``dev``, how many examples each file has."""


class RunOptions(TypedDict, total=False):
    """Options of `train_network` that do not depend on the task."""

    more_words: Iterable[str]
    device: str
    resume: bool
    overwrite: bool
    report: Callable[[SupervisedProgress], None]
    should_stop: Callable[[], bool]


def train_network(  # noqa: PLR0913 - the options of a command, side by side
    spec: NetworkSpec[SettingsT, NetworkT],
    make_task: Callable[[NetworkT], Task[BatchT]],
    out: Path,
    data: TrainingData,
    paths: InputPaths,
    settings: SettingsT,
    *,
    more_words: Iterable[str] = (),
    device: str = "auto",
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[SupervisedProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Trained[NetworkT]:
    """Train a network, or resume its training, and save it.

    Args:
        spec: Of the network.
        make_task: From the network to its task.
        out: Its folder; checkpoints are kept in its folder ``training`` until the end.
        data: To train on, and to choose the best weights by.
        paths: Of word and relation vectors.
        settings: Of the network and its training.
        more_words: Words beside those of the data that the returned network is to know.
        device: "auto", "cpu", "cuda" or "cuda:N".
        resume: Resume from the last checkpoint; a complete network is only opened.
        overwrite: Replace a network, or a training that was begun.
        report: Called with the metrics now and then.
        should_stop: Called after each step.

    Raises:
        Interrupted: it was asked to stop, and wrote a checkpoint.
    """
    torch_device = find_device(device)
    words = list(dict.fromkeys([*data.words(), *more_words]))

    def job_folder() -> JobFolder:
        hashes = input_hashes(paths)
        return _job_folder(spec, out, {"inputs": hashes, "settings": asdict(settings)}, data)

    if resume and (out / NETWORK_CONFIG).exists() and job_folder().is_same():
        return load_network(spec, out, words, device=device)
    with (
        torch_threads(settings.training.threads),
        select_device(torch_device),
        forked_rng(settings.training.seed, torch_device),
    ):
        # What is wrong with the inputs shows before anything is written.
        inputs = open_inputs(paths, words, settings.pairs)
        check_network_folder(spec, out)
        if not overwrite:
            check_begun(out / TRAINING_STATE)
        job = job_folder()
        with job.claim(resume=resume, overwrite=overwrite):
            run_context = SupervisedRunContext(
                folder=out / TRAINING_STATE,
                device=torch_device,
                report=report,
                should_stop=should_stop,
            )
            network = spec.make(inputs, settings).to(torch_device)
            trainer = SupervisedTrainer(make_task(network), settings.training, run_context)
            if not trainer.run():
                raise Interrupted
            facts = {
                "model": spec.model,
                **_facts(data, inputs, trainer),
                "inputs": paths.resolved(),
                "input_hashes": job.identity["inputs"],
                "settings": asdict(settings),
            }
            config = save_network(spec, out, network, facts)
            # They are many times the network's size, and it is complete.
            for checkpoint in (out / TRAINING_STATE).glob("step-*.safetensors"):
                checkpoint.unlink()
    return Trained(network.eval(), config, torch_device)


def _job_folder(
    spec: NetworkSpec[SettingsT, NetworkT], out: Path, chosen: dict[str, Any], data: TrainingData
) -> JobFolder:
    state = out / TRAINING_STATE

    def clear() -> None:
        (out / NETWORK_CONFIG).unlink(missing_ok=True)
        empty_folder(state)

    def comparable(identity: dict[str, Any]) -> dict[str, Any]:
        try:
            settings = asdict(with_settings(spec.defaults, identity["settings"]))
        except (KeyError, TypeError, UsageError):
            return identity
        # Both steps compute the same: a job may resume on another device.
        del settings["training"]["step_mode"]
        return {**identity, "settings": settings}

    return JobFolder(
        out=out,
        state=state,
        complete=out / NETWORK_CONFIG,
        product=spec.noun_phrase,
        identity={**chosen, "data": data.fingerprint},
        clear=clear,
        comparable=comparable,
    )


def training_pad_length(network: nn.Module) -> PadLength:
    """How training batches are padded: in buckets on a GPU, which captures a graph per shape."""
    return bucketed_length if next(network.parameters()).device.type == "cuda" else exact_length


def _facts(
    data: TrainingData, inputs: Inputs, trainer: SupervisedTrainer[BatchT]
) -> dict[str, Any]:
    """What a config says of how a network came about."""
    return {
        "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "pair_source": inputs.source,
        "word_dimension": inputs.embedder.dimension,
        **data.facts,
        "data": data.fingerprint,
        "epochs": trainer.epoch,
        "steps": trainer.step,
        "dev_score": round(100 * trainer.best_dev["score"], 2),
    }
