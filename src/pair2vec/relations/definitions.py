"""Definitions of relations: example pairs, patterns such as ``X is a kind of Y``, or both.

The built-in relations are in ``data/relations.toml``; a file of your own has the same form.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pair2vec.errors import InputError

NONE = "none"
"""The name of no relation."""

_ONLY_TAUGHT = frozenset({"location-of", "material-of", "occupation-of"})

_FIELDS = {"definition", "examples", "patterns", "symmetric", "inverse"}
_SLOT = re.compile(r"(?<!\w)[XY](?!\w)")
_OTHER = {"X": "Y", "Y": "X"}


@dataclass(frozen=True, kw_only=True)
class RelationDefinition:
    """A relation of x to y, as in: y is the opposite of x."""

    name: str
    definition: str = ""
    """In words."""
    examples: tuple[tuple[str, str], ...] = ()
    """Pairs of x and y."""
    patterns: tuple[str, ...] = ()
    """That they occur in; Y may come before X."""
    symmetric: bool = False
    """Whether it holds for (y, x) as well."""
    inverse: str = ""
    """The name of the relation of y to x, where it has one."""

    def inverted(self, name: str, definition: str) -> "RelationDefinition":
        """The relation of y to x."""
        return RelationDefinition(
            name=name,
            inverse=self.name,
            definition=definition,
            examples=tuple((y, x) for x, y in self.examples),
            patterns=tuple(map(swap_slots, self.patterns)),
            symmetric=self.symmetric,
        )

    @property
    def all_examples(self) -> tuple[tuple[str, str], ...]:
        """Those of a symmetric relation both ways."""
        swapped = tuple((y, x) for x, y in self.examples) if self.symmetric else ()
        return tuple(dict.fromkeys((*self.examples, *swapped)))

    @property
    def all_patterns(self) -> tuple[str, ...]:
        """Those of a symmetric relation both ways."""
        swapped = tuple(map(swap_slots, self.patterns)) if self.symmetric else ()
        return tuple(dict.fromkeys((*self.patterns, *swapped)))


def swap_slots(pattern: str) -> str:
    """The pattern with X for Y and Y for X."""
    return _SLOT.sub(lambda slot: _OTHER[slot.group()], pattern)


def has_slots_in_order(pattern: str) -> bool:
    """Whether X comes before Y."""
    return _SLOT.findall(pattern) != ["Y", "X"]


def read_definitions(path: Path | None = None) -> tuple[RelationDefinition, ...]:
    """The relations of a TOML file; None is the built-in ones.

    Raises:
        InputError: there is no such file, or it is not of the form of the built-in one.
    """
    file: Path | Traversable = path or files("pair2vec.relations") / "data" / "relations.toml"
    if not file.is_file():
        raise InputError(f"{file}: no such file; give a TOML file of relations")
    try:
        tables = tomllib.loads(file.read_bytes().decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file}: is not TOML: {error}") from error
    if not tables:
        raise InputError(f"{file}: has no relation; write one as [name] with examples below it")
    definitions = [_parse_definition(str(file), name, tables) for name in tables]
    inverses = {one.inverse: one.name for one in definitions if one.inverse}
    inverses |= {one.name: one.name for one in definitions if one.symmetric}
    return tuple(
        replace(one, inverse=one.inverse or inverses.get(one.name, "")) for one in definitions
    )


def fitted_definitions() -> tuple[RelationDefinition, ...]:
    """The built-in relations of a model without a relation head, which are fitted to examples.

    They lack the inverses of located-in, made-of and occupation, which a head is taught: as classes
    of their own these only take probability from the others (on held-out words, 75.0 instead of
    75.5 % are right).
    """
    return tuple(one for one in read_definitions() if one.name not in _ONLY_TAUGHT)


def _parse_definition(file: str, name: str, tables: Mapping[str, Any]) -> RelationDefinition:
    where = f"{file}, [{name}]"
    table = _check_table(where, name, tables[name])
    other = table.get("inverse")
    if other is None:
        return _parse_table(where, name, table)
    if other not in tables or not isinstance(tables[other], dict) or "inverse" in tables[other]:
        raise InputError(f"{where}: is the inverse of {other!r}, which has no examples of its own")
    original = _parse_definition(file, other, tables)
    return original.inverted(name, table.get("definition", ""))


def _check_table(where: str, name: str, table: object) -> dict[str, Any]:
    """The table, if it has no other fields than it may have."""
    if not isinstance(table, dict):
        raise InputError(f"{where}: is not a table; write [name] and the fields below it")
    if name == NONE:
        raise InputError(f"{where}: the name stands for no relation; give another")
    others = sorted(table.keys() - _FIELDS)
    if others:
        raise InputError(
            f"{where}: {others[0]!r} is not one of its fields, {', '.join(sorted(_FIELDS))}"
        )
    if not isinstance(table.get("symmetric", False), bool):
        raise InputError(f"{where}: symmetric must be true or false")
    return table


def _parse_table(where: str, name: str, table: Mapping[str, Any]) -> RelationDefinition:
    # A tab allows for phrases.
    examples = [
        [word.strip() for word in text.split("\t" if "\t" in text else None)]
        for text in _texts(where, "examples", table)
    ]
    for pair in examples:
        if len(pair) != 2:
            raise InputError(f"{where}: the example {' '.join(pair)!r} is not two words")
    patterns = _texts(where, "patterns", table)
    for pattern in patterns:
        if sorted(_SLOT.findall(pattern)) != ["X", "Y"]:
            raise InputError(f"{where}: the pattern {pattern!r} needs one X and one Y")
    if not examples and not patterns:
        raise InputError(f"{where}: has neither examples nor patterns")
    return RelationDefinition(
        name=name,
        definition=str(table.get("definition", "")),
        examples=tuple((x.lower(), y.lower()) for x, y in examples),
        patterns=tuple(patterns),
        symmetric=table.get("symmetric", False),
    )


def _texts(where: str, field: str, table: Mapping[str, Any]) -> Sequence[str]:
    texts = table.get(field, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f'{where}: {field} must be a list of texts, as in ["one", "two"]')
    return texts
