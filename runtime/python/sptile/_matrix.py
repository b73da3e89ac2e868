"""Owners of the library's matrices, with the order in which entries were given, and views of their arrays."""

from __future__ import annotations

import copy as copying
from ctypes import byref
from typing import Any, NamedTuple, Protocol

import numpy as np

from . import _arrays
from . import _library as c
from ._calls import Owner, PlanHandle
from ._order import DeviceOrder, Order
from .errors import BadInputError, UnsupportedError, UsageError


class Source(Protocol):
    """The origin of a matrix."""

    @property
    def name(self) -> str:
        """Name for messages."""

    @property
    def device(self) -> str: ...

    @property
    def given(self) -> int | None:
        """Number of given entries. None: the number of entries of the matrix."""

    @property
    def order(self) -> Order | None:
        """Order of given entries in host memory. None: CSR order."""

    @property
    def unordered(self) -> str:
        """Reason why lists with one number per entry have no order; "" if they have one."""

    @property
    def is_file(self) -> bool:
        """True if the data can never change."""

    @property
    def kept(self) -> Any:
        """Owners of borrowed arrays."""

    def given_doubles(self) -> Any:
        """Returns the values of the given entries in float64, if some are repeated."""

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        """Creates the matrix of the library. The handle keeps the arrays that it borrows."""


class MatrixHandle(Owner):
    """Owns an sptile_matrix and the source of its arrays. A copy is another matrix with the same values."""

    source: Source
    refreshable: bool
    value_dtype: int
    content: int
    """`sptile_matrix_info.content`, a hash of the arrays of a file."""
    source_count: int
    """Number of given entries, equal to the number of values of a refresh."""
    order: Order | None = None
    """Order of the given entries. None: CSR order."""
    refreshed: tuple[str, int] | None = None
    """Format and value type of the plan of the last refresh."""
    given_values: Any = None
    """Values of the last refresh in the order of the given entries, if some are repeated. False: unknown."""

    _destroy = c.lib.sptile_matrix_destroy

    def __reduce__(self) -> tuple[Any, ...]:
        if self.source.device != "cpu":
            raise TypeError(
                f"cannot copy or pickle a Bundle or Plan on {self.source.device}; copy the matrix to host memory, or "
                "open it from a file"
            )
        return made, (self.source, self.refreshable, self._fresh(), self.content)

    def __deepcopy__(self, memo: dict[int, Any]) -> MatrixHandle:
        if self.source.is_file:  # which never changes
            twin = shared(self, self.refreshable)
            _give_values(twin, self._fresh())
            return twin
        return made(*copying.deepcopy(self.__reduce__()[1], memo))

    def _fresh(self) -> _Fresh | None:
        """Returns the values of the last refresh."""
        return None if self.refreshed is None else _fresh_values(self, *self.refreshed)

    def given_doubles(self) -> Any:
        """Returns the values of the given entries, some of which are repeated, in float64."""
        if self.given_values is False and self.source.device == "cpu":
            raise UsageError(
                "the values of duplicates are unknown after refresh with order='packed'; refresh with order='csr'"
            )
        known = self.given_values is not None and self.given_values is not False
        return self.given_values if known else self.source.given_doubles()

    def columns(self) -> Any:
        """Returns the column of each entry, in CSR order."""
        if self.source.device != "cpu":
            raise UnsupportedError(
                "transpose=True does not support duplicates in device memory; call A.sum_duplicates() first"
            )
        arrays = c.Arrays()
        c.check(c.lib.sptile_matrix_arrays(self, byref(arrays)))
        return memory_view(self, arrays, arrays.col, arrays.nnz, arrays.col_dtype)


class _Fresh(NamedTuple):
    """Values of a refresh: `packed` in CSR order, the other fields as in MatrixHandle."""

    packed: Any
    refreshed: tuple[str, int]
    given_values: Any


