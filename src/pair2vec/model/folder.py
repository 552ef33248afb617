"""The model on disk: named arrays and what is known of them.

A folder of

- ``model.safetensors``: the arrays, and ``counts``, how often each word occurs;
- ``vocabulary.txt``: one word a line; the line's number is the word's id;
- ``patterns.tsv``: patterns that are frequent in the corpus, each with its count; may be missing;
- ``README.md``: the model card;
- ``config.json``: written last; its presence means that the model is complete.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec import __version__
from pair2vec.atomic import PARTIAL, write_whole
from pair2vec.errors import InputError, UsageError
from pair2vec.model.card import model_card
from pair2vec.model.precision import Precision, Rows, scale_name, stored_arrays
from pair2vec.model.tensors import Arrays, is_marked, map_tensors, tensor_bytes
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, WordCount

FORMAT = 1
CONFIG = "config.json"
TENSORS = "model.safetensors"
VOCABULARY = "vocabulary.txt"
PATTERNS = "patterns.tsv"
CARD = "README.md"
FILES = (CONFIG, TENSORS, VOCABULARY, PATTERNS, CARD)
TRAINING = "training"
"""Beside these, the folder with what ``pair2vec train`` needs to go on."""

_COUNTS = "counts"
_WAY_OUT = "copy or save the model again"


class PatternCount(NamedTuple):
    """A pattern as text, such as ``neither X nor Y ,``, and how often it was seen."""

    pattern: str
    frequency: int


@dataclass(frozen=True)
class SavedModel:
    """A complete model, open for reading; its arrays stay on the disk until touched."""

    folder: Path
    config: dict[str, Any]
    vocabulary: Vocabulary
    _stored: Arrays = field(repr=False)

    def patterns(self) -> list[PatternCount]:
        """Those frequent in the corpus, the most frequent first; [] if none are kept."""
        path = self.folder / PATTERNS
        if not path.exists():
            return []
        rows = [line.split("\t") for line in path.read_bytes().decode().split("\n")[:-1]]
        for number, row in enumerate(rows, start=1):
            if len(row) != 2 or not row[1].isdigit():
                raise InputError(f"{path}, line {number}: expected a pattern, a tab and a count")
        return [PatternCount(pattern, int(count)) for pattern, count in rows]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the arrays."""
        return tuple(self.config["tensors"])

    def array(self, name: str) -> NDArray[np.float32]:
        """A whole array; a view of the file where that is float32, and not to be written to."""
        return self.rows(name)[...]

    def rows(self, name: str) -> Rows:
        """An array of which some rows are needed."""
        if name not in self.config["tensors"]:
            raise InputError(
                f"{self.folder}: has no tensor {name!r}, only {', '.join(self.names) or 'none'}"
            )
        values = self._stored[name]
        is_scaled = values.dtype == np.int8
        return Rows(values, self._stored[scale_name(name)] if is_scaled else None)


def save_model(
    folder: str | os.PathLike[str],
    tensors: Mapping[str, NDArray[np.float32]],
    vocabulary: Vocabulary,
    config: Mapping[str, Any],
    *,
    patterns: Iterable[PatternCount] = (),
    precision: Precision = "float32",
    overwrite: bool = False,
) -> None:
    """Write a model folder; until all of it is written, `load_model` refuses it.

    Args:
        folder: Where to; made if need be. One that holds something else is refused.
        tensors: The arrays by name. One called ``….words`` has one row a word.
        vocabulary: Its words, with their counts.
        config: What is known of the model, as JSON: ``corpus``, ``recipe``, ``metrics``,
            ``created`` and the like. What concerns the file itself (``format``, ``version``,
            ``precision``, ``words``, ``bytes``, ``tensors``) is filled in here.
        patterns: Of the corpus, to explain pairs by.
        precision: In which the tables are stored.
        overwrite: Replace a model that is there. Other files in its folder are left alone.

    Raises:
        UsageError: the folder is taken, or an argument cannot be saved; nothing was changed.
    """
    folder = Path(folder)
    _check_names(tensors, vocabulary)
    content = tensor_bytes({**stored_arrays(tensors, precision), _COUNTS: vocabulary.counts})
    facts = {
        "format": FORMAT,
        "version": __version__,
        "precision": precision,
        "words": len(vocabulary) - len(SPECIAL_TOKENS),
        "bytes": len(content),
        "tensors": {name: list(array.shape) for name, array in tensors.items()},
    }
    # Twice: once to stand first in the file, once to prevail over those of a model saved again.
    whole_config = {**facts, **config, **facts}
    files = {
        TENSORS: content,
        VOCABULARY: _vocabulary_lines(vocabulary),
        PATTERNS: "".join(f"{pattern}\t{count}\n" for pattern, count in patterns).encode(),
        CONFIG: to_json(whole_config),
        CARD: model_card(whole_config).encode(),
    }
    _refuse_or_clear(folder, overwrite=overwrite)
    # The tensors first: their mark tells what a killed process leaves from someone's own files.
    for name in (TENSORS, VOCABULARY, PATTERNS, CARD):
        write_whole(folder / name, files[name])
    _settle(folder)
    write_whole(folder / CONFIG, files[CONFIG])
    _settle(folder)


def load_model(folder: str | os.PathLike[str]) -> SavedModel:
    """Open a model that `save_model` wrote.

    Raises:
        InputError: there is none, it is not complete, or its files do not fit each other.
    """
    folder = Path(folder)
    config = _read_config(folder)
    stored = map_tensors(folder / TENSORS)
    for name, shape in config["tensors"].items():
        _check_stored(folder, stored, name, shape)
    if _COUNTS not in stored:
        raise InputError(f"{folder / TENSORS}: has no tensor {_COUNTS!r}; {_WAY_OUT}")
    vocabulary = _read_vocabulary(folder / VOCABULARY, stored[_COUNTS])
    return SavedModel(folder, config, vocabulary, stored)


