"""Results of a model's analogies and slots, and of counted triples, as files."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command import pair2vec
from tests.tiny_model import WORDS, save_tiny_model

from pair2vec.experiments.evaluation.results import read_results
from pair2vec.experiments.report.pages import report_parts
from pair2vec.text.prepare import prepare
from pair2vec.word_vectors.formats import write_vec

OPPOSITES = "4_Lexicographic_semantics/L10 [antonyms - binary].txt"


def test_an_evaluation_of_analogies_leaves_a_result_with_accuracy_by_alpha(tmp_path: Path) -> None:
    save_tiny_model(tmp_path / "model")
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
    write_vec(tmp_path / "words.vec", WORDS, vectors)
    path = tmp_path / "bats" / OPPOSITES
    path.parent.mkdir(parents=True)
    path.write_text("hot\tcold\nup\tdown\ncheap\tdear\n")
    options = {"data": tmp_path / "bats", "vectors": tmp_path / "words.vec",
               "model": tmp_path / "model", "device": "cpu", "workers": "1", "whitening": "0",
               "results": tmp_path / "results"}  # fmt: skip
    done = pair2vec("eval", "bats", *(f"--{name}={value}" for name, value in options.items()))
    assert done.returncode == 0, done.stderr
    (result,) = read_results(tmp_path / "results", "bats")
    assert (tmp_path / "results" / "bats-model-whitening0.json").exists()
    assert result["groups"]["lexicographic"]["n"] == 6
    assert len(result["groups"]["lexicographic"]["by_alpha"]) == len(result["protocol"]["alphas"])
    assert list(result["relations"]) == ["L10 [antonyms - binary]"]
    scores = ("three_cos_add", "pair2vec", "oracle_alpha")
    assert set(scores) <= result["metrics"]["lexicographic"].keys()
    assert result["command"].startswith("pair2vec eval bats --model model --data bats --vectors")
    assert str(tmp_path) not in json.dumps(result)
    (part, *_) = report_parts([result], {}, "model")
    assert part.curves is not None
    assert list(part.curves) == ["lexicographic"]


def test_counts_of_a_triple_leave_a_result_with_every_measure(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("hot and cold water\nhot and cold air\nhot or cold\nup and down\n")
    prepare([str(text)], tmp_path / "corpus", workers=1)
    for x in ("hot", "up"):
        words = (x, "cold", "X and Y")
        done = pair2vec("pmi", tmp_path / "corpus", *words, "--results", tmp_path / "results")
        assert "wrote" in done.stderr
    result, never = read_results(tmp_path / "results", "pmi")
    # The PMI of what never occurs is infinite, which JSON cannot say.
    assert (never["x"], never["metrics"]["pmi"]) == ("up", None)
    assert (tmp_path / "results" / "pmi-hot-cold-X_and_Y.json").exists()
    assert result["counts"]["xyc"] == 2
    assert result["corpus"]["sources"] == ["text.txt"]
    assert set(result["metrics"]) == {"si1", "si2", "si3", "si4", "pmi", "mvpmi"}
    assert result["metrics"]["pmi"] == result["metrics"]["si3"]
    counts, total = result["counts"], result["counts"]["total"]
    plain = np.log(counts["xyc"] * total / (counts["xy"] * counts["c"]))
    assert result["metrics"]["pmi"] == pytest.approx(plain, abs=1e-4)
