"""Sums and elementwise products of a SparseMatrix. Gradients reach all values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..errors import UnsupportedError, UsageError
from .handle import Handle
from .pattern import EntryOrder, pattern_of_entries

SparseMatrix = Any  # of `matrix`, which imports this module


def _numbers(a: SparseMatrix, dtype: torch.dtype | None = None) -> Tensor:
    """Returns the values of the given entries; those of a pattern are 1, of a type."""
    given = a._given_values()
    if given is not None:
        return given
    return torch.ones(a._entries.given, dtype=dtype or torch.float32, device=a.device)


def _promoted(a: SparseMatrix, b: SparseMatrix) -> tuple[Tensor, Tensor]:
    """Returns the values of both matrices in their common type. A pattern has the type of the other."""
    x, y = a._given_values(), b._given_values()
    x, y = _numbers(a, None if y is None else y.dtype), _numbers(b, None if x is None else x.dtype)
    dtype = torch.promote_types(x.dtype, y.dtype)
    return x.to(dtype), y.to(dtype)


def _check_alike(a: SparseMatrix, b: SparseMatrix, sign: str) -> None:
    if a.shape != b.shape:
        raise UsageError(f"A {sign} B requires matrices of one shape, got {list(a.shape)} and {list(b.shape)}")
    if a.device != b.device:
        raise UsageError(f"A {sign} B requires matrices on one device, got {a.device} and {b.device}")


def _have_same_entries(a: SparseMatrix, b: SparseMatrix) -> bool:
    """Returns whether values of both matrices are in one order of the same entries."""
    if a._entries is b._entries or a._entries.token is b._entries.token:
        return True
    return not torch.compiler.is_compiling() and a._bare is b._bare and a._order is b._order


def scaled_by(a: SparseMatrix, factor: Tensor | float, divides: bool = False) -> SparseMatrix:
    """Returns A * factor, or A / factor: a number, or a tensor that broadcasts to the shape of A."""
    dense = isinstance(factor, Tensor) and factor.dim() > 0
    if dense:
        factor = _at_entries(a, factor)  # type: ignore[arg-type]
    values = _numbers(a, factor.dtype if isinstance(factor, Tensor) and factor.is_floating_point() else None)
    return a.with_values(values / factor if divides else values * factor)


def _at_entries(a: SparseMatrix, x: Tensor) -> Tensor:
    """Returns the element of a dense tensor for each entry of A. A tensor of one row or column is not expanded, so that
    its gradient is not either."""
    rows, cols = a.shape
    wanted = f"[{cols}], [1, {cols}], [{rows}, 1] or [{rows}, {cols}]"
    if x.layout != torch.strided or x.dim() > 2:
        raise UsageError(f"x must be a dense tensor {wanted} for A * x, got {x.layout} {list(x.shape)}")
    x = x.unsqueeze(0) if x.dim() == 1 else x
    height, width = x.shape
    if height not in (1, rows) or width not in (1, cols):
        raise UsageError(f"x must have shape {wanted} for A * x, got {list(x.shape)}")
    if x.device != a.device:
        raise UsageError(f"x must be on {a.device}, the device of the matrix, got {x.device}")
    row, col = a.places()
    if height == 1:
        return x[0].expand(row.shape) if width == 1 else x[0].index_select(0, col)
    return x[:, 0].index_select(0, row) if width == 1 else x[row, col]


def multiplied(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """Returns the elementwise product, whose entries are those of both matrices, without duplicates."""
    _check_alike(a, b, "*")
    x, y = _promoted(a, b)
    if torch.compiler.is_compiling():
        raise UnsupportedError("A * B of two sparse matrices is not supported in compiled code; multiply them outside")
    if _have_same_entries(a, b) and not a._order.repeats:
        return a.with_values(x * y)
    cols = max(a.shape[1], 1)
    first, second = (one.pattern.row() * cols + one.pattern.col for one in (a, b))
    at = torch.searchsorted(second, first)
    kept = (torch.cat([second, second.new_full((1,), -1)])[at] == first).nonzero().flatten()
    values = a._order.to_csr(x)[kept] * b._order.to_csr(y)[at[kept]]
    place = first[kept]
    return _like(a, place // cols, place % cols, values)


def added(a: SparseMatrix, b: SparseMatrix, sign: int = 1) -> SparseMatrix:
    """Returns A + B, or A - B: the entries of either matrix, without duplicates."""
    _check_alike(a, b, "+" if sign > 0 else "-")
    x, y = _promoted(a, b)
    if _have_same_entries(a, b):
        return a.with_values(torch.add(x, y, alpha=sign))
    places = zip(a.places(), b.places(), strict=True)
    row, col = (torch.cat(pair) for pair in places)
    return _like(a, row, col, torch.cat([x, y if sign > 0 else -y]))


def _like(a: SparseMatrix, row: Tensor, col: Tensor, values: Tensor) -> SparseMatrix:
    """Returns a matrix of the shape and with the format and the kernels of A. Values of repeated places are added; in
    compiled code, where their number is unknown, the entries remain."""
    rows, cols = a.shape
    if torch.compiler.is_compiling():
        return type(a)._of_entries(row, col, values, (rows, cols))
    pattern, order = pattern_of_entries(row, col, rows, cols)
    bare = Handle(pattern, None, a._bare.format, a._bare.kernels)
    return type(a)._of(bare, EntryOrder(pattern.nnz), order.to_csr(values))
