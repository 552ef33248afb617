"""All four parts of `eval relate` together, and what predicts in them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.rendering import rendered
from tests.tiny_model import ALL_ANSWERS, save_tiny_model, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation.held_out_pairs import ALL, HeldOutPair
from pair2vec.experiments.evaluation.relate import (
    FITTED,
    HEAD,
    RelateResult,
    evaluate_relate,
    find_scorers,
    relate_tables,
)
from pair2vec.experiments.evaluation.results import read_results, write_result
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.relations import Relations

EXAMPLES = sorted({word for d in read_definitions() for pair in d.examples[:6] for word in pair})
PAIRS = [
    HeldOutPair("rich", "poor", "antonym", labelled=True),
    HeldOutPair("automobile", "car", "synonym", labelled=False),
    HeldOutPair("rich", "car", "none", labelled=False),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    """Taught, and with examples of each relation."""
    folder: Path = tmp_path_factory.mktemp("models") / "taught"
    words = [*EXAMPLES, "enable", "pin", "unpin", "crop", "trim", "hot"]
    return load(save_tiny_model(folder, words, hidden=6, seed=ALL_ANSWERS))


@pytest.fixture(scope="module")
def result(model: Pair2vec) -> RelateResult:
    return evaluate_relate(model, PAIRS, random_pairs=200)


def test_a_taught_model_is_compared_with_what_it_would_say_untaught(
    model: Pair2vec, result: RelateResult
) -> None:
    assert list(result.held_out.rows) == [HEAD, FITTED, "always none"]
    assert list(result.software) == [HEAD, FITTED]
    fitted = Relations(read_definitions(), model.space)
    expected = fitted.predict_proba([("pin", "unpin"), ("crop", "trim")])
    found = [called.antonym for called in result.software[FITTED].pairs]
    np.testing.assert_allclose(found, expected[:, 1], rtol=1e-4)
    assert [called.antonym for called in result.software[HEAD].pairs] != found
    assert result.held_out.examples == 2


def test_a_model_without_a_head_predicts_by_its_examples_alone(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "model", EXAMPLES))
    assert list(find_scorers(model)) == [FITTED]
    result = evaluate_relate(model, PAIRS, random_pairs=20)
    assert result.protocol.predicts == FITTED
    assert result.protocol.unrelated == 0.5
    untaught = load(save_tiny_model(tmp_path / "small"))
    with pytest.raises(UsageError, match="knows none of its examples"):
        evaluate_relate(untaught, [HeldOutPair("hot", "cold", "antonym", labelled=True)])


def test_where_no_example_is_known_the_missing_baseline_is_reported(tmp_path: Path) -> None:
    said: list[str] = []
    scorers = find_scorers(load(taught_model(tmp_path / "model")), said.append)
    assert list(scorers) == [HEAD]
    assert said[0].startswith("no baseline: relation 'synonym'")


def test_metrics_are_those_of_the_head(result: RelateResult) -> None:
    metrics = result.metrics()
    scores = result.held_out.rows[HEAD][ALL]
    assert metrics["macro_f1"] == round(scores.macro_f1, 2)
    assert metrics["antonym_f1"] == round(scores.f1["antonym"], 2)
    assert metrics["wordnet_pairs"] == 3
    assert (metrics["opposites"], metrics["synonyms"]) == (1, 1)
    assert metrics["opposites_called_antonym"] == result.software[HEAD].called_antonym("antonym")
    assert metrics["random_called_related"] == result.random.called.accuracy
    assert (metrics["word_tab_right"], metrics["word_tab_entries"]) == (
        result.word_tab.count("right"),
        len(result.word_tab.entries),
    )
    assert metrics["word_tab_entries"] == 12 * (12 - len(result.word_tab.unknown)) > 0


def test_the_record_of_a_run_has_no_folder_and_reproduces_it(
    model: Pair2vec, result: RelateResult, tmp_path: Path
) -> None:
    own = evaluate_relate(model, PAIRS, tmp_path / "mine.tsv", random_pairs=20)
    for path in (
        write_result(tmp_path / "results", result.to_run_result(model.saved)),
        write_result(tmp_path / "results", own.to_run_result(model.saved)),
    ):
        assert str(model.saved.folder.parent) not in path.read_text()
        assert str(tmp_path) not in path.read_text()
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        "relate-taught-mine.tsv.json",
        "relate-taught.json",
    ]
    commands = [run["command"] for run in read_results(tmp_path / "results", "relate")]
    assert commands == [
        "pair2vec eval relate --model taught --pairs mine.tsv",
        "pair2vec eval relate --model taught",
    ]


def test_the_tables_have_each_part_with_what_is_wrong_with_its_data(result: RelateResult) -> None:
    text = " ".join(rendered(relate_tables(result), 160).split())
    for title in ("WordNet, unseen words: all, 3 pairs", "Software talk", "Random pairs"):
        assert title in text
    assert text.count("Wrong with the data:") == 4
    assert "probabilities are for pairs of which 60 % are in no relation" in text
    assert "Unknown words, which have no entries:" in text


def test_it_does_without_torch() -> None:
    code = (
        "import sys, pair2vec.experiments.evaluation.relate; "
        "print({'torch', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
