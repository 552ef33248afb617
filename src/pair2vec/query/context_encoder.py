"""C(c) in numpy, for contexts of ids and for patterns as a user types them.

Shapes: B contexts, N patterns, L context length, D dimension, H hidden size of each direction.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray
from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.text.patterns import (
    ContextPattern,
    Pattern,
    context_text,
    nearest_context_pattern,
    parse_pattern,
    pattern_words,
)
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, X, Y

OPEN_WORDS = 12
"""How many frequent words an outer word that a pattern leaves open is averaged over."""


class ContextNetwork:
    """C: a BiLSTM over the words of a context, pooled by attention."""

    def __init__(self, saved: SavedModel) -> None:
        self._words = saved.rows("context.words")
        self._input_weight = saved.array("context.input_weight")
        self._state_weight = saved.array("context.state_weight")
        self._bias = saved.array("context.bias")
        self._attention = saved.array("context.attention.weight")[0]
        self._value = saved.array("context.value.weight")
        self.dimension = len(self._value)
        self.words = len(self._words)
        """Its ids are below this; a shrunk model has fewer context words than the vocabulary."""

    def __call__(self, contexts: Sequence[Sequence[int]] | NDArray[np.intp]) -> FloatArray:
        """C of contexts of one length, given as ids (B, L): (B, D)."""
        states = self._states(np.asarray(contexts, np.intp))
        attention = states @ self._attention
        weights = np.exp(attention - attention.max(axis=0))
        weights /= weights.sum(axis=0)
        pooled: FloatArray = np.einsum("lb,lbh->bh", weights, states) @ self._value.T
        return pooled

    def _states(self, contexts: NDArray[np.intp]) -> FloatArray:
        """The BiLSTM's states, (L, B, 2H)."""
        # The input gates depend on one word each: computed once for each distinct one.
        distinct, rows = np.unique(contexts, return_inverse=True)
        gates = self._words[distinct] @ self._input_weight.T + self._bias
        forward, backward = map(np.ascontiguousarray, np.split(gates, 2, axis=1))
        words = rows.reshape(contexts.shape).T
        weights = self._state_weight
        return np.concatenate(
            [_lstm(forward, words, weights[0]), _lstm(backward, words[::-1], weights[1])[::-1]],
            axis=-1,
        )


def _lstm(gates: FloatArray, words: IntArray, state_weight: FloatArray) -> FloatArray:
    """The states (L, B, H) of an LSTM in one direction.

    Contexts that begin with the same words have the same states there, which are computed once.

    Args:
        gates: The input gates of each distinct word, (W, 4H).
        words: The rows of `gates` that each context reads, (L, B).
        state_weight: (H, 4H).
    """
    states = np.empty((*words.shape, len(state_weight)), np.float32)
    prefix = np.zeros(words.shape[1], np.intp)
    state = cell = np.zeros((1, len(state_weight)), np.float32)
    for step, word in enumerate(words):
        prefixes, prefix = np.unique(prefix * len(gates) + word, return_inverse=True)
        before, last = np.divmod(prefixes, len(gates))
        entry, forget, candidate, output = np.split(
            gates[last] + (state @ state_weight)[before], 4, axis=-1
        )
        cell = _sigmoid(entry) * np.tanh(candidate) + _sigmoid(forget) * cell[before]
        state = _sigmoid(output) * np.tanh(cell)
        states[step] = state[prefix]
    return states


def _sigmoid(values: FloatArray) -> FloatArray:
    # By tanh, which cannot overflow.
    halved: FloatArray = np.tanh(np.float32(0.5) * values)
    return np.float32(0.5) * halved + np.float32(0.5)


SimilarWord = Callable[[int, int], int]
"""The most similar word to an id, of those whose ids are below another."""


