"""Results of pair models by themselves, and of counts: analogies, slots, PMI; one file a run."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pair2vec.evaluation import results
from pair2vec.evaluation.analogy_exam import ExamResult
from pair2vec.evaluation.results import Result, file_name, today
from pair2vec.evaluation.slot_table import FilledRow
from pair2vec.model.folder import SavedModel
from pair2vec.query.comparison import WHITENING
from pair2vec.text.corpus import Manifest
from pair2vec.theory.pmi import PAPER, Counts, mvpmi, pmi, si1, si2, si3, si4

MEASURES = {"si1": si1, "si2": si2, "si3": si3, "si4": si4, "pmi": pmi, "mvpmi": mvpmi}
"""Of a triple, by name."""


def result_of_analogies(saved: SavedModel, exam: ExamResult) -> Result:
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


def result_of_slots(saved: SavedModel, rows: Sequence[FilledRow], prior: float) -> Result:
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
) -> Result:
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
        "protocol": {"negatives": PAPER._asdict()},
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


def write_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same model, or the same triple."""
    if result["task"] == "pmi":
        parts = [result["x"], result["y"], result["pattern"]]
    else:
        parts = [result["model"], *_settings(result)]
    return results.write_result(folder, file_name([result["task"], *parts]), result)


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
