"""``pair2vec teach`` as a user runs it: offline, from labels to a model that relates words."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.command import assert_fails, pair2vec
from tests.teaching.small_world import families
from tests.teaching.world_inputs import SETTINGS, WorldInputs

import pair2vec as api
from pair2vec.errors import STOPPED
from pair2vec.model.folder import load_model

STEPS = 120


def arguments(inputs: WorldInputs, out: Path, labels: Path | None = None) -> list[str]:
    return [
        *("teach", str(inputs.corpus.folder), "--out", str(out)),
        *("--vectors", str(inputs.vectors), "--wordnet", str(inputs.wordnet.folder)),
        *("--language-model", str(inputs.language_model)),
        *(["--labels", str(labels)] if labels else []),
        *(*SETTINGS, f"--set=model.training.steps={STEPS}"),
    ]


@pytest.fixture(scope="module")
def model(inputs: WorldInputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Taught without interruption, its labels beside it."""
    out = tmp_path_factory.mktemp("taught") / "model"
    done = pair2vec(*arguments(inputs, out))
    assert done.returncode == 0, done.stderr
    assert "fine-tuning steps: " in done.stderr
    assert f"step 1 of {STEPS}: loss" in done.stderr
    assert done.stdout.startswith(pair2vec("info", out).stdout)
    return out


def test_a_taught_model_relates_words(model: Path) -> None:
    loaded = api.load(model)
    family = families()[0]
    answer = loaded.relate(family.members[0], family.kind)
    assert answer
    done = pair2vec("relate", family.members[0], family.kind, "--model", model)
    assert done.returncode == 0, done.stderr
    names = loaded.saved.config["relations"]["names"]
    (probabilities,) = loaded.relations().predict_proba([(family.members[0], family.kind)])
    assert len(probabilities) == len(names)
    assert probabilities.sum() == pytest.approx(1, abs=1e-4)


def test_the_model_says_that_it_was_taught_and_by_whom(model: Path) -> None:
    labels = json.loads((model.with_name("model.labels") / "labels.json").read_text())
    teaching = load_model(model).config["teaching"]
    assert teaching["language_model"] == "tiny"
    assert teaching["candidates"] == labels["candidates"]
    assert teaching["weights"] == labels["weights"]
    assert teaching["labelled"] == labels["labelled"]
    assert teaching["labels"]["teacher"]["epochs"] == 1
    assert teaching["relations"]["hidden"] == 8
    card = (model / "README.md").read_text()
    assert "| taught by | WordNet and tiny |" in card
    assert f"| pairs labelled by teachers | {labels['candidates']:,} |" in card
    assert "WordNet and tiny" in pair2vec("info", model).stdout


def test_a_model_or_labels_are_not_replaced_unasked(
    inputs: WorldInputs, model: Path, tmp_path: Path
) -> None:
    labels = model.with_name("model.labels")
    assert_fails(pair2vec(*arguments(inputs, model)), 2, "already holds a model", "--overwrite")
    other = pair2vec(*arguments(inputs, tmp_path / "m", labels), "--set=labels.seed=1")
    assert_fails(other, 2, "already holds labels")
    assert not (tmp_path / "m").exists()


def test_a_killed_run_resumed_gives_the_same_model_to_the_bit(
    inputs: WorldInputs, model: Path, tmp_path: Path
) -> None:
    out, labels = tmp_path / "model", tmp_path / "labels"
    shutil.copytree(model.with_name("model.labels"), labels)
    command = [sys.executable, "-m", "pair2vec", *arguments(inputs, out, labels)]
    process = subprocess.Popen(command, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    try:
        deadline = time.monotonic() + 60
        while not list(out.glob("training/step-*.safetensors")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.002)
    finally:
        process.kill()
        process.wait()
    assert not (out / "config.json").exists()
    assert_fails(pair2vec(*arguments(inputs, out, labels)), 2, "--resume continues it")
    other = shutil.copytree(labels, tmp_path / "other")
    (other / "labels.json").write_text((labels / "labels.json").read_text() + " ")
    refused = pair2vec(*arguments(inputs, out, other), "--resume")
    assert_fails(refused, 2, "was begun with another labels; resume with the same")
    done = pair2vec(*arguments(inputs, out, labels), "--resume")
    assert done.returncode == 0, done.stderr
    actual, expected = load_model(out), load_model(model)
    assert actual.names == expected.names
    for name in expected.names:
        assert np.array_equal(actual.array(name), expected.array(name)), name
    assert actual.config["relations"] == expected.config["relations"]


def test_a_published_model_learns_from_the_labels_alone(
    inputs: WorldInputs, model: Path, tmp_path: Path
) -> None:
    command = [
        word for word in arguments(inputs, tmp_path / "model") if not word.startswith("--vec")
    ]
    command.remove(str(inputs.vectors))
    command += ["--from", str(model), "--set=finetune.steps=30"]
    done = pair2vec(*command)
    assert done.returncode == 0, done.stderr
    assert "\nsteps: 1 of 30" in done.stderr
    assert done.stdout.startswith(pair2vec("info", tmp_path / "model").stdout)
    assert load_model(tmp_path / "model").config["finetuned"]["fingerprint"] == (
        load_model(model).fingerprint
    )
    family = families()[0]
    done = pair2vec("relate", family.members[0], family.kind, "--model", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    neither = [word for word in command if word not in ("--from", str(model))]
    assert_fails(pair2vec(*neither), 2, "give the --vectors to start from, or a model")


def test_sigterm_while_pairs_are_labelled_ends_it_with_one_line(
    inputs: WorldInputs, model: Path, tmp_path: Path
) -> None:
    out, labels = tmp_path / "model", tmp_path / "labels"
    command = [sys.executable, "-m", "pair2vec", *arguments(inputs, out, labels)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}
    )
    deadline = time.monotonic() + 60
    while not (labels / "job.json").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    process.terminate()
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert messages.splitlines()[-1] == f"pair2vec: {STOPPED}"
    assert "Traceback" not in messages


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--language-model", "nowhere"], 1, "nowhere: no such language model"),
        (["--vectors", "no.vec"], 1, "no.vec: no such file"),
        (["--thesaurus", "no.txt"], 2, "no.txt: no such file"),
        (["--dictionary", "no.index"], 1, "no.index: no such index of a dictionary"),
        (["--wordnet", "nowhere"], 1, "nowhere: no such folder; to have WordNet"),
        (["--set=labels.teacher.prompt=words"], 2, "needs {x}, and after it {y}"),
        (
            ["--set=relations.every=0"],
            2,
            "relations.every is 0; it must be from 1 to 1,000,000,000,000",
        ),
        (["--set=labels.candidates.nearst=3"], 2, "did you mean labels.candidates.nearest?"),
    ],
)
def test_a_wrong_option_is_one_clear_line(
    options: list[str], code: int, message: str, inputs: WorldInputs, tmp_path: Path
) -> None:
    done = pair2vec(*arguments(inputs, tmp_path / "model"), *options)
    assert_fails(done, code, message)
    assert not list(tmp_path.iterdir())
