"""Change model folders, corpora, checkpoints and requests in a million ways, and read each.

    PYTHONPATH=. python benchmarks/fuzz.py [--count N] [--seed N] [--kind KIND] [--workers N]

What is damaged has to be refused in one line or to give the answers of before; what is forged (its
checksums are right) may give others. Anything else is printed with the seed that shows it again:
another exception, another answer, an error of the server, or more memory than `MEMORY`. The tests
make some thousands of the same mutations (`tests/test_fuzz.py`).
"""

import argparse
import logging
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tests.fuzzing import KINDS

import machine

MEMORY = 8 << 30
"""Bytes of address space: whoever asks for what a config says is stopped."""
_CHUNK = 2_000
_SHOWN = 5


class Chunk(NamedTuple):
    kind: str
    seed: int
    first: int
    last: int


class Outcomes(NamedTuple):
    kind: str
    counts: Counter[str]
    findings: list[str]


def run(chunk: Chunk) -> Outcomes:
    counts: Counter[str] = Counter()
    findings = []
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(KINDS[chunk.kind](Path(folder) / "fuzzed")) as fuzzed,
    ):
        for number in range(chunk.first, chunk.last):
            try:
                counts[fuzzed.run(random.Random(f"{chunk.kind} {chunk.seed} {number}"))] += 1
            except Exception:
                counts["finding"] += 1
                findings.append(f"{chunk.kind} {chunk.seed} {number}\n{traceback.format_exc()}")
    return Outcomes(chunk.kind, counts, findings)


def prepare_worker() -> None:
    # That an older checkpoint is taken is said each time.
    logging.getLogger("pair2vec").setLevel(logging.ERROR)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="of all kinds together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append", help="all otherwise; repeatable")
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    kinds = arguments.kind or list(KINDS)
    each = -(-arguments.count // len(kinds))
    chunks = [
        Chunk(kind, arguments.seed, first, min(first + _CHUNK, each))
        for first in range(0, each, _CHUNK)
        for kind in kinds
    ]
    print(machine.describe())
    start = time.perf_counter()
    totals: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    # One by one, from a process that has no threads: each starts with the limit of memory.
    context = multiprocessing.get_context("spawn")
    with context.Pool(arguments.workers, prepare_worker) as pool:
        for outcomes in pool.imap_unordered(run, chunks):
            totals[outcomes.kind] += outcomes.counts
            for finding in outcomes.findings[:_SHOWN]:
                print(finding)
    for kind, counts in totals.items():
        shares = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items()))
        print(f"{kind}: {counts.total():,} mutations: {shares}")
    done = sum(counts.total() for counts in totals.values())
    findings = sum(counts["finding"] for counts in totals.values())
    seconds = time.perf_counter() - start
    print(f"{done:,} mutations in {seconds:,.0f} s: {findings:,} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
