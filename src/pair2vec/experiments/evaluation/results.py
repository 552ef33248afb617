"""Results of runs: one file a run, whatever the task; and figures over several of them."""

import datetime
import json
import math
import re
import shlex
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation import results
from pair2vec.experiments.evaluation.analogies import AnalogyResult
from pair2vec.experiments.evaluation.relations import RelationResult
from pair2vec.experiments.evaluation.slots import FilledRow
from pair2vec.model.folder import SavedModel
from pair2vec.query.whitening import WHITENING
from pair2vec.runtime.storage import write_file
from pair2vec.text.corpus import Manifest
from pair2vec.theory.pmi import PAPER_NEGATIVES, Counts, mvpmi, pmi, si1, si2, si3, si4

RunResult = dict[str, Any]
"""Of a run: at least its ``task``, ``date`` and ``metrics``."""

_REQUIRED = {
    "nli": {"pairs", "words", "seed", "train"},
    "qa": {"pairs"},
    "bats": {"model", "protocol"},
    "slots": {"model", "protocol", "rows"},
    "pmi": {"x", "y", "pattern", "counts", "corpus"},
}
"""By task, what a result has beside its metrics."""


class Spread(NamedTuple):
    """A figure over runs."""

    mean: float
    deviation: float | None
    """Of single runs, by n − 1; None of one run."""
    runs: int


def spread(values: Sequence[float]) -> Spread:
    """Of at least one value."""
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return Spread(statistics.mean(values), deviation, len(values))


def spreads(found: Sequence[Mapping[str, Any]]) -> dict[str, Spread]:
    """By name, of all that are plain figures in any of `found`."""
    values: dict[str, list[float]] = {}
    for figures in found:
        for name, value in figures.items():
            if isinstance(value, (int, float)):
                values.setdefault(name, []).append(value)
    return {name: spread(numbers) for name, numbers in values.items()}


def today() -> str:
    """The date of a result that is made now."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def usual_settings(results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Those of most kinds of runs; a kind is one combination of pairs, words and settings."""
    kinds = {(str(one.get("pairs")), str(one.get("words")), *_variant(one)) for one in results}
    counts = Counter(setting for _, _, *settings in sorted(kinds) for setting in settings)
    return tuple(sorted(setting for setting, count in counts.items() if 2 * count > len(kinds)))


def by_note(
    results: Sequence[Mapping[str, Any]], usual: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """Runs of the same pairs and words by how their settings differ from the usual ones."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        found.setdefault(_note(result, usual), []).append(result)
    return dict(sorted(found.items()))


def _note(result: Mapping[str, Any], usual: Sequence[str]) -> str:
    own = _variant(result)
    keys = {_key(setting) for setting in own}
    # Settings are in a result where they are not the default.
    defaults = [f"{_key(one)}=default" for one in usual if _key(one) not in keys]
    named = f"pair_model={result.get('pairs')}"
    return " ".join([one for one in own if one not in {*usual, named}] + defaults)


def _key(setting: str) -> str:
    return setting.partition("=")[0]


def _variant(result: Mapping[str, Any]) -> list[str]:
    return [*result.get("protocol", {}).get("variant", [])]


def result_file_name(parts: Sequence[str]) -> str:
    """Of a result, from what tells it from others."""
    return re.sub(r"[^\w.-]+", "_", "-".join(parts)) + ".json"


def write_result(folder: Path, name: str, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    write_file(path, f"{json.dumps(result, indent=2, ensure_ascii=False)}\n".encode())
    return path


def read_results(folder: Path, task: str | None = None) -> list[RunResult]:
    """All results in a folder, in the order of their files, or those of one task.

    Raises:
        UsageError: there is no such folder.
        InputError: a file is damaged.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of results")
    found = []
    for path in sorted(folder.glob("*.json")):
        content = _read(path)
        if isinstance(content, dict) and "task" in content and task in {None, content["task"]}:
            if not _is_whole(content):
                raise InputError(f"{path}: is not a whole result; run it again")
            found.append(content)
    return found


def _is_whole(content: Mapping[str, Any]) -> bool:
    objects = (content.get(name, {}) for name in ("train", "protocol", "corpus"))
    return (
        _REQUIRED.get(content["task"], set()) <= content.keys()
        and isinstance(content.get("metrics"), dict)
        and all(isinstance(one, dict) for one in objects)
    )


def _read(path: Path) -> Any:  # noqa: ANN401
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error


# == Results of networks that were trained, of any task: what their configs say of them.


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
            "variant": _network_variant(config, changes),
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


def _network_variant(config: Mapping[str, Any], changes: Sequence[str]) -> list[str]:
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
    return result_file_name(
        parts + ([f"seed{result['seed']}"] if result["seed"] is not None else [])
    )


# == Results of pair models by themselves, and of counts: analogies, slots, PMI; one file a run.


MEASURES = {"si1": si1, "si2": si2, "si3": si3, "si4": si4, "pmi": pmi, "mvpmi": mvpmi}
"""Of a triple, by name."""


def result_of_analogies(saved: SavedModel, exam: AnalogyResult) -> RunResult:
    """What is kept of an exam in analogies; paths are named without their folders."""
    found, protocol = exam.to_json(), exam.protocol
    options = {
        "--data": Path(protocol.data).name,
        "--vectors": Path(protocol.vectors).name,
        "--vocab": f"{protocol.vocabulary}",
        "--direction": protocol.direction,
        "--whitening": f"{protocol.whitening:g}",
        **({"--half": protocol.half} if protocol.half else {}),
    }
    places = {name: Path(getattr(protocol, name)).name for name in ("model", "vectors", "data")}
    return {
        "task": "bats",
        **_model_facts(saved),
        "data": Path(protocol.data).stem,
        "metrics": {name: dict(one.scores) for name, one in exam.accuracies.groups.items()},
        "groups": found["groups"],
        "relations": found["relations"],
        "protocol": {**asdict(protocol), **places},
        "command": _command(["eval", "bats"], saved, options),
    }


def result_of_slots(saved: SavedModel, rows: Sequence[FilledRow], prior: float) -> RunResult:
    """What is kept of the slot table, filled."""
    return {
        "task": "slots",
        **_model_facts(saved),
        "metrics": {"right_rows": sum(bool(row.right) for row in rows), "rows": len(rows)},
        "rows": [row.to_json() for row in rows],
        "protocol": {"prior": prior},
        "command": _command(["eval", "slots"], saved, {"--prior": f"{prior:g}"} if prior else {}),
    }


def result_of_triple(
    words: tuple[str, str], pattern: str, counts: Counts, manifest: Manifest
) -> RunResult:
    """What is kept of the counts of two words in a pattern; JSON has no infinity, so None is it."""
    values = {name: float(measure(counts)) for name, measure in MEASURES.items()}
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
        "command": shlex.join(["pair2vec", "pmi", "corpus", *words, pattern]),
    }


