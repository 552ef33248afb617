"""A training run on a terminal, or as plain lines where there is none."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from pair2vec.cli.messages import messages, say
from pair2vec.cli.options import DeviceOption, OverwriteOption, ResumeOption, SetOption
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.training.trainer import TrainingProgress


_SECONDS_BETWEEN_LINES = 5.0
_GROUPS = ("observed", "contexts", "other_x", "other_y", "typed_x", "typed_y")


@contextmanager
def show_training(console: Console) -> Iterator[Callable[[TrainingProgress], None]]:
    """A function to report metrics to, shown as suits `console`."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    view = _View()
    with Live(view.render(), console=console, refresh_per_second=4) as live:

        def report(progress: TrainingProgress) -> None:
            view.update(progress)
            live.update(view.render())

        yield report


class _View:
    """A bar, and the latest value of every metric."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("train"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        )
        self._task = self._bar.add_task("train", total=None)
        self._metrics: dict[str, float] = {}

    def update(self, progress: TrainingProgress) -> None:
        self._bar.update(self._task, completed=progress.step, total=progress.total_steps)
        self._metrics.update(progress.metrics)

    def render(self) -> Group:
        table = Table.grid(padding=(0, 2))
        groups = "  ".join(
            f"{name} {self._metrics[name]:.3f}" for name in _GROUPS if name in self._metrics
        )
        table.add_row("loss", f"{self._metrics.get('loss', float('nan')):.4f}", groups)
        table.add_row("validation", f"{self._metrics.get('validation_loss', float('nan')):.4f}", "")
        above, rate = self._metrics.get("positives_above_half", 0), self._metrics.get("rate", 0)
        table.add_row("positives above ½", f"{above:.1%}", f"learning rate {rate:.2e}")
        table.add_row("triples/s", f"{self._metrics.get('triples_per_second', 0):,.0f}", "")
        return Group(self._bar, table)


class _Lines:
    """A line now and then, and for every validation."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = 0.0

    def __call__(self, progress: TrainingProgress) -> None:
        metrics = progress.metrics
        done = f"step {progress.step:,} of {progress.total_steps:,}"
        if "validation_loss" in metrics:
            self._console.print(f"{done}: validation loss {metrics['validation_loss']:.4f}")
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
            self._console.print(
                f"{done}: loss {metrics['loss']:.4f}, "
                f"{metrics['positives_above_half']:.0%} of positives above ½, "
                f"rate {metrics['rate']:.1e}, {metrics['triples_per_second']:,.0f} triples/s"
            )


# == Commands that train a model.


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
    from pair2vec.runtime.devices import find_device
    from pair2vec.text.corpus import open_corpus
    from pair2vec.word_vectors.formats import write_vec

    if out.exists() and not overwrite:
        raise UsageError(f"{out}: is there already; give another --out, or --overwrite")
    opened, found = open_corpus(corpus), find_device(device)

    def report(done: int, total: int) -> None:
        messages.print(f"epoch {done} of {total}")

    if found.type == "cuda":
        from pair2vec.word_vectors.skipgram import train_skipgram

        made = train_skipgram(
            opened, dimension=dimension, epochs=epochs, seed=seed, device=found, report=report
        )
    else:
        from pair2vec.word_vectors.fasttext import train_fasttext

        made = train_fasttext(
            opened,
            dimension=dimension,
            epochs=epochs,
            workers=workers or len(os.sched_getaffinity(0)),
            seed=seed,
            report=report,
        )
    write_vec(out, opened.vocabulary.words[4:], made[4:])


def train_command(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.cli.models import facts_table
    from pair2vec.model.folder import model_facts
    from pair2vec.model.tensors import PRECISIONS
    from pair2vec.text.corpus import open_corpus
    from pair2vec.training.distributed import init_process_group
    from pair2vec.training.recipes import resolve
    from pair2vec.training.train import Interrupted, recipe_of
    from pair2vec.training.train import train as train_model

    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: it must be one of {', '.join(PRECISIONS)}")
    settings_given = recipe or config or assignments
    begun = recipe_of(out) if resume and not settings_given else None
    model = None
    with init_process_group(device) as ranks, _one_speaks(ranks.rank):
        with (
            suppress(Interrupted),
            show_training(messages) as report,
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
