"""Quality of settings: train a model with them, and evaluate it on analogies.

For `ablations.py` and `batch_size.py`, which compare settings of recipe `fast` on one corpus, from
the same word vectors, with the same neighbours for typed negatives, on the same analogies.
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
from pair2vec.training.publish import NewModelContent, publish, published_arrays
from pair2vec.training.recipes import Recipe, resolve
from pair2vec.training.train import initial_word_vectors
from pair2vec.training.trainer import AuxiliaryTask, RunContext, Trainer
from pair2vec.word_vectors.carry_over import carry_over
from pair2vec.word_vectors.formats import fill_missing, read_word_vectors

EPOCHS = 1_000
"""Enough that the number of steps decides the end of a run."""
NEVER = 10**12
"""Steps."""
VALIDATION_TRIPLES = 200_000
SCORES = ("three_cos_add", "pair2vec", "heldout_alpha")
SCALES = {"K": 10**3, "M": 10**6, "B": 10**9}


@dataclass(frozen=True, kw_only=True)
class SharedInputs:
    """What all models of a comparison share."""

    corpus: Corpus
    vectors: Tensor
    """Initial word vectors, a row a word."""
    neighbours: Tensor
    """For typed negatives."""
    analogies: AnalogyBenchmark
    evaluation: AnalogyConfig
    device: torch.device


class Quality(NamedTuple):
    """Of one model."""

    loss: float
    """Of held-out triples, by the training objective."""
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
    parser.add_argument(
        "--vectors", type=Path, required=True, help="initial word vectors, .vec or another format"
    )
    parser.add_argument("--more-vectors", type=Path, help="for rare words, as of pair2vec train")
    parser.add_argument("--bats", type=Path, required=True, help="the published folder")
    parser.add_argument("--half", choices=("all", *get_args(Half)), default="all", help="of BATS")
    parser.add_argument("--whitening", type=float, help="of pair vectors; 0 is the paper's cosine")
    parser.add_argument("--device", default="auto")
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="for all"
    )


def parse_count(text: str) -> int:
    """A number as people write it: 600, 300M, 1B."""
    scale = SCALES.get(text[-1:].upper(), 1)
    return round(float(text[:-1] if scale > 1 else text) * scale)


def format_count(number: int) -> str:
    """The inverse of `parse_count`."""
    for letter, scale in reversed(SCALES.items()):
        if number >= scale:
            return f"{number / scale:g}{letter}"
    return str(number)


def open_shared_inputs(arguments: argparse.Namespace) -> SharedInputs:
    """Read and prepare all inputs, as `pair2vec train` and `eval bats` do, and print them."""
    gpu.compile_all_sizes()
    device, recipe = find_device(arguments.device), resolve("fast", None, arguments.settings)
    corpus = open_corpus(arguments.corpus)
    words = read_word_vectors(arguments.vectors, corpus.vocabulary)
    if arguments.more_vectors:
        words = carry_over(words, read_word_vectors(arguments.more_vectors, corpus.vocabulary))
    half = None if arguments.half == "all" else arguments.half
    analogies = AnalogyBenchmark(
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
    return SharedInputs(
        corpus=corpus,
        vectors=vectors,
        neighbours=neighbours,
        analogies=analogies,
        evaluation=AnalogyConfig(device=str(device), whitening=arguments.whitening),
        device=device,
    )


def with_triples(settings: Sequence[str], triples: int) -> list[str]:
    """Settings for a run of so many triples, however many epochs that takes."""
    batch = resolve("fast", None, settings).training.batch
    steps = max(1, triples // batch)
    return [*settings, f"training.steps={steps}", f"training.epochs={EPOCHS}"]


class StepTimer:
    """A stop condition that never stops, but measures the time after every step."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._steps = -1

    def __call__(self) -> bool:
        self._steps += 1
        self._times = [*self._times[:1], time.perf_counter()]
        return False

    def steps_a_second(self) -> float:
        """Without the first step."""
        return self._steps / (self._times[-1] - self._times[0]) if self._steps > 0 else math.nan


class UnsavedTrainer(Trainer):
    """Writes no checkpoints: they are large, and never resumed."""

    def write_checkpoint(self) -> Path:
        """Only wait for the steps so far, as a checkpoint does."""
        self._flush_metrics()
        self._last_checkpoint = time.monotonic()
        return self._run_context.folder


def measure(
    inputs: SharedInputs,
    recipe: Recipe,
    keep: Path | None = None,
    auxiliary: AuxiliaryTask | None = None,
) -> Quality:
    """Train a model, and evaluate it on analogies.

    Args:
        inputs: What to train and to evaluate it on.
        recipe: All settings.
        keep: A folder to publish the model in.
        auxiliary: Another loss to train it on.
    """
    gpu.clear(inputs.device)
    training = replace(
        recipe.training, validation_steps=NEVER, validation_triples=VALIDATION_TRIPLES
    )
    timer, began = StepTimer(), time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        run_context = RunContext(Path(scratch) / "run", inputs.device, lambda _: None, timer)
        trainer = UnsavedTrainer(
            inputs.corpus,
            replace(recipe, training=training),
            initial_word_vectors(inputs.corpus, recipe, inputs.vectors),
            inputs.neighbours,
            run_context,
            auxiliary,
        )
        trainer.run()
        seconds = time.perf_counter() - began
        loss = trainer.validate()
        saved = published(trainer, inputs, keep, Path(scratch) / "model")
        result = evaluate_analogies(saved, inputs.analogies, inputs.evaluation)
    return Quality(
        math.nan if loss is None else loss,
        result.accuracies.groups,
        result.protocol,
        trainer.triples,
        seconds,
        timer.steps_a_second() * training.batch,
    )


def published(
    trainer: Trainer, inputs: SharedInputs, keep: Path | None, scratch: Path
) -> SavedModel:
    """As by `pair2vec train`; or, if it is not kept, no more than the evaluation needs."""
    if keep:
        content_of = NewModelContent(inputs.corpus, Path(inputs.analogies.vectors))
        return publish(trainer, content_of, keep, "float32", overwrite=False)
    config = {"recipe": asdict(trainer.recipe)}
    save_model(scratch, published_arrays(trainer.network), inputs.corpus.vocabulary, config)
    return load_model(scratch)


def print_head(columns: str) -> None:
    """The header: the columns of a comparison, then those of the groups of BATS."""
    print("\nBATS, accuracy in %: 3CosAdd, pair2vec alone, both with α from the other relations")
    print(" " * len(columns) + "".join(f"{name:>20}" for name in BATS_GROUPS.values()))
    print(columns + f"{'3CosAdd':>8}{'alone':>6}{'both':>6}" * len(BATS_GROUPS), flush=True)


def scores(groups: Mapping[str, AnalogyAccuracy]) -> str:
    """The columns of the groups; of a group or score that is missing, a dash."""
    by_group = [groups[name].scores if name in groups else {} for name in BATS_GROUPS.values()]
    return "".join(
        "  "
        + "".join(
            f"{scores_of_group[name]:6.1f}" if name in scores_of_group else f"{'–':>6}"
            for name in SCORES
        )
        for scores_of_group in by_group
    )


def print_protocol(protocol: AnalogyProtocol) -> None:
    """What the figures of BATS depend on."""
    left_out = {"model", "alphas", "bootstrap_draws", "bootstrap_seed", "workers", "seconds"}
    facts = {name: value for name, value in asdict(protocol).items() if name not in left_out}
    print("BATS: " + ", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
