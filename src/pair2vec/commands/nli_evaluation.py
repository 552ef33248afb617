"""The command that says how well natural language inference goes."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pair2vec.commands.messages import say
from pair2vec.commands.options import DeviceOption, JsonOption, ResultsOption
from pair2vec.commands.supervised_options import (
    PairModelOption,
    PairVectorsOption,
    WordNetOption,
    WordsOption,
    moved_places,
)
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pair2vec.evaluation.nli import SetAccuracy
    from pair2vec.nli.examples import NliSet

WORDNET_RULE = "wordnet"


def nli(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.display.nli_table import accuracy_tables
    from pair2vec.evaluation.nli import read_sets

    if model is None:
        raise UsageError("name a classifier as --model, or say --model wordnet")
    sets = read_sets(data or [], named or [])
    places = moved_places(words, pair_model, wordnet, pair_vectors)
    files = _files(sets, data or [], named or [])
    if model == WORDNET_RULE:
        scores, result = _examine_rule(sets, files, wordnet)
    else:
        scores, result = _examine_classifier(Path(model), sets, files, places, device)
    if results is not None:
        from pair2vec.evaluation.nli_results import write_result

        say(f"wrote {write_result(results, result)}")
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        Console(highlight=False).print(accuracy_tables(scores))


def _files(sets: "Mapping[str, NliSet]", data: list[str], named: list[str]) -> dict[str, str]:
    """By set, the file it is from."""
    paths = [*data, *(text.partition("=")[2] for text in named)]
    return dict(zip(sets, paths, strict=True))


def _examine_rule(
    sets: "Mapping[str, NliSet]", files: dict[str, str], wordnet: str | None
) -> "tuple[dict[str, SetAccuracy], dict[str, Any]]":
    from pair2vec.evaluation.nli import examine, wordnet_labeller
    from pair2vec.evaluation.nli_results import result_of_rule
    from pair2vec.wordnet.dictionary import WordNet

    scores = examine(sets, wordnet_labeller(WordNet.open(wordnet)))
    return scores, result_of_rule(scores, files)


def _examine_classifier(
    folder: Path,
    sets: "Mapping[str, NliSet]",
    files: dict[str, str],
    places: dict[str, str | None],
    device: str,
) -> "tuple[dict[str, SetAccuracy], dict[str, Any]]":
    from pair2vec.evaluation.nli import examine
    from pair2vec.evaluation.nli_results import result_of_classifier
    from pair2vec.nli.classifier import load_classifier
    from pair2vec.nli.examples import distinct_words

    words = distinct_words(*(found.examples for found in sets.values()))
    classifier = load_classifier(folder, words, places=places, device=device)
    scores = examine(sets, lambda examples: classifier.predict(examples).labels)
    return scores, result_of_classifier(classifier.config, scores, files)
