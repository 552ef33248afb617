"""A world of made-up words: its text, its WordNet and its word vectors.

Nouns come in families: the first is the kind of all others, four of the others are synonyms, and
one has another as its part. Adjectives come in fours: two antonyms, and to each a similar one.
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.wordnet.small_wordnet import Link, Meaning, meaning, write_wordnet

from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import prepare
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.word_vectors.formats import write_vec
from pair2vec.wordnet.dictionary import WordNet

FAMILY = 8
SIZE = 16
"""Dimension of its word vectors."""


def made_up_words(count: int, seed: int = 0) -> list[str]:
    """Distinct, and none a form of another: three syllables, the last with an *o*."""
    random = np.random.default_rng(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        letters = [random.choice(list(group)) for group in ("bdfgklmnpv", "aiu") * 2]
        words["".join([*letters, random.choice(list("bfgkmpv")), "o"])] = None
    return list(words)


_WORDS = made_up_words(160 + 75 * FAMILY + 120)
FREQUENT = _WORDS[:160]
"""More than the most frequent words that are of no relation."""
NOUNS = _WORDS[160 : 160 + 75 * FAMILY]
ADJECTIVES = _WORDS[160 + 75 * FAMILY :]
PLURALS = [f"{noun}s" for noun in NOUNS]


class Family(NamedTuple):
    kind: str
    synonyms: list[str]
    part: str
    whole: str
    other: str

    @property
    def members(self) -> list[str]:
        return [*self.synonyms, self.part, self.whole, self.other]


def families() -> list[Family]:
    starts = range(0, len(NOUNS), FAMILY)
    return [
        Family(NOUNS[start], NOUNS[start + 1 : start + 5], *NOUNS[start + 5 : start + FAMILY])
        for start in starts
    ]


def fours() -> list[list[str]]:
    words = iter(ADJECTIVES)
    return [list(islice(words, 4)) for _ in range(len(ADJECTIVES) // 4)]


def meanings() -> list[Meaning]:
    found = []
    for kind, synonyms, part, whole, other in families():
        below = (synonyms[0], part, whole, other)
        found.append(meaning(kind, "n", kind, *(Link("~", name) for name in below)))
        found.append(meaning(synonyms[0], "n", " ".join(synonyms), Link("@", kind)))
        found.append(meaning(whole, "n", whole, Link("@", kind), Link("%p", part)))
        found += [meaning(name, "n", name, Link("@", kind)) for name in (part, other)]
    for up, down, higher, lower in fours():
        found.append(meaning(up, "a", up, Link("!", down, 1, 1), Link("&", higher)))
        found.append(meaning(down, "a", down, Link("!", up, 1, 1), Link("&", lower)))
        found.append(meaning(higher, "s", higher, Link("&", up)))
        found.append(meaning(lower, "s", lower, Link("&", down)))
    return found


def world_wordnet(folder: Path) -> WordNet:
    return WordNet.open(write_wordnet(folder, meanings(), {}))


def world_vocabulary(more: Sequence[str] = ()) -> Vocabulary:
    words = [*FREQUENT, *NOUNS, *ADJECTIVES, *more]
    return Vocabulary([WordCount(word, len(words) - rank) for rank, word in enumerate(words)])


def world_corpus(folder: Path) -> Corpus:
    """Sentences of three frequent words and the words of a family."""
    random = np.random.default_rng(0)
    groups = [[family.kind, *family.members] for family in families()] + fours()
    lines = []
    for _ in range(30):
        for group in groups:
            fillers = random.choice(FREQUENT, 12)
            chosen = random.permutation(group)[:2]
            lines.append(
                f"{' '.join(fillers[:4])} {chosen[0]} {fillers[5]} {chosen[1]} "
                f"{' '.join(fillers[6:])} ."
            )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text("\n\n".join(lines))
    return prepare([str(folder / "text.txt")], folder / "corpus")


def world_vectors(path: Path, vocabulary: Vocabulary) -> Path:
    """Of all words; the words of a family are near each other."""
    random = np.random.default_rng(1)
    groups = [[family.kind, *family.members] for family in families()] + fours()
    centres = {word: random.standard_normal(SIZE) for group in groups for word in group[:1]}
    first = {word: group[0] for group in groups for word in group}
    words = vocabulary.words[4:]
    vectors = [
        (centres[first[word]] if word in first else 0) + 0.5 * random.standard_normal(SIZE)
        for word in words
    ]
    write_vec(path, words, np.array(vectors, np.float32))
    return path
