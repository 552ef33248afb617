"""Sentences of a corpus in which two words stand near each other, the most telling first.

A sentence tells of a relation if what stands between and around the two words fits it: the dot
product of that context's vector with a pair vector, as in `fill`.

Shapes: S places where two words stand near each other, D dimension.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.lexicon.occurrences import Occurrences
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.spelling import WordPair
from pair2vec.text.vocabulary import BOUNDARY, Vocabulary, X, Y

MOST_PLACES = 4096
"""Of the rarer word that are looked at, spread over the corpus."""
MOST_SCORED = 256
"""Of those with the other word beside it."""
LONGEST = 40
"""Words of a sentence that are shown; a longer one is cut around the two."""

_NO_SPACE_BEFORE = frozenset([*",.;:!?)]%'", "'s", "n't", "’s"])
_NO_SPACE_AFTER = frozenset("([$£€#")

Contexts = Sequence[tuple[int, ...]]
Fit = Callable[[Contexts, bool], NDArray[np.float32]]
"""How well contexts tell of a relation (S,); the flag says whether x comes first in them."""


class Place(NamedTuple):
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


def find_evidence(index: Occurrences, pair: WordPair, fit: Fit, *, top: int = 3) -> list[Evidence]:
    """The sentences that tell best; none of them twice."""
    places = find_places(index, pair)
    places = places[:: max(1, -(-len(places) // MOST_SCORED))]
    scores = _scores(index, places, fit)
    found: dict[str, float] = {}
    for place in np.argsort(-scores, kind="stable").tolist():
        if len(found) == top:
            break
        found.setdefault(sentence_text(index, places[place]), float(scores[place]))
    return [Evidence(text, score) for text, score in found.items()]


def find_places(index: Occurrences, pair: WordPair) -> list[Place]:
    """Where x and y are at most five words apart in a sentence, in the order of the corpus."""
    counts = index.corpus.vocabulary.counts
    x_is_rarer = counts[pair.x] <= counts[pair.y]
    rarer, other = (pair.x, pair.y) if x_is_rarer else (pair.y, pair.x)
    found = []
    for number, (shard, listed) in enumerate(zip(index.corpus.shards, index.shards, strict=True)):
        places = _spread(listed.of(rarer).astype(np.int64))
        for first, second in _near(shard.tokens, places, other):
            found.append(Place(number, *((first, second) if x_is_rarer else (second, first))))
    return found


def _spread(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Not too many, and from everywhere."""
    step = -(-len(places) // MOST_PLACES)
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


def _scores(index: Occurrences, places: Sequence[Place], fit: Fit) -> NDArray[np.float32]:
    """How well each place tells of the relation."""
    scores = np.zeros(len(places), np.float32)
    for x_first in (True, False):
        chosen = [number for number, place in enumerate(places) if (place.x < place.y) == x_first]
        if chosen:
            scores[chosen] = fit([context(index, places[number]) for number in chosen], x_first)
    return scores


def context(index: Occurrences, place: Place) -> tuple[int, ...]:
    """What stands around and between the two words, which are slots in it."""
    first, last = sorted((place.x, place.y))
    tokens = index.corpus.shards[place.shard].tokens
    ids = tokens[first - 1 : last + 2].tolist()
    ids[1], ids[-2] = X, Y
    return tuple(ids)


def sentence_text(index: Occurrences, place: Place) -> str:
    """The sentence as people write it, as far as the corpus has kept it."""
    shard = index.corpus.shards[place.shard]
    number = int(np.searchsorted(shard.sentences, place.x, side="right")) - 1
    start, end = int(shard.sentences[number]), int(shard.sentences[number + 1]) - 1
    middle = (place.x + place.y) // 2
    first = max(start, min(middle - LONGEST // 2, end - LONGEST))
    last = min(end, first + LONGEST)
    text = spelled_out(shard.tokens[first:last].tolist(), index.corpus.vocabulary)
    return f"{'… ' if first > start else ''}{text}{' …' if last < end else ''}"


def spelled_out(ids: Sequence[int], vocabulary: Vocabulary) -> str:
    """Words with spaces where they belong."""
    text, glue = "", True
    for number in ids:
        word = vocabulary.words[number]
        text += word if glue or word in _NO_SPACE_BEFORE else f" {word}"
        glue = word in _NO_SPACE_AFTER
    return text
