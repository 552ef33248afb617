"""Job folders: who may write, what may be resumed, and what is refused."""

import fcntl
import logging
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pair2vec.errors import InputError, UsageError
from pair2vec.runtime.jobs import (
    JobFolder,
    begun_identity,
    content_hash,
    empty_folder,
    exclusive_lock,
    sweep_partial_files,
)
from pair2vec.runtime.storage import RemotePath


def job_in(folder: Path, **identity: object) -> JobFolder:
    state = folder / "training"
    return JobFolder(
        out=folder,
        state=state,
        complete=folder / "config.json",
        product="a model",
        identity=identity,
        clear=lambda: empty_folder(state),
    )


def claim(job: JobFolder, *, resume: bool = False, overwrite: bool = False) -> None:
    with job.claim(resume=resume, overwrite=overwrite):
        pass


def test_a_job_is_resumed_with_the_same_inputs_only(tmp_path: Path) -> None:
    claim(job_in(tmp_path, corpus="a", settings={"rate": 1}))
    assert job_in(tmp_path, corpus="a", settings={"rate": 1}).is_same()
    claim(job_in(tmp_path, corpus="a", settings={"rate": 1}), resume=True)
    other = job_in(tmp_path, corpus="b", settings={"rate": 2})
    with pytest.raises(UsageError, match="was begun with another corpus and another settings"):
        claim(other, resume=True)
    assert not other.is_same()
    assert begun_identity(tmp_path / "training") == {"corpus": "a", "settings": {"rate": 1}}


def test_tuples_and_lists_are_the_same_identity(tmp_path: Path) -> None:
    claim(job_in(tmp_path, words=("a", "b")))
    assert job_in(tmp_path, words=["a", "b"]).is_same()


def test_only_the_comparable_part_of_an_identity_counts(tmp_path: Path) -> None:
    def without_device(identity: dict[str, Any]) -> dict[str, Any]:
        return {"corpus": identity.get("corpus"), "rate": identity.get("rate", 1)}

    claim(replace(job_in(tmp_path, corpus="a", device="cpu"), comparable=without_device))
    assert replace(job_in(tmp_path, corpus="a", rate=1), comparable=without_device).is_same()
    assert not replace(job_in(tmp_path, corpus="a", rate=2), comparable=without_device).is_same()


def test_what_was_begun_or_made_is_replaced_only_if_asked_for(tmp_path: Path) -> None:
    claim(job_in(tmp_path, corpus="a"))
    (tmp_path / "training" / "step-1").write_text("")
    with pytest.raises(UsageError, match="already holds a job that was begun: --resume"):
        claim(job_in(tmp_path, corpus="a"))
    claim(job_in(tmp_path, corpus="b"), overwrite=True)
    assert [path.name for path in (tmp_path / "training").iterdir()] == ["job.json"]
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="already holds a model; give another --out"):
        claim(job_in(tmp_path, corpus="b"))
    empty_folder(tmp_path / "training")
    with pytest.raises(UsageError, match="already holds a model and nothing to resume"):
        claim(job_in(tmp_path, corpus="b"), resume=True)


def test_a_refused_job_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="already holds a model"):
        claim(job_in(tmp_path, corpus="a"))
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]


@pytest.mark.parametrize(
    "content",
    ['{"corpus": "a', "[]", "[" * 200_000, '{"corpus": "b", "checksums": {"job.json": ""}}'],
)
def test_a_damaged_job_file_is_not_resumed(tmp_path: Path, content: str) -> None:
    claim(job_in(tmp_path, corpus="a"))
    (tmp_path / "training" / "job.json").write_text(content)
    with pytest.raises(InputError, match=r"is damaged.*begin again with --overwrite"):
        begun_identity(tmp_path / "training")
    with pytest.raises(InputError, match=r"job\.json: is damaged"):
        claim(job_in(tmp_path, corpus="a"), resume=True)
    assert not job_in(tmp_path, corpus="a").is_same()
    claim(job_in(tmp_path, corpus="a"), overwrite=True)
    assert job_in(tmp_path, corpus="a").is_same()


def test_another_value_in_a_job_file_is_not_resumed(tmp_path: Path) -> None:
    claim(job_in(tmp_path, corpus="a", rate=1))
    path = tmp_path / "training" / "job.json"
    path.write_text(path.read_text().replace('"rate": 1', '"rate": 2'))
    with pytest.raises(
        InputError, match=r"job\.json: is damaged, or was edited by hand; begin again"
    ):
        claim(job_in(tmp_path, corpus="a", rate=2), resume=True)


