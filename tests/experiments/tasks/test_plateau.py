"""What dev scores say of the rate."""

import json

import pytest
import torch

from pair2vec.training.optim import DevPlateau


@pytest.mark.parametrize("patience", [0, 1, 2])
def test_the_rate_falls_as_torch_lets_it(patience: int) -> None:
    scores = [0.5, 0.6, 0.6, 0.55, 0.7, 0.7, 0.7, 0.7, 0.7, 0.8, 0.1, 0.1, 0.1]
    weights = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([weights], lr=1.0)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, mode="max", factor=0.5, patience=patience, threshold=0
    )
    plateau = DevPlateau(1.0)
    for score in scores:
        plateau.observe(score, factor=0.5, patience=patience)
        schedule.step(score)
        assert plateau.rate == optimiser.param_groups[0]["lr"]


def test_only_a_higher_score_is_a_better_one() -> None:
    plateau = DevPlateau(1.0)
    found = [plateau.observe(score, factor=0.5, patience=0) for score in (0.5, 0.5, 0.6, 0.4)]
    assert found == [True, False, True, False]
    assert (plateau.best, plateau.epochs_since_best) == (0.6, 1)


def test_it_goes_through_json_before_and_after_the_first_score() -> None:
    plateau = DevPlateau(0.1)
    for score in (0.3, 0.2):
        assert DevPlateau.from_json(json.loads(json.dumps(plateau.to_json()))) == plateau
        plateau.observe(score, factor=0.5, patience=3)
    assert DevPlateau.from_json(json.loads(json.dumps(plateau.to_json()))) == plateau
