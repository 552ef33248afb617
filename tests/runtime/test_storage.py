import bz2
import gzip
import json
import pickle
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from pair2vec.errors import InputError, UsageError
from pair2vec.runtime.storage import RemotePath, remove_tree, size_of, storage_path, write_file
from pair2vec.text.prepare import PrepareConfig, PrepareProgress, make_corpus, prepare
from pair2vec.text.sources import Source, find_sources

CONFIG = PrepareConfig(vocabulary=30, piece_bytes=2000)
TEXT = "".join(f"Word{n % 40} met word{n % 7}. It's number {n}!\n\n" for n in range(300))


@pytest.fixture
def memory() -> Iterator[str]:
    """The URL of a folder in memory that no other test has seen."""
    url = f"memory://{uuid.uuid4().hex}"
    yield url
    files, path = fsspec.core.url_to_fs(url)
    if files.exists(path):
        files.rm(path, recursive=True)


def write_text(folder: str) -> None:
    """Texts of all kinds and a file to be left out, in a folder and one in it."""
    storage_path(f"{folder}/b").mkdir(parents=True, exist_ok=True)
    for name, data in {
        "b/2.txt": TEXT.encode(),
        "a.gz": gzip.compress(TEXT.encode(), mtime=0),
        "b/1.bz2": bz2.compress(TEXT.encode()) * 2,
        ".hidden": b"nothing",
    }.items():
        write_file(storage_path(f"{folder}/{name}"), data)


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in storage_path(folder).iterdir()}


