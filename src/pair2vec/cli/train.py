"""``pair2vec train`` and ``teach``: train models, show progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from pair2vec.cli.check import print_verdict
from pair2vec.cli.messages import (
    ProgressView,
    duration,
    facts_table,
    messages,
    print_table,
    say,
    show_progress,
)
from pair2vec.cli.options import (
    CorpusArgument,
    DeviceOption,
    OverwriteOption,
    PrecisionOption,
    ResumeOption,
    SetOption,
    check_choice,
)
from pair2vec.cli.signals import stop_requests, terminated_like_ctrl_c

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pair2vec.training.trainer import TrainingProgress


_LOSS_TERMS = ("observed", "contexts", "other_x", "other_y", "typed_x", "typed_y")


def train_command(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: CorpusArgument,
    out: Annotated[Path, typer.Option(help="The model folder to make.", show_default=False)],
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Complete settings: fast, paper, tiny or an ablation.",
            show_default="what fits the corpus",
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    assignments: SetOption = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Word vectors to start from: .vec, GloVe .txt or .bin.")
    ] = None,
    more_vectors: Annotated[
        Path | None,
        typer.Option(
            help="Word vectors of any dimension: words that --vectors lacks, or that are rare in "
            "the corpus, get theirs from here, mapped to those of --vectors."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="A model to go on from: its words are kept, and new words of the corpus added.",
        ),
    ] = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "float32",
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Train a model on a corpus.

    Ctrl-C or SIGTERM writes a checkpoint first; --resume continues from the last one. On several
    GPUs or machines: torchrun --nproc-per-node N -m pair2vec train ...
    """
    from pair2vec.model.folder import load_model, model_facts
    from pair2vec.model.resolve import find_model
    from pair2vec.model.tensors import PRECISIONS
    from pair2vec.text.corpus import open_corpus
    from pair2vec.training.continuation import continued_recipe
    from pair2vec.training.distributed import init_process_group
    from pair2vec.training.recipes import fitted, resolve
    from pair2vec.training.train import Interrupted, begun_recipe
    from pair2vec.training.train import train as train_model

    saved_precision = check_choice("--precision", precision, PRECISIONS)
    has_settings = recipe or config or assignments
    saved_recipe = begun_recipe(out) if resume and not has_settings else None
    published = load_model(find_model(start)) if start else None
    opened, given = open_corpus(corpus), (recipe, config, assignments or [])
    model = None
    with init_process_group(device) as ranks, _rank_zero_messages(ranks.rank):
        if saved_recipe is None and published:
            saved_recipe = continued_recipe(published, *given)
        elif saved_recipe is None:
            saved_recipe = resolve(*given, lambda: fitted(opened, _dimension(vectors)))
        with (
            suppress(Interrupted),
            show_progress(TrainingView()) as report,
            stop_requests() as should_stop,
        ):
            model = train_model(
                opened,
                out,
                saved_recipe,
                vectors=vectors,
                more_vectors=more_vectors,
                start=published,
                device=device,
                precision=saved_precision,
                resume=resume,
                overwrite=overwrite,
                report=report,
                show=report,
                should_stop=should_stop,
                ranks=ranks,
            )
        if model is None:
            command = f"pair2vec train {corpus} --out {out} --resume"
            command += f" --from {start}" if start else ""
            command += f" --vectors {vectors}" if vectors else ""
            command += f" --more-vectors {more_vectors}" if more_vectors else ""
            say(f"the model can be asked as it is by now: --model {out}")
            say(f"stopped with a checkpoint; resume with: {command}")
    if model is None:
        raise typer.Exit(should_stop.exit_code)
    print_table(facts_table(model_facts(model)), quiet=ranks.rank > 0)
    print_verdict(model, quiet=ranks.rank > 0)


def _dimension(vectors: Path | None) -> int | None:
    """Of the vectors in a file, if it is there; that one is missing is said later."""
    from pair2vec.word_vectors.formats import vector_dimension

    return vector_dimension(vectors) if vectors and vectors.is_file() else None


@contextmanager
def _rank_zero_messages(rank: int) -> Iterator[None]:
    """Of distributed ranks only the first shows progress; each reports its own errors."""
    messages.quiet = rank > 0
    try:
        yield
    finally:
        messages.quiet = False


def _left(update: TrainingProgress) -> str:
    return "" if update.seconds_left is None else f"{duration(update.seconds_left)} left"


