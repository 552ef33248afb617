"""Search: the words, pairs and patterns with the best scores.

An exact search scores the whole vocabulary. A shortlist is chosen by approximate scores first: with
one word fixed, R is a network with ReLUs, so that a score is a piecewise linear function of the
other word. The vocabulary is divided into clusters once. For each query, the score is linearised at
the centroid of each cluster, which gives every word of the cluster its approximate score by one dot
product. The words with the best of these are then scored exactly.

Shapes: V vocabulary, N words or pairs, K clusters, D dimension.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, normalise, safe_norms, top_k
from pair2vec.errors import UsageError
from pair2vec.query.pair_encoder import (
    ConditionalPairNetwork,
    Direction,
    PairNetwork,
    Readout,
    Role,
    after_normalising,
    directed_vectors,
    dot_product,
    roles,
)
from pair2vec.query.space import SPECIAL_IDS, PairSpace
from pair2vec.rendering import Table
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, look_up_word

CLUSTERS = 32
SHORTLIST = 3_000

LARGEST_WEIGHT = 1e9
"""Of similarity or frequency beside R·C: far below this already, nothing else counts."""

ANALOGY_ALPHA, COMPOSED_ALPHA = 0.5, 0.4
"""The weight of pair vectors in `analogy`; ``benchmarks/unknown_analogies.py`` chose that of
questions with a composed word."""
COMPOSED_NORM = 0.6
"""Of the vectors of a, b and x in `analogy`, where one is composed and R is compared: the expected
cosine of a composed vector with the word's own one (``benchmarks/unknown_analogies.py``)."""
NEAREST_ALPHA = 0.8
"""The weight of pair vectors in `nearest`; ``benchmarks/nearest_choice.py`` chose it."""

Search = Literal["exact", "shortlist"]
"""Score every word; or only the `SHORTLIST` words with the best approximate scores."""

CandidateIds = IntArray | slice
"""The ids of words to choose from, in order; or all of them, as a slice that copies nothing."""


class Match(NamedTuple):
    """A word and its score."""

    word: str
    score: float


class PairMatch(NamedTuple):
    """A pair and its score."""

    x: str
    y: str
    score: float


class PatternMatch(NamedTuple):
    """A pattern and its score."""

    pattern: str
    score: float


class RelationMatch(NamedTuple):
    """A word, its relation to the query's word, and the probability of that."""

    word: str
    relation: str
    score: float


class WordClusters:
    """A vocabulary in clusters, each with its centroid."""

    def __init__(self, inputs: FloatArray) -> None:
        """Put each word to the nearest of some words; `inputs` are what R takes, (V, D)."""
        self._inputs = inputs
        seeds = np.random.default_rng(0).choice(len(inputs), min(CLUSTERS, len(inputs)), False)
        self.clusters = (inputs @ inputs[seeds].T).argmax(axis=1)
        sums = np.zeros((len(seeds), inputs.shape[1]), np.float32)
        np.add.at(sums, self.clusters, inputs)
        sizes = np.bincount(self.clusters, minlength=len(seeds))
        self.centroids = sums / np.maximum(sizes, 1).astype(np.float32)[:, None]

    def approximate_scores(self, network: ConditionalPairNetwork, readout: Readout) -> FloatArray:
        """A function of R for each word, by its linearisation at the word's centroid: (V,)."""
        values, gradients = network.linearise(self.centroids, readout)
        intercepts = values - np.einsum("kd,kd->k", self.centroids, gradients)
        slopes = self._inputs @ gradients.T
        scores: FloatArray = np.take_along_axis(slopes, self.clusters[:, None], axis=1)[:, 0]
        scores += intercepts[self.clusters]
        return scores


class WordScorer(Protocol):
    """Scores the words of a vocabulary for one query."""

    def scores(self, ids: CandidateIds) -> FloatArray:
        """Exact scores of some words: (N,)."""

    def approximate_scores(self, clusters: WordClusters) -> FloatArray:
        """Scores of all words to choose a shortlist by: (V,)."""


class SlotWeights(NamedTuple):
    """What counts beside R·C in the words of a slot; both at 0 are the paper's plain R·C."""

    similarity: float
    """Of cos(x, y), the similarity of the two words."""
    prior: float
    """Of log p(word), its share of the corpus (`check_prior`)."""


