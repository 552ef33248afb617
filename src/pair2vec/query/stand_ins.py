"""Known words that can stand in for one that is not: other spellings, other forms, the head.

``Body_part`` is read as *part*, ``trouser`` as *trousers*, ``bookcase`` as *case*.
"""

import re
from collections.abc import Container, Iterator

_SHORTEST_PART = 3
_SHORTEST_ENDING = 4
_SPELLINGS = (("our", "or"), ("or", "our"), ("ise", "ize"), ("ize", "ise"))
_FORMS = (
    *(("", "s"), ("", "es"), ("s", ""), ("es", ""), ("y", "ies"), ("ies", "y")),
    *(("", "d"), ("", "ed"), ("", "ing"), ("e", "ing")),
)


def stand_in(word: str, known: Container[str]) -> str | None:
    """The known word that `word` is best read as: itself, if it is one; None if there is none."""
    return next((spelling for spelling in spellings(word) if spelling in known), None) or (
        _head(word.lower(), known)
    )


def spellings(word: str) -> Iterator[str]:
    """A word in small letters; then, the likeliest first, what it may be written as instead."""
    small = word.lower()
    yield small
    for joint in ("", "-"):
        joined = re.sub(r"[-_ ]", joint, small)
        if joined != small:
            yield joined
    for ending, other in _FORMS:
        if small.endswith(ending):
            yield small[: len(small) - len(ending)] + other
    for part, other in _SPELLINGS:
        if part in small:
            yield small.replace(part, other)
    # The head of a term stands last: a body part is a part.
    parts = re.split(r"[-_ ]", small)
    yield from (part for part in reversed(parts[1:] and parts) if len(part) >= _SHORTEST_PART)


def _head(word: str, known: Container[str]) -> str | None:
    """The longest known ending of a compound whose beginning is known, too."""
    cuts = range(_SHORTEST_PART, len(word) - _SHORTEST_ENDING + 1)
    return next((word[cut:] for cut in cuts if word[:cut] in known and word[cut:] in known), None)
