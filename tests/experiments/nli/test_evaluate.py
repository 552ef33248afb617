"""Accuracies, result records and tables of NLI."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.experiments.nli.relation_world import examples
from tests.wordnet.small_wordnet import small_wordnet

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.results import changed_settings, result_file_name, write_result
from pair2vec.experiments.nli.classifier import NliSettings, nli_settings
from pair2vec.experiments.nli.evaluate import (
    RULE,
    evaluate_nli,
    nli_set_name,
    read_nli_sets,
    wilson_accuracy,
    wordnet_labeller,
)
from pair2vec.experiments.nli.examples import NliExample, NliSet
from pair2vec.experiments.nli.results import (
    read_nli_results,
    result_of_classifier,
    result_of_rule,
)
from pair2vec.experiments.nli.tables import (
    PAPER_PAIRS,
    accuracy_tables,
    nli_grids,
    nli_summaries,
    paper_accuracy,
    summary_tables,
)


def shown(thing: object, width: int = 160) -> str:
    console = Console(width=width, record=True, file=None)
    with console.capture() as captured:
        console.print(thing)
    return captured.get()


def test_an_interval_is_wilsons() -> None:
    # Newcombe (1998), table I: 81 of 263, and 0 of 20, by the score method without correction.
    assert wilson_accuracy([True] * 81 + [False] * 182) == (263, 30.8, 25.53, 36.62)
    assert wilson_accuracy([False] * 20) == (20, 0.0, 0.0, 16.11)
    assert wilson_accuracy([True] * 20)[1:] == (100.0, 83.89, 100.0)
    assert wilson_accuracy([]) == (0, 0.0, 0.0, 100.0)
    assert str(wilson_accuracy([False] * 263).low) == "0.0"


def always(label: str | None) -> Any:
    def labeller(examples: Sequence[NliExample]) -> list[str | None]:
        return [label for _ in examples]

    return labeller


def test_each_set_and_each_category_has_its_accuracy() -> None:
    nli_set = NliSet(examples(range(4)), dropped=3)
    uncategorised = NliSet([example._replace(category=None) for example in nli_set.examples[:3]])
    scores = evaluate_nli({"a": nli_set, "b": uncategorised}, always("neutral"))
    assert scores["a"].overall[:2] == (12, 33.33)
    assert scores["a"].dropped == 3
    assert {name: accuracy[:2] for name, accuracy in scores["a"].categories.items()} == {
        "kind1": (4, 0.0),
        "kind2": (4, 100.0),
        "kind3": (4, 0.0),
    }
    assert not scores["b"].categories
    text = shown(accuracy_tables(scores))
    assert "33.33" in text
    assert "kind2" in text
    assert "a: 3 examples without a gold label left out" in text


def test_an_example_that_gets_no_label_is_wrong_and_reported() -> None:
    scores = evaluate_nli({"breaking_nli": NliSet(examples(range(2)))}, always(None))
    assert scores["breaking_nli"].overall.accuracy == 0
    assert scores["breaking_nli"].answered == 0
    assert "Breaking NLI: 100.0 % got no label" in shown(accuracy_tables(scores))


def test_wordnet_alone_labels_by_the_words_that_differ(tmp_path: Path) -> None:
    labelled = [
        NliExample(("a", "dog"), ("a", "animal"), "entailment"),
        NliExample(("a", "animal"), ("a", "dog"), "neutral"),
        NliExample(("it", "is", "hot"), ("it", "is", "cold"), "contradiction"),
        NliExample(("so", "it"), ("is", "not"), "contradiction"),
    ]
    scores = evaluate_nli({"a": NliSet(labelled)}, wordnet_labeller(small_wordnet(tmp_path)))
    assert scores["a"].overall.accuracy == 75.0
    assert scores["a"].answered == 75.0


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("snli_1.0_test.jsonl", "snli_test"),
        ("snli_dev.jsonl.xz", "snli_dev"),
        ("multinli_1.0_dev_matched.jsonl", "multinli_matched"),
        ("MNLI_dev_mismatched.jsonl.gz", "multinli_mismatched"),
        ("breaking_nli.jsonl.xz", "breaking_nli"),
    ],
)
def test_a_set_is_recognised_by_the_name_of_its_file(file: str, name: str) -> None:
    plain = NliSet([NliExample(("a",), ("b",), "neutral")])
    assert nli_set_name(f"/some/folder/{file}", plain) == name


def test_breaking_nli_is_recognised_by_its_categories(
    tmp_path: Path,
) -> None:
    assert nli_set_name("dataset.jsonl", NliSet(examples(range(1)))) == "breaking_nli"
    assert nli_set_name("replaced_words.jsonl.xz", NliSet(examples(range(1)))) == "replaced_words"
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"sentence1": "a", "sentence2": "b", "gold_label": "neutral"}))
    with pytest.raises(UsageError, match=r"which set it is; name it: --as NAME=.*mine\.jsonl"):
        read_nli_sets([str(path)])
    assert list(read_nli_sets([], [f"snli_test={path}"])) == ["snli_test"]
    with pytest.raises(UsageError, match="is a second snli_test"):
        read_nli_sets([], [f"snli_test={path}"] * 2)
    with pytest.raises(UsageError, match="--as snli_test: expected NAME=FILE"):
        read_nli_sets([], ["snli_test"])
    with pytest.raises(UsageError, match="no examples to label"):
        read_nli_sets([])


def config(pairs: str, seed: int = 0, **inputs: str) -> dict[str, Any]:
    settings = nli_settings(["training.batch=256", "pairs.dropout=0.1"], seed)
    named = {"pair_model": None, "wordnet": None, "pair_vectors": None}
    return {
        "model": "esim",
        "created": "2026-01-02",
        "inputs": {"words": "/home/me/glove.6B.txt.xz", "pairs": pairs, **named, **inputs},
        "settings": asdict(settings),
        "train": {"snli_train.jsonl": 76889},
        "dev": {"snli_dev.jsonl": 9842},
        "pair_source": {},
        "dev_score": 80.0,
        "epochs": 7,
    }


def result(pairs: str, seed: int = 0, label: str = "neutral", **inputs: str) -> dict[str, Any]:
    sets = {
        "multinli_matched": NliSet(examples(range(3))),
        "breaking_nli": NliSet(examples(range(2))),
    }
    plain = [example._replace(category=None) for example in sets["multinli_matched"].examples]
    sets["multinli_matched"] = NliSet([*plain, plain[1]][: 9 + seed])
    files = {name: f"/data/{name}.jsonl" for name in sets}
    return result_of_classifier(
        config(pairs, seed, **inputs), evaluate_nli(sets, always(label)), files
    )


def test_a_result_has_metrics_protocol_and_command_without_folders(tmp_path: Path) -> None:
    record = result("pair2vec", 1)
    assert record["task"] == "nli"
    assert (record["pairs"], record["words"], record["seed"]) == ("pair2vec", "glove.6B.txt.xz", 1)
    assert (record["date"], record["train"]) == ("2026-01-02", {"snli_train.jsonl": 76889})
    assert record["metrics"] == {
        "multinli_matched": 40.0,
        "breaking_nli": 33.33,
        "breaking_nli_by_category": {"kind1": 0.0, "kind2": 100.0, "kind3": 0.0},
    }
    assert record["protocol"]["examples"] == {"multinli_matched": 10, "breaking_nli": 6}
    assert record["command"] == (
        "pair2vec nli train --model esim --pairs pair2vec --words glove.6B.txt.xz "
        "--train snli_train.jsonl --dev snli_dev.jsonl --set pairs.dropout=0.1 "
        "--set training.batch=256 --seed 1 --out model && pair2vec eval nli --model model "
        "--data multinli_matched.jsonl --data breaking_nli.jsonl"
    )
    path = write_result(tmp_path / "results", record)
    assert path.name == "nli-pair2vec-glove.6B-pairs.dropout_0.1-seed1.json"
    assert "/home" not in path.read_text()
    assert "/data" not in path.read_text()
    assert read_nli_results(tmp_path / "results") == [{**record, "file": path.name}]


def test_changed_settings_are_those_that_set_takes() -> None:
    usual = asdict(NliSettings())
    assert changed_settings(usual, usual) == []
    changes = ["esim.hidden=20", "training.rate=0.001"]
    assert changed_settings(asdict(nli_settings(changes, seed=7)), usual) == changes


def test_variants_have_files_and_rows_of_their_own() -> None:
    plain, other = result("pair2vec"), result("pair2vec", pair_model="/models/large")
    assert result_file_name(plain) != result_file_name(other)
    (summary,) = nli_summaries([plain, other])
    rows = [row for row in summary.rows if row.model == "pair2vec"]
    assert [row.note for row in rows] == ["", "pair_model=large"]


def changed(pairs: str, *settings: str) -> dict[str, Any]:
    record = result(pairs)
    record["protocol"]["variant"] = list(settings)
    return record


def test_settings_of_most_runs_are_noted_once() -> None:
    (alone,) = nli_summaries([result("pair2vec"), result("none")])
    assert alone.protocol.usual == ("pairs.dropout=0.1",)
    assert {row.note for row in alone.rows} == {""}
    assert shown(summary_tables(alone)).count("pairs.dropout=0.1") == 1
    (halves,) = nli_summaries([result("pair2vec"), changed("none")])
    assert halves.protocol.usual == ()
    assert "pairs.dropout=0.1" in {row.note for row in halves.rows}
    (most,) = nli_summaries([result("pair2vec"), result("wordnet"), changed("none")])
    assert most.protocol.usual == ("pairs.dropout=0.1",)
    notes = {row.model: row.note for row in most.rows}
    assert (notes["pair2vec"], notes["none"]) == ("", "pairs.dropout=default")


def test_many_seeds_of_one_kind_do_not_make_its_settings_usual() -> None:
    seeds = [changed("pair2vec", "pairs.whitening=1.0") for _ in range(5)]
    (summary,) = nli_summaries([*seeds, changed("none"), changed("wordnet")])
    assert summary.protocol.usual == ()


def test_another_pair_model_is_named_where_it_is_and_nowhere_else() -> None:
    runs = [
        changed("none"),
        *(changed("pair2vec", *more, "pair_model=old") for more in (["esim.dropout=0.4"], [])),
        changed("pair2vec+wordnet", "pair_model=old"),
    ]
    (summary,) = nli_summaries(runs)
    assert summary.protocol.usual == ()
    in_papers_tables = {row.model: row.note for row in summary.rows if not row.is_variant}
    # Of several settings, the fewest stand for pair2vec.
    assert in_papers_tables["pair2vec"] == "pair_model=old"
    assert in_papers_tables["none"] == ""


def test_kim_and_wordnet_features_in_esim_have_rows_of_their_own() -> None:
    (summary,) = nli_summaries([result("wordnet"), {**result("wordnet"), "pairs": "kim"}])
    rows = {row.model: row for row in summary.rows if row.figures}
    assert list(rows) == ["wordnet", "kim"]
    # What the paper has in its table is KIM.
    assert [paper_accuracy("breaking_nli", row) for row in rows.values()] == [None, 87.7]
    shown_names = [row[1] for row in nli_grids(summary)[1].rows]
    assert {"ESIM + WordNet features", "KIM"} <= set(shown_names)


def test_pair_vectors_beside_wordnet_are_in_the_papers_tables_if_there_is_a_run() -> None:
    (without,) = nli_summaries([result("none")])
    assert "pair2vec+wordnet" not in {row.model for row in without.rows}
    (summary,) = nli_summaries([result("none"), result("pair2vec+wordnet")])
    assert [row.model for row in summary.rows if row.is_variant] == []
    for grid in nli_grids(summary)[:2]:
        assert "ESIM + pair2vec + WordNet features" in str(grid)


def test_other_settings_are_beside_the_usual_ones_and_not_in_the_papers_tables() -> None:
    runs = [result("none"), result("pair2vec"), changed("pair2vec", "pairs.whitening=1.0")]
    named = {**result("pair2vec", pair_model="/models/mine"), "pairs": "mine"}
    (summary,) = nli_summaries([*runs, named])
    variants = [(row.model, row.note) for row in summary.rows if row.is_variant]
    assert variants == [
        ("pair2vec", "pairs.whitening=1.0 pairs.dropout=default"),
        ("mine", ""),
    ]
    *papers, categories, tried = nli_grids(summary)
    for grid in (*papers, categories):
        assert "whitening" not in str(grid)
        assert "mine" not in str(grid)
    assert tried.title == "All settings that were tried, glove.6B.txt.xz"
    assert [row[0] for row in tried.rows] == [
        "ESIM",
        "ESIM + pair2vec",
        "ESIM + pair2vec (pairs.whitening=1.0 pairs.dropout=default)",
        "ESIM + mine",
    ]
    assert tried.head[1] == "dev"
    assert {row[1] for row in tried.rows} == {f"{runs[0]['protocol']['dev_score']:.2f}"}


def test_categories_are_whole_on_a_narrow_terminal() -> None:
    runs = [result(pairs, seed) for pairs in PAPER_PAIRS for seed in (0, 1)]
    text = shown(summary_tables(nli_summaries(runs)[0]), width=50)
    assert "…" not in text


def test_runs_are_summarised_by_mean_and_deviation() -> None:
    runs = [result("none", 0), result("none", 1), result("none", 0, "entailment")]
    (summary,) = nli_summaries(runs)
    row = next(row for row in summary.rows if row.model == "none")
    spread = row.figures["multinli_matched"]
    # Seed 0 was run twice.
    assert spread.seeds == 2
    assert spread.mean == pytest.approx((33.33 + 40.0) / 2)
    assert spread.deviation == pytest.approx(4.72, abs=0.01)
    assert row.categories["kind2"].mean == pytest.approx(75)


def test_every_row_of_the_paper_is_there_whether_it_was_run_or_not() -> None:
    rule = result_of_rule(
        evaluate_nli({"breaking_nli": NliSet(examples(range(2)))}, always("neutral")), {}
    )
    (summary,) = nli_summaries([result("pair2vec"), rule])
    assert [row.model for row in summary.rows] == [RULE, *PAPER_PAIRS]
    assert [paper_accuracy("breaking_nli", row) for row in summary.rows] == [
        85.8,
        77.0,
        87.7,
        None,
        92.9,
    ]
    assert [bool(row.figures) for row in summary.rows] == [True, False, False, False, True]
    text = shown(summary_tables(summary))
    assert "missing" in text
    assert "92.9" in text
    assert "trained on 76,889 of snli_train.jsonl; tested on" in text
    assert "MultiNLI matched 9" in text


def test_what_is_wrong_with_the_data_is_said_below_the_tables() -> None:
    subset = {**result("none"), "train": {"snli_train.subset.jsonl.xz": 76889}}
    text = shown(summary_tables(nli_summaries([subset])[0]))
    assert "entailment 39.8, neutral 35.1, contradiction 25.1 %" in text
    assert "Breaking NLI is 87.4 % contradiction" in text
    assert "MultiNLI is" not in text
    union = {**subset, "train": {"multinli_train.union.jsonl.xz": 68707}}
    assert "union of partial copies" in shown(summary_tables(nli_summaries([union])[0]))
    some = {**subset, "train": {"one in 9 of snli_train.union.jsonl.xz, x": 9}}
    assert "entailment 38.6" in shown(summary_tables(nli_summaries([some])[0]))
    # Of data of which nothing is known, nothing is said.
    other = {**subset, "train": {"mine.jsonl": 9}}
    assert "not a uniform sample" not in shown(summary_tables(nli_summaries([other])[0]))
    scores = evaluate_nli({"breaking_nli": NliSet(examples(range(2)))}, always("neutral"))
    assert "87.4 % contradiction" in shown(accuracy_tables(scores))


def test_the_mismatched_set_is_a_column_of_its_own() -> None:
    record = result("none")
    record["metrics"]["multinli_mismatched"] = 61.25
    (first, *_) = nli_grids(nli_summaries([record])[0])
    columns = dict(zip(first.head, first.rows[1], strict=True))
    assert columns["MultiNLI mismatched"] == "61.25"
    assert "paper: MultiNLI mismatched" in first.head


def test_the_papers_figures_are_beside_their_word_input() -> None:
    elmo, other = result("none", words="/x/elmo"), result("none", words="/x/minilm")
    rows = {row.words: row for row in nli_summaries([elmo, other])[0].rows if row.model == "none"}
    assert paper_accuracy("multinli_matched", rows["elmo"]) == 79.68
    assert paper_accuracy("breaking_nli", rows["elmo"]) == 84.6
    assert paper_accuracy("multinli_matched", rows["minilm"]) is None


def test_runs_on_other_examples_are_never_in_one_row() -> None:
    other = {**result("none"), "train": {"snli_train.jsonl": 5}}
    summaries = nli_summaries([result("none"), other])
    assert [summary.protocol.train[0][1] for summary in summaries] == [76889, 5]


def test_a_folder_without_results_or_with_a_damaged_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder of results"):
        read_nli_results(tmp_path / "none")
    (tmp_path / "other.json").write_text('{"task": "qa"}')
    with pytest.raises(UsageError, match="has no results of NLI"):
        read_nli_results(tmp_path)
    (tmp_path / "half.json").write_text('{"task": "nli"}')
    with pytest.raises(InputError, match=r"half\.json: is not a whole result"):
        read_nli_results(tmp_path)
    (tmp_path / "half.json").write_text("{")
    with pytest.raises(InputError, match=r"half\.json: not JSON"):
        read_nli_results(tmp_path)
