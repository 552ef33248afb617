"""Steps of training: the CUDA-graph step, with gradients of whole tables, against the plain one."""

from collections.abc import Iterable
from copy import deepcopy
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.training.cuda_graph_step import CudaGraphStep
from pair2vec.training.network import Network, TrainingBatch
from pair2vec.training.objective import Losses, Scores, losses
from pair2vec.training.optim import OPTIMISERS, Optimiser, TrainingConfig
from pair2vec.training.steps import STEP_METRICS, PlainStep, Step, StepModel, clip, step_metrics

WORDS, SIZE, HIDDEN, TYPED = 50, 6, 3, 1
NAMED = range(1, 20)
"""The words of most batches: not 0, which stands behind the end of contexts, and so few that the
mlp has no word of which it uses nothing."""
LENGTHS = [(4, 3, 5, 2, 6), (5, 0, 4, 10, 1), (0, 0, 20, 0, 0), (1, 7, 4, 8, 0)]
"""How many contexts of each length the batches have, of some none."""
TOLERANCE = 1e-9
KINDS = ("plain", "cuda_graph")

kinds = pytest.mark.parametrize("kind", KINDS)
optimisers = pytest.mark.parametrize("optimiser", OPTIMISERS)
compositions = pytest.mark.parametrize("composition", ["mlp", "multiply", "difference"])


class Run(NamedTuple):
    """A network in training."""

    network: Network
    optimiser: Optimiser
    step: Step

    def train(self, batches: Iterable[TrainingBatch]) -> Tensor:
        """The values of each step, of which each has a rate of its own."""
        return torch.stack(
            [self.step(batch, 0.01 / (1 + number)) for number, batch in enumerate(batches)]
        )

    def kept(self) -> dict[str, Tensor]:
        """A copy of all weights and of the optimiser's state."""
        kept = {**self.network.state_dict(), **self.optimiser.state}
        return {name: tensor.clone() for name, tensor in kept.items()}

    def resumed(self, kind: str, config: TrainingConfig) -> "Run":
        """A run that resumes from copies, as from a checkpoint."""
        optimiser = OPTIMISERS[config.optimiser]()
        optimiser.state = {name: tensor.clone() for name, tensor in self.optimiser.state.items()}
        optimiser.steps = self.optimiser.steps
        return make_run(kind, config, deepcopy(self.network), optimiser)


def make_run(
    kind: str, config: TrainingConfig, network: Network, optimiser: Optimiser | None = None
) -> Run:
    optimiser = OPTIMISERS[config.optimiser]() if optimiser is None else optimiser
    model = StepModel(network, optimiser, config, TYPED)
    step: Step = PlainStep(model) if kind == "plain" else CudaGraphStep(model, torch.float64)
    return Run(network, optimiser, step)


def make_network(composition: str = "mlp") -> Network:
    """In double precision, so that only a wrong formula can differ."""
    network = Network(
        WORDS,
        PairConfig(composition=composition, dimension=SIZE, layers=3),
        ContextConfig(dimension=SIZE, hidden=HIDDEN),
        torch.Generator().manual_seed(0),
    ).double()
    for seed, words in enumerate((network.pair_words, network.context_words)):
        words.copy_(torch.randn(WORDS, SIZE, generator=torch.Generator().manual_seed(seed)))
    # Scores away from zero, and gradients worth clipping.
    network.context.value.weight.data *= 10
    return network


def make_batch(seed: int, named: range = NAMED, k_c: int = 2, negatives: int = 3) -> TrainingBatch:
    """Triples of some words, none of them beside itself: there the difference has no gradient."""
    draw = torch.Generator().manual_seed(seed)
    sizes = LENGTHS[seed % len(LENGTHS)]
    count = sum(sizes)

    def words(*shape: int) -> Tensor:
        return torch.randint(named.start, named.stop, shape, generator=draw)

    def other_than(given: Tensor, *shape: int) -> Tensor:
        away = torch.randint(1, len(named), shape, generator=draw)
        return (given - named.start + away) % len(named) + named.start

    x = words(count)
    y = other_than(x, count)
    contexts = tuple(words(size, length) for length, size in enumerate(sizes, start=4))
    shuffles = [torch.randperm(count, generator=draw) for _ in range(k_c)]
    return TrainingBatch(
        x,
        y,
        contexts,
        other_than(y[:, None], count, negatives),
        other_than(x[:, None], count, negatives),
        torch.stack(shuffles, dim=1) if shuffles else torch.empty(count, 0, dtype=torch.long),
    )


def make_batches(count: int = 4) -> list[TrainingBatch]:
    return [make_batch(seed) for seed in range(count)]


def named_words(batch: TrainingBatch) -> dict[str, list[int]]:
    """The rows of each table that a batch names."""
    pair_words = torch.cat([batch.x, batch.y, batch.other_x.flatten(), batch.other_y.flatten()])
    context_words = torch.cat([group.flatten() for group in batch.contexts])
    return {
        "pair_words": sorted(set(pair_words.tolist())),
        "context_words": sorted(set(context_words.tolist())),
    }


