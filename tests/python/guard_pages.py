"""Memory with pages around it that nobody may touch: an access out of bounds ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_PROT_NONE = 0


def guarded(size: int, at_end: bool) -> memoryview:
    """`size` bytes that end right before such a page, or begin right behind one."""
    page = mmap.PAGESIZE
    pages = -(-max(size, 1) // page)
    memory = mmap.mmap(-1, (pages + 2) * page)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for guard in (begin, begin + (pages + 1) * page):
        if _libc.mprotect(guard, page, _PROT_NONE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    first = (pages + 1) * page - size if at_end else page
    return memoryview(memory)[first : first + size]


def spare(shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Shapes that differ from `shape` in one way each, by name: one less or one more in each dimension, one dimension
    less or more."""
    found: dict[str, tuple[int, ...]] = {"one dimension more": (*shape, 1), "one dimension more in front": (1, *shape)}
    if shape:
        found["one dimension less"] = shape[1:]
    for i, size in enumerate(shape):
        for change in (-1, 1):
            if size + change >= 0:
                found[f"{change:+d} in dimension {i}"] = (*shape[:i], size + change, *shape[i + 1 :])
    return found


def element_count(shape: tuple[Any, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
