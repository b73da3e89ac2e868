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
from collections.abc import Callable, Iterator, Mapping
from ctypes import byref, c_void_p
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .. import _library as c
from .._arrays import dtype_code
from .._calls import PlanHandle, Width, release, run_prepared
from .._matrix import MatrixHandle, describe, made
from .._operations import FORMATS, OPERATIONS
from .._options import plan_options, text
from ..bundle import CsrMemory
from ..errors import ArgumentTypeError, InternalError, UsageError
from .pattern import EntryOrder, Pattern, apart, inverse, untraced

DTYPES = {torch.float32: c.DTYPE_F32, torch.float64: c.DTYPE_F64, torch.float16: c.DTYPE_F16, torch.bfloat16: c.DTYPE_BF16}

_OF_CODES = {code: dtype for dtype, code in DTYPES.items()}


def torch_dtype(dtype: Any) -> torch.dtype:
    """Returns the torch dtype of a type: a name such as "f32" or "float32", a NumPy or a torch dtype."""
    if isinstance(dtype, torch.dtype) and dtype in DTYPES:
        return dtype
    return _OF_CODES[dtype_code(dtype)]


def precision_of(x: Tensor) -> str | None:
    """Returns the minimum precision of products with x, that of torch's matrix products."""
    if x.dtype is not torch.float32 or not x.is_cuda:
        return None
    return "tf32" if _allows_tf32() else "fp32"


# Set by allow_tf32 and its successor fp32_precision; torch before 2.9 has only allow_tf32.
_get_precision: Any = getattr(torch._C, "_get_fp32_precision_getter", None)


def _allows_tf32() -> bool:
    if _get_precision is None:
        return torch.backends.cuda.matmul.allow_tf32
    return _get_precision("cuda", "matmul") == "tf32"


