"""The machine that a benchmark runs on: its name and a process's memory."""

import datetime
import os
import platform
import resource
from pathlib import Path

import numpy as np


def describe() -> str:
    """Date, processor, cores and versions, in a line."""
    return (
        f"{datetime.date.today()}, {processor()}, {len(os.sched_getaffinity(0))} cores, "
        f"Python {platform.python_version()}, numpy {np.__version__}"
    )


def processor() -> str:
    """The CPU's name."""
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if "model name" in line]
    return names[0].partition(":")[2].strip() if names else platform.processor()


def resident_mb(process: str = "self") -> float:
    """The memory of a process, 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return pages * resource.getpagesize() / 1e6
