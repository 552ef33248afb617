"""Writes the references of commands and settings from the program itself when the site is built."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import typer


def on_page_markdown(markdown: str, **_: object) -> str:
    """Replace the markers of a page by what they stand for."""
    for marker, sections in GENERATED.items():
        if marker in markdown:
            markdown = markdown.replace(marker, "\n\n".join(sections()))
    return markdown


def commands() -> Iterator[str]:
    """Every command, its help, arguments and options."""
    from pair2vec.cli.main import app

    yield from _command_sections(typer.main.get_command(app), "pair2vec")


def recipes() -> Iterator[str]:
    """The recipes by name."""
    from pair2vec.training.recipes import RECIPES

    rows = [f"| `{name}` | {_cell(_prose(make.__doc__))} |" for name, make in RECIPES.items()]
    yield "\n".join(["| recipe | what it is |", "| --- | --- |", *rows])


def settings() -> Iterator[str]:
    """The settings by group, with the values of three recipes."""
    from pair2vec.training.recipes import RECIPES

    shown = [RECIPES[name]() for name in ("paper", "fast", "tiny")]
    for group in fields(shown[0]):
        configs = [getattr(recipe, group.name) for recipe in shown]
        if is_dataclass(configs[0]):
            yield from _group(group.name, ["paper", "fast", "tiny"], configs)


def continued() -> Iterator[str]:
    """The settings of going on from a model."""
    from pair2vec.training.recipes import ContinuedConfig

    yield from _group("continued", ["default"], [ContinuedConfig()])


def _group(name: str, columns: list[str], configs: list[Any]) -> Iterator[str]:
    """A group of settings, with its values in several recipes."""
    from pair2vec.ranges import declared_ranges

    meanings = _attribute_docstrings(type(configs[0]))
    ranges = declared_ranges(type(configs[0]))
    rows = []
    for setting in fields(configs[0]):
        first, *others = (_value(getattr(config, setting.name)) for config in configs)
        values = [first, *(value if value != first else "" for value in others)]
        meaning = _cell(meanings.get(setting.name, ""))
        allowed = ranges.get(setting.name, "")
        rows.append(f"| `{setting.name}` | {' | '.join(values)} | {allowed} | {meaning} |")
    yield f"### `{name}`\n\n{_prose(type(configs[0]).__doc__)}"
    head = f"| setting | {' | '.join(columns)} | range | meaning |"
    yield "\n".join([head, "| --- " * (3 + len(columns)) + "|", *rows])


GENERATED: dict[str, Callable[[], Iterator[str]]] = {
    "<!-- commands -->": commands,
    "<!-- recipes -->": recipes,
    "<!-- settings -->": settings,
    "<!-- continued -->": continued,
}


# click's classes, or typer's own: their names differ between versions of typer.
def _command_sections(command: Any, path: str) -> Iterator[str]:  # noqa: ANN401
    subcommands = getattr(command, "commands", {})
    if subcommands and path != "pair2vec":
        yield f"## `{path}`\n\n{_prose(command.help)}"
    elif not subcommands:
        level = "#" * (1 + path.count(" "))
        yield f"{level} `{path}`\n\n{_prose(command.help)}\n\n{_usage(command, path)}"
        if command.epilog:
            yield f"```bash\n{command.epilog.splitlines()[-1].strip()}\n```"
        yield from _parameters(command)
    for name, subcommand in subcommands.items():
        yield from _command_sections(subcommand, f"{path} {name}")


def _usage(command: Any, path: str) -> str:  # noqa: ANN401
    context = command.context_class(command, info_name=path)
    return f"```text\n{path} {' '.join(command.collect_usage_pieces(context))}\n```"


def _parameters(command: Any) -> Iterator[str]:  # noqa: ANN401
    context = command.context_class(command)
    for kind in ("argument", "option"):
        records = [
            parameter.get_help_record(context)
            for parameter in command.params
            if parameter.param_type_name == kind and not getattr(parameter, "hidden", False)
        ]
        rows = [f"| {_code(name)} | {_cell(text)} |" for name, text in filter(None, records)]
        if rows:
            yield "\n".join([f"| {kind} | meaning |", "| --- | --- |", *rows])


def _attribute_docstrings(owner: type) -> dict[str, str]:
    """The strings behind the fields of a class, by the fields' names."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    docstrings = {}
    for field, following in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            docstrings[field.target.id] = str(following.value.value)
    return docstrings


def _value(value: object) -> str:
    return f"`{value:.6g}`" if isinstance(value, float) else f"`{value}`"


def _prose(text: str | None) -> str:
    """A docstring as Markdown: its lines joined, its paragraphs kept."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _cell(text: str) -> str:
    """Text within a table: one line, with nothing that Markdown would read as markup."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
