"""Plugin that runs PyG's own tests with the layers of sptile.torch.nn in the place of PyG's.

    PYTHONPATH=runtime/python:tests/python python -m pytest -p layers_in_pyg PYG/test/nn/conv/test_gcn_conv.py

Expected failures: attributes of MessagePassing (`flow`, `_cached_edge_index`), attention weights in sparse tensors,
dictionaries of HeteroConv that it does not name, and rarely a comparison of two kernels without an absolute tolerance.
"""

from __future__ import annotations

import torch_geometric.nn as pyg

import sptile.torch as st

for _name in st.nn.__all__:
    if hasattr(pyg, _name):
        setattr(pyg, _name, getattr(st.nn, _name))
        setattr(pyg.conv, _name, getattr(st.nn, _name))
