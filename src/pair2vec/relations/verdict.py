"""The verdict on a model: what was found out, the rule that judges it, and what to do next.

`judge` is the rule, and the constants its limits; docs/how-to/check.md says how they were chosen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from pair2vec.query.search import PairMatch
from pair2vec.relations.relate import RelationProbability
from pair2vec.rendering import Share, Table, html_table, paragraph, percent

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
_BUNDLED_SHARE = 0.27
"""That share of the bundled model, to compare with."""
COLLAPSED_COSINE, COLLAPSED_RANK = 0.98, 1.1
"""Pair vectors of a higher mean cosine, or a lower effective rank, are the same for any pair."""

_MUCH_TEXT = 20_000_000
"""Tokens: with fewer, more text is the first thing to try."""
_OVERFITTED = 1.3
"""The held-out loss over that of training."""
_FEW_EPOCHS = 2
"""Triples for each token, of which the bundled model saw 2.4."""


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
    like: Table[PairMatch]
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

    def __repr__(self) -> str:
        return f"<ModelCheck of {self.model!r}: {self.verdict}; {'; '.join(self.reasons)}>"

    def _repr_html_(self) -> str:
        verdict = paragraph("; ".join(self.reasons), strong=self.verdict)
        advice = paragraph("; ".join(self.advice), strong="Next:")
        pairs = [
            (
                f"{pair.x} : {pair.y}",
                pair.relation and f"{pair.relation.name}, {percent(pair.relation.probability)}",
                ", ".join(f"{match.x} : {match.y}" for match in pair.like),
            )
            for pair in self.pairs
        ]
        analogies = [
            (every.relation, every.questions, *map(Share, every[3:]))
            for every in (*self.analogies, self.right)
        ]
        heads = ("analogies", "questions", "right", "by pairs", "by words", "chance")
        tables = [
            html_table(("pair", "relation", "the nearest pairs"), pairs),
            html_table(heads, analogies),
        ]
        return "\n".join([verdict, advice, *tables])

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
        f"nothing (the bundled model's: {_BUNDLED_SHARE:.0%})"
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


def advise(
    verdict: Verdict,
    config: Mapping[str, Any],
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
    tokens, triples = _corpus_tokens(config), config.get("triples")
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
