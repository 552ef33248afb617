"""The command as a user runs it: in this process, or where that matters in one of its own."""

import io
import logging
import os
import resource
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from pair2vec.cli.main import main

_COLUMNS = {"COLUMNS": "200"}


def pair2vec(*arguments: str | Path, stdin: bytes = b"") -> "subprocess.CompletedProcess[str]":
    """Run a command here, which saves the start of a process and its imports."""
    command = ["pair2vec", *map(str, arguments)]
    written = [io.BytesIO(), io.BytesIO()]
    streams = [io.TextIOWrapper(part, encoding="utf-8", newline="") for part in written]
    root = logging.getLogger()
    handlers = root.handlers[:]
    with (
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
        patch.object(sys, "argv", command),
        patch.dict(os.environ, _COLUMNS),
    ):
        # As in a new process: pytest's handlers would keep the command from adding its own.
        root.handlers.clear()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            root.handlers[:] = handlers
    for stream in streams:
        stream.flush()
    stdout, stderr = (part.getvalue().decode() for part in written)
    return subprocess.CompletedProcess(command, code, stdout, stderr)


def pair2vec_process(
    *arguments: str | Path, stdin: bytes = b"", largest_file: int | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own, in which files may be limited in size."""

    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    done = subprocess.run(
        [sys.executable, "-m", "pair2vec", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        preexec_fn=limit,
        env={**os.environ, **_COLUMNS},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


@contextmanager
def writing_process(path: Path) -> Iterator[None]:
    """Another process that writes to a folder or file, as far as locks are concerned."""
    script = (
        "import sys; from pathlib import Path; from pair2vec.runtime.jobs import exclusive_lock\n"
        "with exclusive_lock(Path(sys.argv[1])): print(flush=True), sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"\n"
        yield
        process.communicate()


def assert_fails(done: "subprocess.CompletedProcess[str]", code: int, *fragments: str) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("pair2vec: ")
    for fragment in fragments:
        assert fragment in last
