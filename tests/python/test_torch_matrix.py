"""SparseMatrix: what it is made of, what follows from it, what it refuses."""

from __future__ import annotations

import ast
import copy
import gc
import io
import pickle
import subprocess
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402
from conftest import command, make_bundle  # noqa: E402
from torch import Tensor  # noqa: E402
from torch_problems import close, matrix, needs_cuda, on_devices, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile.torch import handle  # noqa: E402
from sptile.torch.pattern import pattern_of_entries  # noqa: E402


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
    assert "3 x 3, 3 nonzeros" in repr(a)


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


@pytest.mark.parametrize("format", sptile._operations.FORMATS)
def test_every_format_of_a_bundle_multiplies_through_torch(bundle_path, small, format: str) -> None:  # type: ignore[no-untyped-def]
    full = torch.from_numpy(small.toarray())
    a = st.SparseMatrix.from_bundle(bundle_path, format=format)
    x = random(45, 8, dtype=torch.float32, learn=True)
    for same in (a, copy.copy(a), copy.deepcopy(a), a.clone()):
        assert close(same @ x, full @ x.double())
        assert [plan.format for plan in same._handle.plans.values()] == [format]
    (a @ x).sum().backward()
    assert close(x.grad, full.t() @ torch.ones(60, 8).double())
    assert [plan.format for plan in a._handle.transposed().plans.values()] == [format]
    doubled = a.with_values(2 * a.values)
    for other in (doubled, pickle.loads(pickle.dumps(doubled)), a.with_values(doubled.values.requires_grad_())):
        assert close(other @ x, 2 * full @ x.double())


@on_devices
def test_repeated_backward_passes_give_the_same_gradient(device: str) -> None:
    a, full = matrix(9, 6, 0.4, device=device, dtype=torch.float64)
    x = random(6, 4, device=device, learn=True)
    g = random(9, 4, device=device)
    for gradient in (g, 2 * g, g.t().contiguous().t(), g[:1].expand(9, 4), 3 * g):
        (found,) = torch.autograd.grad(a @ x, x, gradient)
        assert close(found, full.t() @ gradient.cpu())
    (batch,) = torch.autograd.grad(a @ x, x, torch.stack([g, 5 * g]), is_grads_batched=True)
    assert close(batch, torch.stack([full.t() @ g.cpu(), 5 * full.t() @ g.cpu()]))
    learned = g.clone().requires_grad_()
    (first,) = torch.autograd.grad(a @ x, x, learned, create_graph=True)
    (second,) = torch.autograd.grad(first, learned, torch.ones_like(first))
    assert close(second, full @ torch.ones(6, 4).double())


def test_kernel_of_a_bundle_is_named_through_torch(bundle_path, small) -> None:  # type: ignore[no-untyped-def]
    a = st.SparseMatrix.from_bundle(bundle_path, kernel="cpu.bittcf.generic")
    x = random(45, 8, dtype=torch.float32)
    assert close(a @ x, torch.from_numpy(small.toarray()) @ x.double())
    assert [plan.kernel for plan in a._handle.plans.values()] == ["cpu.bittcf.generic"]


def kernels_of(a) -> list[str]:  # type: ignore[no-untyped-def]
    return [plan.kernel for plan in a._handle.plans.values()]


def test_kernel_is_named_for_each_operation() -> None:
    names = {"spmm": "cpu.csr.generic", "sddmm": "cpu.csr.sddmm.generic"}
    a, full = matrix(9, 6, 0.4, dtype=torch.float64, kernel=names)
    x, y = random(9, 4), random(6, 4, learn=True)
    out = a @ y
    assert close(out, full @ y.detach())
    out.backward(torch.ones_like(out))
    assert close(y.grad, full.t() @ torch.ones(9, 4).double())
    assert kernels_of(a) == kernels_of(a.t()) == ["cpu.csr.generic"]
    st.sddmm(a, x, y.detach())
    assert [plan.kernel for plan in a._bare.plans.values()] == ["cpu.csr.sddmm.generic"]


