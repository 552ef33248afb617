"""`prepare` killed with SIGKILL at any moment: the next run completes the same corpus."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pair2vec.errors import InputError
from pair2vec.text.corpus import open_corpus
from pair2vec.text.prepare import PrepareConfig, prepare

CONFIG = PrepareConfig(vocabulary=500, piece_bytes=30_000)
PIECES = 67
# The guard, because worker processes import the script again.
SCRIPT = f"""
import sys
from pair2vec.text.prepare import PrepareConfig, prepare
if __name__ == "__main__":
    prepare([sys.argv[1]], sys.argv[2], {CONFIG!r}, workers=2)
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(1)
    words = [f"w{int(draw.paretovariate(0.7))}" for _ in range(600_000)]
    lines = (" ".join(words[start : start + 15]) for start in range(0, len(words), 15))
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(".\n".join(lines))
    return path


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("script") / "run_prepare.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def expected(text: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("expected") / "corpus"
    prepare([str(text)], out, CONFIG)
    return contents(out)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def start(script: Path, text: Path, out: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, str(script), str(text), str(out)]
    return subprocess.Popen(command, start_new_session=True)


def group_is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for_pieces(count: int, out: Path, process: "subprocess.Popen[bytes]") -> None:
    while len(list(out.glob("pieces/*.npz"))) < count and process.poll() is None:
        time.sleep(0.005)


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_random_moments_the_corpus_is_the_same(
    seed: int, script: Path, text: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "corpus"
    draw = random.Random(seed)
    # Early, half-way, and when all pieces are there and the corpus is being written.
    for pieces in (draw.randint(0, 20), draw.randint(20, PIECES - 1), PIECES):
        process = start(script, text, out)
        wait_for_pieces(pieces, out, process)
        time.sleep(draw.uniform(0, 0.1))
        finished = process.poll() is not None
        process.kill()
        process.wait()
        assert not finished or pieces == PIECES
        if out.exists() and not (out / "manifest.json").exists():
            with pytest.raises(InputError, match="not a complete corpus"):
                open_corpus(out)
    if (out / "job.json").exists():
        assert start(script, text, out).wait() == 0
    assert contents(out) == expected


def test_workers_end_with_a_killed_parent(script: Path, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    process = start(script, text, out)
    wait_for_pieces(1, out, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while not group_is_gone(process.pid):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.05)
