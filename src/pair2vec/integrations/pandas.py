"""pandas: the relations of the pairs of words in two columns of a frame."""

from collections.abc import Hashable

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.integrations import ModelLike, missing_extra, open_model
from pair2vec.relations.relations import Relations

try:
    import pandas as pd
except ImportError as error:
    raise missing_extra("pandas", "pandas") from error

RELATION, PROBABILITY = "relation", "probability"
"""The columns that are added."""


def relate_frame(
    frame: pd.DataFrame,
    x: Hashable = "x",
    y: Hashable = "y",
    *,
    model: ModelLike = None,
    relations: Relations | None = None,
    unrelated: float | None = None,
    every: bool = False,
) -> pd.DataFrame:
    """A copy of a frame with two more columns, ``relation`` and ``probability``.

    They are missing (NaN) where a word is out of the vocabulary, or is no text. Each distinct pair
    is computed once.

    Args:
        frame: With a column of words x and one of words y.
        x: The name of the first.
        y: The name of the second.
        model: An opened model, or what `pair2vec.load` opens.
        relations: As in `Pair2vec.relate_many`.
        unrelated: As in `Pair2vec.relate_many`.
        every: Add a column for the probability of each relation, named as the relation is.

    Raises:
        UsageError: a column is not there or there twice, or one that is to be added is there.
    """
    pairs = list(zip(_column(frame, x), _column(frame, y), strict=True))
    distinct = list(
        dict.fromkeys((a, b) for a, b in pairs if isinstance(a, str) and isinstance(b, str))
    )
    batch = open_model(model).relate_many(
        distinct, unknown="zero", relations=relations, unrelated=unrelated
    )
    row_of: dict[tuple[object, object], int] = {
        distinct[row]: row for row in np.flatnonzero(batch.known).tolist()
    }
    rows = np.array([row_of.get(pair, -1) for pair in pairs], np.intp)
    is_known = rows >= 0
    names = np.full(len(pairs), np.nan, object)
    names[is_known] = batch.names[rows[is_known]]
    probabilities = np.full((len(pairs), len(batch.relations)), np.nan, np.float32)
    probabilities[is_known] = batch.probabilities[rows[is_known]]
    added = {RELATION: names, PROBABILITY: probabilities.max(axis=1)}
    if every:
        added |= dict(zip(batch.relations, probabilities.T, strict=True))
    if taken := [name for name in added if name in frame.columns]:
        raise UsageError(f"the frame has a column {taken[0]!r} already; rename or drop it")
    return frame.assign(**{name: pd.Series(v, frame.index) for name, v in added.items()})


def _column(frame: pd.DataFrame, name: Hashable) -> list[object]:
    count = list(frame.columns).count(name)
    if count != 1:
        known = ", ".join(map(repr, frame.columns))
        raise UsageError(f"the frame has {count or 'no'} columns {name!r}; there are {known}")
    values: list[object] = frame[name].tolist()
    return values
