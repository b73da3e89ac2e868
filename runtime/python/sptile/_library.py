"""Finds and loads libsptile. `c.lib` is the library, with the constants and structs of `_core`; `check` turns a
status into an exception.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._core import *  # noqa: F403
from ._core import SIGNATURES, STATUS_OK, Attribute
from .errors import error_of

_NAME = "libsptile.so.0"
ABI_VERSION = 3


def candidates(name: str, variable: str) -> Iterator[str]:
    """Yields paths of the shared library `name`, best first: the environment variable alone if it is set; the
    folders in which wheels put libraries (next to the package: meson-python, auditwheel); the loader's path."""
    override = os.environ.get(variable)
    if override:
        yield override
        return
    beside = Path(__file__).resolve().parent.parent
    stem = name.split(".so")[0]
    for pattern in (f".sptile.mesonpy.libs/{stem}.so*", f"sptile.libs/{stem}-[0-9a-f]*.so*"):
        yield from (str(path) for path in sorted(beside.glob(pattern)))
    yield name


def load(name: str, variable: str) -> ctypes.CDLL:
    """Loads a shared library of sptile. Raises ImportError with the paths that were tried."""
    tried = []
    for path in candidates(name, variable):
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path}: {error}")
    raise ImportError(f"{name} was not found; set {variable} to its path. Tried: " + "; ".join(tried))


def declare(library: ctypes.CDLL, signatures: dict[str, tuple[Any, list[Any]]]) -> None:
    """Sets result and argument types; ImportError for a library that lacks a function."""
    for name, (result, arguments) in signatures.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{library._name} has no {name}; it is older than this package") from None
        function.restype = result
        function.argtypes = arguments


def _load_sptile() -> ctypes.CDLL:
    library = load(_NAME, "SPTILE_LIBRARY")
    declare(library, SIGNATURES)
    version = library.sptile_abi_version()
    if version != ABI_VERSION:
        raise ImportError(
            f"{library._name} has interface version {version}, this package needs {ABI_VERSION}"
        )
    return library


lib = _load_sptile()


def last_error() -> str:
    """Message of the last call on this thread that failed; "" before the first."""
    text: bytes = lib.sptile_last_error()
    return text.decode("utf-8", "replace")


def check(status: int) -> None:
    """Raises the error of a status that is not STATUS_OK, with the library's message."""
    if status != STATUS_OK:
        raise error_of(status, last_error())


def set_attributes(struct: Any, values: dict[str, float]) -> None:
    """Sets the attributes of the options of a plan or of the operands of a run, which keep the array and the names."""
    struct.attributes = (Attribute * len(values))(*[Attribute(name.encode(), value) for name, value in values.items()])
    struct.attribute_count = len(values)
