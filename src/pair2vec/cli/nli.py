"""A label, how sure it is, and the pairs of words that mattered most."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import say
from pair2vec.cli.options import (
    DeviceOption,
    JsonOption,
    OverwriteOption,
    ResultsOption,
    ResumeOption,
    SetOption,
    TopOption,
)
from pair2vec.cli.tasks import (
    MinutesOption,
    PairModelOption,
    PairVectorsOption,
    SeedOption,
    WordNetOption,
    WordsOption,
    input_paths,
    moved_inputs,
    run_training,
)
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pair2vec.experiments.nli.classifier import Explanation
    from pair2vec.experiments.nli.evaluate import SetAccuracy
    from pair2vec.experiments.nli.examples import NliSet


def explanation_table(explanation: Explanation, sentences: Sequence[str]) -> Group:
    """The answer first, then why."""
    chances = ", ".join(f"{name} {share:.1%}" for name, share in explanation.probabilities.items())
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in ("premise", "hypothesis"):
        table.add_column(name)
    for name in ("through pairs", "through words", "attention"):
        table.add_column(name, justify="right", no_wrap=True)
    for share in explanation.shares:
        numbers = (f"{share.pairs:+.3f}", f"{share.words:+.3f}", f"{share.attention:.2f}")
        table.add_row(Text(share.premise), Text(share.hypothesis), *numbers)
    caption = (
        f"What each pair adds to the score of “{explanation.label}” over the mean of the others, "
        "to first order: by what is known of the pair, and by the alignment of its words."
    )
    premise, hypothesis = sentences
    return Group(
        Text(f"“{premise}” → “{hypothesis}”: {explanation.label}", style="bold"),
        Text(chances),
        table,
        Text(caption, style="dim"),
    )


# == The command that says how well natural language inference goes.


WORDNET_RULE = "wordnet"


def eval_nli(  # noqa: PLR0913, PLR0917 - the options of a command
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
            "--as", metavar="NAME=FILE", help="A file whose set cannot be told, and its name."
        ),
    ] = None,
    results: ResultsOption = None,
    words: WordsOption = None,
    pair_model: PairModelOption = None,
    wordnet: WordNetOption = None,
    pair_vectors: PairVectorsOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Label examples of SNLI, MultiNLI and Breaking NLI, and count the right ones.

    --words and the like say where inputs are that have moved since the classifier was trained.
    """
    from pair2vec.experiments.nli.evaluate import read_nli_sets
    from pair2vec.experiments.nli.tables import accuracy_tables

    if model is None:
        raise UsageError("name a classifier as --model, or say --model wordnet")
    sets = read_nli_sets(data or [], named or [])
    places = moved_inputs(words, pair_model, wordnet, pair_vectors)
    files = _files(sets, data or [], named or [])
    if model == WORDNET_RULE:
        scores, result = _examine_rule(sets, files, wordnet)
    else:
        scores, result = _examine_classifier(Path(model), sets, files, places, device)
    if results is not None:
        from pair2vec.experiments.nli.results import write_nli_result

        say(f"wrote {write_nli_result(results, result)}")
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        Console(highlight=False).print(accuracy_tables(scores))


def _files(sets: Mapping[str, NliSet], data: list[str], named: list[str]) -> dict[str, str]:
    """By set, the file it is from."""
    paths = [*data, *(text.partition("=")[2] for text in named)]
    return dict(zip(sets, paths, strict=True))


def _examine_rule(
    sets: Mapping[str, NliSet], files: dict[str, str], wordnet: str | None
) -> tuple[dict[str, SetAccuracy], dict[str, Any]]:
    from pair2vec.experiments.nli.evaluate import evaluate_nli, wordnet_labeller
    from pair2vec.experiments.nli.results import result_of_rule
    from pair2vec.wordnet.dictionary import WordNet

    scores = evaluate_nli(sets, wordnet_labeller(WordNet.open(wordnet)))
    return scores, result_of_rule(scores, files)


