"""Device memory of a training."""

import gc

import torch


def peak_bytes(device, layers):
    """Returns the maximum bytes on a CUDA device since the last `torch.cuda.reset_peak_memory_stats`: of tensors, and of
    formats that the library of the layers holds outside of PyTorch's allocator."""
    gc.collect()
    return torch.cuda.max_memory_allocated(device) + getattr(layers, "library_bytes", int)()
