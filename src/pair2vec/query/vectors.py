"""What a model says of words that are given: the vectors of pairs and patterns, their scores.

What it needs is read from the model folder when a question first needs it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel, model_facts
from pair2vec.query.analogies import Direction, directed
from pair2vec.query.context_encoder import PatternVectors
from pair2vec.query.pair_encoder import Layer, LearntPairs, PairVectors, make_pair_vectors
from pair2vec.query.whitening import check_whitening, whitening_layer
from pair2vec.text.vocabulary import PADDING, Vocabulary, find_typed, is_word


@dataclass(frozen=True)
class PairSpace:
    """What a model has to say of pairs of ids."""

    pairs: PairVectors
    """R as patterns see it."""
    comparison: Layer | None
    """What makes R comparable (`query.whitening`); None where R is so by itself."""
    contexts: PatternVectors
    unit_words: FloatArray
    """(V, D)"""

    def compared(self, vectors: FloatArray) -> FloatArray:
        """R as it is compared, of length one."""
        return normalise(self.comparison(vectors) if self.comparison else vectors)


class PairBatch(NamedTuple):
    """Vectors of many pairs."""

    vectors: FloatArray
    """One row a pair; under ``unknown="skip"`` one row a known pair."""
    known: NDArray[np.bool_]
    """Of each pair asked for, whether both words are known."""


Unknown = Literal["error", "skip", "zero"]
"""What a batch does with an unknown word: refuse, leave the pair out, or give it a zero vector."""


class PairIds(NamedTuple):
    """Pairs as ids, and of each whether both its words are known."""

    x: IntArray
    y: IntArray
    known: NDArray[np.bool_]


class ModelVectors:
    """The vectors of a trained model."""

    def __init__(self, saved: SavedModel, *, whitening: float | None = None) -> None:
        """Open a model.

        Args:
            saved: The model folder.
            whitening: How much pair vectors are evened out before they are compared, from 0 (the
                paper's plain cosine) to 1; see `pair2vec.query.whitening`, which has the default.
        """
        self.saved = saved
        self._pairs = make_pair_vectors(saved)
        self._whitening = check_whitening(whitening)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words it knows."""
        return self.saved.vocabulary

    @cached_property
    def patterns(self) -> list[str]:
        """Patterns that are frequent in its corpus; none if they were not kept."""
        return [entry.pattern for entry in self.saved.patterns()]

    def info(self) -> dict[str, str]:
        """What is known of the model, as printable values by name."""
        return model_facts(self.saved)

    def pair(
        self, x: str, y: str, *, direction: Direction = "both", normalised: bool = True
    ) -> FloatArray:
        """The vector of the relation of `x` to `y`.

        Args:
            x: A word.
            y: A word.
            direction: "forward" is R(x, y), "backward" is R(y, x), "both" one behind the other.
            normalised: Each direction to length one, as the paper uses them (`eq:bi-relemb`).

        Raises:
            UnknownWordError: it names the words that are spelled alike.
        """
        (vector,) = self.pairs([(x, y)], direction=direction, normalised=normalised).vectors
        return vector  # type: ignore[no-any-return]

    def pairs(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        direction: Direction = "both",
        normalised: bool = True,
        unknown: Unknown = "error",
    ) -> PairBatch:
        """The vectors of many pairs, as `pair` makes them.

        Args:
            pairs: Of words.
            direction: As in `pair`.
            normalised: As in `pair`.
            unknown: "error" raises at the first unknown word; "skip" leaves such pairs out; "zero"
                gives them a zero vector. `known` of the answer says which they are.
        """
        x, y, known = self._ids_of_pairs(pairs, unknown)
        vectors = directed(self._pairs, x[known], y[known], direction, normalised=normalised)
        if unknown == "zero":
            rows = np.zeros((len(known), vectors.shape[1]), np.float32)
            rows[known] = vectors
            vectors = rows
        return PairBatch(vectors, known)

    def context(self, pattern: str) -> FloatArray:
        """The vector C of a pattern such as ``neither X nor Y``: (D,).

        An outer word that is left open stands for any word: the mean over the frequent ones.
        """
        (vector,) = self._contexts([pattern])
        return vector  # type: ignore[no-any-return]

    def score(self, x: str, y: str, pattern: str) -> float:
        """R(x, y)·C(pattern): how well the pair fits the pattern."""
        return float(self.scores([(x, y)], [pattern])[0, 0])

    def scores(self, pairs: Iterable[tuple[str, str]], patterns: Sequence[str]) -> FloatArray:
        """The score of each pair in each pattern: (pairs, patterns)."""
        x, y, _ = self._ids_of_pairs(pairs, "error")
        scores: FloatArray = self._pairs(x, y) @ self._contexts(patterns).T
        return scores

    @cached_property
    def pair_source(self) -> PairSpace:
        """What it has to say of pairs of ids, for questions that are asked elsewhere."""
        return PairSpace(self._pairs, self._comparison, self._contexts, self.unit_words)

    @cached_property
    def _comparison(self) -> Layer | None:
        return whitening_layer(self._pairs, self._whitening)

    @cached_property
    def _comparable(self) -> PairVectors:
        """R as it is compared."""
        layer, pairs = self._comparison, self._pairs
        return pairs.changed(layer) if layer and isinstance(pairs, LearntPairs) else pairs

    def _compared(self, x: int, y: int, direction: Direction) -> FloatArray:
        """The vector of a pair as it is compared."""
        vector: FloatArray = directed(self._comparable, np.array([x]), np.array([y]), direction)[0]
        return vector

    @cached_property
    def _contexts(self) -> PatternVectors:
        return PatternVectors(self.saved)

    @cached_property
    def unit_words(self) -> FloatArray:
        """The words of R, of length one: (V, D)."""
        words = self._pairs.all_inputs
        return words if self._pairs.takes_unit_words else normalise(words)

    def _ids_of_pairs(self, pairs: Iterable[tuple[str, str]], unknown: Unknown) -> PairIds:
        if unknown not in get_args(Unknown):
            raise UsageError(
                f"unknown is {unknown!r}; it must be one of {', '.join(get_args(Unknown))}"
            )
        rows, known = [], []
        for pair in pairs:
            # Looking for words spelled alike takes long: only when the error is to be shown.
            is_known = unknown == "error" or all(is_word(w, self.vocabulary) for w in pair)
            known.append(is_known)
            rows.append([find_typed(w, self.vocabulary) if is_known else PADDING for w in pair])
        ids = np.array(rows, np.intp).reshape(-1, 2)
        return PairIds(ids[:, 0], ids[:, 1], np.array(known, np.bool_))
