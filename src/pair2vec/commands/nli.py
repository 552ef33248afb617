"""Commands of natural language inference: train a classifier, ask it, and compare two."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pair2vec.commands.nli_comparison import compare
from pair2vec.commands.options import (
    DeviceOption,
    JsonOption,
    OverwriteOption,
    ResumeOption,
    SetOption,
    TopOption,
)
from pair2vec.commands.supervised_options import (
    MinutesOption,
    PairModelOption,
    PairVectorsOption,
    SeedOption,
    WordNetOption,
    WordsOption,
    input_places,
    moved_places,
)
from pair2vec.commands.supervised_run import run_training
from pair2vec.errors import UsageError

nli_app = typer.Typer(
    help="Natural language inference: ESIM, with and without pair vectors.", no_args_is_help=True
)
nli_app.command()(compare)


@nli_app.command()
def train(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.nli.data import NliData
    from pair2vec.nli.settings import settings_of
    from pair2vec.nli.training import train_classifier

    if model != "esim":
        raise UsageError(f"--model {model}: there is esim; KIM is esim with --pairs wordnet")
    places = input_places(pairs, words, pair_model, wordnet, pair_vectors)
    settings = settings_of(assignments or [], seed)
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


@nli_app.command()
def predict(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.display.nli_explanation import explanation_table
    from pair2vec.nli.classifier import load_classifier
    from pair2vec.nli.examples import NliExample, distinct_words, words_of
    from pair2vec.nli.explanation import explain

    example = NliExample(words_of(premise), words_of(hypothesis), "")
    if not example.premise or not example.hypothesis:
        raise UsageError("premise and hypothesis must each have a word")
    places = moved_places(words, pair_model, wordnet, pair_vectors)
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


@nli_app.command()
def table(
    results: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Files that eval nli wrote.")
    ] = Path("results"),
) -> None:
    """Show the paper's tables of NLI, measured beside printed."""
    from pair2vec.display.nli_table import summary_tables
    from pair2vec.evaluation.nli_results import read_results
    from pair2vec.evaluation.nli_summary import summaries

    console = Console(highlight=False)
    for summary in summaries(read_results(results)):
        console.print(summary_tables(summary))
