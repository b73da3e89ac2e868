"""What layers take as a graph: a SparseMatrix, or edge_index, from which one is made once."""

from __future__ import annotations

import threading
import weakref

import torch
from torch import Tensor

from ...errors import UsageError
from ..matrix import SparseMatrix

Graph = SparseMatrix | Tensor

# Matrices of the tensors that were last seen, as long as these live: layers of one model share them.
_seen: list[tuple[weakref.ref[Tensor], tuple[int, int, int], SparseMatrix]] = []
_MOST_SEEN = 8
_lock = threading.RLock()


def _forget(reference: weakref.ref[Tensor]) -> None:
    with _lock:
        _seen[:] = [seen for seen in _seen if seen[0] is not reference]


def matrix_of(edge_index: Graph, rows: int, cols: int, weight: Tensor | None = None) -> SparseMatrix:
    """The rows x cols matrix of a graph: row i has the edges that lead to node i. A tensor [2, edges] is
    looked at once, as long as it lives and is not changed."""
    if isinstance(edge_index, SparseMatrix):
        if weight is not None:
            raise UsageError(
                "edge weights are given beside a SparseMatrix, which has its own: use with_values"
            )
        if tuple(edge_index.shape) != (rows, cols):
            raise UsageError(
                f"the matrix is {list(edge_index.shape)}, the features are of {rows} x {cols} nodes"
            )
        return edge_index
    if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise UsageError("edge_index is neither a SparseMatrix nor a tensor [2, edges]")
    key = (edge_index._version, rows, cols)
    with _lock:
        for reference, seen, matrix in _seen:
            if reference() is edge_index and seen == key:
                break
        else:
            matrix = SparseMatrix._of_entries(edge_index[1], edge_index[0], None, (rows, cols))
            del _seen[: 1 - _MOST_SEEN]
            _seen.append((weakref.ref(edge_index, _forget), key, matrix))
    return matrix if weight is None else matrix.with_values(weight.reshape(-1))


def normalized(a: SparseMatrix, add_self_loops: bool, fill_value: float, dtype: torch.dtype) -> SparseMatrix:
    """As gcn_norm; kept where values do not learn."""
    if a.is_normalized:
        return a

    def make() -> SparseMatrix:
        return a.gcn_norm(add_self_loops, fill_value=fill_value, dtype=dtype)

    if a.requires_grad:
        return make()
    return a._derive(f"gcn_norm {add_self_loops} {fill_value} {dtype}", make)


def unweighted(a: SparseMatrix) -> SparseMatrix:
    """The matrix with ones, or with how often an edge is there."""
    return a if a.values is None else a._derive("unweighted", lambda: a.with_values(None))


def mean(a: SparseMatrix, dtype: torch.dtype) -> SparseMatrix:
    """Rows that take the mean of neighbours."""
    return a._derive(f"mean {dtype}", lambda: _mean(unweighted(a), dtype))


def _mean(a: SparseMatrix, dtype: torch.dtype) -> SparseMatrix:
    values = torch.ones(a.nnz, dtype=dtype, device=a.device)
    if a.values is not None:
        values = a._order.to_csr(a.values.to(dtype))
    row = a.pattern.row()
    degree = values.new_zeros(a.shape[0]).index_add(0, row, values)
    bare = SparseMatrix(a.pattern.crow, a.pattern.col, values / degree[row], (a.shape[0], a.shape[1]))
    return bare


def attended(
    edge_index: Graph, rows: int, cols: int, add_self_loops: bool
) -> tuple[SparseMatrix, Tensor | None]:
    """The pattern whose entries attention weighs, and what is added to their scores: logarithms of how often
    each edge of a multigraph is there, as every one of them is weighed; None: all are there once."""
    a = matrix_of(edge_index, rows, cols)
    entries = a.with_loops() if add_self_loops else a.entries()
    if a._order.given == a.nnz:
        return entries, None
    return entries, a._derive(f"repeated {add_self_loops}", lambda: _repeated(a, entries, add_self_loops))


def _repeated(a: SparseMatrix, entries: SparseMatrix, add_self_loops: bool) -> Tensor:
    cols = a.shape[1]
    counts = a._order.to_csr(torch.ones(a._order.given, device=a.device))
    if add_self_loops:
        row, col = a.pattern.row(), a.pattern.col.long()
        place = torch.searchsorted(entries.pattern.row() * cols + entries.pattern.col, row * cols + col)
        counts = torch.ones(entries.nnz, device=a.device).index_copy(
            0, place, torch.where(row == col, 1, counts)
        )
    return counts.log()
