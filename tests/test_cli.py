"""The command as a user runs it: what it prints, and how it fails."""

import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = "Hot is the opposite of cold. Paris is the capital of France.\n\nUp is not down.\n"


def pair2vec(
    *arguments: str | Path, stdin: bytes = b"", largest_file: int | None = None
) -> "subprocess.CompletedProcess[str]":
    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    done = subprocess.run(
        [sys.executable, "-m", "pair2vec", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        preexec_fn=limit,
        env={**os.environ, "COLUMNS": "200"},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def assert_fails(done: "subprocess.CompletedProcess[str]", code: int, *fragments: str) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("pair2vec: ")
    for fragment in fragments:
        assert fragment in last


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_prepare_prints_what_the_corpus_holds(text: Path, tmp_path: Path) -> None:
    done = pair2vec("prepare", text, "--out", tmp_path / "corpus", "--vocab", "5")
    assert done.returncode == 0
    rows = {line[:22].strip(): line[22:].strip() for line in done.stdout.splitlines()}
    assert rows["documents"] == "2"
    assert rows["sentences"] == "3"
    assert rows["vocabulary"] == "5 words"
    assert rows["out of vocabulary"] == "42.11% of the text's 19 tokens"
    assert rows["most frequent dropped"].startswith("cold (1)  down (1)  france (1)")


def test_info_prints_the_same_and_as_json(text: Path, tmp_path: Path) -> None:
    prepared = pair2vec("prepare", text, "--out", tmp_path / "corpus", "--vocab", "5")
    assert pair2vec("info", tmp_path / "corpus").stdout == prepared.stdout
    manifest = json.loads(pair2vec("info", tmp_path / "corpus", "--json").stdout)
    assert manifest == json.loads((tmp_path / "corpus" / "manifest.json").read_text())


def test_info_shows_sentences_as_they_were_read(text: Path, tmp_path: Path) -> None:
    pair2vec("prepare", text, "--out", tmp_path / "corpus", "--vocab", "9")
    done = pair2vec("info", tmp_path / "corpus", "--sentences", "2")
    assert done.stdout.splitlines()[-2:] == [
        "  hot is the of cold .",
        "  is the capital of france .",
    ]


def test_standard_input_is_read(tmp_path: Path) -> None:
    for name, stdin in {"plain": TEXT.encode(), "packed": gzip.compress(TEXT.encode())}.items():
        done = pair2vec("prepare", "-", "--out", tmp_path / name, stdin=stdin)
        assert done.returncode == 0
        assert "the vocabulary has 13 words" in done.stderr
    plain, packed = (tmp_path / name / "tokens.bin" for name in ("plain", "packed"))
    assert plain.read_bytes() == packed.read_bytes()


def test_no_such_input_is_a_usage_error(tmp_path: Path) -> None:
    done = pair2vec("prepare", tmp_path / "no.txt", "--out", tmp_path / "corpus")
    assert_fails(done, 2, "no.txt: no such file or folder")
    assert not (tmp_path / "corpus").exists()


def test_an_existing_corpus_is_a_usage_error(text: Path, tmp_path: Path) -> None:
    assert pair2vec("prepare", text, "--out", tmp_path / "corpus").returncode == 0
    done = pair2vec("prepare", text, "--out", tmp_path / "corpus")
    assert_fails(done, 2, "already holds a corpus", "--overwrite")
    assert pair2vec("prepare", text, "--out", tmp_path / "corpus", "--overwrite").returncode == 0


@pytest.mark.parametrize("option", [("--vocab", "0"), ("--workers", "0"), ("--colour", "1"), ()])
def test_a_wrong_option_is_a_usage_error(text: Path, option: tuple[str, ...]) -> None:
    done = pair2vec("prepare", text, *option)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_empty_input_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    done = pair2vec("prepare", tmp_path / "empty.txt", "--out", tmp_path / "corpus")
    assert_fails(done, 1, "empty.txt: no words found")


def test_a_truncated_file_is_a_failure_that_names_the_place(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(100_000))[:50_000])
    done = pair2vec("prepare", tmp_path / "cut.gz", "--out", tmp_path / "corpus")
    assert_fails(done, 1, "cut.gz: the gzip data is cut short near byte 50,000")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_malformed_xml_is_a_failure_that_names_the_place(tmp_path: Path, workers: str) -> None:
    (tmp_path / "dump.xml").write_text("<mediawiki><page><title>A</page></mediawiki>")
    done = pair2vec(
        "prepare", tmp_path / "dump.xml", "--out", tmp_path / "corpus", "--workers", workers
    )
    assert_fails(done, 1, "dump.xml: malformed XML near byte 27")


def test_invalid_utf8_is_replaced_counted_and_reported(tmp_path: Path) -> None:
    (tmp_path / "latin1.txt").write_bytes("Café au lait. Déjà vu.".encode("latin-1"))
    done = pair2vec("prepare", tmp_path / "latin1.txt", "--out", tmp_path / "corpus")
    assert done.returncode == 0
    assert "invalid UTF-8" in done.stdout
    assert "3 places" in done.stdout


def test_a_line_of_100_mb_is_read_in_bounded_memory(tmp_path: Path) -> None:
    with (tmp_path / "line.txt").open("wb") as file:
        for _ in range(100):
            file.write(b"word " * 200_000)
        file.write(b"x" * 20_000_000)  # not even a space
    done = pair2vec(
        "prepare", tmp_path / "line.txt", "--out", tmp_path / "corpus", "--workers", "1"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "corpus" / "manifest.json").read_text())["tokens"] == 20_000_000
    # The largest child so far, in KB; the input alone is 120 MB.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 400_000


def many_words(path: Path) -> Path:
    path.write_text("".join(f"word{n} and more.\n" for n in range(100_000)))
    return path


def test_a_write_that_fails_is_a_failure_and_can_be_resumed(tmp_path: Path) -> None:
    arguments = ("prepare", many_words(tmp_path / "text.txt"), "--out", tmp_path / "corpus")
    failed = pair2vec(*arguments, largest_file=50_000)
    assert_fails(failed, 1, "corpus: File too large", "run the same command again")
    assert_fails(pair2vec("info", tmp_path / "corpus"), 1, "not a complete corpus")
    assert pair2vec(*arguments).returncode == 0
    assert pair2vec("info", tmp_path / "corpus").returncode == 0


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_full_disk_is_a_failure(tmp_path: Path, workers: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs to be root")
    try:
        text = many_words(tmp_path / "text.txt")
        done = pair2vec("prepare", text, "--out", disk / "corpus", "--workers", workers)
        assert_fails(done, 1, "corpus: No space left on device", "run the same command again")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_info_without_a_corpus_says_so(tmp_path: Path) -> None:
    assert_fails(pair2vec("info", tmp_path), 1, "not a complete corpus")
    assert_fails(pair2vec("info", tmp_path / "no"), 1, "no such folder")


def test_version_is_printed() -> None:
    assert pair2vec("--version").stdout.startswith("pair2vec 0.")
