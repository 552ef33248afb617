"""The commands of natural language inference, as a user runs them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec, writing_process
from tests.documented_json import documented_examples, documented_names, shape
from tests.experiments.nli.relation_world import (
    FAMILIES,
    SMALL,
    data,
    examples,
    input_paths,
    settings,
    write_examples,
    write_inputs,
)

from pair2vec.experiments.nli.train import train_classifier

SETTINGS = [word for change in SMALL for word in ("--set", change)]
SETTINGS += ["--set", "training.epochs=9", "--set", "training.threads=1", "--device", "cpu"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_a_classifier_is_evaluated_and_leaves_a_result(folder: Path) -> None:
    files = [f"--data={folder / name}.jsonl" for name in ("snli_test", "breaking_nli")]
    command = ["eval", "nli", f"--model={folder / 'model'}", *files]
    done = pair2vec(*command, f"--results={folder / 'results'}")
    assert done.returncode == 0, done.stderr
    assert "SNLI test" in done.stdout
    assert "100.00" in done.stdout
    (path,) = (folder / "results").glob("*.json")
    result = json.loads(path.read_text())
    assert result["metrics"]["snli_test"] == result["metrics"]["breaking_nli"] == 100.0
    assert str(folder) not in path.read_text()
    assert json.loads(pair2vec(*command, "--json").stdout) == result
    assert set(result) <= documented_names("eval nli")
    table = pair2vec("nli", "table", folder / "results").stdout
    assert "Breaking NLI (tab:glockner_res)" in table
    assert "missing" in table


def test_a_pair_of_sentences_is_labelled_and_explained(folder: Path) -> None:
    pair = [f"The w{FAMILIES - 1}a.", f"The w{FAMILIES - 1}d."]
    done = pair2vec("nli", "predict", "--model", folder / "model", *pair, "--top", "2")
    assert done.returncode == 0, done.stderr
    assert f"“{pair[0]}” → “{pair[1]}”: contradiction" in done.stdout
    done = pair2vec("nli", "predict", "--model", folder / "model", *pair, "--json", "--top", "2")
    prediction = json.loads(done.stdout)
    assert prediction["label"] == "contradiction"
    assert prediction["pairs"][0]["premise"] == f"w{FAMILIES - 1}a"
    assert len(prediction["pairs"]) == 2
    assert set(prediction["probabilities"]) == {"entailment", "neutral", "contradiction"}
    assert {shape(answer) for answer in documented_examples("nli predict")} == {shape(prediction)}


def test_two_trainings_never_write_to_one_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    (out / "training").mkdir(parents=True)
    for options in ([], ["--resume"], ["--overwrite"]):
        with writing_process(out / "training"):
            done = pair2vec(*train_arguments(folder), *options, "--out", out)
        assert_fails(done, 2, "another pair2vec process is writing to it")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_checkpoint_that_resume_continues_from(
    folder: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "model"
    arguments = [sys.executable, "-m", "pair2vec", *map(str, train_arguments(folder))]
    arguments += ["--set", "training.report_steps=1", "--out", str(out)]
    process = subprocess.Popen(
        arguments, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}
    )
    metrics = out / "training" / "metrics.jsonl"
    while not metrics.exists() or not metrics.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, stderr = process.communicate()
    assert process.returncode == 128 + number, stderr
    assert "stopped with a checkpoint; continue with the same command and --resume" in stderr
    assert list((out / "training").glob("step-*.safetensors"))
    done = subprocess.run([*arguments, "--resume"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "resumed from step" in done.stderr
    same = (folder / "model" / "weights.safetensors").read_bytes()
    assert (out / "weights.safetensors").read_bytes() == same


def test_mistakes_are_one_line(folder: Path, tmp_path: Path) -> None:
    train = train_arguments(folder)
    assert_fails(pair2vec(*train, f"--out={folder / 'model'}"), 2, "already holds a classifier")
    wrong = ["--set=training.bath=3", f"--out={tmp_path / 'x'}"]
    assert_fails(pair2vec(*train, *wrong), 2, "did you mean training.batch?")
    assert_fails(pair2vec("eval", "nli", "--data", "x"), 2, "name a classifier as --model")
    model = [*train, f"--out={tmp_path / 'x'}", "--model"]
    assert_fails(pair2vec(*model, "kin"), 2, "model is 'kin'; it must be one of esim, kim")
    assert_fails(pair2vec(*model, "kim"), 2, "KIM takes its knowledge from WordNet")


@pytest.fixture(scope="module")
def classifiers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with examples and two trained classifiers of one name."""
    folder = tmp_path_factory.mktemp("compare")
    inputs = write_inputs(folder)
    for pairs in ("none", "pair2vec"):
        out = folder / pairs / "esim"
        train_classifier(out, data(), input_paths(inputs, pairs), settings(), device="cpu")
    write_examples(folder / "breaking_nli.jsonl", examples(range(FAMILIES - 15, FAMILIES)))
    return folder


def compare_arguments(classifiers: Path, *more: str) -> list[str | Path]:
    both = [classifiers / "none" / "esim", classifiers / "pair2vec" / "esim"]
    return [
        "nli",
        "compare",
        *both,
        f"--data={classifiers / 'breaking_nli.jsonl'}",
        "--device=cpu",
        *more,
    ]


def test_a_page_with_pictures_is_written_and_the_same_when_written_again(
    classifiers: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    pages = []
    for _ in range(2):
        done = pair2vec(
            *compare_arguments(classifiers, f"--out={tmp_path / 'page'}", "--examples=3")
        )
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        assert "esim (base) 33.33 %, esim (model) 100.00 % right of 45 examples" in done.stdout
        files = {path.name: path.read_bytes() for path in (tmp_path / "page").iterdir()}
        # The last line has the date, and midnight may have passed.
        pages.append({**files, "index.md": files["index.md"].rpartition(b"- date")[0]})
    assert pages[0] == pages[1]
    assert sorted(pages[0]) == ["categories.png", "examples.png", "index.md"]
    page = pages[0]["index.md"].decode()
    assert "| kind1 | 15 |" in page
    assert page.count("\n### ") == 3
    assert str(classifiers) not in page


def test_moved_inputs_can_be_named(classifiers: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    moved = (classifiers / "words.vec").rename(tmp_path / "moved.vec")
    try:
        ask = compare_arguments(classifiers, f"--out={tmp_path / 'page'}")
        assert_fails(pair2vec(*ask), 1, "words.vec")
        assert not (tmp_path / "page").exists()
        done = pair2vec(*ask, f"--words={moved}")
        assert done.returncode == 0, done.stderr
    finally:
        moved.rename(classifiers / "words.vec")


def test_mistakes_in_a_comparison_are_one_line(classifiers: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    base, model = classifiers / "none" / "esim", classifiers / "pair2vec" / "esim"
    rest = [f"--data={classifiers / 'breaking_nli.jsonl'}", f"--out={tmp_path / 'page'}"]
    twice = base.parent / "." / ".." / "none" / "esim"
    assert_fails(pair2vec("nli", "compare", base, twice, *rest), 2, "is compared with itself")
    assert_fails(
        pair2vec("nli", "compare", base, classifiers, *rest), 1, "not a complete classifier"
    )
    missing = [f"--data={classifiers / 'no.jsonl'}", rest[1]]
    assert_fails(pair2vec("nli", "compare", base, model, *missing), 2, "no.jsonl: no such file")
    taken = [rest[0], f"--out={base}"]
    assert_fails(pair2vec("nli", "compare", base, model, *taken), 2, "is not a comparison")
    assert not (tmp_path / "page").exists()
