"""Published networks score as they did, and frequent contexts are those of a plain count."""

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.training.small_run import SMALL, after, run
from tests.triples.enumerator import enumerate_triples, make_corpus

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import InputError
from pair2vec.model.folder import SavedModel, checkpoint_model, load_model, save_model
from pair2vec.model.resolve import find_model
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.checkpoint import last_checkpoint
from pair2vec.training.network import Network
from pair2vec.training.publish import (
    frequent_contexts,
    network_from_model,
    published_arrays,
    trainable_network,
)
from pair2vec.training.recipes import paper
from pair2vec.training.train import Interrupted
from pair2vec.triples.epoch import TriplesConfig, TripleStream

EVERYTHING = TriplesConfig(subsampling="none", held_out=0.0)


def as_in_training(model: SavedModel) -> Network:
    tables = (model.array(f"{name}.words").copy() for name in ("pair", "context"))
    return trainable_network(model, *tables)


@pytest.mark.parametrize("read", [network_from_model, as_in_training])
@pytest.mark.parametrize("composition", ["mlp", "multiply"])
@torch.no_grad()
def test_a_pair_and_a_context_have_the_score_of_training(
    composition: str, read: Callable[[SavedModel], Network], tmp_path: Path
) -> None:
    """Though words are published with unit norm, and were trained with another."""
    pair = PairConfig(composition=composition, layers=2, dimension=6, length=2.5)
    recipe = replace(paper(), pair=pair, context=ContextConfig(dimension=6, hidden=3))
    network = Network(9, pair, recipe.context, torch.Generator().manual_seed(0))
    for table in (network.pair_words, network.context_words):
        table.normal_(generator=torch.Generator().manual_seed(1))
    vocabulary = Vocabulary([(f"word{n}", 9) for n in range(5)])
    save_model(tmp_path, published_arrays(network), vocabulary, {"recipe": asdict(recipe)})
    published = read(load_model(tmp_path))
    np.testing.assert_allclose(scores(published), scores(network), rtol=1e-4)


def scores(network: Network) -> np.ndarray:
    """R·C of some pairs and contexts."""
    x, y = torch.tensor([4, 5, 6, 7]), torch.tensor([8, 7, 6, 5])
    pairs = network.pair.compose(network.pair.word_parts(network.pair_words), x, y)
    gates = network.context.word_gates(network.context_words)
    contexts = network.context.encode(gates, torch.tensor([[4, 2, 5, 3, 8], [7, 2, 6, 3, 1]]))
    return (pairs @ contexts.T).numpy()


def count_contexts(corpus: Corpus) -> Counter[tuple[int, ...]]:
    contexts: Counter[tuple[int, ...]] = Counter()
    for (_, _, context), count in enumerate_triples(corpus).items():
        contexts[context] += count
    return contexts


def small_corpus(folder: Path) -> Corpus:
    sentences = ["neither hot nor cold", "hot and cold", "up and down", "neither up nor down"]
    return make_corpus(folder, "\n".join(sentences * 256))


def test_the_most_frequent_contexts_come_first_with_their_counts(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    expected = count_contexts(corpus)
    frequent = frequent_contexts(TripleStream(corpus, EVERYTHING), most=6)
    assert len(frequent) == 6
    assert [entry.frequency for entry in frequent] == sorted(
        (e.frequency for e in frequent), reverse=True
    )
    texts = {context_text(entry.context, corpus.vocabulary): entry.frequency for entry in frequent}
    assert "neither X nor Y <s>" in texts
    # An epoch's last few triples, too few for a batch, are left out.
    for entry in frequent:
        assert expected[entry.context] * 0.97 <= entry.frequency <= expected[entry.context]
    rarest = sorted(expected.values())[-6]
    assert all(expected[entry.context] >= rarest for entry in frequent)


def test_a_sample_is_enough_and_contexts_seen_once_are_left_out(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    sampled = frequent_contexts(TripleStream(corpus, EVERYTHING), most=99, sample=500)
    everything = frequent_contexts(TripleStream(corpus, EVERYTHING), most=99)
    assert sum(entry.frequency for entry in sampled) < sum(entry.frequency for entry in everything)
    assert min(entry.frequency for entry in sampled) > 1


def test_an_unfinished_training_is_the_model_of_its_last_checkpoint(
    corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, SMALL, should_stop=after(25))
    folder = find_model(out)
    assert caplog.messages[-1] == (
        f"{out}: training is not finished; this is the checkpoint of step 25 of 40"
    )
    # Those of steps 10 and 20 are gone.
    assert list((out / "training").glob("step-*/")) == [folder]
    unfinished = load_model(folder)
    assert unfinished.patterns()
    assert unfinished.config["checkpoint"] == {"step": 25, "steps": 40}
    checkpoint = last_checkpoint(out / "training")
    assert checkpoint is not None
    assert np.array_equal(
        unfinished.array("context.words"), checkpoint.tensors["network.context_words"].numpy()
    )
    finished = run(corpus, out, SMALL, resume=True)
    assert find_model(out) == out
    assert not list((out / "training").glob("step-*/"))
    assert "checkpoint" not in finished.config


def test_a_half_written_model_of_a_checkpoint_is_none(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, SMALL, should_stop=after(3))
    first = find_model(out)
    later = checkpoint_model(out, 4)
    shutil.copytree(first, later)
    (later / "config.json").unlink()
    assert find_model(out) == first
    shutil.rmtree(first)
    assert find_model(out) == out
    with pytest.raises(InputError, match="if it is being trained, wait for its first checkpoint"):
        load_model(out)
    run(corpus, out, SMALL, resume=True)
    assert not later.exists()
