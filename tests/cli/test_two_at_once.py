"""Two processes at once: a command does not write where another one is writing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec, writing_process
from tests.tiny_model import save_tiny_model

BUSY = "another pair2vec process is writing to it"
TRAIN = ("--recipe", "tiny", "--device", "cpu")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_a_corpus_is_prepared_once_at_a_time(
    text: Path, tmp_path: Path, options: list[str]
) -> None:
    out = tmp_path / "corpus"
    out.mkdir()
    with writing_process(out):
        done = pair2vec("prepare", text, "--out", out, *options)
    assert_fails(done, 2, f"{out}: {BUSY}")
    assert contents(out) == {}


def test_word_vectors_are_trained_once_at_a_time(world: Path, tmp_path: Path) -> None:
    out = tmp_path / "words.vec"
    command: list[str | Path] = [
        "vectors",
        world,
        "--out",
        out,
        "--dimension",
        "4",
        "--epochs",
        "1",
    ]
    with writing_process(out):
        assert_fails(pair2vec(*command, "--device", "cpu"), 2, f"{out}: {BUSY}")
    assert pair2vec(*command, "--device", "cpu").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["words.vec"]


@pytest.mark.parametrize("options", [[], ["--resume"], ["--overwrite"]])
def test_a_model_is_trained_once_at_a_time(world: Path, tmp_path: Path, options: list[str]) -> None:
    out = tmp_path / "model"
    (out / "training").mkdir(parents=True)
    with writing_process(out / "training"):
        done = pair2vec("train", world, "--out", out, *TRAIN, *options)
    assert_fails(done, 2, f"{out / 'training'}: {BUSY}")
    assert contents(out) == {}


@pytest.fixture
def training(world: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A training process that has just written its first metrics to ``model``."""
    out = tmp_path / "model"
    settings = ["--set", "training.epochs=300", "--set", "training.report_steps=2"]
    command = [sys.executable, "-m", "pair2vec", "train", str(world), "--out", str(out)]
    process = subprocess.Popen(
        [*command, *TRAIN, *settings], stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    metrics = out / "training" / "metrics.jsonl"
    while not metrics.exists() or not metrics.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    with process:
        yield process
        process.kill()


def test_nothing_disturbs_a_training_that_is_under_way(
    training: "subprocess.Popen[str]", world: Path, tmp_path: Path
) -> None:
    out, other = tmp_path / "model", save_tiny_model(tmp_path / "other")
    settings = ["--set", "training.epochs=300", "--set", "training.report_steps=2"]
    command: list[str | Path] = ["train", world, "--out", out, *TRAIN, *settings]
    (out / "training" / "step-000000001.safetensors.1.partial").write_bytes(b"half")
    for options in (["--resume"], ["--overwrite"]):
        assert_fails(pair2vec(*command, *options), 2, BUSY)
    assert_fails(pair2vec("shrink", other, "--out", out), 2, BUSY)
    assert list((out / "training").glob("*.1.partial")), "what it was writing has vanished"
    assert training.poll() is None
    training.send_signal(signal.SIGINT)
    _, stderr = training.communicate()
    assert training.returncode == 130, stderr
    assert "stopped with a checkpoint" in stderr


def test_a_model_is_described_or_replaced_once_at_a_time(tmp_path: Path) -> None:
    model, other = (save_tiny_model(tmp_path / name) for name in ("model", "other"))
    before = contents(model)
    commands: list[list[str | Path]] = [
        ["describe", model, "--licence", "mit"],
        ["shrink", other, "--out", model, "--overwrite"],
    ]
    for path in (model, model / "training"):
        path.mkdir(exist_ok=True)
        for command in commands:
            with writing_process(path):
                assert_fails(pair2vec(*command), 2, f"{path}: {BUSY}")
    assert contents(model) == before
    for command in commands:
        assert pair2vec(*command).returncode == 0
    assert contents(model).keys() == before.keys()


def test_a_lexicon_is_built_once_at_a_time(world: Path, tmp_path: Path) -> None:
    model, out = save_tiny_model(tmp_path / "model"), tmp_path / "lexicon.tsv"
    begun = tmp_path / "lexicon.tsv.begun"
    begun.mkdir()
    command: list[str | Path] = [
        "lexicon",
        world,
        "--model",
        model,
        "--words",
        "-",
        "--out",
        out,
        "--workers",
        "1",
    ]
    with writing_process(begun):
        done = pair2vec(*command, stdin=b"france\nparis\nthe\nof\nis\n")
    assert_fails(done, 2, f"{begun}: {BUSY}")
    assert not out.exists()


def test_a_report_is_written_once_at_a_time(tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "report"
    results.mkdir()
    out.mkdir()
    with writing_process(out):
        assert_fails(pair2vec("report", "--results", results, "--out", out), 2, f"{out}: {BUSY}")
    assert contents(out) == {}
