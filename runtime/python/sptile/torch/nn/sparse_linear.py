"""A linear layer with sparse weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ...errors import ArgumentTypeError, UsageError
from ..functions import spmm
from ..handle import torch_dtype
from ..matrix import SparseMatrix
from .graph import matrix_of_pointers


def density(weight: Tensor) -> float:
    """Returns the fraction of nonzero elements.

    Parameters
    ----------
    weight : Tensor
        Dense tensor.

    Returns
    -------
    float
        Fraction from 0 to 1.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> st.density(torch.eye(4))
    0.25
    """
    return float(torch.count_nonzero(weight)) / max(weight.numel(), 1)


class SparseLinear(nn.Module):
    """Linear layer ``x @ W.T + b`` with sparse weights W. `from_linear` creates it from a dense layer.

    Its parameters are `values` and `bias`, its buffers `crow` and `col`. `load_state_dict` accepts states with another
    number of nonzeros.

    Parameters
    ----------
    crow, col, values : Tensor
        CSR arrays of W.
    in_features : int
        Columns of W.
    bias : Tensor, optional
        Bias of shape (out_features,).

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.SparseLinear.from_linear(torch.nn.Linear(64, 32), threshold=0.1)
    >>> layer(torch.ones(8, 64)).shape
    torch.Size([8, 32])
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
        dtype: Any = None,
    ) -> SparseLinear:
        """Returns the sparse version of a dense layer.

        Parameters
        ----------
        linear : torch.nn.Linear
            Dense layer.
        threshold : float, optional
            Keep weights whose absolute value is larger.
        mask : Tensor, optional
            Weights to keep instead, bool, shape (out_features, in_features).
        dtype : dtype, optional
            Type of the parameters. By default that of the layer.

        Returns
        -------
        SparseLinear
            The sparse layer.

        Raises
        ------
        UsageError
            If an argument has the wrong type or shape.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> linear = torch.nn.Linear(4, 2)
        >>> st.nn.SparseLinear.from_linear(linear, mask=torch.eye(2, 4, dtype=torch.bool)).values.shape
        torch.Size([2])
        """
        if not isinstance(linear, nn.Linear):
            raise ArgumentTypeError(f"linear must be a torch.nn.Linear, got {type(linear).__name__}")
        weight = linear.weight.detach()
        if mask is not None and (mask.shape != weight.shape or mask.dtype != torch.bool):
            raise UsageError(
                f"mask must be a torch.bool tensor {list(weight.shape)}, got {mask.dtype} {list(mask.shape)}"
            )
        kept = weight.abs() > threshold if mask is None else mask.to(weight.device)
        row, col = kept.nonzero(as_tuple=True)
        crow = torch.searchsorted(row, torch.arange(weight.shape[0] + 1, device=row.device))
        dtype = weight.dtype if dtype is None else torch_dtype(dtype)
        bias = None if linear.bias is None else linear.bias.detach().to(dtype, copy=True)
        return cls(crow, col.to(torch.int32), weight[row, col].to(dtype), weight.shape[1], bias)

    def _pattern(self) -> SparseMatrix:
        """Returns the pattern of W, rebuilt if `crow` or `col` have other numbers than in the last call."""
        if torch.compiler.is_compiling():
            return SparseMatrix(self.crow, self.col, None, (self.out_features, self.in_features))
        return matrix_of_pointers(self.crow, self.col, self.in_features)

    def matrix(self) -> SparseMatrix:
        """Returns the weights with their current values.

        Returns
        -------
        SparseMatrix
            Matrix of shape (out_features, in_features).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> linear = torch.nn.Linear(4, 2)
        >>> st.nn.SparseLinear.from_linear(linear).matrix().shape
        torch.Size([2, 4])
        """
        values = self.values
        return self._pattern().with_values(values if values.requires_grad else values.clone())

    def forward(self, x: Tensor) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., in_features).

        Returns
        -------
        Tensor
            Result of shape (..., out_features).

        Raises
        ------
        UsageError
            If x has another width.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> linear = torch.nn.Linear(4, 2)
        >>> st.nn.SparseLinear.from_linear(linear)(torch.ones(8, 4)).shape
        torch.Size([8, 2])
        """
        if x.shape[-1] != self.in_features:
            raise UsageError(f"x must have shape [..., {self.in_features}], got {list(x.shape)}")
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
