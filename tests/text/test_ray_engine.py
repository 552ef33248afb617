"""The engine on Ray, on a real cluster of two nodes on this machine."""

import bz2
import os
import random
import signal
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests.command import pair2vec_process as pair2vec

from pair2vec.errors import InputError, Pair2vecError
from pair2vec.runtime.storage import storage_path
from pair2vec.text.collocations import PhraseConfig
from pair2vec.text.corpus import open_corpus
from pair2vec.text.prepare import PrepareConfig, PrepareProgress, make_corpus, open_engine, prepare

ray = pytest.importorskip("ray", reason="needs Ray: pip install 'pair2vec[ray]'")
cluster_utils = pytest.importorskip("ray.cluster_utils")
NodeAffinitySchedulingStrategy = pytest.importorskip(
    "ray.util.scheduling_strategies"
).NodeAffinitySchedulingStrategy

PHRASES = PhraseConfig(threshold=0.1, min_count=3, listed=frozenset({"w1 w2", "w1 w1 w3"}))
CONFIG = PrepareConfig(vocabulary=500, piece_bytes=100_000, shard_ids=200_000, phrases=PHRASES)
NODE = {"num_cpus": 1, "object_store_memory": 100_000_000}
SOON_MISSED = {"health_check_period_ms": 500, "health_check_failure_threshold": 2}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """One node, and a connection to it."""
    head = {**NODE, "include_dashboard": False, "_system_config": SOON_MISSED}
    started = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    ray.init(started.address, log_to_driver=False, logging_level="ERROR")
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture
def second_node(cluster: Any) -> Iterator[Any]:
    """A node that may be killed, already running tasks."""
    node = cluster.add_node(**NODE)
    cluster.wait_for_nodes()
    with open_engine("ray", 2) as engine:
        while len({where for _, where in engine.ordered_map(slowly_double, range(4))}) < 2:
            pass
    yield node
    if node in cluster.list_all_nodes():
        cluster.remove_node(node)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A text, and another of many bzip2 streams."""
    folder = tmp_path_factory.mktemp("text")
    draw = random.Random(1)
    words = [f"w{int(draw.paretovariate(0.7))}" for _ in range(300_000)]
    lines = [" ".join(words[start : start + 15]) + ".\n" for start in range(0, len(words), 15)]
    (folder / "plain.txt").write_text("".join(lines))
    streams = (bz2.compress(line.encode()) for line in lines[:3000])
    (folder / "packed.bz2").write_bytes(b"".join(streams))
    return [str(folder / "plain.txt"), str(folder / "packed.bz2")]


@pytest.fixture(scope="module")
def expected(inputs: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("expected") / "corpus"
    prepare(inputs, out, CONFIG)
    return contents(out)


def slowly_double(number: int) -> tuple[int, str]:
    """The double, and the node that computed it."""
    time.sleep(0.3)
    return 2 * number, ray.get_runtime_context().get_node_id()


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def kill(cluster: Any, node: Any) -> None:
    """End a node as a power cut does; Ray's own way would let its workers finish their tasks."""
    signal_all(node, signal.SIGKILL)
    cluster.remove_node(node, allow_graceful=False)


def signal_all(node: Any, number: signal.Signals) -> None:
    """Send a signal to a node and its workers."""
    raylet = node.all_processes["raylet"][0].process.pid
    workers = Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()
    for process in (raylet, *map(int, workers)):
        os.kill(process, number)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_corpus_is_byte_identical_to_that_of_the_local_engine(
    cluster: Any, inputs: list[str], expected: dict[str, bytes], tmp_path: Path
) -> None:
    assert "tokens-1.bin" in expected  # several shards
    prepare(inputs, tmp_path / "corpus", CONFIG, engine="ray", workers=2)
    assert contents(tmp_path / "corpus") == expected


def test_workers_write_to_shared_storage(
    cluster: Any, inputs: list[str], expected: dict[str, bytes], tmp_path: Path
) -> None:
    remote = f"local://{tmp_path}/corpus"
    make_corpus(inputs, remote, CONFIG, engine="ray", workers=None)
    assert contents(tmp_path / "corpus") == expected


