"""Learn the weights of `pair2vec opposed` from labelled sentences, and choose its threshold.

    python benchmarks/opposed_weights.py SENTENCES [--model NAME] --out FILE

SENTENCES is a folder as of `pair2vec eval opposed`; of each file the half to choose by is read.
Real pairs that are labelled different and probably reversed are not learnt from: the label says no
more than that they are no paraphrases (*gain weight*, *lose weight*). Real sentences of that half,
edited, are learnt from, too (`edited_sentences`): of reversals, the files have mostly statements.

The rule (docs/experiments/opposed.md says how it came about): by another hash of the first sentence
the pairs are in five folds, and each fold is judged by a network that learnt from the other four.
Of the hidden sizes 32, 64 and 128 and decays 0.01 and 0.1, the one with the lowest cross-entropy on
all folds is taken. The threshold is the lowest, in steps of 0.01 from 0.5 on, at which in no file
of real pairs more than 1 % of those that are the same are called opposed. Edits do not count there:
half of those that are the same are double negations, and WordNet's synonyms do not fit every
sentence. The weights are then learnt from all folds.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import machine
import pair2vec
from edited_sentences import Editor
from opposed_set import make_pairs, random_order
from pair2vec.arrays import FloatArray
from pair2vec.experiments.evaluation.opposed import (
    LabelledSentences,
    half_of,
    read_sentence_sets,
)
from pair2vec.relations.mlp import Mlp, MlpConfig
from pair2vec.relations.opposed import VERDICTS, SentenceComparison
from pair2vec.relations.sentence_features import FEATURES
from pair2vec.wordnet.dictionary import WordNet

MOST_SAME = 0.01
"""The share of pairs that are the same, of any file of real pairs, that may be called opposed."""
SIZES, DECAYS = (32, 64, 128), (0.01, 0.1)
FOLDS = 5
STEPS, BATCH, RATE = 6_000, 256, 2e-3
EDITED, FRAMED = "edited", "framed"
"""The names of edited sentences and of what they ask for in other words."""
EDITED_SENTENCES = 4_000
PROBABLE = 0.5
"""The probability of a reversal from which on the label *different* is not learnt from."""
_THRESHOLDS = np.arange(0.5, 0.995, 0.01)


class Examples(NamedTuple):
    """Pairs of sentences as features."""

    features: FloatArray
    """(N, F)"""
    labels: NDArray[np.intp]
    names: NDArray[np.str_]
    """The file of each."""
    folds: NDArray[np.intp]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    print(machine.describe())
    rows = [
        (name, pair)
        for name, pairs in read_sentence_sets(arguments.sentences).items()
        for pair in pairs
        if half_of(pair.a) == "choose"
    ]
    rows += edited_pairs([pair.a for _, pair in rows])
    comparison = SentenceComparison(pair2vec.load(arguments.model).relations())
    examples = make_examples(comparison, rows)
    print(f"{len(examples.labels):,} pairs, of which {1 / FOLDS:.0%} decide at a time")
    loss, config, probabilities = min(
        (judge(examples, *each) for each in product(SIZES, DECAYS)), key=itemgetter(0)
    )
    threshold = choose_threshold(probabilities, examples)
    print(f"chosen: {config.hidden} units, cross-entropy {loss:.4f}, threshold {threshold:.2f}")
    content = {
        "features": FEATURES,
        "verdicts": VERDICTS,
        "threshold": threshold,
        "network": fit(examples, np.ones(len(examples.labels), np.bool_), config).network.to_json(),
    }
    arguments.out.write_text(json.dumps(content) + "\n")


def edited_pairs(sentences: Sequence[str]) -> list[tuple[str, LabelledSentences]]:
    """Edits of some of the sentences, without the word pairs of the benchmark; named."""
    wordnet = WordNet.open()
    excluded = {frozenset(pair.replaced) for pair in make_pairs(wordnet) if pair.replaced}
    editor = Editor(wordnet, excluded)
    in_order = sorted(set(sentences), key=random_order)
    return [
        *((EDITED, pair) for pair in editor.pairs(in_order[:EDITED_SENTENCES])),
        *((FRAMED, pair) for pair in editor.framed_pairs(in_order)),
    ]


def make_examples(
    comparison: SentenceComparison, rows: list[tuple[str, LabelledSentences]]
) -> Examples:
    """The features of pairs, but for those about which nothing is said, or not what is asked."""
    prepared = comparison.prepare((pair.a, pair.b) for _, pair in rows)
    kept = [(row, item) for row, item in zip(rows, prepared, strict=True) if item is not None]
    features, _ = comparison.features([item for _, item in kept])
    labels = np.array([VERDICTS.index(pair.label) for (_, pair), _ in kept])
    names = np.array([name for (name, _), _ in kept])
    folds = np.array([fold_of(pair.a) for (_, pair), _ in kept])
    is_edit = np.isin(names, [EDITED, FRAMED])
    is_reversed = features[:, FEATURES.index("odd")] >= PROBABLE
    says = is_edit | ~is_reversed | (labels != VERDICTS.index("different"))
    return Examples(features[says], labels[says], names[says], folds[says])


def fold_of(sentence: str) -> int:
    return hashlib.blake2b(sentence.encode(), digest_size=8).digest()[1] % FOLDS


def judge(examples: Examples, hidden: int, decay: float) -> tuple[float, MlpConfig, FloatArray]:
    """The cross-entropy of a configuration, and the probabilities; of each fold by the others."""
    config = MlpConfig(
        hidden=hidden, dropout=0.0, input_dropout=0.0, decay=decay, steps=STEPS, batch=BATCH,
        rate=RATE,
    )  # fmt: skip
    probabilities = np.empty((len(examples.labels), len(VERDICTS)), np.float32)
    for fold in range(FOLDS):
        own = examples.folds == fold
        probabilities[own] = fit(examples, ~own, config).probabilities(examples.features[own])
    found = probabilities[np.arange(len(examples.labels)), examples.labels]
    loss = float(-np.log(np.maximum(found, 1e-9)).mean())
    print(f"hidden {hidden:3}, decay {decay:5}: cross-entropy {loss:.4f}", flush=True)
    return loss, config, probabilities


def fit(examples: Examples, rows: NDArray[np.bool_], config: MlpConfig) -> Mlp:
    """A network of these rows."""
    features, labels = examples.features[rows], examples.labels[rows]
    return Mlp(features, labels, len(VERDICTS), config, np.random.default_rng(0))


def choose_threshold(probabilities: FloatArray, examples: Examples) -> float:
    """By the rule; the shares that it gives are printed."""
    opposed = probabilities[:, VERDICTS.index("opposed")]
    same = examples.labels == VERDICTS.index("same")
    real = sorted(set(examples.names[same].tolist()) - {EDITED, FRAMED})

    def worst(threshold: float) -> float:
        return max(
            float((opposed >= threshold)[same & (examples.names == name)].mean()) for name in real
        )

    threshold = next((t for t in _THRESHOLDS if worst(t) <= MOST_SAME), _THRESHOLDS[-1])
    for name in sorted(set(examples.names.tolist())):
        for number, label in enumerate(VERDICTS):
            own = (examples.names == name) & (examples.labels == number)
            if own.any():
                share = (opposed >= threshold)[own].mean()
                print(f"{name:26} {label:10} {own.sum():6,} called opposed {share:6.1%}")
    return float(round(threshold, 2))


if __name__ == "__main__":
    main()
