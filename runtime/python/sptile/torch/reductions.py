"""Reductions over the nonzeros of each row: sums, means, maxima and minima of products and of lists."""

from __future__ import annotations

import torch
from torch import Tensor

from ..errors import ArgumentTypeError, UsageError
from . import matrix, operators
from .edges import EdgeMatrix
from .handle import Ref
from .matrix import SparseMatrix, cast, heads_first, optional_tensor, tensor_of
from .operands import statistic

# Names of reductions in PyG and in torch, and ours.
NAMES = {
    "sum": "sum", "add": "sum", "mean": "mean", "max": "max", "amax": "max", "min": "min", "amin": "min",
}  # fmt: skip


def reduction_named(reduce: object) -> str:
    """Returns "sum", "mean", "max" or "min". UsageError for other names."""
    found = NAMES.get(reduce) if isinstance(reduce, str) else None
    if found is None:
        raise UsageError(f"reduce must be 'sum', 'mean', 'max' or 'min', got {reduce!r}")
    return found


def reduced(a: SparseMatrix, x: Tensor, values: Tensor | None, reduce: str) -> Tensor:
    """Returns the reduction of the products with x [cols], [cols, n] or [cols, heads, n]; see `functions.spmm`."""
    reduce = reduction_named(reduce)
    if reduce == "sum":
        return a._multiply(False, x, values)
    x, values = tensor_of("x", x), optional_tensor("values", values)
    _check_dense("x", x)
    if values is not None:
        _check_dense("values", values)
    if x.dim() not in (1, 2, 3):
        raise UsageError(f"x must have shape [{a.shape[1]}, n], got {list(x.shape)}")
    if reduce == "mean":
        return _mean_of_products(a, x, values)
    return _extremes_of_products(a, x, values, reduce == "min")


def _check_dense(name: str, x: Tensor) -> None:
    if x.layout != torch.strided or x.is_nested:
        raise UsageError(f"{name} must be a dense tensor, got {'a nested one' if x.is_nested else x.layout}")


matrix.reduction = reduced


# ---- Maxima and minima ----


def _extremes_of_products(a: SparseMatrix, x: Tensor, values: Tensor | None, least: bool) -> Tensor:
    if torch.is_autocast_enabled(a.device.type):
        x, values = cast(a, x), cast(a, values)  # type: ignore[assignment]
    else:
        a._check_type(x, values)
    ref, values = _factors(a, x, values)
    by_head = values is not None and values.dim() == 2
    if values is not None:
        values = heads_first(a, "values", values, x.shape[1] if by_head and x.dim() == 3 else None)
    if by_head:
        out, _ = operators.spmm_max(ref, x, values, least)
        return out
    flat, _ = operators.spmm_max(ref, x.reshape(x.shape[0], x.shape[1:].numel()), values, least)
    return flat.reshape(flat.shape[0], *x.shape[1:])


def _factors(a: SparseMatrix, x: Tensor, values: Tensor | None) -> tuple[Ref, Tensor | None]:
    """Returns the matrix and the values of its given entries, or None if the matrix has them. Products of repeated
    entries are compared one by one, so their values must not be added."""
    if values is not None:
        return a._entries, values
    given = a._given_values()
    if given is None:
        return a._entries, None
    if torch.compiler.is_compiling() or a._learned is not None or a._order.repeats:
        return a._entries, given.to(x.dtype)
    return a._product, None


# ---- Means ----


def _mean_of_products(a: SparseMatrix, x: Tensor, values: Tensor | None) -> Tensor:
    if values is None and a._given_values() is None:
        return mean(a, x.reshape(x.shape[0], x.shape[1:].numel())).reshape(a.shape[0], *x.shape[1:])
    sums = a._multiply(False, x, values)
    wide = statistic(sums.dtype)
    degree = a.degrees().clamp(min=1).to(wide).reshape(-1, *[1] * (sums.dim() - 1))
    return (sums.to(wide) / degree).to(sums.dtype)


def unweighted(a: SparseMatrix) -> SparseMatrix:
    """The matrix with ones, or with how often an edge is there."""
    return a if a.values is None else a._derive("unweighted", lambda: a.with_values(None))


def propagate(a: SparseMatrix, x: Tensor, reduce: str = "sum") -> Tensor:
    """The reduction of products with x [..., nodes, n]."""
    if reduce == "sum":
        return a @ x
    if x.dim() == 2:
        return reduced(a, x, None, reduce)
    out = reduced(a, x.reshape(-1, *x.shape[-2:]).transpose(0, 1), None, reduce).transpose(0, 1)
    return out.reshape(*x.shape[:-2], *out.shape[-2:])


def total(a: SparseMatrix, x: Tensor) -> Tensor:
    """Sums over neighbours, x [..., nodes, n]."""
    sums = of_few_edges(a, x, "sum")
    return propagate(unweighted(a), x) if sums is None else sums


def of_few_edges(a: SparseMatrix, x: Tensor, reduce: str) -> Tensor | None:
    """Returns sums or means over neighbors, x [nodes, n], by torch, if a matrix of the edges does not pay yet."""
    if not isinstance(a, EdgeMatrix) or not a.few(x) or (sums := a.sums(x)) is None:
        return None
    if reduce == "sum":
        return sums
    degrees = a.degrees_of_edges(x.dtype)
    is_long = a.given > _LONG and int(degrees.max()) > _LONG
    return None if is_long else sums.div_(degrees)


