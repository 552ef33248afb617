"""``pair2vec teach``: train a model that WordNet and a small language model teach relations."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pair2vec.cli.messages import ProgressView, facts_table, say, show_progress
from pair2vec.cli.options import (
    CorpusArgument,
    DeviceOption,
    OverwriteOption,
    PrecisionOption,
    ResumeOption,
    SetOption,
    check_choice,
)
from pair2vec.cli.train import TrainingView, stop_requests

if TYPE_CHECKING:
    from rich.console import RenderableType


def teach_command(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: CorpusArgument,
    out: Annotated[Path, typer.Option(help="The model folder to make.", show_default=False)],
    vectors: Annotated[Path, typer.Option(help="Word vectors to start from.", show_default=False)],
    more_vectors: Annotated[
        Path | None,
        typer.Option(help="Other word vectors: for rare words, candidates and a teacher."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="The folder of labelled pairs; complete ones are used again.",
            show_default="OUT.labels",
        ),
    ] = None,
    language_model: Annotated[
        Path | None,
        typer.Option(
            help="The teacher: a folder of a causal language model, or a GGUF file.",
            show_default="SmolLM2-135M-Instruct",
        ),
    ] = None,
    text_model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A model of text alone, whose pair vectors a teacher reads."
        ),
    ] = None,
    wordnet: Annotated[
        Path | None, typer.Option(help="The folder of WordNet.", show_default="where it is found")
    ] = None,
    recipe: Annotated[str, typer.Option(help="Of the training on text: fast or tiny.")] = "fast",
    assignments: SetOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "float32",
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Train a model that is taught which relations hold between words.

    A language model is fine-tuned on pairs of WordNet and labels millions of other pairs; the
    model then learns from the text and from these labels in turns. Settings: model.KEY as of
    train, labels.KEY, relations.KEY.
    """
    from pair2vec.model.folder import load_model, model_facts
    from pair2vec.model.resolve import find_model
    from pair2vec.model.tensors import PRECISIONS
    from pair2vec.runtime.devices import find_device
    from pair2vec.teaching.teach import TeachInputs, TeachRecipe, label_pairs, teach
    from pair2vec.text.corpus import open_corpus
    from pair2vec.training.recipes import assign, find_recipe, with_settings
    from pair2vec.training.train import Interrupted
    from pair2vec.wordnet.dictionary import WordNet

    saved_precision = check_choice("--precision", precision, PRECISIONS)
    settings: dict[str, Any] = {}
    assign(settings, assignments or [])
    whole = with_settings(TeachRecipe(model=find_recipe(recipe)), settings)
    inputs = TeachInputs(
        corpus=open_corpus(corpus),
        vectors=vectors,
        more_vectors=more_vectors,
        wordnet=WordNet.open(wordnet),
        language_model=language_model,
        text_model=load_model(find_model(text_model)) if text_model else None,
    )
    folder, model = labels or out.with_name(f"{out.name}.labels"), None
    where = find_device(device)
    with show_progress(LabellingView()) as labelling:
        label_pairs(
            inputs,
            folder,
            whole,
            device=where,
            resume=resume,
            report=lambda *update: labelling(update),
        )
    with (
        suppress(Interrupted),
        show_progress(TrainingView()) as report,
        stop_requests() as should_stop,
    ):
        model = teach(
            inputs,
            out,
            folder,
            whole,
            device=device,
            precision=saved_precision,
            resume=resume,
            overwrite=overwrite,
            report=report,
            should_stop=should_stop,
        )
    if model is None:
        say("stopped with a checkpoint; give the same command with --resume to continue")
        raise typer.Exit(130)
    Console(highlight=False).print(facts_table(model_facts(model)))


class LabellingView(ProgressView[tuple[str, int, int]]):
    """A bar for what the teachers do."""

    starts_with_a_line = True

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._tasks: dict[str, Any] = {}

    def update(self, update: tuple[str, int, int]) -> None:
        name, done, total = update
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(name, total=total)
        self._bar.update(self._tasks[name], completed=done)

    def render(self) -> RenderableType:
        return self._bar

    def line(self, update: tuple[str, int, int]) -> str:
        name, done, total = update
        return f"{name}: {done:,} of {total:,}"
