"""Pages of the documentation as blocks that can be run, and output compared leniently."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"[-−]?\d+\.\d+")
_ANY_LINES = {"...", "…"}


class Block(NamedTuple):
    kind: str
    line: int
    body: str


class Step(NamedTuple):
    """A command or a piece of Python, and what it must print; None where nothing is said."""

    kind: str
    line: int
    code: str
    expected: str | None


def pages() -> list[Path]:
    """The pages whose every command and snippet is executed."""
    docs = PROJECT / "docs"
    tutorials = sorted((docs / "tutorials").glob("*.md"))
    return [PROJECT / "README.md", *tutorials, docs / "how-to" / "integrations.md"]


def blocks(text: str) -> list[Block]:
    found = []
    for match in _FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] or "\n" for line in match["body"].splitlines(keepends=True))
        found.append(Block(match["kind"], text.count("\n", 0, match.start()) + 1, body))
    return found


def steps(text: str) -> list[Step]:
    """What is run of a page, in order: the commands of `console` blocks, and `python` blocks.

    A `text` block directly behind a `python` block is what it prints.
    """
    found = []
    all_blocks = blocks(text)
    ends = [*all_blocks[1:], Block("", 0, "")]
    for block, following in zip(all_blocks, ends, strict=True):
        if block.kind == "console":
            found += _commands(block)
        elif block.kind == "python":
            length = block.body.count("\n") + 2
            behind = text.splitlines()[block.line + length - 1 : following.line - 1]
            directly = following.kind == "text" and not any(map(str.strip, behind))
            expected = following.body if directly else None
            found.append(Step("python", block.line, block.body, expected))
    return found


def _commands(block: Block) -> list[Step]:
    found: list[Step] = []
    lines = block.body.splitlines()
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"line {block.line + 1 + at}: output without a command"
        start, command = at, [lines[at][2:]]
        while command[-1].endswith("\\"):
            at += 1
            command.append(lines[at].removeprefix("> "))
        at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("$ "):
            output.append(lines[at])
            at += 1
        expected = "\n".join(output)
        line = block.line + 1 + start
        found.append(Step("console", line, "\n".join(command), expected or None))
    return found


def matches(expected: str, printed: str) -> bool:
    """Whether a program printed what a page shows.

    Runs of white space are equal, blank lines do not count, numbers with a point agree to two
    digits behind it; a line of dots stands for any lines, and an ellipsis within a line for
    anything in it.
    """
    return _lines_match(_lines(expected), _lines(printed))


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _lines_match(expected: Sequence[str], printed: Sequence[str]) -> bool:
    if not expected:
        return not printed
    first, *rest = expected
    if first in _ANY_LINES:
        return any(_lines_match(rest, printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and _line_matches(first, printed[0]) and _lines_match(rest, printed[1:])


def _line_matches(expected: str, printed: str) -> bool:
    """Words by a regular expression in which each number is a group, then the numbers."""
    number = rf"({_NUMBER.pattern})"
    texts = [
        ".*?".join(re.escape(part) for part in re.split(r"…|\.\.\.", text))
        for text in _NUMBER.split(expected)
    ]
    found = re.fullmatch(number.join(texts), printed)
    shown = _NUMBER.findall(expected)
    return found is not None and all(
        abs(_value(one) - _value(other)) <= 0.01 + 1e-9
        for one, other in zip(shown, found.groups(), strict=True)
    )


def _value(number: str) -> float:
    return float(number.replace("−", "-"))
