"""A relation task on pairs whose relation is a rule of their ids."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.relations.head import negated_forms
from pair2vec.teaching.labels import LabelledPairs, RelationNames
from pair2vec.teaching.relation_task import (
    PairAnchor,
    RelationTask,
    RelationTaskConfig,
    TaskData,
    TaughtPairs,
    TorchRelationHead,
)
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.network import Network

CPU = torch.device("cpu")
RELATIONS = RelationNames(("synonym", "antonym", "hypernym", "hyponym", "none"), (0, 1, 3, 2, 4))
CONFIG = RelationTaskConfig(
    every=2, batch=64, hidden=12, rate=0.01, gold_share=0.25, random_share=0.0
)
FACTS = {"language_model": "made up", "candidates": 400}


def random_pairs(vocabulary: Vocabulary, count: int, seed: int) -> tuple[Int64Array, Int64Array]:
    x, y = np.random.default_rng(seed).integers(4, len(vocabulary), (2, count))
    distinct = x != y
    return np.minimum(x, y)[distinct], np.maximum(x, y)[distinct]


def rule(x: Int64Array, y: Int64Array) -> Int64Array:
    """A relation that is a function of the two words: by their parities."""
    labels: Int64Array = 2 * (x % 2) + y % 2
    return np.where(x % 5 == 0, 4, labels)


def task_data(vocabulary: Vocabulary, *, taught_label: int | None = None) -> TaskData:
    """Taught pairs by the rule, or all with one label."""
    x, y = random_pairs(vocabulary, 400, 0)
    labels = rule(x, y) if taught_label is None else np.full(len(x), taught_label)
    soft = np.full((len(x), 5), 0.05, np.float16)
    soft[np.arange(len(x)), labels] = 0.8
    gold, held_out, mixed = (
        random_pairs(vocabulary, count, seed) for count, seed in ((200, 1), (150, 2), (150, 3))
    )
    return TaskData(
        RELATIONS,
        TaughtPairs(x, y, soft),
        LabelledPairs(*gold, rule(*gold)),
        LabelledPairs(*held_out, rule(*held_out)),
        LabelledPairs(*mixed, rule(*mixed)),
        FACTS,
    )


def make_task(
    vocabulary: Vocabulary,
    dimension: int,
    data: TaskData | None = None,
    anchor: PairAnchor | None = None,
    **changes: Any,
) -> RelationTask:
    config = replace(CONFIG, **changes)
    data = data or task_data(vocabulary)
    return RelationTask(config, vocabulary, data, dimension, CPU, anchor)


@torch.no_grad()
def head_scores(
    head: TorchRelationHead, network: Network, vocabulary: Vocabulary, x: Int64Array, y: Int64Array
) -> Tensor:
    """By R of whole tables, word by word."""
    parts = network.pair.word_parts(network.pair_words)
    one, other = torch.from_numpy(x), torch.from_numpy(y)
    forward, backward = (
        network.pair.compose(parts, one, other),
        network.pair.compose(parts, other, one),
    )
    negated = torch.from_numpy(negated_forms(x, y, vocabulary.words))
    similarity = torch.cosine_similarity(network.pair_words[one], network.pair_words[other])
    scores: Tensor = head(forward, backward, torch.stack([similarity, negated], dim=1))
    return scores
