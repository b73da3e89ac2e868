"""Matrices of the library over CSR arrays in tensors, and their plans, which are created at first use.

Operators take a matrix as a token, a tensor with the number of its `Entries`, and as sizes. A compiler therefore
sees tensors and integers, and compiles once for all matrices. `entries_of` finds the matrix of a token, which
keeps it alive.
"""

from __future__ import annotations

import atexit
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from ctypes import byref, c_void_p
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .. import _library as c
from .._arrays import dtype_code
from .._calls import PlanHandle, Width, release, run_prepared
from .._matrix import MatrixHandle, describe, made
from .._options import text
from ..bundle import CsrMemory
from ..errors import InternalError, UsageError
from .pattern import EntryOrder, Pattern, apart, inverse, untraced

DTYPES = {torch.float32: c.DTYPE_F32, torch.float64: c.DTYPE_F64, torch.float16: c.DTYPE_F16, torch.bfloat16: c.DTYPE_BF16}

_OF_CODES = {code: dtype for dtype, code in DTYPES.items()}


def torch_dtype(dtype: Any) -> torch.dtype:
    """Returns the torch dtype of a type: a name such as "f32" or "float32", a NumPy or a torch dtype."""
    if isinstance(dtype, torch.dtype) and dtype in DTYPES:
        return dtype
    return _OF_CODES[dtype_code(dtype)]


def precision_of(x: Tensor) -> int:
    """Returns the minimum precision of products with x, that of torch's matrix products."""
    if x.dtype is not torch.float32 or not x.is_cuda:
        return c.PRECISION_DEFAULT
    return c.PRECISION_TF32 if _allows_tf32() else c.PRECISION_FP32


# Set by allow_tf32 and its successor fp32_precision; torch before 2.9 has only allow_tf32.
_get_precision: Any = getattr(torch._C, "_get_fp32_precision_getter", None)


def _allows_tf32() -> bool:
    if _get_precision is None:
        return torch.backends.cuda.matmul.allow_tf32
    return _get_precision("cuda", "matmul") == "tf32"


def capturing() -> bool:
    """True while the current stream is captured in a CUDA graph."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


release.postponed = capturing  # a captured graph would not survive that memory is freed
atexit.register(release.stop)


untraced(PlanHandle.run)

# Global variables are found faster than attributes of other modules. The CPU build of torch has no streams.
_empty_like = torch.empty_like
_current_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)


class TorchPlan(PlanHandle):
    """A plan of a device of torch."""

    def __init__(self, matrix: MatrixHandle, operation: bytes, options: c.PlanOptions, device: torch.device) -> None:
        super().__init__(matrix, operation, options)
        self._device, self._index = device, device.index
        self._workspaces: dict[int, tuple[tuple[c_void_p, Any], Tensor | None]] = {}

    @untraced
    def place(self) -> tuple[c_void_p, Any]:
        """Returns the current stream of the CUDA device, and the workspace of its runs."""
        stream = _current_stream(self._index)
        return (self._workspaces.get(stream) or self._workspace(stream))[0]

    @untraced
    def _workspace(self, stream: int) -> tuple[tuple[c_void_p, Any], Tensor | None]:
        """Returns zeroed memory for the runs of a stream. A graph has separate memory, which each replay zeroes: the
        allocator lends it to other work of the graph."""
        size = int(self.info.workspace_bytes)
        memory = torch.zeros(size, dtype=torch.uint8, device=self._device) if size > 0 else None
        pointer = None if memory is None else byref(c.Workspace(memory.data_ptr(), size))
        made = (c_void_p(stream), pointer), memory
        if not capturing():
            for tensor in self.matrix.source.kept:
                tensor.record_stream(torch.cuda.current_stream(self._device))
            self._workspaces[stream] = made
        return made


class CudaPlan(TorchPlan):
    """A plan whose runs use torch's current stream, and a workspace per stream."""

    @untraced
    def run(self, *operands: Any, **numbers: Any) -> None:
        numbers["stream"], numbers["workspace"] = self.place()
        super().run(*operands, **numbers)


