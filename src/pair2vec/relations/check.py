"""Is a model any good: what it answers about common words, and a verdict with what to do next.

Nothing but the model is needed: the questions are a list of our own (``data/check.toml``), of which
those are asked whose words it knows. `judge` is the rule; docs/how-to/check.md says how its limits
were chosen.
"""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from pair2vec.arrays import IntArray, normalise
from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.query.search import AnalogyScorer, PairMatch
from pair2vec.query.space import PairSpace, sampled_pairs
from pair2vec.relations.definitions import NONE
from pair2vec.relations.relate import UNCLEAR, RelationProbability, relate_pairs
from pair2vec.relations.relations import Relations
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

Verdict = Literal["good", "usable", "poor", "can't tell"]

GOOD_RIGHT, GOOD_BY_PAIRS, GOOD_NAMED = 0.6, 0.5, 0.5
"""At least these shares are right of a good model: of analogies, of analogies by pair vectors
alone, and, where it was taught to name relations, of the names..."""
POOR_RIGHT, POOR_BY_PAIRS = 0.2, 0.15
"""... and less than one of these of a poor one."""
LEAST_PAIRS, LEAST_RELATIONS, GOOD_PAIRS = 10, 2, 60
"""Fewer pairs or relations than these say nothing, and fewer than the last not that it is good."""
UNDECIDED = 0.9
"""A model whose held-out loss is this share of the undecided one has learned next to nothing."""
LEARNED = 0.6
"""... and one below this share has learned something of its text."""
COLLAPSED_COSINE, COLLAPSED_RANK = 0.98, 1.1
"""Pair vectors of a higher mean cosine, or a lower effective rank, are the same for any pair."""

_LEAST_PAIRS_EACH = 3
"""Of a relation that is asked about."""
_FREQUENT_WORDS = 1_000
"""Wrong answers to choose from, besides the words of the other questions."""
_ENOUGH_QUESTIONS, _MOST_EXAMPLES = 200, 5
"""With few pairs, each is asked with several examples."""
_ENGLISH = 0.03
"""The share of the tokens that English function words have at least; in English they have 0.12."""
_SHOWN, _SHOWN_LIKE = 6, 2
_MUCH_TEXT = 20_000_000
"""Tokens: with fewer, more text is the first thing to try."""
_OVERFITTED = 1.3
"""The held-out loss over that of training."""
_FEW_EPOCHS = 2
"""Triples for each token: of a fifth of what once through a corpus has without subsampling."""


class HeldOutLoss(NamedTuple):
    """The loss of triples that training has not seen, as it recorded it."""

    loss: float
    undecided: float
    """Of a model that knows nothing: log 2 for each comparison of a triple."""
    training: float | None
    """Of the triples that it was trained on last."""

    @property
    def share(self) -> float:
        """Of the undecided one."""
        return self.loss / self.undecided


class CheckedRelation(NamedTuple):
    """Analogies between pairs of one relation; shares are from 0 to 1."""

    relation: str
    pairs: int
    """Whose words it knows."""
    questions: int
    right: float
    """By words and pairs, as `analogy` answers them."""
    by_pairs: float
    """By pair vectors alone."""
    by_words: float
    """By the offset of its word vectors alone: 3CosAdd."""
    chance: float


class NamedPairs(NamedTuple):
    """Which names it gives to pairs whose relation is known, and to those of unrelated words."""

    pairs: int
    right: float
    unrelated: int
    """Pairs made of a word and the answer of another pair..."""
    called_related: float
    """... and the share of them that is called anything."""


class CheckedPair(NamedTuple):
    """A pair of common words, and what the model says of it."""

    x: str
    y: str
    relation: RelationProbability | None
    """Its name; None where the model was not taught to name relations."""
    like: list[PairMatch]
    """Pairs in the same relation."""


class PairSpread(NamedTuple):
    """Whether the vectors of random pairs differ."""

    mean_cosine: float
    effective_rank: float
    """exp of the entropy of the shares of variance of the principal directions."""
    dimension: int


class Coverage(NamedTuple):
    """What part of the language it has words for."""

    words: int
    of_text: float | None
    """The share of its text's tokens that are in the vocabulary; None if that was not recorded."""
    common_words: int
    """On our list of common English words."""
    common_known: int
    english: bool
    """Whether its text looks like English."""


