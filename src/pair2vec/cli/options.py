"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The model to ask: a folder, a bundled model, or owner/name on the hub.",
    ),
]
TopOption = Annotated[int, typer.Option("--top", min=1, help="The most to show.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, one object a line (docs/json.md).")
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
        help="How much pair vectors are evened out before they are compared: from 0, the paper's "
        "plain cosine, to 1.",
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
        help="What to do with words of a FILE that the model does not know: error or skip.",
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
    float,
    typer.Option(
        "--prior",
        help="The weight of the log of a word's frequency beside its fit; 0, the paper's, favours "
        "rare words.",
    ),
]
DeviceOption = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One setting, as training.batch=4096."),
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace what is at --out.")]
