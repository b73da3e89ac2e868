"""Finds and loads libsptile-tools, which converts matrices. It is loaded by its first call: products do not need it."""

from __future__ import annotations

import ctypes
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator
from ctypes import POINTER, c_int32, c_void_p
from typing import Any

from . import _library as c
from ._core_tools import *  # noqa: F403
from ._core_tools import SIGNATURES, Loss, Options, Progress, Quality, Report
from .errors import error_of

_NAME = "libsptile-tools.so.0"
ABI_VERSION = 1


@functools.cache
def library() -> ctypes.CDLL:
    """Returns the library. Raises ImportError with the paths that were searched."""
    found = c.load(_NAME, "SPTILE_TOOLS_LIBRARY")
    c.declare(found, SIGNATURES)
    version = found.sptile_tools_abi_version()
    if version != ABI_VERSION:
        raise ImportError(f"{found._name} has interface version {version}, this package needs {ABI_VERSION}")
    return found


Call = Callable[[], int]


def _outcome(call: Call) -> tuple[int, str]:
    """Status and message, which is that of the thread."""
    status = call()
    return status, "" if status == c.STATUS_OK else library().sptile_tools_last_error().decode("utf-8", "replace")


def _until_interrupted(options: Options, call: Call) -> tuple[int, str]:
    """Makes the call in a separate thread, so that Ctrl-C reaches this one. Ctrl-C cancels the call, which then
    writes no file, and the exception propagates."""
    cancelled, done = threading.Event(), threading.Event()
    options.progress = Progress(lambda *_: cancelled.is_set())
    outcome: list[tuple[int, str]] = []

    def work() -> None:
        outcome.append(_outcome(call))
        done.set()

    thread = threading.Thread(target=work, name="sptile")
    interrupt: BaseException | None = None
    try:
        thread.start()
    except BaseException as error:
        if thread not in threading.enumerate():  # the system refuses another thread
            raise
        interrupt = error
    while not done.is_set():  # not join, which takes a thread for dead when it is interrupted
        try:
            if interrupt is not None:
                cancelled.set()
            done.wait()
        except BaseException as error:  # KeyboardInterrupt, or whatever a signal handler raises
            interrupt = error
    if interrupt is not None:
        raise interrupt
    return outcome[0]


def run(options: Options, call: Call) -> None:
    """Calls a function of the library that accepts `options`, and raises the error that it reports. Signals reach
    only the main thread."""
    library()  # ImportError comes from here
    main = threading.current_thread() is threading.main_thread()
    status, message = _until_interrupted(options, call) if main else _outcome(call)
    if status != c.STATUS_OK:
        raise error_of(status, message)


class Matrix:
    """A matrix of the library: CSR in host memory."""

    def __init__(self, options: Options, make: Callable[[Any], int]) -> None:
        """`make` gives the status of the call that makes the handle to which it gets a reference."""
        handle = c_void_p()
        run(options, lambda: make(ctypes.byref(handle)))
        self.handle = handle
        weakref.finalize(self, library().sptile_tools_matrix_destroy, handle)

    @classmethod
    def read(cls, path: bytes, options: Options) -> Matrix:
        return cls(options, lambda out: library().sptile_tools_read(path, ctypes.byref(options), out))

    @classmethod
    def copy(cls, arrays: c.Arrays, options: Options) -> Matrix:
        """The arrays must stay until this returns."""
        return cls(
            options, lambda out: library().sptile_tools_copy(ctypes.byref(arrays), ctypes.byref(options), out)
        )

    def arrays(self) -> c.Arrays:
        """Borrowed: row pointers int64, columns int32."""
        described = c.Arrays()
        status, message = _outcome(lambda: library().sptile_tools_arrays(self.handle, ctypes.byref(described)))
        if status != c.STATUS_OK:
            raise error_of(status, message)
        return described

    def losses(self) -> Loss:
        """Values that the type of the matrix cannot hold."""
        loss = Loss()
        status, message = _outcome(lambda: library().sptile_tools_losses(self.handle, ctypes.byref(loss)))
        if status != c.STATUS_OK:
            raise error_of(status, message)
        return loss

    def notes(self) -> Iterator[tuple[str, bool]]:
        """Returns the notes of reading the file, and whether the result is inexact."""
        is_warning = c_int32()
        for number in itertools.count():
            text = library().sptile_tools_note(self.handle, number, ctypes.byref(is_warning))
            if text is None:
                return
            yield text.decode("utf-8", "replace"), bool(is_warning.value)

    def convert(self, path: bytes | None, fd: int, options: Options) -> Report:
        report = Report()
        run(
            options,
            lambda: library().sptile_tools_convert(
                self.handle, path, fd, ctypes.byref(options), ctypes.byref(report)
            ),
        )
        return report

    def reorder(self, new_to_old: int, options: Options) -> tuple[Quality, Quality]:
        """Writes int32 ids, one per row, to the address; the qualities before and after."""
        before, after = Quality(), Quality()
        place = ctypes.cast(new_to_old, POINTER(c_int32))
        run(
            options,
            lambda: library().sptile_tools_reorder(
                self.handle, ctypes.byref(options), place, ctypes.byref(before), ctypes.byref(after)
            ),
        )
        return before, after
