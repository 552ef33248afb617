"""Options that the commands of tasks with labelled examples share."""

from typing import TYPE_CHECKING, Annotated

import typer

from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.supervised.inputs import InputPlaces

WordsOption = Annotated[
    str | None,
    typer.Option(
        "--words",
        metavar="FILE",
        help="Word vectors: .vec, GloVe .txt or .bin; or a folder with ELMo or a Hugging Face "
        "encoder.",
    ),
]
PairModelOption = Annotated[
    str | None,
    typer.Option(
        "--pair-model",
        metavar="NAME",
        help="For --pairs pair2vec: a folder, a bundled model, or owner/name on the hub.",
        show_default="the bundled one",
    ),
]
WordNetOption = Annotated[
    str | None,
    typer.Option(
        "--wordnet",
        metavar="FOLDER",
        help="WordNet's data.noun, index.noun and so on.",
        show_default="where it is installed",
    ),
]
PairVectorsOption = Annotated[
    str | None,
    typer.Option(
        "--pair-vectors",
        metavar="FILE",
        help="For --pairs pair_distance: word vectors to take differences of.",
        show_default="--words",
    ),
]
MinutesOption = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        min=0,
        help="Stop after so long with a checkpoint, to go on with --resume.",
        show_default="at the end",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed")]


def input_places(
    pairs: str,
    words: str | None,
    pair_model: str | None,
    wordnet: str | None,
    pair_vectors: str | None,
) -> "InputPlaces":
    """Of a network that is to be trained.

    Raises:
        UsageError: words are not given, or there is no such kind of pairs.
    """
    from pair2vec.supervised.inputs import InputPlaces

    if words is None:
        raise UsageError("no word inputs: name a file of word vectors, or an encoder, as --words")
    return InputPlaces(
        words=words,
        pairs=pairs,
        pair_model=pair_model,
        wordnet=wordnet,
        pair_vectors=pair_vectors,
    )


def moved_places(
    words: str | None, pair_model: str | None, wordnet: str | None, pair_vectors: str | None
) -> dict[str, str | None]:
    """Where inputs of a trained network are that have moved since."""
    return {
        "words": words,
        "pair_model": pair_model,
        "wordnet": wordnet,
        "pair_vectors": pair_vectors,
    }
