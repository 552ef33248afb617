"""The mini-world's exam as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pair2vec.cli.prepare import prepare_command
from pair2vec.cli.train import train_command, vectors

if TYPE_CHECKING:
    from pair2vec.api import Pair2vec
    from pair2vec.experiments.miniworld.exam import ExamAnswer, Mark


def demo(
    out: Annotated[Path, typer.Option(help="A folder for text, corpus and model.")] = Path("demo"),
    sentences: Annotated[int, typer.Option(min=1000, help="Of the invented text.")] = 60_000,
    seed: Annotated[int, typer.Option(help="Another seed is another world.")] = 0,
) -> None:
    """Ask the bundled model, then learn an invented world and print what was learnt.

    Takes about two minutes on two cores.
    """
    from pair2vec.api import load
    from pair2vec.experiments.miniworld.exam import (
        analogy_questions,
        answer_analogies,
        answer_slots,
        marks,
        mvpmi_agreement,
        slot_questions,
    )
    from pair2vec.experiments.miniworld.world import MiniWorld
    from pair2vec.text.corpus import open_corpus

    console = Console(highlight=False)
    _show_bundled_model(console)
    world = MiniWorld.create(seed)
    out.mkdir(parents=True, exist_ok=True)
    (out / "world.txt").write_text(world.text(sentences), encoding="utf-8")
    folder, start, model = out / "corpus", out / "words.vec", out / "model"
    _run_and_say(prepare_command, inputs=[str(out / "world.txt")], out=folder, overwrite=True)
    _run_and_say(
        vectors, corpus=folder, out=start, dimension=64, workers=1, device="cpu", overwrite=True
    )
    _run_and_say(
        train_command,
        corpus=folder,
        out=model,
        recipe="tiny",
        vectors=start,
        device="cpu",
        overwrite=True,
    )
    corpus, learnt = open_corpus(folder), load(model)
    answers = answer_slots(slot_questions(world), learnt, corpus)
    console.print(examples_table(answers))
    console.print(marks_table("Slot filling", marks(answers)))
    analogies = answer_analogies(analogy_questions(world), learnt, corpus)
    console.print(marks_table("Analogies: a is to b as x is to …", marks(analogies)))
    agreement = mvpmi_agreement(learnt, corpus)
    console.print(
        f"Scores rank 2,000 frequent triples as their exact MVPMI does: Spearman {agreement:.2f}."
    )


def _show_bundled_model(console: Console) -> None:
    """What the model that comes with the package answers, if one does."""
    from pair2vec.api import load
    from pair2vec.model.resolve import bundled_models

    for name, folder in list(bundled_models().items())[:1]:
        title = f"The bundled model “{name}”"
        console.print(showcase_table(title, answered_questions(load(folder))))


def _run_and_say(command: Callable[..., None], **arguments: object) -> None:
    """Run one of the commands above, and show how a user would."""
    words = [command.__name__]
    for name, value in arguments.items():
        values = value if isinstance(value, list) else [value]
        is_argument = name in {"inputs", "corpus"}
        words += [f"{v}" if is_argument else f"--{name} {v}".removesuffix(" True") for v in values]
    typer.echo(f"\n$ pair2vec {' '.join(words)}")
    command(**arguments)


def marks_table(title: str, marks: Sequence[Mark]) -> Table:
    """Right answers beside chance and a table of co-occurrences."""
    table = Table(
        title=title,
        caption="Right: the best of the candidates. Held out: the text never states the answer.",
    )
    table.add_column("relation")
    table.add_column("pairs")
    for name in ("questions", "right", "of all words", "co-occurrence", "chance"):
        table.add_column(name, justify="right")
    for mark in marks:
        if mark.relation == "all" and not mark.held_out:
            table.add_section()
        shares = (mark.right, mark.right_of_all, mark.counted, mark.chance)
        table.add_row(
            mark.relation,
            "held out" if mark.held_out else "seen",
            f"{mark.questions}",
            *(f"{share:.0%}" for share in shares),
        )
    return table


def examples_table(answers: Sequence[ExamAnswer], seen: int = 1, held_out: int = 2) -> Table:
    """A few questions of each relation, the model's best answers, and the truth."""
    table = Table(title="What it answers")
    for name in ("", "pattern", "X", "Y, the best three", "truth"):
        table.add_column(name)
    shown: dict[tuple[str, bool], int] = {}
    for answer in answers:
        question = answer.question
        key = (question.relation, question.held_out)
        shown[key] = shown.get(key, 0) + 1
        if shown[key] <= (held_out if question.held_out else seen):
            best = Text(", ").join(
                Text(word, style="bold" if word in question.answers else "")
                for word in answer.ranked[:3]
            )
            pattern = getattr(question, "pattern", "")
            kind = "held out" if question.held_out else "seen"
            table.add_row(kind, pattern, question.x, best, " or ".join(sorted(question.answers)))
    return table


# == Questions and a model's answers to them, side by side.


def showcase_table(title: str, rows: Iterable[tuple[str, str, Sequence[str]]]) -> Table:
    """From rows of a question, the command that asks it, and the answers, the best first."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("question", overflow="fold")
    table.add_column("the model's answers", overflow="fold")
    table.add_column("pair2vec …", overflow="fold", style="dim")
    for question, command, answers in rows:
        shown = Text(", ".join(answers))
        if answers:
            shown.stylize("bold", 0, len(answers[0]))
        table.add_row(Text(question), shown, Text(command))
    return table


# == What a model answers to a few questions: the first thing a newcomer sees.


_FILLS = (
    ("in X , Y .", "portland"),
    ("X , a famous Y ,", "monet"),
    ("either X or Y", "accept"),
    ("including X and other Y", "copper"),
)
_ANALOGIES = (
    ("france", "paris", "japan"),
    ("einstein", "physicist", "mozart"),
    ("walk", "walked", "sing"),
)
_PAIRS = (("japan", "tokyo"), ("hot", "cold"), ("king", "queen"))
_WORDS_SHOWN, _PAIRS_SHOWN = 4, 3


class ShowcaseAnswer(NamedTuple):
    """A question and what the model says."""

    question: str
    command: str
    """To ask it oneself, behind ``pair2vec``."""
    answers: list[str]
    """The best first."""


def answered_questions(model: Pair2vec) -> Iterator[ShowcaseAnswer]:
    """The questions of which the model knows all words, answered."""

    def knows(*words: str) -> bool:
        return all(word in model.vocabulary.ids for word in words)

    for pattern, x in _FILLS:
        if knows(*pattern.replace("X", x).replace(" Y", "").split()):
            found = model.fill(pattern, x=x, top=_WORDS_SHOWN)
            question = f"“{pattern.replace('X', x).replace('Y', '…')}”"
            yield ShowcaseAnswer(question, f'fill "{pattern}" --x {x}', [m.word for m in found])
    for a, b, x in _ANALOGIES:
        if knows(a, b, x):
            words = [match.word for match in model.analogy(a, b, x, top=_WORDS_SHOWN)]
            yield ShowcaseAnswer(f"{a} is to {b} as {x} is to …", f"analogy {a} {b} {x}", words)
    for x, y in _PAIRS:
        if knows(x, y):
            pairs = [f"{m.x} : {m.y}" for m in model.nearest(x, y, top=_PAIRS_SHOWN)]
            yield ShowcaseAnswer(f"which pairs are like {x} : {y}?", f"nearest {x} {y}", pairs)
