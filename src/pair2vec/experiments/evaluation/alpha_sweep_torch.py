"""The contest with torch, for a GPU: all words of a batch in few large steps.

Shapes: N candidates, K questions, D dimension.
"""

import torch
from torch import Tensor

from pair2vec.arrays import IntArray
from pair2vec.experiments.evaluation.alpha_sweep import (
    AnalogyBatch,
    CandidateScores,
    possible_winners,
    rule_out,
    winners,
)
from pair2vec.experiments.evaluation.analogy_sets import AnswerVocabulary
from pair2vec.model.folder import SavedModel
from pair2vec.query.analogies import Direction, roles
from pair2vec.query.pair_encoder import Role, make_pair_vectors
from pair2vec.query.whitening import whitening_layer
from pair2vec.training.publish import network_of


class TorchAlphaSweep:
    """All words against each other by the network itself."""

    def __init__(
        self,
        saved: SavedModel,
        candidates: AnswerVocabulary,
        direction: Direction,
        whitening: float,
        device: torch.device,
    ) -> None:
        self._roles = roles(direction)
        network = network_of(saved)
        self._encoder = network.pair.to(device)
        self._vectors = torch.from_numpy(candidates.vectors).to(device)
        layer = whitening_layer(make_pair_vectors(saved), whitening)
        self._change = None if layer is None else [torch.from_numpy(p).to(device) for p in layer]
        with torch.no_grad():
            words = network.pair_words[torch.from_numpy(candidates.ids)]
            self._parts = self._encoder.word_parts(words.to(device))

    @torch.no_grad()
    def __call__(self, batch: AnalogyBatch) -> IntArray:
        """The place of the best word for each question and α: (K, A)."""
        return best_words_torch(self.pair_cosines(batch), self.offset_cosines(batch), batch)

    @torch.no_grad()
    def pair_cosines(self, batch: AnalogyBatch) -> Tensor:
        """cos(r_ab, r_xy) of every word as y: (K, N)."""
        # Both halves of a vector have length one: the cosine of the whole is the mean of theirs.
        cosines = [
            self._pairs(batch.a, batch.b, role) @ self._pairs(batch.x, slice(None), role).T
            for role in self._roles
        ]
        return torch.stack(cosines).mean(dim=0)

    @torch.no_grad()
    def offset_cosines(self, batch: AnalogyBatch) -> Tensor:
        """cos(b − a + x, y) of every word as y (3CosAdd): (K, N)."""
        words = self._vectors
        targets = words[batch.b] - words[batch.a] + words[batch.x]
        return _normalise(targets) @ words.T

    def _pairs(self, first: int | IntArray, second: IntArray | slice, role: Role) -> Tensor:
        """R of pairs of places as it is compared, of length one: (…, D).

        `role` is that of the first.
        """
        x, y = (first, second) if role == "x" else (second, first)
        as_x, as_y = self._parts
        # A word as one row and the others as many: the row goes with each of them.
        pairs = self._encoder(tuple(p[x] for p in as_x), tuple(p[y] for p in as_y))
        if self._change is not None:
            weight, bias = self._change
            pairs = pairs @ weight + bias
        return _normalise(pairs)


def best_words_torch(pair: Tensor, offset: Tensor, batch: AnalogyBatch) -> IntArray:
    """From the two cosines of every word, (K, N), the best place for each α: (K, A)."""
    rows = torch.arange(len(pair), device=pair.device)
    rule_out(pair, rows, batch)
    rule_out(offset, rows, batch)
    question, place = torch.where(possible_winners(pair, offset, rows))
    # Few are left, which another device hands over quickly.
    found = (question, place, pair[question, place], offset[question, place])
    return winners(CandidateScores(*(part.cpu().numpy() for part in found)), len(rows))


def _normalise(vectors: Tensor) -> Tensor:
    return torch.nn.functional.normalize(vectors, dim=-1, eps=1e-8)
