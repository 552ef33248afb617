"""``pair2vec qa`` and ``pair2vec eval squad``: train an answerer, answer questions, evaluate."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from pair2vec.cli.messages import print_json, print_table
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
from pair2vec.errors import InputError, UsageError

if TYPE_CHECKING:
    from pair2vec.experiments.qa.answerer import Answers, CandidateAnswer

_SENTENCE_BREAK = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])|\s*\n\s*")

qa_app = typer.Typer(
    help="Question answering: BiDAF++, with and without pair vectors.", no_args_is_help=True
)


@qa_app.command("train")
@flatten_options
def qa_train(
    train: Annotated[list[Path], files_option("SQuAD 2.0 or 1.1 JSON; repeatable.")],
    dev: DevOption,
    out: OutOption,
    pairs: PairsOption = "pair2vec",
    *,
    options: TrainingOptions,
) -> None:
    """Train an answerer on questions and passages.

    Ctrl-C writes a checkpoint first; --resume continues from the last one.
    """
    from pair2vec.experiments.qa.answerer import qa_settings
    from pair2vec.experiments.qa.train import QaData, train_answerer

    score = "F1 of {:.2f} % on dev"
    data = partial(QaData.read, train, dev)
    run_training(train_answerer, out, data, qa_settings, score, pairs, options)


@qa_app.command("answer")
@flatten_options
def qa_answer(
    question: Annotated[str, argument(help="What to ask.")],
    passage: Annotated[Path, files_option("The text to look in; - is standard input.")],
    model: Annotated[Path, network_option("A trained answerer.")],
    top: TopOption = 1,
    *,
    options: LoadingOptions,
    as_json: JsonOption = False,
) -> None:
    """Find the words of a passage that answer a question, or say that none do.

    --words and the like say where inputs are that have moved since the answerer was trained.
    """
    from pair2vec.experiments.qa.answerer import load_answerer
    from pair2vec.experiments.qa.examples import TokenisedText

    question_text, passage_text = map(TokenisedText.of, (question, _read_text(passage)))
    if not question_text.words:
        raise UsageError("the question must have a word")
    if not passage_text.words:
        raise InputError(f"{passage}: has no words to look for an answer in")
    words = [*passage_text.words, *question_text.words]
    answerer = load_answerer(model, words, **options.load_options())
    answers = answerer.answer(passage_text, question_text, top)
    if not as_json:
        print_table(answers_text(answers, passage_text.text), soft_wrap=True)
        return
    best = answers.best
    print_json(
        {
            "question": question,
            "answer": best.answer if best else None,
            "no_answer": answers.no_answer,
            "answers": [candidate._asdict() for candidate in answers.answers],
        }
    )


def _read_text(path: Path) -> str:
    """The text of a file, or of standard input."""
    if str(path) == "-":
        name, content = "standard input", sys.stdin.buffer.read()
    elif path.is_file():
        name, content = str(path), path.read_bytes()
    else:
        raise UsageError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not UTF-8 at byte {error.start:,}") from error


def answers_text(answers: Answers, passage: str) -> Text:
    """Each answer with its probability and sentence, and no answer first or second."""
    lines = [_answer_lines(answer, passage) for answer in answers.answers]
    no_answer = Text.assemble(("no answer", "bold"), f"  {answers.no_answer:.1%}")
    lines.insert(0 if answers.best is None else 1, no_answer)
    return Text("\n").join(lines)


def _answer_lines(answer: CandidateAnswer, passage: str) -> Text:
    start, end = sentence_around(passage, answer.start, answer.end)
    return Text.assemble(
        (answer.answer, "bold"),
        f"  {answer.probability:.1%}\n    ",
        _one_line(passage[start : answer.start]),
        (f"[{_one_line(answer.answer)}]", "bold"),
        _one_line(passage[answer.end : end]),
    )


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The first character of the sentences that a span is in, and the one after their last."""
    breaks = [match.span() for match in _SENTENCE_BREAK.finditer(text)]
    before = max((stop for _, stop in breaks if stop <= start), default=0)
    after = min((begin for begin, _ in breaks if begin >= end), default=len(text))
    return before, after


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@flatten_options
def eval_squad(
    model: Annotated[Path, network_option("A trained answerer.")],
    data: Annotated[
        list[Path], files_option("SQuAD 2.0 or 1.1, AddSent or AddOneSent; repeatable.")
    ],
    threshold: Annotated[
        float,
        typer.Option(help="Say nothing where no answer is likelier than the best by more (log)."),
    ] = 0.0,
    results: ResultsOption = None,
    *,
    options: LoadingOptions,
    as_json: JsonOption = False,
) -> None:
    """Answer the questions of SQuAD and its adversaries, and score the answers.

    --words and the like say where inputs are that have moved since the answerer was trained.
    """
    from pair2vec.experiments.qa.answerer import load_answerer
    from pair2vec.experiments.qa.results import result_of_answerer
    from pair2vec.experiments.qa.squad import evaluate_squad, read_squad_sets
    from pair2vec.experiments.qa.tables import score_table
    from pair2vec.experiments.qa.train import question_words

    sets = read_squad_sets(data)
    answerer = load_answerer(model, question_words(*sets.values()), **options.load_options())
    scores = evaluate_squad(sets, answerer.predict, threshold)
    files = {name: str(path) for name, path in zip(sets, data, strict=True)}
    result = result_of_answerer(answerer.config, scores, files, threshold)
    report_evaluation(result, score_table(scores), results, as_json=as_json)