class TrainingView(ProgressView["TrainingProgress"]):
    """A bar, and the latest value of every metric."""

    starts_with_a_line = True

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("train"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._task = self._bar.add_task("train", total=None, left="")
        self._metrics: dict[str, float] = {}

    def update(self, update: TrainingProgress) -> None:
        self._bar.update(
            self._task, completed=update.step, total=update.total_steps, left=_left(update)
        )
        self._metrics.update(update.metrics)

    def render(self) -> Group:
        metrics = self._metrics

        def shown(name: str) -> str:
            return f"{metrics[name]:.4f}" if name in metrics else "…"

        terms = "  ".join(f"{name} {metrics[name]:.3f}" for name in _LOSS_TERMS if name in metrics)
        table = Table.grid(padding=(0, 2))
        table.add_row("loss", shown("loss"), terms)
        table.add_row("validation", shown("validation_loss"), "")
        above, rate = metrics.get("positives_above_half", 0), metrics.get("rate", 0)
        table.add_row("positives above ½", f"{above:.1%}", f"learning rate {rate:.2e}")
        table.add_row("triples/s", f"{metrics.get('triples_per_second', 0):,.0f}", "")
        return Group(self._bar, table)

    def line(self, update: TrainingProgress) -> str:
        metrics = update.metrics
        done = f"step {update.step:,} of {update.total_steps:,}"
        if left := _left(update):
            done += f", {left}"
        if self.is_milestone(update):
            return f"{done}: validation loss {metrics['validation_loss']:.4f}"
        if "loss" not in metrics:
            return done
        return (
            f"{done}: loss {metrics['loss']:.4f}, "
            f"{metrics['positives_above_half']:.0%} of positives above ½, "
            f"rate {metrics['rate']:.1e}, {metrics['triples_per_second']:,.0f} triples/s"
        )

    def is_milestone(self, update: TrainingProgress) -> bool:
        return "validation_loss" in update.metrics


def teach_command(  # noqa: PLR0913, PLR0917 - the options of a command
    corpus: CorpusArgument,
    out: Annotated[Path, typer.Option(help="The model folder to make.", show_default=False)],
    vectors: Annotated[Path | None, typer.Option(help="Word vectors to start from.")] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="A model to fine-tune, instead of training one on the text.",
        ),
    ] = None,
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
    thesaurus: Annotated[
        Path | None, typer.Option(help="A thesaurus for the teachers: lines head,word,word.")
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(help="A dictionary for the teachers: the index file of one of dictd."),
    ] = None,
    roget: Annotated[
        Path | None,
        typer.Option(help="Roget's thesaurus for the teachers: the text of Project Gutenberg."),
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
    model then learns from the text and from these labels in turns. With --from, a published model
    learns from the labels alone, and is kept near what it knows of text: for machines without a
    GPU. Settings: model.KEY as of train, labels.KEY, relations.KEY, finetune.KEY.
    """
    from pair2vec.model.folder import load_model, model_facts
    from pair2vec.model.resolve import find_model
    from pair2vec.model.tensors import PRECISIONS
    from pair2vec.runtime.devices import find_device
    from pair2vec.teaching.lexical_resources import LexicalFiles
    from pair2vec.teaching.teach import (
        TeachInputs,
        TeachRecipe,
        label_pairs,
        teach,
        teach_published,
    )
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
        start=load_model(find_model(start)) if start else None,
        more_vectors=more_vectors,
        wordnet=WordNet.open(wordnet),
        language_model=language_model,
        text_model=load_model(find_model(text_model)) if text_model else None,
        lexical=LexicalFiles(thesaurus, dictionary, roget),
    )
    folder, model = labels or out.with_name(f"{out.name}.labels"), None
    where = find_device(device)
    options: Any = {"device": device, "precision": saved_precision, "resume": resume}
    options |= {"overwrite": overwrite}
    with show_progress(LabellingView()) as labelling, terminated_like_ctrl_c():
        label_pairs(
            inputs,
            folder,
            whole,
            device=where,
            resume=resume,
            report=lambda *update: labelling(update),
        )
    with suppress(Interrupted), stop_requests() as should_stop:
        if start:
            with show_progress(LabellingView()) as steps:
                model = teach_published(
                    inputs,
                    out,
                    folder,
                    whole,
                    **options,
                    report=lambda *update: steps(update),
                    should_stop=should_stop,
                )
        else:
            with show_progress(TrainingView()) as report:
                model = teach(
                    inputs,
                    out,
                    folder,
                    whole,
                    **options,
                    report=report,
                    show=report,
                    should_stop=should_stop,
                )
    if model is None:
        say("stopped with a checkpoint; give the same command with --resume to continue")
        raise typer.Exit(should_stop.exit_code)
    print_table(facts_table(model_facts(model)))
    print_verdict(model)


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
