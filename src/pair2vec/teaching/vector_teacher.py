"""Networks on given vectors: the quick teachers of relations.

One sees what a language model does not: pair vectors of a model of text alone, and word vectors.
Another sees the fine-tuned language model's states of each word by itself: they tell most of what
it would say of a pair, at the price of reading every word once instead of every pair. The teachers
err on different pairs, and their log-probabilities are combined.

Shapes: B pairs, F features, K relations, N pairs of a list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.query.space import PairSpace
from pair2vec.ranges import Count, PartialShare, Seed, Size, check_ranges
from pair2vec.relations.head import HeadScorer, RelationHead
from pair2vec.runtime.devices import autocast_bfloat16
from pair2vec.teaching.labels import LabelledPairs
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.publish import network_from_model
from pair2vec.word_vectors.formats import WordVectors

_MOST_WEIGHT = 4.0
"""Of a rare class in the loss."""
_VECTOR_BATCH = 16_384
_LEAST = 1e-6
"""Of a probability that is multiplied with others."""

Features = Callable[[Tensor, Tensor], Tensor]
"""Of pairs of ids, (B, F), on the device."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorTeacherConfig:
    """Of a network on vectors."""

    epochs: Count = 20
    hidden: Size = 512
    dropout: PartialShare = 0.3
    """Of the hidden units."""
    input_dropout: PartialShare = 0.0
    bfloat16: bool = True
    """Where the device multiplies in it natively."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)


def class_weights(labels: Tensor, classes: int) -> Tensor:
    """Weights of the loss by the root of the classes' frequencies: antonyms are rare, (K,).

    Calibration on held-out words puts the priors right again.
    """
    counts = torch.bincount(labels, minlength=classes).clamp(min=1).float()
    weights = (counts.mean() / counts).sqrt()
    return weights.clamp(max=_MOST_WEIGHT)


class VectorTeacher(nn.Module):
    """Two layers on features of a pair, both ways."""

    def __init__(
        self, features: Features, width: int, relations: int, config: VectorTeacherConfig
    ) -> None:
        super().__init__()
        self._features, self._relations, self._config = features, relations, config
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.layers = nn.Sequential(
                nn.BatchNorm1d(width, affine=False),
                nn.Dropout(config.input_dropout),
                nn.Linear(width, config.hidden),
                nn.ReLU(),
                nn.Dropout(config.dropout),
                nn.Linear(config.hidden, relations),
            )

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Scores of the relations of pairs of ids: (B, K)."""
        scores: Tensor = self.layers(self._features(x, y))
        return scores

    def fit(self, pairs: LabelledPairs, device: torch.device) -> None:
        """Train on labelled pairs."""
        config = self._config
        self.to(device).train()
        x, y, labels = (torch.from_numpy(column).to(device) for column in pairs)
        weights = class_weights(labels, self._relations)
        generator = torch.Generator().manual_seed(config.seed)
        optimiser = torch.optim.AdamW(self.parameters(), lr=1e-3, weight_decay=0.01)
        batch = 1024
        steps = config.epochs * -(-len(x) // batch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-3, total_steps=steps)
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(config.seed)
            for _ in range(config.epochs):
                for rows in torch.randperm(len(x), generator=generator).split(batch):  # type: ignore[no-untyped-call]
                    own = rows.to(device)
                    with autocast_bfloat16(device, enabled=config.bfloat16):
                        scores = self(x[own], y[own])
                    loss = functional.cross_entropy(scores.float(), labels[own], weights)
                    optimiser.zero_grad(set_to_none=True)
                    loss.backward()  # type: ignore[no-untyped-call]
                    optimiser.step()
                    schedule.step()
        self.eval()

    @torch.no_grad()
    def log_probabilities(
        self, x: NDArray[np.int64], y: NDArray[np.int64], device: torch.device
    ) -> NDArray[np.float32]:
        """(N, K)."""
        self.eval()
        first, second = (torch.from_numpy(ids).to(device) for ids in (x, y))
        result = np.empty((len(x), self._relations), np.float32)
        for start in range(0, len(x), _VECTOR_BATCH):
            rows = slice(start, start + _VECTOR_BATCH)
            with autocast_bfloat16(device, enabled=self._config.bfloat16):
                scores = self(first[rows], second[rows])
            result[rows] = scores.float().log_softmax(dim=1).cpu().numpy()
        return result


class TaughtModelTeacher:
    """The relation head of a model that was taught before: what a student has understood.

    It has seen more text and more labels than the other quick teachers, and agrees with itself.
    """

    def __init__(self, model: SavedModel, vocabulary: Vocabulary, names: Sequence[str]) -> None:
        """Open the head of a model.

        Args:
            model: With a head.
            vocabulary: Of the pairs to label.
            names: Of the relations to predict.

        Raises:
            UsageError: the head predicts other ones.
        """
        head = RelationHead(model)
        if head.config.names != tuple(names):
            raise UsageError(
                f"{model.folder}: was taught the relations {', '.join(head.config.names)}; "
                "name a model of text alone, or one taught the same relations"
            )
        self._scorer = HeadScorer(head, PairSpace(model))
        self._ids = np.array([model.vocabulary.ids.get(word, 0) for word in vocabulary.words])
        self._count = len(names)

    def __call__(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float32]:
        """Log-probabilities (N, K); all alike for a word that the model lacks."""
        first, second = self._ids[x], self._ids[y]
        known = (first > 0) & (second > 0)
        found = np.full((len(x), self._count), -np.log(self._count), np.float32)
        found[known] = np.log(self._scorer(first[known], second[known]).clip(min=_LEAST))
        return found


def pair_features(
    tables: Sequence[WordVectors],
    model: SavedModel | None,
    vocabulary: Vocabulary,
    device: torch.device,
) -> Features:
    """Of a pair: the two word vectors of each table, and R both ways of a model of text alone.

    A word that a table or the model lacks has zeros there.
    """
    of_words = table_features([torch.from_numpy(t.vectors).to(device) for t in tables])
    pair_vectors = _pair_vectors(model, vocabulary, device) if model else None

    def features(x: Tensor, y: Tensor) -> Tensor:
        parts = [of_words(x, y)]
        if pair_vectors is not None:
            parts += [pair_vectors(x, y), pair_vectors(y, x)]
        return torch.cat(parts, dim=1)

    return features


def joined(parts: Sequence[Features]) -> Features:
    """All features of a pair."""
    return lambda x, y: torch.cat([part(x, y) for part in parts], dim=1)


def table_features(tables: Sequence[Tensor]) -> Features:
    """Of a pair: the two word vectors of each table, and their product, all of length 1."""
    unit = [torch.nn.functional.normalize(table, dim=1) for table in tables]

    def features(x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([part for t in unit for part in (t[x], t[y], t[x] * t[y])], dim=1)

    return features


def standardised(table: Tensor) -> Tensor:
    """Each column with mean 0 and variance 1: a few of a language model's are far larger."""
    return (table - table.mean(dim=0)) / table.std(dim=0).clamp(min=1e-5)


def _pair_vectors(
    model: SavedModel, vocabulary: Vocabulary, device: torch.device
) -> Callable[[Tensor, Tensor], Tensor]:
    network = network_from_model(model).to(device)
    own = torch.tensor([model.vocabulary.ids.get(w, 0) for w in vocabulary.words], device=device)

    @torch.no_grad()
    def vectors(x: Tensor, y: Tensor) -> Tensor:
        first, second = own[x], own[y]
        rows, indices = torch.unique(torch.stack([first, second]), return_inverse=True)
        parts = network.pair.word_parts(network.pair_words[rows])
        pairs = torch.nn.functional.normalize(network.pair.compose(parts, *indices), dim=1)
        known = (first > 0) & (second > 0)
        return pairs * known[:, None]

    return vectors
