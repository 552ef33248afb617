"""How well words beyond the vocabulary are answered for: held out, and really unknown.

    python benchmarks/unknown_words.py [MODEL] --bats BATS/ --evalution EVALution/ [--vectors FILE]
    python benchmarks/unknown_words.py [MODEL] --choose [--wordnet]

- **Held out**: a tenth of the vocabulary's words, by a hash of their spelling. The n-gram table is
  fitted again without them, and affixes and similar spellings are looked for among the others.
  Questions with such a word are answered with its own vector, and with the composed one in its
  place; held-out words are never candidates. A word that is refused counts as a wrong answer.
- **Unknown**: questions and pairs with a word that the model lacks, beside those it knows.

BATS is answered by 3CosAdd among the whole vocabulary, and by the default of `analogy` (α = 0.5)
among the 300 best of that; WordNet's pairs are those of `eval relate`; EVALution's relations are
classified by networks on pair vectors, trained on the pairs of which all words are known. Subsets
are drawn with seed 0; it takes some minutes on 2 cores. `--choose` looks at one half of the
held-out words alone, and figures are of the other, unless `--half choose` asks for the first.

The rules. Of the table: the smallest whose cosine with the words' own vectors is within 0.02 of the
best of at most 350 KB; it is one of several estimates. Of the weights: the highest mean cosine, and
of those within 0.002 of it the simplest numbers. They were written down after a first look at
tables and weights on another twentieth of the words, and before any question was answered.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.experiments.evaluation.analogy_sets import AnalogyEntry, read_analogies
from pair2vec.experiments.evaluation.held_out_pairs import read_held_out_pairs
from pair2vec.experiments.evaluation.relations import LabelledPair, read_relation_set
from pair2vec.model.subwords import fit_subwords, read_subwords, word_ngrams
from pair2vec.query.composition import CompositionWeights, WordComposer, phrase_weights
from pair2vec.query.pair_encoder import directed_vectors
from pair2vec.relations.classifier import PairViews, RelationClassifier
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.scores import relation_scores
from pair2vec.teaching.labels import RelationNames
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.word_vectors.carry_over import CarriedWords
from pair2vec.wordnet.dictionary import WordNet

SPECIAL = len(SPECIAL_TOKENS)
ALPHA, RERANKED = 0.5, 300
QUESTIONS, PAIR_QUESTIONS = 4_000, 400
BATCH = 256

TABLES = ((1_536, 16), (3_072, 32), (6_144, 48), (9_000, 32))
LENGTHS = ((2, 4), (3, 5))
PENALTIES = (1.0, 3.0)
RULES, NEIGHBOURS, TABLE = (0.0, 1.0), (0.0, 0.1, 0.3, 0.5), (0.0, 0.1, 0.2)

Item = TypeVar("Item")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?")
    parser.add_argument("--bats", type=Path)
    parser.add_argument("--evalution", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--wordnet", action="store_true", help="phrases, with --choose")
    arguments = parser.parse_args()
    model = load(arguments.model)
    print(machine.describe())
    start = time.perf_counter()
    if arguments.choose:
        choose(model)
        if arguments.wordnet:
            choose_phrase_weights(model)
    else:
        held = hold_out(model)
        if arguments.half == "choose":
            held = held._replace(dev=held.test, test=held.dev)
        report(model, held, arguments.bats, arguments.evalution, arguments.vectors)
    print(f"{time.perf_counter() - start:.0f} s")


class HeldOut(NamedTuple):
    """A vocabulary without the words that are held out."""

    dev: list[int]
    """Ids to choose by, in the whole vocabulary."""
    test: list[int]
    kept: IntArray
    """The ids of the others."""
    vocabulary: Vocabulary
    """Of the others."""
    table: FloatArray
    """Their unit vectors, after zeros for special tokens."""


def hold_out(model: Pair2vec) -> HeldOut:
    """A tenth of the words, by their hash; a half of them, by another bit of it, to choose by."""
    words = model.vocabulary.words
    # The hash of the word as a whole is that of its longest n-gram: marks included.
    hashes = np.array([spelling_hash(word) for word in words])
    is_word = np.array([len(word) > 1 and any(map(str.isalpha, word)) for word in words])
    is_word[:SPECIAL] = False
    is_held = is_word & ((hashes >> 8) % 10 == 0)
    is_dev = (hashes >> 20) % 2 == 0
    kept = np.flatnonzero(~is_held)[SPECIAL:]
    counts = model.vocabulary.counts
    vocabulary = Vocabulary((words[n], int(counts[n])) for n in kept.tolist())
    unit = model.unit_words
    table = np.concatenate([np.zeros((SPECIAL, unit.shape[1]), np.float32), unit[kept]])
    dev, test = (np.flatnonzero(is_held & half).tolist() for half in (is_dev, ~is_dev))
    return HeldOut(dev, test, kept, vocabulary, table)


def spelling_hash(word: str) -> int:
    return int(word_ngrams([f"{word}>"], len(word) + 2, len(word) + 2).hashes[0])


def mean_cosine(vectors: Sequence[FloatArray | None], own: FloatArray) -> float:
    """A word without a vector counts as 0."""
    cosines = [0.0 if v is None else float(v @ u) for v, u in zip(vectors, own, strict=True)]
    return float(np.mean(cosines))


def choose(model: Pair2vec) -> None:
    """Print what tables and weights reach on the dev half."""
    held = hold_out(model)
    words = [model.vocabulary.words[n] for n in held.dev]
    own = model.unit_words[held.dev]
    print(f"{len(words):,} words to choose by; mean cosine with their own vectors")
    for lengths, penalty, (buckets, rank) in product(LENGTHS, PENALTIES, TABLES):
        table = fit_subwords(
            held.vocabulary,
            held.table,
            buckets=buckets,
            rank=rank,
            lengths=lengths,
            penalty=penalty,
        )
        size = sum(array.size for array in table.tensors().values())
        size += 4 * (len(table.buckets) + len(table.directions))
        cosine = mean_cosine(list(table.vectors(words)), own)
        print(
            f"table {buckets:6} x {rank:2}, n-grams {lengths}, penalty {penalty:g}, "
            f"{size / 1000:4.0f} KB as int8: {cosine:.4f}",
            flush=True,
        )
    table = fit_subwords(held.vocabulary, held.table)
    for rules, neighbours, share in product(RULES, NEIGHBOURS, TABLE):
        if rules + neighbours + share == 0:
            continue
        weights = CompositionWeights(rules=rules, neighbours=neighbours, table=share)
        composer = WordComposer(held.vocabulary, held.table.__getitem__, table, weights=weights)
        found = [composer([word]) for word in words]
        refused = sum(composition is None for composition in found)
        cosine = mean_cosine([c and c.vector for c in found], own)
        print(
            f"weights: rules {rules:g}, neighbours {neighbours:g}, table {share:g}: {cosine:.4f} "
            f"({refused} refused)",
            flush=True,
        )


def choose_phrase_weights(model: Pair2vec) -> None:
    """Rank the hypernyms of WordNet's phrases of known words, by the cosine with the phrase."""
    wordnet, vocabulary = WordNet.open(), model.vocabulary
    pairs = list(_phrase_hypernyms(wordnet, vocabulary))
    pairs = [pairs[n] for n in np.random.default_rng(0).permutation(len(pairs))[:4_000]]
    targets = sorted({hypernym for _, hypernym in pairs})
    unit = model.unit_words
    print(f"{len(pairs):,} phrases, {len(targets):,} hypernyms; mean reciprocal rank")
    ways: dict[str, Callable[[IntArray], FloatArray]] = {
        "mean": lambda ids: np.ones(len(ids), np.float32),
        "by rarity": lambda ids: phrase_weights(ids, vocabulary),
        "last word": lambda ids: np.eye(len(ids), dtype=np.float32)[-1],
    }
    for name, weigh in ways.items():
        vectors = [weigh(np.array(ids)) @ unit[list(ids)] for ids, _ in pairs]
        scores = normalise(np.array(vectors)) @ unit[targets].T
        own = scores[np.arange(len(pairs)), np.searchsorted(targets, [h for _, h in pairs])]
        print(f"{name:10} {float((1 / (scores >= own[:, None]).sum(axis=1)).mean()):.4f}")


