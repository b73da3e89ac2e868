"""Matrices: a bundle file, or CSR arrays of SciPy, CuPy or torch."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import byref, c_char_p, c_int, c_void_p
from typing import Any, NamedTuple, Protocol

import numpy as np

from . import _arrays
from . import _library as c
from ._arrays import View
from ._memory import tocsr
from ._options import PRECISIONS, name_of, plan_options
from ._plan import Plan
from .errors import BadInputError, UnsupportedError, UsageError

_LARGEST_ID = 2**31 - 1


class MatrixHandle(c_void_p):
    """Owns an sptile_matrix, and keeps what it borrows."""

    arrays: Any = None
    value_dtype: int
    source_count: int
    """Entries as they were given, which is how many new values there are."""

    def __del__(self, destroy: Any = c.lib.sptile_matrix_destroy) -> None:
        destroy(self)


class CsrArrays(NamedTuple):
    """Read-only views of the CSR arrays of a matrix: `indptr` (rows + 1, int64), `indices` (nnz, int32) and
    `values` (nnz; None for a pattern, where every entry is 1)."""

    indptr: Any
    indices: Any
    values: Any


class Prediction(NamedTuple):
    """One way to do a product. `kernel`: None where the device has none for the format; `microseconds`: None
    where there is no model of the kernel; `usable`: whether it has the types and the precision that are asked
    for; `chosen`: what a plan takes."""

    format: str
    kernel: str | None
    microseconds: float | None
    precision: str
    usable: bool
    chosen: bool


class Source(Protocol):
    """Where a matrix comes from."""

    @property
    def given(self) -> int | None:
        """Entries as they were given; None: those that the matrix has."""

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        """Makes the library's matrix; what it borrows is kept by the handle."""


class _File(NamedTuple):
    path: bytes
    copy: bool
    matrix: bytes | None = None
    given: None = None

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        options.copy = int(self.copy)
        options.matrix = self.matrix
        c.check(c.lib.sptile_matrix_open(self.path, byref(options), byref(handle)))


class MemoryFile:
    """A bundle file in memory, without a name: `fd` is closed with the last bundle of it."""

    given = None

    def __init__(self) -> None:
        self.fd = os.memfd_create("sptile")

    def __del__(self, close: Any = os.close) -> None:
        if hasattr(self, "fd"):
            close(self.fd)

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        c.check(c.lib.sptile_matrix_open(b"/proc/self/fd/%d" % self.fd, byref(options), byref(handle)))


class CsrMemory(NamedTuple):
    """CSR arrays. `kept` owns them; `name` is for people."""

    arrays: c.Arrays
    stream: int | None
    kept: Any
    name: str

    @property
    def given(self) -> int:
        return int(self.arrays.nnz)

    @property
    def device(self) -> str:
        return _arrays.device_name(self.arrays.device, self.arrays.ordinal)

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        handle.arrays = self.kept
        c.check(c.lib.sptile_matrix_create(byref(self.arrays), byref(options), self.stream, byref(handle)))


