"""The public API: `load` opens a model, and `Pair2vec` answers queries to it."""

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, top_k
from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import SavedModel, load_model, model_facts
from pair2vec.model.resolve import find_model, model_name
from pair2vec.query.composition import ComposedWord
from pair2vec.query.pair_encoder import Direction, Role, directed_vectors
from pair2vec.query.plane import PairArrow, PairPlane, pair_plane
from pair2vec.query.search import (
    NEAREST_ALPHA,
    PAPER_WEIGHTS,
    SLOT_WEIGHTS,
    AnalogyScorer,
    Match,
    PairMatch,
    PatternMatch,
    RelationMatch,
    Search,
    SlotScorer,
    SlotWeights,
    WordSearch,
    all_pairs,
    analogous_pairs,
    analogy_alpha,
    check_alpha,
    check_weights,
    nearest_scores,
    repeated_words,
)
from pair2vec.query.space import PairSpace, Unknown, UnknownWord, check_unknown_word
from pair2vec.relations.classifier import RelationClassifier
from pair2vec.relations.definitions import (
    NONE,
    RelationDefinition,
    fitted_definitions,
    read_definitions,
)
from pair2vec.relations.head import HeadScorer, RelationHead
from pair2vec.relations.opposed import Opposition, SentenceComparison
from pair2vec.relations.relate import (
    UNCLEAR,
    RelatedPair,
    Relation,
    RelationBatch,
    RelationProbability,
    pairs_in_relation,
    relate_pairs,
    relation_definition,
)
from pair2vec.relations.relations import Relations
from pair2vec.relations.sentence_features import Difference
from pair2vec.relations.verdict import ModelCheck
from pair2vec.rendering import Table, html_table
from pair2vec.text.vocabulary import (
    SPECIAL_TOKENS,
    Vocabulary,
    WordPair,
    is_known_word,
)
from pair2vec.word_vectors.carry_over import CarriedWords

_log = logging.getLogger(__name__)

__all__ = [
    "PAPER_WEIGHTS",
    "ComposedWord",
    "Difference",
    "Match",
    "ModelCheck",
    "Opposition",
    "Pair2vec",
    "PairArrow",
    "PairBatch",
    "PairMatch",
    "PairPlane",
]
__all__ += ["PatternMatch", "PatternQuestion"]
__all__ += ["RelatedPair", "Relation", "RelationBatch", "RelationClassifier", "RelationMatch"]
__all__ += ["RelationProbability", "Relations", "SlotWeights", "Table", "load"]


class PairBatch(NamedTuple):
    """Vectors of many pairs."""

    vectors: FloatArray
    """One row a pair; under ``unknown="skip"`` one row a known pair."""
    known: NDArray[np.bool_]
    """Of each pair in the query, whether both words are known."""


class PatternQuestion(NamedTuple):
    """A pattern with the word in one of its slots, in place of the one that was typed."""

    pattern: str
    x: str | None
    y: str | None
    reason: str
    """Why it is not the typed one; empty if it is."""

    def __str__(self) -> str:
        given = f"X = {self.x}" if self.y is None else f"Y = {self.y}"
        return f"asked as “{self.pattern}” with {given}: {self.reason}"

    def as_json(self) -> dict[str, object]:
        """``asked`` and its parts; nothing if the pattern is the typed one."""
        if not self.reason:
            return {}
        return {"asked": {name: part for name, part in self._asdict().items() if part is not None}}


def load(
    path_or_name: str | os.PathLike[str] | None = None,
    *,
    whitening: float | None = None,
    vectors: str | os.PathLike[str] | None = None,
) -> "Pair2vec":
    """Open a model: a folder, a bundled model's name, or ``owner/name`` on the hub.

    `whitening` is how much pair vectors are whitened before they are compared, from 0 (the paper's
    plain cosine) to 1; by default 0.5. `vectors` is a file of word vectors in a common format: a
    word that the model lacks and the file has is carried over from there.
    """
    saved = load_model(find_model(path_or_name))
    return Pair2vec(saved, whitening=whitening, vectors=vectors)


