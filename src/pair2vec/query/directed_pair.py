"""A pair in one direction: its vector, and the patterns that fit it best."""

from typing import NamedTuple

from pair2vec.query.matches import PatternMatch
from pair2vec.query.model import Pair2vec


class DirectedPair(NamedTuple):
    """R(x, y)."""

    x: str
    y: str
    norm: float
    """Of R, before it is brought to length one."""
    vector: list[float]
    """Of length one."""
    patterns: list[PatternMatch] | None
    """Those that fit best; None where the model keeps none."""

    @classmethod
    def of(cls, model: Pair2vec, x: str, y: str, *, top: int = 10) -> "DirectedPair":
        """That of two words, with the `top` patterns."""
        whole = model.pair(x, y, direction="forward", normalised=False)
        return cls(
            x,
            y,
            norm=float(whole @ whole) ** 0.5,
            vector=model.pair(x, y, direction="forward").tolist(),
            patterns=model.explain(x, y, top=top) if model.patterns else None,
        )

    def as_json(self) -> dict[str, object]:
        """As `docs/json.md` has it."""
        matches = self.patterns
        patterns = None if matches is None else [match._asdict() for match in matches]
        return {**self._asdict(), "patterns": patterns}
