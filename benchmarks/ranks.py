"""Processes of this machine that find each other as those that torchrun starts do."""

import multiprocessing
import os
import socket
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Made = TypeVar("Made")


def in_ranks(work: Callable[[Task], Made], task: Task, count: int) -> list[Made]:
    """What `work`, a function of a module, makes of `task` in each of them."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    around = {"WORLD_SIZE": f"{count}", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}"}
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=fresh) as pool:
        made = [
            pool.submit(_work, {**around, "RANK": f"{rank}"}, work, task) for rank in range(count)
        ]
        return [each.result() for each in made]


def _work(around: dict[str, str], work: Callable[[Task], Made], task: Task) -> Made:
    os.environ.update(around)
    return work(task)
