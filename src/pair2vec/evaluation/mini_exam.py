"""The mini-world's exam: what a model learnt of it, beside chance and a table of co-occurrences."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.miniworld import AnalogyQuestion, SlotQuestion
from pair2vec.query import Match, Pair2vec
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.triples.frequent_pairs import pair_of
from pair2vec.triples.windows import find_triples


class Answer(NamedTuple):
    """A question, the answers in order of their score, and how others would have done."""

    question: SlotQuestion | AnalogyQuestion
    ranked: tuple[str, ...]
    """Of the candidates, the best first."""
    best_of_all: str
    """Of the whole vocabulary."""
    counted: float
    """The chance of a table of co-occurrences to be right, its ties drawn at random."""


class Mark(NamedTuple):
    """How a group of questions was answered, in shares of one."""

    relation: str
    held_out: bool
    questions: int
    right: float
    """The best candidate is right."""
    right_of_all: float
    """The best word of the whole vocabulary is right."""
    counted: float
    chance: float


def at_edges(pattern: str) -> str:
    """A pattern that begins with X or ends with Y, as the whole sentence that it is."""
    words = pattern.split()
    return " ".join(["<s>"] * (words[0] == "X") + words + ["<s>"] * (words[-1] == "Y"))


def co_occurrences(corpus: Corpus) -> NDArray[np.int64]:
    """How often two words stand within a window of each other, in either order: (V, V)."""
    size = len(corpus.vocabulary)
    table = np.zeros(size * size, np.int64)
    every_pair = np.ones(size, np.float32)
    for shard in corpus.shards:
        tokens = shard.tokens
        found = find_triples(tokens, 0, len(tokens), every_pair, np.random.default_rng(0))
        x, y = pair_of(tokens, found)
        table += np.bincount(x * size + y, minlength=size * size)
    square = table.reshape(size, size)
    return square + square.T


def answer_slots(
    questions: Iterable[SlotQuestion], model: Pair2vec, corpus: Corpus
) -> list[Answer]:
    """Fill Y by R(x, y)·C(c)."""
    counts, everything = co_occurrences(corpus), len(corpus.vocabulary)
    return [
        _answer(
            question,
            model.fill(at_edges(question.pattern), x=question.x, top=everything),
            corpus.vocabulary,
            counts,
        )
        for question in questions
    ]


def answer_analogies(
    questions: Iterable[AnalogyQuestion], model: Pair2vec, corpus: Corpus
) -> list[Answer]:
    """Find y by cos(R(a, b), R(x, y)), never a, b or x."""
    counts, everything = co_occurrences(corpus), len(corpus.vocabulary)
    return [
        _answer(
            question,
            model.analogy(*question[1:4], alpha=1.0, direction="forward", top=everything),
            corpus.vocabulary,
            counts,
        )
        for question in questions
    ]


def _answer(
    question: SlotQuestion | AnalogyQuestion,
    matches: Sequence[Match],
    vocabulary: Vocabulary,
    counts: NDArray[np.int64],
) -> Answer:
    ranked = [match.word for match in matches]
    candidates = [word for word in ranked if word in question.candidates]
    ids = [vocabulary.ids[word] for word in candidates]
    counted = counts[vocabulary.ids[question.x], ids]
    tied = [word for word, n in zip(candidates, counted, strict=True) if n == counted.max()]
    return Answer(
        question,
        tuple(candidates),
        ranked[0],
        len(question.answers.intersection(tied)) / len(tied),
    )


def marks(answers: Sequence[Answer]) -> list[Mark]:
    """By relation, seen before held-out, and then over all relations."""
    keys = sorted({(a.question.held_out, a.question.relation) for a in answers})
    groups = [
        (relation, held_out, [a for a in answers if a.question[0] == relation])
        for held_out, relation in keys
    ]
    groups += [("all", held_out, list(answers)) for held_out in sorted({key[0] for key in keys})]
    return [_mark(name, held_out, group) for name, held_out, group in groups]


def _mark(relation: str, held_out: bool, answers: Sequence[Answer]) -> Mark:
    group = [answer for answer in answers if answer.question.held_out == held_out]
    return Mark(
        relation,
        held_out,
        len(group),
        _mean(answer.ranked[0] in answer.question.answers for answer in group),
        _mean(answer.best_of_all in answer.question.answers for answer in group),
        _mean(answer.counted for answer in group),
        _mean(len(answer.question.answers) / len(answer.ranked) for answer in group),
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
