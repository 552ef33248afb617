"""What a model says of itself, added to after it was made."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pair2vec.atomic import write_whole
from pair2vec.model.card import model_card
from pair2vec.model.folder import CARD, CONFIG, load_model, to_json


def describe_model(folder: str | os.PathLike[str], facts: Mapping[str, Any]) -> None:
    """Add `facts` to the config of the model in `folder`, and write its card anew.

    Objects are merged, anything else is replaced. Known to the card are ``name``, ``licence``,
    ``notes`` (a list of lines) and ``metrics``.
    """
    config = _merged(load_model(folder).config, facts)
    content = to_json(config)
    write_whole(Path(folder) / CARD, model_card(config).encode())
    write_whole(Path(folder) / CONFIG, content)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    made = {**old, **new}
    for name in old.keys() & new.keys():
        if isinstance(old[name], Mapping) and isinstance(new[name], Mapping):
            made[name] = _merged(old[name], new[name])
    return made
