"""Options that the commands of natural language inference share."""

from typing import Annotated

import typer

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