class Pair2vec:
    """A trained model, open for queries; `load` makes one."""

    def __init__(
        self,
        saved: SavedModel,
        *,
        whitening: float | None = None,
        vectors: str | os.PathLike[str] | None = None,
    ) -> None:
        """Open a model folder; `whitening` and `vectors` as in `load`."""
        self.saved = saved
        self._vectors, carried = vectors, None
        if vectors is not None:
            carried = CarriedWords.read(vectors, saved.vocabulary, saved.array("pair.words"))
        self.space = PairSpace(saved, whitening=whitening, carried=carried)
        """Its networks and arrays, by ids."""
        self._search = WordSearch(self.space)

    def __repr__(self) -> str:
        saved = self.saved
        name = saved.config.get("name") or saved.folder.name
        words = len(self.vocabulary) - len(SPECIAL_TOKENS)
        taught = ", taught which relations hold" if saved.has_head else ""
        return (
            f"<Pair2vec {name!r}: {words:,} words, {self.space.pairs.dimension} dimensions{taught}>"
        )

    def _repr_html_(self) -> str:
        # Where it is says `info`, as it does what was measured.
        facts = {name: fact for name, fact in self.info().items() if "metrics." not in name}
        facts["model"] = repr(self)
        return html_table((), [*facts.items()])

    def __reduce__(self) -> tuple[Callable[[str], "Pair2vec"], tuple[str]]:
        # Pickled by name: the arrays are on disk, and stay mapped from there.
        opened = partial(load, whitening=self.space.whitening, vectors=self._vectors)
        return opened, (model_name(self.saved.folder),)

    def __deepcopy__(self, memo: dict[int, object]) -> "Pair2vec":
        # What copies all its parameters, as scikit-learn's `clone` does, need not open it again.
        return self

    def __contains__(self, word: object) -> bool:
        """Whether it knows a word, in any case; one that it can only compose, it does not."""
        return isinstance(word, str) and is_known_word(word, self.vocabulary)

    def composed(self, *words: str) -> Table[ComposedWord]:
        """Of the words of queries so far those that were composed, and how."""
        return self.space.composed(*words)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words it knows."""
        return self.space.vocabulary

    @property
    def unit_words(self) -> FloatArray:
        """The vectors of its words, of unit norm: (V, D)."""
        return self.space.unit_words

    @cached_property
    def patterns(self) -> list[str]:
        """Frequent patterns of its corpus; none if they were not kept."""
        return [entry.pattern for entry in self.saved.patterns()]

    def info(self) -> dict[str, str]:
        """What is known about the model, as printable values by name."""
        return model_facts(self.saved)

    def check(self) -> ModelCheck:
        """Whether it is any good: what it answers about common words, and a verdict.

        Takes about ten seconds for a model of 300 dimensions.
        """
        # Of all queries only this one needs its module, which takes time to import.
        from pair2vec.relations.check import check_model

        return check_model(self)

    def pair(
        self, x: str, y: str, *, direction: Direction = "both", normalised: bool = True
    ) -> FloatArray:
        """The vector of the relation of `x` to `y`.

        As in every query of one answer, an unknown word is composed where the model can, which is
        logged once a word.

        Args:
            x: A word.
            y: A word.
            direction: "forward" is R(x, y), "backward" is R(y, x), "both" their concatenation.
            normalised: Each direction with unit norm, as in the paper (`eq:bi-relemb`).

        Raises:
            UnknownWordError: a word is out of the vocabulary, and cannot be composed; it suggests
                similar spellings.
        """
        batch = self.pairs([(x, y)], direction=direction, normalised=normalised, unknown="compose")
        (vector,) = batch.vectors
        return vector  # type: ignore[no-any-return]

    def pairs(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        direction: Direction = "both",
        normalised: bool = True,
        unknown: Unknown = "error",
    ) -> PairBatch:
        """The vectors of many pairs, as of `pair`.

        Args:
            pairs: Of words.
            direction: As in `pair`.
            normalised: As in `pair`.
            unknown: "error" raises at the first unknown word; "skip" leaves such pairs out; "zero"
                gives them a zero vector; "compose" composes unknown words, and raises where that
                cannot be done. `known` of the result says which pairs have a vector.
        """
        x, y, known = self.space.look_up_pairs(pairs, unknown)
        vectors = directed_vectors(
            self.space.pairs, x[known], y[known], direction, normalised=normalised
        )
        if unknown == "zero":
            rows = np.zeros((len(known), vectors.shape[1]), np.float32)
            rows[known] = vectors
            vectors = rows
        return PairBatch(vectors, known)

    def context(self, pattern: str) -> FloatArray:
        """The vector C of a pattern such as ``neither X nor Y``: (D,).

        An outer word that is left open stands for any word: the mean over the frequent ones.
        """
        (vector,) = self.space.pattern_encoder([pattern])
        return vector  # type: ignore[no-any-return]

    def score(self, x: str, y: str, pattern: str, *, unknown: UnknownWord = "error") -> float:
        """R(x, y)·C(pattern): how well the pair fits the pattern; `unknown` as in `scores`."""
        return float(self.scores([(x, y)], [pattern], unknown=unknown)[0, 0])

    def scores(
        self,
        pairs: Iterable[tuple[str, str]],
        patterns: Sequence[str],
        *,
        unknown: UnknownWord = "error",
    ) -> FloatArray:
        """The score of each pair in each pattern: (pairs, patterns).

        Args:
            pairs: Of words.
            patterns: As in `context`.
            unknown: "error" raises at the first unknown word; "compose" composes it, though its
                scores can hardly be compared with those of words that were seen in text.
        """
        check_unknown_word(unknown)
        x, y, _ = self.space.look_up_pairs(pairs, unknown)
        scores: FloatArray = self.space.pairs(x, y) @ self.space.pattern_encoder(patterns).T
        return scores

    def nearest_question(
        self, pattern: str, *, x: str | None = None, y: str | None = None
    ) -> PatternQuestion:
        """What `fill` answers in place of a pattern that the model cannot read as it is typed.

        A context of the model reads from X to Y and has one word on either side, so *the capital of
        X is Y* is asked as *X , the capital of Y* with the words exchanged; and the most similar
        word stands for one that is too rare for patterns.
        """
        text, is_exchanged, reason = self.space.pattern_encoder.readable(pattern)
        return PatternQuestion(text, *((y, x) if is_exchanged else (x, y)), reason)

    @overload
    def fill(
        self,
        pattern: str,
        *,
        x: str | None = None,
        y: str | None = None,
        top: int = 10,
        among: Iterable[str] | None = None,
        search: Search = "exact",
        weights: SlotWeights = SLOT_WEIGHTS,
        prior: float | None = None,
        all_words: bool = False,
    ) -> Table[Match]: ...

    @overload
    def fill(self, pattern: list[str], *, x: str, y: str, top: int = 10) -> Table[PatternMatch]: ...

    def fill(  # noqa: PLR0913 - a query and how to answer it
        self,
        pattern: str | list[str],
        *,
        x: str | None = None,
        y: str | None = None,
        top: int = 10,
        among: Iterable[str] | None = None,
        search: Search = "exact",
        weights: SlotWeights = SLOT_WEIGHTS,
        prior: float | None = None,
        all_words: bool = False,
    ) -> Table[Match] | Table[PatternMatch]:
        """The words that fit the open slot of a pattern best; or the best of several patterns.

        Args:
            pattern: As in ``in X , Y .``; where the model cannot read it, the `nearest_question` is
                answered, and a warning is logged. Or a list of patterns, to rank for given x and y.
            x: The word in slot X, to find words for Y.
            y: The word in slot Y, to find words for X.
            top: How many to return.
            among: Words to choose from; all of the vocabulary otherwise.
            search: "shortlist" is many times as fast on a large vocabulary, and may miss a word.
            weights: What counts beside R·C: the similarity of x and y, and the word's frequency;
                `PAPER_WEIGHTS` is the paper's plain R·C.
            prior: Replaces the weight of log p(word), its share of the corpus, in `weights`.
            all_words: Whether punctuation, numbers, function words and pieces of words may be
                answers, too; those of `among` always may.
        """
        if not isinstance(pattern, str):
            if x is None or y is None:
                raise UsageError("several patterns are ranked for a pair: give both x and y")
            if prior is not None:
                raise UsageError(f"prior is {prior:g}, but both words are given: none to weigh")
            scores = self.scores([(x, y)], pattern, unknown="compose")[0]
            return self._rank_patterns(pattern, scores, top)
        if (x is None) == (y is None):
            raise UsageError(
                f"pattern {pattern!r}: give the word in slot X or the one in slot Y, to find the "
                "other; or both, and a list of patterns to rank"
            )
        asked = self.nearest_question(pattern, x=x, y=y)
        if asked.reason:
            _log.warning("pattern %r: %s", pattern, asked)
        pattern, x, y, _ = asked
        role: Role = "x" if x is not None else "y"
        word = self.space.look_up(x if x is not None else str(y))
        if prior is not None:
            weights = weights._replace(prior=prior)
        scorer = SlotScorer(
            self.space,
            word,
            role,
            self.context(pattern),
            check_weights(weights),
            self._search.log_frequencies,
        )
        return self._search.best_words(
            scorer, [word], among=among, search=search, top=top, all_words=all_words
        )

    def explain(self, x: str, y: str, *, top: int = 10) -> Table[PatternMatch]:
        """The frequent patterns of the corpus that fit a pair best."""
        if not self.patterns:
            raise InputError(
                f"{self.saved.folder}: has no patterns to explain pairs by; train it again, or "
                "give patterns of your own to 'fill' with both x and y"
            )
        vector = self.pair(x, y, direction="forward", normalised=False)
        return self._rank_patterns(self.patterns, self._pattern_vectors @ vector, top)

    @cached_property
    def _pattern_vectors(self) -> FloatArray:
        """C of each of `patterns`."""
        return self.space.pattern_encoder(self.patterns)

    def analogy(  # noqa: PLR0913 - a query and how to answer it
        self,
        a: str,
        b: str,
        x: str,
        *,
        alpha: float | None = None,
        direction: Direction = "both",
        top: int = 10,
        among: Iterable[str] | None = None,
        search: Search = "exact",
        all_words: bool = False,
    ) -> Table[Match]:
        """The words y that are to `x` as `b` is to `a`; never a, b or x themselves.

        Args:
            a: The first word of the example.
            b: The second word of the example.
            x: The word of the query.
            alpha: The weight of the pair vectors, cos(r_ab, r_xy); the rest is the weight of the
                single words', cos(b − a + x, y). By default 0.5, or 0.4 where a word is composed.
            direction: Of the pair vectors.
            top: How many to return.
            among: Words to choose from; all of the vocabulary otherwise.
            search: "shortlist" is many times as fast on a large vocabulary, and may miss a word.
            all_words: As in `fill`.
        """
        abx = [self.space.look_up(word) for word in (a, b, x)]
        weight = analogy_alpha(alpha, composed=max(abx) >= len(self.vocabulary))
        scorer = AnalogyScorer(self.space, abx, direction, weight)
        return self._search.best_words(
            scorer, abx, among=among, search=search, top=top, all_words=all_words
        )

    def nearest(  # noqa: PLR0913 - a query and how to answer it
        self,
        x: str,
        y: str,
        *,
        among: Iterable[tuple[str, str]] | None = None,
        words: Iterable[str] | None = None,
        alpha: float = NEAREST_ALPHA,
        direction: Direction = "both",
        top: int = 10,
        unknown: Unknown = "error",
        all_words: bool = False,
    ) -> Table[PairMatch]:
        """Pairs in the same relation as `x` and `y`.

        Args:
            x: A word.
            y: A word.
            among: The pairs to choose from.
            words: Or the words whose pairs to choose from: all n·(n − 1) of them.
            alpha: The weight of the pair vectors' cosine; the rest is the weight of the cosine of
                the words' offsets, y − x. 1 is the paper's.
            direction: Of the pair vectors.
            top: How many to return.
            unknown: What to do with unknown words in `among` or `words`: "error" or "skip".
            all_words: As in `fill`.

        Without `among` or `words`, candidates are found by single words: those near x, each with
        the words near it plus y − x; the pair vectors then rank them. No word appears twice, nor
        x or y.
        """
        if among is not None and words is not None:
            raise UsageError("give pairs to choose among, or words, not both")
        if unknown in {"zero", "compose"}:
            raise UsageError(
                f'unknown is "{unknown}", which no pair can be ranked by: answers are pairs of '
                'known words; "error" or "skip"'
            )
        check_alpha(alpha)
        example = WordPair(self.space.look_up(x), self.space.look_up(y))
        if among is not None:
            first, second, known = self.space.look_up_pairs(among, unknown)
            first, second = first[known], second[known]
        elif words is not None:
            chosen, _, known = self.space.look_up_pairs(((word, word) for word in words), unknown)
            first, second = all_pairs(np.unique(chosen[known]))
        else:
            own = self.space.unit_inputs(np.array(example))
            first, second = analogous_pairs(self.unit_words, *example, example=own)
            if not all_words:
                no_answers = self.space.answers.excluded(example)
                are_answers = ~np.isin((first, second), no_answers).any(axis=0)
                first, second = first[are_answers], second[are_answers]
        scores = nearest_scores(self.space, example, first, second, direction, alpha)
        if among is None and words is None:
            exclude = repeated_words(scores, first, second)
        else:
            exclude = np.flatnonzero((first == example.x) & (second == example.y)).tolist()
        spelled = self.vocabulary.words
        return Table(
            PairMatch(spelled[first[n]], spelled[second[n]], float(scores[n]))
            for n in top_k(scores, top, exclude)
        )

    def plane(self, pairs: Sequence[tuple[str, str]]) -> PairPlane:
        """Two to eight pairs as arrows from x to y in one plane, which shows what they share.

        Its axes are the mean of the words' offsets, y − x, and the direction in which the words
        differ most beside it.
        """
        return pair_plane(self.space, pairs)

    def relate(
        self,
        x: str,
        y: str,
        *,
        top: int = 5,
        relations: Relations | None = None,
        unrelated: float | None = None,
    ) -> Relation:
        """Which relation holds between two words, how probable it is, and what speaks for it.

        Where no relation, nor none, has a probability of 0.5, it is "unclear".

        Args:
            x: A word.
            y: A word.
            top: How many pairs in the same relation, and how many patterns; 0 saves their search.
            relations: Relations of your own; by default the built-in ones.
            unrelated: As in `Relations.predict_proba`.

        Raises:
            UnknownWordError: a word is out of the vocabulary, and cannot be composed; it suggests
                similar spellings.
        """
        known = relations or self._built_in_relations
        batch = relate_pairs(known, [(x, y)], unknown="compose", unrelated=unrelated)
        (name, probability), others = next(batch.ranked())
        like: Table[PairMatch] = Table()
        if top and name not in {NONE, UNCLEAR}:
            pair = WordPair(known.space.look_up(x), known.space.look_up(y))
            like = pairs_in_relation(known, pair, name, top=top, unrelated=unrelated)
        patterns = self.explain(x, y, top=top) if top and self.patterns else Table()
        definition = relation_definition(name, known)
        composed = known.space.composed(x, y)
        return Relation(name, probability, definition, others, like, patterns, composed)

    def relate_many(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        unknown: Unknown = "error",
        relations: Relations | None = None,
        unrelated: float | None = None,
    ) -> RelationBatch:
        """The relations of many pairs: the names and probabilities of `relate`, and no more.

        Args:
            pairs: Of words.
            unknown: "error" raises at the first unknown word; "skip" leaves such pairs out; "zero"
                gives them the name "unknown" and probabilities of zero; "compose" composes unknown
                words, and raises where that cannot be done. `known` of the result says which pairs
                have a relation.
            relations: As in `relate`.
            unrelated: As in `relate`.
        """
        known = relations or self._built_in_relations
        return relate_pairs(known, pairs, unknown=unknown, unrelated=unrelated)

    def opposed(self, a: str, b: str) -> Opposition:
        """Whether two sentences say the same, opposite or different things, and what decides.

        Args:
            a: A sentence, of at most 256 words.
            b: Another.
        """
        (answer,) = self.opposed_many([(a, b)])
        return answer

    def opposed_many(self, pairs: Iterable[tuple[str, str]]) -> Table[Opposition]:
        """As `opposed`, of many pairs of sentences."""
        return self._sentences.compare(pairs)

    @cached_property
    def _sentences(self) -> SentenceComparison:
        return SentenceComparison(self._built_in_relations)

    def relations(self, file: str | os.PathLike[str] | None = None) -> Relations:
        """The probabilities of relations: the built-in ones, or those that a TOML file defines."""
        if file is None:
            return self._built_in_relations
        return Relations(read_definitions(Path(file)), self.space)

    def neighbours(
        self, word: str, relation: str, *, top: int = 10, all_words: bool = False
    ) -> Table[Match]:
        """The words that are most probably in a built-in relation to `word`.

        `all_words` is as in `fill`. `relations` takes relations of your own, and has more queries.
        """
        return self._built_in_relations.neighbours(word, relation, top=top, all_words=all_words)

    @cached_property
    def _built_in_relations(self) -> Relations:
        """Those of the relation head; of a model without one, kept, because they are fitted."""
        if not self.saved.has_head:
            return Relations(fitted_definitions(), self.space)
        head = RelationHead(self.saved)
        by_name = {definition.name: definition for definition in read_definitions()}
        names = head.config.names[:-1]
        own = [by_name.get(name, RelationDefinition(name=name)) for name in names]
        return Relations(own, self.space, HeadScorer(head, self.space))

    def _rank_patterns(
        self, patterns: Sequence[str], scores: FloatArray, top: int
    ) -> Table[PatternMatch]:
        return Table(PatternMatch(patterns[n], float(scores[n])) for n in top_k(scores, top))


class DirectedPair(NamedTuple):
    """A pair in one direction: R(x, y), and the patterns that fit it best."""

    x: str
    y: str
    norm: float
    """‖R‖."""
    vector: list[float]
    """R / ‖R‖."""
    patterns: list[PatternMatch] | None
    """None where the model keeps none."""

    @classmethod
    def from_model(cls, model: Pair2vec, x: str, y: str, *, top: int = 10) -> "DirectedPair":
        vector = model.pair(x, y, direction="forward", normalised=False)
        return cls(
            x,
            y,
            norm=float(vector @ vector) ** 0.5,
            vector=model.pair(x, y, direction="forward").tolist(),
            patterns=model.explain(x, y, top=top) if model.patterns else None,
        )

    def as_json(self) -> dict[str, object]:
        matches = self.patterns
        patterns = None if matches is None else [match._asdict() for match in matches]
        return {**self._asdict(), "patterns": patterns}
