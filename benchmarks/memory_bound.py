"""A limit on the memory of a process, page cache included, by a control group (cgroup).

``ulimit`` does not suffice: it limits the address space, which a memory-mapped corpus fills, or
leaves out the page cache. A cgroup limits both. It is created below that of this process: by
systemd where it runs for this user, or else in ``/sys/fs/cgroup``, which needs root.
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
    """The command prefix that starts a process within the limit, and its cgroup."""

    prefix: Sequence[str]
    group: Path | None = None


@contextmanager
def memory_bound(megabytes: int) -> Iterator[Bound | None]:
    """A limit of so many megabytes, or None where cgroups cannot be used."""
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
    """The cgroup of this process: in the memory hierarchy (v1), or the unified one (v2)."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    memory_paths = [path for _, kinds, path in lines if "memory" in kinds.split(",")]
    if memory_paths:
        return _ROOT / "memory" / memory_paths[0].lstrip("/")
    return _ROOT / next(path for _, kinds, path in lines if not kinds).lstrip("/")


def peak_mb(bound: Bound) -> float | None:
    """The peak memory use, where the cgroup reports it."""
    for name in ("memory.peak", "memory.max_usage_in_bytes"):
        if bound.group is not None and (bound.group / name).exists():
            return int((bound.group / name).read_text()) / 1e6
    return None
