"""A process that runs the steps of a page one after the other, as one reader would.

Python snippets share a namespace. A `pair2vec` command runs in the same process, through the
function that the console script calls: starting Python and importing numpy or torch for each would
take most of the time.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

_PROGRAM = """
import contextlib, io, json, os, sys, traceback, warnings
requests, answers, namespace = sys.stdin, sys.stdout, {"__name__": "__main__"}
sys.stdin = open(os.devnull)
# Commands take it for a machine with one core: here, workers would only cost their start.
os.sched_getaffinity = lambda process: {0}

def run_snippet(code):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, "snippet", "exec"), namespace)

def run_command(arguments):
    from pair2vec.cli.main import main
    sys.argv = ["pair2vec", *arguments]
    main()

for line in requests:
    kind, content = json.loads(line)
    output, messages, error = io.StringIO(), io.StringIO(), ""
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(messages):
        try:
            {"python": run_snippet, "command": run_command}[kind](content)
        except SystemExit as end:
            error = f"exit code {end.code}\\n{messages.getvalue()}" if end.code else ""
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps([output.getvalue(), error]), file=answers, flush=True)
"""


class PageSession:
    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
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

    def run_python(self, code: str) -> tuple[str, str]:
        """What the code prints, and its traceback, which is empty if all went well."""
        return self._run("python", code)

    def run_pair2vec(self, arguments: list[str]) -> tuple[str, str]:
        """What the command prints on standard output, and why it failed, if it did."""
        return self._run("command", arguments)

    def _run(self, kind: str, content: object) -> tuple[str, str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([kind, content]), file=self._process.stdin, flush=True)
        output, error = json.loads(self._process.stdout.readline())
        return str(output), str(error)


def pair2vec_arguments(command: str) -> list[str] | None:
    """The arguments of a `pair2vec` command of which a shell would only split the words.

    None for other programs, and where a shell has more to do: pipes, redirections, variables.
    """
    line = command.replace("\\\n", " ")
    unquoted = re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", line)
    if not line.startswith("pair2vec ") or re.search(r"[^\w\s./:=,+-]", unquoted):
        return None
    return shlex.split(line)[1:]
