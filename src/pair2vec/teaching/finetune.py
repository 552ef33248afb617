"""Teach a published model: fine-tune it on labelled pairs, without the objective on text.

For machines on which the objective J_3NS takes too long. R, its word table and the relation head
learn the relation loss; C stays as it is; and an anchor keeps what R has learnt from text.

Shapes: B pairs, N distinct words, P patterns, D dimension.
"""

import copy
import datetime
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.model.config import CONFIG_FILE
from pair2vec.model.folder import (
    TRAINING_FOLDER,
    SavedModel,
    check_free,
    load_model,
    save_model,
)
from pair2vec.model.subwords import fit_subwords
from pair2vec.model.tensors import Precision
from pair2vec.query.context_encoder import PatternEncoder
from pair2vec.ranges import Count, Factor, PartialShare, Range, check_ranges
from pair2vec.runtime.jobs import JobFolder, empty_folder
from pair2vec.teaching.relation_task import PairAnchor, RelationTask
from pair2vec.text.corpus import Corpus
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.checkpoint import Checkpoint, last_checkpoint, write_checkpoint
from pair2vec.training.continuation import network_of_words, word_table
from pair2vec.training.network import Network
from pair2vec.training.optim import Linear
from pair2vec.training.publish import corpus_record, published_arrays
from pair2vec.training.train import Interrupted
from pair2vec.word_vectors.formats import WordVectors

SAMPLED = 4
"""The anchor is computed for one of so many pairs of a batch."""