def test_kernel_follows_to_derived_matrices() -> None:
    edges, name = torch.tensor([[0, 1, 2], [1, 2, 0]]), "cpu.csr.generic"
    a = st.SparseMatrix.from_edge_index(edges, kernel=name)
    for b in (
        a,
        a.gcn_norm(),
        a.with_values(torch.ones(3)),
        pickle.loads(pickle.dumps(a)),
        st.SparseMatrix.block_diag([a, a], kernel=name),
        st.SparseMatrix.vstack([a, a], kernel=name),
        st.SparseMatrix.from_torch(a.to_torch(), kernel=name),
        st.SparseMatrix(a.pattern.crow, a.pattern.col, kernel=name),
    ):
        b @ torch.ones(b.shape[1], 2)
        assert kernels_of(b) == [name]
    layer = st.nn.GCNConv(2, 3)
    layer(torch.ones(3, 2), a)
    assert kernels_of(next(m for key, m in a._derived.items() if "gcn_norm" in key)) == [name]


@pytest.mark.parametrize(
    "kernel, message",
    [
        ("cuda.bittcf.acc", "no kernel cuda.bittcf.acc for spmm.*available: cpu.csr.generic"),
        ("nonsense", "no kernel nonsense for spmm.*available: cpu.csr.generic"),
        ("cpu.csr.sddmm.generic", "available: cpu.csr.generic"),
        ({"product": "cpu.csr.generic"}, "no operation 'product'; operations are spmm"),
        ({"spmm": "cpu.csr.generic cpu.csr.avx2"}, "one name of `sptile list kernels`"),
        ({"spmm": 1}, "kernel of spmm must be a str"),
        (1, "kernel must be a name or a mapping"),
    ],
    ids=str,
)
def test_kernel_that_does_not_exist_is_refused(kernel: object, message: str) -> None:
    with pytest.raises((sptile.UsageError, TypeError), match=message):
        st.SparseMatrix.from_torch(torch.eye(3), kernel=kernel) @ torch.ones(3, 2)  # type: ignore[arg-type]


def test_kernel_is_named_in_compiled_code() -> None:
    def product(crow, col, x):  # type: ignore[no-untyped-def]
        return st.spmm(st.SparseMatrix(crow, col, None, (2, 2), kernel="cpu.csr.generic"), x)

    crow, col, x = torch.tensor([0, 1, 3]), torch.tensor([0, 0, 1]), torch.ones(2, 5)
    assert torch.equal(torch.compile(product, backend="eager", fullgraph=True)(crow, col, x), product(crow, col, x))
    made = st.nn.graph.matrix_of_pointers(crow, col, 2, "auto", "spmm cpu.csr.generic")
    made @ x
    assert kernels_of(made) == ["cpu.csr.generic"]