class Bundle:
    """A sparse matrix with its formats: a bundle file (`sptile.open`), or CSR arrays in memory (`Bundle.of`),
    which are borrowed: they must not change while the bundle or a plan of it is used.

    Attributes: `shape`, `nnz`; `dtype` of the values, a NumPy type, None for a pattern; `formats`, those that
    are stored; `symmetric`, True, False or None where nobody looked; `device`, "cpu" or "cuda:0".
    Plans stay valid when the bundle is closed.
    """

    def __init__(self, source: Source, name: str, device: str = "cpu") -> None:
        self._source = source
        self._name = name
        self.device = device
        self._handles: dict[bool, MatrixHandle] | None = {}
        handle = self._handle(False)
        info = _describe(handle)
        self.shape: tuple[int, int] = (info.rows, info.cols)
        self.nnz: int = info.nnz
        self._value_dtype = int(info.value_dtype)
        self.symmetric: bool | None = {1: True, 0: False}.get(info.symmetric)
        self.formats: tuple[str, ...] = tuple(_format_name(handle, i) for i in range(info.format_count))

    @classmethod
    def of(cls, A: Any, *, copy: bool = False) -> Bundle:
        """The bundle of a matrix: a Bundle itself, a path, a SciPy or CuPy sparse matrix, a torch sparse CSR
        tensor.

        Values are float32 or float64 (of torch float16 and bfloat16, too). Column ids of 32 bits and row
        pointers of 64 are borrowed, others are copied. Entries out of order are sorted and those of one place
        added up in a copy; A is never changed. copy: nothing is borrowed, A may change afterwards.
        BadInputError: arrays that are no CSR matrix.
        """
        if isinstance(A, Bundle):
            return A
        if isinstance(A, (str, os.PathLike)):
            return open(A, copy=copy)
        memory = csr_memory(A, copy)
        return Bundle(memory, memory.name, memory.device)

    @property
    def dtype(self) -> Any:
        return None if self._value_dtype == c.NONE else _arrays.numpy_dtype(self._value_dtype)

    def close(self) -> None:
        """Lets go of the matrix; plans and views of its arrays stay valid. Using it afterwards raises
        UsageError."""
        self._handles = None

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        formats = ", ".join(self.formats)
        return f"<sptile.Bundle {self.shape[0]}x{self.shape[1]} nnz={self.nnz} [{formats}] {self._name}>"

    def _handle(self, refreshable: bool) -> MatrixHandle:
        """The handle whose formats have values of their own, or the one whose have not; made when first asked
        for."""
        handles = self._handles
        if handles is None:
            raise UsageError("the bundle is closed")
        found = handles.get(refreshable)
        if found is not None:
            return found
        handle = MatrixHandle()
        self._source.make(c.MatrixOptions(refreshable=int(refreshable)), handle)
        info = _describe(handle)
        handle.value_dtype = int(info.value_dtype)
        given = self._source.given
        handle.source_count = int(info.nnz) if given is None else given
        return handles.setdefault(refreshable, handle)

    def csr(self) -> CsrArrays:
        """The CSR arrays in the original order of rows: views, no copies, that stay valid when the bundle is
        closed. They are checked in one pass (BadInputError). New values of `Plan.refresh` are not in them. Of
        a matrix in device memory they are objects with `__cuda_array_interface__`."""
        handle = self._handle(False)
        arrays = c.Arrays()
        c.check(c.lib.sptile_matrix_arrays(handle, byref(arrays)))
        values = None
        if arrays.value_dtype != c.NONE:
            values = _memory_view(handle, arrays, arrays.values, arrays.nnz, arrays.value_dtype)
        return CsrArrays(
            _memory_view(handle, arrays, arrays.row, arrays.rows + 1, arrays.row_dtype),
            _memory_view(handle, arrays, arrays.col, arrays.nnz, arrays.col_dtype),
            values,
        )

    def memory(self) -> CsrMemory:
        """The CSR arrays as they were given, or as the library has them."""
        handle = self._handle(False)
        if isinstance(self._source, CsrMemory):
            return self._source
        arrays = c.Arrays()
        c.check(c.lib.sptile_matrix_arrays(handle, byref(arrays)))
        return CsrMemory(arrays, None, handle, self._name)

    def tocsr(self) -> Any:
        """The matrix as a scipy.sparse.csr_array, with the type of its values (float32 ones for a pattern).
        Values and column ids are shared with the bundle where SciPy can, and then read-only."""
        from scipy.sparse import csr_array  # type: ignore[import-untyped, import-not-found, unused-ignore]

        if self.device != "cpu":
            raise UsageError(f"the matrix is on {self.device}; SciPy has matrices in host memory")
        indptr, indices, values = self.csr()
        if values is None:
            values = np.ones(self.nnz, np.float32)
        if self.nnz <= _LARGEST_ID:
            indptr = indptr.astype(np.int32)
        matrix = csr_array((values, indices, indptr), shape=self.shape)
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def plan(self, n: int, *, refreshable: bool = False, **options: Any) -> Plan:
        """Plans an operation for dense operands of at most n columns. Options, with their defaults:

        op="spmm": or sddmm, attention, softmax_rows, spmm_update, attention_gradient, attention_gradient_t,
            softmax_rows_gradient, update_gradient
        format="auto": a name, or several with commas to choose from; auto: all that are stored. On a CUDA
            device one that is not stored is made there.
        dtype=None: of the dense operands; None: that of the values, float32 for a pattern
        result=None: of the results, "float32" beside operands of 16 bits; None: dtype
        device=None: "cpu", "cuda", "cuda:1"; None: where the matrix is
        precision=None: the least exact products that will do, "fp32", "tf32", "fp16", "bf16", "fp64"; None:
            that of the kernel, which `Plan.precision` shows
        choice="predicted": how a format is chosen; "measured" runs those that are worth it
        nonfinite="fast": "strict" keeps NaN and infinity of B to the rows that reference them on CUDA, too
        transpose=False: with A^T in the place of A
        order="csr": of lists with a number for each entry; "packed": as the format stores them, which is
        faster refreshable=False: formats have values of their own, so that `Plan.refresh` works threads=0:
        all that there are; kernel=None: a name to force; replan=False: take no stored plan m=0, heads=1,
        activation=None (or "relu"), score="dot" ("cosine", "additive"),
            transposed_weights=False: of graph layers
        stream=None: on which arrays in device memory are converted

        UsageError: an option that does not fit, or a format that is not stored; UnsupportedError: this build
        or machine has no kernel; DeviceError: no device, no memory; BadInputError: the arrays are damaged.
        """
        handle = self._handle(bool(refreshable))
        operation, wanted = self._options(n, options)
        return Plan(handle, operation, wanted)

    def predict(self, n: int, **options: Any) -> list[Prediction]:
        """What each stored format would take: the list that `plan` with these options chooses from."""
        handle = self._handle(False)
        operation, wanted = self._options(n, options)
        count, capacity = c_int(0), 0
        while True:
            room = (c.Prediction * max(capacity, 1))()
            size = ctypes.sizeof(c.Prediction)
            c.check(
                c.lib.sptile_predict(handle, operation, byref(wanted), room, size, capacity, byref(count))
            )
            if count.value <= capacity:
                return [_prediction(one) for one in room[: count.value]]
            capacity = count.value

    def _options(self, n: int, options: dict[str, Any]) -> tuple[bytes, c.PlanOptions]:
        filled = dict(options)
        if filled.get("device") is None:
            filled["device"] = self.device
        if filled.get("dtype") is None:
            filled["dtype"] = _arrays.DTYPE_NAMES.get(self._value_dtype, "float32")
        return plan_options(n, **filled)


