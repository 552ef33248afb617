"""``pair2vec eval`` as a user runs it."""

import json
import lzma
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import RELATIONS
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_names
from tests.tiny_model import ALL_ANSWERS, WORDS, save_tiny_model, taught_model

from pair2vec.api import load
from pair2vec.experiments.evaluation.opposed import half_of
from pair2vec.experiments.evaluation.slots import paper_rows
from pair2vec.word_vectors.formats import write_vec

CAPITALS = "3_Encyclopedic_semantics/E01 [country - capital].txt"
OPPOSITES = "4_Lexicographic_semantics/L10 [antonyms - binary].txt"

PAIRS = [("hot", "cold"), ("up", "down"), ("cheap", "dear"), ("hot", "down"), ("france", "paris")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, word vectors, a small BATS, relations, and a small set of labelled pairs."""
    folder = tmp_path_factory.mktemp("eval")
    save_tiny_model(folder / "model")
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 5))
    write_vec(folder / "words.vec", WORDS, vectors.astype(np.float32))
    texts = {
        CAPITALS: "france\tparis\nhot\tdear/cheap\nperu\tlima\n",
        OPPOSITES: "hot\tcold\nup\tdown\ncheap\tdear\n",
    }
    for name, text in texts.items():
        path = folder / "bats" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    google = ": capital\nFrance Paris hot cold\n: gram1-some\nup down cheap dear\n"
    (folder / "google.txt").write_text(google)
    (folder / "mine.toml").write_text(RELATIONS)
    (folder / "set").mkdir()
    lines = [f"{x}\t{y}\t{'Antonym' if n < 3 else 'IsA'}\n" for n, (x, y) in enumerate(PAIRS)]
    for name in ("train", "val"):
        (folder / "set" / f"{name}.tsv").write_text("".join(lines * 8))
    (folder / "set" / "test.tsv").write_text("".join(lines) + "Hot\tunheard\tIsA\n")
    return folder


def bats(folder: Path, **changes: str | Path) -> list[str | Path]:
    options = {
        "data": folder / "bats",
        "vectors": folder / "words.vec",
        "model": folder / "model",
        "device": "cpu",
        "workers": "1",
        **changes,
    }
    return ["eval", "bats", *(f"--{name}={value}" for name, value in options.items())]


def test_bats_as_json_has_groups_relations_and_the_protocol(folder: Path) -> None:
    done = pair2vec(*bats(folder), "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert list(printed) == ["groups", "relations", "protocol"]
    assert list(printed["groups"]) == ["encyclopedic", "lexicographic"]
    assert list(printed["relations"]) == ["E01 [country - capital]", "L10 [antonyms - binary]"]
    group = printed["groups"]["lexicographic"]
    assert {"three_cos_add", "pair2vec", "oracle_alpha", "heldout_alpha", "n"} <= set(group)
    assert group["n"] == 6
    assert len(group["by_alpha"]) == 21
    assert group["by_alpha"][0] == group["three_cos_add"]
    assert group["by_alpha"][20] == group["pair2vec"]
    assert group["oracle_alpha"] == max(group["by_alpha"])
    assert group["heldout_alpha"] is None
    # Peru and Lima are unknown: of six questions two are left.
    assert printed["groups"]["encyclopedic"]["n"] == 2
    assert printed["groups"]["encyclopedic"]["dropped"] == pytest.approx(66.67)
    assert printed["protocol"]["dropped"] == pytest.approx(33.33)
    assert printed["protocol"]["vocabulary"] == len(WORDS)
    assert printed["protocol"]["half"] is None


def test_bats_without_vectors_takes_the_words_that_pair_vectors_are_made_of(
    folder: Path, tmp_path: Path
) -> None:
    own = load(folder / "model")
    write_vec(tmp_path / "own.vec", own.vocabulary.words, own.unit_words)
    without = [option for option in bats(folder) if not str(option).startswith("--vectors")]
    done = pair2vec(*without, "--json", "--results", tmp_path / "results")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    beside = json.loads(pair2vec(*bats(folder, vectors=tmp_path / "own.vec"), "--json").stdout)
    assert printed["groups"] == beside["groups"]
    assert printed["protocol"]["vectors"] == "of the model"
    (record,) = (tmp_path / "results").iterdir()
    assert "--vectors" not in json.loads(record.read_text())["command"]


def test_bats_records_its_figures_in_the_model(folder: Path, tmp_path: Path) -> None:
    own = shutil.copytree(folder / "model", tmp_path / "model")
    done = pair2vec(*bats(folder, model=own), "--record", "--json")
    assert done.returncode == 0, done.stderr
    (figures,) = json.loads((own / "config.json").read_text())["metrics"].values()
    printed = json.loads(done.stdout)
    for name, group in printed["groups"].items():
        assert figures[name]["three_cos_add"] == group["three_cos_add"]
    assert figures["protocol"]["whitening"] == 0.5
    assert figures["protocol"]["vectors"] == "words.vec"
    assert "three_cos_add" in (own / "README.md").read_text()


def test_bats_on_a_terminal_has_the_plot_the_tables_and_the_protocol(folder: Path) -> None:
    done = pair2vec(*bats(folder, only="antonyms", vocab="16", direction="forward"))
    assert done.returncode == 0, done.stderr
    assert "● lexicographic" in done.stdout
    assert "L10 [antonyms - binary]" in done.stdout
    assert "E01" not in done.stdout
    assert "16 words to choose from; direction forward, whitening 0.5." in done.stdout


def test_a_file_of_googles_runs_through_the_same_code(folder: Path) -> None:
    done = pair2vec(*bats(folder, data=folder / "google.txt"), "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert {name: group["n"] for name, group in printed["groups"].items()} == {
        "semantic": 1,
        "syntactic": 1,
    }


def test_a_half_is_evaluated_alone_and_named(folder: Path, tmp_path: Path) -> None:
    for number, text in enumerate(["hot\tcold\nup\tdown\n", "france\tparis\nhot\tcold\n"] * 2):
        path = tmp_path / f"4_Lexicographic_semantics/L0{number + 1} [some].txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    printed = {}
    for half in ("choose", "report"):
        done = pair2vec(*bats(folder, data=tmp_path, half=half), "--json")
        assert done.returncode == 0, done.stderr
        printed[half] = json.loads(done.stdout)
        assert printed[half]["protocol"]["half"] == half
        assert printed[half]["protocol"]["relations"] == 2
    assert list(printed["choose"]["relations"]) == ["L01 [some]", "L03 [some]"]
    assert list(printed["report"]["relations"]) == ["L02 [some]", "L04 [some]"]
    done = pair2vec(*bats(folder, data=tmp_path, half="report", only="L04"))
    assert "2 questions of the half “report”, 0.0 % dropped" in done.stdout
    assert "L02" not in done.stdout


@pytest.mark.parametrize(
    ("changes", "code", "fragment"),
    [
        ({"data": "nowhere"}, 2, "nowhere: no such file or folder"),
        ({"data": "model"}, 1, "has no BATS files"),
        ({"vectors": "nowhere.vec"}, 1, "nowhere.vec: no such file"),
        ({"model": "nowhere"}, 1, "nowhere: no such folder"),
        ({"only": "E07"}, 2, "'E07' is neither a group"),
        ({"direction": "up"}, 2, "direction is 'up'"),
        ({"half": "first"}, 2, "half is 'first'; it must be one of choose, report"),
        ({"half": "report"}, 2, "no group has the two relations to be halved"),
    ],
)
def test_bad_input_is_one_line_and_an_exit_code(
    folder: Path, changes: dict[str, str], code: int, fragment: str
) -> None:
    paths = {
        name: folder / value if name in {"data", "vectors", "model"} else value
        for name, value in changes.items()
    }
    assert_fails(pair2vec(*bats(folder, **paths)), code, fragment)


def test_a_malformed_line_is_named_by_file_and_line(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / CAPITALS
    path.parent.mkdir()
    path.write_text("france\tparis\njapan tokyo\n")
    done = pair2vec(*bats(folder, data=tmp_path))
    assert_fails(done, 1, f"{path}, line 2: expected a word, a tab and its answers")


def test_slots_as_json_has_the_fourteen_rows(folder: Path) -> None:
    done = pair2vec("eval", "slots", "--model", folder / "model", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert len(printed["rows"]) == 14
    assert printed["rows"][0]["unknown"] == ["accept", "either"]
    assert printed["unknown_rows"] == 14
    assert printed["right_rows"] == 0
    assert "prior" not in printed
    assert_fails(pair2vec("eval", "slots", "--model", folder / "nowhere"), 1, "no such folder")


def test_the_bundled_model_fills_most_rows_of_the_papers_table() -> None:
    printed = json.loads(pair2vec("eval", "slots", "--json").stdout)
    assert printed["unknown_rows"] == 0
    assert printed["right_rows"] >= 9


def test_slots_take_a_prior_and_count_the_rows_that_are_right(tmp_path: Path) -> None:
    rows = paper_rows()
    words = {word for row in rows for word in (row.x, *row.pattern.split())} - {"X", "Y"}
    folder = save_tiny_model(tmp_path / "model", ["metals", "texas", *sorted(words)])
    # With nothing but frequency, these two are the best for every row.
    done = pair2vec("eval", "slots", "--model", folder, "--prior", "1000", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["prior"] == 1000
    assert all(
        [m["word"] for m in row["matches"][:2]] == ["metals", "texas"] for row in printed["rows"]
    )
    right = {(row["pattern"], row["x"]): row["right"] for row in printed["rows"]}
    assert right["including X and other Y", "copper"] == ["metals"]
    assert right["in X , Y .", "dallas"] == ["texas"]
    assert right["either X or Y", "accept"] == []
    assert printed["right_rows"] == sum(map(bool, right.values()))
    shown = pair2vec("eval", "slots", "--model", folder, "--prior", "1000").stdout
    assert "Words are scored by R·C + 1000 · log of their share of the corpus." in shown
    assert f"{printed['right_rows']} of 14 rows have a word in the top 3 that is right" in shown
    assert "metals*, texas" in shown
    for bad in ("-1", "nan", "inf"):
        assert_fails(pair2vec("eval", "slots", "--model", folder, f"--prior={bad}"), 2, "prior is")


def test_eval_relations_as_json_has_rows_and_the_protocol(folder: Path, tmp_path: Path) -> None:
    done = pair2vec(
        *("eval", "relations", "--data", folder / "set", "--vectors", folder / "words.vec"),
        *("--model", folder / "model", "--relations", folder / "mine.toml"),
        *("--steps", "30", "--results", tmp_path, "--json"),
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert list(printed) == ["rows", "protocol", "built_in_on_val"]
    assert list(printed["rows"]) == [
        "majority",
        "concatenation",
        "difference",
        "pair2vec",
        "pair2vec and words",
    ]
    row = printed["rows"]["pair2vec and words"]
    assert list(row) == ["views", "val", "test", "calibration"]
    assert {"weighted_f1", "accuracy", "classes"} == set(row["test"])
    assert {"n", "precision", "recall", "f1"} == set(row["test"]["classes"]["Antonym"])
    assert printed["protocol"]["test"] == 6
    assert printed["protocol"]["unknown"] == pytest.approx(100 / 6, abs=0.01)
    assert "training on both" in done.stderr
    assert (tmp_path / "relations-set-model-seed0.json").is_file()


def test_eval_relations_shows_f1_by_class_and_what_was_unknown(folder: Path) -> None:
    done = pair2vec(
        *("eval", "relations", "--data", folder / "set", "--model", folder / "model"),
        *("--relations", folder / "mine.toml", "--steps", "30"),
    )
    assert done.returncode == 0, done.stderr
    assert "Antonym" in done.stdout
    assert "word vectors of the model" in done.stdout
    assert "Of the test pairs 16.7 % have a word that the model does not know" in done.stdout
    assert "is dropped" in done.stdout
    assert_fails(pair2vec("eval", "relations", "--data", folder / "no"), 2, "no such folder")


def test_eval_relations_without_a_set_evaluates_on_held_out_words(folder: Path) -> None:
    options = ["--model", str(folder / "model"), "--relations", str(folder / "mine.toml")]
    done = pair2vec("eval", "relations", *options, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)["held_out_words"]
    assert {"opposite", "capital", "none"} >= set(printed["classes"])
    assert set(printed["calibration"]) == {
        "n",
        "accuracy",
        "confidence",
        "expected_error",
        "log_loss",
    }
    assert "calibration error" in pair2vec("eval", "relations", *options).stdout


# Which relation holds.


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """A taught model, and pairs of held-out words beside it."""
    taught_model(tmp_path / "taught", ALL_ANSWERS)
    lines = [
        f"test\t{x}\t{y}\t{'none' if n else 'antonym'}\t{n % 2}" for n, (x, y) in enumerate(PAIRS)
    ]
    lines += ["test\thot\tzebra\tnone\t0", "dev\thot\tdear\tnone\t0"]
    text = "\n".join(["part\tx\ty\trelation\tlabelled", *lines])
    (tmp_path / "pairs.tsv").write_text(text + "\n")
    return tmp_path


def test_relate_as_json_has_four_parts_and_the_protocol(taught: Path) -> None:
    options = [f"--model={taught / 'taught'}", f"--pairs={taught / 'pairs.tsv'}", "--json"]
    done = pair2vec("eval", "relate", *options)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert list(printed) == ["wordnet", "software_talk", "random_pairs", "word_tab", "protocol"]
    assert printed["wordnet"]["dropped"] == 1
    assert printed["wordnet"]["rows"]["relation head"]["all"]["pairs"] == len(PAIRS)
    assert printed["random_pairs"]["pairs"] == 100_000
    assert len(printed["random_pairs"]["most_confident"]) == 20
    assert 0 < printed["word_tab"]["entries"] <= 12
    assert printed["protocol"]["predicts"] == "relation head"
    again = pair2vec("eval", "relate", *options)
    assert again.stdout == done.stdout
    named = {*printed, *printed["wordnet"], *printed["random_pairs"], *printed["word_tab"]}
    assert named <= documented_names("eval relate")


def test_relate_records_its_figures_in_the_model_and_in_a_file(taught: Path) -> None:
    options: list[str | Path] = ["--model", taught / "taught", "--pairs", taught / "pairs.tsv"]
    done = pair2vec("eval", "relate", *options, "--record", "--results", taught / "results")
    assert done.returncode == 0, done.stderr
    assert "WordNet, unseen words: all, 5 pairs" in done.stdout
    (path,) = (taught / "results").iterdir()
    stored = json.loads(path.read_text())
    recorded = json.loads((taught / "taught" / "config.json").read_text())["metrics"]["relate"]
    assert stored["metrics"] == recorded
    assert "macro_f1" in (taught / "taught" / "README.md").read_text()
    report = pair2vec(
        "report", "--out", taught / "report", "--results", taught / "results",
        "--model", taught / "taught",
    )  # fmt: skip
    assert report.returncode == 0, report.stderr
    assert "Which relation holds" in (taught / "report" / "report.md").read_text()


def test_relate_without_readable_pairs_is_one_line(taught: Path) -> None:
    (taught / "bad.tsv").write_text("part\tx\ty\trelation\tlabelled\ntest\thot\n")
    for name, fragment in [("nowhere", "no such file"), ("bad.tsv", "line 2: expected part")]:
        options: list[str | Path] = ["--model", taught / "taught", "--pairs", taught / name]
        assert_fails(pair2vec("eval", "relate", *options), 1, fragment)


# Two sentences.

SENTENCES = [
    ("same", "Paris is hot", "paris is hot."),
    ("opposed", "hot is up", "hot is not up"),
    ("opposed", "cold is down", "cold is never down"),
    ("different", "zzz", "qqq vvv"),
    ("same", "france is in the cold", "France is in the cold"),
    ("same", "cheap\u2028or dear", "cheap\u2028or dear"),
]


@pytest.fixture
def sentences(taught: Path) -> Path:
    """A taught model, a folder of two files of sentences, and NLI sets, in one folder."""
    (taught / "sentences").mkdir()
    rows = ["\t".join(row) for row in [("label", "sentence1", "sentence2"), *SENTENCES]]
    (taught / "sentences" / "plain.tsv").write_text("\n".join(rows) + "\n")
    stored = lzma.compress("\r\n".join(rows[:4]).encode())
    (taught / "sentences" / "packed.of.two.tsv.xz").write_bytes(stored)
    (taught / "sentences" / "README.md").write_text("no sentences")
    (taught / "nli").mkdir()
    nli = [
        ("contradiction", "Paris is hot", "Paris is cold", "opposites"),
        ("neutral", "Paris is hot", "The France is very cold", "others"),
        ("entailment", "Paris is hot", "paris is hot", "others"),
    ]
    names = ("gold_label", "sentence1", "sentence2", "category")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in nli]
    for name in ("snli_test.jsonl", "breaking_nli.jsonl"):
        (taught / "nli" / name).write_text("\n".join(lines))
    return taught


def opposed(folder: Path, *options: str | Path) -> "subprocess.CompletedProcess[str]":
    data, model = folder / "sentences", folder / "taught"
    return pair2vec("eval", "opposed", "--data", data, "--model", model, *options)


def test_opposed_counts_the_verdicts_of_each_half_by_file_and_label(sentences: Path) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for half in ("choose", "report"):
        done = opposed(sentences, "--half", half, "--json")
        assert done.returncode == 0, done.stderr
        printed = json.loads(done.stdout)
        assert list(printed) == ["half", "sentences", "snli_one_word", "breaking_nli"]
        assert {*printed, *printed["sentences"][0]} <= documented_names("eval opposed")
        assert printed["half"] == half
        assert printed["snli_one_word"] == printed["breaking_nli"] == []
        of_half = Counter(label for label, a, _ in SENTENCES if half_of(a) == half)
        plain = {row["label"]: row for row in printed["sentences"] if row["name"] == "plain"}
        assert {label: sum(row["verdicts"].values()) for label, row in plain.items()} == of_half
        for row in printed["sentences"]:
            counted[row["name"], row["label"]] += sum(row["verdicts"].values())
            if row["label"] == "same":
                assert list(row["verdicts"]) == ["same"], "the words are the same"
            if row["label"] == "different":
                assert list(row["verdicts"]) == ["unsure"], "the words are unknown"
    assert counted == {
        ("plain", "same"): 3, ("plain", "opposed"): 2, ("plain", "different"): 1,
        ("packed", "same"): 1, ("packed", "opposed"): 2,
    }  # fmt: skip


def test_opposed_asks_about_nli_by_gold_label_and_category(sentences: Path) -> None:
    done = opposed(sentences, "--nli", sentences / "nli", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    (one_word,) = printed["snli_one_word"]
    assert (one_word["name"], one_word["label"]) == ("one word", "contradiction")
    breaking = {(row["name"], row["label"]): row["verdicts"] for row in printed["breaking_nli"]}
    assert breaking["all", "entailment"] == {"same": 1}
    assert set(breaking) == {
        *(("all", label) for label in ("contradiction", "entailment", "neutral")),
        ("opposites", "contradiction"),
        ("others", "entailment"),
        ("others", "neutral"),
    }


def test_opposed_records_its_figures_in_the_model_and_in_a_file(sentences: Path) -> None:
    done = opposed(
        sentences, "--half", "choose", "--nli", sentences / "nli",
        "--record", "--results", sentences / "results",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for fragment in ("Sentences, the half to choose", "SNLI test, one word differs", "Breaking"):
        assert fragment in done.stdout
    (path,) = (sentences / "results").iterdir()
    assert path.name == "opposed-taught-sentences-choose.json"
    stored = json.loads(path.read_text())
    recorded = json.loads((sentences / "taught" / "config.json").read_text())["metrics"]["opposed"]
    assert stored["metrics"] == recorded
    assert recorded
    assert all(0 <= share <= 100 for share in recorded.values())
    command = "pair2vec eval opposed --data sentences --half choose --nli nli --model taught"
    assert stored["command"] == command
    report = pair2vec(
        "report", "--out", sentences / "report", "--results", sentences / "results",
        "--model", sentences / "taught",
    )  # fmt: skip
    assert report.returncode == 0, report.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the first line must be label, sentence1, sentence2, with tabs between"),
        (b"same\thot\tcold\n", "the first line must be label, sentence1, sentence2"),
        (b"label\tsentence1\tsentence2\nsame\thot cold\n", "line 2: expected same or opposed or"),
        (b"label\tsentence1\tsentence2\nequal\thot\tcold\n", "line 2: expected same or opposed"),
        (b"label\tsentence1\tsentence2\nsame\th\xffot\tcold\n", "is not UTF-8 at byte 33"),
    ],
)
def test_opposed_refuses_a_file_that_is_no_sentences_in_one_line(
    sentences: Path, content: bytes, message: str
) -> None:
    path = sentences / "sentences" / "plain.tsv"
    path.write_bytes(content)
    assert_fails(opposed(sentences), 1, str(path), message)


def test_opposed_refuses_wrong_options_in_one_line(sentences: Path) -> None:
    assert_fails(opposed(sentences, "--half", "both"), 2, "--half both: it must be one of choose")
    for folder, message in [("nowhere", "no such folder"), ("nli", "has no files of sentences")]:
        # The last --data counts.
        assert_fails(opposed(sentences, "--data", sentences / folder), 2, message)
    done = opposed(sentences, "--nli", sentences / "sentences")
    assert_fails(done, 2, "has 0 files snli_test*; it must have one")
