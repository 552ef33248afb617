"""The mini-world's exam: what a model learnt of it, beside chance and a table of co-occurrences."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from pair2vec.miniworld import AnalogyQuestion, SlotQuestion
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, Vocabulary, X, Y
from pair2vec.training.scoring import Scorer
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


def context_ids(pattern: str, vocabulary: Vocabulary) -> list[int]:
    """A pattern as the ids of a context; one that begins with X or ends with Y meets an edge."""
    slots = {"X": X, "Y": Y}
    ids = [slots[word] if word in slots else vocabulary.ids[word] for word in pattern.split()]
    return [BOUNDARY] * (ids[0] == X) + ids + [BOUNDARY] * (ids[-1] == Y)


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


def answer_slots(questions: Iterable[SlotQuestion], scorer: Scorer, corpus: Corpus) -> list[Answer]:
    """Fill Y by R(x, y)·C(c)."""
    vocabulary, counts = corpus.vocabulary, co_occurrences(corpus)
    answers = []
    for question in questions:
        context = context_ids(question.pattern, vocabulary)
        everything = torch.arange(len(vocabulary))
        scores = scorer.fill(context, vocabulary.ids[question.x], everything)
        answers.append(_answer(question, scores, vocabulary, counts))
    return answers


def answer_analogies(
    questions: Iterable[AnalogyQuestion], scorer: Scorer, corpus: Corpus
) -> list[Answer]:
    """Find y by cos(R(a, b), R(x, y)), never a, b or x."""
    vocabulary, counts = corpus.vocabulary, co_occurrences(corpus)
    answers = []
    for question in questions:
        a, b, x = (torch.tensor(vocabulary.ids[word]) for word in question[1:4])
        everything = torch.arange(len(vocabulary))
        example, found = scorer.pairs(a, b), scorer.pairs(x.expand_as(everything), everything)
        scores = functional.cosine_similarity(example[None], found)
        scores[torch.stack([a, b, x])] = -torch.inf
        answers.append(_answer(question, scores, vocabulary, counts))
    return answers


def _answer(
    question: SlotQuestion | AnalogyQuestion,
    scores: torch.Tensor,
    vocabulary: Vocabulary,
    counts: NDArray[np.int64],
) -> Answer:
    scores[: len(SPECIAL_TOKENS)] = -torch.inf
    scores[vocabulary.ids[question.x]] = -torch.inf
    candidates = [word for word in question.candidates if word != getattr(question, "b", None)]
    ids = [vocabulary.ids[word] for word in candidates]
    order = scores[ids].argsort(descending=True).tolist()
    counted = counts[vocabulary.ids[question.x], ids]
    tied = [word for word, n in zip(candidates, counted, strict=True) if n == counted.max()]
    return Answer(
        question,
        tuple(candidates[place] for place in order),
        vocabulary.words[int(scores.argmax())],
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
