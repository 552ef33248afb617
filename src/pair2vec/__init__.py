"""Learn from plain text which relation holds between two words."""

from importlib import import_module
from typing import TYPE_CHECKING

from pair2vec.version import __version__

if TYPE_CHECKING:
    from pair2vec.api import (
        PAPER_WEIGHTS,
        ComposedWord,
        Difference,
        Match,
        ModelCheck,
        Opposition,
        Pair2vec,
        PairArrow,
        PairBatch,
        PairMatch,
        PairPlane,
        PatternMatch,
        PatternQuestion,
        RelatedPair,
        Relation,
        RelationBatch,
        RelationClassifier,
        RelationMatch,
        RelationProbability,
        Relations,
        SlotWeights,
        Table,
        load,
    )

__all__ = [
    "PAPER_WEIGHTS",
    "ComposedWord",
    "Difference",
    "Match",
    "ModelCheck",
    "Opposition",
    "Pair2vec",
    "PairArrow",
    "PairBatch",
    "PairMatch",
    "PairPlane",
    "PatternMatch",
    "PatternQuestion",
    "RelatedPair",
    "Relation",
    "RelationBatch",
    "RelationClassifier",
    "RelationMatch",
    "RelationProbability",
    "Relations",
    "SlotWeights",
    "Table",
    "__version__",
    "load",
]

if not TYPE_CHECKING:  # which would accept any attribute of the package

    def __getattr__(name: str) -> object:
        """The public names, imported at first use: ``import pair2vec`` does not import numpy."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("pair2vec.api"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
