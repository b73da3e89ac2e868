"""Layers, with the arguments and the parameters of those of PyG."""

from .agnn_conv import AGNNConv
from .gat_conv import GATConv
from .gcn_conv import GCNConv
from .gin_conv import GINConv
from .sage_conv import SAGEConv
from .sparse_linear import SparseLinear, density

__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv", "SAGEConv", "SparseLinear", "density"]
