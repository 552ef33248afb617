"""``pair2vec train`` and ``pair2vec vectors`` as a user runs them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import console
from tests.command import assert_fails, pair2vec, pair2vec_process

from pair2vec.cli.messages import ProgressView, duration, show_progress
from pair2vec.cli.train import TrainingView
from pair2vec.cli.vectors import VectorsView
from pair2vec.text.corpus import open_corpus
from pair2vec.training.trainer import TrainingProgress
from pair2vec.word_vectors.fasttext import VectorsProgress

SMALL = [
    "--recipe=tiny",
    *("--set=pair.dimension=8", "--set=context.dimension=8", "--set=context.hidden=4"),
    *("--set=training.batch=64", "--set=training.report_steps=5", "--device=cpu"),
]


METRICS = {
    "loss": 1.25,
    "observed": 0.5,
    "typed_x": 0.25,
    "positives_above_half": 0.4,
    "rate": 0.01,
    "triples_per_second": 12_345.0,
}


def test_train_makes_a_model_that_info_describes(world: Path, tmp_path: Path) -> None:
    steps = "--set=training.steps=20"
    done = pair2vec("train", world, "--out", tmp_path / "model", *SMALL, steps)
    assert done.returncode == 0, done.stderr
    assert "no neighbours to draw typed negatives from" in done.stderr
    assert "step 1 of 20: loss" in done.stderr
    assert "triples an epoch, 1,280 in all: 20 steps of 64; about" in done.stderr
    facts = pair2vec("info", tmp_path / "model").stdout
    assert done.stdout.startswith(facts)
    # After twenty steps the loss is still that of a model that knows nothing.
    verdict = done.stdout.removeprefix(facts).split()
    assert verdict[:2] == ["verdict", "poor"]
    assert "--vectors" in " ".join(verdict)
    config = json.loads(pair2vec("info", tmp_path / "model", "--json").stdout)
    assert config["recipe"]["training"]["batch"] == 64
    assert config["triples"] == 20 * 64
    assert config["vectors"] is None
    assert config["corpus"]["text_tokens"] == config["corpus"]["tokens"]
    metrics = (tmp_path / "model" / "training" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in metrics] == [5, 10, 15, 20]
    again = pair2vec("train", world, "--out", tmp_path / "model", *SMALL, steps)
    assert_fails(again, 2, "already holds a model", "--overwrite")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_a_checkpoint_and_says_how_to_resume(
    world: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "model"
    command = [sys.executable, "-m", "pair2vec", "train", str(world), "--out", str(out), *SMALL]
    command += ["--set=training.epochs=3"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (out / "training" / "metrics.jsonl").exists():
        time.sleep(0.02)
    process.send_signal(number)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert list((out / "training").glob("step-*.safetensors"))
    assert f"resume with: pair2vec train {world} --out {out} --resume" in messages
    assert not (out / "config.json").exists()
    resumed = pair2vec("train", world, "--out", out, "--resume", "--device=cpu")
    assert resumed.returncode == 0, resumed.stderr
    assert (out / "config.json").exists()


def test_train_goes_on_from_a_model(world: Path, tmp_path: Path) -> None:
    steps = ["--set=training.steps=10", "--device=cpu"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert pair2vec("train", world, "--out", first, *SMALL, *steps).returncode == 0
    going_on: list[str | Path] = ["train", world, "--from", first, "--out", second]
    batch = "--set=training.batch=64"
    done = pair2vec(*going_on, *steps, batch)
    assert done.returncode == 0, done.stderr
    assert "0 new words occur 5 times or more" in done.stderr
    assert "continued from" in done.stdout
    config = json.loads(pair2vec("info", second, "--json").stdout)
    assert config["continued"]["training"]["batch"] == 64
    wrong = pair2vec(*going_on, "--recipe=fast", "--overwrite")
    assert_fails(wrong, 2, "pair.layers=4 where the model", "leave out --recipe")
    unknown = pair2vec("train", world, "--from", "wikipeda", "--out", tmp_path / "third")
    assert_fails(unknown, 2, "wikipeda: no such folder, and no model of this name")


def test_a_full_disk_is_a_failure_that_says_how_to_resume(world: Path, tmp_path: Path) -> None:
    arguments = ["train", str(world), "--out", str(tmp_path / "model"), *SMALL]
    arguments += ["--set=training.steps=20"]
    failed = pair2vec_process(*arguments, largest_file=5_000)
    assert_fails(failed, 1, "model: File too large; make room and", "same command with --resume")
    assert not list((tmp_path / "model").rglob("*.partial"))
    resumed = pair2vec(*arguments, "--resume")
    assert resumed.returncode == 0, resumed.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set=training.bach=3"], "no setting training.bach; did you mean training.batch?"),
        (["--set=training.batch=many"], "training.batch is 'many'; it must be a whole number"),
        (["--set=training.seed=-1"], "training.seed is -1; it must be from 0 to 4,294,967,295"),
        (["--set=training.threads=-3"], "training.threads is -3; it must be from 0 to 1,024"),
        (["--set=training.rate=nan"], "training.rate is nan; it must be from 0 to 10"),
        (["--recipe=papers"], "no recipe 'papers'; did you mean paper?"),
        (["--device=gpu"], "no device 'gpu'"),
        (["--precision=int4"], "it must be one of float32, float16, int8"),
        (["--vectors=no.vec"], "no.vec: no such file"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(
    world: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    done = pair2vec("train", world, "--out", tmp_path / "model", *options)
    assert_fails(done, 2, message)
    assert not (tmp_path / "model").exists()


def test_a_config_that_is_not_utf8_is_one_clear_line(world: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes("# schön\n".encode("latin-1"))
    config = ("--config", tmp_path / "latin.toml")
    done = pair2vec("train", world, "--out", tmp_path / "model", *config)
    assert_fails(done, 2, "latin.toml: not UTF-8 (byte 0xf6 at 5); save it as UTF-8 text")


def test_vectors_of_an_impossible_seed_are_refused(world: Path, tmp_path: Path) -> None:
    done = pair2vec("vectors", world, "--out", tmp_path / "w.vec", "--seed=-1")
    assert_fails(done, 2, "seed is -1; it must be from 0 to 4,294,967,295")


def test_vectors_are_made_and_never_overwritten_unasked(world: Path, tmp_path: Path) -> None:
    arguments = ("vectors", world, "--out", tmp_path / "w.vec", "--dimension=4", "--epochs=1")
    assert pair2vec(*arguments).returncode == 0
    words, dimension = (tmp_path / "w.vec").read_text().split("\n", 1)[0].split()
    assert (int(words), int(dimension)) == (len(open_corpus(world).vocabulary) - 4, 4)
    assert_fails(pair2vec(*arguments), 2, "w.vec: is there already")


def test_a_terminal_shows_every_term_of_the_loss() -> None:
    screen, file = console(terminal=True)
    with show_progress(TrainingView(), screen) as report:
        report(TrainingProgress(100, 400, METRICS))
        report(TrainingProgress(100, 400, {"validation_loss": 1.5}))
    shown = file.getvalue()
    for part in (
        "100/400",
        "1.2500",
        "observed 0.500",
        "typed_x 0.250",
        "40.0%",
        "12,345",
        "1.5000",
    ):
        assert part in shown


def test_elsewhere_training_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressView, "seconds_between_lines", 0.0)
    screen, file = console(terminal=False)
    with show_progress(TrainingView(), screen) as report:
        report(TrainingProgress(100, 400, METRICS))
        report(TrainingProgress(100, 400, {"validation_loss": 1.5}))
    first, second = file.getvalue().splitlines()
    assert first.startswith("step 100 of 400: loss 1.2500, 40% of positives above ½, rate 1.0e-02")
    assert second == "step 100 of 400: validation loss 1.5000"


def test_before_there_is_a_loss_nothing_is_shown_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressView, "seconds_between_lines", 0.0)
    for terminal in (True, False):
        screen, file = console(terminal=terminal)
        with show_progress(TrainingView(), screen) as report:
            report(TrainingProgress(1, 400, {"rate": 0.1}, 754.0))
        assert "nan" not in file.getvalue()
        assert "13 min left" in file.getvalue()


def test_lines_have_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressView, "seconds_between_lines", 0.0)
    screen, file = console(terminal=False)
    with show_progress(TrainingView(), screen) as report:
        report(TrainingProgress(100, 400, METRICS, 45.0))
    assert file.getvalue().startswith("step 100 of 400, 45 s left: loss 1.2500, 40%")


def test_vectors_show_their_pace_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for terminal in (True, False):
        screen, file = console(terminal=terminal)
        with show_progress(VectorsView(epochs=5), screen) as report:
            for words in (1_000, 21_000, 50_000):
                report(VectorsProgress(words, 100_000))
                now[0] += 10
        shown = "2,450 words/s, 20 s left"
        assert shown in file.getvalue()
    first, _, last = file.getvalue().splitlines()
    assert first == "vectors: 1%, epoch 1 of 5"
    assert last == f"vectors: 50%, epoch 3 of 5, {shown}"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (89, "89 s"),
        (95, "2 min"),
        (5_900, "98 min"),
        (7_860, "2 h 11 min"),
        (400_000, "5 days"),
    ],
)
def test_a_duration_is_rounded_as_a_person_would(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_lines_of_a_log_become_fewer_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    screen, file = console(terminal=False)
    with show_progress(TrainingView(), screen) as report:
        for _ in range(3_600):
            report(TrainingProgress(int(now[0]), 10**6, METRICS))
            now[0] += 1
    steps = [int(line.split()[1].replace(",", "")) for line in file.getvalue().splitlines()]
    assert steps[:4] == [0, 5, 10, 15]
    assert steps[-1] - steps[-2] == 60
    assert len(steps) < 100
