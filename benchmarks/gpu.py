"""The GPU that a benchmark runs on, where there is one: its name, clock and memory."""

import gc
import time
from collections.abc import Callable

import torch
from torch._dynamo import config as compiler

import machine


def describe(device: torch.device) -> str:
    """Its name, versions, and the rest of the machine, in a line."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "no GPU"
    return f"{name}, torch {torch.__version__}, {machine.describe()}"


def wait(device: torch.device) -> None:
    """Synchronise."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """The time of some work, from an idle device to an idle device."""
    wait(device)
    start = time.perf_counter()
    work()
    wait(device)
    return time.perf_counter() - start


def clear(device: torch.device) -> None:
    """Free the memory of earlier runs, and reset the peak."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_gb(device: torch.device) -> float | None:
    """The peak of allocated memory since `clear`; None without a GPU."""
    return torch.cuda.max_memory_allocated(device) / 1e9 if device.type == "cuda" else None


def compile_all_sizes() -> None:
    """Let a function be compiled for more sizes than eight, after which torch would run it eagerly.

    A function is compiled once for each size in a process.
    """
    compiler.recompile_limit = compiler.accumulated_recompile_limit
