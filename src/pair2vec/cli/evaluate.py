"""Commands that evaluate a model (``pair2vec eval``) and report on stored results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, cast, get_args

import typer
from rich.console import Group

from pair2vec.cli.messages import print_result, print_text, say, show_count
from pair2vec.cli.nli import eval_nli
from pair2vec.cli.options import (
    DirectionOption,
    JsonOption,
    ModelOption,
    RecordOption,
    RelationsOption,
    ResultsOption,
    WhiteningOption,
    check_choice,
)
from pair2vec.cli.qa import eval_squad

_VOCAB_HELP = "Choose from the N most frequent words."
_HALF_HELP = "Every second relation of each group: choose, to choose settings by, or report."
_SENTENCES_HALF_HELP = "Of the pairs, by their first sentence: choose, to choose by, or report."
_QUESTIONS_HALF_HELP = "Of the questions: choose, to choose settings by, or report."
_RelationSetOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="A set with train.tsv, val.tsv and test.tsv, such as BLESS: word, tab, word, tab, "
        "relation.",
        show_default="the built-in examples, by words held out",
    ),
]
_SlotsPriorOption = Annotated[
    float,
    typer.Option("--prior", help="The weight of the log of a word's frequency; 0 is the paper's."),
]
_WordVectorsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Vectors of single words, to compare with and to add: .vec, GloVe .txt or .bin.",
        show_default="those in the model",
    ),
]

eval_app = typer.Typer(help="Evaluate a model on benchmarks.", no_args_is_help=True)
eval_app.command("nli")(eval_nli)
eval_app.command("squad")(eval_squad)


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
    vectors: _WordVectorsOption = None,
    model: ModelOption = None,
    vocab: Annotated[int | None, typer.Option(min=1, help=_VOCAB_HELP, show_default="all")] = None,
    direction: DirectionOption = "both",
    whitening: WhiteningOption = None,
    half: Annotated[str | None, typer.Option(help=_HALF_HELP, show_default="all relations")] = None,
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

    A question is dropped if the model or the word vectors lack one of its words. Word vectors of
    a file, for 3CosAdd, are best from the same text as the model.
    """
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.analogies import (
        AnalogyBenchmark,
        AnalogyConfig,
        analogy_tables,
        evaluate_analogies,
        find_analogy_device,
    )
    from pair2vec.experiments.evaluation.analogy_sets import (
        Half,
        find_answer_vocabulary,
        read_analogies,
        read_answer_vectors,
        select_half,
        select_relations,
    )
    from pair2vec.experiments.evaluation.results import OWN_VECTORS, write_result
    from pair2vec.experiments.report.figures import AlphaFigure, alpha_plot
    from pair2vec.model.folder import describe_model
    from pair2vec.query.pair_encoder import Direction

    # What can fail comes before what takes long.
    opened = load(model)
    saved = opened.saved
    chosen_half = cast("Half | None", half)
    relations = select_relations(select_half(read_analogies(data), chosen_half), only or [])
    config = AnalogyConfig(
        direction=cast("Direction", direction),
        whitening=whitening,
        device=find_analogy_device(device),
        workers=workers or len(os.sched_getaffinity(0)),
    )
    figure = AlphaFigure(plot) if plot else None
    words, has_vector = read_answer_vectors(opened, vectors)
    benchmark = AnalogyBenchmark(
        relations=relations,
        candidates=find_answer_vocabulary(saved.vocabulary, words, has_vector, vocab),
        data=str(data),
        half=chosen_half,
        vectors=str(vectors or OWN_VECTORS),
    )
    with show_count("questions") as show:
        result = evaluate_analogies(saved, benchmark, config, show)
    curves = {name: group.by_alpha for name, group in result.accuracies.groups.items()}
    if figure:
        figure.draw(curves)
    if record:
        describe_model(saved.folder, {"metrics": {data.stem: result.metrics()}})
    if results is not None:
        say(f"wrote {write_result(results, result.to_run_result(saved))}")
    tables = Group(alpha_plot(curves), analogy_tables(result))
    print_result(result.to_json(), tables, as_json=as_json)


