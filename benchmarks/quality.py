"""What settings are worth: a model trained with them sits an exam in analogies.

For programs that compare settings of recipe `fast` on one corpus, from the same word vectors, with
the same neighbours for typed negatives, on the same questions.
"""

import argparse
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

import gpu
from pair2vec.experiments.evaluation.analogies import (
    AnalogyBenchmark,
    AnalogyConfig,
    AnalogyProtocol,
    evaluate_analogies,
)
from pair2vec.experiments.evaluation.analogy_accuracy import AnalogyAccuracy
from pair2vec.experiments.evaluation.analogy_sets import (
    BATS_GROUPS,
    Half,
    find_answer_vocabulary,
    read_analogies,
    select_half,
)
from pair2vec.model.folder import SavedModel, load_model, save_model
from pair2vec.runtime.devices import find_device
from pair2vec.text.corpus import Corpus, open_corpus
from pair2vec.training.batches import nearest_words
from pair2vec.training.publish import publish, published_arrays
from pair2vec.training.recipes import Recipe, resolve
from pair2vec.training.train import start_of
from pair2vec.training.trainer import RunContext, Trainer
from pair2vec.word_vectors.formats import fill_missing, read_word_vectors

EPOCHS = 1_000
"""Enough that the number of steps decides the end of a run."""
NEVER = 10**12
"""Steps."""
VALIDATION_TRIPLES = 200_000
SCORES = ("three_cos_add", "pair2vec", "heldout_alpha")
SCALES = {"K": 10**3, "M": 10**6, "B": 10**9}


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What all models of a comparison share."""

    corpus: Corpus
    vectors: Tensor
    """To start from, a row a word."""
    neighbours: Tensor
    """For typed negatives."""
    exam: AnalogyBenchmark
    manner: AnalogyConfig
    device: torch.device


class Quality(NamedTuple):
    """Of one model."""

    loss: float
    """Of held-out triples, of the very objective that was trained."""
    groups: Mapping[str, AnalogyAccuracy]
    protocol: AnalogyProtocol
    triples: int
    seconds: float
    """Of training, compiling included."""
    speed: float
    """Triples a second, from the first step on, which compiles."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of all comparisons."""
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--vectors", type=Path, required=True, help="to start from: .vec and alike")
    parser.add_argument("--bats", type=Path, required=True, help="the published folder")
    parser.add_argument("--half", choices=("all", *get_args(Half)), default="all", help="of BATS")
    parser.add_argument("--whitening", type=float, help="of pair vectors; 0 is the paper's cosine")
    parser.add_argument("--device", default="auto")
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="for all"
    )


def count(text: str) -> int:
    """A number as people write it: 600, 300M, 1B."""
    scale = SCALES.get(text[-1:].upper(), 1)
    return round(float(text[:-1] if scale > 1 else text) * scale)


def spelled(number: int) -> str:
    """The same the other way round."""
    for letter, scale in reversed(SCALES.items()):
        if number >= scale:
            return f"{number / scale:g}{letter}"
    return str(number)


def open_ground(arguments: argparse.Namespace) -> Ground:
    """Read and prepare it all, as `pair2vec train` and `eval bats` do, and say on what."""
    gpu.compile_all_sizes()
    device, recipe = find_device(arguments.device), resolve("fast", None, arguments.settings)
    corpus = open_corpus(arguments.corpus)
    words = read_word_vectors(arguments.vectors, corpus.vocabulary)
    half = None if arguments.half == "all" else arguments.half
    exam = AnalogyBenchmark(
        relations=select_half(read_analogies(arguments.bats), half),
        candidates=find_answer_vocabulary(corpus.vocabulary, words.vectors, words.found),
        data=str(arguments.bats),
        half=half,
        vectors=str(arguments.vectors),
    )
    filled = fill_missing(words, np.random.default_rng([recipe.training.seed, 0]))
    vectors = torch.from_numpy(filled)
    most = min(recipe.negatives.neighbours, len(corpus.vocabulary) - 5)
    neighbours = nearest_words(vectors.to(device), most)
    print(gpu.describe(device))
    print(
        f"{corpus.folder}: {corpus.manifest.tokens:,} tokens, {corpus.manifest.words:,} words",
        flush=True,
    )
    return Ground(
        corpus=corpus,
        vectors=vectors,
        neighbours=neighbours,
        exam=exam,
        manner=AnalogyConfig(device=str(device), whitening=arguments.whitening),
        device=device,
    )


