"""The paper's figure of accuracy against α (`fig:dlie`) as a picture."""

from importlib import import_module
from pathlib import Path

from pair2vec.display.alpha_plot import Curves
from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.evaluation.contest import ALPHAS


class AlphaFigure:
    """A picture to draw later: what would keep it from being drawn shows before a long exam."""

    def __init__(self, path: Path) -> None:
        try:
            # By name, because its types are not there where it is not.
            self._figure = import_module("matplotlib.figure").Figure(figsize=(6, 4), dpi=150)
        except ImportError as error:
            raise Pair2vecError("--plot needs matplotlib: pip install 'pair2vec[plot]'") from error
        kinds = self._figure.canvas.get_supported_filetypes()
        if path.suffix.removeprefix(".") not in kinds:
            raise UsageError(f"{path}: no kind of picture; its name must end in .png or .svg")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: no such folder; make it, or give another --plot")
        self._path = path

    def draw(self, curves: Curves) -> None:
        """One line a group."""
        axes = self._figure.subplots()
        for name, curve in curves.items():
            if curve:
                axes.plot(ALPHAS, curve, marker=".", label=name)
        axes.set_xlabel("α: 0 is 3CosAdd alone, 1 is pair2vec alone")
        axes.set_ylabel("accuracy, %")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend()
        self._figure.savefig(self._path, bbox_inches="tight")
