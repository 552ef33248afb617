"""Declared parameters of an endpoint: parsed from a query string or JSON, described for OpenAPI."""

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pair2vec.errors import UsageError

ValueType = Literal["string", "strings", "integer", "number", "boolean"]

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_short = reprlib.Repr()
"""How messages show values: nested ones not wholly, as a client can nest them deeply."""
_short.maxstring = _short.maxlong = _short.maxother = 70


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    name: str
    description: str
    value_type: ValueType = "string"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    max_length: int = 64
    """Characters of a string."""
    max_items: int = 16
    """Of a list of strings."""

    def parse(self, value: object) -> Any:  # noqa: ANN401 - of the parameter's type
        """The value in the parameter's type.

        Args:
            value: From JSON; or a string or several, from a query string.

        Raises:
            UsageError: it is of another type or out of range.
        """
        if self.value_type == "strings":
            return self._strings(value if isinstance(value, list) else [value])
        if isinstance(value, list):
            raise UsageError(f"{self.name} is given {len(value)} times; give it once")
        if self.value_type == "string":
            return self._string(value)
        if self.value_type == "boolean":
            return self._boolean(value)
        return self._number(value)

    def schema(self) -> dict[str, object]:
        """As JSON Schema."""
        text: dict[str, object] = {"type": "string", "maxLength": self.max_length}
        if self.value_type == "strings":
            return {"type": "array", "items": text, "maxItems": self.max_items}
        if self.value_type != "string":
            text = {"type": self.value_type}
        bounds = {"enum": list(self.choices) or None, "default": self.default}
        bounds |= {"minimum": self.minimum, "maximum": self.maximum}
        return text | {name: value for name, value in bounds.items() if value is not None}

    def _strings(self, values: list[object]) -> list[str]:
        if len(values) > self.max_items:
            raise UsageError(f"{self.name}: {len(values)} are too many; at most {self.max_items}")
        return [self._string(value) for value in values]

    def _string(self, value: object) -> str:
        if not isinstance(value, str):
            raise UsageError(f"{self.name} is {_short.repr(value)}; it must be a string")
        if len(value) > self.max_length:
            raise UsageError(
                f"{self.name} has {len(value):,} characters; it may have {self.max_length}"
            )
        if self.choices and value not in self.choices:
            raise UsageError(
                f"{self.name} is {value!r}; it must be one of {', '.join(self.choices)}"
            )
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise UsageError(f"{self.name} is {value!r}, which has half of a surrogate pair")
        return value

    def _boolean(self, value: object) -> bool:
        given = str(value) if isinstance(value, str | int) else ""
        parsed = value if isinstance(value, bool) else _BOOLEANS.get(given)
        if parsed is None:
            raise UsageError(f"{self.name} is {_short.repr(value)}; it must be true or false")
        return parsed

    def _number(self, value: object) -> int | float:
        number = _as_number(value)
        if self.value_type == "integer" and number.is_integer():
            number = int(number)
        if math.isnan(number) or (self.value_type == "integer" and isinstance(number, float)):
            expected = "a whole number" if self.value_type == "integer" else "a number"
            raise UsageError(f"{self.name} is {_short.repr(value)}; it must be {expected}")
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        if not low <= number <= high:
            raise UsageError(f"{self.name} is {number:g}; it must be from {low:g} to {high:g}")
        return number


def _as_number(value: object) -> float:
    """NaN for what is no finite number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return math.nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def parse_parameters(
    parameters: Sequence[Parameter], values: Mapping[str, object]
) -> dict[str, Any]:
    """The values in the parameters' types, with defaults for those that are missing or empty.

    Raises:
        UsageError: a required one is missing, one is unknown, or one is not valid.
    """
    known = {parameter.name for parameter in parameters}
    for name in values:
        if name not in known:
            raise UsageError(
                f"{_short.repr(name)} is not a parameter; there are {', '.join(sorted(known))}"
            )
    return {parameter.name: _parse_or_default(parameter, values) for parameter in parameters}


def _parse_or_default(parameter: Parameter, values: Mapping[str, object]) -> Any:  # noqa: ANN401
    value = values.get(parameter.name)
    if value is None or value in ("", []):
        if parameter.required:
            raise UsageError(f"{parameter.name} is missing: {parameter.description}")
        return parameter.default
    return parameter.parse(value)
