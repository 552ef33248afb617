"""Teach a model relations while it learns from text: what ``pair2vec teach`` does.

The data moves in two steps. `make_labels` turns corpus, word vectors, WordNet and a language model
into pairs with probabilities of relations, in a folder that other models of the same corpus can
learn from, too. `train` then trains the objective J_3NS and, in turns with it, the relation loss;
or `finetune` trains the relation loss alone on a model that was published.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.model.tensors import Precision
from pair2vec.runtime.devices import find_device
from pair2vec.runtime.jobs import content_hash
from pair2vec.teaching.finetune import FinetuneConfig, finetune
from pair2vec.teaching.label import LabelConfig, LabelInputs, make_labels
from pair2vec.teaching.label_folder import LABELS_FILE, MIXED, Labels
from pair2vec.teaching.lexical_resources import LexicalFiles
from pair2vec.teaching.relation_task import (
    PairAnchor,
    RelationTask,
    RelationTaskConfig,
    TaskData,
)
from pair2vec.teaching.teacher import Report
from pair2vec.text.corpus import Corpus
from pair2vec.training.continuation import word_table
from pair2vec.training.network import Network
from pair2vec.training.recipes import Recipe, fast
from pair2vec.training.train import TaskSource, train
from pair2vec.training.trainer import TrainingProgress
from pair2vec.word_vectors.carry_over import carry_over
from pair2vec.word_vectors.formats import WordVectors, read_word_vectors
from pair2vec.wordnet.dictionary import WordNet

_LABEL_FACTS = tuple("language_model taught_model lexical weights none candidates labelled".split())
"""What a model's config repeats of its labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TeachRecipe:
    """All settings of a taught model."""

    model: Recipe = field(default_factory=fast)
    """Of the objective."""
    labels: LabelConfig = field(default_factory=LabelConfig)
    relations: RelationTaskConfig = field(default_factory=RelationTaskConfig)
    finetune: FinetuneConfig = field(default_factory=FinetuneConfig)
    """Of a published model, in the place of `model`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TeachInputs:
    """What a taught model is made from."""

    corpus: Corpus
    vectors: Path | None = None
    """Word vectors to start from; those of `start` by default."""
    start: SavedModel | None = None
    """A published model to fine-tune; the vocabulary is that of the corpus."""
    more_vectors: Path | None = None
    """As in `train`; candidates and the teacher on vectors use them, too."""
    wordnet: WordNet
    language_model: Path | None = None
    """A folder or a GGUF file; None is the default one."""
    text_model: SavedModel | None = None
    """A model of text alone for the teacher on vectors; `start` by default."""
    lexical: LexicalFiles = field(default_factory=LexicalFiles)
    """A thesaurus and a dictionary."""

    def __post_init__(self) -> None:
        if self.vectors is None and self.start is None:
            raise UsageError("give the --vectors to start from, or a model: --from wikipedia")

    def tables(self) -> list[WordVectors]:
        """Vectors of the vocabulary, those to start from first."""
        vocabulary = self.corpus.vocabulary
        more = self.more_table()
        if self.vectors is None:
            assert self.start is not None
            first = word_table(self.start, "pair.words", vocabulary, *([more] if more else []))
        else:
            first = read_word_vectors(self.vectors, vocabulary)
            first = carry_over(first, more) if more else first
        return [first, more] if more else [first]

    def more_table(self) -> WordVectors | None:
        """`more_vectors` of the vocabulary."""
        more = self.more_vectors
        return read_word_vectors(more, self.corpus.vocabulary) if more else None


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
    show: Callable[[TrainingProgress], None] = lambda _: None,
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
        show: Called between reports, as of `train`.
        should_stop: Called after each step of training.
    """
    made = label_pairs(inputs, labels, recipe, device=find_device(device), resume=resume)

    def make_task(torch_device: torch.device) -> RelationTask:
        data, size = task_data(recipe.relations, made), recipe.model.pair.dimension
        return RelationTask(recipe.relations, inputs.corpus.vocabulary, data, size, torch_device)

    return train(
        inputs.corpus,
        out,
        recipe.model,
        vectors=inputs.vectors,
        more_vectors=inputs.more_vectors,
        task=TaskSource(make_task, _task_identity(recipe.relations, labels)),
        device=device,
        precision=precision,
        resume=resume,
        overwrite=overwrite,
        report=report,
        show=show,
        should_stop=should_stop,
    )


def teach_published(  # noqa: PLR0913 - the options of a command, side by side
    inputs: TeachInputs,
    out: Path,
    labels: Path,
    recipe: TeachRecipe,
    *,
    device: str = "auto",
    precision: Precision = "float32",
    resume: bool = False,
    overwrite: bool = False,
    report: Report = lambda *_: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SavedModel:
    """Label pairs, then fine-tune the model `inputs.start` on them, and publish the result.

    Arguments as of `teach`.
    """
    start, torch_device = inputs.start, find_device(device)
    if start is None:
        raise UsageError("there is no model to fine-tune: give one with --from")
    made = label_pairs(inputs, labels, recipe, device=torch_device, resume=resume, report=report)

    def make_task(network: Network, anchor: PairAnchor) -> RelationTask:
        data, size = task_data(recipe.relations, made), network.pair_words.shape[1]
        vocabulary = inputs.corpus.vocabulary
        return RelationTask(recipe.relations, vocabulary, data, size, torch_device, anchor)

    return finetune(
        start,
        inputs.corpus,
        out,
        recipe.finetune,
        make_task,
        _task_identity(recipe.relations, labels),
        more=inputs.more_table(),
        device=torch_device,
        precision=precision,
        resume=resume,
        overwrite=overwrite,
        report=report,
        should_stop=should_stop,
    )


def task_data(config: RelationTaskConfig, labels: Labels) -> TaskData:
    """What a relation task learns from labels."""
    return TaskData(
        labels.relations,
        labels.taught(),
        labels.labelled("train"),
        labels.labelled("dev"),
        labels.labelled(MIXED),
        teaching_record(config, labels),
    )


def _task_identity(config: RelationTaskConfig, labels: Path) -> dict[str, Any]:
    return {"labels": content_hash(labels / LABELS_FILE), "relations": asdict(config)}


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
    return make_labels(
        LabelInputs(
            inputs.corpus,
            recipe.model.triples,
            inputs.tables(),
            inputs.wordnet,
            inputs.language_model,
            inputs.text_model or inputs.start,
            inputs.lexical,
        ),
        folder,
        recipe.labels,
        device=device,
        resume=resume,
        report=report,
    )


def teaching_record(config: RelationTaskConfig, labels: Labels) -> dict[str, Any]:
    """What a model's config says about its teachers."""
    return {
        "relations": asdict(config),
        "labels": labels.facts["config"],
        **{name: labels.facts.get(name) for name in _LABEL_FACTS},
        "teachers": {
            part: {name: _rounded(scores) for name, scores in tables.items()}
            for part, tables in labels.facts["teachers"].items()
        },
    }


def _rounded(scores: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, 2) for name, value in scores.items() if isinstance(value, int | float)
    }
