"""The BiLSTM's Triton kernels against the plain module: errors and speed.

    PYTHONPATH=src python3 benchmarks/lstm_kernels.py [--contexts N] [--blocks FORWARD BACKWARD]

Needs a Hopper GPU and triton. Contexts are drawn by Zipf's law. First the kernels, in bfloat16,
against the context encoder in float32 on the same numbers: states, and the gradients of W_ih·E_c
and of W_hh. Then the time of the plain module under autocast, of torch.nn.LSTM (cuDNN) in bfloat16
and of the kernels. Plain and kernels include the gather of the words' rows and the scatter-add of
their gradient; cuDNN starts from gathered word vectors, and its time has the product with W_ih
instead.

The exit code is 1 if an error passes TOLERANCE.

Shapes: N words, B contexts, L context length, D dimension, H hidden size a direction.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

import machine
from pair2vec.encoders.context import ContextConfig, ContextEncoder
from pair2vec.kernels import lstm_triton as kernels
from pair2vec.kernels.lstm import bilstm_states, has_kernels
from pair2vec.kernels.rows import gather_rows

LENGTHS = range(4, 9)
WORDS = 40_000
"""Distinct words of a batch of 65 536 triples, about."""
CONTEXTS = 13_107
"""A fifth of such a batch: those of one length."""
TOLERANCE = 6e-3
"""Of ‖error‖ / ‖value‖: expected is half of it, from what is rounded to bfloat16."""
WARM_UP, REPEATS = 5, 20


class Task(NamedTuple):
    """Contexts of one length, and what all implementations need to encode them."""

    encoder: ContextEncoder
    """In float32, with weights that bfloat16 can hold."""
    part: Tensor
    """(N, 8H), likewise."""
    contexts: Tensor
    """(B, L)"""
    d_states: Tensor
    """(L, B, 2H)"""


class Implementation(NamedTuple):
    """A way to compute the states from the trained tensors."""

    states: Callable[[], Tensor]
    leaves: Sequence[Tensor]

    def gradients(self, d_states: Tensor) -> tuple[Tensor, ...]:
        """Forward and backward."""
        states = self.states()
        return torch.autograd.grad(states, self.leaves, d_states.to(states.dtype))


class Times(NamedTuple):
    """In milliseconds."""

    forward: float
    both: float
    """Forward and backward."""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contexts", type=int, default=CONTEXTS, help="of each length")
    blocks = [kernels.FORWARD_BLOCK, kernels.BACKWARD_BLOCK]
    parser.add_argument("--blocks", type=int, nargs=2, default=blocks, help="contexts a program")
    arguments = parser.parse_args()
    kernels.FORWARD_BLOCK, kernels.BACKWARD_BLOCK = arguments.blocks
    if not torch.cuda.is_available():
        sys.exit("no GPU here: the kernels can be neither checked nor measured")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {machine.describe()}")
    print(f"{arguments.contexts:,} contexts a length, {WORDS:,} words, blocks {arguments.blocks}")
    device = torch.device("cuda")
    tasks = [make_task(arguments.contexts, length, device) for length in LENGTHS]
    if not has_kernels(tasks[0].part.bfloat16(), tasks[0].encoder.state_weight.shape[1]):
        sys.exit("this is no Hopper GPU: the kernels would not run")
    worst = print_errors(tasks)
    print_times(tasks)
    if not worst <= TOLERANCE:  # so, because NaN is no success
        sys.exit(f"\nFAILED: a relative error of {worst:.1e}; at most {TOLERANCE:.0e} is tolerated")
    print(f"\nThe kernels equal the plain module: no relative error above {TOLERANCE:.0e}")


def make_task(count: int, length: int, device: torch.device) -> Task:
    """Random weights and words at the size of the paper; the words drawn by 1 / rank."""
    torch.manual_seed(length)
    encoder = ContextEncoder(ContextConfig()).to(device)
    encoder.state_weight.data = rounded(encoder.state_weight.data)
    part = rounded(torch.randn(WORDS, 2 * 4 * encoder.state_weight.shape[1], device=device))
    shares = 1 / torch.arange(1, WORDS + 1, device=device)
    contexts = shares.multinomial(count * length, replacement=True).view(count, length)
    width = encoder.attention.in_features
    return Task(encoder, part, contexts, rounded(torch.randn(length, count, width, device=device)))


def rounded(numbers: Tensor) -> Tensor:
    """To what bfloat16 can hold."""
    return numbers.bfloat16().float()


def plain(task: Task, dtype: torch.dtype) -> Implementation:
    """The module's own steps, in float32 or under autocast."""
    part = task.part.detach().to(dtype).requires_grad_()

    def states() -> Tensor:
        with torch.autocast(part.device.type, torch.bfloat16, enabled=dtype is torch.bfloat16):
            return task.encoder._states(gather_rows(part, task.contexts))

    return Implementation(states, [part, task.encoder.state_weight])


