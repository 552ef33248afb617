"""Is a model any good: what it answers about common words; `verdict` judges that.

Nothing but the model is needed: the questions are a list of our own (``data/check.toml``), of which
those are asked whose words it knows.
"""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

import numpy as np

from pair2vec.arrays import IntArray, normalise
from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.query.search import AnalogyScorer, PairMatch
from pair2vec.query.space import PairSpace, sampled_pairs
from pair2vec.relations.definitions import NONE, read_definitions
from pair2vec.relations.relate import UNCLEAR, relate_pairs
from pair2vec.relations.relations import Relations
from pair2vec.relations.verdict import (
    LEAST_PAIRS,
    CheckedPair,
    CheckedRelation,
    Coverage,
    HeldOutLoss,
    ModelCheck,
    NamedPairs,
    PairSpread,
    advise,
    judge,
)
from pair2vec.rendering import Table
from pair2vec.text.function_words import FUNCTION_WORDS
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

_LEAST_PAIRS_EACH = 3
"""Of a relation that is asked about."""
_FREQUENT_WORDS = 1_000
"""Wrong answers to choose from, besides the words of the other questions."""
_ENOUGH_QUESTIONS, _MOST_EXAMPLES = 200, 5
"""With few pairs, each is asked with several examples."""
_ENGLISH = 0.03
"""The share of the tokens that English function words have at least; in English they have 0.12."""
_SHOWN, _SHOWN_LIKE = 6, 2
_KINDS = ("hypernym", "occupation")
"""Relations whose first words form a group where they have the same second word."""
_LEAST_OF_GROUP = 3


class AskedModel(Protocol):
    """What is used of `Pair2vec`."""

    saved: SavedModel
    space: PairSpace

    def relations(self) -> Relations: ...

    def nearest(self, x: str, y: str, *, top: int = ...) -> Table[PairMatch]: ...


class KnownPair(NamedTuple):
    """A pair of the list as ids, with all answers that are right."""

    x: int
    answers: tuple[int, ...]


def check_model(model: AskedModel) -> ModelCheck:
    """Ask a model about common words, and judge what it answers."""
    saved, space = model.saved, model.space
    known = {
        name: pairs
        for name, pairs in known_pairs(space.vocabulary).items()
        if len(pairs) >= _LEAST_PAIRS_EACH
    }
    # Before anything that would take long in vain.
    spread = pair_spread(space)
    loss = held_out_loss(saved.config)
    coverage = vocabulary_coverage(space.vocabulary, saved.config)
    analogies = list(_asked_analogies(space, known))
    names = _named_pairs(model.relations(), space.vocabulary)
    verdict, reasons = judge(loss, analogies, names if saved.has_head else None, spread, coverage)
    starts = _starts_from_vectors(saved.config)
    return ModelCheck(
        model=str(saved.folder),
        verdict=verdict,
        reasons=reasons,
        advice=advise(verdict, saved.config, loss, starts, coverage),
        loss=loss,
        analogies=analogies,
        names=names,
        spread=spread,
        starts_from_vectors=starts,
        coverage=coverage,
        pairs=list(_shown_pairs(model)),
    )


def held_out_loss(config: Mapping[str, Any]) -> HeldOutLoss | None:
    """What training recorded; of a model made smaller, before that."""
    places = [config.get("metrics"), _mapping(config.get("shrunk")).get("from_metrics")]
    recorded = next((place for place in map(_mapping, places) if "validation_loss" in place), {})
    negatives = _mapping(_mapping(config.get("recipe")).get("negatives"))
    loss, training = map(_number, (recorded.get("validation_loss"), recorded.get("loss")))
    contexts, words = map(_number, (negatives.get("contexts"), negatives.get("words")))
    if loss is None or contexts is None or words is None:
        return None
    return HeldOutLoss(loss, (1 + contexts + 2 * words) * math.log(2), training)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _mapping(value: object) -> Mapping[str, Any]:
    """A part of the config, of which a stranger may have made anything."""
    return value if isinstance(value, Mapping) else {}


