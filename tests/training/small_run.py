"""Runs of a few steps, for tests of what `train` does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.model.folder import SavedModel
from pair2vec.text.corpus import Corpus
from pair2vec.training.batches import NegativesConfig
from pair2vec.training.optim import TrainingConfig
from pair2vec.training.recipes import Recipe, with_settings
from pair2vec.training.train import train
from pair2vec.triples.epoch import TriplesConfig

SIZE = 16
SMALL = Recipe(
    name="small",
    # Few triples an epoch, in many chunks: a run crosses both.
    triples=TriplesConfig(threshold=3e-9, chunk_blocks=7, held_out=0.1),
    pair=PairConfig(dimension=SIZE, layers=2),
    context=ContextConfig(dimension=SIZE, hidden=8),
    negatives=NegativesConfig(typed=0),
    training=TrainingConfig(
        batch=128,
        epochs=4,
        steps=40,
        optimiser="adam",
        rate=0.01,
        schedule="linear",
        warmup_steps=5,
        loss="mean",
        clip=1.0,
        report_steps=10,
        validation_steps=10,
        checkpoint_steps=10,
    ),
)


def small(**training: object) -> Recipe:
    return with_settings(SMALL, {"training": training})


def run(corpus: Corpus, out: Path, recipe: Recipe, **kwargs: Any) -> SavedModel:
    return train(corpus, out, recipe, device="cpu", **kwargs)


def after(steps: int) -> Callable[[], bool]:
    """Says to stop after so many steps."""
    asked: list[None] = []

    def should_stop() -> bool:
        asked.append(None)
        return len(asked) >= steps

    return should_stop


def metrics_of(out: Path) -> list[dict[str, float]]:
    """All lines but for the speed, which is another one every time."""
    lines = [
        json.loads(line) for line in (out / "training" / "metrics.jsonl").read_text().splitlines()
    ]
    return [
        {name: value for name, value in line.items() if name != "triples_per_second"}
        for line in lines
    ]


def assert_identical(actual: SavedModel, expected: SavedModel) -> None:
    assert actual.names == expected.names
    for name in expected.names:
        assert np.array_equal(actual.array(name), expected.array(name)), name
    loss = actual.config["metrics"]["validation_loss"]
    assert loss == expected.config["metrics"]["validation_loss"]
    assert actual.config["triples"] == expected.config["triples"]
    assert metrics_of(actual.folder) == metrics_of(expected.folder)


def given_vectors(corpus: Corpus) -> NDArray[np.float32]:
    """Of all words, special tokens left out."""
    shape = (len(corpus.vocabulary) - 4, SIZE)
    return np.random.default_rng(0).standard_normal(shape, np.float32)
