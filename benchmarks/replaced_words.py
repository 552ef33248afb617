"""A set like Breaking NLI to select settings by, so that nothing is selected on that one itself.

    python benchmarks/replaced_words.py PREMISES BREAKING_NLI OUT

It has the premises of a jsonl file, such as SNLI's dev set, with one word replaced by another that
is its antonym or co-hyponym in WordNet (contradiction), or its synonym or hypernym (entailment).
The pairs of words are those of `relations_wordnet.py` less those of Breaking NLI, in any order.
Each is replaced in a few sentences at most. Word senses are not disambiguated: some labels are
wrong, and no model will reach 100 %.
"""

import argparse
import json
import lzma
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from pair2vec.api import load
from pair2vec.experiments.evaluation.relations import LabelledPair
from pair2vec.experiments.nli.examples import NliExample, NliSentence, read_nli_set
from pair2vec.wordnet.dictionary import WordNet
from relations_wordnet import SENSE_RELATION_OF, base_words, related

LABELS = {
    "antonym": "contradiction",
    "co-hyponym": "contradiction",
    "synonym": "entailment",
    "hypernym": "entailment",
}
SENTENCES_PER_PAIR = 5

Replacements = Mapping[str, Sequence[LabelledPair]]
"""Pairs by the word that is replaced, which is their first."""


def main() -> None:
    """Write the set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("premises", type=Path)
    parser.add_argument("breaking_nli", type=Path)
    parser.add_argument("out", type=Path, help="to be named replaced_words.jsonl.xz")
    arguments = parser.parse_args()
    random, wordnet = np.random.default_rng(0), WordNet.open()
    pairs = related(base_words(load(), wordnet), wordnet, random)
    excluded = replaced_pairs(read_nli_set(arguments.breaking_nli).examples)
    premises = dict.fromkeys(
        example.premise for example in read_nli_set(arguments.premises).examples
    )
    order = random.permutation(len(premises)).tolist()
    sentences = list(premises)
    replacements = by_replaced(pairs, excluded)
    generated = list(examples(replacements, [sentences[n] for n in order]))
    lines = "".join(json.dumps(as_json(example)) + "\n" for example in generated)
    arguments.out.write_bytes(lzma.compress(lines.encode()))
    counts = Counter(example.category for example in generated)
    print(f"{arguments.out}: {', '.join(f'{counts[name]} {name}' for name in SENSE_RELATION_OF)}")


def replaced_pairs(examples: Iterable[NliExample]) -> set[frozenset[str]]:
    """The words in which the two sentences differ, each of one with each of the other."""
    pairs: set[frozenset[str]] = set()
    for example in examples:
        premise, hypothesis = ({word.lower() for word in side} for side in example.sentences)
        pairs |= {frozenset(pair) for pair in product(premise - hypothesis, hypothesis - premise)}
    return pairs


def by_replaced(pairs: Iterable[LabelledPair], excluded: set[frozenset[str]]) -> Replacements:
    """The pairs to use, those of symmetric relations in both directions."""
    replacements: dict[str, list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        if frozenset(pair.words) in excluded:
            continue
        replacements[pair.x].append(pair)
        if pair.relation != "hypernym":
            replacements[pair.y].append(LabelledPair(pair.y, pair.x, pair.relation))
    return replacements


def examples(replacements: Replacements, premises: Iterable[NliSentence]) -> Iterator[NliExample]:
    """Each premise with each of its unique words that has a replacement replaced."""
    used: Counter[LabelledPair] = Counter()
    for premise in premises:
        counts = Counter(word.lower() for word in premise)
        for position, word in enumerate(premise):
            if counts[word.lower()] > 1:
                continue
            for pair in replacements.get(word.lower(), ()):
                if used[pair] == SENTENCES_PER_PAIR:
                    continue
                used[pair] += 1
                changed = (*premise[:position], pair.y, *premise[position + 1 :])
                yield NliExample(premise, changed, LABELS[pair.relation], pair.relation)


def as_json(example: NliExample) -> dict[str, str | None]:
    """In the format of published sets."""
    first, second = (" ".join(sentence) for sentence in example.sentences)
    return {
        "sentence1": first,
        "sentence2": second,
        "gold_label": example.label,
        "category": example.category,
    }


if __name__ == "__main__":
    main()
