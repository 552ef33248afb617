"""A published set of analogies, whole or in part."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from pair2vec.errors import UsageError
from pair2vec.evaluation.analogies import Relation
from pair2vec.evaluation.bats import read_bats
from pair2vec.evaluation.google_analogies import read_google_analogies

Half = Literal["choose", "report"]
"""Of the relations: one to choose settings by, the other to report what they reach."""


def read_analogies(path: Path) -> list[Relation]:
    """BATS if it is a folder, Google's format if it is a file."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder; give a BATS folder or Google's file")
    return read_bats(path) if path.is_dir() else read_google_analogies(path)


def half_of(relations: Sequence[Relation], half: Half | None) -> list[Relation]:
    """Every second relation of each group in the order of their names; None is all.

    The first, the third and so on are those to "choose" by, the others those to "report": 5 and 5
    of each group of BATS.

    Raises:
        UsageError: there is no such half, or nothing is in it.
    """
    if half is None:
        return list(relations)
    if half not in get_args(Half):
        raise UsageError(f"half is {half!r}; it must be one of {', '.join(get_args(Half))}")
    by_group = defaultdict(list)
    for relation in relations:
        by_group[relation.group].append(relation.name)
    start = get_args(Half).index(half)
    names = {(group, name) for group in by_group for name in sorted(by_group[group])[start::2]}
    kept = [relation for relation in relations if (relation.group, relation.name) in names]
    if not kept:
        raise UsageError(f"half is {half!r}, but no group has the two relations to be halved")
    return kept


def chosen(relations: Sequence[Relation], names: Sequence[str]) -> list[Relation]:
    """The relations that have one of `names` as their group or in their own name; [] names all.

    Raises:
        UsageError: one of the names fits nothing.
    """
    for name in names:
        if not any(_fits(relation, name) for relation in relations):
            groups = ", ".join(sorted({relation.group for relation in relations}))
            raise UsageError(
                f"{name!r} is neither a group ({groups}) nor part of the name of any of the "
                f"{len(relations)} relations, such as {relations[0].name!r}"
            )
    return [r for r in relations if not names or any(_fits(r, name) for name in names)]


def _fits(relation: Relation, name: str) -> bool:
    return name.lower() == relation.group or name.lower() in relation.name.lower()
