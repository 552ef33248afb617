"""The report in Markdown."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation.results import RunResult
from pair2vec.experiments.report.figures import alpha_svg, inline_svg
from pair2vec.experiments.report.grid import (
    MISSING,
    NO_CURVES,
    NO_MATPLOTLIB,
    Grid,
    Part,
    plain,
    table_row,
)
from pair2vec.experiments.report.sections import (
    analogies_part,
    definitions_part,
    nli_part,
    pmi_part,
    qa_parts,
    runs_part,
    slots_part,
)
from pair2vec.runtime.storage import PARTIAL, write_file


def markdown_report(head: Sequence[str], parts: Sequence[Part], picture: str | None) -> str:
    """A title and lines below it, then the parts.

    Args:
        head: The title, and what the report is of.
        parts: In order.
        picture: The name of the file with the figure; None if it could not be drawn.
    """
    blocks = [f"# {plain(head[0])}", *map(plain, head[1:])]
    for part in parts:
        blocks += [f"## {plain(part.title)}", *_markdown_figure(part, picture)]
        blocks += [block for grid in part.grids for block in _markdown_table(grid)]
        blocks += ["\n".join(f"- {plain(note)}" for note in part.notes)] if part.notes else []
    return "\n\n".join(blocks) + "\n"


def _markdown_figure(part: Part, picture: str | None) -> list[str]:
    if part.curves is None:
        return []
    if not part.curves:
        return [NO_CURVES]
    return [f"![Accuracy against α]({picture})" if picture else NO_MATPLOTLIB]


def _markdown_table(grid: Grid) -> list[str]:
    rule = ["---"] * grid.labels + ["---:"] * (len(grid.head) - grid.labels)
    rows = [map(plain, grid.head), rule, *(map(plain, row) for row in grid.rows)]
    return [f"**{plain(grid.title)}**", "\n".join(map(table_row, rows))]


# == The report as one HTML page that needs nothing else: no script, no file, no other place.


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


def html_report(head: Sequence[str], parts: Sequence[Part], svg: str | None) -> str:
    """A title and lines below it, then the parts.

    Args:
        head: The title, and what the report is of.
        parts: In order.
        svg: The figure; None if it could not be drawn.
    """
    links = "\n".join(
        f'<a href="#part{number}">{escape(part.title)}</a>' for number, part in enumerate(parts)
    )
    body = [
        f"<h1>{escape(head[0])}</h1>",
        *(f"<p>{escape(line)}</p>" for line in head[1:]),
        f"<nav>{links}</nav>",
        *(_part(number, part, svg) for number, part in enumerate(parts)),
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


def _part(number: int, part: Part, svg: str | None) -> str:
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in part.notes)
    return "\n".join(
        [
            f'<section id="part{number}">\n<h2>{escape(part.title)}</h2>',
            *_figure(part, svg),
            *map(_table, part.grids),
            *([f"<ul>\n{notes}\n</ul>"] if notes else []),
            "</section>",
        ]
    )


def _figure(part: Part, svg: str | None) -> list[str]:
    if part.curves is None:
        return []
    if not part.curves:
        return [f'<p class="missing">{escape(NO_CURVES)}</p>']
    if svg is None:
        return [f'<p class="missing">{escape(NO_MATPLOTLIB)}</p>']
    return [f'<figure role="img" aria-label="Accuracy against α">{inline_svg(svg)}</figure>']


def _table(grid: Grid) -> str:
    head = "".join(_cell("th", n, text, grid.labels) for n, text in enumerate(grid.head))
    rows = "\n".join(
        f"<tr>{''.join(_cell('td', n, text, grid.labels) for n, text in enumerate(row))}</tr>"
        for row in grid.rows
    )
    return (
        f'<div class="wide"><table>\n<caption>{escape(grid.title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _cell(tag: str, number: int, text: str, labels: int) -> str:
    kinds = [*(["figure"] if number >= labels else []), *(["missing"] if text == MISSING else [])]
    named = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<{tag}{named}>{escape(text)}</{tag}>"


# == The report: every table and the figure of the paper beside what was measured, in a folder.


REPORT_PAGE = "index.html"
TEXT = "report.md"
PICTURE = "alpha.svg"
_FILES = {REPORT_PAGE, TEXT, PICTURE}

TITLE = "pair2vec: the paper's tables, measured"


def report_parts(results: Sequence[RunResult], config: Mapping[str, Any], model: str) -> list[Part]:
    """What the report says, from stored results alone.

    Args:
        results: Of any tasks.
        config: Of a model, whose recorded metrics fill in for results that there are not.
        model: Its name.
    """
    recorded = config.get("metrics", {})

    def of(task: str) -> list[RunResult]:
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
        write_file(folder / PICTURE, svg.encode())
    lines = [TITLE, *head]
    write_file(folder / TEXT, markdown_report(lines, parts, PICTURE if svg else None).encode())
    write_file(folder / REPORT_PAGE, html_report(lines, parts, svg).encode())
    return folder / REPORT_PAGE
