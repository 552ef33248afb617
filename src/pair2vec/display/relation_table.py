"""How well relations are told: by what was learnt from a set, and by the built-in definitions."""

from collections.abc import Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pair2vec.evaluation.built_in_relations import Sureness
from pair2vec.evaluation.relations import Protocol, RelationResult


def relation_tables(result: RelationResult, built_in: Sureness | None = None) -> Group:
    """A row a classifier: weighted F1 on both splits, then F1 by class."""
    classes = result.rows[0].test.classes
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("F1")
    for name in ("val", "test", *classes):
        table.add_column(Text(name), justify="right", no_wrap=True)
    for row in result.rows:
        figures = [row.val.weighted_f1, row.test.weighted_f1]
        figures += [row.test.classes[name].f1 for name in classes]
        table.add_row(row.name, *map(_share, figures))
    counts = [f"{score.n:,}" for score in classes.values()]
    table.add_row("pairs", f"{result.protocol.val:,}", f"{result.protocol.test:,}", *counts)
    caption = Text(
        "F1 in percent, the mean weighted by the pairs of each class; classes are of the test "
        "split. Concatenation and difference are of word vectors.",
        style="dim",
    )
    parts: list[RenderableType] = [table, caption, Text(_protocol_lines(result.protocol))]
    if built_in is not None:
        told = {"val, told by the built-in relations, without learning": built_in}
        parts.append(sureness_table(told))
    return Group(*parts)


def _protocol_lines(protocol: Protocol) -> str:
    return (
        f"{protocol.data}: learnt from {protocol.train:,} pairs by {protocol.networks} networks a "
        f"view, {protocol.steps:,} steps and {protocol.input_dropout:g} of the features dropped "
        f"(chosen on val), seed {protocol.seed}. Of the test pairs {protocol.unknown:.1f} % have a "
        f"word that the model does not know: {protocol.read_as_others:.1f} % are read by its word "
        f"vector or as another word, {protocol.zero:.1f} % have a zero; none is dropped.\n"
        f"Model {protocol.model}, word vectors {protocol.vectors}; {protocol.seconds:,.0f} s."
    )


def sureness_table(found: Mapping[str, Sureness]) -> Group:
    """How right and how sure the built-in relations are."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("built-in relations", overflow="fold")
    for name in ("pairs", "right", "mean probability", "calibration error", "log loss"):
        table.add_column(name, justify="right")
    for name, (_, one) in found.items():
        shares = map(_share, (one.accuracy, one.confidence, one.expected_error))
        table.add_row(Text(name), f"{one.n:,}", *shares, f"{one.log_loss:.2f}")
    caption = Text(
        "In percent. Right: the most probable relation, or none, is the right one; where its mean "
        "probability is the same, probabilities are sure of no more than they should be.",
        style="dim",
    )
    return Group(table, *(_by_relation(one) for one in found.values()), caption)


def _by_relation(one: Sureness) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("relation")
    for name in ("pairs", "precision", "recall", "F1"):
        table.add_column(name, justify="right")
    for name, score in one.scores.classes.items():
        table.add_row(
            Text(name), f"{score.n:,}", *map(_share, (score.precision, score.recall, score.f1))
        )
    return table


def _share(value: float) -> str:
    return f"{100 * value:.1f}"