@dataclass(frozen=True, kw_only=True)
class ModelCheck:
    """What `Pair2vec.check` found out about a model."""

    model: str
    verdict: Verdict
    reasons: list[str]
    advice: list[str]
    """What to do next."""
    loss: HeldOutLoss | None
    """None where training recorded none."""
    analogies: list[CheckedRelation]
    names: NamedPairs | None
    """None where it knows too few words to name relations."""
    spread: PairSpread
    starts_from_vectors: bool | None
    """Whether word vectors were given to training; None if that was not recorded."""
    coverage: Coverage
    pairs: list[CheckedPair]
    """A handful of pairs."""

    @property
    def right(self) -> CheckedRelation:
        """All questions: the means over the relations."""
        return mean_over_relations(self.analogies)

    def as_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        facts = asdict(self)
        loss = self.loss and {**self.loss._asdict(), "share": self.loss.share}
        facts["loss"] = loss
        facts["analogies"] = {
            "all": self.right._asdict(),
            "relations": [relation._asdict() for relation in self.analogies],
        }
        facts["names"] = self.names and self.names._asdict()
        facts["spread"] = self.spread._asdict()
        facts["coverage"] = self.coverage._asdict()
        facts["pairs"] = [
            {
                "x": pair.x,
                "y": pair.y,
                "relation": pair.relation and pair.relation.name,
                "probability": pair.relation and pair.relation.probability,
                "like": [match._asdict() for match in pair.like],
            }
            for pair in self.pairs
        ]
        return facts


class AskedModel(Protocol):
    """What is used of `Pair2vec`."""

    saved: SavedModel
    space: PairSpace

    def relations(self) -> Relations: ...

    def nearest(self, x: str, y: str, *, top: int = ...) -> list[PairMatch]: ...


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
        advice=_advice(verdict, saved, loss, starts, coverage),
        loss=loss,
        analogies=analogies,
        names=names,
        spread=spread,
        starts_from_vectors=starts,
        coverage=coverage,
        pairs=list(_shown_pairs(model)),
    )


def judge(
    loss: HeldOutLoss | None,
    analogies: Sequence[CheckedRelation],
    names: NamedPairs | None,
    spread: PairSpread,
    coverage: Coverage,
) -> tuple[Verdict, list[str]]:
    """The rule of the verdict, with the reasons for it; `names` only of a model taught to name."""
    if loss and not loss.share < UNDECIDED:
        return "poor", [
            f"its held-out loss, {loss.loss:.2f}, is hardly below that of a model that knows "
            f"nothing, {loss.undecided:.2f}"
        ]
    if not (spread.mean_cosine < COLLAPSED_COSINE and spread.effective_rank > COLLAPSED_RANK):
        return "poor", [
            "its pair vectors have collapsed: random pairs have a mean cosine of "
            f"{spread.mean_cosine:.2f}, and an effective rank of {spread.effective_rank:.1f}"
        ]
    every = mean_over_relations(analogies)
    verdict = _verdict_on_answers(every, names)
    if every.pairs < LEAST_PAIRS or len(analogies) < LEAST_RELATIONS:
        why = f"it knows the words of only {every.pairs} pairs to ask it about"
    elif verdict != "good" and not coverage.english:
        why = "its text is not English, as the questions are"
    else:
        return verdict, [*_answers_in_words(every, names)]
    return "can't tell", [f"{why}, so that only its held-out loss is judged", _loss_in_words(loss)]


def _verdict_on_answers(every: CheckedRelation, names: NamedPairs | None) -> Verdict:
    may_be_good = every.pairs >= GOOD_PAIRS and (names is None or names.right >= GOOD_NAMED)
    if may_be_good and every.right >= GOOD_RIGHT and every.by_pairs >= GOOD_BY_PAIRS:
        return "good"
    is_poor = every.right < POOR_RIGHT or every.by_pairs < POOR_BY_PAIRS
    return "poor" if is_poor else "usable"


