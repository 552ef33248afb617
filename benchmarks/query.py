"""The latency of queries, their memory, and the recall of a shortlist.

    python benchmarks/query.py [MODEL] [--queries N]

MODEL is a model folder; without one, a model of 100 000 words and a relation head with random
weights is made, which shows the speed but not the recall of a shortlist. Queries are patterns that
the model keeps (or a few common ones) with random words, seeded. The baseline composes one pair at
a time; that of relations is the time to compute the vectors of the same pairs in both directions,
and that of commands, from their start to the end of their answer, is the import of numpy.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

import machine
from pair2vec.api import Pair2vec
from pair2vec.model.folder import SavedModel, load_model, save_model
from pair2vec.query.search import Match
from pair2vec.relations.definitions import NONE, read_definitions
from pair2vec.rendering import Table
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount

WORDS, SIZE, HIDDEN, LAYERS = 100_000, 300, 100, 4
PATTERNS = ("X and Y", "in X , Y .", "X is a Y", "either X or Y", "the X of Y", "X , a Y ,")
PLAIN_PAIRS = 500
RELATIONS = (*(definition.name for definition in read_definitions()), NONE)
HEAD_UNITS, RELATED_PAIRS = 384, 50_000
COMMANDS = (
    "relate hot cold",
    "pair hot cold",
    "fill X_and_Y --x hot",
    "analogy hot cold wet",
    "nearest hot cold",
    "neighbours hot",
)
"""A pattern has `_` for its blanks."""
COMMAND_RUNS = 5

T = TypeVar("T")


class Query(NamedTuple):
    """A word and a pattern to fill."""

    pattern: str
    x: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--queries", type=int, default=50)
    arguments = parser.parse_args()
    print(machine.describe())
    if arguments.model:
        measure(arguments.model, arguments.queries)
        return
    with tempfile.TemporaryDirectory() as folder:
        save_random_model(Path(folder) / "random")
        measure(Path(folder) / "random", arguments.queries)


def save_random_model(folder: Path) -> None:
    """A model of the paper's size with random weights."""
    random = np.random.default_rng(0)
    shapes = {
        "pair.words": (WORDS + len(SPECIAL_TOKENS), SIZE),
        "pair.first.weight": (SIZE, 3 * SIZE),
        "pair.first.bias": (SIZE,),
        **{f"pair.others.{n}.weight": (SIZE, SIZE) for n in range(LAYERS - 1)},
        **{f"pair.others.{n}.bias": (SIZE,) for n in range(LAYERS - 1)},
        "context.words": (WORDS + len(SPECIAL_TOKENS), SIZE),
        "context.input_weight": (8 * HIDDEN, SIZE),
        "context.state_weight": (2, HIDDEN, 4 * HIDDEN),
        "context.bias": (8 * HIDDEN,),
        "context.attention.weight": (1, 2 * HIDDEN),
        "context.value.weight": (SIZE, 2 * HIDDEN),
        "relation.hidden.weight": (HEAD_UNITS, 2 * SIZE),
        "relation.hidden.bias": (HEAD_UNITS,),
        "relation.output.weight": (len(RELATIONS), HEAD_UNITS),
        "relation.output.bias": (len(RELATIONS),),
        "relation.negation": (len(RELATIONS),),
        "relation.similarity": (len(RELATIONS),),
    }
    common = [word for pattern in PATTERNS for word in pattern.split() if word not in "XY"]
    words = list(dict.fromkeys([*common, *(f"word{n}" for n in range(WORDS))]))[:WORDS]
    save_model(
        folder,
        {name: random.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()},
        Vocabulary([WordCount(word, WORDS - n) for n, word in enumerate(words)]),
        {
            "recipe": {"name": "random", "pair": {"composition": "mlp", "layers": LAYERS}},
            "relations": {"names": RELATIONS, "inverse": list(range(len(RELATIONS)))},
        },
    )


