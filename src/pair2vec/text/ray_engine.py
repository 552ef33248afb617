"""Work on pieces as tasks of Ray: on the cluster that RAY_ADDRESS names, or on one started here.

Pieces travel through Ray's object store, and so do encoded ones, unless the workers write to a
place that all can reach. The functions are pure: what a lost worker or node had under way, and what
it had done but not handed over, Ray does again elsewhere, with the same result.
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
"""How often a piece may lose its worker before it is taken to be what kills them."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # which Ray would send to its makers
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",  # of tasks that no one waits for once another has failed
}
_NOT_INSTALLED = ("ImportError", "ModuleNotFoundError", "failed to import")
_SECONDS_TO_ANSWER = 30
_HOST_AND_PORT = re.compile(r"[^/]+:\d+")

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@contextmanager
def ray_engine(workers: int | None) -> Iterator[Engine]:
    """Ray, with at most `workers` tasks under way; None for as many as the cluster has cores."""
    with _connection(workers) as is_local:
        cores = int(ray.cluster_resources().get("CPU", 1))
        try:
            yield Engine(_Tasks(workers or cores).ordered_map, shares_disk=is_local)
        except RayTaskError:
            raise  # an error of ours, with its traceback
        except RayError as error:
            raise Pair2vecError(
                f"Ray gave up: {_first_line(error)}; run the same command again to go on"
            ) from error


@contextmanager
def _connection(workers: int | None) -> Iterator[bool]:
    """A connection to Ray; yields whether its only node is one that was started here."""
    if ray.is_initialized():  # by a program that goes on to use it
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
    """Ask the cluster for a sign of life; to connect to one that is not there would never end."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        asked = subprocess.run(
            command, capture_output=True, check=False, timeout=_SECONDS_TO_ANSWER
        )
        answers = asked.returncode == 0
    except subprocess.TimeoutExpired:
        answers = False
    if not answers:
        raise Pair2vecError(
            f"RAY_ADDRESS={address}: no Ray cluster answers there; "
            "start one, or unset RAY_ADDRESS to use this machine alone"
        )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


class _Tasks:
    """The tasks under way, whichever map they belong to: never more than `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running: list[Any] = []

    def ordered_map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], /
    ) -> Iterator[_Result]:
        """Apply `function` to many items on the cluster, with results in the items' order."""
        results: deque[Any] = deque()
        for item in items:
            results.append(self._start(function, item))
            # One late result, as of a lost node, does not hold up the others, but bounds them.
            while results and (len(results) > 2 * self._limit or _is_there(results[0])):
                yield _get(results.popleft())
        while results:
            yield _get(results.popleft())

    def _start(self, function: Callable[[_Item], _Result], item: _Item) -> Any:  # noqa: ANN401
        while len(self._running) >= self._limit:
            _, self._running = ray.wait(self._running, num_returns=1)
        result = _on_worker.remote(__version__, function, item)
        self._running.append(result)
        return result


def _is_there(result: Any) -> bool:  # noqa: ANN401
    there, _ = ray.wait([result], timeout=0)
    return bool(there)


def _get(result: Any) -> Any:  # noqa: ANN401
    """A task's result; an error that a user can mend as it was raised on the worker."""
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
    """What a worker does; `version` is that of the machine that wants it done."""
    # Two versions may cut a text into different tokens.
    if version != __version__:
        node = ray.util.get_node_ip_address()
        raise Pair2vecError(
            f"node {node} has pair2vec {__version__}, not {version}; install the same on all"
        )
    return function(item)


# Not a decorator, by which the function would travel with this machine's version in it. Spread,
# because Ray would first fill this machine, which has reading and counting to do.
_on_worker = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(_run)
