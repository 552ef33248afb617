"""Questions of all kinds for a model, and how the engine's answers are compared with Python's.

Two answers are the same if they have the same words in the same order with scores that differ by
less than `TOLERANCE`; words whose scores in Python differ by less than that may change places, and
one may stand in for the last.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pair2vec.errors import Pair2vecError
from pair2vec.server.endpoints import Endpoint, Resources
from pair2vec.server.handlers import error_content
from pair2vec.server.parameters import parse_parameters

Question = tuple[str, dict[str, Any]]
"""The name of an endpoint, and its parameters."""

TOLERANCE = 1e-4

SHARES = {
    "relate": 330,
    "plane": 20,
    "opposed": 310,
    "pair": 110,
    "score": 108,
    "words": 50,
    "fill": 24,
    "like": 12,
    "analogy": 10,
    "mistake": 20,
    "neighbours": 4,
    "nearest": 2,
}
"""Of a thousand: many of those that are quick, fewer of those that look at all words."""
EVEN_SHARES = dict.fromkeys(SHARES, 1)

UNKNOWN = (
    *("unsubscribes", "misremembering", "hotness", "colder", "fairer", "describers", "stoppings"),
    *("toasterish", "unwarm", "uncheaply", "hypercold", "recooled", "unkindnesses", "Coldest"),
    *("recieve", "tommorow", "chaep", "franse", "warmm", "japn", "clod", "stoppping", "NEWYORK"),
    *("hot tub water", "Cold Hot", "cheap , cold", "of the", "hot colder", "user 1990", "paris's"),
    *("the cold user is hot in new paris or japan", "hot - cold", "climate of france", "x_y z"),
    *("asdfghjkl", "qzxv", "aaaaaaaa", "x", "?!", "...", "n't", "xx's", "_cold_", "cold_cool"),
    *("naïvety", "cafés", "straße", "東京", "жар", "𝓱ello", "co𝓵d", "cold😀", "COLDİ"),
    *("1234567", "1990s", "3d-cold", "windows95", "90", "²", "1,000.5", "cold-1990", "u.s.s.r."),
    *("pneumonoultramicroscopicsilicovolcanoconiosis", "cold" * 16, "cold" * 20, "x" * 64),
)
"""Words that few models know: inflected, derived and misspelled ones, phrases, gibberish, and what
is not ASCII, has digits or is very long; some are composed, others refused."""

_PATTERNS = (
    *("X and Y", "X or Y", "neither X nor Y", "in X , Y .", "X such as Y ,", "<s> X is Y"),
    *("X , a famous Y ,", "not X but Y", "from X to Y .", "X 's Y", "X is a kind of Y", "X ( Y )"),
)
_LONG_PATTERNS = ("Y such as X", "the name of X is Y", "a kind of X or Y ,", "New York X , Y")
"""That the nearest pattern of a context is asked in place of."""
_FRAMES = (
    *("The {0} is {1}.", "They {0} the {1} before noon.", "How do I {0} the {1}?", "It's not {0}."),
    *("Turn the {0} on", "She doesn't {0} a {1}.", "{1} was {0} in 1,990-95", "No {0}, {1} 20 km."),
    *("Well-known {0}s can’t {1}", "I failed to {0} &amp; {1}", "Neither {0} nor {1} left Paris."),
    *("The U.S. {0} beat Anna and Ben", "stop {0}ing the {1}", "{0} hours, {1} minutes"),
)


UNKNOWN_WORDS: tuple[Question, ...] = tuple(
    ("pair", {"x": word, "y": "hot", "direction": "forward", "vector": True, "top": 1})
    for word in UNKNOWN
)
"""What is composed of each of them."""


def make_questions(
    words: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    count: int,
    shares: Mapping[str, int] = SHARES,
) -> Iterator[Question]:
    """So many questions, the same ones every time; a tenth of their words are of `UNKNOWN`.

    Args:
        words: Of the model, the most frequent first; a third of the pairs are drawn from them.
        pairs: In a relation, for the others.
        count: How many.
        shares: Of the kinds of questions.
    """
    source = random.Random(0)
    kinds = [kind for kind, share in shares.items() for _ in range(share)]
    for number in range(count):
        kind = kinds[number * len(kinds) // count]
        yield _KINDS[kind](_Source(source, words, pairs))


class _Source:
    def __init__(
        self, source: random.Random, words: Sequence[str], pairs: Sequence[tuple[str, str]]
    ) -> None:
        self.random, self._words, self._pairs = source, words, pairs

    def word(self) -> str:
        """A known one, frequent ones more often."""
        return self._words[int(len(self._words) ** self.random.random()) - 1]

    def pair(self) -> dict[str, str]:
        own = (self.word(), self.word()) if self.random.random() < 1 / 3 else None
        pair = own or self.random.choice(self._pairs)
        return {slot: self._or_unknown(word) for slot, word in zip("xy", pair, strict=True)}

    def _or_unknown(self, word: str) -> str:
        return self.random.choice(UNKNOWN) if self.random.random() < 0.1 else word

    def pattern(self) -> str:
        return self.random.choice(_PATTERNS)

    def sentences(self) -> dict[str, str]:
        """Two of one frame, or of two, with words that are related."""
        one, other = self.pair(), self.pair()
        frame = self.random.choice(_FRAMES)
        second = frame if self.random.random() < 0.8 else self.random.choice(_FRAMES)
        return {"a": frame.format(one["x"], other["x"]), "b": second.format(one["y"], other["x"])}


def _fill(source: _Source) -> Question:
    slot = source.random.choice("xy")
    more = source.random.choice(({}, {}, {"prior": 0.3}, {"paper": True}, {"all_words": True}))
    pattern = source.random.choice((*_PATTERNS, *_LONG_PATTERNS))
    return "fill", {"pattern": [pattern], slot: source.pair()[slot], **more}


def _analogy(source: _Source) -> Question:
    (a, b), (x, _) = source.pair().values(), source.pair().values()
    direction = source.random.choice(("both", "both", "forward", "backward"))
    more = source.random.choice(({}, {"alpha": 0.3}))
    return "analogy", {"a": a, "b": b, "x": x, "direction": direction, **more}


def _plane(source: _Source) -> Question:
    pairs = [source.pair() for _ in range(source.random.randrange(2, 9))]
    return "plane", {slot: [pair[slot] for pair in pairs] for slot in "xy"}


def _neighbours(source: _Source) -> Question:
    more = source.random.choice(
        ({}, {"relation": "antonym"}, {"relation": "hypernym", "all_words": True})
    )
    return "neighbours", {"word": source.pair()["x"], **more}


def _pair(source: _Source) -> Question:
    more = source.random.choice(({}, {"vector": True, "direction": "backward"}))
    return "pair", {**source.pair(), **more}


def _score(source: _Source) -> Question:
    more = source.random.choice(({}, {"unknown": "compose"}, {"unknown": "error"}))
    return "score", {**source.pair(), "pattern": source.pattern(), **more}


def _nearest(source: _Source) -> Question:
    pair = source.pair()
    # Of a word and itself, any pair is as near as its inverse.
    while len({"".join(filter(str.isalnum, word.lower())) for word in pair.values()}) == 1:
        pair = source.pair()
    return "nearest", {**pair, "alpha": source.random.random()}


def _words(source: _Source) -> Question:
    word = source.pair()["x"]
    place = source.random.randrange(len(word) + 1)
    return "words", {"start": word[:place] + source.random.choice(("", "", "q")) + word[place:][:2]}


def _mistake(source: _Source) -> Question:
    word = source.word()
    mistakes: tuple[Question, ...] = (
        ("score", {"x": f"{word}qx", "y": "hot", "pattern": "X or Y", "unknown": "maybe"}),
        ("score", {"x": f"{word}qx", "y": "hot", "pattern": "X or Y"}),
        ("relate", {"x": " ", "y": "hot"}),
        ("score", {"x": word, "y": f"{word} {word}", "pattern": "X or Y"}),
        ("score", {"x": word, "y": word, "pattern": "Y and X"}),
        ("score", {"x": word, "y": word, "pattern": "a b X or Y"}),
        ("fill", {"pattern": ["X or Y"]}),
        ("analogy", {"a": word, "b": word}),
        ("words", {"start": word, "top": 1000}),
        ("plane", {"x": [word], "y": [word]}),
        ("plane", {"x": [word, word], "y": [word]}),
        ("plane", {"x": [word] * 9, "y": [word] * 9}),
    )
    return source.random.choice(mistakes)


_KINDS: dict[str, Callable[[_Source], Question]] = {
    "relate": lambda source: ("relate", {**source.pair(), "top": 0}),
    "like": lambda source: ("relate", source.pair()),
    "opposed": lambda source: ("opposed", source.sentences()),
    "pair": _pair,
    "score": _score,
    "words": _words,
    "fill": _fill,
    "analogy": _analogy,
    "neighbours": _neighbours,
    "plane": _plane,
    "nearest": _nearest,
    "mistake": _mistake,
}


def python_answer(
    resources: Resources, endpoints: Mapping[str, Endpoint], question: Question
) -> Mapping[str, object]:
    """What the server answers, or the error that it gives."""
    name, given = question
    try:
        values = parse_parameters(endpoints[name].parameters, given)
        return endpoints[name].answer(resources, values)
    except Pair2vecError as error:
        return error_content(error)


def difference(  # noqa: PLR0911 - by type
    expected: Any, found: Any, tolerance: float = TOLERANCE
) -> str | None:
    """In what an answer of the engine differs from Python's; None if in nothing."""
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        margin = tolerance * max(1.0, abs(expected) / 10)
        return None if abs(expected - found) < margin else f"{expected} and {found}"
    if isinstance(expected, Mapping):
        if names := expected.keys() ^ (found.keys() - {"query"}):
            return f"only one has {', '.join(sorted(names))}"
        parts = (
            f"{name}: {fault}"
            for name in expected
            if (fault := difference(expected[name], found[name], tolerance))
        )
        return next(parts, None)
    if not isinstance(expected, list | tuple):
        return None if found == expected else f"{expected!r} and {found!r}"
    if len(expected) != len(found):
        return f"{len(expected)} and {len(found)} of them: {expected}, {found}"
    if not expected or not _is_scored(expected[0]):
        faults = (difference(*both, tolerance) for both in zip(expected, found, strict=True))
        return next(filter(None, faults), None)
    scores = {_name(one): _score_of(one) for one in expected}
    for own, other in zip(expected, found, strict=True):
        if fault := difference(_score_of(own), _score_of(other), tolerance):
            return f"{own}, {other}: {fault}"
        usual = scores.get(_name(other), _score_of(expected[-1]))
        if _name(own) != _name(other) and abs(usual - _score_of(other)) >= tolerance:
            return f"{own} and {other}"
        if _name(own) == _name(other) and (fault := difference(own, other, tolerance)):
            return f"{own}, {other}: {fault}"
    return None


def _is_scored(item: object) -> bool:
    values = item.values() if isinstance(item, Mapping) else ()
    return any(isinstance(value, float | int) for value in values)


def _score_of(match: Mapping[str, Any]) -> float:
    return float(next(value for value in match.values() if isinstance(value, float | int)))


def _name(match: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(value for value in match.values() if isinstance(value, str))