def pair_spread(space: PairSpace) -> PairSpread:
    """How the vectors of random pairs of frequent words are spread, as they are trained."""
    vectors = space.pairs(*sampled_pairs(space.pairs.words)).astype(np.float64)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    count = len(unit)
    mean_cosine = (np.square(unit.sum(axis=0)).sum() - count) / (count * (count - 1))
    variances = np.maximum(np.linalg.eigvalsh(np.cov(vectors.T)), 0)
    shares = variances / max(variances.sum(), np.finfo(float).tiny)
    entropy = -(shares * np.log(np.maximum(shares, 1e-12))).sum()
    return PairSpread(float(mean_cosine), float(np.exp(entropy)), vectors.shape[1])


def vocabulary_coverage(vocabulary: Vocabulary, config: Mapping[str, Any]) -> Coverage:
    """How much of its text and of everyday English it has words for."""
    english = _questions()["english"]
    common, ids = english["common_words"].split(), vocabulary.ids
    function = [ids[word] for word in english["function_words"] if word in ids]
    share = vocabulary.counts[function].sum() / max(1, vocabulary.counts.sum())
    corpus = _mapping(config.get("corpus"))
    kept, of = corpus.get("tokens"), corpus.get("text_tokens")
    of_text = kept / of if isinstance(kept, int) and isinstance(of, int) and of > 0 else None
    return Coverage(
        words=len(vocabulary) - len(SPECIAL_TOKENS),
        of_text=of_text,
        common_words=len(common),
        common_known=sum(word in ids for word in common),
        english=bool(share >= _ENGLISH),
    )


def known_pairs(vocabulary: Vocabulary) -> dict[str, list[KnownPair]]:
    """The pairs of each relation of the list whose words a vocabulary has."""
    return {
        name: list(_known(table["pairs"], vocabulary))
        for name, table in _questions()["analogies"].items()
    }


def _known(texts: Iterable[str], vocabulary: Vocabulary) -> Iterator[KnownPair]:
    ids = vocabulary.ids
    for text in texts:
        x, answers = text.split()
        right = tuple(ids[word] for word in answers.split("/") if word in ids)
        if x in ids and right:
            yield KnownPair(ids[x], right)


class GameAnalogies(NamedTuple):
    """Pairs of one relation, for people to find the second word of."""

    name: str
    pairs: list[tuple[str, list[str]]]
    """Of x and all answers that are right."""


class WordGroup(NamedTuple):
    """Words of one kind."""

    name: str
    words: list[str]


def game_questions(vocabulary: Vocabulary) -> tuple[list[GameAnalogies], list[WordGroup]]:
    """What people can be asked with known answers, in words that a vocabulary has.

    The analogies are of the list, the groups of the list and of the examples of relations.
    """
    analogies: list[GameAnalogies] = []
    groups: dict[str, list[str]] = {}
    kinds = [
        pair
        for definition in read_definitions()
        if definition.name in _KINDS
        for pair in definition.examples
    ]
    for name, table in _questions()["analogies"].items():
        if not table.get("game"):
            continue
        pairs = [
            (vocabulary.words[pair.x], [vocabulary.words[answer] for answer in pair.answers])
            for pair in _known(table["pairs"], vocabulary)
        ]
        pairs = [(x, answers) for x, answers in pairs if x not in FUNCTION_WORDS]
        analogies.append(GameAnalogies(name, pairs))
        columns = [x for x, _ in pairs], [answers[0] for _, answers in pairs]
        for group, words in zip(table.get("groups", ()), columns, strict=False):
            groups.setdefault(group, []).extend(words)
        if table.get("relation") in _KINDS:
            kinds += [(x, answer) for x, answers in pairs for answer in answers]
    for x, kind in kinds:
        if x in vocabulary.ids:
            groups.setdefault(kind, []).append(x)
    ambiguous = {*_questions()["games"]["ambiguous"]}
    found = [WordGroup(name, sorted({*words} - ambiguous)) for name, words in groups.items()]
    return analogies, [group for group in found if len(group.words) >= _LEAST_OF_GROUP]


@cache
def _questions() -> dict[str, Any]:
    return tomllib.loads((files("pair2vec.relations") / "data" / "check.toml").read_text("utf-8"))


