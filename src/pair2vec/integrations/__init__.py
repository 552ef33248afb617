"""Models in spaCy, scikit-learn, gensim and pandas, one module and one extra each."""

import os
from functools import lru_cache
from pathlib import Path

from pair2vec.api import Pair2vec, load
from pair2vec.errors import Pair2vecError
from pair2vec.model.config import CONFIG_FILE
from pair2vec.model.resolve import find_model

ModelLike = Pair2vec | str | os.PathLike[str] | None
"""An opened model, or what `pair2vec.load` opens."""


def open_model(model: ModelLike) -> Pair2vec:
    """The model; one that is named is opened once, until its folder changes."""
    if isinstance(model, Pair2vec):
        return model
    folder = find_model(model)
    config = folder / CONFIG_FILE
    return _opened(folder, config.stat().st_mtime_ns if config.exists() else 0)


@lru_cache(maxsize=2)
def _opened(folder: Path, _modified: int) -> Pair2vec:
    return load(folder)


def missing_extra(module: str, extra: str) -> Pair2vecError:
    """The error to raise where a module cannot be imported."""
    return Pair2vecError(
        f"pair2vec.integrations.{module} needs {extra}, not installed: "
        f"pip install 'pair2vec[{module}]'"
    )