def _examine_classifier(
    folder: Path,
    sets: Mapping[str, NliSet],
    files: dict[str, str],
    places: dict[str, str | None],
    device: str,
) -> tuple[dict[str, SetAccuracy], dict[str, Any]]:
    from pair2vec.experiments.nli.classifier import load_classifier
    from pair2vec.experiments.nli.evaluate import evaluate_nli
    from pair2vec.experiments.nli.examples import distinct_words
    from pair2vec.experiments.nli.results import result_of_classifier

    words = distinct_words(*(found.examples for found in sets.values()))
    classifier = load_classifier(folder, words, places=places, device=device)
    scores = evaluate_nli(sets, lambda examples: classifier.predict(examples).labels)
    return scores, result_of_classifier(classifier.config, scores, files)


# == The command that shows what one classifier gets right and another wrong.


def nli_compare(  # noqa: PLR0913, PLR0917 - the options of a command
    base: Annotated[
        Path, typer.Argument(help="The classifier to compare with.", show_default=False)
    ],
    model: Annotated[Path, typer.Argument(help="The classifier to explain.", show_default=False)],
    data: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Breaking-NLI, SNLI or MultiNLI jsonl.", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Write the page here.", show_default=False)
    ],
    examples: Annotated[int, typer.Option(min=1, max=100, help="The most to show.")] = 10,
    words: WordsOption = None,
    pair_model: PairModelOption = None,
    wordnet: WordNetOption = None,
    pair_vectors: PairVectorsOption = None,
    device: DeviceOption = "auto",
) -> None:
    """Write a page on two classifiers: accuracies by category, and examples explained.

    --words and the like say where inputs are, of both classifiers, that have moved since they were
    trained.
    """
    from pair2vec.experiments.nli import comparison as nli_comparison
    from pair2vec.experiments.nli.classifier import load_classifier
    from pair2vec.experiments.nli.comparison_page import (
        CATEGORIES,
        EXAMPLES,
        ComparisonFigures,
        ComparisonProtocol,
        check_page_place,
        comparison_page,
        write_page,
    )
    from pair2vec.experiments.nli.examples import distinct_words, read_set

    # What can fail comes before what takes long.
    names = _names(base, model)
    check_page_place(out)
    figures = ComparisonFigures(*names)
    found = read_set(data)
    places = moved_inputs(words, pair_model, wordnet, pair_vectors)
    asked = distinct_words(found.examples)
    first = load_classifier(base, asked, places=places, device=device)
    second = load_classifier(model, asked, places=places, device=device)
    comparison = nli_comparison.compare_classifiers(first, second, found.examples, examples)
    protocol = ComparisonProtocol(
        base=names[0],
        model=names[1],
        base_config=first.config,
        model_config=second.config,
        data=data.name,
        dropped=found.dropped,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
    )
    pictures = {CATEGORIES: figures.categories(comparison)}
    if comparison.examples:
        pictures[EXAMPLES] = figures.examples(comparison)
    page = write_page(out, comparison_page(comparison, protocol), pictures)
    gain = comparison.whole
    Console(highlight=False, soft_wrap=True).print(
        f"{page}: {names[0]} {gain.base.right:.2f} %, {names[1]} {gain.model.right:.2f} % right of "
        f"{gain.base.n:,} examples",
        markup=False,
    )


def _names(base: Path, model: Path) -> tuple[str, str]:
    """Of the folders themselves, told apart if they are the same.

    Raises:
        UsageError: it is one classifier twice.
    """
    if base.resolve() == model.resolve():
        raise UsageError(f"{base}: is compared with itself; name two classifiers")
    names = base.resolve().name, model.resolve().name
    return names if len(set(names)) == 2 else (f"{names[0]} (base)", f"{names[1]} (model)")


# == Commands of natural language inference: train a classifier, ask it, and compare two.


nli_app = typer.Typer(
    help="Natural language inference: ESIM, with and without pair vectors.", no_args_is_help=True
)
nli_app.command("compare")(nli_compare)


