"""Products with a matrix that `sptile partition` divided among processes, on torch.distributed.

>>> import torch, sptile.torch.distributed as sd
>>> A = sd.DistSparseMatrix("parts")
>>> x = torch.ones(A.shape[1], 16)
>>> y = A @ A.take(x)

Start one process per part with torchrun, and call `torch.distributed.init_process_group` first.
"""

# Its functions keep the group that is there when they are first imported, as optimizers do: one of gloo would outlive
# destroy_process_group, and could abort the process when the interpreter ends.
import torch.distributed.nn

from . import nn
from .bound import BoundProduct
from .functions import attention, sddmm
from .matrix import DistSparseMatrix

__all__ = ["BoundProduct", "DistSparseMatrix", "attention", "nn", "sddmm"]


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return sorted(__all__)
