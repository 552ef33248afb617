"""The class-balanced control: as many examples of each class, the same ones every time."""

import json
import lzma
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.real_data import real_data

from balance_nli import balanced, balanced_name, read_lines
from pair2vec.experiments.nli.examples import LABELS, read_nli_set

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "balance_nli.py"
SIZES = {"entailment": 9, "neutral": 7, "contradiction": 4}


def write_examples(path: Path) -> Path:
    rows = [
        {"sentence1": f"premise {n}", "sentence2": "so what", "gold_label": label, "source": "x"}
        for n in range(9)
        for label, size in [*SIZES.items(), ("-", 3)]
        if n < size
    ]
    path.write_bytes(lzma.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def test_each_class_has_as_many_examples_as_the_rarest(tmp_path: Path) -> None:
    lines = read_lines(write_examples(tmp_path / "snli_train.union.jsonl.xz"))
    assert Counter(line.label for line in lines) == SIZES
    kept = balanced(lines)
    assert Counter(line.label for line in kept) == dict.fromkeys(LABELS, 4)
    assert [lines.index(line) for line in kept] == sorted(lines.index(line) for line in kept)


def test_which_examples_are_kept_does_not_depend_on_their_order(tmp_path: Path) -> None:
    lines = read_lines(write_examples(tmp_path / "snli_train.union.jsonl.xz"))
    assert set(balanced(lines)) == set(balanced(lines[::-1]))
    neutral = [line for line in lines if line.label == "neutral"]
    # Not simply the first ones.
    assert [line for line in balanced(lines) if line.label == "neutral"] != neutral[:4]


def test_the_program_writes_the_same_file_again(tmp_path: Path) -> None:
    source = write_examples(tmp_path / "snli_train.union.jsonl.xz")
    contents = []
    for name in ("a", "b"):
        command = [sys.executable, str(PROGRAM), str(source), "--out", str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "entailment 4, neutral 4, contradiction 4" in done.stdout
        contents.append((tmp_path / name / balanced_name(source)).read_bytes())
    assert contents[0] == contents[1]
    assert len(read_nli_set(tmp_path / "a" / "snli_train.balanced.jsonl.xz").examples) == 12


@pytest.mark.parametrize(("name", "size"), [("snli", 25_920), ("multinli", 20_659)])
def test_the_control_has_as_many_as_the_documentation_says(name: str, size: int) -> None:
    kept = balanced(read_lines(real_data(f"nli/{name}_train.union.jsonl.xz")))
    assert Counter(line.label for line in kept) == dict.fromkeys(LABELS, size)
