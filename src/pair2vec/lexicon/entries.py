"""What a lexicon says: which relation holds between two terms, how surely, and where it is said."""

from typing import NamedTuple

from pair2vec.lexicon.evidence import Evidence


class Entry(NamedTuple):
    """One relation between two terms: y is the `relation` of x."""

    x: str
    relation: str
    y: str
    probability: float
    evidence: list[Evidence]
