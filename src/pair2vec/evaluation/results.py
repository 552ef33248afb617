"""Results of runs: one file a run, whatever the task; and figures over several of them."""

import datetime
import json
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pair2vec.atomic import write_whole
from pair2vec.errors import InputError, UsageError

Result = dict[str, Any]
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


def file_name(parts: Sequence[str]) -> str:
    """Of a result, from what tells it from others."""
    return re.sub(r"[^\w.-]+", "_", "-".join(parts)) + ".json"


def write_result(folder: Path, name: str, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    write_whole(path, f"{json.dumps(result, indent=2, ensure_ascii=False)}\n".encode())
    return path


def read_results(folder: Path, task: str | None = None) -> list[Result]:
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
