"""Words of a text, and where they stand in it.

The rules are those of the corpora (`pair2vec.text.sentences`), with two differences, both because
an answer is part of a text. Nothing that shows is taken out, not even a web address. And hyphens
part words, because answers begin and end there: ``two`` in ``a two-page letter``.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pair2vec.text.sentences import token_spans

_SPELLINGS = {
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’ʼ", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    "\ufffd": " ",
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f", ""),
}
"""As in the corpora: one for what is written in several ways, and none for what does not show."""

_PIECE = re.compile(r"-|[^-]+")


class Words(NamedTuple):
    """Words, and the characters from where to where they go."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    """One behind the last character of each."""


def find_words(text: str) -> Words:
    """The words of `text` in order, case kept, quotes and apostrophes straight."""
    line, places = _respelled(text)
    spans = list(_spans(line))
    return Words(
        tuple(line[start:end] for start, end in spans),
        tuple(places[start] for start, _ in spans),
        tuple(places[end - 1] + 1 for _, end in spans),
    )


def _respelled(text: str) -> tuple[str, Sequence[int]]:
    """One spelling for what is written in several ways, and where each character was."""
    if text.isascii():
        return text, range(len(text))
    spelled = [_SPELLINGS.get(character, character) for character in text]
    return "".join(spelled), [place for place, spelling in enumerate(spelled) if spelling]


def _spans(line: str) -> Iterator[tuple[int, int]]:
    for start, end in token_spans(line):
        if "-" in line[start:end]:
            yield from (piece.span() for piece in _PIECE.finditer(line, start, end))
        else:
            yield start, end