@eval_app.command("slots")
def eval_slots(
    model: ModelOption = None,
    prior: _SlotsPriorOption = 0.0,
    record: RecordOption = False,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fill the slots of the paper's table, and show the words beside the paper's."""
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.results import write_result
    from pair2vec.experiments.evaluation.slots import (
        fill_rows,
        paper_rows,
        result_of_slots,
        slot_metrics,
        slot_table,
    )
    from pair2vec.model.folder import describe_model

    opened = load(model)
    rows = fill_rows(opened, paper_rows(), prior)
    metrics = slot_metrics(rows)
    if record:
        describe_model(opened.saved.folder, {"metrics": {"slots": {**metrics, "prior": prior}}})
    if results is not None:
        say(f"wrote {write_result(results, result_of_slots(opened.saved, rows, prior))}")
    content = {
        "model": str(opened.saved.folder),
        **({"prior": prior} if prior else {}),
        "rows": [row.to_json() for row in rows],
        "right_rows": metrics["right_rows"],
        "unknown_rows": sum(bool(row.unknown) for row in rows),
    }
    print_result(content, slot_table(rows, prior), as_json=as_json)


@eval_app.command("fill")
def eval_fill(
    half: Annotated[str, typer.Option(help=_QUESTIONS_HALF_HELP)] = "report",
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask questions with known answers, as the paper scores words and as `fill` does by default."""
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.analogy_sets import Half
    from pair2vec.experiments.evaluation.fill_questions import (
        answer_fill_questions,
        fill_metrics,
        fill_table,
        read_fill_questions,
    )

    chosen_half: Half = check_choice("--half", half, get_args(Half))
    opened = load(model)
    questions = read_fill_questions(chosen_half)
    answered = answer_fill_questions(opened, questions)
    content = {
        "model": str(opened.saved.folder),
        "half": chosen_half,
        "metrics": fill_metrics(answered),
        "unknown": len(questions) - len(answered),
        "questions": [one.to_json() for one in answered],
    }
    print_result(content, fill_table(answered, len(questions)), as_json=as_json)


@eval_app.command("relations")
def eval_relations(  # noqa: PLR0913, PLR0917 - the options of a command
    data: _RelationSetOption = None,
    vectors: _WordVectorsOption = None,
    definitions: RelationsOption = None,
    model: ModelOption = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Of training.", show_default="chosen on the validation split"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the networks.")] = 0,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train relation classifiers on a set and test them, beside what words alone give.

    Without --data, test the built-in relations and their calibration on held-out words.
    """
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.built_in_relations import (
        calibration_table,
        evaluate_on_held_out_words,
        evaluate_on_labelled_pairs,
    )
    from pair2vec.experiments.evaluation.relations import (
        MLP_CONFIGS,
        evaluate_relations,
        read_relation_set,
        read_word_table,
        relation_tables,
    )
    from pair2vec.experiments.evaluation.results import OWN_VECTORS, write_result
    from pair2vec.relations.mlp import MlpConfig

    opened = load(model)
    built_in = opened.relations(definitions)
    if data is None:
        held_out = evaluate_on_held_out_words(opened, built_in)
        table = calibration_table({"words held out": held_out})
        print_result({"held_out_words": held_out.to_json()}, table, as_json=as_json)
        return
    relation_set = read_relation_set(data)
    result = evaluate_relations(
        opened,
        relation_set,
        read_word_table(opened, relation_set, vectors),
        vectors=str(vectors or OWN_VECTORS),
        configs=[MlpConfig(steps=steps)] if steps else MLP_CONFIGS,
        seed=seed,
        report=say,
    )
    on_val = evaluate_on_labelled_pairs(opened, built_in, relation_set.val)
    if results is not None:
        say(f"wrote {write_result(results, result.to_run_result(opened.saved))}")
    tables = [relation_tables(result)]
    if on_val is not None:
        tables.append(calibration_table({"val, by the built-in relations, untrained": on_val}))
    content = {**result.to_json(), "built_in_on_val": on_val and on_val.to_json()}
    print_result(content, Group(*tables), as_json=as_json)


@eval_app.command("relate")
def eval_relate(
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Pairs of held-out words: part, x, y, relation, and 1 if teachers labelled it.",
            show_default="WordNet's, in the package",
        ),
    ] = None,
    model: ModelOption = None,
    record: RecordOption = False,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure which relation a model says holds: on words it was not taught, and on everyday ones.

    WordNet's pairs of held-out words; opposites and synonyms of software talk; random pairs; and
    the judged lists of the explorer's Word tab.
    """
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.held_out_pairs import read_held_out_pairs
    from pair2vec.experiments.evaluation.relate import evaluate_relate, relate_tables
    from pair2vec.experiments.evaluation.results import write_result
    from pair2vec.model.folder import describe_model

    opened = load(model)
    result = evaluate_relate(opened, read_held_out_pairs(pairs), pairs, report=say)
    if record:
        describe_model(opened.saved.folder, {"metrics": {"relate": result.metrics()}})
    if results is not None:
        say(f"wrote {write_result(results, result.to_run_result(opened.saved))}")
    print_result(result.to_json(), relate_tables(result), as_json=as_json)


@eval_app.command("opposed")
def eval_opposed(
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Files of sentence pairs, .tsv, also compressed: label, sentence1, sentence2.",
            show_default=False,
        ),
    ],
    half: Annotated[str, typer.Option(help=_SENTENCES_HALF_HELP)] = "report",
    nli: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="SNLI's test set and Breaking NLI, to ask about too."),
    ] = None,
    model: ModelOption = None,
    record: RecordOption = False,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure what a model says of pairs of sentences that are the same, opposed or different."""
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.opposed import HALVES, evaluate_opposed, opposed_tables
    from pair2vec.experiments.evaluation.results import write_result
    from pair2vec.model.folder import describe_model

    chosen_half = check_choice("--half", half, HALVES)
    opened = load(model)
    result = evaluate_opposed(opened, data, half=chosen_half, nli=nli, report=say)
    if record:
        describe_model(opened.saved.folder, {"metrics": {"opposed": result.metrics()}})
    if results is not None:
        say(f"wrote {write_result(results, result.to_run_result(opened.saved, data, nli))}")
    print_result(result.to_json(), opposed_tables(result), as_json=as_json)


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
    from pair2vec.experiments.evaluation.results import model_name, read_results, today
    from pair2vec.experiments.report.pages import check_report_folder, report_parts, write_report
    from pair2vec.model.folder import load_model
    from pair2vec.model.resolve import find_model

    check_report_folder(out)
    runs = read_results(results)
    saved = load_model(find_model(model))
    name = model_name(saved)
    sources = f"{len(runs)} stored runs and the config of the model {name}"
    head = [f"{sources}, put together on {today()}."]
    page = write_report(out, report_parts(runs, saved.config, name), head, results)
    print_text(f"{page}: {len(runs)} runs")