def _model_facts(saved: SavedModel) -> dict[str, Any]:
    """Which model it was, and what it was made of."""
    config = saved.config
    recipe = config.get("recipe", {})
    return {
        "model": config.get("name") or saved.folder.resolve().name,
        "recipe": recipe.get("name"),
        "seed": recipe.get("training", {}).get("seed"),
        "date": today(),
        "corpus": config.get("corpus", {}),
        "triples": config.get("triples"),
    }


def _command(words: Sequence[str], saved: SavedModel, options: Mapping[str, str]) -> str:
    named = {"--model": saved.folder.resolve().name, **options}
    return shlex.join(["pair2vec", *words, *(word for item in named.items() for word in item)])


def write_model_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same model, or the same triple."""
    if result["task"] == "pmi":
        parts = [result["x"], result["y"], result["pattern"]]
    else:
        parts = [result["model"], *_settings(result)]
    return results.write_result(folder, result_file_name([result["task"], *parts]), result)


def _settings(result: Mapping[str, Any]) -> list[str]:
    """What sets a run apart from others of its model."""
    protocol = result["protocol"]
    data, half = result.get("data"), protocol.get("half")
    whitening, prior = protocol.get("whitening", WHITENING), protocol.get("prior")
    return [
        *([data] if data and data.lower() != "bats" else []),
        *([half] if half else []),
        *([f"whitening{whitening:g}"] if whitening != WHITENING else []),
        *([f"prior{prior:g}"] if prior else []),
    ]


# == Results of learning relations: one file a set, a model and a seed.


def result_of_relations(saved: SavedModel, found: RelationResult) -> RunResult:
    """What is kept of a run; paths are named without their folders."""
    protocol = {
        **asdict(found.protocol),
        **{name: Path(getattr(found.protocol, name)).name for name in ("model", "vectors")},
    }
    is_file = Path(found.protocol.vectors).suffix != ""
    options = {
        "--data": found.protocol.data,
        **({"--vectors": protocol["vectors"]} if is_file else {}),
        "--model": protocol["model"],
        "--seed": f"{found.protocol.seed}",
    }
    words = ["pair2vec", "eval", "relations", *(w for option in options.items() for w in option)]
    return {
        "task": "relations",
        "model": saved.config.get("name") or saved.folder.resolve().name,
        "data": found.protocol.data,
        "seed": found.protocol.seed,
        "date": today(),
        "metrics": {row.name: round(100 * row.test.weighted_f1, 2) for row in found.rows},
        "rows": found.to_json()["rows"],
        "protocol": protocol,
        "command": shlex.join(words),
    }


def write_relation_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same set, model and seed."""
    parts = ["relations", result["data"], result["model"], f"seed{result['seed']}"]
    return results.write_result(folder, result_file_name(parts), result)
