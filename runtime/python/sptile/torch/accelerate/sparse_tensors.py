"""Products of SparseTensor of torch_sparse."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from .. import functions
from ..matrix import SparseMatrix
from ..operators import transformed
from ..reductions import NAMES
from ..sources import Source, is_sparse_tensor
from .matrices import Key, Matrices, key_of, usable
from .state import Patch, current

_matrices = Matrices()


def patches() -> Iterator[Patch]:
    """Returns the patches for torch_sparse, if it has been imported."""
    package = sys.modules.get("torch_sparse")
    if package is None:
        return
    for owner, name in ((package, "matmul"), (package.SparseTensor, "matmul"), (package.SparseTensor, "__matmul__")):
        original = getattr(owner, name)
        yield Patch(owner, name, original, _answered(original), name in vars(owner))


def _answered(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(a: Any, x: Any, *arguments: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling() or current.scope is None:
            return original(a, x, *arguments, **named)
        result = multiply(a, x, *arguments, **named)
        return original(a, x, *arguments, **named) if result is None else result

    return call


def arrays_of(a: Any) -> tuple[Tensor, ...]:
    """Returns rows or row pointers, columns, and values of a SparseTensor. Other SparseTensors with the same pattern
    share these arrays, but not those that they compute from them."""
    storage = a.storage
    rows, values = storage.row() if storage.has_row() else storage.rowptr(), storage.value()
    return (rows, storage.col()) if values is None else (rows, storage.col(), values)


def multiply(a: Any, x: Any, reduce: str = "sum") -> Tensor | None:
    """Returns the product of a SparseTensor and a dense tensor; None if torch_sparse is to compute it."""
    how = NAMES.get(reduce)
    if how is None or not is_sparse_tensor(a) or not isinstance(x, Tensor) or x.layout != torch.strided:
        return None
    shape, arrays = tuple(a.sparse_sizes()), arrays_of(a)
    if x.dim() not in (1, 2) or x.shape[0] != shape[1] or not usable(x) or x.device != arrays[1].device:
        return None
    if transformed() or torch.is_autocast_enabled(x.device.type):
        return None
    values = arrays[2] if len(arrays) > 2 else None
    if values is not None and (values.dim() != 1 or values.dtype != x.dtype):
        return None
    learns = values is not None and values.requires_grad
    kept = arrays[:2] if learns else arrays
    key: Key = (shape, a.storage.has_row(), *map(key_of, kept))

    def make() -> SparseMatrix:
        rows, col, *fixed = (array.clone() for array in kept)
        return SparseMatrix._of_source(Source(rows, col, *(fixed or [None]), shape, not a.storage.has_row()))

    matrix = _matrices.get(key, kept, arrays[1].numel() * x.shape[1:].numel(), make)
    if matrix is not None and values is not None and how in ("max", "min") and matrix._order.repeats:
        return None  # products of repeated edges would be written, which takes twice the time of torch_sparse
    scope = current.scope
    if scope is not None:
        scope._count("torch_sparse", "first use of the matrix" if matrix is None else f"spmm {how}")
    if matrix is None:
        return None
    return functions.spmm(matrix.with_values(values) if learns else matrix, x, reduce=how)


def forget() -> None:
    """Forgets all matrices."""
    _matrices.clear()
