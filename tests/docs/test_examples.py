"""The programs in `examples/`, run as a reader runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed_by(name: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_short_and_has_a_test_here() -> None:
    programs = sorted(EXAMPLES.glob("*.py"))
    source = Path(__file__).read_text()
    assert all(f'"{program.name}"' in source for program in programs)
    assert max(len(program.read_text().splitlines()) for program in programs) <= 60


def test_questions_are_answered() -> None:
    printed = printed_by("ask.py")
    for line in (
        "tokyo",
        "oregon",
        "soft : hard",
        "copper : metal  hypernym",
        "did you mean cheap",
    ):
        assert line in printed


def test_a_lexicon_names_opposites_and_shows_where_the_text_says_so(tmp_path: Path) -> None:
    printed = printed_by("opposites_lexicon.py", tmp_path / "made" / "here")
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert "hot antonym cold 0.83 the water was neither hot nor cold." in lines
    assert "paris located-in france 0.99 paris is the capital of france." in lines
    assert (tmp_path / "made" / "here" / "lexicon.tsv").exists()


def test_pair_vectors_carry_over_to_words_a_classifier_has_not_seen() -> None:
    pytest.importorskip("torch")
    without, with_pairs = printed_by("pair_attention.py").splitlines()
    right = [int(line.split()[1]) for line in (without, with_pairs)]
    assert with_pairs.startswith("PairAttention: ")
    assert right[1] > right[0]
