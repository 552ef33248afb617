"""Examples of natural language inference: SNLI, MultiNLI and Breaking NLI as they are published.

A file has one JSON object a line, with ``sentence1``, ``sentence2`` and ``gold_label``; those of
Breaking NLI (Glockner et al., 2018) have a ``category`` too. It may be compressed.
"""

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pair2vec.errors import InputError, UsageError
from pair2vec.text.sentences import cased_tokens
from pair2vec.text.sources import Source

_log = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of the classes of a classifier."""

NO_LABEL = "-"
"""The gold label of an example on which the annotators did not agree."""

_FIELDS = ("sentence1", "sentence2", "gold_label")

NliSentence = tuple[str, ...]
"""Words as they are spelled in the text, case kept."""


class NliExample(NamedTuple):
    """A premise, a hypothesis, and what is true of them."""

    premise: NliSentence
    hypothesis: NliSentence
    label: str
    category: str | None = None
    """Of Breaking NLI, as in ``antonyms``."""

    @property
    def sentences(self) -> tuple[NliSentence, NliSentence]:
        """Premise and hypothesis."""
        return self.premise, self.hypothesis


class NliSet(NamedTuple):
    """The examples of one or several files."""

    examples: list[NliExample]
    dropped: int = 0
    """Those without a gold label."""


def words_in(text: str) -> NliSentence:
    """The words of a sentence, by the rules of the corpora but with the case kept."""
    return tuple(cased_tokens(text))


def distinct_words(*sets: Iterable[NliExample]) -> list[str]:
    """All words of some examples, each once, in the order in which they occur."""
    sentences = (
        sentence for examples in sets for example in examples for sentence in example.sentences
    )
    return list(dict.fromkeys(word for sentence in sentences for word in sentence))


def read_examples(paths: Sequence[str | os.PathLike[str]]) -> NliSet:
    """The examples of several files, one behind the other.

    Raises:
        UsageError: there is no such file.
        InputError: a file cannot be read, or has no example with a label.
    """
    found = [read_set(path) for path in paths]
    return NliSet([e for one in found for e in one.examples], sum(one.dropped for one in found))


def read_set(path: str | os.PathLike[str]) -> NliSet:
    """The examples of one file; those without a gold label are dropped and counted.

    Raises:
        UsageError: there is no such file.
        InputError: it cannot be read, or has no example with a label.
    """
    name = os.fspath(path)
    if not Path(name).is_file():
        raise UsageError(f"{name}: {'is a folder' if Path(name).is_dir() else 'no such file'}")
    # A premise stands before several hypotheses, mostly behind each other.
    tokens = lru_cache(maxsize=256)(words_in)
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
    """Of a file that may be compressed."""
    rest = b""
    with Source(name) as source:
        for block in source.blocks(map):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
    if rest:
        yield rest


def _parse(line: bytes, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"{place}: expected an object with {', '.join(_FIELDS)}")
    for field in (*_FIELDS, *(["category"] if record.get("category") is not None else [])):
        if not isinstance(record.get(field), str):
            raise InputError(f"{place}: {field} is {record.get(field)!r}; it must be text")
    if record["gold_label"] not in (*LABELS, NO_LABEL):
        known = ", ".join(LABELS)
        raise InputError(
            f"{place}: gold_label is {record['gold_label']!r}; there are {known} and {NO_LABEL}"
        )
    return record