def _phrase_hypernyms(
    wordnet: WordNet, vocabulary: Vocabulary
) -> Iterator[tuple[tuple[int, ...], int]]:
    for lemma in wordnet._files["n"].index:
        ids = tuple(vocabulary.ids.get(word, 0) for word in lemma.split("_"))
        if len(ids) == 1 or not all(ids):
            continue
        for target in wordnet.synset(wordnet.synset_ids(lemma, "n")[0]).targets("@"):
            above = vocabulary.ids.get(wordnet.synset(target).words[0].lower(), 0)
            if above and above not in ids:
                yield ids, above


def report(
    model: Pair2vec,
    held: HeldOut,
    bats: Path | None,
    evalution: Path | None,
    vectors: Path | None,
) -> None:
    """Print accuracies with own and with composed vectors, then those of really unknown words."""
    words, unit = model.vocabulary.words, model.unit_words
    table = fit_subwords(held.vocabulary, held.table)
    sources: dict[str, WordComposer] = {
        "spelling": WordComposer(held.vocabulary, held.table.__getitem__, table)
    }
    if vectors:
        known = CarriedWords.read(vectors, held.vocabulary, held.table)
        sources["vectors"] = WordComposer(held.vocabulary, held.table.__getitem__, table, known)
    whole = read_subwords(model.saved) or fit_subwords(model.vocabulary, unit)
    unknown: dict[str, WordComposer] = {
        "spelling": WordComposer(model.vocabulary, model.space.unit_inputs, whole)
    }
    if vectors:
        carried = CarriedWords.read(vectors, model.vocabulary, unit)
        unknown["vectors"] = WordComposer(model.vocabulary, model.space.unit_inputs, whole, carried)
    test = set(held.test)
    everything = test | set(held.dev)
    for name, composer in sources.items():
        print(f"\n== {name}: held-out words, {len(test):,}; composed / own vectors")
        replaced = {n: _add(model, composer, words[n]) for n in sorted(test)}
        cosines = [
            0.0
            if (new := replaced[n]) is None
            else float(model.space.unit_inputs(np.array([new]))[0] @ unit[n])
            for n in sorted(test)
        ]
        refused = sum(replaced[n] is None for n in test)
        print(f"mean cosine with the own vector {np.mean(cosines):.3f}; {refused} refused")
        if bats:
            held_out_analogies(model, bats, test, everything, replaced)
        held_out_relations(model, test, replaced)
        if evalution:
            held_out_classes(model, evalution, test, replaced)
    for name, composer in unknown.items():
        print(f"\n== {name}: words that the model lacks")
        if bats:
            unknown_analogies(model, bats, composer)
        if evalution:
            unknown_classes(model, evalution, composer)


