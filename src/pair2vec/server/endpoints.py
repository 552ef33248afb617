"""The questions that the API answers, each as its command does.

An answer is what the command prints with ``--json`` (docs/json.md), but for the model's folder.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pair2vec.api import DirectedPair, Pair2vec
from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import EvidenceScorer, find_evidence
from pair2vec.lexicon.inverted_index import InvertedIndex
from pair2vec.query.analogies import Direction
from pair2vec.query.search import RelationMatch
from pair2vec.relations.relations import Relations
from pair2vec.server.parameters import Parameter
from pair2vec.text.vocabulary import find_pair, look_alikes

JsonObject = dict[str, object]


@dataclass(frozen=True)
class Resources:
    """What there is to answer from."""

    model: Pair2vec
    index: InvertedIndex | None = None
    """Of the corpus that evidence is taken from, if there is one."""

    @cached_property
    def relations(self) -> Relations:
        """The built-in ones."""
        return self.model.relations()

    @cached_property
    def can_relate(self) -> bool:
        """Whether the model knows enough words to tell the built-in relations apart."""
        first, second = self.model.vocabulary.words[-2:]
        try:
            self.relations.score([(first, second)])
        except UsageError:
            return False
        return True

    @cached_property
    def telling(self) -> EvidenceScorer:
        """How well sentences of the corpus tell of something."""
        assert self.index is not None
        return EvidenceScorer(self.model, self.relations.definitions, self.index.corpus.vocabulary)


class Endpoint(NamedTuple):
    """A kind of question."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Resources, Mapping[str, Any]], JsonObject]
    """From what was asked, to the answer."""


_TOP = Parameter(
    name="top", says="How many to return.", kind="integer", default=10, least=1, most=100
)
_SEARCH = Parameter(
    name="search",
    says="Score every word, or a few thousand that a rough score chooses, which is faster.",
    default="shortlist",
    choices=("shortlist", "exact"),
)
_DIRECTION = Parameter(
    name="direction",
    says="Of the relation: from x to y, from y to x, or both.",
    default="both",
    choices=("both", "forward", "backward"),
)


def _word(name: str, says: str = "A word.", *, required: bool = True) -> Parameter:
    return Parameter(name=name, says=says, required=required)


