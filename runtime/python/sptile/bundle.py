"""Matrices: a bundle file, or CSR arrays of SciPy, CuPy or torch."""

from __future__ import annotations

import copy as copying
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
from ._options import PRECISIONS, name_of, plan_options, text
from ._order import DeviceOrder, Order, sorted_entries
from ._plan import Plan
from .errors import BadInputError, InternalError, UnsupportedError, UsageError

_LARGEST_ID = 2**31 - 1


class MatrixHandle(c_void_p):
    """Owns an sptile_matrix, and keeps what it borrows. A copy is another matrix with the same values."""

    source: Source
    refreshable: bool
    value_dtype: int
    content: int
    """Of a file: `sptile_matrix_info.content`."""
    source_count: int
    """Entries as they were given, which is how many new values there are."""
    order: Order | None = None
    """Of the given entries, where it is not that of the CSR arrays."""
    refreshed: tuple[str, int] | None = None
    """Format and type of the values of the plan that last brought new ones."""
    given_values: Any = None
    """The last of them, in the order of the given entries, where these are repeated; False: not known."""

    def __del__(self, destroy: Any = c.lib.sptile_matrix_destroy) -> None:
        destroy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.source.device != "cpu":
            raise TypeError(
                f"a Bundle or Plan of a matrix on {self.source.device} is not copied or pickled: copy the matrix "
                "to host memory, or open it from a file"
            )
        return _made, (self.source, self.refreshable, self._fresh(), self.content)

    def __deepcopy__(self, memo: dict[int, Any]) -> MatrixHandle:
        if isinstance(self.source, (_File, MemoryFile)):  # which never change
            twin = shared(self, self.refreshable)
            _give_values(twin, self._fresh())
            return twin
        return _made(*copying.deepcopy(self.__reduce__()[1], memo))

    def _fresh(self) -> _Fresh | None:
        """The values of the last refresh, read from a product with ones."""
        return None if self.refreshed is None else _fresh_values(self, *self.refreshed)

    def given_doubles(self) -> Any:
        """Values of the given entries, some of which are repeated, in double."""
        if self.given_values is False and self.source.device == "cpu":
            raise UsageError(
                "the values of repeated entries are not known after a refresh with order='packed'; refresh with "
                "order='csr'"
            )
        known = self.given_values is not None and self.given_values is not False
        return self.given_values if known else self.source.given_doubles()

    def columns(self) -> Any:
        """Column of each entry of the CSR arrays."""
        if self.source.device != "cpu":
            raise UnsupportedError(
                "A has repeated entries in device memory, of which the transpose cannot tell how many there are; "
                "add them up first"
            )
        arrays = c.Arrays()
        c.check(c.lib.sptile_matrix_arrays(self, byref(arrays)))
        return _memory_view(self, arrays, arrays.col, arrays.nnz, arrays.col_dtype)


class _Fresh(NamedTuple):
    """New values: `packed` in the order of the CSR arrays; the rest as MatrixHandle has it."""

    packed: Any
    refreshed: tuple[str, int]
    given_values: Any


def _fresh_values(handle: MatrixHandle, format: str, dtype: int) -> _Fresh:
    """Reads the values of a format: they are its SDDMM with ones, scaled."""
    settings = {"op": "sddmm", "format": format, "dtype": _arrays.DTYPE_NAMES[dtype]}
    try:
        plan = Plan(handle, 1, settings)
    except UnsupportedError as error:
        raise TypeError(
            f"the Bundle or Plan has new values, which cannot be read for a copy ({error}): refresh the copy of "
            "one that has not"
        ) from None
    one, typestr = _ONES[dtype]
    counts = (*plan.shape, plan.nnz)
    arrays = [np.full(count, one, typestr) for count in counts]
    operands = c.Operands(scaled=1)
    for operand, array, count in zip(operands.dense, arrays, counts, strict=False):
        operand.data = _arrays.list_address(array, dtype, count, "ones")
    c.check(c.lib.sptile_run(plan._open_handle(), byref(operands), None, None))
    return _Fresh(arrays[-1], (format, dtype), handle.given_values)


_ONES: dict[int, tuple[float, str]] = {
    c.F16: (1.0, "<f2"),
    c.BF16: (0x3F80, "<u2"),
    c.F32: (1.0, "<f4"),
    c.F64: (1.0, "<f8"),
}
"""The number 1 of each type, and how NumPy stores it."""


