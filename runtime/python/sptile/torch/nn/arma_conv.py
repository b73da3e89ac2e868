"""The layer of graph convolution by autoregressive moving average filters (Bianchi et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parameter import UninitializedParameter, is_lazy

from ...errors import UsageError
from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, normalized_graph
from .linear import glorot_, lazy_like, save_parameters


class ARMAConv(GraphLayer):
    """ARMA graph convolution: the mean over stacks of ``x_t = act(A @ x_{t-1} @ W + x_0 @ V + b)``.

    A is ``D^-1/2 A D^-1/2``. Arguments and parameters are those of `torch_geometric.nn.ARMAConv`. All stacks are one
    product with a batch.

    Parameters
    ----------
    in_channels : int
        Width of x. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    num_stacks : int, optional
        Number of parallel stacks.
    num_layers : int, optional
        Number of steps of each stack.
    shared_weights : bool, optional
        Use the weights of the first step in all steps.
    act : callable, optional
        Activation after each step.
    dropout : float, optional
        Probability of dropping an element of x_0 in a step, during training.
    bias : bool, optional
        Add a bias in each step.

    Raises
    ------
    UsageError
        If a number of stacks, of layers or of channels is not positive.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.ARMAConv(4, 2, num_stacks=3, num_layers=2)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        num_stacks: int = 1,
        num_layers: int = 1,
        shared_weights: bool = False,
        act: Callable[[Tensor], Tensor] | None = nn.ReLU(),  # noqa: B008 (as in PyG, without state)
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if min(num_stacks, num_layers) < 1 or in_channels < 1 and in_channels != -1:
            raise UsageError(
                "num_stacks, num_layers and in_channels must be positive, or in_channels -1, got "
                f"{num_stacks}, {num_layers} and {in_channels}"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.num_stacks, self.num_layers, self.shared_weights = num_stacks, num_layers, shared_weights
        self.act, self.dropout = act, dropout
        steps = 1 if shared_weights else num_layers
        self.weight = nn.Parameter(torch.empty(max(1, steps - 1), num_stacks, out_channels, out_channels))
        self.init_weight: Any = UninitializedParameter()
        self.root_weight: Any = UninitializedParameter()
        self.bias = nn.Parameter(torch.empty(steps, num_stacks, 1, out_channels)) if bias else None
        self._is_lazy = True  # compilers cannot inspect the class of a parameter
        if in_channels > 0:
            self._materialize(in_channels)
        self.reset_parameters()

    def _materialize(self, in_channels: int) -> None:
        """Allocates and initialises weights of unknown width."""
        if not self._is_lazy:
            return
        self._is_lazy = False
        steps = 1 if self.shared_weights else self.num_layers
        shape = (self.num_stacks, in_channels, self.out_channels)
        with torch.inference_mode(False), torch.no_grad():  # tensors that can be trained later
            self.init_weight.materialize(shape)
            self.root_weight.materialize((steps, *shape))
            glorot_(self.init_weight)
            glorot_(self.root_weight)

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import sptile.torch as st
        >>> layer = st.nn.ARMAConv(4, 2)
        >>> layer.reset_parameters()
        """
        super().reset_parameters()
        for weight in (self.weight,) if self._is_lazy else (self.weight, self.init_weight, self.root_weight):
            glorot_(weight)

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., nodes, in_channels).
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).

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
        >>> st.nn.ARMAConv(4, 2)(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        x = check_features(x, "ARMAConv")
        self._materialize(x.shape[-1])
        a = normalized_graph(x, edge_index, edge_weight, False)
        start = x.unsqueeze(-3)  # [..., 1, nodes, in_channels], of each stack
        out = start
        for step in range(self.num_layers):
            place = 0 if self.shared_weights else step
            weight = self.init_weight if step == 0 else self.weight[0 if self.shared_weights else step - 1]
            root = functional.dropout(start, self.dropout, self.training)
            out = propagate(a, out @ weight) + root @ self.root_weight[place]
            out = out if self.bias is None else out + self.bias[place].to(out.dtype)
            out = out if self.act is None else self.act(out)
        return out.mean(-3)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        save_parameters(self, destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        weight = state_dict.get(prefix + "init_weight")
        if isinstance(weight, Tensor) and is_lazy(weight) and not self._is_lazy:
            self._is_lazy = True
            self.init_weight, self.root_weight = lazy_like(self.init_weight), lazy_like(self.root_weight)
        elif isinstance(weight, Tensor) and not is_lazy(weight) and weight.dim() == 3:
            self._materialize(weight.shape[1])
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, num_stacks={self.num_stacks}, num_layers={self.num_layers}"
        )
