"""Graph layers with the arguments and parameters of PyG, and a sparse linear layer."""

from .agnn_conv import AGNNConv
from .appnp import APPNP
from .arma_conv import ARMAConv
from .cheb_conv import ChebConv
from .cluster_gcn_conv import ClusterGCNConv
from .gat_conv import GATConv
from .gatv2_conv import GATv2Conv
from .gcn_conv import GCNConv
from .gin_conv import GINConv
from .gine_conv import GINEConv
from .graph_conv import GraphConv
from .hetero_conv import HeteroConv
from .lg_conv import LGConv
from .light_gcn import LightGCN
from .pna_conv import PNAConv
from .rgcn_conv import RGCNConv
from .sage_conv import SAGEConv
from .sg_conv import SGConv
from .sparse_linear import SparseLinear, density
from .tag_conv import TAGConv
from .transformer_conv import TransformerConv

__all__ = [
    "AGNNConv",
    "APPNP",
    "ARMAConv",
    "ChebConv",
    "ClusterGCNConv",
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "GINConv",
    "GINEConv",
    "GraphConv",
    "HeteroConv",
    "LGConv",
    "LightGCN",
    "PNAConv",
    "RGCNConv",
    "SAGEConv",
    "SGConv",
    "SparseLinear",
    "TAGConv",
    "TransformerConv",
    "density",
]


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return sorted(__all__)