def _asked_analogies(
    space: PairSpace, known: Mapping[str, Sequence[KnownPair]]
) -> Iterator[CheckedRelation]:
    pairs = sum(map(len, known.values()))
    examples = min(_MOST_EXAMPLES, max(1, _ENOUGH_QUESTIONS // max(1, pairs)))
    words = {word for pairs in known.values() for pair in pairs for word in (pair.x, *pair.answers)}
    frequent = range(len(SPECIAL_TOKENS), len(space.vocabulary))[:_FREQUENT_WORDS]
    candidates = np.array(sorted(words.union(frequent)), np.intp)
    for name, asked in known.items():
        outcomes = [
            _outcome(space, example, pair, candidates)
            for pair, example in _with_examples(asked, examples)
        ]
        if outcomes:
            yield CheckedRelation(
                name, len(asked), len(outcomes), *np.mean(outcomes, axis=0).tolist()
            )


def _with_examples(pairs: Sequence[KnownPair], most: int) -> Iterator[tuple[KnownPair, KnownPair]]:
    """Each pair with the next pairs of the list that are no answer to it."""
    for n, pair in enumerate(pairs):
        others = (*pairs[n + 1 :], *pairs[:n])
        fitting = [other for other in others if not _shares_word(pair, other)]
        yield from ((pair, other) for other in fitting[:most])


def _shares_word(pair: KnownPair, other: KnownPair) -> bool:
    return not {pair.x, *pair.answers}.isdisjoint({other.x, *other.answers})


def _outcome(
    space: PairSpace, example: KnownPair, pair: KnownPair, candidates: IntArray
) -> tuple[bool, bool, bool, float]:
    """Whether the best word is right, as the last fields of `CheckedRelation`."""
    a, b, x = example.x, example.answers[0], pair.x
    words = space.unit_words
    candidates = candidates[~np.isin(candidates, (a, b, x))]
    by_pairs = AnalogyScorer(space, (a, b, x), "both", 1.0).scores(candidates)
    by_words = words[candidates] @ normalise(words[b] - words[a] + words[x])
    right, pairs_right, words_right = (
        bool(candidates[scores.argmax()] in pair.answers)
        for scores in (by_pairs + by_words, by_pairs, by_words)
    )
    return right, pairs_right, words_right, len(pair.answers) / len(candidates)


def _named_pairs(relations: Relations, vocabulary: Vocabulary) -> NamedPairs | None:
    """The names of pairs of the list that are no examples of the relations."""
    examples = {
        frozenset(pair) for definition in relations.definitions for pair in definition.examples
    }
    spelled = vocabulary.words
    related: list[tuple[str, str]] = []
    unrelated: list[tuple[str, str]] = []
    expected: list[str] = []
    for table in _questions()["analogies"].values():
        if table.get("relation") not in relations.names:
            continue
        pairs = [
            pair
            for pair in _known(table["pairs"], vocabulary)
            if frozenset((spelled[pair.x], spelled[pair.answers[0]])) not in examples
        ]
        related += [(spelled[pair.x], spelled[pair.answers[0]]) for pair in pairs]
        expected += [table["relation"]] * len(pairs)
        unrelated += [
            (spelled[pair.x], spelled[other.answers[0]]) for pair, other in _with_examples(pairs, 1)
        ]
    if len(related) < LEAST_PAIRS or not unrelated:
        return None
    try:
        names = relate_pairs(relations, related).names
        mixed = relate_pairs(relations, unrelated).names
    except UsageError:  # a relation without an example or pattern that it knows
        return None
    return NamedPairs(
        pairs=len(related),
        right=float(np.mean(names == np.array(expected))),
        unrelated=len(unrelated),
        called_related=float(np.mean(~np.isin(mixed, (NONE, UNCLEAR)))),
    )


def _shown_pairs(model: AskedModel) -> Iterator[CheckedPair]:
    ids, questions = model.space.vocabulary.ids, _questions()
    texts = [*questions["shown"]["pairs"]]
    texts += [text for table in questions["analogies"].values() for text in table["pairs"]]
    pairs = [(x, y.split("/")[0]) for x, y in map(str.split, texts)]
    shown = [pair for pair in dict.fromkeys(pairs) if ids.keys() >= set(pair)][:_SHOWN]
    for x, y in shown:
        relation = None
        if model.saved.has_head:
            relation, _ = next(relate_pairs(model.relations(), [(x, y)]).ranked())
        yield CheckedPair(x, y, relation, model.nearest(x, y, top=_SHOWN_LIKE))


def _starts_from_vectors(config: Mapping[str, Any]) -> bool | None:
    return bool(config["vectors"]) if "vectors" in config else None
