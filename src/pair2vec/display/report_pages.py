"""The report: every table and the figure of the paper beside what was measured, in a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pair2vec.atomic import PARTIAL, write_whole
from pair2vec.display.report_analogies import analogies_part
from pair2vec.display.report_figure import alpha_svg
from pair2vec.display.report_html import html_report
from pair2vec.display.report_markdown import markdown_report
from pair2vec.display.report_part import Part
from pair2vec.display.report_pmi import pmi_part
from pair2vec.display.report_slots import slots_part
from pair2vec.display.report_tasks import definitions_part, nli_part, qa_parts, runs_part
from pair2vec.errors import UsageError
from pair2vec.evaluation.results import Result

PAGE = "index.html"
TEXT = "report.md"
PICTURE = "alpha.svg"
_FILES = {PAGE, TEXT, PICTURE}

TITLE = "pair2vec: the paper's tables, measured"


def report_parts(results: Sequence[Result], config: Mapping[str, Any], model: str) -> list[Part]:
    """What the report says, from stored results alone.

    Args:
        results: Of any tasks.
        config: Of a model, whose recorded metrics fill in for results that there are not.
        model: Its name.
    """
    recorded = config.get("metrics", {})

    def of(task: str) -> list[Result]:
        return [result for result in results if result["task"] == task]

    return [
        analogies_part(of("bats"), recorded.get("bats", {}), model),
        slots_part(of("slots"), recorded.get("slots", {}), model),
        nli_part(of("nli")),
        *qa_parts(of("qa")),
        pmi_part(of("pmi")),
        definitions_part(),
        runs_part(results),
    ]


def check_report_place(folder: Path) -> None:
    """Refuse a place that holds something else than an earlier report.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another --out")
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in names if name not in _FILES and not name.endswith(PARTIAL)]
    if others:
        raise UsageError(
            f"{folder}: is not a report and not empty ({others[0]}); give another --out"
        )


def write_report(folder: Path, parts: Sequence[Part], head: Sequence[str]) -> Path:
    """Write a report over whatever one is in `folder`: each file whole, the page last."""
    curves = next((part.curves for part in parts if part.curves), None)
    svg = alpha_svg(curves) if curves else None
    folder.mkdir(parents=True, exist_ok=True)
    if svg is None:
        (folder / PICTURE).unlink(missing_ok=True)
    else:
        write_whole(folder / PICTURE, svg.encode())
    lines = [TITLE, *head]
    write_whole(folder / TEXT, markdown_report(lines, parts, PICTURE if svg else None).encode())
    write_whole(folder / PAGE, html_report(lines, parts, svg).encode())
    return folder / PAGE
