"""ESIM, against itself and against a plain computation."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.experiments.nli.relation_world import examples, input_paths, settings
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.experiments.nli.batches import EncodedExamples, NliBatches
from pair2vec.experiments.nli.esim import Esim, EsimConfig
from pair2vec.experiments.nli.examples import NliExample, distinct_words
from pair2vec.experiments.tasks.batches import bucketed_length, exact_length
from pair2vec.experiments.tasks.inputs import open_inputs
from pair2vec.experiments.tasks.layers import BiLstm

EXAMPLES = [
    *examples(range(9), extra=4),
    # Of which the small WordNet knows something.
    NliExample(("The", "hot", "dog"), ("a", "cold", "wolf", "."), "contradiction"),
]


def make(inputs: dict[str, Path], pairs: str, examples: Sequence[NliExample]) -> Esim:
    torch.manual_seed(0)
    opened = open_inputs(input_paths(inputs, pairs), distinct_words(examples), settings().pairs)
    return Esim(opened.embedder, opened.relations, EsimConfig(hidden=5)).eval()


def scores(network: Esim, examples: Sequence[NliExample]) -> Tensor:
    batches = NliBatches(EncodedExamples(examples), network.embedder, network.relations)
    result: Tensor = network(batches.batch(np.arange(len(examples))))
    return result


def plain_scores(network: Esim, example: NliExample) -> Tensor:
    """The paper's formulas for one example, word by word and with torch's own layers."""
    sides = example.sentences
    a, b = (
        _states(network.encoder, network.embedder(network.embedder.prepare([s]))) for s in sides
    )
    s = a @ b.T
    alpha, beta = s.softmax(dim=1), s.T.softmax(dim=1)
    a_ids, b_ids = (network.relations.ids([side]) for side in sides)
    related = network.relations.both(a_ids, b_ids, alpha[None], beta[None])
    pooled = []
    for own, other, r in ((a, alpha @ b, related.a[0]), (b, beta @ a, related.b[0])):
        inference = torch.cat([own, other, own - other, own * other, r], dim=1)
        states = _states(network.inference, network.projection(inference).relu()[None])
        pooled += [states.mean(dim=0), states.max(dim=0).values]
    first, last = network.classifier[1], network.classifier[4]
    result: Tensor = last(first(torch.cat(pooled)).relu())
    return result


def _states(lstm: BiLstm, block: Tensor) -> Tensor:
    back = lstm.back(block.flip(1))[0].flip(1)
    return torch.cat([lstm.ahead(block)[0], back], dim=2)[0]


@pytest.mark.parametrize("pairs", ["none", "pair2vec", "pair_distance", "pair2vec+wordnet"])
def test_scores_are_those_of_the_formulas(pairs: str, inputs: dict[str, Path]) -> None:
    network = make(inputs, pairs, EXAMPLES)
    expected = torch.stack([plain_scores(network, example) for example in EXAMPLES])
    torch.testing.assert_close(scores(network, EXAMPLES), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pairs", ["none", "pair2vec"])
def test_an_example_has_the_same_scores_beside_longer_ones(
    pairs: str, inputs: dict[str, Path]
) -> None:
    longer = NliExample(EXAMPLES[0].premise * 7, EXAMPLES[1].hypothesis * 9, "neutral")
    network = make(inputs, pairs, [*EXAMPLES, longer])
    alone = torch.cat([scores(network, [example]) for example in EXAMPLES])
    torch.testing.assert_close(scores(network, [*EXAMPLES, longer])[:-1], alone)
    backwards = scores(network, [longer, *EXAMPLES[::-1]])[1:].flip(0)
    torch.testing.assert_close(backwards, alone)


def test_gradients_do_not_depend_on_padding_either(inputs: dict[str, Path]) -> None:
    longer = NliExample(EXAMPLES[0].premise * 7, EXAMPLES[1].hypothesis * 9, "neutral")
    network = make(inputs, "pair2vec", [*EXAMPLES, longer])
    gradients = []
    for some in (EXAMPLES[:4], [*EXAMPLES[:4], longer]):
        network.zero_grad()
        torch.autograd.backward(scores(network, some)[:4].square().sum())
        gradients.append([w.grad for w in network.parameters() if w.grad is not None])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("pairs", ["none", "wordnet", "pair2vec", "pair2vec+wordnet"])
def test_bucketed_padding_changes_nothing(pairs: str, inputs: dict[str, Path]) -> None:
    network, results = make(inputs, pairs, EXAMPLES), []
    for pad_length in (exact_length, bucketed_length):
        encoded = EncodedExamples(EXAMPLES)
        batches = NliBatches(encoded, network.embedder, network.relations, pad_length)
        batch = batches.batch(np.arange(len(EXAMPLES)))
        assert batch.premises.is_word.shape[1] == pad_length(int(encoded.sizes[:, 0].max()))
        network.zero_grad()
        scores: Tensor = network(batch)
        torch.autograd.backward(scores.square().sum())
        results.append([scores, *(w.grad for w in network.parameters() if w.grad is not None)])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_sentences_without_words_and_words_without_vectors_are_accepted(
    inputs: dict[str, Path],
) -> None:
    odd = [
        NliExample((), ("here",), "neutral"),
        NliExample(("here",), (), "neutral"),
        NliExample((), (), "neutral"),
        NliExample(("unheard",), ("of",), "neutral"),
    ]
    network = make(inputs, "pair2vec", [*EXAMPLES, *odd])
    logits = scores(network, [*odd, EXAMPLES[0]])
    assert logits.isfinite().all()
    torch.testing.assert_close(logits[-1:], scores(network, EXAMPLES[:1]))
    torch.autograd.backward(logits.sum())
    assert all(w.grad.isfinite().all() for w in network.parameters() if w.grad is not None)


def test_only_trained_weights_have_gradients(inputs: dict[str, Path]) -> None:
    network = make(inputs, "pair2vec", EXAMPLES)
    names = {name for name, weights in network.named_parameters() if weights.requires_grad}
    assert {name.partition(".")[0] for name in names} == {
        *("embedder", "encoder", "projection", "inference", "classifier"),
    }
    assert [name for name in names if name.startswith("embedder")] == ["embedder.unknown"]


def test_pairs_widen_the_projection_and_nothing_else(inputs: dict[str, Path]) -> None:
    base, paired = (make(inputs, pairs, EXAMPLES) for pairs in ("none", "pair2vec"))
    assert paired.projection.in_features - base.projection.in_features == 12
    assert base.projection.in_features == 4 * 2 * 5
    assert base.relations.dimension == 0


def test_dropout_is_for_training_only(inputs: dict[str, Path]) -> None:
    network = make(inputs, "none", EXAMPLES)
    assert torch.equal(scores(network, EXAMPLES), scores(network, EXAMPLES))
    network.train()
    assert not torch.equal(scores(network, EXAMPLES), scores(network, EXAMPLES))


def test_invalid_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="hidden is 0"):
        EsimConfig(hidden=0)
    with pytest.raises(UsageError, match="dropout is 1"):
        EsimConfig(dropout=1.0)
