"""Training from a corpus to a model, which can be stopped, killed and resumed at any moment."""

import json
import random
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from math import log
from pathlib import Path

import numpy as np
import pytest
from tests.training.small_run import after, assert_identical, metrics_of, run, small

from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.text.corpus import Corpus
from pair2vec.training.checkpoint import checkpoint_path, last_checkpoint
from pair2vec.training.recipes import Recipe
from pair2vec.training.train import Interrupted, begun_recipe
from pair2vec.training.trainer import TrainingProgress


@pytest.fixture(scope="module")
def reports() -> list[TrainingProgress]:
    """Of the run that made `model`."""
    return []


@pytest.fixture(scope="module")
def model(
    corpus: Corpus, reports: list[TrainingProgress], tmp_path_factory: pytest.TempPathFactory
) -> SavedModel:
    """Trained without interruption."""
    out = tmp_path_factory.mktemp("models") / "model"
    return run(corpus, out, small(), report=reports.append)


def test_the_loss_falls(model: SavedModel, reports: list[TrainingProgress]) -> None:
    losses = [progress.metrics["loss"] for progress in reports if "loss" in progress.metrics]
    validations = [
        progress.metrics["validation_loss"]
        for progress in reports
        if "validation_loss" in progress.metrics
    ]
    undecided = (1 + 2 + 3 + 3) * log(2)
    assert len(losses) == len(validations) == 4
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.8 * undecided
    assert validations[-1] < 0.8 * undecided
    assert model.config["metrics"]["validation_loss"] == validations[-1]
    assert model.config["metrics"]["loss"] == losses[-1]


def test_a_report_has_the_progress_of_the_run(
    model: SavedModel, reports: list[TrainingProgress]
) -> None:
    assert [progress.step for progress in reports] == [10, 10, 20, 20, 30, 30, 40, 40]
    assert {progress.total_steps for progress in reports} == {40}
    last = reports[-2].metrics
    assert (last["step"], last["triples"], last["rate"]) == (40, 40 * 128, 0.0)
    # The run goes through more than one epoch, so that resuming it has to, too.
    assert {progress.metrics["epoch"] for progress in reports[::2]} >= {0, 1}
    written = metrics_of(model.folder)
    assert [line["step"] for line in written] == [10, 10, 20, 20, 30, 30, 40, 40]
    assert written[-1]["validation_loss"] == model.config["metrics"]["validation_loss"]


def test_a_model_records_its_corpus_and_recipe(model: SavedModel, corpus: Corpus) -> None:
    assert model.config["recipe"] == asdict(small())
    assert model.config["corpus"]["fingerprint"] == corpus.manifest.fingerprint
    assert model.config["corpus"]["sources"] == ["text.txt"]
    assert model.config["triples"] == 40 * 128
    assert model.vocabulary.words == corpus.vocabulary.words
    assert begun_recipe(model.folder) == small()
    assert begun_recipe(model.folder / "elsewhere") is None


