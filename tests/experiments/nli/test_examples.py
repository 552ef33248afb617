"""Files of SNLI, MultiNLI and Breaking NLI."""

import bz2
import gzip
import json
import logging
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.real_data import real_data

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.nli.examples import (
    LABELS,
    NliExample,
    distinct_words,
    read_nli_set,
)
from pair2vec.experiments.nli.train import LabelledExamples

SNLI = {
    "annotator_labels": ["neutral"],
    "captionID": "3416050480.jpg#4",
    "gold_label": "neutral",
    "pairID": "3416050480.jpg#4r1n",
    "sentence1": "A person on a horse jumps over a broken-down airplane.",
    "sentence1_parse": "(ROOT (S (NP (NP (DT A) (NN person))))",
    "sentence2": "Bob's horse won't jump.",
}
BREAKING = {
    "sentence1": "The line is yellow.",
    "category": "colors",
    "gold_label": "contradiction",
    "annotator_labels": ["contradiction"] * 3,
    "pairID": 3107,
    "sentence2": "The line is red.",
}


def write(path: Path, *records: object, opened: Callable[[Path, str], object] = open) -> Path:
    text = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    with opened(path, "wb") as file:  # type: ignore[attr-defined]
        file.write(text)
    return path


def test_an_example_has_its_words_with_their_case_its_label_and_category(tmp_path: Path) -> None:
    path = write(tmp_path / "mixed.jsonl", SNLI, BREAKING)
    assert read_nli_set(path).examples == [
        NliExample(
            tuple("A person on a horse jumps over a broken-down airplane .".split()),
            tuple("Bob 's horse won't jump .".split()),
            "neutral",
            None,
        ),
        NliExample(
            tuple("The line is yellow .".split()),
            tuple("The line is red .".split()),
            "contradiction",
            "colors",
        ),
    ]


@pytest.mark.parametrize(
    ("suffix", "opened"),
    [("", open), (".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)],
)
def test_files_are_read_plain_or_compressed(
    suffix: str, opened: Callable[[Path, str], object], tmp_path: Path
) -> None:
    many = [SNLI] * 3000
    path = write(tmp_path / f"snli.jsonl{suffix}", *many, opened=opened)
    assert len(read_nli_set(path).examples) == len(many)


def test_several_files_are_concatenated(tmp_path: Path) -> None:
    paths = [write(tmp_path / "a.jsonl", SNLI), write(tmp_path / "b.jsonl", BREAKING, SNLI)]
    labelled = LabelledExamples.read(paths)
    assert [example.label for example in labelled.examples] == [
        "neutral",
        "contradiction",
        "neutral",
    ]
    assert labelled.files == {"a.jsonl": 1, "b.jsonl": 2}


def test_examples_without_a_gold_label_are_dropped_counted_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unlabelled = {**SNLI, "gold_label": "-"}
    path = write(tmp_path / "snli.jsonl", unlabelled, SNLI, unlabelled)
    with caplog.at_level(logging.INFO):
        nli_set = read_nli_set(path)
    assert (len(nli_set.examples), nli_set.dropped) == (1, 2)
    assert "2 examples without a gold label were dropped" in caplog.text


def test_the_last_line_needs_no_end_and_empty_lines_are_no_examples(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(SNLI)}\n\n{json.dumps(SNLI)}")
    assert len(read_nli_set(path).examples) == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"sentence1": ' + "[" * 800 + "]" * 800 + "}", "sentence1 is [[["),
        (json.dumps({**SNLI, "sentence1": "half \ud83d"}), r"sentence1 is 'half \ud83d'; it must"),
        (json.dumps({**SNLI, "category": "\udc00"}), r"category is '\udc00'; it must be text"),
        ("[1]", "expected an object with sentence1"),
        (json.dumps({**SNLI, "sentence2": None}), "sentence2 is None; it must be text"),
        (json.dumps({"sentence1": "a", "sentence2": "b"}), "gold_label is None"),
        (json.dumps({**SNLI, "gold_label": "hidden"}), "gold_label is 'hidden'; there are entail"),
        (json.dumps({**SNLI, "category": 3}), "category is 3"),
    ],
)
def test_an_invalid_line_is_named_by_its_number(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "snli.jsonl"
    path.write_text(f"{json.dumps(SNLI)}\n{line}\n")
    with pytest.raises(InputError, match=r"snli\.jsonl, line 2: ") as raised:
        read_nli_set(path)
    assert problem in str(raised.value)


def test_a_missing_or_empty_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: no such file"):
        read_nli_set(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="is a folder"):
        read_nli_set(tmp_path)
    with pytest.raises(InputError, match=r"a\.jsonl: has no example with a label"):
        read_nli_set(write(tmp_path / "a.jsonl", {**SNLI, "gold_label": "-"}))


def test_distinct_words_are_those_of_all_sentences_each_once(tmp_path: Path) -> None:
    examples = read_nli_set(write(tmp_path / "a.jsonl", BREAKING, BREAKING)).examples
    assert distinct_words(examples, examples) == ["The", "line", "is", "yellow", ".", "red"]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("nli/snli_test.jsonl.xz", 9824),
        ("nli/multinli_dev_matched.jsonl.xz", 9815),
        ("nli/breaking_nli.jsonl.xz", 8193),
    ],
)
def test_the_published_sets_are_read(name: str, count: int) -> None:
    nli_set = read_nli_set(real_data(name))
    assert len(nli_set.examples) + nli_set.dropped == count
    assert {example.label for example in nli_set.examples} == set(LABELS)
    has_category = {example.category is not None for example in nli_set.examples}
    assert has_category == {"breaking" in name}
