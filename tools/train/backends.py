"""Whose layers the models are made of. A backend is a module with GCNConv, GINConv, AGNNConv, GATConv, called
and named as PyG's, and make_graph(edge_index [2, E], nodes), which gives what the layers take as their
graph."""

import importlib

from errors import UNSUPPORTED, TrainError

BACKENDS = {  # name: module, required packages
    "torch": ("torch_layers", "torch"),
    "pyg": ("pyg_layers", "torch_geometric"),
    "sptile": ("sptile_layers", "sptile"),
}


def load_backend(name, instead=None):
    """The module of a backend, or of other layers of its package; TrainError where that is missing."""
    module, package = BACKENDS[name]
    module = instead or module
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TrainError(
            UNSUPPORTED, f"backend {name}: {error}; pip install {package.replace('_', '-')}"
        ) from None
