"""Which pairs of words made a classifier choose a label.

The margin z is the score of the label less the mean score of the others. Attention α reaches it in
two ways: through the words that each word is aligned with, ā_i = Σ_j α_ij b_j, and through what is
known of the pairs, r_i = Σ_j α_ij r_ij. The share of the pair (i, j) in one of these ways is

    α_ij ∂z/∂α_ij + β_ji ∂z/∂β_ji

where only the attention of that way varies: to first order, what z would lose if the pair's part of
the sum were left out. A positive share speaks for the label, a negative one against it.

Shapes: n and m words of premise and hypothesis.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pair2vec.nli.batches import NliBatches, NumberedExamples
from pair2vec.nli.classifier import Classifier
from pair2vec.nli.esim import Attention, attend
from pair2vec.nli.examples import LABELS, NliExample
from pair2vec.supervised.batch_tensors import moved


class PairShare(NamedTuple):
    """A word of the premise and one of the hypothesis."""

    premise: str
    hypothesis: str
    pairs: float
    """The share through what is known of the pair."""
    words: float
    """The share through the alignment of the two words."""
    attention: float
    """The mean of α and β."""


class Explanation(NamedTuple):
    """What a classifier says of an example, and why."""

    label: str
    probabilities: dict[str, float]
    shares: list[PairShare]
    """Those that count most first: by what is known of pairs, or by words if nothing is."""


def explain(classifier: Classifier, example: NliExample, top: int = 10) -> Explanation:
    """Label an example, and say which pairs of words mattered most."""
    network, device = classifier.network.eval(), classifier.device
    batches = NliBatches(NumberedExamples([example]), network.embedder, network.relations)
    batch = moved(batches.batch(np.zeros(1, np.int64)), device)
    # cuDNN has no gradients of a network that is not training.
    with torch.backends.cudnn.flags(enabled=False):
        with torch.no_grad():
            encoded = network.encode(batch)
            found = attend(encoded, batch)
        ways = [Attention(*(part.clone().requires_grad_() for part in found)) for _ in range(2)]
        with torch.enable_grad():
            scores = network.classify(batch, encoded, *ways)[0]
            label = int(scores.argmax())
            margin = scores[label] - (scores.sum() - scores[label]) / (len(LABELS) - 1)
        by_words, by_pairs = _shares(margin, ways)
    probabilities = scores.detach().softmax(dim=-1).tolist()
    attention = (found.of_a + found.of_b.mT)[0] / 2
    shares = _ranked(example, by_pairs, by_words, attention)
    return Explanation(LABELS[label], dict(zip(LABELS, probabilities, strict=True)), shares[:top])


def _shares(margin: Tensor, ways: Sequence[Attention]) -> list[Tensor]:
    """Of each pair in each way, (n, m)."""
    leaves = [part for way in ways for part in way]
    found = torch.autograd.grad(margin, leaves, allow_unused=True, materialize_grads=True)
    shares = [(leaf * gradient).detach()[0] for leaf, gradient in zip(leaves, found, strict=True)]
    return [of_a + of_b.mT for of_a, of_b in zip(shares[::2], shares[1::2], strict=True)]


def _ranked(
    example: NliExample, by_pairs: Tensor, by_words: Tensor, attention: Tensor
) -> list[PairShare]:
    shares = [
        PairShare(
            premise,
            hypothesis,
            float(by_pairs[i, j]),
            float(by_words[i, j]),
            float(attention[i, j]),
        )
        for i, premise in enumerate(example.premise)
        for j, hypothesis in enumerate(example.hypothesis)
    ]
    # Without relations all shares of pairs are zero, and words decide.
    return sorted(shares, key=lambda share: (-abs(share.pairs), -abs(share.words)))
