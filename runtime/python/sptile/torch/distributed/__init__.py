"""Products with a matrix that is divided among processes, as `sptile partition` divides it, on torch.distributed.

torch.distributed.init_process_group()
A = DistSparseMatrix("parts")
y = A @ A.take(x)
"""

from . import nn
from .functions import attention, sddmm
from .matrix import DistSparseMatrix

__all__ = ["DistSparseMatrix", "attention", "nn", "sddmm"]
