"""Fine-tuning a published model: what the anchor holds, words that it lacks, and resuming."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.teaching.small_task import CPU, make_task
from tests.training.small_run import SIZE, after, run, small

from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel, load_model, save_model
from pair2vec.query.context_encoder import PatternEncoder
from pair2vec.query.pair_encoder import make_pair_network
from pair2vec.teaching.finetune import (
    SAMPLED,
    ContextAnchor,
    FinetuneConfig,
    finetune,
    network_for,
)
from pair2vec.teaching.relation_task import PairAnchor, RelationTask
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.training.continuation import word_table
from pair2vec.training.network import Network
from pair2vec.training.recipes import with_settings
from pair2vec.training.train import Interrupted
from pair2vec.word_vectors.formats import WordVectors

CONFIG = FinetuneConfig(steps=12, checkpoint_steps=4)
LONG_WORDS = {"pair": {"length": 4.0}}
"""Norms that a published model has folded into its first layer."""


@pytest.fixture(scope="module")
def start(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    """A model of text alone."""
    recipe = with_settings(small(), LONG_WORDS)
    return run(corpus, tmp_path_factory.mktemp("start") / "model", recipe)


def tune(
    start: SavedModel, corpus: Corpus, out: Path, config: FinetuneConfig, **options: Any
) -> SavedModel:
    def task(_: Network, anchor: PairAnchor) -> RelationTask:
        return make_task(corpus.vocabulary, SIZE, anchor=anchor, every=1)

    return finetune(start, corpus, out, config, task, {}, device=CPU, **options)


def random_ids(vocabulary: Vocabulary, count: int = 200) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(3).integers(4, len(vocabulary), (2, count)))


def test_the_network_of_a_model_has_its_pair_vectors(start: SavedModel, corpus: Corpus) -> None:
    network, context_words = network_for(start, corpus.vocabulary, None)
    x, y = random_ids(corpus.vocabulary)
    parts = network.pair.word_parts(network.pair_words)
    with torch.no_grad():
        found = network.pair.compose(parts, torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_allclose(found.numpy(), make_pair_network(start)(x, y), atol=1e-4)
    assert context_words == len(corpus.vocabulary)


def test_the_anchor_is_the_mean_square_change_of_the_scores_of_contexts(
    start: SavedModel, corpus: Corpus
) -> None:
    network, _ = network_for(start, corpus.vocabulary, None)
    patterns = start.patterns()
    contexts = torch.from_numpy(PatternEncoder(start)([p.pattern for p in patterns]))
    counts = torch.tensor([float(p.frequency) for p in patterns])
    anchor = ContextAnchor(network, contexts, counts, FinetuneConfig(anchor=3, free=1e-7))
    rows = torch.arange(4, 60)
    indices = torch.randint(len(rows), (2, 50), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        parts = network.pair.word_parts(network.pair_words[rows])
        forward, backward = (
            network.pair.compose(parts, indices[one], indices[1 - one]) for one in (0, 1)
        )
        assert anchor.loss(rows, indices, forward, backward) == pytest.approx(0, abs=1e-9)
        change = torch.randn(forward.shape, generator=torch.Generator().manual_seed(1))
        found = anchor.loss(rows, indices, forward + change, backward)

    def mean_square(vectors: torch.Tensor) -> float:
        squares = (vectors @ contexts.T).square() @ (counts / counts.sum())
        return squares.sum().item()

    sample = slice(-(-50 // SAMPLED))  # the first of the pairs
    expected = (
        3
        * mean_square(change[sample])
        / mean_square(torch.cat([forward[sample], backward[sample]]))
    )
    assert found.item() == pytest.approx(expected, rel=1e-3)


def test_with_an_anchor_patterns_keep_their_scores(
    start: SavedModel, corpus: Corpus, tmp_path: Path
) -> None:
    x, y = random_ids(corpus.vocabulary)
    contexts = PatternEncoder(start)([entry.pattern for entry in start.patterns()[:50]])

    def scores(model: SavedModel) -> np.ndarray:
        return make_pair_network(model)(x, y) @ contexts.T

    before = scores(start)
    moved = {
        anchor: np.square(
            scores(
                tune(start, corpus, tmp_path / str(anchor), FinetuneConfig(steps=40, anchor=anchor))
            )
            - before
        ).mean()
        for anchor in (0.0, 100.0)
    }
    assert moved[100.0] < 0.2 * moved[0.0]


def test_contexts_and_patterns_stay_and_the_model_says_where_it_comes_from(
    start: SavedModel, corpus: Corpus, tmp_path: Path
) -> None:
    model = tune(start, corpus, tmp_path / "model", CONFIG)
    for name in start.names:
        is_same = np.allclose(model.array(name), start.array(name), atol=1e-6)
        assert is_same == name.startswith("context."), name
    assert model.has_head
    assert model.patterns() == start.patterns()
    assert model.config["finetuned"]["fingerprint"] == start.fingerprint
    assert model.config["recipe"] == start.config["recipe"]


def test_a_stopped_run_resumed_gives_the_same_model_to_the_bit(
    start: SavedModel, corpus: Corpus, tmp_path: Path
) -> None:
    whole = tune(start, corpus, tmp_path / "whole", CONFIG)
    out = tmp_path / "stopped"
    with pytest.raises(Interrupted):
        tune(start, corpus, out, CONFIG, should_stop=after(5))
    with pytest.raises(UsageError, match="--resume continues it"):
        tune(start, corpus, out, CONFIG)
    with pytest.raises(UsageError, match="another finetune"):
        tune(start, corpus, out, FinetuneConfig(steps=13), resume=True)
    resumed = tune(start, corpus, out, CONFIG, resume=True)
    for name in whole.names:
        assert np.array_equal(resumed.array(name), whole.array(name)), name


def test_words_that_a_model_lacks_are_carried_over_from_other_vectors(start: SavedModel) -> None:
    own = start.vocabulary
    words = [WordCount(word, 500) for word in own.words[4:]]
    vocabulary = Vocabulary([*words, WordCount("newword", 0)])
    table = start.array("pair.words")
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((SIZE, SIZE)))[0]
    ids = [own.ids.get(word, 4) for word in vocabulary.words]
    more = WordVectors(
        vocabulary, (table[ids] @ rotation).astype(np.float32), np.ones(len(ids), np.bool_)
    )
    known = word_table(start, "pair.words", vocabulary)
    assert not known.found[-1]
    assert np.linalg.norm(known.vectors[-1]) < 0.1 * np.linalg.norm(known.vectors[10])
    found = word_table(start, "pair.words", vocabulary, more)
    assert found.found[-1]
    np.testing.assert_array_equal(found.vectors[4:-1], table[ids[4:-1]])
    one, other = found.vectors[-1], table[4]
    assert one @ other / np.linalg.norm(one) / np.linalg.norm(other) > 0.99


def test_a_model_without_patterns_cannot_be_anchored(
    start: SavedModel, corpus: Corpus, tmp_path: Path
) -> None:
    arrays = {name: start.array(name) for name in start.names}
    save_model(tmp_path / "bare", arrays, start.vocabulary, start.config)
    bare = load_model(tmp_path / "bare")
    with pytest.raises(UsageError, match=r"no patterns to anchor R to; --set finetune\.anchor=0"):
        tune(bare, corpus, tmp_path / "model", CONFIG)
    assert tune(bare, corpus, tmp_path / "free", FinetuneConfig(steps=2, anchor=0)).has_head


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"warmup": 1.0}, {"anchor": -1.0}, {"free": 0.0}, {"free": 1.5}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        FinetuneConfig(**wrong)