def capturing() -> bool:
    """Returns whether a CUDA graph captures the current stream."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


release.postponed = capturing  # freeing memory would invalidate the captured graph
atexit.register(release.stop)


untraced(PlanHandle.run)

# Global variables are found faster than attributes of other modules. The CPU build of torch has no streams.
_empty_like = torch.empty_like
_current_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)


class TorchPlan(PlanHandle):
    """A plan whose runs on several streams have separate workspaces, all but the first in the memory of torch."""

    def __init__(self, matrix: MatrixHandle, operation: bytes | None, options: c.PlanOptions, device: torch.device) -> None:
        super().__init__(matrix, operation, options)
        self._device, self._index = device, device.index
        self._workspaces: dict[int, tuple[tuple[c_void_p, Any], Tensor | None]] = {}
        self._own_workspace = threading.Lock()  # held by the stream that uses the workspace of the plan

    @untraced
    def place(self) -> tuple[c_void_p, Any]:
        """Returns the current stream of the CUDA device, and the workspace of its runs."""
        return self.workspace(_current_stream(self._index))[0]

    @untraced
    def workspace(self, stream: int) -> tuple[tuple[c_void_p, Any], Tensor | None]:
        """Returns the current stream, a reference to the workspace of its runs, and the memory of the workspace."""
        return self._workspaces.get(stream) or self._workspace(stream)

    @untraced
    def _workspace(self, stream: int) -> tuple[tuple[c_void_p, Any], Tensor | None]:
        """Returns the workspace of the runs of a stream: that of the plan, without a reference, for the first one,
        zeroed memory for the others. A graph has separate memory, which each replay zeroes: the allocator lends it to
        other work of the graph once the caller drops it."""
        own = not capturing() and self._own_workspace.acquire(blocking=False)
        size = 0 if own else int(self.info.workspace_bytes)
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


Kernel = str | Mapping[str, str] | None


def kernel_list(kernel: Kernel) -> str:
    """Returns the text of a `kernel` argument: "operation name operation name ...". A single name is a kernel of
    SpMM. UsageError names an unknown operation."""
    if kernel is None:
        return ""
    words = []
    for operation, name in ({"spmm": kernel} if isinstance(kernel, str) else kernel).items():
        if operation not in OPERATIONS:
            raise UsageError(f"kernel: no operation {operation!r}; operations are {', '.join(OPERATIONS)}")
        if not isinstance(name, str):
            raise ArgumentTypeError(f"kernel of {operation} must be a str, got {type(name).__name__}")
        if not name or name.split() != [name]:
            raise UsageError(f"kernel of {operation} must be one name of `sptile list kernels`, got {name!r}")
        words += [operation, name]
    return " ".join(words)


def check_kernel(kernel: object) -> str:
    """Returns `kernel_list`. ArgumentTypeError unless the argument is a name or a mapping."""
    if kernel is None or isinstance(kernel, str | dict | Mapping):
        return kernel_list(kernel)
    raise ArgumentTypeError(f"kernel must be a name or a mapping of operations to names, got {type(kernel).__name__}")


def kernel_for(operation: str, kernels: str) -> str | None:
    """Returns the kernel of an operation in a `kernel_list`."""
    words = kernels.split()
    return dict(zip(words[::2], words[1::2], strict=True)).get(operation)


def format_of_kernel(kernel: str) -> str:
    """Returns the format in a kernel name, DEVICE.FORMAT.NAME; "csr" if there is none."""
    words = kernel.split(".")
    return words[1] if len(words) > 2 and words[1] in FORMATS else "csr"


class Stored(NamedTuple):
    """The matrix of a bundle file, whose formats and plans multiply the values that it stores."""

    matrix: MatrixHandle
    format: str
    kernels: str
    transposed: bool = False

    def names_on(self, device: torch.device) -> tuple[str, str]:
        """Returns format and kernels of other values, of which the CPU has CSR arrays only."""
        return (self.format, self.kernels) if device.type == "cuda" else ("auto", "")

    def transpose(self) -> Stored | None:
        """Returns the transpose; None if the file does not store it in all formats."""
        info = describe(self.matrix)
        there = self.transposed or info.transposed >= info.format_count
        return self._replace(transposed=not self.transposed) if there else None


class Handle:
    """A pattern with values in CSR order. Without values, each nonzero is 1 unless a run provides values."""

    def __init__(
        self, pattern: Pattern, values: Tensor | None = None, format: str = "auto", kernels: str = ""
    ) -> None:
        text(format, "format")
        self.pattern, self.values, self.format, self.kernels = pattern, values, format, kernels
        self.stored: Stored | None = None  # set for the values of a bundle file
        self.plans: dict[tuple[Any, ...], TorchPlan] = {}
        self.derived: dict[str, Any] = {}  # caches of functions of the pattern
        self._matrices: dict[torch.dtype | None, MatrixHandle] = {}
        self._lock = threading.RLock()
        self._transposed: Handle | None = None
        self._origin: Callable[[], Handle | None] = lambda: None  # the handle whose transpose this is
        self._source: Tensor | None = None
        self._symmetric = False

    @property
    def is_known_symmetric(self) -> bool:
        """True if `transposed` has found that the matrix equals its transpose."""
        return self._symmetric

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
                    self._transposed = Handle(pattern, values, self.format, self.kernels)
                    self._transposed.stored = None if self.stored is None else self.stored.transpose()
                    self._transposed._origin = weakref.ref(self)
            return self if self._symmetric else self._transposed  # type: ignore[return-value]

    def source(self) -> Tensor:
        """Returns the entry of this matrix for each entry of the transpose, shape [nnz]."""
        if self._source is None:
            origin = self._origin()
            with apart():
                self._source = self.pattern.source() if origin is None else inverse(origin.source())
        return self._source

    def plan(
        self, operation: str, n: int, dtype: torch.dtype, precision: str | None = None, run_values: bool = False,
        **attributes: Any,
    ) -> TorchPlan:
        """Returns the plan of an operation with n columns, which the handle keeps. `run_values`: each run brings the
        values of the nonzeros. `attributes` are those of plans."""
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
        self, operation: str, n: int, dtype: torch.dtype, precision: str | None, run_values: bool,
        attributes: dict[str, Any],
    ) -> TorchPlan:
        device = self.pattern.device
        cuda = device.type == "cuda"
        free = operation == "spmm" and not run_values
        value_dtype = dtype if run_values or self.values is not None else None
        stored = self.stored if free and (self.values is None or self.values.dtype == dtype) else None
        format, kernel = self._names(operation, free, stored)
        op, options = plan_options(
            n, op=operation, format=format, kernel=kernel, dtype=dtype, device=device,
            threads=0 if cuda else torch.get_num_threads(),
            transpose=stored is not None and stored.transposed,
            choice="measured" if cuda and format == "any" or "," in format else "predicted",
            precision=precision, stream=stream_of(device), **attributes,
        )  # fmt: skip
        matrix = self._matrix(value_dtype) if stored is None else stored.matrix
        try:
            return (CudaPlan if cuda else TorchPlan)(matrix, op, options, device)
        except UsageError as error:
            if kernel is None or precision != "fp32":
                raise
            raise UsageError(
                f"{error}; kernels of tf32 also require torch.backends.cuda.matmul.allow_tf32 = True"
            ) from None

    def _names(self, operation: str, free: bool, stored: Stored | None) -> tuple[str, str | None]:
        """Returns format and kernel of a plan. `free`: SpMM with the values of the matrix. Other operations read lists in
        CSR order, and use other formats only for a kernel that is named."""
        if stored is not None:
            kernel = kernel_for(operation, stored.kernels)
            return ("any" if stored.format == "auto" and kernel is None else stored.format), kernel
        kernel = kernel_for(operation, self.kernels) if free or operation != "spmm" else None
        if free and self.format != "auto":
            return self.format, kernel
        if kernel is None:
            return ("any" if free else "csr"), None
        # The CPU has CSR arrays only.
        format = format_of_kernel(kernel) if self.pattern.device.type == "cuda" else "csr"
        return (self.format if self.format.split(":")[0] == format else format), kernel

    @untraced
    def _matrix(self, dtype: torch.dtype | None) -> MatrixHandle:
        """Returns the library's matrix with values of a type, or zeros if runs provide them. None: a pattern."""
        matrix = self._matrices.get(dtype)
        if matrix is None:
            pattern, values = self.pattern, self.values
            if dtype is not None:
                made = values is None
                values = torch.zeros(pattern.nnz, dtype=dtype, device=pattern.device) if made else values.to(dtype)  # type: ignore[union-attr]
            matrix = self._matrices[dtype] = _matrix_of(pattern, values)
        return matrix


