"""The objectives against the paper's table of them, written as loops."""

from math import exp, log

import pytest
import torch
from torch import Tensor

from pair2vec.training.objective import Scores, losses, score_triples

TRIPLES, SIZE = 6, 5


def random(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scores_of(k_c: int, words: int) -> Scores:
    shapes = [(TRIPLES,), (TRIPLES, k_c), (TRIPLES, words), (TRIPLES, words)]
    return Scores(*(3 * random(*shape, seed=seed) for seed, shape in enumerate(shapes)))


def log_sigma(score: float) -> float:
    return log(1 / (1 + exp(-score)))


def bivariate(scores: Scores, row: int) -> float:
    """J_2NS of a triple: log σ(R·C) + Σ log σ(−R·C')."""
    negatives = scores.contexts[row].tolist()
    return log_sigma(float(scores.observed[row])) + sum(log_sigma(-score) for score in negatives)


def multivariate(scores: Scores, row: int) -> float:
    """J_3NS of a triple: J_2NS and the same sum over other words x' and y'."""
    negatives = scores.other_x[row].tolist() + scores.other_y[row].tolist()
    return bivariate(scores, row) + sum(log_sigma(-score) for score in negatives)


@pytest.mark.parametrize(("k_c", "words", "typed"), [(2, 3, 1), (2, 0, 0), (0, 1, 0), (5, 4, 4)])
def test_undecided_model_pays_log_two_per_comparison(k_c: int, words: int, typed: int) -> None:
    scores = Scores(*(torch.zeros_like(group) for group in scores_of(k_c, words)))
    comparisons = 1 + k_c + 2 * words
    expected = pytest.approx([comparisons * log(2)] * TRIPLES)
    assert losses(scores, typed).total().tolist() == expected


@pytest.mark.parametrize("k_c", [1, 2, 5])
def test_without_negative_words_the_loss_is_the_bivariate_objective(k_c: int) -> None:
    scores = scores_of(k_c, 0)
    group_losses = losses(scores, 0)
    expected = pytest.approx([-bivariate(scores, row) for row in range(TRIPLES)])
    assert group_losses.total().tolist() == expected
    for group in (
        group_losses.other_x,
        group_losses.other_y,
        group_losses.typed_x,
        group_losses.typed_y,
    ):
        assert group.tolist() == [0.0] * TRIPLES


@pytest.mark.parametrize("typed", [0, 1, 3])
def test_with_negative_words_the_loss_is_the_multivariate_objective(typed: int) -> None:
    scores = scores_of(2, 3)
    expected = pytest.approx([-multivariate(scores, row) for row in range(TRIPLES)])
    assert losses(scores, typed).total().tolist() == expected


def test_each_group_of_negatives_pays_for_itself() -> None:
    scores = scores_of(2, 3)
    group_losses = losses(scores, 1)

    def pay(group: Tensor) -> object:
        return pytest.approx([-sum(log_sigma(-score) for score in row) for row in group.tolist()])

    assert group_losses.observed.tolist() == pytest.approx(
        [-log_sigma(score) for score in scores.observed.tolist()]
    )
    assert group_losses.contexts.tolist() == pay(scores.contexts)
    assert group_losses.other_x.tolist() == pay(scores.other_x[:, :2])
    assert group_losses.other_y.tolist() == pay(scores.other_y[:, :2])
    assert group_losses.typed_x.tolist() == pay(scores.other_x[:, 2:])
    assert group_losses.typed_y.tolist() == pay(scores.other_y[:, 2:])
    assert group_losses.total().tolist() == torch.stack(group_losses).sum(dim=0).tolist()


def test_scores_far_from_zero_have_a_finite_loss() -> None:
    scores = Scores(*(1e4 * group.float() for group in scores_of(2, 3)))
    assert bool(losses(scores, 1).total().isfinite().all())


@pytest.mark.parametrize("words", [0, 3])
def test_a_score_is_the_product_of_its_pair_and_its_context(words: int) -> None:
    pairs = random(TRIPLES, 1 + 2 * words, SIZE, seed=0)
    contexts = random(TRIPLES, SIZE, seed=1)
    shuffles = torch.tensor([[5, 1], [4, 0], [3, 2], [0, 5], [1, 3], [2, 4]])
    actual = score_triples(pairs, contexts, contexts[shuffles])
    assert [group.shape[1:].numel() for group in actual] == [1, 2, words, words]
    for row in range(TRIPLES):
        observed, *others = [float(pair @ contexts[row]) for pair in pairs[row]]
        assert float(actual.observed[row]) == pytest.approx(observed)
        assert actual.contexts[row].tolist() == pytest.approx(
            [float(pairs[row, 0] @ contexts[other]) for other in shuffles[row]]
        )
        assert actual.other_x[row].tolist() == pytest.approx(others[:words])
        assert actual.other_y[row].tolist() == pytest.approx(others[words:])