def test_stored_plan_is_used_through_torch(small, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = make_bundle(small, tmp_path / "a.h5")
    options = ["-n", "8", "--device", "cpu", "--threads", str(torch.get_num_threads()), "--format", "bittcf"]
    subprocess.run([command() or "sptile", "plan", path, *options], check=True, capture_output=True)
    a = st.SparseMatrix.from_bundle(path)
    full = torch.from_numpy(small.toarray())
    for n, stored in ((8, 1), (7, 0)):
        x = random(45, n, dtype=torch.float32, learn=True)
        out = a @ x
        assert close(out, full @ x.double())
        out.sum().backward()  # through CSR: the transpose is not stored
        assert close(x.grad, full.t() @ torch.ones(60, n).double())
        plan = list(a._handle.plans.values())[-1]
        assert plan.info.stored == stored and (plan.format == "bittcf" or not stored)


def test_missing_format_of_a_bundle_is_refused_with_the_remedy(small, tmp_path) -> None:  # type: ignore[no-untyped-def]
    a = st.SparseMatrix.from_bundle(make_bundle(small, tmp_path / "a.h5", "--format", "bittcf"), format="tall")
    with pytest.raises(sptile.UsageError, match="formats: csr, bittcf; store it with 'sptile convert --format tall'"):
        a @ torch.ones(45, 4)


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


def test_the_first_stream_uses_the_workspace_of_the_plan() -> None:
    plan = handle.TorchPlan.__new__(handle.TorchPlan)
    plan.info, plan._device, plan._workspaces = SimpleNamespace(workspace_bytes=64), torch.device("cpu"), {}
    plan._own_workspace, plan.matrix = threading.Lock(), SimpleNamespace(source=SimpleNamespace(kept=[]))
    (stream, reference), memory = plan.workspace(5)
    assert stream.value == 5 and reference is None and memory is None
    for number in (6, 7):
        (stream, reference), memory = plan.workspace(number)
        assert stream.value == number and reference._obj.data == memory.data_ptr() and reference._obj.bytes == 64
        assert torch.equal(memory, torch.zeros(64, dtype=torch.uint8))
    assert plan.workspace(5)[1] is None and plan.workspace(6)[1] is not plan.workspace(7)[1]


@on_devices
@pytest.mark.parametrize("rows, cols", [(12, 12), (5, 9), (9, 5), (1, 1), (0, 0)])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_added_loops_are_those_of_a_sort(device: str, rows: int, cols: int, share: float) -> None:
    pattern = matrix(rows, cols, share, device=device)[0].pattern
    looped, loops = pattern.with_loops()
    row, col = pattern.row(), pattern.col.long()
    missing = sorted(set(range(min(rows, cols))) - set(row[row == col].tolist()))
    added = torch.tensor(missing, dtype=torch.int64, device=device)
    sorted_, order = pattern_of_entries(torch.cat([row, added]), torch.cat([col, added]), rows, cols)
    assert looped.crow.dtype == torch.int64 and torch.equal(looped.crow, sorted_.crow)
    assert looped.col.dtype == torch.int32 and torch.equal(looped.col, sorted_.col)
    assert (looped is pattern) == (not missing) and loops.added == len(missing)
    values = torch.rand(pattern.nnz, device=device)
    expected = order.to_csr(torch.cat([values, values.new_full((len(missing),), 2.0)]))
    assert torch.equal(loops.insert(values, 2.0), expected)


def bytes_per_nonzero(*matrices: st.SparseMatrix) -> float:
    """Bytes of all lists with at least one number per nonzero that matrices and their transposes keep."""
    handles = [handle for a in matrices for handle in (a._bare, a._handle)]
    handles += [handle for one in handles for handle in (one._transposed,) if handle is not None]
    patterns = {handle.pattern for handle in handles}
    lists = [x for p in patterns for x in (p.col, p._source)] + [handle.values for handle in handles]
    lists += [x for handle in handles for x in (handle._source, *places_of_loops(handle))]
    lists += [x for a in matrices for x in (a.values, a._order.position, a._order.source)]
    sizes = {x.data_ptr(): x.untyped_storage().nbytes() for x in lists if x is not None}
    return sum(sizes.values()) / matrices[0].nnz


def places_of_loops(handle: Any) -> list[Tensor]:
    found = [loops.position for loops in handle.derived.get("loops", ())[1:] if loops is not None]
    return [position for position in found if position is not None]


@on_devices
@pytest.mark.parametrize("symmetric, most", [(True, 12), (False, 20)])
def test_a_normalized_graph_keeps_no_orders(device: str, symmetric: bool, most: int) -> None:
    full = matrix(200, 200, 0.2)[1].fill_diagonal_(0)
    edges = (full + full.t() * symmetric).nonzero().t()
    a = st.SparseMatrix.from_edge_index(edges.flip(0).contiguous().to(device), num_nodes=200)  # in the order of CSR
    norm = a.gcn_norm()
    x = random(200, 4, device=device, dtype=torch.float32, learn=True)
    (norm @ x).sum().backward()
    assert norm.is_symmetric() == symmetric
    assert bytes_per_nonzero(a, norm) <= 1.05 * most
    shuffled = st.SparseMatrix.from_edge_index(edges[:, torch.randperm(edges.shape[1])].to(device), num_nodes=200)
    assert shuffled._order.position.dtype == shuffled._order.source.dtype == torch.int32
    assert bytes_per_nonzero(shuffled) == pytest.approx(12, abs=0.1)


@on_devices
def test_the_source_of_a_transpose_is_kept_where_it_is_needed_again(device: str) -> None:
    a, full = matrix(30, 20, 0.3, device=device, dtype=torch.float32)
    pattern = a.pattern
    x = random(30, 4, device=device, dtype=torch.float32)
    assert close(a.t() @ x, full.t() @ x.double().cpu()) and pattern._source is not None  # a.t() has an order
    b, full = matrix(30, 20, 0.3, device=device, dtype=torch.float32)
    for step in range(3):
        again = b.with_values((step + 1) * b.values)
        assert close(x.t() @ again, (step + 1) * x.t().double().cpu() @ full)
        assert (b.pattern._source is not None) == (step > 0)
    assert b.pattern.transposed()[0] is b.pattern.transposed()[0]


@on_devices
def test_a_symmetric_matrix_is_its_transpose(device: str) -> None:
    a, full = matrix(10, 10, 0.3, device=device)
    both = st.SparseMatrix.from_torch((full + full.t()).to(device))
    assert both.is_symmetric() and both.t() is both
    assert not st.SparseMatrix.from_torch(full.triu(1).to(device)).is_symmetric()
    lower = full.tril() * 2 + full.tril().t()
    assert not st.SparseMatrix.from_torch(lower.to(device)).is_symmetric()
    assert not matrix(3, 4, device=device)[0].is_symmetric()
    values = torch.arange(4.0, device=device)
    pattern = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2, 0], [1, 0, 2, 0]], device=device))
    sums = torch.tensor([3.0, 1.0, 2.0], device=device)  # of columns, in which the values are in another order
    assert torch.equal(st.segment_reduce(pattern.t(), values), sums)
    assert pattern.t()._handle is pattern._handle and torch.equal(pattern.t().t().places()[0], pattern.places()[0])
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


