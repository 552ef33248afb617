"""Resolve a model's name: a folder, a bundled model, or one on the Hugging Face hub."""

import logging
import os
import re
from pathlib import Path
from types import ModuleType

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.model.config import CONFIG_FILE, parse_config
from pair2vec.model.folder import MODEL_FILES, last_checkpoint_model, load_model

BUNDLED = Path(__file__).parents[1] / "models"
"""The models that come with the package, one folder each."""

_log = logging.getLogger(__name__)

_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


def bundled_models() -> dict[str, Path]:
    """The models that come with the package, by name; the first is the default."""
    return {path.parent.name: path.parent for path in sorted(BUNDLED.glob(f"*/{CONFIG_FILE}"))}


def find_model(path_or_name: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a model.

    Args:
        path_or_name: A folder, also of a training that is not finished, which is then that of its
            last checkpoint; the name of a bundled model; or ``owner/name`` on the hub, which is
            downloaded the first time. None is the default model.

    Raises:
        UsageError: no model is given, or none of this name is known.
    """
    bundled = bundled_models()
    if path_or_name is None:
        if not bundled:
            raise UsageError("no model given; name the folder of one that 'pair2vec train' made")
        return next(iter(bundled.values()))
    path, name = Path(path_or_name), os.fspath(path_or_name)
    if path.exists() or path.is_absolute():
        return _last_checkpoint(path) or path
    if name in bundled:
        return bundled[name]
    if _HUB_NAME.fullmatch(name):
        return download_model(name)
    known = f"bundled are {', '.join(bundled)}" if bundled else "no models are bundled"
    raise UsageError(
        f"{name}: no such folder, and no model of this name: {known}; "
        "make one with 'pair2vec train', or give owner/name of one on the hub"
    )


def _last_checkpoint(folder: Path) -> Path | None:
    """The model of the last checkpoint of an unfinished training, with a message that says so."""
    path = last_checkpoint_model(folder)
    if path is not None:
        _log.warning(
            "%s: training is not finished; this is the checkpoint of %s", folder, _progress(path)
        )
    return path


def _progress(folder: Path) -> str:
    match parse_config(folder / CONFIG_FILE):
        case {"checkpoint": {"step": int(step), "steps": int(steps)}}:
            return f"step {step:,} of {steps:,}"
    return folder.name


def model_name(folder: Path) -> str:
    """What `find_model` finds a folder by: the name of a bundled model, or else its path."""
    return next(
        (name for name, path in bundled_models().items() if path == folder), str(folder.absolute())
    )


def download_model(name: str) -> Path:
    """The folder of the model ``owner/name``, downloaded unless the hub's cache has it.

    Raises:
        Pair2vecError: the extra ``hub`` is missing, or the model cannot be downloaded.
    """
    hub = _import_hub(name)
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(MODEL_FILES)))
    # The library raises errors of several others for names, networks and permissions.
    except Exception as error:
        raise InputError(
            f"{name}: no such folder, and cannot be downloaded from the hub: {_first_line(error)}"
        ) from error


def push_model(folder: str | os.PathLike[str], name: str, *, private: bool = False) -> str:
    """Upload the model in `folder` to the hub as ``owner/name``; returns its URL.

    Raises:
        InputError: the folder holds no complete model, or the hub refuses it.
    """
    hub, saved = _import_hub(name), load_model(folder)
    try:
        hub.HfApi().create_repo(name, private=private, exist_ok=True)
        url = hub.HfApi().upload_folder(
            folder_path=saved.folder,
            repo_id=name,
            allow_patterns=list(MODEL_FILES),
            commit_message=f"Add {saved.config.get('name', saved.folder.name)}",
        )
    except Exception as error:
        raise InputError(f"{name}: the hub refuses it: {_first_line(error)}") from error
    return str(url)


def _import_hub(name: str) -> ModuleType:
    try:
        import huggingface_hub
    except ImportError as error:
        raise Pair2vecError(
            f"{name}: not a local folder; models on the hub need: pip install 'pair2vec[hub]'"
        ) from error
    return huggingface_hub


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
