"""Arguments and options that several commands share."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from pair2vec.errors import UsageError

_Choice = TypeVar("_Choice", bound=str)

argument = partial(typer.Argument, show_default=False)
"""An argument whose help does not end with a default."""

CorpusArgument = Annotated[Path, argument(help="A corpus folder.")]
WordArgument = Annotated[str, argument()]
ModelFolderArgument = Annotated[str, argument(help="The model's folder.")]


def complete_model(incomplete: str) -> list[str]:
    """Bundled models for the shell's completion, which adds folders where none of these fits."""
    from pair2vec.model.resolve import bundled_models

    return [name for name in bundled_models() if name.startswith(incomplete)]


def complete_relation(ctx: typer.Context, incomplete: str) -> list[str]:
    """For the shell's completion, the relations that the model on the command line names."""
    from pair2vec.errors import Pair2vecError
    from pair2vec.model.folder import load_model
    from pair2vec.model.resolve import find_model
    from pair2vec.relations.definitions import NONE, read_definitions

    try:
        config = load_model(find_model(ctx.params.get("model"))).config
    except Pair2vecError:
        return []  # what is wrong is said when the command is run
    head = config.get("relations", {}).get("names")
    names = head or [definition.name for definition in read_definitions()]
    return [name for name in names if name.startswith(incomplete) and name != NONE]


ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        autocompletion=complete_model,
        help="The model to query: a folder, a bundled model, or owner/name on the hub.",
    ),
]
TopOption = Annotated[int, typer.Option("--top", min=1, help="The most to show.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, one object a line (docs/reference/json.md).")
]
RecordOption = Annotated[
    bool, typer.Option("--record", help="Write the figures into the model's config and card.")
]
ResultsOption = Annotated[
    Path | None,
    typer.Option("--results", metavar="FOLDER", help="Write a file of the run here."),
]
DirectionOption = Annotated[
    str,
    typer.Option(
        "--direction",
        help="Of the relation: forward, from x to y; backward, from y to x; or both.",
    ),
]
WhiteningOption = Annotated[
    float | None,
    typer.Option(
        "--whitening",
        min=0,
        max=1,
        help="How strongly pair vectors are whitened before they are compared: from 0, the "
        "paper's plain cosine, to 1.",
        show_default="0.5",
    ),
]
AmongOption = Annotated[
    Path | None,
    typer.Option(
        "--among",
        metavar="FILE",
        help="Choose from these words, one a line; - is standard input.",
        show_default="all words",
    ),
]
UnknownOption = Annotated[
    str,
    typer.Option(
        "--unknown",
        help="What to do with unknown words: of a FILE, error or skip; of queries on standard "
        "input, error or compose. Those of a single query are composed.",
    ),
]
UnknownWordOption = Annotated[
    str,
    typer.Option(
        "--unknown",
        help="What to do with unknown words of queries on standard input: error or compose. Those "
        "of a single query are composed.",
    ),
]
VectorsOption = Annotated[
    Path | None,
    typer.Option(
        "--vectors",
        metavar="FILE",
        help="Word vectors in a common format: carry over words that the model does not know.",
        show_default="none",
    ),
]
SearchOption = Annotated[
    str,
    typer.Option(
        "--search",
        help="exact scores every word; shortlist is many times as fast and may miss one.",
    ),
]
PriorOption = Annotated[
    float | None,
    typer.Option(
        "--prior",
        help="The weight of the log of a word's frequency beside its fit; 0 favours rare words.",
        show_default="0.2; the paper's 0",
    ),
]
PaperOption = Annotated[
    bool,
    typer.Option("--paper", help="Score as in the paper, by nothing but the fit of the pattern."),
]
AllWordsOption = Annotated[
    bool,
    typer.Option(
        "--all-words",
        help="Answer with punctuation, numbers, function words and pieces of words, too.",
    ),
]
RelationsOption = Annotated[
    Path | None,
    typer.Option(
        "--relations",
        metavar="FILE",
        help="Relations of your own, in TOML (docs/how-to/relations.md).",
        show_default="the built-in ones",
    ),
]
DeviceOption = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes.", show_default="one a core")
]
PrecisionOption = Annotated[
    str, typer.Option("--precision", help="float32, float16 or int8, on disk.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One setting, as training.batch=4096."),
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Resume from the last checkpoint.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace what is at --out.")]


def check_choice(option: str, value: str, choices: Sequence[_Choice]) -> _Choice:
    """The choice that is the value of an option.

    Raises:
        UsageError: it is none of the choices.
    """
    for choice in choices:
        if value == choice:
            return choice
    raise UsageError(f"{option} {value}: it must be one of {', '.join(choices)}")
