import bz2
import gzip
import hashlib
import logging
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pair2vec.errors import InputError, UsageError
from pair2vec.text.corpus import open_corpus
from pair2vec.text.prepare import PrepareConfig, PrepareProgress, fitting_min_count, prepare
from pair2vec.text.sentences import split_sentences
from pair2vec.text.vocabulary import IncludedWords

SMALL_PIECES = PrepareConfig(vocabulary=30, piece_bytes=2000)


def sample_text() -> str:
    """Documents with words of very different frequency, and some beyond the vocabulary."""
    lines = []
    for number in range(400):
        rare = f"rare{number}" if number % 7 == 0 else "the"
        lines.append(f"Word{number % 40} met {rare} word{number % 3}. It's the U.S. The end!")
        if number % 5 == 0:
            lines.append("")
    return "\n".join(lines)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "sample.txt"
    path.write_text(sample_text())
    return path


def test_a_corpus_holds_the_known_words_of_every_sentence(text: Path, tmp_path: Path) -> None:
    corpus = prepare([str(text)], tmp_path / "corpus", SMALL_PIECES)
    sentences = list(split_sentences(sample_text()))
    counts = Counter(word for sentence in sentences for word in sentence)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    kept = set(ranked[:30])
    assert list(corpus.vocabulary.words[4:]) == ranked[:30]
    assert corpus.vocabulary.counts[4:].tolist() == [counts[word] for word in ranked[:30]]
    known = [[word for word in sentence if word in kept] for sentence in sentences]
    assert list(corpus.words()) == [sentence for sentence in known if sentence]
    manifest = corpus.manifest
    assert manifest.documents == 81
    assert manifest.text_tokens == sum(counts.values())
    assert manifest.tokens == sum(counts[word] for word in kept)
    assert manifest.dropped == [[word, counts[word]] for word in ranked[30:40]]
    assert manifest.sources[0]["bytes"] == text.stat().st_size


