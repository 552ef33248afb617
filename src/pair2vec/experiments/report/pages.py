"""The report as HTML and Markdown: the tables and the figure of the paper, beside measurements.

The HTML page is one file that loads nothing else: no script, no image, no other site. Rows link to
the files of their runs, which stay where they are.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation.results import RunResult
from pair2vec.experiments.report.figures import alpha_svg, inline_svg
from pair2vec.experiments.report.grid import (
    MISSING,
    NOTHING,
    Grid,
    ReportPart,
    StoredRun,
    escaped,
    markdown_row,
)
from pair2vec.experiments.report.sections import (
    analogies_part,
    definitions_part,
    nli_part,
    pmi_part,
    qa_parts,
    relate_parts,
    runs_part,
    slots_part,
)
from pair2vec.rendering import markup_table
from pair2vec.runtime.jobs import LOCK_FILE, exclusive_lock
from pair2vec.runtime.storage import PARTIAL, write_file

REPORT_PAGE = "index.html"
REPORT_TEXT = "report.md"
REPORT_PICTURE = "alpha.svg"

_TITLE = "pair2vec: the paper's tables, measured"
_NO_CURVES = "The figure (fig:dlie) is missing: no stored run has accuracy by α."
_NO_MATPLOTLIB = "The figure (fig:dlie) is not drawn: pip install 'pair2vec[plot]'."


def report_parts(
    results: Sequence[RunResult], config: Mapping[str, Any], model: str
) -> list[ReportPart]:
    """The parts of the report, from stored results alone.

    Args:
        results: Of any tasks.
        config: Of a model, whose recorded metrics are used where results are missing.
        model: Its name.
    """
    recorded = config.get("metrics", {})
    results = [_with_own_name(result, config, model) for result in results]

    def of_task(task: str) -> list[RunResult]:
        return [result for result in results if result["task"] == task]

    return [
        analogies_part(of_task("bats"), recorded.get("bats", {}), model),
        slots_part(of_task("slots"), recorded.get("slots", {}), model),
        *relate_parts(of_task("relate")),
        nli_part(of_task("nli")),
        *qa_parts(of_task("qa")),
        pmi_part(of_task("pmi")),
        definitions_part(),
        runs_part(results),
    ]


def _with_own_name(result: RunResult, config: Mapping[str, Any], model: str) -> RunResult:
    """A run; one that is older than the model of its name is of an earlier one, which this says.

    The bundled model is replaced from time to time, and leaves its runs behind.
    """
    made, run = str(config.get("created", "")), str(result.get("date", ""))
    if result.get("model") != model or not run or run >= made:
        return result
    return {**result, "model": f"{model} (the one of {run}, replaced since)"}


def check_report_folder(folder: Path) -> None:
    """Refuse a path that holds anything but an earlier report.

    Raises:
        UsageError: it is a file, or a folder with other files.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another --out")
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    own = {REPORT_PAGE, REPORT_TEXT, REPORT_PICTURE, LOCK_FILE}
    others = [name for name in names if name not in own and not name.endswith(PARTIAL)]
    if others:
        raise UsageError(
            f"{folder}: is not a report and not empty ({others[0]}); give another --out"
        )


def write_report(
    folder: Path, parts: Sequence[ReportPart], head: Sequence[str], results: Path | None = None
) -> Path:
    """Write a report over an earlier one in `folder`: each file atomically, the page last.

    Args:
        folder: Of the report.
        parts: In order.
        head: Lines below the title.
        results: The folder of the files that rows link to, by the way from `folder`.
    """
    address = None if results is None else Path(os.path.relpath(results, folder)).as_posix()
    curves = next((part.curves for part in parts if part.curves), None)
    svg = alpha_svg(curves) if curves else None
    lines = [_TITLE, *head]
    text = _markdown_page(lines, parts, REPORT_PICTURE if svg else None, address)
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder):
        if svg is None:
            (folder / REPORT_PICTURE).unlink(missing_ok=True)
        else:
            write_file(folder / REPORT_PICTURE, svg.encode())
        write_file(folder / REPORT_TEXT, text.encode())
        write_file(folder / REPORT_PAGE, _html_page(lines, parts, svg, address).encode())
    return folder / REPORT_PAGE


def _markdown_page(
    head: Sequence[str], parts: Sequence[ReportPart], picture: str | None, results: str | None
) -> str:
    """A title and lines below it, then the parts.

    Args:
        head: The title, and what the report is of.
        parts: In order.
        picture: The name of the file with the figure; None if it could not be drawn.
        results: The relative address of the folder that rows link to.
    """
    blocks = [f"# {escaped(head[0])}", *map(escaped, head[1:])]
    for part in parts:
        blocks += [f"## {escaped(part.title)}", *_markdown_figure(part, picture)]
        blocks += [block for grid in part.grids for block in _markdown_table(grid, results)]
        blocks += ["\n".join(f"- {escaped(note)}" for note in part.notes)] if part.notes else []
    return "\n\n".join(blocks) + "\n"


