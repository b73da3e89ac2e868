"""Sparse products for PyTorch: operators with gradients, on the CPU and on CUDA devices."""

from . import compiled as _compiled
from . import nn
from .functions import attention, sddmm, softmax, spmm, spmm_update
from .matrix import SparseMatrix
from .nn import density
from .pyg import adj_t

__all__ = ["SparseMatrix", "adj_t", "attention", "density", "nn", "sddmm", "softmax", "spmm", "spmm_update"]
