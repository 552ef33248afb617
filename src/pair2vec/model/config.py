"""The config of a model folder: read, checked against the arrays, and written with checksums.

Models come from the hub: nothing that a config says is used before it is compared with the arrays,
and their sizes with limits, so that no config makes a program allocate what the file does not hold.

Shapes: V words, C words of contexts, D dimension, H hidden size of a direction of the LSTM, U units
and K relations of the relation head, B buckets and Q rank of the n-grams of words.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pair2vec.errors import InputError, UsageError
from pair2vec.model.tensors import REPAIR_HINT
from pair2vec.ranges import MAX_SIZE
from pair2vec.runtime.checksums import is_size, read_checksums, strict_json, with_checksums

MODEL_FORMAT = 1
CONFIG_FILE = "config.json"
_HINT = f"'pair2vec describe' adds facts to it; else {REPAIR_HINT}"

_SHAPES = {
    "pair.words": "V D",
    "pair.first.weight": "D 3D",
    "pair.first.bias": "D",
    r"pair.others.\d+.weight": "D D",
    r"pair.others.\d+.bias": "D",
    "context.words": "C D",
    "context.state_weight": "2 H 4H",
    "context.input_weight": "8H D",
    "context.bias": "8H",
    "context.attention.weight": "1 2H",
    "context.value.weight": "D 2H",
    "subword.mean": "D",
    "subword.buckets": "B Q",
    "subword.directions": "Q D",
    "relation.hidden.bias": "U",
    "relation.hidden.weight": "U 2D",
    "relation.output.bias": "K",
    "relation.output.weight": "K U",
    "relation.negation": "K",
    "relation.similarity": "K",
}
"""The arrays of networks by a pattern of their names; each size stands alone before 3 of it do."""
_SIZE = re.compile(r"(\d*)([A-Z]?)(?: |$)")
_LIMITED = "DHUKQ"
"""Sizes up to `MAX_SIZE`, as they are trained: networks are made of matrices of D by D."""


def read_config(folder: Path) -> dict[str, Any]:
    """The config of the model in `folder`.

    Raises:
        InputError: there is none, it is of something else, or it is damaged.
    """
    path = folder / CONFIG_FILE
    if not folder.exists():
        raise InputError(f"{folder}: no such folder; make a model with 'pair2vec train'")
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; a model is a folder with {CONFIG_FILE} in it")
    if not path.exists():
        raise InputError(
            f"{folder}: not a complete model (no {CONFIG_FILE}); if saving it was stopped, "
            "save it again; if it is being trained, wait for its first checkpoint"
        )
    config = parse_config(path)
    if config is None:
        raise InputError(f"{path}: is not the config of a pair2vec model, or damaged")
    if config["format"] > MODEL_FORMAT:
        raise InputError(
            f"{folder}: model format {config['format']} is newer than this version reads "
            f"({MODEL_FORMAT}); upgrade pair2vec"
        )
    read_checksums(path, config, _HINT)
    return config


def parse_config(path: Path) -> dict[str, Any] | None:
    """The config, or None for one that is not ours: other libraries use the name as well."""
    try:
        config = strict_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    return config if isinstance(config, dict) and _has_types_of_ours(config) else None


def _has_types_of_ours(config: Mapping[str, Any]) -> bool:
    """Whether what every config has is there, and what is used without a look is of its type."""
    shapes, notes, teaching = (
        config.get(name, default)
        for name, default in (("tensors", 0), ("notes", []), ("teaching", {}))
    )
    sentences = (
        config["corpus"].get("sentences", 0) if isinstance(config.get("corpus"), dict) else 0
    )
    return (
        isinstance(config.get("precision"), str)
        and isinstance(config.get("format"), int)
        and all(is_size(config.get(name, 0)) for name in ("format", "words", "bytes"))
        and isinstance(shapes, dict)
        and all(isinstance(shape, list) and all(map(is_size, shape)) for shape in shapes.values())
        and isinstance(notes, list)
        and isinstance(teaching, dict)
        and is_size(sentences)
    )


def config_json(config: Mapping[str, Any], checksums: Mapping[str, str]) -> bytes:
    """A config with checksums, as it is in its file.

    Raises:
        UsageError: it is not JSON.
    """
    try:
        # Twice: what is checked is what is read back, with lists for tuples and text for keys.
        plain = json.loads(json.dumps(config, allow_nan=False))
        whole = with_checksums(CONFIG_FILE, plain, checksums)
        return f"{json.dumps(whole, indent=2, ensure_ascii=False)}\n".encode()
    except (TypeError, ValueError) as error:
        raise UsageError(f"config: is not JSON: {error}") from error


def pair_settings(config: Mapping[str, Any], source: object) -> Mapping[str, Any]:
    """R's part of the recipe of a model, with ``composition`` and ``layers``.

    Args:
        config: Of the model; `check_sizes` has compared it with the arrays.
        source: Of the config, named in the error.

    Raises:
        InputError: it has none.
    """
    settings = _recipe_part(config, "pair")
    if type(settings.get("composition")) is not str or type(settings.get("layers")) is not int:
        raise InputError(
            f"{source}: its config has no 'recipe' with the composition of pairs; {REPAIR_HINT}"
        )
    return settings


def check_sizes(path: Path, config: Mapping[str, Any]) -> None:
    """Compare the shapes of arrays with each other, with limits, and with what the recipe says.

    Args:
        path: Of the config, named in errors.
        config: Its shapes are those of the arrays.

    Raises:
        InputError: two of them differ, or one is beyond its limits.
    """
    sizes = _sizes(path, config["tensors"])
    for letter, size in sizes.items():
        if size < 1 or (letter in _LIMITED and size > MAX_SIZE):
            raise InputError(
                f"{path}: a tensor has a size of {size:,}; it must be between 1 and {MAX_SIZE:,}"
            )
    for setting, said, found in _settings(config, sizes):
        if type(said) is not int or said != found:
            raise InputError(
                f"{path}: recipe.{setting} is {said!r} where the tensors have {found}; "
                f"{REPAIR_HINT}"
            )


def _sizes(path: Path, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Each size by its letter; two arrays that do not agree on one are an error."""
    sizes: dict[str, int] = {}
    for pattern, dimensions in _SHAPES.items():
        factors = [
            (int(factor or 1), letter)
            for factor, letter in _SIZE.findall(dimensions)
            if factor or letter
        ]
        for name in (name for name in shapes if re.fullmatch(pattern, name)):
            shape = list(shapes[name])
            for (factor, letter), size in zip(factors, shape, strict=False):
                if letter and factor == 1:
                    sizes.setdefault(letter, size)
            wanted = [
                factor * sizes.get(letter, 1) if letter in sizes or not letter else size
                for (factor, letter), size in zip(factors, shape, strict=False)
            ]
            if shape != wanted or len(shape) != len(factors):
                raise InputError(
                    f"{path}: tensor {name!r} has shape {shape}, which does not fit the others; "
                    f"{REPAIR_HINT}"
                )
    return sizes


def _settings(
    config: Mapping[str, Any], sizes: Mapping[str, int]
) -> Iterator[tuple[str, object, int]]:
    """Sizes that the recipe states: the setting, its value, and what the arrays have instead."""
    for part, name, letter in (
        ("pair", "dimension", "D"),
        ("context", "dimension", "D"),
        ("context", "hidden", "H"),
    ):
        settings = _recipe_part(config, part)
        if name in settings and letter in sizes:
            yield f"{part}.{name}", settings[name], sizes[letter]
    pair = _recipe_part(config, "pair")
    if pair.get("composition") == "mlp" and "pair.first.weight" in config["tensors"]:
        others = sum(name.startswith("pair.others.") for name in config["tensors"]) // 2
        yield "pair.layers", pair.get("layers"), 1 + others


def _recipe_part(config: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    """A group of settings of the recipe; empty where there is none."""
    recipe = config.get("recipe")
    settings = recipe.get(part) if isinstance(recipe, Mapping) else None
    return settings if isinstance(settings, Mapping) else {}
