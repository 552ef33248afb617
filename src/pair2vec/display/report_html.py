"""The report as one HTML page that needs nothing else: no script, no file, no other place."""

from collections.abc import Sequence
from html import escape

from pair2vec.display.grid import MISSING, Grid
from pair2vec.display.report_figure import inline_svg
from pair2vec.display.report_part import NO_CURVES, NO_MATPLOTLIB, Part

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