def as_made_from(folder: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """The manifest says what the corpus was made from; all else has to be the same."""
    manifest = json.loads(files["manifest.json"].replace(folder.encode(), b""))
    del manifest["checksums"]["manifest.json"]
    return {**files, "manifest.json": json.dumps(manifest).encode()}


def test_a_name_with_a_scheme_is_remote_and_any_other_local() -> None:
    assert storage_path("corpus") == Path("corpus")
    assert storage_path(Path("corpus")) == Path("corpus")
    assert storage_path("file:///data/corpus") == Path("/data/corpus")
    remote = storage_path("s3://bucket/corpus/")
    assert isinstance(remote, RemotePath)
    assert str(remote / "manifest.json") == "s3://bucket/corpus/manifest.json"
    assert storage_path(remote) is remote


def test_a_remote_path_travels_without_its_connection(memory: str) -> None:
    path = RemotePath(f"{memory}/file")
    path.write_file(b"content")
    arrived = pickle.loads(pickle.dumps(path))
    assert arrived == path
    assert arrived.__dict__ == {"url": path.url}
    assert arrived.read_bytes() == b"content"


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_files_are_there_once_written_and_gone_once_removed(
    kind: str, memory: str, tmp_path: Path
) -> None:
    folder = RemotePath(memory if kind == "memory" else f"local://{tmp_path}/folder")
    assert not folder.exists()
    assert list(folder.iterdir()) == []
    folder.mkdir()
    for data in (b"first", b"second!"):
        (folder / "file").write_file(data)
        assert (folder / "file").read_bytes() == data
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_file(b"")
    assert sorted(path.name for path in folder.iterdir()) == ["file", "inner"]
    assert size_of(folder / "file") == 7
    assert (folder / "file").is_file() and not (folder / "file").is_dir()
    assert (folder / "inner").is_dir() and not (folder / "inner").is_file()
    (folder / "file").unlink()
    (folder / "file").unlink(missing_ok=True)
    remove_tree(folder / "inner")
    assert list(folder.iterdir()) == []


def test_what_stops_a_write_leaves_nothing_under_the_name(
    memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = RemotePath(f"{memory}/file")

    def fail(*_: object, **__: object) -> None:
        raise TimeoutError("the network is gone")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.mv", fail)
    with pytest.raises(InputError, match=rf"{memory}/file.*: TimeoutError: the network is gone"):
        path.write_file(b"content")
    assert not path.exists()


def test_remote_folders_are_walked_in_order_without_hidden_files_and_the_output(
    memory: str,
) -> None:
    write_text(memory)
    (RemotePath(memory) / "out" / "tokens.bin").write_file(b"x")
    actual = find_sources([memory], exclude=RemotePath(f"{memory}/out"))
    assert actual == [f"{memory}/{name}" for name in ("a.gz", "b/1.bz2", "b/2.txt")]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_corpus_from_and_to_remote_folders_is_the_same_to_the_byte(
    workers: int, memory: str, tmp_path: Path
) -> None:
    # What is in memory, other processes do not have.
    remote = memory if workers == 1 else f"local://{tmp_path}/remote"
    folder = str(tmp_path / "text")
    write_text(folder)
    prepare([folder], tmp_path / "corpus", CONFIG)
    expected = as_made_from(folder, contents(str(tmp_path / "corpus")))
    write_text(f"{remote}/text")
    manifest = make_corpus([f"{remote}/text"], f"{remote}/corpus", CONFIG, workers=workers)
    actual = contents(f"{remote}/corpus")
    assert actual["manifest.json"] == manifest.to_json()
    assert as_made_from(f"{remote}/text", actual) == expected


def test_a_file_url_is_a_local_path(tmp_path: Path) -> None:
    folder = tmp_path / "text"
    write_text(str(folder))
    plain = prepare([str(folder)], tmp_path / "plain", CONFIG)
    by_url = prepare([f"file://{folder}"], f"file://{tmp_path}/by url", CONFIG)
    assert contents(str(plain.folder)) == contents(str(tmp_path / "by url"))
    assert by_url.folder == tmp_path / "by url"


def test_a_stopped_remote_job_resumes_from_its_finished_pieces(memory: str) -> None:
    write_text(f"{memory}/text")
    tokens_before = 0

    def stop_in_the_middle(progress: PrepareProgress) -> None:
        nonlocal tokens_before
        tokens_before = progress.tokens
        if tokens_before > 2000:
            raise KeyboardInterrupt

    arguments = ([f"{memory}/text"], f"{memory}/corpus", CONFIG)
    with pytest.raises(KeyboardInterrupt):
        make_corpus(*arguments, report=stop_in_the_middle)
    reports: list[PrepareProgress] = []
    manifest = make_corpus(*arguments, report=reports.append)
    assert (
        tokens_before + max(r.tokens for r in reports if r.stage == "read") == manifest.text_tokens
    )
    make_corpus([f"{memory}/text"], f"{memory}/at once", CONFIG)
    assert contents(f"{memory}/corpus") == contents(f"{memory}/at once")


def test_a_remote_corpus_is_refused_without_overwrite(memory: str) -> None:
    write_text(f"{memory}/text")
    make_corpus([f"{memory}/text"], f"{memory}/corpus", CONFIG)
    with pytest.raises(UsageError, match="already holds a corpus"):
        make_corpus([f"{memory}/text"], f"{memory}/corpus", CONFIG)
    other = PrepareConfig(vocabulary=5)
    assert make_corpus([f"{memory}/text"], f"{memory}/corpus", other, overwrite=True).words == 5
    with pytest.raises(UsageError, match="is not a corpus and not empty"):
        make_corpus([f"{memory}/text"], f"{memory}/text", CONFIG, overwrite=True)


def test_a_remote_corpus_is_not_opened(memory: str) -> None:
    write_text(f"{memory}/text")
    with pytest.raises(UsageError, match="cannot be opened"):
        prepare([f"{memory}/text"], f"{memory}/corpus", CONFIG)
    assert not storage_path(f"{memory}/corpus").exists()


def test_a_remote_name_that_is_not_there_or_not_known_is_a_usage_error(memory: str) -> None:
    with pytest.raises(UsageError, match="no such file"):
        find_sources([f"{memory}/nothing"], exclude=Path("out"))
    with pytest.raises(UsageError, match=r"foo://x: cannot be reached: Protocol not known"):
        find_sources(["foo://x"], exclude=Path("out"))


def test_a_connection_lost_while_reading_is_named_with_its_position(
    memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text(memory)
    source = Source(f"{memory}/a.gz")

    def fail(_: object) -> int:
        raise TimeoutError("the network is gone")

    monkeypatch.setattr(source._file, "readinto", fail, raising=False)
    size = size_of(storage_path(f"{memory}/a.gz"))
    with pytest.raises(InputError, match=rf"a\.gz: cannot be read beyond byte {size:,}: the netw"):
        list(source.blocks(map))


def test_local_paths_need_neither_fsspec_nor_ray(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    code = (
        "import sys; from pair2vec.text import prepare; prepare(sys.argv[1:2], sys.argv[2]); "
        "print({'fsspec', 'ray'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "text.txt"), str(tmp_path / "corpus")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
