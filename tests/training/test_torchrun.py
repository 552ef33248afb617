"""The command on several ranks: killed ranks, ranks that hang, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from tests.training.rank_processes import environments, start_command
from tests.training.small_run import metrics_of

from pair2vec.model.folder import load_model
from pair2vec.text.corpus import Corpus

CONFIG = """
triples = {subsampling = "pair", threshold = 3e-9, chunk_blocks = 7, held_out = 0.1}
pair = {dimension = 16, layers = 2}
context = {dimension = 16, hidden = 8}
negatives = {typed = 0}

[training]
batch = 128
epochs = 10_000
report_steps = 20
validation_steps = 100_000
checkpoint_steps = 20
rate = 1e-3
warmup_steps = 5
"""
LONG = 100_000
"""Steps that no test waits for."""
PATIENCE = 50.0
"""Seconds for a run to end when a rank is lost: within a minute, as is promised."""
START_PATIENCE = 180.0
"""Seconds for ranks to start and to train, on a busy machine."""


@pytest.fixture
def words(corpus: Corpus, tmp_path: Path) -> Callable[[int], list[str]]:
    """The words of the command behind ``pair2vec``, for so many steps."""
    config = tmp_path / "small.toml"
    config.write_text(CONFIG)
    common = ["train", corpus.folder, "--out", tmp_path / "model", "--config", config]
    return lambda steps: [
        *map(str, common),
        *("--device", "cpu", "--set", f"training.steps={steps}"),
    ]


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + START_PATIENCE
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def steps_done(out: Path) -> int:
    names = [path.stem for path in (out / "training").glob("step-*.safetensors")]
    return max((int(name.removeprefix("step-")) for name in names), default=0)


def start_two(
    tmp_path: Path, words: list[str], seconds: float = 45
) -> tuple[list[ForkServerProcess], list[Path]]:
    """Two ranks, and their logs."""
    logs = [tmp_path / f"rank-{rank}.log" for rank in range(2)]
    starts = zip(environments(2, seconds), logs, strict=True)
    return [start_command(environment, log, *words) for environment, log in starts], logs


def last_line(log: Path) -> str:
    """Of a rank's log, which has no traceback."""
    text = log.read_text()
    assert "Traceback" not in text
    return text.strip().splitlines()[-1]


def rank_process(launcher: int, rank: int) -> int | None:
    """The process that torchrun started for a rank."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    for child in children:
        variables = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        if f"RANK={rank}".encode() in variables:
            return int(child)
    return None


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_torchrun_resumes_from_the_last_checkpoint_when_a_rank_is_killed(
    tmp_path: Path, words: Callable[[int], list[str]]
) -> None:
    out, log = tmp_path / "model", tmp_path / "torchrun.log"
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts", "1"]
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [sys.executable, *launch, "-m", "pair2vec", *words(160)],
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ) as launcher,
    ):
        wait_until(lambda: steps_done(out) >= 40)
        killed = rank_process(launcher.pid, 1)
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        assert launcher.wait(PATIENCE) == 0, log.read_text()
    (again,) = [line for line in log.read_text().splitlines() if "resumed from step" in line]
    assert 40 <= int(again.split()[-1]) < 160
    assert load_model(out).config["triples"] == 160 * 128
    assert [line["step"] for line in metrics_of(out)] == list(range(20, 161, 20))


def test_a_rank_that_stops_answering_ends_the_run_with_a_line(
    tmp_path: Path, words: Callable[[int], list[str]]
) -> None:
    (first, second), (log, _) = start_two(tmp_path, words(LONG), seconds=8)
    wait_until(lambda: steps_done(tmp_path / "model") >= 20)
    assert second.pid is not None
    os.kill(second.pid, signal.SIGSTOP)
    first.join(PATIENCE)
    second.kill()
    assert first.exitcode == 1
    assert last_line(log) == (
        "pair2vec: rank 0 of 2 waited 8 s for a rank that does not answer; "
        "resume with --resume, or let torchrun do so: --max-restarts 3"
    )


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_whose_peer_never_joins_ends_with_a_line(
    tmp_path: Path, words: Callable[[int], list[str]], rank: int
) -> None:
    environment, log = environments(2, seconds=1)[rank], tmp_path / "rank.log"
    process = start_command(environment, log, *words(LONG))
    process.join(PATIENCE)
    assert process.exitcode == 1
    assert last_line(log) == (
        f"pair2vec: rank {rank} of 2 did not meet all the others at "
        f"127.0.0.1:{environment['MASTER_PORT']} within 1 s; "
        "see that 2 processes are started and can reach it"
    )
    assert not (tmp_path / "model").exists()


def test_ctrl_c_stops_all_ranks_with_a_checkpoint_to_resume_from(
    tmp_path: Path, words: Callable[[int], list[str]]
) -> None:
    out = tmp_path / "model"
    ranks, (log, silent) = start_two(tmp_path, words(LONG))
    wait_until(lambda: steps_done(out) >= 20)
    for rank in ranks:
        assert rank.pid is not None
        os.kill(rank.pid, signal.SIGINT)
    for rank in ranks:
        rank.join(PATIENCE)
        assert rank.exitcode == 130
    stopped = steps_done(out)
    assert stopped > 20
    assert last_line(log).startswith(
        "pair2vec: stopped with a checkpoint; resume with: pair2vec tr"
    )
    assert not silent.read_text()
    ranks, (log, _) = start_two(tmp_path, [*words(LONG), "--resume"])
    wait_until(lambda: steps_done(out) > stopped)
    for rank in ranks:
        rank.terminate()
        rank.join()
    assert f"resumed from step {stopped}" in log.read_text()
