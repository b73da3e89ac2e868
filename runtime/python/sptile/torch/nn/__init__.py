"""Graph layers with the arguments and parameters of PyG, and a sparse linear layer."""

from .agnn_conv import AGNNConv
from .gat_conv import GATConv
from .gcn_conv import GCNConv
from .gin_conv import GINConv
from .sage_conv import SAGEConv
from .sparse_linear import SparseLinear, density

__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv", "SAGEConv", "SparseLinear", "density"]


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return sorted(__all__)