PAPER_WEIGHTS = SlotWeights(similarity=0.0, prior=0.0)
SLOT_WEIGHTS = SlotWeights(similarity=4.0, prior=0.2)
"""The default; ``benchmarks/fill_choices.py`` chose it on half the questions of ``eval fill``."""


def slot_weights(*, paper: bool = False, prior: float | None = None) -> SlotWeights:
    """The weights that options ask for; a `prior` that is given replaces the one of the weights."""
    weights = PAPER_WEIGHTS if paper else SLOT_WEIGHTS
    return weights if prior is None else check_weights(weights._replace(prior=prior))


def check_weights(weights: SlotWeights) -> SlotWeights:
    """`weights`, if scores stay finite with them."""
    if not 0 <= weights.similarity <= LARGEST_WEIGHT:
        raise UsageError(
            f"similarity is {weights.similarity:g}; it must be a number from 0, which leaves it "
            f"out, to {LARGEST_WEIGHT:g}; {SLOT_WEIGHTS.similarity:g}, say"
        )
    check_prior(weights.prior)
    return weights


class SlotScorer:
    """R·C + similarity·cos(x, y) + prior·log p(word), for the words of one slot of a pattern."""

    def __init__(
        self,
        space: PairSpace,
        word: int,
        role: Role,
        context: FloatArray,
        weights: SlotWeights,
        log_frequencies: FloatArray,
    ) -> None:
        """Fix the word of the other slot; `log_frequencies` are those of all words, (V,)."""
        self._pairs, self._context = space.pairs, context
        self._network = space.pairs.conditioned_on(word, role)
        self._similar = np.float32(weights.similarity) * space.unit_inputs(np.array([word]))[0]
        self._log_prior = np.float32(weights.prior) * log_frequencies

    def scores(self, ids: CandidateIds) -> FloatArray:
        inputs = self._pairs.inputs(ids)
        return self._network.scores(inputs, self._context) + self._word_scores(inputs, ids)

    def approximate_scores(self, clusters: WordClusters) -> FloatArray:
        readout = dot_product(self._context)
        every = slice(None)
        own = self._word_scores(self._pairs.inputs(every), every)
        return clusters.approximate_scores(self._network, readout) + own

    def _word_scores(self, inputs: FloatArray, ids: CandidateIds) -> FloatArray:
        """What does not depend on the pattern, and is linear in the words of unit norm."""
        products = inputs @ self._similar
        if not self._pairs.has_unit_inputs:
            products /= safe_norms(inputs)[:, 0]
        scores: FloatArray = products + self._log_prior[ids]
        return scores


class AnalogyScorer:
    """α·cos(r_ab, r_xy) + (1 − α)·cos(b − a + x, y), for words as y (`eq:analogy_score`).

    With a composed word among a, b and x, r is of vectors `COMPOSED_NORM` as long: composed from
    its base, a word is nearer to that than words of its kind are, and R makes too much of it.
    """

    def __init__(
        self, space: PairSpace, abx: Sequence[int], direction: Direction, alpha: float
    ) -> None:
        """Fix the ids of a, b and x."""
        ids = np.array(abx)
        pairs, self._alpha = space.whitened_pairs, alpha
        self._pairs, self._unit_words = space.pairs, space.unit_words
        inputs = pairs.inputs(ids)
        if (ids >= pairs.words).any():
            inputs *= np.float32(COMPOSED_NORM)
        a, b, x = inputs[:, None]
        self._networks = [pairs.with_input(x[0], role) for role in roles(direction)]
        examples = {"x": (a, b), "y": (b, a)}
        self._targets = [normalise(pairs.compose(*examples[role])) for role in roles(direction)]
        first, second, third = space.unit_inputs(ids)
        self._offset = normalise(second - first + third)
        # Each direction has unit norm, so the cosine of both together is the mean of theirs.
        self._pair_weight = np.float32(alpha / len(self._networks))

    def scores(self, ids: CandidateIds) -> FloatArray:
        total, inputs = self._offset_scores(ids), self._pairs.inputs(ids)
        for network, target in zip(self._networks, self._targets, strict=True):
            total += self._pair_weight * network.cosines(inputs, target)[:, 0]
        return total

    def approximate_scores(self, clusters: WordClusters) -> FloatArray:
        total = self._offset_scores(slice(None))
        for network, target in zip(self._networks, self._targets, strict=True):
            cosine = after_normalising(dot_product(target[0]))
            total += self._pair_weight * clusters.approximate_scores(network, cosine)
        return total

    def _offset_scores(self, ids: CandidateIds) -> FloatArray:
        """(1 − α)·cos(b − a + x, y): 3CosAdd."""
        scores: FloatArray = (1 - self._alpha) * (self._unit_words[ids] @ self._offset)
        return scores


