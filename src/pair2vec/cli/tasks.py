"""What the commands of supervised tasks (``nli``, ``qa``) share: options, training, results."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from pair2vec.cli.messages import (
    ProgressView,
    fail,
    print_result,
    print_text,
    say,
    show_progress,
)
from pair2vec.cli.options import DeviceOption, OverwriteOption, ResumeOption, SetOption
from pair2vec.cli.signals import stop_requests
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.experiments.tasks.task import LoadOptions, Trained
    from pair2vec.experiments.tasks.trainer import SupervisedProgress

_SHOWN_EPOCHS = 8


def files_option(text: str) -> Any:  # noqa: ANN401 - typer's
    """A required option of one or several files."""
    return typer.Option(metavar="FILE", help=text, show_default=False)


def network_option(text: str) -> Any:  # noqa: ANN401 - typer's
    """A required option: the folder of a trained network."""
    return typer.Option(metavar="FOLDER", help=text, show_default=False)


DevOption = Annotated[list[Path], files_option("To choose the best weights by; repeatable.")]
OutOption = Annotated[Path, typer.Option(help="The folder to make.", show_default=False)]
PairsOption = Annotated[
    str,
    typer.Option(
        help="Where relation vectors of word pairs come from: pair2vec, wordnet, pair_distance or "
        "none; or several concatenated: pair2vec+wordnet."
    ),
]


def _input_option(metavar: str, text: str, default: str | None = None) -> Any:  # noqa: ANN401
    return typer.Option(metavar=metavar, help=text, show_default=default or True)


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """Where word and relation vectors are, as in `InputPaths`."""

    words: Annotated[
        str | None,
        _input_option(
            "FILE",
            "Word vectors: .vec, GloVe .txt or .bin; or a folder with ELMo or a Hugging Face "
            "encoder.",
        ),
    ] = None
    pair_model: Annotated[
        str | None,
        _input_option(
            "NAME",
            "For --pairs pair2vec: a folder, a bundled model, or owner/name on the hub.",
            "the bundled one",
        ),
    ] = None
    wordnet: Annotated[
        str | None,
        _input_option(
            "FOLDER", "WordNet's data.noun, index.noun and so on.", "where it is installed"
        ),
    ] = None
    pair_vectors: Annotated[
        str | None,
        _input_option(
            "FILE",
            "For --pairs pair_distance: the word vectors that pair2vec was trained from.",
        ),
    ] = None

    def paths(self) -> dict[str, str | None]:
        names = (field.name for field in fields(InputOptions))
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(InputOptions):
    """How a network is trained."""

    seed: Annotated[int, typer.Option("--seed")] = 0
    assignments: SetOption = None
    device: DeviceOption = "auto"
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Stop after so long with a checkpoint, to continue with --resume.",
            show_default="at the end",
        ),
    ] = None
    resume: ResumeOption = False
    overwrite: OverwriteOption = False


@dataclass(frozen=True, kw_only=True)
class LoadingOptions(InputOptions):
    """How a trained network is opened: which inputs have moved since, and on which device."""

    device: DeviceOption = "auto"

    def load_options(self) -> LoadOptions:
        return {"moved": self.paths(), "device": self.device}


def flatten_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its dataclass `options` as options of its own.

    typer takes options from a function's signature: without this, commands that share options have
    to repeat them.
    """
    signature = inspect.signature(command, eval_str=True)
    options_class = signature.parameters["options"].annotation
    hints = get_type_hints(options_class, include_extras=True)
    names = [field.name for field in fields(options_class)]
    flat: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == "options":
            flat += [
                parameter.replace(
                    name=field.name, default=field.default, annotation=hints[field.name]
                )
                for field in fields(options_class)
            ]
        else:
            flat.append(parameter)
    flat_signature = signature.replace(parameters=flat)

    @wraps(command)
    def flattened(*arguments: Any, **keywords: Any) -> None:  # noqa: ANN401 - as the command's
        bound = flat_signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        options = options_class(**{name: bound.arguments.pop(name) for name in names})
        command(**bound.arguments, options=options)

    flattened.__signature__ = flat_signature  # type: ignore[attr-defined]
    flattened.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return flattened