def copies_of(a: st.SparseMatrix) -> dict[str, st.SparseMatrix]:
    file = io.BytesIO()
    torch.save({"a": a}, file)
    file.seek(0)
    return {
        "copy": copy.copy(a),
        "deepcopy": copy.deepcopy(a),
        "pickle": pickle.loads(pickle.dumps(a)),
        "torch.load": torch.load(file, weights_only=True)["a"],
        "clone": a.clone(),
    }


@on_devices
@pytest.mark.parametrize("kind", ["pattern", "values", "parameter", "counts", "normalized", "transpose", "repeated"])
def test_copies_have_all_that_belongs_to_a_matrix(device: str, kind: str) -> None:
    a, _ = matrix(6, 6, 0.5, device=device, dtype=None if kind in ("pattern", "normalized") else torch.float32, format="csr")
    edges = torch.tensor([[0, 1, 0, 5], [1, 0, 1, 5]], device=device)
    if kind == "parameter":
        a = a.with_values(torch.nn.Parameter(a.values))
    if kind in ("counts", "repeated"):
        a = st.SparseMatrix.from_edge_index(edges, torch.rand(4, device=device) if kind == "repeated" else None)
    a = a.gcn_norm() if kind == "normalized" else a.t() if kind == "transpose" else a
    x = torch.eye(6, dtype=torch.float64 if kind in ("counts", "pattern") else torch.float32, device=device)
    for name, same in copies_of(a).items():
        assert torch.equal(same @ x, a @ x), name
        assert (same.values is None) == (a.values is None) and same.device == a.device
        assert a.values is None or torch.equal(same.values, a.values)
        assert torch.equal(st.sddmm(same, x, x), st.sddmm(a, x, x))
        assert (same.is_normalized, same.requires_grad, same.nnz) == (a.is_normalized, a.requires_grad, a.nnz)
        assert same._bare.format == a._bare.format
        if kind == "parameter" and name != "clone":
            assert isinstance(same.values, torch.nn.Parameter)
            assert (same.values is a.values) == (name == "copy")


