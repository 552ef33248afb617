"""The commands of natural language inference, as a user runs them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_examples, documented_names, shape
from tests.experiments.nli.relation_world import (
    FAMILIES,
    SMALL,
    examples,
    write_examples,
    write_inputs,
)

SETTINGS = [word for change in SMALL for word in ("--set", change)]
SETTINGS += ["--set", "training.epochs=9", "--set", "training.threads=1", "--device", "cpu"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs, examples and a trained classifier."""
    folder = tmp_path_factory.mktemp("nli")
    write_inputs(folder)
    write_examples(folder / "snli_train.jsonl", examples(range(FAMILIES - 15)))
    for name in ("snli_dev.jsonl", "snli_test.jsonl", "breaking_nli.jsonl"):
        write_examples(folder / name, examples(range(FAMILIES - 15, FAMILIES)))
    done = pair2vec(*train_arguments(folder), "--out", folder / "model")
    assert done.returncode == 0, done.stderr
    assert "epoch 9: dev 100.00%, best 100.00%" in done.stderr
    assert "model: 100.00 % of dev right, the best of 9 epochs" in done.stdout
    return folder


def train_arguments(folder: Path) -> list[str]:
    options = {
        "model": "esim",
        "pairs": "pair2vec",
        "pair-model": folder / "pair_model",
        "words": folder / "words.vec",
        "train": folder / "snli_train.jsonl",
        "dev": folder / "snli_dev.jsonl",
    }
    return ["nli", "train", *(f"--{name}={value}" for name, value in options.items()), *SETTINGS]


def test_a_classifier_is_examined_and_leaves_a_result(place: Path) -> None:
    data = [f"--data={place / name}.jsonl" for name in ("snli_test", "breaking_nli")]
    ask = ["eval", "nli", f"--model={place / 'model'}", *data]
    done = pair2vec(*ask, f"--results={place / 'results'}")
    assert done.returncode == 0, done.stderr
    assert "SNLI test" in done.stdout
    assert "100.00" in done.stdout
    (path,) = (place / "results").glob("*.json")
    found = json.loads(path.read_text())
    assert found["metrics"]["snli_test"] == found["metrics"]["breaking_nli"] == 100.0
    assert str(place) not in path.read_text()
    assert json.loads(pair2vec(*ask, "--json").stdout) == found
    assert set(found) <= documented_names("eval nli")
    table = pair2vec("nli", "table", place / "results").stdout
    assert "Breaking NLI (tab:glockner_res)" in table
    assert "missing" in table


def test_a_pair_of_sentences_is_labelled_and_explained(place: Path) -> None:
    pair = [f"The w{FAMILIES - 1}a.", f"The w{FAMILIES - 1}d."]
    done = pair2vec("nli", "predict", "--model", place / "model", *pair, "--top", "2")
    assert done.returncode == 0, done.stderr
    assert f"“{pair[0]}” → “{pair[1]}”: contradiction" in done.stdout
    printed = pair2vec("nli", "predict", "--model", place / "model", *pair, "--json", "--top", "2")
    found = json.loads(printed.stdout)
    assert found["label"] == "contradiction"
    assert found["pairs"][0]["premise"] == f"w{FAMILIES - 1}a"
    assert len(found["pairs"]) == 2
    assert set(found["probabilities"]) == {"entailment", "neutral", "contradiction"}
    assert {shape(answer) for answer in documented_examples("nli predict")} == {shape(found)}


def test_ctrl_c_leaves_a_checkpoint_that_resume_goes_on_from(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    arguments = [sys.executable, "-m", "pair2vec", *map(str, train_arguments(place))]
    arguments += ["--set", "training.report_steps=1", "--out", str(out)]
    process = subprocess.Popen(
        arguments, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}
    )
    metrics = out / "training" / "metrics.jsonl"
    while not metrics.exists() or not metrics.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "stopped with a checkpoint; go on with the same command and --resume" in said
    assert list((out / "training").glob("step-*.safetensors"))
    done = subprocess.run([*arguments, "--resume"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "going on from step" in done.stderr
    same = (place / "model" / "weights.safetensors").read_bytes()
    assert (out / "weights.safetensors").read_bytes() == same


def test_mistakes_are_one_line(place: Path, tmp_path: Path) -> None:
    train = train_arguments(place)
    assert_fails(pair2vec(*train, f"--out={place / 'model'}"), 2, "already holds a classifier")
    wrong = ["--set=training.bath=3", f"--out={tmp_path / 'x'}"]
    assert_fails(pair2vec(*train, *wrong), 2, "did you mean training.batch?")
    assert_fails(pair2vec("eval", "nli", "--data", "x"), 2, "name a classifier as --model")
