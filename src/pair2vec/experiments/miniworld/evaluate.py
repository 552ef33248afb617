"""Evaluation on the mini-world: questions, a model's answers beside baselines, and MVPMI.

Shapes: V vocabulary.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.experiments.miniworld.relations import WORLD_RELATIONS, Fact, context_of
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.query.search import PAPER_WEIGHTS, Match
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.theory.pmi import mvpmi
from pair2vec.theory.tables import count_every_triple
from pair2vec.triples.windows import find_triples, triple_words

FREQUENT = 10
"""Occurrences from which on a triple's PMI is more than chance."""


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
    """As of `SlotQuestion`."""


_Question = TypeVar("_Question", SlotQuestion, AnalogyQuestion)


class WorldAnswer(NamedTuple):
    """A question, a model's ranking of the candidates, and the score of a baseline."""

    question: SlotQuestion | AnalogyQuestion
    ranked: tuple[str, ...]
    """The candidates, the best first."""
    best_of_all: str
    """Of the whole vocabulary."""
    co_occurrence: float
    """The probability that the candidate with the most co-occurrences is right, ties at random."""


class WorldAccuracy(NamedTuple):
    """Of a group of questions, in shares of one."""

    relation: str
    held_out: bool
    questions: int
    right: float
    """The best candidate is right."""
    right_of_all: float
    """The best word of the whole vocabulary is right."""
    co_occurrence: float
    """Of the baseline: the candidate that co-occurs most often with x."""
    chance: float


def slot_questions(world: MiniWorld) -> list[SlotQuestion]:
    """One question for each fact, with the first phrasing of its relation."""
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
    rng = Random(seed)
    return [
        question
        for relation in WORLD_RELATIONS
        for question in _analogies(world.facts_of(relation), per_relation, rng)
    ]


def _analogies(facts: list[Fact], most: int, rng: Random) -> Iterator[AnalogyQuestion]:
    seen = [fact for fact in facts if not fact.held_out]
    held_out = [fact for fact in facts if fact.held_out]
    for fact in [*rng.sample(seen, min(most, len(seen))), *held_out]:
        answers, candidates = _answers(fact, facts), _candidates(fact, facts)
        # Were b an answer, repeating it would be right; were b x, a would be the answer.
        examples = [other for other in seen if other.y not in {*answers, fact.x}]
        a, b = rng.choice(examples)[1:3]
        yield AnalogyQuestion(fact.relation, a, b, fact.x, answers, candidates, fact.held_out)


def _answers(fact: Fact, facts: list[Fact]) -> frozenset[str]:
    return frozenset(other.y for other in facts if other.x == fact.x)


def _candidates(fact: Fact, facts: list[Fact]) -> tuple[str, ...]:
    return tuple(sorted({other.y for other in facts} - {fact.x}))


def answer_slots(
    questions: Iterable[SlotQuestion], model: Pair2vec, corpus: Corpus
) -> list[WorldAnswer]:
    """Fill Y by R(x, y)·C(c)."""

    def fill(question: SlotQuestion) -> list[Match]:
        pattern = with_sentence_boundaries(question.pattern)
        every = len(corpus.vocabulary)
        return model.fill(pattern, x=question.x, top=every, weights=PAPER_WEIGHTS, all_words=True)

    return _answer(questions, fill, corpus)


def answer_analogies(
    questions: Iterable[AnalogyQuestion], model: Pair2vec, corpus: Corpus
) -> list[WorldAnswer]:
    """Find y by cos(R(a, b), R(x, y)), never a, b or x."""
    everything = len(corpus.vocabulary)
    return _answer(
        questions,
        lambda q: model.analogy(
            q.a, q.b, q.x, alpha=1.0, direction="forward", top=everything, all_words=True
        ),
        corpus,
    )


def _answer(
    questions: Iterable[_Question], rank: Callable[[_Question], Sequence[Match]], corpus: Corpus
) -> list[WorldAnswer]:
    ids, counts = corpus.vocabulary.ids, _co_occurrences(corpus)
    answers = []
    for question in questions:
        words = [match.word for match in rank(question)]
        candidates = [word for word in words if word in question.candidates]
        with_x = counts[ids[question.x], [ids[word] for word in candidates]]
        tied = [word for word, n in zip(candidates, with_x, strict=True) if n == with_x.max()]
        baseline = len(question.answers.intersection(tied)) / len(tied)
        answers.append(WorldAnswer(question, tuple(candidates), words[0], baseline))
    return answers


def with_sentence_boundaries(pattern: str) -> str:
    """A pattern that begins with X or ends with Y, as the whole sentence that it is."""
    words = pattern.split()
    return " ".join(["<s>"] * (words[0] == "X") + words + ["<s>"] * (words[-1] == "Y"))


def _co_occurrences(corpus: Corpus) -> NDArray[np.int64]:
    """How often two words stand within a window of each other, in either order: (V, V)."""
    size = len(corpus.vocabulary)
    table = np.zeros(size * size, np.int64)
    every_pair = np.ones(size, np.float32)
    for shard in corpus.shards:
        tokens = shard.tokens
        triples = find_triples(tokens, 0, len(tokens), every_pair, np.random.default_rng(0))
        x, y = triple_words(tokens, triples)
        table += np.bincount(x * size + y, minlength=size * size)
    square = table.reshape(size, size)
    return square + square.T


def world_accuracies(answers: Sequence[WorldAnswer]) -> list[WorldAccuracy]:
    """By relation, seen before held-out, and then over all relations."""
    keys = sorted({(a.question.held_out, a.question.relation) for a in answers})
    groups = [
        (relation, held_out, [a for a in answers if a.question.relation == relation])
        for held_out, relation in keys
    ]
    groups += [("all", held_out, list(answers)) for held_out in sorted({key[0] for key in keys})]
    return [_accuracy(relation, held_out, group) for relation, held_out, group in groups]


def _accuracy(relation: str, held_out: bool, answers: Sequence[WorldAnswer]) -> WorldAccuracy:
    group = [answer for answer in answers if answer.question.held_out == held_out]
    return WorldAccuracy(
        relation,
        held_out,
        len(group),
        _mean(answer.ranked[0] in answer.question.answers for answer in group),
        _mean(answer.best_of_all in answer.question.answers for answer in group),
        _mean(answer.co_occurrence for answer in group),
        _mean(len(answer.question.answers) / len(answer.ranked) for answer in group),
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def mvpmi_agreement(model: Pair2vec, corpus: Corpus, sample: int = 2_000) -> float:
    """Spearman's correlation of R·C with MVPMI, the optimum of the objective.

    Args:
        model: Trained on `corpus`.
        corpus: A small one: all its triples are counted in memory.
        sample: How many of the frequent triples, drawn with a fixed seed.
    """
    table, vocabulary = count_every_triple(corpus), corpus.vocabulary
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