ORIGIN_KEY = "finetuned"
"""Of the model's config: which model it was made from, and how."""
_KEPT = ("recipe", "triples", "licence", "notes")
"""What the config repeats of that model's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FinetuneConfig:
    """How a published model is fine-tuned."""

    steps: Count = 3_000
    warmup: PartialShare = 0.03
    """The share of the steps in which the rate rises; after it, it falls to zero."""
    anchor: Annotated[float, Range(least=0, most=1_000_000)] = 10.0
    """The weight of the anchor: what R pays for a mean square change as large as R itself."""
    free: Factor = 0.1
    """The share of the anchor that holds all directions alike, those that no context uses too."""
    checkpoint_steps: Count = 200

    def __post_init__(self) -> None:
        check_ranges(self)


class ContextAnchor(PairAnchor):
    """The change of R since the start, in the metric of contexts.

    A triple's score is R·C(c), so a change Δ of R changes it by Δ·C(c), and its square, on average,
    by ΔᵀMΔ, with M the second moment of C(c) over contexts: what patterns say of a pair is kept,
    and directions that they do not use are free to hold relations.
    """

    def __init__(
        self, network: Network, contexts: Tensor, counts: Tensor, config: FinetuneConfig
    ) -> None:
        """Keep the network as it is now.

        Args:
            network: Whose R is anchored.
            contexts: C of frequent patterns, (P, D).
            counts: Of each pattern, (P,).
            config: The weights.
        """
        self._pair = copy.deepcopy(network.pair).requires_grad_(False)
        self._words = network.pair_words.clone()
        self._weight = config.anchor
        shares = (counts / counts.sum())[:, None]
        moment = contexts.T.double() @ (shares * contexts).double()
        moment *= len(moment) / moment.trace()
        moment = (1 - config.free) * moment + config.free * torch.eye(len(moment)).to(moment)
        self._factor = torch.linalg.cholesky(moment).float()

    def loss(self, rows: Tensor, indices: Tensor, forward: Tensor, backward: Tensor) -> Tensor:
        # The first pairs of a batch are drawn at random: a sample says as much in less time.
        first, second = indices[:, : -(-indices.shape[1] // SAMPLED)]
        with torch.no_grad():
            words, places = torch.unique(torch.stack([first, second]), return_inverse=True)
            parts = self._pair.word_parts(self._words[rows[words]])
            before = torch.cat(
                [
                    self._pair.compose(parts, places[0], places[1]),
                    self._pair.compose(parts, places[1], places[0]),
                ]
            ).float()
            size = (before @ self._factor).square().sum(dim=1).mean()
        change = torch.cat([forward[: len(first)], backward[: len(first)]]).float() - before
        loss: Tensor = self._weight * (change @ self._factor).square().sum(dim=1).mean() / size
        return loss


def network_for(
    model: SavedModel, vocabulary: Vocabulary, more: WordVectors | None
) -> tuple[Network, int]:
    """The network of a model with the words of another vocabulary, and how many C knows."""
    pair_words = word_table(model, "pair.words", vocabulary, *([more] if more else []))
    in_contexts = model.vocabulary.words[: len(model.rows("context.words"))]
    last = max(vocabulary.ids.get(word, 0) for word in in_contexts)
    return network_of_words(model, pair_words), last + 1


def finetune(  # noqa: PLR0913 - the options of a command, side by side
    model: SavedModel,
    corpus: Corpus,
    out: Path,
    config: FinetuneConfig,
    make_task: Callable[[Network, PairAnchor], RelationTask],
    identity: dict[str, Any],
    *,
    more: WordVectors | None = None,
    device: torch.device,
    precision: Precision = "float32",
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[str, int, int], None] = lambda *_: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SavedModel:
    """Fine-tune a published model, or continue to, and publish the result.

    Args:
        model: To start from.
        corpus: With the vocabulary of the new model.
        out: The model folder; checkpoints are kept in its folder ``training``.
        config: Steps and anchor.
        make_task: The relation task on the network, with the anchor.
        identity: What the task depends on.
        more: Vectors of the vocabulary, for words that the model lacks.
        device: Of the network.
        precision: Of the new model.
        resume: Continue from the last checkpoint.
        overwrite: Replace a model, or a job that was begun.
        report: Called with the progress.
        should_stop: Called after each step; True ends with a checkpoint.
    """
    state = out / TRAINING_FOLDER
    job = JobFolder(
        out=out,
        state=state,
        complete=out / CONFIG_FILE,
        product="a model",
        identity={
            "finetune": asdict(config),
            "corpus": corpus.manifest.fingerprint,
            "model": model.fingerprint,
            **identity,
        },
        clear=lambda: empty_folder(state),
    )
    network, context_words = network_for(model, corpus.vocabulary, more)
    network.to(device)
    check_free(out)
    with job.claim(resume=resume, overwrite=overwrite):
        anchor = _anchor(model, network, config)
        task = make_task(network, anchor)
        step = _restore(last_checkpoint(state), network, task)
        schedule = Linear(1.0, warmup_steps=config.warmup * config.steps, total_steps=config.steps)
        while step < config.steps:
            # Without steps of the objective between them, it is always the relations' turn: step 0.
            task.train_step(network, 0, schedule.rate(step))
            step += 1
            report("steps", step, config.steps)
            stopped = should_stop()
            if stopped or step % config.checkpoint_steps == 0 or step == config.steps:
                tensors = {f"network.{name}": t for name, t in network.state_dict().items()}
                tensors |= {f"task.{name}": tensor for name, tensor in task.state().items()}
                write_checkpoint(state, Checkpoint(step, tensors, {}))
            if stopped and step < config.steps:
                raise Interrupted
        published = task.published(network)
        arrays = published_arrays(network)
        arrays["context.words"] = arrays["context.words"][:context_words]
        arrays |= {name: t.detach().float().cpu().numpy() for name, t in published.tensors.items()}
        subwords = fit_subwords(corpus.vocabulary, arrays["pair.words"])
        kept = {name: fact for name, fact in model.config.items() if name in _KEPT}
        save_model(
            out,
            arrays | subwords.tensors(),
            corpus.vocabulary,
            {
                "name": out.resolve().name,
                "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
                **kept,
                "corpus": corpus_record(corpus),
                ORIGIN_KEY: {
                    "model": model.config.get("name"),
                    "fingerprint": model.fingerprint,
                    **asdict(config),
                },
                **published.facts,
                **subwords.facts(),
            },
            patterns=model.patterns(),
            precision=precision,
            overwrite=overwrite or resume,
            is_claimed=True,
        )
    return load_model(out)


def _anchor(model: SavedModel, network: Network, config: FinetuneConfig) -> PairAnchor:
    """In the metric of the model's own patterns; none where its weight is 0."""
    patterns, device = model.patterns(), network.pair_words.device
    if not config.anchor:
        return PairAnchor()
    if not patterns:
        raise UsageError(
            f"{model.folder}: has no patterns to anchor R to; "
            "--set finetune.anchor=0 leaves it free"
        )
    contexts = PatternEncoder(model)([entry.pattern for entry in patterns])
    counts = torch.tensor([float(count) for _, count in patterns], device=device)
    return ContextAnchor(network, torch.from_numpy(contexts).to(device), counts, config)


def _restore(checkpoint: Checkpoint | None, network: Network, task: RelationTask) -> int:
    """Continue from a checkpoint, if there is one: its step."""
    if checkpoint is None:
        return 0
    parts: dict[str, dict[str, Tensor]] = {"network": {}, "task": {}}
    for name, tensor in checkpoint.tensors.items():
        part, _, rest = name.partition(".")
        parts[part][rest] = tensor
    network.load_state_dict(parts["network"])
    task.restore(parts["task"])
    return checkpoint.step
