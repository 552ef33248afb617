"""A trained network in a folder: saved, and loaded again.

A folder of

- ``weights.safetensors``: the trained weights; frozen word and pair vectors stay where they are;
- ``config.json``: written last; its presence means that the network is complete. It has checksums
  of the weights and of itself.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import nn

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.tasks.inputs import (
    InputPaths,
    check_input_hashes,
    input_hashes,
    open_inputs,
)
from pair2vec.experiments.tasks.layers import copy_weights, set_weights
from pair2vec.experiments.tasks.task import NetworkSpec, NetworkT, SettingsT, Trained
from pair2vec.runtime.checksums import CHECKSUMS, read_checksums, with_checksums
from pair2vec.runtime.devices import find_device
from pair2vec.runtime.storage import PARTIAL, write_file
from pair2vec.training.recipes import with_settings
from pair2vec.version import __version__

NETWORK_CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
TRAINING_STATE = "training"
"""Beside these, the folder with what training needs to resume."""

_REPAIR_HINT = "train or copy it again"
_Spec = NetworkSpec[Any, Any]


def save_network(
    spec: _Spec, folder: Path, network: nn.Module, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Write a network over whatever one is in `folder`; returns its whole config."""
    weights = {name: values.cpu().contiguous() for name, values in copy_weights(network).items()}
    facts = {
        "kind": spec.name,
        "format": spec.format,
        "version": __version__,
        **spec.facts,
        **config,
        "weights": {name: list(values.shape) for name, values in weights.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    # Without its config, nothing in the folder is taken for a network.
    (folder / NETWORK_CONFIG).unlink(missing_ok=True)
    content = save(weights)
    write_file(folder / WEIGHTS, content)
    # Twice: what is checked is what is read back.
    whole = with_checksums(
        NETWORK_CONFIG,
        json.loads(json.dumps(facts)),
        {WEIGHTS: hashlib.sha256(content).hexdigest()},
    )
    text = f"{json.dumps(whole, indent=2, ensure_ascii=False)}\n"
    write_file(folder / NETWORK_CONFIG, text.encode())
    return whole


def load_network(
    spec: NetworkSpec[SettingsT, NetworkT],
    folder: str | os.PathLike[str],
    words: Iterable[str],
    *,
    moved: Mapping[str, str | None] | None = None,
    device: str = "auto",
) -> Trained[NetworkT]:
    """Open a network that `save_network` wrote.

    Args:
        spec: Of its task.
        folder: That it was saved in.
        words: All words that its inputs may have.
        moved: By the names of `InputPaths`, those that have moved since it was trained.
        device: "auto", "cpu", "cuda" or "cuda:N".

    Raises:
        InputError: there is none, it is not complete, or its inputs are not those it had.
    """
    folder, torch_device = Path(folder), find_device(device)
    config = read_network_config(spec, folder)
    settings, named = _settings_and_inputs(spec, folder, config)
    if "input_hashes" not in config:
        raise InputError(f"{folder / NETWORK_CONFIG}: has no hashes of its inputs; train it again")
    weights = _read_weights(folder / WEIGHTS, config.get(CHECKSUMS, {}))
    paths = named.replaced(moved or {})
    inputs = open_inputs(paths, words, settings.pairs)
    check_input_hashes(input_hashes(paths), config["input_hashes"], folder)
    # The initial weights are replaced at once: drawing them must not disturb the global generator.
    with torch.random.fork_rng(devices=[]):
        network = spec.make(inputs, settings)
    set_weights(network, weights, os.fspath(folder))
    return Trained(network.to(torch_device).eval(), config, torch_device)


def _settings_and_inputs(
    spec: NetworkSpec[SettingsT, NetworkT], folder: Path, config: Mapping[str, Any]
) -> tuple[SettingsT, InputPaths]:
    """The settings and inputs of a config."""
    try:
        return with_settings(spec.defaults, config["settings"]), InputPaths(**config["inputs"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{folder / NETWORK_CONFIG}: does not say how it was made ({error}); train it again"
        ) from error


def read_network_config(spec: _Spec, folder: Path) -> dict[str, Any]:
    """What is known of a network.

    Raises:
        InputError: there is none, or it is not complete.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; make {spec.noun_phrase} with '{spec.command}'")
    if not (folder / NETWORK_CONFIG).exists():
        raise InputError(
            f"{folder}: not a complete {spec.noun} (no {NETWORK_CONFIG}); if its training was "
            "stopped, --resume continues it"
        )
    config = _parse_config(spec, folder / NETWORK_CONFIG)
    if config is None:
        raise InputError(f"{folder / NETWORK_CONFIG}: is not the config of {spec.title}")
    if config["format"] > spec.format:
        raise InputError(
            f"{folder}: format {config['format']} is newer than this version reads "
            f"({spec.format}); upgrade pair2vec"
        )
    read_checksums(folder / NETWORK_CONFIG, config, _REPAIR_HINT)
    return config


def _parse_config(spec: _Spec, path: Path) -> dict[str, Any] | None:
    """The config of a network of this task; None if it is of something else."""
    try:
        config = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    is_ours = isinstance(config, dict) and config.get("kind") == spec.name
    return config if is_ours and isinstance(config.get("format"), int) else None


def _read_weights(path: Path, checksums: Mapping[str, str]) -> dict[str, torch.Tensor]:
    """The weights; `checksums` has one of their file unless an older version wrote it."""
    try:
        content = path.read_bytes()
        weights = load(content)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; {_REPAIR_HINT}") from error
    except SafetensorError as error:
        raise InputError(f"{path}: is damaged ({error}); {_REPAIR_HINT}") from error
    if path.name in checksums and checksums[path.name] != hashlib.sha256(content).hexdigest():
        raise InputError(
            f"{path}: is damaged: its checksum is not the recorded one; {_REPAIR_HINT}"
        )
    return weights


def check_network_folder(spec: _Spec, folder: Path) -> None:
    """Refuse a folder that holds anything but a network of this task, or a part of one.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another one")
    if not folder.exists() or (
        (folder / NETWORK_CONFIG).exists() and _parse_config(spec, folder / NETWORK_CONFIG)
    ):
        return
    ours = {WEIGHTS, TRAINING_STATE}
    others = sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in ours and not path.name.endswith(PARTIAL)
    )
    if others:
        raise UsageError(
            f"{folder}: is not {spec.noun_phrase} and not empty ({others[0]}); give another folder"
        )
