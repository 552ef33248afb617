"""Ranks as processes of this machine, with the environment that torchrun would set."""

import multiprocessing
import os
import socket
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_ranks(work: Callable[[Task], Result], task: Task, count: int) -> list[Result]:
    """The results of `work`, a function of a module, on `task` in each rank."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"WORLD_SIZE": f"{count}", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}"}
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=fresh) as pool:
        futures = [
            pool.submit(_work, {**environment, "RANK": f"{rank}"}, work, task)
            for rank in range(count)
        ]
        return [future.result() for future in futures]


def _work(environment: dict[str, str], work: Callable[[Task], Result], task: Task) -> Result:
    os.environ.update(environment)
    return work(task)
