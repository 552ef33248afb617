"""The words of two sentences, aligned: equal words first, then forms of one word.

What is left over is what the sentences differ in; `relations.opposed` aligns it by pair vectors.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pair2vec.relations.word_forms import base_forms, is_form, spelling_key
from pair2vec.text.function_words import FUNCTION_WORDS
from pair2vec.text.sentences import cased_tokens, fold

LIGHT_WORDS = FUNCTION_WORDS | set("anymore get gets got getting let lets".split())
"""Words that say little by themselves; those that may reverse a sentence are looked at apart."""

CONTRACTIONS = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "let's": ("let", "us"),
    **{
        spelled: (verb, "not")
        for verb in "do does did is are was were has have had would could should ca wo".split()
        for spelled in (f"{verb}nt",)
    },
    "cant": ("can", "not"),
    "wont": ("will", "not"),
}
CLITICS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'s": ""}
_NUMBER = re.compile(r"\d[\d.,:/]*(st|nd|rd|th)?")
NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
    if word != "one"  # *no one*, *one of them*
} | {
    word: f"{value}{'nd' if value == 2 else 'rd' if value == 3 else 'th'}"
    for value, word in enumerate(
        """second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth""".split(), 2
    )
}  # but for *first*, which is more often no number: *at first*, *first of all*
_LARGEST_TABLE = 40_000
"""Cells of the table that a longest common subsequence is found in; longer ones are aligned as bags
of words."""
_SAME_BEGINNING = 3
"""Letters of two forms of one word, irregular ones excepted."""


class Token(NamedTuple):
    """A word or number of a sentence."""

    text: str
    """As it is written, but for apostrophes, which are straight."""
    word: str
    """As the vocabulary spells it; contractions are expanded."""
    is_content: bool
    """Neither a function word nor a number."""
    is_number: bool
    is_name: bool
    """Capitalised, and not the first word."""


class Alignment(NamedTuple):
    """Which word of one sentence is which of the other."""

    a: list[Token]
    b: list[Token]
    partner_a: list[int]
    """Of each word of a the index of its partner in b, or -1."""
    partner_b: list[int]

    @property
    def rest_a(self) -> list[int]:
        """The indices of the words of a without a partner."""
        return [i for i, partner in enumerate(self.partner_a) if partner < 0]

    @property
    def rest_b(self) -> list[int]:
        return [j for j, partner in enumerate(self.partner_b) if partner < 0]


def tokens_of(sentence: str) -> list[Token]:
    """The words and numbers of a sentence, without punctuation."""
    found: list[Token] = []
    is_shouted = sentence.isupper()
    for spelled in cased_tokens(sentence):
        for part in spelled.split("-") if _is_compound(spelled) else (spelled,):
            for word in _expanded(fold(part)):
                number = NUMBER_WORDS.get(word, word if _NUMBER.fullmatch(word) else "")
                is_no_longer = word == "longer" and bool(found) and found[-1].word == "no"
                is_content = not (number or word in LIGHT_WORDS or is_no_longer)
                found.append(
                    Token(
                        part,
                        number.rstrip(".,:/") or word,
                        is_content,
                        bool(number),
                        is_content and bool(found) and part[:1].isupper() and not is_shouted,
                    )
                )
    return found


def _is_compound(spelled: str) -> bool:
    """*user-friendly* is two words; *non-fiction* has a negation for its first."""
    return "-" in spelled.strip("-") and any(map(str.isalpha, spelled))


def _expanded(word: str) -> Sequence[str]:
    """The words of a contraction; a word itself; nothing for punctuation and possessives."""
    if word in CONTRACTIONS:
        return CONTRACTIONS[word]
    if "'" in word:
        stem, _, clitic = word.partition("'")
        if word.endswith("n't"):
            return (word.removesuffix("n't"), "not")
        whole = CLITICS.get(f"'{clitic}")
        if whole is not None:
            return tuple(part for part in (stem, whole) if part)
    return (word,) if any(map(str.isalnum, word)) else ()


def align(a: list[Token], b: list[Token]) -> Alignment:
    """Align equal words in their order, then equal ones out of it, then forms of one word."""
    found = Alignment(a, b, [-1] * len(a), [-1] * len(b))
    keys_a, keys_b = ([spelling_key(token.word) for token in side] for side in (a, b))
    start, end_a, end_b = 0, len(a), len(b)
    while start < min(end_a, end_b) and keys_a[start] == keys_b[start]:
        _pair(found, start, start)
        start += 1
    while min(end_a, end_b) > start and keys_a[end_a - 1] == keys_b[end_b - 1]:
        end_a, end_b = end_a - 1, end_b - 1
        _pair(found, end_a, end_b)
    if (end_a - start) * (end_b - start) <= _LARGEST_TABLE:
        for i, j in _common_subsequence(keys_a[start:end_a], keys_b[start:end_b]):
            _pair(found, start + i, start + j)
    _align_rest(found, keys_a, keys_b)
    _align_forms(found)
    return found


def _pair(alignment: Alignment, i: int, j: int) -> None:
    alignment.partner_a[i], alignment.partner_b[j] = j, i


def _common_subsequence(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of indices of a longest common subsequence."""
    if not a or not b:
        return []
    # lengths[i][j] is that of a[i:] and b[j:].
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below = lengths[i], lengths[i + 1]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    pairs, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _align_rest(alignment: Alignment, keys_a: Sequence[str], keys_b: Sequence[str]) -> None:
    """Align words without a partner that have the same key, wherever they are."""
    places: dict[str, list[int]] = {}
    for j in reversed(alignment.rest_b):
        places.setdefault(keys_b[j], []).append(j)
    for i in alignment.rest_a:
        if found := places.get(keys_a[i]):
            _pair(alignment, i, found.pop())


def _align_forms(alignment: Alignment) -> None:
    """Align content words without a partner that are forms of one word."""
    bases: dict[str, int] = {}
    rest_b = [j for j in alignment.rest_b if alignment.b[j].is_content]
    for j in reversed(rest_b):
        bases |= dict.fromkeys(base_forms(alignment.b[j].word), j)
    for i in alignment.rest_a:
        word = alignment.a[i].word
        if not alignment.a[i].is_content:
            continue
        found = {bases[base] for base in base_forms(word) if base in bases}
        alike = [j for j in rest_b if j in found or _looks_like_form(word, alignment.b[j].word)]
        free = [j for j in alike if alignment.partner_b[j] < 0]
        if free:
            _pair(alignment, i, free[0])


def _looks_like_form(word: str, other: str) -> bool:
    return word[:_SAME_BEGINNING] == other[:_SAME_BEGINNING] and is_form(word, other)


def gaps(alignment: Alignment) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Of each word without a partner, those of a and those of b: its gap in sentence b.

    A gap is the pair of words of b with a partner that are next to it. Two words in one gap have
    taken each other's place.
    """
    own = [j if partner >= 0 else -1 for j, partner in enumerate(alignment.partner_b)]
    size = len(alignment.b)
    return _gaps(alignment.partner_a, size), _gaps(own, size)


def _gaps(places: Sequence[int], size: int) -> list[tuple[int, int]]:
    """The places before and after each one that has none (-1)."""
    before, left = [], -1
    for place in places:
        if place < 0:
            before.append(left)
        else:
            left = place
    after, right = [], size
    for place in reversed(places):
        if place < 0:
            after.append(right)
        else:
            right = place
    return list(zip(before, reversed(after), strict=True))
