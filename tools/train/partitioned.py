"""Training on a graph that `sptile partition` divided: this process has one part of it, and the rows of its nodes.

Random numbers are those of a single process: dropout masks are drawn for all rows, and each process uses its own. A
seed thus gives the same training for any number of processes, up to the order of sums.
"""

import contextlib
import dataclasses
import os

import torch
import torch.distributed as dist

# Imported before a process group exists. Functions of this module, which optimizers import, keep the current
# group: it would outlive its end, and a gloo thread that frees a tensor during interpreter shutdown aborts
# the process.
import torch.distributed.nn
from torch.nn import functional

from dataset import read_nodes
from errors import BAD_INPUT, DEVICE, UNSUPPORTED, USAGE, TrainError

class OwnFeatures:
    """Rows of Features that this process owns."""

    def __init__(self, features, rows):
        self.dense = features.dense[rows]
        self.shape, self.device = self.dense.shape, self.dense.device
        width = max(features.shape[1], 1)
        place = torch.full((len(features.dense),), -1)
        place[rows] = torch.arange(len(rows))
        owner = place[features.entries // width]
        self.count = len(features.entries)
        self.chosen = (owner >= 0).nonzero()[:, 0]  # indices among the entries of all processes
        self.entries = owner[self.chosen] * width + features.entries[self.chosen] % width
        self.values = features.values[self.chosen]
        self.dropped = self.dense.clone()

    def drop(self, share):
        """Equals Features.drop, with the random numbers of a single process."""
        kept = functional.dropout(self.values.new_ones(self.count), share)[self.chosen]
        self.dropped.view(-1)[self.entries] = self.values * kept
        return self.dropped

    def __len__(self):
        return len(self.dense)

    def to(self, device):
        """Returns the features on a device."""
        for name in ("dense", "chosen", "entries", "values", "dropped"):
            setattr(self, name, getattr(self, name).to(device))
        self.device = torch.device(device)
        return self


class WeightDropout:
    """Drops attention weights with the masks of a single process, which depend on the place of an edge or self-loop
    among all of them, sorted by target and source."""

    def __init__(self, graph):
        looped = graph.joined.with_loops().pattern
        ids = graph.with_halo(graph.rows.double()[:, None])[:, 0].long()  # of columns
        row, col = looped.row(), ids[looped.col.long()]
        degree = looped.crow.diff()
        order = torch.argsort(row * graph.shape[0] + col)
        within = torch.arange(len(row), device=row.device) - looped.crow[:-1].repeat_interleave(degree)
        before = graph.collect(degree.double()[:, None])[:, 0].cumsum(0).long().to(row.device)
        first = before[graph.rows] - degree
        self.places = torch.empty_like(row)  # of weights among those of a single process
        self.places[order] = first.repeat_interleave(degree) + within

    def __call__(self, weights, dropout):
        from sptile.torch.dropout import factors, new_seed

        return weights * factors(new_seed(weights.device), *weights.shape[::-1], dropout, weights.dtype, self.places)


@dataclasses.dataclass(frozen=True)
class PartOfDataSet:
    """The part of a DataSet that this process owns; `graph` is the DistSparseMatrix."""

    graph: object
    x: OwnFeatures
    y: torch.Tensor  # [owned]
    nodes: dict  # split -> its nodes among the owned rows
    counts: dict  # split -> number of nodes over all processes
    classes: int
    node_count: int

    @property
    def edge_count(self):
        return self.graph.nnz

    def make_graph(self, _layers):
        return self.graph

    def prepare(self, model):
        """Makes dropout masks equal to those of a single process."""
        model.drop_rows = self.drop_rows
        attending = [layer for layer in model.modules() if hasattr(layer, "drop_weights")]
        if attending:
            drop = WeightDropout(self.graph)
            for layer in attending:
                layer.drop_weights = drop

    def drop_rows(self, x, share, training):
        if not training:
            return x
        return x * functional.dropout(x.new_ones(self.node_count, *x.shape[1:]), share)[self.graph.rows]

    def mean_loss(self, scores, labels, split):
        """Returns this process's share of the mean over all nodes; shares and their gradients are summed."""
        return functional.cross_entropy(scores, labels, reduction="sum") / self.counts[split]

    def add_up(self, *tensors):
        """Sums over all processes in place, in one message."""
        self.graph.add_up(tensors)
        return tensors

    def of_all(self, *numbers):
        """Returns the numbers of each process."""
        own = torch.tensor(numbers, dtype=torch.float64)
        found = [torch.empty_like(own) for _ in range(self.graph.world_size)]
        dist.all_gather(found, own)
        return [one.tolist() for one in found]

    def edge_rows(self, graph):
        edges = graph.joined.nnz
        return {edges, edges + len(self.x)}


@contextlib.contextmanager
def process_group(device_name):
    """Joins the process group of torchrun; yields the device of this process."""
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        raise TrainError(
            USAGE,
            "--partition requires one process per part: torchrun --nproc-per-node PARTS tools/train/train.py ...",
        )
    device = torch.device(device_name)
    if device_name == "cuda":
        local = int(os.environ.get("LOCAL_RANK", "0"))
        if local >= torch.cuda.device_count():
            raise TrainError(DEVICE, f"process {local} of this machine has no CUDA device")
        device = torch.device("cuda", local)
        torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl" if device_name == "cuda" else "gloo")
    try:
        yield device
    except Exception:
        if device.type == "cpu":  # NCCL would wait for exited processes
            dist.destroy_process_group()
        raise
    dist.destroy_process_group()


def check_request(backends):
    """Refuses options that are not supported with several processes."""
    if backends not in (None, ["sptile"]):
        raise TrainError(UNSUPPORTED, f"--partition requires the backend sptile, got {', '.join(backends)}")


def read_part(folder, partition, device):
    """Returns this process's part of a data set and of its graph. Raises TrainError in all processes if the partition
    is invalid."""
    import sptile
    from sptile.torch.distributed import DistSparseMatrix

    try:
        graph = DistSparseMatrix(partition, device=device, never_slower=None).unweighted()
    except sptile.Error as error:
        raise TrainError(error.status, str(error)) from None
    check_graph(partition, graph)
    x, labels, splits, classes = read_nodes(folder, graph.shape[0])
    rows = graph.rows.cpu()
    place = torch.full((len(labels),), -1)
    place[rows] = torch.arange(len(rows))
    owned = {split: place[nodes] for split, nodes in splits.items()}
    return PartOfDataSet(
        graph,
        OwnFeatures(x, rows).to(device),
        labels[rows].to(device),
        {split: at[at >= 0].to(device) for split, at in owned.items()},
        {split: len(nodes) for split, nodes in splits.items()},
        classes,
        len(labels),
    )


def check_graph(partition, graph):
    """Training requires edges in both directions and no self-loops, as a single process reads graph.mtx."""
    if not graph.symmetric:
        raise TrainError(
            BAD_INPUT, f"{partition}: the graph has edges without their reverse edges; partition an undirected graph"
        )
    row, col = graph.local.pattern.row(), graph.local.pattern.col
    loops = (row == col).sum()
    dist.all_reduce(loops)
    if loops.item() > 0:
        raise TrainError(BAD_INPUT, f"{partition}: the graph has {loops.item()} loops; partition a graph without loops")
