"""A matrix of the library over CSR arrays in tensors, and its plans, made when they are first needed.

Operators take a matrix as a token, a tensor with the number of its `Entries`, and as sizes. A compiler therefore
sees tensors and integers, and compiles once for all matrices. `entries_of` finds the matrix of a token, which
keeps it alive.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .. import _library as c
from .._arrays import dtype_code
from ..errors import ArgumentTypeError, Error, InternalError, UsageError
from .pattern import EntryOrder, Pattern, apart, inverse, untraced

DTYPES = {torch.float32: c.F32, torch.float64: c.F64, torch.float16: c.F16, torch.bfloat16: c.BF16}

_OF_CODES = {code: dtype for dtype, code in DTYPES.items()}


def torch_dtype(dtype: Any) -> torch.dtype:
    """Returns the torch dtype of a type: a name such as "f32" or "float32", a NumPy or a torch dtype."""
    if isinstance(dtype, torch.dtype) and dtype in DTYPES:
        return dtype
    return _OF_CODES[dtype_code(dtype)]


# Formats that are tried besides csr on a CUDA device where none is named.
TRIED = ("bittcf", "bmat", "tall")
# Products below so many multiplications are launches: csr serves them best.
WORTH_TRYING = 1 << 22


class Request(NamedTuple):
    """What a plan is asked for; the fields are those of sptile_plan_options."""

    operation: str
    n: int
    dense: torch.dtype
    precision: int = c.PRECISION_DEFAULT
    run_values: bool = False  # values come with each run
    m: int = 0
    heads: int = 1
    score: int = 0
    activation: int = 0
    transposed_weights: bool = False


def precision_of(x: Tensor) -> int:
    """The least exact products that a call with x may have: those of torch's own matrix products."""
    if x.dtype is not torch.float32 or not x.is_cuda:
        return c.PRECISION_DEFAULT
    return c.TF32 if _allows_tf32() else c.FP32


# What allow_tf32 and its successor fp32_precision both set; torch before 2.9 has the first alone.
_get_precision: Any = getattr(torch._C, "_get_fp32_precision_getter", None)


def _allows_tf32() -> bool:
    if _get_precision is None:
        return torch.backends.cuda.matmul.allow_tf32
    return _get_precision("cuda", "matmul") == "tf32"


