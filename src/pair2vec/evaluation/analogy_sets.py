"""A published set of analogies, whole or in part."""

from collections.abc import Sequence
from pathlib import Path

from pair2vec.errors import UsageError
from pair2vec.evaluation.analogies import Relation
from pair2vec.evaluation.bats import read_bats
from pair2vec.evaluation.google_analogies import read_google_analogies


def read_analogies(path: Path) -> list[Relation]:
    """BATS if it is a folder, Google's format if it is a file."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder; give a BATS folder or Google's file")
    return read_bats(path) if path.is_dir() else read_google_analogies(path)


def chosen(relations: Sequence[Relation], names: Sequence[str]) -> list[Relation]:
    """The relations that have one of `names` as their group or in their own name; [] names all.

    Raises:
        UsageError: one of the names fits nothing.
    """
    for name in names:
        if not any(_fits(relation, name) for relation in relations):
            groups = ", ".join(sorted({relation.group for relation in relations}))
            raise UsageError(
                f"{name!r} is neither a group ({groups}) nor part of a relation's name, "
                f"such as {relations[0].name!r}"
            )
    return [r for r in relations if not names or any(_fits(r, name) for name in names)]


def _fits(relation: Relation, name: str) -> bool:
    return name.lower() == relation.group or name.lower() in relation.name.lower()
