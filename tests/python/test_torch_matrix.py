"""SparseMatrix: what it is made of, what follows from it, what it refuses."""

from __future__ import annotations

import copy
import gc
import pickle

import pytest

torch = pytest.importorskip("torch")

import scipy.sparse  # noqa: E402
from torch_problems import close, matrix, needs_cuda, on_devices, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile.torch import handle  # noqa: E402


@on_devices
@pytest.mark.parametrize("ids", [torch.int32, torch.int64])
def test_arrays_in_any_order_give_the_matrix(device: str, ids: torch.dtype) -> None:
    full = torch.tensor([[0, 2.0, 0], [0, 0, 0], [4, 0, 5]])
    crow, col = torch.tensor([0, 1, 1, 3]), torch.tensor([1, 2, 0])
    a = st.SparseMatrix(crow.to(device, ids), col.to(device, ids), torch.tensor([2.0, 5, 4]).to(device))
    assert a.shape == (3, 3) and a.nnz == 3 and a.dtype == torch.float32 and a.device.type == device
    assert torch.equal(a.to_dense().cpu(), full)
    assert torch.equal(a.t().to_dense().cpu(), full.t())
    assert torch.equal(a.values.cpu(), torch.tensor([2.0, 5, 4]))
    assert torch.equal(a.to_torch().to_dense().cpu(), full)
    assert "3 x 3, 3 entries" in repr(a)


@on_devices
def test_entries_that_are_given_twice_are_added(device: str) -> None:
    edges = torch.tensor([[0, 1, 0, 0], [1, 0, 1, 1]], device=device)
    assert torch.equal(
        st.SparseMatrix.from_edge_index(edges).to_dense().cpu(), torch.tensor([[0.0, 1], [3, 0]])
    )
    weights = torch.tensor([1.0, 2, 4, 8], device=device, requires_grad=True)
    a = st.SparseMatrix.from_edge_index(edges, weights)
    assert a.nnz == 2 and torch.equal(a.to_dense().detach().cpu(), torch.tensor([[0.0, 2], [13, 0]]))
    (a @ torch.tensor([[3.0], [5.0]], device=device)).sum().backward()
    assert torch.equal(weights.grad.cpu(), torch.tensor([3.0, 5, 3, 3]))


def test_all_sources_give_the_same_matrix() -> None:
    a, full = matrix(7, 5, 0.4, dtype=torch.float32)
    dense = full.float()
    for made in (
        st.SparseMatrix.from_torch(dense),
        st.SparseMatrix.from_torch(dense.to_sparse_csr()),
        st.SparseMatrix.from_torch(dense.to_sparse_coo()),
        st.SparseMatrix.from_scipy(scipy.sparse.csr_array(dense.numpy())),
        st.SparseMatrix.from_scipy(scipy.sparse.coo_matrix(dense.numpy())),
        a,
    ):
        assert torch.equal(made.to_dense(), dense)


def test_a_bundle_gives_the_matrix(tmp_path) -> None:  # type: ignore[no-untyped-def]
    source = scipy.sparse.random_array((20, 30), density=0.2, rng=1, dtype="float32")
    path = tmp_path / "a.h5"
    sptile.convert(source, path, formats="csr").close()
    assert torch.equal(st.SparseMatrix.from_bundle(path).to_dense(), torch.from_numpy(source.toarray()))
    with sptile.open(path) as bundle:
        assert st.SparseMatrix.from_bundle(bundle).nnz == source.nnz


@on_devices
def test_edge_index_has_sources_and_targets(device: str) -> None:
    edges = torch.tensor([[0, 2], [1, 1]], device=device)
    a = st.SparseMatrix.from_edge_index(edges, torch.tensor([3.0, 5.0], device=device), num_nodes=4)
    assert a.shape == (4, 4)
    assert torch.equal(a @ torch.arange(4.0, device=device), torch.tensor([0.0, 10, 0, 0], device=device))