def test_a_copied_model_trains_itself() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([2.0, 1.0]))
            self.graphs = [st.SparseMatrix(CSR[0], CSR[1], self.weight)] * 2

        def forward(self) -> torch.Tensor:
            return (self.graphs[0] @ torch.eye(2) + self.graphs[1] @ torch.eye(2)).sum()

    model = Model()
    other = copy.deepcopy(model)
    other().backward()
    assert model.weight.grad is None and torch.equal(other.weight.grad, torch.tensor([2.0, 2]))
    assert other.graphs[0] is other.graphs[1] and other.graphs[0].values is other.weight
    together = pickle.loads(pickle.dumps([model.weight, model.graphs[0]]))
    assert together[1].values is together[0]
    with pytest.raises(TypeError, match="cannot deep copy a SparseMatrix"):
        copy.deepcopy(model.graphs[0].with_values(2 * model.weight))


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, "a"),
        (0, 9),
        (1, 1),
        (2, torch.tensor([0, 9, 2])),
        (2, None),
        (3, torch.tensor([0, -1], dtype=torch.int32)),
        (4, torch.tensor([0, 2])),
        (4, torch.tensor([0.5, 1])),
        (6, torch.tensor([1.0])),
        (7, "csx"),
    ],
)
def test_a_damaged_file_is_refused(place: int, wrong: object) -> None:
    """torch.load(weights_only=True) calls the function that makes a matrix with what the file has."""
    make, arguments = st.SparseMatrix(*CSR, torch.tensor([3.0, 4])).__reduce__()
    assert torch.equal(make(*arguments).to_dense(), torch.diag(torch.tensor([3.0, 4])))
    damaged = [*arguments[:place], wrong, *arguments[place + 1 :]]
    with pytest.raises(sptile.Error):
        make(*damaged) @ torch.eye(2)


@on_devices
def test_a_matrix_converts_as_a_tensor(device: str) -> None:
    a, full = matrix(5, 7, 0.5, device=device, dtype=torch.float32)
    norm = matrix(5, 5, 0.5, device=device)[0].gcn_norm()
    f64, f32 = torch.float64, torch.float32
    for same, dtype in (
        (a.to(f64), f64),
        (a.to(dtype=f64), f64),
        (a.to(device, f64), f64),
        (a.to(device=device, dtype=f64, non_blocking=True), f64),
        (a.to(torch.zeros(1, dtype=f64, device=device)), f64),
        (a.to(a.to(f64)), f64),
        (a.to(other=a.double()), f64),
        (a.double(), f64),
        (a.double().float(), f32),
        (a.half(), torch.float16),
        (a.bfloat16(), torch.bfloat16),
        (a.to(device), f32),
        (a.cpu().to(device, f32, False, True), f32),
    ):
        assert same.dtype == dtype and same.device.type == device
        assert torch.equal(same.to_dense().double().cpu(), full)
    assert a.to(device) is a and a.float() is a and a.to(None) is a and a.to(copy=True) is not a
    assert norm.to(f64).is_normalized and norm.half().is_normalized and norm.detach().is_normalized and norm.t().is_normalized
    pattern, ones = matrix(5, 7, 0.5, device=device)
    assert pattern.double() is pattern and torch.equal((pattern @ torch.eye(7, device=device).half()).double().cpu(), ones)
    learned = a.with_values(a.values.clone().requires_grad_())
    assert learned.double().requires_grad and not learned.detach().requires_grad and a.detach() is a
    learned.double().to_dense().sum().backward()
    assert torch.equal(learned.values.grad, torch.ones_like(learned.values))
    for wrong in ("nowhere", torch.int64, torch.complex64, [1], "meta"):
        with pytest.raises(sptile.Error):
            a.to(wrong)