# Numbers start at random, so that a graph that another process saved does not find another matrix.
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
        self.fitting: set[Any] = set()  # checked calls of operators
        _entries[self.number] = self

    def token(self) -> Tensor:
        """Returns the number, int64 [] in host memory, in a tensor that keeps these entries alive."""
        number = np.array(self.number).view(_Number)
        number.entries = self
        return torch.from_numpy(number)

    def row(self) -> Tensor:
        """Returns the row of each entry, int64 [given]."""
        return self.order.from_csr(self.handle.pattern.row())

    def col(self) -> Tensor:
        """Returns the column of each entry, int64 [given]."""
        return self.order.from_csr(self.handle.pattern.col.long())


class _Number(np.ndarray[Any, Any]):
    """Memory of a token, which keeps the entries alive."""

    entries: Entries


def entries_of(token: Tensor) -> Entries:
    """Returns the entries of a token. UsageError if there are none."""
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
    """Returns the entries of a token. UsageError unless they have the given sizes."""
    entries = entries_of(token)
    if (rows, cols, given) != entries.sizes:
        raise UsageError(
            f"rows, columns and nonzeros are {(rows, cols, given)}, but the matrix of the token has {entries.sizes}"
        )
    return entries


class Arrays(NamedTuple):
    """Arrays from which `Entries` are rebuilt: CSR arrays and, for each given entry, its place in them. None: in order."""

    crow: Tensor
    col: Tensor
    position: Tensor | None
    values: Tensor | None  # in the order of CSR
    cols: int
    format: str
    kernels: str

    @classmethod
    def of(cls, a: Entries) -> Arrays:
        pattern, handle = a.handle.pattern, a.handle
        return cls(
            pattern.crow, pattern.col, a.order.position, handle.values, a.cols, handle.format, handle.kernels
        )

    def token(self) -> Tensor:
        """Returns a token of the entries, from an operator that compilers see."""
        token: Tensor = torch.ops.sptile.entries_of_arrays(*self)
        return token


def _is_exporting() -> bool:
    """Returns whether torch.export traces. torch.compile takes `torch.compiler.is_exporting()` to be true."""
    return getattr(torch.compiler, "_is_exporting_flag", False)


