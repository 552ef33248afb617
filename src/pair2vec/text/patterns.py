"""Patterns: contexts as a user types them, such as ``neither X nor Y``.

In a corpus, a context is one word left of x, the words between, and one word right of y, with
``<s>`` at a sentence's edge. A pattern fixes the words between; an outer word that is not typed is
a wildcard, so that a pattern matches every context that differs from it only there.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pair2vec.errors import UsageError
from pair2vec.text.sentences import cased_tokens, fold
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, Vocabulary, X, Y, look_up_token

DISTANCES = range(1, 6)
"""How far to the right of x the paper looks for y."""

_EDGE = SPECIAL_TOKENS[BOUNDARY]
_EXAMPLE = "'neither X nor Y'"
_MOST_BETWEEN = DISTANCES[-1] - 1
_SLOTS = {X: "X", Y: "Y"}
_COPULAS = frozenset("is are was were".split())
_TOO_MANY = "a context has one word left of X and one right of Y"
_WRONG_ORDER = "a context reads from X to Y"


class Pattern(NamedTuple):
    """The ids of a pattern's words; None is a wildcard."""

    left: int | None
    between: tuple[int, ...]
    right: int | None

    @property
    def distance(self) -> int:
        """Of y, in tokens to the right of x."""
        return len(self.between) + 1


def parse_pattern(text: str, vocabulary: Vocabulary) -> Pattern:
    """A typed pattern as ids.

    Args:
        text: One X, one Y to its right, and words, which are tokenised and joined to phrases as
            in the corpus; ``<s>`` is an edge.
        vocabulary: Of the corpus.

    Raises:
        UsageError: it has no X or Y, too many of them or of other words, or an unknown word.
    """
    tokens = vocabulary.join(_tokenize_pattern(text))
    x, y = (_slot_position(slot, tokens, text) for slot in _SLOTS.values())
    if y < x:
        raise UsageError(
            f"pattern {text!r}: Y comes before X; a context reads from X to Y, as in {_EXAMPLE} "
            "(swap the words of the pair instead)"
        )
    left, between, right = tokens[:x], tokens[x + 1 : y], tokens[y + 1 :]
    _check_length(left, 1, "left of X", text, vocabulary)
    _check_length(between, _MOST_BETWEEN, "between X and Y", text, vocabulary)
    _check_length(right, 1, "right of Y", text, vocabulary)
    if _EDGE in between:
        raise UsageError(
            f"pattern {text!r}: {_EDGE} between X and Y; they always share a sentence, "
            f"so {_EDGE} can only be the outer word"
        )
    ids = {token: look_up_token(token, vocabulary) for token in (*left, *between, *right)}
    return Pattern(
        ids[left[0]] if left else None,
        tuple(ids[token] for token in between),
        ids[right[0]] if right else None,
    )


class ContextPattern(NamedTuple):
    """A pattern in the form of a context, in place of a typed one."""

    text: str
    is_exchanged: bool
    """Whether its X is the typed pattern's Y, and its Y the typed X."""
    reason: str
    """Why it is not the typed one; empty if it is."""


def nearest_context_pattern(text: str, vocabulary: Vocabulary) -> ContextPattern:
    """The nearest pattern to a typed one that has the form of a context.

    A context reads from X to Y, so that X and Y change places in *Y such as X*. Of several words
    left of X, the last is kept, and of several right of Y the first; but *the capital of X is Y*,
    where all that is said stands on the left, becomes *Y , the capital of X*.
    ``benchmarks/fill_choices.py`` compares that with other ways. A phrase of the vocabulary is one
    word.

    Raises:
        UsageError: it has no X or Y, or too many of them.
    """
    tokens = vocabulary.join(_tokenize_pattern(text))
    x, y = (_slot_position(slot, tokens, text) for slot in _SLOTS.values())
    is_exchanged = y < x
    first, second = sorted((x, y))
    left, between, right = tokens[:first], tokens[first + 1 : second], tokens[second + 1 :]
    if not is_exchanged and len(left) <= 1 and len(right) <= 1:
        return ContextPattern(text, is_exchanged, "")
    reason = _TOO_MANY if len(left) > 1 or len(right) > 1 else _WRONG_ORDER
    if len(between) == 1 and between[0] in _COPULAS and 1 < len(left) < _MOST_BETWEEN:
        left, between, right = [], [",", *left], []
        is_exchanged = not is_exchanged
    kept = [*left[-1:], "X", *between, "Y", *right[:1]]
    return ContextPattern(" ".join(kept), is_exchanged, reason)


def pattern_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """The words and phrases of a typed pattern, without its slots and edges."""
    tokens = vocabulary.join(_tokenize_pattern(text))
    return [token for token in tokens if token not in {*_SLOTS.values(), _EDGE}]


def context_text(context: Iterable[int], vocabulary: Vocabulary) -> str:
    """A context of ids as words, with X and Y for its slots: ``neither X nor Y ,``."""
    return " ".join(_SLOTS.get(token) or vocabulary.words[token] for token in context)


def _tokenize_pattern(text: str) -> list[str]:
    """The pattern's tokens; only X and Y keep their case."""
    tokens = []
    for part in re.split(f"({_EDGE})", text):
        cased = [part] if part == _EDGE else cased_tokens(part)
        tokens += [token if token in _SLOTS.values() else fold(token) for token in cased]
    return tokens


def _slot_position(slot: str, tokens: list[str], text: str) -> int:
    count = tokens.count(slot)
    if count != 1:
        how_many = f"{count} of {slot}" if count else f"no {slot} that stands alone"
        raise UsageError(f"pattern {text!r}: {how_many}; write one X and one Y, as in {_EXAMPLE}")
    return tokens.index(slot)


def _check_length(
    words: list[str], most: int, where: str, text: str, vocabulary: Vocabulary
) -> None:
    if len(words) > most:
        nearest, is_exchanged, _ = nearest_context_pattern(text, vocabulary)
        order = ", with the words of X and Y exchanged" if is_exchanged else ""
        hint = f"; the nearest to ask for is {nearest!r}{order}" if nearest != text else ""
        raise UsageError(
            f"pattern {text!r}: {len(words)} words {where} ({' '.join(words)}); "
            f"a context has at most {most} there{hint}"
        )