def run_training(
    train: Callable[..., Trained[Any]],
    out: Path,
    read_data: Callable[[], object],
    make_settings: Callable[[Iterable[str], int], object],
    score: str,
    pairs: str,
    options: TrainingOptions,
) -> None:
    """Train a network of any task, and print its dev score.

    One that stops early, by Ctrl-C, SIGTERM or `--minutes`, ends the command. The minutes include
    reading the data.

    Args:
        train: `train_classifier` or `train_answerer`.
        out: The network's folder.
        read_data: Reads the examples.
        make_settings: From assignments and a seed.
        score: A format of the dev score in percent.
        pairs: The value of --pairs.
        options: All others.

    Raises:
        UsageError: there are no words, or no such pairs or settings.
    """
    from pair2vec.experiments.tasks.inputs import InputPaths
    from pair2vec.training.train import Interrupted

    inputs = options.paths()
    if (words := inputs.pop("words")) is None:
        raise UsageError("no word inputs: name a file of word vectors, or an encoder, as --words")
    paths = InputPaths(words=words, pairs=pairs, **inputs)
    settings = make_settings(options.assignments or [], options.seed)
    minutes = options.minutes
    end = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    with show_progress(SupervisedView()) as report, stop_requests() as stop_request:
        try:
            config = train(
                out,
                read_data(),
                paths,
                settings,
                device=options.device,
                resume=options.resume,
                overwrite=options.overwrite,
                report=report,
                should_stop=lambda: stop_request() or time.monotonic() >= end,
            ).config
        except Interrupted:
            was_asked = stop_request()
        else:
            result = f"{score.format(config['dev_score'])}, the best of {config['epochs']} epochs"
            print_text(f"{out}: {result}")
            return
    if was_asked:
        fail(
            "stopped with a checkpoint; continue with the same command and --resume",
            stop_request.exit_code,
        )
    say(f"{minutes:g} minutes are over, a checkpoint is written; continue with --resume")
    raise typer.Exit


def report_evaluation(
    result: Mapping[str, Any], table: RenderableType, folder: Path | None, *, as_json: bool
) -> None:
    """Print the result of a network's evaluation, and write it to `folder` if there is one."""
    if folder is not None:
        from pair2vec.experiments.evaluation.results import write_result

        say(f"wrote {write_result(folder, result)}")
    print_result(result, table, as_json=as_json)


class SupervisedView(ProgressView["SupervisedProgress"]):
    """A progress bar of the epoch, training metrics, and the dev scores of the last epochs."""

    starts_with_a_line = True

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(*columns, TimeRemainingColumn())
        self._task = self._bar.add_task("epoch", total=None)
        self._metrics = ""
        self._epochs: list[str] = []

    def update(self, update: SupervisedProgress) -> None:
        self._bar.update(
            self._task,
            description=f"epoch {update.epoch}",
            completed=update.step,
            total=update.epoch_steps,
        )
        if self.is_milestone(update):
            self._epochs.append(_dev_line(update))
        else:
            self._metrics = _metrics_line(update)

    def render(self) -> Group:
        lines = [self._metrics, *self._epochs[-_SHOWN_EPOCHS:]]
        return Group(self._bar, *map(Text, lines))

    def line(self, update: SupervisedProgress) -> str:
        if self.is_milestone(update):
            return _dev_line(update)
        steps = f"epoch {update.epoch}, step {update.step:,} of {update.epoch_steps:,}"
        return f"{steps}: {_metrics_line(update)}"

    def is_milestone(self, update: SupervisedProgress) -> bool:
        return "dev_score" in update.metrics


def _metrics_line(progress: SupervisedProgress) -> str:
    metrics = progress.metrics
    accuracy = f"{metrics['accuracy']:.1%} right, " if "accuracy" in metrics else ""
    return (
        f"loss {metrics['loss']:.4f}, {accuracy}rate {metrics['rate']:.1e}, "
        f"{metrics['examples_per_second']:,.0f} examples/s"
    )


def _dev_line(progress: SupervisedProgress) -> str:
    metrics = progress.metrics
    return (
        f"epoch {progress.epoch}: dev {metrics['dev_score']:.2%}, "
        f"best {metrics['best_dev_score']:.2%}"
    )
