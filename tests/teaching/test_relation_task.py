"""The relation loss beside the objective: its head, its steps, and runs that are resumed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.teaching.small_task import (
    CPU,
    FACTS,
    RELATIONS,
    head_scores,
    make_task,
    random_pairs,
    rule,
    task_data,
)
from tests.training.small_run import SIZE, after, assert_identical, run, small
from torch import Tensor

import pair2vec
from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.relations.head import HeadScorer, RelationHead
from pair2vec.teaching.relation_task import (
    RelationTask,
    RelationTaskConfig,
    TorchRelationHead,
    draw_thresholds,
    word_thresholds,
)
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.training.network import Network
from pair2vec.training.publish import NewModelContent, publish
from pair2vec.training.train import Interrupted, TaskSource
from pair2vec.training.trainer import RunContext, Trainer

STEPS = 24
RECIPE = small(steps=STEPS, checkpoint_steps=7)
INVERSE = list(RELATIONS.inverse)


@pytest.fixture
def network(corpus: Corpus) -> Network:
    generator = torch.Generator().manual_seed(0)
    size = len(corpus.vocabulary)
    network = Network(
        size, PairConfig(dimension=8, layers=2), ContextConfig(dimension=8, hidden=4), generator
    )
    network.pair_words.copy_(torch.randn(size, 8, generator=generator))
    return network


def loss(task: RelationTask, network: Network, corpus: Corpus) -> float:
    """The cross-entropy of the rule."""
    x, y = random_pairs(corpus.vocabulary, 400, 0)
    scores = head_scores(task.head, network, corpus.vocabulary, x, y)
    return float(torch.nn.functional.cross_entropy(scores, torch.from_numpy(rule(x, y))))


def test_a_swapped_pair_is_in_the_inverse_relations() -> None:
    head = TorchRelationHead(6, 7, RELATIONS, seed=3)
    for feature in (head.similarity, head.negation):
        torch.nn.init.normal_(feature, generator=torch.Generator().manual_seed(0))
    one, other = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(1))
    features = torch.tensor([[0.9, 0], [0.1, 1], [0.5, 0], [-0.2, 1], [0.3, 1]])
    forward, backward = head(one, other, features), head(other, one, features)
    torch.testing.assert_close(forward, backward[:, INVERSE])
    assert not torch.allclose(forward, backward, atol=1e-3)
    for column in range(2):
        changed = features.clone()
        changed[:, column] = 1 - changed[:, column]
        assert not torch.allclose(forward, head(one, other, changed), atol=1e-3)


def test_heads_of_one_seed_are_equal_and_leave_the_global_generator_alone() -> None:
    state = torch.random.get_rng_state()
    one, again, other = (TorchRelationHead(6, 7, RELATIONS, seed) for seed in (0, 0, 1))
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.equal(one.hidden.weight, again.hidden.weight)
    assert not torch.equal(one.hidden.weight, other.hidden.weight)


def test_steps_reduce_the_loss_and_train_r_and_its_words(corpus: Corpus, network: Network) -> None:
    task = make_task(corpus.vocabulary, 8, every=1, batch=256)
    before = loss(task, network, corpus)
    words, weights = network.pair_words.clone(), network.pair.state_dict()
    weights = {name: tensor.clone() for name, tensor in weights.items()}
    contexts = {name: tensor.clone() for name, tensor in network.context.state_dict().items()}
    for step in range(60):
        task.train_step(network, step, 1.0)
    assert loss(task, network, corpus) < 0.7 * before
    assert not torch.equal(words, network.pair_words)
    for name, tensor in network.pair.state_dict().items():
        assert not torch.equal(tensor, weights[name]), name
    for name, tensor in network.context.state_dict().items():
        assert torch.equal(tensor, contexts[name]), name


def test_only_every_few_steps_it_is_the_task_s_turn(corpus: Corpus, network: Network) -> None:
    task = make_task(corpus.vocabulary, 8, every=3)
    changed = []
    for step in range(7):
        before = task.head.output.weight.clone()
        words = network.pair_words.clone()
        task.train_step(network, step, 1.0)
        changed.append(not torch.equal(before, task.head.output.weight))
        assert changed[-1] != torch.equal(words, network.pair_words)
    assert changed == [True, False, False, True, False, False, True]


def test_the_rate_of_the_schedule_scales_a_step(corpus: Corpus, network: Network) -> None:
    still = make_task(corpus.vocabulary, 8)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    still.train_step(network, 0, 0.0)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name]), name
    steps = []
    for rate in (1.0, 0.5):
        task = make_task(corpus.vocabulary, 8)
        weight = task.head.output.weight.clone()
        task.train_step(network, 0, rate)
        steps.append((task.head.output.weight - weight).abs().max().item())
        network.load_state_dict(before)
    assert steps[0] == pytest.approx(2 * steps[1], rel=1e-3)


@pytest.mark.parametrize(("share", "learns_gold"), [(0.95, True), (0.0, False)])
def test_the_gold_share_weighs_wordnet_against_teachers(
    share: float, learns_gold: bool, corpus: Corpus, network: Network
) -> None:
    data = task_data(corpus.vocabulary, taught_label=1)
    task = make_task(corpus.vocabulary, 8, data, gold_share=share, every=1)
    for step in range(100):
        task.train_step(network, step, 1.0)
    x, y, gold = data.gold
    found = head_scores(task.head, network, corpus.vocabulary, x, y).argmax(dim=1).numpy()
    assert (np.mean(found == gold) > 0.6) == learns_gold
    assert (np.mean(found == 1) > 0.95) != learns_gold


@pytest.mark.parametrize(("share", "name"), [(0.9, "none"), (0.0, "antonym")])
def test_random_pairs_are_taught_as_unrelated(
    share: float, name: str, corpus: Corpus, network: Network
) -> None:
    data = task_data(corpus.vocabulary, taught_label=1)
    task = make_task(corpus.vocabulary, 8, data, gold_share=0.0, random_share=share, every=1)
    for step in range(100):
        task.train_step(network, step, 1.0)
    others = random_pairs(corpus.vocabulary, 300, 7)
    found = head_scores(task.head, network, corpus.vocabulary, *others).argmax(dim=1).numpy()
    assert np.mean(found == RELATIONS.names.index(name)) > 0.8


def test_random_words_are_drawn_half_by_the_root_of_their_frequency_half_alike() -> None:
    vocabulary = Vocabulary([("often", 900), ("seldom", 100), ("never", 0)])
    thresholds = word_thresholds(vocabulary)
    shares = torch.cat([thresholds[:1], thresholds.diff()])
    expected = [(3 / 4 + 1 / 3) / 2, (1 / 4 + 1 / 3) / 2, 1 / 6]
    assert shares.tolist() == pytest.approx([*[0.0] * len(SPECIAL_TOKENS), *expected])
    assert thresholds[-1] == 1


def test_a_task_continues_from_its_state(corpus: Corpus, network: Network) -> None:
    task, other = make_task(corpus.vocabulary, 8), make_task(corpus.vocabulary, 8, seed=9)
    for step in range(6):
        task.train_step(network, step, 1.0)
    kept = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    other.restore({name: tensor.clone() for name, tensor in task.state().items()})
    task.train_step(network, 6, 0.7)
    expected = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.load_state_dict(kept)
    other.train_step(network, 6, 0.7)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    for name, tensor in other.state().items():
        assert torch.equal(tensor, task.state()[name]), name


def drawn_shares(targets: Tensor, rare: float) -> Tensor:
    """How often each pair is drawn."""
    thresholds = draw_thresholds(targets, rare)
    return torch.cat([thresholds[:1], thresholds.diff()])


def test_pairs_are_drawn_by_how_rare_their_relation_is() -> None:
    # Of 100 pairs 90 of no relation, 9 antonyms, and one synonym.
    labels = torch.tensor([4] * 90 + [1] * 9 + [0])
    targets = torch.nn.functional.one_hot(labels, 5).half()
    torch.testing.assert_close(drawn_shares(targets, 0.0), torch.full((100,), 0.01).double())
    half = drawn_shares(targets, 0.5)
    assert (half[90] / half[0]).item() == pytest.approx(10**0.5, rel=1e-3)
    assert (half[99] / half[0]).item() == pytest.approx(90**0.5, rel=1e-3)
    # At most ten times as often as one of no relation.
    whole = drawn_shares(targets, 1.0)
    assert (whole[[90, 99]] / whole[0]).tolist() == pytest.approx([10, 10], rel=1e-3)


@pytest.mark.parametrize("rare", [0.0, 0.5, 1.0])
def test_every_number_below_one_draws_a_pair(rare: float) -> None:
    generator = torch.Generator().manual_seed(0)
    targets = torch.rand(1000, 5, generator=generator).softmax(dim=1).half()
    thresholds = draw_thresholds(targets, rare)
    assert (thresholds.diff() >= 0).all()
    numbers = torch.tensor([0.0, 0.5, 1 - 1e-16], dtype=torch.float64)
    assert torch.searchsorted(thresholds, numbers).max() == 999


def source(corpus: Corpus, identity: dict[str, Any] | None = None) -> TaskSource:
    return TaskSource(lambda _: make_task(corpus.vocabulary, SIZE), identity or {"labels": "abc"})


@pytest.fixture(scope="module")
def model(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    """Taught without interruption."""
    return run(corpus, tmp_path_factory.mktemp("models") / "model", RECIPE, task=source(corpus))


@pytest.mark.parametrize("steps", [1, 7, 16])
def test_a_taught_run_stopped_and_resumed_gives_the_same_model_to_the_bit(
    steps: int, corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, RECIPE, task=source(corpus), should_stop=after(steps))
    resumed = run(corpus, out, RECIPE, task=source(corpus), resume=True)
    assert_identical(resumed, model)
    assert resumed.config["relations"] == model.config["relations"]
    assert "relation.hidden.weight" in resumed.names


@pytest.mark.parametrize("other", [{"labels": "xyz"}, None], ids=["labels", "none"])
def test_a_run_resumes_with_the_same_labels_alone(
    other: dict[str, Any] | None, corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(Interrupted):
        run(corpus, tmp_path, RECIPE, task=source(corpus), should_stop=after(2))
    task = source(corpus, other) if other else None
    with pytest.raises(UsageError, match="was begun with another labels; resume with the same"):
        run(corpus, tmp_path, RECIPE, task=task, resume=True)


def test_the_published_config_says_what_the_head_predicts(
    model: SavedModel, corpus: Corpus
) -> None:
    facts = model.config["relations"]
    assert facts["names"] == list(RELATIONS.names)
    assert facts["inverse"] == INVERSE
    assert np.isfinite(facts["none"])
    assert facts["scale"] > 0
    held_out = task_data(corpus.vocabulary).held_out
    assert facts["unrelated"] == pytest.approx(np.mean(held_out.label == 4))
    assert len(facts["thresholds"]) == len(facts["names"])
    assert 0.5 <= min(facts["thresholds"]) <= max(facts["thresholds"]) <= 1
    assert facts["prior_shift"] in {0, 0.25, 0.5, 0.75, 1}
    assert facts["dev"]["pairs"] == len(held_out.x)
    assert model.config["teaching"] == FACTS
    assert pair2vec.load(model.folder).relate("able", "unable")


def test_the_published_head_computes_what_was_trained(corpus: Corpus, tmp_path: Path) -> None:
    vocabulary = corpus.vocabulary
    task = make_task(vocabulary, SIZE)
    vectors = torch.randn(len(vocabulary), SIZE, generator=torch.Generator().manual_seed(0))
    context = RunContext(tmp_path / "run", CPU, lambda _: None, lambda: False)
    trainer = Trainer(corpus, RECIPE, vectors, None, context, task)
    assert trainer.run()
    with torch.no_grad():
        task.head.negation.copy_(torch.tensor([0.5, 2, -1, 3, 0]))
    content_of = NewModelContent(corpus, vectors=None)
    saved = publish(trainer, content_of, tmp_path / "model", "float32", overwrite=False)
    x, y = random_pairs(vocabulary, 300, 5)
    x, y = np.append(x, vocabulary.ids["able"]), np.append(y, vocabulary.ids["unable"])
    expected = head_scores(task.head, trainer.network, vocabulary, x, y).numpy()
    # What is published has the prior shift in its bias.
    shift = saved.array("relation.output.bias") - task.head.output.bias.detach().numpy()
    expected += shift
    scorer = HeadScorer(RelationHead(saved), pair2vec.load(saved.folder).space)
    np.testing.assert_allclose(scorer.logits(x, y), expected, atol=1e-4)
    config = RelationHead(saved).config
    scores = expected * config.scale + np.array([0, 0, 0, 0, config.none])
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(scorer(x, y), probabilities, atol=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"every": 0}, "every is 0; it must be from 1 to 1,000,000,000,000"),
        ({"batch": 0}, "batch is 0; it must be from 1 to 10,000,000"),
        ({"hidden": 0}, "hidden is 0; it must be from 1 to 10,000"),
        ({"gold_share": 1.0}, "gold_share is 1.0; it must be from 0 to below 1"),
        ({"gold_share": -0.1}, "gold_share is -0.1; it must be from 0 to below 1"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RelationTaskConfig(**changes)
