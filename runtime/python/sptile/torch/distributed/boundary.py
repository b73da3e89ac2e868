"""The boundary rows of a part, the only ones that a product with the rows of other ranks changes."""

from __future__ import annotations

from ..handle import Handle
from ..matrix import SparseMatrix, _in_order
from ..pattern import Pattern


def rows_from(halo: SparseMatrix, first: int) -> SparseMatrix:
    """Returns the rows of a matrix from `first` on, over the same column ids and values. Earlier rows have no
    nonzeros."""
    bare, whole = halo._bare, halo._bare.pattern
    crow = whole.crow[first:].clone()  # aligned as every allocation
    pattern = Pattern(whole.rows - first, whole.cols, crow, whole.col)
    return _in_order(Handle(pattern, None, bare.format, bare.kernels), halo.values)
