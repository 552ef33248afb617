"""Candidate pairs for the teachers to label: those that people ask about, and those they confuse.

A student knows little of the relations of a pair that was not labelled, so candidates are many and
from several sources. A pair x < y is a key x·V + y.

Shapes: V vocabulary, n nearest words, P candidates.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.ranges import Count, OptionalCount, Range, Seed, Size, check_ranges
from pair2vec.teaching.wordnet_pairs import VocabularySenses
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.triples.epoch import TripleStream

SOURCES = ("affix", "alike", "wordnet", "lexical", "random", "cooccurrence", "nearest")
"""The first that has a pair is its source."""

OPPOSITE_AFFIXES = (
    *(("", negation) for negation in "un in im il ir dis non non- de mis anti anti-".split()),
    *(("en", "dis"), ("en", "de"), ("in", "de"), ("in", "ex"), ("im", "ex"), ("in", "out")),
    *(("up", "down"), ("over", "under"), ("pre", "post"), ("pro", "anti"), ("sub", "super")),
    *(("as", "dis"), ("as", "des"), ("a", "de"), ("con", "dis"), ("multi", "mono"), ("up", "off")),
    *(("micro", "macro"), ("hyper", "hypo"), ("max", "min"), ("inter", "intra"), ("be", "a")),
    *(("on", "off"), ("en", "un"), ("at", "de"), ("dis", "re"), ("de", "re"), ("un", "re")),
)
"""Beginnings that tell opposites apart."""
OPPOSITE_ENDINGS = (("ful", "less"), ("", "less"), ("er", "ee"), ("or", "ee"), ("phile", "phobe"))
OPPOSITE_PARTS = (
    *(("in", "out"), ("on", "off"), ("up", "down"), ("over", "under"), ("front", "back")),
    *(("fore", "back"), ("white", "black"), ("left", "right"), ("high", "low"), ("hard", "soft")),
    *(("open", "close"), ("top", "bottom"), ("long", "short"), ("day", "night"), ("head", "tail")),
)
"""Words that others begin or end with: *whitelist* and *blacklist*, *login* and *logout*."""
POS_ALIKE = ("v", "a")
"""Words of these parts of speech are compared with others of their own, too: most of a verb's
nearest words are its forms and what it is done to, and *show* is not even near *hide*."""
_SHORTEST_REST = 3

_SEEN_PAIRS = 3
"""A pair that co-occurs at least so often in the sample of triples is a candidate."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidatesConfig:
    """How many candidates come from each source."""

    nearest: Size = 100
    """Nearest words by each table, for words of WordNet and their forms."""
    nearest_alike: Size = 60
    """The same among words of one part of speech, verbs or adjectives, in their base forms."""
    frequent_alike: OptionalCount = 1_500
    """So many most frequent words of one part of speech are all paired with each other."""
    nearest_others: Size = 25
    """The same for other words, mostly names and numbers."""
    wordnet_steps: Annotated[int, Range(least=0, most=10)] = 2
    wordnet_most: OptionalCount = 200
    """Words of a neighbourhood in WordNet, a random sample if there are more."""
    triples: OptionalCount = 25_000_000
    """Triples of the corpus that co-occurring pairs are counted in."""
    random: OptionalCount = 1_000_000
    most: Count = 10_000_000
    """Of all; pairs of the last sources are dropped at random beyond it."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True)
class Candidates:
    """Pairs of ids x < y, sorted, and the source of each."""

    x: Int64Array
    y: Int64Array
    source: NDArray[np.int8]
    """The index in `SOURCES`."""


def find_candidates(  # noqa: PLR0913, PLR0917 - a source each
    config: CandidatesConfig,
    vocabulary: Vocabulary,
    senses: VocabularySenses,
    asked: NDArray[np.bool_],
    nearest: Sequence[NDArray[np.int32]],
    alike: Sequence[NDArray[np.integer]],
    stream: TripleStream | None,
    linked: Sequence[NDArray[np.integer]] = (),
) -> Candidates:
    """Candidates of all sources.

    Args:
        config: How many.
        vocabulary: Of the model.
        senses: Its words in WordNet.
        asked: Of each word, whether it is one of WordNet or a form of one, (V,).
        nearest: By each table, the ids of each word's nearest words, (V, n), nearest first.
        alike: Pairs of ids (2, P) that are nearest among words of one part of speech.
        stream: Triples of the corpus, to count co-occurrences in; None for no such candidates.
        linked: Pairs of ids (2, P) that a thesaurus and a dictionary link.
    """
    size, random = len(vocabulary), np.random.default_rng(config.seed)
    by_source = {
        "wordnet": _wordnet_pairs(config, senses, size, random),
        "affix": affix_pairs(vocabulary),
        "alike": _united(pair_keys(x, y, size) for x, y in [*alike, *_frequent(config, senses)]),
        "lexical": _united(pair_keys(x, y, size) for x, y in linked),
        "cooccurrence": _cooccurring(config, stream, size) if stream else np.zeros(0, np.int64),
        "nearest": _nearest_pairs(config, asked, nearest, size),
        "random": _random_pairs(config, vocabulary, random),
    }
    keys, sources = np.zeros(0, np.int64), np.zeros(0, np.int8)
    for number, name in enumerate(SOURCES):
        new = np.setdiff1d(by_source[name], keys, assume_unique=True)
        room = max(0, config.most - len(keys))
        if len(new) > room:
            new = random.permutation(new)[:room]
        keys = np.concatenate([keys, new])
        sources = np.concatenate([sources, np.full(len(new), number, np.int8)])
    order = np.argsort(keys)
    return Candidates(*np.divmod(keys[order], size), sources[order])


def pair_keys(x: Int64Array, y: Int64Array, size: int) -> Int64Array:
    """The distinct keys of pairs in either order, sorted, without pairs of special tokens."""
    special = len(SPECIAL_TOKENS)
    kept = (x != y) & (x >= special) & (y >= special)
    first, second = np.minimum(x, y)[kept], np.maximum(x, y)[kept]
    keys: Int64Array = np.unique(first.astype(np.int64) * size + second)
    return keys


def _wordnet_pairs(
    config: CandidatesConfig, senses: VocabularySenses, size: int, random: np.random.Generator
) -> Int64Array:
    """WordNet's neighbourhoods, whatever the relation."""
    parts = []
    for word, words in senses.neighbourhoods(config.wordnet_steps):
        near = np.array(words, np.int64)
        if len(near) > config.wordnet_most:
            near = random.choice(near, config.wordnet_most, replace=False)
        parts.append(np.minimum(word, near) * size + np.maximum(word, near))
    return _united(parts)


