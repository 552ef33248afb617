"""`pair2vec lexicon`: from a corpus and a list of terms to a file."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec, pair2vec_process
from tests.lexicon.small_corpus import make_corpus
from tests.lexicon.test_build import RELATIONS, TEXT, WORDS
from tests.tiny_model import save_tiny_model

from pair2vec.errors import STOPPED
from pair2vec.lexicon.inverted_index import open_index
from pair2vec.text.corpus import open_corpus


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    corpus = make_corpus(tmp_path, TEXT * 20)
    (tmp_path / "relations.toml").write_text(RELATIONS)
    (tmp_path / "terms.txt").write_text("Hot\ncold\n\nparis\nfrance\nelsewhere\n")
    model = save_tiny_model(tmp_path / "model", WORDS)
    relations = str(tmp_path / "relations.toml")
    return [
        *("lexicon", str(corpus.folder), "--model", str(model), "--relations", relations),
        *("--probability", "0", "--unrelated", "0.1", "--workers", "1"),
    ]


def test_a_list_of_terms_becomes_a_file(command: list[str], tmp_path: Path) -> None:
    out = tmp_path / "lexicon.tsv"
    done = pair2vec(*command, "--words", tmp_path / "terms.txt", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "1 terms are left out as unknown: elsewhere" in done.stderr
    head, *rows = [line.split("\t") for line in out.read_text().splitlines()]
    assert head[:4] == ["x", "relation", "y", "probability"]
    assert {row[0] for row in rows} <= {"hot", "cold", "paris", "france"}
    assert f"{len(rows)} entries" in done.stdout


def test_terms_come_from_standard_input_too(command: list[str], tmp_path: Path) -> None:
    out = tmp_path / "lexicon.ttl"
    done = pair2vec(*command, "--words", "-", "--out", out, stdin=b"hot\ncold\n")
    assert done.returncode == 0, done.stderr
    assert "skos:Concept" in out.read_text()


def test_the_addresses_matches_and_language_of_skos_are_options(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, TEXT * 20)
    model = save_tiny_model(tmp_path / "taught", WORDS, hidden=6, seed=5)
    command = ["lexicon", str(corpus.folder), "--model", str(model), "--words", "-"]
    command += ["--probability", "0", "--exact-match", "0", "--language", "de", "--workers", "1"]
    command += ["--base-uri", "https://example.org/terms/"]
    found = {}
    for option in ("--merge-synonyms", "--match-synonyms"):
        out = tmp_path / f"{option}.ttl"
        words = [*"up down dear cheap cool warm cold hot spain paris".split()]
        done = pair2vec(*command, option, "--out", out, stdin="\n".join(words).encode())
        assert done.returncode == 0, done.stderr
        found[option] = out.read_text()
        assert "<https://example.org/terms/scheme> a skos:ConceptScheme" in found[option]
        assert '"@de' in found[option]
        assert '"@en' not in found[option]
    labels = re.findall(
        'skos:prefLabel "(.+?)"@de ; skos:altLabel "(.+?)"', found["--merge-synonyms"]
    )
    counts = corpus.vocabulary.counts
    assert labels
    for preferred, other in labels:
        first, second = (int(counts[corpus.vocabulary.ids[word]]) for word in (preferred, other))
        assert first >= second
    assert "skos:exactMatch" not in found["--merge-synonyms"]
    assert "skos:altLabel" not in found["--match-synonyms"]
    assert "skos:exactMatch" in found["--match-synonyms"]


def test_relations_of_a_taught_model_are_those_of_its_head(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, TEXT * 20)
    model = save_tiny_model(tmp_path / "taught", WORDS, hidden=6)
    command = ["lexicon", str(corpus.folder), "--model", str(model), "--words", "-"]
    options = [
        "--workers",
        "1",
        "--out",
        str(tmp_path / "lexicon.txt"),
        "--probability",
        "0",
        "--relation",
    ]
    done = pair2vec(*command, *options, "synonym", stdin=b"hot\ncold\nwarm\ncool\n")
    assert done.returncode == 0, done.stderr
    unknown = pair2vec(*command, *options, "located-in", stdin=b"hot\ncold\n")
    assert_fails(unknown, 2, "it must be one of synonym, antonym, hypernym, hyponym")


STOP_AT_THE_SECOND_PART = """
import os
from pair2vec.cli.main import main
from pair2vec.lexicon import build

