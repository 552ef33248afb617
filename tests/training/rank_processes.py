"""Ranks as processes of their own, which run a function of a test or the command."""

import hashlib
import multiprocessing
import os
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from tests.training.small_run import after

from pair2vec.cli.main import main
from pair2vec.text.corpus import open_corpus
from pair2vec.training.distributed import SINGLE_PROCESS, TIMEOUT, ProcessGroup, init_process_group
from pair2vec.training.recipes import Recipe
from pair2vec.training.train import Interrupted, initial_word_vectors, train
from pair2vec.training.trainer import RunContext, Trainer

ResultT = TypeVar("ResultT")

# Processes are forked from one that has imported all there is to import.
_fresh = multiprocessing.get_context("forkserver")
_fresh.set_forkserver_preload(["tests.training.rank_processes"])
Environment = dict[str, str]


def environments(count: int, seconds: float = 45) -> list[Environment]:
    """As torchrun makes them."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    common = {"WORLD_SIZE": f"{count}", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}"}
    return [{**common, "RANK": f"{rank}", TIMEOUT: f"{seconds}"} for rank in range(count)]


def in_ranks(
    work: Callable[..., ResultT], *arguments: object, count: int = 2, seconds: float = 45
) -> list[ResultT]:
    """What `work` returns on result rank; it is given that rank, and the arguments."""
    with ProcessPoolExecutor(count, mp_context=_fresh) as pool:
        results = [
            pool.submit(_work, environment, work, arguments)
            for environment in environments(count, seconds)
        ]
        return [result.result() for result in results]


def _work(
    environment: Environment, work: Callable[..., ResultT], arguments: tuple[object, ...]
) -> ResultT:
    os.environ.update(environment)
    torch.set_num_threads(1)
    with init_process_group("cpu") as ranks:
        return work(ranks, *arguments)


def start_command(environment: Environment, log: Path, *arguments: str | Path) -> ForkServerProcess:
    """``pair2vec`` with these arguments, all output written to `log`."""
    words = ["pair2vec", *map(str, arguments)]
    process = _fresh.Process(target=_run_command, args=(environment, log, words), daemon=True)
    process.start()
    return process


def _run_command(environment: Environment, log: Path, words: list[str]) -> None:
    os.environ.update(environment)
    torch.set_num_threads(1)
    with log.open("wb") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    sys.argv = words
    main()


def trainer_on(ranks: ProcessGroup, folder: Path, out: Path, recipe: Recipe) -> Trainer:
    """With a folder for each rank, to see which of them are written to."""
    corpus, own = open_corpus(folder), out / f"rank-{ranks.rank}"
    run_context = RunContext(own, torch.device("cpu"), lambda _: None, lambda: False, ranks)
    return Trainer(corpus, recipe, initial_word_vectors(corpus, recipe, None), None, run_context)


def digest_after_training(ranks: ProcessGroup, folder: Path, out: Path, recipe: Recipe) -> str:
    """Of all weights of this rank and its optimiser's state."""
    trainer = trainer_on(ranks, folder, out, recipe)
    assert trainer.run()
    digest = hashlib.sha256()
    for tensor in [*trainer.network.state_dict().values(), *trainer._optimiser.state.values()]:
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


def validation_loss(ranks: ProcessGroup, folder: Path, out: Path, recipe: Recipe) -> float | None:
    """Before any training."""
    return trainer_on(ranks, folder, out, recipe).validate()


class Drawn(NamedTuple):
    """Of a rank's first batch, as ids."""

    pairs: list[tuple[int, int]]
    negatives: list[list[int]]


def first_batch(ranks: ProcessGroup, folder: Path, out: Path, recipe: Recipe) -> Drawn:
    """The batch of a rank."""
    batch, _ = next(trainer_on(ranks, folder, out, recipe)._batches())
    pairs = zip(batch.x.tolist(), batch.y.tolist(), strict=True)
    return Drawn(list(pairs), batch.other_x.tolist())


def train_in(
    ranks: ProcessGroup, folder: Path, out: Path, recipe: Recipe, options: dict[str, Any]
) -> bool:
    """Whether training came to its end, rather than being stopped."""
    stop_after = options.pop("stop_after", None)
    # One rank stops, and with it all others.
    if stop_after is not None and ranks.rank == ranks.world_size - 1:
        options["should_stop"] = after(stop_after)
    try:
        train(open_corpus(folder), out, recipe, device="cpu", ranks=ranks, **options)
    except Interrupted:
        return False
    return True


def train_on(count: int, folder: Path, out: Path, recipe: Recipe, **options: Any) -> bool:
    """Train on so many ranks; whether to the end."""
    if count == 1:
        return train_in(SINGLE_PROCESS, folder, out, recipe, options)
    return all(in_ranks(train_in, folder, out, recipe, options, count=count))
