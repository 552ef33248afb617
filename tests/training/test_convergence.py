"""What training tends to: free scores under our own negatives end at the PMIs of the theory.

One score a triple, without any network, so that nothing but objective and sampling decides.
"""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.theory.pmi import Counts, mvpmi, pmi
from pair2vec.training.batches import NegativeSampler, NegativesConfig, TripleTensors
from pair2vec.training.network import TrainingBatch
from pair2vec.training.objective import Scores, losses
from pair2vec.training.optim import Adagrad, StepRate
from pair2vec.triples.epoch import TripleBatch

WORDS, CONTEXTS = 4, 3
FIRST = len(SPECIAL_TOKENS)
"""The id of the first word."""
BATCH, STEPS, SETTLED = 12_000, 300, 150
TOLERANCE = 0.05
"""In log units, for the least frequent triple; most are much closer."""
CPU = torch.device("cpu")


def make_table() -> NDArray[np.int64]:
    """How often each triple (x, y, c) is seen: some never, and x and y unlike each other."""
    table = np.random.default_rng(0).integers(8, 40, (WORDS, WORDS, CONTEXTS))
    table[0] *= 3
    table[:, 3] //= 2
    table[1, 2, 0] = table[2, 0, 1] = table[3, 3] = 0
    return table


def counts_of(table: NDArray[np.int64]) -> Counts:
    """Of every triple, in arrays of the table's shape."""

    def over(*axes: int) -> NDArray[np.int64]:
        summed: NDArray[np.int64] = table.sum(axis=axes, keepdims=True)
        return np.broadcast_to(summed, table.shape)

    return Counts(
        xyc=table,
        xy=over(2),
        xc=over(1),
        yc=over(0),
        x=over(1, 2),
        y=over(0, 2),
        c=over(0, 1),
        total=over(0, 1, 2),
    )


class Sampler:
    """Triples as often as in the table, with negatives by the marginals of x and of y."""

    def __init__(self, table: NDArray[np.int64], config: NegativesConfig) -> None:
        self._shares = (table / table.sum()).ravel()
        self._draw = np.random.default_rng(1)
        self._generator = torch.Generator().manual_seed(1)
        special = [0] * FIRST
        self._by_x, self._by_y = (
            NegativeSampler(config, np.array(special + marginal.tolist()), None, CPU)
            for marginal in (table.sum(axis=(1, 2)), table.sum(axis=(0, 2)))
        )

    def batch(self) -> TrainingBatch:
        cells = self._draw.choice(len(self._shares), BATCH, p=self._shares)
        x, y, c = np.unravel_index(cells, (WORDS, WORDS, CONTEXTS))
        triples = TripleTensors.from_numpy(TripleBatch(x + FIRST, y + FIRST, (c[:, None],)))
        other_y = self._by_y.complete(triples, self._generator).other_y
        return self._by_x.complete(triples, self._generator)._replace(other_y=other_y)


def scores_of(table: Tensor, batch: TrainingBatch) -> Scores:
    """Looked up in a table of scores (x, y, c) in place of R·C."""
    x, y, other_x, other_y = (
        words - FIRST for words in (batch.x, batch.y, batch.other_x, batch.other_y)
    )
    c = batch.contexts[0][:, 0]
    wide_x, wide_y, wide_c = x[:, None], y[:, None], c[:, None]
    return Scores(
        table[x, y, c],
        table[wide_x, wide_y, c[batch.shuffles]],
        table[other_x, wide_y, wide_c],
        table[wide_x, other_y, wide_c],
    )


def optimised(table: NDArray[np.int64], config: NegativesConfig) -> NDArray[np.float64]:
    """The scores that training ends at: the mean over its last steps, when they only tremble."""
    sampler, optimiser = Sampler(table, config), Adagrad()
    scores = torch.zeros(table.shape, dtype=torch.float64, requires_grad=True)
    mean = torch.zeros_like(scores)
    for step in range(STEPS):
        loss = losses(scores_of(scores, sampler.batch()), 0).total().mean()
        (gradient,) = torch.autograd.grad(loss, scores)
        optimiser.update("scores", scores, gradient, StepRate(0.5, step + 1))
        if step >= STEPS - SETTLED:
            mean += scores.detach() / SETTLED
    return mean.detach().numpy()


@pytest.mark.parametrize(
    "config",
    [
        NegativesConfig(contexts=2, words=0, typed=0, exponent=1.0),
        NegativesConfig(contexts=2, words=3, typed=0, exponent=1.0),
    ],
    ids=["bivariate", "multivariate"],
)
def test_free_scores_converge_to_the_pmi_of_the_objective(config: NegativesConfig) -> None:
    table = make_table()
    counts = counts_of(table)
    if config.words:
        expected = mvpmi(counts, k_x=config.words, k_y=config.words, k_c=config.contexts)
    else:
        expected = pmi(counts, k_c=config.contexts)
    scores = optimised(table, config)
    seen = table > 0
    error = np.abs(scores - expected)[seen].max()
    assert error < TOLERANCE
    # The scores differ by far more than the tolerance, so that no constant would pass.
    assert np.ptp(np.asarray(expected)[seen]) > 20 * TOLERANCE
    # Two triples never occur though their pairs and contexts do: on the way to minus infinity.
    assert max(scores[1, 2, 0], scores[2, 0, 1]) < scores[seen].min()
