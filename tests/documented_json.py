"""What docs/reference/json.md says that `--json` prints."""

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "json.md"


def shape(value: object) -> str:
    """A JSON value without its content: names and kinds."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {shape(part)}' for name, part in value.items())}}}"
    if isinstance(value, list):
        return f"[{shape(value[0])}]"
    return "number" if isinstance(value, int | float) else "text"


def documented_examples(command: str) -> list[dict[str, Any]]:
    """The answers to a command that the page shows, where they go over several lines."""
    (block,) = re.findall(r"```\n(.*?)```", section(command), re.DOTALL)
    answers = re.split(rf"^\$ pair2vec {command} .*\n", block, flags=re.MULTILINE)[1:]
    return [json.loads(answer.replace(", …", "")) for answer in answers]


def documented_names(command: str) -> set[str]:
    """All that is set as code in the section of a command."""
    return set(re.findall(r"`([^`]+)`", section(command)))


def section(command: str) -> str:
    """What the page says of a command."""
    return PAGE.read_text().split(f"\n## `{command}`\n")[1].split("\n## ")[0]