def test_the_corpus_is_byte_identical_for_any_number_of_workers(text: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.bz2"
    packed.write_bytes(bz2.compress(sample_text().encode()) * 3)
    inputs = [str(text), str(packed)]
    for workers in (1, 2, 3):
        prepare(inputs, tmp_path / str(workers), SMALL_PIECES, workers=workers)
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2") == files_of(tmp_path / "3")


def test_compressed_or_cut_into_files_the_text_gives_the_same_tokens(
    text: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    plain = prepare([str(text)], tmp_path / "plain", SMALL_PIECES)
    again = prepare([str(packed)], tmp_path / "again", PrepareConfig(vocabulary=30))
    assert plain.manifest.fingerprint == again.manifest.fingerprint


def test_a_finished_corpus_is_refused_without_overwrite(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    prepare([str(text)], out, SMALL_PIECES)
    with pytest.raises(UsageError, match="already holds a corpus"):
        prepare([str(text)], out, SMALL_PIECES)
    other = prepare([str(text)], out, PrepareConfig(vocabulary=5), overwrite=True)
    assert other.manifest.words == 5


def test_a_folder_of_other_things_is_never_touched(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "precious"
    out.mkdir()
    (out / "thesis.doc").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(UsageError, match="is not a corpus and not empty"):
            prepare([str(text)], out, SMALL_PIECES, overwrite=overwrite)
    assert files_of(out) == {"thesis.doc": b"years of work"}
    with pytest.raises(UsageError, match="is a file"):
        prepare([str(text)], out / "thesis.doc", SMALL_PIECES)


def test_a_stopped_job_resumes_from_its_finished_pieces(text: Path, tmp_path: Path) -> None:
    class StopError(BaseException):
        pass

    reports: list[PrepareProgress] = []

    def stop_in_the_middle(progress: PrepareProgress) -> None:
        reports.append(progress)
        if len(reports) == 4:
            raise StopError

    out = tmp_path / "corpus"
    with pytest.raises(StopError):
        prepare([str(text)], out, SMALL_PIECES, report=stop_in_the_middle)
    with pytest.raises(InputError, match="not a complete corpus"):
        open_corpus(out)
    made_before = reports[-1].tokens
    reports = [PrepareProgress("", 0, 0, 0)] * 100  # never stop again
    resumed = prepare([str(text)], out, SMALL_PIECES, report=stop_in_the_middle)
    made_after = max(report.tokens for report in reports if report.stage == "read")
    assert made_before + made_after == resumed.manifest.text_tokens
    prepare([str(text)], tmp_path / "at once", SMALL_PIECES)
    assert files_of(out) == files_of(tmp_path / "at once")


def spoil_cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def spoil_flipped_bit(content: bytes) -> bytes:
    place = len(content) // 3
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


def spoil_zeros(content: bytes) -> bytes:
    return bytes(len(content))


def spoil_empty(_: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("stage", ["read", "write"])
@pytest.mark.parametrize("spoil", [spoil_cut, spoil_flipped_bit, spoil_zeros, spoil_empty])
def test_a_damaged_piece_is_made_again(
    text: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    spoil: Callable[[bytes], bytes],
    stage: str,
) -> None:
    out, reports = tmp_path / "corpus", 0

    def stop(progress: PrepareProgress) -> None:
        nonlocal reports
        reports += progress.stage == stage
        if reports == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare([str(text)], out, SMALL_PIECES, report=stop)
    damaged = sorted((out / "pieces").iterdir())[2]
    damaged.write_bytes(spoil(damaged.read_bytes()))
    prepare([str(text)], out, SMALL_PIECES)
    assert f"{damaged}: is damaged, and made again" in caplog.text
    prepare([str(text)], tmp_path / "at once", SMALL_PIECES)
    assert files_of(out) == files_of(tmp_path / "at once")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_piece_damaged_while_the_job_runs_is_an_error_that_the_next_run_mends(
    text: Path, tmp_path: Path, workers: int
) -> None:
    out = tmp_path / "corpus"

    def damage_the_last(progress: PrepareProgress) -> None:
        if progress.done == text.stat().st_size:
            last = max((out / "pieces").glob("*.npz"))
            last.write_bytes(spoil_flipped_bit(last.read_bytes()))

    with pytest.raises(InputError, match=r"\.npz: was damaged .* run the same command"):
        prepare([str(text)], out, SMALL_PIECES, workers=workers, report=damage_the_last)
    prepare([str(text)], out, SMALL_PIECES)
    prepare([str(text)], tmp_path / "at once", SMALL_PIECES)
    assert files_of(out) == files_of(tmp_path / "at once")


def test_text_with_carriage_returns_as_line_ends_gives_the_same_corpus(
    text: Path, tmp_path: Path
) -> None:
    expected = prepare([str(text)], tmp_path / "expected", SMALL_PIECES).manifest
    for name, line_end in {"cr": b"\r", "crlf": b"\r\n"}.items():
        path = tmp_path / name
        path.write_bytes(text.read_bytes().replace(b"\n", line_end))
        manifest = prepare([str(path)], tmp_path / f"{name}.corpus", SMALL_PIECES).manifest
        assert manifest.fingerprint == expected.fingerprint
        assert manifest.documents == expected.documents
        assert manifest.sentences == expected.sentences


def test_an_input_that_changed_between_two_runs_is_read_again(text: Path, tmp_path: Path) -> None:
    class StopError(BaseException):
        pass

    def stop_at_writing(progress: PrepareProgress) -> None:
        if progress.stage == "write":
            raise StopError

    out = tmp_path / "corpus"
    with pytest.raises(StopError):
        prepare([str(text)], out, SMALL_PIECES, report=stop_at_writing)
    text.write_text("Changed entirely. " * 100)
    assert set(prepare([str(text)], out, SMALL_PIECES).vocabulary.words[4:]) == {
        "changed",
        "entirely",
        ".",
    }


def test_an_unfinished_job_of_other_settings_is_refused(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"

    def stop(_: PrepareProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare([str(text)], out, SMALL_PIECES, report=stop)
    with pytest.raises(UsageError, match="was begun with another settings"):
        prepare([str(text)], out, PrepareConfig(vocabulary=31, piece_bytes=2000))


def test_a_job_stopped_after_its_last_write_only_tidies_up(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    kept: list[bytes] = []

    def keep_job(_: PrepareProgress) -> None:
        kept.append((out / "job.json").read_bytes())

    prepare([str(text)], out, SMALL_PIECES, report=keep_job)
    whole = files_of(out)
    (out / "job.json").write_bytes(kept[0])
    reports: list[PrepareProgress] = []
    prepare([str(text)], out, SMALL_PIECES, report=reports.append)
    assert not reports
    assert files_of(out) == whole


def test_what_a_killed_process_left_half_written_is_gone_when_the_job_is_done(
    text: Path, tmp_path: Path
) -> None:
    out = tmp_path / "corpus"

    def stop(_: PrepareProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare([str(text)], out, SMALL_PIECES, report=stop)
    (out / "vocabulary.tsv.123.partial").write_bytes(b"the\t1")
    prepare([str(text)], out, SMALL_PIECES)
    prepare([str(text)], tmp_path / "at once", SMALL_PIECES)
    assert files_of(out) == files_of(tmp_path / "at once")


def including(*words: str, min_count: int = 1) -> PrepareConfig:
    included = IncludedWords(words=frozenset(words), min_count=min_count)
    return replace(SMALL_PIECES, vocabulary=10, min_count=50, include=included)


def test_included_words_are_in_the_corpus_however_rare(
    text: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        corpus = prepare([str(text)], tmp_path / "corpus", including("rare0", "rare7", "absent"))
    assert corpus.vocabulary.words[-2:] == ("rare0", "rare7")
    assert corpus.vocabulary.counts[-2:].tolist() == [1, 1]
    assert sum("rare7" in sentence for sentence in corpus.words()) == 1
    assert "absent" not in corpus.vocabulary
    assert "2 of the 3 words to include are in the vocabulary" in caplog.text
    other = prepare([str(text)], tmp_path / "other", including("rare0", "absent", min_count=0))
    assert other.vocabulary.counts[other.vocabulary.ids["absent"]] == 0
    assert corpus.manifest.fingerprint != other.manifest.fingerprint


def test_a_corpus_of_included_words_records_them_by_their_hash(text: Path, tmp_path: Path) -> None:
    words = ["rare0", "the"]
    corpus = prepare([str(text)], tmp_path / "corpus", including(*words))
    digest = hashlib.sha256(b"rare0\nthe").hexdigest()
    assert corpus.manifest.settings["include"] == {"words": 2, "sha256": digest, "min_count": 1}
    plain = prepare([str(text)], tmp_path / "plain", SMALL_PIECES)
    names = ["vocabulary", "min_count", "piece_bytes", "shard_ids"]
    assert list(plain.manifest.settings) == names


def test_a_job_does_not_resume_with_another_list_of_words(text: Path, tmp_path: Path) -> None:
    def stop(_: PrepareProgress) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "corpus"
    with pytest.raises(KeyboardInterrupt):
        prepare([str(text)], out, including("rare0", "rare7"), report=stop)
    others = [including("rare0"), including("rare0", "rare7", min_count=0), including("a", "b")]
    for config in others:
        with pytest.raises(UsageError, match="was begun with another settings"):
            prepare([str(text)], out, config)
    assert "rare7" in prepare([str(text)], out, including("rare7", "rare0")).vocabulary


def test_a_vocabulary_larger_than_the_text_is_a_warning(
    text: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        prepare([str(text)], tmp_path / "corpus", PrepareConfig(vocabulary=10_000))
    assert "the text has no more" in caplog.text


@pytest.mark.parametrize("content", [b"", b"\n\n  \n", b"\xef\xbb\xbf"])
def test_an_input_without_words_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "empty.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"empty\.txt: no words found"):
        prepare([str(tmp_path / "empty.txt")], tmp_path / "corpus")


def test_a_minimum_count_above_all_words_is_an_error(text: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lower --min-count"):
        prepare([str(text)], tmp_path / "corpus", PrepareConfig(min_count=10**6))


def test_settings_out_of_range_are_refused(text: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="vocabulary is 0"):
        PrepareConfig(vocabulary=0)
    with pytest.raises(UsageError, match="workers is 0"):
        prepare([str(text)], tmp_path / "corpus", workers=0)


@pytest.mark.parametrize(
    ("tokens", "least"),
    [(0, 1), (999_999, 1), (1_000_000, 2), (3_999_999, 4), (4_000_000, 5), (10**12, 5)],
)
def test_a_larger_text_asks_more_of_a_word(tokens: int, least: int) -> None:
    assert fitting_min_count(tokens) == least


def test_a_minimum_count_that_fits_is_chosen_said_and_recorded(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    module = sys.modules[fitting_min_count.__module__]  # "prepare" is a function as well
    monkeypatch.setattr(module, "_TOKENS_PER_COUNT", 1_000)
    with caplog.at_level(logging.INFO):
        corpus = prepare([str(text)], tmp_path / "corpus")
    least = corpus.manifest.settings["min_count"]
    assert least > 1
    assert corpus.vocabulary.counts[4:].min() >= least
    assert f"words that occur {least} times or more" in caplog.text
    included = IncludedWords(words=frozenset({"rare0"}))
    kept = prepare([str(text)], tmp_path / "kept", PrepareConfig(include=included))
    assert kept.vocabulary.counts[kept.vocabulary.ids["rare0"]] == 1
    every = prepare([str(text)], tmp_path / "every", PrepareConfig(min_count=1))
    assert "rare7" in every.vocabulary
    assert "rare7" not in kept.vocabulary
