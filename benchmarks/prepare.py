"""Speed and peak memory of `prepare`, beside a plain split-and-count loop.

    python benchmarks/prepare.py [--text FILE...] [--workers N] [--phrase-list FILE]

Of 100 MB, the speed with phrases is printed beside that without, each twice in turns: with those
that are found, and with those of a list, such as `phrase_titles.py` writes.

Text comes from the files given, or from $PAIR2VEC_DATA/corpora. The dump is the sample of English
Wikipedia that gensim's tests carry, its pages repeated to about 40 MB, as the multistream bzip2
that Wikipedia publishes.
"""

import argparse
import bz2
import importlib.util
import logging
import lzma
import multiprocessing
import os
import resource
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import machine
from pair2vec.cli.prepare import read_phrases
from pair2vec.text.collocations import PhraseConfig
from pair2vec.text.prepare import PrepareConfig, prepare

SAMPLE = "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
DUMP_BYTES = 40_000_000
PAGES_PER_STREAM = 100


class Measured(NamedTuple):
    seconds: float
    cpu_seconds: float
    tokens: int
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", nargs="*", type=Path, default=default_texts())
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--phrase-list", type=Path)
    arguments = parser.parse_args()
    print(f"{machine.describe()}\n")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if arguments.text:
            text_rows(arguments.text, folder, arguments.workers)
            phrase_rows(arguments.text, folder, arguments.phrase_list)
        else:
            print("no text: give --text or set PAIR2VEC_DATA\n")
        dump_rows(folder, arguments.workers)


def default_texts() -> list[Path]:
    return sorted(Path(os.environ.get("PAIR2VEC_DATA", "")).glob("corpora/*.txt.xz"))


def text_rows(texts: list[Path], folder: Path, workers: int) -> None:
    """Speed and memory on plain text of two sizes, and of all of it."""
    print("text → corpus                        MB   M tokens   seconds  M tokens/s   peak MB")
    plain = None
    for megabytes in (10, 100, 500):
        text = folder / "text.txt"
        size = write_head(texts, text, megabytes * 1_000_000)
        measured = in_new_process(prepare_with, [text], folder / "corpus", 1)
        print_row(f"{megabytes} MB, 1 worker", size, measured)
        if megabytes == 100:
            plain = in_new_process(split_and_count, text)
            print_row("  split + Counter, same text", size, plain)
            print(f"  ratio of CPU time: {measured.cpu_seconds / plain.cpu_seconds:.2f}")
            measured = in_new_process(prepare_with, [text], folder / "corpus", workers)
            print_row(f"{megabytes} MB, {workers} workers", size, measured)
    size = sum(text.stat().st_size for text in texts)
    measured = in_new_process(prepare_with, texts, folder / "corpus", workers)
    print_row(f"all, compressed, {workers} workers", size, measured)
    print()


def phrase_rows(texts: list[Path], folder: Path, phrase_list: Path | None) -> None:
    """Speed with phrases as a share of that without, on 100 MB with one worker."""
    print("phrases                              MB   M tokens   seconds  M tokens/s   peak MB")
    text = folder / "text.txt"
    size = write_head(texts, text, 100_000_000)
    listed = frozenset() if phrase_list is None else read_phrases(phrase_list)
    configs = {"without": None, "found": PhraseConfig()}
    if listed:
        configs["of a list"] = PhraseConfig(find=False, listed=listed)
        configs["both"] = PhraseConfig(listed=listed)
    runs: dict[str, list[Measured]] = {name: [] for name in configs}
    for _ in range(2):
        for name, phrases in configs.items():
            config = PrepareConfig(phrases=phrases)
            runs[name].append(in_new_process(prepare_with, [text], folder / "corpus", 1, config))
    fastest = {name: min(both, key=lambda run: run.seconds) for name, both in runs.items()}
    for name, measured in fastest.items():
        print_row(name, size, measured)
        share = fastest["without"].seconds / measured.seconds
        print(f"  speed as a share of that without: {share:.2f}")
    print()