_is_exporting._dynamo_marked_constant = True  # type: ignore[attr-defined]


class Ref:
    """A matrix as an argument of operators: token, sizes, and number of given entries, which compilers read. Other code
    uses `entries`."""

    def __init__(self, token: Tensor, rows: int, cols: int, given: int, entries: Entries | None = None) -> None:
        self._token, self.rows, self.cols, self.given, self._entries = token, rows, cols, given, entries

    FIELDS = ("token", "rows", "cols", "given")  # the leading arguments of each operator
    device = None  # unknown, unlike that of `Entries`

    @classmethod
    def of(cls, handle: Handle, order: EntryOrder) -> Ref:
        entries = Entries(handle, order)
        return cls(entries.token(), entries.rows, entries.cols, entries.given, entries)

    @property
    def token(self) -> Tensor:
        """The token. An exported program has the arrays of a matrix that it did not create, because the token names
        no matrix in other processes."""
        if self._entries is not None and _is_exporting():
            return Arrays.of(self._entries).token()
        return self._token

    @property
    def entries(self) -> Entries:
        return self._entries or entries_of_sizes(self.token, self.rows, self.cols, self.given)

    def __iter__(self) -> Iterator[Any]:
        """Yields the leading arguments of each operator."""
        return iter((self.token, self.rows, self.cols, self.given))


class DerivedRef(Ref):
    """A matrix whose token an operator returns each time that it is asked for."""

    def __init__(self, make: Callable[[], Tensor], rows: int, cols: int, given: int) -> None:
        self._make, self.rows, self.cols, self.given, self._entries = make, rows, cols, given, None

    @property
    def token(self) -> Tensor:
        return self._make()


def packed_address(x: Tensor, index: int | None) -> int:
    """Returns the address of a contiguous tensor on a CUDA device, or on the CPU (None). 0: it needs other checks."""
    try:
        here = x.is_cpu if index is None else x.is_cuda and x.get_device() == index
        return x.data_ptr() if here and x.is_contiguous() and not x.is_neg() else 0
    except RuntimeError:  # sparse and batched tensors have no address
        return 0


def packed_key(x: Tensor) -> tuple[torch.Size, torch.dtype, str | None]:
    """Returns the properties of x that determine its `PackedProduct`."""
    return x.shape, x.dtype, precision_of(x)


class PackedProduct:
    """Products A x without values, for contiguous x [cols, n] of a shape and a type that `spmm` has accepted, at
    `packed_address(x, index)`."""

    __slots__ = ("_alike", "_calls", "_plan", "_width", "a", "back", "index", "key")

    def __init__(self, a: Ref, handle: Handle, x: Tensor, out: Tensor) -> None:
        """x and out are operand and result of a run with `handle`, a or its transpose."""
        self.a, self.key = a, packed_key(x)
        self.back: PackedProduct | None = None  # the product of the transpose, set by the first backward pass
        self._plan = handle.plan("spmm", x.shape[1], x.dtype, self.key[2])
        self.index = x.get_device() if x.is_cuda else None
        self._width = Width(x.shape[1], tuple(out.shape), 0, 0)
        self._calls = self._width.calls
        self._alike = x.shape == out.shape

    @untraced
    def run(self, x: Tensor, address: int) -> Tensor:
        out = _empty_like(x) if self._alike else x.new_empty(self._width.result)  # the first takes less time
        calls, plan, index = self._calls, self._plan, self.index
        try:
            call = calls.pop()
        except IndexError:
            call = self._width.take()
        call.first.data, call.second.data = address, out.data_ptr()
        if index is None:
            status = run_prepared(plan, call.reference, None, None)
        else:
            stream, workspace = plan.workspace(_current_stream(index))[0]
            status = run_prepared(plan, call.reference, stream, workspace)
        calls.append(call)
        if status:
            c.check(status)
        return out


def refuse_capture(missing: str, device: torch.device) -> None:
    """Raises UsageError during CUDA graph capture. `missing` is the step that capture does not permit."""
    if device.type == "cuda" and capturing():
        raise UsageError(
            f"{missing} during CUDA graph capture; run the same step once before the capture, forward and backward"
        )


def stream_of(device: torch.device) -> int | None:
    return _current_stream(device.index) if device.type == "cuda" else None

