"""The ``pair2vec`` command: one short function a command, heavy imports inside them."""

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, cast, get_args

import typer
from rich.console import Console

from pair2vec import __version__
from pair2vec.errors import Pair2vecError, UsageError

app = typer.Typer(
    help="Learn from plain text which relation holds between two words, and put it to work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_messages = Console(stderr=True, highlight=False, soft_wrap=True)


class _MessageHandler(logging.Handler):
    """Shows what the library logs, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        _messages.print(f"pair2vec: {record.getMessage()}", markup=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pair2vec {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    logging.basicConfig(level=logging.WARNING, handlers=[_MessageHandler()])
    logging.getLogger("pair2vec").setLevel(logging.INFO)


@app.command()
def prepare(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Plain text or MediaWiki XML dumps, also as .gz, .bz2 or .xz; folders of them; "
            "or - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The corpus folder to make.", show_default=False)],
    vocab: Annotated[
        int, typer.Option(min=1, help="Keep this many of the most frequent words.")
    ] = 100_000,
    min_count: Annotated[int, typer.Option(min=1, help="Drop words that are rarer.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="one a core")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the corpus at --out.")
    ] = False,
) -> None:
    """Turn raw text into a corpus folder.

    Stopped or killed, the same command goes on from what is done.
    """
    from pair2vec.display.progress import shown_progress
    from pair2vec.display.summary import corpus_summary
    from pair2vec.text.prepare import PrepareConfig
    from pair2vec.text.prepare import prepare as prepare_corpus

    with shown_progress(_messages) as report:
        corpus = prepare_corpus(
            inputs,
            out,
            PrepareConfig(vocabulary=vocab, min_count=min_count),
            workers=workers or len(os.sched_getaffinity(0)),
            overwrite=overwrite,
            report=report,
        )
    Console(highlight=False).print(corpus_summary(corpus.folder, corpus.manifest))


@app.command()
def vectors(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The file to write, as in words.vec.")],
    dimension: Annotated[int, typer.Option(min=1)] = 300,
    epochs: Annotated[int, typer.Option(min=1)] = 5,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads.", show_default="one a core")
    ] = None,
    seed: Annotated[int, typer.Option()] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
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
        _messages.print(f"epoch {done} of {total}")

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


@app.command()
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
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="One setting, as training.batch=4096."),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Word vectors to start from: .vec, GloVe .txt or .bin.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    precision: Annotated[str, typer.Option(help="float32, float16 or int8, on disk.")] = "float32",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is at --out.")
    ] = False,
) -> None:
    """Train a model on a corpus.

    Ctrl-C writes a checkpoint first; --resume goes on from the last one.
    """
    from pair2vec.display.summary import facts_table
    from pair2vec.display.training_view import shown_training
    from pair2vec.model import PRECISIONS, model_facts
    from pair2vec.text.corpus import open_corpus
    from pair2vec.training.settings import resolve
    from pair2vec.training.train import Interrupted, recipe_of
    from pair2vec.training.train import train as train_model

    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: it must be one of {', '.join(PRECISIONS)}")
    settings_given = recipe or config or assignments
    begun = recipe_of(out) if resume and not settings_given else None
    try:
        with shown_training(_messages) as report, _stop_requests() as should_stop:
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
            )
    except Interrupted:
        _fail(
            f"stopped with a checkpoint; go on with: pair2vec train {corpus} --out {out} --resume",
            130,
        )
    Console(highlight=False).print(facts_table(model_facts(model)))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="A folder for text, corpus and model.")] = Path("demo"),
    sentences: Annotated[int, typer.Option(min=1000, help="Of the invented text.")] = 60_000,
    seed: Annotated[int, typer.Option(help="Another seed is another world.")] = 0,
) -> None:
    """Learn an invented world from its text, and print what was learnt beside the truth.

    Takes about two minutes on two cores.
    """
    from pair2vec.display.exam_table import examples_table, marks_table
    from pair2vec.evaluation.mini_exam import answer_analogies, answer_slots, marks
    from pair2vec.miniworld import MiniWorld, analogy_questions, slot_questions
    from pair2vec.model import load_model
    from pair2vec.text.corpus import open_corpus
    from pair2vec.training.scoring import Scorer, network_of

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
    corpus, console = open_corpus(folder), Console(highlight=False)
    scorer = Scorer(network_of(load_model(model)))
    answers = answer_slots(slot_questions(world), scorer, corpus)
    console.print(examples_table(answers))
    console.print(marks_table("Slot filling", marks(answers)))
    analogies = answer_analogies(analogy_questions(world), scorer, corpus)
    console.print(marks_table("Analogies: a is to b as x is to …", marks(analogies)))


def _run_and_say(command: Callable[..., None], **arguments: object) -> None:
    """Run one of the commands above, and show how a user would."""
    words = [command.__name__]
    for name, value in arguments.items():
        values = value if isinstance(value, list) else [value]
        is_argument = name in {"inputs", "corpus"}
        words += [f"{v}" if is_argument else f"--{name} {v}".removesuffix(" True") for v in values]
    typer.echo(f"\n$ pair2vec {' '.join(words)}")
    command(**arguments)


@app.command()
def pmi(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    x: Annotated[str, typer.Argument(show_default=False)],
    y: Annotated[str, typer.Argument(show_default=False)],
    pattern: Annotated[str, typer.Argument(help="As in 'neither X nor Y'.", show_default=False)],
) -> None:
    """Count a pair in a pattern, and say how strongly they attract."""
    from pair2vec.display.pmi_table import pmi_table
    from pair2vec.text.corpus import open_corpus
    from pair2vec.theory import count_pattern, find_pair, parse_pattern

    opened = open_corpus(corpus)
    pair = find_pair(x, y, opened.vocabulary)
    counts = count_pattern(opened, pair, parse_pattern(pattern, opened.vocabulary))
    Console(highlight=False).print(pmi_table(x, y, pattern, counts))


@app.command()
def contexts(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    x: Annotated[str, typer.Argument(show_default=False)],
    y: Annotated[str, typer.Argument(show_default=False)],
    by: Annotated[str, typer.Option(help="count, pmi or mvpmi.")] = "count",
    top: Annotated[int, typer.Option(min=1, help="The most to show.")] = 20,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer contexts.")] = 1,
) -> None:
    """List the contexts that two words share, counted and scored."""
    from pair2vec.display.pmi_table import contexts_table
    from pair2vec.text.corpus import open_corpus
    from pair2vec.theory import find_pair, find_pair_contexts
    from pair2vec.theory.pair_contexts import Order

    if by not in get_args(Order):
        raise UsageError(f"--by {by}: it must be one of {', '.join(get_args(Order))}")
    opened = open_corpus(corpus)
    found = find_pair_contexts(opened, find_pair(x, y, opened.vocabulary))
    if not len(found):
        typer.echo(f"{x} and {y}, in this order, never occur within five words of each other.")
        return
    Console(highlight=False).print(contexts_table(x, y, found, cast("Order", by), top, min_count))


@app.command()
def info(
    folder: Annotated[Path, typer.Argument(help="A corpus or model folder.", show_default=False)],
    sentences: Annotated[
        int, typer.Option(min=0, help="Show the first sentences of a corpus, too.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is known as JSON.")] = False,
) -> None:
    """Say what a corpus folder or a model folder holds."""
    from pair2vec.display.summary import corpus_summary, facts_table
    from pair2vec.model import load_model, model_facts
    from pair2vec.model.folder import CONFIG
    from pair2vec.text.corpus import open_corpus

    if (folder / CONFIG).exists():
        model = load_model(folder)
        if as_json:
            typer.echo(json.dumps(model.config, indent=2, ensure_ascii=False))
        else:
            Console(highlight=False).print(facts_table(model_facts(model)))
        return
    corpus = open_corpus(folder)
    if as_json:
        typer.echo(json.dumps(asdict(corpus.manifest), indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(corpus_summary(folder, corpus.manifest))
        for words in islice(corpus.words(), sentences):
            typer.echo(f"  {' '.join(words)}")


@contextmanager
def _stop_requests() -> Iterator[Callable[[], bool]]:
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


def main() -> None:
    """Run the command; a mistake or a failure is one line and an exit code, never a traceback."""
    try:
        app()
    except Pair2vecError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}", 1)
    except KeyboardInterrupt:
        _fail("stopped; run the same command again to go on", 130)


def _fail(message: str, code: int) -> None:
    _messages.print(f"pair2vec: {message}", markup=False)
    sys.exit(code)
