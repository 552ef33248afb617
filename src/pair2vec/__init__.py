"""Learn from plain text which relation holds between two words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pair2vec.query import (
        Match,
        Pair2vec,
        PairBatch,
        PairMatch,
        PatternMatch,
        RelationClassifier,
        RelationMatch,
        Relations,
        load,
    )

__all__ = [
    "Match",
    "Pair2vec",
    "PairBatch",
    "PairMatch",
    "PatternMatch",
    "RelationClassifier",
    "RelationMatch",
    "Relations",
    "load",
]
__version__ = "0.1.0"

if not TYPE_CHECKING:  # which would take every misspelt name for one of these

    def __getattr__(name: str) -> object:
        """The names above, once they are asked for: importing this loads not even numpy."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pair2vec import query

        return getattr(query, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