def _answers_in_words(every: CheckedRelation, names: NamedPairs | None) -> Iterator[str]:
    yield (
        f"of {every.questions} analogies between common words it answers {every.right:.0%} right, "
        f"{every.by_pairs:.0%} by pair vectors alone and {every.by_words:.0%} by word vectors "
        f"alone (chance: {every.chance:.1%})"
    )
    if every.pairs < GOOD_PAIRS:
        yield f"it knows {every.pairs} of our pairs, too few to call it good"
    if names:
        yield f"it names {names.right:.0%} of {names.pairs} relations right"


def _loss_in_words(loss: HeldOutLoss | None) -> str:
    if loss is None:
        return "training recorded no held-out loss"
    return (
        f"its held-out loss is {loss.loss:.2f}, {loss.share:.0%} of that of a model that knows "
        f"nothing: {'it has learned' if loss.share < LEARNED else 'it has learned little'}"
    )


def mean_over_relations(analogies: Sequence[CheckedRelation]) -> CheckedRelation:
    """All relations together: each counts the same."""
    count = max(1, len(analogies))
    return CheckedRelation(
        "all",
        pairs=sum(relation.pairs for relation in analogies),
        questions=sum(relation.questions for relation in analogies),
        right=sum(relation.right for relation in analogies) / count,
        by_pairs=sum(relation.by_pairs for relation in analogies) / count,
        by_words=sum(relation.by_words for relation in analogies) / count,
        chance=sum(relation.chance for relation in analogies) / count,
    )


def held_out_loss(config: Mapping[str, Any]) -> HeldOutLoss | None:
    """What training recorded; of a model made smaller, before that."""
    shrunk = config.get("shrunk") or {}
    places = (config.get("metrics"), shrunk.get("from_metrics"))
    recorded = next((place for place in places if place and "validation_loss" in place), None)
    negatives = (config.get("recipe") or {}).get("negatives") or {}
    if recorded is None or not {"contexts", "words"} <= negatives.keys():
        return None
    undecided = (1 + negatives["contexts"] + 2 * negatives["words"]) * math.log(2)
    return HeldOutLoss(recorded["validation_loss"], undecided, recorded.get("loss"))


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
    corpus = config.get("corpus")
    facts = corpus if isinstance(corpus, Mapping) else {}
    of_text = facts["tokens"] / facts["text_tokens"] if facts.get("text_tokens") else None
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


def _advice(
    verdict: Verdict,
    saved: SavedModel,
    loss: HeldOutLoss | None,
    starts_from_vectors: bool | None,
    coverage: Coverage,
) -> list[str]:
    """What to do next, the most promising first."""
    if verdict == "good":
        return ["ask it: pair2vec relate, fill, nearest; or measure it: pair2vec eval bats"]
    advice = []
    if loss and not loss.share < UNDECIDED:
        advice += ["train with a lower rate: --set training.rate=..., a tenth of what it was"]
    elif verdict == "can't tell":
        advice += ["ask it about pairs whose relation you know: pair2vec nearest X Y --model ..."]
    if starts_from_vectors is False:
        advice += ["give training word vectors to start from: --vectors, made by pair2vec vectors"]
    tokens, triples = _corpus_tokens(saved.config), saved.config.get("triples")
    is_small = tokens is not None and tokens < _MUCH_TEXT
    overfits = bool(loss and loss.training and loss.loss > _OVERFITTED * loss.training)
    if is_small or overfits:
        has = f"it had {tokens:,} tokens" if tokens else "it learned its text by heart"
        advice += [f"give it more text ({has}; the bundled model had 126 M)"]
        if coverage.english:
            advice += ["or start from a published model: --from wikipedia"]
    if not overfits and tokens and isinstance(triples, int) and triples < _FEW_EPOCHS * tokens:
        advice += ["train for more epochs: --set training.epochs=..."]
    if not advice and verdict == "poor":
        advice += ["train it again, or fetch it again: its loss promised better answers"]
    return advice or ["compare it with the bundled model: pair2vec check"]


def _corpus_tokens(config: Mapping[str, Any]) -> int | None:
    corpus = config.get("corpus")
    tokens = corpus.get("tokens") if isinstance(corpus, Mapping) else None
    return tokens if isinstance(tokens, int) else None