def _matrix_of(pattern: Pattern, values: Tensor | None) -> MatrixHandle:
    """Returns the library's matrix of a pattern and values, whose tensors it borrows."""
    tensors = [x for x in (pattern.crow, pattern.col, values) if x is not None]
    arrays = c.Arrays(
        rows=pattern.rows,
        cols=pattern.cols,
        nnz=pattern.nnz,
        row=pattern.crow.data_ptr(),
        col=pattern.col.data_ptr(),
        values=None if values is None else values.data_ptr(),
        value_dtype=c.DTYPE_NONE if values is None else DTYPES[values.dtype],
        row_dtype=c.DTYPE_I64,
        col_dtype=c.DTYPE_I32,
        device=c.DEVICE_CUDA if pattern.device.type == "cuda" else c.DEVICE_CPU,
        ordinal=pattern.device.index or 0,
    )
    return made(CsrMemory(arrays, stream_of(pattern.device), tensors, "the matrix"), False, trusted=True)


class Stored(NamedTuple):
    """The matrix of a bundle file, whose formats and plans multiply the values that it stores."""

    matrix: MatrixHandle
    format: str
    kernel: str | None
    transposed: bool = False

    def format_on(self, device: torch.device) -> str:
        """Returns the format of other values, of which the CPU has CSR arrays only."""
        return self.format if device.type == "cuda" else "auto"

    def transpose(self) -> Stored | None:
        """Returns the transpose; None if the file does not store it in all formats."""
        info = describe(self.matrix)
        there = self.transposed or info.transposed >= info.format_count
        return self._replace(transposed=not self.transposed) if there else None


