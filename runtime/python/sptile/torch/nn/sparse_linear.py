"""A linear layer whose weights are mostly zeros."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ...errors import UsageError
from ..functions import spmm
from ..matrix import SparseMatrix
from .graph import matrix_of_pointers


def density(weight: Tensor) -> float:
    """The share of elements that are not 0."""
    return float(torch.count_nonzero(weight)) / max(weight.numel(), 1)


class SparseLinear(nn.Module):
    """x W^T + b with a sparse W [out_features, in_features]; make it with `from_linear`.

    Parameters: `values` [nnz] (row after row) and `bias`; buffers: `crow`, `col`. x [..., in_features]. Values
    learn; the pattern is that of the buffers, which load_state_dict replaces, also by one of another size.
    """

    crow: Tensor
    col: Tensor

    def __init__(
        self, crow: Tensor, col: Tensor, values: Tensor, in_features: int, bias: Tensor | None = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, crow.numel() - 1
        self.register_buffer("crow", crow)
        self.register_buffer("col", col)
        self.values = nn.Parameter(values)
        self.bias = None if bias is None else nn.Parameter(bias)

    @classmethod
    def from_linear(
        cls,
        linear: nn.Linear,
        threshold: float = 0.0,
        *,
        mask: Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> SparseLinear:
        """Of the weights of a layer that are larger than `threshold`, whatever their sign, or that `mask`
        (bool, [out_features, in_features]) keeps. dtype: None is that of the layer."""
        if not isinstance(linear, nn.Linear):
            raise UsageError(f"linear is of type {type(linear).__name__}; pass a torch.nn.Linear")
        weight = linear.weight.detach()
        if mask is not None and (mask.shape != weight.shape or mask.dtype != torch.bool):
            raise UsageError(
                f"mask is {mask.dtype} of {list(mask.shape)}; pass torch.bool of {list(weight.shape)}"
            )
        kept = weight.abs() > threshold if mask is None else mask.to(weight.device)
        row, col = kept.nonzero(as_tuple=True)
        crow = torch.searchsorted(row, torch.arange(weight.shape[0] + 1, device=row.device))
        dtype = dtype or weight.dtype
        bias = None if linear.bias is None else linear.bias.detach().to(dtype, copy=True)
        return cls(crow, col.to(torch.int32), weight[row, col].to(dtype), weight.shape[1], bias)

    def _pattern(self) -> SparseMatrix:
        """The pattern of W; made anew where `crow` or `col` hold other numbers than in the last call."""
        if torch.compiler.is_compiling():
            return SparseMatrix(self.crow, self.col, None, (self.out_features, self.in_features))
        return matrix_of_pointers(self.crow, self.col, self.in_features)

    def matrix(self) -> SparseMatrix:
        """W, with the values of now."""
        values = self.values
        return self._pattern().with_values(values if values.requires_grad else values.clone())

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] != self.in_features:
            raise UsageError(f"x is {list(x.shape)}; pass [..., {self.in_features}]")
        # Values go with each call, wherever they come from: prune, functional_call, an average.
        out = spmm(self._pattern(), x.reshape(x.shape[:-1].numel(), self.in_features).t(), self.values).t()
        out = out.reshape(*x.shape[:-1], self.out_features)
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Makes room for a state with another number of entries, in the same Parameter, which optimizers
        hold."""
        crow, col, values = (state_dict.get(prefix + name) for name in ("crow", "col", "values"))
        own = self._parameters.get("values")
        loadable = all(isinstance(x, Tensor) for x in (crow, col, values))
        fits = loadable and crow.shape == self.crow.shape and col.shape == values.shape and col.dim() == 1
        if own is not None and fits:
            if own.shape != values.shape:
                self.col = self.col.new_zeros(col.shape)
                own.grad = None
                other = torch.float32 if own.dtype == torch.float64 else torch.float64
                for dtype in (other, own.dtype):  # autograd forgets the old size with the old type alone
                    own.data = torch.zeros(values.shape, dtype=dtype, device=own.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)  # type: ignore[no-untyped-call]

    def extra_repr(self) -> str:
        share = self.values.numel() / max(self.in_features * self.out_features, 1)
        return f"{self.in_features}, {self.out_features}, density={share:.3g}"
