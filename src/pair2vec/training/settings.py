"""Settings as a user writes them: a TOML file, ``--set training.batch=4096``, and back to JSON."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pair2vec.errors import UsageError
from pair2vec.training.recipes import RECIPES, Recipe

Settings = TypeVar("Settings")
"""A frozen dataclass of values, and of groups of settings that are such dataclasses themselves."""


def find_recipe(name: str) -> Recipe:
    """The recipe of this name."""
    if name not in RECIPES:
        raise UsageError(f"no recipe {name!r}; {_nearest(name, RECIPES)}")
    return RECIPES[name]()


def resolve(name: str | None, config: Path | None, assignments: Iterable[str]) -> Recipe:
    """The recipe of a call: the named one, changed by a file, changed by ``key=value``s."""
    settings = _read_toml(config) if config else {}
    named_in_file = str(settings.pop("recipe", "fast"))
    assign(settings, assignments)
    return with_settings(find_recipe(name or named_in_file), settings)


def assign(settings: dict[str, Any], assignments: Iterable[str]) -> None:
    """Put ``key=value``s into nested settings."""
    # All at once, because some settings only fit together.
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: expected KEY=VALUE, as in training.batch=4096")
        _assign(settings, key.strip().split("."), _parse(value.strip()))


def with_settings(before: Settings, settings: Mapping[str, Any]) -> Settings:
    """`before` with nested settings changed; a wrong key or value names the nearest right one."""
    changed: Settings = _changed(before, settings, "")
    return changed


def recipe_from_json(saved: Mapping[str, Any]) -> Recipe:
    """The recipe that ``asdict`` made this of."""
    return with_settings(Recipe(name=saved["name"]), saved)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from error


def _assign(settings: dict[str, Any], keys: list[str], value: object) -> None:
    for key in keys[:-1]:
        inner = settings.setdefault(key, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {'.'.join(keys)}: {key} is set to {inner!r} already")
        settings = inner
    settings[keys[-1]] = value


def _parse(value: str) -> object:
    """A TOML value; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _changed(owner: Any, settings: Mapping[str, Any], prefix: str) -> Any:  # noqa: ANN401
    known = {field.name: getattr(owner, field.name) for field in fields(owner)}
    changes = {}
    for key, value in settings.items():
        if key not in known:
            raise UsageError(f"no setting {prefix}{key}; {_nearest(key, known, prefix)}")
        if is_dataclass(known[key]):
            if not isinstance(value, Mapping):
                inner = ", ".join(asdict(known[key]))
                raise UsageError(f"{prefix}{key} is a group of settings: {inner}")
            changes[key] = _changed(known[key], value, f"{prefix}{key}.")
        else:
            changes[key] = _typed(value, known[key], f"{prefix}{key}")
    return replace(owner, **changes)


def _typed(value: object, present: object, name: str) -> object:
    wanted = type(present)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        kind = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
        raise UsageError(f"{name} is {value!r}; it must be {kind[wanted]}, as in {present!r}")
    return value


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.4)
    if close:
        return f"did you mean {prefix}{close[0]}?"
    return f"there are {', '.join(prefix + key for key in known)}"
