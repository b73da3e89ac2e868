"""A graph for training: a directory with graph.mtx, features.mtx and nodes.tsv, each optionally .gz or .xz."""

import dataclasses

import numpy as np
import torch

from errors import BAD_INPUT, TrainError
from matrix_market import find_file, read_pattern, read_text

SPLITS = ("train", "val", "test")


class Features:
    """Features of nodes: a sparse matrix, stored dense as layers need it."""

    def __init__(self, dense):
        self.dense = dense  # [N, F] float32
        self.shape, self.device = dense.shape, dense.device
        self.entries = dense.view(-1).nonzero()[:, 0]
        self.values = dense.view(-1)[self.entries]
        self.dropped = dense.clone()

    def drop(self, share):
        """Returns [N, F] with dropout. Only nonzeros are drawn and written, into one matrix, which is valid until the
        next call."""
        self.dropped.view(-1)[self.entries] = torch.nn.functional.dropout(self.values, share)
        return self.dropped

    def __len__(self):
        return len(self.dense)

    def to(self, device):
        """Returns the features on a device."""
        return self if torch.device(device) == self.device else Features(self.dense.to(device))


@dataclasses.dataclass(frozen=True)
class DenseFeatures:
    """Features of nodes for models without dropout."""

    dense: torch.Tensor  # [N, F] float32

    @property
    def shape(self):
        return self.dense.shape

    @property
    def device(self):
        return self.dense.device

    def __len__(self):
        return len(self.dense)


@dataclasses.dataclass(frozen=True)
class DataSet:
    """A graph of N nodes and E directed edges, with tensors on one device."""

    edge_index: torch.Tensor  # [2, E] int64: sources, targets; sorted by target, unique, without self-loops
    x: Features  # [N, F], each row divided by its sum
    y: torch.Tensor  # [N] int64; -1: no label
    nodes: dict  # split -> [n] int64, its nodes
    classes: int

    @property
    def node_count(self):
        return len(self.x)

    @property
    def edge_count(self):
        return self.edge_index.shape[1]

    @property
    def counts(self):
        """Returns split -> number of its nodes."""
        return {split: len(nodes) for split, nodes in self.nodes.items()}

    def make_graph(self, layers):
        """Returns the graph that the layers take."""
        return layers.make_graph(self.edge_index, len(self.x))

    def prepare(self, model):
        """Returns a model for the rows of this process; here: all of them."""

    def mean_loss(self, scores, labels, _split):
        """Returns the mean over the nodes of a split."""
        return torch.nn.functional.cross_entropy(scores, labels)

    def add_up(self, *tensors):
        """Sums over all processes in place; here there is one."""
        return tensors

    def of_all(self, *numbers):
        """Returns the numbers of each process; here there is one."""
        return [list(numbers)]

    def edge_rows(self, _graph):
        """Returns the numbers of rows of tensors with one row per edge."""
        return {self.edge_count, self.edge_count + len(self.x)}

    def to(self, device):
        """Returns the data set on a device."""
        return dataclasses.replace(
            self,
            edge_index=self.edge_index.to(device),
            x=self.x.to(device),
            y=self.y.to(device),
            nodes={k: v.to(device) for k, v in self.nodes.items()},
        )


def read_data_set(folder):
    """Reads a directory. TrainError names a missing or invalid file."""
    edge_index, count = read_graph(find_file(folder, "graph.mtx"))
    return DataSet(edge_index, *read_nodes(folder, count))


def read_nodes(folder, count):
    """Returns the node data: features, labels, split -> nodes, number of classes."""
    labels, splits = read_labels(find_file(folder, "nodes.tsv"), count)
    x = read_features(find_file(folder, "features.mtx"), count)
    nodes = {name: torch.from_numpy(np.flatnonzero(splits == name)) for name in SPLITS}
    return x, torch.from_numpy(labels), nodes, int(labels.max()) + 1


def read_graph(path):
    """Returns ([2, E], N): the edges of a square matrix in both directions, without self-loops and duplicates."""
    (rows, cols), i, j = read_pattern(path)
    if rows != cols:
        raise TrainError(BAD_INPUT, f"{path}: {rows} x {cols}; a graph is square")
    keys = np.unique(np.concatenate([i * rows + j, j * rows + i])[np.tile(i != j, 2)])
    return torch.from_numpy(np.stack([keys % rows, keys // rows])), rows


def read_features(path, count):
    """Returns [count, F] Features: ones at the entries, then each row divided by its sum; empty rows stay 0."""
    (rows, cols), i, j = read_pattern(path)
    if rows != count:
        raise TrainError(BAD_INPUT, f"{path}: {rows} rows, but the graph has {count} nodes")
    x = torch.zeros(rows, cols)
    x[torch.from_numpy(i), torch.from_numpy(j)] = 1
    return Features(x / x.sum(1, keepdim=True).clamp(min=1))


def read_labels(path, count):
    """Returns (labels [count] int64, splits [count] of names) from lines "label<tab>split" after a header line."""
    lines = read_text(path).splitlines()
    if not lines or lines[0].split("\t") != ["label", "split"]:
        raise TrainError(BAD_INPUT, f"{path}:1: expected 'label<tab>split'")
    if len(lines) - 1 != count:
        raise TrainError(BAD_INPUT, f"{path}: {len(lines) - 1} nodes, but the graph has {count}")
    labels, splits = np.empty(count, np.int64), np.empty(count, "U5")
    for node, line in enumerate(lines[1:]):
        label, _, split = line.partition("\t")
        try:
            labels[node] = int(label)
        except (ValueError, OverflowError):
            raise TrainError(BAD_INPUT, f"{path}:{node + 2}: '{label}' is not a class; expected an integer, -1 for none") from None
        if split not in (*SPLITS, "-"):
            raise TrainError(BAD_INPUT, f"{path}:{node + 2}: '{split}' is not a split; expected {', '.join(SPLITS)} or -")
        if not -1 <= labels[node] < count or (split != "-" and labels[node] < 0):
            raise TrainError(
                BAD_INPUT,
                f"{path}:{node + 2}: class {label} in split {split}; a node of a split has "
                "a class from 0 to the number of nodes",
            )
        splits[node] = split
    for name in SPLITS:
        if not (splits == name).any():
            raise TrainError(BAD_INPUT, f"{path}: no node is in split {name}")
    return labels, splits