def largest(a: SparseMatrix, x: Tensor) -> Tensor:
    """Maxima over neighbors, x [..., nodes, n], 0 for nodes without neighbors."""
    return propagate(unweighted(a), x, "max")


def smallest(a: SparseMatrix, x: Tensor) -> Tensor:
    """Minima over neighbors, x [..., nodes, n], 0 for nodes without neighbors."""
    return propagate(unweighted(a), x, "min")


def mean(a: SparseMatrix, x: Tensor) -> Tensor:
    """Returns means over neighbors, x [..., nodes, n], 0 for nodes without neighbors. Sums are divided in float32 or
    wider; sums of float16, which overflow, and of long rows are also accumulated in a wider type."""
    if not torch.is_autocast_enabled(x.device.type):
        return _mean(a, x)
    x = cast(a, x)  # type: ignore[assignment]
    with torch.autocast(x.device.type, enabled=False):
        return _mean(a, x)


def _mean(a: SparseMatrix, x: Tensor) -> Tensor:
    means = of_few_edges(a, x, "mean")
    if means is not None:
        return means
    type_of_sums = statistic(x.dtype)
    name = f"degrees {type_of_sums}"
    if torch.compiler.is_compiling() and name not in a._derived:
        degree, long = a.degrees().clamp(min=1).to(type_of_sums), None  # which rows are long is not known here
    else:
        degree, long = a._derive(name, lambda: _degrees(a, type_of_sums))
    sums = total(a, x.float() if x.dtype == torch.float16 else x).to(type_of_sums)
    if long is not None and x.dtype != torch.float64:
        rows, part = long
        sums = sums.index_copy(-2, rows, total(part, x.double()).to(type_of_sums))
    return (sums / degree).to(x.dtype)


# A float32 sum of more numbers loses the sixth digit: 10^6 times 0.1 is 1 % off.
_LONG = 4096


def _degrees(a: SparseMatrix, dtype: torch.dtype) -> tuple[Tensor, tuple[Tensor, SparseMatrix] | None]:
    """Numbers of edges that lead to the nodes, at least 1, [rows, 1]; ids of the rows of more than
    _LONG edges, and the matrix of these rows, or None."""
    degree, long = a.degrees(), None
    limit = None if a._order.repeats else a.pattern.most_per_row
    if min(a._entries.given, a._entries.given if limit is None else limit) <= _LONG:
        return degree.clamp(min=1).to(dtype), None
    is_long = degree.squeeze(1) > _LONG
    rows = is_long.nonzero().flatten()
    if rows.numel() > 0:
        row, col = a.places()
        chosen = is_long[row]
        place = (is_long.cumsum(0) - 1)[row[chosen]]
        long = rows, SparseMatrix._of_entries(place, col[chosen], None, (rows.numel(), a.shape[1]))
    return degree.clamp(min=1).to(dtype), long


# Aggregations of layers over neighbors without weights, by name.
AGGREGATIONS = {"mean": mean, "sum": total, "add": total, "max": largest, "min": smallest}


# ---- Lists ----


def segment_reduce(A: SparseMatrix, values: Tensor, reduce: str = "sum") -> Tensor:
    """Reduces numbers of the nonzeros over each row of A. The values of A are ignored.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (rows, cols), whose pattern defines the rows.
    values : Tensor
        Numbers of shape (nonzeros, ...), in the order in which the nonzeros were given. Duplicates count separately.
    reduce : str, optional
        "sum", "mean", "max" or "min".

    Returns
    -------
    Tensor
        Result of shape (rows, ...). Rows without nonzeros are 0.

    Raises
    ------
    UsageError
        If shapes or types do not match, or the reduction is unknown.

    Notes
    -----
    Of equal maxima or minima, the first one in the order of the nonzeros receives the gradient. NaN is larger and
    smaller than all numbers. Results are bitwise reproducible.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 2]]))
    >>> st.segment_reduce(A, torch.tensor([3.0, 1.0, 2.0]), "max")
    tensor([0., 3., 2.])
    """
    if not isinstance(A, SparseMatrix):
        raise ArgumentTypeError(f"A must be a SparseMatrix, got {type(A).__name__}")
    reduce = reduction_named(reduce)
    values, given = tensor_of("values", values), A._entries.given
    _check_dense("values", values)
    if values.dim() == 0 or values.shape[0] != given:
        raise UsageError(f"values must have shape [{given}, ...], one row per nonzero, got {list(values.shape)}")
    rows = values.reshape(given, values.shape[1:].numel())
    segments = _segments(A)
    if reduce in ("max", "min"):
        out, _ = operators.spmm_max(segments, rows, None, reduce == "min")
    else:
        wide = rows.float() if reduce == "mean" and rows.dtype == torch.float16 else rows
        out = operators.spmm(segments, False, wide, None)
        if reduce == "mean":
            sums = out.to(statistic(out.dtype))
            out = (sums / A.degrees().clamp(min=1).to(sums.dtype)).to(rows.dtype)
    return out.reshape(out.shape[0], *values.shape[1:])


def _segments(a: SparseMatrix) -> Ref:
    """The rows x given pattern in which row i has the ids of the entries that were given for it."""
    if torch.compiler.is_compiling():
        token = torch.ops.sptile.segments_of(a._entries.token)
        return Ref(token, a.shape[0], a._entries.given, a._entries.given)

    def make() -> Ref:
        found = operators.segments_of(a._entries.entries)
        return Ref(found.token(), *found.sizes, found)

    return a._derive("segments", make)


__all__ = ["segment_reduce"]
