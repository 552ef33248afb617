"""The matrices of training runs: which networks a command line asks for."""

from argparse import Namespace
from pathlib import Path

import pytest
from tests.real_data import real_data

import matrix
import nli
import qa_matrix

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


def test_a_pattern_names_one_file(tmp_path: Path) -> None:
    for name in ("snli_train.subset.jsonl", "snli_train.union.jsonl", "snli_dev.jsonl"):
        (tmp_path / name).write_text("")
    found = matrix._matching(tmp_path, ["snli_train.union*", "snli_dev*"])
    assert [Path(path).name for path in found] == ["snli_train.union.jsonl", "snli_dev.jsonl"]
    with pytest.raises(SystemExit, match=r"snli_train\* names snli_train.subset.jsonl, snli_train"):
        matrix._matching(tmp_path, ["snli_train*"])
    with pytest.raises(SystemExit, match=r"squad\* names no file; name one file by each pattern"):
        matrix._matching(tmp_path, ["squad*"])


@pytest.mark.parametrize(
    ("files", "folder"), [(nli.FILES, "nli"), (qa_matrix.FILES, "squad")], ids=["nli", "squad"]
)
def test_the_programs_find_one_file_for_each_of_their_patterns(
    files: dict[str, list[str]], folder: str
) -> None:
    for patterns in files.values():
        assert len(matrix._matching(real_data(folder), patterns)) == len(patterns)
