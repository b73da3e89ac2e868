"""Maxima, minima and means over rows, against a dense tensor of messages in float64, and against PyG and torch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch", reason="sptile.torch is tested where PyTorch is installed")

from torch import Tensor  # noqa: E402
from torch_problems import close, error, matrix, of_dtypes, on_devices  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402

REDUCTIONS = ["sum", "mean", "max", "min"]
of_reductions = pytest.mark.parametrize("reduce", REDUCTIONS)


def distinct(*shape: int, device: str, dtype: torch.dtype = torch.float64) -> Tensor:
    """Numbers that differ in each column, also in 16 bits, so that no maximum occurs twice."""
    order = torch.rand(shape, dtype=torch.float64).argsort(0)
    return ((order - shape[0] // 2) / 64).to(device=device, dtype=dtype).requires_grad_()


def by_rows(messages: Tensor, row: Tensor, rows: int, reduce: str) -> Tensor:
    """The definition: messages [entries, ...] of each row, 0 for rows without any."""
    result = []
    for i in range(rows):
        mine = messages[row == i]
        if mine.shape[0] == 0:
            result.append(messages.new_zeros(messages.shape[1:]))
        elif reduce in ("sum", "mean"):
            result.append(getattr(mine, reduce)(0))
        else:
            result.append(getattr(mine, reduce)(0).values)
    return torch.stack(result)


def repeated(device: str) -> st.SparseMatrix:
    """Entries in any order, some of them up to four times, with values."""
    torch.manual_seed(1)
    row, col = torch.randint(0, 6, (60,), device=device), torch.randint(0, 4, (60,), device=device)
    return st.SparseMatrix._of_entries(row, col, torch.randn(60, dtype=torch.float64, device=device), (8, 4))


@on_devices
@of_dtypes
@of_reductions
@pytest.mark.parametrize("n", [1, 3, 8, 17, 64, 130, 300])
def test_products_without_values(device: str, dtype: torch.dtype, reduce: str, n: int) -> None:
    torch.manual_seed(n)
    a, _ = matrix(40, 30, 0.1, device=device)
    row, col = a.places()
    x = distinct(30, n, device=device, dtype=dtype)
    out = st.spmm(a, x, reduce=reduce)
    wide = x.detach().double().requires_grad_()
    expected = by_rows(wide[col], row, 40, reduce)
    assert out.dtype == dtype and close(out, expected)
    g = torch.randn(40, n, device=device).to(dtype)
    (dx,), (wanted,) = torch.autograd.grad(out, x, g), torch.autograd.grad(expected, wide, g.double())
    assert close(dx, wanted)


@on_devices
@of_reductions
@pytest.mark.parametrize("kind", ["fixed", "learned", "given", "repeated", "repeated, learned"])
def test_products_with_values(device: str, reduce: str, kind: str) -> None:
    torch.manual_seed(0)
    a = repeated(device) if "repeated" in kind else matrix(8, 4, 0.5, device=device, dtype=torch.float64)[0]
    row, col = a.places()
    values = a.values.detach().clone().requires_grad_("fixed" not in kind and kind != "repeated")
    a = a.with_values(None if kind == "given" else values)
    x = torch.randn(4, 5, dtype=torch.float64, device=device, requires_grad=True)
    out = st.spmm(a, x, values if kind == "given" else None, reduce)
    expected = by_rows(values[:, None] * x[col], row, 8, reduce)
    assert close(out, expected)
    learned = [x, values] if values.requires_grad else [x]
    g = torch.randn_like(expected)
    for one, other in zip(torch.autograd.grad(out, learned, g), torch.autograd.grad(expected, learned, g), strict=True):
        assert close(one, other)


@on_devices
@pytest.mark.parametrize("reduce", ["max", "min"])
@pytest.mark.parametrize("many", [False, True], ids=["once", "repeated"])
def test_heads_and_vectors(device: str, reduce: str, many: bool) -> None:
    a = repeated(device) if many else matrix(8, 4, 0.5, device=device, dtype=torch.float64)[0]
    row, col = a.places()
    f = lambda *shape: torch.randn(*shape, dtype=torch.float64, device=device, requires_grad=True)  # noqa: E731
    x, values, vector = f(4, 3, 5), f(row.numel(), 3), f(4)
    out, expected = st.spmm(a, x, values, reduce), by_rows(values[:, :, None] * x[col], row, 8, reduce)
    assert close(out, expected)
    g = torch.randn_like(expected)
    for one, other in zip(
        torch.autograd.grad(out, [x, values], g), torch.autograd.grad(expected, [x, values], g), strict=True
    ):
        assert close(one, other)
    bare = a.with_values(None)
    assert torch.equal(st.spmm(bare, x, reduce=reduce), by_rows(x[col], row, 8, reduce))
    assert torch.equal(st.spmm(bare, vector, reduce=reduce), by_rows(vector[col], row, 8, reduce))


@on_devices
@pytest.mark.parametrize("reduce", ["max", "min"])
def test_the_first_of_equal_products_gets_the_gradient(device: str, reduce: str) -> None:
    edges = torch.tensor([[2, 0, 1, 3], [0, 0, 0, 1]], device=device)
    x = torch.ones(4, 2, device=device, requires_grad=True)
    (dx,) = torch.autograd.grad(st.spmm(st.SparseMatrix.from_edge_index(edges), x, reduce=reduce).sum(), x)
    assert dx.tolist() == [[1, 1], [0, 0], [0, 0], [1, 1]]


@on_devices
@pytest.mark.parametrize("reduce", ["max", "min"])
def test_nan_and_infinity(device: str, reduce: str) -> None:
    """As torch does: NaN wins over all numbers, and receives the gradient."""
    nan, inf = float("nan"), float("inf")
    edges = torch.tensor([[0, 1, 2, 3, 1], [0, 0, 0, 1, 1]], device=device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=4)
    x = torch.tensor([[inf, -inf, 1], [nan, 2, -inf], [nan, nan, inf], [0, 0, inf]], device=device, requires_grad=True)
    out = st.spmm(a, x, reduce=reduce)
    expected = by_rows(x[edges[0]], edges[1], 4, reduce)
    assert torch.equal(out.isnan(), expected.isnan()) and torch.equal(out.nan_to_num(), expected.nan_to_num())
    (dx,) = torch.autograd.grad(out.sum(), x)
    assert dx[:, 0].tolist() == [0, 2, 0, 0] and dx[2, 1] == 1


@on_devices
@pytest.mark.parametrize("reduce", ["max", "min"])
def test_results_and_gradients_are_reproducible(device: str, reduce: str) -> None:
    torch.manual_seed(0)
    edges = torch.randint(0, 300, (2, 20000), device=device)
    edges[1, :6000] = 7  # a row that blocks share
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=300)
    x = torch.randint(0, 9, (300, 65), device=device).float().requires_grad_()
    g = torch.randn(300, 65, device=device)
    runs = []
    for _ in range(3):
        out = st.spmm(a, x, reduce=reduce)
        runs.append((out, *torch.autograd.grad(out, x, g)))
    assert all(torch.equal(one, other) for run in runs[1:] for one, other in zip(runs[0], run, strict=True))


@on_devices
@pytest.mark.parametrize("how", ["transposed", "every second column", "expanded", "conjugate and negative"])
def test_operands_in_any_layout(device: str, how: str) -> None:
    a, _ = matrix(20, 30, 0.2, device=device)
    x = {
        "transposed": lambda: torch.randn(16, 30, device=device).t(),
        "every second column": lambda: torch.randn(30, 32, device=device)[:, ::2],
        "expanded": lambda: torch.randn(30, 1, device=device).expand(30, 16),
        "conjugate and negative": lambda: torch.randn(30, 16, dtype=torch.complex64, device=device).conj().imag,
    }[how]()
    x = x.detach().requires_grad_()
    plain = x.detach().resolve_neg().clone(memory_format=torch.contiguous_format).requires_grad_()
    out, expected = st.spmm(a, x, reduce="max"), st.spmm(a, plain, reduce="max")
    g = torch.randn(16, 20, device=device).t()
    assert torch.equal(out, expected)
    assert torch.equal(torch.autograd.grad(out, x, g)[0], torch.autograd.grad(expected, plain, g.contiguous())[0])


@on_devices
@of_reductions
@pytest.mark.parametrize("shape", [(), (1,), (3, 2)], ids=str)
@pytest.mark.parametrize("many", [False, True], ids=["once", "repeated"])
def test_segments(device: str, reduce: str, shape: tuple[int, ...], many: bool) -> None:
    a = repeated(device) if many else matrix(8, 4, 0.5, device=device)[0]
    row, _ = a.places()
    values = torch.randn(row.numel(), *shape, dtype=torch.float64, device=device, requires_grad=True)
    out, expected = st.segment_reduce(a, values, reduce), by_rows(values, row, 8, reduce)
    assert close(out, expected)
    g = torch.randn_like(expected)
    assert close(torch.autograd.grad(out, values, g)[0], torch.autograd.grad(expected, values, g)[0])


@on_devices
@of_reductions
@pytest.mark.parametrize(("rows", "cols"), [(0, 3), (3, 0), (3, 3)])
def test_matrices_without_entries(device: str, reduce: str, rows: int, cols: int) -> None:
    ids = torch.empty(0, dtype=torch.int64, device=device)
    a = st.SparseMatrix._of_entries(ids, ids, None, (rows, cols))
    for n in (0, 4):
        x = torch.randn(cols, n, device=device, requires_grad=True)
        out = st.spmm(a, x, reduce=reduce)
        assert torch.equal(out, torch.zeros(rows, n, device=device))
        assert torch.equal(torch.autograd.grad(out.sum(), x)[0], torch.zeros(cols, n, device=device))
        assert torch.equal(st.segment_reduce(a, torch.ones(0, n, device=device), reduce), out)


@of_reductions
def test_equals_scatter_of_pyg(reduce: str) -> None:
    utils = pytest.importorskip("torch_geometric.utils")
    torch.manual_seed(0)
    edges = torch.randint(0, 50, (2, 400))
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=60)
    x = torch.randn(60, 20, requires_grad=True)
    out, expected = st.spmm(a, x, reduce=reduce), utils.scatter(x[edges[0]], edges[1], 0, 60, reduce)
    assert error(out, expected) < 1e-6
    message = torch.randn(400, 20)
    assert error(st.segment_reduce(a, message, reduce), utils.scatter(message, edges[1], 0, 60, reduce)) < 1e-6
    if reduce in ("max", "min"):  # torch divides the gradient between copies of an edge
        kept = torch.unique(edges, dim=1)
        a = st.SparseMatrix.from_edge_index(kept, num_nodes=60)
        out, expected = st.spmm(a, x, reduce=reduce), utils.scatter(x[kept[0]], kept[1], 0, 60, reduce)
    g = torch.randn_like(expected)
    assert error(torch.autograd.grad(out, x, g)[0], torch.autograd.grad(expected, x, g)[0]) < 1e-6


@on_devices
def test_torch_sparse_mm(device: str) -> None:
    a, _ = matrix(20, 30, 0.2, device=device)
    x = torch.randn(30, 4, device=device)
    for name, reduce in {"sum": "sum", "mean": "mean", "amax": "max", "amin": "min"}.items():
        assert torch.equal(torch.sparse.mm(a, x, name), st.spmm(a, x, reduce=reduce))
        assert torch.equal(torch.sparse.mm(a, x, reduce=name), st.spmm(a, x, reduce=reduce))


@on_devices
def test_autocast(device: str) -> None:
    a, _ = matrix(20, 30, 0.2, device=device)
    x = torch.randn(30, 4, device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        out = st.spmm(a, x, reduce="max")
    assert out.dtype == torch.bfloat16 and torch.equal(out, st.spmm(a, x.bfloat16(), reduce="max"))


def mistakes(a: st.SparseMatrix, x: Tensor) -> dict[str, tuple[Callable[[], object], str]]:
    given = a._entries.given
    return {
        "another reduction": (lambda: st.spmm(a, x, reduce="prod"), "'sum', 'mean', 'max' or 'min'"),
        "no name": (lambda: st.spmm(a, x, reduce=None), "'sum', 'mean', 'max' or 'min'"),  # type: ignore[arg-type]
        "too few rows": (lambda: st.spmm(a, x[1:], reduce="max"), "must have shape"),
        "four dimensions": (lambda: st.spmm(a, x[:, None, None], reduce="max"), "must have shape"),
        "too few values": (lambda: st.spmm(a, x, x.new_ones(given - 1), "max"), "one value per nonzero"),
        "values of another type": (lambda: st.spmm(a, x, x.new_ones(given).double(), "max"), "float32"),
        "integers": (lambda: st.spmm(a, x.long(), reduce="max"), "must be float32"),
        "segments of another length": (lambda: st.segment_reduce(a, x.new_ones(given + 1)), "one row per nonzero"),
        "segments of one number": (lambda: st.segment_reduce(a, x.sum()), "one row per nonzero"),
    }


@pytest.mark.parametrize("name", mistakes(*matrix(5, 6, 0.5)))
@on_devices
def test_mistakes_are_explained(device: str, name: str) -> None:
    a, _ = matrix(5, 6, 0.5, device=device)
    call, message = mistakes(a, torch.ones(6, 2, device=device))[name]
    with pytest.raises(sptile.UsageError, match=message):
        call()
    with pytest.raises(sptile.ArgumentTypeError):
        st.segment_reduce(torch.ones(2, 2), torch.ones(4))  # type: ignore[arg-type]


def test_forward_mode_and_vmap_are_refused() -> None:
    a, _ = matrix(5, 6, 0.5)
    x = torch.ones(3, 6, 2)
    with pytest.raises(sptile.UnsupportedError, match="vmap"):
        torch.vmap(lambda one: st.spmm(a, one, reduce="max"))(x)
    with pytest.raises(sptile.UnsupportedError, match="forward mode"):
        torch.func.jvp(lambda one: st.spmm(a, one, reduce="max"), (x[0],), (x[0],))


