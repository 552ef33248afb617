"""The relation head against a plain computation, and its symmetry."""

from pathlib import Path

import numpy as np
import pytest
from tests.tiny_model import taught_model

import pair2vec
from pair2vec.arrays import normalise
from pair2vec.errors import InputError
from pair2vec.model.folder import describe_model, load_model
from pair2vec.relations.head import HeadScorer, RelationHead


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_model(tmp_path_factory.mktemp("taught"))


def test_probabilities_are_those_of_the_plain_formula(folder: Path) -> None:
    model = pair2vec.load(folder)
    saved, config = model.saved, RelationHead(model.saved).config
    x, y = np.array([5, 6, 9]), np.array([7, 12, 4])
    pairs = [normalise(model.space.pairs(*ids)) * np.sqrt(8) for ids in ((x, y), (y, x))]
    weight, bias = saved.array("relation.hidden.weight"), saved.array("relation.hidden.bias")
    ways = (np.concatenate(pairs, 1), np.concatenate(pairs[::-1], 1))
    hidden = [np.maximum(way @ weight.T + bias, 0) for way in ways]
    output, shift = saved.array("relation.output.weight"), saved.array("relation.output.bias")
    similarity = saved.array("relation.similarity")
    unit = normalise(saved.array("pair.words"))
    for row in range(len(x)):
        cosine = unit[x[row]] @ unit[y[row]]
        constant = shift + cosine * similarity
        logits = [
            output[r] @ hidden[0][row]
            + output[s] @ hidden[1][row]
            + (constant[r] + constant[s]) / 2
            for r, s in enumerate(config.inverse)
        ]
        scores = np.array(logits) * config.scale
        scores[-1] += config.none
        expected = np.exp(scores) / np.exp(scores).sum()
        words = model.vocabulary.words
        (found,) = model.relations().predict_proba([(words[x[row]], words[y[row]])])
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_swapped_pair_is_in_the_inverse_relations(folder: Path) -> None:
    model = pair2vec.load(folder)
    head = RelationHead(model.saved)
    scorer = HeadScorer(head, model.space)
    x, y = np.array([5, 6, 9, 11]), np.array([7, 12, 4, 8])
    forward, backward = scorer.logits(x, y), scorer.logits(y, x)
    np.testing.assert_allclose(forward, backward[:, list(head.config.inverse)], atol=1e-4)
    assert not np.allclose(forward, backward, atol=1e-2)


def test_a_head_that_does_not_fit_its_tensors_is_refused(tmp_path: Path) -> None:
    folder = taught_model(tmp_path)
    describe_model(folder, {"relations": {"names": ["synonym", "none"]}})
    with pytest.raises(InputError, match="do not fit"):
        pair2vec.load(folder).relations()


@pytest.mark.parametrize(
    "names",
    [
        ["synonym", "synonym", "hypernym", "hyponym", "none"],
        ["synonym", {"a": 1}, "hypernym", "hyponym", "none"],
        ["synonym", "antonym\0", "hypernym", "hyponym", "none"],
    ],
)
def test_names_that_cannot_be_told_apart_or_printed_are_refused(
    tmp_path: Path, names: list[object]
) -> None:
    folder = taught_model(tmp_path)
    describe_model(folder, {"relations": {"names": names}})
    with pytest.raises(InputError, match=r"do not fit|is damaged"):
        pair2vec.load(folder).relate("hot", "cold")


def test_the_calibration_is_part_of_a_fingerprint(tmp_path: Path) -> None:
    folder = taught_model(tmp_path)
    before = load_model(folder).fingerprint
    describe_model(folder, {"relations": {"scale": 3.0}})
    assert load_model(folder).fingerprint != before