@on_devices
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_products_from_both_sides(device: str, dtype: torch.dtype) -> None:
    a, full = matrix(5, 7, 0.5, device=device, dtype=dtype)
    assert torch.equal(a.T.to_dense(), a.to_dense().t()) and torch.equal(a.T.T.to_dense(), a.to_dense())
    for shape in ((5,), (3, 5), (2, 3, 5), (0, 5)):
        x = random(*shape, device=device, dtype=dtype, learn=True)
        y = x @ a
        assert close(y, x.detach().double().cpu() @ full)
        (g,) = torch.autograd.grad(y.sum(), x)
        assert close(g, full.sum(1).expand(shape))
    x = random(7, 2, device=device, dtype=dtype)
    for product in (torch.matmul(a, x), torch.mm(a, x), torch.sparse.mm(a, x)):  # type: ignore[call-overload]
        assert torch.equal(product, a @ x)
    assert torch.equal(torch.mv(a, x[:, 0]), a @ x[:, 0])  # type: ignore[call-overload]
    assert torch.equal(torch.matmul(x.t(), a.t()), (a @ x).t())  # type: ignore[call-overload]
    for wrong in (lambda: x @ a, lambda: torch.tensor(1.0) @ a, lambda: np.ones((3, 5)) @ a, lambda: torch.eye(5).to_sparse() @ a):
        with pytest.raises(sptile.UsageError):
            wrong()


@on_devices
def test_symmetry_of_learned_values(device: str) -> None:
    values = torch.tensor([2.0, 2.0], device=device, requires_grad=True)
    a = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1], [1, 0]], device=device), values)
    assert a.is_symmetric() and not a.with_values(values * torch.tensor([1.0, 3], device=device)).is_symmetric()
    assert torch.equal(a.t().values, values)


@on_devices
def test_parallel_entries_keep_their_type_and_count_in_the_transpose(device: str) -> None:
    a = st.SparseMatrix.from_edge_index(torch.tensor([[0, 0, 1], [1, 1, 2]], device=device), num_nodes=3)
    for dtype in (torch.float64, torch.float16):
        x = torch.eye(3, dtype=dtype, device=device)
        assert torch.equal((a @ x).t(), a.t() @ x) and torch.equal(a.half() @ x, a @ x)


# ---- Sources ----


def test_entries_are_in_the_order_of_scipys_data() -> None:
    row, col = np.array([2, 0, 2, 1]), np.array([1, 2, 0, 0])
    data = np.array([1.0, 2, 3, 4])
    coo = scipy.sparse.coo_array((data, (row, col)), shape=(3, 3))
    assert np.array_equal(st.SparseMatrix.from_scipy(coo).values, data)
    unsorted = scipy.sparse.csr_array((data, np.array([2, 0, 2, 1]), np.array([0, 2, 2, 4])), shape=(3, 3))
    for source in (coo, coo.tocsc(), coo.tocsr(), unsorted, coo.tobsr((1, 1)), coo.todok(), coo.tolil()):
        a = st.SparseMatrix.from_scipy(source)
        assert torch.equal(a.to_dense(), torch.from_numpy(source.toarray()))
        assert not hasattr(source, "indptr") or np.array_equal(a.values, source.tocsr().data if source.format == "bsr" else source.data)
    thrice = scipy.sparse.coo_array((np.ones(3, bool), ([0, 0, 0], [1, 1, 1])), shape=(2, 2))
    assert st.SparseMatrix.from_scipy(thrice).to_dense()[0, 1] == 3