def open(path: str | os.PathLike[str], *, copy: bool = False, matrix: str | None = None) -> Bundle:
    """Opens a bundle, which `sptile convert` makes, by mapping it, at a cost that does not grow with it.

    copy: read it into memory instead, for folders that others can write.
    matrix: which one of a bundle that has several: "halo" of a part that `sptile partition` made.
    IoError: it cannot be read; BadInputError: it is no whole, unchanged bundle.
    """
    try:
        name = os.fsencode(path)
    except (TypeError, ValueError):
        raise UsageError(f"path = {path!r} is no path") from None
    if b"\0" in name:
        raise UsageError(f"path = {path!r} has a zero byte")
    wanted = None if matrix is None else matrix.encode()
    return Bundle(_File(name, bool(copy), wanted), os.fsdecode(name))


def _describe(handle: MatrixHandle) -> c.MatrixInfo:
    info = c.MatrixInfo()
    c.check(c.lib.sptile_matrix_describe(handle, byref(info)))
    return info


def _format_name(handle: MatrixHandle, index: int) -> str:
    name = c_char_p()
    c.check(c.lib.sptile_matrix_format(handle, index, byref(name)))
    return (name.value or b"").decode()


def _prediction(one: c.Prediction) -> Prediction:
    return Prediction(
        one.format.decode(),
        one.kernel.decode() if one.kernel else None,
        float(one.microseconds) if one.microseconds >= 0 else None,
        name_of(one.precision, PRECISIONS),
        bool(one.usable),
        bool(one.chosen),
    )


