"""The relation loss that R, its word table and the relation head learn beside the objective J_3NS.

Every few steps of the objective, a batch of labelled pairs trains R and the head by the
cross-entropy with the teachers' probabilities. It has an Adam of its own: the two losses have
gradients of different size, and moments of one would scale the steps of the other.

Shapes: B pairs, D dimension, H hidden units, K relations, N labelled pairs.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.arrays import FloatArray
from pair2vec.ranges import (
    BatchSize,
    Count,
    GradientNorm,
    LearningRate,
    PartialShare,
    Seed,
    Share,
    Size,
    check_ranges,
)
from pair2vec.relations.head import CONFIG_KEY, negated_forms
from pair2vec.relations.scores import RelationScores, relation_scores
from pair2vec.runtime.devices import autocast_bfloat16
from pair2vec.teaching.calibration import Calibration, calibrate, naming_thresholds, prior_shift
from pair2vec.teaching.labels import LabelledPairs, RelationNames
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.training.network import Network
from pair2vec.training.optim import Adam, StepRate
from pair2vec.training.steps import clip
from pair2vec.training.trainer import PublishedPart

TEACHING_KEY = "teaching"
"""Of the model's config: by whom, on what and how it was taught."""

_MOST_OFTEN = 10.0
"""How many times as often as one of no relation a pair of the rarest relation is drawn."""

_SHARES, _NEARLY = (0.0, 0.25, 0.5, 0.75, 1.0), 0.5
"""Of the shift by which relations are as frequent as in WordNet, the smallest of these shares is
taken whose macro-F1 on held-out words is at most this far below the best: people ask about
opposites more often than WordNet has them."""
_FREQUENT_WORDS = 20_000
_RANDOM_PAIRS = 100_000
"""Of words up to this rank, for the thresholds from which on relations are named."""

_NETWORK_STATE, _OPTIMISER_STATE = "head.", "optimiser."


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationTaskConfig:
    """How relations are learnt beside the objective."""

    every: Count = 1
    """Steps of the objective between two steps of the relation loss."""
    batch: BatchSize = 16_384
    gold_share: PartialShare = 0.1
    """Of a batch, the share of pairs with WordNet's label instead of a teacher's."""
    random_share: PartialShare = 0.3
    """The share of pairs of words drawn anew at random, which are taken for unrelated: among a
    vocabulary's pairs, those that any teacher was asked about are few and near."""
    rare: Share = 0.5
    """Pairs are drawn by their relation's share of all pairs to the power of minus this: 0 draws
    all alike, 1 each relation as often as any other. Calibration puts the priors right again."""
    rate: LearningRate = 1e-3
    """At its peak; it follows the schedule of the objective."""
    hidden: Size = 384
    """Units of the head."""
    clip: GradientNorm = 1.0
    bfloat16: bool = False
    """On a CPU that multiplies in bfloat16 natively, too; a GPU always does."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)


class TaughtPairs(NamedTuple):
    """Pairs with the teachers' probabilities of their relations."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    probabilities: NDArray[np.float16]
    """(N, K)"""


class TaskData(NamedTuple):
    """What a relation task learns from."""

    relations: RelationNames
    taught: TaughtPairs
    gold: LabelledPairs
    """Pairs with labels of WordNet."""
    held_out: LabelledPairs
    """The same of words that are in none of those, to calibrate the head on."""
    mixed: LabelledPairs
    """The same of one such word and one to learn from, to learn how frequent relations are."""
    facts: dict[str, Any]
    """What the model's config says about the teachers."""


