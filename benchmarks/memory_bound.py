"""A bound on the memory of a process, the pages of files that it reads among it.

Limits of a process (``ulimit``) do not do: they count addresses, of which a mapped corpus takes as
many as it is long, or leave out the pages that the kernel keeps of files. A control group counts
and bounds both. One is made beneath that of this process: by systemd where it runs for this user,
or else in the kernel's own folder, which takes root.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_ROOT = Path("/sys/fs/cgroup")


class Bound(NamedTuple):
    """How to start a process that is bounded, and where its use of memory is told."""

    prefix: Sequence[str]
    group: Path | None = None


@contextmanager
def memory_bound(megabytes: int) -> Iterator[Bound | None]:
    """Of so many, or None where none can be had."""
    scope = ["systemd-run", "--user", "--scope", "--quiet", f"--property=MemoryMax={megabytes}M"]
    scope.append("--property=MemorySwapMax=0")
    if (
        shutil.which("systemd-run")
        and not subprocess.run([*scope, "true"], capture_output=True, check=False).returncode
    ):
        yield Bound(scope)
        return
    group = _own_group() / f"pair2vec-{os.getpid()}"
    try:
        group.mkdir()
        limits = ["memory.max", "memory.limit_in_bytes"]
        (limit,) = [group / name for name in limits if (group / name).exists()]
        limit.write_text(f"{megabytes * 1_000_000}")
    except (OSError, ValueError):
        with suppress(OSError):
            group.rmdir()
        yield None
        return
    enter = f'echo $$ > "{group}/cgroup.procs" && exec "$@"'
    try:
        yield Bound(["sh", "-c", enter, "sh"], group)
    finally:
        group.rmdir()


def _own_group() -> Path:
    """Of this process, where memory is bounded: of its own hierarchy, or of the only one."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    of_memory = [path for _, kinds, path in lines if "memory" in kinds.split(",")]
    if of_memory:
        return _ROOT / "memory" / of_memory[0].lstrip("/")
    return _ROOT / next(path for _, kinds, path in lines if not kinds).lstrip("/")


def peak_mb(bound: Bound) -> float | None:
    """The most memory that was in use, where it is told."""
    for name in ("memory.peak", "memory.max_usage_in_bytes"):
        if bound.group is not None and (bound.group / name).exists():
            return int((bound.group / name).read_text()) / 1e6
    return None
