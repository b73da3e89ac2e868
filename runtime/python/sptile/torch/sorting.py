"""Sorting and transposing entries in host memory with libsptile-tools, which takes a fraction of the time of torch."""

from __future__ import annotations

import functools
from ctypes import byref
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _library as c
from .. import _tools
from ..errors import error_of

_ID_TYPES = {torch.int32: c.DTYPE_I32, torch.int64: c.DTYPE_I64}
_VALUE_TYPES = {torch.float32: c.DTYPE_F32, torch.float64: c.DTYPE_F64}
_MAX_ENTRIES = 2**31 - 1


@functools.cache
def _library() -> Any:
    """Returns libsptile-tools, or None if it is not installed: products do not require it."""
    try:
        return _tools.library()
    except ImportError:
        return None


def _suits(ids: Tensor, sides: int) -> bool:
    """Returns whether the library sorts ids like these: memory for a counter per row and column must be small."""
    return (
        type(ids) is Tensor
        and ids.is_cpu
        and ids.dtype in _ID_TYPES
        and ids.numel() <= _MAX_ENTRIES
        and sides <= 16 * ids.numel() + (1 << 16)
        and _library() is not None
        and _has_memory(ids)
    )


def _has_memory(x: Tensor) -> bool:
    """Returns whether x has an address: tensors of transforms and of batched gradients have none."""
    try:
        return x.data_ptr() != 0 or x.numel() == 0
    except RuntimeError:
        return False


def _int32(count: int) -> Tensor:
    return torch.empty(count, dtype=torch.int32, device="cpu")


class SortedEntries(NamedTuple):
    """CSR arrays of entries, and the order in which they were given; see `pattern.EntryOrder`."""

    crow: Tensor
    col: Tensor
    position: Tensor | None
    source: Tensor | None


def sort_entries(row: Tensor, col: Tensor, rows: int, cols: int) -> SortedEntries | None:
    """Returns the sorted entries of rows and columns in the same memory layout; None if torch must sort them: on other
    devices, if the matrix has many empty rows or columns, or if an id is out of range."""
    if row.dtype != col.dtype or row.numel() != col.numel() or not (_suits(row, rows + cols) and _suits(col, 0)):
        return None
    row, col, given = row.contiguous(), col.contiguous(), row.numel()
    dtype = _ID_TYPES[row.dtype]
    crow = torch.empty(rows + 1, dtype=torch.int64, device="cpu")
    ids, position, source = _int32(given), _int32(given), _int32(given)
    arrays = c.Arrays(
        rows=rows, cols=cols, nnz=given, row=row.data_ptr(), col=col.data_ptr(), layout=c.LAYOUT_COO, row_dtype=dtype,
        col_dtype=dtype,
    )  # fmt: skip
    done = _tools.Sorted(
        row_ptr=crow.data_ptr(), col_idx=ids.data_ptr(), position=position.data_ptr(), source=source.data_ptr(),
        threads=torch.get_num_threads(),
    )  # fmt: skip
    status = _library().sptile_tools_sort_entries(byref(arrays), byref(done))
    if status == c.STATUS_BAD_INPUT:
        return None
    _check(status)
    if done.ordered:
        return SortedEntries(crow, ids, None, None)
    if done.nnz < given:
        return SortedEntries(crow, ids[: done.nnz].clone(), position, None)
    return SortedEntries(crow, ids, position, source)


def add_rows(row: Tensor, col: Tensor, rows: int, x: Tensor) -> Tensor | None:
    """Returns the sums of the rows `col` of x [cols, n], float32 or float64 in host memory, over the entries of each
    row, in their order. None if torch must add them, or an id is out of range. Without derivatives."""
    suit = _suits(row, 0) and _suits(col, 0) and _has_memory(x)
    if not suit or row.dtype != col.dtype or row.numel() != col.numel():
        return None
    row, col, x = row.contiguous(), col.contiguous(), x.contiguous()
    out, dtype = x.new_empty(rows, x.shape[1]), _ID_TYPES[row.dtype]
    arrays = c.Arrays(
        rows=rows, cols=x.shape[0], nnz=row.numel(), row=row.data_ptr(), col=col.data_ptr(), layout=c.LAYOUT_COO,
        row_dtype=dtype, col_dtype=dtype,
    )  # fmt: skip
    dense = _tools.Rows(
        x=x.data_ptr(), out=out.data_ptr(), n=x.shape[1], dtype=_VALUE_TYPES[x.dtype], threads=torch.get_num_threads()
    )
    status = _library().sptile_tools_add_rows(byref(arrays), byref(dense))
    if status == c.STATUS_BAD_INPUT:
        return None
    _check(status)
    return out


def transpose_pattern(crow: Tensor, col: Tensor, cols: int) -> tuple[Tensor, Tensor, Tensor] | None:
    """Returns row pointers and columns of the transpose of a valid pattern, and the index in the pattern of each of its
    entries; None if torch must sort them."""
    if not _suits(col, cols) or not crow.is_contiguous() or not col.is_contiguous():
        return None
    nnz = col.numel()
    pointers = torch.empty(cols + 1, dtype=torch.int64, device="cpu")
    ids, source = _int32(nnz), _int32(nnz)
    arrays = c.Arrays(rows=crow.numel() - 1, cols=cols, nnz=nnz, row=crow.data_ptr(), col=col.data_ptr())
    done = _tools.Sorted(
        row_ptr=pointers.data_ptr(), col_idx=ids.data_ptr(), source=source.data_ptr(), threads=torch.get_num_threads()
    )
    _check(_library().sptile_tools_transpose_pattern(byref(arrays), byref(done)))
    return pointers, ids, source


def _check(status: int) -> None:
    if status != c.STATUS_OK:
        raise error_of(status, _library().sptile_tools_last_error().decode("utf-8", "replace"))
