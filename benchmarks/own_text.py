"""From the first megabytes of a text to a model by the commands as they are: minutes and quality.

    python benchmarks/own_text.py TEXT [--megabytes 30] [--bats FOLDER] [--half choose|report]
        [--folder SCRATCH] [--vectors-option=--epochs=10] [--train-option=--set=KEY=VALUE]

Runs ``prepare``, ``vectors`` and ``train`` with their defaults, on the CPU, and prints for each its
minutes, its CPU minutes, and the forecast it gave beside the truth. Of the model it prints what a
user would look at first, and its accuracy on BATS among its own most frequent words beside 3CosAdd
on the vectors that it started from. Settings are to be chosen on one half of BATS's relations
(``choose``) and reported on the other. A stage that is done is not done again.
"""

import argparse
import lzma
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

import machine
from pair2vec.api import Pair2vec, load
from pair2vec.experiments.evaluation.analogies import (
    AnalogyBenchmark,
    AnalogyConfig,
    evaluate_analogies,
)
from pair2vec.experiments.evaluation.analogy_accuracy import SCORES
from pair2vec.experiments.evaluation.analogy_sets import (
    Half,
    find_answer_vocabulary,
    read_analogies,
    read_answer_vectors,
    select_half,
)

ANSWERS = 15_000
"""BATS is answered from so many of the most frequent words."""
PAIRS = (("hot", "cold"), ("paris", "france"), ("king", "queen"), ("dog", "animal"))
FILLS = (
    ("neither X nor Y", "hot"),
    ("X is a kind of Y .", "violin"),
    ("X is the capital of Y", "paris"),
    ("both X and Y", "men"),
)


class Stage(NamedTuple):
    """A command that was run."""

    name: str
    seconds: float
    cpu_seconds: float
    forecast: str


def main() -> None:
    """Run the stages and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("--megabytes", type=float, default=30.0, help="of the decompressed text")
    parser.add_argument("--bats", type=Path)
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--folder", type=Path, help="keeps what is made")
    parser.add_argument("--vectors-option", action="append", default=[])
    parser.add_argument("--train-option", action="append", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        text = folder / "text.txt"
        if not text.exists():
            text.write_bytes(head(arguments.text, int(arguments.megabytes * 1e6)))
        corpus, vectors, model = folder / "corpus", folder / "words.vec", folder / "model"
        print(
            f"{machine.describe()}; {text.stat().st_size / 1e6:.0f} MB of {arguments.text.name}\n"
        )
        on_cpu = ["--device=cpu"]
        made = [corpus, "--out", model, "--vectors", vectors]
        stages = [
            run("prepare", corpus / "manifest.json", [text, "--out", corpus]),
            run(
                "vectors",
                vectors,
                [corpus, "--out", vectors, *on_cpu, *arguments.vectors_option],
            ),
            run("train", model / "config.json", [*made, *on_cpu, *arguments.train_option]),
        ]
        print_stages([stage for stage in stages if stage is not None])
        opened = load(model)
        print_answers(opened)
        if arguments.bats:
            print_bats(opened, vectors, arguments.bats, cast("Half", arguments.half))


def head(path: Path, size: int) -> bytes:
    """The first bytes of a text, to the end of a line."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
        return file.read(size).rpartition(b"\n")[0]


def run(name: str, made: Path, arguments: list[str | Path]) -> Stage | None:
    """Run a command unless what it makes is there; its messages are shown as they come."""
    if made.exists():
        return None
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "pair2vec", name, *map(str, arguments)]
    forecast = ""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            print(line, end="", file=sys.stderr, flush=True)
            # The first forecast: of training the line that says so, else the first time left.
            found = re.search(r"forecast: (\d+ min)|, ([^,]+) left", line)
            if found and not forecast:
                seconds = time.monotonic() - start
                forecast = f"{found[1] or found[2]}, said after {seconds:.0f} s"
    if process.returncode:
        raise SystemExit(process.returncode)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Stage(name, time.monotonic() - start, cpu, forecast)


def print_stages(stages: list[Stage]) -> None:
    """Minutes of each, and the forecast."""
    print(f"\n{'stage':10}{'minutes':>9}{'CPU':>9}   forecast")
    for stage in stages:
        print(
            f"{stage.name:10}{stage.seconds / 60:9.1f}{stage.cpu_seconds / 60:9.1f}"
            f"   {stage.forecast or '-'}"
        )
    seconds = sum(stage.seconds for stage in stages)
    cpu = sum(stage.cpu_seconds for stage in stages)
    print(f"{'all':10}{seconds / 60:9.1f}{cpu / 60:9.1f}\n")


def print_answers(model: Pair2vec) -> None:
    """What a user would try first."""
    facts = model.saved.config["recipe"]
    training = facts["training"]
    print(
        f"{len(model.vocabulary):,} words, {facts['pair']['dimension']} dimensions, recipe "
        f"{facts['name']}: batch {training['batch']:,}, {training['epochs']} epochs, rate "
        f"{training['rate']:g}; {model.saved.config['triples']:,} triples, "
        f"{model.saved.config['metrics']}"
    )
    known = model.vocabulary.ids
    for x, y in PAIRS:
        if x in known and y in known:
            pairs = ", ".join(f"{match.x} : {match.y}" for match in model.nearest(x, y, top=6))
            print(f"{x} : {y:20} {pairs}")
    for pattern, x in FILLS:
        if x in known:
            words = ", ".join(match.word for match in model.fill(pattern, x=x, top=6))
            print(f"{pattern.replace('X', x):26} {words}")


def print_bats(model: Pair2vec, vectors: Path, bats: Path, half: Half) -> None:
    """Accuracy by group and over all questions."""
    words, has_vector = read_answer_vectors(model, vectors)
    benchmark = AnalogyBenchmark(
        relations=select_half(read_analogies(bats), half),
        candidates=find_answer_vocabulary(model.saved.vocabulary, words, has_vector, ANSWERS),
        data=str(bats),
        half=half,
        vectors=str(vectors),
    )
    result = evaluate_analogies(model.saved, benchmark, AnalogyConfig())
    groups = result.accuracies.groups
    print(f"\nBATS, half {half}, {result.protocol.dropped:.0f} % of the questions dropped")
    print(f"{'':26}{'n':>8}" + "".join(f"{name:>15}" for name in SCORES))
    for name, group in groups.items():
        print(f"{name:26}{group.n:8,}" + "".join(f"{group.scores[s]:15.1f}" for s in SCORES))
    counts = np.array([group.n for group in groups.values()])
    means = [
        np.average([group.scores[score] for group in groups.values()], weights=counts)
        for score in SCORES
    ]
    print(f"{'all':26}{counts.sum():8,}" + "".join(f"{mean:15.1f}" for mean in means))


if __name__ == "__main__":
    main()