@on_devices
def test_values_keep_their_order_in_all_that_follows(device: str) -> None:
    a, full = matrix(9, 6, 0.4, device=device, dtype=torch.float64)
    other = a.values * 2
    for same, expected in (
        (a.with_values(other), 2 * full),
        (a.t().with_values(other), 2 * full.t()),
        (a.t().t(), full),
        (a.to(torch.float32), full),
        (a.cpu(), full),
    ):
        assert torch.equal(same.to_dense().cpu().double(), expected)
    assert torch.equal(a.t().values, a.values)
    assert a.with_values(None).to_dense().sum() == a.nnz


@on_devices
@pytest.mark.parametrize("loops", [True, False])
def test_gcn_norm_is_that_of_the_paper(device: str, loops: bool) -> None:
    a, full = matrix(12, 12, 0.2, device=device)
    if loops:
        full = torch.where(torch.eye(12, dtype=torch.bool), torch.maximum(full, torch.eye(12)), full)
    factor = full.sum(1).pow(-0.5)
    factor[factor.isinf()] = 0
    expected = factor[:, None] * full * factor
    norm = a.gcn_norm(loops, dtype=torch.float64)
    assert norm.is_normalized and close(norm.to_dense(), expected)


@on_devices
def test_gradients_pass_gcn_norm(device: str) -> None:
    a, _ = matrix(8, 8, 0.3, device=device)
    weights = (torch.rand(a.nnz, dtype=torch.float64) + 0.5).to(device).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: a.with_values(w).gcn_norm().to_dense(), (weights,))


@on_devices
def test_a_symmetric_matrix_is_its_transpose(device: str) -> None:
    a, full = matrix(10, 10, 0.3, device=device)
    both = st.SparseMatrix.from_torch((full + full.t()).to(device))
    assert both.is_symmetric() and both.t() is both
    assert not st.SparseMatrix.from_torch(full.triu(1).to(device)).is_symmetric()
    lower = full.tril() * 2 + full.tril().t()
    assert not st.SparseMatrix.from_torch(lower.to(device)).is_symmetric()
    assert not matrix(3, 4, device=device)[0].is_symmetric()
    csr = both.to_torch()
    with pytest.raises(sptile.UsageError, match="symmetric"):
        st.SparseMatrix(csr.crow_indices(), csr.col_indices(), csr.values(), symmetric=False)


@on_devices
def test_copies_and_pickles_are_the_same_matrix(device: str) -> None:
    a, full = matrix(6, 7, 0.4, device=device, dtype=torch.float32)
    for same in (copy.deepcopy(a), copy.copy(a), pickle.loads(pickle.dumps(a))):
        assert torch.equal(same.to_dense().cpu().double(), full)
        x = random(7, 3, device=device, dtype=torch.float32)
        assert close(same @ x, full @ x.cpu().double())


def test_handles_go_with_their_matrix() -> None:
    gc.collect()
    before = set(handle._entries)
    a, _ = matrix(6, 6, dtype=torch.float32)
    x = torch.randn(6, 2, requires_grad=True)
    number = torch.tensor(a._product.entries.number)
    y = (a @ x).sum()
    del a
    y.backward()  # what backward needs is there
    del y
    gc.collect()
    assert set(handle._entries) <= before
    with pytest.raises(sptile.UsageError, match="keep the SparseMatrix"):
        torch.ops.sptile.spmm(number, 6, 6, 0, False, x, None)


def _edges(*columns: tuple[int, int]) -> torch.Tensor:
    return torch.tensor(columns).t()