# ---- Arrays of the library for others ----

_TYPESTR = {c.I32: "<i4", c.I64: "<i8", c.F16: "<f2", c.BF16: "<u2", c.F32: "<f4", c.F64: "<f8"}


def _memory_view(handle: MatrixHandle, arrays: c.Arrays, pointer: int | None, count: int, dtype: int) -> Any:
    """A read-only view of an array of a matrix, which keeps the matrix."""
    typestr = _TYPESTR[dtype]
    if arrays.device == c.CUDA:
        return _arrays.DeviceMemory(handle, pointer or 0, count, typestr)
    view: np.ndarray[Any, Any]
    if count == 0:
        view = np.empty(0, typestr)
        view.flags.writeable = False
    else:
        view = np.asarray(_arrays.HostMemory(handle, pointer or 0, count, typestr))
    return view.view(_arrays.numpy_dtype(c.BF16)) if dtype == c.BF16 else view


# ---- Matrices of others ----


def csr_memory(A: Any, copy: bool = False) -> CsrMemory:
    """The arrays of a matrix of SciPy, CuPy or torch, as `Bundle.of` takes them."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(A, getattr(torch, "Tensor", ())):
        return _of_torch(A, torch, copy)
    if hasattr(A, "tocsr") and hasattr(A, "shape"):
        return _of_sparse(A, copy)
    raise UsageError(
        f"A is a {type(A).__name__}; pass a Bundle, a path, a SciPy or CuPy sparse matrix or a torch CSR tensor"
    )


def _of_sparse(A: Any, copy: bool) -> CsrMemory:
    """Of SciPy or CuPy: what has tocsr."""
    csr = tocsr(A)
    try:
        parts = [_arrays.view(csr.indptr, "A.indptr"), _arrays.view(csr.indices, "A.indices")]
        parts.append(_arrays.view(csr.data, "A.data"))
    except AttributeError:
        raise UsageError(f"A.tocsr() is a {type(csr).__name__} without indptr, indices and data") from None
    return _of_arrays(csr.shape, parts, type(A).__name__, copy)


def _of_torch(A: Any, torch: Any, copy: bool) -> CsrMemory:
    if A.layout is not torch.sparse_csr or A.dim() != 2:
        raise UsageError(
            f"A is a {A.layout} tensor of {A.dim()} dimensions; pass one of torch.sparse_csr of 2"
        )
    A = A.detach()
    parts = [
        _arrays.view(A.crow_indices(), "A.crow_indices()"),
        _arrays.view(A.col_indices(), "A.col_indices()"),
        _arrays.view(A.values(), "A.values()"),
    ]
    return _of_arrays(tuple(A.shape), parts, "torch.Tensor", copy)


def _of_arrays(shape: tuple[int, ...], parts: list[View], name: str, copy: bool) -> CsrMemory:
    """Of row pointers, column ids and values, all on one device."""
    if len(shape) != 2:
        raise UsageError(f"A has {len(shape)} dimensions; it has rows and columns")
    rows, cols = int(shape[0]), int(shape[1])
    for part, what in zip(parts, ("row pointers", "column ids", "values"), strict=True):
        if len(part.shape) != 1:
            raise BadInputError(f"the {what} of A have shape {part.shape}; they are one list")
        if (part.device, part.ordinal) != (parts[0].device, parts[0].ordinal):
            raise UsageError(f"the {what} of A are on {part.device_name}, others on {parts[0].device_name}")
        if what != "values" and part.dtype not in (c.I32, c.I64):
            raise UsageError(f"the {what} of A are {part.dtype_name}; they are int32 or int64")
    if parts[2].dtype not in _arrays.DTYPE_NAMES:
        raise UnsupportedError(
            f"the values of A are {parts[2].dtype_name}; convert them to {', '.join(_arrays.DTYPE_CODES)}"
        )
    if parts[0].shape != (rows + 1,):
        raise BadInputError(
            f"A has {rows} rows and {parts[0].shape[0]} row pointers; it needs one more than rows"
        )
    if parts[1].shape[0] > parts[2].shape[0]:
        raise BadInputError(f"A has {parts[1].shape[0]} column ids and {parts[2].shape[0]} values")
    make = _host_memory if parts[0].device == c.CPU else _device_memory
    if copy:
        parts = [_arrays.view(part.framework.contiguous(part.owner), "A") for part in parts]
    return make(rows, cols, parts, name)


def _host_array(view: View) -> Any:
    """A view as a contiguous NumPy array."""
    array = view.owner
    if not isinstance(array, np.ndarray):
        if view.dtype == c.BF16:  # torch has no NumPy array of it
            array = array.contiguous().view(sys.modules["torch"].int16).numpy().view(np.uint16)
        else:
            array = np.asarray(array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.require(array, requirements=["C", "A"])


def _host_memory(rows: int, cols: int, parts: list[View], name: str) -> CsrMemory:
    indptr = np.require(_host_array(parts[0]), np.int64, ["C", "A"])
    nnz = int(indptr[-1])
    if not 0 <= nnz <= parts[1].shape[0]:
        raise BadInputError(f"the row pointers of A end with {nnz}; there are {parts[1].shape[0]} column ids")
    indices, values = _host_array(parts[1])[:nnz], _host_array(parts[2])[:nnz]
    if indices.dtype != np.int32:
        if nnz and (indices.min() < 0 or indices.max() > _LARGEST_ID):
            raise BadInputError(
                f"column ids of A go from {indices.min()} to {indices.max()}, of {cols} columns"
            )
        indices = indices.astype(np.int32)
    indptr, indices, values = _in_order(indptr, indices, values, parts[2].dtype == c.BF16)
    arrays = c.Arrays(
        rows=rows,
        cols=cols,
        nnz=len(indices),
        row=indptr.ctypes.data,
        col=indices.ctypes.data,
        values=values.ctypes.data,
        value_dtype=parts[2].dtype,
        device=c.CPU,
    )
    return CsrMemory(arrays, None, (indptr, indices, values), name)


def _in_order(indptr: Any, indices: Any, values: Any, is_bfloat16: bool) -> tuple[Any, Any, Any]:
    """Row after row with strictly ascending columns: as given if that is so, else sorted and added up in a
    copy. Damaged row pointers are left to the library, which names the place."""
    lengths = np.diff(indptr)
    if indptr[0] != 0 or (lengths < 0).any() or len(indices) < 2:
        return indptr, indices, values
    ascending = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    ascending[starts[(starts > 0) & (starts < len(indices))] - 1] = True  # a row begins there
    if ascending.all():
        return indptr, indices, values
    rows = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((indices, rows))
    rows, indices, values = rows[order], indices[order], values[order]
    first = np.concatenate([[True], (rows[1:] != rows[:-1]) | (indices[1:] != indices[:-1])])
    if not first.all():
        if is_bfloat16:
            raise UnsupportedError("A has several bfloat16 values in one place; add them up first")
        values = np.add.reduceat(values, np.flatnonzero(first))
        rows, indices = rows[first], indices[first]
    counts = np.bincount(rows, minlength=len(lengths))
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.ascontiguousarray(indices), values


def _device_memory(rows: int, cols: int, parts: list[View], name: str) -> CsrMemory:
    for part in parts:
        if part.strides != (1,) and part.shape[0] > 1:
            raise UsageError("the arrays of A in device memory have gaps between their elements")
    arrays = c.Arrays(
        rows=rows,
        cols=cols,
        nnz=parts[1].shape[0],
        row=parts[0].pointer,
        col=parts[1].pointer,
        values=parts[2].pointer,
        value_dtype=parts[2].dtype,
        layout=c.CSR,
        row_dtype=parts[0].dtype,
        col_dtype=parts[1].dtype,
        disorder=c.SUM,
        device=c.CUDA,
        ordinal=parts[0].ordinal,
    )
    stream = parts[0].framework.stream(parts[0].ordinal)
    return CsrMemory(arrays, stream, [part.owner for part in parts], name)
