"""What a model of the mini-world's text is asked, and the right answers."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from pair2vec.miniworld.relations import RELATIONS, Fact, context_of
from pair2vec.miniworld.world import MiniWorld


class SlotQuestion(NamedTuple):
    """Which candidate fills Y in the pattern when `x` fills X? Chance: answers / candidates."""

    relation: str
    pattern: str
    """A context as it occurs in the text: tokens set off by spaces, X and Y among them."""
    x: str
    answers: frozenset[str]
    candidates: tuple[str, ...]
    """All words of the right type, in the order of the alphabet."""
    held_out: bool
    """Whether the text never states the answer, and only implies it."""


class AnalogyQuestion(NamedTuple):
    """Which candidate is to `x` as `b` is to `a`? The pair a:b is always one the text states."""

    relation: str
    a: str
    b: str
    x: str
    answers: frozenset[str]
    candidates: tuple[str, ...]
    held_out: bool
    """Whether the text never states the answer, and only implies it."""


def slot_questions(world: MiniWorld) -> list[SlotQuestion]:
    """One question for each fact, asked with the first phrasing of its relation."""
    questions = []
    for relation, phrasings in RELATIONS.items():
        facts = world.facts_of(relation)
        pattern = context_of(phrasings[0])
        for fact in facts:
            answers, candidates = _answers(fact, facts), _candidates(fact, facts)
            questions.append(
                SlotQuestion(relation, pattern, fact.x, answers, candidates, fact.held_out)
            )
    return questions


def analogy_questions(
    world: MiniWorld, seed: int = 0, per_relation: int = 60
) -> list[AnalogyQuestion]:
    """At most `per_relation` questions on stated facts, and one on each held-out fact."""
    draw = Random(seed)
    return [
        question
        for relation in RELATIONS
        for question in _analogies(world.facts_of(relation), per_relation, draw)
    ]


def _analogies(facts: list[Fact], most: int, draw: Random) -> Iterator[AnalogyQuestion]:
    seen = [fact for fact in facts if not fact.held_out]
    held_out = [fact for fact in facts if fact.held_out]
    for fact in [*draw.sample(seen, min(most, len(seen))), *held_out]:
        answers, candidates = _answers(fact, facts), _candidates(fact, facts)
        # Were b an answer, repeating it would be right; were b x, a would be the answer.
        examples = [other for other in seen if other.y not in {*answers, fact.x}]
        a, b = draw.choice(examples)[1:3]
        yield AnalogyQuestion(fact.relation, a, b, fact.x, answers, candidates, fact.held_out)


def _answers(fact: Fact, facts: list[Fact]) -> frozenset[str]:
    return frozenset(other.y for other in facts if other.x == fact.x)


def _candidates(fact: Fact, facts: list[Fact]) -> tuple[str, ...]:
    return tuple(sorted({other.y for other in facts} - {fact.x}))
