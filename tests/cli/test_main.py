"""The command line as a whole."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.command import pair2vec


@pytest.mark.parametrize("option", [("--vocab", "0"), ("--workers", "0"), ("--colour", "1"), ()])
def test_a_wrong_option_is_a_usage_error(text: Path, option: tuple[str, ...]) -> None:
    done = pair2vec("prepare", text, *option)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_version_is_printed() -> None:
    assert pair2vec("--version").stdout.startswith("pair2vec 0.")


def test_ctrl_c_ends_a_command_with_one_line(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    command = [sys.executable, "-m", "pair2vec", "prepare", "-", "--out", str(out)]
    # A shell that runs tests in the background has them ignore Ctrl-C, and their children, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    signal.signal(signal.SIGINT, before)
    while not out.exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert messages.splitlines()[-1] == (
        "pair2vec: stopped; prepare resumes when run again, train with --resume"
    )
    assert "Traceback" not in messages
