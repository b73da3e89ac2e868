"""The layer of spectral graph convolution by Chebyshev polynomials (Defferrard et al. 2016)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...errors import UsageError
from ..matrix import SparseMatrix, product_type
from ..operands import statistic
from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, edges_of, matrix_of
from .linear import GlorotLinear, bias_of
from .order import aggregates_first


class ChebConv(GraphLayer):
    """Chebyshev graph convolution: the sum of ``T_k(L) @ x @ W_k`` for k from 0 to K - 1.

    T_k are Chebyshev polynomials, L is the Laplacian scaled to ``2 L / lambda_max - I``. Arguments and parameters are
    those of `torch_geometric.nn.ChebConv`. If the result is narrower than x, the layer evaluates the sum by Clenshaw's
    method, which multiplies L by results.

    Parameters
    ----------
    in_channels : int
        Width of x. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    K : int
        Number of polynomials, at least 1.
    normalization : str, optional
        Laplacian: "sym" (``I - D^-1/2 A D^-1/2``), "rw" (``I - D^-1 A``) or None (``D - A``), without self loops.
    bias : bool, optional
        Add a bias.

    Raises
    ------
    UsageError
        If K is less than 1, or the normalization is unknown.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.ChebConv(4, 2, K=3)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self, in_channels: int, out_channels: int, K: int, normalization: str | None = "sym", bias: bool = True
    ) -> None:
        super().__init__()
        if K < 1:
            raise UsageError(f"K must be at least 1, got {K}")
        if normalization not in (None, "sym", "rw"):
            raise UsageError(f"normalization must be None, 'sym' or 'rw', got {normalization!r}")
        self.in_channels, self.out_channels, self.normalization = in_channels, out_channels, normalization
        self.lins = nn.ModuleList(GlorotLinear(in_channels, out_channels) for _ in range(K))
        self.bias = bias_of(out_channels, bias)

    def forward(
        self,
        x: Tensor,
        edge_index: Graph,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        lambda_max: Tensor | float | None = None,
    ) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., nodes, in_channels).
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).
        batch : Tensor, optional
            Graph of each node, shape (nodes,), for `lambda_max` with one element per graph.
        lambda_max : Tensor or float, optional
            Largest eigenvalue of the Laplacian, or one per graph. By default twice the largest element.

        Returns
        -------
        Tensor
            Result of shape (..., nodes, out_channels).

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> st.nn.ChebConv(4, 2, K=2)(torch.ones(3, 4), edge_index, lambda_max=2.0).shape
        torch.Size([3, 2])
        """
        x = check_features(x, "ChebConv")
        a = matrix_of(edge_index, x.shape[-2], x.shape[-2], edge_weight)
        lap = scaled_laplacian(a, self.normalization, product_type(x, x.device.type), lambda_max, batch)
        out = self._ascending(lap, x) if aggregates_first(x, self.lins[0]) else self._descending(lap, x)  # type: ignore[arg-type]
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def _ascending(self, lap: SparseMatrix, x: Tensor) -> Tensor:
        """Adds the terms in the order of the recurrence T_k = 2 L T_{k-1} - T_{k-2}."""
        before, now = x, x
        out: Tensor = self.lins[0](x)
        for k, lin in enumerate(self.lins[1:]):
            after = propagate(lap, now)
            before, now = now, after if k == 0 else 2 * after - before
            out = out + lin(now)
        return out

    def _descending(self, lap: SparseMatrix, x: Tensor) -> Tensor:
        """Clenshaw's recurrence b_k = x W_k + 2 L b_{k+1} - b_{k+2}."""
        first, *others = self.lins
        now = after = None
        for lin in reversed(others):
            out = lin(x)
            out = out if now is None else out + 2 * propagate(lap, now)
            now, after = out if after is None else out - after, now
        result: Tensor = first(x)
        if now is not None:
            result = result + propagate(lap, now)
        return result if after is None else result - after

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, K={len(self.lins)}, normalization={self.normalization}"


def scaled_laplacian(
    a: SparseMatrix,
    normalization: str | None,
    dtype: torch.dtype,
    lambda_max: Tensor | float | None,
    batch: Tensor | None,
) -> SparseMatrix:
    """Returns 2 L / lambda_max - I, cached unless values or tensors may differ in the next call."""
    if a.requires_grad or isinstance(lambda_max, Tensor):
        return _laplacian(a, normalization, dtype, lambda_max, batch)
    name = f"laplacian {normalization} {dtype} {lambda_max}"
    return a._derive(name, lambda: _laplacian(a, normalization, dtype, lambda_max, None))


def _laplacian(
    a: SparseMatrix,
    normalization: str | None,
    dtype: torch.dtype,
    lambda_max: Tensor | float | None,
    batch: Tensor | None,
) -> SparseMatrix:
    """Degrees are the weights of the edges that leave a node, as in PyG."""
    edges, nodes = edges_of(a, True), a.shape[0]
    wide = statistic(dtype)
    weights = edges.row.new_ones(edges.given, dtype=wide) if a.values is None else a.values.to(wide)
    weights = weights if edges.kept is None else weights[edges.kept]
    weights = weights if edges.left_out is None else weights.masked_fill(edges.left_out, 0)
    source, target = edges.col[: weights.shape[0]], edges.row[: weights.shape[0]]
    degree = weights.new_zeros(nodes).index_add(0, source, weights)
    loops = degree
    if normalization is not None:
        loops = torch.ones_like(degree)
        factor = degree.pow(-0.5 if normalization == "sym" else -1.0)
        factor = torch.where(torch.isinf(factor), 0, factor)
        weights = factor.index_select(0, source) * weights
        weights = weights * factor.index_select(0, target) if normalization == "sym" else weights
    if lambda_max is None:
        others = weights if edges.left_out is None else weights.masked_fill(edges.left_out, torch.inf)
        lambda_max = 2 * torch.cat([-others, loops]).max() if nodes > 0 else 1.0
    if isinstance(lambda_max, Tensor) and lambda_max.numel() > 1:
        if batch is None or lambda_max.dim() != 1:
            raise UsageError(
                f"lambda_max must be a number, or have one element per graph of batch, got {list(lambda_max.shape)}"
            )
        lambda_max = lambda_max.to(wide)[batch[edges.col]]
    scaled = 2 * torch.cat([-weights, loops]) / lambda_max
    scaled = torch.where(scaled == torch.inf, 0, scaled)
    one = torch.cat([torch.zeros_like(weights), torch.ones_like(loops)])
    return edges.matrix.with_values((scaled - one).to(dtype))
