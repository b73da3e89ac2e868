"""Finds and loads libsptile, and mirrors runtime/include/sptile.h: enums as ints, structs, signatures.

Names are those of the header without `SPTILE_` or `sptile_`; the header documents the fields. `lib` is the
library; `check` turns a status into an exception.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from .errors import InternalError, UsageError, error_of

_NAME = "libsptile.so.0"
ABI_VERSION = 3

# sptile_status
OK, USAGE, BAD_INPUT, UNSUPPORTED, IO, DEVICE, CHECK_FAILED, INTERNAL = 0, 2, 3, 4, 5, 6, 7, 70
# sptile_dtype
NONE, I32, I64, F16, BF16, F32, F64 = 0, 2, 4, 6, 7, 8, 9
# sptile_device
CPU, CUDA = 0, 1
# sptile_nonfinite
NONFINITE_FAST, NONFINITE_STRICT = 0, 1
# sptile_precision
PRECISION_DEFAULT, FP32, TF32, FP16, PRECISION_BF16, FP64 = 0, 1, 2, 3, 4, 5
# sptile_choice
CHOICE_PREDICTED, CHOICE_MEASURED = 0, 1
# sptile_order
ORDER_PACKED, ORDER_CSR = 0, 1
# sptile_activation
ACTIVATION_NONE, RELU = 0, 1
# sptile_score
SCORE_DOT, SCORE_COSINE, SCORE_ADDITIVE = 0, 1, 2
# sptile_layout
CSR, COO = 0, 1
# sptile_disorder
REFUSE, SORT, SUM = 0, 1, 2
# sptile_arrangement
BLOCK_DIAGONAL, STACKED = 0, 1

MAX_OPERANDS = 10


class Attribute(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class _Sized(ctypes.Structure):
    """A struct that begins with its size; `_defaults_` are fields whose default is not 0."""

    _defaults_: dict[str, Any] = {}

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(self), **{**self._defaults_, **fields})
        for name, value in fields.items():
            if isinstance(value, int) and (getattr(self, name) or 0) != value:
                raise UsageError(f"{name} = {value} does not fit in {type(self).__name__}.{name}")

    def set_attributes(self, **values: Any) -> None:
        """Sets `attributes` and `attribute_count`. The struct keeps the array and the names."""
        self.attributes = (Attribute * len(values))(*[(name.encode(), value) for name, value in values.items()])
        self.attribute_count = len(values)


class MatrixOptions(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("refreshable", c_int32),
        ("trusted", c_int32),
        ("copy", c_int32),
        ("reserved", c_int32),
        ("most_device_bytes", c_uint64),
        ("matrix", c_char_p),
    ]


class Arrays(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("cols", c_int64),
        ("nnz", c_int64),
        ("row", c_void_p),
        ("col", c_void_p),
        ("values", c_void_p),
        ("value_dtype", c_int32),
        ("layout", c_int32),
        ("row_dtype", c_int32),
        ("col_dtype", c_int32),
        ("disorder", c_int32),
        ("device", c_int32),
        ("ordinal", c_int32),
        ("reserved", c_int32),
    ]


class MatrixInfo(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("cols", c_int64),
        ("nnz", c_int64),
        ("value_dtype", c_int32),
        ("format_count", c_int32),
        ("symmetric", c_int32),
        ("transposed", c_int32),
        ("host_bytes", c_uint64),
        ("device_bytes", c_uint64),
        ("content", c_uint64),
    ]


class Given(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_int64),
        ("position", c_void_p),
        ("first", c_void_p),
        ("device", c_int32),
        ("ordinal", c_int32),
    ]


class Values(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("data", c_void_p),
        ("count", c_int64),
        ("order", c_void_p),
        ("value_dtype", c_int32),
        ("reserved", c_int32),
    ]


class PartInfo(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("id", c_uint64),
        ("rank", c_int64),
        ("parts", c_int64),
        ("rows", c_int64),
        ("entries", c_int64),
        ("owned", c_int64),
        ("needed", c_int64),
        ("old_ids", c_void_p),
        ("halo_ids", c_void_p),
        ("send_offset", c_void_p),
        ("receive_offset", c_void_p),
        ("send_rows", c_void_p),
        ("symmetric", c_int32),
        ("reserved", c_int32),
    ]


class PlanOptions(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("format", c_char_p),
        ("kernel", c_char_p),
        ("stream", c_void_p),
        ("attributes", POINTER(Attribute)),
        ("attribute_count", c_int32),
        ("transpose", c_int32),
        ("dense", c_int32),
        ("result", c_int32),
        ("device", c_int32),
        ("ordinal", c_int32),
        ("threads", c_int32),
        ("reserved", c_int32),
    ]


class PlanInfo(_Sized):
    _fields_ = [
        ("size", c_size_t),
        ("operation", c_char_p),
        ("format", c_char_p),
        ("kernel", c_char_p),
        ("rows", c_int64),
        ("cols", c_int64),
        ("entries", c_int64),
        ("n", c_int64),
        ("least_n", c_int64),
        ("workspace_bytes", c_uint64),
        ("dense", c_int32),
        ("result", c_int32),
        ("precision", c_int32),
        ("device", c_int32),
        ("ordinal", c_int32),
        ("order", c_int32),
        ("stored", c_int32),
        ("values", c_int32),
    ]


class Prediction(ctypes.Structure):
    _fields_ = [
        ("format", c_char_p),
        ("kernel", c_char_p),
        ("microseconds", c_double),
        ("precision", c_int32),
        ("usable", c_int32),
        ("chosen", c_int32),
        ("reserved", c_int32),
    ]


class Operand(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("ld", c_int64), ("batch", c_int64)]


class Operands(_Sized):
    _defaults_ = {"alpha": 1.0}
    _fields_ = [
        ("size", c_size_t),
        ("alpha", c_double),
        ("beta", c_double),
        ("n", c_int64),
        ("dense", Operand * MAX_OPERANDS),
        ("values", Operand),
        ("attributes", POINTER(Attribute)),
        ("attribute_count", c_int32),
        ("reserved", c_int32),
    ]


class Workspace(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_size_t)]


# Handles (sptile_matrix*, sptile_part*, sptile_plan*) are c_void_p; an int or None is taken, too.
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "sptile_abi_version": (c_int, []),
    "sptile_version": (c_char_p, []),
    "sptile_last_error": (c_char_p, []),
    "sptile_describe": (c_int, [POINTER(c_char_p)]),
    "sptile_matrix_open": (c_int, [c_char_p, POINTER(MatrixOptions), POINTER(c_void_p)]),
    "sptile_matrix_create": (c_int, [POINTER(Arrays), POINTER(MatrixOptions), c_void_p, POINTER(c_void_p)]),
    "sptile_matrix_create_batch": (
        c_int,
        [POINTER(Arrays), c_int64, c_int32, POINTER(MatrixOptions), c_void_p, POINTER(c_void_p)],
    ),
    "sptile_matrix_share": (c_int, [c_void_p, POINTER(MatrixOptions), POINTER(c_void_p)]),
    "sptile_matrix_given": (c_int, [c_void_p, POINTER(Given)]),
    "sptile_matrix_destroy": (None, [c_void_p]),
    "sptile_matrix_describe": (c_int, [c_void_p, POINTER(MatrixInfo)]),
    "sptile_matrix_format": (c_int, [c_void_p, c_int, POINTER(c_char_p)]),
    "sptile_matrix_arrays": (c_int, [c_void_p, POINTER(Arrays)]),
    "sptile_matrix_refresh": (c_int, [c_void_p, POINTER(Values), c_void_p]),
    "sptile_part_open": (c_int, [c_char_p, POINTER(MatrixOptions), POINTER(c_void_p)]),
    "sptile_part_matrix": (c_int, [c_void_p, c_char_p, POINTER(MatrixOptions), POINTER(c_void_p)]),
    "sptile_part_destroy": (None, [c_void_p]),
    "sptile_part_describe": (c_int, [c_void_p, POINTER(PartInfo)]),
    "sptile_plan_create": (c_int, [c_void_p, c_char_p, POINTER(PlanOptions), POINTER(c_void_p)]),
    "sptile_plan_destroy": (None, [c_void_p]),
    "sptile_plan_describe": (c_int, [c_void_p, POINTER(PlanInfo)]),
    "sptile_predict": (
        c_int,
        [c_void_p, c_char_p, POINTER(PlanOptions), POINTER(Prediction), c_size_t, c_int, POINTER(c_int)],
    ),
    "sptile_run": (c_int, [c_void_p, POINTER(Operands), c_void_p, POINTER(Workspace)]),
}


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
    """Loads a shared library of sptile; ImportError says what was tried."""
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
    declare(library, _SIGNATURES)
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
    """Raises the error of a status that is not OK, with the library's message."""
    if status != OK:
        raise error_of(status, last_error())


def handle_of(made: c_void_p) -> int:
    """The address of a handle that a call has made."""
    if made.value is None:
        raise InternalError("the library reported success without a handle")
    return made.value
