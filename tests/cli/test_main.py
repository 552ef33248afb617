"""The command as a user runs it: what it prints, and how it fails."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec

from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.corpus import open_corpus

TEXT = "Hot is the opposite of cold. Paris is the capital of France.\n\nUp is not down.\n"


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


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus of the mini-world."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "world.txt").write_text(MiniWorld.create().text(2000))
    assert pair2vec("prepare", folder / "world.txt", "--out", folder / "corpus").returncode == 0
    return folder / "corpus"


SMALL = [
    "--recipe=tiny",
    *("--set=pair.dimension=8", "--set=context.dimension=8", "--set=context.hidden=4"),
    *("--set=training.batch=64", "--set=training.report_steps=5", "--device=cpu"),
]


def test_train_makes_a_model_that_info_describes(world: Path, tmp_path: Path) -> None:
    steps = "--set=training.steps=20"
    done = pair2vec("train", world, "--out", tmp_path / "model", *SMALL, steps)
    assert done.returncode == 0, done.stderr
    assert "no neighbours to draw typed negatives from" in done.stderr
    assert "step 5 of 20: loss" in done.stderr
    assert pair2vec("info", tmp_path / "model").stdout == done.stdout
    config = json.loads(pair2vec("info", tmp_path / "model", "--json").stdout)
    assert config["recipe"]["training"]["batch"] == 64
    assert config["triples"] == 20 * 64
    metrics = (tmp_path / "model" / "training" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in metrics] == [5, 10, 15, 20]
    again = pair2vec("train", world, "--out", tmp_path / "model", *SMALL, steps)
    assert_fails(again, 2, "already holds a job that was begun", "--resume", "--overwrite")


def test_ctrl_c_ends_a_command_with_one_line(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    command = [sys.executable, "-m", "pair2vec", "prepare", "-", "--out", str(out)]
    # A shell that runs tests in the background has them ignore Ctrl-C, and their children, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    signal.signal(signal.SIGINT, before)
    while not out.exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert messages.splitlines()[-1] == (
        "pair2vec: stopped; prepare goes on when run again, train with --resume"
    )
    assert "Traceback" not in messages


def test_ctrl_c_writes_a_checkpoint_and_says_how_to_go_on(world: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    command = [sys.executable, "-m", "pair2vec", "train", str(world), "--out", str(out), *SMALL]
    command += ["--set=training.epochs=3"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (out / "training" / "metrics.jsonl").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"go on with: pair2vec train {world} --out {out} --resume" in messages
    assert not (out / "config.json").exists()
    resumed = pair2vec("train", world, "--out", out, "--resume", "--device=cpu")
    assert resumed.returncode == 0, resumed.stderr
    assert (out / "config.json").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set=training.bach=3"], "no setting training.bach; did you mean training.batch?"),
        (["--set=training.batch=many"], "training.batch is 'many'; it must be a whole number"),
        (["--recipe=papers"], "no recipe 'papers'; did you mean paper?"),
        (["--device=gpu"], "no device 'gpu'"),
        (["--precision=int4"], "it must be one of float32, float16, int8"),
        (["--vectors=no.vec"], "no.vec: no such file"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(
    world: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    done = pair2vec("train", world, "--out", tmp_path / "model", *options)
    assert_fails(done, 2, message)
    assert not (tmp_path / "model").exists()


def test_vectors_are_made_and_never_overwritten_unasked(world: Path, tmp_path: Path) -> None:
    arguments = ("vectors", world, "--out", tmp_path / "w.vec", "--dimension=4", "--epochs=1")
    assert pair2vec(*arguments).returncode == 0
    words, dimension = (tmp_path / "w.vec").read_text().split("\n", 1)[0].split()
    assert (int(words), int(dimension)) == (len(open_corpus(world).vocabulary) - 4, 4)
    assert_fails(pair2vec(*arguments), 2, "w.vec: is there already")


def test_pmi_counts_a_pair_in_a_pattern(text: Path, tmp_path: Path) -> None:
    pair2vec("prepare", text, "--out", tmp_path / "corpus")
    done = pair2vec("pmi", tmp_path / "corpus", "hot", "cold", "X is the opposite of Y")
    assert done.returncode == 0
    assert "MVPMI" in done.stdout
    assert_fails(
        pair2vec("pmi", tmp_path / "corpus", "hott", "cold", "X is Y"),
        2,
        "hott",
        "did you mean hot",
    )
    assert_fails(pair2vec("pmi", tmp_path / "corpus", "hot", "cold", "X is"), 2, "Y")


def test_contexts_lists_what_a_pair_shares(text: Path, tmp_path: Path) -> None:
    pair2vec("prepare", text, "--out", tmp_path / "corpus")
    assert (
        "X is the opposite of Y ."
        in pair2vec("contexts", tmp_path / "corpus", "hot", "cold").stdout
    )
    never = pair2vec("contexts", tmp_path / "corpus", "cold", "hot")
    assert "never occur within five words" in never.stdout
    wrong = pair2vec("contexts", tmp_path / "corpus", "hot", "cold", "--by=size")
    assert_fails(wrong, 2, "count, pmi, mvpmi")
