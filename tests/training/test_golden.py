"""The loss of fifty steps, kept on file: a change that should not alter training must not move it.

On the mini-world, in double precision, so that the order in which a machine sums does not show.
The settings are the test's own: only training itself, or the world, can move the losses. After a
change that is meant to, write the file anew and say in the commit why::

    python tests/training/test_golden.py
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.prepare import prepare
from pair2vec.training.batches import NegativesConfig, nearest_words
from pair2vec.training.optim import TrainingConfig
from pair2vec.training.recipes import Recipe
from pair2vec.training.trainer import RunContext, Trainer, TrainingProgress
from pair2vec.triples.epoch import TriplesConfig
from pair2vec.word_vectors.formats import random_vectors

GOLDEN = Path(__file__).parent / "golden_losses.json"
STEPS = 50
RECIPE = Recipe(
    name="golden",
    triples=TriplesConfig(threshold=1e-7, chunk_blocks=7),
    pair=PairConfig(dimension=16, layers=3),
    context=ContextConfig(dimension=16, hidden=8),
    negatives=NegativesConfig(typed=1, neighbours=10),
    training=TrainingConfig(
        batch=128,
        steps=STEPS,
        optimiser="adam",
        rate=0.01,
        schedule="linear",
        warmup_steps=5,
        loss="mean",
        clip=1.0,
        report_steps=1,
    ),
)


def losses(folder: Path) -> list[float]:
    """Of each step of a short run."""
    (folder / "text.txt").write_text(MiniWorld.create().text(3000))
    corpus = prepare([str(folder / "text.txt")], folder / "corpus")
    reports: list[TrainingProgress] = []
    run_context = RunContext(folder, torch.device("cpu"), reports.append, lambda: False)
    vectors = torch.from_numpy(random_vectors(corpus.vocabulary, 16, np.random.default_rng(0)))
    trainer = Trainer(corpus, RECIPE, vectors, nearest_words(vectors, 10), run_context)
    trainer.network.double()
    assert trainer.run()
    return [progress.metrics["loss"] for progress in reports]


def test_the_losses_of_fifty_steps_are_those_on_file(tmp_path: Path) -> None:
    expected = json.loads(GOLDEN.read_text())
    assert len(expected) == STEPS
    assert losses(tmp_path) == pytest.approx(expected, rel=1e-9, abs=0)


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        torch.set_num_threads(1)
        GOLDEN.write_text(json.dumps(losses(Path(scratch)), indent=1) + "\n")
