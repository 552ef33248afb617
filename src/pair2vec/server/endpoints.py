"""The endpoints of the API: one for each query command, with the same answers.

An answer is what the command prints with ``--json``, without the model's folder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from pair2vec.api import DirectedPair, Pair2vec
from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import EvidenceScorer, find_evidence
from pair2vec.lexicon.inverted_index import InvertedIndex
from pair2vec.query.composition import composed_json
from pair2vec.query.plane import MOST_ARROWS
from pair2vec.query.search import (
    ANALOGY_ALPHA,
    COMPOSED_ALPHA,
    NEAREST_ALPHA,
    RelationMatch,
    slot_weights,
)
from pair2vec.relations.check import game_questions
from pair2vec.relations.relations import Relations
from pair2vec.server.parameters import Parameter
from pair2vec.text.vocabulary import Vocabulary, look_up_pair, suggest_spellings

JsonObject = dict[str, object]
Values = Mapping[str, Any]
"""Parsed parameters by name."""


@dataclass(frozen=True)
class Resources:
    """A model, and optionally the index of a corpus that evidence is taken from."""

    model: Pair2vec
    index: InvertedIndex | None = None

    @cached_property
    def relations(self) -> Relations:
        return self.model.relations()

    @cached_property
    def has_relations(self) -> bool:
        """Whether the model knows enough words to predict the built-in relations."""
        first, second = self.model.vocabulary.words[-2:]
        try:
            self.relations.predict_proba([(first, second)])
        except UsageError:
            return False
        return True

    @cached_property
    def evidence_scorer(self) -> EvidenceScorer:
        assert self.index is not None
        return EvidenceScorer(self.model, self.relations.definitions, self.index.corpus.vocabulary)


class Endpoint(NamedTuple):
    name: str
    """The path is ``/api/NAME``."""
    summary: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Resources, Values], JsonObject]
    cost: Callable[[Values], int]
    """About the milliseconds of one core that an answer takes with the bundled model."""


def possible_endpoints(resources: Resources) -> tuple[Endpoint, ...]:
    """Those of the resources; the ones about relations only if the model knows enough words."""
    evidence = (_EVIDENCE,) if resources.index is not None else ()
    return (*ENDPOINTS, *RELATION_ENDPOINTS, *evidence)


def available_endpoints(resources: Resources) -> tuple[Endpoint, ...]:
    """Those that can be answered from the resources; the first call takes a second."""
    possible = possible_endpoints(resources)
    if resources.has_relations:
        return possible
    return tuple(endpoint for endpoint in possible if endpoint not in RELATION_ENDPOINTS)


def _fill(resources: Resources, values: Values) -> JsonObject:
    model = resources.model
    patterns, x, y = values["pattern"], values["x"], values["y"]
    if x is not None and y is not None:
        if values["prior"] is not None:
            raise UsageError("prior: both words are given, so there is none to weigh")
        return _matches(model.fill(patterns, x=x, y=y, top=_last(values)), values)
    if len(patterns) > 1:
        raise UsageError("several patterns are ranked for a pair: give both x and y")
    asked = model.nearest_question(patterns[0], x=x, y=y)
    matches = model.fill(
        asked.pattern,
        x=asked.x,
        y=asked.y,
        top=_last(values),
        search=values["search"],
        weights=slot_weights(paper=values["paper"], prior=values["prior"]),
        all_words=values["all_words"],
    )
    return {**asked.as_json(), **_matches(matches, values)}


def _pair(resources: Resources, values: Values) -> JsonObject:
    x, y = values["x"], values["y"]
    pairs = {"forward": (x, y), "backward": (y, x)}
    directions = pairs if values["direction"] == "both" else [values["direction"]]
    answer: JsonObject = {}
    for direction in directions:
        pair = DirectedPair.from_model(
            resources.model, *pairs[direction], top=values["top"]
        ).as_json()
        if not values["vector"]:  # most of the text
            del pair["vector"]
        answer[direction] = pair
    return answer


def _analogy(resources: Resources, values: Values) -> JsonObject:
    options = {name: values[name] for name in ("alpha", "direction", "search", "all_words")}
    abx = values["a"], values["b"], values["x"]
    return _matches(resources.model.analogy(*abx, top=_last(values), **options), values)


def _nearest(resources: Resources, values: Values) -> JsonObject:
    options = {name: values[name] for name in ("alpha", "direction", "all_words")}
    matches = resources.model.nearest(values["x"], values["y"], top=_last(values), **options)
    return _matches(matches, values)


def _score(resources: Resources, values: Values) -> JsonObject:
    x, y, pattern = values["x"], values["y"], values["pattern"]
    return {"score": resources.model.score(x, y, pattern, unknown=values["unknown"])}


def _words(resources: Resources, values: Values) -> JsonObject:
    """Completions, the most frequent first; without any, words of similar spelling."""
    prefix, last = " ".join(values["start"].lower().split()), _last(values)
    vocabulary = resources.model.vocabulary
    completions = (
        word for word in vocabulary.words if word.startswith(prefix) and not word.startswith("<")
    )
    words = list(islice(completions, last))
    words = words or suggest_spellings(prefix, vocabulary, count=min(last, 5))
    return {"words": words[values["offset"] :]}


def _plane(resources: Resources, values: Values) -> JsonObject:
    x, y = values["x"], values["y"]
    if len(x) != len(y):
        raise UsageError(f"x has {len(x)} words and y has {len(y)}: a pair has one of each")
    return resources.model.plane(list(zip(x, y, strict=True))).as_json()


def _play(resources: Resources, _: Values) -> JsonObject:
    return games_json(resources.model.vocabulary)


def games_json(vocabulary: Vocabulary) -> JsonObject:
    """The questions of the games, with the answers that are right."""
    analogies, groups = game_questions(vocabulary)
    return {
        "analogies": [each._asdict() for each in analogies],
        "groups": [each._asdict() for each in groups],
    }


def _relate(resources: Resources, values: Values) -> JsonObject:
    return resources.model.relate(values["x"], values["y"], top=values["top"]).as_json()


def _opposed(resources: Resources, values: Values) -> JsonObject:
    return resources.model.opposed(values["a"], values["b"]).as_json()


def _neighbours(resources: Resources, values: Values) -> JsonObject:
    word, relation = values["word"], values["relation"]
    options = {"top": _last(values), "all_words": values["all_words"]}
    matches: list[RelationMatch]
    if relation is None:
        matches = resources.relations.typed_neighbours(word, **options)
    else:
        matches = [
            RelationMatch(match.word, relation, match.score)
            for match in resources.relations.neighbours(word, relation, **options)
        ]
    return {
        "matches": [
            {"word": match.word, "relation": match.relation, "probability": match.score}
            for match in matches[values["offset"] :]
        ]
    }


def _evidence(resources: Resources, values: Values) -> JsonObject:
    assert resources.index is not None
    x, y = values["x"], values["y"]
    pair = look_up_pair(x, y, resources.index.corpus.vocabulary)
    scorer = resources.evidence_scorer.for_pair(x, y)
    sentences = find_evidence(resources.index, pair, scorer, top=_last(values))
    return {"sentences": [sentence.text for sentence in sentences[values["offset"] :]]}


def _saying_composed(
    answer: Callable[[Resources, Values], JsonObject], *words: str
) -> Callable[[Resources, Values], JsonObject]:
    """An endpoint's answer with the words of these parameters that were composed, if any were."""

    def answer_and_say(resources: Resources, values: Values) -> JsonObject:
        found = answer(resources, values)
        given = (values[name] for name in words if values[name] is not None)
        lists = ([value] if isinstance(value, str) else value for value in given)
        composed = resources.model.composed(*chain.from_iterable(lists))
        return {**found, **composed_json(composed)}

    return answer_and_say