def dump_rows(folder: Path, workers: int) -> None:
    """Speed on a MediaWiki dump, plain and as multistream bzip2."""
    print("dump → corpus                        MB   M tokens   seconds  MB of XML/s   peak MB")
    plain, packed = folder / "dump.xml", folder / "dump.xml.bz2"
    write_dump(plain, packed)
    size = plain.stat().st_size
    for name, path, count in (
        ("XML, 1 worker", plain, 1),
        (f"XML, {workers} workers", plain, workers),
        ("multistream bzip2, 1 worker", packed, 1),
        (f"multistream bzip2, {workers} workers", packed, workers),
    ):
        measured = in_new_process(prepare_with, [path], folder / "corpus", count)
        print_row(name, size, measured, speed=size / 1e6 / measured.seconds)


def print_row(name: str, size: int, measured: Measured, speed: float | None = None) -> None:
    if speed is None:
        speed = measured.tokens / 1e6 / measured.seconds
    print(
        f"{name:32}{size / 1e6:8.1f}{measured.tokens / 1e6:11.1f}{measured.seconds:10.1f}"
        f"{speed:12.2f}{measured.peak_mb:10.0f}",
        flush=True,
    )


def write_head(texts: list[Path], path: Path, size: int) -> int:
    """The first `size` bytes of the texts, repeated if they are shorter."""
    with path.open("wb") as out:
        while out.tell() < size:
            for text in texts:
                with lzma.open(text) if text.suffix == ".xz" else text.open("rb") as file:
                    while out.tell() < size and (block := file.read(1 << 20)):
                        out.write(block[: size - out.tell()])
    return size


def write_dump(plain: Path, packed: Path) -> None:
    """The sample's pages repeated, plain and as Wikipedia compresses them."""
    package = importlib.util.find_spec("gensim")
    assert package is not None and package.origin is not None, "gensim is not installed"
    sample = bz2.decompress((Path(package.origin).parent / SAMPLE).read_bytes())
    start, end = sample.index(b"<page>"), sample.rindex(b"</page>") + len(b"</page>")
    pages = sample[start:end].split(b"</page>")[:-1]
    pages = [page + b"</page>" for page in pages] * (DUMP_BYTES // (end - start))
    streams = [sample[:start]]
    streams += [
        b"".join(pages[first : first + PAGES_PER_STREAM])
        for first in range(0, len(pages), PAGES_PER_STREAM)
    ]
    streams.append(sample[end:])
    plain.write_bytes(b"".join(streams))
    packed.write_bytes(b"".join(map(bz2.compress, streams)))


def prepare_with(
    inputs: list[Path], out: Path, workers: int, config: PrepareConfig | None = None
) -> int:
    """Returns the tokens of the text."""
    corpus = prepare([str(path) for path in inputs], out, config, workers=workers)
    shutil.rmtree(out)
    return corpus.manifest.text_tokens


def split_and_count(path: Path) -> int:
    """The baseline: no sentences, no punctuation, no ids, no file written."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            counts.update(line.lower().split())
    return counts.total()


def in_new_process(function: Callable[..., int], *arguments: object) -> Measured:
    """Run in a fresh process, so that peak memory is that of this run."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=_measure, args=(sender, function, arguments)
    )
    process.start()
    sender.close()
    measured: Measured = receiver.recv()
    process.join()
    return measured


def _measure(
    sender: "multiprocessing.connection.Connection[object, object]",
    function: Callable[..., int],
    arguments: tuple[object, ...],
) -> None:
    logging.disable(logging.WARNING)
    memory = PeakMemory()
    start = time.perf_counter()
    tokens = function(*arguments)
    seconds = time.perf_counter() - start
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(part.ru_utime + part.ru_stime for part in usage)
    sender.send(Measured(seconds, cpu, tokens, memory.peak_mb))


class PeakMemory(threading.Thread):
    """Samples the resident memory of this process and its children until the process ends."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak_mb = 0.0
        self.start()

    def run(self) -> None:
        own = os.getpid()
        while True:
            children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
            self.peak_mb = max(self.peak_mb, sum(map(machine.resident_mb, [str(own), *children])))
            time.sleep(0.02)


if __name__ == "__main__":
    main()
