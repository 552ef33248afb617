"""Train a model on a corpus and publish it: what ``pair2vec train`` does."""

import hashlib
import io
import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pair2vec.errors import InputError, UsageError
from pair2vec.model.config import CONFIG_FILE
from pair2vec.model.folder import TRAINING_FOLDER, SavedModel, check_free
from pair2vec.model.tensors import Precision
from pair2vec.runtime.devices import find_device, select_device, torch_threads
from pair2vec.runtime.jobs import (
    JobFolder,
    begun_identity,
    content_hash,
    empty_folder,
    exclusive_lock,
    sweep_partial_files,
)
from pair2vec.runtime.storage import write_file
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.training.batches import nearest_words
from pair2vec.training.checkpoint import check_begun
from pair2vec.training.continuation import (
    Continuation,
    ContinuedContent,
    check_continued,
    continue_from,
)
from pair2vec.training.distributed import SINGLE_PROCESS, ProcessGroup
from pair2vec.training.publish import CheckpointPublisher, NewModelContent, publish
from pair2vec.training.recipes import ContinuedRecipe, Recipe, recipe_from_json
from pair2vec.training.trainer import (
    AuxiliaryTask,
    RunContext,
    TrainedNetwork,
    Trainer,
    TrainingProgress,
)
from pair2vec.word_vectors.carry_over import carry_over
from pair2vec.word_vectors.formats import fill_missing, random_vectors, read_word_vectors

_log = logging.getLogger(__name__)


class TaskSource(NamedTuple):
    """An auxiliary task, made when the device is known, and what it depends on."""

    make: Callable[[torch.device], AuxiliaryTask]
    identity: dict[str, Any]


class Interrupted(Exception):  # noqa: N818 - not an error
    """Training was asked to stop and wrote a checkpoint."""


