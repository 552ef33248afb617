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


def test_pair_vectors_are_whitened_by_each_power_and_nothing_else_is() -> None:
    models = ["--pair-model", "multiply=m/multiply", "--pair-model", "pair_distance=m/distance"]
    options = ["--pairs", "none", "kim", *models, "--whitening", "0", "0.5"]
    runs = list(matrix._runs(parsed(*options), []))
    assert [(run.pairs, *run.settings) for run in runs] == [
        ("none",),
        ("kim", "model=kim"),
        ("multiply", "pairs.whitening=0.0"),
        ("multiply", "pairs.whitening=0.5"),
        ("pair_distance", "pairs.whitening=0.0"),
        ("pair_distance", "pairs.whitening=0.5"),
    ]
    assert [run.paths.pair_model for run in runs[2:]] == 2 * ["m/multiply"] + 2 * ["m/distance"]
    assert {run.paths.pairs for run in runs[2:]} == {"pair2vec"}
    assert len({run.out for run in runs}) == len(runs)


def test_an_unknown_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--pairs", "kin")
    assert "--pairs kin: it must be one of" in capsys.readouterr().err