def test_two_runs_give_one_model_and_another_seed_another(
    corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    assert_identical(run(corpus, tmp_path / "again", small()), model)
    other = run(corpus, tmp_path / "other", small(seed=1))
    assert not np.array_equal(other.array("pair.words"), model.array("pair.words"))


@pytest.mark.parametrize("steps", [1, 10, 37])
def test_a_run_stopped_and_resumed_gives_the_same_model_to_the_bit(
    corpus: Corpus, model: SavedModel, tmp_path: Path, steps: int
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, small(), should_stop=after(steps))
    checkpoint = last_checkpoint(out / "training")
    assert checkpoint is not None
    assert checkpoint.step == steps
    with pytest.raises(InputError, match="not a complete model"):
        load_model(out)
    assert_identical(run(corpus, out, small(), resume=True), model)


@pytest.mark.parametrize(
    "changes",
    [
        # So slow that the loss does not fall from each step to the next: the rate shrinks early.
        {"optimiser": "sgd", "schedule": "plateau", "plateau_steps": 1, "rate": 1e-4, "steps": 20},
        {"optimiser": "adagrad", "schedule": "constant", "steps": 0, "epochs": 1},
    ],
    ids=["sgd", "adagrad"],
)
def test_every_optimiser_and_schedule_can_be_resumed(
    corpus: Corpus, tmp_path: Path, changes: dict[str, object]
) -> None:
    recipe = small(**changes)
    whole = run(corpus, tmp_path / "whole", recipe)
    for steps in (6, 6):
        with pytest.raises(Interrupted):
            resume = (tmp_path / "resumed").exists()
            run(corpus, tmp_path / "resumed", recipe, should_stop=after(steps), resume=resume)
    assert_identical(run(corpus, tmp_path / "resumed", recipe, resume=True), whole)


def test_resuming_a_finished_run_publishes_the_same_model(
    corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    shutil.copytree(model.folder, tmp_path / "model")
    assert_identical(run(corpus, tmp_path / "model", small(), resume=True), model)


def test_resuming_a_run_that_was_not_begun_starts_it(
    corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    assert_identical(run(corpus, tmp_path / "model", small(), resume=True), model)


def test_a_truncated_newest_checkpoint_costs_only_its_own_steps(
    corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, small(), should_stop=after(25))
    newest = checkpoint_path(out / "training", 25)
    newest.write_bytes(newest.read_bytes()[:-1])
    assert_identical(run(corpus, out, small(), resume=True), model)


def damage(path: Path, offset: int, length: int) -> None:
    """Flip a bit, or zero a block, of a file from so far before its end."""
    content = bytearray(path.read_bytes())
    start = len(content) - offset
    content[start : start + length] = bytes(length) if length > 1 else [content[start] ^ 1]
    path.write_bytes(content)


@pytest.mark.parametrize(("offset", "length"), [(10, 1), (5_000, 1), (8_192, 4_096)])
def test_a_damaged_newest_checkpoint_costs_only_its_own_steps(
    corpus: Corpus,
    model: SavedModel,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    offset: int,
    length: int,
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, small(), should_stop=after(25))
    newest = checkpoint_path(out / "training", 25)
    damage(newest, offset, length)
    assert_identical(run(corpus, out, small(), resume=True), model)
    assert f"{newest}: is damaged; the checkpoint of step 20 is taken" in caplog.text


def test_without_a_checkpoint_that_can_be_read_a_run_is_not_resumed(
    corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, small(), should_stop=after(25))
    for path in (out / "training").glob("step-*.safetensors"):
        damage(path, 100, 1)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(
        InputError, match=r"all checkpoints are damaged.*start over with --overwrite"
    ):
        run(corpus, out, small(), resume=True)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert_identical(run(corpus, out, small(), overwrite=True), model)


SCRIPT = """
import json
import sys
from pathlib import Path
import torch
from pair2vec.text.corpus import open_corpus
from pair2vec.training.recipes import recipe_from_json
from pair2vec.training.train import train

torch.set_num_threads(1)
corpus, out, recipe = sys.argv[1:]
recipe = recipe_from_json(json.loads(recipe))
train(open_corpus(corpus), Path(out), recipe, device="cpu", resume=True)
"""
LONG = 90


def long_recipe() -> Recipe:
    """Takes long enough to be killed on the way."""
    return small(steps=LONG, epochs=100, checkpoint_steps=3, report_steps=3, validation_steps=5)


@pytest.fixture(scope="module")
def long_model(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    return run(corpus, tmp_path_factory.mktemp("long") / "model", long_recipe())


def steps_done(out: Path) -> int:
    names = [path.stem for path in (out / "training").glob("step-*.safetensors")]
    return max((int(name.removeprefix("step-")) for name in names), default=0)


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_random_moments_and_resumed_the_model_is_the_same(
    corpus: Corpus, long_model: SavedModel, tmp_path: Path, seed: int
) -> None:
    out, script = tmp_path / "model", tmp_path / "run_train.py"
    script.write_text(SCRIPT)
    recipe = json.dumps(asdict(long_recipe()))
    command = [sys.executable, str(script), str(corpus.folder), str(out), recipe]
    draw = random.Random(seed)
    # Early, half-way, and when all steps are done and the model is being written.
    for steps in (draw.randint(0, 20), draw.randint(30, 70), LONG):
        with subprocess.Popen(command) as process:
            while steps_done(out) < steps and process.poll() is None:
                time.sleep(0.002)
            time.sleep(draw.uniform(0, 0.02))
            finished = process.poll() is not None
            process.kill()
        assert not finished or steps == LONG
    assert_identical(run(corpus, out, long_recipe(), resume=True), long_model)


def test_a_folder_that_is_taken_is_refused(
    corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    shutil.copytree(model.folder, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(
        UsageError, match="already holds a model; give another --out, or --overwrite"
    ):
        run(corpus, out, small())
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    shutil.rmtree(out / "training")
    with pytest.raises(
        UsageError, match="already holds a model; give another --out, or --overwrite"
    ):
        run(corpus, out, small())


def test_overwriting_starts_from_scratch(corpus: Corpus, model: SavedModel, tmp_path: Path) -> None:
    out = tmp_path / "model"
    run(corpus, out, small(seed=1, steps=11))
    assert_identical(run(corpus, out, small(), overwrite=True), model)


def test_a_run_is_resumed_only_with_its_own_settings(
    corpus: Corpus, vectors: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, small(), should_stop=after(1))
    for recipe, path, changed in ((small(seed=1), None, "recipe"), (small(), vectors, "vectors")):
        with pytest.raises(UsageError, match=f"was begun with another {changed}; resume with the"):
            run(corpus, out, recipe, vectors=path, resume=True)


def test_a_run_begun_before_there_was_a_step_mode_is_resumed(
    corpus: Corpus, model: SavedModel, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        run(corpus, out, small(), should_stop=after(10))
    job = json.loads((out / "training" / "job.json").read_text())
    del job["recipe"]["training"]["step_mode"], job["checksums"]
    (out / "training" / "job.json").write_text(json.dumps(job))
    assert_identical(run(corpus, out, small(), resume=True), model)


def test_patience_ends_a_run_that_no_longer_gets_better(corpus: Corpus, tmp_path: Path) -> None:
    """A rate of zero: the validation loss is the same every time, so the second is not lower."""
    recipe = small(rate=0.0, patience=2, validation_steps=5)
    assert run(corpus, tmp_path / "model", recipe).config["triples"] == 15 * 128
    with pytest.raises(Interrupted):
        run(corpus, tmp_path / "resumed", recipe, should_stop=after(12))
    resumed = run(corpus, tmp_path / "resumed", recipe, resume=True)
    assert resumed.config["triples"] == 15 * 128
