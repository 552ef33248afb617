"""The model folder: save, load and describe a published model.

A folder of

- ``model.safetensors``: the arrays, and ``counts``, how often each word occurs;
- ``vocabulary.txt``: one word per line; the line's number is the word's id;
- ``patterns.tsv``: patterns that are frequent in the corpus, each with its count; may be missing;
- ``README.md``: the model card;
- ``config.json``: written last; its presence means that the model is complete. It has checksums of
  the others but for the card, and of itself.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.filesize import decimal

from pair2vec.errors import InputError, UsageError
from pair2vec.model.card import (
    SHORT_FINGERPRINT,
    continued_facts,
    corpus_facts,
    flat_settings,
    model_card,
    size_facts,
    teaching_facts,
)
from pair2vec.model.config import (
    CONFIG_FILE,
    MODEL_FORMAT,
    check_sizes,
    config_json,
    parse_config,
    read_config,
)
from pair2vec.model.tensors import (
    REPAIR_HINT,
    Arrays,
    Precision,
    Rows,
    check_finite,
    is_marked,
    map_tensors,
    needs_checksum,
    scale_name,
    stored_arrays,
    tensor_bytes,
)
from pair2vec.runtime.checksums import CHECKSUMS, check_file, check_once, file_checksum
from pair2vec.runtime.jobs import LOCK_FILE, content_hash, exclusive_lock
from pair2vec.runtime.storage import PARTIAL, write_file
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, is_count
from pair2vec.version import __version__

TENSORS_FILE = "model.safetensors"
VOCABULARY_FILE = "vocabulary.txt"
PATTERNS_FILE = "patterns.tsv"
CARD_FILE = "README.md"
MODEL_FILES = (CONFIG_FILE, TENSORS_FILE, VOCABULARY_FILE, PATTERNS_FILE, CARD_FILE)
TRAINING_FOLDER = "training"
"""Beside these, the folder with what ``pair2vec train`` needs to resume."""

_CHECKED_FILES = (TENSORS_FILE, VOCABULARY_FILE, PATTERNS_FILE)
_EMPTY = hashlib.sha256().hexdigest()
_COUNTS = "counts"
_WORDS = ".words"
"""Ends the names of tables with a row for each word..."""
_FEWER_WORDS = "context.words"
"""... and of the one that may have the most frequent words alone."""


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
        path = self.folder / PATTERNS_FILE
        if not path.exists():
            return []
        try:
            rows = [line.split("\t") for line in path.read_bytes().decode().split("\n")[:-1]]
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: is not UTF-8; {REPAIR_HINT}") from error
        for number, row in enumerate(rows, start=1):
            if len(row) != 2 or not is_count(row[1]):
                raise InputError(
                    f"{path}, line {number}: expected a pattern, a tab and a count; {REPAIR_HINT}"
                )
        return [PatternCount(pattern, int(count)) for pattern, count in rows]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that answers depend on: arrays, vocabulary, patterns, recipe and head.

        A new name, licence, metric or card leaves it as it is.
        """
        recipe, head = (self.config.get(name) for name in ("recipe", "relations"))
        # A model without a head keeps the fingerprint that its results are recorded under.
        settings = [recipe, head] if head else recipe
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        known = self.config.get(CHECKSUMS, {})
        for name in _CHECKED_FILES:
            path = self.folder / name
            # The checksums were compared with the files when the model was opened.
            content = known.get(name) or (content_hash(path) if path.exists() else None)
            digest.update(f"{name} {content}".encode())
        return digest.hexdigest()

    @property
    def has_head(self) -> bool:
        """Whether it was taught relations."""
        return "relations" in self.config

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


