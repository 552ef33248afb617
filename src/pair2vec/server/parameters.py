"""What a question to the API may say, read from an address or from JSON.

The same declarations make the description of the API (`openapi`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pair2vec.errors import UsageError

Kind = Literal["string", "strings", "integer", "number", "boolean"]

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """One thing a question says."""

    name: str
    says: str
    """For people."""
    kind: Kind = "string"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    longest: int = 64
    """Characters of a string."""
    most_strings: int = 16

    def read(self, given: object) -> Any:  # noqa: ANN401 - of the parameter's kind
        """A value as it is meant.

        Args:
            given: From JSON; or strings, from an address.

        Raises:
            UsageError: it is not what the parameter takes.
        """
        if self.kind == "strings":
            return self._strings(given if isinstance(given, list) else [given])
        if isinstance(given, list):
            raise UsageError(f"{self.name} is given {len(given)} times; give it once")
        if self.kind == "string":
            return self._string(given)
        if self.kind == "boolean":
            return self._boolean(given)
        return self._number(given)

    def schema(self) -> dict[str, object]:
        """In the terms of JSON Schema."""
        text: dict[str, object] = {"type": "string", "maxLength": self.longest}
        if self.kind == "strings":
            return {"type": "array", "items": text, "maxItems": self.most_strings}
        if self.kind != "string":
            text = {"type": self.kind}
        bounds = {"enum": list(self.choices) or None, "default": self.default}
        bounds |= {"minimum": self.least, "maximum": self.most}
        return text | {name: value for name, value in bounds.items() if value is not None}

    def _strings(self, given: list[object]) -> list[str]:
        if len(given) > self.most_strings:
            raise UsageError(f"{self.name}: {len(given)} are too many; at most {self.most_strings}")
        return [self._string(one) for one in given]

    def _string(self, given: object) -> str:
        if not isinstance(given, str):
            raise UsageError(f"{self.name} is {given!r}; it must be a string")
        if len(given) > self.longest:
            raise UsageError(
                f"{self.name} has {len(given):,} characters; it may have {self.longest}"
            )
        if self.choices and given not in self.choices:
            raise UsageError(
                f"{self.name} is {given!r}; it must be one of {', '.join(self.choices)}"
            )
        return given

    def _boolean(self, given: object) -> bool:
        found = given if isinstance(given, bool) else _BOOLEANS.get(str(given))
        if found is None:
            raise UsageError(f"{self.name} is {given!r}; it must be true or false")
        return found

    def _number(self, given: object) -> int | float:
        value = _as_number(given)
        if self.kind == "integer" and value.is_integer():
            value = int(value)
        if math.isnan(value) or (self.kind == "integer" and isinstance(value, float)):
            kind = "a whole number" if self.kind == "integer" else "a number"
            raise UsageError(f"{self.name} is {given!r}; it must be {kind}")
        least = -math.inf if self.least is None else self.least
        most = math.inf if self.most is None else self.most
        if not least <= value <= most:
            raise UsageError(f"{self.name} is {value:g}; it must be from {least:g} to {most:g}")
        return value


def _as_number(given: object) -> float:
    """What is written there; NaN for what is no number."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return math.nan
    try:
        value = float(given)
    except (ValueError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan


def read_all(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, Any]:
    """A question as it is meant, with the defaults of what it leaves out.

    Raises:
        UsageError: it says too little, too much, or something that cannot be.
    """
    known = {parameter.name for parameter in parameters}
    for name in given:
        if name not in known:
            raise UsageError(f"{name!r:.70} is not asked for; there are {', '.join(sorted(known))}")
    return {parameter.name: _read_one(parameter, given) for parameter in parameters}


def _read_one(parameter: Parameter, given: Mapping[str, object]) -> Any:  # noqa: ANN401
    value = given.get(parameter.name)
    if value is None or value in ("", []):
        if parameter.required:
            raise UsageError(f"{parameter.name} is missing: {parameter.says}")
        return parameter.default
    return parameter.read(value)
