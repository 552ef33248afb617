"""The Ray engine: pieces as Ray tasks, on the cluster at RAY_ADDRESS or on a local one.

Pieces travel through Ray's object store, and so do encoded ones, unless the workers write to
storage that all can reach. The functions are pure, so Ray repeats elsewhere whatever a lost worker
or node had not delivered, with the same result.
"""

import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError

from pair2vec.errors import Pair2vecError
from pair2vec.text.engines import Engine
from pair2vec.version import __version__

RETRIES = 5
"""How often a task may lose its worker before the task itself is blamed."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no telemetry
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",  # of tasks still running when another one has failed
}
_NOT_INSTALLED = ("ImportError", "ModuleNotFoundError", "failed to import")
_HEALTH_CHECK_SECONDS = 30
_HOST_AND_PORT = re.compile(r"[^/]+:\d+")

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@contextmanager
def ray_engine(workers: int | None) -> Iterator[Engine]:
    """Ray with at most `workers` running tasks; None for as many as the cluster has cores."""
    with _connection(workers) as is_local:
        cores = int(ray.cluster_resources().get("CPU", 1))
        try:
            yield Engine(_TaskPool(workers or cores).ordered_map, shares_disk=is_local)
        except RayTaskError:
            raise  # our own error, with its traceback
        except RayError as error:
            raise Pair2vecError(
                f"Ray gave up: {_first_line(error)}; run the same command again to resume"
            ) from error


@contextmanager
def _connection(workers: int | None) -> Iterator[bool]:
    """A connection to Ray; yields whether it is a local cluster started by this process."""
    if ray.is_initialized():  # by the calling program, which owns the connection
        yield False
        return
    address = os.environ.get("RAY_ADDRESS") or "local"
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        cores = workers or len(os.sched_getaffinity(0))
        options |= {"num_cpus": cores, "include_dashboard": False}
    elif _HOST_AND_PORT.fullmatch(address):
        _check_reachable(address)
    try:
        ray.init(address=address, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise Pair2vecError(f"RAY_ADDRESS={address}: {_first_line(error)}") from error
    try:
        yield address == "local"
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Run Ray's health check: connecting to a cluster that does not exist would hang."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        check = subprocess.run(
            command, capture_output=True, check=False, timeout=_HEALTH_CHECK_SECONDS
        )
        is_healthy = check.returncode == 0
    except subprocess.TimeoutExpired:
        is_healthy = False
    if not is_healthy:
        raise Pair2vecError(
            f"RAY_ADDRESS={address}: no Ray cluster answers there; "
            "start one, or unset RAY_ADDRESS to use this machine alone"
        )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


class _TaskPool:
    """Runs at most `limit` tasks at a time, over all maps."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running: list[Any] = []

    def ordered_map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], /
    ) -> Iterator[_Result]:
        results: deque[Any] = deque()
        for item in items:
            results.append(self._start(function, item))
            # A late result, as of a lost node, does not block the others, but bounds their number.
            while results and (len(results) > 2 * self._limit or _is_ready(results[0])):
                yield _get(results.popleft())
        while results:
            yield _get(results.popleft())

    def _start(self, function: Callable[[_Item], _Result], item: _Item) -> Any:  # noqa: ANN401
        while len(self._running) >= self._limit:
            _, self._running = ray.wait(self._running, num_returns=1)
        result = _run_on_worker.remote(__version__, function, item)
        self._running.append(result)
        return result


def _is_ready(result: Any) -> bool:  # noqa: ANN401
    ready, _ = ray.wait([result], timeout=0)
    return bool(ready)


def _get(result: Any) -> Any:  # noqa: ANN401
    """A task's result; an error that the user can fix is raised as on the worker."""
    try:
        return ray.get(result)
    except RayTaskError as error:
        if isinstance(error.cause, Pair2vecError | OSError):
            raise error.cause from error
        if any(sign in str(error) for sign in _NOT_INSTALLED):
            raise Pair2vecError(
                f"a node of the cluster cannot run pair2vec {__version__}; install it on all"
            ) from error
        raise


def _run(version: str, function: Callable[[Any], Any], item: object) -> Any:  # noqa: ANN401
    """Runs on a worker; `version` is that of the machine that submitted the task."""
    # Two versions may tokenise a text differently.
    if version != __version__:
        node = ray.util.get_node_ip_address()
        raise Pair2vecError(
            f"node {node} has pair2vec {__version__}, not {version}; install the same on all"
        )
    return function(item)


# Not a decorator, which would pickle the function by value, with this machine's version in it.
# SPREAD, because Ray would first fill this machine, which has to read and to count.
_run_on_worker = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(_run)
