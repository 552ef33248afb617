"""Load test of `pair2vec serve` with many clients: throughput, latency, errors, memory.

    python benchmarks/serve.py [--clients 50] [--seconds 60] [--model NAME]
        [--questions pair mix]

`pair` is the cheapest kind of question; `mix` draws each from all kinds evenly, and is reported by
kind, too. For each, the command is started as a process of its own. Clients are keep-alive
connections; each sends a query about random words, waits for the response, and sends the next,
after a 503 not before its Retry-After. The clients run on the same cores as the server, in one
process of their own. Times are those of responses with status 200. Ends with exit code 1 if there
was anything but answers and 503.
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
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import machine
from pair2vec.api import load

FREQUENT = 5_000
"""Words are drawn from so many of the most frequent."""
MIX = "mix"
LOST = 0
"""In place of a status: the connection ended without a response."""

Query = dict[str, str | int]
QUERIES: dict[str, Callable[[str, str, str], Query]] = {
    "pair": lambda x, y, _: {"x": x, "y": y, "top": 5},
    "score": lambda x, y, _: {"x": x, "y": y, "pattern": "X and Y"},
    "fill": lambda x, *_: {"x": x, "pattern": "X and Y"},
    "analogy": lambda x, y, z: {"a": x, "b": y, "x": z},
    "nearest": lambda x, y, _: {"x": x, "y": y, "top": 5},
    "words": lambda x, *_: {"start": x[:3]},
    "relate": lambda x, y, _: {"x": x, "y": y},
    "neighbours": lambda x, *_: {"word": x},
}


class Timing(NamedTuple):
    kind: str
    status: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60, help="for each kind of question")
    parser.add_argument(
        "--questions", nargs="+", choices=(*QUERIES, MIX), default=["pair", MIX], metavar="KIND"
    )
    parser.add_argument("--model")
    arguments = parser.parse_args()
    frequent = load(arguments.model).vocabulary.words[:FREQUENT]
    words = [word for word in frequent if word.isalpha()]
    print(machine.describe())
    statuses: set[int] = set()
    for question in arguments.questions:
        with served(arguments.model) as (process, address):
            before = memory_mb(process.pid)
            load_run = run_clients(address, words, question, arguments)
            timings, middle = asyncio.run(with_memory(load_run, process.pid, arguments.seconds))
            after = memory_mb(process.pid)
        print_timings(timings, question, arguments)
        print(f"memory: {before:.0f} MB at first, {middle:.0f} half-way, {after:.0f} in the end")
        statuses |= {timing.status for timing in timings}
    if not statuses <= {200, 503}:
        sys.exit(f"there was more than answers and 503: {sorted(statuses)}")


@contextmanager
def served(model: str | None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    named = ["--model", model] if model else []
    command = [sys.executable, "-m", "pair2vec", "serve", "--port", "0", *named]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        url = re.search(r"http://\S+", process.stderr.readline())
        assert url, "the server did not start"
        try:
            yield process, url.group()
        finally:
            process.terminate()


def memory_mb(process: int) -> float:
    """Resident memory."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1e3


async def with_memory(
    load_run: Awaitable[list[Timing]], process: int, seconds: float
) -> tuple[list[Timing], float]:
    """All timings, and the memory half-way through."""
    task = asyncio.ensure_future(load_run)
    await asyncio.sleep(seconds / 2)
    middle = memory_mb(process)
    return await task, middle


async def run_clients(
    address: str, words: list[str], question: str, arguments: argparse.Namespace
) -> list[Timing]:
    end = time.perf_counter() + arguments.seconds
    kinds = [*QUERIES] if question == MIX else [question]
    clients = [
        run_client(address, words, kinds, end, random.Random(number))
        for number in range(arguments.clients)
    ]
    return list(itertools.chain.from_iterable(await asyncio.gather(*clients)))


async def run_client(
    address: str, words: list[str], kinds: list[str], end: float, rng: random.Random
) -> list[Timing]:
    """Send queries until the time `end`."""
    url = urlsplit(address)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    timings = []
    while (start := time.perf_counter()) < end:
        kind = rng.choice(kinds)
        query = urlencode(QUERIES[kind](*rng.sample(words, 3)))
        writer.write(f"GET /api/{kind}?{query} HTTP/1.1\r\nHost: {url.hostname}\r\n\r\n".encode())
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
        except (ConnectionError, asyncio.IncompleteReadError):
            timings.append(Timing(kind, LOST, time.perf_counter() - start))
            reader, writer = await asyncio.open_connection(url.hostname, url.port)
            continue
        status = int(head.split()[1])
        timings.append(Timing(kind, status, time.perf_counter() - start))
        if status == 503:
            await asyncio.sleep(float(head.partition("retry-after: ")[2].split()[0]))
    writer.close()
    return timings


def print_timings(timings: list[Timing], question: str, arguments: argparse.Namespace) -> None:
    """Responses by status, and the latency of those with status 200."""
    counts = Counter(timing.status for timing in timings)
    print(
        f"{arguments.clients} clients for {arguments.seconds:g} s, questions: {question}; "
        + ", ".join(f"{n:,} × {status or 'lost'}" for status, n in sorted(counts.items()))
    )
    answered = [timing for timing in timings if timing.status == 200]
    if answered:
        rate = len(answered) / arguments.seconds
        print(f"{rate:.1f} answers a second; {latency(answered)}")
    kinds = {timing.kind for timing in answered}
    for kind in [kind for kind in QUERIES if kind in kinds and len(kinds) > 1]:
        of_kind = [timing for timing in answered if timing.kind == kind]
        print(f"  {kind}: {len(of_kind):,} answers; {latency(of_kind)}")


def latency(timings: list[Timing]) -> str:
    times = sorted(timing.seconds for timing in timings)
    shown = {"median": 0.5, "p95": 0.95, "p99": 0.99, "slowest": 1.0}
    return ", ".join(
        f"{name} {1e3 * times[min(int(share * len(times)), len(times) - 1)]:.0f} ms"
        for name, share in shown.items()
    )


if __name__ == "__main__":
    main()
