"""When a run has settled: against plain code, and over a checkpoint."""

import json
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.text.corpus import Corpus
from pair2vec.training.batches import BatchSource, NegativeSampler
from pair2vec.training.distributed import SINGLE_PROCESS
from pair2vec.training.negatives import NegativesConfig
from pair2vec.training.recipes import TrainingConfig
from pair2vec.training.trainer import Validation
from pair2vec.triples.epoch import TriplesConfig, TripleStream

WithPatience = Callable[[int], Validation]
LOSSES = st.lists(st.integers(0, 4).map(float), max_size=12)


@pytest.fixture(scope="module")
def with_patience(corpus: Corpus) -> WithPatience:
    """Makes the validation of a run that was not validated yet."""
    cpu = torch.device("cpu")
    triples = TripleStream(corpus, TriplesConfig())
    negatives = NegativeSampler(NegativesConfig(), corpus.vocabulary.counts, None, cpu)
    return lambda patience: Validation(
        BatchSource(triples, negatives, TrainingConfig(patience=patience), SINGLE_PROCESS, cpu)
    )


def is_over(losses: list[float], patience: int) -> bool:
    """Whether none of the last ones is lower than the best before them."""
    before, last = losses[:-patience], losses[-patience:]
    return bool(before) and min(last) >= min(before)


@given(losses=LOSSES, patience=st.integers(1, 4))
def test_a_run_has_settled_when_the_last_losses_are_no_lower_than_one_before(
    with_patience: WithPatience, losses: list[float], patience: int
) -> None:
    noted = with_patience(patience)
    for count, loss in enumerate(losses, start=1):
        noted.note(loss)
        assert noted.has_settled == is_over(losses[:count], patience)


@given(losses=LOSSES)
def test_a_patience_of_zero_is_without_end(
    with_patience: WithPatience, losses: list[float]
) -> None:
    noted = with_patience(0)
    for loss in losses:
        noted.note(loss)
        assert not noted.has_settled


@given(before=LOSSES, after=LOSSES)
def test_a_resumed_run_settles_when_an_unbroken_one_does(
    with_patience: WithPatience, before: list[float], after: list[float]
) -> None:
    unbroken, resumed = with_patience(2), with_patience(2)
    for loss in before:
        unbroken.note(loss)
    # As in a checkpoint, where an infinite best loss is kept too.
    resumed.restore(**json.loads(json.dumps(unbroken.state)))
    for loss in after:
        assert resumed.has_settled == unbroken.has_settled
        resumed.note(loss)
        unbroken.note(loss)
    assert resumed.state == unbroken.state
