"""The command as a user runs it, in a process of its own."""

import os
import resource
import subprocess
import sys
from pathlib import Path


def pair2vec(
    *arguments: str | Path, stdin: bytes = b"", largest_file: int | None = None
) -> "subprocess.CompletedProcess[str]":
    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    done = subprocess.run(
        [sys.executable, "-m", "pair2vec", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        preexec_fn=limit,
        env={**os.environ, "COLUMNS": "200"},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def assert_fails(done: "subprocess.CompletedProcess[str]", code: int, *fragments: str) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("pair2vec: ")
    for fragment in fragments:
        assert fragment in last