def _made(
    source: Source, refreshable: bool, fresh: _Fresh | None = None, content: int = 0
) -> MatrixHandle:
    """A new matrix. content: what a file must still have; 0: anything."""
    handle = MatrixHandle()
    source.make(c.MatrixOptions(refreshable=int(refreshable)), handle)
    _describe_into(handle, source, refreshable)
    if content != 0 and handle.content != content:
        raise BadInputError(f"{source.name}: was replaced since its Bundle was pickled; open it again")
    _give_values(handle, fresh)
    return handle


def shared(handle: MatrixHandle, refreshable: bool) -> MatrixHandle:
    """Another matrix of the same data, without values of a refresh."""
    other = MatrixHandle()
    options = c.MatrixOptions(refreshable=int(refreshable))
    c.check(c.lib.sptile_matrix_share(handle, byref(options), byref(other)))
    _describe_into(other, handle.source, refreshable)
    return other


def _describe_into(handle: MatrixHandle, source: Source, refreshable: bool) -> None:
    info = _describe(handle)
    handle.source, handle.refreshable = source, refreshable
    handle.value_dtype, handle.content = int(info.value_dtype), int(info.content)
    handle.order = source.order if source.device == "cpu" else _device_order(handle)
    handle.source_count = int(info.nnz) if source.given is None else source.given


def _device_order(handle: MatrixHandle) -> Order | None:
    given = c.Given()
    c.check(c.lib.sptile_matrix_given(handle, byref(given)))
    if not given.position:
        return None
    position, first = given.position, given.first
    count, ordinal, entries = int(given.count), int(given.ordinal), int(_describe(handle).nnz)

    def fetch() -> tuple[Any, Any]:
        return (
            _arrays.fetch_list(position, count, ordinal),
            _arrays.fetch_list(first, entries + 1, ordinal) if first else None,
        )

    return DeviceOrder(count, fetch, bool(first))


def _give_values(handle: MatrixHandle, fresh: _Fresh | None) -> None:
    if fresh is None:
        return
    packed, dtype = fresh.packed, fresh.refreshed[1]
    address = _arrays.list_address(packed, dtype, len(packed), "the new values")
    values = c.Values(data=address, count=len(packed), value_dtype=dtype)
    c.check(c.lib.sptile_matrix_refresh(handle, byref(values), None))
    handle.refreshed, handle.given_values = fresh.refreshed, fresh.given_values


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
    def name(self) -> str:
        """For messages."""

    @property
    def device(self) -> str: ...

    @property
    def given(self) -> int | None:
        """Entries as they were given; None: those that the matrix has."""

    @property
    def order(self) -> Order | None:
        """Of entries in host memory, where it is not that of the CSR arrays."""

    @property
    def unordered(self) -> str:
        """Why lists of entries have no order; "" where they have one."""

    def given_doubles(self) -> Any:
        """Values of the given entries in double, where some are repeated."""

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        """Makes the library's matrix; what it borrows is kept by the handle."""


class _InOrder:
    """Of a file: its entries are sorted, each is there once. They have the order of a matrix that was converted."""

    device = "cpu"
    order: Order | None = None
    unordered = ""
    doubles: Any = None
    """Values of the given entries, where some are repeated."""

    @property
    def given(self) -> int | None:
        return None if self.order is None else self.order.given

    def given_doubles(self) -> Any:
        if self.doubles is None:
            raise InternalError("a file has no repeated entries")
        return self.doubles


