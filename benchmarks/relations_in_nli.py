"""How well a relation of two words predicts the label of their sentences: pair2vec and WordNet.

    python benchmarks/relations_in_nli.py SET... [--model MODEL] [--wordnet FOLDER]
        [--threshold 0.5]

SET is a jsonl file of labelled premises and hypotheses. Counted are the pairs of a word that only
the premise has and one that only the hypothesis has, but for forms of one word. For each relation:
how many such pairs have it, and which labels their examples have. pair2vec's built-in relations
count where their probability is above `--threshold`; the WordNet features of KIM are the baseline.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.experiments.nli.examples import LABELS, NliExample, read_nli_set
from pair2vec.lexicon.build import WORDNET_NAMES
from pair2vec.relations.word_forms import is_form
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.related_words import related_words
from pair2vec.wordnet.relations import WORDNET_RELATIONS

CHUNK = 20_000

Pair = tuple[str, str]
Labelled = Mapping[Pair, Counter[str]]
"""How often a pair is in examples of each label."""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--model")
    parser.add_argument("--wordnet")
    parser.add_argument("--threshold", type=float, default=0.5, help="of probability")
    arguments = parser.parse_args()
    print(machine.describe())
    examples = [example for path in arguments.sets for example in read_nli_set(path).examples]
    labelled = labelled_pairs(examples)
    print(f"{len(examples):,} examples, {len(labelled):,} distinct pairs of words")
    predicted = dict(predicted_pairs(load(arguments.model), [*labelled], arguments.threshold))
    in_wordnet = dict(wordnet_pairs(WordNet.open(arguments.wordnet), [*labelled]))
    print(f"\n{'':24}{'pairs':>8}" + "".join(f"{label:>16}" for label in LABELS))
    for relation in WORDNET_NAMES:
        print_labels(f"{relation}, pair2vec", predicted[relation], labelled)
        print_labels(f"{relation}, WordNet", in_wordnet[relation], labelled)


def labelled_pairs(examples: Sequence[NliExample]) -> Labelled:
    """The pairs of words in which sentences differ."""
    counts: dict[Pair, Counter[str]] = defaultdict(Counter)
    for example in examples:
        premise, hypothesis = ({word.lower() for word in side} for side in example.sentences)
        for x in premise - hypothesis:
            for y in hypothesis - premise:
                counts[x, y][example.label] += 1
    return {pair: labels for pair, labels in counts.items() if not is_form(*pair)}


def predicted_pairs(
    model: Pair2vec, pairs: Sequence[Pair], threshold: float
) -> Iterator[tuple[str, list[Pair]]]:
    """By relation, the pairs that the model predicts it for."""
    known = [pair for pair in pairs if all(word in model.vocabulary for word in pair)]
    relations = model.relations()
    parts = [
        relations.predict_proba(known[start : start + CHUNK]) > threshold
        for start in range(0, len(known), CHUNK)
    ]
    is_predicted = np.concatenate(parts)
    for column, name in enumerate(relations.names):
        yield name, [known[row] for row in np.flatnonzero(is_predicted[:, column]).tolist()]


def wordnet_pairs(wordnet: WordNet, pairs: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    """By relation, the pairs that have it in WordNet."""
    related = related_words(wordnet, {word for pair in pairs for word in pair})
    ends = zip(related.first.tolist(), related.second.tolist(), strict=True)
    rows = {end: row for row, end in enumerate(ends)}
    ids = related.ids
    pair_rows = [(pair, rows.get((ids.get(pair[0], 0), ids.get(pair[1], 0)))) for pair in pairs]
    for name, feature in WORDNET_NAMES.items():
        holds = related.features[:, WORDNET_RELATIONS.index(feature)] > 0
        yield name, [pair for pair, row in pair_rows if row is not None and holds[row]]


def print_labels(name: str, pairs: Sequence[Pair], labelled: Labelled) -> None:
    """A line: how many occurrences of the pairs, and the share of each label."""
    counts = sum((labelled[pair] for pair in pairs), Counter[str]())
    total = counts.total()
    shares = (f"{100 * counts[label] / max(1, total):.0f} %" for label in LABELS)
    print(f"{name:24}{total:8,}" + "".join(f"{share:>16}" for share in shares))


if __name__ == "__main__":
    main()