def assert_same(actual: Run, expected: Run) -> None:
    """All weights, and the states of the optimisers."""
    actual_state, expected_state = actual.kept(), expected.kept()
    assert actual_state.keys() == expected_state.keys()
    for name, tensor in expected_state.items():
        torch.testing.assert_close(actual_state[name], tensor, rtol=0, atol=TOLERANCE, msg=name)
    assert actual.optimiser.steps == expected.optimiser.steps


@pytest.mark.parametrize("limit", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["sum", "mean"])
@optimisers
@compositions
def test_the_cuda_graph_step_trains_as_the_plain_one_does(
    composition: str, optimiser: str, loss: str, limit: float
) -> None:
    config = TrainingConfig(optimiser=optimiser, loss=loss, clip=limit)
    plain, graphed = (make_run(kind, config, make_network(composition)) for kind in KINDS)
    expected = plain.train(make_batches())
    actual = graphed.train(make_batches())
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCE)
    assert_same(graphed, plain)
    assert plain.optimiser.steps == 4
    if loss == "sum":
        assert float(expected[:, STEP_METRICS.index("gradient_norm")].min()) > 1


@pytest.mark.parametrize(("k_c", "negatives"), [(0, 3), (1, 1), (3, 2)])
def test_both_steps_take_any_number_of_negatives(k_c: int, negatives: int) -> None:
    config = TrainingConfig(optimiser="adagrad")
    plain, graphed = (make_run(kind, config, make_network()) for kind in KINDS)
    batches = [make_batch(seed, k_c=k_c, negatives=negatives) for seed in range(4)]
    expected, actual = plain.train(batches), graphed.train(batches)
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCE)
    assert_same(graphed, plain)


@compositions
def test_padding_vectors_to_a_width_changes_nothing(composition: str) -> None:
    """As the CUDA-graph step does on a GPU."""
    config = TrainingConfig(optimiser="adagrad")
    plain, graphed = (make_run(kind, config, make_network(composition)) for kind in KINDS)
    assert isinstance(graphed.step, CudaGraphStep)
    graphed.step._width = SIZE + 3
    expected, actual = plain.train(make_batches()), graphed.train(make_batches())
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCE)
    assert_same(graphed, plain)


@compositions
def test_in_half_precision_the_cuda_graph_step_trains_nearly_as_the_plain_one_does(
    composition: str,
) -> None:
    config = TrainingConfig(optimiser="sgd", clip=0)
    plain = make_run("plain", config, make_network(composition).float())
    network, optimiser = make_network(composition).float(), OPTIMISERS["sgd"]()
    half = Run(network, optimiser, CudaGraphStep(StepModel(network, optimiser, config, TYPED)))
    expected, actual = plain.train(make_batches()), half.train(make_batches())
    torch.testing.assert_close(actual, expected, rtol=0.05, atol=0.05)
    for name, tensor in plain.network.state_dict().items():
        learnt = network.state_dict()[name]
        assert learnt.dtype == torch.float32
        moved = float((tensor - make_network(composition).state_dict()[name]).norm())
        assert moved > 0
        assert float((learnt - tensor).norm()) < 0.05 * moved, name


@optimisers
@kinds
def test_untouched_rows_and_their_state_stay_the_same_to_the_bit(kind: str, optimiser: str) -> None:
    run = make_run(kind, TrainingConfig(optimiser=optimiser), make_network())
    run.train([make_batch(0, named=range(WORDS))])
    before, batch = run.kept(), make_batch(1)
    run.train([batch])
    after = run.kept()
    for table, named in named_words(batch).items():
        others = [row for row in range(WORDS) if row not in named]
        assert 0 in others
        for name in (table, *(f"{table}.{slot}" for slot in run.optimiser.slots)):
            assert torch.equal(after[name][others], before[name][others]), name
            assert bool((after[name][named] != before[name][named]).any(dim=1).all()), name


@pytest.mark.parametrize("table", ["pair_words", "context_words"])
@optimisers
@kinds
def test_a_batch_whose_loss_is_not_finite_changes_nothing(
    kind: str, optimiser: str, table: str
) -> None:
    run = make_run(kind, TrainingConfig(optimiser=optimiser), make_network())
    run.train([make_batch(0)])
    batch = make_batch(1)
    getattr(run.network, table)[named_words(batch)[table][0]] = torch.inf
    before = run.kept()
    (values,) = run.train([batch])
    assert not bool(values[STEP_METRICS.index("observed")].isfinite())
    assert not bool(values[STEP_METRICS.index("gradient_norm")].isfinite())
    after = run.kept()
    assert after.keys() == before.keys()
    for name, tensor in before.items():
        assert torch.equal(after[name], tensor), name
    assert all(weight.grad is None for weight in run.network.parameters())


