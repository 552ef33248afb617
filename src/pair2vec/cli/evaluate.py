"""The outcome of an exam in analogies: tables, and the protocol in two lines."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import messages, say
from pair2vec.cli.nli import eval_nli
from pair2vec.cli.options import (
    DirectionOption,
    JsonOption,
    ModelOption,
    PriorOption,
    RecordOption,
    ResultsOption,
    WhiteningOption,
)
from pair2vec.cli.qa import eval_squad
from pair2vec.cli.relations import eval_relations

if TYPE_CHECKING:
    from pair2vec.experiments.evaluation.analogies import (
        AnalogyAccuracy,
        AnalogyProtocol,
        AnalogyResult,
    )
    from pair2vec.experiments.evaluation.slots import FilledRow


_NAMES = {
    "three_cos_add": "3CosAdd",
    "pair2vec": "pair2vec",
    "oracle_alpha": "oracle α",
    "heldout_alpha": "held-out α",
}
_NOTHING = "–"


def analogy_tables(result: AnalogyResult) -> Group:
    """Groups with intervals, then relations with the α they took."""
    from pair2vec.experiments.evaluation.analogies import SCORES

    groups, relations = _table("group"), _table("relation")
    for name, accuracy in result.accuracies.groups.items():
        _add(groups, name, accuracy, [_with_spread(accuracy, score) for score in SCORES])
    for name, accuracy in result.accuracies.relations.items():
        _add(relations, name, accuracy, [_with_alpha(accuracy, score) for score in SCORES])
    caption = Text(
        "Right answers in percent, ± half of a 95 % interval over the words asked about. Oracle α "
        "is the best for the very questions of a relation (the paper's), held-out α the best for "
        "the other relations of its group.",
        style="dim",
    )
    return Group(groups, relations, caption, protocol_lines(result.protocol))


def protocol_lines(protocol: AnalogyProtocol) -> Text:
    """What the figures depend on."""
    workers = f", {protocol.workers} processes" if protocol.device == "cpu" else ""
    half = f" of the half “{protocol.half}”" if protocol.half else ""
    return Text(
        f"{protocol.questions:,} questions{half}, {protocol.dropped:.1f} % dropped as unknown; "
        f"{protocol.vocabulary:,} words to choose from; direction {protocol.direction}, "
        f"whitening {protocol.whitening:g}.\n"
        f"Model {protocol.model}, 3CosAdd on {protocol.vectors}; "
        f"{protocol.seconds:,.1f} s on {protocol.device}{workers}."
    )


def _table(kind: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column(kind, overflow="fold")
    for name in ("n", "dropped", *_NAMES.values()):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _add(table: Table, name: str, accuracy: AnalogyAccuracy, scores: list[str]) -> None:
    # As Text, because BATS has brackets in its names.
    table.add_row(Text(name), f"{accuracy.n:,}", f"{accuracy.dropped:.1f}", *scores)


def _with_spread(accuracy: AnalogyAccuracy, score: str) -> str:
    if score not in accuracy.scores:
        return _NOTHING
    low, high = accuracy.intervals[score]
    return f"{accuracy.scores[score]:.1f} ±{(high - low) / 2:.1f}"


def _with_alpha(accuracy: AnalogyAccuracy, score: str) -> str:
    if score not in accuracy.scores:
        return _NOTHING
    alpha = f" {accuracy.alphas[score]:.2f}" if score in accuracy.alphas else ""
    return f"{accuracy.scores[score]:.1f}{alpha}"


# == The paper's slot-filling table beside a model's answers.


_RIGHT = "*"


def slot_rows(rows: Sequence[FilledRow], prior: float = 0.0) -> Group:
    """One row an x, and lines on what is right, what the paper has, and what was unknown.

    Args:
        rows: The table, filled.
        prior: With which it was.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    for name in ("pattern", "X"):
        table.add_column(name, no_wrap=True)
    for name in ("Y, the paper's", "Y, the model's"):
        table.add_column(name, overflow="fold")
    relation = ""
    for filled in rows:
        if filled.row.relation != relation:
            relation = filled.row.relation
            table.add_section()
            table.add_row(Text(relation, style="bold"))
        table.add_row(*_cells(filled))
    return Group(table, _closing(rows, prior))


def _cells(filled: FilledRow) -> tuple[Text, ...]:
    row = filled.row
    if filled.unknown:
        answers = Text(f"unknown: {', '.join(filled.unknown)}", style="dim")
    else:
        answers = Text(", ").join(
            _styled(match.word, filled.shared, "bold") + (_RIGHT * (match.word in filled.right))
            for match in filled.answers
        )
    paper = Text(", ").join(_styled(word, row.right, "italic") for word in row.paper)
    return Text(row.pattern), Text(row.x), paper, answers


def _styled(word: str, marked: Collection[str], style: str) -> Text:
    return Text(word, style if word in marked else "")


