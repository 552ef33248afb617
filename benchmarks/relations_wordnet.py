"""Accuracy of the built-in relations on pairs of WordNet.

    python benchmarks/relations_wordnet.py [MODEL] [--half choosing|reporting]

The pairs are of the 15 000 most frequent words of the model, base forms only, in one relation by
their first senses and in no other by any sense; but antonyms may be co-hyponyms, as rise and fall
are. Except for antonyms, which are few, only words of one part of speech are taken, and
co-hyponyms have a specific parent. Unrelated pairs recombine words of two pairs.
No word is in both halves: examples, features and penalties are chosen on one, and results are
reported on the other. Pairs that are examples of the built-in relations, or irregular forms of
one word, are left out last, so that new examples change no other pair.

The baselines are fitted to the labels of the other half, of which the built-in relations have seen
none: the most frequent relation, and a regression on the cosine of word vectors.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray
from pair2vec.experiments.evaluation.relations import LabelledPair
from pair2vec.relations.regression import fit_logistic
from pair2vec.relations.word_forms import differ_by_ending, is_form
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.wordnet.dictionary import SynsetId, WordNet
from pair2vec.wordnet.morphology import base_forms
from pair2vec.wordnet.relations import Senses, direct_hypernyms, sense_antonyms, sense_relations

WORDS = 15_000
PAIRS_OF_A_RELATION = 150
"""In a half, at most."""
PAIRS_OF_A_WORD = 3
PAIRS_OF_A_PARENT = 2
"""Of co-hyponyms, or most would be two kinds of person."""
NARROW = 4
"""The least number of synsets above the parent of co-hyponyms."""

CONFUSED = ("synonym", "antonym", "co-hyponym")
RELATIONS = (*CONFUSED, "hypernym", "none")
SENSE_RELATION_OF = {
    "antonym": "antonymy",
    "synonym": "synonymy",
    "hypernym": "hypernymy",
    "co-hyponym": "co_hyponymy",
}
"""Names of relations in `sense_relations`; the rarest first."""
HALVES = ("choosing", "reporting")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--half", choices=HALVES, default="reporting")
    arguments = parser.parse_args()
    model = load(arguments.model)
    halves = dict(zip(HALVES, make_halves(model, WordNet.open()), strict=True))
    own = halves.pop(arguments.half)
    (other,) = halves.values()
    print(machine.describe())
    counts = Counter(pair.relation for pair in own)
    print(f"The {arguments.half} half: {', '.join(f'{n} {name}' for name, n in counts.items())}")
    print_figures(model, own, other)


def make_halves(model: Pair2vec, wordnet: WordNet) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """The choosing and the reporting half."""
    words, random = base_words(model, wordnet), np.random.default_rng(0)
    examples = {frozenset(pair) for d in model.relations().definitions for pair in d.examples}
    first, second = (
        [
            pair
            for pair in with_unrelated(half, words, random)
            if {*pair.words} not in examples and not is_form(*pair.words)
        ]
        for half in split_by_word(related(words, wordnet, random), random)
    )
    return first, second


def base_words(model: Pair2vec, wordnet: WordNet) -> dict[str, Senses]:
    """Frequent words that are base forms, with all their senses."""
    frequent = model.vocabulary.words[len(SPECIAL_TOKENS) :][:WORDS]
    lemmas_of = {word: base_forms(wordnet, word) for word in frequent if word.isalpha()}
    return {
        word: Senses(wordnet, lemmas)
        for word, lemmas in lemmas_of.items()
        if len(word) > 2 and lemmas and all(lemma.spelling == word for lemma in lemmas)
    }


def related(
    words: dict[str, Senses], wordnet: WordNet, random: np.random.Generator
) -> list[LabelledPair]:
    """All pairs in just one relation, shuffled; the rarest relation first."""
    pairs = sorted(set(candidates(words, wordnet, random)))
    kept = [pair for pair in pairs if is_unambiguous(pair, words)]
    order = random.permutation(len(kept)).tolist()
    rank = list(SENSE_RELATION_OF)
    return sorted((kept[n] for n in order), key=lambda pair: rank.index(pair.relation))


def candidates(
    words: dict[str, Senses], wordnet: WordNet, random: np.random.Generator
) -> Iterator[LabelledPair]:
    """Pairs in a relation by the first senses of both words; of antonyms, of one of them."""
    meaning, below = defaultdict(list), defaultdict(list)
    for word, senses in words.items():
        for lemma in sorted(senses.lemmas):
            synset = wordnet.synset_ids(*lemma)[0]
            if len(senses.lemmas) == 1:
                meaning[synset].append(word)
                for parent in sorted(direct_hypernyms(wordnet, [synset])):
                    below[parent].append(word)
            for opposite in sense_antonyms(wordnet, lemma, synset):
                if opposite.spelling in words:
                    yield symmetric(word, opposite.spelling, "antonym")
    for same in meaning.values():
        yield from (symmetric(x, y, "synonym") for x, y in combinations(same, 2))
    for parent, children in below.items():
        yield from (
            LabelledPair(x, y, "hypernym") for x in children for y in meaning.get(parent, ())
        )
        if len(hypernyms_above(wordnet, parent)) < NARROW:
            continue
        siblings = random.permutation(children).tolist()[: 2 * PAIRS_OF_A_PARENT]
        for x, y in zip(siblings[::2], siblings[1::2], strict=False):
            yield symmetric(x, y, "co-hyponym")


def symmetric(x: str, y: str, relation: str) -> LabelledPair:
    """A pair that is the same both ways."""
    return LabelledPair(min(x, y), max(x, y), relation)


def hypernyms_above(wordnet: WordNet, synset: SynsetId) -> set[SynsetId]:
    """All synsets above one."""
    above: set[SynsetId] = set()
    level = {synset}
    while level := direct_hypernyms(wordnet, level) - above:
        above |= level
    return above


def is_unambiguous(pair: LabelledPair, words: dict[str, Senses]) -> bool:
    """Whether no other relation holds by any sense."""
    # Irregular forms are removed last, so that the random draws do not depend on them.
    if pair.x == pair.y or differ_by_ending(pair.x, pair.y):
        return False
    strengths = sense_relations(words[pair.x], words[pair.y])._asdict()
    own = strengths.pop(SENSE_RELATION_OF[pair.relation])
    if pair.relation == "antonym":
        del strengths["co_hyponymy"]
    return own > 0 and not any(strengths.values())


def split_by_word(
    pairs: Iterable[LabelledPair], random: np.random.Generator
) -> list[list[LabelledPair]]:
    """Two halves without a word in common, of as many pairs of each relation."""
    half_of: dict[str, int] = {}
    halves: list[list[LabelledPair]] = [[], []]
    counts: Counter[object] = Counter()
    for pair in pairs:
        assigned = {half_of[word] for word in pair.words if word in half_of}
        half = assigned.pop() if assigned else int(random.integers(2))
        limits: dict[object, int] = {(half, pair.relation): PAIRS_OF_A_RELATION}
        limits |= {(word, pair.relation): PAIRS_OF_A_WORD for word in pair.words}
        if assigned or any(counts[key] >= limit for key, limit in limits.items()):
            continue
        half_of |= dict.fromkeys(pair.words, half)
        counts.update(limits.keys())
        halves[half].append(pair)
    return halves


def with_unrelated(
    pairs: Sequence[LabelledPair], words: dict[str, Senses], random: np.random.Generator
) -> list[LabelledPair]:
    """The pairs, and as many unrelated ones as of one relation, which recombine their words."""
    others = random.permutation(len(pairs)).tolist()
    mixed = [LabelledPair(own.x, pairs[n].y, "none") for own, n in zip(pairs, others, strict=True)]
    free = [pair for pair in mixed if not any(sense_relations(words[pair.x], words[pair.y]))]
    chosen = random.permutation(len(free)).tolist()[:PAIRS_OF_A_RELATION]
    return [*pairs, *(free[n] for n in chosen)]


def print_figures(
    model: Pair2vec, own: Sequence[LabelledPair], other: Sequence[LabelledPair]
) -> None:
    """The accuracy of the built-in relations on one half, beside the baselines."""
    relations = model.relations()
    probabilities = relations.predict_proba([pair.words for pair in own])
    print_confusion(own, [relations.names[n] for n in probabilities.argmax(axis=1)])
    rows = [n for n, pair in enumerate(own) if pair.relation in CONFUSED]
    confused = [own[n] for n in rows]
    columns = [relations.names.index(name) for name in CONFUSED]
    scores, gold = probabilities[np.ix_(rows, columns)], labels(confused)
    right = scores.argmax(axis=1) == gold
    known = {word for d in relations.definitions for pair in d.examples for word in pair}
    new = np.array([not known & {*pair.words} for pair in confused])
    print(f"\nAmong {', '.join(CONFUSED)}, right of {len(confused)}:")
    print_share("majority", most_frequent(confused, other))
    print_share("cosine of word vectors", by_cosine(model, confused, other))
    print_share("built-in relations", float(right.mean()))
    print_share(f"- {new.sum()} without words of examples", float(right[new].mean()))
    for two in combinations(range(len(CONFUSED)), 2):
        is_either = np.isin(gold, two)
        likelier = np.array(two)[scores[:, two].argmax(axis=1)]
        name = " or ".join(CONFUSED[n] for n in two)
        print_share(f"- {name}", float((likelier == gold)[is_either].mean()))


def print_confusion(pairs: Sequence[LabelledPair], predicted: Sequence[str]) -> None:
    """A row a relation of WordNet, a column a predicted relation."""
    columns = (*RELATIONS, "other")
    counts = Counter(
        (pair.relation, name if name in RELATIONS else "other")
        for pair, name in zip(pairs, predicted, strict=True)
    )
    print(f"\n{'in WordNet':16}" + "".join(f"{name:>12}" for name in columns))
    for row in RELATIONS:
        print(f"{row:16}" + "".join(f"{counts[row, name]:12}" for name in columns))
    shares = {}
    for name in RELATIONS:
        shares[name] = counts[name, name] / max(1, sum(counts[row, name] for row in RELATIONS))
    print(f"{'precision, %':16}" + "".join(f"{100 * shares[name]:12.0f}" for name in RELATIONS))
    print_share("accuracy", sum(counts[name, name] for name in RELATIONS) / len(pairs))


def print_share(name: str, share: float) -> None:
    print(f"  {name:34}{100 * share:5.1f} %")


def labels(pairs: Sequence[LabelledPair]) -> IntArray:
    """The index of each pair's relation in `CONFUSED`."""
    return np.array([CONFUSED.index(pair.relation) for pair in pairs], np.intp)


