"""The graph of one propagation: its edges, and their matrix if it pays."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...errors import BadInputError
from ..handle import capturing
from ..matrix import SparseMatrix
from ..operators import transformed
from ..pattern import apart
from .matrices import Cache, key_of, usable

# Elements of messages (edges times features) from which the matrix pays in its first product. The matrix of fewer is
# made when the edges are used again.
_PAYS_AT_ONCE = 1 << 21
_MATRICES = Cache(64)
_USES = Cache(256)


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
        key = (self._key, self._i, targets, sources)
        if sources is None:
            found = _MATRICES.find(key)
            if found is None:
                return None
            matrix: SparseMatrix = found
            return matrix
        found = _MATRICES.find(key)
        if found is None:
            uses = (_USES.find(key) or 0) + 1
            _USES.keep(key, (self.edge_index,), uses)
            elements = self.edges * x.shape[1:].numel()
            if uses == 1 and elements < _PAYS_AT_ONCE or x.device.type == "cuda" and capturing():
                self.report("first use of the edges", x)
                return None
            try:
                found = self._made(targets, sources)
            except BadInputError:
                return None  # gathering reports ids that are out of range
            _MATRICES.keep(key, (self.edge_index,), found)
            _MATRICES.keep((self._key, self._i, targets, None), (self.edge_index,), found)
        return found

    def _made(self, targets: int, sources: int) -> SparseMatrix:
        with apart():
            i, j = self.edge_index[self._i].clone(), self.edge_index[1 - self._i].clone()
            return SparseMatrix._of_entries(i, j, None, (targets, sources))


def forget() -> None:
    """Forgets all matrices."""
    _MATRICES.clear()
    _USES.clear()
