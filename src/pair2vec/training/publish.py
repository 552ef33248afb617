"""Publish a trained network as a model folder, and read one back as a network."""

import datetime
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from pair2vec.encoders.pair import MlpPair, MultiplyPair
from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import (
    TRAINING_FOLDER,
    PatternCount,
    SavedModel,
    checkpoint_model,
    load_model,
    remove_checkpoint_models,
    save_model,
)
from pair2vec.model.subwords import fit_subwords
from pair2vec.model.tensors import Precision
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.network import Network
from pair2vec.training.recipes import Recipe, recipe_from_json
from pair2vec.training.trainer import Trainer
from pair2vec.triples.epoch import TriplesConfig, TripleStream

_PUBLISHED_METRICS = ("loss", "positives_above_half")
_PUBLISHED_NAMES = {"pair_words": "pair.words", "context_words": "context.words"}
"""Where the folder has another name for a tensor than the network."""
_SAMPLE, _CHECKPOINT_SAMPLE = 4_000_000, 400_000
"""Triples that the patterns of an unfinished model are counted in: a second's work."""
_CONTEXT_OUTPUT = "context.value.weight"


class ModelContent(NamedTuple):
    """What a model folder is made of."""

    arrays: dict[str, NDArray[np.float32]]
    vocabulary: Vocabulary
    config: dict[str, Any]
    """But for name and metrics."""
    patterns: list[PatternCount]


ContentOf = Callable[[Trainer, int], ModelContent]
"""The content of a network as it is now; patterns are counted in so many triples."""


class NewModelContent:
    """Of a network that is trained from the beginning."""

    def __init__(self, corpus: Corpus, vectors: Path | None) -> None:
        """Of a model of `corpus`, whose words began with `vectors`, or with random ones."""
        self._corpus = corpus
        self._vectors = vectors.name if vectors else None
        self._mine_patterns = cache(partial(mine_patterns, corpus))

    def __call__(self, trainer: Trainer, sample: int) -> ModelContent:
        added = trainer.auxiliary.published(trainer.network)
        tensors = {name: t.detach().float().cpu().numpy() for name, t in added.tensors.items()}
        arrays = published_arrays(trainer.network)
        subwords = fit_subwords(self._corpus.vocabulary, arrays["pair.words"])
        return ModelContent(
            arrays | tensors | subwords.tensors(),
            self._corpus.vocabulary,
            {
                "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
                "recipe": asdict(trainer.recipe),
                "corpus": corpus_record(self._corpus),
                "vectors": self._vectors,
                "triples": trainer.triples,
                **added.facts,
                **subwords.facts(),
            },
            self._mine_patterns(trainer.recipe.triples, sample=sample),
        )


def publish(
    trainer: Trainer, content_of: ContentOf, out: Path, precision: Precision, *, overwrite: bool
) -> SavedModel:
    """Write the trained network as a model folder, with all that is known of it.

    All ranks validate; rank 0 writes.
    """
    validation = trainer.validate()
    metrics = {"validation_loss": validation} if validation is not None else {}
    facts = {"name": out.resolve().name, "metrics": metrics | _last_metrics(trainer)}
    with trainer.ranks.rank_zero_first() as is_rank_zero:
        if is_rank_zero:
            _save(content_of(trainer, _SAMPLE), out, facts, precision, overwrite=overwrite)
            remove_checkpoint_models(out / TRAINING_FOLDER)
    return load_model(out)


class CheckpointPublisher:
    """Publishes an unfinished network beside its checkpoint, to be asked as it is."""

    def __init__(self, content_of: ContentOf, out: Path, precision: Precision) -> None:
        self._content_of, self._out, self._precision = content_of, out, precision

    def __call__(self, trainer: Trainer) -> None:
        """Write the model of this step; then remove that of an earlier one."""
        folder = checkpoint_model(self._out, trainer.step)
        facts = {
            "name": f"{self._out.resolve().name}, unfinished",
            "metrics": _last_metrics(trainer),
            "checkpoint": {"step": trainer.step, "steps": trainer.total_steps},
        }
        content = self._content_of(trainer, _CHECKPOINT_SAMPLE)
        _save(content, folder, facts, self._precision, overwrite=True)
        remove_checkpoint_models(self._out / TRAINING_FOLDER, but=folder)


def _save(
    content: ModelContent,
    folder: Path,
    facts: dict[str, Any],
    precision: Precision,
    *,
    overwrite: bool,
) -> None:
    save_model(
        folder,
        content.arrays,
        content.vocabulary,
        content.config | facts,
        patterns=content.patterns,
        precision=precision,
        overwrite=overwrite,
        is_claimed=True,
    )


def _last_metrics(trainer: Trainer) -> dict[str, float]:
    last = trainer.last_metrics.items()
    return {name: value for name, value in last if name in _PUBLISHED_METRICS}


