"""Commands of question answering: train an answerer, and ask it."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

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
from pair2vec.errors import InputError, UsageError

qa_app = typer.Typer(
    help="Question answering: BiDAF++, with and without pair vectors.", no_args_is_help=True
)


@qa_app.command()
def train(  # noqa: PLR0913, PLR0917 - the options of a command
    train: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="SQuAD 2.0 or 1.1 JSON; repeatable.", show_default=False),
    ],
    dev: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="To choose the best weights by; repeatable.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to make.", show_default=False)],
    pairs: Annotated[
        str,
        typer.Option(
            help="What is known of pairs of words: pair2vec, wordnet, pair_distance or none; or "
            "several side by side: pair2vec+wordnet."
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
    """Train an answerer on questions and passages.

    Ctrl-C writes a checkpoint first; --resume goes on from the last one.
    """
    from pair2vec.qa.data import QaData
    from pair2vec.qa.settings import settings_of
    from pair2vec.qa.training import train_answerer

    places = input_places(pairs, words, pair_model, wordnet, pair_vectors)
    settings = settings_of(assignments or [], seed)
    trained = run_training(
        lambda report, should_stop: train_answerer(
            out,
            QaData.read(train, dev),
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
        f"{out}: F1 of {trained.config['dev_score']:.2f} % on dev, the best of "
        f"{trained.config['epochs']} epochs"
    )


@qa_app.command()
def answer(  # noqa: PLR0913, PLR0917 - the options of a command
    question: Annotated[str, typer.Argument(help="What to ask.", show_default=False)],
    passage: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The text to look in; - is standard input.", show_default=False
        ),
    ],
    model: Annotated[
        Path, typer.Option(metavar="FOLDER", help="A trained answerer.", show_default=False)
    ],
    top: TopOption = 1,
    words: WordsOption = None,
    pair_model: PairModelOption = None,
    wordnet: WordNetOption = None,
    pair_vectors: PairVectorsOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Find the words of a passage that answer a question, or say that none do.

    --words and the like say where inputs are that have moved since the answerer was trained.
    """
    from pair2vec.display.qa_answers import answers_text
    from pair2vec.qa.answerer import load_answerer
    from pair2vec.qa.examples import Text

    asked, read = Text.of(question), Text.of(_text_of(passage))
    if not asked.words:
        raise UsageError("the question must have a word")
    if not read.words:
        raise InputError(f"{passage}: has no words to look for an answer in")
    places = moved_places(words, pair_model, wordnet, pair_vectors)
    answerer = load_answerer(model, [*read.words, *asked.words], places=places, device=device)
    found = answerer.answer(read, asked, top)
    if as_json:
        best = found.best
        content: dict[str, Any] = {
            "question": question,
            "answer": best.answer if best else None,
            "no_answer": found.no_answer,
            "answers": [one._asdict() for one in found.answers],
        }
        typer.echo(json.dumps(content, ensure_ascii=False))
    else:
        Console(highlight=False, soft_wrap=True).print(answers_text(found, read.text))


def _text_of(path: Path) -> str:
    """Of a file, or of standard input."""
    name, content = (
        ("standard input", sys.stdin.buffer.read())
        if str(path) == "-"
        else (str(path), _bytes_of(path))
    )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not UTF-8 at byte {error.start:,}") from error


def _bytes_of(path: Path) -> bytes:
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
    return path.read_bytes()
