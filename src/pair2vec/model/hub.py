"""Models on the Hugging Face hub; with the extra ``hub``."""

import os
from pathlib import Path
from types import ModuleType

from pair2vec.errors import InputError, Pair2vecError
from pair2vec.model.folder import FILES, load_model


def download_model(name: str) -> Path:
    """The folder of the model ``owner/name``, fetched unless the hub's cache has it.

    Raises:
        Pair2vecError: the extra is missing, or the model cannot be fetched.
    """
    hub = _library(name)
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(FILES)))
    # The library raises errors of several others for an address, a network or a right of access.
    except Exception as error:
        raise InputError(
            f"{name}: no such folder, and not to be had from the hub: {_first_line(error)}"
        ) from error


def push_model(folder: str | os.PathLike[str], name: str, *, private: bool = False) -> str:
    """Put the model in `folder` on the hub as ``owner/name``; returns its address.

    Raises:
        InputError: the folder holds no complete model, or the hub does not take it.
    """
    hub, saved = _library(name), load_model(folder)
    try:
        hub.HfApi().create_repo(name, private=private, exist_ok=True)
        pushed = hub.HfApi().upload_folder(
            folder_path=saved.folder,
            repo_id=name,
            allow_patterns=list(FILES),
            commit_message=f"Add {saved.config.get('name', saved.folder.name)}",
        )
    except Exception as error:
        raise InputError(f"{name}: the hub does not take it: {_first_line(error)}") from error
    return str(pushed)


def _library(name: str) -> ModuleType:
    try:
        import huggingface_hub
    except ImportError as error:
        raise Pair2vecError(
            f"{name}: no such folder; for models on the hub: pip install 'pair2vec[hub]'"
        ) from error
    return huggingface_hub


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
