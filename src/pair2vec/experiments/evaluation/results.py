"""Result files: one JSON file per run of any task, and statistics over several seeds.

Benchmarks build their own records (`analogies`, `slots`, `relations`, `relate`, `opposed`, and
`nli` and `qa` through `result_of_network`); paths in a record are kept without their folders.
"""

import datetime
import json
import math
import re
import shlex
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.query.space import WHITENING
from pair2vec.runtime.storage import write_file
from pair2vec.text.corpus import Manifest
from pair2vec.theory.pmi import PAPER_NEGATIVES, Counts, mvpmi, pmi, si1, si2, si3, si4

RunResult = dict[str, Any]
"""The record of a run: at least its ``task``, ``date`` and ``metrics``."""

OWN_VECTORS = "of the model"
"""What a protocol calls word vectors that are those of the model."""

_REQUIRED_KEYS = {
    "nli": {"pairs", "words", "seed", "train"},
    "qa": {"pairs"},
    "bats": {"model", "protocol"},
    "slots": {"model", "protocol", "rows"},
    "relate": {"model", "protocol"},
    "opposed": {"model", "protocol"},
    "pmi": {"x", "y", "pattern", "counts", "corpus"},
}
"""By task, the keys of a record beside its metrics."""

_EVAL_COMMANDS = {"nli": "nli", "qa": "squad"}
"""By task, its name under ``pair2vec eval``."""

_PAIR_MODEL = "pair_model"
"""The input, and the part of a variant, that names another model than the bundled one."""

_MEASURES = {"si1": si1, "si2": si2, "si3": si3, "si4": si4, "pmi": pmi, "mvpmi": mvpmi}


# Files.


def read_results(folder: Path, task: str | None = None) -> list[RunResult]:
    """All results in a folder, in the order of their files, or those of one task.

    Each has its ``file`` beside what is in it.

    Raises:
        UsageError: there is no such folder.
        InputError: a file is damaged.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of results")
    results = []
    for path in sorted(folder.glob("*.json")):
        content = _read_json(path)
        if isinstance(content, dict) and "task" in content and task in {None, content["task"]}:
            if not _is_complete(content):
                raise InputError(f"{path}: is not a whole result; run it again")
            results.append({**content, "file": path.name})
    return results


def _read_json(path: Path) -> Any:  # noqa: ANN401
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error


def _is_complete(result: Mapping[str, Any]) -> bool:
    objects = (result.get(name, {}) for name in ("train", "protocol", "corpus"))
    return (
        _REQUIRED_KEYS.get(result["task"], set()) <= result.keys()
        and isinstance(result.get("metrics"), dict)
        and all(isinstance(value, dict) for value in objects)
    )


def write_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """Write one file, over an earlier one of the same run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / result_file_name(result)
    write_file(path, f"{json.dumps(result, indent=2, ensure_ascii=False)}\n".encode())
    return path


def result_file_name(result: Mapping[str, Any]) -> str:
    """A name of its own for each run, from what distinguishes it from others of its task."""
    match result["task"]:
        case "nli" | "qa":
            words = re.split(r"\.(?:txt|vec|bin)\b", result["words"] or "rule")[0]
            seed = [] if result["seed"] is None else [f"seed{result['seed']}"]
            parts = [result["pairs"], words, *result["protocol"]["variant"], *seed]
        case "pmi":
            parts = [result["x"], result["y"], result["pattern"]]
        case "relations":
            parts = [result["data"], result["model"], f"seed{result['seed']}"]
        case _:
            parts = [result["model"], *_distinguishing_settings(result)]
    return re.sub(r"[^\w.-]+", "_", "-".join([result["task"], *parts])) + ".json"


def _distinguishing_settings(result: Mapping[str, Any]) -> list[str]:
    """Of a run on analogies, slots or sentences, the settings that are not the default."""
    protocol = result["protocol"]
    data, half = result.get("data"), protocol.get("half")
    whitening, prior = protocol.get("whitening", WHITENING), protocol.get("prior")
    return [
        *([data] if data and data.lower() != "bats" else []),
        *([half] if half else []),
        *([f"whitening{whitening:g}"] if whitening != WHITENING else []),
        *([f"prior{prior:g}"] if prior else []),
    ]


