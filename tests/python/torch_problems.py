"""Matrices and tensors for tests of sptile.torch, and what is compared with: dense products in float64."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="sptile.torch is tested where PyTorch is installed")

from torch import Tensor  # noqa: E402

import sptile.torch as st  # noqa: E402

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}

on_devices = pytest.mark.parametrize("device", DEVICES)
of_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def random(
    *shape: int, device: str = "cpu", dtype: torch.dtype = torch.float64, learn: bool = False
) -> Tensor:
    """Numbers that every type holds exactly, so that rounding of operands is no error."""
    numbers = torch.randint(-16, 17, shape, dtype=torch.float64) / 16
    return numbers.to(device=device, dtype=dtype).requires_grad_(learn)


def matrix(
    rows: int,
    cols: int,
    share: float = 0.2,
    *,
    device: str = "cpu",
    dtype: torch.dtype | None = None,
    shuffled: bool = True,
    seed: int = 0,
    **options: str,
) -> tuple[st.SparseMatrix, Tensor]:
    """A random matrix, its entries in any order, and the same in float64 with its zeros. No dtype: a
    pattern."""
    generator = torch.Generator().manual_seed(seed)
    kept = torch.rand(rows, cols, generator=generator) < share
    row, col = kept.nonzero(as_tuple=True)
    if shuffled:
        order = torch.randperm(row.numel(), generator=generator)
        row, col = row[order], col[order]
    values = None if dtype is None else random(row.numel(), dtype=dtype).to(device)
    a = st.SparseMatrix._of_entries(row.to(device), col.to(device), values, (rows, cols), **options)
    full = torch.zeros(rows, cols, dtype=torch.float64)
    full[row, col] = 1.0 if values is None else values.double().cpu()
    return a, full


def places(a: st.SparseMatrix) -> tuple[Tensor, Tensor]:
    """Row and column of each entry, in the order in which they were given."""
    return (a._order.from_csr(a.pattern.row()).cpu(), a._order.from_csr(a.pattern.col.long()).cpu())


def error(found: Tensor, expected: Tensor) -> float:
    """How far a result is off, in its norm."""
    assert found.shape == expected.shape, (found.shape, expected.shape)
    difference = (found.detach().double().cpu() - expected.detach().double().cpu()).norm()
    return float(difference / expected.detach().double().cpu().norm().clamp(min=1e-30))


def close(found: Tensor, expected: Tensor, dtype: torch.dtype | None = None) -> bool:
    return (
        error(found, expected) <= TOLERANCE[dtype or found.dtype]
        or not expected.detach().any()
        and not found.any()
    )


def graph(nodes: int, edges: int, seed: int = 0) -> Tensor:
    """edge_index [2, edges or fewer]: each edge once, in any order, some of them loops."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.randint(0, nodes, (2, edges), generator=generator)
    pairs = torch.unique(pairs.t(), dim=0).t()
    return pairs[:, torch.randperm(pairs.shape[1], generator=generator)].contiguous()
