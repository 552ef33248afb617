"""Speed of `prepare --engine ray` beside the local engine, on one machine.

    python benchmarks/prepare_ray.py [--text FILE] [--megabytes N] [--times N]

The text is the first megabytes of a file, or random words drawn with a fixed seed. Each figure is
the fastest of N runs. Ray runs on this machine alone: the figures show its overhead, not what more
machines would gain. The CPU seconds of the main process are what more workers cannot reduce.
"""

import argparse
import importlib.util
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import ray

import machine
from pair2vec.text.pieces import PIECE_BYTES, Piece, cut_into_pieces, encode_piece
from pair2vec.text.prepare import make_corpus, open_engine
from pair2vec.text.sources import Source

SENTENCE = 20
"""Words of a random sentence."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--times", type=int, default=2)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    os.environ.pop("RAY_ADDRESS", None)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    print(f"{machine.describe()}, Ray {ray.__version__}")
    print(f"load of the machine at the start: {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as scratch:
        text = Path(scratch) / "text.txt"
        write_text(text, arguments.text, arguments.megabytes * 1_000_000)
        print("text → corpus                              seconds    MB/s   own CPU")
        engine_rows(text, arguments.times)
        print("\npieces → encoded pieces, in memory         seconds    MB/s   own CPU")
        encoding_rows(text, arguments.times)


def write_text(path: Path, source: Path | None, size: int) -> None:
    """The head of `source`, or random words, the n-th most frequent with probability ~ 1 / n."""
    if source is not None:
        with source.open("rb") as file:
            path.write_bytes(file.read(size))
        return
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(200_000)])
    shares = 1 / np.arange(1, len(words) + 1)
    with path.open("w") as out:
        while out.tell() < size:
            drawn = rng.choice(words, (10_000, SENTENCE), p=shares / shares.sum())
            out.writelines(" ".join(sentence) + ".\n" for sentence in drawn)


def engine_rows(text: Path, times: int) -> None:
    """The whole of `prepare`, by engine and number of workers."""
    for workers in (1, 2):
        measured = best(times, prepare, text, "local", workers)
        print_row(f"local, {workers} worker(s)", measured, text)
    for workers in (1, 2):
        starting = start_ray(workers)
        measured = best(times, prepare, text, "ray", workers)
        print_row(f"ray, {workers} worker(s), started before", measured, text)
        ray.shutdown()
    measured = best(times, prepare, text, "ray", 2)
    print_row("ray, 2 worker(s), started and stopped", measured, text)
    print(f"to start Ray and its first worker            {starting:5.1f}")


def start_ray(workers: int) -> float:
    """Seconds until a first task is done."""
    start = time.perf_counter()
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.get(ray.remote(encode_piece).remote(Piece("", 0, b"A word.", is_dump=False)))
    return time.perf_counter() - start


def prepare(text: Path, engine: str, workers: int) -> None:
    out = text.parent / "corpus"
    make_corpus([str(text)], out, engine=engine, workers=workers)
    shutil.rmtree(out)


class Measured(NamedTuple):
    seconds: float
    own_cpu: float
    """CPU seconds of this process, which reads, counts and writes, however many workers it has."""


def best(times: int, function: Callable[..., None], *arguments: object) -> Measured:
    runs = []
    for _ in range(times):
        start, cpu = time.perf_counter(), time.process_time()
        function(*arguments)
        runs.append(Measured(time.perf_counter() - start, time.process_time() - cpu))
    return min(runs)


def print_row(name: str, measured: Measured, text: Path) -> None:
    speed = text.stat().st_size / 1e6 / measured.seconds
    print(f"{name:42}{measured.seconds:8.1f}{speed:8.1f}{measured.own_cpu:10.1f}", flush=True)


def encoding_rows(text: Path, times: int) -> None:
    """Encoding alone, by plain tasks and by Ray Data, on 2 workers."""
    with Source(str(text)) as source:
        pieces = list(cut_into_pieces(source.name, source.blocks(map), PIECE_BYTES))
    start_ray(2)
    print_row("tasks, as in the engine", best(times, encode_by_tasks, pieces), text)
    if importlib.util.find_spec("pyarrow") and importlib.util.find_spec("pandas"):
        print_row("Ray Data", best(times, encode_by_ray_data, pieces), text)
    else:
        print("Ray Data is not installed: pip install 'ray[data]'")
    ray.shutdown()


def encode(piece: Piece) -> bytes:
    return encode_piece(piece).to_bytes()


def encode_by_tasks(pieces: list[Piece]) -> None:
    """As `prepare` does it."""
    with open_engine("ray", 2) as engine:
        assert sum(1 for _ in engine.ordered_map(encode, pieces)) == len(pieces)


def encode_by_ray_data(pieces: list[Piece]) -> None:
    """A dataset with a block for each piece, in order."""
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    rows = [{"content": piece.content, "continues": piece.continues} for piece in pieces]
    encoded = ray.data.from_items(rows, override_num_blocks=len(rows)).map(encode_row)
    assert sum(1 for _ in encoded.iter_rows()) == len(pieces)


def encode_row(row: dict[str, object]) -> dict[str, bytes]:
    content, continues = row["content"], row["continues"]
    assert isinstance(content, bytes)
    piece = Piece("", 0, content, is_dump=False, continues=bool(continues))
    return {"encoded": encode(piece)}


if __name__ == "__main__":
    main()