def train(  # noqa: PLR0913 - the options of a command, side by side
    corpus: Corpus,
    out: Path,
    recipe: Recipe,
    *,
    vectors: Path | None = None,
    more_vectors: Path | None = None,
    start: SavedModel | None = None,
    task: TaskSource | None = None,
    device: str = "auto",
    precision: Precision = "float32",
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[TrainingProgress], None] = lambda _: None,
    show: Callable[[TrainingProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    ranks: ProcessGroup = SINGLE_PROCESS,
) -> SavedModel:
    """Train a model, or resume its training, and publish it.

    Args:
        corpus: To train on.
        out: The model folder; checkpoints are kept in its folder ``training``.
        recipe: All settings.
        vectors: Word vectors to start from; random ones otherwise.
        more_vectors: Word vectors of any dimension for words that `vectors` lacks, or that are
            rare in the corpus (`word_vectors.carry_over`).
        start: A published model to go on from (`training.continuation`); word vectors are then
            those of words that it lacks, of any dimension.
        task: Trained in turns with the objective, and published with the model.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: Of the published model.
        resume: Resume from the last checkpoint.
        overwrite: Replace a model, or a training that was begun.
        report: Called with the metrics after every `report_steps`.
        show: Called about once a second, for a display.
        should_stop: Called after each step.
        ranks: The process group; rank 0 writes, and every rank gets the model.
    """
    resume = resume or ranks.restarted
    # Everything that can be wrong with the call, before anything is written.
    _check_call(recipe, vectors, more_vectors, start, out)
    job = _job_folder(corpus, out, recipe, vectors, more_vectors)
    if start:
        job = replace(job, identity={**job.identity, "from": start.fingerprint})
    if task is not None:
        job = replace(job, identity={**job.identity, **task.identity})
    torch_device = find_device(device, ranks.local_rank)
    begun = _begin(corpus, recipe, vectors, more_vectors, start)
    corpus = begun.corpus
    with ExitStack() as held:
        with ranks.rank_zero_first() as is_rank_zero:
            if is_rank_zero:
                check_free(out)
                if not overwrite:
                    check_begun(out / TRAINING_FOLDER)
                held.enter_context(job.claim(resume=resume, overwrite=overwrite))
        if not job.is_same():
            raise UsageError(
                f"{out}: rank {ranks.rank} does not find there what rank 0 wrote; "
                "train into a folder that all ranks share"
            )
        neighbours = None
        if begun.vectors is not None:
            # Rank 0 computes the table, unless it is cached; the others then read it.
            with ranks.rank_zero_first() as is_rank_zero:
                if is_rank_zero:
                    neighbours = _neighbours(corpus, recipe, begun.vectors, torch_device)
            if not is_rank_zero:
                neighbours = _neighbours(corpus, recipe, begun.vectors, torch_device)
        elif recipe.negatives.typed:
            _log.warning(
                "without --vectors there are no neighbours to draw typed negatives from: "
                "all negative words are drawn by frequency"
            )
        content_of = (
            ContinuedContent(begun.continuation)
            if begun.continuation
            else NewModelContent(corpus, vectors)
        )
        context = RunContext(
            out / TRAINING_FOLDER,
            torch_device,
            report,
            should_stop,
            ranks,
            show=show,
            publish_checkpoint=CheckpointPublisher(content_of, out, precision),
        )
        trainer = Trainer(
            corpus,
            recipe,
            begun.start,
            neighbours,
            context,
            task.make(torch_device) if task else None,
        )
        del begun  # its vectors are as large as the tables they were copied into
        with torch_threads(recipe.training.threads), select_device(torch_device):
            if not trainer.run():
                raise Interrupted
        return publish(trainer, content_of, out, precision, overwrite=overwrite or resume)


def _check_call(
    recipe: Recipe,
    vectors: Path | None,
    more_vectors: Path | None,
    start: SavedModel | None,
    out: Path,
) -> None:
    """Refuse what does not fit together."""
    if start:
        check_continued(start, recipe, out)
    elif isinstance(recipe, ContinuedRecipe):
        raise UsageError(f"{out}: was begun --from a model; give it again")
    if not (start or vectors or recipe.training.epochs):
        raise UsageError(f"recipe {recipe.name} trains nothing: give the --vectors to publish")
    if more_vectors and vectors is None:
        raise UsageError(f"--more-vectors {more_vectors}: need --vectors to be mapped to")


class _Beginning(NamedTuple):
    """What a run begins with."""

    corpus: Corpus
    vectors: Tensor | None
    """By which words are near each other."""
    start: Tensor | TrainedNetwork
    continuation: Continuation | None


def _begin(
    corpus: Corpus,
    recipe: Recipe,
    vectors: Path | None,
    more_vectors: Path | None,
    start: SavedModel | None,
) -> _Beginning:
    """Vectors for all words, from the files or from a model."""
    if start and isinstance(recipe, ContinuedRecipe):
        files = [path for path in (vectors, more_vectors) if path]
        begun = continue_from(start, corpus, recipe.continued, files)
        return _Beginning(begun.corpus, begun.trained.network.pair_words, begun.trained, begun)
    initial = _read_vectors(corpus, recipe, vectors, more_vectors) if vectors else None
    return _Beginning(corpus, initial, initial_word_vectors(corpus, recipe, initial), None)


def begun_recipe(out: Path) -> Recipe | None:
    """The recipe of a training begun in `out`, if there is one."""
    identity = begun_identity(out / TRAINING_FOLDER)
    try:
        return None if identity is None else recipe_from_json(identity["recipe"])
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(
            f"{out}: what was begun there is no training; give another --out, or --overwrite"
        ) from error


def _job_folder(
    corpus: Corpus, out: Path, recipe: Recipe, vectors: Path | None, more_vectors: Path | None
) -> JobFolder:
    state = out / TRAINING_FOLDER
    return JobFolder(
        out=out,
        state=state,
        complete=out / CONFIG_FILE,
        product="a model",
        identity={
            "recipe": asdict(recipe),
            "corpus": corpus.manifest.fingerprint,
            "vectors": content_hash(vectors) if vectors else None,
            **({"more_vectors": content_hash(more_vectors)} if more_vectors else {}),
        },
        clear=lambda: empty_folder(state),
        comparable=_comparable,
    )


def _comparable(identity: dict[str, Any]) -> dict[str, Any]:
    try:
        recipe = asdict(recipe_from_json(identity["recipe"]))
    except (KeyError, TypeError, UsageError):
        return identity
    # Both steps compute the same: a job may resume on another device.
    del recipe["training"]["step_mode"]
    return {**identity, "recipe": recipe}


def initial_word_vectors(corpus: Corpus, recipe: Recipe, initial: Tensor | None) -> Tensor:
    """The initial word tables."""
    if initial is not None and recipe.training.start == "vectors":
        return initial
    generator = np.random.default_rng([recipe.training.seed, 0])
    return torch.from_numpy(random_vectors(corpus.vocabulary, recipe.pair.dimension, generator))


def _read_vectors(
    corpus: Corpus, recipe: Recipe, vectors: Path, more_vectors: Path | None
) -> Tensor:
    """A vector for every word: those of the files, and small random ones for the rest."""
    word_vectors = read_word_vectors(vectors, corpus.vocabulary)
    if word_vectors.vectors.shape[1] != recipe.pair.dimension:
        width = word_vectors.vectors.shape[1]
        raise UsageError(
            f"{vectors}: has {width} dimensions where the recipe has {recipe.pair.dimension}; "
            f"--set pair.dimension={width} --set context.dimension={width}"
        )
    if more_vectors:
        word_vectors = carry_over(word_vectors, read_word_vectors(more_vectors, corpus.vocabulary))
    _log.info(
        "word vectors for %.1f%% of the words and %.1f%% of the tokens",
        100 * word_vectors.coverage,
        100 * word_vectors.token_coverage,
    )
    generator = np.random.default_rng([recipe.training.seed, 0])
    return torch.from_numpy(fill_missing(word_vectors, generator))


def _neighbours(
    corpus: Corpus, recipe: Recipe, vectors: Tensor, device: torch.device
) -> Tensor | None:
    """The table of nearest words, computed once for these vectors and kept beside the corpus."""
    if not recipe.negatives.typed or not recipe.training.epochs:
        return None
    # Without words that never occur: as negatives alone they would learn to fit no context.
    special = len(SPECIAL_TOKENS)
    occurs = corpus.vocabulary.counts > 0
    occurs[:special] = True
    ids = torch.from_numpy(np.flatnonzero(occurs))
    vectors = vectors[ids]
    # Neither a special token nor the word itself is a neighbour.
    candidates = len(vectors) - special - 1
    count = min(recipe.negatives.neighbours, candidates)
    if count < 1:
        return None
    table = torch.zeros(len(occurs), count, dtype=torch.int32)
    table[ids] = ids[_nearest_words(corpus.folder, vectors, count, device).long()].int()
    return table


def _nearest_words(folder: Path, vectors: Tensor, count: int, device: torch.device) -> Tensor:
    """`nearest_words`, from a file in `folder` where it was computed before."""
    checksum = hashlib.sha256(vectors.numpy().tobytes()).hexdigest()[:16]
    name = f"neighbours-{count}-{checksum}"
    with exclusive_lock(folder, wait=True):
        for path in folder.glob(f"{name}-*.npy"):
            content = path.read_bytes()
            if path.name == _named_by_content(name, content):
                return torch.from_numpy(np.load(io.BytesIO(content)))
            _log.warning("%s: is damaged; it is computed again", path)
            path.unlink()
        sweep_partial_files(folder)
        table = nearest_words(vectors.to(device), count)
        buffer = io.BytesIO()
        np.save(buffer, table.numpy())
        write_file(folder / _named_by_content(name, buffer.getvalue()), buffer.getvalue())
    return table


def _named_by_content(name: str, content: bytes) -> str:
    return f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.npy"
