"""The alpha sweep by torch, for a GPU: all words of a batch in few large steps.

Shapes: N candidates, K questions, A values of α, D dimension.
"""

import torch
from torch import Tensor

from pair2vec.arrays import IntArray
from pair2vec.experiments.evaluation.alpha_sweep import (
    AnalogyBatch,
    CandidateScores,
    best_by_alpha,
    possible_winners,
)
from pair2vec.experiments.evaluation.analogy_sets import AnswerVocabulary
from pair2vec.model.folder import SavedModel
from pair2vec.query.pair_encoder import Direction, Role, make_pair_network, roles
from pair2vec.query.space import whitening_layer
from pair2vec.training.publish import network_from_model


class TorchAlphaSweep:
    """By the network itself: (K, N) cosines of every candidate as y."""

    def __init__(
        self,
        saved: SavedModel,
        candidates: AnswerVocabulary,
        direction: Direction,
        whitening: float,
        device: torch.device,
    ) -> None:
        self._roles = roles(direction)
        network = network_from_model(saved)
        self._encoder = network.pair.to(device)
        self._vectors = torch.from_numpy(candidates.vectors).to(device)
        layer = whitening_layer(make_pair_network(saved), whitening)
        self._whitening = None if layer is None else [torch.from_numpy(p).to(device) for p in layer]
        with torch.no_grad():
            words = network.pair_words[torch.from_numpy(candidates.ids)]
            self._parts = self._encoder.word_parts(words.to(device))

    @torch.no_grad()
    def __call__(self, batch: AnalogyBatch) -> IntArray:
        return best_words_torch(self.pair_cosines(batch), self.offset_cosines(batch), batch)

    @torch.no_grad()
    def pair_cosines(self, batch: AnalogyBatch) -> Tensor:
        """cos(r_ab, r_xy)."""
        # Each direction has unit norm: the cosine of the concatenation is the mean of theirs.
        cosines = [
            self._unit_pairs(batch.a, batch.b, role)
            @ self._unit_pairs(batch.x, slice(None), role).T
            for role in self._roles
        ]
        return torch.stack(cosines).mean(dim=0)

    @torch.no_grad()
    def offset_cosines(self, batch: AnalogyBatch) -> Tensor:
        """cos(b − a + x, y), that is 3CosAdd."""
        words = self._vectors
        targets = words[batch.b] - words[batch.a] + words[batch.x]
        return _normalise(targets) @ words.T

    def _unit_pairs(self, first: int | IntArray, second: IntArray | slice, role: Role) -> Tensor:
        """Whitened R of pairs of candidates, unit norm: (…, D). `role` is that of the first."""
        x, y = (first, second) if role == "x" else (second, first)
        as_x, as_y = self._parts
        # The row of a single word is broadcast to those of the others.
        pairs = self._encoder(tuple(p[x] for p in as_x), tuple(p[y] for p in as_y))
        if self._whitening is not None:
            weight, bias = self._whitening
            pairs = pairs @ weight + bias
        return _normalise(pairs)


def best_words_torch(pair: Tensor, offset: Tensor, batch: AnalogyBatch) -> IntArray:
    """From both cosines of every candidate, (K, N), the best for each α: (K, A)."""
    rows = torch.arange(len(pair), device=pair.device)
    kept = torch.where(possible_winners(pair, offset, batch, rows))
    # Few candidates are left: copying them to the CPU is quick.
    scores = (*kept, pair[kept], offset[kept])
    return best_by_alpha(CandidateScores(*(part.cpu().numpy() for part in scores)), len(pair))


def _normalise(vectors: Tensor) -> Tensor:
    return torch.nn.functional.normalize(vectors, dim=-1, eps=1e-8)