class TorchRelationHead(nn.Module):
    """As `relations.head.RelationHead`, in torch."""

    def __init__(self, dimension: int, hidden: int, relations: RelationNames, seed: int) -> None:
        super().__init__()
        count = len(relations.names)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.hidden = nn.Linear(2 * dimension, hidden)
            self.output = nn.Linear(hidden, count)
        self.similarity = nn.Parameter(torch.zeros(count))
        self.negation = nn.Parameter(torch.zeros(count))
        self.register_buffer("_inverse", torch.tensor(relations.inverse), persistent=False)

    _inverse: Tensor

    def forward(self, forward: Tensor, backward: Tensor, features: Tensor) -> Tensor:
        """Scores (B, K) from R(x, y) and R(y, x), (B, D), and features of the words, (B, 2)."""
        scale = forward.shape[1] ** 0.5
        x, y = (functional.normalize(pairs.float(), dim=1) * scale for pairs in (forward, backward))
        first = torch.relu(self.hidden(torch.cat([x, y], dim=1)))
        second = torch.relu(self.hidden(torch.cat([y, x], dim=1)))
        weight = self.output.weight
        scores = functional.linear(first, weight) + functional.linear(second, weight[self._inverse])
        bias = (self.output.bias + self.output.bias[self._inverse]) / 2
        of_words = torch.stack([self.similarity, self.negation])
        return scores + bias + features @ ((of_words + of_words[:, self._inverse]) / 2)


def word_features(vectors: Tensor, indices: Tensor, negated: Tensor) -> Tensor:
    """What the head is told of the words of pairs (2, B) of rows of `vectors`: (B, 2)."""
    unit = functional.normalize(vectors, dim=1)
    cosines = (unit[indices[0]] * unit[indices[1]]).sum(dim=1)
    return torch.stack([cosines, negated], dim=1)


class PairAnchor:
    """What R pays for leaving the place where it started: nothing, beside the objective."""

    def loss(self, rows: Tensor, indices: Tensor, forward: Tensor, backward: Tensor) -> Tensor:
        """The loss of a batch, ().

        Args:
            rows: The distinct words, (N,).
            indices: The rows of x and y, (2, B).
            forward: R(x, y), (B, D).
            backward: R(y, x), (B, D).
        """
        del rows, indices, backward
        return forward.new_zeros(())


