"""What a larger batch costs in quality, at an equal number of triples.

    PYTHONPATH=src python3 benchmarks/batch_size.py CORPUS --vectors FILE --bats FOLDER
        [--triples 60M] [--batch N...] [--rates R...] [--half choose|report|all] [--device cuda]

For each batch size recipe `fast` is trained from the same start over the same number of triples;
the rate goes up over the first 2 % of the steps, and then down to 0. It is given by `--rates`, one
for each batch, or else grows with the root of the batch. The validation loss is of the same 200 000
held-out triples against the same negatives.
"""

import argparse
import math

from pair2vec.training.recipes import resolve
from pair2vec.training.trainer import DivergedError
from quality import (
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

BATCHES = [600, 2_400, 9_600, 38_400, 65_536]
LOWEST, HIGHEST = 3e-4, 4e-3
WARM_UP = 0.02


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--triples", type=parse_count, default="60M", help="of each run")
    parser.add_argument("--batch", type=parse_count, nargs="+", default=BATCHES)
    parser.add_argument("--rates", type=float, nargs="+", help="one for each batch")
    arguments = parser.parse_args()
    rates = arguments.rates or [usual_rate(batch) for batch in arguments.batch]
    if len(rates) != len(arguments.batch):
        parser.error(f"--rates has {len(rates)} numbers where --batch has {len(arguments.batch)}")
    inputs = open_shared_inputs(arguments)
    print(f"{format_count(arguments.triples)} triples a run")
    print_head("   batch      rate     loss  seconds   K triples/s")
    protocol = None
    for batch, rate in zip(arguments.batch, rates, strict=True):
        settings = [*arguments.settings, *settings_for(batch, rate, arguments.triples)]
        print(f"{batch:8,}{rate:10.2e}", end="", flush=True)
        try:
            quality = measure(inputs, resolve("fast", None, settings))
        except DivergedError as error:
            print(f"  {error}", flush=True)
            continue
        print(
            f"{quality.loss:9.4f}{quality.seconds:9.0f}{quality.speed / 1e3:14,.1f}"
            + scores(quality.groups),
            flush=True,
        )
        protocol = quality.protocol
    if protocol:
        print_protocol(protocol)


def usual_rate(batch: int) -> float:
    """Proportional to the root of the batch, within limits."""
    return min(max(1e-3 * math.sqrt(batch / 32_768), LOWEST), HIGHEST)


def settings_for(batch: int, rate: float, triples: int) -> list[str]:
    """Of a run."""
    warm_up = round(WARM_UP * triples / batch)
    schedule = ["training.schedule=linear", f"training.warmup_steps={warm_up}"]
    settings = [f"training.batch={batch}", f"training.rate={rate}", *schedule]
    return with_triples(settings, triples)


if __name__ == "__main__":
    main()
