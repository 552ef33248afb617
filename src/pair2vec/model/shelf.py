"""Where models are found: in a folder, beside the package, or on the Hugging Face hub."""

import os
import re
from pathlib import Path

from pair2vec.errors import UsageError
from pair2vec.model.folder import CONFIG
from pair2vec.model.hub import download_model

BUNDLED = Path(__file__).parents[1] / "models"
"""The folder of the models that come with the package, one folder each."""

_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


def bundled_models() -> dict[str, Path]:
    """The models that come with the package, by name; the first is the default."""
    return {path.parent.name: path.parent for path in sorted(BUNDLED.glob(f"*/{CONFIG}"))}


def find_model(path_or_name: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a model.

    Args:
        path_or_name: A folder; the name of a bundled model; or ``owner/name`` on the hub, which is
            fetched the first time. None is the default model.

    Raises:
        UsageError: no model is meant, or none of this name is known.
    """
    bundled = bundled_models()
    if path_or_name is None:
        if not bundled:
            raise UsageError("no model given; name the folder of one that 'pair2vec train' made")
        return next(iter(bundled.values()))
    path, name = Path(path_or_name), os.fspath(path_or_name)
    if path.exists() or path.is_absolute():
        return path
    if name in bundled:
        return bundled[name]
    if _HUB_NAME.fullmatch(name):
        return download_model(name)
    known = f"bundled are {', '.join(bundled)}" if bundled else "no models are bundled"
    raise UsageError(
        f"{name}: no such folder, and no model of this name: {known}; "
        "make one with 'pair2vec train', or give owner/name of one on the hub"
    )