@optimisers
@kinds
def test_after_a_batch_that_is_not_finite_training_continues_as_without_it(
    kind: str, optimiser: str
) -> None:
    config = TrainingConfig(optimiser=optimiser)
    whole, broken = (make_run(kind, config, make_network()) for _ in range(2))
    for run in (whole, broken):
        run.train(make_batches(2))
    vectors = broken.network.pair_words.clone()
    broken.network.pair_words.fill_(torch.inf)
    broken.train([make_batch(2)])
    broken.network.pair_words.copy_(vectors)
    expected, actual = (run.train([make_batch(3)]) for run in (whole, broken))
    assert torch.equal(actual, expected)
    whole_state, broken_state = whole.kept(), broken.kept()
    assert all(torch.equal(broken_state[name], tensor) for name, tensor in whole_state.items())


def test_the_plain_step_does_not_count_a_broken_batch() -> None:
    run = make_run("plain", TrainingConfig(optimiser="adam"), make_network())
    run.train([make_batch(0)])
    run.network.pair_words.fill_(torch.inf)
    run.train([make_batch(1)])
    assert run.optimiser.steps == 1


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
@optimisers
def test_either_step_resumes_from_where_either_stopped(
    optimiser: str, first: str, second: str
) -> None:
    config, batches = TrainingConfig(optimiser=optimiser), make_batches(6)
    whole = make_run("plain", config, make_network())
    for part in (batches[:3], batches[3:]):
        whole.train(part)
    stopped = make_run(first, config, make_network())
    stopped.train(batches[:3])
    resumed = stopped.resumed(second, config)
    resumed.train(batches[3:])
    assert_same(resumed, whole)


def test_metrics_of_a_step_are_those_before_its_update() -> None:
    network, batch = make_network(), make_batch(0)
    outcome = network(batch, TYPED)
    leaves = [*network.parameters(), *(touched.vectors for touched in outcome.touched.values())]
    gradients = torch.autograd.grad(outcome.losses.total().sum(), leaves)
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    run = make_run("plain", TrainingConfig(clip=0.5), network)
    (metrics,) = run.train([batch])
    assert metrics.dtype == torch.float64
    assert not metrics.requires_grad
    torch.testing.assert_close(metrics, step_metrics(outcome.losses, outcome.scores, norm).detach())


def test_step_metrics_are_mean_losses_the_share_above_zero_and_the_norm() -> None:
    others = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(0))
    scores = Scores(torch.tensor([1.0, -1.0, 2.0, 0.5]), *others.unbind())
    group_losses = losses(scores, TYPED)
    values = dict(
        zip(
            STEP_METRICS,
            step_metrics(group_losses, scores, torch.tensor(7.0)).tolist(),
            strict=True,
        )
    )
    assert list(values) == [*Losses._fields, "positives_above_half", "gradient_norm"]
    for name in Losses._fields:
        assert values[name] == pytest.approx(float(getattr(group_losses, name).mean()))
    assert values["positives_above_half"] == 0.75
    assert values["gradient_norm"] == 7


def some_gradients() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator) for shape in [(3, 4), (5,), (2, 2, 2)]]


@pytest.mark.parametrize("limit", [0.1, 3.0, 1e6])
def test_clipping_is_that_of_torch(limit: float) -> None:
    gradients, before = some_gradients(), some_gradients()
    parameters = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    expected = nn.utils.clip_grad_norm_(parameters, limit)
    torch.testing.assert_close(clip(gradients, limit), expected)
    for parameter, gradient, unclipped in zip(parameters, gradients, before, strict=True):
        torch.testing.assert_close(gradient, parameter.grad, rtol=0, atol=1e-6)
        assert torch.equal(gradient, unclipped) == (limit == 1e6)


def test_a_limit_of_zero_does_not_clip_and_still_returns_the_norm() -> None:
    gradients, before = some_gradients(), some_gradients()
    norm = clip(gradients, 0.0)
    torch.testing.assert_close(norm, torch.cat([gradient.flatten() for gradient in before]).norm())
    assert all(torch.equal(*both) for both in zip(gradients, before, strict=True))


def test_a_row_learns_at_its_share_of_the_rate() -> None:
    """And a parameter that is no table at the share of all of it."""
    whole, half = (make_network() for _ in range(2))
    config, batch = TrainingConfig(batch=9, optimiser="sgd", loss="mean", clip=0.0), make_batch(0)
    before = {name: tensor.clone() for name, tensor in whole.state_dict().items()}
    shares = {
        "pair_words": torch.linspace(0, 1, WORDS).double()[:, None],
        "pair.first.weight": torch.tensor(0.5).double(),
    }
    PlainStep(StepModel(whole, OPTIMISERS["sgd"](), config, TYPED))(batch, 0.1)
    PlainStep(StepModel(half, OPTIMISERS["sgd"](), config, TYPED, shares))(batch, 0.1)
    for name, start in before.items():
        moved = whole.state_dict()[name] - start
        assert moved.abs().max() > 0
        expected = start + shares.get(name, 1) * moved
        torch.testing.assert_close(half.state_dict()[name], expected)
