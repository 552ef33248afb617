"""What each part of a recipe is worth: models that lack one, on the same corpus.

    PYTHONPATH=src python3 benchmarks/ablations.py CORPUS --vectors FILE --bats FOLDER
        [--triples 300M] [--rows NAME...] [--counts 100M 300M 1B 3B] [--half choose|report|all]
        [--keep FOLDER] [--set KEY=VALUE]... [--device cuda]

With `--keep models`, the models of the paper's five rows for `nli.py` and `qa_matrix.py` are made
and compared by

    benchmarks/ablations.py CORPUS --vectors FILE --bats FOLDER --counts --keep models
        --rows fast 2_layers bivariate multiply pair_distance
    benchmarks/qa_matrix.py DATA --words FILE --models FOLDER --results FOLDER --whitening 0 0.5
        --pairs none --pair-model pair2vec=models/fast --pair-model 2_layers=models/2_layers
        --pair-model bivariate=models/bivariate --pair-model multiply=models/multiply
        --pair-model pair_distance=models/pair_distance

and have the same words, in float32, the same number of triples, and the same injection.
PairDistance is of the vectors that all of them start from, and trains nothing.

The rows are recipe `fast`; `fast` with one thing changed, over as many triples; and `fast` over
other numbers of triples. Under each is the command that makes the same model. `--rows` or
`--counts` without a name leaves these rows out; a row that would be the same as an earlier one is
not trained again. `--keep` publishes each model in a folder of its name.

A loss is that of the row's own objective: with other negatives it is of another quantity, and with
another subsampling of other triples. Compare it only between rows that share both.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pair2vec.encoders.pair import unit_product_length
from pair2vec.experiments.evaluation.analogies import AnalogyProtocol
from pair2vec.training.recipes import Recipe, resolve
from pair2vec.training.trainer import DivergedError
from quality import (
    SharedInputs,
    add_options,
    format_count,
    measure,
    open_shared_inputs,
    parse_count,
    print_head,
    print_protocol,
    scores,
    with_triples,
)

ROWS: dict[str, list[str]] = {
    "fast": [],
    "bivariate": ["negatives.words=0", "negatives.typed=0"],
    "untyped": ["negatives.typed=0"],
    "2_layers": ["pair.layers=2"],
    # `fast` has words of √300, at which a product starts with 17 times the norm of the mlp's.
    "multiply": ["pair.composition=multiply", f"pair.length={unit_product_length(300)}"],
    "pair_distance": ["pair.composition=difference", "training.epochs=0"],
    # The paper's rule, with the threshold that was best for it.
    "pair_subsampling": ["triples.subsampling=pair", "triples.threshold=3e-6"],
    # The neighbours are still those of the word vectors.
    "random_start": ["training.start=random"],
    # The paper's.
    "unit_length": ["pair.length=1"],
}
COUNTS = [10**8, 3 * 10**8, 10**9, 3 * 10**9]


class Row(NamedTuple):
    """A model to train."""

    name: str
    settings: list[str]
    """Of recipe `fast`."""

    @property
    def recipe(self) -> Recipe:
        """With all settings."""
        return resolve("fast", None, self.settings)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--triples", type=parse_count, default="300M", help="of each of the rows")
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=list(ROWS))
    parser.add_argument("--counts", type=parse_count, nargs="*", default=COUNTS, help="of triples")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="publish the models here")
    arguments = parser.parse_args()
    rows = list(rows_of(arguments))
    for row in rows:
        if arguments.keep and (arguments.keep / row.name).exists():
            parser.error(f"--keep: {arguments.keep / row.name} is there already")
    inputs = open_shared_inputs(arguments)
    print_head(f"{'':16}M triples     loss  seconds")
    twins: dict[Recipe, str] = {}
    protocol = None
    for row in rows:
        twin = twins.setdefault(row.recipe, row.name)
        if twin != row.name:
            print(f"{row.name:18}the same as {twin}", flush=True)
        else:
            protocol = print_row(row, inputs, arguments) or protocol
    if protocol:
        print_protocol(protocol)


def rows_of(arguments: argparse.Namespace) -> Iterator[Row]:
    """What to train, in this order."""
    base: list[str] = arguments.settings
    for name in arguments.rows:
        # Its own settings last: one of them trains nothing.
        yield Row(name, [*with_triples(base, arguments.triples), *ROWS[name]])
    for triples in arguments.counts:
        yield Row(f"fast-{format_count(triples)}", with_triples(base, triples))


def print_row(
    row: Row, inputs: SharedInputs, arguments: argparse.Namespace
) -> AnalogyProtocol | None:
    """Train a model, and print its figures and its command."""
    print(f"{row.name:18}", end="", flush=True)
    keep = arguments.keep / row.name if arguments.keep else None
    try:
        quality = measure(inputs, row.recipe, keep)
    except DivergedError as error:
        print(error)
        return None
    print(
        f"{quality.triples / 1e6:7,.1f}{quality.loss:9.4f}{quality.seconds:9.0f}"
        f"{scores(quality.groups)}\n"
        f"    {command(row, arguments)}",
        flush=True,
    )
    return quality.protocol


def command(row: Row, arguments: argparse.Namespace) -> str:
    """The command that trains the same model."""
    inputs = f"{arguments.corpus} --vectors {arguments.vectors}"
    settings = "".join(f" --set {setting}" for setting in row.settings)
    return f"pair2vec train {inputs} --out {row.name} --recipe fast{settings}"


if __name__ == "__main__":
    main()
