"""What the spelling of two words tells of their relation: *unlikely* is *likely* denied.

Such opposites seldom stand side by side, for a sentence that has one hardly needs the other; so
the text tells little of them, and their letters all.
"""

_PREFIXES = frozenset("un in im il ir dis non non- mis de anti anti- counter counter-".split())
_SHORTEST = 4
"""Of what may be denied: *into* is not what *to* is not."""


def is_denial(word: str, other: str) -> bool:
    """Whether one of two words looks like the other denied, as *unfair* and *fair*.

    *useful* and *useless* deny each other. Some that look alike do not: *port* and *import*.
    """
    short, long = sorted((word, other), key=len)
    if long.endswith(short):
        return len(short) >= _SHORTEST and long[: len(long) - len(short)] in _PREFIXES
    having, lacking = (word, other) if word.endswith("ful") else (other, word)
    return having.endswith("ful") and lacking == having.removesuffix("ful") + "less"
