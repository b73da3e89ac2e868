"""LightGCN, a model for recommendation and link prediction (He et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...errors import UsageError
from ..matrix import SparseMatrix
from .graph import Graph, reset_modules
from .lg_conv import LGConv


class LightGCN(nn.Module):
    """LightGCN: embeddings of nodes, propagated over the graph and averaged over the layers.

    Arguments and parameters are those of `torch_geometric.nn.LightGCN`.

    Parameters
    ----------
    num_nodes : int
        Number of nodes.
    embedding_dim : int
        Width of the embeddings.
    num_layers : int
        Number of propagation layers.
    alpha : float or Tensor, optional
        Weight of each layer, or weights of shape (num_layers + 1,). By default ``1 / (num_layers + 1)``.
    normalize : bool, optional
        Normalize the graph. The result is reused while the graph is unchanged.

    Raises
    ------
    UsageError
        If `alpha` has the wrong shape.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> model = st.nn.LightGCN(num_nodes=3, embedding_dim=8, num_layers=2)
    >>> model.get_embedding(torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 8])
    """

    alpha: Tensor

    def __init__(
        self,
        num_nodes: int,
        embedding_dim: int,
        num_layers: int,
        alpha: float | Tensor | None = None,
        normalize: bool = True,
    ) -> None:
        super().__init__()
        self.num_nodes, self.embedding_dim, self.num_layers = num_nodes, embedding_dim, num_layers
        if isinstance(alpha, Tensor) and list(alpha.shape) != [num_layers + 1]:
            raise UsageError(f"alpha must be a number or a tensor [{num_layers + 1}], got {list(alpha.shape)}")
        weight = 1 / (num_layers + 1) if alpha is None else alpha
        self.register_buffer("alpha", weight if isinstance(weight, Tensor) else torch.full((num_layers + 1,), weight))
        self.embedding = nn.Embedding(num_nodes, embedding_dim)
        self.convs = nn.ModuleList(LGConv(normalize) for _ in range(num_layers))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the embeddings.

        Examples
        --------
        >>> import sptile.torch as st
        >>> model = st.nn.LightGCN(3, 8, 2)
        >>> model.reset_parameters()
        """
        reset_modules(self)
        nn.init.xavier_uniform_(self.embedding.weight)

    def get_embedding(self, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """Returns the propagated embeddings of all nodes.

        Parameters
        ----------
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).

        Returns
        -------
        Tensor
            Embeddings of shape (num_nodes, embedding_dim).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.nn.LightGCN(3, 8, 2).get_embedding(torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
        torch.Size([3, 8])
        """
        x: Tensor = self.embedding.weight
        out = x * self.alpha[0]
        for weight, conv in zip(self.alpha[1:], self.convs, strict=True):
            x = conv(x, edge_index, edge_weight)
            out = out + x * weight
        return out

    def forward(
        self, edge_index: Graph, edge_label_index: Tensor | None = None, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Computes scores of pairs of nodes.

        Parameters
        ----------
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_label_index : Tensor, optional
            Pairs of nodes, shape (2, pairs). By default the edges.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).

        Returns
        -------
        Tensor
            Dot products of the embeddings, shape (pairs,).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.nn.LightGCN(3, 8, 2)(torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
        torch.Size([3])
        """
        if edge_label_index is None:
            sparse = isinstance(edge_index, SparseMatrix)
            edge_label_index = torch.stack(edge_index.places()[::-1]) if sparse else edge_index  # type: ignore[union-attr, assignment]
        out = self.get_embedding(edge_index, edge_weight)
        source, target = (out[ids] for ids in edge_label_index)  # type: ignore[union-attr]
        return (source * target).sum(-1)

    def predict_link(
        self,
        edge_index: Graph,
        edge_label_index: Tensor | None = None,
        edge_weight: Tensor | None = None,
        prob: bool = False,
    ) -> Tensor:
        """Predicts whether pairs of nodes are connected.

        Parameters
        ----------
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_label_index : Tensor, optional
            Pairs of nodes, shape (2, pairs). By default the edges.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).
        prob : bool, optional
            Return probabilities instead of 0 and 1.

        Returns
        -------
        Tensor
            Predictions of shape (pairs,).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.nn.LightGCN(3, 8, 2).predict_link(torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
        torch.Size([3])
        """
        found: Tensor = self(edge_index, edge_label_index, edge_weight).sigmoid()
        return found if prob else found.round()

    def recommend(
        self,
        edge_index: Graph,
        edge_weight: Tensor | None = None,
        src_index: Tensor | None = None,
        dst_index: Tensor | None = None,
        k: int = 1,
        sorted: bool = True,
    ) -> Tensor:
        """Returns the nodes with the highest scores for each node.

        Parameters
        ----------
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).
        src_index, dst_index : Tensor, optional
            Nodes to recommend for, and nodes to choose from. By default all.
        k : int, optional
            Number of recommendations.
        sorted : bool, optional
            Sort the recommendations by score.

        Returns
        -------
        Tensor
            Ids of nodes, shape (sources, k).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.nn.LightGCN(3, 8, 2).recommend(torch.tensor([[0, 1, 2], [1, 2, 0]]), k=2).shape
        torch.Size([3, 2])
        """
        out = self.get_embedding(edge_index, edge_weight)
        source = out if src_index is None else out[src_index]
        target = out if dst_index is None else out[dst_index]
        top = (source @ target.t()).topk(k, dim=-1, sorted=sorted).indices
        return top if dst_index is None else dst_index[top]

    def link_pred_loss(self, pred: Tensor, edge_label: Tensor) -> Tensor:
        """Computes the binary cross entropy of scores.

        Parameters
        ----------
        pred : Tensor
            Scores of pairs, see `forward`.
        edge_label : Tensor
            1 for connected pairs, 0 for others.

        Returns
        -------
        Tensor
            Loss, a scalar.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.nn.LightGCN(3, 8, 2).link_pred_loss(torch.zeros(2), torch.tensor([0, 1]))
        tensor(0.6931)
        """
        return functional.binary_cross_entropy_with_logits(pred, edge_label.to(pred.dtype))

    def recommendation_loss(
        self,
        pos_edge_rank: Tensor,
        neg_edge_rank: Tensor,
        node_id: Tensor | None = None,
        lambda_reg: float = 1e-4,
    ) -> Tensor:
        """Computes the loss of Bayesian personalized ranking.

        Parameters
        ----------
        pos_edge_rank, neg_edge_rank : Tensor
            Scores of connected pairs, and of others with the same sources, shape (pairs,).
        node_id : Tensor, optional
            Nodes whose embeddings are regularized. By default all.
        lambda_reg : float, optional
            Factor of the squared norm of the embeddings.

        Returns
        -------
        Tensor
            Loss, a scalar.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.nn.LightGCN(3, 8, 2).recommendation_loss(torch.ones(2), torch.ones(2), lambda_reg=0.0)
        tensor(0.6931)
        """
        loss = -functional.logsigmoid(pos_edge_rank - neg_edge_rank).mean()
        if lambda_reg == 0:
            return loss
        embedding: Tensor = self.embedding.weight if node_id is None else self.embedding.weight[node_id]
        return loss + lambda_reg * embedding.norm(p=2).pow(2) / pos_edge_rank.shape[0]

    def extra_repr(self) -> str:
        return f"{self.num_nodes}, {self.embedding_dim}, num_layers={self.num_layers}"
