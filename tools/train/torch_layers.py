"""Graph layers of PyTorch alone, as users write them: torch.sparse products, gathers and scatters over the edges.
Signatures and parameter names are those of PyG."""

import dataclasses
import warnings

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class Graph:
    """Tensors of a graph of N nodes that the layers read."""

    sums: torch.Tensor  # [N, N] CSR with 1 at each edge (row: target)
    normal: torch.Tensor  # [N, N] CSR with self-loops, 1 / sqrt(degree of source x degree of target)
    sources: torch.Tensor  # [E + N] int64: edges and self-loops, in the order of the CSR arrays
    targets: torch.Tensor  # [E + N] int64


def make_graph(edge_index, count):
    """Returns the Graph of [2, E] edges among `count` nodes."""
    loops = torch.arange(count, device=edge_index.device)
    sources, targets = torch.cat([edge_index, torch.stack([loops, loops])], 1)
    order = (targets * count + sources).argsort()
    sources, targets = sources[order], targets[order]
    scale = torch.bincount(targets, minlength=count).float().rsqrt()
    ones = torch.ones(edge_index.shape[1], device=edge_index.device)
    return Graph(
        csr(edge_index[1], edge_index[0], ones, count),
        csr(targets, sources, scale[sources] * scale[targets], count),
        sources,
        targets,
    )


def csr(rows, cols, values, count):
    """Returns the [count, count] sparse CSR tensor of entries in any order."""
    torch.sparse.check_sparse_tensor_invariants.disable()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support")
        return (
            torch.sparse_coo_tensor(torch.stack([rows, cols]), values, (count, count))
            .coalesce()
            .to_sparse_csr()
        )


def product(matrix, x):
    """Returns matrix @ x in the type of the matrix: on the CPU, torch has no sparse products of 16-bit values."""
    with torch.autocast(x.device.type, enabled=False):
        return matrix @ x.to(matrix.dtype)


def rows_of(x, nodes):
    """Returns row nodes[e] of x [N, ...] for each edge e: [E, ...]."""
    return x.gather(0, spread(nodes, x))


def add_rows(x, nodes, count):
    """Returns [count, ...]: the sums of the rows of x [E, ...] by node."""
    return x.new_zeros(count, *x.shape[1:]).scatter_add(0, spread(nodes, x), x)


def spread(nodes, x):
    """Returns [E] broadcast, without a copy, over all but the first dimension of x."""
    return nodes.view(-1, *[1] * (x.dim() - 1)).expand(-1, *x.shape[1:])


def softmax_over_targets(scores, targets, count):
    """Returns the softmax of [E, heads] scores over the edges of each target."""
    lowest = scores.new_full((count, scores.shape[1]), float("-inf"))
    top = lowest.scatter_reduce(0, spread(targets, scores), scores.detach(), "amax")
    weights = (scores - rows_of(top, targets)).exp()
    return weights / rows_of(add_rows(weights, targets, count), targets)


def weighted_sums(weights, x, graph):
    """Returns [N, heads, width]: sums over the edges of weights [E, heads] times x [N, heads, width] at their
    sources."""
    return add_rows(weights[..., None] * rows_of(x, graph.sources), graph.targets, len(x))


class GCNConv(nn.Module):
    """normal x W + bias: [N, in] to [N, out]."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, x, graph):
        return product(graph.normal, self.lin(x)) + self.bias


class GINConv(nn.Module):
    """nn((1 + eps) x + sum of neighbours): [N, in] to the output of `nn`; eps is a constant 0."""

    def __init__(self, nn):
        super().__init__()
        self.nn = nn
        self.register_buffer("eps", torch.zeros(1))

    def forward(self, x, graph):
        return self.nn((1 + self.eps) * x + product(graph.sums, x))


class AGNNConv(nn.Module):
    """Mean of neighbours and self, weighted by softmax(beta cosine): [N, D] to [N, D]."""

    def __init__(self, requires_grad=True):
        super().__init__()
        if requires_grad:
            self.beta = nn.Parameter(torch.ones(1))
        else:
            self.register_buffer("beta", torch.ones(1))

    def forward(self, x, graph):
        unit = functional.normalize(x, dim=-1)
        cosines = (rows_of(unit, graph.sources) * rows_of(unit, graph.targets)).sum(-1, keepdim=True)
        weights = softmax_over_targets(self.beta * cosines, graph.targets, len(x))
        return weighted_sums(weights, x[:, None], graph).squeeze(1)


class GATConv(nn.Module):
    """Means of neighbours and self, weighted by softmax(leaky_relu(a_src x_j + a_dst x_i)), for each head: [N, in] to
    [N, heads out], or [N, out], the mean of the heads, without `concat`."""

    def __init__(self, in_channels, out_channels, heads=1, concat=True, dropout=0.0):
        super().__init__()
        self.heads, self.concat, self.dropout = heads, concat, dropout
        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.bias = nn.Parameter(torch.zeros(heads * out_channels if concat else out_channels))
        for weight in (self.lin.weight, self.att_src, self.att_dst):
            nn.init.xavier_uniform_(weight)

    def forward(self, x, graph):
        x = self.lin(x).view(len(x), self.heads, -1)
        sources, targets = (x * self.att_src).sum(-1), (x * self.att_dst).sum(-1)
        scores = functional.leaky_relu(rows_of(sources, graph.sources) + rows_of(targets, graph.targets), 0.2)
        weights = softmax_over_targets(scores, graph.targets, len(x))
        out = weighted_sums(self.drop(weights), x, graph)
        return (out.flatten(1) if self.concat else out.mean(1)) + self.bias

    def drop(self, weights):
        """Applies dropout to [E + N, heads] while training. Masks are drawn head by head, as in sptile, so that a
        seed drops the same weights."""
        if not self.training:
            return weights
        return weights * functional.dropout(weights.new_ones(weights.shape[::-1]), self.dropout).t()
