"""Sparse matrices on tensor cores: plan a product once, run it many times."""

from ._library import lib as _lib
from .errors import (
    BadInputError,
    CheckError,
    DeviceError,
    Error,
    InternalError,
    IoError,
    UnsupportedError,
    UsageError,
)

__version__: str = _lib.sptile_version().decode()

__all__ = [
    "BadInputError",
    "CheckError",
    "DeviceError",
    "Error",
    "InternalError",
    "IoError",
    "UnsupportedError",
    "UsageError",
]
