"""What was chosen for `fill`: the weights of its score, and what to ask in place of a long pattern.

    python benchmarks/fill_choices.py [--model NAME]

On the questions of `pair2vec eval fill`, from which function words and the like are left out as
answers. Each pattern's words are scored exactly if they are right or among the best by an
approximate score (`WordClusters`), which leaves out next to no answer.

The rules, written before the runs: of the weights, those with the most right first answers in the
half to choose by, among patterns of a context's form; of equal ones, those with the most right
among the first three. Of the ways to ask a long pattern, the same with these weights.
"""

import argparse
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray, top_k
from pair2vec.experiments.evaluation.analogy_sets import Half
from pair2vec.experiments.evaluation.fill_questions import FillQuestion, read_fill_questions
from pair2vec.query.pair_encoder import Role
from pair2vec.query.search import (
    PAPER_WEIGHTS,
    SLOT_WEIGHTS,
    SlotScorer,
    SlotWeights,
    WordClusters,
    log_frequencies,
)
from pair2vec.query.space import SPECIAL_IDS
from pair2vec.text.patterns import nearest_context_pattern
from pair2vec.text.vocabulary import Vocabulary

SIMILARITIES = (0, 1, 2, 3, 4, 5, 6, 8, 10)
PRIORS = (0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
CORNERS = (PAPER_WEIGHTS, SlotWeights(4, 0.15), SlotWeights(8, 0.4))
"""Weights whose best words are scored."""
EACH = 800
FIRST = 3
OTHER: dict[str, Role] = {"x": "y", "y": "x"}


class ScoredWords(NamedTuple):
    """The words of one question, in one way to ask it."""

    half: Half
    fit: FloatArray
    cosine: FloatArray
    log_frequency: FloatArray
    is_right: NDArray[np.bool_]


class Reading(NamedTuple):
    """A way to ask a question: a pattern that the model can read, and the slot that is given."""

    pattern: str
    slot: Role


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model")
    model = load(parser.parse_args().model)
    print(machine.describe())
    questions = [question for question in read_fill_questions() if question.word in model]
    scorer = QuestionScorer(model)
    short = [scorer(q, Reading(q.pattern, _role(q))) for q in questions if not q.is_long]
    print("right first / in the first three; down: similarity, across: prior")
    print(f"{'':4}" + "".join(f"{prior:>8}" for prior in PRIORS))
    chosen = [one for one in short if one.half == "choose"]
    grid = {pair: right(chosen, SlotWeights(*pair)) for pair in product(SIMILARITIES, PRIORS)}
    for similarity in SIMILARITIES:
        row = [grid[similarity, prior] for prior in PRIORS]
        print(f"{similarity:4}" + "".join(f"{first:>5}/{three:2}" for first, three in row))
    print(f"best {max(grid, key=grid.__getitem__)}, the default {tuple(SLOT_WEIGHTS)}")
    long = [question for question in questions if question.is_long]
    for half in get_args(Half):
        own = [one for one in short if one.half == half]
        plain, default = right(own, PAPER_WEIGHTS), right(own, SLOT_WEIGHTS)
        print(f"{half}: of {len(own)}, plain {plain}, default {default}")
        for name in ("nearest", "outermost dropped", "outer words open", "copula kept"):
            asked = [q for q in long if q.half == half]
            scored = [scorer(q, reading(q, name, model.vocabulary)) for q in asked]
            print(f"  {name}: of {len(asked)} long patterns {right(scored, SLOT_WEIGHTS)}")


def reading(question: FillQuestion, way: str, vocabulary: Vocabulary) -> Reading:
    """A long pattern as a way asks it."""
    nearest, is_exchanged, _ = nearest_context_pattern(question.pattern, vocabulary)
    words, own = question.pattern.split(), _role(question)
    x, y = words.index("X"), words.index("Y")
    between = words[x + 1 : y]
    if way == "nearest" or (way == "copula kept" and not is_exchanged):
        return Reading(nearest, OTHER[own] if is_exchanged else own)
    if way == "copula kept":
        return Reading(" ".join(["X", *between, *words[:x], "Y"]), OTHER[own])
    if way == "outer words open":
        return Reading(" ".join(["X", *between, "Y"]), own)
    return Reading(" ".join([*words[:x][-1:], "X", *between, "Y", *words[y + 1 :][:1]]), own)


class QuestionScorer:
    def __init__(self, model: Pair2vec) -> None:
        self._model, self._space = model, model.space
        self._clusters = WordClusters(model.space.pairs.all_inputs)
        self._log_frequencies = log_frequencies(model.vocabulary)

    def __call__(self, question: FillQuestion, asked: Reading) -> ScoredWords:
        known = self._model.vocabulary.ids
        word = known[question.word]
        context = self._model.context(asked.pattern)
        scorers = [
            SlotScorer(self._space, word, asked.slot, context, weights, self._log_frequencies)
            for weights in CORNERS
        ]
        excluded = [*SPECIAL_IDS, word, *self._space.answers.excluded([word]).tolist()]
        right_ids = [known[other] for other in question.right if other in known]
        best = [
            top_k(scorer.approximate_scores(self._clusters), EACH, excluded) for scorer in scorers
        ]
        ids: IntArray = np.setdiff1d(np.concatenate([*best, right_ids]).astype(np.intp), excluded)
        return ScoredWords(
            question.half,
            scorers[0].scores(ids),
            self._model.unit_words[ids] @ self._model.unit_words[word],
            self._log_frequencies[ids],
            np.isin(ids, right_ids),
        )


def right(scored: Iterable[ScoredWords], weights: SlotWeights) -> tuple[int, int]:
    """How many questions have a right word first, and among the first three."""
    ranks = list(first_right(scored, weights))
    return sum(rank == 0 for rank in ranks), sum(rank < FIRST for rank in ranks)


def first_right(scored: Iterable[ScoredWords], weights: SlotWeights) -> Iterator[int]:
    """The rank of the first right word, from 0; beyond all words where there is none."""
    for one in scored:
        scores = one.fit + weights.similarity * one.cosine + weights.prior * one.log_frequency
        ranked = one.is_right[np.argsort(-scores, kind="stable")]
        yield int(ranked.argmax()) if ranked.any() else len(ranked)


def _role(question: FillQuestion) -> Role:
    return "x" if question.slot == "x" else "y"


if __name__ == "__main__":
    main()
