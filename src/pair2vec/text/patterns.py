"""Patterns: contexts as a user types them, such as ``neither X nor Y``.

In a corpus, a context is one word left of x, the words between, and one word right of y, with
``<s>`` at a sentence's edge. A pattern fixes the words between; an outer word that is not typed is
a wildcard, so that a pattern matches every context that differs from it only there.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pair2vec.errors import UsageError
from pair2vec.text.phrases import join_tokens
from pair2vec.text.sentences import cased_tokens, fold
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, Vocabulary, X, Y, look_up_token

DISTANCES = range(1, 6)
"""How far to the right of x the paper looks for y."""

_EDGE = SPECIAL_TOKENS[BOUNDARY]
_EXAMPLE = "'neither X nor Y'"
_MOST_BETWEEN = DISTANCES[-1] - 1
_SLOTS = {X: "X", Y: "Y"}


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
    tokens = join_tokens(_tokenize_pattern(text), vocabulary)
    x, y = (_slot_position(slot, tokens, text) for slot in _SLOTS.values())
    if y < x:
        raise UsageError(
            f"pattern {text!r}: Y comes before X; a context reads from X to Y, as in {_EXAMPLE} "
            "(swap the words of the pair instead)"
        )
    left, between, right = tokens[:x], tokens[x + 1 : y], tokens[y + 1 :]
    _check_length(left, 1, "left of X", text)
    _check_length(between, _MOST_BETWEEN, "between X and Y", text)
    _check_length(right, 1, "right of Y", text)
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


def pattern_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """The words and phrases of a typed pattern, without its slots and edges."""
    tokens = join_tokens(_tokenize_pattern(text), vocabulary)
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


def _check_length(words: list[str], most: int, where: str, text: str) -> None:
    if len(words) > most:
        raise UsageError(
            f"pattern {text!r}: {len(words)} words {where} ({' '.join(words)}); "
            f"a context has at most {most} there"
        )
