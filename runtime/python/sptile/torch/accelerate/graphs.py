"""The graph of one propagation: its edges, and their matrix if it pays."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...errors import BadInputError
from ..edges import EdgeMatrix
from ..matrix import SparseMatrix
from ..operators import transformed
from .matrices import PAYS_AT_ONCE, Cache, Matrices, key_of, usable

FIRST_USE = "first use of the edges"
# Edges in host memory below which a layer runs PyG's code at their first use: all else takes longer.
FEW = 1 << 12
_matrices = Matrices()
_seen = Cache(256, small=True)


def is_worthwhile(edges: Tensor) -> bool:
    """Returns whether a layer should use a `Graph`: not for few edges that no layer has used before."""
    if edges.shape[1] >= FEW or not edges.is_cpu:
        return True
    key = key_of(edges)
    if _seen.find(key) is not None:
        return True
    _seen.keep(key, (edges,), True)
    return False


class Graph:
    """Edges from nodes j to nodes i."""

    def __init__(self, edge_index: Tensor, i: int, report: Callable[[str, Tensor], None]) -> None:
        self.edge_index, self._i, self.report = edge_index, i, report
        self.edges = edge_index.shape[1]
        self._key = key_of(edge_index)
        first, step = edge_index.data_ptr(), edge_index.stride(0) * edge_index.element_size()
        self._ends = (first + i * step, first + (1 - i) * step)

    def side(self, index: Tensor | None) -> str | None:
        """Returns "i" or "j" if `index` is that end of the edges, else None."""
        if index is None or index.dim() != 1 or index.shape[0] != self.edges or index.dtype != self.edge_index.dtype:
            return None
        stride = self.edge_index.stride(1)
        if index.stride(0) != stride and self.edges > 1:
            return None
        pointer = index.data_ptr()
        if pointer == self._ends[1]:
            return "j"
        return "i" if pointer == self._ends[0] else None

    def gather(self, x: Tensor, side: str) -> Tensor:
        """Returns the rows of x at one end of the edges. IndexError if an id is out of range."""
        index = self.edge_index[self._i if side == "i" else 1 - self._i]
        try:
            return x.index_select(0, index)
        except (IndexError, RuntimeError) as error:
            low, high = (int(bound) for bound in torch.aminmax(index))
            if low >= 0 and high < x.shape[0]:
                raise
            raise IndexError(
                f"edge_index has ids from {low} to {high}, but there are features of {x.shape[0]} nodes"
            ) from error

    def matrix(self, targets: int, sources: int | None, x: Tensor) -> SparseMatrix | None:
        """Returns the targets x sources matrix of the edges, or None if gathering x is expected to be faster: if the
        edges are new and few, and while a CUDA graph is captured without the matrix."""
        if not usable(x) or x.device != self.edge_index.device or transformed():
            return None
        if self.edge_index.dtype not in (torch.int64, torch.int32):
            return None
        without_sources = (self._key, self._i, targets, None)
        if sources is None:
            return _matrices.find(without_sources)
        key, tensors = (self._key, self._i, targets, sources), (self.edge_index,)
        found = _matrices.find(key)
        if found is not None:
            return found
        try:
            again = self.edges < FEW and self.edge_index.is_cpu  # is_worthwhile has seen them
            elements = PAYS_AT_ONCE if again else self.edges * x.shape[1:].numel()
            found = _matrices.get(key, tensors, elements, lambda: self._made(targets, sources))
        except BadInputError:
            return None  # gathering reports ids that are out of range
        if found is None:
            self.report(FIRST_USE, x)
        else:
            _matrices.keep(without_sources, tensors, found)
        return found

    def fresh(self, targets: int, sources: int) -> EdgeMatrix | None:
        """Returns the matrix for products with few edges that nothing keeps; None on other devices than the CPU."""
        if not self.edge_index.is_cpu:
            return None
        edges = self.edge_index if self._i == 1 else self.edge_index.flip(0)
        return EdgeMatrix(edges, targets, sources)

    def _made(self, targets: int, sources: int) -> SparseMatrix:
        i, j = self.edge_index[self._i].clone(), self.edge_index[1 - self._i].clone()
        return SparseMatrix._of_entries(i, j, None, (targets, sources))


def forget() -> None:
    """Forgets all matrices."""
    _matrices.clear()
    _seen.clear()