def _check_names(tensors: Arrays, vocabulary: Vocabulary) -> None:
    if _COUNTS in tensors:
        raise UsageError(f"tensor {_COUNTS!r}: comes from the vocabulary; leave it out")
    for name, array in tensors.items():
        # A small model's patterns may have the most frequent words alone.
        fewest = 1 if name == "context.words" else len(vocabulary)
        if name.endswith(".words") and not fewest <= len(array) <= len(vocabulary):
            raise UsageError(
                f"tensor {name!r}: has shape {array.shape} where the vocabulary has "
                f"{len(vocabulary):,} ids; save the vocabulary it was trained with"
            )


def _vocabulary_lines(vocabulary: Vocabulary) -> bytes:
    for word in vocabulary.words:
        if not word or "\n" in word:
            raise UsageError(f"word {word!r}: cannot be a line of {VOCABULARY}; leave it out")
    return "".join(f"{word}\n" for word in vocabulary.words).encode()


def to_json(config: Mapping[str, Any]) -> bytes:
    """A config as it stands in its file."""
    try:
        text = json.dumps(config, indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"config: is not JSON: {error}") from error
    return f"{text}\n".encode()


def check_free(folder: Path) -> None:
    """Refuse a place that holds something else than a model, or a part of one.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another one")
    if folder.exists() and not _is_ours(folder):
        known = {folder / TRAINING, *_leftovers(folder)}
        others = sorted(path.name for path in folder.iterdir() if path not in known)
        if others:
            raise UsageError(
                f"{folder}: is not a model and not empty ({others[0]}); give another folder"
            )


def _leftovers(folder: Path) -> list[Path]:
    return [path for name in FILES for path in folder.glob(f"{name}.*{PARTIAL}")]


def _refuse_or_clear(folder: Path, *, overwrite: bool) -> None:
    """Make `folder` one that holds no complete model and nothing else we would write over."""
    check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    leftovers = _leftovers(folder)
    if (folder / CONFIG).exists() and not overwrite:
        raise UsageError(f"{folder}: already holds a model; give another folder, or overwrite it")
    # The config first: without it nothing else is taken for a model.
    (folder / CONFIG).unlink(missing_ok=True)
    _settle(folder)
    for path in leftovers:
        path.unlink()


def _is_ours(folder: Path) -> bool:
    """Whether `folder` holds a model, or what a killed process left of one."""
    if not (folder / CONFIG).exists():
        return is_marked(folder / TENSORS)
    return _parse_config(folder / CONFIG) is not None


def _settle(folder: Path) -> None:
    """Have what was renamed or removed so far survive a power cut before anything that follows."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parse_config(path: Path) -> dict[str, Any] | None:
    """The config, or None for one that is not ours: other libraries use the name as well."""
    try:
        config = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(config, dict) or "precision" not in config:
        return None
    fits = isinstance(config.get("format"), int) and isinstance(config.get("tensors"), dict)
    return config if fits else None


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        raise InputError(f"{folder}: no such folder; make a model with 'pair2vec train'")
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; a model is a folder with {', '.join(FILES)}")
    if not (folder / CONFIG).exists():
        raise InputError(
            f"{folder}: not a complete model (no {CONFIG}); if saving it was stopped, save it again"
        )
    config = _parse_config(folder / CONFIG)
    if config is None:
        raise InputError(f"{folder / CONFIG}: is not the config of a pair2vec model")
    if config["format"] > FORMAT:
        raise InputError(
            f"{folder}: model format {config['format']} is newer than this version reads "
            f"({FORMAT}); upgrade pair2vec"
        )
    return config


def _check_stored(folder: Path, stored: Arrays, name: str, shape: list[int]) -> None:
    if name not in stored:
        raise InputError(f"{folder / TENSORS}: has no tensor {name!r}; {_WAY_OUT}")
    array = stored[name]
    if list(array.shape) != shape:
        raise InputError(
            f"{folder / TENSORS}: tensor {name!r} has shape {list(array.shape)} where {CONFIG} "
            f"says {shape}; {_WAY_OUT}"
        )
    if array.dtype == np.int8:
        scale = stored.get(scale_name(name))
        if scale is None or scale.shape != array.shape[:1]:
            raise InputError(
                f"{folder / TENSORS}: has no scale for each row of {name!r}; {_WAY_OUT}"
            )


def _read_vocabulary(path: Path, counts: NDArray[np.int64]) -> Vocabulary:
    if not path.is_file():
        raise InputError(f"{path}: no such file; {_WAY_OUT}")
    try:
        # Not as text, which would take a carriage return for the end of a line.
        words = path.read_bytes().decode().split("\n")[:-1]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8; {_WAY_OUT}") from error
    if (len(words),) != counts.shape:
        raise InputError(
            f"{path}: has {len(words):,} words where {TENSORS} has {counts.size:,}; {_WAY_OUT}"
        )
    special = len(SPECIAL_TOKENS)
    if tuple(words[:special]) != SPECIAL_TOKENS:
        raise InputError(f"{path}: does not begin with {' '.join(SPECIAL_TOKENS)}; {_WAY_OUT}")
    vocabulary = Vocabulary(list(map(WordCount, words[special:], counts[special:].tolist())))
    if len(vocabulary.ids) != len(vocabulary):
        raise InputError(f"{path}: has a word twice; {_WAY_OUT}")
    return vocabulary
