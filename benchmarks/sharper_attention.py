"""How diffuse a trained NLI classifier's attention is, and its accuracy with sharper attention.

    python benchmarks/sharper_attention.py CLASSIFIER SET... [--words FILE] [--sharpness 1 2 4]
        [--every N]

CLASSIFIER is a folder of `pair2vec nli train --pairs pair2vec`, SET a jsonl file of examples. For
each set: where premise and hypothesis differ in one word alone, the attention from that word to its
replacement; and the accuracy when pair vectors are summed under powers of the attention
(`pairs.sharpness`) that the classifier was not trained with. 1 is the baseline.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import torch

import machine
from pair2vec.experiments.nli.batches import EncodedExamples, NliBatches
from pair2vec.experiments.nli.classifier import Classifier, load_classifier
from pair2vec.experiments.nli.examples import NliExample, distinct_words, read_nli_set
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.runtime.cuda_graphs import tree_to


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("classifier")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--words", help="the path of the word input, if it has moved")
    parser.add_argument("--sharpness", nargs="+", type=float, default=[1.0, 2.0, 4.0])
    parser.add_argument("--every", type=int, default=1, help="take one example of so many")
    arguments = parser.parse_args()
    sets = {path: read_nli_set(path).examples[:: arguments.every] for path in arguments.sets}
    classifier = load_classifier(
        arguments.classifier, distinct_words(*sets.values()), moved={"words": arguments.words}
    )
    print(machine.describe())
    for path, examples in sets.items():
        print(f"\n{path}: {len(examples):,} examples, one of {arguments.every}")
        print_quartiles(replacement_attention(classifier, examples))
        print_accuracies(classifier, examples, arguments.sharpness)


def print_quartiles(attention: Sequence[float]) -> None:
    """A line, if any premise and hypothesis differ in one word alone."""
    if attention:
        low, middle, high = np.quantile(attention, [0.25, 0.5, 0.75])
        print(
            f"  attention to the replacement: mean {np.mean(attention):.2f}, quartiles "
            f"{low:.2f} {middle:.2f} {high:.2f}, of {len(attention):,}"
        )


def print_accuracies(
    classifier: Classifier, examples: Sequence[NliExample], powers: Sequence[float]
) -> None:
    """A line for each power."""
    pairs = classifier.network.relations
    if not isinstance(pairs, PairAttention):
        raise SystemExit("the classifier has no pair vectors; train it with --pairs pair2vec")
    for pairs.sharpness in powers:
        labels = classifier.predict(examples).labels
        is_right = [e.label == label for e, label in zip(examples, labels, strict=True)]
        print(f"  sharpness {pairs.sharpness:g}: {100 * np.mean(is_right):.2f} % right")


@torch.no_grad()
def replacement_attention(classifier: Classifier, examples: Sequence[NliExample]) -> list[float]:
    """The attention of each replaced word to its replacement."""
    network, attention = classifier.network.eval(), []
    batches = NliBatches(EncodedExamples(examples), network.embedder, network.relations)
    for index, example in enumerate(examples):
        premise, hypothesis = ([w.lower() for w in side] for side in example.sentences)
        if len(premise) != len(hypothesis):
            continue
        differs = [p != h for p, h in zip(premise, hypothesis, strict=True)]
        if differs.count(True) == 1:
            position = differs.index(True)
            batch = tree_to(batches.batch(np.array([index])), classifier.device)
            a_to_b = network.attend(batch, network.encode(batch)).a_to_b
            attention.append(float(a_to_b[0, position, position]))
    return attention


if __name__ == "__main__":
    main()
