"""Layers of the models. A backend is a module with GCNConv, GINConv, AGNNConv, GATConv, with the names and signatures
of PyG, and make_graph(edge_index [2, E], nodes), which returns the graph that the layers take."""

import importlib

from errors import UNSUPPORTED, TrainError

BACKENDS = {  # name: module, required packages
    "torch": ("torch_layers", "torch"),
    "torch-cached": ("torch_cached_layers", "torch"),
    "pyg": ("pyg_layers", "torch_geometric"),
    "sptile": ("sptile_layers", "sptile"),
}


def load_backend(name, instead=None):
    """Returns the module of a backend, or of other layers of its package. Raises TrainError if it is not installed.
    """
    module, package = BACKENDS[name]
    module = instead or module
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TrainError(
            UNSUPPORTED, f"backend {name}: {error}; pip install {package.replace('_', '-')}"
        ) from None
