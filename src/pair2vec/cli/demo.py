"""``pair2vec demo``: query the bundled model, then train and evaluate one on an invented world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import print_table
from pair2vec.cli.prepare import prepare_command
from pair2vec.cli.query_io import open_model
from pair2vec.cli.train import train_command
from pair2vec.cli.vectors import vectors

if TYPE_CHECKING:
    from pair2vec.api import Pair2vec
    from pair2vec.experiments.miniworld.evaluate import WorldAccuracy, WorldAnswer


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


def demo(
    out: Annotated[Path, typer.Option(help="A folder for text, corpus and model.")] = Path("demo"),
    sentences: Annotated[int, typer.Option(min=1000, help="Of the invented text.")] = 60_000,
    seed: Annotated[int, typer.Option(help="Another seed is another world.")] = 0,
) -> None:
    """Query the bundled model, then train one on an invented world and evaluate it.

    Takes about two minutes on two cores.
    """
    from pair2vec.experiments.miniworld.evaluate import (
        analogy_questions,
        answer_analogies,
        answer_slots,
        mvpmi_agreement,
        slot_questions,
        world_accuracies,
    )
    from pair2vec.experiments.miniworld.world import MiniWorld
    from pair2vec.runtime.jobs import exclusive_lock
    from pair2vec.runtime.storage import write_file
    from pair2vec.text.corpus import open_corpus

    _show_bundled_model()
    import torch  # noqa: F401 - without the extra this is the end, before anything is written

    world = MiniWorld.create(seed)
    out.mkdir(parents=True, exist_ok=True)
    folder, start, model = out / "corpus", out / "words.vec", out / "model"
    with exclusive_lock(out):
        write_file(out / "world.txt", world.text(sentences).encode())
        _run(prepare_command, inputs=[str(out / "world.txt")], out=folder, overwrite=True)
        _run(
            vectors, corpus=folder, out=start, dimension=64, workers=1, device="cpu", overwrite=True
        )
        _run(
            train_command,
            corpus=folder,
            out=model,
            recipe="tiny",
            vectors=start,
            device="cpu",
            overwrite=True,
        )
    corpus, trained = open_corpus(folder), open_model(model)
    answers = answer_slots(slot_questions(world), trained, corpus)
    print_table(examples_table(answers))
    print_table(accuracy_table("Slot filling", world_accuracies(answers)))
    analogies = answer_analogies(analogy_questions(world), trained, corpus)
    print_table(accuracy_table("Analogies: a is to b as x is to …", world_accuracies(analogies)))
    agreement = mvpmi_agreement(trained, corpus)
    print_table(
        f"Scores rank 2,000 frequent triples as their exact MVPMI does: Spearman {agreement:.2f}."
    )


def _show_bundled_model() -> None:
    """Queries to the model that comes with the package, if there is one."""
    from pair2vec.model.resolve import bundled_models

    for name, folder in list(bundled_models().items())[:1]:
        answers = answered_questions(open_model(folder))
        print_table(showcase_table(f"The bundled model “{name}”", answers))


def _run(command: Callable[..., None], **arguments: object) -> None:
    """Run a command, and print it as a user would type it."""
    words = [command.__name__.removesuffix("_command")]
    for name, value in arguments.items():
        values = value if isinstance(value, list) else [value]
        is_argument = name in {"inputs", "corpus"}
        words += [f"{v}" if is_argument else f"--{name} {v}".removesuffix(" True") for v in values]
    typer.echo(f"\n$ pair2vec {' '.join(words)}")
    command(**arguments)


class ShowcaseAnswer(NamedTuple):
    question: str
    command: str
    """Without ``pair2vec``."""
    answers: list[str]
    """The best first."""


def answered_questions(model: Pair2vec) -> Iterator[ShowcaseAnswer]:
    """The questions whose words the model all knows, answered."""

    def knows(*words: str) -> bool:
        return all(word in model.vocabulary.ids for word in words)

    for pattern, x in _FILLS:
        if knows(*pattern.replace("X", x).replace(" Y", "").split()):
            words = [match.word for match in model.fill(pattern, x=x, top=_WORDS_SHOWN)]
            question = f"“{pattern.replace('X', x).replace('Y', '…')}”"
            yield ShowcaseAnswer(question, f'fill "{pattern}" --x {x}', words)
    for a, b, x in _ANALOGIES:
        if knows(a, b, x):
            words = [match.word for match in model.analogy(a, b, x, top=_WORDS_SHOWN)]
            yield ShowcaseAnswer(f"{a} is to {b} as {x} is to …", f"analogy {a} {b} {x}", words)
    for x, y in _PAIRS:
        if knows(x, y):
            pairs = [f"{m.x} : {m.y}" for m in model.nearest(x, y, top=_PAIRS_SHOWN)]
            yield ShowcaseAnswer(f"which pairs are like {x} : {y}?", f"nearest {x} {y}", pairs)


def showcase_table(title: str, rows: Iterable[ShowcaseAnswer]) -> Table:
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


def accuracy_table(title: str, accuracies: Sequence[WorldAccuracy]) -> Table:
    """Accuracy beside chance and co-occurrence counts."""
    table = Table(
        title=title,
        caption="Right: the best of the candidates. Held out: the text never states the answer.",
    )
    table.add_column("relation")
    table.add_column("pairs")
    for name in ("questions", "right", "of all words", "co-occurrence", "chance"):
        table.add_column(name, justify="right")
    for accuracy in accuracies:
        if accuracy.relation == "all" and not accuracy.held_out:
            table.add_section()
        shares = (accuracy.right, accuracy.right_of_all, accuracy.co_occurrence, accuracy.chance)
        table.add_row(
            accuracy.relation,
            "held out" if accuracy.held_out else "seen",
            f"{accuracy.questions}",
            *(f"{share:.0%}" for share in shares),
        )
    return table


def examples_table(answers: Sequence[WorldAnswer], seen: int = 1, held_out: int = 2) -> Table:
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
            split = "held out" if question.held_out else "seen"
            table.add_row(split, pattern, question.x, best, " or ".join(sorted(question.answers)))
    return table
