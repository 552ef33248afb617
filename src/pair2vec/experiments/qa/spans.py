"""Spans: what scores of first and last words, and of there being none, say of answers.

A span (i, j) has the score s_i + g_j, no answer has z, and

    Z = e^z + Σ_i Σ_j e^(s_i + g_j) = e^z + (Σ_i e^s_i) (Σ_j e^g_j)

makes them probabilities (Clark & Gardner, 2018). The sum has spans that end before they begin, or
are too long: to learn that they are none is part of the task.

Shapes: B batch, n words of the longest passage, K spans asked for, L words of the longest span.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class SpanScores(NamedTuple):
    """Of a batch of questions, in float32."""

    starts: Tensor
    """s (B, n), −inf where there is no word."""
    ends: Tensor
    """g (B, n)"""
    no_answer: Tensor
    """z (B,)"""


class Spans(NamedTuple):
    """The best of each question, the best first."""

    first: Tensor
    """(B, K)"""
    last: Tensor
    """(B, K), inclusive."""
    score: Tensor
    """(B, K), −inf where a passage has fewer spans."""


def all_spans(scores: SpanScores) -> Tensor:
    """The log of Σ_i Σ_j e^(s_i + g_j), (B,)."""
    return scores.starts.logsumexp(dim=1) + scores.ends.logsumexp(dim=1)


def span_loss(scores: SpanScores, answers: Tensor) -> Tensor:
    """−log p of each question's span (B, 2), or of no answer where its first word is −1: (B,)."""
    first, last = answers.clamp_min(0).unbind(dim=1)
    span = _taken(scores.starts, first) + _taken(scores.ends, last)
    right = torch.where(answers[:, 0] < 0, scores.no_answer, span)
    return torch.logaddexp(scores.no_answer, all_spans(scores)) - right


def _taken(scores: Tensor, place: Tensor) -> Tensor:
    """Of each row (B, n) the score at a place (B,): (B,)."""
    return scores.gather(1, place[:, None])[:, 0]


def best_spans(scores: SpanScores, longest: int, top: int = 1) -> Spans:
    """Of the spans with i ≤ j < i + `longest`, the `top` best of each question."""
    words = scores.starts.shape[1]
    longest = min(longest, words)
    beyond = scores.ends.new_full((len(scores.ends), longest - 1), -torch.inf)
    # (B, n, L): for each first word, the scores of itself and the words behind it as the last.
    lasts = torch.cat([scores.ends, beyond], dim=1).unfold(1, longest, 1)
    totals = (scores.starts[:, :, None] + lasts).flatten(1)
    score, place = totals.topk(min(top, totals.shape[1]), dim=1)
    first = place // longest
    return Spans(first, first + place % longest, score)