def measure(folder: Path, count: int) -> None:
    empty = machine.resident_mb()

    def first(name: str, seconds: float) -> None:
        print(f"{name:26} {1000 * seconds:8.0f} ms, {machine.resident_mb() - empty:6.0f} MB")

    seconds, saved = timed(partial(load_model, folder))
    print(f"\n{folder.name}: {saved.config['words']:,} words, {saved.config['precision']}")
    first("load", seconds)
    model, queries = Pair2vec(saved), draw_queries(saved, count)
    pattern, x = queries[0]
    first("first score of one pair", timed(partial(model.score, x, queries[1].x, pattern))[0])
    if saved.has_head:
        first("first relate", timed(partial(model.relate, x, queries[1].x))[0])
    first("first fill", timed(partial(model.fill, pattern, x=x))[0])
    first(
        "first fill by shortlist", timed(partial(model.fill, pattern, x=x, search="shortlist"))[0]
    )
    exact = [timed(partial(model.fill, q.pattern, x=q.x)) for q in queries]
    short = [timed(partial(model.fill, q.pattern, x=q.x, search="shortlist")) for q in queries]
    plain = plain_seconds(saved, x)
    report("fill, exact", exact, plain)
    report("fill, shortlist", short, plain)
    recalls = [recall(e, s) for (_, e), (_, s) in zip(exact, short, strict=True)]
    print(f"  recall@10 of the shortlist: {np.mean(recalls):.3f}, at worst {min(recalls):.1f}")
    words = [query.x for query in queries]
    triples = list(zip(words, words[1:], words[2:], strict=False))[: max(3, count // 5)]
    exact = [timed(partial(model.analogy, *words)) for words in triples]
    short = [timed(partial(model.analogy, *words, search="shortlist")) for words in triples]
    report("analogy, exact", exact, 2 * plain)
    report("analogy, shortlist", short, 2 * plain)
    report("nearest", [timed(partial(model.nearest, *words[:2])) for words in triples])
    if saved.has_head:
        neighbours = partial(model.neighbours, relation="antonym")
        report("neighbours", [timed(partial(neighbours, words[0])) for words in triples])
        measure_relations(model)
    measure_commands(folder)
    print(f"plain loop over all pairs, from {PLAIN_PAIRS} of them: {plain:6.1f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def measure_relations(model: Pair2vec) -> None:
    """Relations of many pairs, beside their vectors; of three runs by turns the fastest."""
    words = np.array(model.vocabulary.words[len(SPECIAL_TOKENS) : 30_000])
    chosen = np.random.default_rng(1).integers(len(words), size=(RELATED_PAIRS, 2))
    pairs = [(str(x), str(y)) for x, y in words[chosen]]
    runs = [
        (timed(partial(model.pairs, pairs))[0], timed(partial(model.relate_many, pairs))[0])
        for _ in range(3)
    ]
    vectors, related = map(min, zip(*runs, strict=True))
    for name, seconds in (("pairs, both directions", vectors), ("relate_many", related)):
        print(f"{name:26} {1000 * seconds:8.0f} ms for {RELATED_PAIRS:,} pairs", end="")
        print(f", {RELATED_PAIRS / seconds:,.0f} a second; {vectors / seconds:.2f} times pairs")


def measure_commands(folder: Path) -> None:
    """Commands from start to answer, beside the import of numpy; of each the median of runs."""
    numpy = statistics.median(seconds_of("-c", "import numpy") for _ in range(COMMAND_RUNS))
    print(f"{'import of numpy':26} {1000 * numpy:8.0f} ms")
    for command in COMMANDS:
        words = [word.replace("_", " ") for word in command.split()]
        arguments = ("-m", "pair2vec", *words, "--model", str(folder))
        seconds = statistics.median(seconds_of(*arguments) for _ in range(COMMAND_RUNS))
        print(f"{command.split()[0] + ', the command':26} {1000 * seconds:8.0f} ms", end="")
        print(f", {1000 * (seconds - numpy):.0f} more than numpy")


def seconds_of(*arguments: str) -> float:
    """How long a run of Python takes; one that fails counts, too, with its message."""
    command = [sys.executable, *arguments]
    return timed(partial(subprocess.run, command, stdout=subprocess.DEVNULL, check=False))[0]


def draw_queries(saved: SavedModel, count: int) -> list[Query]:
    random = np.random.default_rng(0)
    patterns = [entry.pattern for entry in saved.patterns()] or list(PATTERNS)
    words = saved.vocabulary.words[len(SPECIAL_TOKENS) + 100 : 30_000]
    return [
        Query(patterns[random.integers(len(patterns))], words[random.integers(len(words))])
        for _ in range(count)
    ]


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """The seconds and the result of a call."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def report(name: str, runs: Sequence[tuple[float, object]], plain: float = 0.0) -> None:
    seconds = sorted(seconds for seconds, _ in runs)
    middle = statistics.median(seconds)
    print(
        f"{name:26} {1000 * middle:8.0f} ms median of {len(seconds)}, "
        f"{1000 * seconds[0]:.0f} to {1000 * seconds[-1]:.0f}"
        + (f"; {plain / middle:,.0f} times the plain loop" if plain else "")
    )


def recall(exact: Table[Match], short: Table[Match]) -> float:
    """The share of the exact answers that a shortlist has."""
    return len({match.word for match in exact} & {match.word for match in short}) / len(exact)


def plain_seconds(saved: SavedModel, x: str) -> float:
    """The time to compose the pairs of a word with all others one by one."""
    rows, vocabulary = saved.rows("pair.words"), saved.vocabulary
    weights = [(saved.array("pair.first.weight"), saved.array("pair.first.bias"))]
    for number in range(saved.config["recipe"]["pair"]["layers"] - 1):
        name = f"pair.others.{number}"
        weights.append((saved.array(f"{name}.weight"), saved.array(f"{name}.bias")))
    first = rows[vocabulary.ids[x]]
    start = time.perf_counter()
    for other in range(len(SPECIAL_TOKENS), len(SPECIAL_TOKENS) + PLAIN_PAIRS):
        words = [word / np.linalg.norm(word) for word in (first, rows[other])]
        hidden = np.concatenate([*words, words[0] * words[1]])
        for layer, (weight, bias) in enumerate(weights):
            hidden = weight @ (np.maximum(hidden, 0) if layer else hidden) + bias
    return (time.perf_counter() - start) / PLAIN_PAIRS * len(vocabulary)


if __name__ == "__main__":
    main()
