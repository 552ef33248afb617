"""Where the time of a CUDA-graph step goes, by the GPU's own clock; `train_gpu.py` prints it.

The step is compiled as usual but not captured, so that marks can stand between its parts: around
each in the forward pass, and where the gradient of its result is complete, which is where its
backward pass begins. (Autograd works through the parts one after the other, the last first.) All
time between a step's first mark and its last belongs to one of the parts.

The backward pass of "rows gathered" is the scatter-add of their gradients; that of the LSTM has a
scatter-add of its own in it. "update" is clipping and Adam on all weights; "rest" is to copy the
batch into the step's inputs and to sum the losses.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor

import gpu
from pair2vec.training import cuda_graph_step
from pair2vec.training.cuda_graph_step import CudaGraphStep
from pair2vec.training.network import TrainingBatch
from pair2vec.training.steps import StepModel

METHODS = {
    "_pair_words": "words for R",
    "_pairs": "R of the pairs",
    "_word_gates": "words for C",
    "_pool": "pooling",
    "_objective": "objective",
    "_touched": "rows touched",
    "_update": "update",
    "_metrics": "metrics",
}
FUNCTIONS = {"copy_rows": "rows gathered", "bilstm_states": "LSTM"}
"""In the module of the step."""
REST = "rest"
WARM_UP = 5
HEAD_START = 100_000_000
"""Cycles that the GPU sleeps before a step, some 50 ms: enough for the host to launch all of it, so
that no part has to wait for that."""

Moment = float | torch.cuda.Event


class Mark(NamedTuple):
    """The start of a part."""

    part: str
    is_backward: bool
    moment: Moment


class PartTime(NamedTuple):
    """Milliseconds a step."""

    part: str
    forward: float
    backward: float

    @property
    def both(self) -> float:
        return self.forward + self.backward


class Clock:
    """Marks, in the order in which the device comes to them."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._marks: list[Mark] = []

    def mark(self, part: str, *, is_backward: bool = False) -> None:
        """Begin a part."""
        moment: Moment = time.perf_counter()
        if self._device.type == "cuda":
            moment = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            moment.record()
        self._marks.append(Mark(part, is_backward, moment))

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, with marks."""

        def begin_backward(_: Tensor) -> None:
            self.mark(part, is_backward=True)

        def call(*arguments: object) -> object:
            self.mark(part)
            result = work(*arguments)
            for tensor in tensors_in(result):
                if tensor.requires_grad:
                    tensor.register_hook(begin_backward)  # type: ignore[no-untyped-call]
            self.mark(REST)
            return result

        return call

    def read(self) -> dict[tuple[str, bool], float]:
        """Milliseconds by part and direction, beginning anew."""
        gpu.wait(self._device)
        times: dict[tuple[str, bool], float] = defaultdict(float)
        for mark, after in pairwise(self._marks):
            times[mark.part, mark.is_backward] += milliseconds(mark.moment, after.moment)
        self._marks.clear()
        return times


def milliseconds(start: Moment, end: Moment) -> float:
    """Between two marks."""
    if isinstance(start, float) and isinstance(end, float):
        return 1e3 * (end - start)
    assert isinstance(start, torch.cuda.Event) and isinstance(end, torch.cuda.Event)
    elapsed: float = start.elapsed_time(end)
    return elapsed


def tensors_in(result: object) -> Iterator[Tensor]:
    """All tensors of a result."""
    if isinstance(result, Tensor):
        yield result
    elif isinstance(result, tuple):
        for part in result:
            yield from tensors_in(part)


class TimedStep(CudaGraphStep):
    """A step with marks between its parts."""

    def __init__(self, model: StepModel) -> None:
        super().__init__(model)
        self.clock = Clock(self._device)
        if self._on_gpu:
            self._compile()
        for name, part in METHODS.items():
            setattr(self, name, self.clock.timed(part, getattr(self, name)))

    def _prepare_graph(self) -> None:
        """Run eagerly: a graph has no marks."""

    def __call__(self, batch: TrainingBatch, rate: float) -> Tensor:
        """A step, from its first mark to its last."""
        self.clock.mark(REST)
        values = super().__call__(batch, rate)
        self.clock.mark(REST)
        return values


def part_times(step: TimedStep, batches: Sequence[TrainingBatch], rate: float) -> list[PartTime]:
    """The mean of a step on each batch, after warming up."""
    totals: dict[tuple[str, bool], float] = defaultdict(float)
    with ExitStack() as marked:
        for name, part in FUNCTIONS.items():
            work = step.clock.timed(part, getattr(cuda_graph_step, name))
            marked.enter_context(patch.object(cuda_graph_step, name, work))
        for batch in batches[:WARM_UP]:
            step(batch, rate)
        step.clock.read()
        for batch in batches:
            if batch.x.is_cuda:
                torch.cuda._sleep(HEAD_START)  # type: ignore[no-untyped-call]
            step(batch, rate)
            for key, taken in step.clock.read().items():
                totals[key] += taken / len(batches)
    parts = dict.fromkeys(part for part, _ in totals)
    return [PartTime(part, totals[part, False], totals[part, True]) for part in parts]


def print_parts(times: Iterable[PartTime]) -> None:
    """A line for each part, and one for all."""
    times = sorted(times, key=lambda row: -row.both)
    total = PartTime("all", sum(t.forward for t in times), sum(t.backward for t in times))
    print("ms a step          forward   backward      both     share")
    for row in (*times, total):
        print(
            f"{row.part:16}{row.forward:10.3f}{row.backward:11.3f}{row.both:10.3f}"
            f"{row.both / total.both:9.1%}",
            flush=True,
        )