def save_model(  # noqa: PLR0913 - what a model is made of, and how it is written
    folder: str | os.PathLike[str],
    tensors: Mapping[str, NDArray[np.float32]],
    vocabulary: Vocabulary,
    config: Mapping[str, Any],
    *,
    patterns: Iterable[PatternCount] = (),
    precision: Precision = "float32",
    overwrite: bool = False,
    is_claimed: bool = False,
) -> None:
    """Write a model folder; until all of it is written, `load_model` refuses it.

    Args:
        folder: Where to; made if need be. One that holds something else is refused.
        tensors: The arrays by name. One called ``….words`` has one row per word.
        vocabulary: Its words, with their counts.
        config: What is known of the model, as JSON: ``corpus``, ``recipe``, ``metrics``,
            ``created`` and the like. What concerns the file itself (``format``, ``version``,
            ``precision``, ``words``, ``bytes``, ``tensors``, ``checksums``) is filled in here.
        patterns: Of the corpus, to explain pairs by.
        precision: In which the tables are stored.
        overwrite: Replace a model that is there. Other files in its folder are left alone.
        is_claimed: Whether the caller holds the lock of the folder's training.

    Raises:
        UsageError: the folder is taken, another process writes to it, or an argument cannot be
            saved; nothing was changed.
    """
    folder = Path(folder)
    _check_names(tensors, vocabulary)
    content = tensor_bytes({**stored_arrays(tensors, precision), _COUNTS: vocabulary.counts})
    facts = {
        "format": MODEL_FORMAT,
        "version": __version__,
        "precision": precision,
        "words": len(vocabulary) - len(SPECIAL_TOKENS),
        "bytes": len(content),
        "tensors": {name: list(array.shape) for name, array in tensors.items()},
    }
    # Twice: once to stand first in the file, once to prevail over those of a model saved again.
    whole_config = {**facts, **config, **facts}
    files = {
        TENSORS_FILE: content,
        VOCABULARY_FILE: _vocabulary_lines(vocabulary),
        PATTERNS_FILE: "".join(f"{pattern}\t{count}\n" for pattern, count in patterns).encode(),
    }
    checksums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    config_content = config_json(whole_config, checksums)
    files[CARD_FILE] = model_card(whole_config).encode()
    check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder, is_claimed=is_claimed):
        _refuse_or_clear(folder, overwrite=overwrite)
        # The tensors first: their mark tells what a killed process leaves from someone's own files.
        for name, data in files.items():
            write_file(folder / name, data)
        _fsync_folder(folder)
        write_file(folder / CONFIG_FILE, config_content)
        _fsync_folder(folder)


@contextmanager
def _lock(folder: Path, *, is_claimed: bool = False) -> Iterator[None]:
    """Keep out others that save a model to the folder, and unless it is ours, its training."""
    with ExitStack() as held:
        held.enter_context(exclusive_lock(folder, wait=is_claimed))
        if not is_claimed and (folder / TRAINING_FOLDER).is_dir():
            held.enter_context(exclusive_lock(folder / TRAINING_FOLDER))
        yield


def load_model(folder: str | os.PathLike[str]) -> SavedModel:
    """Open a model that `save_model` wrote.

    Raises:
        InputError: there is none, it is not complete, it is damaged, or its files do not fit each
            other.
    """
    folder = Path(folder)
    config = read_config(folder)
    path = folder / TENSORS_FILE
    stored = map_tensors(path)
    for name, shape in config["tensors"].items():
        _check_stored(path, stored, name, shape)
    check_sizes(folder / CONFIG_FILE, config)
    _check_counts(path, stored)
    # What does not fit says more than a checksum that differs: it comes first.
    vocabulary = _read_vocabulary(folder / VOCABULARY_FILE, stored[_COUNTS])
    _check_words(path, stored, len(vocabulary))
    checksums = config.get(CHECKSUMS, {})
    if not checksums and needs_checksum(path):
        raise InputError(f"{folder / CONFIG_FILE}: has lost its checksums; {REPAIR_HINT}")
    for name in (VOCABULARY_FILE, PATTERNS_FILE):
        # Without patterns, their file may be missing.
        is_empty = checksums.get(name) == _EMPTY and not (folder / name).exists()
        if name in checksums and not is_empty:
            check_file(folder / name, checksums[name], REPAIR_HINT)
    expected = checksums.get(TENSORS_FILE, "")

    def check_tensors() -> None:
        if expected:
            check_file(path, expected, REPAIR_HINT)
        check_finite(path, stored)

    check_once([path], expected, check_tensors)
    return SavedModel(folder, config, vocabulary, stored)


