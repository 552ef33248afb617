"""Questions of all kinds for a model, and how the engine's answers are compared with Python's.

Two answers are the same if they have the same words in the same order with scores that differ by
less than `TOLERANCE`; words whose scores in Python differ by less than that may change places, and
one may stand in for the last.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pair2vec.errors import Pair2vecError
from pair2vec.server.endpoints import Endpoint, Resources
from pair2vec.server.handlers import error_content
from pair2vec.server.parameters import parse_parameters

Question = tuple[str, dict[str, Any]]
"""The name of an endpoint, and its parameters."""

TOLERANCE = 1e-4

SHARES = {
    "relate": 300,
    "plane": 20,
    "opposed": 300,
    "pair": 100,
    "score": 80,
    "words": 60,
    "fill": 60,
    "like": 30,
    "analogy": 25,
    "mistake": 15,
    "neighbours": 7,
    "nearest": 3,
}
"""Of a thousand: many of those that are quick, fewer of those that look at all words."""

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


def make_questions(
    words: list[str], pairs: list[tuple[str, str]], count: int, seed: int = 0
) -> Iterator[Question]:
    """So many questions, the same ones for a seed.

    Args:
        words: Of the model, the most frequent first; a third of the pairs are drawn from them.
        pairs: In a relation, for the others.
        count: How many.
        seed: Of the choice.
    """
    source = random.Random(seed)
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    for number in range(count):
        kind = kinds[number * len(kinds) // count]
        yield _KINDS[kind](_Source(source, words, pairs))


class _Source:
    def __init__(
        self, source: random.Random, words: list[str], pairs: list[tuple[str, str]]
    ) -> None:
        self.random, self._words, self._pairs = source, words, pairs

    def word(self) -> str:
        """Frequent ones more often."""
        return self._words[int(len(self._words) ** self.random.random()) - 1]

    def pair(self) -> dict[str, str]:
        own = (self.word(), self.word()) if self.random.random() < 1 / 3 else None
        return dict(zip("xy", own or self.random.choice(self._pairs), strict=True))

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
    return "analogy", {"a": a, "b": b, "x": x, "alpha": 0.4, "direction": direction}


def _plane(source: _Source) -> Question:
    pairs = [source.pair() for _ in range(source.random.randrange(2, 9))]
    return "plane", {slot: [pair[slot] for pair in pairs] for slot in "xy"}


def _nearest(source: _Source) -> Question:
    """Of a word with itself, any pair is as near as its inverse."""
    pair = source.pair()
    while len({word.lower().replace("_", " ") for word in pair.values()}) == 1:
        pair = source.pair()
    return "nearest", {**pair, "alpha": source.random.random()}


def _neighbours(source: _Source) -> Question:
    more = source.random.choice(
        ({}, {"relation": "antonym"}, {"relation": "hypernym", "all_words": True})
    )
    return "neighbours", {"word": source.pair()["x"], **more}


def _words(source: _Source) -> Question:
    word = source.word()
    place = source.random.randrange(len(word) + 1)
    return "words", {"start": word[:place] + source.random.choice(("", "", "q")) + word[place:][:2]}


def _mistake(source: _Source) -> Question:
    word = source.word()
    mistakes: tuple[Question, ...] = (
        # Where one is composed, as in `relate`, the engine says that it is unknown.
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
    "pair": lambda source: ("pair", source.pair()),
    "score": lambda source: ("score", {**source.pair(), "pattern": source.pattern()}),
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
        parts = (
            f"{name}: {fault}"
            for name in expected
            if (fault := difference(expected[name], found.get(name), tolerance))
        )
        return next(parts, None)
    if not isinstance(expected, list | tuple):
        return None if found == expected else f"{expected!r} and {found!r}"
    if len(expected) != len(found):
        return f"{len(expected)} and {len(found)} of them: {expected}, {found}"
    if not expected or not isinstance(expected[0], Mapping):
        faults = (difference(*both, tolerance) for both in zip(expected, found, strict=True))
        return next(filter(None, faults), None)
    scores = {_name(one): _score(one) for one in expected}
    for own, other in zip(expected, found, strict=True):
        if fault := difference(_score(own), _score(other), tolerance):
            return f"{own}, {other}: {fault}"
        usual = scores.get(_name(other), _score(expected[-1]))
        if _name(own) != _name(other) and abs(usual - _score(other)) >= tolerance:
            return f"{own} and {other}"
        if _name(own) == _name(other) and (fault := difference(own, other, tolerance)):
            return f"{own}, {other}: {fault}"
    return None


def _score(match: Mapping[str, Any]) -> float:
    return float(next(value for value in match.values() if isinstance(value, float | int)))


def _name(match: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(value for value in match.values() if isinstance(value, str))
