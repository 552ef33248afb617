"""The model that comes with the package."""

import json
from pathlib import Path

import pytest

import pair2vec
from pair2vec.api import Pair2vec
from pair2vec.model.card import model_card
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import bundled_models
from pair2vec.training.recipes import recipe_from_json

NAME = "wikipedia"


@pytest.fixture(scope="module")
def folder() -> Path:
    return bundled_models()[NAME]


@pytest.fixture(scope="module")
def model() -> Pair2vec:
    return pair2vec.load()


def test_it_is_small_and_knows_many_words(folder: Path, model: Pair2vec) -> None:
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 28_000_000
    assert len(model.vocabulary) >= 60_000


def test_it_says_where_it_comes_from(folder: Path) -> None:
    config = load_model(folder).config
    assert config["recipe"]["name"] == "fast"
    assert len(config["corpus"]["fingerprint"]) == 64
    assert config["licence"] == "cc-by-sa-4.0"
    assert {"bats", "slots", "relate"} <= config["metrics"].keys()
    assert config["teaching"]["language_model"].startswith("SmolLM2-135M")
    assert "/" not in json.dumps(config["corpus"])


def test_its_recipe_is_within_the_ranges_so_that_it_can_be_taught(folder: Path) -> None:
    assert recipe_from_json(load_model(folder).config["recipe"]).pair.dimension == 300


def test_its_card_is_that_of_its_config(folder: Path) -> None:
    assert (folder / "README.md").read_text() == model_card(load_model(folder).config)


@pytest.mark.parametrize(
    ("pattern", "x", "y"),
    [
        ("in X , Y .", "portland", "oregon"),
        ("X , a famous Y ,", "monet", "painter"),
        ("including X and other Y", "copper", "metals"),
        ("X or Y", "increase", "decrease"),
    ],
)
def test_it_fills_slots(model: Pair2vec, pattern: str, x: str, y: str) -> None:
    assert y in [match.word for match in model.fill(pattern, x=x, top=3)]


@pytest.mark.parametrize(
    "question",
    ["france paris japan tokyo", "walk walked sing sang", "einstein physicist mozart composer"],
)
def test_it_answers_analogies(model: Pair2vec, question: str) -> None:
    *given, answer = question.split()
    assert model.analogy(*given)[0].word == answer


def test_a_pair_and_its_inverse_differ(model: Pair2vec) -> None:
    forward, backward = (
        {(match.x, match.y) for match in model.nearest(*pair, top=5)}
        for pair in (("king", "queen"), ("queen", "king"))
    )
    assert ("prince", "princess") in forward
    assert ("prince", "princess") not in backward


def test_its_files_are_checked(folder: Path) -> None:
    checksums = load_model(folder).config["checksums"]
    assert set(checksums) == {path.name for path in folder.iterdir()} - {"README.md"}


def test_it_composes_words_that_it_lacks(model: Pair2vec) -> None:
    assert "unsubscribes" not in model
    relation = model.relate("unfriending", "friending", top=0)
    assert (relation.name, len(relation.composed)) == ("antonym", 2)
    model.pair("unsubscribes", "subscribes")
    assert "unsubscribe" in model.composed("unsubscribes")[0].suggestions
