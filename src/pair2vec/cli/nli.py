"""``pair2vec nli`` and ``pair2vec eval nli``: train a classifier, evaluate, explain, compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import print_result, print_table, print_text
from pair2vec.cli.options import JsonOption, ResultsOption, TopOption, argument
from pair2vec.cli.tasks import (
    DevOption,
    LoadingOptions,
    OutOption,
    PairsOption,
    TrainingOptions,
    files_option,
    flatten_options,
    network_option,
    report_evaluation,
    run_training,
)
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.experiments.nli.classifier import Explanation

_WORDNET_RULE = "wordnet"
"""In place of a classifier's folder."""

nli_app = typer.Typer(
    help="Natural language inference: ESIM, with and without pair vectors.", no_args_is_help=True
)


@nli_app.command("compare")
@flatten_options
def nli_compare(
    base: Annotated[Path, argument(help="The classifier to compare with.")],
    model: Annotated[Path, argument(help="The classifier to explain.")],
    data: Annotated[Path, files_option("Breaking-NLI, SNLI or MultiNLI jsonl.")],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Write the page here.", show_default=False)
    ],
    examples: Annotated[int, typer.Option(min=1, max=100, help="The most to show.")] = 10,
    *,
    options: LoadingOptions,
) -> None:
    """Write a page on two classifiers: accuracies by category, and examples explained.

    --words and the like say where inputs are, of both classifiers, that have moved since they were
    trained.
    """
    from pair2vec.experiments.evaluation.results import today
    from pair2vec.experiments.nli.classifier import load_classifier
    from pair2vec.experiments.nli.comparison import compare_classifiers
    from pair2vec.experiments.nli.comparison_page import (
        CATEGORIES,
        EXAMPLES,
        ComparisonFigures,
        ComparisonProtocol,
        check_page_folder,
        comparison_page,
        write_page,
    )
    from pair2vec.experiments.nli.examples import distinct_words, read_nli_set

    # What can fail comes before what takes long.
    names = _compared_names(base, model)
    check_page_folder(out)
    figures = ComparisonFigures(*names)
    nli = read_nli_set(data)
    words = distinct_words(nli.examples)
    first, second = (
        load_classifier(folder, words, **options.load_options()) for folder in (base, model)
    )
    comparison = compare_classifiers(first, second, nli.examples, examples)
    protocol = ComparisonProtocol(
        base=names[0],
        model=names[1],
        base_config=first.config,
        model_config=second.config,
        data=data.name,
        dropped=nli.dropped,
        date=today(),
    )
    pictures = {CATEGORIES: figures.categories(comparison)}
    if comparison.examples:
        pictures[EXAMPLES] = figures.examples(comparison)
    page = write_page(out, comparison_page(comparison, protocol), pictures)
    gain = comparison.overall
    print_text(
        f"{page}: {names[0]} {gain.base.accuracy:.2f} %, {names[1]} {gain.model.accuracy:.2f} % "
        f"right of {gain.base.n:,} examples"
    )


def _compared_names(base: Path, model: Path) -> tuple[str, str]:
    """The names of the two folders, made distinct.

    Raises:
        UsageError: it is one classifier twice.
    """
    if base.resolve() == model.resolve():
        raise UsageError(f"{base}: is compared with itself; name two classifiers")
    names = base.resolve().name, model.resolve().name
    return names if len(set(names)) == 2 else (f"{names[0]} (base)", f"{names[1]} (model)")


@nli_app.command("train")
@flatten_options
def nli_train(
    train: Annotated[list[Path], files_option("SNLI or MultiNLI jsonl; repeatable.")],
    dev: DevOption,
    out: OutOption,
    model: Annotated[str, typer.Option(help="esim; or kim, which needs --pairs wordnet.")] = "esim",
    pairs: PairsOption = "pair2vec",
    *,
    options: TrainingOptions,
) -> None:
    """Train a classifier on labelled examples.

    Ctrl-C writes a checkpoint first; --resume continues from the last one.
    """
    from pair2vec.experiments.nli.classifier import NliSettings, nli_settings
    from pair2vec.experiments.nli.train import NliData, train_classifier

    def settings(assignments: Iterable[str], seed: int) -> NliSettings:
        return nli_settings([f"model={model}", *assignments], seed)

    score = "{:.2f} % of dev right"
    data = partial(NliData.read, train, dev)
    run_training(train_classifier, out, data, settings, score, pairs, options)


