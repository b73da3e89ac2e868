"""Calls with arguments that do not fit, in a process of their own, on memory with pages around it that nobody may
touch: an access out of bounds ends that process, which is one failed test."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sptile

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


def other_shapes(shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
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


# Errors of sptile, and those of the dispatcher of torch and of Python for arguments of a wrong kind.
REFUSALS = (sptile.Error, RuntimeError, NotImplementedError, TypeError, ValueError, OverflowError)


class Log:
    """Calls of a child process: what it tries at the moment, for the parent, and what went wrong."""

    def __init__(self) -> None:
        self.descriptor, self.calls = int(sys.argv[1]), 0
        self.wrong: list[str] = []

    def attempt(self, name: str, call: Callable[[], Any]) -> tuple[Any, Exception | None]:
        """The result of a call, or its error."""
        self.calls += 1
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, name.encode(), 0)
        try:
            return call(), None
        except Exception as error:
            if not isinstance(error, REFUSALS):
                self.wrong.append(f"{name}: {type(error).__name__}: {error}")
            return None, error

    def expect(self, name: str, call: Callable[[], Any], fits: bool, foreign: bool = False) -> None:
        """A call that fits must be accepted, any other refused: by an error of sptile, or `foreign`, by any."""
        _found, error = self.attempt(name, call)
        if fits != (error is None):
            self.wrong.append(f"{name}: {'accepted' if error is None else f'refused: {error}'}")
        elif error is not None and not foreign and not isinstance(error, sptile.Error):
            self.wrong.append(f"{name}: {type(error).__name__} is not an error of sptile: {error}")

    def end(self) -> None:
        """Prints the number of calls and what was wrong; exits with 1 where anything was."""
        print(f"{self.calls} calls")
        print("\n".join(self.wrong[:40]))
        sys.exit(1 if self.wrong else 0)


def run_child(script: str) -> int:
    """Runs a script of this folder under -O, where an assert checks nothing, and returns the number of its calls."""
    with tempfile.TemporaryFile() as at:
        child = subprocess.run(
            [sys.executable, "-O", "-W", "ignore", script, str(at.fileno())],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=300,
            pass_fds=[at.fileno()],
            check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        at.seek(0)
        last = at.read().decode()
    assert child.returncode == 0, f"{last!r} was the last call\n{child.stdout}{child.stderr[-3000:]}"
    return int(child.stdout.split()[0])
