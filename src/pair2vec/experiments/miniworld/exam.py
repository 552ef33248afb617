"""What a model of the mini-world's text is asked, and the right answers."""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.experiments.miniworld.relations import WORLD_RELATIONS, Fact, context_of
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.query.search import Match
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.theory.pmi import mvpmi
from pair2vec.theory.tables import count_all
from pair2vec.triples.subsampling import pair_of
from pair2vec.triples.windows import find_triples


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
    for relation, phrasings in WORLD_RELATIONS.items():
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
        for relation in WORLD_RELATIONS
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


# == The mini-world's exam: what a model learnt of it, beside chance and a table of co-occurrences.


class ExamAnswer(NamedTuple):
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
) -> list[ExamAnswer]:
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
) -> list[ExamAnswer]:
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
) -> ExamAnswer:
    ranked = [match.word for match in matches]
    candidates = [word for word in ranked if word in question.candidates]
    ids = [vocabulary.ids[word] for word in candidates]
    counted = counts[vocabulary.ids[question.x], ids]
    tied = [word for word, n in zip(candidates, counted, strict=True) if n == counted.max()]
    return ExamAnswer(
        question,
        tuple(candidates),
        ranked[0],
        len(question.answers.intersection(tied)) / len(tied),
    )


def marks(answers: Sequence[ExamAnswer]) -> list[Mark]:
    """By relation, seen before held-out, and then over all relations."""
    keys = sorted({(a.question.held_out, a.question.relation) for a in answers})
    groups = [
        (relation, held_out, [a for a in answers if a.question[0] == relation])
        for held_out, relation in keys
    ]
    groups += [("all", held_out, list(answers)) for held_out in sorted({key[0] for key in keys})]
    return [_mark(name, held_out, group) for name, held_out, group in groups]


def _mark(relation: str, held_out: bool, answers: Sequence[ExamAnswer]) -> Mark:
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


# == How far a model's scores rank triples as the PMI does that its objective tends to.


FREQUENT = 10
"""Occurrences from which on a triple's PMI is more than luck."""


def mvpmi_agreement(model: Pair2vec, corpus: Corpus, sample: int = 2_000) -> float:
    """Spearman's correlation of R·C with MVPMI, over a sample of the frequent triples.

    Args:
        model: Trained on `corpus`.
        corpus: A small one: all its triples are counted in memory.
        sample: How many triples, drawn with a fixed seed.
    """
    table, vocabulary = count_all(corpus), corpus.vocabulary
    frequent = np.flatnonzero(np.asarray(table.counts.xyc) >= FREQUENT)
    size = min(sample, len(frequent))
    rows = np.random.default_rng(0).choice(frequent, size, replace=False).tolist()
    scores = [
        model.score(
            vocabulary.words[table.x[row]],
            vocabulary.words[table.y[row]],
            context_text(table.context(int(table.c[row])), vocabulary),
        )
        for row in rows
    ]
    return spearman(np.array(scores), np.asarray(mvpmi(table.counts))[rows])


def spearman(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    """The correlation of the ranks, equal values sharing the mean of theirs."""
    return float(np.asarray(np.corrcoef(_ranks(first), _ranks(second)))[0, 1])


def _ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2)[which]
    return ranks
