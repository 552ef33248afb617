"""How well a context tells of a relation: its vector against that of the relation's example pairs.

What all relations have in common is taken off, or every sentence with two related words would tell
of each of them.

Shapes: S contexts, L length of a context, D dimension.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pair2vec.lexicon.evidence import Contexts, Fit
from pair2vec.query import Pair2vec
from pair2vec.query.context_vectors import ContextVectors
from pair2vec.query.half_pair import Vectors, normalise
from pair2vec.query.relation_definitions import (
    RelationDefinition,
    has_slots_in_order,
    swap_slots,
)
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

_UNKNOWN = -1


class Telling:
    """Of one model, for the contexts of one corpus."""

    def __init__(
        self, model: Pair2vec, relations: Sequence[RelationDefinition], vocabulary: Vocabulary
    ) -> None:
        """`vocabulary` is that of the corpus."""
        self._model, self._encode = model, ContextVectors(model.saved)
        self._to_model = _translation(vocabulary, model.vocabulary, self._encode.words)
        vectors = np.stack([_vectors(model, relation) for relation in relations])
        vectors -= vectors.mean(axis=(0, 1))
        self._vectors = {
            relation.name: of_one for relation, of_one in zip(relations, vectors, strict=True)
        }

    def of(self, relation: str) -> Fit:
        """For sentences that tell of a relation, of x to y."""
        return self._fit(*self._vectors[relation])

    def of_pair(self, x: str, y: str) -> Fit:
        """For sentences that tell of whatever relation two words have."""
        forward, backward = np.split(self._model.pair(x, y), 2)
        return self._fit(forward, backward)

    def _fit(self, forward: Vectors, backward: Vectors) -> Fit:
        def fit(contexts: Contexts, x_first: bool) -> NDArray[np.float32]:
            vector = forward if x_first else backward
            found: NDArray[np.float32] = self._contexts(contexts) @ vector
            return found

        return fit

    def _contexts(self, contexts: Contexts) -> Vectors:
        """C of each, without the words that the model has not: (S, D)."""
        made = np.zeros((len(contexts), self._encode.dimension), np.float32)
        groups: defaultdict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        for row, ids in enumerate(contexts):
            known = [number for number in self._to_model[list(ids)].tolist() if number >= 0]
            groups[len(known)].append((row, known))
        for group in groups.values():
            rows, same_length = zip(*group, strict=True)
            made[list(rows)] = self._encode(same_length)
        return made


def _vectors(model: Pair2vec, relation: RelationDefinition) -> Vectors:
    """R of its examples from x to y and from y to x; without any, C of its patterns: (2, D)."""
    known = [pair for pair in relation.all_examples if all(w in model.vocabulary.ids for w in pair)]
    if known:
        turned = [(y, x) for x, y in known]
        means = [
            model.pairs(pairs, direction="forward").vectors.mean(0) for pairs in (known, turned)
        ]
    else:
        turned_patterns = list(map(swap_slots, relation.all_patterns))
        means = [_mean_context(model, p) for p in (relation.all_patterns, turned_patterns)]
    return np.stack(means)


def _mean_context(model: Pair2vec, patterns: Sequence[str]) -> Vectors:
    """Of those in which X comes first; zero where there is none."""
    in_order = [normalise(model.context(p)) for p in patterns if has_slots_in_order(p)]
    return np.mean(in_order, axis=0) if in_order else np.zeros_like(model.context("X and Y"))


def _translation(corpus: Vocabulary, model: Vocabulary, most: int) -> NDArray[np.intp]:
    """From ids of the corpus to those of the model, below `most`."""
    table = np.full(len(corpus), _UNKNOWN, np.intp)
    special = len(SPECIAL_TOKENS)
    table[:special] = np.arange(special)
    for number, word in enumerate(corpus.words[special:], start=special):
        table[number] = model.ids.get(word, _UNKNOWN)
    table[table >= most] = _UNKNOWN
    return table
