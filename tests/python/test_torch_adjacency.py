"""Adjacency matrices in sparse tensors of torch and in SparseTensor: as input of matrices, layers and `accelerate`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from sparse_tensors import torch_sparse  # noqa: E402, F401
from torch import Tensor, nn  # noqa: E402

import sptile.torch as st  # noqa: E402
from sptile.errors import ArgumentTypeError, UnsupportedError, UsageError  # noqa: E402
from sptile.torch.accelerate import sparse_tensors  # noqa: E402

NODES, WIDTH = 9, 4
EDGE_INDEX = torch.tensor([[0, 3, 5, 2, 8, 1, 3, 7, 5], [1, 1, 0, 4, 2, 6, 8, 7, 5]])  # with two loops
WEIGHT = torch.linspace(0.5, 2.0, EDGE_INDEX.shape[1], dtype=torch.float64)
X = torch.randn(NODES, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
KINDS = ["coo", "csr", "csc", "SparseTensor"]


def adjacency(
    kind: str, package: ModuleType, value: Tensor | None = None, edges: Tensor = EDGE_INDEX, targets: int = NODES
) -> Any:
    """The matrix of the edges, targets x sources."""
    source, target = edges
    if kind == "SparseTensor":
        return package.SparseTensor(row=target, col=source, value=value, sparse_sizes=(targets, NODES))
    value = torch.ones(edges.shape[1], dtype=torch.float64) if value is None else value
    coo = torch.sparse_coo_tensor(edges.flip(0), value, (targets, NODES)).coalesce()
    return {"coo": lambda: coo, "csr": coo.to_sparse_csr, "csc": coo.to_sparse_csc}[kind]()


LAYERS = {
    "AGNNConv": lambda: st.nn.AGNNConv(),
    "APPNP": lambda: st.nn.APPNP(3, 0.1),
    "ARMAConv": lambda: st.nn.ARMAConv(WIDTH, 3),
    "ChebConv": lambda: st.nn.ChebConv(WIDTH, 3, 2),
    "ClusterGCNConv": lambda: st.nn.ClusterGCNConv(WIDTH, 3),
    "GATConv": lambda: st.nn.GATConv(WIDTH, 3, heads=2),
    "GATv2Conv": lambda: st.nn.GATv2Conv(WIDTH, 3, heads=2),
    "GCNConv": lambda: st.nn.GCNConv(WIDTH, 3),
    "GINConv": lambda: st.nn.GINConv(nn.Linear(WIDTH, 3)),
    "GraphConv": lambda: st.nn.GraphConv(WIDTH, 3),
    "LGConv": lambda: st.nn.LGConv(),
    "SAGEConv": lambda: st.nn.SAGEConv(WIDTH, 3),
    "SGConv": lambda: st.nn.SGConv(WIDTH, 3, K=2),
    "TAGConv": lambda: st.nn.TAGConv(WIDTH, 3),
    "TransformerConv": lambda: st.nn.TransformerConv(WIDTH, 3, heads=2),
}
WEIGHTED = ["APPNP", "ARMAConv", "ChebConv", "GCNConv", "GraphConv", "LGConv", "SGConv", "TAGConv"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_take_sparse_tensors(name: str, kind: str, torch_sparse: ModuleType) -> None:  # noqa: F811
    layer = LAYERS[name]().double()
    expected = layer(X, EDGE_INDEX)
    adj_t = adjacency(kind, torch_sparse)
    torch.testing.assert_close(layer(X, adj_t), expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(layer(X, adj_t), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_values(name: str, kind: str, torch_sparse: ModuleType) -> None:  # noqa: F811
    layer = LAYERS[name]().double()
    results = []
    for sparse in (False, True):
        weight, x = WEIGHT.clone().requires_grad_(), X.clone().requires_grad_()
        out = layer(x, adjacency(kind, torch_sparse, weight)) if sparse else layer(x, EDGE_INDEX, weight)
        (out * torch.arange(out.numel(), dtype=torch.float64).view(out.shape)).sum().backward()
        results.append((out.detach(), x.grad, weight.grad))
    for found, expected in zip(*reversed(results), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-11)
    with pytest.raises(UsageError, match="a sparse matrix has its own"):
        layer(X, adjacency(kind, torch_sparse, WEIGHT), WEIGHT)


@pytest.mark.parametrize("kind", KINDS)
def test_bipartite_graphs(kind: str, torch_sparse: ModuleType) -> None:  # noqa: F811
    edges = torch.tensor([[0, 3, 5, 2], [1, 1, 0, 1]])
    adj_t = adjacency(kind, torch_sparse, edges=edges, targets=2)
    for layer in (st.nn.SAGEConv(WIDTH, 3).double(), st.nn.GraphConv(WIDTH, 3).double()):
        expected = layer((X, None), edges, size=(NODES, 2))
        torch.testing.assert_close(layer((X, None), adj_t), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_is_kept_until_numbers_change(kind: str, torch_sparse: ModuleType) -> None:  # noqa: F811
    from sptile.torch.nn import graph

    value = WEIGHT.clone()
    adj_t = adjacency(kind, torch_sparse, value)
    first = graph.graph_of(adj_t)
    assert graph.graph_of(adj_t) is first and graph.graph_of(EDGE_INDEX) is EDGE_INDEX
    kept = adj_t.csr()[2] if kind == "SparseTensor" else adj_t.values()
    kept.data.mul_(2)
    second = graph.graph_of(adj_t)
    assert second is not first
    torch.testing.assert_close(second.to_dense(), 2 * first.to_dense())
    count = len(graph._sparse_seen)
    del adj_t, kept
    assert len(graph._sparse_seen) == count - 1


def test_types_of_edges_are_values_of_a_sparse_tensor(torch_sparse: ModuleType) -> None:  # noqa: F811
    layer, types = st.nn.RGCNConv(WIDTH, 3, num_relations=3).double(), torch.arange(EDGE_INDEX.shape[1]) % 3
    adj_t = adjacency("SparseTensor", torch_sparse, types)
    torch.testing.assert_close(layer(X, adj_t), layer(X, EDGE_INDEX, types), rtol=1e-10, atol=1e-12)
    for untyped in (EDGE_INDEX, adjacency("SparseTensor", torch_sparse), adjacency("csr", torch_sparse)):
        with pytest.raises(UsageError, match="edge_type is required"):
            layer(X, untyped)


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_values_are_not_taken_for_edge_features(name: str, torch_sparse: ModuleType) -> None:  # noqa: F811
    layer = getattr(st.nn, name)(WIDTH, 3, edge_dim=1).double()
    for kind in KINDS:
        with pytest.raises((UsageError, UnsupportedError), match="edge_attr"):
            layer(X, adjacency(kind, torch_sparse, WEIGHT))


def test_gcn_takes_sparse_features() -> None:
    layer = st.nn.GCNConv(WIDTH, 3).double()
    dense = X * (X > 0)
    results = []
    for x in (dense, dense.to_sparse(), dense.to_sparse_csr()):
        layer.zero_grad()
        out = layer(x, EDGE_INDEX)
        out.square().sum().backward()
        results.append((out.detach(), layer.lin.weight.grad.clone(), layer.bias.grad.clone()))
    for found in results[1:]:
        for one, expected in zip(found, results[0], strict=True):
            torch.testing.assert_close(one, expected, rtol=1e-10, atol=1e-12)


def test_layers_print_one_line_as_in_pyg() -> None:
    assert repr(st.nn.GATConv((8, 16), 32, heads=2)) == "GATConv((8, 16), 32, heads=2)"
    assert repr(st.nn.LGConv()) == "LGConv()"
    assert repr(st.nn.GINConv(nn.Sequential(nn.ReLU()))) == "GINConv(nn=Sequential(\n  (0): ReLU()\n))"
    assert repr(st.nn.HeteroConv({("a", "to", "a"): st.nn.LGConv()})) == "HeteroConv(num_relations=1)"


def test_matrices_of_sparse_tensors(torch_sparse: ModuleType) -> None:  # noqa: F811
    value = WEIGHT.clone().requires_grad_()
    A = st.SparseMatrix.from_torch(adjacency("SparseTensor", torch_sparse, value))
    expected = adjacency("coo", torch_sparse, value).to_dense()
    torch.testing.assert_close(A.to_dense(), expected)
    (A @ X).sum().backward()
    torch.testing.assert_close(value.grad, X.sum(1)[EDGE_INDEX[0]])
    assert st.SparseMatrix.from_torch(adjacency("SparseTensor", torch_sparse)).values is None
    for wrong in (torch.ones(9, 2), torch.ones(9, dtype=torch.int64)):
        with pytest.raises(UsageError, match=r"one float32, .* value per nonzero, got .*set_value\(None\)"):
            st.SparseMatrix.from_torch(adjacency("SparseTensor", torch_sparse, wrong))
    with pytest.raises(ArgumentTypeError, match="a SparseTensor, or a tuple"):
        st.SparseMatrix.from_torch("a")


# ---- accelerate ----


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    sparse_tensors.forget()


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_sparse_tensors_are_accelerated(
    reduce: str, weighted: bool, torch_sparse: ModuleType  # noqa: F811
) -> None:  # fmt: skip
    results = []
    originals = torch_sparse.matmul, torch_sparse.SparseTensor.matmul, torch_sparse.SparseTensor.__matmul__
    for enabled in (False, True):
        value, x = WEIGHT.clone().requires_grad_(), X.clone().requires_grad_()
        adj_t = adjacency("SparseTensor", torch_sparse, value if weighted else None)
        if enabled:
            with st.accelerate() as scope:
                for _ in range(2):
                    out = torch_sparse.matmul(adj_t, x, reduce)
                torch.testing.assert_close(adj_t.matmul(x, reduce=reduce), out)
                if reduce == "sum":
                    torch.testing.assert_close(adj_t @ x, out)
            assert scope.counts["torch_sparse", f"spmm {reduce}"] == (3 if reduce == "sum" else 2)
            assert scope.counts["torch_sparse", "first use of the matrix"] == 1
        else:
            out = torch_sparse.matmul(adj_t, x, reduce)
        (out * torch.arange(out.numel(), dtype=torch.float64).view(out.shape)).sum().backward()
        results.append((out.detach(), x.grad, value.grad))
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected)
    assert originals == (
        torch_sparse.matmul, torch_sparse.SparseTensor.matmul, torch_sparse.SparseTensor.__matmul__
    )  # fmt: skip


def test_other_products_are_left_to_torch_sparse(torch_sparse: ModuleType) -> None:  # noqa: F811
    adj_t = adjacency("SparseTensor", torch_sparse, WEIGHT.clone())
    expected = adjacency("coo", torch_sparse, 2 * WEIGHT) @ X
    with st.accelerate() as scope:
        for _ in range(2):
            torch_sparse.matmul(adj_t, adj_t)
            torch_sparse.matmul(adj_t, X.clone())
        adj_t.csr()[2].mul_(2)
        for _ in range(2):
            torch.testing.assert_close(torch_sparse.matmul(adj_t, X), expected)
    assert scope.counts == {("torch_sparse", "first use of the matrix"): 2, ("torch_sparse", "spmm sum"): 2}


def test_maxima_of_repeated_edges_are_left_to_torch_sparse(torch_sparse: ModuleType) -> None:  # noqa: F811
    repeated = torch.cat([EDGE_INDEX, EDGE_INDEX[:, :1]], 1)
    adj_t = adjacency("SparseTensor", torch_sparse, torch.cat([WEIGHT, -WEIGHT[:1]]), repeated)
    expected = torch_sparse.matmul(adj_t, X, "max")
    with st.accelerate() as scope:
        for _ in range(3):
            assert torch.equal(torch_sparse.matmul(adj_t, X, "max"), expected)
    assert scope.counts == {("torch_sparse", "first use of the matrix"): 1}


@pytest.mark.parametrize("name", ["GCNConv", "GINConv", "GraphConv", "SAGEConv"])
def test_layers_of_pyg_multiply_sparse_tensors(name: str) -> None:
    package = pytest.importorskip("torch_sparse")
    pyg = pytest.importorskip("torch_geometric.nn")
    layer = pyg.GINConv(nn.Linear(WIDTH, 3)) if name == "GINConv" else getattr(pyg, name)(WIDTH, 3)
    layer, adj_t = layer.double(), adjacency("SparseTensor", package, WEIGHT)
    expected = layer(X, adj_t)
    with st.accelerate() as scope:
        for _ in range(4):
            torch.testing.assert_close(layer(X, adj_t), expected)
    how = "mean" if name == "SAGEConv" else "sum"
    assert scope.counts["torch_sparse", f"spmm {how}"] == 3


@pytest.mark.parametrize("learns", [False, True])
def test_means_of_torch_are_accelerated(learns: bool) -> None:
    results = []
    for enabled in (False, True):
        value, x = WEIGHT.clone().requires_grad_(learns), X.clone().requires_grad_()
        row, col = EDGE_INDEX.flip(0)[:, torch.argsort(EDGE_INDEX[1] * NODES + EDGE_INDEX[0])]
        crow = torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(row, minlength=NODES).cumsum(0)])
        with st.accelerate() as scope:
            for _ in range(2 if enabled else 1):
                a = torch.sparse_csr_tensor(crow, col, value, (NODES, NODES))
                out = torch.sparse.mm(a, x, "mean")
        assert scope.counts["torch", "spmm mean"] == enabled
        (out * torch.arange(out.numel(), dtype=torch.float64).view(out.shape)).sum().backward()
        results.append((out.detach(), x.grad, value.grad))
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected)