class Handle:
    """A pattern with values in the order of CSR, or none: then each entry is 1, unless a run brings
    values."""

    def __init__(self, pattern: Pattern, values: Tensor | None = None, format: str = "auto") -> None:
        text(format, "format")
        self.pattern, self.values, self.format = pattern, values, format
        self.stored: Stored | None = None  # of a file with these values
        self.plans: dict[tuple[Any, ...], TorchPlan] = {}
        self.derived: dict[str, Any] = {}  # caches of functions of the pattern
        self._matrices: dict[torch.dtype | None, MatrixHandle] = {}
        self._lock = threading.RLock()
        self._transposed: Handle | None = None
        self._origin: Callable[[], Handle | None] = lambda: None  # that this one is the transpose of
        self._source: Tensor | None = None
        self._symmetric = False

    def transposed(self) -> Handle:
        """Returns the handle of the transpose, which is cached; this handle if the matrix is symmetric."""
        if self._symmetric:
            return self
        if self._transposed is not None:
            return self._transposed
        origin = self._origin()
        if origin is not None:
            return origin
        refuse_capture("cannot transpose the matrix", self.pattern.device)
        with self._lock, apart():
            if self._transposed is None and not self._symmetric:
                pattern, source = self.pattern.transposed()
                values = None if self.values is None else self.values.index_select(0, source)
                if pattern is self.pattern and (values is None or torch.equal(values, self.values)):  # type: ignore[arg-type]
                    self._symmetric = True
                else:
                    self._transposed = Handle(pattern, values, self.format)
                    self._transposed.stored = None if self.stored is None else self.stored.transpose()
                    self._transposed._origin = weakref.ref(self)
            return self if self._symmetric else self._transposed  # type: ignore[return-value]

    def source(self) -> Tensor:
        """Returns the entry of this matrix for each entry of the transpose, shape [nnz]."""
        if self._source is None:
            origin = self._origin()
            with apart():
                self._source = self.pattern.transposed()[1] if origin is None else inverse(origin.source())
        return self._source

    def plan(
        self, operation: str, n: int, dtype: torch.dtype, precision: int = 0, run_values: bool = False, **attributes: int
    ) -> TorchPlan:
        """Returns the plan of an operation with n columns, which the handle keeps. `run_values`: each run brings the
        values of the nonzeros. `attributes` are those of the C interface."""
        key = (operation, n, dtype, precision, run_values, *attributes.items())
        plan = self.plans.get(key)
        if plan is not None:
            return plan
        refuse_capture(f"cannot plan {operation} for operands with {n} columns of {dtype}", self.pattern.device)
        with self._lock, apart():
            plan = self.plans.get(key)
            if plan is None:
                plan = self.plans[key] = self._make(operation, n, dtype, precision, run_values, attributes)
            return plan

    @untraced
    def _make(
        self, operation: str, n: int, dtype: torch.dtype, precision: int, run_values: bool, attributes: dict[str, int]
    ) -> TorchPlan:
        device = self.pattern.device
        cuda = device.type == "cuda"
        free = operation == "spmm" and not run_values  # other operations read lists in CSR order
        value_dtype = dtype if run_values or self.values is not None else None
        stored = self.stored if free and (self.values is None or self.values.dtype == dtype) else None
        format, kernel = ("csr" if not free else self.format), None
        if stored is not None:
            format, kernel = stored.format, stored.kernel
        if format == "auto" and kernel is None:
            format = "any"
        options = c.PlanOptions(
            n=n,
            format=format.encode(),
            kernel=text(kernel, "kernel"),
            dense=DTYPES[dtype],
            device=c.DEVICE_CUDA if cuda else c.DEVICE_CPU,
            ordinal=device.index or 0,
            threads=0 if cuda else torch.get_num_threads(),
            transpose=int(stored is not None and stored.transposed),
            stream=stream_of(device),
        )
        measured = cuda and format == "any" or "," in format
        several = {"choice": c.CHOICE_MEASURED} if measured else {}
        c.set_attributes(options, {**attributes, **several, "precision": precision, "order": c.ORDER_CSR})
        matrix = self._matrix(value_dtype) if stored is None else stored.matrix
        return (CudaPlan if cuda else TorchPlan)(matrix, operation.encode(), options, device)

    @untraced
    def _matrix(self, dtype: torch.dtype | None) -> MatrixHandle:
        """The library's matrix with the values in a type, or with zeros if runs bring values; a pattern."""
        matrix = self._matrices.get(dtype)
        if matrix is None:
            pattern, values = self.pattern, self.values
            if dtype is not None:
                made = values is None
                values = torch.zeros(pattern.nnz, dtype=dtype, device=pattern.device) if made else values.to(dtype)  # type: ignore[union-attr]
            matrix = self._matrices[dtype] = _matrix_of(pattern, values)
        return matrix


# Numbers start at random: those of a graph that another process saved are unknown here, not of another matrix.
_TOKEN = torch.int64
_numbers = itertools.count(int.from_bytes(os.urandom(7), "little"))
_entries: weakref.WeakValueDictionary[int, Entries] = weakref.WeakValueDictionary()


class Entries:
    """A handle and the order in which its entries were given: the matrix that operators multiply with."""

    def __init__(self, handle: Handle, order: EntryOrder) -> None:
        if order.nnz != handle.pattern.nnz:
            raise InternalError(f"an order of {order.nnz} entries for a pattern of {handle.pattern.nnz}")
        self.handle, self.order = handle, order
        self.rows, self.cols, self.given = self.sizes = handle.pattern.rows, handle.pattern.cols, order.given
        self.device = handle.pattern.device
        self.number = next(_numbers)
        self.fitting: set[Any] = set()  # calls of operators whose tensors fit
        _entries[self.number] = self

    def token(self) -> Tensor:
        """int64 [], in host memory: the number. The tensor keeps these entries alive."""
        number = np.array(self.number).view(_Number)
        number.entries = self
        return torch.from_numpy(number)

    def row(self) -> Tensor:
        """int64 [given]: the row of each entry."""
        return self.order.from_csr(self.handle.pattern.row())

    def col(self) -> Tensor:
        """int64 [given]: the column of each entry."""
        return self.order.from_csr(self.handle.pattern.col.long())


class _Number(np.ndarray[Any, Any]):
    """Memory of a token."""

    entries: Entries


