"""Which of five pairs is in the relation of an example: the weight of pair vectors in `nearest`.

    python benchmarks/nearest_choice.py BATS [--model NAME]

Each pair of BATS is an example once. The choices are another pair of its relation, and one of each
of four other relations of its group, all drawn with a fixed seed; a pair with a word that the model
lacks is left out, as are all answers but the first that it knows. A choice is scored by
α·cos(r_ab, r_xy) + (1 − α)·cos(b − a, y − x), α = 1 being the paper's.

The rule, written before the runs: of the relations of one half (`pair2vec eval bats --half
choose`), the α with the most right choices; of those within half a point of it, the one nearest to
1. Figures are of the other half.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.arrays import FloatArray, IntArray
from pair2vec.experiments.evaluation.analogy_sets import (
    AnalogyRelation,
    Half,
    read_analogies,
    select_half,
)
from pair2vec.query.search import NEAREST_ALPHA, nearest_scores
from pair2vec.text.vocabulary import PADDING, Vocabulary

CHOICES = 5
ALPHAS = tuple(n / 10 for n in range(11))
NEARLY = 0.005


class Choice(NamedTuple):
    """An example, and pairs of which the first is in its relation."""

    example: tuple[int, int]
    pairs: IntArray
    """(CHOICES, 2)"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bats", type=Path)
    parser.add_argument("--model")
    arguments = parser.parse_args()
    model = load(arguments.model)
    print(machine.describe())
    relations = read_analogies(arguments.bats)
    halves = [list(choices(model, select_half(relations, half))) for half in get_args(Half)]
    shares = [right_shares(model, half) for half in halves]
    numbers = " and ".join(f"{len(half):,}" for half in halves)
    print(f"{numbers} questions; right in percent, chance is {100 / CHOICES:.0f}")
    print(f"{'α':>6}" + "".join(f"{half:>10}" for half in get_args(Half)))
    for alpha, *row in zip(ALPHAS, *shares, strict=True):
        print(f"{alpha:6}" + "".join(f"{100 * share:10.1f}" for share in row))
    chosen = ALPHAS[np.flatnonzero(shares[0] >= shares[0].max() - NEARLY)[-1]]
    print(f"by the rule, α is {chosen:g}; the default is {NEAREST_ALPHA:g}")


def choices(model: Pair2vec, relations: Sequence[AnalogyRelation]) -> Iterator[Choice]:
    """The questions of some relations."""
    random = np.random.default_rng(0)
    groups: dict[str, list[IntArray]] = {}
    for relation in relations:
        groups.setdefault(relation.group, []).append(known_pairs(model.vocabulary, relation))
    for group in groups.values():
        for number, own in enumerate(group):
            for example, (x, y) in enumerate(own.tolist()):
                others = [n for n in range(len(group)) if n != number]
                drawn = random.permutation(others)[: CHOICES - 1]
                same = random.choice([n for n in range(len(own)) if n != example])
                wrong = [random.choice(group[n]) for n in drawn]
                yield Choice((x, y), np.stack([own[same], *wrong]))


def known_pairs(vocabulary: Vocabulary, relation: AnalogyRelation) -> IntArray:
    """The ids of a relation's pairs, each with its first answer that is known: (N, 2)."""
    ids = vocabulary.ids
    entries = dict.fromkeys(item.example for item in relation.questions)
    found = [
        (ids[entry.word], next((ids[word] for word in entry.answers if word in ids), PADDING))
        for entry in entries
        if entry.word in ids
    ]
    return np.array([pair for pair in found if pair[1] != PADDING], np.intp).reshape(-1, 2)


def right_shares(model: Pair2vec, questions: Sequence[Choice]) -> FloatArray:
    """The share of right choices by each of `ALPHAS`."""
    alphas = np.array(ALPHAS, np.float32)[:, None]
    right = np.zeros(len(ALPHAS), np.float32)
    for example, pairs in questions:
        x, y = pairs.T
        by_pair, by_offset = (
            nearest_scores(model.space, example, x, y, "both", alpha) for alpha in (1.0, 0.0)
        )
        right += (alphas * by_pair + (1 - alphas) * by_offset).argmax(axis=1) == 0
    shares: FloatArray = right / np.float32(len(questions))
    return shares


if __name__ == "__main__":
    main()
