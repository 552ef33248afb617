"""The words of the mini-world: real nouns and adjectives, and names nobody has used."""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple


class Lexicon(NamedTuple):
    """The words that facts are about, the frequent ones first."""

    things: tuple[str, ...]
    adjectives: tuple[str, ...]
    people: tuple[str, ...]
    proper: frozenset[str]
    """Those written with a capital."""


KINDS = {
    "bird": ("feathers", "wings", "eggs", "beaks"),
    "fish": ("fins", "gills", "scales", "slime"),
    "tree": ("bark", "roots", "branches", "leaves"),
    "fruit": ("pulp", "juice", "seeds", "peel"),
    "beast": ("fur", "claws", "whiskers", "hooves"),
    "flower": ("petals", "pollen", "nectar", "perfume"),
    "boat": ("sails", "oars", "anchors", "rudders"),
    "garment": ("sleeves", "buttons", "pockets", "seams"),
    "vehicle": ("wheels", "pedals", "brakes", "headlights"),
    "building": ("walls", "windows", "chimneys", "doors"),
    "jewel": ("facets", "sparkle", "lustre", "clasps"),
    "cake": ("icing", "crumbs", "cream", "sugar"),
}
"""Kinds of things, and what each is known by."""

OPPOSITES = """hot/cold wet/dry big/small young/aged heavy/light dark/bright hard/soft fast/slow
    loud/quiet rich/poor wide/narrow thick/thin sharp/blunt sweet/bitter rough/smooth deep/shallow
    clean/dirty full/empty strong/weak open/shut brave/timid early/late simple/complex
    wild/tame""".split()

ENDINGS = {
    "region": ("ia", "land", "ovia"),
    "town": ("ton", "by", "ford", "mere", "wick"),
    "dish": ("ada", "oli", "umble"),
    "member": ("el", "ik", "osh", "un", "arra"),
    "whole": ("omat", "graph", "ilizer"),
    "part": ("et", "ock", "isk"),
    "maker": ("corp", "works", "brothers"),
    "product": ("ix", "oid", "ex"),
    "person": ("o", "a", "en"),
}
"""By its ending a reader knows a name's type; a model sees whole words and does not."""

_ONSETS = "b br d dr f g gr h j k kl l m n p pl r s sk st t tr v w z".split()
_VOWELS = "a e i o u".split()
_CODAS = "b d g l lm m n nd r rn rv s sk t v z".split()


class NameInventor:
    """Makes pronounceable names, all distinct and none of them in `taken`."""

    def __init__(self, draw: Random, taken: Iterable[str]) -> None:
        self._draw = draw
        self._used = set(taken)

    def names(self, kind: str, count: int) -> tuple[str, ...]:
        """`count` new names with the endings of `kind`."""
        return tuple(self._name(kind) for _ in range(count))

    def _name(self, kind: str) -> str:
        choose = self._draw.choice
        while True:
            stem = choose(_ONSETS) + choose(_VOWELS) + choose(_CODAS)
            if self._draw.random() < 0.3:
                stem += choose(_VOWELS) + choose(_CODAS)
            name = stem + choose(ENDINGS[kind])
            if name not in self._used:
                self._used.add(name)
                return name