def _add(model: Pair2vec, composer: WordComposer, word: str) -> int | None:
    found = composer(tokenize(word))
    return None if found is None else model.space.pairs.added.add(found.vector)


class Question(NamedTuple):
    """By ids; None for a word that is refused."""

    group: str
    a: int | None
    b: int | None
    x: int | None
    answers: frozenset[int]


def read_questions(
    bats: Path, look_up: Callable[[str], int | None], vocabulary: Vocabulary
) -> list[Question]:
    """All questions of which an answer is known, with ids as `look_up` gives them."""
    found: list[Question] = []
    encoded: dict[AnalogyEntry, tuple[int | None, int | None, frozenset[int]]] = {}
    for relation in read_analogies(bats):
        for question in relation.questions:
            for entry in question:
                if entry not in encoded:
                    known = [vocabulary.ids.get(answer) for answer in entry.answers]
                    found_ids = [n for n in known if n is not None]
                    first = found_ids[0] if found_ids else look_up(entry.answers[0])
                    encoded[entry] = look_up(entry.word), first, frozenset(found_ids)
            (a, b, _), (x, _, answers) = encoded[question.example], encoded[question.query]
            if answers:
                found.append(Question(relation.group, a, b, x, answers))
    return found


def held_out_analogies(
    model: Pair2vec,
    bats: Path,
    test: set[int],
    everything: set[int],
    replaced: dict[int, int | None],
) -> None:
    ids = model.vocabulary.ids
    questions = [
        q._replace(answers=q.answers - everything)
        for q in read_questions(bats, ids.get, model.vocabulary)
        if None not in (q.a, q.b, q.x)
    ]
    questions = [
        q
        for q in questions
        if q.answers and test & {q.a, q.b, q.x} and not (everything - test) & {q.a, q.b, q.x}
    ]
    questions = sample(questions, QUESTIONS)
    composed = [
        q._replace(**{name: replaced.get(getattr(q, name), getattr(q, name)) for name in "abx"})
        for q in questions
    ]
    candidates = np.setdiff1d(np.arange(SPECIAL, len(ids)), sorted(everything))
    for title, count, pairs in (("3CosAdd", None, False), ("α = 0.5", PAIR_QUESTIONS, True)):
        own = answer_all(model, questions[:count], candidates, pairs=pairs)
        new = answer_all(model, composed[:count], candidates, pairs=pairs)
        groups = [q.group for q in questions[:count]]
        print(f"BATS, {title}: " + shares(groups, new, own))


