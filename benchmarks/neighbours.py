"""How the neighbours of a word are ordered: weights of similarity and of frequency.

    python benchmarks/neighbours.py [MODEL] [--words 400]

A word's neighbours in any relation are ordered by probability, times the exponential of a weighted
cosine similarity, times the rank in the vocabulary to a power. Words are frequent ones of WordNet
from the part *dev*, of whose pairs none is taught as WordNet labels it. An entry is right if
WordNet has that relation between two usual senses of the words; many entries that a person would
accept are not in WordNet, so the figures are comparable with each other alone.

The rule, written before the runs: the weights with the highest share of right entries among the
first twelve of each word; of those within half a point of it, the smallest.
"""

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import top_k
from pair2vec.query.space import SPECIAL_IDS
from pair2vec.relations.relations import CANDIDATES, neighbour_order
from pair2vec.teaching.labels import PARTS, parts_of_words
from pair2vec.teaching.wordnet_pairs import VocabularySenses
from pair2vec.wordnet.dictionary import WordNet

FIRST = 12
FREQUENT, LEAST_RELATED = 20_000, 12
"""Words up to this rank, with at least so many entries in WordNet."""
SIMILARITY, FREQUENCY = (0.0, 1.0, 2.0, 4.0, 8.0), (0.0, 0.1, 0.2, 0.4)
NEARLY = 0.005


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?")
    parser.add_argument("--words", type=int, default=400)
    arguments = parser.parse_args()
    model, wordnet = load(arguments.model), WordNet.open()
    print(machine.describe())
    found = wordnet_entries(model, wordnet)
    parts = parts_of_words(wordnet, model.vocabulary.words[:FREQUENT])
    is_dev = parts == PARTS.index("dev")
    words = [n for n in np.flatnonzero(is_dev).tolist() if len(found.get(n, ())) >= LEAST_RELATED]
    words = np.random.default_rng(0).permutation(words)[: arguments.words].tolist()
    weights = list(product(SIMILARITY, FREQUENCY))
    right = np.zeros(len(weights))
    for x, ids, relations, scores, cosines in scored(model, words):
        for number, (similarity, frequency) in enumerate(weights):
            order = neighbour_order(scores, cosines, ids, similarity, frequency)
            first = top_k(order, FIRST)
            right[number] += sum((relations[n], int(ids[n])) in found[x] for n in first)
    shares = right / (FIRST * len(words))
    print(f"{len(words)} words, right of the first {FIRST}; down: similarity, across: frequency")
    print(f"{'':6}" + "".join(f"{frequency:8}" for frequency in FREQUENCY))
    for similarity, row in zip(SIMILARITY, shares.reshape(len(SIMILARITY), -1), strict=True):
        print(f"{similarity:6}" + "".join(f"{share:8.1%}" for share in row))
    chosen = next(
        w for w, share in zip(weights, shares, strict=True) if share >= shares.max() - NEARLY
    )
    print(f"chosen: similarity {chosen[0]}, frequency {chosen[1]}")


def wordnet_entries(model: Pair2vec, wordnet: WordNet) -> dict[int, set[tuple[str, int]]]:
    """Of each word the relations and words that WordNet has, both ways."""
    relations = model.relations()
    names = relations.names
    inverse = model.saved.config["relations"]["inverse"]
    senses = VocabularySenses(wordnet, model.vocabulary.words)
    pairs = senses.relation_weights(names, len(model.vocabulary))
    found: dict[int, set[tuple[str, int]]] = {}
    for row, column in np.argwhere(pairs.weights > 0).tolist():
        x, y = int(pairs.x[row]), int(pairs.y[row])
        found.setdefault(x, set()).add((names[column], y))
        found.setdefault(y, set()).add((names[inverse[column]], x))
    return found


def scored(
    model: Pair2vec, words: list[int]
) -> Iterator[tuple[int, np.ndarray, list[str], np.ndarray, np.ndarray]]:
    """Each word's candidates, their best relations with probabilities, and cosines."""
    relations, unit = model.relations(), model.unit_words
    for x in words:
        cosines = unit @ unit[x]
        ids = top_k(cosines, CANDIDATES, (*SPECIAL_IDS, x))
        probabilities = relations.probabilities(np.full_like(ids, x), ids)[:, :-1]
        best = probabilities.argmax(axis=1)
        scores = probabilities[np.arange(len(ids)), best]
        yield x, ids, [relations.names[n] for n in best.tolist()], scores, cosines[ids]


if __name__ == "__main__":
    main()
