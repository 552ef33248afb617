"""Results of networks that were trained, of any task: what their configs say of them."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pair2vec.evaluation.results import Result, file_name


def result_of_network(
    task: str,
    config: Mapping[str, Any],
    defaults: Mapping[str, Any],
    *,
    metrics: Mapping[str, Any],
    protocol: Mapping[str, Any],
    data: Mapping[str, str],
    options: Sequence[str] = (),
) -> Result:
    """What is kept of a run; paths are named without their folders.

    Args:
        task: Whose commands train and examine it.
        config: The network's.
        defaults: Of its settings.
        metrics: In percent.
        protocol: What else the metrics depend on.
        data: By set, the file it is from.
        options: Of training, beside those of all tasks.
    """
    inputs, seed = config["inputs"], config["settings"]["training"]["seed"]
    changes = changed_settings(config["settings"], defaults)
    return {
        "task": task,
        "model": config["model"],
        "pairs": inputs["pairs"],
        "words": Path(inputs["words"]).name,
        "seed": seed,
        "date": config["created"],
        "train": config["train"],
        "metrics": dict(metrics),
        "protocol": {
            **protocol,
            **{name: config[name] for name in ("pair_source", "dev", "dev_score", "epochs")},
            "settings": changes,
            "variant": _variant(config, changes),
        },
        "command": f"{_train_command(task, config, changes, options)} && "
        f"{eval_command(task, 'model', data)}",
    }


def changed_settings(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    """As ``--set`` takes them, those that are not the default; without the seed."""
    return [change for change in _changes(settings, defaults, "") if "seed" not in change]


def _changes(settings: Mapping[str, Any], usual: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _changes(value, usual.get(name, {}), f"{prefix}{name}.")
        elif value != usual.get(name):
            yield f"{prefix}{name}={value}"


def _variant(config: Mapping[str, Any], changes: Sequence[str]) -> list[str]:
    """What sets a run apart from others of its pairs and words, however long it was trained."""
    model = config["inputs"]["pair_model"]
    named = [f"pair_model={Path(model).name}"] if model is not None else []
    return [change for change in changes if not change.startswith("training.")] + named


def _train_command(
    task: str, config: Mapping[str, Any], changes: Sequence[str], more: Sequence[str]
) -> str:
    inputs = config["inputs"]
    options = [*more, "--pairs", inputs["pairs"]]
    for name in ("words", "pair_model", "wordnet", "pair_vectors"):
        if inputs[name] is not None:
            options += [f"--{name.replace('_', '-')}", Path(inputs[name]).name]
    for option in ("train", "dev"):
        options += [word for name in config[option] for word in (f"--{option}", name)]
    options += [word for change in changes for word in ("--set", change)]
    seed = f"{config['settings']['training']['seed']}"
    return shlex.join(["pair2vec", task, "train", *options, "--seed", seed, "--out", "model"])


_EXAMS = {"nli": "nli", "qa": "squad"}
"""By task, what ``pair2vec eval`` calls it."""


def eval_command(task: str, model: str, data: Mapping[str, str]) -> str:
    """What asks a network."""
    named = [word for path in data.values() for word in ("--data", Path(path).name)]
    return shlex.join(["pair2vec", "eval", _EXAMS[task], "--model", model, *named])


def network_file(result: Mapping[str, Any]) -> str:
    """A file name of its own for each combination of pairs, words, variant and seed."""
    words = re.split(r"\.(?:txt|vec|bin)\b", result["words"] or "rule")[0]
    parts = [result["task"], result["pairs"], words, *result["protocol"]["variant"]]
    return file_name(parts + ([f"seed{result['seed']}"] if result["seed"] is not None else []))
