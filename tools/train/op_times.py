"""Times of the operations of an epoch, classified as sparse, dense or rest."""

import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

DENSE = {"mm", "addmm", "bmm", "baddbmm", "linear"}
KINDS = ("sparse", "dense", "rest")


class OpTimes(TorchDispatchMode):
    """Sums the seconds of all operations in its context, forward and backward.

    sparse: operations of sptile, those with a sparse matrix, and those with a tensor with one row per edge
    (`edge_rows`: their numbers of rows). dense: products of matrices. rest: everything else.
    """

    def __init__(self, device, edge_rows):
        super().__init__()
        self.clock = CudaClock() if device.type == "cuda" else HostClock()
        self.edge_rows = edge_rows
        self.spans = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        start = self.clock.now()
        result = operation(*args, **(kwargs or {}))
        self.spans.append((self.kind(operation, (args, kwargs, result)), start, self.clock.now()))
        return result

    def kind(self, operation, operands):
        """Returns the kind of an operation, one of KINDS."""
        tensors = [t for t in tree_leaves(operands) if isinstance(t, torch.Tensor)]
        edges = any(t.layout != torch.strided or any(n in self.edge_rows for n in t.shape) for t in tensors)
        if operation.namespace == "sptile" or edges:
            return "sparse"
        return "dense" if operation._schema.name.split("::")[1] in DENSE else "rest"

    def shares(self):
        """Returns kind -> fraction of the time of all operations, with sum 1."""
        seconds = dict.fromkeys(KINDS, 0.0)
        for kind, start, end in self.spans:
            seconds[kind] += self.clock.seconds(start, end)
        total = sum(seconds.values()) or 1.0
        return {kind: s / total for kind, s in seconds.items()}


class HostClock:
    """Clock for synchronous operations."""

    now = staticmethod(time.perf_counter)

    @staticmethod
    def seconds(start, end):
        return end - start


class CudaClock:
    """Clock for operations on the current stream."""

    @staticmethod
    def now():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    @staticmethod
    def seconds(start, end):
        end.synchronize()
        return start.elapsed_time(end) / 1000
