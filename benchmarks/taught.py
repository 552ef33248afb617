"""What a model learns from teachers, and what that costs it: taught models and one of text alone.

    PYTHONPATH=src python3 benchmarks/taught.py CORPUS --vectors FILE --labels FOLDER --bats FOLDER
        --keep FOLDER [--more-vectors FILE] [--triples 300M] [--rows NAME...] [--set KEY=VALUE]...

The labels are those of `pair2vec teach`. The rows are recipe `fast` on the text alone, and the same
with the relation loss in turns, more or less often and with rare relations drawn more or less
often. Each model is published under `--keep`; one that is there already is not trained again.

Printed are the macro-F1 of the relation head on the dev words, and BATS on the half to choose by.
The rule: chosen is the taught model with the highest macro-F1 among those that lose at most one
point in each group of BATS ("both") against the model of text alone.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

from pair2vec.experiments.evaluation.analogies import evaluate_analogies
from pair2vec.experiments.evaluation.analogy_sets import BATS_GROUPS
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.relations.head import CONFIG_KEY
from pair2vec.teaching.label_folder import Labels
from pair2vec.teaching.relation_task import RelationTask, RelationTaskConfig
from pair2vec.teaching.teach import task_data
from pair2vec.training.recipes import Recipe, resolve
from quality import (
    SharedInputs,
    add_options,
    measure,
    open_shared_inputs,
    parse_count,
    print_head,
    print_protocol,
    scores,
    with_triples,
)

TEXT = "text"
ROWS: dict[str, RelationTaskConfig | None] = {
    TEXT: None,
    "every_3": RelationTaskConfig(every=3),
    "every_1": RelationTaskConfig(every=1),
    "not_rare": RelationTaskConfig(every=1, rare=0),
    "wide_head": RelationTaskConfig(every=1, hidden=768),
}
MOST_LOST = 1.0
"""Points of a group of BATS."""


class Row(NamedTuple):
    """A trained model."""

    macro_f1: float | None
    """Of the dev words; None for the model of text alone."""
    bats: dict[str, float]
    """Of each group, both scores."""


def main() -> None:
    """Print the table, and which model the rule chooses."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.set_defaults(half="choose")
    parser.add_argument("--labels", type=Path, required=True, help="of pair2vec teach")
    parser.add_argument("--keep", type=Path, required=True, help="publish the models here")
    parser.add_argument("--triples", type=parse_count, default="300M", help="of each of the rows")
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=[TEXT, "every_3", "every_1"])
    arguments = parser.parse_args()
    inputs, labels = open_shared_inputs(arguments), Labels.open(arguments.labels)
    recipe = resolve("fast", None, with_triples(arguments.settings, arguments.triples))
    print_head(f"{'':12}dev F1  syn/ant  seconds")
    rows = {name: print_row(name, recipe, inputs, labels, arguments) for name in arguments.rows}
    if TEXT in rows:
        print(f"chosen: {choose(rows)}")


def print_row(
    name: str,
    recipe: Recipe,
    inputs: SharedInputs,
    labels: Labels,
    arguments: argparse.Namespace,
) -> Row:
    """Train a model unless it is there, and print its figures."""
    folder, seconds = arguments.keep / name, 0.0
    if not folder.exists():
        quality = measure(inputs, recipe, folder, make_task(ROWS[name], recipe, inputs, labels))
        seconds = quality.seconds
    saved = load_model(folder)
    result = evaluate_analogies(saved, inputs.analogies, inputs.evaluation)
    groups = result.accuracies.groups
    dev = dev_scores(saved)
    head = f"{dev['macro_f1']:6.1f}{dev['synonym_or_antonym']:9.1f}" if dev else f"{'–':>6}{'–':>9}"
    print(f"{name:12}{head}{seconds:9.0f}{scores(groups)}", flush=True)
    if name == arguments.rows[-1]:
        print_protocol(result.protocol)
    bats = {group: groups[group].scores["heldout_alpha"] for group in BATS_GROUPS.values()}
    return Row(dev["macro_f1"] if dev else None, bats)


def make_task(
    config: RelationTaskConfig | None, recipe: Recipe, inputs: SharedInputs, labels: Labels
) -> RelationTask | None:
    """The relation loss of a row; None for the model of text alone."""
    if config is None:
        return None
    data, size = task_data(config, labels), recipe.pair.dimension
    return RelationTask(config, inputs.corpus.vocabulary, data, size, inputs.device)


def dev_scores(saved: SavedModel) -> dict[str, float] | None:
    """Of the head of a model, if it has one."""
    scored: dict[str, float] | None = saved.config.get(CONFIG_KEY, {}).get("dev")
    return scored


def choose(rows: dict[str, Row]) -> str:
    """The name of the model that the rule chooses."""
    text = rows[TEXT].bats
    allowed = {
        name: row.macro_f1
        for name, row in rows.items()
        if row.macro_f1 is not None
        and all(row.bats[group] >= text[group] - MOST_LOST for group in text)
    }
    return max(allowed, key=lambda name: allowed[name]) if allowed else "none of them"


if __name__ == "__main__":
    main()
