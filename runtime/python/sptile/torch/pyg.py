"""A SparseMatrix with the interface of a sparse CSR tensor, for unmodified layers of PyG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._guards import TracingContext

from ..errors import ArgumentTypeError
from .matrix import SparseMatrix
from .reductions import reduced, reduction_named

_PRODUCTS = (torch.sparse.mm, torch.mm, torch.matmul, Tensor.mm, Tensor.matmul, Tensor.__matmul__)


class AdjacencyTensor(Tensor):
    """Replacement of adj_t: has the attributes of a sparse CSR tensor, and multiplies with its matrix."""

    matrix: SparseMatrix

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: Any,
        arguments: tuple[Any, ...] = (),
        keywords: dict[str, Any] | None = None,
    ) -> Any:
        if not torch.compiler.is_compiling() and TracingContext.try_get() is not None:
            _compiler_sees_products()  # which inspects its input, a dense tensor
            with torch._C.DisableTorchFunctionSubclass():
                return function(*arguments, **(keywords or {}))
        if function in _PRODUCTS and isinstance(arguments[0], AdjacencyTensor):
            reduce = arguments[2] if len(arguments) > 2 else (keywords or {}).get("reduce", "sum")
            return _multiply(arguments[0].matrix, arguments[1], reduce)
        answer = _ANSWERS.get(function)
        if answer is not None:
            return answer(arguments[0].matrix, *arguments[1:])
        with torch._C.DisableTorchFunctionSubclass():
            return function(*arguments, **(keywords or {}))


def _compiler_sees_products() -> None:
    """Runs while torch compiles. torch 2.11 asks subclasses for all products but `torch.sparse.mm`."""
    from torch._dynamo.variables.torch import get_overridable_functions

    get_overridable_functions().add(torch.sparse.mm)


_compiler_sees_products._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _multiply(a: SparseMatrix, x: Tensor, reduce: str) -> Tensor:
    return reduced(a, x, None, reduction_named(reduce))


def _edges(a: SparseMatrix) -> tuple[Tensor, Tensor, Tensor | None]:
    """CSR arrays in which an entry is as often as it was given: where rows begin, columns, and the order of the given
    ones; None: theirs."""
    return a._derive("edges", lambda: _sorted_edges(a))


def _sorted_edges(a: SparseMatrix) -> tuple[Tensor, Tensor, Tensor | None]:
    order, pattern = a._order, a.pattern
    if not order.repeats:
        return pattern.crow, pattern.col.long(), None if order.source is None else order.source.long()
    place, source = torch.sort(order.positions(), stable=True)
    crow = torch.cat([pattern.crow[:1], order.counts().long().cumsum(0)])[pattern.crow]
    return crow, pattern.col.long()[place], source


def _values(a: SparseMatrix) -> Tensor:
    _crow, col, source = _edges(a)
    if a.values is None:
        return torch.ones(col.numel(), device=a.device)
    return a.values if source is None else a.values.index_select(0, source)


def _size(a: SparseMatrix, dim: int | None = None) -> Any:
    return a.shape if dim is None else a.shape[dim]


_ANSWERS: dict[Any, Callable[..., Any]] = {
    Tensor.layout.__get__: lambda a: torch.sparse_csr,  # type: ignore[attr-defined]
    Tensor.shape.__get__: lambda a: a.shape,  # type: ignore[attr-defined]
    Tensor.is_sparse_csr.__get__: lambda a: True,  # type: ignore[attr-defined]
    Tensor.requires_grad.__get__: lambda a: a.requires_grad,  # type: ignore[attr-defined]
    Tensor.size: _size,
    Tensor.dim: lambda a: 2,
    Tensor.crow_indices: lambda a: _edges(a)[0],
    Tensor.col_indices: lambda a: _edges(a)[1],
    Tensor.values: _values,
    Tensor.t: lambda a: adj_t(a.t()),
    Tensor.to_dense: lambda a: a.to_dense(),
    Tensor.to_sparse_csr: lambda a: a.to_torch(),
    Tensor.__repr__: lambda a, **_: f"adj_t({a!r})",
}


def adj_t(A: SparseMatrix) -> Tensor:
    """Returns a tensor that unmodified layers of PyG accept as `edge_index` and multiply with the kernels of sptile.

    Parameters
    ----------
    A : SparseMatrix
        Adjacency matrix.

    Returns
    -------
    Tensor
        Tensor with the interface of a sparse CSR tensor.

    Raises
    ------
    ArgumentTypeError
        If A is not a SparseMatrix.

    Notes
    -----
    Layers that multiply by the adjacency matrix use it (SAGEConv, GINConv, GCNConv with normalize=False), also under
    `torch.compile`. Layers that compute messages per edge receive the edges, with duplicates. Means divide by the
    number of edges.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1], [1, 0]]))
    >>> st.adj_t(A) @ torch.tensor([[1.0], [2.0]])
    tensor([[2.],
            [1.]])
    """
    if not isinstance(A, SparseMatrix):
        raise ArgumentTypeError(f"A must be a SparseMatrix, got {type(A).__name__}")
    if torch.compiler.is_compiling():
        _compiler_sees_products()
    tensor = torch.empty(0, device=A.device, dtype=A.dtype).as_subclass(AdjacencyTensor)
    tensor.matrix = A
    return tensor
