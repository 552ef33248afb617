"""The outcome of an exam in analogies: tables, and the protocol in two lines."""

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.evaluation.accuracy import SCORES, Accuracy
from pair2vec.evaluation.analogy_exam import ExamResult, Protocol

_NAMES = {
    "three_cos_add": "3CosAdd",
    "pair2vec": "pair2vec",
    "oracle_alpha": "oracle α",
    "heldout_alpha": "held-out α",
}
_NOTHING = "–"


def analogy_tables(result: ExamResult) -> Group:
    """Groups with intervals, then relations with the α they took."""
    groups, relations = _table("group"), _table("relation")
    for name, accuracy in result.accuracies.groups.items():
        _add(groups, name, accuracy, [_with_spread(accuracy, score) for score in SCORES])
    for name, accuracy in result.accuracies.relations.items():
        _add(relations, name, accuracy, [_with_alpha(accuracy, score) for score in SCORES])
    caption = Text(
        "Right answers in percent, ± half of a 95 % interval over the words asked about. Oracle α "
        "is the best for the very questions of a relation (the paper's), held-out α the best for "
        "the other relations of its group.",
        style="dim",
    )
    return Group(groups, relations, caption, protocol_lines(result.protocol))


def protocol_lines(protocol: Protocol) -> Text:
    """What the figures depend on."""
    workers = f", {protocol.workers} processes" if protocol.device == "cpu" else ""
    half = f" of the half “{protocol.half}”" if protocol.half else ""
    return Text(
        f"{protocol.questions:,} questions{half}, {protocol.dropped:.1f} % dropped as unknown; "
        f"{protocol.vocabulary:,} words to choose from; direction {protocol.direction}, "
        f"whitening {protocol.whitening:g}.\n"
        f"Model {protocol.model}, 3CosAdd on {protocol.vectors}; "
        f"{protocol.seconds:,.1f} s on {protocol.device}{workers}."
    )


def _table(kind: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column(kind, overflow="fold")
    for name in ("n", "dropped", *_NAMES.values()):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _add(table: Table, name: str, accuracy: Accuracy, scores: list[str]) -> None:
    # As Text, because BATS has brackets in its names.
    table.add_row(Text(name), f"{accuracy.n:,}", f"{accuracy.dropped:.1f}", *scores)


def _with_spread(accuracy: Accuracy, score: str) -> str:
    if score not in accuracy.scores:
        return _NOTHING
    low, high = accuracy.intervals[score]
    return f"{accuracy.scores[score]:.1f} ±{(high - low) / 2:.1f}"


def _with_alpha(accuracy: Accuracy, score: str) -> str:
    if score not in accuracy.scores:
        return _NOTHING
    alpha = f" {accuracy.alphas[score]:.2f}" if score in accuracy.alphas else ""
    return f"{accuracy.scores[score]:.1f}{alpha}"
