"""Ranges of settings: declared in the types of a config's fields, checked where it is made.

    batch: Annotated[int, Range(least=1, most=10_000)] = 600

Both ends are finite: NaN and infinities are in no range.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

from pair2vec.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """Numbers from `least` on, or `above` it, up to `most`, or `below` it."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    def __post_init__(self) -> None:
        assert (self.least is None) != (self.above is None), "one lower end"
        assert (self.most is None) != (self.below is None), "one upper end"

    def __contains__(self, value: float) -> bool:
        # Comparisons with NaN are false.
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        if self.least is not None:
            upper = f"{self.most:,}" if self.most is not None else f"below {self.below:,}"
            return f"from {self.least:,} to {upper}"
        upper = f"at most {self.most:,}" if self.most is not None else f"below {self.below:,}"
        return f"above {self.above:,} and {upper}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Names of which a setting is one."""

    names: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return value in self.names

    def __str__(self) -> str:
        return f"one of {', '.join(self.names)}"


Allowed = Range | OneOf

MAX_SIZE = 10_000
Size = Annotated[int, Range(least=1, most=MAX_SIZE)]
"""Of vectors and layers: memory grows with its square."""
BatchSize = Annotated[int, Range(least=1, most=10_000_000)]
Count = Annotated[int, Range(least=1, most=1_000_000_000_000)]
OptionalCount = Annotated[int, Range(least=0, most=1_000_000_000_000)]
"""0 is none, or leaves it to something else."""
Threads = Annotated[int, Range(least=0, most=1_024)]
"""Of torch on a CPU; 0 leaves it to torch."""
Seed = Annotated[int, Range(least=0, most=2**32 - 1)]
"""What the generators of numpy, torch and gensim all take."""
Share = Annotated[float, Range(least=0, most=1)]
PartialShare = Annotated[float, Range(least=0, below=1)]
"""Of what must not be left out wholly, as by dropout."""
Factor = Annotated[float, Range(above=0, most=1)]
LearningRate = Annotated[float, Range(least=0, most=10)]
"""0 trains nothing, which measures what is there."""
Decay = Annotated[float, Range(least=0, most=100)]
"""Of weights; decoupled, it is multiplied by the rate."""
GradientNorm = Annotated[float, Range(least=0, most=1_000_000_000)]
"""0 does not clip."""
Minutes = Annotated[float, Range(above=0, most=1_000_000)]


def declared_ranges(config: type) -> Mapping[str, Allowed]:
    """What the types of the fields of `config` allow, by their names."""
    ranges: dict[str, Allowed] = {}
    for name, hint in get_type_hints(config, include_extras=True).items():
        if get_origin(hint) is Annotated:
            (ranges[name],) = hint.__metadata__
        elif get_origin(hint) is Literal:
            ranges[name] = OneOf(get_args(hint))
    return ranges


def check_ranges(config: object) -> None:
    """Refuse a config with a value that the type of its field does not allow.

    Raises:
        UsageError: the message begins with the name of the setting.
    """
    for name, allowed in declared_ranges(type(config)).items():
        value = getattr(config, name)
        for item in value if isinstance(value, tuple) else (value,):
            if item not in allowed:
                raise UsageError(f"{name} is {value!r}; it must be {allowed}")
