"""Unchanged models of PyG and torch in a scope of `accelerate`."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch_geometric  # noqa: E402
from pyg_layers import EDGE_INDEX, LAYERS, NODES, WIDTH, features, results  # noqa: E402

import sptile.torch as st  # noqa: E402
from sptile.errors import ArgumentTypeError  # noqa: E402

# What runs in layers that have seen their edges before; layers that are not here gather all rows.
ROUTED = {}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_the_same_outputs_and_gradients(name):
    torch.manual_seed(1)
    layer = LAYERS[name].make()
    arguments = LAYERS[name].arguments()
    expected = results(layer, arguments)
    with st.accelerate() as scope:
        for _ in range(3):
            for ours, theirs in zip(results(layer, arguments), expected, strict=True):
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    did = {what for _, what in scope.counts} - {"gather", "first use of the edges"}
    print(name, sorted(did), scope.counts)
