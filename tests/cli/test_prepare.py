"""``pair2vec prepare`` as a user runs it: what it prints, and how it fails."""

import bz2
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import TEXT, console
from tests.command import assert_fails, pair2vec, pair2vec_process

from pair2vec.cli.messages import ProgressView, show_progress
from pair2vec.cli.prepare import PrepareView
from pair2vec.text.corpus import open_corpus
from pair2vec.text.prepare import PrepareProgress


def test_prepare_prints_what_the_corpus_holds(text: Path, tmp_path: Path) -> None:
    done = pair2vec("prepare", text, "--out", tmp_path / "corpus", "--vocab", "5")
    assert done.returncode == 0
    rows = {line[:22].strip(): line[22:].strip() for line in done.stdout.splitlines()}
    assert rows["documents"] == "2"
    assert rows["sentences"] == "3"
    assert rows["vocabulary"] == "5 words"
    assert rows["out of vocabulary"] == "42.11% of the text's 19 tokens"
    assert rows["most frequent dropped"].startswith("cold (1)  down (1)  france (1)")


def test_standard_input_is_read(tmp_path: Path) -> None:
    for name, stdin in {"plain": TEXT.encode(), "packed": gzip.compress(TEXT.encode())}.items():
        done = pair2vec("prepare", "-", "--out", tmp_path / name, stdin=stdin)
        assert done.returncode == 0
        assert "the vocabulary has 13 words" in done.stderr
    plain, packed = (tmp_path / name / "tokens.bin" for name in ("plain", "packed"))
    assert plain.read_bytes() == packed.read_bytes()


def test_phrases_are_found_and_joined_from_a_list(tmp_path: Path) -> None:
    text, phrases = tmp_path / "text.txt", tmp_path / "phrases.txt"
    text.write_text("She is in New York. Climate change is real, of course.\n" * 10)
    phrases.write_text("Of_course\nword\nno such phrase\n")
    command = ("prepare", text, "--phrases", "--phrase-list", phrases, "--out")
    done = pair2vec(*command, tmp_path / "corpus", "--phrase-threshold", "0.9")
    assert f"{phrases}: 1 of 3 lines left out: no phrases of two to 5 tokens" in done.stderr
    assert "words, 3 of them phrases" in done.stdout
    corpus = open_corpus(tmp_path / "corpus")
    assert {"new york", "climate change", "of course"} <= set(corpus.vocabulary.words)
    done = pair2vec(*command, tmp_path / "rare", "--phrase-count", "11")
    assert "new york" not in open_corpus(tmp_path / "rare").vocabulary


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--phrase-count=2"], 2, "--phrase-threshold and --phrase-count are of --phrases"),
        (["--phrases", "--phrase-threshold=0"], 2, "NPMI is above 0, up to 1"),
        (["--phrase-list=words.txt"], 1, "words.txt: has no phrases of two to 5 tokens"),
        (["--phrase-list=-", "--include=-"], 2, "standard input is either the text"),
        (["--phrase-list=no.txt"], 2, "no.txt: no such file"),
    ],
)
def test_phrases_that_cannot_be_are_refused(
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("hot\ncold\n")
    assert_fails(pair2vec("prepare", text, "--out", "corpus", *options), code, message)


def test_no_such_input_is_a_usage_error(tmp_path: Path) -> None:
    done = pair2vec("prepare", tmp_path / "no.txt", "--out", tmp_path / "corpus")
    assert_fails(done, 2, "no.txt: no such file or folder")
    assert not (tmp_path / "corpus").exists()


def test_words_of_a_list_are_kept_first(text: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("Cold\n\n  unseen \n")
    command = ("prepare", text, "--vocab", "5", "--include", words, "--out")
    assert pair2vec(*command, tmp_path / "seen").returncode == 0
    done = pair2vec(*command, tmp_path / "unseen", "--include-unseen")
    assert "2 of the 2 words to include are in the vocabulary" in done.stderr
    seen, unseen = (open_corpus(tmp_path / name).vocabulary for name in ("seen", "unseen"))
    assert len(seen) == len(unseen) == 9
    assert "cold" in seen
    assert "unseen" not in seen
    assert unseen.counts[unseen.ids["unseen"]] == 0


@pytest.mark.parametrize(
    ("content", "options", "code", "problem"),
    [
        ("hot\n\na b c d e f\n", [], 1, "words.txt, line 3: 'a b c d e f' is 6 tokens"),
        ("\n", [], 1, "words.txt: has no words"),
        ("hot", ["--include-unseen", "--include-count=2"], 2, "leave out --include-count"),
    ],
)
def test_a_list_that_cannot_be_included_is_refused(
    text: Path, tmp_path: Path, content: str, options: list[str], code: int, problem: str
) -> None:
    (tmp_path / "words.txt").write_text(content)
    options += ["--include", str(tmp_path / "words.txt")]
    done = pair2vec("prepare", text, "--out", tmp_path / "corpus", *options)
    assert_fails(done, code, problem)
    assert not (tmp_path / "corpus").exists()


def test_an_option_of_a_list_needs_the_list(text: Path, tmp_path: Path) -> None:
    done = pair2vec("prepare", text, "--out", tmp_path / "corpus", "--include-unseen")
    assert_fails(done, 2, "need the words to --include")
    done = pair2vec("prepare", "-", "--out", tmp_path / "corpus", "--include", "-", stdin=b"a")
    assert_fails(done, 2, "standard input is either the text, the words to --include or")


def test_an_existing_corpus_is_a_usage_error(text: Path, tmp_path: Path) -> None:
    assert pair2vec("prepare", text, "--out", tmp_path / "corpus").returncode == 0
    done = pair2vec("prepare", text, "--out", tmp_path / "corpus")
    assert_fails(done, 2, "already holds a corpus", "--overwrite")
    assert pair2vec("prepare", text, "--out", tmp_path / "corpus", "--overwrite").returncode == 0


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
    (tmp_path / "mixed.txt").write_bytes(
        "Café, thé, déjà vu.".encode() + b" Caf\xe9 d\xe9j\xe0 vu."
    )
    done = pair2vec("prepare", tmp_path / "mixed.txt", "--out", tmp_path / "corpus")
    assert done.returncode == 0
    assert "invalid UTF-8" in done.stdout
    assert "3 places" in done.stdout


def test_text_in_another_encoding_is_refused_with_its_name_and_read_with_it(tmp_path: Path) -> None:
    text, out = tmp_path / "latin1.txt", tmp_path / "corpus"
    text.write_bytes("Café au lait. Déjà vu.".encode("latin-1"))
    refused = pair2vec("prepare", text, "--out", out)
    assert_fails(refused, 1, "latin1.txt: is not UTF-8", "Latin-1: give --encoding latin-1")
    piped = pair2vec("prepare", "-", "--out", out, stdin=text.read_bytes())
    assert_fails(piped, 1, "standard input: is not UTF-8")
    assert_fails(
        pair2vec("prepare", text, "--out", out, "--encoding", "latin-11"), 2, "no such encoding"
    )
    other = tmp_path / "other"
    assert pair2vec("prepare", text, "--out", other, "--encoding", "latin-1").returncode == 0
    assert "déjà" in open_corpus(other).vocabulary


def streams(content: bytes) -> bytes:
    """bzip2 as Wikipedia publishes it; a single stream of this size would be lost altogether."""
    starts = range(0, len(content), 5_000)
    return b"".join(bz2.compress(content[start : start + 5_000]) for start in starts)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, streams])
