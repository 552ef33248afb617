"""Work on batches that a GPU is told once for each shape, and then repeats by itself.

A step of these networks is some thousand small kernels, and to launch one takes the CPU longer than
to run it takes the GPU: told one by one, the GPU does nothing most of the time.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple

import torch
from torch import Tensor

from pair2vec.supervised.batch_tensors import mapped, tensors_of
from pair2vec.supervised.task import Batch

Results = dict[str, Tensor]
Work = Callable[[Batch], Results]
"""Changes what it likes on the device, but never waits for it."""
Replay = Callable[[], None]
Recorder = Callable[[Callable[[], Results]], tuple[Replay, Results]]
"""Returns what does some work again, and where its results are then; need not do it itself."""

_Shape = tuple[torch.Size, ...]

MOST = 256
"""Recordings. They share a pool of memory, which grows with them all the same: processes with some
eighty of them were seen to take ten gigabytes of a GPU."""


class _Recording(NamedTuple):
    """Of one shape."""

    inputs: list[Tensor]
    """The places on the device that every batch is copied to."""
    replay: Replay
    results: Results


class Recorded(Generic[Batch]):
    """Does some work as it is the first time that a shape comes, and from then on by recordings.

    Libraries set themselves up in their first calls, which no recording may contain.
    """

    def __init__(self, work: Work[Batch], record: Recorder | None = None) -> None:
        self._work = work
        self._record = record or GraphRecorder()
        self._seen: set[_Shape] = set()
        self._recordings: dict[_Shape, _Recording] = {}

    def __call__(self, batch: Batch) -> Results:
        """The results of the work on a batch, which the next call leaves as they are."""
        tensors = tensors_of(batch)
        shape = tuple(tensor.shape for tensor in tensors)
        found = self._recordings.get(shape)
        if found is None:
            if shape not in self._seen or len(self._recordings) >= MOST:
                self._seen.add(shape)
                return self._work(batch)
            found = self._recordings[shape] = self._recorded(batch)
        for place, tensor in zip(found.inputs, tensors, strict=True):
            place.copy_(tensor)
        found.replay()
        return {name: value.clone() for name, value in found.results.items()}

    def _recorded(self, batch: Batch) -> _Recording:
        own = mapped(batch, Tensor.clone)
        replay, results = self._record(lambda: self._work(own))
        return _Recording(tensors_of(own), replay, results)


class GraphRecorder:
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
