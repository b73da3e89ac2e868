"""Graph layers of sptile; the graph is a SparseMatrix, which the layers normalize or extend with self-loops once."""

from sptile.torch import SparseMatrix
from sptile.torch.nn import AGNNConv, GATConv, GCNConv, GINConv

__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv", "make_graph"]


def make_graph(edge_index, count):
    """Returns the SparseMatrix [count, count] of [2, E] edges; a row contains the edges to its node."""
    return SparseMatrix.from_edge_index(edge_index, num_nodes=count)