def _markdown_figure(part: ReportPart, picture: str | None) -> list[str]:
    if part.curves is None:
        return []
    if not part.curves:
        return [_NO_CURVES]
    return [f"![Accuracy against α]({picture})" if picture else _NO_MATPLOTLIB]


def _markdown_table(grid: Grid, results: str | None) -> list[str]:
    columns = _run_columns(grid, results)
    rule = ["---"] * grid.labels + ["---:"] * (len(grid.head) - grid.labels)
    rows = [[*map(escaped, grid.head), *columns], [*rule, *["---"] * len(columns)]]
    for number, row in enumerate(grid.rows):
        cells = [escaped(dates) for dates in _dates(grid, number, columns)]
        links = (f"[{n}]({address})" for n, (_, address) in _links(grid, number, results))
        rows.append(
            [*map(escaped, row), *cells, *([" ".join(links) or NOTHING] if columns else [])]
        )
    return [f"**{escaped(grid.title)}**", "\n".join(map(markdown_row, rows))]


_DATE, _FILES = "date", "files"
"""Columns behind those of a table whose runs are known."""


def _run_columns(grid: Grid, results: str | None) -> list[str]:
    runs = [run for row in grid.runs for run in row]
    dated = any(run.date for run in runs)
    return [*([_DATE] if dated else []), _FILES] if runs and results is not None else []


def _dates(grid: Grid, number: int, columns: Sequence[str]) -> list[str]:
    """The cell with the dates of a row's runs, if there is such a column."""
    dates = sorted({run.date for run in grid.runs[number]}) if columns else []
    shown = " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else NOTHING
    return [shown] if _DATE in columns else []


def _links(
    grid: Grid, number: int, results: str | None
) -> Iterator[tuple[int, tuple[StoredRun, str]]]:
    """The runs of a row, numbered from 1, with the addresses of their files."""
    runs = grid.runs[number] if grid.runs and results is not None else ()
    return enumerate(((run, f"{quote(f'{results}/{run.file}')}") for run in runs), start=1)


_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #777; --ground: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
nav a { margin-right: 1rem; white-space: nowrap; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
.figure { text-align: right; white-space: nowrap; }
.missing, li { color: var(--quiet); }
tbody tr:hover { background: var(--ground); }
svg { width: 100%; max-width: 40rem; height: auto; }
"""


def _html_page(
    head: Sequence[str], parts: Sequence[ReportPart], svg: str | None, results: str | None
) -> str:
    """A title and lines below it, then the parts.

    Args:
        head: The title, and what the report is of.
        parts: In order.
        svg: The figure; None if it could not be drawn.
        results: The relative address of the folder that rows link to.
    """
    links = "\n".join(
        f'<a href="#part{number}">{escape(part.title)}</a>' for number, part in enumerate(parts)
    )
    body = [
        f"<h1>{escape(head[0])}</h1>",
        *(f"<p>{escape(line)}</p>" for line in head[1:]),
        f"<nav>{links}</nav>",
        *(_html_part(number, part, svg, results) for number, part in enumerate(parts)),
    ]
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(head[0])}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
            *body,
            "</body>\n</html>\n",
        ]
    )


def _html_part(number: int, part: ReportPart, svg: str | None, results: str | None) -> str:
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in part.notes)
    return "\n".join(
        [
            f'<section id="part{number}">\n<h2>{escape(part.title)}</h2>',
            *_html_figure(part, svg),
            *(_html_table(grid, results) for grid in part.grids),
            *([f"<ul>\n{notes}\n</ul>"] if notes else []),
            "</section>",
        ]
    )


def _html_figure(part: ReportPart, svg: str | None) -> list[str]:
    if part.curves is None:
        return []
    if not part.curves:
        return [f'<p class="missing">{escape(_NO_CURVES)}</p>']
    if svg is None:
        return [f'<p class="missing">{escape(_NO_MATPLOTLIB)}</p>']
    return [f'<figure role="img" aria-label="Accuracy against α">{inline_svg(svg)}</figure>']


def _html_table(grid: Grid, results: str | None) -> str:
    columns = _run_columns(grid, results)
    head = [_html_cell("th", n, text, grid.labels) for n, text in enumerate(grid.head)]
    head += [f"<th>{name}</th>" for name in columns]
    rows = (_html_row(grid, number, columns, results) for number in range(len(grid.rows)))
    return f'<div class="wide">{markup_table([head], rows, grid.title)}</div>'


def _html_row(grid: Grid, number: int, columns: Sequence[str], results: str | None) -> list[str]:
    cells = [_html_cell("td", n, text, grid.labels) for n, text in enumerate(grid.rows[number])]
    cells += [f"<td>{escape(dates)}</td>" for dates in _dates(grid, number, columns)]
    links = (
        f'<a href="{escape(address)}" title="{escape(run.file)}">{n}</a>'
        for n, (run, address) in _links(grid, number, results)
    )
    return [*cells, f"<td>{' '.join(links) or NOTHING}</td>"] if columns else cells


def _html_cell(tag: str, number: int, text: str, labels: int) -> str:
    kinds = [*(["figure"] if number >= labels else []), *(["missing"] if text == MISSING else [])]
    named = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<{tag}{named}>{escape(text)}</{tag}>"
