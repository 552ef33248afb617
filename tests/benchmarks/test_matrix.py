"""The matrices of training runs: which networks a command line asks for."""

from argparse import Namespace

import pytest

import matrix

ROWS = {"kim": matrix.Row("wordnet", ("model=kim",))}
DATA = {"train": ["t*"], "dev": ["d*"], "test": ["e*"]}


def parsed(*more: str) -> Namespace:
    required = ["data", "--words", "glove.txt", "--models", "m", "--results", "r", "--seeds", "0"]
    return matrix.parser("", ("none",), DATA, ROWS).parse_args([*required, *more])


def test_a_row_brings_its_source_and_settings() -> None:
    options = ["--pairs", "wordnet", "kim", "--wordnet", "dict", "--set", "training.batch=9"]
    wordnet, kim = matrix._runs(parsed(*options), ["esim.hidden=5"])
    assert (wordnet.pairs, kim.pairs) == ("wordnet", "kim")
    assert wordnet.paths == kim.paths
    assert (kim.paths.pairs, kim.paths.wordnet) == ("wordnet", "dict")
    assert wordnet.settings == ("esim.hidden=5", "training.batch=9")
    assert kim.settings == ("esim.hidden=5", "model=kim", "training.batch=9")
    assert wordnet.out != kim.out


def test_an_unknown_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--pairs", "kin")
    assert "--pairs kin: it must be one of" in capsys.readouterr().err
