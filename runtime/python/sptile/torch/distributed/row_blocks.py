"""Rows of a part in two blocks: those whose nonzeros are in columns of the rank itself, which can be computed before
rows of other ranks have arrived, and all rows from the first that needs these on."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..handle import Handle
from ..matrix import SparseMatrix, _in_order
from ..pattern import Pattern


# Share of the nonzeros in boundary rows up to which two blocks are faster: the rows of their columns are copied, and two
# kernels run instead of one.
_MOST_IN_BOUNDARY = 0.25


class RowBlocks(NamedTuple):
    """The blocks of a pattern [owned, owned + needed]: `interior` [rows, owned], and `boundary` with the columns `used`
    of the rank itself, int64, followed by those of others."""

    interior: SparseMatrix
    boundary: SparseMatrix
    used: Tensor


def row_blocks(a: SparseMatrix, owned: int) -> RowBlocks | None:
    """Returns the blocks of a matrix, which the matrix keeps. None if too few rows are interior, or nonzeros were
    not given in the order of CSR."""
    if a._entries.entries.order.position is not None:
        return None
    derived = a._bare.derived
    key = f"row blocks {owned}"
    if key not in derived:
        derived[key] = _row_blocks(a._bare, owned)
    found: RowBlocks | None = derived[key]
    return found


def _row_blocks(whole: Handle, owned: int) -> RowBlocks | None:
    pattern = whole.pattern
    others = (pattern.col >= owned).nonzero()
    if others.numel() == 0:
        return None
    entry = int(others[0])
    first = int(torch.searchsorted(pattern.crow, entry, right=True)) - 1
    begin = int(pattern.crow[first])
    if first == 0 or pattern.nnz - begin > _MOST_IN_BOUNDARY * pattern.nnz:
        return None
    interior = Pattern(first, owned, pattern.crow[: first + 1], pattern.col[:begin])
    col = pattern.col[begin:].long()
    used = torch.unique(col[col < owned])
    place = torch.where(col < owned, torch.searchsorted(used, col), col - owned + used.numel())
    crow = pattern.crow[first:] - begin
    cols = used.numel() + pattern.cols - owned
    boundary = Pattern(pattern.rows - first, cols, crow, place.to(torch.int32))
    first_block, other = (_in_order(Handle(one, None, whole.format, whole.kernels)) for one in (interior, boundary))
    return RowBlocks(first_block, other, used)