def _matches(matches: Sequence[Any], values: Values) -> JsonObject:
    return {"matches": [match._asdict() for match in matches[values["offset"] :]]}


def _last(values: Values) -> int:
    """How many to search for, so that the best ones up to `offset` can be left out."""
    last: int = values["offset"] + values["top"]
    return last


def _search_cost(shortlist: int, exact: int) -> Callable[[Values], int]:
    return lambda values: exact if values["search"] == "exact" else shortlist


def _fill_cost(values: Values) -> int:
    if values["x"] is not None and values["y"] is not None:
        return len(values["pattern"])
    return _search_cost(45, 340)(values)


def _word(name: str, description: str = "A word.", *, required: bool = True) -> Parameter:
    return Parameter(name=name, description=description, required=required)


def _pattern(description: str, value_type: Literal["string", "strings"] = "string") -> Parameter:
    return Parameter(
        name="pattern",
        description=description,
        value_type=value_type,
        required=True,
        max_length=120,
    )


def _words_of_pairs(name: str, description: str) -> Parameter:
    return Parameter(
        name=name,
        description=description,
        value_type="strings",
        required=True,
        max_items=MOST_ARROWS,
    )


def _sentence(name: str) -> Parameter:
    return Parameter(name=name, description="A sentence.", required=True, max_length=2000)


def _top(
    default: int = 10,
    maximum: int = 100,
    *,
    minimum: int = 1,
    description: str = "How many to return.",
) -> Parameter:
    return Parameter(
        name="top",
        description=description,
        value_type="integer",
        default=default,
        minimum=minimum,
        maximum=maximum,
    )


_OFFSET = Parameter(
    name="offset",
    description="How many of the best to leave out, for the next part of a list.",
    value_type="integer",
    default=0,
    minimum=0,
    maximum=900,
)


def _weight(name: str, description: str, default: float | None) -> Parameter:
    return Parameter(
        name=name,
        description=description,
        value_type="number",
        default=default,
        minimum=0,
        maximum=1,
    )


