"""Part of the report: tables and a figure of the paper beside what was measured."""

from collections.abc import Sequence
from typing import NamedTuple

from pair2vec.display.alpha_plot import Curves
from pair2vec.display.grid import Grid


class Part(NamedTuple):
    """What one chapter says, before it is Markdown or HTML."""

    title: str
    grids: Sequence[Grid]
    notes: Sequence[str]
    """The protocol: what the figures depend on."""
    curves: Curves | None = None
    """Of the figure of accuracy against α; None in a chapter without, {} where it is missing."""


NO_CURVES = "The figure (fig:dlie) is missing: no stored run has accuracy by α."
NO_MATPLOTLIB = "The figure (fig:dlie) is not drawn: pip install 'pair2vec[plot]'."
