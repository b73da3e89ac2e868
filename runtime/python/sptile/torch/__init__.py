"""Sparse products for PyTorch with gradients, on the CPU and on CUDA devices.

>>> import torch, sptile.torch as st
>>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 0]]))
>>> x = torch.ones(3, 16, requires_grad=True)
>>> (A @ x).sum().backward()

Operators follow autocast. On a CUDA device, float32 products use TF32 if `torch.backends.cuda.matmul.allow_tf32` is
set. Sums are float32 or wider.
"""

from . import compiled as _compiled
from . import nn, sparse
from .accelerate import accelerate
from .functions import attention, sddmm, segment_reduce, softmax, spmm, spmm_update
from .matrix import SparseMatrix
from .nn import density
from .pyg import adj_t
from .sampling import Batch, NeighborLoader, from_batch, loader

__all__ = [
    "Batch",
    "NeighborLoader",
    "SparseMatrix",
    "accelerate",
    "adj_t",
    "attention",
    "density",
    "from_batch",
    "loader",
    "nn",
    "sddmm",
    "segment_reduce",
    "softmax",
    "sparse",
    "spmm",
    "spmm_update",
]


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return sorted(__all__)
