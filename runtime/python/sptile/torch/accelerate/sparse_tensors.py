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
from ..sources import is_sparse_tensor
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
        result = _multiply(a, x, *arguments, **named)
        return original(a, x, *arguments, **named) if result is None else result

    return call


def _multiply(a: Any, x: Any, reduce: str = "sum") -> Tensor | None:
    """Returns the product of a SparseTensor and a dense tensor; None if torch_sparse is to compute it."""
    how = NAMES.get(reduce)
    if how is None or not is_sparse_tensor(a) or not isinstance(x, Tensor) or x.layout != torch.strided:
        return None
    (rows, cols), (crow, col, values) = a.sparse_sizes(), a.csr()
    if x.dim() not in (1, 2) or x.shape[0] != cols or not usable(x) or x.device != col.device or transformed():
        return None
    if values is not None and (values.dim() != 1 or values.dtype != x.dtype):
        return None
    if torch.is_autocast_enabled(x.device.type):
        return None
    learns = values is not None and values.requires_grad
    arrays = (crow, col) if values is None or learns else (crow, col, values)
    key: Key = (rows, cols, *map(key_of, arrays))

    def make() -> SparseMatrix:
        return SparseMatrix(crow, col, None if learns or values is None else values.clone(), (rows, cols))

    matrix = _matrices.get(key, arrays, col.numel() * x.shape[1:].numel(), make)
    scope = current.scope
    if scope is not None:
        scope._count("torch_sparse", "first use of the matrix" if matrix is None else f"spmm {how}")
    if matrix is None:
        return None
    return functions.spmm(matrix.with_values(values) if learns else matrix, x, reduce=how)


def forget() -> None:
    """Forgets all matrices."""
    _matrices.clear()
