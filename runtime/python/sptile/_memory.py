"""Refuses arrays that do not fit in memory before they are allocated."""

from __future__ import annotations

import copy
from typing import Any

from .errors import BadInputError, IoError

_LARGE = 1 << 27
"""Smaller arrays are allocated without a look at the system."""


def _number(path: str, key: str = "") -> int | None:
    """Returns the first number in a file, or in its line that starts with `key`; None if there is none."""
    try:
        with open(path, encoding="ascii") as file:
            words = next((line.removeprefix(key).split() for line in file if line.startswith(key)), [])
    except OSError:
        return None
    return int(words[0]) if words and words[0].isdigit() else None


def available_memory() -> int | None:
    """Returns the bytes of host memory that can be allocated, limited by the machine, the control group and the
    address space (ulimit -v); None if unknown."""
    import resource

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


def check_memory(what: str, needed: int, available: int | None = None) -> None:
    """Raises IoError "WHAT need N bytes of memory; M are available" if the bytes do not fit; M defaults to the free
    memory of the host."""
    if needed < _LARGE:
        return
    if available is None:
        available = available_memory()
    if available is not None and needed > available:
        raise IoError(f"{what} need {needed} bytes of memory; {available} are available")


def _check_arrays(matrix: Any) -> None:
    """Refuses a SciPy matrix with invalid arrays, because SciPy's conversions index memory with them unchecked."""
    try:
        if hasattr(matrix, "check_format"):
            copy.copy(matrix).check_format(full_check=True)  # which may exchange arrays
        elif matrix.format == "coo":
            _check_coordinates(matrix)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise BadInputError(f"A is not a valid {matrix.format} matrix: {error}") from None


def _check_coordinates(matrix: Any) -> None:
    for ids, most, what in ((matrix.row, matrix.shape[0], "row"), (matrix.col, matrix.shape[1], "column")):
        if ids.shape != matrix.data.shape or ids.ndim != 1:
            raise ValueError(f"{what} ids have shape {ids.shape}, values have {matrix.data.shape}")
        if ids.size and not 0 <= ids.min() <= ids.max() < most:
            raise ValueError(f"{what} ids are from {ids.min()} to {ids.max()}, but A has {most} {what}s")


def tocsr(matrix: Any) -> Any:
    """Returns `matrix.tocsr()` of a SciPy or CuPy matrix. Raises IoError if the row pointers do not fit in memory,
    BadInputError if the arrays of a SciPy matrix are damaged."""
    if getattr(matrix, "format", "csr") == "csr" or not type(matrix).__module__.startswith("scipy."):
        return matrix.tocsr()
    _check_arrays(matrix)
    what, needed = f"the row pointers of {matrix.shape[0]} rows", 8 * (int(matrix.shape[0]) + 1)
    check_memory(what, needed)
    try:
        return matrix.tocsr()
    except MemoryError as error:
        raise IoError(f"{what} need {needed} bytes of memory: {error}") from None
