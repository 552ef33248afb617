"""How fast word vectors are trained: gensim's fastText on the CPU, our skip-gram on a GPU.

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
from pair2vec.word_vectors.fasttext import FasttextConfig, train_fasttext
from pair2vec.word_vectors.skipgram import train_skipgram


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--dimension", type=int, default=300)
    arguments = parser.parse_args()
    corpus = open_corpus(arguments.corpus)
    tokens = corpus.manifest.tokens * arguments.epochs
    cores = len(os.sched_getaffinity(0))
    config = FasttextConfig(dimension=arguments.dimension, epochs=arguments.epochs)
    print(
        f"{datetime.date.today()}, Python {platform.python_version()}, torch {torch.__version__}, "
        f"{tokens:,} tokens, {arguments.dimension} dimensions"
    )
    if importlib.util.find_spec("gensim"):
        print_row(
            f"gensim fastText, {cores} cores",
            tokens,
            lambda: train_fasttext(corpus, config, workers=cores),
        )
    if torch.cuda.is_available():
        device = torch.device("cuda")
        print_row(
            f"skipgram.py, {torch.cuda.get_device_name(device)}",
            tokens,
            lambda: train_skipgram(corpus, config, device=device),
        )


def print_row(name: str, tokens: int, train: Callable[[], object]) -> None:
    """Tokens per second over all epochs, set-up included."""
    start = time.perf_counter()
    train()
    seconds = time.perf_counter() - start
    print(f"{name:32}{seconds:8.1f} s{tokens / seconds / 1e3:12,.0f} K tokens/s", flush=True)


if __name__ == "__main__":
    main()