def _fill(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    model = library.model
    patterns, x, y = asked["pattern"], asked["x"], asked["y"]
    if x is not None and y is not None:
        if asked["prior"]:
            raise UsageError("prior: both words are given, so there is none to weigh")
        return _matches(model.fill(patterns, x=x, y=y, top=asked["top"]))
    if len(patterns) > 1:
        raise UsageError("several patterns are ranked for a pair: give both x and y")
    options = {name: asked[name] for name in ("top", "search", "prior")}
    return _matches(model.fill(patterns[0], x=x, y=y, **options))


def _pair(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    x, y = asked["x"], asked["y"]
    sides = {"forward": (x, y), "backward": (y, x)}
    names = sides if asked["direction"] == "both" else [asked["direction"]]
    found = {name: DirectedPair.of(library.model, *sides[name], top=asked["top"]) for name in names}
    return {name: _side(pair, vector=asked["vector"]) for name, pair in found.items()}


def _side(pair: DirectedPair, *, vector: bool) -> JsonObject:
    """A pair as JSON, its vector only if it is wanted: that is most of the text."""
    return {name: part for name, part in pair.as_json().items() if vector or name != "vector"}


def _analogy(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    options = {name: asked[name] for name in ("alpha", "direction", "top", "search")}
    return _matches(library.model.analogy(asked["a"], asked["b"], asked["x"], **options))


def _nearest(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    direction: Direction = asked["direction"]
    x, y = asked["x"], asked["y"]
    return _matches(library.model.nearest(x, y, direction=direction, top=asked["top"]))


def _score(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    return {"score": library.model.score(asked["x"], asked["y"], asked["pattern"])}


def _words(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    """Those that begin so, the most frequent first; or else those spelled alike."""
    start, top = asked["start"].lower(), asked["top"]
    vocabulary = library.model.vocabulary
    spelled = vocabulary.words
    begin_so = (word for word in spelled if word.startswith(start) and not word.startswith("<"))
    found = [word for word, _ in zip(begin_so, range(top), strict=False)]
    return {"words": found or look_alikes(start, vocabulary, count=min(top, 5))}


def _neighbours(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    word, relation, top = asked["word"], asked["relation"], asked["top"]
    if relation is None:
        found = library.relations.typed_neighbours(word, top=top)
    else:
        matches = library.relations.neighbours(word, relation, top=top)
        found = [RelationMatch(match.word, relation, match.score) for match in matches]
    return {
        "matches": [
            {"word": match.word, "relation": match.relation, "probability": match.score}
            for match in found
        ]
    }


def _evidence(library: Resources, asked: Mapping[str, Any]) -> JsonObject:
    assert library.index is not None
    pair = find_pair(asked["x"], asked["y"], library.index.corpus.vocabulary)
    fit = library.telling.of_pair(asked["x"], asked["y"])
    found = find_evidence(library.index, pair, fit, top=asked["top"])
    return {"sentences": [one.text for one in found]}


def _matches(found: list[Any]) -> JsonObject:
    return {"matches": [match._asdict() for match in found]}


_NEIGHBOURS = Endpoint(
    "neighbours",
    "The words that are related to a word, and how",
    (
        _word("word"),
        _word("relation", "Only this one, as in 'antonym'.", required=False),
        _TOP,
    ),
    _neighbours,
)

_EVIDENCE = Endpoint(
    "evidence",
    "Sentences of the corpus in which x and y stand near each other, the most telling first",
    (
        _word("x"),
        _word("y"),
        Parameter(
            name="top", says="How many to return.", kind="integer", default=3, least=1, most=20
        ),
    ),
    _evidence,
)

ENDPOINTS = (
    Endpoint(
        "fill",
        "The words that fit a pattern; with both words given, its patterns ranked",
        (
            Parameter(
                name="pattern",
                says="As in 'in X , Y .'; several with both words.",
                kind="strings",
                required=True,
                longest=120,
            ),
            _word("x", "The word in slot X.", required=False),
            _word("y", "The word in slot Y.", required=False),
            Parameter(
                name="prior",
                says="How much frequent words are favoured.",
                kind="number",
                default=0.0,
                least=0,
                most=1,
            ),
            _SEARCH,
            _TOP,
        ),
        _fill,
    ),
    Endpoint(
        "pair",
        "The vector of two words, and the patterns that fit them best",
        (
            _word("x"),
            _word("y"),
            _DIRECTION,
            Parameter(name="vector", says="Return the vector, too.", kind="boolean", default=False),
            _TOP,
        ),
        _pair,
    ),
    Endpoint(
        "analogy",
        "The words that are to x as b is to a",
        (
            _word("a"),
            _word("b"),
            _word("x"),
            Parameter(
                name="alpha",
                says="The weight of the relation against the single words.",
                kind="number",
                default=0.5,
                least=0,
                most=1,
            ),
            _DIRECTION,
            _SEARCH,
            _TOP,
        ),
        _analogy,
    ),
    Endpoint(
        "nearest",
        "Pairs in the same relation as x and y",
        (_word("x"), _word("y"), _DIRECTION, _TOP),
        _nearest,
    ),
    Endpoint(
        "score",
        "How well two words fit a pattern",
        (
            _word("x"),
            _word("y"),
            Parameter(name="pattern", says="As in 'X or Y'.", required=True, longest=120),
        ),
        _score,
    ),
    Endpoint(
        "words",
        "Words that begin so, the most frequent first; or words spelled alike",
        (_word("start", "The first letters."), _TOP),
        _words,
    ),
)


def bind_endpoints(library: Resources) -> tuple[Endpoint, ...]:
    """Those that it can answer."""
    relations = (_NEIGHBOURS,) if library.can_relate else ()
    evidence = (_EVIDENCE,) if library.index is not None else ()
    return (*ENDPOINTS, *relations, *evidence)
