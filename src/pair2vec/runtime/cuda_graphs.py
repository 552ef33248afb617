"""CUDA graphs: whether to use them, their capture, and functions that are captured once per shape.

A training step of a small network is some thousand kernels, and launching one takes the CPU longer
than running it takes the GPU: launched one by one, the GPU is idle most of the time.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from pair2vec.errors import UsageError

BatchT = TypeVar("BatchT")
"""A dataclass of tensors."""
Tree = TypeVar("Tree")
"""A tensor, or a dataclass or dict of such trees."""
ResultT = TypeVar("ResultT")
Results = dict[str, Tensor]
Replay = Callable[[], None]
Capture = Callable[[Callable[[], Results]], tuple[Replay, Results]]
_Shape = tuple[torch.Size, ...]

STEP_MODES = ("auto", "plain", "cuda_graph")
"""The values of the setting ``training.step_mode``."""
MAX_GRAPHS = 256
"""Graphs of one function. They share a memory pool, which grows with them all the same: processes
with some eighty of them were seen to take ten gigabytes of a GPU."""
_WARM_UP_RUNS = 3
"""Libraries initialise themselves in their first calls, which no graph may contain."""


def uses_cuda_graph(step_mode: str, device: torch.device) -> bool:
    """Whether training steps on this device are captured: "auto" does so on every GPU.

    Raises:
        UsageError: "cuda_graph" was set for a CPU.
    """
    on_gpu = device.type == "cuda"
    if step_mode == "cuda_graph" and not on_gpu:
        raise UsageError(
            f"training.step_mode is 'cuda_graph', but the device is {device.type}; "
            "train on a GPU, or set auto or plain"
        )
    return on_gpu and step_mode != "plain"


def warm_up(work: Callable[[], object], device: torch.device) -> None:
    """Run `work` some times on a side stream, as torch asks for before a capture."""
    side_stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    side_stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side_stream):
        for _ in range(_WARM_UP_RUNS):
            work()
    torch.cuda.current_stream().wait_stream(side_stream)


def capture(
    work: Callable[[], ResultT],
    pool: Any = None,  # noqa: ANN401 - torch does not name its type
) -> tuple[Replay, ResultT]:
    """Capture `work` without running it.

    Args:
        work: Must not wait for the device.
        pool: Memory to share with graphs that never run at the same time; None for memory of
            its own.

    Returns:
        A function that replays the graph, and the results of `work`, which each replay overwrites.
    """
    graph = torch.cuda.CUDAGraph()
    # Other threads prefetch batches meanwhile: their calls must not invalidate the capture.
    with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
        results = work()
    return graph.replay, results


class _CapturedCall(NamedTuple):
    inputs: list[Tensor]
    """Static tensors, which every batch of the shape is copied into."""
    replay: Replay
    results: Results


class GraphedFunction(Generic[BatchT]):
    """Runs a function eagerly on the first batch of a shape, and from then on as a CUDA graph.

    The eager call is the warm-up.
    """

    def __init__(
        self, work: Callable[[BatchT], Results], capture_with: Capture | None = None
    ) -> None:
        """Wrap `work`, which must not wait for the device nor depend on more than shapes."""
        self._work = work
        self._capture = capture_with or _capture_in_one_pool()
        self._seen: set[_Shape] = set()
        self._captured: dict[_Shape, _CapturedCall] = {}

    def __call__(self, batch: BatchT) -> Results:
        """The results of the work on a batch, which later calls do not overwrite."""
        tensors = tree_leaves(batch)
        shape = tuple(tensor.shape for tensor in tensors)
        call = self._captured.get(shape)
        if call is None:
            if shape not in self._seen or len(self._captured) >= MAX_GRAPHS:
                self._seen.add(shape)
                return self._work(batch)
            call = self._captured[shape] = self._capture_call(batch)
        for static, tensor in zip(call.inputs, tensors, strict=True):
            static.copy_(tensor)
        call.replay()
        return {name: value.clone() for name, value in call.results.items()}

    def _capture_call(self, batch: BatchT) -> _CapturedCall:
        static = tree_map(batch, Tensor.clone)
        replay, results = self._capture(lambda: self._work(static))
        return _CapturedCall(tree_leaves(static), replay, results)


def _capture_in_one_pool() -> Capture:
    pool: Any = torch.cuda.graph_pool_handle()
    return lambda work: capture(work, pool)


def tree_map(tree: Tree, change: Callable[[Tensor], Tensor]) -> Tree:
    """The tree with `change` applied to every tensor."""
    changed: Any = tree
    if isinstance(changed, Tensor):
        changed = change(changed)
    elif is_dataclass(changed) and not isinstance(changed, type):
        parts = {field.name: getattr(changed, field.name) for field in fields(changed)}
        changed = replace(changed, **tree_map(parts, change))
    elif isinstance(changed, dict):
        changed = {name: tree_map(part, change) for name, part in changed.items()}
    else:
        raise TypeError(f"a batch must not contain {type(tree).__name__}")
    result: Tree = changed
    return result


def tree_to(batch: Tree, device: torch.device) -> Tree:
    """The tree with every tensor on this device."""
    return tree_map(batch, lambda tensor: tensor.to(device))


def tree_leaves(tree: object) -> list[Tensor]:
    """All tensors, in an order that is the same for all trees of a type."""
    leaves: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        leaves.append(tensor)
        return tensor

    tree_map(tree, keep)
    return leaves
