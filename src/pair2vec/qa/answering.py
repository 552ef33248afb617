"""Answers: what a network's scores come to, over all parts of a passage.

Scores of one part cannot be compared with those of another, since they have no zero in common but
that of no answer. So a span counts by its log-odds s_i + g_j − z, and over all parts

    p(span) = e^odds / (1 + Σ_parts Σ_spans e^odds)

which is the network's own probability where there is one part. A span in two parts counts as it
does where it counts more.

Shapes: B batch, K windows, T spans kept of each.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from pair2vec.qa.batches import QaBatches
from pair2vec.qa.bidaf import Bidaf
from pair2vec.qa.spans import all_spans, best_spans
from pair2vec.supervised.batch_tensors import moved
from pair2vec.supervised.order import Numbers, batches_by_size
from pair2vec.training.devices import computing
from pair2vec.triples.ahead import made_ahead

_AT_ONCE = 128
_AHEAD = 4

_Floats = NDArray[np.float32]


class SpanOdds(NamedTuple):
    """The best spans of each window, in the order of the windows."""

    first: Numbers
    """(K, T), counted in the whole passage."""
    last: Numbers
    """(K, T), inclusive."""
    odds: _Floats
    """(K, T), their scores less that of no answer; the best first."""
    of_all: _Floats
    """(K,), of all spans together."""


@torch.no_grad()
def span_odds(
    network: Bidaf, batches: QaBatches, device: torch.device, *, longest: int, top: int = 1
) -> SpanOdds:
    """Ask a network about all windows; it is in eval mode meanwhile."""
    was_training = network.training
    network.eval()
    count = len(batches)
    found = SpanOdds(
        np.zeros((count, top), np.int64),
        np.zeros((count, top), np.int64),
        np.full((count, top), -np.inf, np.float32),
        np.zeros(count, np.float32),
    )
    orders = batches_by_size(batches.sizes, _AT_ONCE)
    made = ((moved(batches.batch(numbers), device), numbers) for numbers in orders)
    with computing(device):
        for batch, numbers in made_ahead(made, _AHEAD) if device.type == "cuda" else made:
            scores = network(batch)
            spans = best_spans(scores, longest, top)
            kept = spans.first.shape[1]
            begin = batches.windows.first[numbers][:, None]
            found.first[numbers, :kept] = begin + spans.first.cpu().numpy()
            found.last[numbers, :kept] = begin + spans.last.cpu().numpy()
            odds = spans.score - scores.no_answer[:, None]
            found.odds[numbers, :kept] = odds.cpu().numpy()
            found.of_all[numbers] = (all_spans(scores) - scores.no_answer).cpu().numpy()
    network.train(was_training)
    return found


class RankedSpan(NamedTuple):
    """A possible answer."""

    first: int
    last: int
    odds: float
    probability: float


class Ranking(NamedTuple):
    """All that is said of one question."""

    spans: list[RankedSpan]
    """The best first."""
    no_answer: float
    """The probability that there is none."""


def ranking(found: SpanOdds, top: int) -> Ranking:
    """Of the windows of one question, the best spans and their probabilities."""
    total = float(np.logaddexp.reduce([0.0, *found.of_all.tolist()]))
    best: dict[tuple[int, int], float] = {}
    spans = zip(found.first.flat, found.last.flat, found.odds.flat, strict=True)
    for first, last, odds in spans:
        if odds > -np.inf:
            place = int(first), int(last)
            best[place] = max(float(odds), best.get(place, -np.inf))
    ranked = sorted(best.items(), key=lambda span: -span[1])[:top]
    return Ranking(
        [RankedSpan(*place, odds, float(np.exp(odds - total))) for place, odds in ranked],
        float(np.exp(-total)),
    )


def best_windows(found: SpanOdds, questions: Numbers) -> Numbers:
    """Of the windows (K,) of some questions, that with the best span of each, in their order."""
    order = np.lexsort((-found.odds[:, 0], questions))
    _, place = np.unique(questions[order], return_index=True)
    return order[place]
