"""Evidence: the sentences of a corpus that indicate a relation between two words, best first.

A sentence is scored by the context of the two words in it: the dot product of the context vector
C(c) with the mean pair vector R of a relation's examples, as in `fill`.

Shapes: S contexts, D dimension.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray, Int64Array, IntArray, normalise
from pair2vec.lexicon.inverted_index import InvertedIndex, stride
from pair2vec.query.context_encoder import ContextNetwork
from pair2vec.relations.definitions import RelationDefinition, has_slots_in_order, swap_slots
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import (
    BOUNDARY,
    SPECIAL_TOKENS,
    UnknownWordError,
    Vocabulary,
    WordPair,
    X,
    Y,
)

MAX_PAIR_POSITIONS = 4096
"""Occurrences of the rarer word that are looked at in a shard."""
MAX_SCORED = 256
"""Co-occurrences of a pair that are scored."""
MAX_SENTENCE_WORDS = 40
"""A longer sentence is cut around the two words."""

_NO_SPACE_BEFORE = frozenset([*",.;:!?)]%'", "'s", "n't", "’s"])
_NO_SPACE_AFTER = frozenset("([$£€#")
_UNKNOWN = -1

Contexts = Sequence[tuple[int, ...]]
ContextScorer = Callable[[Contexts, bool], FloatArray]
"""How strongly contexts indicate a relation, (S,); the flag says whether x comes first in them."""


class PairPosition(NamedTuple):
    """Where two words co-occur: positions in the tokens of a shard."""

    shard: int
    x: int
    y: int


class Evidence(NamedTuple):
    """A sentence, and how strongly it indicates the relation."""

    text: str
    score: float


def find_evidence(
    index: InvertedIndex, pair: WordPair, scorer: ContextScorer, *, top: int = 3
) -> list[Evidence]:
    """The distinct sentences with the highest scores, best first."""
    positions = find_positions(index, pair)
    positions = positions[:: stride(len(positions), MAX_SCORED)]
    scores = _scores(index, positions, scorer)
    best: dict[str, float] = {}
    for row in np.argsort(-scores, kind="stable").tolist():
        if len(best) == top:
            break
        best.setdefault(evidence_text(index, positions[row]), float(scores[row]))
    return [Evidence(text, score) for text, score in best.items()]


def find_positions(index: InvertedIndex, pair: WordPair) -> list[PairPosition]:
    """Where x and y are at most five words apart in a sentence, in corpus order."""
    counts = index.corpus.vocabulary.counts
    x_is_rarer = counts[pair.x] <= counts[pair.y]
    rarer, other = (pair.x, pair.y) if x_is_rarer else (pair.y, pair.x)
    return [
        PairPosition(shard, *((here, there) if x_is_rarer else (there, here)))
        for shard, (tokens, positions) in enumerate(index.occurrences(rarer, MAX_PAIR_POSITIONS))
        for here, there in _nearest_occurrences(tokens, positions, other)
    ]


def _nearest_occurrences(
    tokens: NDArray[np.unsignedinteger], positions: Int64Array, other: int
) -> list[tuple[int, int]]:
    """Each position with the nearest one of another word in its sentence."""
    nearest: dict[int, int] = {}
    # A sentence's edge is a token, and there is one at each end of the stream.
    open_left = open_right = positions
    for distance in DISTANCES:
        open_left = open_left[open_left >= distance]
        open_left = open_left[tokens[open_left - distance] != BOUNDARY]
        open_right = open_right[open_right + distance < len(tokens)]
        open_right = open_right[tokens[open_right + distance] != BOUNDARY]
        for still_open, step in ((open_right, distance), (open_left, -distance)):
            for position in still_open[tokens[still_open + step] == other].tolist():
                nearest.setdefault(position, position + step)
    return sorted(nearest.items())


def _scores(
    index: InvertedIndex, positions: Sequence[PairPosition], scorer: ContextScorer
) -> FloatArray:
    scores = np.zeros(len(positions), np.float32)
    for x_first in (True, False):
        rows = [row for row, at in enumerate(positions) if (at.x < at.y) == x_first]
        if rows:
            contexts = [context_at(index, positions[row]) for row in rows]
            scores[rows] = scorer(contexts, x_first)
    return scores


def context_at(index: InvertedIndex, position: PairPosition) -> tuple[int, ...]:
    """The ids around and between the two words, which are replaced by the slots X and Y."""
    first, last = sorted((position.x, position.y))
    tokens = index.corpus.shards[position.shard].tokens
    ids = tokens[first - 1 : last + 2].tolist()
    ids[1], ids[-2] = X, Y
    return tuple(ids)


def evidence_text(index: InvertedIndex, position: PairPosition) -> str:
    """The sentence, detokenised and cut if it is long."""
    shard = index.corpus.shards[position.shard]
    number = int(np.searchsorted(shard.sentences, position.x, side="right")) - 1
    start, end = int(shard.sentences[number]), int(shard.sentences[number + 1]) - 1
    middle = (position.x + position.y) // 2
    first = max(start, min(middle - MAX_SENTENCE_WORDS // 2, end - MAX_SENTENCE_WORDS))
    last = min(end, first + MAX_SENTENCE_WORDS)
    text = detokenise(shard.tokens[first:last].tolist(), index.corpus.vocabulary)
    return f"{'… ' if first > start else ''}{text}{' …' if last < end else ''}"


def detokenise(ids: Sequence[int], vocabulary: Vocabulary) -> str:
    """Words with spaces where they belong."""
    text, joined = "", True
    for word_id in ids:
        word = vocabulary.words[word_id]
        text += word if joined or word in _NO_SPACE_BEFORE else f" {word}"
        joined = word in _NO_SPACE_AFTER
    return text


class EvidenceScorer:
    """Makes a `ContextScorer` for a relation or for a pair of words.

    The mean of all relations is subtracted from each of them, or every sentence with two related
    words would score high for all relations.

    Args:
        model: Encodes contexts and pairs.
        relations: Those that sentences are scored for.
        vocabulary: Of the corpus.
    """

    def __init__(
        self, model: Pair2vec, relations: Sequence[RelationDefinition], vocabulary: Vocabulary
    ) -> None:
        self._model, self._encode = model, ContextNetwork(model.saved)
        self._to_model = _id_map(vocabulary, model.vocabulary, self._encode.words)
        known = {
            relation.name: vectors
            for relation in relations
            if (vectors := _relation_vectors(model, relation)) is not None
        }
        mean = np.mean([*known.values()], axis=(0, 1)) if known else 0
        self._vectors = {name: vectors - mean for name, vectors in known.items()}

    def has_relation(self, name: str) -> bool:
        """Whether the model knows an example or a pattern of it."""
        return name in self._vectors

    def for_relation(self, name: str) -> ContextScorer:
        """For contexts in which y is the relation `name` of x."""
        return self._scorer(*self._vectors[name])

    def for_pair(self, x: str, y: str) -> ContextScorer:
        """For contexts that indicate whatever relation two words have."""
        forward, backward = np.split(self._model.pair(x, y), 2)
        return self._scorer(forward, backward)

    def _scorer(self, forward: FloatArray, backward: FloatArray) -> ContextScorer:
        def score(contexts: Contexts, x_first: bool) -> FloatArray:
            scores: FloatArray = self._context_vectors(contexts) @ (
                forward if x_first else backward
            )
            return scores

        return score

    def _context_vectors(self, contexts: Contexts) -> FloatArray:
        """C of each context, without the words that the model does not know: (S, D)."""
        vectors = np.zeros((len(contexts), self._encode.dimension), np.float32)
        by_length: defaultdict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        for row, ids in enumerate(contexts):
            known = [word_id for word_id in self._to_model[list(ids)].tolist() if word_id >= 0]
            by_length[len(known)].append((row, known))
        for bucket in by_length.values():
            rows, same_length = zip(*bucket, strict=True)
            vectors[list(rows)] = self._encode(same_length)
        return vectors


def _relation_vectors(model: Pair2vec, relation: RelationDefinition) -> FloatArray | None:
    """R of its examples, forward and backward, or else C of its patterns: (2, D).

    None where the model knows neither, as it may where it was taught the relation by other means.
    """
    known = [pair for pair in relation.all_examples if all(w in model.vocabulary.ids for w in pair)]
    if known:
        swapped = [(y, x) for x, y in known]
        means = [
            model.pairs(pairs, direction="forward").vectors.mean(0) for pairs in (known, swapped)
        ]
    else:
        patterns = relation.all_patterns
        forward, backward = (
            _known_contexts(model, pattern) for pattern in (patterns, map(swap_slots, patterns))
        )
        if not forward and not backward:
            return None
        zero = np.zeros_like((forward or backward)[0])
        means = [np.mean(contexts or [zero], axis=0) for contexts in (forward, backward)]
    return np.stack(means)


def _known_contexts(model: Pair2vec, patterns: Iterable[str]) -> list[FloatArray]:
    """C of the patterns in which X comes first and whose words the model knows."""
    contexts = []
    for pattern in filter(has_slots_in_order, patterns):
        with suppress(UnknownWordError):
            contexts.append(normalise(model.context(pattern)))
    return contexts


def _id_map(corpus: Vocabulary, model: Vocabulary, limit: int) -> IntArray:
    """From ids of the corpus to those ids of the model that are below `limit`."""
    table = np.full(len(corpus), _UNKNOWN, np.intp)
    special = len(SPECIAL_TOKENS)
    table[:special] = np.arange(special)
    for word_id, word in enumerate(corpus.words[special:], start=special):
        table[word_id] = model.ids.get(word, _UNKNOWN)
    table[table >= limit] = _UNKNOWN
    return table