def _closing(rows: Sequence[FilledRow], prior: float) -> Text:
    from pair2vec.experiments.evaluation.slots import ANSWERS, PLACE

    right = sum(bool(filled.right) for filled in rows)
    shared = sum(len(filled.shared) for filled in rows)
    answers = sum(len(filled.answers) for filled in rows)
    lacking = [filled for filled in rows if filled.unknown]
    words = sorted({word for filled in lacking for word in filled.unknown})
    scored = f"Words are scored by R·C + {prior:g} · log of their share of the corpus.\n"
    return Text(
        f"{scored if prior else ''}"
        f"{right} of {len(rows)} rows have a word in the top {ANSWERS} that is right "
        f"(marked {_RIGHT}; criteria and lists: {PLACE}).\n"
        f"{shared} of the model's {answers} words are the paper's, too (bold); italic are those "
        f"the paper takes for right.\n{len(lacking)} of {len(rows)} rows have an unknown word"
        + (f": {', '.join(words)}." if words else ".")
    )


# == Commands that say what a model knows.


eval_app = typer.Typer(help="Say what a model knows.", no_args_is_help=True)
eval_app.command("nli")(eval_nli)
eval_app.command("squad")(eval_squad)
eval_app.command("relations")(eval_relations)


@eval_app.command("bats")
def eval_bats(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.api import load
    from pair2vec.cli.messages import show_count
    from pair2vec.experiments.evaluation.analogies import (
        AnalogyConfig,
        AnalogyExam,
        evaluate_analogies,
        find_analogy_device,
    )
    from pair2vec.experiments.evaluation.analogy_sets import (
        Half,
        chosen,
        find_answer_vocabulary,
        half_of,
        read_analogies,
    )
    from pair2vec.experiments.report.figures import AlphaFigure, alpha_plot
    from pair2vec.model.folder import describe_model
    from pair2vec.query.analogies import Direction
    from pair2vec.word_vectors.formats import read_word_vectors

    # What can fail comes before what takes long.
    saved = load(model).saved
    wanted = cast("Half | None", half)
    relations = chosen(half_of(read_analogies(data), wanted), only or [])
    config = AnalogyConfig(
        direction=cast("Direction", direction),
        whitening=whitening,
        device=find_analogy_device(device),
        workers=workers or len(os.sched_getaffinity(0)),
    )
    figure = AlphaFigure(plot) if plot else None
    words = read_word_vectors(vectors, saved.vocabulary)
    exam = AnalogyExam(
        relations=relations,
        candidates=find_answer_vocabulary(saved.vocabulary, words.vectors, words.found, vocab),
        data=str(data),
        half=wanted,
        vectors=str(vectors),
    )
    with show_count("questions", messages) as report:
        result = evaluate_analogies(saved, exam, config, report)
    curves = {name: group.by_alpha for name, group in result.accuracies.groups.items()}
    if figure:
        figure.draw(curves)
    if record:
        describe_model(saved.folder, {"metrics": {data.stem: result.metrics()}})
    if results is not None:
        from pair2vec.experiments.evaluation.results import result_of_analogies, write_model_result

        say(f"wrote {write_model_result(results, result_of_analogies(saved, result))}")
    if as_json:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        Console(highlight=False).print(alpha_plot(curves), analogy_tables(result), sep="\n\n")


@eval_app.command("slots")
def eval_slots(
    model: ModelOption = None,
    prior: PriorOption = 0.0,
    record: RecordOption = False,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fill the slots of the paper's table, and show the words beside the paper's."""
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.slots import fill_rows, paper_rows
    from pair2vec.model.folder import describe_model

    opened = load(model)
    rows = fill_rows(opened, paper_rows(), prior)
    right = sum(bool(row.right) for row in rows)
    if record:
        figures = {"right_rows": right, "rows": len(rows), "prior": prior}
        describe_model(opened.saved.folder, {"metrics": {"slots": figures}})
    if results is not None:
        from pair2vec.experiments.evaluation.results import result_of_slots, write_model_result

        say(f"wrote {write_model_result(results, result_of_slots(opened.saved, rows, prior))}")
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


# == The command that puts every table of the paper beside what was measured.


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
    from pair2vec.experiments.evaluation.results import read_results
    from pair2vec.experiments.report.pages import check_report_place, report_parts, write_report
    from pair2vec.model.folder import load_model
    from pair2vec.model.resolve import find_model

    check_report_place(out)
    found = read_results(results)
    saved = load_model(find_model(model))
    name = saved.config.get("name") or saved.folder.resolve().name
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    head = [f"{len(found)} stored runs and the config of the model {name}, put together on {day}."]
    page = write_report(out, report_parts(found, saved.config, name), head)
    Console(highlight=False, soft_wrap=True).print(f"{page}: {len(found)} runs", markup=False)