def test_a_dump_cut_short_is_refused_or_kept_as_far_as_it_is_whole(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    pages = "".join(
        f"<page><title>A{n}</title><revision><text>{os.urandom(500).hex()}</text></revision></page>"
        for n in range(200)
    )
    whole = compress(f"<mediawiki>{pages}</mediawiki>".encode())
    (tmp_path / "dump.xml").write_bytes(whole[: len(whole) * 3 // 4])
    arguments = ("prepare", tmp_path / "dump.xml", "--out", tmp_path / "corpus")
    assert_fails(pair2vec(*arguments), 1, "dump.xml: the ", "cut short", "--truncated ok")
    assert_fails(pair2vec(*arguments, "--truncated", "yes"), 2, "it must be one of refuse, ok")
    done = pair2vec(*arguments, "--truncated", "ok", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the dump is cut short") == 1
    manifest = open_corpus(tmp_path / "corpus").manifest
    assert 140 < manifest.documents <= 150
    assert manifest.settings["truncated_ok"] is True


# Resource usage would count the memory of this process, which it is forked from.
PRINT_PEAK_MEMORY = """
import atexit, sys
from pathlib import Path
from pair2vec.cli.main import main
if __name__ == "__main__":
    atexit.register(lambda: print(Path("/proc/self/status").read_text(), file=sys.stderr))
    main()
"""


def test_a_line_of_100_mb_is_read_in_bounded_memory(tmp_path: Path) -> None:
    with (tmp_path / "line.txt").open("wb") as file:
        for _ in range(100):
            file.write(b"word " * 200_000)
        file.write(b"x" * 20_000_000)  # not even a space
    command = [sys.executable, "-c", PRINT_PEAK_MEMORY, "prepare", str(tmp_path / "line.txt")]
    options = ["--out", str(tmp_path / "corpus"), "--workers", "1"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    assert json.loads((tmp_path / "corpus" / "manifest.json").read_text())["tokens"] == 20_000_000
    (peak_kb,) = re.findall(r"VmHWM:\s+(\d+) kB", done.stderr)
    # The input alone is 120 MB.
    assert int(peak_kb) < 400_000


def many_words(path: Path) -> Path:
    path.write_text("".join(f"word{n} and more.\n" for n in range(100_000)))
    return path


def test_a_write_that_fails_is_a_failure_and_can_be_resumed(tmp_path: Path) -> None:
    arguments = ("prepare", many_words(tmp_path / "text.txt"), "--out", tmp_path / "corpus")
    failed = pair2vec_process(*arguments, largest_file=50_000)
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


def test_a_terminal_shows_bytes_tokens_speed_and_time_left() -> None:
    screen, file = console(terminal=True)
    with show_progress(PrepareView(), screen) as report:
        report(PrepareProgress("read", 50_000_000, 100_000_000, 9_000_000))
        report(PrepareProgress("write", 3, 6, 4_000_000))
    shown = file.getvalue()
    assert "50.0/100.0 MB" in shown
    assert "9.0 M tokens" in shown
    assert "3/6" in shown
    assert ":" in shown  # the time left


def test_elsewhere_progress_is_a_line_at_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressView, "seconds_between_lines", 0.0)
    screen, file = console(terminal=False)
    with show_progress(PrepareView(), screen) as report:
        report(PrepareProgress("read", 50_000_000, 100_000_000, 9_000_000))
        report(PrepareProgress("read", 60_000_000, None, 9_500_000))
        report(PrepareProgress("write", 3, 6, 4_000_000))
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("read: 50.0 of 100.0 MB, 9.0 M tokens, ")
    assert lines[1].startswith("read: 60.0 MB, 9.5 M tokens, ")
    assert lines[2].startswith("write: 3 of 6 pieces, 4.0 M tokens, ")