def entries_of(token: Tensor) -> Entries:
    """The entries that a token names; UsageError where there are none."""
    try:
        number = token.item() if token.dtype is _TOKEN and token.dim() == 0 else None
    except (AttributeError, RuntimeError):
        number = None
    entries = _entries.get(number)  # type: ignore[arg-type]
    if entries is None:
        raise _unknown(token, number)
    return entries


def _unknown(token: Any, number: Any) -> UsageError:
    if number is None:
        found = f"{token.dtype} {list(token.shape)} on {token.device}" if isinstance(token, Tensor) else repr(token)
        return UsageError(f"the token of a matrix must be an int64 scalar tensor in host memory, got {found}")
    return UsageError(
        f"no matrix of this process has the token {number}; keep the SparseMatrix alive while it is in use, and "
        "compile or export again if another process saved the code"
    )


def entries_of_sizes(token: Tensor, rows: int, cols: int, given: int) -> Entries:
    """The entries that a token names; UsageError where they are of other sizes than the caller says."""
    entries = entries_of(token)
    if (rows, cols, given) != entries.sizes:
        raise UsageError(
            f"rows, columns and nonzeros are {(rows, cols, given)}, but the matrix of the token has {entries.sizes}"
        )
    return entries


class Ref:
    """A matrix as operators take it: token, sizes, and the number of entries that were given. A compiler reads
    these; other code goes by `entries`, which is None in a matrix that compiled code makes."""

    def __init__(self, token: Tensor, rows: int, cols: int, given: int, entries: Entries | None = None) -> None:
        self.token, self.rows, self.cols, self.given, self._entries = token, rows, cols, given, entries

    FIELDS = ("token", "rows", "cols", "given")  # the leading arguments of each operator
    device = None  # as `Entries` have it: a token does not say

    @classmethod
    def of(cls, handle: Handle, order: EntryOrder) -> Ref:
        entries = Entries(handle, order)
        return cls(entries.token(), entries.rows, entries.cols, entries.given, entries)

    @property
    def entries(self) -> Entries:
        return self._entries or entries_of_sizes(self.token, self.rows, self.cols, self.given)

    def __iter__(self) -> Iterator[Any]:
        """The leading arguments of each operator."""
        return iter((self.token, self.rows, self.cols, self.given))


class PackedProduct:
    """Products A x without values, for contiguous x [cols, n] of a shape and a type that `spmm` has accepted."""

    __slots__ = ("_alike", "_index", "_plan", "_width", "a")

    def __init__(self, a: Ref, plan: TorchPlan, x: Tensor, out: Tensor) -> None:
        self.a, self._plan, self._index = a, plan, x.get_device() if x.is_cuda else None
        self._width = Width(x.shape[1], tuple(out.shape), 0, 0)
        self._alike = x.shape == out.shape

    def address(self, x: Tensor) -> int:
        """Returns the address of x, of the right shape and type. 0: x needs the checks of `spmm`."""
        try:
            here = x.is_cpu if self._index is None else x.is_cuda and x.get_device() == self._index
            return x.data_ptr() if here and x.is_contiguous() and not x.is_neg() else 0
        except RuntimeError:  # sparse and batched tensors have no address
            return 0

    @untraced
    def run(self, x: Tensor, address: int) -> Tensor:
        out = _empty_like(x) if self._alike else x.new_empty(self._width.result)  # the first takes less time
        call = self._width.take()
        call.first.data, call.second.data = address, out.data_ptr()
        if self._index is None:
            status = run_prepared(self._plan, call.reference, None, None)
        else:
            status = run_prepared(self._plan, call.reference, *self._plan.place())
        self._width.calls.append(call)
        if status:
            c.check(status)
        return out


def refuse_capture(missing: str, device: torch.device) -> None:
    """Refuses what cannot be done while a CUDA graph is captured."""
    if device.type == "cuda" and capturing():
        raise UsageError(
            f"{missing} during CUDA graph capture; run the same step once before the capture, forward and backward"
        )


def stream_of(device: torch.device) -> int | None:
    return _current_stream(device.index) if device.type == "cuda" else None

