"""The step of several ranks on a GPU, as far as one GPU can show it.

    PYTHONPATH=src python3 benchmarks/train_ranks_gpu.py [--batch N] [--words N] [--steps N]
        [--device cuda]

Recipe `fast` on random ids, as in part 1 of `train_gpu.py`.

1. One rank that all-reduces its gradients with nobody, over NCCL: what it costs to capture a step
   as two graphs with an all-reduce between them, and that the losses are those of one graph. With
   one rank NCCL sends nothing: what sending costs depends on the wires between GPUs.
2. Two ranks that share the GPU, each with half of a batch. NCCL wants a GPU for each rank, so they
   all-reduce over gloo, through the host's memory: that they hold the same weights, to the bit, and
   no figure of speed.

On `--device cpu` all of it runs over gloo, for a test of the program.
"""

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import torch
import torch.distributed as dist

import gpu
from pair2vec.training.cuda_graph_step import CudaGraphStep, DistributedCudaGraphStep
from pair2vec.training.distributed import TorchProcessGroup
from pair2vec.training.network import TrainingBatch
from pair2vec.training.steps import Step, StepModel
from random_batches import random_batches
from ranks import in_ranks
from train_gpu import BATCHES, RATE, RECIPE, StepKind, measure, step_model

SECONDS = 60.0
"""That ranks wait for each other, at most."""


class Task(NamedTuple):
    """What to run."""

    words: int
    batch: int
    steps: int
    device: str


class Outcome(NamedTuple):
    """Of one rank."""

    first: float
    """The loss of the first step."""
    last: float
    weights: str
    """A fingerprint of them."""


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=32_768, help="of all ranks together")
    parser.add_argument("--words", type=int, default=100_000, help="in the vocabulary")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    task = Task(arguments.words, arguments.batch, arguments.steps, arguments.device)
    print(
        f"{gpu.describe(torch.device(task.device))}; {task.words:,} words, batch {task.batch:,}\n"
    )
    in_ranks(print_one_rank, task, 1)
    print_two_ranks(task, in_ranks(train, task, 2))


def print_one_rank(task: Task) -> None:
    """The first part."""
    over = "nccl" if task.device == "cuda" else "gloo"
    print(f"One rank, over {over}   thousand triples/s   ms a step   loss, first and last step")
    with joined(over) as ranks:
        print_steps(task, "one graph", CudaGraphStep)
        print_steps(task, "two graphs", partial(DistributedCudaGraphStep, ranks=ranks))


def print_steps(task: Task, name: str, kind: StepKind) -> None:
    """A line."""
    device = torch.device(task.device)
    batches = random_batches(task.words, task.batch, RECIPE.negatives, BATCHES, device)

    def make_step(model: StepModel) -> Step:
        return kind(for_batch(model, task.batch))

    speed = measure(make_step, task.words, batches, task.steps).speed
    torch.manual_seed(0)
    step_losses = losses(make_step(step_model(task.words, device)), batches, task.steps)
    print(
        f"{name:20}{speed / 1e3:21,.1f}{1e3 * task.batch / speed:12.2f}"
        f"{step_losses[0]:14.6f}{step_losses[-1]:12.6f}",
        flush=True,
    )


def train(task: Task) -> Outcome:
    """The second part, on one of the ranks."""
    device = torch.device(task.device)
    torch.manual_seed(0)
    model = for_batch(step_model(task.words, device), task.batch)
    with joined("gloo") as ranks:
        size, seed = task.batch // ranks.world_size, ranks.rank
        batches = random_batches(task.words, size, RECIPE.negatives, BATCHES, device, seed)
        step_losses = losses(DistributedCudaGraphStep(model, ranks), batches, task.steps)
    digest = hashlib.sha256()
    for tensor in model.network.state_dict().values():
        digest.update(tensor.cpu().numpy().tobytes())
    return Outcome(step_losses[0], step_losses[-1], digest.hexdigest()[:16])


def print_two_ranks(task: Task, outcomes: Sequence[Outcome]) -> None:
    """A line for each."""
    print(f"\nTwo ranks, {task.steps} steps   loss, first and last step   weights")
    for rank, (first, last, weights) in enumerate(outcomes):
        print(f"rank {rank}{first:27.6f}{last:12.6f}     {weights}")
    is_same = len({outcome.weights for outcome in outcomes}) == 1
    print(f"Their weights are {'equal, to the bit' if is_same else 'NOT EQUAL'}.")


def for_batch(model: StepModel, batch: int) -> StepModel:
    """The same, for batches of so many triples over all ranks."""
    return model._replace(config=replace(model.config, batch=batch))


def losses(step: Step, batches: Sequence[TrainingBatch], steps: int) -> list[float]:
    """The sum of the losses of each step."""
    rate = 100 * RATE
    sums = [step(batches[n % len(batches)], rate)[:-2].sum() for n in range(steps)]
    return [float(loss) for loss in sums]


@contextmanager
def joined(over: str) -> Iterator[TorchProcessGroup]:
    """This process among the others, on one machine; GPUs talk over `over`."""
    gpu.compile_all_sizes()
    limit = timedelta(seconds=SECONDS)
    dist.init_process_group("gloo", timeout=limit)
    rank, count = dist.get_rank(), dist.get_world_size()
    yield TorchProcessGroup(rank, count, rank, SECONDS, dist.new_group(backend=over, timeout=limit))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
