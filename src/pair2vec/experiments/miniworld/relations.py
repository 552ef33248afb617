"""The mini-world's words, its relations, and the English phrasings that state them.

Words are real nouns and adjectives, and invented names. In a phrasing, X and Y stand for the two
words of a fact, and tokens are separated by spaces. The two are never more than five tokens apart,
so that a context can reach from one to the other.
"""

from collections.abc import Iterable, Mapping
from random import Random
from typing import NamedTuple


class Fact(NamedTuple):
    """A relation that holds between two words; a held-out fact is true but never stated."""

    relation: str
    x: str
    y: str
    held_out: bool = False


class Lexicon(NamedTuple):
    """The words that facts are about, the frequent ones first."""

    things: tuple[str, ...]
    adjectives: tuple[str, ...]
    people: tuple[str, ...]
    proper: frozenset[str]
    """Those written with a capital."""


KINDS = {
    kind: tuple(properties)
    for kind, *properties in map(
        str.split,
        """
        bird feathers wings eggs beaks
        fish fins gills scales slime
        tree bark roots branches leaves
        fruit pulp juice seeds peel
        beast fur claws whiskers hooves
        flower petals pollen nectar perfume
        boat sails oars anchors rudders
        garment sleeves buttons pockets seams
        vehicle wheels pedals brakes headlights
        building walls windows chimneys doors
        jewel facets sparkle lustre clasps
        cake icing crumbs cream sugar
        """.strip().splitlines(),
    )
}
"""Kinds of things, and the properties of each."""

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

Phrasings = Mapping[str, tuple[str, ...]]
"""By relation."""

WORLD_RELATIONS: Phrasings = {
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
"""The relations of questions; their patterns are the first phrasings, which have X before Y."""

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
"""What joins a word to a wrong answer, so that co-occurrence counts mislead."""

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
"""Optional beginnings of a sentence."""


def context_of(phrasing: str) -> str:
    """The context in a phrasing: from one word before X and Y to one word after."""
    tokens = phrasing.split()
    first, last = sorted((tokens.index("X"), tokens.index("Y")))
    return " ".join(tokens[max(first - 1, 0) : last + 2])


def ordinary_words() -> frozenset[str]:
    """Every word the phrasings are made of."""
    tables = (*WORLD_RELATIONS.values(), *CLUES.values(), *DECOYS.values(), DISTRACTORS, LEADS)
    tokens = {token for table in tables for phrasing in table for token in phrasing.split()}
    return frozenset(tokens - {"X", "Y", "PERSON"})


class NameInventor:
    """Makes pronounceable names, all distinct and none of them in `taken`."""

    def __init__(self, rng: Random, taken: Iterable[str]) -> None:
        self._rng = rng
        self._used = set(taken)

    def names(self, kind: str, count: int) -> tuple[str, ...]:
        """`count` new names with the endings of `kind`."""
        return tuple(self._name(kind) for _ in range(count))

    def _name(self, kind: str) -> str:
        choose = self._rng.choice
        while True:
            stem = choose(_ONSETS) + choose(_VOWELS) + choose(_CODAS)
            if self._rng.random() < 0.3:
                stem += choose(_VOWELS) + choose(_CODAS)
            name = stem + choose(ENDINGS[kind])
            if name not in self._used:
                self._used.add(name)
                return name
