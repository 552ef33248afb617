"""The relation head of a taught model: from R(x, y) and R(y, x) to probabilities of relations.

Two layers, and the same for a pair and the pair swapped: with h(x, y) the hidden units, the score
of relation r is V_r·h(x, y) + V_r'·h(y, x), where r' is the relation of y to x (itself where it is
symmetric). So a pair is as probably hypernym and hyponym as the swapped pair is hyponym and
hypernym, by construction. Two features of the words are added, each with a weight for every
relation: their cosine similarity, since most words far from each other are in no relation, and
whether one is spelled as the negation of the other.

Shapes: N pairs, D dimension, H hidden units, K relations, no relation being the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pair2vec.arrays import ROWS_PER_BLOCK, FloatArray, IntArray, normalise
from pair2vec.errors import InputError
from pair2vec.model.folder import SavedModel
from pair2vec.query.pair_encoder import LinearLayer
from pair2vec.query.search import pair_blocks
from pair2vec.query.space import PairSpace
from pair2vec.relations.definitions import NONE
from pair2vec.relations.regression import softmax
from pair2vec.relations.word_forms import is_negated_form

CONFIG_KEY = "relations"
"""Of the model's config: names, inverses and calibration of the head."""
WORD_FEATURES = ("relation.similarity", "relation.negation")
"""The tensors with the weights of what a head is told of the words, (K,) each: their cosine
similarity, and 1 where one is spelled as the negation of the other."""


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """What a head predicts, and how its scores become probabilities."""

    names: tuple[str, ...]
    """Of the relations, "none" last."""
    inverse: tuple[int, ...]
    """Of each relation the index of the one that holds from y to x."""
    thresholds: tuple[float, ...]
    """A relation that is less probable is not named: of random pairs hardly any is."""
    scale: float = 1.0
    """Of the scores: the inverse of the temperature that held-out words were calibrated with."""
    none: float = 0.0
    """Added to the scaled score of no relation."""
    unrelated: float = 0.5
    """The share of pairs without a relation where the head was calibrated."""


class RelationHead:
    """The head of a model, in numpy."""

    def __init__(self, saved: SavedModel) -> None:
        """Read the head of a model that has one (`SavedModel.has_head`)."""
        self.config = read_head_config(saved)
        weight = saved.array("relation.hidden.weight")
        # Of [R(x, y); R(y, x)]; for the swapped pair its halves change places. With F and B the
        # halves, Fu + Bv and Bu + Fv are the sum and the difference of (F + B)(u + v) / 2 and
        # (F - B)(u - v) / 2: half as many products.
        forward, backward = (half.T for half in np.split(weight, 2, axis=1))
        self._sums = LinearLayer(
            np.ascontiguousarray((forward + backward) / 2), saved.array("relation.hidden.bias")
        )
        self._differences = np.ascontiguousarray((forward - backward) / 2)
        inverse = list(self.config.inverse)
        output = saved.array("relation.output.weight")
        self._output = np.ascontiguousarray(np.concatenate([output, output[inverse]], axis=1).T)
        symmetric = [
            (values + values[inverse]) / 2
            for values in map(saved.array, ("relation.output.bias", *WORD_FEATURES))
        ]
        self._bias, *features = symmetric
        self._features = np.stack(features)

    def logits(self, forward: FloatArray, backward: FloatArray, features: FloatArray) -> FloatArray:
        """The scores of each relation before calibration: (N, K).

        Args:
            forward: R(x, y), (N, D).
            backward: R(y, x), (N, D).
            features: `WORD_FEATURES` of the words, (N, 2).
        """
        scale = np.float32(np.sqrt(forward.shape[1]))
        one_way, other_way = normalise(forward) * scale, normalise(backward) * scale
        shared = self._sums(one_way + other_way)
        opposed = (one_way - other_way) @ self._differences
        hidden = np.concatenate([shared + opposed, shared - opposed], axis=1)
        np.maximum(hidden, 0, out=hidden)
        scores: FloatArray = hidden @ self._output + self._bias + features @ self._features
        return scores

    def calibrated(self, logits: FloatArray) -> FloatArray:
        """The probabilities of scores, (N, K)."""
        scaled = logits * np.float32(self.config.scale)
        scaled[:, -1] += np.float32(self.config.none)
        return softmax(scaled)


class HeadScorer:
    """Probabilities of pairs of words by the head of their model."""

    def __init__(self, head: RelationHead, space: PairSpace) -> None:
        self._head, self._space = head, space
        self.unrelated = head.config.unrelated
        self.thresholds = np.array(head.config.thresholds, np.float32)

    def __call__(self, x: IntArray, y: IntArray) -> FloatArray:
        """(N, K) of pairs of ids."""
        return self._head.calibrated(self.logits(x, y))

    def logits(self, x: IntArray, y: IntArray) -> FloatArray:
        """The scores before calibration, (N, K)."""
        pairs, words = self._space.pairs, self._space.spelled
        scores = np.empty((len(x), len(self._head.config.names)), np.float32)
        start = 0
        for first, second in pair_blocks(x, y, ROWS_PER_BLOCK):
            block = slice(start, start + len(first))
            one, other = pairs.inputs(first), pairs.inputs(second)
            forward, backward = pairs.compose_both(one, other)
            if not pairs.has_unit_inputs:
                one, other = normalise(one), normalise(other)
            cosines = np.einsum("nd,nd->n", one, other)
            features = np.stack([cosines, negated_forms(first, second, words)], axis=1)
            scores[block] = self._head.logits(forward, backward, features)
            start = block.stop
        return scores


def negated_forms(x: IntArray, y: IntArray, words: Sequence[str]) -> FloatArray:
    """1 where one word of a pair is spelled as the negation of the other, else 0: (N,)."""
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return np.array([is_negated_form(words[a], words[b]) for a, b in pairs], np.float32)


def read_head_config(saved: SavedModel) -> HeadConfig:
    """The config of a model's head.

    Raises:
        InputError: it does not fit the model's tensors.
    """
    facts = saved.config[CONFIG_KEY]
    try:
        config = HeadConfig(
            names=tuple(facts["names"]),
            inverse=tuple(map(int, facts["inverse"])),
            scale=float(facts.get("scale", 1.0)),
            none=float(facts.get("none", 0.0)),
            unrelated=float(facts.get("unrelated", 0.5)),
            thresholds=tuple(map(float, facts["thresholds"])),
        )
        if not all(isinstance(name, str) and name.isprintable() for name in config.names):
            raise TypeError("a name is no text")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{saved.folder}: the config of its relations is damaged") from error
    count = len(saved.rows("relation.output.bias"))
    sizes = {len(config.names), len({*config.names}), len(config.inverse), len(config.thresholds)}
    is_whole = sizes == {count} and config.names[-1:] == (NONE,)
    if not is_whole or sorted(config.inverse) != list(range(count)):
        raise InputError(f"{saved.folder}: its relations do not fit the tensors of their head")
    return config