build_part, build._TERMS_PER_TASK = build.build_part, 2

def stop_at_the_second(task):
    if task.first and os.environ["SIGNAL"]:
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
    return build_part(task)

build.build_part = stop_at_the_second
main()
"""


def test_sigterm_ends_it_with_one_line_and_it_resumes(command: list[str], tmp_path: Path) -> None:
    def run(name: str, signal_number: str = "") -> "subprocess.CompletedProcess[str]":
        arguments = [
            *command,
            "--words",
            str(tmp_path / "terms.txt"),
            "--out",
            str(tmp_path / name),
        ]
        return subprocess.run(
            [sys.executable, "-c", STOP_AT_THE_SECOND_PART, *arguments],
            env={**os.environ, "SIGNAL": signal_number},
            capture_output=True,
            text=True,
            check=False,
        )

    stopped = run("lexicon.tsv", str(int(signal.SIGTERM)))
    assert stopped.returncode == 128 + signal.SIGTERM, stopped.stderr
    assert stopped.stderr.splitlines()[-1] == f"pair2vec: {STOPPED}"
    assert len(list((tmp_path / "lexicon.tsv.begun").glob("terms-*"))) == 1
    assert run("lexicon.tsv").returncode == run("at_once.tsv").returncode == 0
    assert (tmp_path / "lexicon.tsv").read_bytes() == (tmp_path / "at_once.tsv").read_bytes()


def test_a_full_disk_is_a_failure_that_says_how_to_resume(
    command: list[str], tmp_path: Path
) -> None:
    words = ["--words", str(tmp_path / "terms.txt")]
    arguments = [*command, *words, "--out", str(tmp_path / "lexicon.tsv")]
    failed = pair2vec_process(*arguments, largest_file=1_000)
    where = "occurrences: File too large; make room and run the same command again to resume"
    assert_fails(failed, 1, where)
    opened = open_corpus(command[1])
    open_index(opened)
    failed = pair2vec_process(*arguments, largest_file=1_000)
    assert_fails(failed, 1, "lexicon.tsv: File too large; make room and run the same command again")
    assert pair2vec(*arguments).returncode == 0


def test_an_index_that_does_not_fit_on_the_disk_is_a_failure(
    command: list[str], tmp_path: Path
) -> None:
    # A memory-mapped file that runs out of disk kills its process with SIGBUS.
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs to be root")
    try:
        shutil.copytree(command[1], disk / "corpus")
        command[1] = str(disk / "corpus")
        free = shutil.disk_usage(disk).free
        (disk / "rest").write_bytes(bytes(free - 8_192))
        words = ["--words", str(tmp_path / "terms.txt"), "--out", str(tmp_path / "lexicon.tsv")]
        done = pair2vec_process(*command, *words)
        assert_fails(done, 1, "occurrences: No space left on device; make room and run the same")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_what_cannot_be_is_one_line(command: list[str], tmp_path: Path) -> None:
    words = ["--words", str(tmp_path / "terms.txt")]
    out = ["--out", str(tmp_path / "lexicon.tsv")]
    assert_fails(pair2vec(*command, *words, "--out", tmp_path / "lexicon.xml"), 2, "which format?")
    unknown = pair2vec(*command, *words, *out, "--relation", "cousin")
    assert_fails(unknown, 2, "--relation cousin: it must be one of antonym, located-in")
    assert_fails(pair2vec(*command, "--words", tmp_path / "none.txt", *out), 2, "no such file")
    bare = pair2vec(*command, *words, "--out", tmp_path / "l.ttl", "--base-uri", "terms/")
    assert_fails(bare, 2, "--base-uri 'terms/': it must be an absolute address that ends in / or #")
    empty = pair2vec(*command, *words, *out, "--needs-evidence", "--evidence", "0")
    assert_fails(empty, 2, "--needs-evidence leaves nothing with --evidence 0")
    (tmp_path / "lexicon.tsv").write_text("mine")
    assert_fails(pair2vec(*command, *words, *out), 2, "exists already; --overwrite replaces it")
    assert (tmp_path / "lexicon.tsv").read_text() == "mine"
