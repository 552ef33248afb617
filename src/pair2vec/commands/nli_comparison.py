"""The command that shows what one classifier gets right and another wrong."""

import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pair2vec.commands.options import DeviceOption
from pair2vec.commands.supervised_options import (
    PairModelOption,
    PairVectorsOption,
    WordNetOption,
    WordsOption,
    moved_places,
)
from pair2vec.errors import UsageError


def compare(  # noqa: PLR0913, PLR0917 - the options of a command
    base: Annotated[
        Path, typer.Argument(help="The classifier to compare with.", show_default=False)
    ],
    model: Annotated[Path, typer.Argument(help="The classifier to explain.", show_default=False)],
    data: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Breaking-NLI, SNLI or MultiNLI jsonl.", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Write the page here.", show_default=False)
    ],
    examples: Annotated[int, typer.Option(min=1, max=100, help="The most to show.")] = 10,
    words: WordsOption = None,
    pair_model: PairModelOption = None,
    wordnet: WordNetOption = None,
    pair_vectors: PairVectorsOption = None,
    device: DeviceOption = "auto",
) -> None:
    """Write a page on two classifiers: accuracies by category, and examples explained.

    --words and the like say where inputs are, of both classifiers, that have moved since they were
    trained.
    """
    from pair2vec.display.nli_figures import ComparisonFigures
    from pair2vec.display.nli_page import (
        CATEGORIES,
        EXAMPLES,
        Protocol,
        check_page_place,
        comparison_page,
        write_page,
    )
    from pair2vec.evaluation import nli_comparison
    from pair2vec.nli.classifier import load_classifier
    from pair2vec.nli.examples import distinct_words, read_set

    # What can fail comes before what takes long.
    names = _names(base, model)
    check_page_place(out)
    figures = ComparisonFigures(*names)
    found = read_set(data)
    places = moved_places(words, pair_model, wordnet, pair_vectors)
    asked = distinct_words(found.examples)
    first = load_classifier(base, asked, places=places, device=device)
    second = load_classifier(model, asked, places=places, device=device)
    comparison = nli_comparison.compare(first, second, found.examples, examples)
    protocol = Protocol(
        base=names[0],
        model=names[1],
        base_config=first.config,
        model_config=second.config,
        data=data.name,
        dropped=found.dropped,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
    )
    pictures = {CATEGORIES: figures.categories(comparison)}
    if comparison.examples:
        pictures[EXAMPLES] = figures.examples(comparison)
    page = write_page(out, comparison_page(comparison, protocol), pictures)
    gain = comparison.whole
    Console(highlight=False, soft_wrap=True).print(
        f"{page}: {names[0]} {gain.base.right:.2f} %, {names[1]} {gain.model.right:.2f} % right of "
        f"{gain.base.n:,} examples",
        markup=False,
    )


def _names(base: Path, model: Path) -> tuple[str, str]:
    """Of the folders themselves, told apart if they are the same.

    Raises:
        UsageError: it is one classifier twice.
    """
    if base.resolve() == model.resolve():
        raise UsageError(f"{base}: is compared with itself; name two classifiers")
    names = base.resolve().name, model.resolve().name
    return names if len(set(names)) == 2 else (f"{names[0]} (base)", f"{names[1]} (model)")
