"""Graph layers of sptile; the graph is a SparseMatrix, which the layers normalize or extend with self-loops once."""

import gc

from sptile._matrix import MatrixHandle, describe
from sptile.torch import SparseMatrix
from sptile.torch.handle import CudaPlan
from sptile.torch.nn import AGNNConv, GATConv, GCNConv, GINConv

__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv", "library_bytes", "make_graph"]


def make_graph(edge_index, count):
    """Returns the SparseMatrix [count, count] of [2, E] edges; a row contains the edges to its node."""
    return SparseMatrix.from_edge_index(edge_index, num_nodes=count)


def library_bytes():
    """Returns the bytes of formats, and of workspaces of plans, in device memory that the allocator of PyTorch does not
    count."""
    found = gc.get_objects()
    formats = sum(int(describe(one).device_bytes) for one in found if type(one) is MatrixHandle)
    return formats + sum(int(one.info.workspace_bytes) for one in found if type(one) is CudaPlan)