def triton(task: Task) -> Implementation:
    part, weight = task.part.bfloat16().requires_grad_(), task.encoder.state_weight
    lengths = torch.full_like(task.contexts[:, 0], task.contexts.shape[1])
    return Implementation(
        lambda: bilstm_states(part, task.contexts, lengths, weight), [part, weight]
    )


def cudnn(task: Task) -> Implementation:
    """The LSTM that torch takes from cuDNN."""
    length, count, width = task.d_states.shape
    size = task.encoder.value.out_features
    lstm = nn.LSTM(size, width // 2, bidirectional=True).to(task.part.device, torch.bfloat16)
    words = torch.randn(length, count, size, device=task.part.device, dtype=torch.bfloat16)
    words.requires_grad_()
    return Implementation(lambda: lstm(words)[0], [words, *lstm.parameters()])


def print_errors(tasks: Sequence[Task]) -> float:
    """Lines for each length; returns the kernels' largest relative error."""
    print(
        f"\nError against float32: largest, and relative (of the kernels, at most {TOLERANCE:.0e})"
    )
    print("L                    states       d W_ih·E_c           d W_hh")
    worst = []
    for task in tasks:
        expected = results(plain(task, torch.float32), task)
        for name, method in (("kernels", triton(task)), ("autocast", plain(task, torch.bfloat16))):
            errors = [error(*pair) for pair in zip(results(method, task), expected, strict=True)]
            columns = "".join(f"{most:9.1e} {share:7.1e}" for most, share in errors)
            print(f"{task.contexts.shape[1]}  {name:8}{columns}", flush=True)
            worst += [share for _, share in errors if name == "kernels"]
    return float(torch.tensor(worst).max())  # which keeps a NaN


def results(method: Implementation, task: Task) -> list[Tensor]:
    """States, and the gradients of the leaves."""
    return [method.states().detach(), *method.gradients(task.d_states)]


def error(actual: Tensor, expected: Tensor) -> tuple[float, float]:
    """The largest difference, and ‖difference‖ / ‖expected‖."""
    difference = actual.float() - expected
    return float(difference.abs().max()), float(difference.norm() / expected.norm())


def print_times(tasks: Sequence[Task]) -> None:
    """A line for each length, and their sum."""
    print("\nms forward, and forward and backward; × is how much faster the kernels are in both")
    print("L              plain            cuDNN          kernels    × plain  × cuDNN")
    rows = []
    for task in tasks:
        methods = (plain(task, torch.bfloat16), cudnn(task), triton(task))
        rows.append([times(method, task.d_states) for method in methods])
        print_row(str(task.contexts.shape[1]), rows[-1])
    columns = zip(*rows, strict=True)
    print_row("all", [Times(*map(sum, zip(*column, strict=True))) for column in columns])


def print_row(name: str, row: Sequence[Times]) -> None:
    """The times of plain, cuDNN and kernels, and the ratios."""
    columns = "".join(f"{ms.forward:8.3f} {ms.both:8.3f}" for ms in row)
    plain_ms, cudnn_ms, kernels_ms = (ms.both for ms in row)
    print(
        f"{name:3} {columns}{plain_ms / kernels_ms:11.1f}{cudnn_ms / kernels_ms:9.1f}", flush=True
    )


def times(method: Implementation, d_states: Tensor) -> Times:
    d_states = d_states.bfloat16()
    return Times(milliseconds(method.states), milliseconds(lambda: method.gradients(d_states)))


def milliseconds(work: Callable[[], object]) -> float:
    """The mean of a run, by the GPU's clock."""
    for _ in range(WARM_UP):
        work()
    start = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    end = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    start.record()
    for _ in range(REPEATS):
        work()
    end.record()
    torch.cuda.synchronize()
    elapsed: float = start.elapsed_time(end)
    return elapsed / REPEATS


if __name__ == "__main__":
    main()
