"""The command that puts every table of the paper beside what was measured."""

import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pair2vec.commands.options import ModelOption


def report(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Write the report here.", show_default=False)
    ],
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Files that --results of other commands wrote.")
    ] = Path("results"),
    model: ModelOption = None,
) -> None:
    """Write every table and the figure of the paper beside measured figures, as HTML and Markdown.

    Nothing is run: figures are from stored results and from the config of the model; what is not
    there is shown as missing.
    """
    from pair2vec.display.report_pages import check_report_place, report_parts, write_report
    from pair2vec.evaluation.results import read_results
    from pair2vec.model import find_model, load_model

    check_report_place(out)
    found = read_results(results)
    saved = load_model(find_model(model))
    name = saved.config.get("name") or saved.folder.resolve().name
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    head = [f"{len(found)} stored runs and the config of the model {name}, put together on {day}."]
    page = write_report(out, report_parts(found, saved.config, name), head)
    Console(highlight=False, soft_wrap=True).print(f"{page}: {len(found)} runs", markup=False)
