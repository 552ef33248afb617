"""Results of NLI runs: one file a run."""

import datetime
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pair2vec.atomic import write_whole
from pair2vec.errors import InputError, UsageError
from pair2vec.evaluation.nli import SetAccuracy
from pair2vec.nli.settings import NliSettings, settings_from_json

TASK = "nli"
RULE = "wordnet rule"


def result_of_classifier(
    config: Mapping[str, Any], scores: Mapping[str, SetAccuracy], data: Mapping[str, str]
) -> dict[str, Any]:
    """What is kept of a classifier's run; paths are named without their folders.

    Args:
        config: The classifier's.
        scores: By set.
        data: By set, the file it is from.
    """
    inputs, settings = config["inputs"], settings_from_json(config["settings"])
    changes = changed_settings(settings)
    return {
        "task": TASK,
        "model": config["model"],
        "pairs": inputs["pairs"],
        "words": Path(inputs["words"]).name,
        "seed": settings.training.seed,
        "date": config["created"],
        "train": config["train"],
        "metrics": _metrics(scores),
        "protocol": {
            **_protocol(scores),
            "pair_source": config["pair_source"],
            "dev": config["dev"],
            "dev_score": config["dev_score"],
            "epochs": config["epochs"],
            "settings": changes,
            "variant": _variant(config, changes),
        },
        "command": _commands(config, changes, settings.training.seed, data),
    }


def result_of_rule(scores: Mapping[str, SetAccuracy], data: Mapping[str, str]) -> dict[str, Any]:
    """What is kept of the baseline that asks WordNet alone."""
    return {
        "task": TASK,
        "model": RULE,
        "pairs": "wordnet",
        "words": None,
        "seed": None,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "train": {},
        "metrics": _metrics(scores),
        "protocol": {**_protocol(scores), "settings": [], "variant": []},
        "command": _eval_command("wordnet", data),
    }


def _metrics(scores: Mapping[str, SetAccuracy]) -> dict[str, Any]:
    """Accuracies in percent, by set, and by category where a set has them."""
    found: dict[str, Any] = {name: score.whole.right for name, score in scores.items()}
    for name, score in scores.items():
        if score.categories:
            found[f"{name}_by_category"] = {c: one.right for c, one in score.categories.items()}
    return found


def _protocol(scores: Mapping[str, SetAccuracy]) -> dict[str, Any]:
    return {
        "examples": {name: score.whole.n for name, score in scores.items()},
        "intervals": {name: [score.whole.low, score.whole.high] for name, score in scores.items()},
        "answered": {name: score.answered for name, score in scores.items()},
        "category_examples": {
            name: {category: one.n for category, one in score.categories.items()}
            for name, score in scores.items()
            if score.categories
        },
    }


def changed_settings(settings: NliSettings) -> list[str]:
    """As ``--set`` takes them, those that are not the default; without the seed."""
    return [change for change in _changes(settings, NliSettings(), "") if "seed" not in change]


def _changes(owner: Any, default: Any, prefix: str) -> Iterable[str]:  # noqa: ANN401
    for each in fields(owner):
        value, usual = getattr(owner, each.name), getattr(default, each.name)
        if is_dataclass(value):
            yield from _changes(value, usual, f"{prefix}{each.name}.")
        elif value != usual:
            yield f"{prefix}{each.name}={value}"


def _variant(config: Mapping[str, Any], changes: Sequence[str]) -> list[str]:
    """What sets a run apart from others of its pairs and words, however long it was trained."""
    model = config["inputs"]["pair_model"]
    named = [f"pair_model={Path(model).name}"] if model is not None else []
    return [change for change in changes if not change.startswith("training.")] + named


def _commands(
    config: Mapping[str, Any], changes: Sequence[str], seed: int, data: Mapping[str, str]
) -> str:
    """What makes the same classifier, and asks it."""
    inputs = config["inputs"]
    options = ["--model", config["model"], "--pairs", inputs["pairs"]]
    for name in ("words", "pair_model", "wordnet", "pair_vectors"):
        if inputs[name] is not None:
            options += [f"--{name.replace('_', '-')}", Path(inputs[name]).name]
    for option in ("train", "dev"):
        options += [word for name in config[option] for word in (f"--{option}", name)]
    options += [word for change in changes for word in ("--set", change)]
    train = shlex.join(
        ["pair2vec", "nli", "train", *options, "--seed", f"{seed}", "--out", "model"]
    )
    return f"{train} && {_eval_command('model', data)}"


def _eval_command(model: str, data: Mapping[str, str]) -> str:
    named = [word for path in data.values() for word in ("--data", Path(path).name)]
    return shlex.join(["pair2vec", "eval", "nli", "--model", model, *named])


def result_name(result: Mapping[str, Any]) -> str:
    """A file name of its own for each combination of pairs, words, variant and seed."""
    words = re.split(r"\.(?:txt|vec|bin)\b", result["words"] or "rule")[0]
    parts = [TASK, result["pairs"], words, *result["protocol"]["variant"]]
    parts += [f"seed{result['seed']}"] if result["seed"] is not None else []
    return re.sub(r"[^\w.-]+", "_", "-".join(parts)) + ".json"


def write_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / result_name(result)
    write_whole(path, f"{json.dumps(result, indent=2, ensure_ascii=False)}\n".encode())
    return path


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All results of NLI in a folder; those of other tasks are left alone.

    Raises:
        UsageError: there is no such folder, or nothing in it.
        InputError: a file is damaged.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of results")
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_bytes())
        except ValueError as error:
            raise InputError(f"{path}: not JSON: {error}") from error
        if isinstance(content, dict) and content.get("task") == TASK:
            if not {"pairs", "words", "seed", "train", "metrics"} <= content.keys():
                raise InputError(f"{path}: is not a whole result; run it again")
            found.append(content)
    if not found:
        raise UsageError(f"{folder}: has no results of NLI; write some with --results {folder}")
    return found
