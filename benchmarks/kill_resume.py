"""Kill training at random moments, resume it, and compare the model with an undisturbed one's.

    python benchmarks/kill_resume.py [--kills N] [--seed N]

The text is the mini-world's. Every run is a process of its own; SIGKILL comes at any moment from
its start to its end. The models have to be identical to the bit, and so do their validation losses.
"""

import argparse
import datetime
import json
import logging
import multiprocessing
import os
import platform
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import numpy as np
import torch

from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.text.corpus import open_corpus
from pair2vec.text.prepare import prepare
from pair2vec.training.recipes import tiny, with_settings
from pair2vec.training.train import train
from pair2vec.version import __version__

STEPS = 200
RECIPE = with_settings(
    tiny(),
    {
        # Few triples an epoch, in many chunks: a run crosses both.
        "triples": {"threshold": 3e-9, "chunk_blocks": 7, "held_out": 0.1},
        "pair": {"dimension": 16, "layers": 2},
        "context": {"dimension": 16, "hidden": 8},
        "negatives": {"typed": 0},
        "training": {
            "batch": 128,
            "epochs": 1000,
            "steps": STEPS,
            "warmup_steps": 20,
            "rate": 0.01,
            # Each step leaves a line, which shows when the process was killed.
            "report_steps": 1,
            "validation_steps": 50,
            "checkpoint_steps": 20,
        },
    },
)


def main() -> None:
    """Print a line a kill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    print(
        f"{datetime.date.today()}, {platform.machine()}, {len(os.sched_getaffinity(0))} cores, "
        f"Python {platform.python_version()}, torch {torch.__version__}, pair2vec {__version__}"
    )
    # A new process then begins with torch already imported, and most moments fall into training.
    multiprocessing.set_forkserver_preload([train.__module__])
    with tempfile.TemporaryDirectory() as scratch:
        identical = sum(kill_and_resume(Path(scratch), arguments.kills, arguments.seed))
    print(f"{arguments.kills} kills, {identical} identical results")
    sys.exit(int(identical < arguments.kills))


def kill_and_resume(folder: Path, kills: int, seed: int) -> Iterator[bool]:
    """For each kill, whether the resumed run ends with the same model."""
    corpus = folder / "corpus"
    (folder / "text.txt").write_text(MiniWorld.create(0).text(3000))
    prepare([str(folder / "text.txt")], corpus)
    seconds, expected = train_undisturbed(corpus, folder / "undisturbed")
    print(f"undisturbed: {STEPS} steps in {seconds:.1f} s\n", flush=True)
    rng = random.Random(seed)
    for number in range(1, kills + 1):
        out = folder / f"killed-{number}"
        kill_at_random(corpus, out, seconds, rng)
        moment = f"killed {moment_of(out)}, resumed from {last_checkpoint_step(out)}"
        is_identical = resume(corpus, out) and same(load_model(out), expected)
        print(f"{number:3}  {moment:48}{'identical' if is_identical else 'DIFFERENT'}", flush=True)
        yield is_identical


def train_undisturbed(corpus: Path, out: Path) -> tuple[float, SavedModel]:
    """How long a run takes, of two, and its model; the first has the server to start as well."""
    for folder in (out.with_name("warm-up"), out):
        start = time.perf_counter()
        assert resume(corpus, folder), "the undisturbed run failed"
    return time.perf_counter() - start, load_model(out)


def start_training(corpus: Path, out: Path) -> ForkServerProcess:
    """Train, or resume, in a new process."""
    process = multiprocessing.get_context("forkserver").Process(
        target=_train, args=(corpus, out), daemon=True
    )
    process.start()
    return process


def _train(corpus: Path, out: Path) -> None:
    torch.set_num_threads(1)
    train(open_corpus(corpus), out, RECIPE, device="cpu", resume=True)


def resume(corpus: Path, out: Path) -> bool:
    """Train to the end; whether that went well."""
    process = start_training(corpus, out)
    process.join()
    return process.exitcode == 0


def kill_at_random(corpus: Path, out: Path, seconds: float, rng: random.Random) -> None:
    """Start a run and kill it; one that ends before is started again."""
    while True:
        process = start_training(corpus, out)
        wait_for_moment(process, out, seconds, rng)
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            return
        shutil.rmtree(out)


def wait_for_moment(
    process: ForkServerProcess, out: Path, seconds: float, rng: random.Random
) -> None:
    """Any moment of a run; one in five after its last step, since publishing a model is short."""
    if rng.random() < 0.8:
        process.join(rng.uniform(0, seconds))
        return
    while process.exitcode is None and last_checkpoint_step(out) < STEPS:
        time.sleep(0.001)
    process.join(rng.uniform(0, 0.03))


def moment_of(out: Path) -> str:
    """When a run was killed, in words."""
    metrics = out / "training" / "metrics.jsonl"
    # The last line may be half-written, and a line of a validation is no step.
    lines = metrics.read_text().split("\n")[:-1] if metrics.exists() else []
    step = max((json.loads(line)["step"] for line in lines), default=0)
    if step == STEPS:
        return "after the last step"
    return f"after step {step}" if step else "before the first step"


def last_checkpoint_step(out: Path) -> int:
    """0 where there is none."""
    names = [path.stem for path in (out / "training").glob("step-*.safetensors")]
    return max((int(name.removeprefix("step-")) for name in names), default=0)


def same(resumed: SavedModel, expected: SavedModel) -> bool:
    """Whether all arrays are, bit by bit, and the validation loss."""
    losses = [model.config["metrics"]["validation_loss"] for model in (resumed, expected)]
    return (
        losses[0] == losses[1]
        and resumed.names == expected.names
        and all(
            np.array_equal(
                resumed.array(name).view(np.uint32), expected.array(name).view(np.uint32)
            )
            for name in expected.names
        )
    )


if __name__ == "__main__":
    main()