# Records.


def today() -> str:
    """The date of a result made now, as ISO 8601."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def model_provenance(saved: SavedModel) -> dict[str, Any]:
    """Which pair model it was, and what it was trained on."""
    config = saved.config
    recipe = config.get("recipe", {})
    return {
        "model": model_name(saved),
        "recipe": recipe.get("name"),
        "seed": recipe.get("training", {}).get("seed"),
        "date": today(),
        "corpus": config.get("corpus", {}),
        "triples": config.get("triples"),
    }


def model_name(saved: SavedModel) -> str:
    """The name in a model's config, or else that of its folder."""
    return str(saved.config.get("name") or saved.folder.resolve().name)


def command_line(words: Sequence[str], options: Mapping[str, str]) -> str:
    """A command of this package as a shell takes it."""
    return shlex.join(["pair2vec", *words, *(word for item in options.items() for word in item)])


def vectors_option(vectors: str) -> dict[str, str]:
    """The option of a command that names word vectors; none for those of the model."""
    return {} if vectors == OWN_VECTORS else {"--vectors": vectors}


def result_of_triple(
    words: tuple[str, str], pattern: str, counts: Counts, manifest: Manifest
) -> RunResult:
    """The record of the counts of a triple; JSON has no infinity, so None is it."""
    values = {name: float(measure(counts)) for name, measure in _MEASURES.items()}
    return {
        "task": "pmi",
        "x": words[0],
        "y": words[1],
        "pattern": pattern,
        "seed": None,
        "date": today(),
        "corpus": {
            "fingerprint": manifest.fingerprint,
            "sentences": manifest.sentences,
            "tokens": manifest.tokens,
            "sources": [Path(source["name"]).name for source in manifest.sources],
        },
        "metrics": {n: round(v, 4) if math.isfinite(v) else None for n, v in values.items()},
        "counts": {name: int(count) for name, count in counts._asdict().items()},
        "protocol": {"negatives": PAPER_NEGATIVES._asdict()},
        "command": command_line(["pmi", "corpus", *words, pattern], {}),
    }


# Records of supervised networks (NLI and QA).


