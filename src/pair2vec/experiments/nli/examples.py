"""Examples of natural language inference: SNLI, MultiNLI and Breaking NLI as published.

A file has one JSON object a line, with ``sentence1``, ``sentence2`` and ``gold_label``; those of
Breaking NLI (Glockner et al., 2018) also have a ``category``. It may be compressed.
"""

import json
import logging
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.tasks.json_fields import is_text, short_repr
from pair2vec.text.sentences import cased_tokens
from pair2vec.text.sources import Source

_log = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of a classifier's classes."""

NO_LABEL = "-"
"""The gold label of an example without a majority among its annotators."""

_FIELDS = ("sentence1", "sentence2", "gold_label")

NliSentence = tuple[str, ...]
"""Tokens with their case kept."""


class NliExample(NamedTuple):
    """A premise, a hypothesis, and their gold label."""

    premise: NliSentence
    hypothesis: NliSentence
    label: str
    category: str | None = None
    """Of Breaking NLI, such as ``antonyms``."""

    @property
    def sentences(self) -> tuple[NliSentence, NliSentence]:
        return self.premise, self.hypothesis


class NliSet(NamedTuple):
    """The labelled examples of a file."""

    examples: list[NliExample]
    dropped: int = 0
    """How many had no gold label."""


def tokenise(text: str) -> NliSentence:
    """The tokens of a sentence, by the rules of the corpora but with the case kept."""
    return tuple(cased_tokens(text))


def distinct_words(*sets: Iterable[NliExample]) -> list[str]:
    """All words of some examples, each once, in order of first occurrence."""
    sentences = (
        sentence for examples in sets for example in examples for sentence in example.sentences
    )
    return list(dict.fromkeys(word for sentence in sentences for word in sentence))


def read_nli_set(path: str | os.PathLike[str]) -> NliSet:
    """The examples of one file; those without a gold label are dropped and counted.

    Raises:
        UsageError: there is no such file.
        InputError: it cannot be read, or has no example with a label.
    """
    name = os.fspath(path)
    if not Path(name).is_file():
        raise UsageError(f"{name}: {'is a folder' if Path(name).is_dir() else 'no such file'}")
    # A premise has several hypotheses, mostly on adjacent lines.
    tokens = lru_cache(maxsize=256)(tokenise)
    examples: list[NliExample] = []
    dropped = 0
    for number, line in enumerate(_lines(name), start=1):
        if not line.strip():
            continue
        record = _parse(line, f"{name}, line {number:,}")
        if record["gold_label"] == NO_LABEL:
            dropped += 1
            continue
        category = record.get("category")
        sentences = tokens(record["sentence1"]), tokens(record["sentence2"])
        examples.append(NliExample(*sentences, record["gold_label"], category))
    if not examples:
        raise InputError(f"{name}: has no example with a label")
    if dropped:
        _log.info("%s: %d examples without a gold label were dropped", name, dropped)
    return NliSet(examples, dropped)


def _lines(name: str) -> Iterator[bytes]:
    rest = b""
    with Source(name) as source:
        for block in source.blocks(map):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
    if rest:
        yield rest


def _parse(line: bytes, location: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{location}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"{location}: expected an object with {', '.join(_FIELDS)}")
    for field in (*_FIELDS, *(["category"] if record.get("category") is not None else [])):
        if not is_text(record.get(field)):
            raise InputError(
                f"{location}: {field} is {short_repr(record.get(field))}; it must be text"
            )
    if record["gold_label"] not in (*LABELS, NO_LABEL):
        known = ", ".join(LABELS)
        raise InputError(
            f"{location}: gold_label is {short_repr(record['gold_label'])}; "
            f"there are {known} and {NO_LABEL}"
        )
    return record
