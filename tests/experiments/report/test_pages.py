"""The report: the paper's tables beside stored results, in HTML and in Markdown."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tests.command import assert_fails, pair2vec
from tests.tiny_model import save_tiny_model

from pair2vec.experiments.evaluation.alpha_sweep import ALPHAS
from pair2vec.experiments.evaluation.results import read_results
from pair2vec.experiments.evaluation.slots import paper_rows
from pair2vec.experiments.report.pages import (
    REPORT_PAGE,
    REPORT_PICTURE,
    REPORT_TEXT,
    report_parts,
    write_report,
)

LABELS = ("fig:dlie", "tab:top_relations", "tab:kbc_word_prediction", "tab:nli_res",
          "tab:glockner_res", "tab:qa_res", "tab:ablations", "tab:pmi_generalizations",
          "tab:patterns", "tab:objectives")  # fmt: skip
GROUPS = ("inflectional", "derivational", "encyclopedic", "lexicographic")


def bats_result(model: str = "mine", base: float = 20.0) -> dict[str, Any]:
    scores = {"three_cos_add": base, "pair2vec": 25.5, "oracle_alpha": 50.0, "heldout_alpha": 47.5}
    group = {**scores, "by_alpha": [base + number for number in range(len(ALPHAS))]}
    capital = {**scores, "oracle_alpha": 77.7, "alphas": {"oracle_alpha": 0.85}}
    return {
        "task": "bats",
        "model": model,
        "recipe": "fast",
        "seed": 3,
        "date": "2026-01-02",
        "corpus": {"tokens": 1234567, "sources": ["some.txt"]},
        "metrics": dict.fromkeys(GROUPS, scores),
        "groups": dict.fromkeys(GROUPS, group),
        "relations": {"E01 [country - capital]": capital},
        "protocol": {"alphas": ALPHAS.tolist(), "vocabulary": 4321, "whitening": 0.5},
        "command": "pair2vec eval bats --data bats",
    }


def slots_result() -> dict[str, Any]:
    rows = [
        {
            "pattern": row.pattern,
            "x": row.x,
            "matches": [{"word": "<b>|one", "score": 1.0}, {"word": "metals", "score": 0.5}],
            "right": ["metals"],
            "unknown": [],
        }
        for row in paper_rows()
    ]
    return {
        "task": "slots",
        "model": "mine",
        "metrics": {"right_rows": 9, "rows": 14},
        "rows": rows,
        "protocol": {"prior": 0.5},
    }


def other_results() -> list[dict[str, Any]]:
    qa = {"squad2_em": 58.5, "squad2_f1": 61.25, "add_sent_f1": 33.3}
    nli = {"multinli_matched": 71.5, "breaking_nli": 66.25}
    return [
        {
            "task": "qa",
            "pairs": "none",
            "words": "glove",
            "seed": 0,
            "metrics": qa,
            "train": {"t": 9},
        },
        {
            "task": "nli",
            "model": "esim",
            "pairs": "pair2vec",
            "words": "glove.txt",
            "seed": 0,
            "train": {"snli_train.jsonl": 5},
            "metrics": nli,
        },
        {
            "task": "pmi",
            "x": "hot",
            "y": "cold",
            "pattern": "X and Y",
            "counts": {"xyc": 17},
            "corpus": {"tokens": 1000},
            "metrics": {"si1": None, "si2": 2.345, "si3": 1.5, "si4": None, "mvpmi": -1.25},
        },
    ]


class Page(HTMLParser):
    """What a browser would see: tags that match, texts, and all that could fetch something."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.cells: list[list[str]] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [v or "" for n, v in attrs if n in {"src", "href", "xlink:href", "action"}]
        if tag not in {"meta", "br"}:
            self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        if tag in {"td", "th"}:
            self.cells[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & {*self.open}:
            self.cells[-1][-1] += data


def written(
    folder: Path, results: list[dict[str, Any]], metrics: dict[str, Any]
) -> tuple[Page, str]:
    write_report(folder, report_parts(results, {"metrics": metrics}, "wikipedia"), ["Of a test."])
    return Page((folder / REPORT_PAGE).read_text()), (folder / REPORT_TEXT).read_text()


def markdown_cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [
        [re.sub(r"\\(.)", r"\1", cell).strip() for cell in row]
        for row in rows
        if not all(re.fullmatch(r" *-+:? *", cell) for cell in row)
    ]


def row(page: Page, *labels: str) -> list[str]:
    rows = [cells for cells in page.cells if cells[: len(labels)] == [*labels]]
    assert rows, labels
    return rows[0][len(labels) :]


def test_without_results_every_table_is_there_and_missing(tmp_path: Path) -> None:
    page, text = written(tmp_path / "report", [], {})
    whole = (tmp_path / "report" / REPORT_PAGE).read_text()
    for label in LABELS:
        assert label in whole
        assert label.replace("_", "\\_") in text
    assert row(page, "missing", "encyclopedic") == ["missing"] * 5 + ["+356 %"]
    assert row(page, "Country:Capital") == ["1.2", "86.1", "0.9", *["missing"] * 3]
    assert row(page, "city-state", "in X , Y .", "dallas") == ["tx*, texas*, va", "missing"]
    assert row(page, "ELMo", "ESIM + pair2vec")[:4] == ["missing", "missing", "81.03", "80.12"]
    assert row(page, "–", "BiDAF++") == ["missing"] * 7 + ["–"]
    assert row(page, "–", "composition: 2 layers")[:4] == ["68.35", "71.65", "-1.03", "missing"]
    assert row(page, "SI3 = PMI")[1] == "missing"
    assert "The figure (fig:dlie) is missing" in whole
    assert "The figure (fig:dlie) is missing" in text
    assert "No run is stored." in whole
    assert not (tmp_path / "report" / REPORT_PICTURE).exists()


def test_the_config_of_the_model_fills_in_for_results_that_are_not_there(tmp_path: Path) -> None:
    scores = {"three_cos_add": 10.0, "oracle_alpha": 15.0}
    recorded = {
        "bats": {"encyclopedic": scores, "protocol": {"vocabulary": 55000}},
        "slots": {"right_rows": 13, "rows": 14, "prior": 0.0},
    }
    page, text = written(tmp_path, [], recorded)
    cells = row(page, "wikipedia (its config)", "encyclopedic")
    assert cells == ["10.0", "missing", "15.0", "missing", "+50 %", "+356 %"]
    assert "wikipedia (its config): vocabulary 55000" in text
    assert "wikipedia, by its config: a right word in 13 of 14 rows" in text
    _, text = written(tmp_path, [bats_result("wikipedia")], recorded)
    assert "(its config)" not in text


def test_a_run_that_is_older_than_the_model_of_its_name_is_not_taken_for_its() -> None:
    config = {"created": "2026-02-01", "metrics": {"bats": {"encyclopedic": {"pair2vec": 12.5}}}}
    old = [bats_result("wikipedia"), slots_result() | {"model": "wikipedia", "date": "2026-01-31"}]
    parts = report_parts(old, config, "wikipedia")
    groups = {cells[0]: cells for cells in parts[0].grids[0].rows if cells[1] == "encyclopedic"}
    assert groups["wikipedia (its config)"][3] == "12.5"
    assert groups["wikipedia (the one of 2026-01-02, replaced since)"][3] == "25.5"
    assert "Y, wikipedia (the one of 2026-01-31, replaced since)" in parts[1].grids[0].head
    same_day = report_parts([old[0] | {"date": "2026-02-01"}], config, "wikipedia")
    assert {cells[0] for cells in same_day[0].grids[0].rows} == {"wikipedia"}


def test_stored_results_stand_in_their_tables_with_their_protocol(tmp_path: Path) -> None:
    page, text = written(tmp_path, [bats_result(), slots_result(), *other_results()], {})
    measured = ["20.0", "25.5", "50.0", "47.5", "+150 %"]
    assert row(page, "mine", "lexicographic") == [*measured, "+51 %"]
    assert row(page, "0.85") == ["37.0"] * 4
    assert row(page, "Country:Capital")[3:] == ["20.0", "77.7", "0.85"]
    assert row(page, "Noun+less")[3:] == ["missing"] * 3
    assert row(page, "city-state", "in X , Y .", "dallas")[1] == "<b>|one, metals*"
    assert row(page, "glove", "BiDAF++")[:4] == ["58.50", "61.25", "missing", "33.30"]
    assert row(page, "glove", "no pair2vec (BiDAF++)")[3:5] == ["58.50", "61.25"]
    assert row(page, "glove.txt", "ESIM + pair2vec")[:2] == ["71.50", "missing"]
    assert row(page, "MVPMI")[1:] == ["-1.25"]
    assert row(page, "SI1")[1:] == ["∞"]
    assert row(page, "SI4")[1:] == ["−∞"]
    runs = row(page, "bats", "mine")
    assert runs[:4] == ["fast", "3", "2026-01-02", "1,234,567 tokens: some.txt"]
    assert "a right word in 9 of 14 rows, prior 0.5" in text
    assert "vocabulary 4321, whitening 0.5" in text
    assert "trained on 9 of t" in text


def test_markdown_has_every_cell_of_the_page(tmp_path: Path) -> None:
    page, text = written(tmp_path, [bats_result(), slots_result(), *other_results()], {})
    assert markdown_cells(text) == [[" ".join(cell.split()) for cell in row] for row in page.cells]
    assert f"]({REPORT_PICTURE})" in text


def test_the_page_is_whole_in_itself_and_fetches_nothing(tmp_path: Path) -> None:
    page, _ = written(tmp_path, [bats_result(), slots_result(), *other_results()], {})
    whole = (tmp_path / REPORT_PAGE).read_text()
    assert page.open == []
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(page.tags)
    assert all(address.startswith("#") for address in page.fetched)
    assert "http" not in whole
    assert "url(http" not in whole
    assert "@import" not in whole
    assert "color-scheme: light dark" in whole
    assert 'name="viewport"' in whole
    assert "overflow-x: auto" in whole
    assert page.tags.count("svg") == 1
    assert "currentColor" in whole
    assert (tmp_path / REPORT_PICTURE).read_text().startswith("<?xml")
    for name in GROUPS:
        assert f">{name}</text>" in whole


def test_rows_link_to_the_files_of_their_runs(tmp_path: Path) -> None:
    """By the way from the report to the results, whose files are there."""
    results, out = tmp_path / "all results", tmp_path / "report"
    seeds = [
        {**run, "seed": seed, "date": f"2026-01-0{1 + seed}"}
        for run in other_results()
        for seed in (0, 1)
        if run["task"] in {"nli", "qa"}
    ]
    results.mkdir()
    for number, run in enumerate([bats_result(), *seeds]):
        (results / f"{run['task']}-{number}.json").write_text(json.dumps(run))
    stored = read_results(results)
    write_report(out, report_parts(stored, {}, "wikipedia"), [], results)
    page = Page((out / REPORT_PAGE).read_text())
    linked = [address for address in page.fetched if not address.startswith("#")]
    assert {(out / unquote(address)).resolve() for address in linked} == set(results.iterdir())
    assert "http" not in (out / REPORT_PAGE).read_text()
    for labels in (("glove.txt", "ESIM + pair2vec"), ("glove", "BiDAF++")):
        assert row(page, *labels)[-2:] == ["2026-01-01 to 2026-01-02", "1 2"]
    assert row(page, "mine", "lexicographic")[-2:] == ["2026-01-02", "1"]
    # A row of the paper that was not run has no files.
    assert row(page, "paper: ELMo", "BiDAF++")[-2:] == ["–", "–"]
    assert row(page, "bats", "mine")[-2:] == ["pair2vec eval bats --data bats", "1"]
    text = (out / REPORT_TEXT).read_text()
    assert "| 2026-01-01 to 2026-01-02 | [1](../all%20results/nli-3.json) [2](" in text
    assert row(page, "words", "model", "Breaking NLI")[-2:] == ["date", "files"]


def test_without_files_there_are_no_columns_of_them(tmp_path: Path) -> None:
    page, text = written(tmp_path, [bats_result(), slots_result(), *other_results()], {})
    assert all("files" not in cells for cells in page.cells)
    assert "files |" not in text


def test_the_figure_is_of_the_requested_model(tmp_path: Path) -> None:
    page, text = written(tmp_path, [bats_result("a", 5.0), bats_result("wikipedia", 30.0)], {})
    assert "(fig:dlie): wikipedia" in text
    assert row(page, "0.00") == ["30.0"] * 4
    assert row(page, "a", "encyclopedic")[0] == "5.0"


def test_without_matplotlib_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, [bats_result()], {})
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page, text = written(tmp_path, [bats_result()], {})
    assert "svg" not in page.tags
    assert "is not drawn: pip install 'pair2vec[plot]'" in text
    assert not (tmp_path / REPORT_PICTURE).exists()


