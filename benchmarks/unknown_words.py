"""How well words beyond the vocabulary are answered for: held out, and really unknown.

    python benchmarks/unknown_words.py [MODEL] --evalution EVALution/ [--vectors FILE]
    python benchmarks/unknown_words.py [MODEL] --choose [--wordnet]

- **Held out**: a tenth of the vocabulary's words, by a hash of their spelling. The n-gram table is
  fitted again without them, and affixes and similar spellings are looked for among the others.
  Pairs with such a word are classified with its own vector, and with the composed one in its
  place. A word that is refused counts as a wrong answer.
- **Unknown**: pairs with a word that the model lacks, beside those it knows.

WordNet's pairs are those of `eval relate`; EVALution's relations are classified by networks on pair
vectors, trained on the pairs of which all words are known. Analogies are in `unknown_analogies.py`.
`--choose` looks at one half of the held-out words alone, and figures are of the other, unless
`--half choose` asks for the first.

The rules. Of the table: the smallest whose cosine with the words' own vectors is within 0.02 of the
best of at most 350 KB; it is one of several estimates. Of the weights: the highest mean cosine, and
of those within 0.002 of it the simplest numbers. They were written down after a first look at
tables and weights on another twentieth of the words, and before any question was answered.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.experiments.evaluation.held_out_pairs import read_held_out_pairs
from pair2vec.experiments.evaluation.relations import LabelledPair, read_relation_set
from pair2vec.model.subwords import fit_subwords, read_subwords, word_ngrams
from pair2vec.query.composition import CompositionWeights, WordComposer, phrase_weights
from pair2vec.relations.classifier import PairViews, RelationClassifier
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.scores import relation_scores
from pair2vec.teaching.labels import RelationNames
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.word_vectors.carry_over import CarriedWords
from pair2vec.wordnet.dictionary import WordNet

SPECIAL = len(SPECIAL_TOKENS)
TABLES = ((1_536, 16), (3_072, 32), (6_144, 48), (9_000, 32))
LENGTHS = ((2, 4), (3, 5))
PENALTIES = (1.0, 3.0)
RULES, NEIGHBOURS, TABLE = (0.0, 1.0), (0.0, 0.1, 0.3, 0.5), (0.0, 0.1, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?")
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
        held = hold_out(model, arguments.half)
        report(model, held, arguments.evalution, arguments.vectors)
    print(f"{time.perf_counter() - start:.0f} s")


class HeldOut(NamedTuple):
    """A vocabulary without the words that are held out."""

    dev: list[int]
    """Ids in the whole vocabulary: those to choose by, unless the halves are exchanged."""
    test: list[int]
    """Those that figures are of."""
    kept: IntArray
    """The ids of the others."""
    vocabulary: Vocabulary
    """Of the others."""
    table: FloatArray
    """Their unit vectors, after zeros for special tokens."""


def hold_out(model: Pair2vec, half: str = "report") -> HeldOut:
    """A tenth of the words, by their hash; a half of them, by another bit of it, to choose by.

    With the half "choose" these are the ones that figures are of.
    """
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
    dev, test = (np.flatnonzero(is_held & part).tolist() for part in (is_dev, ~is_dev))
    if half == "choose":
        dev, test = test, dev
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


def report(model: Pair2vec, held: HeldOut, evalution: Path | None, vectors: Path | None) -> None:
    """Print accuracies with own and with composed vectors, then those of really unknown words."""
    test = set(held.test)
    for name, composer in composers_without(held, vectors).items():
        print(f"\n== {name}: held-out words, {len(test):,}; composed / own vectors")
        replaced = compose_held_out(model, held, composer)
        cosines = [
            0.0
            if (new := replaced[n]) is None
            else float(model.space.unit_inputs(np.array([new]))[0] @ model.unit_words[n])
            for n in sorted(test)
        ]
        refused = sum(replaced[n] is None for n in test)
        print(f"mean cosine with the own vector {np.mean(cosines):.3f}; {refused} refused")
        held_out_relations(model, test, replaced)
        if evalution:
            held_out_classes(model, evalution, test, replaced)
    if evalution:
        for name, composer in composers_of(model, vectors).items():
            print(f"\n== {name}: words that the model lacks")
            unknown_classes(model, evalution, composer)


def composers_without(held: HeldOut, vectors: Path | None) -> dict[str, WordComposer]:
    """What composes held-out words from the others, with vectors of the user's and without."""
    words = held.table.__getitem__
    table = fit_subwords(held.vocabulary, held.table)
    composers = {"spelling": WordComposer(held.vocabulary, words, table)}
    if vectors:
        carried = CarriedWords.read(vectors, held.vocabulary, held.table)
        composers["vectors"] = WordComposer(held.vocabulary, words, table, carried)
    return composers


def composers_of(model: Pair2vec, vectors: Path | None) -> dict[str, WordComposer]:
    """What composes words that the model lacks."""
    vocabulary, unit = model.vocabulary, model.unit_words
    table = read_subwords(model.saved) or fit_subwords(vocabulary, unit)
    composers = {"spelling": WordComposer(vocabulary, model.space.unit_inputs, table)}
    if vectors:
        carried = CarriedWords.read(vectors, vocabulary, unit)
        composers["vectors"] = WordComposer(vocabulary, model.space.unit_inputs, table, carried)
    return composers


def compose_held_out(
    model: Pair2vec, held: HeldOut, composer: WordComposer
) -> dict[int, int | None]:
    """The id of the composed vector by the word's own id; None where it is refused."""
    words = model.vocabulary.words
    return {n: add_composed(model, composer, words[n]) for n in held.test}


def add_composed(model: Pair2vec, composer: WordComposer, word: str) -> int | None:
    found = composer(tokenize(word))
    return None if found is None else model.space.pairs.added.add(found.vector)


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
    print(
        f"EVALution, accuracy {100 * new.mean():.1f} / {100 * own.mean():.1f}: "
        f"{100 * new.sum() / own.sum():.0f} % (n = {len(pairs):,})"
    )


def unknown_classes(model: Pair2vec, evalution: Path, composer: WordComposer) -> None:
    ids = model.vocabulary.ids
    classifier, pairs = _classifier(model, evalution)
    is_known = [all(word.lower() in ids for word in p.words) for p in pairs]
    known, unknown = (
        [p for p, k in zip(pairs, is_known, strict=True) if k == wanted] for wanted in (True, False)
    )
    composed = {
        word.lower(): add_composed(model, composer, word.replace("_", " "))
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
