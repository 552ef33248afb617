"""Commands that train a model."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pair2vec.commands.corpus import prepare
from pair2vec.commands.messages import messages, say
from pair2vec.commands.options import DeviceOption, OverwriteOption, ResumeOption, SetOption
from pair2vec.errors import UsageError


def vectors(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The file to write, as in words.vec.")],
    dimension: Annotated[int, typer.Option(min=1)] = 300,
    epochs: Annotated[int, typer.Option(min=1)] = 5,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads.", show_default="one a core")
    ] = None,
    seed: Annotated[int, typer.Option()] = 0,
    device: DeviceOption = "auto",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
) -> None:
    """Make word vectors from a corpus, to start training from.

    fastText's skip-gram: gensim's on a CPU, our own on a GPU.
    """
    from pair2vec.encoders.word_vectors import write_vec
    from pair2vec.text.corpus import open_corpus
    from pair2vec.training.devices import find_device

    if out.exists() and not overwrite:
        raise UsageError(f"{out}: is there already; give another --out, or --overwrite")
    opened, found = open_corpus(corpus), find_device(device)

    def report(done: int, total: int) -> None:
        messages.print(f"epoch {done} of {total}")

    if found.type == "cuda":
        from pair2vec.encoders.skipgram import train_skipgram

        made = train_skipgram(
            opened, dimension=dimension, epochs=epochs, seed=seed, device=found, report=report
        )
    else:
        from pair2vec.encoders.fasttext import train_fasttext

        made = train_fasttext(
            opened,
            dimension=dimension,
            epochs=epochs,
            workers=workers or len(os.sched_getaffinity(0)),
            seed=seed,
            report=report,
        )
    write_vec(out, opened.vocabulary.words[4:], made[4:])


def train(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The model folder to make.", show_default=False)],
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Complete settings: fast, paper, tiny or an ablation.", show_default="fast"
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    assignments: SetOption = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Word vectors to start from: .vec, GloVe .txt or .bin.")
    ] = None,
    device: DeviceOption = "auto",
    precision: Annotated[str, typer.Option(help="float32, float16 or int8, on disk.")] = "float32",
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Train a model on a corpus.

    Ctrl-C writes a checkpoint first; --resume goes on from the last one. On several GPUs or
    machines: torchrun --nproc-per-node N -m pair2vec train ...
    """
    from pair2vec.display.summary import facts_table
    from pair2vec.display.training_view import shown_training
    from pair2vec.model import PRECISIONS, model_facts
    from pair2vec.text.corpus import open_corpus
    from pair2vec.training.joining import joined_ranks
    from pair2vec.training.settings import resolve
    from pair2vec.training.train import Interrupted, recipe_of
    from pair2vec.training.train import train as train_model

    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: it must be one of {', '.join(PRECISIONS)}")
    settings_given = recipe or config or assignments
    begun = recipe_of(out) if resume and not settings_given else None
    model = None
    with joined_ranks(device) as ranks, _one_speaks(ranks.rank):
        with (
            suppress(Interrupted),
            shown_training(messages) as report,
            stop_requests() as should_stop,
        ):
            model = train_model(
                open_corpus(corpus),
                out,
                begun or resolve(recipe, config, assignments or []),
                vectors=vectors,
                device=device,
                precision=precision,
                resume=resume,
                overwrite=overwrite,
                report=report,
                should_stop=should_stop,
                ranks=ranks,
            )
        if model is None:
            way_on = f"pair2vec train {corpus} --out {out} --resume"
            say(f"stopped with a checkpoint; go on with: {way_on}")
    if model is None:
        raise typer.Exit(130)
    Console(highlight=False, quiet=ranks.rank > 0).print(facts_table(model_facts(model)))


@contextmanager
def _one_speaks(rank: int) -> Iterator[None]:
    """Of ranks that train together, only the first says how it goes; each says what went wrong."""
    messages.quiet = rank > 0
    try:
        yield
    finally:
        messages.quiet = False


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; pressed twice, it interrupts at once."""
    pressed: list[int] = []

    def remember(number: int, _: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def demo(
    out: Annotated[Path, typer.Option(help="A folder for text, corpus and model.")] = Path("demo"),
    sentences: Annotated[int, typer.Option(min=1000, help="Of the invented text.")] = 60_000,
    seed: Annotated[int, typer.Option(help="Another seed is another world.")] = 0,
) -> None:
    """Ask the bundled model, then learn an invented world and print what was learnt.

    Takes about two minutes on two cores.
    """
    from pair2vec.display.exam_table import examples_table, marks_table
    from pair2vec.evaluation.mini_exam import answer_analogies, answer_slots, marks
    from pair2vec.evaluation.mvpmi_agreement import mvpmi_agreement
    from pair2vec.miniworld import MiniWorld, analogy_questions, slot_questions
    from pair2vec.query import load
    from pair2vec.text.corpus import open_corpus

    console = Console(highlight=False)
    _show_bundled_model(console)
    world = MiniWorld.create(seed)
    out.mkdir(parents=True, exist_ok=True)
    (out / "world.txt").write_text(world.text(sentences), encoding="utf-8")
    folder, start, model = out / "corpus", out / "words.vec", out / "model"
    _run_and_say(prepare, inputs=[str(out / "world.txt")], out=folder, overwrite=True)
    _run_and_say(
        vectors, corpus=folder, out=start, dimension=64, workers=1, device="cpu", overwrite=True
    )
    _run_and_say(
        train, corpus=folder, out=model, recipe="tiny", vectors=start, device="cpu", overwrite=True
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
    from pair2vec.commands.showcase import answered_questions
    from pair2vec.display.showcase_table import showcase_table
    from pair2vec.model import bundled_models
    from pair2vec.query import load

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