class PatternEncoder:
    """C of patterns such as ``neither X nor Y``.

    An outer word that is left open is the mean over frequent words. The score R·C is linear in C,
    so this is the mean of the scores of the contexts that the pattern stands for, each weighted by
    the frequency of its outer words.
    """

    def __init__(self, saved: SavedModel, similar_word: SimilarWord | None = None) -> None:
        """Open C; `similar_word` finds words in place of those that C does not have."""
        self._vocabulary = saved.vocabulary
        self._similar_word = similar_word
        self._encode = ContextNetwork(saved)
        special = len(SPECIAL_TOKENS)
        last = min(special + OPEN_WORDS, self._encode.words)
        counts = saved.vocabulary.counts[special:last].tolist()
        self._open: dict[int, int] = dict(enumerate(counts, start=special))
        corpus = saved.config.get("corpus")
        sentences = corpus.get("sentences", 0) if isinstance(corpus, dict) else 0
        if sentences or not any(counts):
            # Without any count, all that there is: the weights must not be all zero.
            self._open[BOUNDARY] = sentences or 1

    def __call__(self, patterns: Sequence[str]) -> FloatArray:
        """One row a pattern: (N, D)."""
        parsed = [self._parse(pattern) for pattern in patterns]
        vectors = np.zeros((len(parsed), self._encode.dimension), np.float32)
        # One batch for all contexts of one length, whichever pattern they belong to.
        groups = defaultdict(list)
        for row, pattern in enumerate(parsed):
            for context, weight in self._contexts(pattern):
                groups[len(context)].append((row, context, weight))
        for group in groups.values():
            rows, contexts, weights = zip(*group, strict=True)
            weighted = self._encode(contexts) * np.array(weights, np.float32)[:, None]
            # The contexts of a pattern follow each other.
            starts = np.flatnonzero(np.diff(rows, prepend=-1))
            vectors[np.array(rows)[starts]] = np.add.reduceat(weighted, starts, axis=0)
        return vectors

    def knows(self, pattern: str) -> bool:
        """Whether the network has each word of a pattern."""
        ids = (self._vocabulary.ids.get(word) for word in pattern_words(pattern, self._vocabulary))
        return all(word is not None and word < self._encode.words for word in ids)

    def readable(self, text: str) -> ContextPattern:
        """The nearest pattern to a typed one that C can read.

        It is a `nearest_context_pattern`, in which the most similar word that C has stands for each
        that C does not have.

        Raises:
            UsageError: there is none, as of words that are not in the vocabulary.
        """
        nearest = nearest_context_pattern(text, self._vocabulary)
        pattern = parse_pattern(nearest.text, self._vocabulary)
        rare = self._rare_words(pattern)
        if not rare or self._similar_word is None:
            return nearest
        ids = [pattern.left, X, *pattern.between, Y, pattern.right]
        read = [self._similar(word) if word in rare else word for word in ids]
        words = context_text([word for word in read if word is not None], self._vocabulary)
        too_rare = [f"{self._vocabulary.words[word]!r} is too rare for a pattern" for word in rare]
        reasons = [reason for reason in (nearest.reason, *too_rare) if reason]
        return ContextPattern(words, nearest.is_exchanged, "; ".join(reasons))

    def _parse(self, text: str) -> Pattern:
        pattern = parse_pattern(text, self._vocabulary)
        for word in self._rare_words(pattern):
            spelled = self._vocabulary.words
            similar = f"; {spelled[self._similar(word)]!r} is like it" if self._similar_word else ""
            raise UsageError(
                f"pattern {text!r}: {spelled[word]!r} is too rare for a pattern; this model has "
                f"the {self._encode.words - len(SPECIAL_TOKENS):,} most frequent words "
                f"there{similar}"
            )
        return pattern

    def _rare_words(self, pattern: Pattern) -> list[int]:
        """The words that C does not have."""
        words = dict.fromkeys((pattern.left, *pattern.between, pattern.right))
        return [word for word in words if word is not None and word >= self._encode.words]

    def _similar(self, word: int) -> int:
        assert self._similar_word is not None
        return self._similar_word(word, self._encode.words)

    def _contexts(self, pattern: Pattern) -> list[tuple[tuple[int, ...], float]]:
        """The contexts a pattern stands for, with weights that sum to one."""
        lefts, rights = (
            self._open if word is None else {word: 1} for word in (pattern.left, pattern.right)
        )
        total = sum(lefts.values()) * sum(rights.values())
        return [
            ((left, X, *pattern.between, Y, right), lefts[left] * rights[right] / total)
            for left, right in product(lefts, rights)
        ]
