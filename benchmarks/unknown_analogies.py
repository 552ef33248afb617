"""Analogies with words beyond the vocabulary: what weight pair vectors deserve there.

    python benchmarks/unknown_analogies.py [MODEL] --bats BATS/ [--vectors FILE] [--choose]

Questions of BATS with an answer that the model knows. **Unknown**: those with a, b or x that it
lacks, beside those of known words alone. **Held out**: known words as if they were not, as in
`unknown_words.py`. A question with a word that is refused is answered wrongly. Answers are the best
of the 300 that 3CosAdd prefers, so that α = 0 is 3CosAdd over the whole vocabulary. Accuracies of
known words are those of a sample (seed 0), group by group at the groups' shares of the others.

The rule by which the weight α of a question with a composed word is chosen, written down before
its runs (an earlier look at α = 0, 0.1, 0.2, 0.3 and 0.5 on 400 of the questions had been taken):

- An unknown word belongs to a half by a hash of its spelling. A question is of the half that all of
  its unknown words are of; the others are left out. One half is chosen on, the other reported.
- α is one of `GRID`. For each way to take R of a composed word (`WAYS`) it is the one that answers
  most questions of the half; of those within half a point of it, the one nearest to the 0.5 of
  known words.
- Another way than R of the composed vector is taken only if it answers a point more; a weight by
  where the composed word stands (in the example, or x alone) only if that answers a point more.
- Held-out words are reported beside it, and do not choose: they are as frequent as known words are,
  and what is unknown is rare.

The shorter vectors among the ways were added after a look at the choosing half: most is lost where
b is composed, and such a b is far nearer to a (cosine .73 in derivation) than known words are
(.46). Nothing is known of what a spelling does not say, so that the expected vector is as long as
its expected cosine with the word's own one: 0.63 on held-out words to choose by. That is
`COMPOSED_NORM`, rounded; it is not chosen on analogies. That the known words of such a question
are shortened, too, is: by an oversight at first, and it was the better. For `relate`, shorter
vectors are no remedy: WordNet's pairs of held-out words to choose by then have 45 % of the macro-F1
with own vectors, else 58 %.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.experiments.evaluation.analogy_sets import AnalogyEntry, read_analogies
from pair2vec.query.composition import SpellingIndex, WordComposer
from pair2vec.query.pair_encoder import directed_vectors
from pair2vec.query.search import ANALOGY_ALPHA, COMPOSED_ALPHA, COMPOSED_NORM
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from unknown_words import (
    add_composed,
    compose_held_out,
    composers_of,
    composers_without,
    hold_out,
    spelling_hash,
)

SPECIAL = len(SPECIAL_TOKENS)
RERANKED = 300
QUESTIONS = 4_000
"""Of each kind at most."""
BATCH = 256

GRID = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
NEAR, BETTER = 0.005, 0.01
"""The half point and the point of the rule."""

Item = TypeVar("Item")
Flags = NDArray[np.bool_]


class Question(NamedTuple):
    """By ids; None for a word that is refused."""

    group: str
    a: int | None
    b: int | None
    x: int | None
    answers: frozenset[int]

    @property
    def words(self) -> tuple[int | None, int | None, int | None]:
        return self.a, self.b, self.x


class Unknown(NamedTuple):
    """A question with unknown words, and their spelling."""

    question: Question
    spelled: frozenset[str]


class Candidates(NamedTuple):
    """The 300 candidates of each question, 0 and no answer for one that is refused: (Q, 300)."""

    pair: FloatArray
    """cos(r_ab, r_xy)"""
    offset: FloatArray
    """cos(b − a + x, y)"""
    is_answer: Flags

    def right(self, alpha: float) -> Flags:
        """Which questions are answered rightly, (Q,)."""
        best = (alpha * self.pair + (1 - alpha) * self.offset).argmax(axis=1)
        right: Flags = self.is_answer[np.arange(len(best)), best]
        return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?")
    parser.add_argument("--bats", type=Path, required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--choose", action="store_true", help="look at the choosing half alone")
    arguments = parser.parse_args()
    model = load(arguments.model)
    print(machine.describe())
    start = time.perf_counter()
    if arguments.choose:
        choose(model, arguments.bats)
    else:
        report(model, arguments.bats, arguments.vectors)
    print(f"{time.perf_counter() - start:.0f} s")


def choose(model: Pair2vec, bats: Path) -> None:
    """Print what the rule chooses by."""
    composer = composers_of(model, None)["spelling"]
    _, unknown = read_unknown(model, bats, composer)
    questions = [u.question for u in half_of(unknown, "choose")]
    in_example = np.array([is_composed(q.a, model) or is_composed(q.b, model) for q in questions])
    is_refused = np.array([None in q.words for q in questions])
    print(f"{len(questions):,} questions to choose by, {100 * is_refused.mean():.1f} % refused")
    for name, stand_ins in WAYS.items():
        candidates = rank(model, questions, all_words(model), stand_ins)
        right = np.array([candidates.right(alpha) for alpha in GRID])
        print(f"\nR of a composed word: {name}")
        parts = {"all": np.ones(len(questions), np.bool_)}
        parts |= {"example composed": in_example, "x alone composed": ~in_example & ~is_refused}
        groups = np.array([q.group for q in questions])
        parts |= {group: groups == group for group in sorted({*groups})}
        for part, rows in parts.items():
            shares = right[:, rows].mean(axis=1)
            curve = " ".join(
                f"{alpha:g}: {100 * share:.1f}" for alpha, share in zip(GRID, shares, strict=True)
            )
            print(f"{part:18} (n = {rows.sum():5,}) {chosen_alpha(shares):4g} by the rule; {curve}")


def chosen_alpha(shares: FloatArray) -> float:
    """By the rule, of the shares that each of `GRID` answers."""
    good = np.array(GRID)[shares >= shares.max() - NEAR]
    return float(good[np.abs(good - ANALOGY_ALPHA).argmin()])


StandIns = Callable[[Pair2vec, IntArray], Sequence[int]]
"""For ids of the words of questions those of which R is taken in their place."""


def shortened(composed: float, known: float) -> StandIns:
    """The same vectors, of other lengths."""

    def find(model: Pair2vec, ids: IntArray) -> list[int]:
        pairs = model.space.pairs
        norms = np.where(ids < pairs.words, known, composed).astype(np.float32)
        return [pairs.added.add(vector) for vector in norms[:, None] * pairs.inputs(ids)]

    return find


def nearest_spellings(model: Pair2vec, ids: IntArray) -> list[int]:
    """For composed words the known ones that are spelled most alike."""
    index, spelled, known = (
        SpellingIndex(model.vocabulary.words),
        model.space.spelled,
        len(model.vocabulary),
    )
    return [n if n < known else int(index.nearest(spelled[n], 1)[0][0]) for n in ids.tolist()]


def nearest_vectors(model: Pair2vec, ids: IntArray) -> list[int]:
    """For composed words the known ones with the most similar vectors."""
    nearest = (model.space.unit_inputs(ids) @ model.unit_words.T).argmax(axis=1)
    found: list[int] = np.where(ids < len(model.vocabulary), ids, nearest).tolist()
    return found


_as_analogy_does = shortened(COMPOSED_NORM, COMPOSED_NORM)

WAYS: dict[str, StandIns] = {
    "of its vector": shortened(1.0, 1.0),
    "of the known word that is spelled most alike": nearest_spellings,
    "of the known word with the most similar vector": nearest_vectors,
    "of its vector, 0.6 as long": shortened(COMPOSED_NORM, 1.0),
    "of all three, 0.6 as long": _as_analogy_does,
}


def all_words(model: Pair2vec) -> IntArray:
    return np.arange(SPECIAL, len(model.vocabulary))


def is_composed(word: int | None, model: Pair2vec) -> bool:
    return word is not None and word >= len(model.vocabulary)


def half_of(unknown: Sequence[Unknown], half: str) -> list[Unknown]:
    """The questions of which all unknown words are of a half."""
    wanted = 0 if half == "choose" else 1
    return [u for u in unknown if {spelling_hash(word) >> 20 & 1 for word in u.spelled} == {wanted}]


def read_questions(
    bats: Path, look_up: Callable[[str], int | None], vocabulary: Vocabulary
) -> list[tuple[Question, tuple[str, str, str]]]:
    """All questions of which an answer is known, with ids as `look_up` gives them, and a, b, x."""
    found = []
    encoded: dict[AnalogyEntry, tuple[int | None, str, int | None, frozenset[int]]] = {}
    for relation in read_analogies(bats):
        for question in relation.questions:
            for entry in question:
                if entry not in encoded:
                    known = [a for a in map(typed, entry.answers) if a in vocabulary]
                    first = (known or entry.answers)[0]
                    answers = frozenset(vocabulary.ids[answer] for answer in known)
                    encoded[entry] = look_up(entry.word), first, look_up(first), answers
            a, spelled, b, _ = encoded[question.example]
            x, *_, answers = encoded[question.query]
            if answers:
                words = (question.example.word, spelled, question.query.word)
                found.append((Question(relation.group, a, b, x, answers), words))
    return found


def read_unknown(
    model: Pair2vec, bats: Path, composer: WordComposer
) -> tuple[list[Question], list[Unknown]]:
    """Questions of known words; and those with others, composed where they can be."""
    ids = model.vocabulary.ids
    found: dict[str, int | None] = {}

    def look_up(spelling: str) -> int | None:
        word = typed(spelling)
        if word not in found:
            found[word] = ids[word] if word in ids else add_composed(model, composer, word)
        return found[word]

    known, unknown = [], []
    for question, words in read_questions(bats, look_up, model.vocabulary):
        beyond = frozenset(word for word in map(typed, words) if word not in ids)
        if beyond:
            unknown.append(Unknown(question, beyond))
        else:
            known.append(question)
    model.space._spelled_beyond.update({n: word for word, n in found.items() if n is not None})
    return known, unknown


def typed(spelling: str) -> str:
    return " ".join(tokenize(spelling.replace("_", " ")))


def sample(items: Sequence[Item], count: int) -> list[Item]:
    return [items[n] for n in np.random.default_rng(0).permutation(len(items))[:count].tolist()]


def rank(
    model: Pair2vec,
    questions: Sequence[Question],
    words: IntArray,
    stand_ins: StandIns,
) -> Candidates:
    """What the candidates of each question score; R takes stand-ins for words of questions."""
    asked = np.array(sorted({n for q in questions for n in q.words if n is not None}), np.intp)
    of_pairs = dict(zip(asked.tolist(), stand_ins(model, asked), strict=True))
    shape = (len(questions), RERANKED)
    pair, offset = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    is_answer = np.zeros(shape, np.bool_)
    network, unit = model.space.whitened_pairs, model.unit_words[words]
    rows = [n for n, question in enumerate(questions) if None not in question.words]
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        abx = np.array([questions[n].words for n in batch], np.intp)
        a, b, x = (model.space.unit_inputs(column) for column in abx.T)
        scores = normalise(b - a + x) @ unit.T
        for row, n in enumerate(batch):
            scores[row, np.isin(words, abx[row])] = -2
            chosen = np.argpartition(-scores[row], RERANKED)[:RERANKED]
            own = np.array([of_pairs[word] for word in abx[row].tolist()])
            example = directed_vectors(network, own[:1], own[1:2], "both")[0]
            x_row = np.full(RERANKED, own[2])
            pair[n] = directed_vectors(network, x_row, words[chosen], "both") @ example / 2
            offset[n] = scores[row, chosen]
            is_answer[n] = np.isin(words[chosen], list(questions[n].answers))
    return Candidates(pair, offset, is_answer)


def report(model: Pair2vec, bats: Path, vectors: Path | None) -> None:
    """Print what unknown and held-out words reach with each weight, beside known words."""
    plain = WAYS["of its vector"]
    for name, composer in composers_of(model, vectors).items():
        known, unknown = read_unknown(model, bats, composer)
        parts = {
            half: [u.question for u in half_of(unknown, half)] for half in ("choose", "report")
        }
        refused = np.mean([None in question.words for question in parts["report"]])
        print(
            f"\n== {name}: {len(unknown):,} of {len(known) + len(unknown):,} questions have "
            f"unknown words; {len(parts['report']):,} are of the half to report, "
            f"{100 * refused:.1f} % of them refused"
        )
        known = sample(known, QUESTIONS)
        of_known = rank(model, known, all_words(model), plain)
        questions = sample(parts["report"], QUESTIONS)
        found = rank(model, questions, all_words(model), _as_analogy_does)
        print_beside(questions, found, known, of_known)
    for name, composer in composers_without(held := hold_out(model), vectors).items():
        print(f"\n== {name}: held-out words; composed / own vectors")
        own, new, candidates = held_out_questions(
            model, bats, compose_held_out(model, held, composer), held.test, held.dev
        )
        found = rank(model, new, candidates, _as_analogy_does)
        print_beside(new, found, own, rank(model, own, candidates, plain))


def held_out_questions(
    model: Pair2vec,
    bats: Path,
    replaced: Mapping[int, int | None],
    test: Sequence[int],
    dev: Sequence[int],
) -> tuple[list[Question], list[Question], IntArray]:
    """Questions with a held-out word, by its own vector and by the composed one; candidates."""
    ids = model.vocabulary.ids
    everything, others = {*test, *dev}, {*dev}
    found = []
    for question, _ in read_questions(bats, ids.get, model.vocabulary):
        words = {*question.words}
        answers = question.answers - everything
        if None not in words and answers and words & {*test} and not words & others:
            found.append(question._replace(answers=answers))
    own = sample(found, QUESTIONS)
    new = [
        q._replace(**{name: replaced.get(getattr(q, name), getattr(q, name)) for name in "abx"})
        for q in own
    ]
    return own, new, np.setdiff1d(all_words(model), sorted(everything))


def print_beside(
    questions: Sequence[Question],
    candidates: Candidates,
    known: Sequence[Question],
    of_known: Candidates,
) -> None:
    """Accuracies for each α, by group, beside those of known words at that α and at theirs."""
    groups, known_groups = (np.array([q.group for q in part]) for part in (questions, known))
    usual = by_group(of_known.right(ANALOGY_ALPHA), known_groups)
    for alpha in GRID:
        right = candidates.right(alpha)
        same = by_group(of_known.right(alpha), known_groups)
        note = " (the defaults)" if alpha == COMPOSED_ALPHA else ""
        shown = [
            f"{group} {100 * share:.1f} / {100 * same[group]:.1f}"
            for group, share in by_group(right, groups).items()
        ]
        expected = [sum(shares[group] for group in groups) for shares in (same, usual)]
        print(
            f"α = {alpha:g}: {', '.join(shown)}; in all {100 * right.mean():.1f} of "
            f"{len(questions):,}, {100 * right.sum() / expected[0]:.0f} % of known words, "
            f"{100 * right.sum() / expected[1]:.0f} % of these at {ANALOGY_ALPHA:g}" + note
        )


def by_group(right: Flags, groups: NDArray[np.str_]) -> dict[str, float]:
    return {group: float(right[groups == group].mean()) for group in sorted({*groups.tolist()})}


if __name__ == "__main__":
    main()
