"""A set like Breaking NLI to choose settings by, so that nothing is chosen on that one itself.

    python benchmarks/replaced_words.py PREMISES BREAKING_NLI OUT

It has the premises of a jsonl file, such as SNLI's dev set, with one word replaced by another that
WordNet knows to be its antonym or a kind of the same thing (contradiction), its synonym or what it
is a kind of (entailment). The pairs of words are those of `relations_wordnet.py` less those that
Breaking NLI has, in any order. Each is replaced in a few sentences at most. WordNet does not know
which meaning a sentence has: some labels are wrong, and no model will reach 100 %.
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
from pair2vec.experiments.nli.examples import NliExample, NliSentence, read_set
from pair2vec.wordnet.dictionary import WordNet
from relations_wordnet import IN_WORDNET, base_words, related

LABELS = {
    "antonym": "contradiction",
    "co-hyponym": "contradiction",
    "synonym": "entailment",
    "hypernym": "entailment",
}
SENTENCES_OF_A_PAIR = 5

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
    asked_about = replaced_pairs(read_set(arguments.breaking_nli).examples)
    premises = dict.fromkeys(one.premise for one in read_set(arguments.premises).examples)
    order = random.permutation(len(premises)).tolist()
    sentences = list(premises)
    made = list(examples(by_replaced(pairs, asked_about), [sentences[n] for n in order]))
    lines = "".join(json.dumps(as_json(example)) + "\n" for example in made)
    arguments.out.write_bytes(lzma.compress(lines.encode()))
    counts = Counter(example.category for example in made)
    print(f"{arguments.out}: {', '.join(f'{counts[name]} {name}' for name in IN_WORDNET)}")


def replaced_pairs(examples: Iterable[NliExample]) -> set[frozenset[str]]:
    """The words in which the two sentences differ, each of one with each of the other."""
    found: set[frozenset[str]] = set()
    for example in examples:
        premise, hypothesis = ({word.lower() for word in side} for side in example.sentences)
        found |= {frozenset(pair) for pair in product(premise - hypothesis, hypothesis - premise)}
    return found


def by_replaced(pairs: Iterable[LabelledPair], left_out: set[frozenset[str]]) -> Replacements:
    """The pairs to use, those of symmetric relations both ways."""
    found: dict[str, list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        if frozenset(pair.words) in left_out:
            continue
        found[pair.x].append(pair)
        if pair.relation != "hypernym":
            found[pair.y].append(LabelledPair(pair.y, pair.x, pair.relation))
    return found


def examples(replacements: Replacements, premises: Iterable[NliSentence]) -> Iterator[NliExample]:
    """A premise with each word that can be, and is there once, replaced."""
    used: Counter[LabelledPair] = Counter()
    for premise in premises:
        counts = Counter(word.lower() for word in premise)
        for place, word in enumerate(premise):
            if counts[word.lower()] > 1:
                continue
            for pair in replacements.get(word.lower(), ()):
                if used[pair] == SENTENCES_OF_A_PAIR:
                    continue
                used[pair] += 1
                changed = (*premise[:place], pair.y, *premise[place + 1 :])
                yield NliExample(premise, changed, LABELS[pair.relation], pair.relation)


def as_json(example: NliExample) -> dict[str, str | None]:
    """As published sets have it."""
    first, second = (" ".join(sentence) for sentence in example.sentences)
    return {
        "sentence1": first,
        "sentence2": second,
        "gold_label": example.label,
        "category": example.category,
    }


if __name__ == "__main__":
    main()
