"""Products of sparse tensors of torch."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from .. import functions
from ..matrix import SparseMatrix
from ..operators import transformed
from .matrices import Key, Matrices, key_of, usable
from .state import Patch, current

_LAYOUTS = (torch.sparse_csr, torch.sparse_coo)
_matrices = Matrices()
# The tensor of the latest product, the versions of its arrays, and its matrix: found in a quarter of the time.
_latest: dict[int, tuple[weakref.ref[Tensor], tuple[int, ...], SparseMatrix]] = {}


def patches() -> Iterator[Patch]:
    """Returns the patches for products of torch."""
    for owner, names, answer in _PRODUCTS:
        for name in names:
            original = getattr(owner, name)
            yield Patch(owner, name, original, _answered(original, answer), name in vars(owner))


def _answered(original: Callable[..., Any], answer: Callable[..., Tensor | None]) -> Callable[..., Any]:
    """A function that asks `answer` first, in a scope."""

    @functools.wraps(original)
    def call(*arguments: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling() or current.scope is None or not _concerns(arguments):
            return original(*arguments, **named)
        try:
            result = answer(*arguments, **named)
        except TypeError:  # other arguments than the function has; it reports them
            result = None
        return original(*arguments, **named) if result is None else result

    return call


def _concerns(arguments: tuple[Any, ...]) -> bool:
    return any(isinstance(x, Tensor) and x.layout in _LAYOUTS for x in arguments[:2])


def _sparse(a: Any) -> bool:
    """True for a sparse tensor that products support."""
    return type(a) is Tensor and a.layout in _LAYOUTS and a.dim() == 2 and a.dense_dim() == 0 and usable(a)


def _arrays(a: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """Index arrays and values, without history."""
    if a.layout == torch.sparse_csr:
        return (a.crow_indices(), a.col_indices()), a.detach().values()
    indices = a._indices()
    return (indices, indices), a._values()


def _matrix(a: Tensor, columns: int) -> SparseMatrix | None:
    """Returns the matrix of a tensor; None if torch's product is expected to be faster, see `_PAYS_AT_ONCE`."""
    if transformed() or not (a.layout == torch.sparse_csr or a.is_coalesced() or not a.requires_grad):
        return None
    indices, values = _arrays(a)
    versions = None if a.is_inference() else (a._version, values._version, *(x._version for x in indices))
    latest = _latest.get(id(a))
    if latest is not None and latest[0]() is a and latest[1] == versions and not a.requires_grad:
        return latest[2]
    place: Key = (a.layout, tuple(a.shape), *(key_of(x) for x in indices))
    learns = a.requires_grad and torch.is_grad_enabled()
    key, tensors = (place, indices) if learns else ((*place, key_of(values)), (*indices, values))
    matrix = _matrices.get(key, tensors, values.numel() * columns, lambda: _made(a, learns))
    if matrix is None:
        _count("first use of the matrix")
        return None
    if not a.requires_grad and versions is not None:
        _latest.clear()
        _latest[id(a)] = weakref.ref(a), versions, matrix
    return matrix.with_values(a.values()) if learns else matrix


def _made(a: Tensor, learns: bool) -> SparseMatrix:
    """The matrix of a tensor, or its pattern if the values learn."""
    matrix = SparseMatrix.from_torch(a.detach())
    return matrix.with_values(None) if learns else matrix


def _count(what: str) -> None:
    if current.scope is not None:
        current.scope._count("torch", what)


def _multiply(a: Any, x: Any, reduce: str = "sum") -> Tensor | None:
    """a x of a sparse tensor and a dense one, or means in place of sums."""
    if not _sparse(a) or not isinstance(x, Tensor) or x.layout != torch.strided or reduce not in ("sum", "mean"):
        return None
    if x.dim() not in (1, 2) or x.dtype != a.dtype or x.device != a.device or x.shape[0] != a.shape[1]:
        return None
    if torch.is_autocast_enabled(x.device.type):
        return None
    matrix = _matrix(a, x.shape[1:].numel())
    if matrix is None:
        return None
    _count("spmm" if reduce == "sum" else "spmm mean")
    return functions.spmm(matrix, x, reduce=reduce)


def _multiply_from_left(x: Any, a: Any) -> Tensor | None:
    return _multiply(a, x)


def _add_multiply(c: Any, a: Any, x: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor | None:
    """beta c + alpha a x."""
    if not isinstance(c, Tensor) or c.layout != torch.strided or (out := _multiply(a, x)) is None:
        return None
    out = out if alpha == 1 else alpha * out
    return out if beta == 0 else out + (c if beta == 1 else beta * c)


def _sample(a: Any, x: Any, y: Any, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None) -> Tensor | None:
    """beta a + alpha x y at the places of a."""
    dense = all(isinstance(z, Tensor) and z.layout == torch.strided and z.dim() == 2 for z in (x, y))
    if not _sparse(a) or a.layout != torch.sparse_csr or not dense or out is not None or x.dtype != a.dtype:
        return None
    if x.dtype != y.dtype or x.shape[0] != a.shape[0] or y.shape[1] != a.shape[1] or x.shape[1] != y.shape[0]:
        return None
    matrix = _matrix(a.detach(), x.shape[1])
    if matrix is None:
        return None
    _count("sddmm")
    values = functions.sddmm(matrix, x, y.t()) * alpha
    if beta != 0:
        values = values + beta * a.values()
    return torch.sparse_csr_tensor(a.crow_indices(), a.col_indices(), values, a.shape, check_invariants=False)


_PRODUCTS: tuple[tuple[Any, tuple[str, ...], Callable[..., Tensor | None]], ...] = (
    (torch.sparse, ("mm",), _multiply),
    (torch, ("mm", "matmul", "mv", "spmm"), _multiply),
    (Tensor, ("mm", "matmul", "mv", "__matmul__"), _multiply),
    (Tensor, ("__rmatmul__",), _multiply_from_left),
    (torch, ("addmm",), _add_multiply),
    (torch.sparse, ("addmm",), _add_multiply),
    (Tensor, ("addmm",), _add_multiply),
    (torch.sparse, ("sampled_addmm",), _sample),
)


def forget() -> None:
    """Forgets all matrices."""
    _matrices.clear()
    _latest.clear()
