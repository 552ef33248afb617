"""Results of learning relations: one file a set, a model and a seed."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pair2vec.evaluation import results
from pair2vec.evaluation.relations import RelationResult
from pair2vec.evaluation.results import Result, file_name, today
from pair2vec.model.folder import SavedModel


def result_of_relations(saved: SavedModel, found: RelationResult) -> Result:
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


def write_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same set, model and seed."""
    parts = ["relations", result["data"], result["model"], f"seed{result['seed']}"]
    return results.write_result(folder, file_name(parts), result)