class RelationTask:
    """Trains R and the head on labelled pairs."""

    def __init__(
        self,
        config: RelationTaskConfig,
        vocabulary: Vocabulary,
        data: TaskData,
        dimension: int,
        device: torch.device,
        anchor: PairAnchor | None = None,
    ) -> None:
        """Set up the head and its data on the device.

        Args:
            config: Of the task.
            vocabulary: Of the model.
            data: Relations and labelled pairs.
            dimension: Of R.
            device: Of the network.
            anchor: Where the objective is not trained beside it; none by default.
        """
        self._config, self._data = config, data
        self._anchor = anchor or PairAnchor()
        self._relations = relations = data.relations
        self.head = TorchRelationHead(dimension, config.hidden, relations, config.seed).to(device)
        self._optimiser = Adam()
        self._generator = torch.Generator(device).manual_seed(config.seed + 1)
        self._taught = _LabelledTensors.on_device(data.taught, vocabulary, device)
        self._thresholds = draw_thresholds(self._taught.targets, config.rare)
        self._words = word_thresholds(vocabulary).to(device)
        hard = np.eye(len(relations.names), dtype=np.float16)
        self._gold, *held_out = (
            _LabelledTensors.on_device(
                TaughtPairs(pairs.x, pairs.y, hard[pairs.label]), vocabulary, device
            )
            for pairs in (data.gold, data.held_out, data.mixed)
        )
        self._held_out, self._mixed = held_out

    def train_step(self, network: Network, step: int, rate: float) -> None:
        """Train on a batch of labelled pairs, if it is their turn."""
        if step % self._config.every:
            return
        x, y, negated, targets = self._draw()
        rows, indices = torch.unique(torch.stack([x, y]), return_inverse=True)
        vectors = network.pair_words[rows].requires_grad_()
        with self._autocast(vectors.device):
            forward, backward = self._pairs(network, vectors, indices)
            scores = self.head(forward, backward, word_features(vectors, indices, negated))
        # Both with soft and with hard labels the cross-entropy; their entropy is constant.
        loss = -(targets * scores.float().log_softmax(dim=1)).sum(dim=1).mean()
        loss = loss + self._anchor.loss(rows, indices, forward, backward)
        weights = {f"pair.{name}": weight for name, weight in network.pair.named_parameters()}
        weights |= {f"head.{name}": weight for name, weight in self.head.named_parameters()}
        gradients = list(torch.autograd.grad(loss, [*weights.values(), vectors]))
        clip(gradients, self._config.clip)
        self._optimiser.steps += 1
        at = StepRate(rate * self._config.rate, self._optimiser.steps)
        for (name, weight), gradient in zip(weights.items(), gradients[:-1], strict=True):
            self._optimiser.update(name, weight.data, gradient, at)
        self._optimiser.update("pair_words", network.pair_words, gradients[-1], at, rows)

    def _autocast(self, device: torch.device) -> AbstractContextManager[object]:
        return autocast_bfloat16(device, enabled=device.type == "cuda" or self._config.bfloat16)

    def _pairs(self, network: Network, vectors: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
        """R(x, y) and R(y, x) of pairs (2, B) of rows of word vectors, (B, D)."""
        parts = network.pair.word_parts(vectors)
        return (
            network.pair.compose(parts, indices[0], indices[1]),
            network.pair.compose(parts, indices[1], indices[0]),
        )

    def _draw(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """x, y, whether one negates the other, and probabilities, of a batch."""
        config, device = self._config, self._thresholds.device
        gold = round(config.gold_share * config.batch) if len(self._gold.x) else 0
        random = min(round(config.random_share * config.batch), config.batch - gold)
        size = max(1, len(self._gold.x))
        parts = [
            self._taught.rows(self._sample(self._thresholds, config.batch - gold - random)),
            self._gold.rows(torch.randint(size, (gold,), generator=self._generator, device=device)),
            self._unrelated(random),
        ]
        x, y, negated, targets = (torch.cat(column) for column in zip(*parts, strict=True))
        return x, y, negated.float(), targets.float()

    def _unrelated(self, count: int) -> tuple[Tensor, ...]:
        """Pairs of random words, as of no relation."""
        x, y = self._sample(self._words, 2 * count).reshape(2, count)
        targets = self._taught.targets.new_zeros(count, self._taught.targets.shape[1])
        targets[:, -1] = 1
        return x, y, torch.zeros_like(x, dtype=torch.bool), targets

    def _sample(self, thresholds: Tensor, count: int) -> Tensor:
        drawn = torch.rand(
            count, generator=self._generator, device=thresholds.device, dtype=torch.float64
        )
        return torch.searchsorted(thresholds, drawn)

    def state(self) -> dict[str, Tensor]:
        """Weights, optimiser and generator."""
        state = {f"{_NETWORK_STATE}{name}": t for name, t in self.head.state_dict().items()}
        state |= {f"{_OPTIMISER_STATE}{name}": t for name, t in self._optimiser.state.items()}
        state["steps"] = torch.tensor(self._optimiser.steps)
        state["generator"] = self._generator.get_state()
        return state

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from a checkpoint."""
        device = self.head.negation.device

        def group(prefix: str) -> dict[str, Tensor]:
            return {
                name.removeprefix(prefix): tensor.to(device)
                for name, tensor in state.items()
                if name.startswith(prefix)
            }

        self.head.load_state_dict(group(_NETWORK_STATE))
        self._optimiser.state = group(_OPTIMISER_STATE)
        self._optimiser.steps = int(state["steps"])
        self._generator.set_state(state["generator"])

    @torch.no_grad()
    def published(self, network: Network) -> PublishedPart:
        """The tensors of the head by the names a model folder has them under, and its config."""
        tensors = {f"relation.{name}": tensor for name, tensor in self.head.state_dict().items()}
        names, inverse = self._relations
        logits, mixed = (
            self._logits(network, pairs.x, pairs.y, pairs.negated)
            for pairs in (self._held_out, self._mixed)
        )
        label = self._data.held_out.label
        labels = np.concatenate([label, self._data.mixed.label])
        shift = prior_shift(np.concatenate([logits, mixed]), labels, inverse)
        found = {share: self._calibrated(logits + np.float32(share) * shift) for share in _SHARES}
        least = max(scores.macro_f1 for _, scores in found.values()) - _NEARLY
        share = next(share for share, (_, scores) in found.items() if scores.macro_f1 >= least)
        calibration, scores = found[share]
        own_shift = np.float32(share) * shift
        tensors["relation.output.bias"] = self.head.output.bias + torch.from_numpy(own_shift).to(
            self.head.output.bias
        )
        x, y = self._random_frequent_pairs(len(network.pair_words)).to(self._held_out.x.device)
        random = self._logits(network, x, y, torch.zeros_like(x)) + own_shift
        facts = {
            "names": list(names),
            "inverse": list(inverse),
            "scale": float(calibration.weights[0, 0]),
            "none": calibration.none,
            "unrelated": float(np.mean(label == len(names) - 1)),
            "thresholds": naming_thresholds(calibration.probabilities(random), inverse).tolist(),
            "prior_shift": share,
            "dev": scores._asdict(),
        }
        return PublishedPart(tensors, {CONFIG_KEY: facts, TEACHING_KEY: self._data.facts})

    def _calibrated(self, logits: FloatArray) -> tuple[Calibration, RelationScores]:
        """The calibration of scores of the held-out pairs, and how good they are by it."""
        label = self._data.held_out.label
        calibration = calibrate([logits], label)
        return calibration, relation_scores(
            calibration.probabilities(logits), label, *self._relations
        )

    def _random_frequent_pairs(self, size: int) -> Tensor:
        """Pairs of frequent words of a vocabulary, (2, B)."""
        first, last = len(SPECIAL_TOKENS), min(size, _FREQUENT_WORDS)
        generator = torch.Generator().manual_seed(self._config.seed)
        drawn = torch.randint(first, last, (2, _RANDOM_PAIRS), generator=generator)
        return drawn[:, drawn[0] != drawn[1]]

    def _logits(self, network: Network, x: Tensor, y: Tensor, negated: Tensor) -> FloatArray:
        """The scores of pairs (B,), in float32: (B, K)."""
        rows, indices = torch.unique(torch.stack([x, y]), return_inverse=True)
        vectors = network.pair_words[rows]
        features = word_features(vectors, indices, negated.float())
        scores = self.head(*self._pairs(network, vectors, indices), features)
        logits: FloatArray = scores.float().cpu().numpy()
        return logits


class _LabelledTensors(NamedTuple):
    x: Tensor
    y: Tensor
    negated: Tensor
    targets: Tensor

    @classmethod
    def on_device(
        cls, pairs: TaughtPairs, vocabulary: Vocabulary, device: torch.device
    ) -> "_LabelledTensors":
        negated = negated_forms(pairs.x, pairs.y, vocabulary.words).astype(np.bool_)
        columns = (pairs.x, pairs.y, negated, pairs.probabilities)
        return cls(*(torch.from_numpy(column).to(device) for column in columns))

    def rows(self, rows: Tensor) -> tuple[Tensor, ...]:
        """Some of the pairs."""
        return tuple(column[rows] for column in self)


def word_thresholds(vocabulary: Vocabulary) -> Tensor:
    """As `draw_thresholds`, of words: half by the root of their frequency, half alike, (V,)."""
    special = len(SPECIAL_TOKENS)
    roots = np.sqrt(vocabulary.counts.astype(np.float64))
    alike = np.ones(len(vocabulary))
    roots[:special] = alike[:special] = 0
    totals = np.cumsum(roots / max(roots.sum(), 1.0) + alike / alike.sum())
    return torch.from_numpy(np.append(totals[:-1] / totals[-1], 1.0))


def draw_thresholds(targets: Tensor, rare: float) -> Tensor:
    """Where a number between 0 and 1 falls says which pair is drawn: (N,), rising to 1.

    A pair's weight is the mean, by its probabilities, of its relations' shares to the power of
    −`rare`, each at most `_MOST_OFTEN` times that of no relation.
    """
    shares = targets.mean(dim=0, dtype=torch.float64).clamp(min=1e-9)
    weights = (shares[-1] / shares) ** rare
    weights = weights.clamp(max=_MOST_OFTEN)
    totals = (targets.float() @ weights.float()).double().cumsum(dim=0)
    # The last is 1 but for rounding: no number may fall beyond it.
    return torch.cat([totals[:-1] / totals[-1], totals.new_ones(1)])
