"""Entries of sparse and dense tensors of torch, of SparseTensor of torch_sparse, and of tuples of their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..errors import ArgumentTypeError, UnsupportedError, UsageError
from . import operators
from .handle import DTYPES
from .operands import statistic
from .pattern import check_list_of_ids, rows_of_pointers


class Source(NamedTuple):
    """Row and column of each entry, or row pointers and columns, with values in the same order."""

    row: Tensor
    col: Tensor
    values: Tensor | None
    shape: Any
    has_pointers: bool = False  # row contains row pointers



def is_sparse_tensor(x: object) -> bool:
    """Returns whether x is a SparseTensor of torch_sparse, which is recognized by its methods."""
    return not isinstance(x, Tensor) and hasattr(x, "csr") and hasattr(x, "sparse_sizes")


def source_of(tensor: object) -> Source:
    """Returns the entries of a tensor, or of the arguments of `torch.sparse_coo_tensor` or `torch.sparse_csr_tensor` in a
    tuple. Raises UsageError for others."""
    if isinstance(tensor, tuple | list):
        return _of_arrays(tensor)
    if is_sparse_tensor(tensor):
        return _of_sparse_tensor(tensor)
    if not isinstance(tensor, Tensor):
        raise ArgumentTypeError(
            "tensor must be a torch.Tensor, a SparseTensor, or a tuple (indices, values) or (crow, col, values), got "
            f"{type(tensor).__name__}"
        )
    entries = _LAYOUTS.get(tensor.layout)
    if entries is None:
        raise UsageError(f"tensor must be dense or of a sparse layout of torch, got {tensor.layout}")
    if tensor.dim() != 2 or tensor.dense_dim() != (2 if tensor.layout == torch.strided else 0):
        raise UsageError(
            f"tensor must have two sparse dimensions, got shape {list(tensor.shape)} with {tensor.sparse_dim()} "
            f"sparse and {tensor.dense_dim()} dense dimensions"
            if tensor.layout != torch.strided
            else f"tensor must be two-dimensional, got shape {list(tensor.shape)}"
        )
    if tensor.dtype not in DTYPES:
        raise UsageError(f"tensor must be float32, float64, float16 or bfloat16, got {tensor.dtype}")
    if tensor.device.type not in ("cpu", "cuda"):
        raise UnsupportedError(f"tensor must be on the CPU or a CUDA device, got {tensor.device}")
    return entries(tensor)


def _of_arrays(arrays: tuple[Any, ...] | list[Any]) -> Source:
    *tensors, last = arrays or (None,)
    if isinstance(last, tuple | list):
        shape: Any = tuple(last)
    else:
        tensors, shape = [*tensors, last], None
    first = tensors[0] if tensors else None
    if isinstance(first, Tensor) and first.dim() == 2 and first.shape[0] == 2 and len(tensors) == 2:
        (row, col), values = first, tensors[1]
        sizes = [0 if ids.numel() == 0 else int(ids.max()) + 1 for ids in (row, col)] if shape is None else shape
        return Source(row, col, values, sizes)
    if isinstance(first, Tensor) and first.dim() == 1 and len(tensors) == 3:
        crow, col, values = tensors
        if shape is None:
            widest = 0 if check_list_of_ids(col, "col").numel() == 0 else int(col.max()) + 1
            shape = (crow.numel() - 1, widest)
        return Source(crow, col, values, shape, has_pointers=True)
    found = [list(x.shape) if isinstance(x, Tensor) else type(x).__name__ for x in tensors]
    raise UsageError(
        "a tuple must be (indices [2, nonzeros], values) or (crow, col, values), optionally with the shape at its end, "
        f"got {found}"
    )


def _values(tensor: Tensor) -> Tensor:
    """The values of a sparse tensor, not as a view: compilers do not support views of sparse tensors."""
    return tensor.values().clone() if operators.followed(tensor) else _same_memory(tensor.detach().values())


def _same_memory(values: Tensor) -> Tensor:
    return values.new_empty(0).set_(values)  # type: ignore[call-overload, no-any-return]


def _of_sparse_tensor(tensor: Any) -> Source:
    crow, col, values = tensor.csr()
    if values is not None and (values.dim() != 1 or values.dtype not in DTYPES):
        raise UsageError(
            "a SparseTensor must have one float32, float64, float16 or bfloat16 value per nonzero, got "
            f"{values.dtype} {list(values.shape)}; pass tensor.set_value(None) for its pattern"
        )
    return Source(crow, col, values, tuple(tensor.sparse_sizes()), has_pointers=True)


def _of_csr(tensor: Tensor) -> Source:
    arrays = tensor.crow_indices(), tensor.col_indices(), _values(tensor)
    return Source(*arrays, tensor.shape, has_pointers=True)


def _of_csc(tensor: Tensor) -> Source:
    row, values = tensor.row_indices(), _values(tensor)
    return Source(row, rows_of_pointers(tensor.ccol_indices(), row.numel()), values, tensor.shape)


def _of_blocks(outer: Tensor, inner: Tensor, values: Tensor, by_row: bool) -> tuple[Tensor, Tensor]:
    """Returns row and column of each value of blocks [blocks, height, width]."""
    place = rows_of_pointers(outer, inner.numel())
    row, col = (place, inner) if by_row else (inner, place)
    blocks, height, width = values.shape
    down, right = (torch.arange(n, device=values.device) for n in (height, width))
    row = (row.long() * height).view(-1, 1, 1) + down.view(-1, 1)
    col = (col.long() * width).view(-1, 1, 1) + right
    shape = (blocks, height, width)
    return row.expand(shape).reshape(-1), col.expand(shape).reshape(-1)


def _of_bsr(tensor: Tensor) -> Source:
    values = _values(tensor)
    places = _of_blocks(tensor.crow_indices(), tensor.col_indices(), values, True)
    return Source(*places, values.reshape(-1), tensor.shape)


def _of_bsc(tensor: Tensor) -> Source:
    values = _values(tensor)
    places = _of_blocks(tensor.ccol_indices(), tensor.row_indices(), values, False)
    return Source(*places, values.reshape(-1), tensor.shape)


def _of_dense(tensor: Tensor) -> Source:
    row, col = tensor.nonzero(as_tuple=True)
    return Source(row, col, tensor[row, col], tensor.shape)


def _of_coo(tensor: Tensor) -> Source:
    row, col = tensor._indices()
    if tensor.is_coalesced():
        values = _values(tensor)
    elif operators.followed(tensor):
        values = _GivenValues.apply(tensor)  # type: ignore[no-untyped-call]
    else:
        values = _same_memory(tensor.detach()._values())
    return Source(row, col, values, tensor.shape)


_LAYOUTS: dict[torch.layout, Callable[[Tensor], Source]] = {
    torch.sparse_csr: _of_csr,
    torch.sparse_csc: _of_csc,
    torch.sparse_bsr: _of_bsr,
    torch.sparse_bsc: _of_bsc,
    torch.sparse_coo: _of_coo,
    torch.strided: _of_dense,
}


class _GivenValues(torch.autograd.Function):
    """The values of a COO tensor that is not coalesced, in their order; `_values()` has no history."""

    @staticmethod
    def forward(tensor: Tensor) -> Tensor:
        return tensor._values().clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        (tensor,) = inputs
        ctx.save_for_backward(tensor._indices())
        ctx.shape = tensor.shape

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """A gradient for each place: torch hands it to every entry there, so that repeated ones share their mean."""
        (indices,) = ctx.saved_tensors
        wide = gradient.to(statistic(gradient.dtype))
        total = torch.sparse_coo_tensor(indices, wide, ctx.shape).coalesce()
        count = torch.sparse_coo_tensor(indices, torch.ones_like(wide), ctx.shape).coalesce()
        mean = (total.values() / count.values()).to(gradient.dtype)
        return torch.sparse_coo_tensor(total.indices(), mean, ctx.shape, is_coalesced=True)
