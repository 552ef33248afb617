"""Commands that say what a model knows."""

import json
import os
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console

from pair2vec.commands.messages import messages, say
from pair2vec.commands.nli_evaluation import nli
from pair2vec.commands.options import (
    DirectionOption,
    JsonOption,
    ModelOption,
    PriorOption,
    RecordOption,
    ResultsOption,
    WhiteningOption,
)
from pair2vec.commands.relations import relations
from pair2vec.commands.squad_evaluation import squad

eval_app = typer.Typer(help="Say what a model knows.", no_args_is_help=True)
eval_app.command()(nli)
eval_app.command()(squad)
eval_app.command()(relations)


@eval_app.command()
def bats(  # noqa: PLR0913, PLR0917 - the options of a command
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="BATS in its published folders; or a file in the format of Google's analogies.",
            show_default=False,
        ),
    ],
    vectors: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Vectors of single words for 3CosAdd, best from the same text as the model: "
            ".vec, GloVe .txt or .bin.",
            show_default=False,
        ),
    ],
    model: ModelOption = None,
    vocab: Annotated[
        int | None,
        typer.Option(min=1, help="Choose from the N most frequent words.", show_default="all"),
    ] = None,
    direction: DirectionOption = "both",
    whitening: WhiteningOption = None,
    half: Annotated[
        str | None,
        typer.Option(
            help="Every second relation of each group: choose, to choose settings by, or report.",
            show_default="all relations",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A group, or part of a relation's name; repeatable."),
    ] = None,
    device: Annotated[
        str, typer.Option(help="auto, cpu, cuda or cuda:N; cpu does without torch.")
    ] = "auto",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes on a CPU.", show_default="one a core")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw accuracy against α, as a .png.")
    ] = None,
    record: RecordOption = False,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer analogies with pair vectors, word vectors, and both.

    A question is dropped if the model or the word vectors lack one of its words.
    """
    from pair2vec.display.alpha_figure import AlphaFigure
    from pair2vec.display.alpha_plot import alpha_plot
    from pair2vec.display.analogy_table import analogy_tables
    from pair2vec.display.counting import shown_count
    from pair2vec.encoders.word_vectors import read_word_vectors
    from pair2vec.evaluation.analogy_exam import Exam, ExamConfig, find_exam_device, sit_exam
    from pair2vec.evaluation.analogy_sets import Half, chosen, half_of, read_analogies
    from pair2vec.evaluation.candidates import find_candidates
    from pair2vec.model import describe_model
    from pair2vec.query import load
    from pair2vec.query.analogies import Direction

    # What can fail comes before what takes long.
    saved = load(model).saved
    wanted = cast("Half | None", half)
    relations = chosen(half_of(read_analogies(data), wanted), only or [])
    config = ExamConfig(
        direction=cast("Direction", direction),
        whitening=whitening,
        device=find_exam_device(device),
        workers=workers or len(os.sched_getaffinity(0)),
    )
    figure = AlphaFigure(plot) if plot else None
    words = read_word_vectors(vectors, saved.vocabulary)
    exam = Exam(
        relations=relations,
        candidates=find_candidates(saved.vocabulary, words.vectors, words.found, vocab),
        data=str(data),
        half=wanted,
        vectors=str(vectors),
    )
    with shown_count("questions", messages) as report:
        result = sit_exam(saved, exam, config, report)
    curves = {name: group.by_alpha for name, group in result.accuracies.groups.items()}
    if figure:
        figure.draw(curves)
    if record:
        describe_model(saved.folder, {"metrics": {data.stem: result.metrics()}})
    if results is not None:
        from pair2vec.evaluation.model_results import result_of_analogies, write_result

        say(f"wrote {write_result(results, result_of_analogies(saved, result))}")
    if as_json:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        Console(highlight=False).print(alpha_plot(curves), analogy_tables(result), sep="\n\n")


@eval_app.command()
def slots(
    model: ModelOption = None,
    prior: PriorOption = 0.0,
    record: RecordOption = False,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fill the slots of the paper's table, and show the words beside the paper's."""
    from pair2vec.display.slot_rows import slot_rows
    from pair2vec.evaluation.slot_table import fill_rows, paper_rows
    from pair2vec.model import describe_model
    from pair2vec.query import load

    opened = load(model)
    rows = fill_rows(opened, paper_rows(), prior)
    right = sum(bool(row.right) for row in rows)
    if record:
        figures = {"right_rows": right, "rows": len(rows), "prior": prior}
        describe_model(opened.saved.folder, {"metrics": {"slots": figures}})
    if results is not None:
        from pair2vec.evaluation.model_results import result_of_slots, write_result

        say(f"wrote {write_result(results, result_of_slots(opened.saved, rows, prior))}")
    if as_json:
        content = {
            "model": str(opened.saved.folder),
            **({"prior": prior} if prior else {}),
            "rows": [row.to_json() for row in rows],
            "right_rows": right,
            "unknown_rows": sum(bool(row.unknown) for row in rows),
        }
        typer.echo(json.dumps(content, ensure_ascii=False))
    else:
        Console(highlight=False).print(slot_rows(rows, prior))
