"""What `pair2vec check` says of models of known quality, and how long it takes.

    python benchmarks/check.py [MODEL ...] [--spoiled 0.1 0.25 0.5 1]

The first model, the bundled one by default, is also checked with a share of the rows of its word
table exchanged with each other: the loss that it recorded stays, and what it knows of the words
goes. Its verdict should fall from good to poor.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import machine
from pair2vec.api import load
from pair2vec.model.folder import SavedModel, load_model, save_model
from pair2vec.model.resolve import find_model
from pair2vec.relations.verdict import ModelCheck

COLUMNS = ("verdict", "loss", "right", "by pairs", "by words", "named", "cosine", "rank", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=[None], help="folders; the bundled one")
    parser.add_argument("--spoiled", type=float, nargs="*", default=[0.1, 0.25, 0.5, 1])
    arguments = parser.parse_args()
    print(machine.describe())
    print(f"{'model':24}" + "".join(f"{name:>11}" for name in COLUMNS))
    for name in arguments.models:
        folder = find_model(name)
        print_check(folder.name, folder)
    original = load_model(find_model(arguments.models[0]))
    for share in arguments.spoiled:
        with tempfile.TemporaryDirectory() as scratch:
            print_check(f"{share:.0%} of rows moved", spoil(original, share, Path(scratch) / "m"))


def spoil(saved: SavedModel, share: float, folder: Path) -> Path:
    """The model with a share of the rows of R's word table exchanged with each other."""
    arrays = {name: saved.array(name) for name in saved.names}
    words = np.array(arrays["pair.words"])
    random = np.random.default_rng(0)
    moved = np.flatnonzero(random.random(len(words)) < share)
    words[moved] = words[random.permutation(moved)]
    config = {**saved.config, "name": folder.name}
    save_model(folder, {**arrays, "pair.words": words}, saved.vocabulary, config)
    return folder


def print_check(name: str, folder: Path) -> None:
    began = time.perf_counter()
    found = load(folder).check()
    seconds = time.perf_counter() - began
    print(f"{name:24}" + "".join(f"{cell:>11}" for cell in cells(found, seconds)), flush=True)


def cells(found: ModelCheck, seconds: float) -> list[str]:
    right = found.right
    shares = (right.right, right.by_pairs, right.by_words)
    return [
        found.verdict,
        f"{found.loss.share:.0%}" if found.loss else "–",
        *(f"{share:.0%}" for share in shares),
        f"{found.names.right:.0%}" if found.names else "–",
        f"{found.spread.mean_cosine:.2f}",
        f"{found.spread.effective_rank:.1f}",
        f"{seconds:.1f}",
    ]


if __name__ == "__main__":
    main()
