"""A linear layer whose weights are mostly zeros."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...errors import UsageError
from ..functions import spmm
from ..matrix import SparseMatrix


def density(weight: Tensor) -> float:
    """The share of elements that are not 0."""
    return float(torch.count_nonzero(weight)) / max(weight.numel(), 1)


class SparseLinear(nn.Module):
    """x W^T + b with a sparse W [out_features, in_features]; make it with `from_linear`.

    Parameters: `values` [nnz] (row after row) and `bias`; buffers: `crow`, `col`. x [..., in_features]. The
    pattern stays, values learn.
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
        self._matrix: tuple[tuple[int, int], SparseMatrix] | None = None

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

    def matrix(self) -> SparseMatrix:
        """W, with the values of now where they need no gradient, else without."""
        learns = torch.is_grad_enabled() and self.values.requires_grad
        key = (self.crow.data_ptr(), -1 if learns else self.values._version)
        if self._matrix is None or self._matrix[0] != key:
            if self._matrix is None or self._matrix[0][0] != key[0]:
                bare = SparseMatrix(self.crow, self.col, None, (self.out_features, self.in_features))
            else:
                bare = self._matrix[1]
            self._matrix = key, bare.with_values(None if learns else self.values.detach().clone())
        return self._matrix[1]

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] != self.in_features:
            raise UsageError(f"x is {list(x.shape)}; pass [..., {self.in_features}]")
        a = self.matrix()
        flat = x.reshape(-1, self.in_features).t()
        out = spmm(a, flat, self.values if a.values is None else None).t()
        out = out.reshape(*x.shape[:-1], self.out_features)
        return out if self.bias is None else out + self.bias

    def extra_repr(self) -> str:
        share = self.values.numel() / max(self.in_features * self.out_features, 1)
        return f"{self.in_features}, {self.out_features}, density={share:.3g}"