def unknown_analogies(model: Pair2vec, bats: Path, composer: WordComposer) -> None:
    ids, cache = model.vocabulary.ids, {}

    def look_up(spelling: str) -> int | None:
        word = " ".join(tokenize(spelling.replace("_", " ")))
        if word in ids:
            return ids[word]
        if word not in cache:
            cache[word] = _add(model, composer, word)
        return cache[word]

    questions = read_questions(bats, look_up, model.vocabulary)
    is_known = [all(n is not None and n < len(ids) for n in (q.a, q.b, q.x)) for q in questions]
    parts = [
        [q for q, known in zip(questions, is_known, strict=True) if known == wanted]
        for wanted in (True, False)
    ]
    refused = sum(None in (q.a, q.b, q.x) for q in parts[1])
    print(
        f"BATS: {len(parts[1]):,} of {len(questions):,} questions with a known answer have an "
        f"unknown word; {100 * refused / max(1, len(parts[1])):.0f} % of them have a refused one"
    )
    candidates = np.arange(SPECIAL, len(ids))
    for title, limit, pairs in (("3CosAdd", QUESTIONS, False), ("α = 0.5", PAIR_QUESTIONS, True)):
        known, new = (sample(part, limit) for part in parts)
        results = [answer_all(model, part, candidates, pairs=pairs) for part in (known, new)]
        print(f"{title}: " + beside([q.group for q in known], [q.group for q in new], *results))


def sample(items: Sequence[Item], count: int) -> list[Item]:
    return [items[n] for n in np.random.default_rng(0).permutation(len(items))[:count].tolist()]


def answer_all(
    model: Pair2vec, questions: Sequence[Question], candidates: IntArray, *, pairs: bool
) -> NDArray[np.bool_]:
    """Which questions are answered rightly; those with a refused word are not."""
    right = np.zeros(len(questions), np.bool_)
    rows = [n for n, q in enumerate(questions) if None not in (q.a, q.b, q.x)]
    words = model.unit_words[candidates]
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        abx = np.array([[questions[n].a, questions[n].b, questions[n].x] for n in batch], np.intp)
        a, b, x = (model.space.unit_inputs(column) for column in abx.T)
        scores = normalise(b - a + x) @ words.T
        for row, n in enumerate(batch):
            scores[row, np.isin(candidates, abx[row])] = -2
            best = candidates[scores[row].argmax()]
            if pairs:
                best = _best_by_pairs(model, abx[row], candidates, scores[row])
            right[n] = int(best) in questions[n].answers
    return right


