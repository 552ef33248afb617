"""The report on slots: the paper's table, and what models put into it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pair2vec.display.grid import MISSING, Grid
from pair2vec.display.report_part import Part
from pair2vec.evaluation.results import Result
from pair2vec.evaluation.slot_table import ANSWERS, SlotRow, paper_rows


def slots_part(results: Sequence[Result], recorded: Mapping[str, Any], model: str) -> Part:
    """`tab:kbc_word_prediction`.

    Args:
        results: Of the task slots.
        recorded: What the config of `model` says of slots; {} if nothing.
        model: Its name.
    """
    filled = [{(r["pattern"], r["x"]): r for r in result["rows"]} for result in results]
    names = [str(result["model"]) for result in results] or ["measured"]
    rows = [
        (row.relation, row.pattern, row.x, _printed(row), *(_said(f, row) for f in filled or [{}]))
        for row in paper_rows()
    ]
    notes = [f"The first {ANSWERS} words; * marks those that are right, by the paper or by us."]
    notes += [f"{name}: {_right(result)}" for name, result in zip(names, results, strict=False)]
    if recorded:
        own = {"metrics": recorded, "protocol": recorded}
        notes.append(f"{model}, by its config: {_right(own)}")
    head = ("relation", "pattern", "X", "Y, the paper's", *(f"Y, {name}" for name in names))
    grid = Grid("Slot filling (tab:kbc_word_prediction)", head, rows, labels=len(head))
    return Part("Slots", [grid], notes)


def _printed(row: SlotRow) -> str:
    return ", ".join(f"{word}*" if word in row.right else word for word in row.paper)


def _said(filled: Mapping[tuple[str, str], Mapping[str, Any]], row: SlotRow) -> str:
    if (found := filled.get((row.pattern, row.x))) is None:
        return MISSING
    if found.get("unknown"):
        return f"unknown: {', '.join(found['unknown'])}"
    words = [match["word"] for match in found["matches"]]
    return ", ".join(f"{word}*" if word in found["right"] else word for word in words)


def _right(result: Mapping[str, Any]) -> str:
    metrics, prior = result["metrics"], result["protocol"].get("prior", 0)
    shown = f"a right word in {metrics['right_rows']} of {metrics['rows']} rows"
    return f"{shown}, prior {prior:g}" if prior else shown