def with_triples(settings: Sequence[str], triples: int) -> list[str]:
    """Settings for a run of so many triples, however often it has to go through the corpus."""
    batch = resolve("fast", None, settings).training.batch
    steps = max(1, triples // batch)
    return [*settings, f"training.steps={steps}", f"training.epochs={EPOCHS}"]


class Pace:
    """Asked after every step whether to stop: no, but it notes the time."""

    def __init__(self) -> None:
        self.moments: list[float] = []
        self.steps = -1

    def __call__(self) -> bool:
        """No."""
        self.steps += 1
        self.moments = [*self.moments[:1], time.perf_counter()]
        return False

    def steps_a_second(self) -> float:
        """After the first."""
        return self.steps / (self.moments[-1] - self.moments[0]) if self.steps > 0 else math.nan


class UnsavedTrainer(Trainer):
    """Writes no checkpoints, which are large, and which no one would go on from."""

    def write_checkpoint(self) -> Path:
        """Only wait for the steps before, as one does."""
        self._flush_metrics()
        self._last_checkpoint = time.monotonic()
        return self._run_context.folder


def measure(ground: Ground, recipe: Recipe, keep: Path | None = None) -> Quality:
    """Train a model, and have it sit the exam.

    Args:
        ground: What to train and to examine it on.
        recipe: All settings.
        keep: A folder to publish the model in.
    """
    gpu.clear(ground.device)
    training = replace(
        recipe.training, validation_steps=NEVER, validation_triples=VALIDATION_TRIPLES
    )
    pace, began = Pace(), time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        run_context = RunContext(Path(scratch) / "run", ground.device, lambda _: None, pace)
        trainer = UnsavedTrainer(
            ground.corpus,
            replace(recipe, training=training),
            start_of(ground.corpus, recipe, ground.vectors),
            ground.neighbours,
            run_context,
        )
        trainer.run()
        seconds = time.perf_counter() - began
        loss = trainer.validate()
        saved = published(trainer, ground.corpus, keep, Path(scratch) / "model")
        result = evaluate_analogies(saved, ground.exam, ground.manner)
    return Quality(
        math.nan if loss is None else loss,
        result.accuracies.groups,
        result.protocol,
        trainer.triples,
        seconds,
        pace.steps_a_second() * training.batch,
    )


def published(trainer: Trainer, corpus: Corpus, keep: Path | None, scratch: Path) -> SavedModel:
    """As `pair2vec train` does; or, if not to be kept, no more of it than an exam needs."""
    if keep:
        return publish(trainer, corpus, keep, "float32", overwrite=False)
    config = {"recipe": asdict(trainer.recipe)}
    save_model(scratch, published_arrays(trainer.network), corpus.vocabulary, config)
    return load_model(scratch)


def print_head(columns: str) -> None:
    """The columns of a comparison, and then those of the groups of BATS."""
    print("\nBATS, accuracy in %: 3CosAdd, pair2vec alone, both with α from the other relations")
    print(" " * len(columns) + "".join(f"{name:>20}" for name in BATS_GROUPS.values()))
    print(columns + f"{'3CosAdd':>8}{'alone':>6}{'both':>6}" * len(BATS_GROUPS), flush=True)


def scores(groups: Mapping[str, AnalogyAccuracy]) -> str:
    """The columns of the groups; of a group or score that is missing, a dash."""
    found = [groups[name].scores if name in groups else {} for name in BATS_GROUPS.values()]
    return "".join(
        "  "
        + "".join(f"{of_group[name]:6.1f}" if name in of_group else f"{'–':>6}" for name in SCORES)
        for of_group in found
    )


def print_protocol(protocol: AnalogyProtocol) -> None:
    """What the figures of BATS depend on."""
    left_out = {"model", "alphas", "bootstrap_draws", "bootstrap_seed", "workers", "seconds"}
    facts = {name: value for name, value in asdict(protocol).items() if name not in left_out}
    print("BATS: " + ", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