def _fresh_values(handle: MatrixHandle, format: str, dtype: int) -> _Fresh:
    """Reads the values of a format by a scaled SDDMM with operands of ones."""
    options = c.PlanOptions(n=1, format=format.encode(), dense=dtype)
    c.set_attributes(options, {"order": c.ORDER_CSR})
    try:
        plan = PlanHandle(handle, b"sddmm", options)
    except UnsupportedError as error:
        raise TypeError(
            f"cannot copy or pickle a refreshed Bundle or Plan, because its values cannot be read: {error}"
        ) from None
    one, typestr = _ONES[dtype]
    counts = (plan.info.rows, plan.info.cols, plan.info.entries)
    arrays = [np.full(count, one, typestr) for count in counts]
    addresses = [_arrays.list_address(array, dtype, len(array), "ones") for array in arrays]
    plan.run([(address, 0, 0) for address in addresses], scaled=1)
    return _Fresh(arrays[-1], (format, dtype), handle.given_values)


_ONES: dict[int, tuple[float, str]] = {
    c.DTYPE_F16: (1.0, "<f2"),
    c.DTYPE_BF16: (0x3F80, "<u2"),
    c.DTYPE_F32: (1.0, "<f4"),
    c.DTYPE_F64: (1.0, "<f8"),
}
"""The number 1 of each type, and the NumPy type in which it is stored."""


def made(
    source: Source, refreshable: bool, fresh: _Fresh | None = None, content: int = 0, trusted: bool = False
) -> MatrixHandle:
    """Creates a matrix. BadInputError unless a file has the hash `content`, if it is not 0. The library checks arrays
    unless they are trusted."""
    handle = MatrixHandle()
    source.make(c.MatrixOptions(refreshable=int(refreshable), trusted=int(trusted)), handle)
    describe_into(handle, source, refreshable)
    if content != 0 and handle.content != content:
        raise BadInputError(f"{source.name}: the file changed after its Bundle was pickled; open it again")
    _give_values(handle, fresh)
    return handle


def shared(handle: MatrixHandle, refreshable: bool) -> MatrixHandle:
    """Creates another matrix of the same data, without values of a refresh."""
    other = MatrixHandle()
    options = c.MatrixOptions(refreshable=int(refreshable))
    c.check(c.lib.sptile_matrix_share(handle, byref(options), byref(other)))
    describe_into(other, handle.source, refreshable)
    return other


def describe_into(handle: MatrixHandle, source: Source, refreshable: bool) -> None:
    info = describe(handle)
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
    count, ordinal, entries = int(given.count), int(given.ordinal), int(describe(handle).nnz)

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


def describe(handle: MatrixHandle) -> c.MatrixInfo:
    info = c.MatrixInfo()
    c.check(c.lib.sptile_matrix_describe(handle, byref(info)))
    return info


# ---- Arrays of the library for others ----

_TYPESTR = {c.DTYPE_I32: "<i4", c.DTYPE_I64: "<i8", c.DTYPE_F16: "<f2", c.DTYPE_BF16: "<u2", c.DTYPE_F32: "<f4", c.DTYPE_F64: "<f8"}


def memory_view(handle: MatrixHandle, arrays: c.Arrays, pointer: int | None, count: int, dtype: int) -> Any:
    """Returns a read-only view of an array of a matrix, which keeps the matrix."""
    if arrays.device == c.DEVICE_CUDA:
        return _arrays.DeviceMemory(handle, pointer or 0, count, _TYPESTR[dtype])
    view = raw_view(handle, pointer, count, dtype)
    return view.view(_arrays.numpy_dtype(c.DTYPE_BF16)) if dtype == c.DTYPE_BF16 else view


def raw_view(owner: Any, pointer: int | None, count: int, dtype: int) -> np.ndarray[Any, Any]:
    """Returns a read-only view of an array in host memory, with bfloat16 as uint16."""
    if count == 0:
        view: np.ndarray[Any, Any] = np.empty(0, _TYPESTR[dtype])
        view.flags.writeable = False
        return view
    return np.asarray(_arrays.HostMemory(owner, pointer or 0, count, _TYPESTR[dtype]))