class WordSearch:
    """The words of a model with the best scores."""

    def __init__(self, space: PairSpace) -> None:
        self._space = space
        self._vocabulary = space.vocabulary

    @cached_property
    def log_frequencies(self) -> FloatArray:
        """The logs of the words' shares of the corpus, (V,)."""
        return log_frequencies(self._vocabulary)

    def best_words(
        self,
        scorer: WordScorer,
        query: Sequence[int],
        *,
        among: Iterable[str] | None,
        search: Search,
        top: int,
        all_words: bool = False,
    ) -> Table[Match]:
        """The `top` words, without special tokens and those of the query.

        Args:
            scorer: Of words, for this query.
            query: The ids of the words in the query.
            among: Words to choose from; None is the whole vocabulary.
            search: How; words to choose from are always scored exactly.
            top: How many to return.
            all_words: Whether what is no answer otherwise (`query.answers`) may be one; words to
                choose from always may.
        """
        exclude = [*SPECIAL_IDS, *query]
        if among is None and not all_words:
            answers = self._space.answers
            exclude += [*answers.excluded(query).tolist(), *answers.overlapping(query)]
        ids = self._candidates(scorer, exclude, among, search)
        scores = scorer.scores(ids)
        words = np.arange(len(self._vocabulary))[ids]
        excluded = np.flatnonzero(np.isin(words, exclude))
        return Table(
            Match(self._vocabulary.words[words[n]], float(scores[n]))
            for n in top_k(scores, top, excluded.tolist())
        )

    @cached_property
    def _clusters(self) -> WordClusters:
        return WordClusters(self._space.pairs.all_inputs)

    def _candidates(
        self,
        scorer: WordScorer,
        exclude: Iterable[int],
        among: Iterable[str] | None,
        search: Search,
    ) -> CandidateIds:
        if search not in get_args(Search):
            raise UsageError(
                f"search is {search!r}; it must be one of {', '.join(get_args(Search))}"
            )
        if among is not None:
            ids = {look_up_word(word, self._vocabulary) for word in among}
            return np.array(sorted(ids), np.intp)
        if search == "shortlist" and len(self._vocabulary) > SHORTLIST:
            known = (word for word in exclude if word < len(self._vocabulary))
            return shortlist(scorer.approximate_scores(self._clusters), known)
        return slice(None)


def shortlist(approximate_scores: FloatArray, exclude: Iterable[int]) -> IntArray:
    """The words to score exactly, in order of their ids."""
    return np.sort(top_k(approximate_scores, SHORTLIST, exclude))


def check_prior(prior: float) -> float:
    """The weight of log p(word) beside R·C, if it can be one.

    R·C estimates a PMI: how much more often words and pattern occur together than by chance. With
    the pattern and one word fixed, PMI + log p(other word) is, up to a constant, the log of the
    other word's probability there: a prior of 0 ranks by association, 1 by probability, and others
    interpolate. That holds for PMI itself: training draws negative words by a smoothed frequency,
    and subsamples pairs of frequent words.

    Raises:
        UsageError: it is negative or not finite, or so large that sums with it would not be.
    """
    if not 0 <= prior <= LARGEST_WEIGHT:
        raise UsageError(
            f"prior is {prior:g}; it must be a number from 0, which is plain R·C, to "
            f"{LARGEST_WEIGHT:g}; 0.5, say"
        )
    return prior


def log_frequencies(vocabulary: Vocabulary) -> FloatArray:
    """The log of each word's share of the corpus, (V,); a count of 0 is taken for 1."""
    counts = np.maximum(vocabulary.counts, 1).astype(np.float64)
    shares = counts / counts[len(SPECIAL_TOKENS) :].sum()
    logs: FloatArray = np.log(shares).astype(np.float32)
    return logs


