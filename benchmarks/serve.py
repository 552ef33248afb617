"""How `pair2vec serve` bears many clients at a time: speed, errors, memory.

    python benchmarks/serve.py [--clients 50] [--seconds 60] [--model NAME] [--question pair|...]

The command is started as a process of its own. Clients are connections that are kept alive; each
asks about two random words, waits for the answer, and asks again, or after a 503 waits for as long
as that says. The clients run on the same cores as the server, in one process of their own. Times
are those of questions that were taken on.
"""

import argparse
import asyncio
import itertools
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import machine
from pair2vec.api import load

FREQUENT = 5_000
"""Words are drawn from so many."""


class Answered(NamedTuple):
    """One question."""

    status: int
    seconds: float


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--question", choices=("pair", "score", "fill", "nearest"), default="pair")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    frequent = load(arguments.model).vocabulary.words[:FREQUENT]
    words = [word for word in frequent if word.isalpha()]
    print(machine.describe())
    with served(arguments.model) as (process, address):
        before = memory_mb(process.pid)
        load_run = ask_all(address, words, arguments)
        answers, middle = asyncio.run(with_memory(load_run, process.pid, arguments.seconds))
        print_answers(answers, arguments)
        after = memory_mb(process.pid)
        print(f"memory: {before:.0f} MB at first, {middle:.0f} half-way, {after:.0f} in the end")


@contextmanager
def served(model: str | None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, listening."""
    named = ["--model", model] if model else []
    command = [sys.executable, "-m", "pair2vec", "serve", "--port", "0", *named]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found, "the server did not start"
        try:
            yield process, found.group()
        finally:
            process.terminate()


def memory_mb(process: int) -> float:
    """What it has in memory now."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1e3


async def with_memory(
    load_run: Awaitable[list[Answered]], process: int, seconds: float
) -> tuple[list[Answered], float]:
    """All answers, and the memory half-way through."""
    task = asyncio.ensure_future(load_run)
    await asyncio.sleep(seconds / 2)
    middle = memory_mb(process)
    return await task, middle


async def ask_all(address: str, words: list[str], arguments: argparse.Namespace) -> list[Answered]:
    """By all clients, until the time is up."""
    end = time.perf_counter() + arguments.seconds
    clients = [
        ask(address, words, arguments.question, end, random.Random(number))
        for number in range(arguments.clients)
    ]
    return list(itertools.chain.from_iterable(await asyncio.gather(*clients)))


async def ask(
    address: str, words: list[str], question: str, end: float, draw: random.Random
) -> list[Answered]:
    """By one client."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    answers = []
    while (start := time.perf_counter()) < end:
        x, y = draw.sample(words, 2)
        asked = {"x": x, "y": y, "top": 5}
        if question in ("score", "fill"):
            asked = {"x": x, "pattern": "X and Y", **({"y": y} if question == "score" else {})}
        line = f"GET /api/{question}?{urlencode(asked)} HTTP/1.1\r\nHost: {place.hostname}\r\n\r\n"
        writer.write(line.encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
        status = int(head.split()[1])
        answers.append(Answered(status, time.perf_counter() - start))
        if status == 503:
            await asyncio.sleep(float(head.partition("retry-after: ")[2].split()[0]))
    writer.close()
    return answers


def print_answers(answers: list[Answered], arguments: argparse.Namespace) -> None:
    """How many of each status, and the times of those that were taken on."""
    counts = Counter(answer.status for answer in answers)
    times = sorted(answer.seconds for answer in answers if answer.status == 200)
    print(
        f"{arguments.clients} clients for {arguments.seconds:g} s ask for /api/"
        f"{arguments.question}: " + ", ".join(f"{n:,} × {status}" for status, n in counts.items())
    )
    if times:
        shown = {"median": 0.5, "p95": 0.95, "p99": 0.99, "slowest": 1.0}
        parts = [
            f"{name} {1e3 * times[min(int(share * len(times)), len(times) - 1)]:.0f} ms"
            for name, share in shown.items()
        ]
        print(f"{len(times) / arguments.seconds:.0f} answers a second; {', '.join(parts)}")


if __name__ == "__main__":
    main()
