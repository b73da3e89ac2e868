"""The entire matrix on the device of one rank, instead of parts on all ranks, if that is faster."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...bundle import whole_bundle
from ...errors import DeviceError
from ...part import Part
from ..matrix import SparseMatrix
from .ranks import Ranks

_RUNS = 5
_TRIAL_COLUMNS, _TRIAL_BYTES = 128, 1 << 28
# Share of the local products of all ranks that the entire product takes at least: less would be unusual, because it
# also has the nonzeros of all halos.
_SURE = 0.9


class Measured(NamedTuple):
    """Mean seconds per product, the same on all ranks: `divided` with one part per rank, `whole` with the entire
    matrix on the device of rank 0, infinite if it does not fit there."""

    divided: float
    whole: float


def trial_columns(rows: int, bytes_per_number: int) -> int:
    """Returns the number of columns of a trial with operands of `rows` rows: 128, or less if an operand would exceed
    256 MiB, but at least 8."""
    n = _TRIAL_COLUMNS
    while n > 8 and n * rows * bytes_per_number > _TRIAL_BYTES:
        n //= 2
    return n


def compare(
    path: str | os.PathLike[str],
    own: Part,
    ranks: Ranks,
    divided: Callable[[], Any],
    operand: Callable[[int], Tensor],
    format: str,
    local: Callable[[], Any] | None,
) -> tuple[Measured | None, SparseMatrix | None]:
    """Measures products in all parts, and products of the entire matrix, which rank 0 keeps, with operand(rows). With
    `local`, returns None instead if products in all parts take less time than one rank needs for all local products.
    Rank 0, which has part `own`, reads all other parts; all ranks raise its errors."""
    device = operand(0).device
    mine = seconds(divided, device)
    if local is not None:
        _, told = ranks.attempt(lambda: seconds(local, device), lambda found: {"divided": mine, "local": found})
        if max(one["divided"] for one in told) < _SURE * sum(one["local"] for one in told):
            return None, None

    def measure() -> tuple[SparseMatrix | None, float]:
        if ranks.rank != 0:
            return None, math.inf
        try:
            whole = whole_bundle(path, own._handle)  # checks the number of rows
            x = operand(own.shape[0])
            matrix = SparseMatrix.from_bundle(whole, format=format).to(x.device)
            return matrix, seconds(lambda: matrix @ x, x.device)
        except (MemoryError, DeviceError, torch.cuda.OutOfMemoryError):
            return None, math.inf

    (matrix, _), told = ranks.attempt(measure, lambda made: {"divided": mine, "whole": made[1]})
    return Measured(max(one["divided"] for one in told), told[0]["whole"]), matrix


def seconds(run: Callable[[], Any], device: torch.device, runs: int = _RUNS) -> float:
    """Returns the mean time of a run, after one untimed run that plans."""

    def wait() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    with torch.no_grad():
        run()
        begin = wait()
        for _ in range(runs):
            run()
        return (wait() - begin) / runs


def without_entries(rows: int, columns: int, like: SparseMatrix) -> SparseMatrix:
    values = None if like.values is None else like.values[:0]
    crow = torch.zeros(rows + 1, dtype=torch.int64, device=like.device)
    return SparseMatrix(crow, crow[:0], values, (rows, columns), format="csr")
