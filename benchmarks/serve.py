"""Load test of `pair2vec serve` with many clients: throughput, latency, errors, memory.

    python benchmarks/serve.py [--clients 50] [--seconds 60] [--model NAME]
        [--question pair|score|fill|nearest]

The command is started as a process of its own. Clients are keep-alive connections; each sends a
query about two random words, waits for the response, and sends the next, after a 503 not before
its Retry-After. The clients run on the same cores as the server, in one process of their own. Times
are those of responses with status 200.
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
"""Words are drawn from so many of the most frequent."""


class Timing(NamedTuple):
    status: int
    seconds: float


def main() -> None:
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
        load_run = run_clients(address, words, arguments)
        timings, middle = asyncio.run(with_memory(load_run, process.pid, arguments.seconds))
        print_timings(timings, arguments)
        after = memory_mb(process.pid)
        print(f"memory: {before:.0f} MB at first, {middle:.0f} half-way, {after:.0f} in the end")


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
    address: str, words: list[str], arguments: argparse.Namespace
) -> list[Timing]:
    end = time.perf_counter() + arguments.seconds
    clients = [
        run_client(address, words, arguments.question, end, random.Random(number))
        for number in range(arguments.clients)
    ]
    return list(itertools.chain.from_iterable(await asyncio.gather(*clients)))


async def run_client(
    address: str, words: list[str], question: str, end: float, rng: random.Random
) -> list[Timing]:
    """Send queries until the time `end`."""
    url = urlsplit(address)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    timings = []
    while (start := time.perf_counter()) < end:
        x, y = rng.sample(words, 2)
        query = {"x": x, "y": y, "top": 5}
        if question in ("score", "fill"):
            query = {"x": x, "pattern": "X and Y", **({"y": y} if question == "score" else {})}
        line = f"GET /api/{question}?{urlencode(query)} HTTP/1.1\r\nHost: {url.hostname}\r\n\r\n"
        writer.write(line.encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
        status = int(head.split()[1])
        timings.append(Timing(status, time.perf_counter() - start))
        if status == 503:
            await asyncio.sleep(float(head.partition("retry-after: ")[2].split()[0]))
    writer.close()
    return timings


def print_timings(timings: list[Timing], arguments: argparse.Namespace) -> None:
    """Responses by status, and the latency of those with status 200."""
    counts = Counter(timing.status for timing in timings)
    times = sorted(timing.seconds for timing in timings if timing.status == 200)
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
