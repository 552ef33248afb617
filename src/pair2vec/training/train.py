"""From a corpus folder to a model folder: what ``pair2vec train`` does."""

import datetime
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

from pair2vec.atomic import write_whole
from pair2vec.encoders.word_vectors import fill_missing, random_vectors, read_word_vectors
from pair2vec.errors import UsageError
from pair2vec.model.folder import (
    CONFIG,
    TRAINING,
    PatternCount,
    SavedModel,
    check_free,
    load_model,
    save_model,
)
from pair2vec.model.precision import Precision
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.training.devices import find_device, selected, threads
from pair2vec.training.loop import Surroundings, Trainer, TrainingProgress
from pair2vec.training.negatives import nearest_words
from pair2vec.training.publishing import published_arrays
from pair2vec.training.ranks import ALONE, Ranks
from pair2vec.training.recipes import Recipe
from pair2vec.training.settings import recipe_from_json
from pair2vec.triples.epoch import TriplesConfig, TripleStream
from pair2vec.triples.frequent_contexts import frequent_contexts

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
    ranks: Ranks = ALONE,
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
    surroundings = Surroundings(out / TRAINING, found_device, report, should_stop, ranks)
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
    with threads(recipe.training.threads), selected(found_device):
        if not trainer.run():
            raise Interrupted
    return publish(trainer, corpus, out, precision, overwrite=overwrite or resume)


def recipe_of(out: Path) -> Recipe | None:
    """The recipe of a training begun in `out`, if there is one."""
    path = out / TRAINING / _JOB
    return recipe_from_json(json.loads(path.read_bytes())["recipe"]) if path.exists() else None


def _check_shared(out: Path, job: dict[str, Any], ranks: Ranks) -> None:
    if not _is_begun(out, job):
        raise UsageError(
            f"{out}: rank {ranks.rank} does not find there what rank 0 wrote; "
            "train into a folder that all ranks share"
        )


def _is_begun(out: Path, job: dict[str, Any]) -> bool:
    """Whether `out` holds this very job."""
    path = out / TRAINING / _JOB
    return path.exists() and json.loads(path.read_bytes()) == json.loads(json.dumps(job))


def _claim(out: Path, job: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Make the folder for checkpoints, holding only what this job may go on from."""
    check_free(out)
    folder = out / TRAINING
    begun = (folder / _JOB).exists()
    if resume and not begun and (out / CONFIG).exists() and not overwrite:
        raise UsageError(
            f"{out}: holds a model, but no training to resume; --overwrite replaces it"
        )
    if resume and begun and not _is_begun(out, job):
        raise UsageError(
            f"{out}: was begun with another corpus, other word vectors or settings; "
            "resume with the same ones, or --overwrite"
        )
    if not resume and (begun or (out / CONFIG).exists()):
        if not overwrite:
            found = "a begun training: --resume goes on with it" if begun else "a model"
            raise UsageError(f"{out}: already holds {found}; --overwrite replaces it")
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / _JOB, json.dumps(job, indent=2).encode())


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
    write_whole(path, buffer.getvalue())
    return table


def mine_patterns(corpus: Corpus, triples: TriplesConfig, most: int = 5_000) -> list[PatternCount]:
    """The patterns that pairs most often stand in, to explain a pair by."""
    found = frequent_contexts(TripleStream(corpus, triples), most)
    return [PatternCount(context_text(c, corpus.vocabulary), count) for c, count in found]


def publish(
    trainer: Trainer, corpus: Corpus, out: Path, precision: Precision, *, overwrite: bool
) -> SavedModel:
    """Write what was learnt as a model folder, with all that is known of it.

    All ranks validate; the first writes.
    """
    manifest = corpus.manifest
    validation = trainer.validate()
    metrics = {"validation_loss": validation} if validation is not None else {}
    metrics |= {
        name: value for name, value in trainer.last_metrics.items() if name in _PUBLISHED_METRICS
    }
    config = {
        "name": out.resolve().name,
        "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "recipe": asdict(trainer.recipe),
        "corpus": {
            "fingerprint": manifest.fingerprint,
            "documents": manifest.documents,
            "sentences": manifest.sentences,
            "tokens": manifest.tokens,
            "sources": [Path(source["name"]).name for source in manifest.sources],
        },
        "triples": trainer.triples,
        "metrics": metrics,
    }
    with trainer.ranks.one_works() as is_own:
        if is_own:
            save_model(
                out,
                published_arrays(trainer.network),
                corpus.vocabulary,
                config,
                patterns=mine_patterns(corpus, trainer.recipe.triples),
                precision=precision,
                overwrite=overwrite,
            )
    return load_model(out)


_PUBLISHED_METRICS = ("loss", "positives_above_half")
