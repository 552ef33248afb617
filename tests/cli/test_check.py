"""``pair2vec check`` as a user runs it, and the verdict that training ends with."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_examples, documented_names, shape
from tests.relations.question_words import question_words
from tests.rendering import rendered
from tests.tiny_model import save_tiny_model, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.cli.check import check_report, print_verdict
from pair2vec.errors import InputError
from pair2vec.model.folder import load_model

RECORDED = {
    "recipe": {
        "name": "t",
        "pair": {"composition": "mlp", "layers": 2, "dimension": 8},
        "negatives": {"contexts": 2, "words": 3},
    },
    "metrics": {"validation_loss": 1.5, "loss": 1.25},
    "corpus": {"tokens": 80, "text_tokens": 100},
    "vectors": None,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("check") / "model", config=RECORDED)


def test_the_json_is_what_the_library_finds(folder: Path) -> None:
    printed = json.loads(pair2vec("check", folder, "--json").stdout)
    assert printed == json.loads(json.dumps(load(folder).check().as_json()))


def test_the_json_is_documented(tmp_path: Path) -> None:
    words = question_words()
    folder = save_tiny_model(tmp_path / "model", words, config=RECORDED, hidden=6)
    printed = json.loads(pair2vec("check", folder, "--json").stdout)
    (example,) = documented_examples("check")
    example["starts_from_vectors"] = printed["starts_from_vectors"] = "true or false"
    example["coverage"]["english"] = printed["coverage"]["english"] = "true or false"
    assert shape(example) == shape(printed)
    assert set(printed) <= documented_names("check")


def test_the_report_has_the_facts_and_ends_with_the_verdict(folder: Path) -> None:
    printed = pair2vec("check", folder).stdout
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    facts = {line.split("  ")[0]: line for line in printed.splitlines()}
    assert "1.500, 24 % of that of a model that knows nothing, 6.238" in facts["held-out loss"]
    assert "none: it began with random ones" in facts["initial word vectors"]
    assert "80.0%" in facts["words"]
    assert any(line.startswith("hot : cold") for line in lines)
    assert lines.index("verdict can't tell") > lines.index("common English words 5 of 807")
    assert any(line.startswith("next ask it about pairs whose relation you know") for line in lines)


def test_a_model_that_names_relations_is_shown_with_its_names(tmp_path: Path) -> None:
    found = load(taught_model(tmp_path / "model")).check()
    name = found.pairs[0].relation
    assert name is not None
    assert f"{name.name}, {100 * name.probability:.0f} %" in rendered(check_report(found), 120)


def test_what_is_no_model_is_one_clear_line(tmp_path: Path) -> None:
    assert_fails(pair2vec("check", tmp_path / "no"), 1, "no such")


def test_the_verdict_on_a_trained_model_is_never_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_verdict(load_model(folder), quiet=True)
    assert capsys.readouterr().out == ""
    print_verdict(load_model(folder))
    assert capsys.readouterr().out.startswith("verdict  can't tell")

    def fails(self: Pair2vec) -> Any:
        raise InputError("the model has weights beyond all measure")

    monkeypatch.setattr(Pair2vec, "check", fails)
    print_verdict(load_model(folder))
    assert "no verdict: the model has weights beyond all measure" in capsys.readouterr().err