def test_a_killed_node_does_not_stop_the_job(
    cluster: Any, second_node: Any, inputs: list[str], expected: dict[str, bytes], tmp_path: Path
) -> None:
    # The other node is blocked until this one is dead, and this one is stopped before it is
    # killed: so it certainly has unfinished pieces.
    free = tmp_path / "free"
    on_first = NodeAffinitySchedulingStrategy(cluster.head_node.node_id, soft=False)
    ray.remote(num_cpus=1, scheduling_strategy=on_first)(wait_for).remote(free)

    def kill_second() -> None:
        kill(cluster, second_node)
        free.touch()

    reports = 0

    def kill_half_way(_: PrepareProgress) -> None:
        nonlocal reports
        reports += 1
        if reports == 4:
            signal_all(second_node, signal.SIGSTOP)
            Timer(1, kill_second).start()

    prepare(inputs, tmp_path / "corpus", CONFIG, engine="ray", workers=2, report=kill_half_way)
    assert second_node not in cluster.list_all_nodes()
    assert contents(tmp_path / "corpus") == expected


def test_tasks_of_a_killed_node_are_repeated_and_results_stay_in_order(
    cluster: Any, second_node: Any
) -> None:
    results = []
    with open_engine("ray", None) as engine:
        for doubled, _ in engine.ordered_map(slowly_double, range(12)):
            results.append(doubled)
            # Two tasks are running, one on each node.
            if len(results) == 5:
                kill(cluster, second_node)
    assert results == list(range(0, 24, 2))


def test_no_more_tasks_run_than_workers(second_node: Any) -> None:
    def work(_: int) -> tuple[float, float]:
        start = time.time()
        time.sleep(0.05)
        return start, time.time()

    with open_engine("ray", 1) as engine:
        times = list(engine.ordered_map(work, range(6)))
    assert all(end <= start for (_, end), (start, _) in pairwise(times))


@pytest.mark.parametrize(("first", "second"), [("ray", "local"), ("local", "ray")])
def test_a_stopped_job_resumes_with_either_engine_from_its_finished_pieces(
    first: str,
    second: str,
    cluster: Any,
    inputs: list[str],
    expected: dict[str, bytes],
    tmp_path: Path,
) -> None:
    out = tmp_path / "corpus"
    before: list[PrepareProgress] = []

    def stop_in_the_middle(progress: PrepareProgress) -> None:
        before.append(progress)
        if len(before) == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(inputs, out, CONFIG, engine=first, report=stop_in_the_middle)
    with pytest.raises(InputError, match="not a complete corpus"):
        open_corpus(out)
    after: list[PrepareProgress] = []
    corpus = prepare(inputs, out, CONFIG, engine=second, report=after.append)
    made_after = max(progress.tokens for progress in after if progress.stage == "read")
    counts = zip(corpus.vocabulary.words, corpus.vocabulary.counts.tolist(), strict=True)
    joined = sum(word.count(" ") * count for word, count in counts)
    assert before[-1].tokens + made_after == corpus.manifest.text_tokens + joined
    assert contents(out) == expected


def test_errors_in_an_input_are_the_same_as_with_the_local_engine(
    cluster: Any, tmp_path: Path
) -> None:
    page = "<page><title>A</title><revision><text>b</text></revision></page>"
    dump = tmp_path / "dump.xml"
    dump.write_text(f'<mediawiki xmlns="http://x">\n{page}<page><oops></page>\n</mediawiki>')
    messages = []
    for engine in ("local", "ray"):
        with pytest.raises(InputError, match=r"dump\.xml: malformed XML near byte") as error:
            prepare([str(dump)], tmp_path / engine, engine=engine)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_node_with_another_version_is_an_error_that_names_it(
    cluster: Any, inputs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pair2vec.text.ray_engine.__version__", "99.0")
    with pytest.raises(Pair2vecError, match=r"has pair2vec .*, not 99\.0; install the same on all"):
        prepare(inputs, tmp_path / "corpus", CONFIG, engine="ray")


def test_a_node_without_the_package_is_an_error(
    cluster: Any, tmp_path: Path, inputs: list[str]
) -> None:
    (tmp_path / "pair2vec.py").write_text("raise ImportError('not here')")
    node = cluster.add_node(**NODE, env_vars={"PYTHONPATH": str(tmp_path)})
    cluster.wait_for_nodes()
    try:
        with (
            pytest.raises(Pair2vecError, match="cannot run pair2vec"),
            open_engine("ray", 2) as engine,
        ):
            list(engine.ordered_map(slowly_double, range(6)))
    finally:
        cluster.remove_node(node)


def test_the_command_uses_the_cluster_at_ray_address(
    cluster: Any,
    inputs: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    out = f"local://{tmp_path}/corpus"
    done = pair2vec("prepare", *inputs, "--out", out, "--engine", "ray")
    assert done.returncode == 0, done.stderr
    assert "copy it to a local disk" in done.stderr
    assert "INFO" not in done.stderr
    local = prepare(inputs, tmp_path / "local")
    assert (storage_path(out) / "manifest.json").read_bytes() == local.manifest.to_json()
