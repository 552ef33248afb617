"""From a corpus folder to a model folder: what ``pair2vec train`` does."""

import hashlib
import io
import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.model.folder import CONFIG_FILE, TRAINING_FOLDER, SavedModel, check_free
from pair2vec.model.tensors import Precision
from pair2vec.runtime.devices import find_device, select_device, torch_threads
from pair2vec.runtime.storage import write_file
from pair2vec.text.corpus import Corpus
from pair2vec.training.distributed import SINGLE_PROCESS, ProcessGroup
from pair2vec.training.negatives import nearest_words
from pair2vec.training.publish import publish
from pair2vec.training.recipes import Recipe, recipe_from_json
from pair2vec.training.trainer import RunContext, Trainer, TrainingProgress
from pair2vec.word_vectors.formats import fill_missing, random_vectors, read_word_vectors

_log = logging.getLogger(__name__)
_JOB = "job.json"


class Interrupted(Exception):  # noqa: N818 - not an error
    """Training was asked to stop and wrote a checkpoint."""


def train(  # noqa: PLR0913 - the options of a command, side by side
    corpus: Corpus,
    out: Path,
    recipe: Recipe,
    *,
    vectors: Path | None = None,
    device: str = "auto",
    precision: Precision = "float32",
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[TrainingProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    ranks: ProcessGroup = SINGLE_PROCESS,
) -> SavedModel:
    """Train a model, or go on with one, and publish it.

    Args:
        corpus: What to learn from.
        out: The model folder; what is needed to go on is kept in its folder ``training``.
        recipe: All settings.
        vectors: Word vectors to start from; random ones otherwise.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: Of the published model.
        resume: Go on from the last checkpoint.
        overwrite: Replace a model or a begun training.
        report: Called with the metrics now and then.
        should_stop: Asked after each step.
        ranks: The processes that train together; the first writes, and each gets the model.
    """
    resume = resume or ranks.restarted
    job = {
        "recipe": asdict(recipe),
        "corpus": corpus.manifest.fingerprint,
        "vectors": _checksum(vectors) if vectors else None,
    }
    # Everything that can be wrong with the call, before anything is written.
    if vectors is None and not recipe.training.epochs:
        raise UsageError(f"recipe {recipe.name} trains nothing: give the --vectors to publish")
    found_device = find_device(device, ranks.local)
    given = _given_vectors(corpus, recipe, vectors) if vectors else None
    with ranks.one_works() as is_own:
        if is_own:
            _claim(out, job, resume=resume, overwrite=overwrite)
    _check_shared(out, job, ranks)
    surroundings = RunContext(out / TRAINING_FOLDER, found_device, report, should_stop, ranks)
    neighbours = None
    if given is not None:
        with ranks.one_works() as is_own:
            neighbours = _neighbours(corpus, recipe, given, found_device) if is_own else None
        if not is_own:
            neighbours = _neighbours(corpus, recipe, given, found_device)
    if vectors is None and recipe.negatives.typed:
        _log.warning(
            "without --vectors there are no neighbours to draw typed negatives from: "
            "all negative words are drawn by frequency"
        )
    trainer = Trainer(corpus, recipe, start_of(corpus, recipe, given), neighbours, surroundings)
    del given  # as large as the tables it was copied into
    with torch_threads(recipe.training.threads), select_device(found_device):
        if not trainer.run():
            raise Interrupted
    return publish(trainer, corpus, out, precision, overwrite=overwrite or resume)


def recipe_of(out: Path) -> Recipe | None:
    """The recipe of a training begun in `out`, if there is one."""
    path = out / TRAINING_FOLDER / _JOB
    return recipe_from_json(json.loads(path.read_bytes())["recipe"]) if path.exists() else None


def _check_shared(out: Path, job: dict[str, Any], ranks: ProcessGroup) -> None:
    if not _is_begun(out, job):
        raise UsageError(
            f"{out}: rank {ranks.rank} does not find there what rank 0 wrote; "
            "train into a folder that all ranks share"
        )


def _is_begun(out: Path, job: dict[str, Any]) -> bool:
    """Whether `out` holds this very job."""
    path = out / TRAINING_FOLDER / _JOB
    return path.exists() and json.loads(path.read_bytes()) == json.loads(json.dumps(job))


def _claim(out: Path, job: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Make the folder for checkpoints, holding only what this job may go on from."""
    check_free(out)
    folder = out / TRAINING_FOLDER
    begun = (folder / _JOB).exists()
    if resume and not begun and (out / CONFIG_FILE).exists() and not overwrite:
        raise UsageError(
            f"{out}: holds a model, but no training to resume; --overwrite replaces it"
        )
    if resume and begun and not _is_begun(out, job):
        raise UsageError(
            f"{out}: was begun with another corpus, other word vectors or settings; "
            "resume with the same ones, or --overwrite"
        )
    if not resume and (begun or (out / CONFIG_FILE).exists()):
        if not overwrite:
            found = "a begun training: --resume goes on with it" if begun else "a model"
            raise UsageError(f"{out}: already holds {found}; --overwrite replaces it")
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / _JOB, json.dumps(job, indent=2).encode())


def _checksum(path: Path) -> str:
    if not path.exists():
        raise UsageError(f"{path}: no such file of word vectors")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def start_of(corpus: Corpus, recipe: Recipe, given: Tensor | None) -> Tensor:
    """What the word tables start from."""
    if given is not None and recipe.training.start == "vectors":
        return given
    generator = np.random.default_rng([recipe.training.seed, 0])
    return torch.from_numpy(random_vectors(corpus.vocabulary, recipe.pair.dimension, generator))


def _given_vectors(corpus: Corpus, recipe: Recipe, vectors: Path) -> Tensor:
    """A vector for every word: those of the file, and small random ones for the rest."""
    found = read_word_vectors(vectors, corpus.vocabulary)
    if found.vectors.shape[1] != recipe.pair.dimension:
        width = found.vectors.shape[1]
        raise UsageError(
            f"{vectors}: has {width} dimensions where the recipe has {recipe.pair.dimension}; "
            f"--set pair.dimension={width} --set context.dimension={width}"
        )
    _log.info(
        "word vectors for %.1f%% of the words and %.1f%% of the tokens",
        100 * found.coverage,
        100 * found.token_coverage,
    )
    generator = np.random.default_rng([recipe.training.seed, 0])
    return torch.from_numpy(fill_missing(found, generator))


def _neighbours(
    corpus: Corpus, recipe: Recipe, vectors: Tensor, device: torch.device
) -> Tensor | None:
    """The table of nearest words, computed once for these vectors and kept beside the corpus."""
    if not recipe.negatives.typed or not recipe.training.epochs:
        return None
    count = min(recipe.negatives.neighbours, len(corpus.vocabulary) - 5)
    checksum = hashlib.sha256(vectors.numpy().tobytes()).hexdigest()[:16]
    path = corpus.folder / f"neighbours-{count}-{checksum}.npy"
    if path.exists():
        return torch.from_numpy(np.load(path))
    table = nearest_words(vectors.to(device), count)
    buffer = io.BytesIO()
    np.save(buffer, table.numpy())
    write_file(path, buffer.getvalue())
    return table
