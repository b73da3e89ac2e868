"""The entire matrix on the device of one rank, instead of parts on all ranks, if that is faster."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...errors import BadInputError, DeviceError
from ...part import Part
from ..matrix import SparseMatrix
from .own_part import open_one_part
from .ranks import Ranks

_RUNS = 5


class Measured(NamedTuple):
    """Mean seconds per product, the same on all ranks: `divided` with one part per rank, `whole` with the entire
    matrix on the device of rank 0, infinite if it does not fit there."""

    divided: float
    whole: float


def compare(
    path: str | os.PathLike[str],
    own: Part,
    ranks: Ranks,
    divided: Callable[[], Any],
    operand: Callable[[int], Tensor],
    format: str,
) -> tuple[Measured, SparseMatrix | None]:
    """Measures products in all parts, and products of the entire matrix, which rank 0 keeps, with operand(rows).
    Rank 0, which has part `own`, reads all other parts; all ranks raise its errors."""
    mine = seconds(divided, operand(0).device)

    def measure() -> tuple[SparseMatrix | None, float]:
        if ranks.rank != 0:
            return None, math.inf
        try:
            arrays = _read(path, own, ranks)
            x = operand(arrays[0].numel() - 1)
            matrix = SparseMatrix(*arrays, shape=(len(x), len(x)), format=format).to(x.device)
            return matrix, seconds(lambda: matrix @ x, x.device)
        except (MemoryError, DeviceError, torch.cuda.OutOfMemoryError):
            return None, math.inf

    (matrix, _), told = ranks.attempt(measure, lambda made: {"divided": mine, "whole": made[1]})
    return Measured(max(one["divided"] for one in told), told[0]["whole"]), matrix


def seconds(run: Callable[[], Any], device: torch.device) -> float:
    """Returns the mean time of a run, after one untimed run that plans."""

    def wait() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    with torch.no_grad():
        run()
        begin = wait()
        for _ in range(_RUNS):
            run()
        return (wait() - begin) / _RUNS


def without_entries(rows: int, columns: int, like: SparseMatrix) -> SparseMatrix:
    values = None if like.values is None else like.values[:0]
    crow = torch.zeros(rows + 1, dtype=torch.int64, device=like.device)
    return SparseMatrix(crow, crow[:0], values, (rows, columns), format="csr")


def _read(
    path: str | os.PathLike[str], own: Part, ranks: Ranks
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Returns the CSR arrays of the entire matrix, in its original row order. Raises BadInputError unless all parts
    belong to the partition of `own` and each row has exactly one owner."""
    parts = [own if number == own.rank else open_one_part(path, number, ranks) for number in range(ranks.size)]
    _check_parts(path, parts, own)
    pieces = []
    for part in parts:
        for matrix, ids in ((part.local, part.old_ids), (part.halo, part.halo_ids)):
            csr = matrix.csr()
            entries = np.repeat(part.old_ids, np.diff(csr.indptr)), ids[csr.indices]
            pieces.append((*entries, np.ones(0) if csr.values is None else csr.values))
    row, col, values = (np.concatenate(one) for one in zip(*pieces, strict=True))
    order = np.lexsort((col, row))
    crow = np.zeros(own.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=own.shape[0]), out=crow[1:])
    return (
        torch.from_numpy(crow),
        torch.from_numpy(col[order].astype(np.int64)),
        torch.from_numpy(values[order]) if own.local.csr().values is not None else None,
    )


def _check_parts(path: str | os.PathLike[str], parts: list[Part], own: Part) -> None:
    def facts(part: Part) -> tuple[Any, ...]:
        return part.id, part.shape, part.nnz, part.symmetric, part.local.dtype

    for number, part in enumerate(parts):
        if facts(part) != facts(own):
            raise BadInputError(
                f"{path}: part {number} and the part of rank {own.rank} belong to different partitions; partition "
                "the matrix again"
            )
    entries = sum(part.local.nnz + part.halo.nnz for part in parts)
    owned = sum(len(part.old_ids) for part in parts)
    if (owned, entries) != (own.shape[0], own.nnz):
        raise BadInputError(
            f"{path}: the parts have {owned} rows and {entries} nonzeros, but the matrix has {own.shape[0]} and "
            f"{own.nnz}; partition the matrix again"
        )
    owners = np.bincount(np.concatenate([part.old_ids for part in parts]), minlength=owned)
    if owned > 0 and owners.max() > 1:
        raise BadInputError(
            f"{path}: row {owners.argmax()} belongs to {owners.max()} parts; partition the matrix again"
        )
