"""Graph layers of PyTorch whose sparse matrices keep the transpose, which PyTorch computes in each backward pass."""

import torch

import torch_layers
from torch_layers import AGNNConv, GATConv, GCNConv, GINConv

__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv", "make_graph"]


class CachedMatrix(torch_layers.Matrix):
    """A sparse CSR tensor and its transpose."""

    def __init__(self, csr):
        super().__init__(csr)
        self.transpose = torch_layers.compact(csr.t().to_sparse_csr())

    def multiply(self, x):
        return _Product.apply(self.csr, self.transpose, x)


class _Product(torch.autograd.Function):
    """The product of a sparse CSR tensor with x, given the transpose of the tensor."""

    @staticmethod
    def forward(ctx, matrix, transpose, x):
        ctx.transpose = transpose
        return matrix @ x

    @staticmethod
    def backward(ctx, gradient):
        return None, None, ctx.transpose @ gradient


def make_graph(edge_index, count):
    """Returns the Graph of [2, E] edges among `count` nodes."""
    return torch_layers.Graph(edge_index, count, CachedMatrix)
