"""Distributed graph layers of sptile; the graph is a DistSparseMatrix."""

from sptile.torch.distributed.nn import AGNNConv, GATConv, GCNConv, GINConv

__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv"]
