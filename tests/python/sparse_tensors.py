"""SparseTensor of torch_sparse: that package where it is installed, otherwise what of it sptile uses."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor


class StandIn:
    """A sparse matrix with sorted entries, with the methods of SparseTensor."""

    def __init__(self, row: Tensor, col: Tensor, value: Tensor | None, sparse_sizes: tuple[int, int]) -> None:
        order = torch.argsort(row * sparse_sizes[1] + col, stable=True)
        self._row, self._col, self._sizes = row[order], col[order], sparse_sizes
        self._value = None if value is None else value[order]
        counts = torch.bincount(self._row, minlength=sparse_sizes[0])
        self._crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    @property
    def storage(self) -> StandIn:
        return self

    def has_row(self) -> bool:
        return True

    def row(self) -> Tensor:
        return self._row

    def col(self) -> Tensor:
        return self._col

    def value(self) -> Tensor | None:
        return self._value

    def sparse_sizes(self) -> tuple[int, int]:
        return self._sizes

    def csr(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return self._crow, self._col, self._value

    def matmul(self, x: Any, reduce: str = "sum") -> Any:
        return matmul(self, x, reduce)

    __matmul__ = matmul


def matmul(a: StandIn, x: Any, reduce: str = "sum") -> Any:
    """Reduces the products of each row, or returns a text for a product of sparse matrices."""
    if not isinstance(x, Tensor):
        return "a sparse product"
    value = torch.ones(a._col.numel(), dtype=x.dtype) if a._value is None else a._value
    products = value.view(-1, *[1] * (x.dim() - 1)) * x[a._col]
    index = a._row.view(-1, *[1] * (x.dim() - 1)).expand_as(products)
    how = {"add": "sum", "max": "amax", "min": "amin"}.get(reduce, reduce)
    zeros = products.new_zeros(a._sizes[0], *x.shape[1:])
    return zeros.scatter_reduce(0, index, products, how, include_self=False)


@pytest.fixture
def torch_sparse(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package, or a module with the same names."""
    try:
        import torch_sparse as package
    except (ImportError, OSError):
        package = ModuleType("torch_sparse")
        package.SparseTensor, package.matmul = StandIn, matmul  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "torch_sparse", package)
    return package
