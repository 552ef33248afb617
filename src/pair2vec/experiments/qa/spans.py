"""Spans: their probabilities from the scores of first words, last words and no answer.

A span (i, j) has the score s_i + g_j, no answer has z, and

    Z = e^z + Σ_i Σ_j e^(s_i + g_j) = e^z + (Σ_i e^s_i) (Σ_j e^g_j)

normalises them (Clark & Gardner, 2018). The sum includes spans that end before they begin, or are
too long: that they are no answers is learned.

Shapes: B batch, n words of the longest passage, K best spans, L words of the longest span.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class SpanScores(NamedTuple):
    """Of a batch of questions, in float32."""

    starts: Tensor
    """s (B, n), −inf at padding."""
    ends: Tensor
    """g (B, n)"""
    no_answer: Tensor
    """z (B,)"""


class Spans(NamedTuple):
    """The best spans of each question, the best first."""

    first: Tensor
    """(B, K)"""
    last: Tensor
    """(B, K), inclusive."""
    score: Tensor
    """(B, K), −inf where a passage has fewer spans."""


def all_spans_score(scores: SpanScores) -> Tensor:
    """Log Σ_i Σ_j e^(s_i + g_j), (B,)."""
    return scores.starts.logsumexp(dim=1) + scores.ends.logsumexp(dim=1)


def span_loss(scores: SpanScores, answers: Tensor) -> Tensor:
    """−log p of each question's span (B, 2), or of no answer where its first word is −1: (B,)."""
    first, last = answers.clamp_min(0).unbind(dim=1)
    span = _score_at(scores.starts, first) + _score_at(scores.ends, last)
    gold = torch.where(answers[:, 0] < 0, scores.no_answer, span)
    return torch.logaddexp(scores.no_answer, all_spans_score(scores)) - gold


def _score_at(scores: Tensor, position: Tensor) -> Tensor:
    """The score (B,) of each row (B, n) at a position (B,)."""
    return scores.gather(1, position[:, None])[:, 0]


def best_spans(scores: SpanScores, longest: int, top: int = 1) -> Spans:
    """The `top` best spans of each question with i ≤ j < i + `longest`."""
    words = scores.starts.shape[1]
    longest = min(longest, words)
    beyond = scores.ends.new_full((len(scores.ends), longest - 1), -torch.inf)
    # (B, n, L): for each first word, the end scores of itself and the next L - 1 words.
    lasts = torch.cat([scores.ends, beyond], dim=1).unfold(1, longest, 1)
    totals = (scores.starts[:, :, None] + lasts).flatten(1)
    score, index = totals.topk(min(top, totals.shape[1]), dim=1)
    first = index // longest
    return Spans(first, first + index % longest, score)
