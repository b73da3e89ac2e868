"""Refuses arrays that do not fit in memory before they are allocated."""

from __future__ import annotations

import resource
from pathlib import Path

import torch

from ..errors import IoError

_LARGE = 1 << 27
"""Smaller arrays are allocated without a look at the system."""


def _number(path: str, key: str | None = None) -> int | None:
    """The first number of a file, or of its line that starts with `key`; None where there is none."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    words = next((line.removeprefix(key or "").split() for line in lines if line.startswith(key or "")), [])
    return int(words[0]) if words and words[0].isdigit() else None


def available_memory() -> int | None:
    """Bytes of host memory that can be filled: what the machine, the control group and the limit of the address space
    (ulimit -v) leave; None where the system does not say."""
    found: list[int] = []
    machine = _number("/proc/meminfo", "MemAvailable:")
    if machine is not None:
        found.append(machine << 10)
    group, used = _number("/sys/fs/cgroup/memory.max"), _number("/sys/fs/cgroup/memory.current")
    if group is not None and used is not None:
        found.append(group - used)
    limit, pages = resource.getrlimit(resource.RLIMIT_AS)[0], _number("/proc/self/statm")
    if limit != resource.RLIM_INFINITY and pages is not None:
        found.append(limit - pages * resource.getpagesize())
    return max(0, min(found)) if found else None


def check_memory(what: str, needed: int, device: torch.device) -> None:
    """IoError "WHAT need N bytes of memory; M are available" where they do not fit on the device."""
    if needed < _LARGE:
        return
    if device.type == "cuda":
        reserved = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        available: int | None = torch.cuda.mem_get_info(device)[0] + reserved
    else:
        available = available_memory()
    if available is not None and needed > available:
        raise IoError(f"{what} need {needed} bytes of memory; {available} are available")
