"""CUDA graphs: work on batches, captured once for each shape and then replayed.

A step of a small network is some thousand kernels, and to launch one takes the CPU longer than to run
it takes the GPU: launched one by one, the GPU is idle most of the time.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

BatchT = TypeVar("BatchT")
"""A dataclass of tensors."""
Tree = TypeVar("Tree")
"""A tensor, or a dataclass or dict of such trees."""


def tree_map(tree: Tree, change: Callable[[Tensor], Tensor]) -> Tree:
    """The same with every tensor changed."""
    found: Any = tree
    if isinstance(found, Tensor):
        found = change(found)
    elif is_dataclass(found) and not isinstance(found, type):
        parts = {field.name: getattr(found, field.name) for field in fields(found)}
        found = replace(found, **tree_map(parts, change))
    elif isinstance(found, dict):
        found = {name: tree_map(part, change) for name, part in found.items()}
    else:
        raise TypeError(f"a batch has no place for {type(tree).__name__}")
    result: Tree = found
    return result


def tree_to(batch: Tree, device: torch.device) -> Tree:
    """On this device."""
    return tree_map(batch, lambda tensor: tensor.to(device))


def tree_leaves(tree: object) -> list[Tensor]:
    """All of them, in an order that is the same for all trees of a kind."""
    found: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    tree_map(tree, keep)
    return found


Results = dict[str, Tensor]
Work = Callable[[BatchT], Results]
"""Changes what it likes on the device, but never waits for it."""
Replay = Callable[[], None]
Recorder = Callable[[Callable[[], Results]], tuple[Replay, Results]]
"""Returns what does some work again, and where its results are then; need not do it itself."""

_Shape = tuple[torch.Size, ...]

MAX_GRAPHS = 256
"""Recordings. They share a pool of memory, which grows with them all the same: processes with some
eighty of them were seen to take ten gigabytes of a GPU."""


class _Recording(NamedTuple):
    """Of one shape."""

    inputs: list[Tensor]
    """The places on the device that every batch is copied to."""
    replay: Replay
    results: Results


class GraphedFunction(Generic[BatchT]):
    """Does some work as it is the first time that a shape comes, and from then on by recordings.

    Libraries set themselves up in their first calls, which no recording may contain.
    """

    def __init__(self, work: Work[BatchT], record: Recorder | None = None) -> None:
        self._work = work
        self._record = record or CudaGraphRecorder()
        self._seen: set[_Shape] = set()
        self._recordings: dict[_Shape, _Recording] = {}

    def __call__(self, batch: BatchT) -> Results:
        """The results of the work on a batch, which the next call leaves as they are."""
        tensors = tree_leaves(batch)
        shape = tuple(tensor.shape for tensor in tensors)
        found = self._recordings.get(shape)
        if found is None:
            if shape not in self._seen or len(self._recordings) >= MAX_GRAPHS:
                self._seen.add(shape)
                return self._work(batch)
            found = self._recordings[shape] = self._recorded(batch)
        for place, tensor in zip(found.inputs, tensors, strict=True):
            place.copy_(tensor)
        found.replay()
        return {name: value.clone() for name, value in found.results.items()}

    def _recorded(self, batch: BatchT) -> _Recording:
        own = tree_map(batch, Tensor.clone)
        replay, results = self._record(lambda: self._work(own))
        return _Recording(tree_leaves(own), replay, results)


class CudaGraphRecorder:
    """By CUDA graphs, which share their memory: they never run at the same time."""

    def __init__(self) -> None:
        self._pool: Any = torch.cuda.graph_pool_handle()

    def __call__(self, work: Callable[[], Results]) -> tuple[Replay, Results]:
        """Record, without doing any of it."""
        graph = torch.cuda.CUDAGraph()
        # Another thread fetches batches meanwhile, which is none of this recording's business.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            results = work()
        return graph.replay, results