def test_integers_that_do_not_fit_are_warned_of() -> None:
    for value, dtype in ((2**24 + 1, "int32"), (2**53 + 1, "int64"), (2**64 - 1, "uint64")):
        with pytest.warns(RuntimeWarning, match="float32 cannot represent 1 of 2 u?int.* values"):
            st.SparseMatrix.from_scipy(scipy.sparse.csr_array(np.array([[value, 0], [0, 3]], dtype=dtype)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = st.SparseMatrix.from_scipy(scipy.sparse.csr_array(np.array([[2**60, 0], [0, -3]])))
    assert exact.values.tolist() == [2.0**60, -3]


@on_devices
@pytest.mark.parametrize("layout", ["coalesced", "uncoalesced", "repeated", "csr", "csc", "dense"])
def test_gradients_reach_the_tensor_that_a_matrix_is_made_of(device: str, layout: str) -> None:
    values = torch.tensor([1.0, 2, 3], device=device, requires_grad=True)
    ids = torch.tensor([[0, 1, 2] if layout == "coalesced" else [2, 0, 1], [1, 0, 2]], device=device)
    if layout == "repeated":
        ids = torch.tensor([[0, 0, 1], [1, 1, 2]], device=device)
    tensor = torch.sparse_coo_tensor(ids, values, (3, 3), is_coalesced=layout == "coalesced")
    if layout == "csr":
        tensor = torch.sparse_csr_tensor(torch.tensor([0, 1, 3, 3], device=device), ids[1], values, (3, 3))
    if layout == "csc":
        tensor = torch.sparse_csc_tensor(torch.tensor([0, 1, 2, 3], device=device), ids[0], values, (3, 3))
        ids = torch.stack([ids[0], torch.arange(3, device=device)])
    if layout == "dense":
        tensor = torch.zeros(3, 3, device=device).index_put((ids[0], ids[1]), values)
    a = st.SparseMatrix.from_torch(tensor)
    assert a.requires_grad and torch.equal(a.to_dense(), tensor.detach().to_dense())
    x = torch.tensor([[1.0], [10], [100]], device=device)
    (a @ x).sum().backward()
    assert torch.equal(values.grad, x[ids[1], 0])
    assert not st.SparseMatrix.from_torch(tensor.detach()).requires_grad


# ---- Sums ----


@on_devices
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_sums_of_many_entries_keep_the_accuracy_of_their_type(device: str, dtype: torch.dtype) -> None:
    count = 60_000
    tolerance = {torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float32: 1e-6}[dtype]
    ids = torch.zeros(2, count, dtype=torch.int64, device=device)
    values = torch.full((count,), 0.1, dtype=dtype, device=device, requires_grad=True)
    exact = values[0].item() * count
    parallel = st.SparseMatrix.from_edge_index(ids, values, 2)
    for found in (parallel.to_dense()[0, 0], (parallel @ torch.ones(2, 1, dtype=dtype, device=device))[0, 0], parallel.detach().to_dense()[0, 0]):
        assert found.item() == pytest.approx(exact, rel=tolerance)
    hub = torch.stack([torch.arange(1, count + 1), torch.zeros(count, dtype=torch.int64)]).to(device)
    norm = st.SparseMatrix.from_edge_index(hub, values, count + 1).gcn_norm(dtype=dtype)
    assert norm.dtype == dtype
    of_loop = norm.values[0].item()
    assert of_loop == pytest.approx(1 / (exact + 1), rel=tolerance)


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
    "a nested tensor": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_torch(torch.nested.nested_tensor([torch.eye(2)], layout=torch.jagged)),
    ),
    "a batch of sparse tensors": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_torch(torch.ones(2, 2, 2).to_sparse_csr()),
    ),
    "an empty tuple": (sptile.UsageError, lambda: st.SparseMatrix.from_torch(())),
    "a tuple of a shape": (sptile.UsageError, lambda: st.SparseMatrix.from_torch(((2, 2),))),
    "a tuple of indices": (sptile.UsageError, lambda: st.SparseMatrix.from_torch((_edges((0, 1)),))),
    "a tuple of pointers": (sptile.UsageError, lambda: st.SparseMatrix.from_torch(CSR)),
    "a tuple of lists": (sptile.UsageError, lambda: st.SparseMatrix.from_torch(([0, 1], [0], [1.0]))),
    "a tuple with three sizes": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_torch((_edges((0, 1)), torch.ones(1), (2, 2, 2))),
    ),
    "a tuple with too few values": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_torch((*CSR, torch.ones(1))),
    ),
    "a tuple with integers": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_torch((_edges((0, 1)), torch.ones(1).int())),
    ),
    "a tuple of a place that is not there": (
        sptile.BadInputError,
        lambda: st.SparseMatrix.from_torch((_edges((0, 5)), torch.ones(1), (2, 2))),
    ),
    "a tensor with a dense dimension": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_torch(torch.sparse_coo_tensor([[0, 2]], torch.ones(2, 4), (3, 4))),
    ),
    "a tensor of Booleans": (sptile.UsageError, lambda: st.SparseMatrix.from_torch(torch.eye(2).bool())),
    "a tensor without data": (
        sptile.UnsupportedError,
        lambda: st.SparseMatrix.from_torch(torch.empty(2, 2, device="meta")),
    ),
    "a vector of SciPy": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_scipy(scipy.sparse.coo_array(np.array([5.0]))),
    ),
    "complex numbers of SciPy": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_scipy(scipy.sparse.csr_array(np.array([[1j]]))),
    ),
    "longdouble": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_scipy(scipy.sparse.csr_array(np.eye(2, dtype=np.longdouble))),
    ),
    "a dense array": (sptile.UsageError, lambda: st.SparseMatrix.from_scipy(np.eye(3))),
    "one size": (sptile.UsageError, lambda: st.SparseMatrix(*CSR, shape=(2,))),  # type: ignore[arg-type]
    "nodes in words": (
        sptile.UsageError,
        lambda: st.SparseMatrix.from_edge_index(_edges((0, 1)), num_nodes="2"),  # type: ignore[arg-type]
    ),
    "a format that is no name": (sptile.UsageError, lambda: st.SparseMatrix(*CSR, format=3)),  # type: ignore[arg-type]
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
            with pytest.raises(sptile.UsageError, match="matrices must be a list"):
                make(wrong)
        with pytest.raises(sptile.UsageError, match="at least one matrix"):
            make([])
        for other, message in (
            (a.to_torch(), "expected a SparseMatrix, got Tensor"),
            (a.with_values(None), "values are None, but those of the first are torch.float32"),
            (a.to(torch.float64), "values are torch.float64"),
        ):
            with pytest.raises(sptile.UsageError, match=f"matrix 2 of the batch: .*{message}"):
                make([a, a, other])
    with pytest.raises(sptile.UsageError, match="matrix 1 of the batch: it has 3 columns, but the first has 4"):
        st.SparseMatrix.vstack([a, a.t()])
    wide = st.SparseMatrix(torch.tensor([0, 0]), torch.tensor([], dtype=torch.int64), None, (1, 2**31 - 1))
    with pytest.raises(sptile.UnsupportedError, match="matrix 1 of the batch: 2147483647 columns after"):
        st.SparseMatrix.block_diag([wide, wide])
    assert st.SparseMatrix.vstack([wide, wide]).shape == (2, 2**31 - 1)


