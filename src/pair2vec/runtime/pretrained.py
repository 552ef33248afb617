"""Folders of Hugging Face models: only safetensors are read, nothing is fetched, no code is run."""

import json
from pathlib import Path
from typing import Any

from pair2vec.errors import InputError

LOCAL_ONLY: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""Options of ``from_pretrained``, of tokenisers and of models."""
SAFETENSORS_ONLY: dict[str, Any] = {**LOCAL_ONLY, "use_safetensors": True}
"""Options of ``from_pretrained`` for the weights of a model."""

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_PICKLES = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def check_safetensors(folder: Path) -> None:
    """Refuse weights that are pickles, which can run code when they are read.

    Raises:
        InputError: there are no others.
    """
    if (folder / _INDEX).exists():
        shards = _indexed_files(folder / _INDEX)
        pickles = sorted(name for name in shards if not name.endswith(".safetensors"))
    elif (folder / _WEIGHTS).exists():
        return
    else:
        pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        raise InputError(
            f"{folder}: its weights are pickled ({pickles[0]}), which can run code when they are "
            f"read; take a version of the model with {_WEIGHTS}, or save it anew with "
            "save_pretrained where you trust it"
        )


def _indexed_files(index: Path) -> set[str]:
    try:
        return set(map(str, json.loads(index.read_bytes())["weight_map"].values()))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{index}: is no index of weights") from error
