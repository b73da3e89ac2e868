"""Products with a matrix that is divided among processes, as `sptile partition` divides it, on torch.distributed.

torch.distributed.init_process_group()
A = DistSparseMatrix("parts")
y = A @ A.take(x)
"""

# Its functions keep the group that is there when they are first imported, as optimizers do: one of gloo would outlive
# destroy_process_group, and could abort the process when the interpreter ends.
import torch.distributed.nn

from . import nn
from .functions import attention, sddmm
from .matrix import DistSparseMatrix

__all__ = ["DistSparseMatrix", "attention", "nn", "sddmm"]
