"""The layer of graph isomorphism networks with edge features (Hu et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...errors import ArgumentTypeError, UsageError
from ..matrix import SparseMatrix
from ..pieces import reduce_messages
from .edge_features import check_edge_attr
from .graph import Features, Graph, GraphLayer, Size, node_sets, reset_modules
from .linear import Linear


def _message(_targets: None, x: Tensor, edges: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """Returns relu(x + edges), or relu(x + W edges + b)."""
    return (x + (functional.linear(edges, *parameters) if parameters else edges)).relu_()


class GINEConv(GraphLayer):
    """Graph isomorphism layer with edge features (GINE): ``nn((1 + eps) * x + sum of relu(x[j] + edge_attr[e]))``.

    Arguments and parameters are those of `torch_geometric.nn.GINEConv`.

    Parameters
    ----------
    nn : callable
        Module that transforms the sums.
    eps : float, optional
        Initial value of eps.
    train_eps : bool, optional
        Train eps.
    edge_dim : int, optional
        Width of the edge features, which a linear layer transforms to the width of x. -1 uses the width of the first
        edge features. By default both widths are equal.

    Raises
    ------
    UsageError
        If `edge_dim` is given and `nn`, or its first module, has no width `in_features` or `in_channels`.

    Notes
    -----
    The layer keeps no message and no transformed edge features. Both passes compute them in pieces of edges with a
    bounded number of elements, and the matrix keeps up to 20 bytes per edge for the backward pass. Results are bitwise
    reproducible. Compiled code and transforms of `torch.func` keep messages.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.GINEConv(torch.nn.Linear(4, 2), edge_dim=3)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.ones(3, 3)).shape
    torch.Size([3, 2])
    """

    eps: Tensor

    def __init__(
        self,
        nn: Callable[[Tensor], Tensor],
        eps: float = 0.0,
        train_eps: bool = False,
        edge_dim: int | None = None,
    ) -> None:
        super().__init__()
        self.nn = nn
        self.initial_eps = eps
        if train_eps:
            self.eps = torch.nn.Parameter(torch.empty(1))
        else:
            self.register_buffer("eps", torch.empty(1))
        self.lin = None if edge_dim is None else Linear(edge_dim, _width_of(nn))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GINEConv(torch.nn.Linear(4, 2))
        >>> layer.reset_parameters()
        """
        reset_modules(self)
        nn.init.constant_(self.eps, self.initial_eps)

    def forward(self, x: Features, edge_index: Graph, edge_attr: Tensor | None = None, size: Size = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor or pair of Tensor
            Features of shape (..., nodes, n), or a pair: features of source and of target nodes. The latter
            may be None.
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_attr : Tensor
            Edge features of shape (edges, n), or (edges, edge_dim), in the order of the edges.
        size : pair of int, optional
            Numbers of source and target nodes.

        Returns
        -------
        Tensor
            Result of `nn`.

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GINEConv(torch.nn.Linear(4, 2))
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index, torch.ones(3, 4)).shape
        torch.Size([3, 2])
        """
        source, target, a = node_sets(x, edge_index, size, "GINEConv")
        edge_attr = self._checked(edge_attr, a, source.shape[-1])
        if source.dim() == 2:
            out = self._sums(a, source, edge_attr)
        else:
            batch = [self._sums(a, one, edge_attr) for one in source.flatten(0, -3)]
            empty = source.new_empty(0, a.shape[0], source.shape[-1])
            out = (torch.stack(batch) if batch else empty).reshape(*source.shape[:-2], a.shape[0], source.shape[-1])
        if target is not None:
            out = out + (1 + self.eps).to(out.dtype) * target.to(out.dtype)
        result: Tensor = self.nn(out)
        return result

    def _checked(self, edge_attr: Tensor | None, a: SparseMatrix, width: int) -> Tensor:
        if edge_attr is None:
            raise UsageError("GINEConv: edge_attr is required; GINConv has no edge features")
        given = a._entries.given
        if self.lin is not None:
            if self.lin.out_features != width:
                raise UsageError(f"GINEConv: x must have {self.lin.out_features} columns, as nn does, got {width}")
            return check_edge_attr(edge_attr, self.lin, given)
        if not isinstance(edge_attr, Tensor):
            raise ArgumentTypeError(f"edge_attr must be a tensor [edges, n], got {type(edge_attr).__name__}")
        if list(edge_attr.shape) != [given, width] or not edge_attr.is_floating_point():
            raise UsageError(
                f"GINEConv: edge_attr must be a floating-point tensor {[given, width]}, got {edge_attr.dtype} "
                f"{list(edge_attr.shape)}; edge_dim transforms features of another width"
            )
        return edge_attr

    def _sums(self, a: SparseMatrix, x: Tensor, edge_attr: Tensor) -> Tensor:
        parameters = () if self.lin is None else (self.lin.weight, self.lin.bias)
        found = reduce_messages(a, _message, x.shape[1], ["sum"], None, x, edge_attr, parameters)
        return found["sum"].to(torch.promote_types(x.dtype, edge_attr.dtype))


def _width_of(module: Callable[[Tensor], Tensor]) -> int:
    """Returns the width that a module takes, or the first module of a sequence."""
    first = module[0] if isinstance(module, nn.Sequential) and len(module) > 0 else module
    for name in ("in_features", "in_channels"):
        width = getattr(first, name, None)
        if isinstance(width, int) and width > 0:
            return width
    raise UsageError("GINEConv: edge_dim requires a module nn whose first layer has in_features or in_channels")
