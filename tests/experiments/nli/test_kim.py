"""KIM against its three equations, word by word in float64, and from examples to a result."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.experiments.nli.relation_world import examples, input_paths, settings
from tests.wordnet.small_wordnet import small_wordnet
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.experiments.nli.batches import EncodedExamples, NliBatches
from pair2vec.experiments.nli.classifier import explain, load_classifier
from pair2vec.experiments.nli.esim import EsimConfig
from pair2vec.experiments.nli.evaluate import evaluate_nli
from pair2vec.experiments.nli.examples import LABELS, NliExample, NliSet, distinct_words
from pair2vec.experiments.nli.kim import Kim, KimConfig
from pair2vec.experiments.nli.results import result_of_classifier
from pair2vec.experiments.nli.train import LabelledExamples, NliData, train_classifier
from pair2vec.experiments.tasks.batches import PadLength, bucketed_length, exact_length
from pair2vec.experiments.tasks.inputs import open_inputs
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import wordnet_relations

RELATED = [
    NliExample(("The", "hot", "dog", "."), ("a", "cold", "wolf"), "contradiction"),
    NliExample(("The", "dog", "."), ("The", "animal", "and", "the", "canid", "."), "entailment"),
    NliExample(("animal", "x"), ("dogs", "Paris"), "neutral"),
]
UNRELATED = examples(range(3), extra=2)
EXAMPLES = [*RELATED, *UNRELATED]


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return small_wordnet(tmp_path_factory.mktemp("wordnet"))


def make(inputs: dict[str, Path], weight: float = 1.5, some: Sequence[NliExample] = ()) -> Kim:
    """In float64, with weights of the pooling that leave the ReLU something."""
    torch.manual_seed(0)
    paths = input_paths(inputs, "wordnet")
    opened = open_inputs(paths, distinct_words([*EXAMPLES, *some]), settings().pairs)
    network = Kim(opened.embedder, opened.relations, EsimConfig(hidden=5), KimConfig(weight=weight))
    with torch.no_grad():
        network.weigh.weight.copy_(torch.tensor([[0.9, -1.4, 2.0, 0.6, 1.1]]))
        network.weigh.bias.fill_(0.3)
    return network.double().eval()


def scores(
    network: Kim, some: Sequence[NliExample], pad_length: PadLength = exact_length
) -> Tensor:
    inputs = network.embedder, network.relations
    batches = NliBatches(EncodedExamples(some), *inputs, pad_length)
    result: Tensor = network(batches.batch(np.arange(len(some))))
    return result


def plain_scores(network: Kim, example: NliExample, wordnet: WordNet) -> Tensor:
    """Equations of Chen et al. (2018) for one example, in loops over words."""
    a, b = (
        _states(network, "encoder", network.embedder(network.embedder.prepare([side])))
        for side in example.sentences
    )
    n, m = len(example.premise), len(example.hypothesis)
    r_ab, r_ba = torch.zeros(n, m, 5).double(), torch.zeros(m, n, 5).double()
    e = torch.zeros(n, m).double()
    for i, x in enumerate(example.premise):
        for j, y in enumerate(example.hypothesis):
            r_ab[i, j] = torch.tensor(wordnet_relations(wordnet, x, y)).double()
            r_ba[j, i] = torch.tensor(wordnet_relations(wordnet, y, x)).double()
            e[i, j] = sum(a[i, k] * b[j, k] for k in range(a.shape[1]))
            if any(value != 0 for value in r_ab[i, j]):
                e[i, j] = e[i, j] + network.weight
    pooled = []
    for own, other, e_own, r in ((a, b, e, r_ab), (b, a, e.T, r_ba)):
        rows, knowledge = [], []
        for i in range(len(own)):
            total = sum(torch.exp(e_own[i, k]) for k in range(len(other)))
            alpha = [torch.exp(e_own[i, j]) / total for j in range(len(other))]
            aligned = sum(alpha[j] * other[j] for j in range(len(other)))
            relations = sum(alpha[j] * r[i, j] for j in range(len(other)))
            assert isinstance(aligned, Tensor)
            assert isinstance(relations, Tensor)
            rows.append(torch.cat([own[i], aligned, own[i] - aligned, own[i] * aligned, relations]))
            knowledge.append(relations)
        states = _states(network, "inference", network.projection(torch.stack(rows)).relu()[None])
        h = [
            (network.weigh.weight[0] @ r_i + network.weigh.bias[0]).clamp_min(0)
            for r_i in knowledge
        ]
        total = sum(torch.exp(score) for score in h)
        weighted = sum(torch.exp(h[i]) / total * states[i] for i in range(len(states)))
        assert isinstance(weighted, Tensor)
        pooled += [states.mean(dim=0), states.max(dim=0).values, weighted]
    first, last = network.classifier[1], network.classifier[4]
    result: Tensor = last(first(torch.cat(pooled)).relu())
    return result


def _states(network: Kim, name: str, block: Tensor) -> Tensor:
    lstm = getattr(network, name)
    back = lstm.back(block.flip(1))[0].flip(1)
    return torch.cat([lstm.ahead(block)[0], back], dim=2)[0]


def test_scores_are_those_of_the_equations(inputs: dict[str, Path], wordnet: WordNet) -> None:
    network = make(inputs)
    expected = torch.stack([plain_scores(network, example, wordnet) for example in EXAMPLES])
    assert expected.dtype == torch.float64
    torch.testing.assert_close(scores(network, EXAMPLES), expected, rtol=1e-12, atol=1e-12)


def test_knowledge_reaches_attention_and_pooling_of_related_words_alone(
    inputs: dict[str, Path],
) -> None:
    """Against λ = 0, and against equal weights in the pooling."""
    network = make(inputs)
    full = scores(network, EXAMPLES)
    network.weight = 0.0
    without_attention = scores(network, EXAMPLES)
    network.weight = 1.5
    with torch.no_grad():
        network.weigh.weight.zero_()
    without_pooling = scores(network, EXAMPLES)
    for without in (without_attention, without_pooling):
        moved = (full - without).abs().amax(dim=1)
        assert (moved[: len(RELATED)] > 1e-6).all()
    # "The" is a word of neither WordNet; equal sentences would be synonyms.
    torch.testing.assert_close(full[len(RELATED) :], without_attention[len(RELATED) :])
    torch.testing.assert_close(full[len(RELATED) :], without_pooling[len(RELATED) :])


def test_padding_changes_nothing(inputs: dict[str, Path]) -> None:
    longer = NliExample(RELATED[0].premise * 7, RELATED[1].hypothesis * 5, "neutral")
    network = make(inputs, some=[longer])
    alone = torch.cat([scores(network, [example]) for example in EXAMPLES])
    torch.testing.assert_close(scores(network, [*EXAMPLES, longer])[:-1], alone)
    torch.testing.assert_close(scores(network, EXAMPLES, bucketed_length), alone)


def test_sentences_without_words_are_accepted(inputs: dict[str, Path]) -> None:
    empty = [NliExample((), ("dog",), "neutral"), NliExample((), (), "neutral")]
    network = make(inputs)
    found = scores(network, [*empty, RELATED[0]])
    assert found.isfinite().all()
    torch.testing.assert_close(found[2:], scores(network, RELATED[:1]))
    torch.autograd.backward(found.sum())
    assert all(w.grad.isfinite().all() for w in network.parameters() if w.grad is not None)


@pytest.mark.parametrize("pairs", ["pair2vec", "none", "pair2vec+wordnet"])
def test_other_relations_than_wordnets_are_refused(inputs: dict[str, Path], pairs: str) -> None:
    opened = open_inputs(input_paths(inputs, pairs), distinct_words(UNRELATED), settings().pairs)
    with pytest.raises(UsageError, match="KIM takes its knowledge from WordNet; say --pairs"):
        Kim(opened.embedder, opened.relations)
    with pytest.raises(UsageError, match="weight is -1"):
        KimConfig(weight=-1)


def test_it_is_trained_saved_loaded_explained_and_has_a_row_of_its_own(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    few = LabelledExamples(
        [
            NliExample(("the", x), ("the", y), label)
            for (x, y), label in zip(
                [("dog", "animal"), ("dog", "wolf"), ("hot", "cold")], LABELS, strict=True
            )
        ]
        * 12,
        {"few": 36},
    )
    classifier = train_classifier(
        tmp_path / "kim",
        NliData(few, few),
        input_paths(inputs, "wordnet"),
        settings("model=kim", "training.epochs=30", "training.patience=0"),
    )
    some = few.examples[:3]
    assert isinstance(classifier.network, Kim)
    assert classifier.predict(some).labels == list(LABELS)
    loaded = load_classifier(tmp_path / "kim", distinct_words(some))
    assert isinstance(loaded.network, Kim)
    expected = classifier.predict(some).probabilities
    np.testing.assert_allclose(loaded.predict(some).probabilities, expected, atol=1e-6)
    assert explain(loaded, some[2]).label == "contradiction"
    scored = evaluate_nli({"breaking_nli": NliSet(some)}, lambda e: loaded.predict(e).labels)
    result = result_of_classifier(loaded.config, scored, {"breaking_nli": "breaking_nli.jsonl"})
    assert (result["model"], result["pairs"]) == ("kim", "kim")
    assert "nli train --model kim --pairs wordnet " in result["command"]
    assert not any(name.startswith("model=") for name in result["protocol"]["settings"])
