"""Answers to a question, how sure they are, and the sentences they stand in."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
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
from pair2vec.errors import InputError, UsageError

if TYPE_CHECKING:
    from pair2vec.experiments.qa.answerer import Answers, CandidateAnswer


_BREAK = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])|\s*\n\s*")


def answers_text(found: Answers, passage: str) -> Text:
    """The answer first; where no answer is likelier, that comes first."""
    lines = [_line(one, passage) for one in found.answers]
    nothing = Text.assemble(("no answer", "bold"), f"  {found.no_answer:.1%}")
    lines.insert(0 if found.best is None else 1, nothing)
    return Text("\n").join(lines)


def _line(one: CandidateAnswer, passage: str) -> Text:
    start, end = sentence_around(passage, one.start, one.end)
    return Text.assemble(
        (one.answer, "bold"),
        f"  {one.probability:.1%}\n    ",
        _plain(passage[start : one.start]),
        (f"[{_plain(one.answer)}]", "bold"),
        _plain(passage[one.end : end]),
    )


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """From where to where the sentence goes, or the sentences, that a span is in."""
    breaks = [found.span() for found in _BREAK.finditer(text)]
    before = max((stop for _, stop in breaks if stop <= start), default=0)
    behind = min((begin for begin, _ in breaks if begin >= end), default=len(text))
    return before, behind


def _plain(text: str) -> str:
    """On one line."""
    return re.sub(r"\s+", " ", text)


# == The command that says how well questions are answered.


def eval_squad(  # noqa: PLR0913, PLR0917 - the options of a command
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

    from pair2vec.experiments.qa.answerer import QaSettings, load_answerer
    from pair2vec.experiments.qa.results import result_of_reader, write_squad_result
    from pair2vec.experiments.qa.squad import evaluate_squad, read_squad_sets
    from pair2vec.experiments.qa.tables import squad_scores
    from pair2vec.experiments.qa.train import question_words

    sets = read_squad_sets(data)
    places = moved_inputs(words, pair_model, wordnet, pair_vectors)
    answerer = load_answerer(model, question_words(*sets.values()), places=places, device=device)
    scores = evaluate_squad(sets, answerer.predict, threshold)
    files = {name: str(path) for name, path in zip(sets, data, strict=True)}
    result = result_of_reader(answerer.config, asdict(QaSettings()), scores, files, threshold)
    if results is not None:
        say(f"wrote {write_squad_result(results, result)}")
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        Console(highlight=False).print(squad_scores(scores))


# == Commands of question answering: train an answerer, and ask it.


qa_app = typer.Typer(
    help="Question answering: BiDAF++, with and without pair vectors.", no_args_is_help=True
)


@qa_app.command("train")
def qa_train(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.experiments.qa.answerer import qa_settings
    from pair2vec.experiments.qa.train import QaData, train_answerer

    places = input_paths(pairs, words, pair_model, wordnet, pair_vectors)
    settings = qa_settings(assignments or [], seed)
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


@qa_app.command("answer")
def qa_answer(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.experiments.qa.answerer import load_answerer
    from pair2vec.experiments.qa.examples import Text

    asked, read = Text.of(question), Text.of(_text_of(passage))
    if not asked.words:
        raise UsageError("the question must have a word")
    if not read.words:
        raise InputError(f"{passage}: has no words to look for an answer in")
    places = moved_inputs(words, pair_model, wordnet, pair_vectors)
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
