"""What a relation of two words says of the sentences they are in: pair2vec's and WordNet's.

    python benchmarks/relations_in_nli.py SET... [--model MODEL] [--wordnet FOLDER] [--sure 0.5]

SET is a jsonl file of labelled premises and hypotheses. Of each example, all pairs of a word that
only the premise has and one that only the hypothesis has, but for forms of one word. For each
relation: in how many such places it is told, and which labels the examples have there. pair2vec's
built-in relations are told where they are more probable than `--sure`; KIM's features of WordNet
are the baseline.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.experiments.nli.examples import LABELS, NliExample, read_set
from pair2vec.lexicon.wordnet_check import IN_WORDNET
from pair2vec.relations.word_forms import is_form
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.related_words import related_words
from pair2vec.wordnet.relations import WORDNET_RELATIONS

AT_ONCE = 20_000

Pair = tuple[str, str]
Labelled = Mapping[Pair, Counter[str]]
"""How often a pair is in examples of each label."""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--model")
    parser.add_argument("--wordnet")
    parser.add_argument("--sure", type=float, default=0.5)
    arguments = parser.parse_args()
    print(machine.describe())
    examples = [example for path in arguments.sets for example in read_set(path).examples]
    labelled = labelled_pairs(examples)
    print(f"{len(examples):,} examples, {len(labelled):,} distinct pairs of words")
    told = dict(told_by_model(load(arguments.model), [*labelled], arguments.sure))
    said = dict(said_by_wordnet(WordNet.open(arguments.wordnet), [*labelled]))
    print(f"\n{'':24}{'places':>8}" + "".join(f"{label:>16}" for label in LABELS))
    for relation in IN_WORDNET:
        print_labels(f"{relation}, pair2vec", told[relation], labelled)
        print_labels(f"{relation}, WordNet", said[relation], labelled)


def labelled_pairs(examples: Sequence[NliExample]) -> Labelled:
    """In which sentences differ."""
    found: dict[Pair, Counter[str]] = defaultdict(Counter)
    for example in examples:
        premise, hypothesis = ({word.lower() for word in side} for side in example.sentences)
        for x in premise - hypothesis:
            for y in hypothesis - premise:
                found[x, y][example.label] += 1
    return {pair: labels for pair, labels in found.items() if not is_form(*pair)}


def told_by_model(
    model: Pair2vec, pairs: Sequence[Pair], sure: float
) -> Iterator[tuple[str, list[Pair]]]:
    """The pairs of each relation that the model tells of."""
    known = [pair for pair in pairs if all(word in model.vocabulary for word in pair)]
    relations = model.relations()
    parts = [
        relations.score(known[start : start + AT_ONCE]) > sure
        for start in range(0, len(known), AT_ONCE)
    ]
    is_told = np.concatenate(parts)
    for place, name in enumerate(relations.names):
        yield name, [known[row] for row in np.flatnonzero(is_told[:, place]).tolist()]


def said_by_wordnet(wordnet: WordNet, pairs: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    """The pairs of each relation that WordNet has."""
    related = related_words(wordnet, {word for pair in pairs for word in pair})
    ends = zip(related.first.tolist(), related.second.tolist(), strict=True)
    rows = {end: row for row, end in enumerate(ends)}
    numbers = related.numbers
    found = [(pair, rows.get((numbers.get(pair[0], 0), numbers.get(pair[1], 0)))) for pair in pairs]
    for name, said in IN_WORDNET.items():
        holds = related.features[:, WORDNET_RELATIONS.index(said)] > 0
        yield name, [pair for pair, row in found if row is not None and holds[row]]


def print_labels(name: str, pairs: Sequence[Pair], labelled: Labelled) -> None:
    """A line: how many places, and the share of each label."""
    counts = sum((labelled[pair] for pair in pairs), Counter[str]())
    total = counts.total()
    shares = (f"{100 * counts[label] / max(1, total):.0f} %" for label in LABELS)
    print(f"{name:24}{total:8,}" + "".join(f"{share:>16}" for share in shares))


if __name__ == "__main__":
    main()
