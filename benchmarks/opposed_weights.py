"""Learn the weights of `pair2vec opposed` from labelled sentences, and choose its threshold.

    python benchmarks/opposed_weights.py SENTENCES [--model NAME] --out FILE

SENTENCES is a folder as of `pair2vec eval opposed`; of each file the half to choose by is read.
CheckList's pairs of questions that are no duplicates are not learnt from: many are the reverse of
each other, and the label does not say which. Real sentences of that half, edited, are learnt from,
too (`edited_sentences`): of reversals, the files have mostly statements.

The rule, written before the runs: four fifths of the half are learnt from, by another hash of the
first sentence, and the last fifth decides. Of the hidden sizes 8, 16 and 32 and decays 0.01 and
0.1, the one with the lowest cross-entropy there is taken. The threshold is the lowest, in steps of
0.01 from 0.5 on, at which in no file more than 1.5 % of the pairs that are the same are called
opposed.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from itertools import product
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

MOST_SAME = 0.015
"""The share of pairs that are the same, of any file, that may be called opposed."""
SIZES, DECAYS = (8, 16, 32), (0.01, 0.1)
STEPS, BATCH, RATE = 6_000, 256, 2e-3
EDITED, EDITED_SENTENCES = "edited", 4_000
"""The name of the edited sentences, and how many are edited."""
LABELS_NOT_LEARNT = {("checklist_polarity", "different")}
_THRESHOLDS = np.arange(0.5, 0.995, 0.01)


class Examples(NamedTuple):
    """Pairs of sentences as features."""

    features: FloatArray
    """(N, F)"""
    labels: NDArray[np.intp]
    names: NDArray[np.str_]
    """The file of each."""

    def where(self, rows: NDArray[np.bool_]) -> "Examples":
        return Examples(self.features[rows], self.labels[rows], self.names[rows])


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
    rows += [(EDITED, pair) for pair in edited_pairs([pair.a for _, pair in rows])]
    rows = [(name, pair) for name, pair in rows if (name, pair.label) not in LABELS_NOT_LEARNT]
    comparison = SentenceComparison(pair2vec.load(arguments.model).relations())
    examples, is_validation = make_examples(comparison, rows)
    train, held_out = examples.where(~is_validation), examples.where(is_validation)
    print(f"{len(train.labels):,} pairs to learn from, {len(held_out.labels):,} to choose by")
    best = min((fit(train, held_out, *each) for each in product(SIZES, DECAYS)), key=lambda f: f[0])
    loss, network = best
    threshold = choose_threshold(network.probabilities(held_out.features), held_out)
    print(f"chosen: cross-entropy {loss:.4f}, threshold {threshold:.2f}")
    content = {
        "features": FEATURES,
        "verdicts": VERDICTS,
        "threshold": threshold,
        "network": network.network.to_json(),
    }
    arguments.out.write_text(json.dumps(content) + "\n")


def edited_pairs(sentences: Sequence[str]) -> list[LabelledSentences]:
    """Edits of some of the sentences, without the word pairs of the benchmark."""
    wordnet = WordNet.open()
    excluded = {frozenset(pair.replaced) for pair in make_pairs(wordnet) if pair.replaced}
    chosen = sorted(set(sentences), key=random_order)[:EDITED_SENTENCES]
    return list(Editor(wordnet, excluded).pairs(chosen))


def make_examples(
    comparison: SentenceComparison, rows: list[tuple[str, LabelledSentences]]
) -> tuple[Examples, NDArray[np.bool_]]:
    """The features of pairs, and which of them decide."""
    prepared = comparison.prepare((pair.a, pair.b) for _, pair in rows)
    kept = [(row, item) for row, item in zip(rows, prepared, strict=True) if item is not None]
    features, _ = comparison.features([item for _, item in kept])
    labels = np.array([VERDICTS.index(pair.label) for (_, pair), _ in kept])
    names = np.array([name for (name, _), _ in kept])
    decides = np.array([_decides(pair.a) for (_, pair), _ in kept])
    return Examples(features, labels, names), decides


def _decides(sentence: str) -> bool:
    return hashlib.blake2b(sentence.encode(), digest_size=8).digest()[1] % 5 == 0


def fit(train: Examples, held_out: Examples, hidden: int, decay: float) -> tuple[float, Mlp]:
    """A network, and its cross-entropy on the pairs that decide."""
    config = MlpConfig(
        hidden=hidden, dropout=0.0, input_dropout=0.0, decay=decay, steps=STEPS, batch=BATCH,
        rate=RATE,
    )  # fmt: skip
    network = Mlp(train.features, train.labels, len(VERDICTS), config, np.random.default_rng(0))
    probabilities = network.probabilities(held_out.features)
    own = probabilities[np.arange(len(held_out.labels)), held_out.labels]
    loss = float(-np.log(np.maximum(own, 1e-9)).mean())
    print(f"hidden {hidden:3}, decay {decay:5}: cross-entropy {loss:.4f}", flush=True)
    return loss, network


def choose_threshold(probabilities: FloatArray, held_out: Examples) -> float:
    """By the rule; the shares that it gives are printed."""
    opposed = probabilities[:, VERDICTS.index("opposed")]
    same = held_out.labels == VERDICTS.index("same")
    names = sorted(set(held_out.names[same].tolist()))

    def worst(threshold: float) -> float:
        return max(
            float((opposed >= threshold)[same & (held_out.names == name)].mean()) for name in names
        )

    threshold = next((t for t in _THRESHOLDS if worst(t) <= MOST_SAME), _THRESHOLDS[-1])
    for name in sorted(set(held_out.names.tolist())):
        for number, label in enumerate(VERDICTS):
            own = (held_out.names == name) & (held_out.labels == number)
            if own.any():
                share = (opposed >= threshold)[own].mean()
                print(f"{name:26} {label:10} {own.sum():6,} called opposed {share:6.1%}")
    return float(round(threshold, 2))


if __name__ == "__main__":
    main()