def _frequent(config: CandidatesConfig, senses: VocabularySenses) -> Iterator[NDArray[np.integer]]:
    """All pairs of the most frequent words of each of `POS_ALIKE`, as ids (2, P)."""
    for pos in POS_ALIKE:
        words = np.array(senses.with_pos(pos)[: config.frequent_alike], np.int64)
        yield words[np.stack(np.triu_indices(len(words), 1))]


def affix_pairs(vocabulary: Vocabulary) -> Int64Array:
    """The keys of words that differ by affixes of opposites: *enable* and *disable*."""
    ids = {word: n for word, n in vocabulary.ids.items() if n >= len(SPECIAL_TOKENS)}
    x, y = [], []
    beginnings, endings = OPPOSITE_AFFIXES + OPPOSITE_PARTS, OPPOSITE_ENDINGS + OPPOSITE_PARTS
    for pairs, cut in ((beginnings, _without_beginning), (endings, _without_ending)):
        for affixes in pairs:
            for words in _by_rest(ids, affixes, cut).values():
                for first, second in combinations(words, 2):
                    x.append(first)
                    y.append(second)
    return pair_keys(np.array(x, np.int64), np.array(y, np.int64), len(vocabulary))


def _by_rest(
    ids: dict[str, int], affixes: tuple[str, str], cut: Callable[[str, str], str | None]
) -> dict[str, list[int]]:
    """The words with each rest after one of the affixes, where both affixes occur."""
    rests: list[dict[str, int]] = []
    for affix in affixes:
        own = ((cut(word, affix), n) for word, n in ids.items())
        rests.append({rest: n for rest, n in own if rest and len(rest) >= _SHORTEST_REST})
    both: defaultdict[str, list[int]] = defaultdict(list)
    for rest in rests[0].keys() & rests[1].keys():
        both[rest] = [rests[0][rest], rests[1][rest]]
    return both


def _without_beginning(word: str, affix: str) -> str | None:
    return word.removeprefix(affix) if word.startswith(affix) else None


def _without_ending(word: str, affix: str) -> str | None:
    return word.removesuffix(affix) if word.endswith(affix) else None


def _cooccurring(config: CandidatesConfig, stream: TripleStream, size: int) -> Int64Array:
    """Pairs of the triples that training draws, in which frequent words are subsampled."""
    parts: list[Int64Array] = []
    counts: list[Int64Array] = []
    seen = 0
    # The last incomplete batch of an epoch is dropped: small batches for a small corpus.
    size_of_batch = max(1, min(1 << 20, stream.expected_triples() // 100))
    for batch, position in stream.batches(size_of_batch):
        if position.epoch or seen >= config.triples:
            break
        first, second = np.minimum(batch.x, batch.y), np.maximum(batch.x, batch.y)
        keys, count = np.unique(first * size + second, return_counts=True)
        parts.append(keys)
        counts.append(count)
        seen += len(batch.x)
    if not parts:
        return np.zeros(0, np.int64)
    keys, rows = np.unique(np.concatenate(parts), return_inverse=True)
    totals = np.bincount(rows, np.concatenate(counts))
    frequent = keys[totals >= _SEEN_PAIRS]
    return pair_keys(*np.divmod(frequent, size), size)


def _nearest_pairs(
    config: CandidatesConfig,
    asked: NDArray[np.bool_],
    nearest: Iterable[NDArray[np.int32]],
    size: int,
) -> Int64Array:
    parts = []
    for table in nearest:
        counts = np.where(asked, config.nearest, config.nearest_others).clip(max=table.shape[1])
        chosen = np.arange(table.shape[1]) < counts[:, None]
        x = np.repeat(np.arange(size), counts)
        parts.append(pair_keys(x, table[chosen].astype(np.int64), size))
    return _united(parts)


def _united(parts: Iterable[Int64Array]) -> Int64Array:
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))


def _random_pairs(
    config: CandidatesConfig, vocabulary: Vocabulary, random: np.random.Generator
) -> Int64Array:
    """Half of words by the root of their frequency, half of any words."""
    size, half = len(vocabulary), config.random // 2
    special = len(SPECIAL_TOKENS)
    roots = np.sqrt(vocabulary.counts[special:].astype(np.float64))
    frequent = random.choice(np.arange(special, size), (2, half), p=roots / roots.sum())
    uniform = random.integers(special, size, (2, config.random - half))
    x, y = np.concatenate([frequent, uniform], axis=1)
    return pair_keys(x, y, size)
