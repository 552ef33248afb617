"""How long `opposed` takes for two questions, and how much memory, on one core.

    python benchmarks/opposed_speed.py [--model NAME]

In a process of its own with one thread: the seconds from importing pair2vec to the first answer,
the milliseconds of an answer when it is warm (the median of many, over questions of 20 words that
differ in one to six words), and the resident memory beyond that of an interpreter with nothing
imported. Many pairs at once, and plain pair vectors of as many word pairs, are beside it.
"""

import argparse
import json
import os
import subprocess
import sys

import machine

QUESTIONS = (
    "how do I enable automatic updates for every user of the office printer without asking the "
    "administrator for a new password first",
    "how do I disable automatic updates for every user of the office printer without asking the "
    "administrator for a new password first",
    "how can I enable automatic updates for all users of the old printer with help from the "
    "support team and a new password",
    "what is the best way to turn off updates of the office printer when nobody knows the "
    "administrator or the password at all",
)
"""Of 20 words, or a few more or fewer."""

_PROGRAM = """
import json, resource, statistics, sys, time

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6

questions, name = json.loads(sys.argv[1])
before, start = resident(), time.perf_counter()
import pair2vec
model = pair2vec.load(name)
model.opposed(questions[0], questions[1])
first = time.perf_counter() - start
pairs = [(a, b) for a in questions for b in questions if a < b]
seconds = []
for _ in range(100):
    for pair in pairs:
        begin = time.perf_counter()
        model.opposed(*pair)
        seconds.append(time.perf_counter() - begin)
memory = resident() - before
begin = time.perf_counter()
model.opposed_many(pairs * 300)
many = 300 * len(pairs) / (time.perf_counter() - begin)
words = [("enable", "disable"), ("printer", "password")] * 5000
begin = time.perf_counter()
model.pairs(words)
vectors = len(words) / (time.perf_counter() - begin)
print(json.dumps({"first": first, "median": 1e3 * statistics.median(seconds),
    "p95": 1e3 * statistics.quantiles(seconds, n=20)[-1], "memory": memory, "many": many,
    "vectors": vectors, "torch": "torch" in sys.modules}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model")
    arguments = parser.parse_args()
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps([QUESTIONS, arguments.model])],
        env=os.environ | threads,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    print(f"{machine.describe()}, one thread")
    print(f"first answer after {found['first']:.2f} s, imports included")
    print(f"an answer: median {found['median']:.2f} ms, 95 % within {found['p95']:.2f} ms")
    print(f"many at once: {found['many']:,.0f} pairs of sentences/s")
    print(f"plain pair vectors: {found['vectors']:,.0f} pairs of words/s")
    print(f"memory beyond the interpreter: {found['memory']:.0f} MB; torch: {found['torch']}")


if __name__ == "__main__":
    main()