def test_the_same_results_make_the_same_report(tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(tmp_path / name, [bats_result(), slots_result()], {})
    assert (tmp_path / "a" / REPORT_PAGE).read_bytes() == (
        tmp_path / "b" / REPORT_PAGE
    ).read_bytes()


def test_a_report_that_cannot_be_written_leaves_the_old_one_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, [], {})
    before = (tmp_path / REPORT_PAGE).read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        written(tmp_path, other_results(), {})
    assert (tmp_path / REPORT_PAGE).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [REPORT_PAGE, REPORT_TEXT]


def test_the_command_writes_a_report_over_an_earlier_one_only(tmp_path: Path) -> None:
    save_tiny_model(tmp_path / "model")
    results, out = tmp_path / "results", tmp_path / "report"
    results.mkdir()
    (results / "bats.json").write_text(json.dumps(bats_result()))
    arguments: list[str | Path] = [
        "report",
        "--out",
        out,
        "--results",
        results,
        "--model",
        tmp_path / "model",
    ]
    done = pair2vec("eval", "slots", "--model", tmp_path / "model", "--results", results)
    assert "wrote" in done.stderr, done.stderr
    written(out, [], {})
    done = pair2vec(*arguments)
    assert done.returncode == 0, done.stderr
    assert f"{out / REPORT_PAGE}: 2 runs" in done.stdout
    slots = [path.name for path in results.glob("slots-*.json")]
    assert slots == ["slots-model.json"]
    stored = json.loads((results / slots[0]).read_text())
    assert (stored["task"], len(stored["rows"])) == ("slots", len(paper_rows()))
    assert row(Page((out / REPORT_PAGE).read_text()), "slots", "model")
    (out / "mine.txt").write_text("")
    assert_fails(pair2vec(*arguments), 2, "is not a report and not empty (mine.txt)")
    (results / "half.json").write_text("{")
    arguments[2] = tmp_path / "new"
    assert_fails(pair2vec(*arguments), 1, "half.json: not JSON")
    arguments[4] = tmp_path / "nowhere"
    assert_fails(pair2vec(*arguments), 2, "nowhere: no such folder of results")


def test_a_report_needs_no_torch() -> None:
    code = "import sys, pair2vec.experiments.report.pages; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_relations_of_two_words_are_shown_where_a_run_has_measured_them() -> None:
    run = {
        "task": "relate",
        "model": "taught",
        "metrics": {
            "macro_f1": 61.5,
            "opposites": 30,
            "opposites_called_antonym": 28,
            "auc": None,
            "word_tab_right": 100,
            "word_tab_entries": 144,
        },
        "protocol": {"predicts": "relation head"},
    }
    without, parts = (report_parts(runs, {}, "wikipedia") for runs in ([], [run]))
    assert "Which relation holds" not in {part.title for part in without}
    (part,) = (part for part in parts if part.title == "Which relation holds")
    (grid,) = part.grids
    (row,) = grid.rows
    shown = dict(zip(grid.head, row, strict=True))
    assert (shown["model"], shown["predicted by"]) == ("taught", "relation head")
    assert (shown["macro-F1"], shown["opposites"], shown["Word tab"]) == (
        "61.5",
        "28 of 30",
        "100 of 144",
    )
    assert shown["AUC"] == "missing"
