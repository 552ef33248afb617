"""The mini-world: a few hundred words, the facts between them, which are held out, and its text."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from random import Random
from typing import Annotated, NamedTuple

from pair2vec.errors import UsageError
from pair2vec.experiments.miniworld.relations import (
    CLUES,
    DECOYS,
    DISTRACTORS,
    KINDS,
    LEADS,
    OPPOSITES,
    WORLD_RELATIONS,
    Fact,
    Lexicon,
    NameInventor,
    ordinary_words,
)
from pair2vec.ranges import Range, Size, check_ranges

SHARES = ((WORLD_RELATIONS, 0.40), (CLUES, 0.38), (DECOYS, 0.15))
"""How much of the text is of each sort; the rest are distractors."""

LED_SHARE = 0.2
"""How many sentences begin with one of LEADS."""

DOCUMENT_SENTENCES = 20
"""The length of a document, on average."""


Several = Annotated[int, Range(least=2, most=10_000)]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldConfig:
    """How many there are of everything."""

    kinds: Annotated[int, Range(least=2, most=len(KINDS))] = len(KINDS)
    members: Several = 16
    """Of each kind."""
    regions: Several = 16
    towns: Several = 10
    """In each region, its capital included."""
    dishes: Size = 3
    """That all towns of a region serve."""
    people: Size = 60
    opposites: Annotated[int, Range(least=2, most=len(OPPOSITES))] = len(OPPOSITES)
    """Pairs of adjectives."""
    wholes: Several = 24
    parts: Size = 3
    """Of each whole."""
    makers: Several = 20
    products: Size = 4
    """Of each maker."""
    held_out: Annotated[float, Range(least=0, most=0.5)] = 1 / 4
    """The share of towns and of members whose region or kind is never stated."""
    companions: Size = 3
    """With how many siblings or neighbours a word is mentioned first; with as many, second."""
    decoys: Size = 5
    """With how many words of the right type, but wrong, a word is mentioned in another context."""

    def __post_init__(self) -> None:
        check_ranges(self)
        for name in ("towns", "members"):
            if getattr(self, name) <= self.companions:
                raise UsageError(
                    f"{name} is {getattr(self, name)}; it must be above companions, which is "
                    f"{self.companions}"
                )


Groups = Mapping[str, tuple[str, ...]]


class _Inventory(NamedTuple):
    """Which words belong to which word."""

    towns: Groups
    """By region; the first is its capital."""
    dishes: Groups
    """By region."""
    members: Groups
    """By kind."""
    properties: Groups
    """By kind."""
    parts: Groups
    """By whole."""
    products: Groups
    """By maker."""
    opposites: Groups
    """Each adjective has one."""
    people: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MiniWorld:
    """An invented world: its facts, the words they are about, and its text."""

    facts: tuple[Fact, ...]
    """Relations, clues and decoys alike; the held-out facts are marked."""
    lexicon: Lexicon

    @classmethod
    def create(cls, seed: int = 0, config: WorldConfig | None = None) -> "MiniWorld":
        """The world of this seed: the same names and facts on every machine."""
        rng = Random(seed)
        config = config or WorldConfig()
        groups = _invent(config, rng)
        return cls(facts=tuple(_facts(groups, config, rng)), lexicon=_lexicon(groups, rng))

    def facts_of(self, relation: str) -> list[Fact]:
        """The facts of one relation, those held out included."""
        return [fact for fact in self.facts if fact.relation == relation]

    def text(self, sentences: int = 60_000, seed: int = 1) -> str:
        """One sentence a line, a blank line between documents; no held-out pair in any sentence."""
        return write_text(self.facts, self.lexicon, sentences, Random(seed))


def _invent(config: WorldConfig, rng: Random) -> _Inventory:
    properties = dict(islice(KINDS.items(), config.kinds))
    pairs = [pair.split("/") for pair in OPPOSITES[: config.opposites]]
    opposites = {x: (y,) for pair in pairs for x, y in (pair, reversed(pair))}
    real_words = {*ordinary_words(), *opposites, *properties, *_flatten(properties)}
    invent = NameInventor(rng, real_words).names
    regions = invent("region", config.regions)
    return _Inventory(
        towns={region: invent("town", config.towns) for region in regions},
        dishes={region: invent("dish", config.dishes) for region in regions},
        members={kind: invent("member", config.members) for kind in properties},
        properties=properties,
        parts={whole: invent("part", config.parts) for whole in invent("whole", config.wholes)},
        products={m: invent("product", config.products) for m in invent("maker", config.makers)},
        opposites=opposites,
        people=invent("person", config.people),
    )


def _flatten(groups: Groups) -> list[str]:
    return [word for group in groups.values() for word in group]


def _lexicon(groups: _Inventory, rng: Random) -> Lexicon:
    """All words in a random order, which is that of their frequencies."""
    proper = [*groups.towns, *_flatten(groups.towns), *groups.products]
    common = [*groups.members, *_flatten(groups.members), *_flatten(groups.properties)]
    common += [*groups.parts, *_flatten(groups.parts), *_flatten(groups.products)]
    common += _flatten(groups.dishes)
    things = rng.sample(proper + common, len(proper) + len(common))
    adjectives = rng.sample(list(groups.opposites), len(groups.opposites))
    return Lexicon(
        tuple(things), tuple(adjectives), groups.people, frozenset(proper) | {*groups.people}
    )


def _facts(groups: _Inventory, config: WorldConfig, rng: Random) -> Iterator[Fact]:
    capitals = {region: towns[:1] for region, towns in groups.towns.items()}
    other_towns = {region: towns[1:] for region, towns in groups.towns.items()}
    yield from _belonging("capital_of", capitals)
    yield from _belonging("located_in", groups.towns, _sample(other_towns, config.held_out, rng))
    yield from _belonging("kind_of", groups.members, _sample(groups.members, config.held_out, rng))
    yield from _belonging("part_of", groups.parts)
    yield from _belonging("made_by", groups.products)
    yield from _belonging("opposite_of", groups.opposites)

    yield from _shared("has_property", groups.members, groups.properties)
    yield from _shared("serves", groups.towns, groups.dishes)
    yield from _companions("sibling_of", groups.members, config.companions)
    yield from _companions("neighbour_of", groups.towns, config.companions)

    yield from _decoys("mistaken_for", groups.members, config.decoys, rng)
    yield from _decoys("exports_to", groups.towns, config.decoys, rng)
    yield from _decoys("kept_beside", groups.parts, config.decoys, rng)
    yield from _decoys("copied_by", groups.products, config.decoys, rng)
    yield from _decoys("goes_with", groups.opposites, config.decoys, rng)


def _sample(groups: Groups, share: float, rng: Random) -> set[str]:
    """The same share of every group."""
    return {x for group in groups.values() for x in rng.sample(group, round(share * len(group)))}


def _belonging(relation: str, groups: Groups, held_out: Container[str] = ()) -> Iterator[Fact]:
    """Each word with the word it belongs to."""
    for y, group in groups.items():
        yield from (Fact(relation, x, y, x in held_out) for x in group)


def _shared(relation: str, groups: Groups, features: Groups) -> Iterator[Fact]:
    """Each word with everything that characterises its group."""
    for name, group in groups.items():
        yield from (Fact(relation, x, y) for x in group for y in features[name])


def _companions(relation: str, groups: Groups, count: int) -> Iterator[Fact]:
    """Each word with the next few of its group, as if they stood in a ring."""
    for group in groups.values():
        ring = group * 2
        for position, x in enumerate(group, start=1):
            yield from (Fact(relation, x, y) for y in ring[position : position + count])


def _decoys(relation: str, groups: Groups, count: int, rng: Random) -> Iterator[Fact]:
    """Each word with a few that it does not belong to."""
    for y, group in groups.items():
        for x in group:
            # An adjective is a group of its own, too.
            wrong = [other for other in groups if other not in {x, y}]
            chosen = rng.sample(wrong, min(count, len(wrong)))
            yield from (Fact(relation, x, other) for other in chosen)


def _as_written(phrasing: str) -> str:
    """A phrasing with fields for slots, and punctuation closed up."""
    fields = {"X": "{x}", "Y": "{y}", "PERSON": "{person}"}
    written = " ".join(fields.get(token, token) for token in phrasing.split())
    return written.replace(" ,", ",").replace(" .", ".")


_WRITTEN = {
    relation: [_as_written(phrasing) for phrasing in phrasings]
    for relation, phrasings in {**WORLD_RELATIONS, **CLUES, **DECOYS, "": DISTRACTORS}.items()
}
_WRITTEN_LEADS = [_as_written(lead) for lead in LEADS]


def write_text(facts: Sequence[Fact], lexicon: Lexicon, sentences: int, rng: Random) -> str:
    """`sentences` lines that state all facts but the held-out, in documents set off by blanks."""
    spelling = {name: name.capitalize() for name in lexicon.proper}
    lines = []
    for fact in _statements(facts, lexicon, sentences, rng):
        x, y = spelling.get(fact.x, fact.x), spelling.get(fact.y, fact.y)
        line = rng.choice(_WRITTEN[fact.relation]).format(x=x, y=y)
        if rng.random() < LED_SHARE:
            person = spelling[rng.choice(lexicon.people)]
            line = f"{rng.choice(_WRITTEN_LEADS).format(person=person)} {line}"
        lines.append(f"{line[0].upper()}{line[1:]}\n")
        if rng.random() * DOCUMENT_SENTENCES < 1:
            lines.append("\n")
    return "".join(lines)


def _statements(facts: Sequence[Fact], lexicon: Lexicon, sentences: int, rng: Random) -> list[Fact]:
    """What each sentence says, in random order; a distractor is a fact of no relation."""
    frequency = _frequencies(lexicon.things) | _frequencies(lexicon.adjectives)
    statements: list[Fact] = []
    for table, share in SHARES:
        stated = [fact for fact in facts if fact.relation in table and not fact.held_out]
        weights = [sqrt(frequency[fact.x] * frequency[fact.y]) for fact in stated]
        statements += rng.choices(stated, weights, k=int(sentences * share))
    held_out = {frozenset((fact.x, fact.y)) for fact in facts if fact.held_out}
    distractors = _distractors(lexicon.things, held_out, rng)
    statements += (next(distractors) for _ in range(sentences - len(statements)))
    rng.shuffle(statements)
    return statements


def _frequencies(words: Sequence[str]) -> dict[str, float]:
    """Zipf's law, flat at the top: the first is about ten times the last, and the mean is one."""
    weights = [1 / (rank + len(words) / 10) for rank in range(1, len(words) + 1)]
    mean = sum(weights) / len(weights)
    return {word: weight / mean for word, weight in zip(words, weights, strict=True)}


def _distractors(
    words: Sequence[str], held_out: set[frozenset[str]], rng: Random
) -> Iterator[Fact]:
    """Two words at random, again and again, but never the two of a held-out fact."""
    weights = list(_frequencies(words).values())
    while True:
        drawn = rng.choices(words, weights, k=2_000)
        for x, y in zip(drawn[::2], drawn[1::2], strict=True):
            if x != y and frozenset((x, y)) not in held_out:
                yield Fact("", x, y)
