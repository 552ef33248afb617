"""The questions of a set whose words are known, by the words' places among the candidates."""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from pair2vec.evaluation.analogies import Entry, Relation
from pair2vec.evaluation.candidates import Candidates


class KnownQuestion(NamedTuple):
    """a is to b as x is to each of the answers."""

    a: int
    b: int
    x: int
    answers: frozenset[int]
    """Those that are known. One that is a, b or x itself can never be given, as the published
    protocol has it: *series* is no help to find the plural of *series*."""


class KnownRelation(NamedTuple):
    """A relation without the questions that have an unknown word."""

    name: str
    group: str
    questions: list[KnownQuestion]
    asked: int
    """How many questions there are with those."""


def known_relations(relations: Iterable[Relation], candidates: Candidates) -> list[KnownRelation]:
    """Drop each question of which a, x, or every answer of either is unknown.

    b is the first of the example's answers that is known.
    """

    @cache
    def known(entry: Entry) -> tuple[int | None, list[int]]:
        answers = [candidates.place(answer) for answer in entry.answers]
        return candidates.place(entry.word), [place for place in answers if place is not None]

    made = []
    for name, group, questions in relations:
        kept = []
        for example, asked in questions:
            (a, bs), (x, ys) = known(example), known(asked)
            if a is not None and bs and x is not None and ys:
                kept.append(KnownQuestion(a, bs[0], x, frozenset(ys)))
        made.append(KnownRelation(name, group, kept, len(questions)))
    return made
