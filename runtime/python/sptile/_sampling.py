"""Samples of neighbors in host memory, by libsptile-tools."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrays, _tools
from . import _library as c
from ._calls import Owner
from ._matrix import raw_view
from .errors import error_of

Ids = npt.NDArray[np.int64]

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


def mixed(*numbers: int) -> int:
    """Returns 64 random bits that depend on integers and their order: SplitMix64 (formats/core/random.hpp)."""
    state = 0
    for number in numbers:
        state = (state ^ (number & _MASK)) + _STEP & _MASK
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            state = (state ^ state >> shift) * factor & _MASK
        state ^= state >> 31
    return state


class _SampleHandle(Owner):
    """Owns an sptile_tools_sample."""

    @staticmethod
    def _destroy(address: int) -> None:
        _tools.library().sptile_tools_sample_destroy(address)


class Graph:
    """A square CSR pattern whose rows have the neighbors of nodes: int64 [nodes + 1] and int32 [edges]."""

    def __init__(self, indptr: Any, indices: Any) -> None:
        nodes = self.nodes = len(indptr) - 1
        self._kept = indptr, indices
        self._arrays = c.Arrays(
            rows=nodes,
            cols=nodes,
            nnz=len(indices),
            row=_arrays.list_address(indptr, c.DTYPE_I64, nodes + 1, "the row pointers of A"),
            col=_arrays.list_address(indices, c.DTYPE_I32, len(indices), "the column ids of A"),
        )

    def sample(self, seeds: Ids, fan_outs: Ids, random: int) -> Sample:
        """Samples the neighborhood of seeds, see `sptile_tools_sample_create`. Other threads run meanwhile. Raises the
        error of the library."""
        sampling = _tools.Sampling(
            seeds=_arrays.list_address(seeds, c.DTYPE_I64, len(seeds), "the seeds"),
            seed_count=len(seeds),
            fan_outs=_arrays.list_address(fan_outs, c.DTYPE_I64, len(fan_outs), "the fan-outs"),
            hops=len(fan_outs),
            random=random,
        )
        library, handle = _tools.library(), c_void_p()
        _check(library.sptile_tools_sample_create(byref(self._arrays), byref(sampling), byref(handle)))
        return Sample(_SampleHandle(handle.value), len(fan_outs))


class Sample:
    """The arrays of a sample, see `sptile_tools_sampled`: read-only views that keep it."""

    def __init__(self, owner: _SampleHandle, hops: int) -> None:
        found = _tools.Sampled()
        _check(_tools.library().sptile_tools_sample_arrays(owner, byref(found)))

        def ids(pointer: int | None, count: int, dtype: int = c.DTYPE_I64) -> Any:
            return raw_view(owner, pointer, count, dtype)

        self.node_ids = ids(found.node_ids, found.nodes)
        self.row_ptr = ids(found.row_ptr, found.nodes + 1)
        self.col_idx = ids(found.col_idx, found.edges, c.DTYPE_I32)
        self.edge_ids = ids(found.edge_ids, found.edges)
        self.ends: list[int] = ids(found.ends, hops + 1).tolist()


def _check(status: int) -> None:
    if status != c.STATUS_OK:
        raise error_of(status, _tools.library().sptile_tools_last_error().decode("utf-8", "replace"))
