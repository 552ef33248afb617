"""The command that says how well questions are answered."""

import json
from pathlib import Path
from typing import Annotated

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


def squad(  # noqa: PLR0913, PLR0917 - the options of a command
    model: Annotated[
        Path, typer.Option(metavar="FOLDER", help="A trained answerer.", show_default=False)
    ],
    data: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="SQuAD 2.0 or 1.1, AddSent or AddOneSent; repeatable.",
            show_default=False,
        ),
    ],
    threshold: Annotated[
        float,
        typer.Option(help="Say nothing where no answer is likelier than the best by more (log)."),
    ] = 0.0,
    results: ResultsOption = None,
    words: WordsOption = None,
    pair_model: PairModelOption = None,
    wordnet: WordNetOption = None,
    pair_vectors: PairVectorsOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Answer the questions of SQuAD and its adversaries, and score the answers.

    --words and the like say where inputs are that have moved since the answerer was trained.
    """
    from dataclasses import asdict

    from pair2vec.display.squad_scores import squad_scores
    from pair2vec.evaluation.squad_results import result_of_reader, write_result
    from pair2vec.evaluation.squad_sets import examine, read_sets
    from pair2vec.qa.answerer import load_answerer
    from pair2vec.qa.data import words_of
    from pair2vec.qa.settings import QaSettings

    sets = read_sets(data)
    places = moved_places(words, pair_model, wordnet, pair_vectors)
    answerer = load_answerer(model, words_of(*sets.values()), places=places, device=device)
    scores = examine(sets, answerer.predict, threshold)
    files = {name: str(path) for name, path in zip(sets, data, strict=True)}
    result = result_of_reader(answerer.config, asdict(QaSettings()), scores, files, threshold)
    if results is not None:
        say(f"wrote {write_result(results, result)}")
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        Console(highlight=False).print(squad_scores(scores))