def _check_names(tensors: Arrays, vocabulary: Vocabulary) -> None:
    if _COUNTS in tensors:
        raise UsageError(f"tensor {_COUNTS!r}: comes from the vocabulary; leave it out")
    for name, array in tensors.items():
        fewest = 1 if name == _FEWER_WORDS else len(vocabulary)
        if name.endswith(_WORDS) and not fewest <= len(array) <= len(vocabulary):
            raise UsageError(
                f"tensor {name!r}: has shape {array.shape} where the vocabulary has "
                f"{len(vocabulary):,} ids; save the vocabulary it was trained with"
            )


def _vocabulary_lines(vocabulary: Vocabulary) -> bytes:
    for word in vocabulary.words:
        if not word or "\n" in word:
            raise UsageError(f"word {word!r}: cannot be a line of {VOCABULARY_FILE}; leave it out")
    return "".join(f"{word}\n" for word in vocabulary.words).encode()


def check_free(folder: Path) -> None:
    """Refuse a path that holds anything but a model, or a part of one.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another one")
    if folder.exists() and not _is_model_folder(folder):
        known = {folder / TRAINING_FOLDER, folder / LOCK_FILE, *_leftovers(folder)}
        others = sorted(path.name for path in folder.iterdir() if path not in known)
        if others:
            raise UsageError(
                f"{folder}: is not a model and not empty ({others[0]}); give another folder"
            )


def _leftovers(folder: Path) -> list[Path]:
    return [path for name in MODEL_FILES for path in folder.glob(f"{name}.*{PARTIAL}")]


def _refuse_or_clear(folder: Path, *, overwrite: bool) -> None:
    """Make `folder` one that holds no complete model and nothing else we would write over."""
    check_free(folder)
    leftovers = _leftovers(folder)
    if (folder / CONFIG_FILE).exists() and not overwrite:
        raise UsageError(f"{folder}: already holds a model; give another folder, or overwrite it")
    # The config first: without it nothing else is taken for a model.
    (folder / CONFIG_FILE).unlink(missing_ok=True)
    _fsync_folder(folder)
    for path in leftovers:
        path.unlink()


def _is_model_folder(folder: Path) -> bool:
    """Whether `folder` holds a model, or what a killed process left of one."""
    if not (folder / CONFIG_FILE).exists():
        return is_marked(folder / TENSORS_FILE)
    return parse_config(folder / CONFIG_FILE) is not None


def _fsync_folder(folder: Path) -> None:
    """Make renames and removals so far durable before anything that follows."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_stored(path: Path, stored: Arrays, name: str, shape: list[int]) -> None:
    if name not in stored:
        raise InputError(f"{path}: has no tensor {name!r}; {REPAIR_HINT}")
    array = stored[name]
    if list(array.shape) != shape:
        raise InputError(
            f"{path}: tensor {name!r} has shape {list(array.shape)} where {CONFIG_FILE} says "
            f"{shape}; {REPAIR_HINT}"
        )
    if array.dtype == np.int8:
        scale = stored.get(scale_name(name))
        expected = np.dtype(np.float32), array.shape[:1], 2
        if scale is None or (scale.dtype, scale.shape, array.ndim) != expected:
            raise InputError(f"{path}: has no scale for each row of {name!r}; {REPAIR_HINT}")


def _check_counts(path: Path, stored: Arrays) -> None:
    counts = stored.get(_COUNTS)
    if counts is None:
        raise InputError(f"{path}: has no tensor {_COUNTS!r}; {REPAIR_HINT}")
    if counts.dtype != np.int64 or counts.ndim != 1 or counts.min(initial=0) < 0:
        raise InputError(f"{path}: tensor {_COUNTS!r} has values that no word has; {REPAIR_HINT}")


def _check_words(path: Path, stored: Arrays, words: int) -> None:
    """Refuse tables that have not a row for each word; that of contexts may have fewer."""
    for name, array in stored.items():
        if not name.endswith(_WORDS):
            continue
        rows = array.shape[0] if array.ndim == 2 else 0
        fewest = 1 if name == _FEWER_WORDS else words
        if not fewest <= rows <= words:
            raise InputError(
                f"{path}: tensor {name!r} has shape {list(array.shape)} where the vocabulary has "
                f"{words:,} ids; {REPAIR_HINT}"
            )