def _best_by_pairs(
    model: Pair2vec, abx: IntArray, candidates: IntArray, offsets: FloatArray
) -> int:
    chosen = np.argpartition(-offsets, RERANKED)[:RERANKED]
    network = model.space.whitened_pairs
    example = directed_vectors(network, abx[:1], abx[1:2], "both")[0]
    others = directed_vectors(network, np.full(RERANKED, abx[2]), candidates[chosen], "both")
    scores = ALPHA * (others @ example) / 2 + (1 - ALPHA) * offsets[chosen]
    return int(candidates[chosen[scores.argmax()]])


def shares(groups: Sequence[str], new: NDArray[np.bool_], own: NDArray[np.bool_]) -> str:
    """Accuracies with composed and with own vectors, by group and in all."""
    by_group: defaultdict[str, list[int]] = defaultdict(list)
    for n, group in enumerate(groups):
        by_group[group].append(n)
        by_group["all"].append(n)
    parts = [
        f"{group} {100 * new[rows].mean():.1f} / {100 * own[rows].mean():.1f}"
        for group, rows in sorted(by_group.items())
    ]
    return f"{', '.join(parts)}: {100 * new.sum() / max(1, own.sum()):.0f} % (n = {len(groups):,})"


def beside(
    known_groups: Sequence[str],
    groups: Sequence[str],
    known: NDArray[np.bool_],
    new: NDArray[np.bool_],
) -> str:
    """Accuracies on unknown and on known words, by group, and at the groups' shares of unknown."""
    parts, expected = [], 0.0
    for group in sorted({*groups}):
        own = known[np.array(known_groups) == group]
        rows = np.array(groups) == group
        expected += own.mean() * rows.sum()
        parts.append(
            f"{group} {100 * new[rows].mean():.1f} / {100 * own.mean():.1f} ({rows.sum()})"
        )
    return f"{', '.join(parts)}: {100 * new.sum() / max(1e-9, expected):.0f} % of known words"


def held_out_relations(model: Pair2vec, test: set[int], replaced: dict[int, int | None]) -> None:
    """WordNet's pairs with a held-out word: macro-F1 and accuracy in eight classes."""
    ids = model.vocabulary.ids
    pairs = [p for p in read_held_out_pairs() if test & {ids.get(p.x, 0), ids.get(p.y, 0)}]
    pairs = [p for p in pairs if p.x in ids and p.y in ids]
    x, y = (np.array([ids[getattr(p, side)] for p in pairs]) for side in "xy")
    swapped = [[replaced.get(int(n), int(n)) if n in test else int(n) for n in s] for s in (x, y)]
    refused = np.array([None in pair for pair in zip(*swapped, strict=True)])
    new_x, new_y = (np.array([n or 0 for n in side]) for side in swapped)
    relations = model.relations()
    # Composed words have no spelling in the model: only their vectors count, for both.
    own_table, new_table = (
        relations.scorer(x, y),
        relations.scorer(*_spelled(model, new_x, new_y, x, y)),
    )
    new_table[refused] = np.eye(len(relations.names), dtype=np.float32)[-1]
    names, inverse = RelationNames.of_definitions(read_definitions())
    order = [relations.names.index(name) for name in names]
    labels = np.array([names.index(p.relation) for p in pairs])
    scores = [
        relation_scores(table[:, order], labels, names, inverse) for table in (new_table, own_table)
    ]
    chance = relation_scores(
        np.tile(np.eye(len(names), dtype=np.float32)[-1], (len(pairs), 1)), labels, names, inverse
    ).macro_f1
    new, own = (score.macro_f1 for score in scores)
    print(
        f"WordNet's pairs: macro-F1 {new:.1f} / {own:.1f}: {100 * new / own:.0f} % "
        f"(always none: {chance:.1f}; n = {len(pairs):,})"
    )


def _spelled(
    model: Pair2vec, new_x: IntArray, new_y: IntArray, x: IntArray, y: IntArray
) -> tuple[IntArray, IntArray]:
    """Composed ids, which the space spells as the words they stand for."""
    words = model.vocabulary.words
    for new, own in ((new_x, x), (new_y, y)):
        model.space._spelled_beyond.update(
            (int(n), words[o]) for n, o in zip(new, own, strict=True) if n >= len(words)
        )
    return new_x, new_y


