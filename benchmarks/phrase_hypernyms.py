"""Which vector of a phrase knows best what it is a kind of.

    python benchmarks/phrase_hypernyms.py phrases.tsv --started FOLDER --continued FOLDER

For 500 random phrases that WordNet has as nouns: the mean reciprocal rank of the first right
hypernym, by the probability of the relation head, among all words that are one of any phrase. Right
is a word of a synset up to three edges above one of the first two senses. Half of the phrases, by a
hash, are to choose by. `FOLDER`s are of `pair2vec train --from MODEL`: with one step at a rate of
nothing, which leaves the vectors that new words start from, and with all of them.
"""

import argparse
import zlib
from pathlib import Path

import numpy as np

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.model.folder import load_model
from pair2vec.relations.head import RelationHead
from pair2vec.wordnet.dictionary import WordNet

EDGES, SENSES, PHRASES = 3, 2, 500
SHARE = np.float32(0.7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("phrases", type=Path)
    parser.add_argument("--started", type=Path, required=True)
    parser.add_argument("--continued", type=Path, required=True)
    parser.add_argument("--model", help="without these phrases, and with n-grams")
    arguments = parser.parse_args()
    print(machine.describe())
    model, wordnet = load(arguments.model), WordNet.open()
    lines = arguments.phrases.read_text(encoding="utf-8").splitlines()
    right = {
        phrase: found
        for phrase in (line.partition("\t")[0] for line in lines)
        if (found := hypernyms(wordnet, model, phrase))
    }
    candidates = np.array(sorted(set().union(*right.values())), np.intp)
    order = np.random.default_rng(0).permutation(len(right))[:PHRASES]
    phrases = [list(right)[n] for n in order.tolist()]
    composed = model.space.unit_inputs(np.array([model.space.look_up(p) for p in phrases]))
    last = model.space.unit_inputs(np.array([model.space.look_up(p.split()[-1]) for p in phrases]))
    started, learned = (
        rows(folder, phrases) for folder in (arguments.started, arguments.continued)
    )
    mixed = normalise(SHARE * learned + (1 - SHARE) * composed)
    to_choose = np.array([zlib.crc32(phrase.encode()) % 2 == 0 for phrase in phrases])
    print(
        f"{len(right):,} phrases, {len(candidates):,} words, {to_choose.sum()} phrases to choose by"
    )
    for name, vectors in {
        "mean of its words": composed,
        "its last word": last,
        "started": started,
        "continued": learned,
        "0.7 and 0.3 of the mean": mixed,
    }.items():
        ranks = reciprocal_ranks(model, vectors, [right[phrase] for phrase in phrases], candidates)
        print(f"{name:24} {ranks[to_choose].mean():.3f} {ranks[~to_choose].mean():.3f}")


def hypernyms(wordnet: WordNet, model: Pair2vec, phrase: str) -> set[int]:
    """The ids of words above a phrase."""
    level = list(wordnet.synset_ids(phrase.replace(" ", "_"), "n")[:SENSES])
    found: set[str] = set()
    for _ in range(EDGES):
        level = [above for one in level for above in wordnet.synset(one).targets("@", "@i")]
        found.update(word.lower() for one in level for word in wordnet.synset(one).words)
    ids = model.vocabulary.ids
    return {ids[word] for word in found if word in ids}


def rows(folder: Path, phrases: list[str]) -> FloatArray:
    """The unit vectors of phrases of a model."""
    saved = load_model(folder)
    return normalise(saved.rows("pair.words")[[saved.vocabulary.ids[p] for p in phrases]])


def reciprocal_ranks(
    model: Pair2vec, vectors: FloatArray, right: list[set[int]], candidates: IntArray
) -> FloatArray:
    """1 / the rank of the first right word, for each phrase."""
    head = RelationHead(model.saved)
    column = head.config.names.index("hypernym")
    words = model.space.unit_inputs(candidates)
    found = []
    for vector, answers in zip(vectors, right, strict=True):
        own = np.broadcast_to(vector, words.shape)
        forward, backward = model.space.pairs.compose_both(own, words)
        features = np.stack([words @ vector, np.zeros(len(words), np.float32)], axis=1)
        p = head.calibrated(head.logits(forward, backward, features))[:, column]
        best = p[np.isin(candidates, list(answers))].max()
        found.append(1 / (1 + np.count_nonzero(p > best)))
    return np.array(found, np.float32)


if __name__ == "__main__":
    main()
