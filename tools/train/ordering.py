"""Relabelling of the nodes of a data set in an order of sptile."""

import dataclasses
import time

import numpy as np
import torch

from dataset import Features
from errors import UNSUPPORTED, TrainError
from torch_layers import csr

IDENTITY = "identity"


def reordered(data, method):
    """Returns the data set, on the CPU, with the nodes in the order of a method of `sptile list reorderers`, and the
    seconds of the ordering."""
    if method == IDENTITY:
        return data, 0.0
    try:
        import sptile
    except ImportError as error:
        raise TrainError(UNSUPPORTED, f"--reorder: {error}; pip install sptile") from None
    sources, targets = data.edge_index
    matrix = csr(targets, sources, torch.ones(data.edge_count), data.node_count)
    start = time.perf_counter()
    try:
        order = sptile.reorder(matrix, method).permutation
    except sptile.Error as error:
        raise TrainError(error.status, f"--reorder: {error}") from None
    return relabel(data, torch.from_numpy(np.asarray(order, np.int64))), time.perf_counter() - start


def relabel(data, order):
    """Returns the data set in which node i is node order[i] of `data`. Edges are sorted by target again."""
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order))
    sources, targets = place[data.edge_index]
    by_target = (targets * len(order) + sources).argsort()
    return dataclasses.replace(
        data,
        edge_index=torch.stack([sources, targets])[:, by_target],
        x=Features(data.x.dense[order]),
        y=data.y[order],
        nodes={split: place[nodes].sort().values for split, nodes in data.nodes.items()},
    )
