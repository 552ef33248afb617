"""Questions to `fill`: how often the first word is right, by plain R·C and by default.

They are in ``data/fill_questions.toml``, with the words that are right and the rule for them. The
hash of a question puts it into one of two halves: settings are chosen on one, figures are of the
other.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Literal, NamedTuple

from pair2vec.api import Pair2vec
from pair2vec.query.search import Match, SlotWeights

Half = Literal["choose", "report"]
SHOWN = 3


class FillQuestion(NamedTuple):
    """A pattern, the word in one of its slots, and the words that are right in the other."""

    relation: str
    pattern: str
    slot: str
    """The one that is given: x or y."""
    word: str
    right: frozenset[str]
    is_long: bool
    """Whether the pattern has more outer words than a context."""

    @property
    def half(self) -> Half:
        key = f"{self.relation}\t{self.pattern}\t{self.word}"
        return "report" if hashlib.sha256(key.encode()).digest()[0] % 2 else "choose"


def read_fill_questions() -> list[FillQuestion]:
    folder = files("pair2vec.experiments.evaluation") / "data"
    content = tomllib.loads((folder / "fill_questions.toml").read_text(encoding="utf-8"))
    return [
        FillQuestion(
            group["relation"],
            group["pattern"],
            group["given"],
            word,
            frozenset(right.split()),
            group.get("long", False),
        )
        for group in content["group"]
        for word, right in group["right"].items()
    ]
