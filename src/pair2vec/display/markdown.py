"""Text and rows of tables in Markdown."""

import re
from collections.abc import Iterable


def plain(text: str) -> str:
    """Text that Markdown takes for nothing but text, in one line."""
    return re.sub(r"([\\`*_\[\]<>|#$~&])", r"\\\1", " ".join(text.split()))


def table_row(cells: Iterable[str]) -> str:
    """Of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |"