@needs_cuda
def test_a_batch_is_on_one_device() -> None:
    a, _ = matrix(3, 4, 0.5)
    with pytest.raises(sptile.UsageError, match="matrix 1 of the batch: it is on cuda"):
        st.SparseMatrix.block_diag([a, a.cuda()])


def calls_without_device(tree: ast.AST, parameters: bool = False) -> list[int]:
    """Lines of calls that make a tensor on the default device, except for parameters and buffers of layers."""
    found = []
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        name, of = tree.func.attr, tree.func.value
        parameters = parameters or name in ("Parameter", "register_buffer")
        makes = isinstance(of, ast.Name) and of.id == "torch" and name in MAKERS
        if makes and not parameters and not any(one.arg in ("device", None) for one in tree.keywords):
            found.append(tree.lineno)
    return found + [line for below in ast.iter_child_nodes(tree) for line in calls_without_device(below, parameters)]


MAKERS = ("arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "tensor", "zeros")


def test_new_tensors_name_their_device() -> None:
    """The default device of torch is that of the caller's tensors."""
    assert calls_without_device(ast.parse("x = torch.zeros(2)")) == [1]
    folder = Path(st.__file__).parent
    found = {str(path): calls_without_device(ast.parse(path.read_text())) for path in folder.rglob("*.py")}
    assert len(found) > 20
    assert not {path: lines for path, lines in found.items() if lines}
