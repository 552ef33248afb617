"""Evaluation sets, result records and tables of question answering."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.experiments.qa.small_squad import paragraph, question, write_squad

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.results import (
    read_results,
    result_file_name,
    spread,
    spreads,
    write_result,
)
from pair2vec.experiments.qa.answerer import qa_settings
from pair2vec.experiments.qa.examples import QaQuestion, QaSet, SpanPrediction
from pair2vec.experiments.qa.results import pairs_of, result_of_answerer
from pair2vec.experiments.qa.squad import (
    evaluate_squad,
    read_squad_sets,
    score_adversarial,
    score_squad,
    squad_set_name,
)
from pair2vec.experiments.qa.tables import (
    PAPER_ABLATIONS,
    ablation_grid,
    qa_grid,
    qa_summaries,
    score_table,
    squad_protocol,
    squad_tables,
)
from pair2vec.experiments.report.grid import Grid


def shown(thing: object) -> str:
    console = Console(width=220)
    with console.capture() as captured:
        console.print(thing)
    return captured.get()


def qa_set(*questions: QaQuestion) -> QaSet:
    return QaSet([], [*questions], {})


ID = "56be4db0acb8001400a502ee"
"""As SQuAD has them."""
SETS = {
    "squad2": qa_set(question("a", "dog"), question("b")),
    "add_sent": qa_set(*(question(f"{ID}{variant}", "dog") for variant in ("", "-t0", "-t1"))),
    "squad1": qa_set(question("a", "dog")),
}


def predict_dog(questions: QaSet) -> dict[str, SpanPrediction]:
    """The span is dog, but no answer has the higher score."""
    return {one.id: SpanPrediction("dog", 1.0, (0, 0)) for one in questions.questions}


def test_a_set_is_recognised_by_its_content() -> None:
    assert squad_set_name(SETS["squad2"]) == "squad2"
    assert squad_set_name(SETS["squad1"]) == "squad1"
    assert squad_set_name(SETS["add_sent"]) == "add_sent"
    assert squad_set_name(qa_set(question(ID, "x"), question(f"{ID}-t3", "x"))) == "add_one_sent"
    uuids = (question(f"d9428888-122b-11e1-b85c-61cd3cbb321{n}", "x") for n in range(3))
    assert squad_set_name(qa_set(*uuids)) == "squad1"


def test_sets_are_read_by_name_and_none_twice(tmp_path: Path) -> None:
    with_none = paragraph("A dog.", {"Who?": ["dog"], "Which cat?": []})
    second = write_squad(tmp_path / "dev.json", with_none)
    first = write_squad(tmp_path / "old.json", paragraph("A dog.", {"Who?": ["dog"]}))
    assert list(read_squad_sets([second, first])) == ["squad2", "squad1"]
    with pytest.raises(UsageError, match=r"dev\.json: is a second set of the kind SQuAD 2\.0"):
        read_squad_sets([second, second])
    with pytest.raises(UsageError, match="no questions to answer"):
        read_squad_sets([])


def test_the_score_of_no_answer_counts_on_squad_2_alone() -> None:
    scores = evaluate_squad(SETS, predict_dog)
    assert {name: one.em for name, one in scores.items()} == {
        "squad2": 50.0,
        "add_sent": 100.0,
        "squad1": 100.0,
    }
    text = shown(score_table(scores))
    assert "– without" in text
    assert "best thresholds (-inf, -inf)" in text
    assert "AddSent" in text


def config(pairs: str = "pair2vec", seed: int = 0, **source: str) -> dict[str, Any]:
    return {
        "model": "bidaf++",
        "created": "2026-01-02",
        "inputs": {
            "words": "/home/me/glove.6B.txt.xz",
            "pairs": pairs,
            "pair_model": None,
            "wordnet": None,
            "pair_vectors": None,
        },
        "settings": asdict(qa_settings(["training.batch=60", "pairs.dropout=0.1"], seed)),
        "train": {"train-v2.0.json.xz": 131069},
        "dev": {"dev-v2.0.json.xz": 2000},
        "pair_source": source,
        "dev_score": 60.0,
        "epochs": 7,
    }


def result(pairs: str = "pair2vec", seed: int = 0, threshold: float = 0.0) -> dict[str, Any]:
    scores = evaluate_squad(SETS, predict_dog, threshold)
    files = {name: f"/data/{name}.json" for name in SETS}
    return result_of_answerer(config(pairs, seed), scores, files, threshold)


def test_a_result_has_metrics_in_percent_and_no_folders(tmp_path: Path) -> None:
    record = result(seed=1)
    assert (record["task"], record["pairs"], record["seed"]) == ("qa", "pair2vec", 1)
    assert (record["words"], record["date"]) == ("glove.6B.txt.xz", "2026-01-02")
    assert record["train"] == {"train-v2.0.json.xz": 131069}
    assert record["metrics"] == {
        "squad2_em": 50.0,
        "squad2_f1": 50.0,
        "squad2_best_em": 50.0,
        "squad2_best_f1": 50.0,
        "squad2_has_answer_em": 0.0,
        "squad2_has_answer_f1": 0.0,
        "squad2_no_answer_em": 100.0,
        "add_sent_em": 100.0,
        "add_sent_f1": 100.0,
        "squad1_em": 100.0,
        "squad1_f1": 100.0,
    }
    assert record["protocol"]["examples"] == {"squad2": 2, "add_sent": 1, "squad1": 1}
    assert record["protocol"]["best_thresholds"] == {"squad2": {"em": None, "f1": None}}
    assert record["command"] == (
        "pair2vec qa train --pairs pair2vec --words glove.6B.txt.xz --train train-v2.0.json.xz "
        "--dev dev-v2.0.json.xz --set pairs.dropout=0.1 --set training.batch=60 --seed 1 "
        "--out model && pair2vec eval squad --model model --data squad2.json "
        "--data add_sent.json --data squad1.json"
    )
    path = write_result(tmp_path / "results", record)
    assert path.name == "qa-pair2vec-glove.6B-pairs.dropout_0.1-seed1.json"
    assert [child.name for child in path.parent.iterdir()] == [path.name]
    assert "/home" not in path.read_text()
    assert "/data" not in path.read_text()
    stored = {**json.loads(path.read_text()), "file": path.name}
    assert read_results(tmp_path / "results", "qa") == [stored]


def test_another_threshold_is_another_run() -> None:
    other = result(threshold=2.0)
    assert result_file_name(other) != result_file_name(result())
    assert other["command"].endswith(" --threshold 2")
    assert other["metrics"]["squad2_has_answer_em"] == 100.0
    assert other["protocol"]["threshold"] == 2.0


def test_an_ablation_is_named_by_its_recipe() -> None:
    assert pairs_of(config(recipe="paper_2_layers", name="x")) == "2_layers"
    assert pairs_of(config(name="fast_bivariate")) == "bivariate"
    assert pairs_of(config(recipe="fast", name="multiply")) == "pair2vec"
    assert pairs_of(config("none")) == "none"
    assert pairs_of(config("pair_distance", name="words.multiply")) == "pair_distance"


def run(pairs: str, f1: float, seed: int = 0, **more: Any) -> dict[str, Any]:
    metrics = {"squad2_em": f1 - 3, "squad2_f1": f1, "add_sent_f1": f1 - 20}
    return {
        "task": "qa",
        "pairs": pairs,
        "words": "glove",
        "seed": seed,
        "metrics": metrics,
        **more,
    }


def row(grid: Grid, *labels: str) -> list[str]:
    (cells,) = [row for row in grid.rows if row[: len(labels)] == labels]
    return [*cells[len(labels) :]]


def test_tables_have_the_papers_figures_beside_ours_with_differences() -> None:
    runs = [run("none", 60.0), run("none", 62.0, 1), run("pair2vec", 64.0)]
    (summary,) = qa_summaries([*runs, run("multiply", 61.5), run("wordnet", 60.5)])
    grid = qa_grid(summary)
    printed = ["65.66", "68.86", "37.50", "42.55", "48.20", "54.02", "–", "–"]
    assert row(grid, "paper: ELMo", "BiDAF++") == printed
    assert row(grid, "paper: ELMo", "difference")[:4] == ["+2.36", "+2.72", "+6.70", "+7.14"]
    base = row(grid, "glove", "BiDAF++")
    assert base[:4] == ["58.00 ±1.41", "61.00 ±1.41", "missing", "41.00 ±1.41"]
    assert base[-1] == "2"
    assert row(grid, "glove", "BiDAF++ + pair2vec")[1] == "64.00"
    differences = [cells[3] for cells in grid.rows if cells[:2] == ("glove", "difference")]
    assert differences == ["+3.00", "-0.50"]
    ablations = ablation_grid(summary)
    multiply = ["67.10", "70.20", "-2.48", "58.50", "61.50", "-2.50", "1"]
    assert row(ablations, "glove", "composition: multiply") == multiply
    bivariate = ["68.63", "71.98", "-0.70", "missing", "missing", "missing", "–"]
    assert row(ablations, "glove", "objective: bivariate NS") == bivariate
    text = shown(squad_tables(summary))
    assert "tab:qa_res" in text
    assert "tab:ablations" in text


def test_an_ablation_is_compared_with_the_full_model_of_the_same_whitening() -> None:
    half = "pairs.whitening=0.5"
    runs = [
        run("pair2vec", 64.0, protocol={"variant": ["pair_model=fast"]}),
        run("pair2vec", 66.0, protocol={"variant": [half, "pair_model=fast"]}),
        run("multiply", 61.0, protocol={"variant": ["pair_model=multiply"]}),
        run("multiply", 61.5, protocol={"variant": [half, "pair_model=multiply"]}),
    ]
    (summary,) = qa_summaries(runs)
    grid = ablation_grid(summary)
    assert row(grid, "glove", "composition: multiply")[-2] == "-3.00"
    assert row(grid, "glove", f"composition: multiply ({half})")[-2] == "-4.50"


@pytest.mark.parametrize(
    ("train", "says"),
    [
        ("train-v2.0.json.xz", "answer offsets are those of the answer's first occurrence"),
        ("rest.json.xz", "11,286 of the unanswerable ones have guessed paragraphs"),
        ("rest.train-v2.0.aligned.json.xz", "2,893 answer offsets were corrected"),
        ("train-v2.0.aligned.json.xz", "2,893 answer offsets were corrected"),
    ],
)
def test_what_is_wrong_with_the_training_set_is_said(train: str, says: str) -> None:
    (summary,) = qa_summaries([run("none", 60.0, train={train: 5})])
    faults = [line for line in squad_protocol(summary) if "is a reconstruction" in line]
    assert len(faults) == 1
    assert says in faults[0]


def test_without_any_run_every_row_of_the_paper_is_missing() -> None:
    (summary,) = qa_summaries([])
    assert [one.pairs for one in summary.rows] == [*PAPER_ABLATIONS]
    assert not any(one.figures for one in summary.rows)
    assert "trained on missing" in shown(squad_tables(summary))
    assert row(ablation_grid(summary), "–", "no pair2vec (BiDAF++)")[3:] == ["missing"] * 3 + ["–"]


def test_runs_of_other_data_pairs_and_variants_have_their_own_rows() -> None:
    tried = run("pair2vec", 65.0, protocol={"variant": ["pairs.dropout=0.3"]})
    other = run("my_pairs", 50.0)
    elsewhere = run("none", 40.0, train={"train-v1.1.json": 5})
    summaries = qa_summaries([run("none", 60.0), run("pair2vec", 64.0), tried, other, elsewhere])
    assert [one.train for one in summaries] == [(), (("train-v1.1.json", 5),)]
    grid = qa_grid(summaries[0])
    assert row(grid, "glove", "BiDAF++ + pair2vec (pairs.dropout=0.3)")[1] == "65.00"
    assert row(grid, "glove", "BiDAF++ + my_pairs")[1] == "50.00"
    assert row(qa_grid(summaries[1]), "glove", "BiDAF++")[1] == "40.00"
    # Ablations named like their recipes are in their row.
    (summary,) = qa_summaries([run("paper_2_layers", 63.0)])
    assert row(ablation_grid(summary), "glove", "composition: 2 layers")[4] == "63.00"


def test_a_variant_is_compared_with_the_base_model_of_the_same_variant() -> None:
    small = {"variant": ["bidaf.hidden=50"]}
    runs = [run("none", 60.0), run("none", 55.0, protocol=small)]
    (summary,) = qa_summaries([*runs, run("pair2vec", 57.0, protocol=small)])
    (difference,) = [cells for cells in qa_grid(summary).rows[3:] if cells[1] == "difference"]
    assert difference[3] == "+2.00"


def test_statistics_over_seeds_are_of_numbers_only() -> None:
    assert spread([1.0]) == (1.0, None, 1)
    metrics = spreads([(0, {"a": 1.0, "b": None}), (1, {"a": 3.0, "c": {"x": 1.0}})])
    assert list(metrics) == ["a"]
    assert metrics["a"] == pytest.approx((2.0, math.sqrt(2), 2))


def test_a_seed_counts_once_by_the_mean_of_its_runs() -> None:
    metrics = spreads([(0, {"a": 1.0}), (0, {"a": 3.0}), (1, {"a": 4.0}), (0, {"b": 7.0})])
    assert metrics["a"] == pytest.approx((3.0, math.sqrt(2), 2))
    assert metrics["b"] == (7.0, None, 1)


@pytest.mark.parametrize(
    "content",
    ['{"task": "qa", "metrics": {}}', '{"task": "qa", "pairs": "none", "metrics": 3}',
     '{"task": "qa", "pairs": "none", "metrics": {}, "train": "all"}',
     '{"task": "bats", "metrics": {}}'],
)  # fmt: skip
def test_an_incomplete_result_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "half.json").write_text(content)
    with pytest.raises(InputError, match=r"half\.json: is not a whole result"):
        read_results(tmp_path)


def test_scores_of_nothing_are_an_error() -> None:
    for scored in (score_squad, score_adversarial):
        with pytest.raises(InputError, match="no questions"):
            scored([], {})