def capturing() -> bool:
    """True while the current stream is captured in a CUDA graph."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


_unfreed: list[tuple[Callable[[int], None], int]] = []


def _free(function: Callable[[int], None], pointer: int) -> None:
    """Frees a plan or a matrix, later while a graph is captured, which would not survive it."""
    _unfreed.append((function, pointer))
    if capturing():
        return
    while _unfreed:
        one, what = _unfreed.pop()
        one(what)


class _Call:
    """The operands of one run."""

    __slots__ = ("operands", "pointer", "dense", "slope", "values")

    def __init__(self) -> None:
        self.operands = c.Operands()
        self.pointer = ctypes.byref(self.operands)
        self.dense = [self.operands.dense[i] for i in range(c.MAX_OPERANDS)]
        self.operands.set_attributes(slope=0.2)
        self.slope = self.operands.attributes[0]
        self.values = self.operands.values


_run = c.lib.sptile_run


class Plan:
    """One sptile_plan with what its runs need."""

    def __init__(self, pointer: int, device: torch.device, keep: Iterable[Any]) -> None:
        self.pointer, self.device, self._keep = pointer, device, tuple(keep)
        weakref.finalize(self, _free, c.lib.sptile_plan_destroy, pointer).atexit = False
        info = c.PlanInfo()
        c.check(c.lib.sptile_plan_describe(pointer, ctypes.byref(info)))
        self.format, self.kernel = info.format.decode(), info.kernel.decode()
        self.workspace_bytes = int(info.workspace_bytes)
        self._cuda = device.type == "cuda"
        self._spare: list[_Call] = []
        self._workspaces: dict[int, tuple[Any, Tensor | None]] = {}

    @untraced
    def run(
        self,
        dense: Iterable[tuple[int, int, int] | None],
        values: int = 0,
        values_batch: int = 0,
        alpha: float = 1.0,
        slope: float = 0.2,
        beta: float = 0.0,
    ) -> None:
        """Runs with operands of (address, elements between rows, elements between heads) on the current
        stream. With beta = 1 products are added to what the result holds."""
        try:
            call = self._spare.pop()
        except IndexError:
            call = _Call()
        for slot, operand in zip(call.dense, dense, strict=False):
            slot.data, slot.ld, slot.batch = operand or (None, 0, 0)
        operands = call.operands
        call.values.data, call.values.batch = values, values_batch
        call.slope.value = slope
        operands.alpha, operands.beta = alpha, beta
        if self._cuda:
            stream = torch._C._cuda_getCurrentRawStream(self.device.index)
            workspace, _kept = self._workspaces.get(stream) or self._workspace(stream)
            status = _run(self.pointer, call.pointer, stream, workspace)
        else:
            status = _run(self.pointer, call.pointer, None, None)
        self._spare.append(call)
        if status:
            c.check(status)

    @untraced
    def _workspace(self, stream: int) -> tuple[Any, Tensor | None]:
        """Zeroed memory for the runs of a stream. A graph has its own, zeroed by each replay: the allocator
        gives it to other work of the graph meanwhile."""
        captured = capturing()
        memory = None
        pointer = None
        if self.workspace_bytes > 0:
            memory = torch.zeros(self.workspace_bytes, dtype=torch.uint8, device=self.device)
            pointer = ctypes.byref(c.Workspace(memory.data_ptr(), self.workspace_bytes))
        if captured:
            return pointer, memory
        for kept in self._keep:
            if isinstance(kept, Tensor):
                kept.record_stream(torch.cuda.current_stream(self.device))
        self._workspaces[stream] = pointer, memory
        return pointer, memory


class Handle:
    """A pattern with values in the order of CSR, or none: then each entry is 1, unless a run brings
    values."""

    def __init__(self, pattern: Pattern, values: Tensor | None = None, format: str = "auto") -> None:
        if not isinstance(format, str):
            raise ArgumentTypeError(f"format must be 'auto' or the name of a format such as 'csr', got {format!r}")
        self.pattern, self.values, self.format = pattern, values, format
        self.plans: dict[Request, Plan] = {}
        self.derived: dict[str, Any] = {}  # what follows from the pattern, kept for those who made it
        self._matrices: dict[torch.dtype | None, tuple[int, Tensor | None]] = {}
        self._lock = threading.RLock()
        self._transposed: Handle | None = None
        self._origin: Callable[[], Handle | None] = lambda: None  # that this one is the transpose of
        self._source: Tensor | None = None
        self._symmetric = False

    def transposed(self) -> Handle:
        """That of the transpose, made once: this one where both are equal."""
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
                    self._transposed._origin = weakref.ref(self)
            return self if self._symmetric else self._transposed  # type: ignore[return-value]

    def source(self) -> Tensor:
        """Which entry each entry of the transpose is, [nnz]."""
        if self._source is None:
            origin = self._origin()
            with apart():
                self._source = self.pattern.transposed()[1] if origin is None else inverse(origin.source())
        return self._source

    def plan(self, request: Request) -> Plan:
        """The plan for a request, made where it is not there."""
        plan = self.plans.get(request)
        return plan if plan is not None else self._make(request)

    def _make(self, request: Request) -> Plan:
        refuse_capture(
            f"cannot plan {request.operation} for operands with {request.n} columns of {request.dense}",
            self.pattern.device,
        )
        with self._lock, apart():
            plan = self.plans.get(request)
            if plan is None:
                plan = self.plans[request] = self._chosen(request)
            return plan

    def _chosen(self, request: Request) -> Plan:
        pattern = self.pattern
        free = request.operation == "spmm" and not request.run_values
        if self.format != "auto" or not free:
            return self._create(request, self.format if free and self.format != "auto" else "csr")
        if pattern.device.type == "cpu" or pattern.nnz * request.n < WORTH_TRYING:
            return self._create(request, "csr")
        return self._fastest(request)

    @untraced
    def _fastest(self, request: Request) -> Plan:
        """Of the formats that can, the one whose runs take the least time here."""
        device, pattern = self.pattern.device, self.pattern
        b = torch.randn(pattern.cols, request.n, device=device).to(request.dense)
        out = torch.empty(pattern.rows, request.n, device=device, dtype=request.dense)
        operands = [(x.data_ptr(), request.n, 0) for x in (b, out)]
        best, fastest = float("inf"), self._create(request, "csr")
        for plan in itertools.chain([fastest], self._others(request)):
            seconds = _time(lambda plan=plan: plan.run(operands), device)  # type: ignore[misc]
            if seconds < best:
                best, fastest = seconds, plan
        return fastest

    def _others(self, request: Request) -> Iterator[Plan]:
        """Plans of the formats other than csr that have a kernel for the type and the precision, and room."""
        for name in TRIED:
            try:
                yield self._create(request, name)
            except Error:
                continue

    @untraced
    def _create(self, request: Request, format: str) -> Plan:
        pattern = self.pattern
        cuda = pattern.device.type == "cuda"
        dtype = request.dense if request.run_values or self.values is not None else None
        matrix, values = self._matrices.get(dtype) or self._matrix(dtype)
        options = c.PlanOptions(
            n=request.n,
            format=format.encode(),
            dense=DTYPES[request.dense],
            device=c.CUDA if cuda else c.CPU,
            ordinal=pattern.device.index or 0,
            threads=0 if cuda else torch.get_num_threads(),
            stream=_stream(pattern.device),
        )
        options.set_attributes(
            precision=request.precision,
            m=request.m,
            heads=request.heads,
            score=request.score,
            activation=request.activation,
            transposed_weights=request.transposed_weights,
            order=c.ORDER_CSR,
        )
        pointer = ctypes.c_void_p()
        c.check(
            c.lib.sptile_plan_create(
                matrix, request.operation.encode(), ctypes.byref(options), ctypes.byref(pointer)
            )
        )
        return Plan(c.handle_of(pointer), pattern.device, (pattern.crow, pattern.col, values))

    @untraced
    def _matrix(self, dtype: torch.dtype | None) -> tuple[int, Tensor | None]:
        """The library's matrix with the values in a type, or with zeros where runs bring values; a
        pattern."""
        pattern, values = self.pattern, self.values
        if dtype is not None and values is None:
            values = torch.zeros(pattern.nnz, dtype=dtype, device=pattern.device)
        elif dtype is not None and values is not None:
            values = values.to(dtype)
        arrays = c.Arrays(
            rows=pattern.rows,
            cols=pattern.cols,
            nnz=pattern.nnz,
            row=pattern.crow.data_ptr(),
            col=pattern.col.data_ptr(),
            values=None if values is None else values.data_ptr(),
            value_dtype=c.NONE if values is None else DTYPES[values.dtype],
            row_dtype=c.I64,
            col_dtype=c.I32,
            device=c.CUDA if pattern.device.type == "cuda" else c.CPU,
            ordinal=pattern.device.index or 0,
        )
        pointer = ctypes.c_void_p()
        c.check(
            c.lib.sptile_matrix_create(
                ctypes.byref(arrays),
                ctypes.byref(c.MatrixOptions(trusted=1)),
                _stream(pattern.device),
                ctypes.byref(pointer),
            )
        )
        made = c.handle_of(pointer), values
        weakref.finalize(self, _free, c.lib.sptile_matrix_destroy, made[0]).atexit = False
        self._matrices[dtype] = made
        return made


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


def refuse_capture(missing: str, device: torch.device) -> None:
    """Refuses what cannot be done while a CUDA graph is captured."""
    if device.type == "cuda" and capturing():
        raise UsageError(
            f"{missing} during CUDA graph capture; run the same step once before the capture, forward and backward"
        )


def _stream(device: torch.device) -> int | None:
    return torch._C._cuda_getCurrentRawStream(device.index) if device.type == "cuda" else None


def _time(run: Callable[[], None], device: torch.device, repeat: int = 3) -> float:
    """Milliseconds of a run, the least of some."""
    stream = torch.cuda.current_stream(device)
    run()
    best = float("inf")
    for _ in range(repeat):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(stream)
        run()
        end.record(stream)
        end.synchronize()
        best = min(best, begin.elapsed_time(end))
    return best
