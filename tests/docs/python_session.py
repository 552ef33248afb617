"""A Python process that runs snippets one after the other, in one namespace."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

_PROGRAM = """
import contextlib, io, json, sys, traceback
answers, namespace = sys.stdout, {"__name__": "__main__"}
for line in sys.stdin:
    output, error = io.StringIO(), ""
    with contextlib.redirect_stdout(output):
        try:
            exec(compile(json.loads(line), "snippet", "exec"), namespace)
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps([output.getvalue(), error]), file=answers, flush=True)
"""


class PythonSession:
    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _PROGRAM],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, code: str) -> tuple[str, str]:
        """What the code prints, and its traceback, which is empty if all went well."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(code), file=self._process.stdin, flush=True)
        printed, error = json.loads(self._process.stdout.readline())
        return str(printed), str(error)
