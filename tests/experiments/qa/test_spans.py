"""Spans against brute force, windows against their passages, and the ranking over windows."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pair2vec.experiments.qa.answerer import SpanOdds, best_windows, rank_spans
from pair2vec.experiments.qa.batches import (
    NO_ANSWER,
    NOT_FOUND,
    EncodedQuestions,
    answering_windows,
    training_windows,
)
from pair2vec.experiments.qa.examples import GoldAnswer, QaQuestion, QaSet, TokenisedText
from pair2vec.experiments.qa.spans import SpanScores, all_spans_score, best_spans, span_loss

VALUES = st.floats(-5, 5, width=32)


def scores_of(starts: list[float], ends: list[float], no_answer: float, padding: int) -> SpanScores:
    nothing = [-math.inf] * padding
    return SpanScores(
        torch.tensor([starts + nothing]),
        torch.tensor([ends + nothing]),
        torch.tensor([no_answer]),
    )


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=7), st.integers(1, 9), st.data())
def test_the_best_spans_are_those_of_brute_force(
    words: list[tuple[float, float]], longest: int, data: st.DataObject
) -> None:
    starts, ends = ([pair[side] for pair in words] for side in range(2))
    scores = scores_of(starts, ends, 0.0, padding=data.draw(st.integers(0, 3)))
    top = data.draw(st.integers(1, 6))
    n = len(words)
    spans = [(i, j) for i in range(n) for j in range(i, min(n, i + longest))]
    plain = sorted((starts[i] + ends[j] for i, j in spans), reverse=True)
    best = best_spans(scores, longest, top)
    kept = best.score[0].tolist()[: len(plain)]
    assert kept == pytest.approx(plain[: len(kept)], abs=1e-5)
    assert best.score.shape[1] == min(top, best.score.shape[1])
    for i, j, value in zip(*(part[0].tolist() for part in best), strict=True):
        if value > -math.inf:
            assert (i, j) in spans
            assert starts[i] + ends[j] == pytest.approx(value, abs=1e-5)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5), VALUES, st.integers(0, 2))
def test_the_probabilities_of_all_spans_and_no_answer_sum_to_one(
    words: list[tuple[float, float]], no_answer: float, padding: int
) -> None:
    starts, ends = ([pair[side] for pair in words] for side in range(2))
    scores = scores_of(starts, ends, no_answer, padding)
    total = math.exp(-span_loss(scores, torch.tensor([[-1, -1]])))
    for i in range(len(words)):
        for j in range(len(words)):
            total += math.exp(-span_loss(scores, torch.tensor([[i, j]])))
    assert total == pytest.approx(1, rel=1e-4)
    plain = math.log(sum(math.exp(s + g) for s in starts for g in ends))
    assert float(all_spans_score(scores)) == pytest.approx(plain, abs=1e-4)


def test_padding_has_no_gradient() -> None:
    scores = scores_of([1.0, 2.0], [0.5, -1.0], 0.3, padding=2)
    leaves = [part.requires_grad_() for part in scores]
    torch.autograd.backward(span_loss(SpanScores(*leaves), torch.tensor([[0, 1]])).sum())
    for leaf in leaves[:2]:
        assert leaf.grad is not None and leaf.grad.isfinite().all()
        assert leaf.grad[0, 2:].tolist() == [0.0, 0.0]


def encode_passages(
    lengths: list[int], answers: list[tuple[GoldAnswer, ...]] | None = None
) -> EncodedQuestions:
    """A question for each passage of so many words, x0 x1 x2 …"""
    passages = [TokenisedText.of(" ".join(f"x{n}" for n in range(length))) for length in lengths]
    questions = [
        QaQuestion(f"q{n}", TokenisedText.of("which"), n, answers[n] if answers else ())
        for n in range(len(lengths))
    ]
    return EncodedQuestions(QaSet(passages, questions, {}))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=4), st.integers(1, 30))
def test_windows_cover_a_passage_and_every_short_span_of_it(
    lengths: list[int], max_words: int
) -> None:
    encoded = encode_passages(lengths)
    windows = answering_windows(encoded, np.arange(len(lengths)), max_words)
    for number, words in enumerate(lengths):
        length = words or 1
        own = [
            (first, first + size) for q, first, size in zip(*windows, strict=True) if q == number
        ]
        assert all(end - begin == min(length, max_words) and end <= length for begin, end in own)
        assert (len(own) == 1) == (length <= max_words)
        for begin in range(length):
            end = min(length, begin + max(1, max_words // 4))
            assert any(a <= begin and end <= b for a, b in own)


def test_questions_without_a_usable_answer_are_skipped_and_counted() -> None:
    answers = [
        (GoldAnswer("x1 x2", 3),),
        (),
        (GoldAnswer("x9", 1000),),
        (GoldAnswer("nowhere", 0),),
        (GoldAnswer("nowhere", 0), GoldAnswer("x0", 0)),
    ]
    encoded = encode_passages([4, 20, 20, 4, 4], answers)
    assert encoded.answers.tolist() == [
        [1, 2], [NO_ANSWER] * 2, [9, 9], [NOT_FOUND] * 2, [0, 0],
    ]  # fmt: skip
    windows, skipped = training_windows(encoded, 8)
    assert windows.question.tolist() == [0, 1, 4]
    assert windows.length.tolist() == [4, 8, 4]
    assert skipped == (1, 1)
    assert training_windows(encoded, 10)[0].question.tolist() == [0, 1, 2, 4]


def test_windows_are_compared_by_log_odds() -> None:
    odds = SpanOdds(
        np.array([[0, 1], [5, 6], [5, 9]]),
        np.array([[0, 2], [5, 6], [5, 9]]),
        np.array([[1.0, 0.5], [2.0, -np.inf], [3.0, 0.0]], np.float32),
        np.array([1.5, 2.0, 3.5], np.float32),
    )
    assert best_windows(odds, np.array([4, 4, 7])).tolist() == [1, 2]
    ranked = rank_spans(odds, top=3)
    assert [(s.first, s.last, s.log_odds) for s in ranked.spans] == [
        (5, 5, 3),
        (0, 0, 1),
        (1, 2, 0.5),
    ]
    total = 1 + math.exp(1.5) + math.exp(2.0) + math.exp(3.5)
    assert ranked.no_answer == pytest.approx(1 / total)
    assert len(rank_spans(odds, top=9).spans) == 4
    assert ranked.spans[0].probability == pytest.approx(math.exp(3) / total)
