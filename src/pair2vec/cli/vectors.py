"""``pair2vec vectors``: train word vectors, show progress."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn

from pair2vec.cli.messages import ProgressView, duration, show_progress
from pair2vec.cli.options import CorpusArgument, DeviceOption, OverwriteOption
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pair2vec.word_vectors.fasttext import VectorsProgress


def vectors(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: CorpusArgument,
    out: Annotated[Path, typer.Option(help="The file to write, as in words.vec.")],
    dimension: Annotated[
        int | None,
        typer.Option(min=1, show_default="300; 100 for fewer than 20 million tokens"),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1)] = 5,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads.", show_default="one a core")
    ] = None,
    seed: Annotated[int, typer.Option()] = 0,
    device: DeviceOption = "auto",
    overwrite: OverwriteOption = False,
) -> None:
    """Train word vectors on a corpus, as initial vectors of a model.

    fastText's skip-gram: gensim's on a CPU, our own on a GPU.
    """
    from pair2vec.runtime.devices import find_device
    from pair2vec.runtime.jobs import exclusive_lock
    from pair2vec.text.corpus import open_corpus
    from pair2vec.text.vocabulary import SPECIAL_TOKENS
    from pair2vec.word_vectors.fasttext import FasttextConfig, fitting_dimension, train_fasttext
    from pair2vec.word_vectors.formats import write_vec

    def refuse_to_replace() -> None:
        if out.exists() and not overwrite:
            raise UsageError(f"{out}: is there already; give another --out, or --overwrite")

    refuse_to_replace()
    opened, where = open_corpus(corpus), find_device(device)
    size = dimension or fitting_dimension(opened.manifest.tokens)
    config = FasttextConfig(dimension=size, epochs=epochs, seed=seed)
    with exclusive_lock(out), show_progress(VectorsView(epochs)) as report:
        refuse_to_replace()  # unless another process has written it meanwhile
        if where.type == "cuda":
            from pair2vec.word_vectors.skipgram import train_skipgram

            table = train_skipgram(opened, config, device=where, report=report)
        else:
            threads = workers or len(os.sched_getaffinity(0))
            table = train_fasttext(opened, config, workers=threads, report=report)
        special = len(SPECIAL_TOKENS)
        write_vec(out, opened.vocabulary.words[special:], table[special:])


class VectorsView(ProgressView["VectorsProgress"]):
    """A bar, with words a second and the time left."""

    starts_with_a_line = True

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs
        self._bar = Progress(TextColumn("vectors"), BarColumn(), TextColumn("{task.fields[pace]}"))
        self._task = self._bar.add_task("vectors", total=None, pace="")
        self._start = time.monotonic()
        self._first: int | None = None

    def update(self, update: VectorsProgress) -> None:
        if self._first is None:
            # What is given to the threads at once says nothing of their pace.
            self._first, self._start = update.words, time.monotonic()
        self._bar.update(
            self._task,
            completed=update.words,
            total=update.total_words,
            pace=self._pace(update),
        )

    def render(self) -> RenderableType:
        return self._bar

    def line(self, update: VectorsProgress) -> str:
        share = update.words / max(1, update.total_words)
        epoch = min(self._epochs, 1 + int(share * self._epochs))
        done = f"vectors: {share:.0%}, epoch {epoch} of {self._epochs}"
        return f"{done}, {pace}" if (pace := self._pace(update)) else done

    def _pace(self, update: VectorsProgress) -> str:
        seconds, words = time.monotonic() - self._start, update.words - (self._first or 0)
        if seconds < 1 or not words:
            return ""
        left = (update.total_words - update.words) * seconds / words
        return f"{words / seconds:,.0f} words/s, {duration(left)} left"