CSR = (torch.tensor([0, 1, 2]), torch.tensor([0, 1]))
REFUSED = {
    "ids of floats": (sptile.UsageError, lambda: st.SparseMatrix(torch.tensor([0.0, 1]), torch.tensor([0]))),
    "columns of floats": (
        sptile.UsageError,
        lambda: st.SparseMatrix(torch.tensor([0, 1]), torch.tensor([0.0])),
    ),
    "no tensor": (sptile.UsageError, lambda: st.SparseMatrix(torch.tensor([0, 1]), [0])),  # type: ignore[arg-type]
    "no tensor of pointers": (sptile.UsageError, lambda: st.SparseMatrix(None, CSR[1])),  # type: ignore[arg-type]
    "pointers on another kind of device": (
        sptile.UnsupportedError,
        lambda: st.SparseMatrix(CSR[0].to("meta"), CSR[1]),
    ),
    "pointers that fall": (
        sptile.BadInputError,
        lambda: st.SparseMatrix(torch.tensor([0, 2, 1, 2]), torch.tensor([0, 1])),
    ),
    "pointers past the end": (
        sptile.BadInputError,
        lambda: st.SparseMatrix(torch.tensor([0, 1, 9]), torch.tensor([0, 1])),
    ),
    "no pointers": (
        sptile.UsageError,
        lambda: st.SparseMatrix(torch.tensor([], dtype=torch.int64), torch.tensor([]).long(), shape=(-1, 0)),
    ),
    "a column that is not there": (sptile.BadInputError, lambda: st.SparseMatrix(*CSR, shape=(2, 1))),
    "a negative column": (
        sptile.BadInputError,
        lambda: st.SparseMatrix(torch.tensor([0, 1]), torch.tensor([-1])),
    ),
    "a node that is not there": (
        sptile.BadInputError,
        lambda: st.SparseMatrix.from_edge_index(_edges((0, 5)), num_nodes=3),
    ),
    "edges of another shape": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_edge_index(torch.zeros(3, 4).long()),
    ),
    "rows that do not agree": (sptile.UsageError, lambda: st.SparseMatrix(*CSR, shape=(3, 3))),
    "too many rows": (
        sptile.UnsupportedError,
        lambda: st.SparseMatrix.from_edge_index(_edges((0, 1)), num_nodes=2**31),
    ),
    "values of integers": (sptile.UsageError, lambda: st.SparseMatrix(*CSR, torch.tensor([1, 2]))),
    "complex values": (sptile.UsageError, lambda: st.SparseMatrix(*CSR, torch.tensor([1j, 2]))),
    "too few values": (sptile.UsageError, lambda: st.SparseMatrix(*CSR, torch.tensor([1.0]))),
    "a matrix of values": (sptile.UsageError, lambda: st.SparseMatrix(*CSR, torch.eye(2))),
    "norm of a rectangle": (sptile.UsageError, lambda: matrix(3, 4)[0].gcn_norm()),
    "a cube": (sptile.UsageError, lambda: st.SparseMatrix.from_torch(torch.zeros(2, 2, 2))),
    "a column layout": (sptile.UsageError, lambda: st.SparseMatrix.from_torch(torch.eye(2).to_sparse_csc())),
    "a format that is not there": (
        sptile.UsageError,
        lambda: matrix(3, 3, dtype=torch.float32, format="csx")[0] @ torch.eye(3),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_no_matrix_is_refused(case: str) -> None:
    kind, make = REFUSED[case]
    with pytest.raises(kind) as caught:
        make()
    assert isinstance(caught.value, sptile.Error) and len(str(caught.value)) > 20


def batch_members(device: str, dtype: torch.dtype | None) -> tuple[list[st.SparseMatrix], list[torch.Tensor]]:
    """Four of 7 columns: entries in any order, in order, none, and some that are given twice."""
    mixed, in_order = matrix(4, 7, 0.5, device=device, dtype=dtype), matrix(2, 7, 0.5, device=device, dtype=dtype, shuffled=False)
    empty = matrix(3, 7, 0.0, device=device, dtype=dtype)
    row, col = torch.tensor([1, 0, 1], device=device), torch.tensor([6, 2, 6], device=device)
    values = None if dtype is None else torch.tensor([1.0, 2, 4], dtype=dtype, device=device)
    twice = st.SparseMatrix._of_entries(row, col, values, (2, 7))
    parts = [mixed[0], in_order[0], empty[0], twice]
    return parts, [part.to_dense().double().cpu() for part in parts]


@on_devices
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_matrices_of_a_batch_are_one(device: str, dtype: torch.dtype | None, count: int) -> None:
    parts, dense = batch_members(device, dtype)
    parts, dense = parts[:count], dense[:count]
    for joined, expected in (
        (st.SparseMatrix.block_diag(parts), torch.block_diag(*dense)),
        (st.SparseMatrix.vstack(iter(parts)), torch.vstack(dense)),
    ):
        assert joined.shape == expected.shape and joined.device.type == device
        assert joined.nnz == sum(part.nnz for part in parts)
        assert (joined.values is None) == all(part.values is None for part in parts)
        assert torch.equal(joined.to_dense().double().cpu(), expected)
        assert torch.equal(joined.t().to_dense().double().cpu(), expected.t())
        x = random(expected.shape[1], 5, device=device, dtype=dtype or torch.float32)
        assert close(joined @ x, expected @ x.double().cpu())


@on_devices
def test_gradients_reach_the_values_of_each_matrix(device: str) -> None:
    parts, dense = batch_members(device, torch.float64)
    learned = [part.values.clone().requires_grad_() for part in parts]

    def product(make: str, *tensors: torch.Tensor) -> torch.Tensor:
        x, *values = tensors
        members = [part.with_values(one) for part, one in zip(parts, values, strict=True)]
        return getattr(st.SparseMatrix, make)(members) @ x

    for make, width in (("block_diag", 28), ("vstack", 7)):
        x = random(width, 3, device=device, learn=True)
        assert torch.autograd.gradcheck(lambda *tensors, make=make: product(make, *tensors), (x, *learned))


@on_devices
def test_lists_of_a_batch_are_those_of_its_matrices(device: str) -> None:
    parts, _ = batch_members(device, torch.float64)
    joined = st.SparseMatrix.block_diag(parts)
    assert torch.equal(joined.values, torch.cat([part.values for part in parts]))
    x, y = random(joined.shape[0], 3, device=device), random(joined.shape[1], 3, device=device)
    found = st.sddmm(joined, x, y).split([part.values.numel() for part in parts])
    pairs = zip(x.split([part.shape[0] for part in parts]), y.split([part.shape[1] for part in parts]), strict=True)
    for part, numbers, (of_rows, of_columns) in zip(parts, found, pairs, strict=True):
        assert torch.equal(numbers, st.sddmm(part, of_rows, of_columns))


@on_devices
def test_a_batch_of_normalized_matrices_is_normalized(device: str) -> None:
    parts = [matrix(n, n, 0.4, device=device)[0] for n in (3, 5)]
    normalized = [part.gcn_norm() for part in parts]
    joined = st.SparseMatrix.block_diag(normalized)
    assert joined.is_normalized
    assert close(joined.to_dense(), st.SparseMatrix.block_diag(parts).gcn_norm().to_dense())
    assert not st.SparseMatrix.block_diag([normalized[0], normalized[1].with_values(normalized[1].values)]).is_normalized
    assert not st.SparseMatrix.vstack([normalized[0]]).is_normalized


def test_what_makes_no_batch() -> None:
    a, _ = matrix(3, 4, 0.5, dtype=torch.float32)
    for make in (st.SparseMatrix.block_diag, st.SparseMatrix.vstack):
        for wrong in (a, a.to_torch(), None, "a"):
            with pytest.raises(sptile.UsageError, match="pass a list of matrices"):
                make(wrong)
        with pytest.raises(sptile.UsageError, match="no matrices"):
            make([])
        for other, message in (
            (a.to_torch(), "of type Tensor"),
            (a.with_values(None), "values are None, those of the first are torch.float32"),
            (a.to(torch.float64), "values are torch.float64"),
        ):
            with pytest.raises(sptile.UsageError, match=f"matrix 2 of the batch: .*{message}"):
                make([a, a, other])
    with pytest.raises(sptile.UsageError, match="matrix 1 of the batch: 3 columns, the first has 4"):
        st.SparseMatrix.vstack([a, a.t()])
    wide = st.SparseMatrix(torch.tensor([0, 0]), torch.tensor([], dtype=torch.int64), None, (1, 2**31 - 1))
    with pytest.raises(sptile.UnsupportedError, match="matrix 1 of the batch: 2147483647 columns behind"):
        st.SparseMatrix.block_diag([wide, wide])
    assert st.SparseMatrix.vstack([wide, wide]).shape == (2, 2**31 - 1)


@needs_cuda
def test_a_batch_is_on_one_device() -> None:
    a, _ = matrix(3, 4, 0.5)
    with pytest.raises(sptile.UsageError, match="matrix 1 of the batch: it is on cuda"):
        st.SparseMatrix.block_diag([a, a.cuda()])