def _read_vocabulary(path: Path, counts: NDArray[np.int64]) -> Vocabulary:
    if not path.is_file():
        raise InputError(f"{path}: no such file; {REPAIR_HINT}")
    try:
        # Not as text, which would take a carriage return for the end of a line.
        words = path.read_bytes().decode().split("\n")[:-1]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8; {REPAIR_HINT}") from error
    if (len(words),) != counts.shape:
        raise InputError(
            f"{path}: has {len(words):,} words where {TENSORS_FILE} has {counts.size:,}; "
            f"{REPAIR_HINT}"
        )
    special = len(SPECIAL_TOKENS)
    if tuple(words[:special]) != SPECIAL_TOKENS:
        raise InputError(f"{path}: does not begin with {' '.join(SPECIAL_TOKENS)}; {REPAIR_HINT}")
    vocabulary = Vocabulary(zip(words[special:], counts[special:].tolist(), strict=True))
    if len(vocabulary.ids) != len(vocabulary):
        raise InputError(f"{path}: has a word twice; {REPAIR_HINT}")
    return vocabulary


def checkpoint_model(folder: Path, step: int) -> Path:
    """The folder of the model that an unfinished training in `folder` had become by a step."""
    return folder / TRAINING_FOLDER / f"step-{step:09d}"


def last_checkpoint_model(folder: Path) -> Path | None:
    """The newest complete one; None for a folder without, and for one of a finished model."""
    if (folder / CONFIG_FILE).exists():
        return None
    paths = (folder / TRAINING_FOLDER).glob(f"step-*/{CONFIG_FILE}")
    return max((path.parent for path in paths), default=None)


def remove_checkpoint_models(training: Path, but: Path | None = None) -> None:
    """Delete those of a folder of checkpoints, complete or not."""
    for path in training.glob("step-*"):
        if path.is_dir() and path != but:
            (path / CONFIG_FILE).unlink(missing_ok=True)
            shutil.rmtree(path)


def model_facts(saved: SavedModel) -> dict[str, str]:
    """What is known of a model, as printable values by name; what is not known is left out."""
    config = saved.config
    size = sum(
        path.stat().st_size for path in map(saved.folder.joinpath, MODEL_FILES) if path.exists()
    )
    facts = {"model": str(saved.folder), **size_facts(config), "size on disk": decimal(size)}
    facts.pop("model.safetensors", None)
    recipe = config.get("recipe")
    name = recipe.get("name") if isinstance(recipe, dict) else recipe
    if isinstance(name, str):
        facts["recipe"] = name
    corpus = corpus_facts(config)
    if "fingerprint" in corpus:
        facts["corpus fingerprint"] = corpus["fingerprint"][:SHORT_FINGERPRINT]
    if "tokens" in corpus:
        facts["corpus tokens"] = corpus["tokens"]
    if "triples seen" in corpus:
        facts["triples seen"] = corpus["triples seen"]
    taught = teaching_facts(config)
    if "taught by" in taught:
        facts["taught by"] = taught["taught by"]
    facts |= continued_facts(config)
    if "licence" in config:
        facts["licence"] = str(config["licence"])
    # Under a name of their own, so that a metric called "words" is not taken for the size.
    metrics = flat_settings(config.get("metrics") or None, "metric")
    return {**facts, **{f"metrics.{name}": value for name, value in metrics.items()}}


def describe_model(folder: str | os.PathLike[str], facts: Mapping[str, Any]) -> None:
    """Add `facts` to the config of the model in `folder`, and write its card anew.

    Objects are merged, anything else is replaced. Known to the card are ``name``, ``licence``,
    ``notes`` (a list of lines) and ``metrics``.
    """
    # Before it is locked: what is no model says so.
    folder = load_model(folder).folder
    with _lock(folder):
        saved = load_model(folder)
        config = _merged(saved.config, facts)
        # A model of an older version gets the checksums of its files as they are.
        checksums = saved.config.get(CHECKSUMS) or {
            name: file_checksum(folder / name)
            for name in _CHECKED_FILES
            if (folder / name).exists()
        }
        content = config_json(config, checksums)
        write_file(folder / CARD_FILE, model_card(config).encode())
        write_file(folder / CONFIG_FILE, content)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**old, **new}
    for name in old.keys() & new.keys():
        if isinstance(old[name], Mapping) and isinstance(new[name], Mapping):
            merged[name] = _merged(old[name], new[name])
    return merged
