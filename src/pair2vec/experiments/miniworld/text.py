"""The text of the mini-world: facts in varied phrasings, among distractors."""

from collections.abc import Iterator, Sequence
from math import sqrt
from random import Random

from pair2vec.experiments.miniworld.relations import (
    CLUES,
    DECOYS,
    DISTRACTORS,
    LEADS,
    WORLD_RELATIONS,
    Fact,
    Lexicon,
)

SHARES = ((WORLD_RELATIONS, 0.40), (CLUES, 0.38), (DECOYS, 0.15))
"""How much of the text is of each sort; the rest are distractors."""

LED_SHARE = 0.2
"""How many sentences begin with one of LEADS."""

DOCUMENT_SENTENCES = 20
"""The length of a document, on average."""


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
