"""Teach a model relations while it learns from text: what ``pair2vec teach`` does.

The data moves in two steps. `make_labels` turns corpus, word vectors, WordNet and a language model
into pairs with probabilities of relations, in a folder that other models of the same corpus can
learn from, too. `train` then trains the objective J_3NS and, in turns with it, the relation loss.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from pair2vec.model.folder import SavedModel
from pair2vec.model.tensors import Precision
from pair2vec.runtime.devices import find_device
from pair2vec.runtime.jobs import content_hash
from pair2vec.teaching.label import (
    LABELS_FILE,
    LabelConfig,
    LabelInputs,
    Labels,
    make_labels,
)
from pair2vec.teaching.relation_task import RelationTask, RelationTaskConfig, TaskData
from pair2vec.teaching.teacher import Report
from pair2vec.text.corpus import Corpus
from pair2vec.training.recipes import Recipe, fast
from pair2vec.training.train import TaskSource, train
from pair2vec.training.trainer import TrainingProgress
from pair2vec.word_vectors.carry_over import carry_over
from pair2vec.word_vectors.formats import read_word_vectors
from pair2vec.wordnet.dictionary import WordNet

_LABEL_FACTS = ("language_model", "weights", "none", "candidates", "labelled")
"""What a model's config repeats of its labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TeachRecipe:
    """All settings of a taught model."""

    model: Recipe = field(default_factory=fast)
    """Of the objective."""
    labels: LabelConfig = field(default_factory=LabelConfig)
    relations: RelationTaskConfig = field(default_factory=RelationTaskConfig)


@dataclass(frozen=True, kw_only=True, slots=True)
class TeachInputs:
    """What a taught model is made from."""

    corpus: Corpus
    vectors: Path
    """Word vectors to start from."""
    more_vectors: Path | None = None
    """As in `train`; candidates and the second teacher use them, too."""
    wordnet: WordNet
    language_model: Path | None = None
    """A folder or a GGUF file; None is the default one."""
    text_model: SavedModel | None = None
    """A model of text alone for the second teacher."""


def teach(  # noqa: PLR0913 - the options of a command, side by side
    inputs: TeachInputs,
    out: Path,
    labels: Path,
    recipe: TeachRecipe,
    *,
    device: str = "auto",
    precision: Precision = "float32",
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[TrainingProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SavedModel:
    """Label pairs, then train a model on the text and on them, and publish it.

    Args:
        inputs: Corpus, vectors and teachers.
        out: The model folder.
        labels: The folder of labels; complete ones that fit are used again.
        recipe: All settings.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: Of the published model.
        resume: Continue what was stopped, be it labelling or training.
        overwrite: Replace a model, or a training that was begun.
        report: Called with the metrics of training.
        should_stop: Called after each step of training.
    """
    made = label_pairs(inputs, labels, recipe, device=find_device(device), resume=resume)

    def make_task(torch_device: torch.device) -> RelationTask:
        data = TaskData(
            made.relations,
            made.taught(),
            made.labelled("train"),
            made.labelled("dev"),
            teaching_facts(recipe.relations, made),
        )
        size = recipe.model.pair.dimension
        return RelationTask(recipe.relations, inputs.corpus.vocabulary, data, size, torch_device)

    identity = {
        "labels": content_hash(labels / LABELS_FILE),
        "relations": asdict(recipe.relations),
    }
    return train(
        inputs.corpus,
        out,
        recipe.model,
        vectors=inputs.vectors,
        more_vectors=inputs.more_vectors,
        task=TaskSource(make_task, identity),
        device=device,
        precision=precision,
        resume=resume,
        overwrite=overwrite,
        report=report,
        should_stop=should_stop,
    )


def label_pairs(
    inputs: TeachInputs,
    folder: Path,
    recipe: TeachRecipe,
    *,
    device: torch.device,
    resume: bool = False,
    report: Report = lambda *_: None,
) -> Labels:
    """The labels for a corpus, made unless they are there."""
    vocabulary = inputs.corpus.vocabulary
    tables = [read_word_vectors(inputs.vectors, vocabulary)]
    if inputs.more_vectors:
        tables.append(read_word_vectors(inputs.more_vectors, vocabulary))
        tables[0] = carry_over(*tables)
    return make_labels(
        LabelInputs(
            inputs.corpus,
            recipe.model.triples,
            tables,
            inputs.wordnet,
            inputs.language_model,
            inputs.text_model,
        ),
        folder,
        recipe.labels,
        device=device,
        resume=resume,
        report=report,
    )


def teaching_facts(config: RelationTaskConfig, labels: Labels) -> dict[str, Any]:
    """What a model's config says about its teachers."""
    return {
        "relations": asdict(config),
        "labels": labels.facts["config"],
        **{name: labels.facts[name] for name in _LABEL_FACTS},
        "teachers": {
            part: {name: _rounded(scores) for name, scores in tables.items()}
            for part, tables in labels.facts["teachers"].items()
        },
    }


def _rounded(scores: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, 2) for name, value in scores.items() if isinstance(value, int | float)
    }
