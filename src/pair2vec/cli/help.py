"""The help of the command: its commands in groups, and an example of each."""

from typing import Any

import typer
from typer.core import TyperGroup

EXAMPLES = {
    "relate": "relate hot cold",
    "opposed": 'opposed "enable the cache" "disable the cache"',
    "fill": 'fill "in X , Y ." --x portland',
    "pair": "pair cheap expensive",
    "analogy": "analogy france paris japan",
    "nearest": "nearest hot cold --top 5",
    "neighbours": "neighbours cheap --relation antonym",
    "score": 'score hot cold "neither X nor Y"',
    "prepare": "prepare text.txt.gz --out corpus",
    "vectors": "vectors corpus --out words.vec",
    "train": "train corpus --out model --vectors words.vec",
    "teach": "teach corpus --out model --vectors words.vec",
    "lexicon": "lexicon corpus --words terms.txt --out lexicon.tsv",
    "pmi": 'pmi corpus hot cold "neither X nor Y"',
    "contexts": "contexts corpus hot cold --by pmi",
    "info": "info model",
    "check": "check model",
    "models": "models",
    "describe": 'describe model --name "my model" --licence cc-by-sa-4.0',
    "shrink": "shrink model --out small --words 20000",
    "push": "push model owner/name",
    "demo": "demo --out demo",
    "report": "report --out report --results results",
    "serve": "serve --port 8017",
    "explorer": "explorer --out site/",
    "mcp": "mcp",
    "eval bats": "eval bats --data BATS_3.0",
    "eval slots": "eval slots",
    "eval fill": "eval fill",
    "eval relations": "eval relations --data BLESS",
    "eval relate": "eval relate",
    "eval opposed": "eval opposed --data sentences",
    "eval nli": "eval nli --model classifier --data snli_test.jsonl",
    "eval squad": "eval squad --model answerer --data dev-v2.0.json",
    "nli train": "nli train --train snli_train.jsonl --dev snli_dev.jsonl --out classifier",
    "nli predict": 'nli predict "He sleeps." "He is awake." --model classifier',
    "nli compare": "nli compare base classifier --data snli_test.jsonl --out comparison",
    "nli table": "nli table results",
    "qa train": "qa train --train train-v2.0.json --dev dev-v2.0.json --out answerer",
    "qa answer": 'qa answer "Who wrote it?" --passage page.txt --model answerer',
}
"""By command, without ``pair2vec``."""


class GroupedCommands(TyperGroup):
    """A command whose help lists its subcommands by panel, in plain text."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - click's, or typer's own
        panels: dict[str, list[tuple[str, Any]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if not command.hidden:
                panels.setdefault(command.rich_help_panel, []).append((name, command))
        longest = max(len(name) for panel in panels.values() for name, _ in panel)
        width = formatter.width - 6 - longest
        for panel, commands in panels.items():
            with formatter.section(panel):
                # The names of all panels as wide as the longest, so that the columns are in line.
                formatter.write_dl(
                    [(n.ljust(longest), c.get_short_help_str(width)) for n, c in commands]
                )


def example_of(path: str) -> str | None:
    """What follows the help of a command: an example of it."""
    return f"\b\nExample:\n  pair2vec {EXAMPLES[path]}" if path in EXAMPLES else None


def add_examples(app: typer.Typer, group: str) -> None:
    """Put examples behind the help of a group's commands."""
    for command in app.registered_commands:
        command.epilog = example_of(f"{group} {command.name}")