_X, _Y = _word("x"), _word("y")
_SEARCH = Parameter(
    name="search",
    description="Score every word, or a few thousand that a rough score chooses, which is faster.",
    default="shortlist",
    choices=("shortlist", "exact"),
)
_DIRECTION = Parameter(
    name="direction",
    description="Of the relation: from x to y, from y to x, or both.",
    default="both",
    choices=("both", "forward", "backward"),
)
_PAPER = Parameter(
    name="paper",
    description="Score as in the paper, by nothing but the fit of the pattern.",
    value_type="boolean",
    default=False,
)
_ALL_WORDS = Parameter(
    name="all_words",
    description="Answer with punctuation, numbers, function words and pieces of words, too.",
    value_type="boolean",
    default=False,
)
_UNKNOWN = Parameter(
    name="unknown",
    description="An unknown word is an error, or composed.",
    default="error",
    choices=("error", "compose"),
)
_VECTOR = Parameter(
    name="vector", description="Return the vector, too.", value_type="boolean", default=False
)

ENDPOINTS = (
    Endpoint(
        "fill",
        "The words that fit a pattern; with both words given, its patterns ranked",
        (
            _pattern("As in 'in X , Y .'; several with both words.", "strings"),
            _word("x", "The word in slot X.", required=False),
            _word("y", "The word in slot Y.", required=False),
            _PAPER,
            _weight("prior", "How much frequent words are favoured; 0.2, or the paper's 0.", None),
            _ALL_WORDS,
            _SEARCH,
            _top(),
            _OFFSET,
        ),
        _saying_composed(_fill, "x", "y"),
        _fill_cost,
    ),
    Endpoint(
        "pair",
        "The vector of two words, and the patterns that fit them best",
        (_X, _Y, _DIRECTION, _VECTOR, _top()),
        _saying_composed(_pair, "x", "y"),
        lambda _: 2,
    ),
    Endpoint(
        "analogy",
        "The words that are to x as b is to a",
        (
            _word("a"),
            _word("b"),
            _X,
            _weight(
                "alpha",
                "The weight of the relation against the single words: by default "
                f"{ANALOGY_ALPHA:g}, or {COMPOSED_ALPHA:g} where a word is composed.",
                None,
            ),
            _DIRECTION,
            _ALL_WORDS,
            _SEARCH,
            _top(),
            _OFFSET,
        ),
        _saying_composed(_analogy, "a", "b", "x"),
        _search_cost(100, 900),
    ),
    Endpoint(
        "nearest",
        "Pairs in the same relation as x and y",
        (
            _X,
            _Y,
            _weight(
                "alpha",
                "The weight of the pair vectors against the offsets of the words.",
                NEAREST_ALPHA,
            ),
            _DIRECTION,
            _ALL_WORDS,
            _top(),
            _OFFSET,
        ),
        _saying_composed(_nearest, "x", "y"),
        lambda _: 500,
    ),
    Endpoint(
        "plane",
        "Pairs as arrows in the plane of their mean offset and of what else they differ most by",
        (
            _words_of_pairs("x", "The first words of two to eight pairs."),
            _words_of_pairs("y", "The second words, in the same order."),
        ),
        _saying_composed(_plane, "x", "y"),
        lambda values: len(values["x"]),
    ),
    Endpoint(
        "score",
        "How well two words fit a pattern",
        (_X, _Y, _pattern("As in 'X or Y'."), _UNKNOWN),
        _saying_composed(_score, "x", "y"),
        lambda _: 2,
    ),
    Endpoint(
        "words",
        "Completions of a prefix, the most frequent first; or words of similar spelling",
        (_word("start", "The first letters."), _top(), _OFFSET),
        _words,
        lambda _: 50,  # of similar spellings; completions are for free
    ),
)

RELATION_ENDPOINTS = (
    Endpoint(
        "relate",
        "Which relation holds between x and y, with pairs like them and patterns",
        (
            _X,
            _Y,
            _top(
                5, minimum=0, description="How many pairs and patterns; 0 for the relation alone."
            ),
        ),
        _relate,
        lambda values: 120 if values["top"] else 1,
    ),
    Endpoint(
        "opposed",
        "Whether two sentences say the same, opposite or different things, and what decides",
        (_sentence("a"), _sentence("b")),
        _opposed,
        lambda values: 1 + (len(values["a"]) + len(values["b"])) // 200,
    ),
    Endpoint(
        "neighbours",
        "The words that are related to a word, and how",
        (
            _word("word"),
            _word("relation", "Only this one, as in 'antonym'.", required=False),
            _ALL_WORDS,
            _top(),
            _OFFSET,
        ),
        _saying_composed(_neighbours, "word"),
        lambda _: 700,
    ),
    Endpoint(
        "play", "Questions for games, with the answers that are right", (), _play, lambda _: 1
    ),
)
"""Those of a model that knows the words of the relations."""

_EVIDENCE = Endpoint(
    "evidence",
    "Sentences of the corpus in which x and y co-occur, the strongest evidence first",
    (_X, _Y, _top(3, 20), _OFFSET),
    _evidence,
    lambda _: 100,  # a guess: it depends on the corpus
)