def corpus_record(corpus: Corpus) -> dict[str, Any]:
    """What a model's config says about its corpus."""
    manifest = corpus.manifest
    return {
        "fingerprint": manifest.fingerprint,
        "documents": manifest.documents,
        "sentences": manifest.sentences,
        "tokens": manifest.tokens,
        "text_tokens": manifest.text_tokens,
        "sources": [Path(source["name"]).name for source in manifest.sources],
    }


def published_arrays(network: Network) -> dict[str, NDArray[np.float32]]:
    """The network's weights by the names a model folder has them under, for words of unit norm."""
    state = network.state_dict()
    if isinstance(network.pair, MlpPair):
        state["pair.first.weight"] = network.pair.first_weight_for_unit_words()
    if isinstance(network.pair, MultiplyPair):
        # R has no weights: C takes up its scale, and R·C stays as it is.
        state[_CONTEXT_OUTPUT] = state[_CONTEXT_OUTPUT] * network.pair.length**2
    return {
        _PUBLISHED_NAMES.get(name, name): tensor.detach().float().cpu().numpy()
        for name, tensor in state.items()
    }


def model_recipe(model: SavedModel) -> Recipe:
    """The recipe that a model was trained by.

    Raises:
        InputError: its config has none.
    """
    try:
        return recipe_from_json(model.config["recipe"])
    except (AttributeError, KeyError, TypeError, UsageError) as error:
        raise InputError(
            f"{model.folder}: its config has no recipe to make a network of ({error}); save or "
            "train it again"
        ) from error


def network_from_model(model: SavedModel) -> Network:
    """The network that was published as `model`."""
    recipe = model_recipe(model)
    pair = replace(recipe.pair, length=1.0)
    network = Network(len(model.vocabulary), pair, recipe.context, torch.Generator())
    state = network.state_dict()
    for name, tensor in state.items():
        array = torch.from_numpy(model.array(_PUBLISHED_NAMES.get(name, name)).copy())
        # A small model has vectors for the first words of contexts only; the rest stay at zero.
        tensor[: len(array)] = array
    network.load_state_dict(state)
    return network


def trainable_network(
    model: SavedModel, pair_words: NDArray[np.float32], context_words: NDArray[np.float32]
) -> Network:
    """The network that was published as `model` as it was in training, with other word tables."""
    recipe = recipe_from_json(model.config["recipe"])
    network = Network(len(pair_words), recipe.pair, recipe.context, torch.Generator())
    state = network.state_dict()
    state |= {name: torch.from_numpy(model.array(name).copy()) for name in state if "." in name}
    state["pair_words"] = torch.from_numpy(pair_words)
    state["context_words"] = torch.from_numpy(context_words)
    if isinstance(network.pair, MlpPair):
        # Published, the first layer is that of words of unit norm.
        weights, length = state["pair.first.weight"].chunk(3, dim=1), recipe.pair.length
        scales = (length, length, length**2)
        state["pair.first.weight"] = torch.cat(
            [weight / scale for weight, scale in zip(weights, scales, strict=True)], dim=1
        )
    if isinstance(network.pair, MultiplyPair):
        state[_CONTEXT_OUTPUT] = state[_CONTEXT_OUTPUT] / recipe.pair.length**2
    network.load_state_dict(state)
    return network


def mine_patterns(
    corpus: Corpus, triples: TriplesConfig, most: int = 5_000, sample: int = 4_000_000
) -> list[PatternCount]:
    """The most frequent patterns between pairs, to explain a pair by."""
    contexts = frequent_contexts(TripleStream(corpus, triples), most, sample)
    return [PatternCount(context_text(c, corpus.vocabulary), count) for c, count in contexts]


class ContextCount(NamedTuple):
    """A context's ids, with X and Y at their slots, and how often the sample has it."""

    context: tuple[int, ...]
    frequency: int


def frequent_contexts(
    stream: TripleStream, most: int, sample: int = 4_000_000
) -> list[ContextCount]:
    """The `most` frequent contexts, of at least two triples, the most frequent first.

    Args:
        stream: The triples as they are trained on: subsampling has thinned out pairs of common
            words, so that what is frequent here is frequent between words that mean something.
        most: How many to return.
        sample: How many triples to look at.
    """
    counted = [
        ContextCount(tuple(context), count)
        for contexts in stream.sampled_contexts(sample)
        for context, count in zip(*_count_rows(contexts), strict=True)
        if count > 1
    ]
    # Ties are broken by the ids, so that the result is deterministic.
    return sorted(counted, key=lambda entry: (-entry.frequency, entry.context))[:most]


def _count_rows(rows: NDArray[np.int64]) -> tuple[list[list[int]], list[int]]:
    """The distinct rows, and how often each occurs."""
    # Column by column: the ids of the distinct prefixes so far stay small.
    prefix_ids = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = prefix_ids * (column.max(initial=0) + 1) + column
        _, first, prefix_ids, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
    return rows[first].tolist(), counts.tolist()
