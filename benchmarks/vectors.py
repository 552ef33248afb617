"""How fast word vectors are made from a corpus: gensim's fastText on the CPU, our own on a GPU.

    python benchmarks/vectors.py CORPUS [--epochs 1] [--dimension 300]

Each is measured where it can run: gensim where it is installed, ours where torch finds a GPU.
"""

import argparse
import datetime
import importlib.util
import os
import platform
import time
from collections.abc import Callable

import torch

from pair2vec.text.corpus import open_corpus
from pair2vec.word_vectors.fasttext import train_fasttext
from pair2vec.word_vectors.skipgram import train_skipgram


def main() -> None:
    """Print tokens a second, epochs counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--dimension", type=int, default=300)
    arguments = parser.parse_args()
    corpus = open_corpus(arguments.corpus)
    tokens = corpus.manifest.tokens * arguments.epochs
    cores = len(os.sched_getaffinity(0))
    sizes = {"dimension": arguments.dimension, "epochs": arguments.epochs, "seed": 0}
    print(
        f"{datetime.date.today()}, Python {platform.python_version()}, torch {torch.__version__}, "
        f"{tokens:,} tokens, {arguments.dimension} dimensions"
    )
    if importlib.util.find_spec("gensim"):
        print_row(
            f"gensim fastText, {cores} cores",
            tokens,
            lambda: train_fasttext(corpus, workers=cores, **sizes),
        )
    if torch.cuda.is_available():
        device = torch.device("cuda")
        print_row(
            f"skipgram.py, {torch.cuda.get_device_name(device)}",
            tokens,
            lambda: train_skipgram(corpus, device=device, **sizes),
        )


def print_row(name: str, tokens: int, make: Callable[[], object]) -> None:
    """Time one of them, its set-up included."""
    start = time.perf_counter()
    make()
    seconds = time.perf_counter() - start
    print(f"{name:32}{seconds:8.1f} s{tokens / seconds / 1e3:12,.0f} K tokens/s", flush=True)


if __name__ == "__main__":
    main()
