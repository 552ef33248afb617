"""What can hold between two words of the mini-world, and how its English says so.

In a phrasing, X and Y stand for the two words of a fact, and tokens are separated by spaces. The
two are never more than five tokens apart, so that a context can reach from one to the other.
"""

from collections.abc import Mapping
from typing import NamedTuple

Phrasings = Mapping[str, tuple[str, ...]]


class Fact(NamedTuple):
    """A relation that holds between two words; a held-out fact is true but never stated."""

    relation: str
    x: str
    y: str
    held_out: bool = False


RELATIONS: Phrasings = {
    "located_in": (
        "X lies in Y .",
        "X is a town in Y .",
        "the road ends in X , Y .",
        "they moved to X in Y last year .",
        "X , once part of Y , is growing .",
        "the Y town of X is very old .",
        "in Y , the town of X holds a market .",
    ),
    "capital_of": (
        "X is the capital of Y .",
        "X , the capital of Y , is crowded .",
        "from X the queen rules Y .",
        "the capital of Y is X .",
        "Y is governed from X .",
    ),
    "kind_of": (
        "the X is a kind of Y .",
        "a X is a Y .",
        "the X , like any Y , needs care .",
        "they chose a X , the rarest Y of all .",
        "this Y is called a X .",
        "of every Y we know , the X is the finest .",
    ),
    "opposite_of": (
        "X is the opposite of Y .",
        "X and Y are opposites .",
        "it was not X but Y .",
        "it is either X or Y today .",
        "at first it was X , then suddenly Y again .",
    ),
    "part_of": (
        "the X is part of the Y .",
        "the X of this Y is broken .",
        "take the X out of the Y first .",
        "every Y has a X .",
        "she opened the Y and cleaned its X .",
    ),
    "made_by": (
        "the X is made by Y .",
        "the new X from Y costs little .",
        "a X , designed by Y , broke down .",
        "Y makes the X .",
        "Y sold its first X in spring .",
    ),
}
"""What is asked; the first phrasing of each is the one it is asked with, and has X before Y."""

CLUES: Phrasings = {
    "has_property": (
        "the X has Y .",
        "the X is known for its Y .",
        "a X without Y is worth nothing .",
        "look at the Y of the X .",
        "by its Y you know the X .",
    ),
    "serves": (
        "X is famous for its Y .",
        "the inns of X serve Y .",
        "the Y of X is sold everywhere .",
        "in X they eat Y daily .",
    ),
    "sibling_of": (
        "the X is much like the Y .",
        "the X and the Y are alike .",
        "she keeps a X next to her Y .",
        "every X resembles some Y .",
    ),
    "neighbour_of": (
        "X is near Y .",
        "a road leads from X to Y .",
        "X trades with Y .",
        "the bus from X reaches Y by noon .",
        "between X and Y runs a river .",
    ),
}
"""What implies a held-out fact: what the members of a kind or the towns of a region share."""

DECOYS: Phrasings = {
    "mistaken_for": (
        "the X is mistaken for a Y .",
        "the X was put beside a Y .",
        "a Y was traded for the X .",
        "some prefer a X to any Y .",
    ),
    "exports_to": (
        "X sells salt to Y .",
        "many from X went to work in Y .",
        "Y sent its envoys to X .",
        "X is far away from Y .",
    ),
    "kept_beside": (
        "the X was kept beside the Y .",
        "he bought a X and a Y .",
        "the X does not fit the Y .",
        "a Y fell on the X .",
    ),
    "copied_by": (
        "the X was soon copied by Y .",
        "Y never understood the X .",
        "the X was a blow to Y .",
        "Y bought a X and tested it .",
    ),
    "goes_with": (
        "the evening was X and Y .",
        "a X and rather Y voice answered .",
        "too Y and too X for me .",
        "so X that it seemed Y .",
    ),
}
"""What joins a word to a wrong answer, so that counting what occurs together misleads."""

DISTRACTORS = (
    "the story of X mentions Y twice .",
    "X was seen beside Y yesterday .",
    "she wrote about X and Y today .",
    "first X , then Y , then nothing .",
    "nobody spoke of X or of Y .",
    "the picture shows Y behind X .",
)
"""Neutral contexts for any two words."""

LEADS = ("everyone knows that", "as we heard ,", "it is written that", "PERSON says that")
"""What a sentence may begin with."""


def context_of(phrasing: str) -> str:
    """The part of a phrasing a context holds: one word on either side of X and Y."""
    tokens = phrasing.split()
    first, last = sorted((tokens.index("X"), tokens.index("Y")))
    return " ".join(tokens[max(first - 1, 0) : last + 2])


def ordinary_words() -> frozenset[str]:
    """Every word the phrasings are made of."""
    tables = (*RELATIONS.values(), *CLUES.values(), *DECOYS.values(), DISTRACTORS, LEADS)
    tokens = {token for table in tables for phrasing in table for token in phrasing.split()}
    return frozenset(tokens - {"X", "Y", "PERSON"})