class ReplacedViews(PairViews):
    """Features of pairs with other vectors for some words."""

    def __init__(self, model: Pair2vec, replaced: dict[str, int | None]) -> None:
        super().__init__(model.space)
        self._replaced = replaced

    def _input(self, word: str) -> FloatArray:
        lower = word.lower()
        if lower not in self._replaced:
            return super()._input(word)
        new = self._replaced[lower]
        network = self._space.pairs
        if new is None:
            return np.zeros(network.dimension, np.float32)
        vector: FloatArray = network.inputs(np.array([new]))[0]
        return vector


def _classifier(model: Pair2vec, evalution: Path) -> tuple[RelationClassifier, list[LabelledPair]]:
    """Networks on pair vectors, trained on known pairs; and the pairs to test."""
    data, ids = read_relation_set(evalution), model.vocabulary.ids
    train = [p for p in data.train if all(word.lower() in ids for word in p.words)]
    classifier = RelationClassifier(model, views=["pairs"], networks=3, unknown="zero")
    classifier.fit([p.words for p in train], [p.relation for p in train])
    return classifier, [*data.val, *data.test]


def _predicted(
    classifier: RelationClassifier,
    model: Pair2vec,
    pairs: Sequence[LabelledPair],
    replaced: dict[str, int | None],
) -> NDArray[np.bool_]:
    """Which pairs get their relation; those with a refused word do not."""
    features = ReplacedViews(model, replaced)("pairs", [p.words for p in pairs])
    total = sum(network.probabilities(features) for network in classifier._networks["pairs"])
    found = classifier.classes_[np.asarray(total).argmax(axis=1)]
    refused = [any(replaced.get(w.lower(), 0) is None for w in p.words) for p in pairs]
    right: NDArray[np.bool_] = found == np.array([p.relation for p in pairs])
    answered: NDArray[np.bool_] = right & ~np.array(refused)
    return answered


def held_out_classes(
    model: Pair2vec, evalution: Path, test: set[int], replaced: dict[int, int | None]
) -> None:
    ids, words = model.vocabulary.ids, model.vocabulary.words
    classifier, pairs = _classifier(model, evalution)
    pairs = [
        p
        for p in pairs
        if all(w.lower() in ids for w in p.words) and test & {ids[w.lower()] for w in p.words}
    ]
    own = _predicted(classifier, model, pairs, {})
    new = _predicted(classifier, model, pairs, {words[n]: replaced[n] for n in test})
    print("EVALution, accuracy: " + shares(["classes"] * len(pairs), new, own))


def unknown_classes(model: Pair2vec, evalution: Path, composer: WordComposer) -> None:
    ids = model.vocabulary.ids
    classifier, pairs = _classifier(model, evalution)
    is_known = [all(word.lower() in ids for word in p.words) for p in pairs]
    known, unknown = (
        [p for p, k in zip(pairs, is_known, strict=True) if k == wanted] for wanted in (True, False)
    )
    composed = {
        word.lower(): _add(model, composer, word.replace("_", " "))
        for p in unknown
        for word in p.words
        if word.lower() not in ids
    }
    accuracy = [
        100 * _predicted(classifier, model, part, words).mean()
        for part, words in ((unknown, composed), (unknown, {}), (known, {}))
    ]
    refused = sum(any(composed.get(w.lower(), 0) is None for w in p.words) for p in unknown)
    print(
        f"EVALution, accuracy: {len(unknown)} unknown pairs of {len(pairs):,}, composed "
        f"{accuracy[0]:.1f} ({refused} with a refused word), today's nearest known form "
        f"{accuracy[1]:.1f}, {len(known):,} known pairs {accuracy[2]:.1f}: "
        f"{100 * accuracy[0] / accuracy[2]:.0f} %"
    )


if __name__ == "__main__":
    main()
