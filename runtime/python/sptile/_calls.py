"""Owners of handles of the library, and prepared calls that repeated products reuse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from ctypes import byref, c_int, c_void_p
from typing import Any

import numpy as np

from . import _library as c
from ._arrays import ITEMSIZE, address, export
from .errors import ArgumentTypeError, UsageError

# sptile_run with untyped pointers. A small product takes less time than the conversion of typed arguments.
run = c.lib["sptile_run"]
run.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p]
run.restype = c_int
# The same without any conversion, for None and objects of ctypes.
run_prepared = c.lib["sptile_run"]
run_prepared.restype = c_int

# Global variables are found faster than attributes of other modules.
_ndarray, _empty = np.ndarray, np.empty


class _Release:
    """Destroys handles of the library: at once, or later while `postponed` returns True."""

    def __init__(self) -> None:
        self.postponed: Callable[[], bool] = lambda: False
        self._pending: list[tuple[Callable[[Any], None], int]] = []

    def __call__(self, destroy: Callable[[Any], None], address: int) -> None:
        self._pending.append((destroy, address))
        while self._pending and not self.postponed():
            function, handle = self._pending.pop()
            function(handle)

    def stop(self) -> None:
        """Leaves the remaining handles to the end of the process, for frameworks that cannot be called any more."""
        self.postponed = lambda: True


release = _Release()


class Owner(c_void_p):
    """Owns a handle of the library."""

    _destroy: Callable[[Any], None]

    def __del__(self, release: _Release = release) -> None:
        if self.value is not None:
            release(self._destroy, self.value)


class Call:
    """Operands of one run with n columns. Threads that run a plan concurrently have separate ones."""

    __slots__ = ("attributes", "dense", "first", "operands", "reference", "second", "values")

    def __init__(self, count: int = 2, n: int = 0) -> None:
        self.operands = c.Operands()
        self.operands.n = n
        self.values = self.operands.values
        self.attributes: dict[str, float] = {}
        self.reference = byref(self.operands)
        dense = self.operands.dense
        self.dense = [dense[i] for i in range(min(count, c.MAX_OPERANDS))]
        self.dense += [self.operands.more[i] for i in range(count - c.MAX_OPERANDS)]
        self.first, self.second = self.dense[:2]


Address = tuple[int, int, int]
"""Address of a dense operand, elements between its rows, and elements between its heads."""


class PlanHandle(Owner):
    """Owns an sptile_plan, and keeps the matrix whose arrays it may borrow. Every run holds a reference, so
    that closing a plan in one thread does not destroy it while another thread runs it."""

    _destroy = c.lib.sptile_plan_destroy

    def __init__(self, matrix: Any, operation: bytes | None, options: c.PlanOptions) -> None:
        super().__init__()
        self.matrix, self.info = matrix, c.PlanInfo()
        c.check(c.lib.sptile_plan_create(matrix, operation, byref(options), byref(self)))
        c.check(c.lib.sptile_plan_describe(self, byref(self.info)))
        self._calls: list[Call] = []

    @property
    def format(self) -> str:
        return str(self.info.format.decode())

    @property
    def kernel(self) -> str:
        return str(self.info.kernel.decode())

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("cannot copy or pickle the handle of a Plan; copy the Plan")

    def run(
        self,
        dense: Iterable[Address | None],
        values: int | None = None,
        values_batch: int = 0,
        *,
        n: int = 0,
        alpha: float = 1.0,
        beta: float = 0.0,
        stream: int | None = None,
        workspace: Any = None,
        **attributes: float,
    ) -> None:
        """Runs the plan with the operands of its operation. 0 columns selects those of the plan; `workspace` is a
        reference to a struct; `attributes` are attributes of runs."""
        try:
            call = self._calls.pop()
        except IndexError:
            call = Call(c.MAX_OPERANDS + c.MORE_OPERANDS)
        for slot, operand in zip(call.dense, dense, strict=False):
            slot.data, slot.ld, slot.batch = operand or (None, 0, 0)
        operands = call.operands
        operands.n, call.values.data, call.values.batch = n, values, values_batch
        operands.alpha, operands.beta = alpha, beta
        if attributes != call.attributes:
            c.set_attributes(operands, attributes)
            call.attributes = attributes
        status = run(self, call.reference, stream, workspace)
        self._calls.append(call)
        if status:
            c.check(status)


class Width:
    """Prepared calls for packed operands of one shape, with `alpha = 1` and `beta = 0`."""

    __slots__ = ("b_bytes", "c_bytes", "calls", "n", "result")

    def __init__(self, n: int, result: tuple[int, ...], b_bytes: int, c_bytes: int) -> None:
        self.n, self.result = n, result
        self.b_bytes, self.c_bytes = b_bytes, c_bytes
        self.calls: list[Call] = []

    def take(self) -> Call:
        """Returns a call that no other thread has. The caller appends it to `calls` after the run."""
        try:
            return self.calls.pop()
        except IndexError:
            return Call(2, self.n)


class PackedProducts:
    """Products of an SpMM plan with packed operands of shapes that earlier runs had."""

    __slots__ = ("b_dtype", "b_size", "c_dtype", "c_size", "handle", "misaligned", "widths")

    def __init__(self, handle: PlanHandle, operand: int, result: int) -> None:
        self.handle: PlanHandle | None = handle  # None: the plan is closed
        self.b_size, self.c_size = ITEMSIZE[operand], ITEMSIZE[result]
        self.misaligned = max(self.b_size, self.c_size) - 1  # bits of addresses
        self.b_dtype: Any = None
        self.c_dtype: Any = None
        self.widths: dict[tuple[int, ...], Width] = {}

    def set_dtypes(self, operand: Any, result: Any) -> None:
        """Sets the types of NumPy operands, which `multiply` then accepts."""
        self.b_dtype, self.c_dtype = operand, result

    def add(self, operand: tuple[int, ...], result: tuple[int, ...]) -> None:
        """Adds a shape of operands and results that a run has accepted."""
        if operand not in self.widths:
            n = operand[1] if len(operand) == 2 else 1
            sizes = (self.b_size * math.prod(operand), self.c_size * math.prod(result))
            self.widths[operand] = Width(n, result, *sizes)

    def multiply(self, B: Any, out: Any = None) -> Any:
        """Returns the product with a packed NumPy array. Returns None without a run if operands need other checks."""
        if type(B) is not _ndarray or B.dtype is not self.b_dtype:
            return None
        width = self.widths.get(B.shape)
        if width is None:
            return None
        try:
            b = address(export(B))
        except (TypeError, ValueError, BufferError):
            if not B.flags.c_contiguous:
                return None
            b = B.ctypes.data  # read-only
        if out is None:
            if b & self.misaligned:
                return None
            out = _empty(width.result, self.c_dtype)
            c_ = address(export(out))
        else:
            if type(out) is not _ndarray or out.dtype is not self.c_dtype or out.shape != width.result:
                return None
            try:
                c_ = address(export(out))
            except (TypeError, ValueError, BufferError):
                return None
            if (b | c_) & self.misaligned or -width.b_bytes < b - c_ < width.c_bytes:
                return None
        handle = self.handle  # a reference until the run is done: another thread may close the plan
        if handle is None:
            raise UsageError("the plan is closed")
        calls = width.calls
        try:
            call = calls.pop()  # as in `take`
        except IndexError:
            call = Call(2, width.n)
        call.first.data = b
        call.second.data = c_
        status = run_prepared(handle, call.reference, None, None)
        calls.append(call)
        if status:
            c.check(status)
        return out

    def run_pair(
        self, width: Width, pointers: tuple[int, int], alpha: float, beta: float, stream: int | None
    ) -> bool:
        """Runs with any scale factors and stream. Returns False without a run if operands overlap or are
        misaligned."""
        b, c_ = pointers
        if (b | c_) & self.misaligned or -width.b_bytes < b - c_ < width.c_bytes:
            return False
        handle = self.handle  # as in `multiply`
        if handle is None:
            raise UsageError("the plan is closed")
        call = width.take()
        call.first.data, call.second.data = b, c_
        try:
            call.operands.alpha, call.operands.beta = alpha, beta
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"alpha and beta must be numbers, got {alpha!r} and {beta!r}") from None
        status = run(handle, call.reference, stream, None)
        call.operands.alpha, call.operands.beta = 1, 0
        width.calls.append(call)
        if status:
            c.check(status)
        return True


def _no_product(B: Any, out: Any = None) -> None:
    """Replaces `multiply` until the first product."""


class Recent:
    """`PackedProducts.multiply` of the plans that multiplied the last vector and the last matrix."""

    __slots__ = ("matrix", "vector")

    def __init__(self) -> None:
        self.vector: Callable[..., Any] = _no_product
        self.matrix: Callable[..., Any] = _no_product

    def multiply(self, B: Any) -> Any:
        """Returns the product with one of these plans. Returns None if neither has multiplied operands like B."""
        C = self.vector(B)
        return self.matrix(B) if C is None else C

    def remember(self, multiply: Callable[..., Any], rank: int) -> None:
        """Stores the function of a plan that multiplied operands with one or two dimensions."""
        if rank == 1:
            self.vector = multiply
        else:
            self.matrix = multiply
