"""Vectors of words that are not in the vocabulary: composed from their spelling, or carried over.

Several things say what an unknown word may mean, each an estimate of its unit vector:

- **affix rules** (Soricut & Och, 2015): *unsubscribes* is to *unsubscribe* as *describes* is to
  *describe*. A rule replaces one ending or beginning by another; its offset is the mean over the
  known pairs that differ by it, and its weight q² / (1 - q²), with q the mean cosine that it
  reaches on these pairs when each is left out in turn;
- **words of similar spelling**, by the cosine of their n-grams, weighted by rarity;
- **the n-gram table** that is in the model's folder (`model.subwords`);
- **other word vectors** that the user gave, by a linear map.

A phrase is the mean of its words. Nothing is composed from what looks like no known word.

Shapes: V vocabulary, N words, D dimension.
"""

import logging
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, normalise, top_k
from pair2vec.model.subwords import SubwordTable, word_ngrams
from pair2vec.text.vocabulary import LONGEST_WORD, SPECIAL_TOKENS, Vocabulary

SHORTEST, LONGEST = 2, 5
"""Characters of the n-grams by which spellings are compared."""
LEAST_SIMILARITY = 0.3
"""Of the known word that is spelled most alike, as a cosine: below it, nothing is known of a word.
It refuses 3 % of held-out words, names for the most part, and most of what fingers hit blindly."""
SUGGESTED_SIMILARITY = 0.5
SUGGESTIONS = 3

NEIGHBOURS, SHARPNESS = 50, 3
"""How many words of similar spelling are averaged, weighted by this power of the similarity."""
RULES = 10
"""How many affix rules are, those of the highest q."""

LONGEST_AFFIX, SHORTEST_STEM = 5, 3
STEMS = 60
"""Known words with one stem that are looked at, the most frequent."""
TRIED = 24
"""Rules of each side that are tried, those that change least first."""
PAIRS, FEWEST_PAIRS = 80, 4
"""Known pairs that a rule is taken from."""
LOOKED_AT = 1_000
"""Words with one ending that such pairs are looked for among, the most frequent."""
SHRINKAGE = 3.0
"""Pairs without an offset that each rule is averaged with: one of few pairs says little."""
RULES_KEPT = 4_096

MOST_WORDS = 8
"""Of a phrase."""

Source = Literal["spelling", "words", "vectors"]
"""What a vector is composed from: n-grams and affixes, the words of a phrase, or it is carried over
from vectors that the user gave."""