@nli_app.command("train")
def nli_train(  # noqa: PLR0913, PLR0917 - the options of a command
    train: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="SNLI or MultiNLI jsonl; repeatable.", show_default=False
        ),
    ],
    dev: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="To choose the best weights by; repeatable.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to make.", show_default=False)],
    model: Annotated[str, typer.Option(help="esim.")] = "esim",
    pairs: Annotated[
        str,
        typer.Option(
            help="What is known of pairs of words: pair2vec, wordnet (which makes ESIM a KIM), "
            "pair_distance or none; or several side by side: pair2vec+wordnet."
        ),
    ] = "pair2vec",
    words: WordsOption = None,
    pair_model: PairModelOption = None,
    wordnet: WordNetOption = None,
    pair_vectors: PairVectorsOption = None,
    seed: SeedOption = 0,
    assignments: SetOption = None,
    device: DeviceOption = "auto",
    minutes: MinutesOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Train a classifier on labelled examples.

    Ctrl-C writes a checkpoint first; --resume goes on from the last one.
    """
    from pair2vec.experiments.nli.classifier import nli_settings
    from pair2vec.experiments.nli.train import NliData, train_classifier

    if model != "esim":
        raise UsageError(f"--model {model}: there is esim; KIM is esim with --pairs wordnet")
    places = input_paths(pairs, words, pair_model, wordnet, pair_vectors)
    settings = nli_settings(assignments or [], seed)
    trained = run_training(
        lambda report, should_stop: train_classifier(
            out,
            NliData.read(train, dev),
            places,
            settings,
            device=device,
            resume=resume,
            overwrite=overwrite,
            report=report,
            should_stop=should_stop,
        ),
        minutes,
    )
    Console(highlight=False).print(
        f"{out}: {trained.config['dev_score']:.2f} % of dev right, the best of "
        f"{trained.config['epochs']} epochs"
    )


@nli_app.command("predict")
def nli_predict(  # noqa: PLR0913, PLR0917 - the options of a command
    premise: Annotated[str, typer.Argument(help="What is known to be true.", show_default=False)],
    hypothesis: Annotated[str, typer.Argument(help="What may follow.", show_default=False)],
    model: Annotated[
        Path, typer.Option(metavar="FOLDER", help="A trained classifier.", show_default=False)
    ],
    top: TopOption = 10,
    words: WordsOption = None,
    pair_model: PairModelOption = None,
    wordnet: WordNetOption = None,
    pair_vectors: PairVectorsOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Label a premise and a hypothesis, and show the pairs of words that mattered most.

    --words and the like say where inputs are that have moved since the classifier was trained.
    """
    from pair2vec.experiments.nli.classifier import explain, load_classifier
    from pair2vec.experiments.nli.examples import NliExample, distinct_words, words_in

    example = NliExample(words_in(premise), words_in(hypothesis), "")
    if not example.premise or not example.hypothesis:
        raise UsageError("premise and hypothesis must each have a word")
    places = moved_inputs(words, pair_model, wordnet, pair_vectors)
    classifier = load_classifier(model, distinct_words([example]), places=places, device=device)
    found = explain(classifier, example, top)
    if as_json:
        content: dict[str, Any] = {
            "premise": premise,
            "hypothesis": hypothesis,
            "label": found.label,
            "probabilities": found.probabilities,
            "pairs": [share._asdict() for share in found.shares],
        }
        typer.echo(json.dumps(content, ensure_ascii=False))
    else:
        Console(highlight=False).print(explanation_table(found, (premise, hypothesis)))


@nli_app.command("table")
def nli_table(
    results: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Files that eval nli wrote.")
    ] = Path("results"),
) -> None:
    """Show the paper's tables of NLI, measured beside printed."""
    from pair2vec.experiments.nli.results import read_nli_results
    from pair2vec.experiments.nli.tables import nli_summaries, summary_tables

    console = Console(highlight=False)
    for summary in nli_summaries(read_nli_results(results)):
        console.print(summary_tables(summary))