def pair_cosines(
    pairs: PairNetwork, example: tuple[int, int], x: IntArray, y: IntArray, direction: Direction
) -> FloatArray:
    """The cosine of each pair's vector with that of an example pair: (N,)."""
    first, second = (np.array([word]) for word in example)
    target = normalise(directed_vectors(pairs, first, second, direction)[0])
    cosines = [
        normalise(directed_vectors(pairs, *block, direction)) @ target
        for block in pair_blocks(x, y, 16_384)
    ]
    return np.concatenate(cosines) if cosines else np.empty(0, np.float32)


def offset_cosines(
    space: PairSpace, example: tuple[int, int], x: IntArray, y: IntArray
) -> FloatArray:
    """The cosine of each pair's offset, y − x of its words, with that of an example pair: (N,)."""
    first, second = space.unit_inputs(np.array(example))
    target = normalise(second - first)
    cosines = [
        normalise(space.unit_inputs(right) - space.unit_inputs(left)) @ target
        for left, right in pair_blocks(x, y, 16_384)
    ]
    return np.concatenate(cosines) if cosines else np.empty(0, np.float32)


def nearest_scores(
    space: PairSpace,
    example: tuple[int, int],
    x: IntArray,
    y: IntArray,
    direction: Direction,
    alpha: float,
) -> FloatArray:
    """α·cos(r_ab, r_xy) + (1 − α)·cos(b − a, y − x) of each pair, for an example (a, b): (N,).

    What PairDirection (Levy and Goldberg, 2014) measures by offsets alone.
    """
    weight = np.float32(alpha)
    scores = weight * pair_cosines(space.whitened_pairs, example, x, y, direction)
    return scores + (1 - weight) * offset_cosines(space, example, x, y)


def analogy_alpha(alpha: float | None, *, composed: bool) -> float:
    """The weight of pair vectors in an analogy; None is the default."""
    default = COMPOSED_ALPHA if composed else ANALOGY_ALPHA
    return default if alpha is None else check_alpha(alpha)


def check_alpha(alpha: float) -> float:
    """The weight of pair vectors against single words, if it is a share."""
    if not 0 <= alpha <= 1:
        raise UsageError(f"alpha is {alpha}; it must be between 0 and 1")
    return alpha


def pair_blocks(x: IntArray, y: IntArray, size: int) -> Iterator[tuple[IntArray, IntArray]]:
    """`size` pairs at a time, so that memory does not grow with their number."""
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]


def all_pairs(ids: IntArray) -> tuple[IntArray, IntArray]:
    """Each ordered pair of two different words."""
    x, y = (side.ravel() for side in np.meshgrid(ids, ids, indexing="ij"))
    return x[x != y], y[x != y]


def analogous_pairs(
    words: FloatArray,
    x: int,
    y: int,
    *,
    example: FloatArray | None = None,
    first_words: int = 300,
    second_words: int = 30,
) -> tuple[IntArray, IntArray]:
    """Pairs that may be in the relation of (x, y), among the V² there are.

    The nearest words to x, each with the nearest words to itself plus y − x: a search by single
    words finds the candidates, which the pair vectors then rank.

    Args:
        words: The vocabulary's vectors, of unit norm, or those of the first ids: (V, D).
        x: The id of the first word.
        y: The id of the second word.
        example: The vectors of x and y, where `words` may lack them: (2, D).
        first_words: How many words near x.
        second_words: How many for each of them.
    """
    # Pairs that share a word with the example are near it for that alone, and crowd out the rest.
    exclude = tuple(word for word in (*SPECIAL_IDS, x, y) if word < len(words))
    from_x, to_y = words[[x, y]] if example is None else example
    firsts = top_k(words @ from_x, first_words, exclude)
    targets = normalise(words[firsts] + (to_y - from_x))
    seconds = [
        top_k(scores, second_words, (*exclude, first))
        for first, scores in zip(firsts.tolist(), targets @ words.T, strict=True)
    ]
    return np.repeat(firsts, list(map(len, seconds))), np.concatenate(seconds)


def repeated_words(scores: FloatArray, x: IntArray, y: IntArray) -> list[int]:
    """The indices of pairs that share a word with a pair of a better score."""
    seen: set[int] = set()
    repeated = []
    for index in np.argsort(-scores, kind="stable").tolist():
        pair = {int(x[index]), int(y[index])}
        if seen & pair:
            repeated.append(index)
        else:
            seen |= pair
    return repeated