_SOURCES = {
    "spelling": "composed from its spelling",
    "words": "composed from its words",
    "vectors": "carried over from the given vectors",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class CompositionWeights:
    """How much each estimate counts; `benchmarks/unknown_words.py --choose` compares others."""

    rules: float = 4.0
    """Of all affix rules, times the weight of each."""
    neighbours: float = 0.3
    table: float = 0.1
    carried: float = 1.0
    """Of a vector carried over from another table."""


class ComposedWord(NamedTuple):
    """A word out of the vocabulary that has a vector all the same."""

    word: str
    """As the tokeniser spells it."""
    source: Source
    suggestions: tuple[str, ...]
    """Known words of similar spelling, the most similar first."""

    @property
    def message(self) -> str:
        """What to tell who asked."""
        hint = f"; did you mean {', '.join(self.suggestions)}?" if self.suggestions else ""
        return (
            f"{self.word!r} is not in the vocabulary: its vector is {_SOURCES[self.source]}{hint}"
        )

    def as_json(self) -> dict[str, object]:
        return {"word": self.word, "source": self.source, "suggestions": list(self.suggestions)}


def composed_json(composed: Sequence[ComposedWord]) -> dict[str, object]:
    """The member of an answer that says which words were composed; nothing where none was."""
    return {"composed": [word.as_json() for word in composed]} if composed else {}


class Composition(NamedTuple):
    """A composed word and its vector."""

    word: ComposedWord
    vector: FloatArray
    """Of unit norm, (D,)."""


class WordComposer:
    """Composes words for a model; its indices are made when the first word needs them."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        vectors: Callable[[IntArray], FloatArray],
        table: SubwordTable | None,
        carried: Callable[[str], FloatArray | None] | None = None,
        weights: CompositionWeights | None = None,
    ) -> None:
        """A composer.

        Args:
            vocabulary: The known words.
            vectors: Their unit vectors by ids, (N, D).
            table: The model's n-grams; without them, no word is composed from its spelling.
            carried: The unit vector of a word by vectors that the user gave, (D,).
            weights: Of what a spelling says.
        """
        self._vocabulary, self._vectors = vocabulary, vectors
        self._table, self._carried = table, carried
        self._weights = weights or CompositionWeights()

    def __call__(self, tokens: Sequence[str]) -> Composition | None:
        """The vector of an unknown word, or of a phrase of several; None if there is none."""
        word = " ".join(tokens)
        if not 1 < len(word) < LONGEST_WORD or not _has_letters(word):
            return None
        carried = self._carried(word) if self._carried else None
        composed = None
        if self._table is not None and len(tokens) == 1:
            composed = self._from_spelling(word, carried)
        elif self._table is not None and carried is None:
            composed = self._from_words(tokens)
        if composed is None and carried is not None:
            return Composition(ComposedWord(word, "vectors", ()), carried)
        return composed

    def _from_words(self, tokens: Sequence[str]) -> Composition | None:
        """The mean of a phrase's words, the rarer ones counting more."""
        ids = [self._vocabulary.ids.get(token) for token in tokens if _has_letters(token)]
        if not 2 <= len(ids) <= MOST_WORDS or None in ids:
            return None
        known = np.array(ids, np.intp)
        vector = normalise(phrase_weights(known, self._vocabulary) @ self._vectors(known))
        return Composition(ComposedWord(" ".join(tokens), "words", ()), vector)

    def _from_spelling(self, word: str, carried: FloatArray | None) -> Composition | None:
        """By what its spelling says, and by the vector that was carried over, if there is one."""
        similar, similarity = self._spellings.nearest(word, NEIGHBOURS)
        if not len(similar) or similarity[0] < LEAST_SIMILARITY:
            return None
        assert self._table is not None
        weights = self._weights
        parts = [
            (weights.neighbours, similarity**SHARPNESS @ self._vectors(similar)),
            (weights.table, self._table.vectors([word])[0]),
        ]
        for quality, estimate in self._affixes.estimates(word)[:RULES]:
            parts.append((weights.rules * quality**2 / (1 - quality**2), estimate))
        if carried is not None:
            parts.append((weights.carried, carried))
        shares = np.array([weight for weight, _ in parts], np.float32)
        vector = normalise(shares @ normalise(np.array([part for _, part in parts])))
        near = similar[:SUGGESTIONS][similarity[:SUGGESTIONS] >= SUGGESTED_SIMILARITY]
        suggestions = tuple(self._vocabulary.words[n] for n in near.tolist())
        source: Source = "spelling" if carried is None else "vectors"
        return Composition(ComposedWord(word, source, suggestions), vector)

    @property
    def _spellings(self) -> "SpellingIndex":
        return self._indices()[0]

    @property
    def _affixes(self) -> "AffixRules":
        return self._indices()[1]

    @lru_cache(maxsize=1)  # noqa: B019 - lives as long as the model
    def _indices(self) -> tuple["SpellingIndex", "AffixRules"]:
        words = self._vocabulary.words
        return SpellingIndex(words), AffixRules(words, self._vectors)


def phrase_weights(ids: IntArray, vocabulary: Vocabulary) -> FloatArray:
    """How much each word of a phrase counts, (N,): a / (a + p(word)) (Arora et al., 2017)."""
    counts = np.maximum(vocabulary.counts, 1)
    shares = counts[ids] / counts[len(SPECIAL_TOKENS) :].sum()
    weights: FloatArray = (USUAL_SHARE / (USUAL_SHARE + shares)).astype(np.float32)
    return weights


USUAL_SHARE = 1e-3
"""Of a corpus: a word that occurs more often than this says little of what a phrase means."""


class SpellingIndex:
    """The words of a vocabulary by their n-grams: an inverted index."""

    def __init__(self, words: Sequence[str]) -> None:
        """Index words but for the first few, which are special tokens."""
        special = len(SPECIAL_TOKENS)
        self._size = len(words)
        hashes, owners = word_ngrams(words[special:], SHORTEST, LONGEST)
        # Each n-gram once a word, sorted by n-gram.
        keys = np.unique(hashes.astype(np.uint64) << np.uint64(32) | owners.astype(np.uint64))
        self._owners = (keys & np.uint64(0xFFFF_FFFF)).astype(np.intp) + special
        self._hashes, starts = np.unique(keys >> np.uint64(32), return_index=True)
        self._ends = np.append(starts, len(keys))
        self._rarity = np.log(self._size / np.diff(self._ends)).astype(np.float32)
        squares = np.repeat(self._rarity**2, np.diff(self._ends))
        norms = np.sqrt(np.bincount(self._owners, squares, self._size))
        self._norms = np.maximum(norms, np.finfo(np.float32).tiny).astype(np.float32)

    def nearest(self, word: str, count: int) -> tuple[IntArray, FloatArray]:
        """The ids of the words that are spelled most alike, and their cosines: (N,) each."""
        own = np.unique(word_ngrams([word], SHORTEST, LONGEST).hashes).astype(np.uint64)
        rows = np.searchsorted(self._hashes, own)
        is_known = self._hashes[np.minimum(rows, len(self._hashes) - 1)] == own
        scores = np.zeros(self._size, np.float32)
        for row in rows[is_known].tolist():
            scores[self._owners[self._ends[row] : self._ends[row + 1]]] += self._rarity[row] ** 2
        # What no word has is as rare as what one has.
        unseen = np.float32(np.log(self._size)) ** 2 * np.float32((~is_known).sum())
        square = np.square(self._rarity[rows[is_known]]).sum() + unseen
        cosines = scores / (self._norms * np.sqrt(max(square, np.finfo(np.float32).tiny)))
        best = top_k(cosines, count)
        best = best[cosines[best] > 0]
        return best, cosines[best]


class _Rule(NamedTuple):
    """What a replaced affix changes."""

    offset: FloatArray
    """(D,)"""
    quality: float
    """The mean cosine that known words are predicted with."""


class AffixRules:
    """Rules that replace one ending, or one beginning, of a word by another."""

    def __init__(self, words: Sequence[str], vectors: Callable[[IntArray], FloatArray]) -> None:
        self._vectors = vectors
        self._sides = (_Endings(words), _Endings([word[::-1] for word in words]))
        self._rule = lru_cache(maxsize=RULES_KEPT)(self._find_rule)

    def estimates(self, word: str) -> list[tuple[float, FloatArray]]:
        """The vectors that rules predict, the best rule first, each with its quality."""
        found = []
        for side, spelled in enumerate((word, word[::-1])):
            for stem, old, new in self._sides[side].related(spelled)[:TRIED]:
                rule = self._rule(side, old, new)
                if rule is not None:
                    found.append((rule.quality, stem, rule.offset))
        found.sort(key=lambda estimate: -estimate[0])
        found = found[:RULES]
        vectors = self._vectors(np.array([stem for _, stem, _ in found], np.intp))
        return [
            (quality, vector + offset)
            for (quality, _, offset), vector in zip(found, vectors, strict=True)
        ]

    def _find_rule(self, side: int, old: str, new: str) -> _Rule | None:
        pairs = self._sides[side].pairs(old, new)
        if len(pairs) < FEWEST_PAIRS:
            return None
        before, after = (self._vectors(ids) for ids in np.array(pairs, np.intp).T)
        offsets, count = after - before, len(pairs)
        total = offsets.sum(axis=0)
        predicted = before + (total - offsets) / np.float32(count - 1 + SHRINKAGE)
        cosine = float(np.einsum("nd,nd->n", normalise(predicted), after).mean())
        quality = cosine * count / (count + SHRINKAGE)
        if quality <= 0:
            return None
        return _Rule(total / np.float32(count + SHRINKAGE), min(quality, BEST_QUALITY))


BEST_QUALITY = 0.95
"""Of a rule: the weight of a perfect one would have no bound."""


class _Endings:
    """Words by their beginnings and by their endings; of words spelled backwards the reverse."""

    def __init__(self, words: Sequence[str]) -> None:
        special = len(SPECIAL_TOKENS)
        self._ids = {word: special + n for n, word in enumerate(words[special:])}
        self._words = words
        self._sorted = sorted(self._ids)
        self._reversed = sorted(word[::-1] for word in self._ids)
        self._by_ending = np.array([self._ids[word[::-1]] for word in self._reversed], np.intp)

    def related(self, word: str) -> list[tuple[int, str, str]]:
        """Known words with the same stem, most frequent first: the id, its ending, the word's."""
        found = []
        for cut in range(min(LONGEST_AFFIX, len(word) - SHORTEST_STEM) + 1):
            stem, new = word[: len(word) - cut], word[len(word) - cut :]
            ids = [
                self._ids[other]
                for other in self._sorted[_beginning_with(self._sorted, stem)]
                # Words that share more than the stem have been found with a longer one.
                if len(other) <= len(stem) + LONGEST_AFFIX
                and other != word
                and (not new or other[len(stem) : len(stem) + 1] != new[0])
            ]
            found += [(n, self._words[n][len(stem) :], new) for n in sorted(ids)[:STEMS]]
        return found

    def pairs(self, old: str, new: str) -> list[tuple[int, int]]:
        """The ids of known words that differ by two endings, those of frequent words first."""
        longer, other = (new, old) if len(new) >= len(old) else (old, new)
        # Not all that end in s: frequent words have more, and better, to say.
        ids = np.sort(self._by_ending[_beginning_with(self._reversed, longer[::-1])])[:LOOKED_AT]
        shortest = len(longer) + SHORTEST_STEM
        found = []
        for one in ids.tolist():
            word = self._words[one]
            if len(word) < shortest:
                continue
            two = self._ids.get(word[: len(word) - len(longer)] + other)
            if two is not None:
                found.append((two, one) if longer is new else (one, two))
                if len(found) == PAIRS:
                    break
        return found


def _beginning_with(words: Sequence[str], beginning: str) -> slice:
    """Where the words that begin so are, among words in order."""
    # Beyond all of them, as no text holds the last of all code points.
    return slice(bisect_left(words, beginning), bisect_left(words, f"{beginning}\U0010ffff"))


def _has_letters(word: str) -> bool:
    return any(character.isalpha() for character in word)