def test_a_job_of_a_version_without_checksums_is_resumed(tmp_path: Path) -> None:
    claim(job_in(tmp_path, corpus="a"))
    (tmp_path / "training" / "job.json").write_text('{"corpus": "a"}')
    claim(job_in(tmp_path, corpus="a"), resume=True)


def test_two_processes_never_write_to_one_folder(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    with (
        job.claim(resume=False, overwrite=False),
        pytest.raises(UsageError, match="another pair2vec process is writing to it"),
    ):
        claim(job, resume=True)
    claim(job, resume=True)


def test_a_replaced_job_still_holds_the_folder(tmp_path: Path) -> None:
    claim(job_in(tmp_path, corpus="a"))
    with (
        job_in(tmp_path, corpus="b").claim(resume=False, overwrite=True),
        pytest.raises(UsageError, match="another pair2vec process"),
    ):
        claim(job_in(tmp_path, corpus="b"), resume=True)


def refuse_locks_of_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a network file system does."""
    flock = fcntl.flock

    def refuse(descriptor: int, operation: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(9, "Bad file descriptor")
        flock(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", refuse)


def test_where_folders_cannot_be_locked_a_file_in_them_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refuse_locks_of_folders(monkeypatch)
    claim(job_in(tmp_path, corpus="a"))
    with (
        job_in(tmp_path, corpus="b").claim(resume=False, overwrite=True),
        pytest.raises(UsageError, match="another pair2vec process is writing to it"),
    ):
        claim(job_in(tmp_path, corpus="b"), resume=True)
    claim(job_in(tmp_path, corpus="b"), resume=True)
    assert [path.name for path in (tmp_path / "training").iterdir()] == ["job.json"]
    assert "cannot be locked" not in caplog.text


def test_a_file_that_is_not_there_yet_can_be_locked(tmp_path: Path) -> None:
    path = tmp_path / "words.vec"
    with (
        exclusive_lock(path),
        pytest.raises(UsageError, match=r"words\.vec: another pair2vec process is writing to it"),
        exclusive_lock(path),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError), exclusive_lock(tmp_path / "nowhere" / "words.vec"):
        pass


def test_a_lock_on_a_folder_that_was_removed_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when another process finishes a lexicon between opening and locking."""
    folder, flock = tmp_path / "begun", fcntl.flock
    folder.mkdir()

    def remove_and_lock(descriptor: int, operation: int) -> None:
        folder.rmdir()
        flock(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", remove_and_lock)
    with pytest.raises(UsageError, match="has just removed it"), exclusive_lock(folder):
        pass


def test_half_written_files_of_another_name_are_left_alone(tmp_path: Path) -> None:
    for name in ("words.7.partial", "words2.7.partial", "words-old.tsv.7.partial"):
        (tmp_path / name).write_text("half")
    sweep_partial_files(tmp_path, "words")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["words-old.tsv.7.partial", "words2.7.partial"]


def test_a_file_system_without_locks_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    with caplog.at_level(logging.WARNING):
        claim(job_in(tmp_path))
    assert "cannot be locked" in caplog.text


def test_half_written_files_are_swept_when_a_job_is_claimed(tmp_path: Path) -> None:
    claim(job_in(tmp_path))
    for name in ("config.json.7.partial", "training/step-2.safetensors.7.partial"):
        (tmp_path / name).write_text("half")
    (tmp_path / "notes.txt").write_text("the user's own")
    claim(job_in(tmp_path), resume=True)
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert names == ["notes.txt", "training", "training/job.json"]


def test_a_remote_job_is_claimed_without_a_lock() -> None:
    folder = RemotePath("memory://jobs/corpus")
    identity: dict[str, Any] = {"sources": ["a"]}
    job = JobFolder(
        out=folder,
        state=folder,
        complete=folder / "manifest.json",
        product="a corpus",
        identity=identity,
        clear=folder.remove_tree,
    )
    claim(job, resume=True)
    assert begun_identity(folder) == identity
    assert job.is_same()


def test_a_hash_is_of_content_and_names_not_of_place_or_time(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        (folder / "part").mkdir(parents=True)
        (folder / "part" / "a.txt").write_text("a")
        (folder / "b.txt").write_text("b")
    (second / ".cache").write_text("hidden")
    assert content_hash(first) == content_hash(second)
    (second / "part" / "a.txt").write_text("A")
    assert content_hash(first) != content_hash(second)
    (first / "b.txt").rename(first / "c.txt")
    (second / "part" / "a.txt").write_text("a")
    assert content_hash(first) != content_hash(second)
    with pytest.raises(UsageError, match="no such file or folder"):
        content_hash(tmp_path / "third")
