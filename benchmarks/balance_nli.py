"""Make a class-balanced subset of a training set of NLI: as many examples of each class.

    python benchmarks/balance_nli.py TRAIN... --out FOLDER

Each TRAIN is a jsonl file, compressed or not, such as ``snli_train.union.jsonl.xz``; OUT gets
``snli_train.balanced.jsonl.xz``. Of every class it keeps as many examples as the rarest one has:
those with the smallest SHA-256 of their two sentences and label, in their old order. So the subset
depends on nothing but the examples, and one of a larger file that has the same classes is as good.
"""

import argparse
import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pair2vec.experiments.nli.examples import LABELS
from pair2vec.text.sources import Source


class Line(NamedTuple):
    """An example as its file has it."""

    text: bytes
    label: str
    key: bytes
    """That decides whether it is kept."""


def main() -> None:
    """Write the subsets, and print how many examples of each class they have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for path in arguments.train:
        kept = balanced(read_lines(path))
        out = arguments.out / balanced_name(path)
        if out.resolve() == path.resolve():
            parser.error(f"{path}: is a balanced subset already")
        out.write_bytes(lzma.compress(b"".join(line.text + b"\n" for line in kept)))
        counts = Counter(line.label for line in kept)
        print(f"{out}: {', '.join(f'{label} {counts[label]:,}' for label in LABELS)}")


def balanced_name(path: Path) -> str:
    """``snli_train.balanced.jsonl.xz`` of ``snli_train.union.jsonl.xz``."""
    return f"{path.name.partition('.')[0]}.balanced.jsonl.xz"


def read_lines(path: Path) -> list[Line]:
    """All examples with a gold label."""
    with Source(str(path)) as source:
        texts = b"".join(source.blocks(map)).splitlines()
    records = [(text, json.loads(text)) for text in texts if text.strip()]
    return [
        Line(text, record["gold_label"], _key(record))
        for text, record in records
        if record["gold_label"] in LABELS
    ]


def _key(record: dict[str, str]) -> bytes:
    fields = [record[name] for name in ("sentence1", "sentence2", "gold_label")]
    return hashlib.sha256("\t".join(fields).encode()).digest()


def balanced(lines: Sequence[Line]) -> list[Line]:
    """As many of each class as the rarest has, in their order."""
    by_class = {
        label: [n for n, line in enumerate(lines) if line.label == label] for label in LABELS
    }
    size = min(map(len, by_class.values()))

    def smallest(numbers: Iterable[int]) -> list[int]:
        # Of equal examples the first ones.
        return sorted(numbers, key=lambda number: (lines[number].key, number))[:size]

    kept = sorted(number for numbers in by_class.values() for number in smallest(numbers))
    return [lines[number] for number in kept]


if __name__ == "__main__":
    main()
