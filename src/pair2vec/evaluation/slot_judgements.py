"""Which words are right in the paper's slot-filling table: a criterion a row, and what meets it.

They are in ``data/slot_judgements.toml``, which says how they were come by.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

PLACE = "pair2vec/evaluation/data/slot_judgements.toml"
"""Where a reader finds them."""


class Judgement(NamedTuple):
    """What a person would call right in a row."""

    criterion: str
    accepted: frozenset[str]
    """The words that meet it."""


def judgements() -> dict[tuple[str, str], Judgement]:
    """By pattern and x."""
    stored = files("pair2vec.evaluation") / "data" / "slot_judgements.toml"
    content = tomllib.loads(stored.read_text(encoding="utf-8"))
    return {
        (row["pattern"], row["x"]): Judgement(row["criterion"], _accepted(row, content["shared"]))
        for row in content["row"]
    }


def _accepted(row: Mapping[str, Any], shared: Mapping[str, str]) -> frozenset[str]:
    """A row's own words, and those of the lists it shares with others."""
    lists = [row.get("accepted", ""), *(shared[name] for name in row.get("shared", []))]
    return frozenset(" ".join(lists).split())
