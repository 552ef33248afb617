"""Facts added to a model's config stay, and change nothing else."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command import pair2vec
from tests.tiny_model import save_tiny_model

from pair2vec.model.folder import describe_model, load_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_tiny_model(tmp_path / "model", config={"metrics": {"loss": 2.0}})


def test_facts_are_merged_into_config_and_card(model: Path) -> None:
    before = load_model(model).config
    describe_model(model, {"metrics": {"slots": {"right_rows": 9}}, "licence": "cc-by-sa-4.0"})
    describe_model(model, {"metrics": {"slots": {"rows": 14}}, "notes": ["Made by hand.", "Small"]})
    config = load_model(model).config
    assert config["metrics"] == {"loss": 2.0, "slots": {"right_rows": 9, "rows": 14}}
    others = before.keys() - {"metrics", "checksums"}
    assert {key: config[key] for key in others} == {key: before[key] for key in others}
    card = (model / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: pair2vec\nlicense: cc-by-sa-4.0\n---\n")
    assert "| slots | right_rows 9, rows 14 |" in card
    assert "## Notes\n\n- Made by hand.\n- Small\n" in card
    assert "## Licence\n\ncc-by-sa-4.0\n" in card


def test_a_model_is_the_same_after_it_was_described(model: Path) -> None:
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    describe_model(model, {"name": "other"})
    changed = {path.name for path in model.iterdir() if path.read_bytes() != files[path.name]}
    assert changed == {"config.json", "README.md"}
    assert np.isfinite(load_model(model).array("pair.words")).all()


def test_what_is_not_json_is_refused_before_anything_is_written(model: Path) -> None:
    card = (model / "README.md").read_bytes()
    with pytest.raises(Exception, match="config: is not JSON"):
        describe_model(model, {"metrics": {"loss": float("nan")}})
    assert (model / "README.md").read_bytes() == card


def test_the_command_describes_and_refuses_nothing(model: Path) -> None:
    done = pair2vec("describe", str(model), "--name", "wiki", "--note", "One.", "--note", "Two.")
    assert done.returncode == 0, done.stderr
    config = json.loads((model / "config.json").read_text())
    assert (config["name"], config["notes"]) == ("wiki", ["One.", "Two."])
    refused = pair2vec("describe", str(model))
    assert refused.returncode == 2
    assert "nothing to add; give --name, --licence or --note" in refused.stderr


def test_slots_records_its_figures(model: Path) -> None:
    done = pair2vec("eval", "slots", "--model", str(model), "--record")
    assert done.returncode == 0, done.stderr
    metrics = load_model(model).config["metrics"]
    assert metrics["slots"] == {"right_rows": 0, "rows": 14, "prior": 0.0}
    assert metrics["loss"] == 2.0