def result_of_network(
    task: str,
    config: Mapping[str, Any],
    defaults: Mapping[str, Any],
    *,
    metrics: Mapping[str, Any],
    protocol: Mapping[str, Any],
    data: Mapping[str, str],
    options: Sequence[str] = (),
) -> RunResult:
    """The record of a trained network's run.

    Args:
        task: Whose commands train and evaluate it.
        config: The network's.
        defaults: The default settings.
        metrics: In percent.
        protocol: What else the metrics depend on.
        data: By test set, the file it is from.
        options: Of ``train``, beside those of all tasks.
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
            "variant": _network_variant(config, changes),
        },
        "command": f"{_train_command(task, config, changes, options)} && "
        f"{eval_command(task, 'model', data)}",
    }


def changed_settings(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    """As ``--set`` takes them, those that are not the default; without the seed."""
    return [change for change in _changes(settings, defaults, "") if "seed" not in change]


def _changes(
    settings: Mapping[str, Any], defaults: Mapping[str, Any], prefix: str
) -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _changes(value, defaults.get(name, {}), f"{prefix}{name}.")
        elif value != defaults.get(name):
            yield f"{prefix}{name}={value}"


def _network_variant(config: Mapping[str, Any], changes: Sequence[str]) -> list[str]:
    """What distinguishes a run from others of its pairs and words; not how long it was trained."""
    model = config["inputs"][_PAIR_MODEL]
    named = [f"{_PAIR_MODEL}={Path(model).name}"] if model is not None else []
    return [change for change in changes if not change.startswith("training.")] + named


def _train_command(
    task: str, config: Mapping[str, Any], changes: Sequence[str], more: Sequence[str]
) -> str:
    inputs = config["inputs"]
    options = [*more, "--pairs", inputs["pairs"]]
    for name in ("words", _PAIR_MODEL, "wordnet", "pair_vectors"):
        if inputs[name] is not None:
            options += [f"--{name.replace('_', '-')}", Path(inputs[name]).name]
    for option in ("train", "dev"):
        options += [word for name in config[option] for word in (f"--{option}", name)]
    options += [word for change in changes for word in ("--set", change)]
    seed = f"{config['settings']['training']['seed']}"
    return command_line([task, "train", *options], {"--seed": seed, "--out": "model"})


def eval_command(task: str, model: str, data: Mapping[str, str]) -> str:
    """The command that evaluates a network."""
    named = [word for path in data.values() for word in ("--data", Path(path).name)]
    return command_line(["eval", _EVAL_COMMANDS[task], "--model", model, *named], {})


# Statistics over seeds.


class Spread(NamedTuple):
    """Mean and standard deviation of a metric over seeds."""

    mean: float
    deviation: float | None
    """Of single seeds, by n − 1; None of one seed."""
    seeds: int


def spread(values: Sequence[float]) -> Spread:
    """Of at least one value."""
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return Spread(statistics.mean(values), deviation, len(values))


def spreads(metrics: Iterable[tuple[object, Mapping[str, Any]]]) -> dict[str, Spread]:
    """By name, of all metrics that are plain numbers, of the runs of seeds.

    A seed counts once, by the mean of its runs: on a GPU, they differ.
    """
    values: dict[str, dict[object, list[float]]] = {}
    for seed, run in metrics:
        for name, value in run.items():
            if isinstance(value, (int, float)):
                values.setdefault(name, {}).setdefault(seed, []).append(value)
    return {
        name: spread([statistics.mean(runs) for runs in of_seeds.values()])
        for name, of_seeds in values.items()
    }


def usual_settings(results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The settings of most configurations: combinations of pairs, words and settings."""
    configurations = {
        (str(result.get("pairs")), str(result.get("words")), *_variant(result))
        for result in results
    }
    # Which model the pair vectors are of says nothing of runs without any.
    counts = Counter(
        setting
        for _, _, *settings in sorted(configurations)
        for setting in settings
        if _key(setting) != _PAIR_MODEL
    )
    return tuple(
        sorted(setting for setting, count in counts.items() if 2 * count > len(configurations))
    )


def by_note(
    results: Sequence[Mapping[str, Any]], usual: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """Runs of the same pairs and words, grouped by how their settings differ from the usual."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        groups.setdefault(_note(result, usual), []).append(result)
    return dict(sorted(groups.items()))


class RunGroup(NamedTuple):
    """Runs that were trained on the same examples."""

    train: tuple[tuple[str, int], ...]
    """Files, and how many examples of each."""
    runs: list[Mapping[str, Any]]

    @property
    def examples(self) -> dict[str, int]:
        """How many examples each test set has."""
        sizes: dict[str, int] = {}
        for run in self.runs:
            sizes |= run.get("protocol", {}).get("examples", {})
        return sizes

    @property
    def usual(self) -> tuple[str, ...]:
        """Settings of most runs that are not the default."""
        return usual_settings(self.runs)


def group_runs(results: Sequence[Mapping[str, Any]]) -> list[RunGroup]:
    """Runs by their training examples; one empty group without results."""
    groups: dict[tuple[tuple[str, int], ...], list[Mapping[str, Any]]] = {}
    for result in results:
        groups.setdefault(tuple(sorted(result.get("train", {}).items())), []).append(result)
    return [RunGroup(train, runs) for train, runs in (groups or {(): []}).items()]


def _note(result: Mapping[str, Any], usual: Sequence[str]) -> str:
    settings = _variant(result)
    keys = {_key(setting) for setting in settings}
    # A result has only the settings that are not the default.
    defaults = [f"{_key(setting)}=default" for setting in usual if _key(setting) not in keys]
    named = f"{_PAIR_MODEL}={result.get('pairs')}"
    return " ".join([setting for setting in settings if setting not in {*usual, named}] + defaults)


def _key(setting: str) -> str:
    return setting.partition("=")[0]


def _variant(result: Mapping[str, Any]) -> list[str]:
    return [*result.get("protocol", {}).get("variant", [])]