@nli_app.command("predict")
@flatten_options
def nli_predict(
    premise: Annotated[str, argument(help="What is known to be true.")],
    hypothesis: Annotated[str, argument(help="What may follow.")],
    model: Annotated[Path, network_option("A trained classifier.")],
    top: TopOption = 10,
    *,
    options: LoadingOptions,
    as_json: JsonOption = False,
) -> None:
    """Label a premise and a hypothesis, and show the pairs of words that mattered most.

    --words and the like say where inputs are that have moved since the classifier was trained.
    """
    from pair2vec.experiments.nli.classifier import explain, load_classifier
    from pair2vec.experiments.nli.examples import NliExample, distinct_words, tokenise

    example = NliExample(tokenise(premise), tokenise(hypothesis), "")
    if not example.premise or not example.hypothesis:
        raise UsageError("premise and hypothesis must each have a word")
    classifier = load_classifier(model, distinct_words([example]), **options.load_options())
    explanation = explain(classifier, example, top)
    content = {
        "premise": premise,
        "hypothesis": hypothesis,
        "label": explanation.label,
        "probabilities": explanation.probabilities,
        "pairs": [pair._asdict() for pair in explanation.attributions],
    }
    table = explanation_table(explanation, (premise, hypothesis))
    print_result(content, table, as_json=as_json)


def explanation_table(explanation: Explanation, sentences: Sequence[str]) -> Group:
    """The label and its probability, then the pairs of words that it is due to."""
    shares = ", ".join(f"{name} {share:.1%}" for name, share in explanation.probabilities.items())
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in ("premise", "hypothesis"):
        table.add_column(name)
    for name in ("through pairs", "through words", "attention"):
        table.add_column(name, justify="right", no_wrap=True)
    for pair in explanation.attributions:
        numbers = (f"{pair.pairs:+.3f}", f"{pair.words:+.3f}", f"{pair.attention:.2f}")
        table.add_row(Text(pair.premise), Text(pair.hypothesis), *numbers)
    caption = (
        f"What each pair adds to the score of “{explanation.label}” less the mean of the others, "
        "to first order: by the pair's relation vector, and by the alignment of its words."
    )
    premise, hypothesis = sentences
    return Group(
        Text(f"“{premise}” → “{hypothesis}”: {explanation.label}", style="bold"),
        Text(shares),
        table,
        Text(caption, style="dim"),
    )


@nli_app.command("table")
def nli_table(
    results: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Files that eval nli wrote.")
    ] = Path("results"),
) -> None:
    """Show the paper's tables of NLI, measured beside printed."""
    from pair2vec.experiments.nli.results import read_nli_results
    from pair2vec.experiments.nli.tables import nli_summaries, summary_tables

    for summary in nli_summaries(read_nli_results(results)):
        print_table(summary_tables(summary))


@flatten_options
def eval_nli(
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="A trained classifier; or wordnet, the rule that has no classifier.",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="SNLI, MultiNLI or Breaking-NLI jsonl; repeatable."),
    ] = None,
    named: Annotated[
        list[str] | None,
        typer.Option(
            "--as", metavar="NAME=FILE", help="A file whose set is not recognised, and its name."
        ),
    ] = None,
    results: ResultsOption = None,
    *,
    options: LoadingOptions,
    as_json: JsonOption = False,
) -> None:
    """Label examples of SNLI, MultiNLI and Breaking NLI, and count the right ones.

    --words and the like say where inputs are that have moved since the classifier was trained.
    """
    from pair2vec.experiments.nli.classifier import load_classifier
    from pair2vec.experiments.nli.evaluate import evaluate_nli, read_nli_sets, wordnet_labeller
    from pair2vec.experiments.nli.examples import distinct_words
    from pair2vec.experiments.nli.results import result_of_classifier, result_of_rule
    from pair2vec.experiments.nli.tables import accuracy_tables
    from pair2vec.wordnet.dictionary import WordNet

    if model is None:
        raise UsageError("name a classifier as --model, or say --model wordnet")
    sets = read_nli_sets(data or [], named or [])
    paths = [*(data or []), *(text.partition("=")[2] for text in named or [])]
    files = dict(zip(sets, paths, strict=True))
    if model == _WORDNET_RULE:
        scores = evaluate_nli(sets, wordnet_labeller(WordNet.open(options.wordnet)))
        result = result_of_rule(scores, files)
    else:
        words = distinct_words(*(nli.examples for nli in sets.values()))
        classifier = load_classifier(model, words, **options.load_options())
        scores = evaluate_nli(sets, lambda examples: classifier.predict(examples).labels)
        result = result_of_classifier(classifier.config, scores, files)
    report_evaluation(result, accuracy_tables(scores), results, as_json=as_json)
