"""Graph layers of PyTorch alone, as users write them: torch.sparse products, gathers and scatters over the edges.
Signatures and parameter names are those of PyG."""

import functools
import warnings

import torch
from torch import nn
from torch.nn import functional


class Matrix:
    """A sparse CSR tensor for products with tensors that it casts to its type."""

    def __init__(self, csr):
        self.csr = csr

    def multiply(self, x):
        """Returns the product with x [N, n] of the type of the matrix."""
        return self.csr @ x

    def __matmul__(self, x):
        with torch.autocast(x.device.type, enabled=False):
            return self.multiply(x.to(self.csr.dtype))


def product_type(device):
    """Returns the type of sparse products: that of autocast. On the CPU float32, because PyTorch has no sparse products of
    16-bit values there."""
    casts = device.type == "cuda" and torch.is_autocast_enabled("cuda")
    return torch.get_autocast_dtype("cuda") if casts else torch.float32


class Graph:
    """Tensors of a graph of [2, E] edges among `count` nodes (N), created when a layer first reads them. `matrix` is the
    class of the sparse matrices."""

    def __init__(self, edge_index, count, matrix=Matrix):
        self.edge_index, self.count, self.matrix = edge_index, count, matrix
        self.matrices = {}  # by function and type

    def in_product_type(self, make):
        """Returns the matrix of the CSR tensor make() in the type of products."""
        key = make.__name__, product_type(self.edge_index.device)
        if key not in self.matrices:
            self.matrices[key] = self.matrix(make().to(key[1]))
        return self.matrices[key]

    @property
    def sums(self):
        """Matrix [N, N] with 1 at each edge (row: target)."""
        return self.in_product_type(self.make_sums)

    @property
    def normal(self):
        """Matrix [N, N] with self-loops, 1 / sqrt(degree of source x degree of target)."""
        return self.in_product_type(self.make_normal)

    def make_sums(self):
        ones = torch.ones(self.edge_index.shape[1], device=self.edge_index.device)
        return csr(self.edge_index[1], self.edge_index[0], ones, self.count)

    def make_normal(self):
        sources, targets = self.looped()
        scale = torch.bincount(targets, minlength=self.count).float().rsqrt()
        return csr(targets, sources, scale[sources] * scale[targets], self.count)

    @functools.cached_property
    def sorted_edges(self):
        """Sources and targets, int64 [E + N] each, of edges and self-loops in the order of CSR arrays."""
        sources, targets = self.looped()
        order = (targets * self.count + sources).argsort()
        return sources[order], targets[order]

    def looped(self):
        """Returns sources and targets, int64 [E + N] each, of the edges, then of the self-loops."""
        loops = torch.arange(self.count, device=self.edge_index.device)
        return torch.cat([self.edge_index, torch.stack([loops, loops])], 1)


def make_graph(edge_index, count):
    """Returns the Graph of [2, E] edges among `count` nodes."""
    return Graph(edge_index, count)


def csr(rows, cols, values, count):
    """Returns the [count, count] sparse CSR tensor of entries in any order."""
    torch.sparse.check_sparse_tensor_invariants.disable()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support")
        entries = torch.sparse_coo_tensor(torch.stack([rows, cols]), values, (count, count))
        return compact(entries.coalesce().to_sparse_csr())


def compact(tensor):
    """Returns a copy of a sparse CSR tensor: the columns of a converted tensor keep the memory of its rows."""
    arrays = (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    return torch.sparse_csr_tensor(*(array.clone() for array in arrays), tensor.shape)


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
    sources, in the wider type of both."""
    sources, targets = graph.sorted_edges
    return add_rows(weights[..., None] * rows_of(x, sources), targets, len(x))


class GCNConv(nn.Module):
    """normal x W + bias: [N, in] to [N, out]."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, x, graph):
        out = graph.normal @ self.lin(x)
        return out + self.bias.to(out.dtype)


class GINConv(nn.Module):
    """nn((1 + eps) x + sum of neighbours): [N, in] to the output of `nn`; eps is a constant 0."""

    def __init__(self, nn):
        super().__init__()
        self.nn = nn
        self.register_buffer("eps", torch.zeros(1))

    def forward(self, x, graph):
        return self.nn((1 + self.eps) * x + graph.sums @ x)


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
        sources, targets = graph.sorted_edges
        cosines = (rows_of(unit, sources) * rows_of(unit, targets)).sum(-1, keepdim=True)
        weights = softmax_over_targets(self.beta * cosines, targets, len(x))
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
        sources, targets = graph.sorted_edges
        of_sources, of_targets = (x * self.att_src).sum(-1), (x * self.att_dst).sum(-1)
        scores = functional.leaky_relu(rows_of(of_sources, sources) + rows_of(of_targets, targets), 0.2)
        weights = softmax_over_targets(scores, targets, len(x))
        out = weighted_sums(self.drop(weights), x, graph)
        return (out.flatten(1) if self.concat else out.mean(1)) + self.bias

    def drop(self, weights):
        """Applies dropout to [E + N, heads] while training. sptile draws other masks from a seed."""
        return functional.dropout(weights, self.dropout, self.training)