def most_frequent(own: Sequence[LabelledPair], other: Sequence[LabelledPair]) -> float:
    """The accuracy of the other half's most frequent relation."""
    counts = Counter(pair.relation for pair in other if pair.relation in CONFUSED)
    return float(np.mean([pair.relation == counts.most_common(1)[0][0] for pair in own]))


def by_cosine(model: Pair2vec, own: Sequence[LabelledPair], other: Sequence[LabelledPair]) -> float:
    """The accuracy of a regression on cosines and their squares, fitted to the other half."""
    training = [pair for pair in other if pair.relation in CONFUSED]
    rows, queries = (cosines(model, pairs) for pairs in (training, own))
    weights = np.ones(len(training), np.float32)
    fitted = fit_logistic(rows, labels(training), len(CONFUSED), penalty=1e-3, weights=weights)
    return float(np.mean(fitted.probabilities(queries).argmax(axis=1) == labels(own)))


def cosines(model: Pair2vec, pairs: Sequence[LabelledPair]) -> FloatArray:
    """Of the words of each pair, and squared: (N, 2)."""
    ids, words = model.vocabulary.ids, model.unit_words
    x, y = (words[[ids[pair.words[side]] for pair in pairs]] for side in (0, 1))
    cosine = np.einsum("nd,nd->n", x, y)
    return np.stack([cosine, cosine * cosine], axis=1)


if __name__ == "__main__":
    main()