class _File(_InOrder):
    """A file. It is opened once: all matrices of a bundle share what was opened. A pickle has its absolute path."""

    def __init__(self, path: bytes, copy: bool, matrix: bytes | None = None, part: Any = None) -> None:
        self.path, self.copy, self.matrix = _absolute(path), copy, matrix
        self._given_path = path
        self._part = part

    @property
    def name(self) -> str:
        return os.fsdecode(self.path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_given_path": self.path, "_part": None}

    def __deepcopy__(self, _: Any) -> _File:
        return self

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        if self._part is not None:
            c.check(c.lib.sptile_part_matrix(self._part, self.matrix, byref(options), byref(handle)))
            return
        options.copy = int(self.copy)
        options.matrix = self.matrix
        c.check(c.lib.sptile_matrix_open(self._given_path, byref(options), byref(handle)))


def _absolute(path: bytes) -> bytes:
    """The path from the root. Links stay as they are: what is behind `..` may not be what it looks like."""
    try:
        return path if os.path.isabs(path) else os.path.join(os.getcwdb(), path)
    except OSError:  # the current folder is gone
        return path


class MemoryFile(_InOrder):
    """A bundle file in memory, without a name: `fd` is closed with the last bundle of it."""

    name = "in memory"

    def __init__(self) -> None:
        self.fd = os.memfd_create("sptile")

    def __del__(self, close: Any = os.close) -> None:
        if hasattr(self, "fd"):
            close(self.fd)

    def __reduce__(self) -> tuple[Any, ...]:
        with os.fdopen(os.open(f"/proc/self/fd/{self.fd}", os.O_RDONLY | os.O_CLOEXEC), "rb") as file:
            kept = {name: value for name, value in self.__dict__.items() if name != "fd"}
            return _memory_file, (file.read(),), kept

    def __deepcopy__(self, _: Any) -> MemoryFile:
        return self

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        c.check(c.lib.sptile_matrix_open(b"/proc/self/fd/%d" % self.fd, byref(options), byref(handle)))


def _memory_file(content: bytes) -> MemoryFile:
    memory = MemoryFile()
    with os.fdopen(os.dup(memory.fd), "wb") as file:
        file.write(content)
    return memory


class CsrMemory(NamedTuple):
    """CSR arrays, or COO ones in device memory. `kept` owns them; `name` is for people; `values`: those of the
    given entries, where some in host memory are repeated. The rest as in Source."""

    arrays: c.Arrays
    stream: int | None
    kept: Any
    name: str
    order: Order | None = None
    unordered: str = ""
    values: Any = None

    @property
    def given(self) -> int:
        return int(self.arrays.nnz) if self.order is None else self.order.given

    @property
    def device(self) -> str:
        return _arrays.device_name(self.arrays.device, self.arrays.ordinal)

    def given_doubles(self) -> Any:
        if self.device != "cpu":
            raise UnsupportedError(
                "A has repeated entries in device memory, by whose values results are not multiplied there; "
                "multiply them yourself, or add the entries up first"
            )
        if self.values is not None:
            return _doubles(self.values)
        arrays = self.arrays
        if not arrays.values:
            return np.ones(self.given)
        values = _raw_view(self.kept, arrays.values, arrays.nnz, arrays.value_dtype)
        values = _doubles(values)
        return values if self.order is None else values[self.order.place]

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        c.check(c.lib.sptile_matrix_create(byref(self.arrays), byref(options), self.stream, byref(handle)))

    def __reduce__(self) -> tuple[Any, ...]:
        a, kept = self.arrays, self.kept
        if a.device != c.CPU:
            raise TypeError("a Bundle of a matrix in device memory is not copied or pickled")
        parts = (
            _raw_view(kept, a.row, a.rows + 1, c.I64).copy(),
            _raw_view(kept, a.col, a.nnz, c.I32).copy(),
            _raw_view(kept, a.values, a.nnz, a.value_dtype).copy() if a.values else None,
        )
        given = None if self.values is None else self.values.copy()
        return _csr_memory, (a.rows, a.cols, *parts, a.value_dtype, self.name, self.order, self.unordered, given)


def _csr_memory(
    rows: int,
    cols: int,
    indptr: Any,
    indices: Any,
    values: Any,
    dtype: int,
    name: str,
    order: Order | None,
    unordered: str = "",
    given: Any = None,
) -> CsrMemory:
    arrays = c.Arrays(
        rows=rows,
        cols=cols,
        nnz=len(indices),
        row=_arrays.list_address(indptr, c.I64, rows + 1, "the row pointers of A"),
        col=_arrays.list_address(indices, c.I32, len(indices), "the column ids of A"),
        values=None if values is None else _arrays.list_address(values, dtype, len(indices), "the values of A"),
        value_dtype=dtype,
        device=c.CPU,
    )
    return CsrMemory(arrays, None, (indptr, indices, values), name, order, unordered, given)


class Bundle:
    """A sparse matrix with its formats: a bundle file (`sptile.open`), or CSR arrays in memory (`Bundle.of`),
    which are borrowed: they must not change while the bundle or a plan of it is used.

    Attributes: `shape`, `nnz`; `dtype` of the values, a NumPy type, None for a pattern; `formats`, those that
    are stored; `symmetric`, True, False or None where nobody looked; `device`, "cpu" or "cuda:0".
    Plans stay valid when the bundle is closed.
    """

    def __init__(self, source: Source, name: str, device: str = "cpu") -> None:
        self._name = name
        self.device = device
        handle = _made(source, False)
        self._handles: dict[bool, MatrixHandle] | None = {False: handle}
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
        added up in a copy, in double; A is never changed. copy: nothing is borrowed, A may change afterwards.
        BadInputError: arrays that are no matrix.

        Lists with a number for each entry (`Plan.refresh`, `Plan.sddmm`, bias and weights of attention) are in
        the order in which A has its entries: A.data of CSR, CSC, COO and, block after block, BSR; the rows of
        LIL; the items of DOK. Repeated entries keep a number each: new values are added up, scores and weights
        are of each one. DIA has no list of entries: UsageError.

        Copies and pickles are independent: of a file they have its absolute path, and BadInputError says where
        it has changed; otherwise its arrays. TypeError: it is closed, or in device memory.
        """
        if isinstance(A, Bundle):
            return A
        if isinstance(A, (str, os.PathLike)):
            return open(A, copy=copy)
        memory = csr_memory(A, bool(copy))
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
        return found or handles.setdefault(refreshable, shared(handles[False], refreshable))

    def __getstate__(self) -> dict[str, Any]:
        if self._handles is None:
            raise TypeError("the Bundle is closed; copy or pickle it before that")
        return self.__dict__

    def __copy__(self) -> Bundle:
        return copying.deepcopy(self)

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
        source = handle.source
        if isinstance(source, CsrMemory):
            return source
        if source.device != "cpu" and (handle.order is not None or source.unordered):
            raise UsageError("it is a batch of matrices out of order in device memory; make one batch of all")
        arrays = c.Arrays()
        c.check(c.lib.sptile_matrix_arrays(handle, byref(arrays)))
        repeated = handle.order is not None and handle.order.repeated
        values = source.given_doubles() if repeated else None
        return CsrMemory(arrays, None, handle, self._name, handle.order, source.unordered, values)

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
        order="csr": of lists with a number for each entry, that of the given entries (see `Bundle.of`);
            "packed": as the format stores them, which is faster
        refreshable=False: formats have values of their own, so that `Plan.refresh` works threads=0:
        all that there are; kernel=None: a name to force; replan=False: take no stored plan m=0, heads=1,
        activation=None (or "relu"), score="dot" ("cosine", "additive"),
            transposed_weights=False: of graph layers
        stream=None: on which arrays in device memory are converted

        UsageError: an option that does not fit, or a format that is not stored; UnsupportedError: this build
        or machine has no kernel; DeviceError: no device, no memory; BadInputError: the arrays are damaged.
        """
        return Plan(self._handle(bool(refreshable)), n, self._filled(options))

    def predict(self, n: int, **options: Any) -> list[Prediction]:
        """What each stored format would take: the list that `plan` with these options chooses from."""
        handle = self._handle(False)
        operation, wanted = plan_options(n, **self._filled(options))
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

    def _filled(self, options: dict[str, Any]) -> dict[str, Any]:
        filled = dict(options)
        if filled.get("device") is None:
            filled["device"] = self.device
        if filled.get("dtype") is None:
            filled["dtype"] = _arrays.DTYPE_NAMES.get(self._value_dtype, "float32")
        return filled


def open(path: str | os.PathLike[str], *, copy: bool = False, matrix: str | None = None) -> Bundle:
    """Opens a bundle, which `sptile convert` makes, by mapping it, at a cost that does not grow with it. It stays
    what was opened, also if the file is replaced or deleted or the current folder changes.

    copy: read it into memory instead, for folders that others can write.
    matrix: which one of a bundle that has several: "halo" of a part that `sptile partition` made.
    IoError: it cannot be read; BadInputError: it is no whole, unchanged bundle.
    """
    name = path_bytes(path)
    return Bundle(_File(name, bool(copy), text(matrix, "matrix")), os.fsdecode(name))


def path_bytes(path: Any) -> bytes:
    """A path as the library takes it; UsageError for what is none."""
    try:
        name = os.fsencode(path)
    except (TypeError, ValueError):
        raise UsageError(f"path = {path!r} is no path") from None
    if b"\0" in name:
        raise UsageError(f"path = {path!r} has a zero byte")
    return name


def part_bundle(path: bytes, copy: bool, matrix: bytes | None, part: Any) -> Bundle:
    """A bundle of an open part, `sptile_part`, whose file is not opened again."""
    return Bundle(_File(path, copy, matrix, part), os.fsdecode(path))


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
    if arrays.device == c.CUDA:
        return _arrays.DeviceMemory(handle, pointer or 0, count, _TYPESTR[dtype])
    view = _raw_view(handle, pointer, count, dtype)
    return view.view(_arrays.numpy_dtype(c.BF16)) if dtype == c.BF16 else view


def _raw_view(owner: Any, pointer: int | None, count: int, dtype: int) -> np.ndarray[Any, Any]:
    """The same in host memory, with bfloat16 as uint16."""
    if count == 0:
        view: np.ndarray[Any, Any] = np.empty(0, _TYPESTR[dtype])
        view.flags.writeable = False
        return view
    return np.asarray(_arrays.HostMemory(owner, pointer or 0, count, _TYPESTR[dtype]))


# ---- Matrices of others ----


def csr_memory(A: Any, copy: bool = False, pointers: bool = False) -> CsrMemory:
    """The arrays of a matrix of SciPy, CuPy or torch, as `Bundle.of` takes them. pointers: also those in device
    memory with row pointers, which may cost the order of their entries."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(A, getattr(torch, "Tensor", ())):
        return _of_torch(A, torch, copy)
    if hasattr(A, "tocsr") and isinstance(getattr(A, "shape", None), tuple):
        return _of_sparse(A, copy, pointers)
    raise UsageError(
        f"A is a {type(A).__name__}; pass a Bundle, a path, a SciPy or CuPy sparse matrix or a torch CSR tensor"
    )


def _of_sparse(A: Any, copy: bool, pointers: bool) -> CsrMemory:
    """Of SciPy or CuPy: what has tocsr."""
    name = type(A).__name__
    if len(A.shape) != 2:
        raise UsageError(f"A has {len(A.shape)} dimensions; it has rows and columns")
    package = type(A).__module__.partition(".")[0]
    format = getattr(A, "format", "") if package in ("scipy", "cupyx") else ""
    if package == "scipy" and format in _ENTRIES:
        return _of_entries(A.shape, _ENTRIES[format](A), name, copy)
    if package == "cupyx" and format in _DEVICE_ENTRIES and not pointers:
        parts = [_arrays.view(part, "an array of A") for part in _DEVICE_ENTRIES[format](A)]
        return _of_arrays(A.shape, parts, name, copy, layout=c.COO)
    csr = tocsr(A)
    try:
        parts = [_arrays.view(csr.indptr, "A.indptr"), _arrays.view(csr.indices, "A.indices")]
        parts.append(_arrays.view(csr.data, "A.data"))
    except AttributeError:
        raise UsageError(f"A.tocsr() is a {type(csr).__name__} without indptr, indices and data") from None
    # Rows of lil are lists in their order; what other packages call CSR is theirs.
    unordered = name if format == "dia" or (package == "cupyx" and csr is not A) else ""
    return _of_arrays(csr.shape, parts, name, copy, unordered)


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


def _of_arrays(
    shape: tuple[int, ...], parts: list[View], name: str, copy: bool, unordered: str = "", layout: int = c.CSR
) -> CsrMemory:
    """Of row pointers (COO: rows), column ids and values, all on one device."""
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
    _check_value_type(parts[2])
    if layout == c.CSR and parts[0].shape != (rows + 1,):
        raise BadInputError(
            f"A has {rows} rows and {parts[0].shape[0]} row pointers; it needs one more than rows"
        )
    if layout == c.COO and parts[0].shape != parts[1].shape:
        raise BadInputError(f"A has {parts[0].shape[0]} row ids and {parts[1].shape[0]} column ids")
    if parts[1].shape[0] > parts[2].shape[0]:
        raise BadInputError(f"A has {parts[1].shape[0]} column ids and {parts[2].shape[0]} values")
    if copy:
        parts = [_arrays.view(part.framework.contiguous(part.owner), "A") for part in parts]
    if parts[0].device == c.CPU:
        return _host_memory(rows, cols, parts, name, unordered)
    return _device_memory(rows, cols, parts, name, unordered, layout)


def _check_value_type(values: View) -> None:
    if values.dtype in _arrays.DTYPE_NAMES:
        return
    types = ("float32", "float64") if values.framework is not _arrays.TORCH_CPU else _arrays.DTYPE_CODES
    raise UnsupportedError(f"the values of A are {values.dtype_name}; convert them to {' or '.join(types)}")


def _host_array(view: View) -> Any:
    """A view as a contiguous NumPy array; bfloat16 as uint16."""
    array = view.owner
    if not isinstance(array, np.ndarray):
        if view.dtype == c.BF16:  # torch has no NumPy array of it
            array = array.contiguous().view(sys.modules["torch"].int16).numpy()
        else:
            array = np.asarray(array)
    if view.dtype == c.BF16:
        array = np.ascontiguousarray(array).view(np.uint16)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.require(array, requirements=["C", "A"])


def _host_memory(rows: int, cols: int, parts: list[View], name: str, unordered: str) -> CsrMemory:
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
    order, given = None, None
    if not _in_order(indptr, indices, cols):
        row = np.repeat(np.arange(rows, dtype=np.int32), np.diff(indptr))
        indptr, indices, order = sorted_entries(row, indices, rows, cols)
        values, given = _sorted_values(values, parts[2].dtype or c.NONE, order)
    return _csr_memory(
        rows, cols, indptr, indices, values, parts[2].dtype or c.NONE, name, order, unordered, given
    )


def _in_order(indptr: Any, indices: Any, cols: int) -> bool:
    """Whether columns ascend strictly row after row. Damaged arrays are left to the library, which names the
    place."""
    lengths = np.diff(indptr)
    if indptr[0] != 0 or (lengths < 0).any() or len(indices) < 2:
        return True
    ascending = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    ascending[starts[(starts > 0) & (starts < len(indices))] - 1] = True  # a row begins there
    return bool(ascending.all()) or bool(indices.min() < 0 or indices.max() >= cols)


def _sorted_values(values: Any, dtype: int, order: Order | None) -> tuple[Any, Any]:
    """Values in the order of the CSR arrays, those of one place added up in double; where there are any, the
    given ones, too."""
    if order is None:
        return values, None
    if not order.repeated:
        return values[order.position], None
    total = order.total(_doubles(values))
    return _bfloat16_of(total) if dtype == c.BF16 else total.astype(values.dtype), values


def _doubles(values: Any) -> Any:
    """Values in double; uint16 ones are bfloat16."""
    if values.dtype == np.uint16:
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float64)


def _bfloat16_of(numbers: Any) -> Any:
    """Numbers as bfloat16, to the nearest, in uint16."""
    numbers = numbers.astype(np.float32)
    bits = numbers.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)


# ---- Entries in another order than CSR ----


def remember_order(bundle: Bundle, A: Any) -> None:
    """Gives a bundle that was converted of a matrix the order of its entries."""
    if type(A).__module__.startswith("cupyx."):
        A = A.get()
    handle, entries = bundle._handle(False), None
    source = handle.source
    if not isinstance(source, _InOrder):
        raise InternalError(f"{source.name} was not converted")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(A, torch.Tensor):
        entries = _of_torch_entries(A.detach().cpu(), torch)
        if entries is None:
            source.unordered = f"{A.layout} tensor"
    elif getattr(A, "format", "") in _ENTRIES:
        entries = _ENTRIES[A.format](A)
    elif getattr(A, "format", "") == "csr":
        if not _in_order(A.indptr, A.indices[: A.indptr[-1]], A.shape[1]):
            row = _lines(A.indptr, A.shape[0], len(A.indices), "row pointers")
            entries = row, A.indices[: len(row)], A.data[: len(row)]
    elif getattr(A, "format", "") != "lil":
        source.unordered = type(A).__name__
    if entries is not None:
        row, col, values = (np.asarray(part) for part in entries)
        _, indices, source.order = sorted_entries(row, col, A.shape[0], A.shape[1])
        if len(indices) != bundle.nnz:
            raise InternalError(f"{len(indices)} entries became {bundle.nnz}")
        if source.order is not None and source.order.repeated:
            source.doubles = values.astype(np.float64)
    _describe_into(handle, source, False)


def _of_torch_entries(A: Any, torch: Any) -> tuple[Any, Any, Any] | None:
    if A.layout is torch.sparse_coo:
        return *A._indices().numpy(), A._values().double().numpy()
    if A.layout is torch.sparse_csr:
        row = _lines(A.crow_indices(), A.shape[0], A._nnz(), "row pointers")
        return row, A.col_indices().numpy(), A.values().double().numpy()
    if A.layout is torch.sparse_csc:
        col = _lines(A.ccol_indices(), A.shape[1], A._nnz(), "column pointers")
        return A.row_indices().numpy(), col, A.values().double().numpy()
    return None


def _lines(indptr: Any, lines: int, count: int, what: str) -> Any:
    """The column of each entry of CSC, the row of each block of BSR."""
    indptr = np.asarray(indptr)
    if indptr.shape != (lines + 1,):
        raise BadInputError(f"A has {what} of shape {indptr.shape}; they are {lines + 1} offsets")
    lengths = np.diff(indptr)
    if indptr[0] != 0 or (lengths < 0).any() or indptr[-1] > count:
        raise BadInputError(f"the {what} of A are not offsets that rise from 0 to at most {count}")
    return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)


def _of_csc(A: Any) -> tuple[Any, Any, Any]:
    col = _lines(A.indptr, A.shape[1], min(len(A.indices), len(A.data)), "column pointers")
    return A.indices[: len(col)], col, A.data[: len(col)]


def _of_bsr(A: Any) -> tuple[Any, Any, Any]:
    """Blocks one after the other, each row by row."""
    line = _lines(A.indptr, A.shape[0] // A.blocksize[0], min(len(A.indices), len(A.data)), "row pointers")
    height, width = A.blocksize
    data = A.data[: len(line)]
    row = line[:, None, None].astype(np.int64) * height + np.arange(height)[:, None]
    col = A.indices[: len(line), None, None].astype(np.int64) * width + np.arange(width)
    return np.broadcast_to(row, data.shape).ravel(), np.broadcast_to(col, data.shape).ravel(), data.ravel()


def _of_coo(A: Any) -> tuple[Any, Any, Any]:
    return A.row, A.col, A.data


_ENTRIES: dict[str, Any] = {
    "csc": _of_csc,
    "bsr": _of_bsr,
    "coo": _of_coo,
    "dok": lambda A: _of_coo(A.tocoo()),  # in the order of its items
}
"""Row, column and value of each entry of SciPy's matrices, in the order in which these have them."""


def _of_entries(shape: tuple[int, int], entries: tuple[Any, Any, Any], name: str, copy: bool) -> CsrMemory:
    """Of entries in host memory."""
    views = [_arrays.view(part, what) for part, what in zip(entries, ("rows", "columns", "A.data"), strict=True)]
    _check_value_type(views[2])
    row, col, values = (_host_array(view) for view in views)
    if not row.shape == col.shape == values.shape or row.ndim != 1:
        raise BadInputError(f"A has {row.shape} rows, {col.shape} columns and {values.shape} values")
    for ids, most, what in ((row, shape[0], "row"), (col, shape[1], "column")):
        if ids.dtype.kind not in "iu":
            raise UsageError(f"the {what} ids of A are {ids.dtype}; they are int32 or int64")
        if len(ids) and (ids.min() < 0 or ids.max() >= most):
            raise BadInputError(f"{what} ids of A go from {ids.min()} to {ids.max()}, of {most} {what}s")
    if max(shape) > _LARGEST_ID:
        raise UnsupportedError(f"A is {shape[0]} x {shape[1]}; row and column ids are 32-bit")
    dtype = views[2].dtype or c.NONE
    indptr, indices, order = sorted_entries(row, col, shape[0], shape[1])
    values, given = _sorted_values(values.copy() if copy else values, dtype, order)
    if copy:
        indices = indices.copy()
    return _csr_memory(shape[0], shape[1], indptr, indices, values, dtype, name, order, "", given)


def _of_device_csc(A: Any) -> tuple[Any, Any, Any]:
    cupy = sys.modules["cupy"]
    places = cupy.arange(len(A.indices))
    return A.indices, cupy.searchsorted(A.indptr, places, side="right") - 1, A.data


_DEVICE_ENTRIES: dict[str, Any] = {"csc": _of_device_csc, "coo": _of_coo}
"""The same of CuPy's."""


def _device_memory(
    rows: int, cols: int, parts: list[View], name: str, unordered: str, layout: int
) -> CsrMemory:
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
        layout=layout,
        row_dtype=parts[0].dtype,
        col_dtype=parts[1].dtype,
        disorder=c.SUM,
        device=c.CUDA,
        ordinal=parts[0].ordinal,
    )
    stream = parts[0].framework.stream(parts[0].ordinal)
    return CsrMemory(arrays, stream, [part.owner for part in parts], name, None, unordered)
