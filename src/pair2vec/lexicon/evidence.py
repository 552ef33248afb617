"""Sentences of a corpus in which two words stand near each other, the most telling first.

A sentence tells of a relation if what stands between and around the two words fits it: the dot
product of that context's vector with a pair vector, as in `fill`.

Shapes: S places where two words stand near each other, D dimension.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray, normalise
from pair2vec.lexicon.inverted_index import InvertedIndex
from pair2vec.query.context_encoder import ContextVectors
from pair2vec.relations.definitions import RelationDefinition, has_slots_in_order, swap_slots
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, Vocabulary, WordPair, X, Y

MAX_PAIR_POSITIONS = 4096
"""Of the rarer word that are looked at, spread over the corpus."""
MAX_SCORED = 256
"""Of those with the other word beside it."""
LONGEST_SENTENCE = 40
"""Words of a sentence that are shown; a longer one is cut around the two."""

_NO_SPACE_BEFORE = frozenset([*",.;:!?)]%'", "'s", "n't", "’s"])
_NO_SPACE_AFTER = frozenset("([$£€#")

Contexts = Sequence[tuple[int, ...]]
Fit = Callable[[Contexts, bool], NDArray[np.float32]]
"""How well contexts tell of a relation (S,); the flag says whether x comes first in them."""


class PairPosition(NamedTuple):
    """Where two words stand near each other."""

    shard: int
    x: int
    y: int
    """Positions in its tokens."""


class Evidence(NamedTuple):
    """A sentence."""

    text: str
    score: float
    """How well it tells of the relation."""


def find_evidence(
    index: InvertedIndex, pair: WordPair, fit: Fit, *, top: int = 3
) -> list[Evidence]:
    """The sentences that tell best; none of them twice."""
    places = find_positions(index, pair)
    places = places[:: max(1, -(-len(places) // MAX_SCORED))]
    scores = _scores(index, places, fit)
    found: dict[str, float] = {}
    for place in np.argsort(-scores, kind="stable").tolist():
        if len(found) == top:
            break
        found.setdefault(sentence_text(index, places[place]), float(scores[place]))
    return [Evidence(text, score) for text, score in found.items()]


def find_positions(index: InvertedIndex, pair: WordPair) -> list[PairPosition]:
    """Where x and y are at most five words apart in a sentence, in the order of the corpus."""
    counts = index.corpus.vocabulary.counts
    x_is_rarer = counts[pair.x] <= counts[pair.y]
    rarer, other = (pair.x, pair.y) if x_is_rarer else (pair.y, pair.x)
    found = []
    for number, (shard, listed) in enumerate(zip(index.corpus.shards, index.shards, strict=True)):
        places = _spread(listed.of(rarer).astype(np.int64))
        for first, second in _near(shard.tokens, places, other):
            found.append(
                PairPosition(number, *((first, second) if x_is_rarer else (second, first)))
            )
    return found


def _spread(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Not too many, and from everywhere."""
    step = -(-len(places) // MAX_PAIR_POSITIONS)
    return places[:: max(step, 1)]


def _near(
    tokens: NDArray[np.unsignedinteger], places: NDArray[np.int64], other: int
) -> list[tuple[int, int]]:
    """Each place with the nearest one of another word in its sentence."""
    nearest: dict[int, int] = {}
    # A sentence's edge is a token, and there is one at each end of the stream.
    open_left = open_right = places
    for distance in DISTANCES:
        open_left = open_left[open_left >= distance]
        open_left = open_left[tokens[open_left - distance] != BOUNDARY]
        open_right = open_right[open_right + distance < len(tokens)]
        open_right = open_right[tokens[open_right + distance] != BOUNDARY]
        for still_open, step in ((open_right, distance), (open_left, -distance)):
            for place in still_open[tokens[still_open + step] == other].tolist():
                nearest.setdefault(place, place + step)
    return sorted(nearest.items())


def _scores(index: InvertedIndex, places: Sequence[PairPosition], fit: Fit) -> NDArray[np.float32]:
    """How well each place tells of the relation."""
    scores = np.zeros(len(places), np.float32)
    for x_first in (True, False):
        chosen = [number for number, place in enumerate(places) if (place.x < place.y) == x_first]
        if chosen:
            scores[chosen] = fit([context(index, places[number]) for number in chosen], x_first)
    return scores


def context(index: InvertedIndex, place: PairPosition) -> tuple[int, ...]:
    """What stands around and between the two words, which are slots in it."""
    first, last = sorted((place.x, place.y))
    tokens = index.corpus.shards[place.shard].tokens
    ids = tokens[first - 1 : last + 2].tolist()
    ids[1], ids[-2] = X, Y
    return tuple(ids)


def sentence_text(index: InvertedIndex, place: PairPosition) -> str:
    """The sentence as people write it, as far as the corpus has kept it."""
    shard = index.corpus.shards[place.shard]
    number = int(np.searchsorted(shard.sentences, place.x, side="right")) - 1
    start, end = int(shard.sentences[number]), int(shard.sentences[number + 1]) - 1
    middle = (place.x + place.y) // 2
    first = max(start, min(middle - LONGEST_SENTENCE // 2, end - LONGEST_SENTENCE))
    last = min(end, first + LONGEST_SENTENCE)
    text = detokenise(shard.tokens[first:last].tolist(), index.corpus.vocabulary)
    return f"{'… ' if first > start else ''}{text}{' …' if last < end else ''}"


def detokenise(ids: Sequence[int], vocabulary: Vocabulary) -> str:
    """Words with spaces where they belong."""
    text, glue = "", True
    for number in ids:
        word = vocabulary.words[number]
        text += word if glue or word in _NO_SPACE_BEFORE else f" {word}"
        glue = word in _NO_SPACE_AFTER
    return text


# == How well a context tells of a relation: its vector against that of the relation's example pairs.
#
# What all relations have in common is taken off, or every sentence with two related words would tell
# of each of them.
#
# Shapes: S contexts, L length of a context, D dimension.


_UNKNOWN = -1


class EvidenceScorer:
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

    def _fit(self, forward: FloatArray, backward: FloatArray) -> Fit:
        def fit(contexts: Contexts, x_first: bool) -> NDArray[np.float32]:
            vector = forward if x_first else backward
            found: NDArray[np.float32] = self._contexts(contexts) @ vector
            return found

        return fit

    def _contexts(self, contexts: Contexts) -> FloatArray:
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


def _vectors(model: Pair2vec, relation: RelationDefinition) -> FloatArray:
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


def _mean_context(model: Pair2vec, patterns: Sequence[str]) -> FloatArray:
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
