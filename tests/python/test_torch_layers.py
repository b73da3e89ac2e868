"""Layers against those of PyG where it is installed, and against the formulas of their papers everywhere."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn.utils import prune  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch_problems import close, error, graph, on_devices, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile.torch import dropout as dropout_of_entries  # noqa: E402

try:
    import torch_geometric.nn as pyg
except ImportError:
    pyg = None

NODES = 40


def mlp(n: int, m: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n, m), nn.ReLU(), nn.Linear(m, m))


# Each layer by its name in both packages and its arguments; edges says what is given for each.
LAYERS: dict[str, tuple[str, Callable[[int, int], tuple[tuple[Any, ...], dict[str, Any]]], str]] = {
    "gcn": ("GCNConv", lambda n, m: ((n, m), {}), ""),
    "gcn with weights": ("GCNConv", lambda n, m: ((n, m), {}), "weights"),
    "gcn, improved": ("GCNConv", lambda n, m: ((n, m), {"improved": True}), "weights"),
    "gcn, improved without weights": ("GCNConv", lambda n, m: ((n, m), {"improved": True}), ""),
    "gcn without loops": ("GCNConv", lambda n, m: ((n, m), {"add_self_loops": False, "bias": False}), ""),
    "gcn as it is": ("GCNConv", lambda n, m: ((n, m), {"normalize": False}), "weights"),
    "gin": ("GINConv", lambda n, m: ((mlp(n, m),), {"eps": 0.3, "train_eps": True}), ""),
    "gin, fixed": ("GINConv", lambda n, m: ((nn.Linear(n, m),), {}), ""),
    "sage": ("SAGEConv", lambda n, m: ((n, m), {}), ""),
    "sage, sums": (
        "SAGEConv",
        lambda n, m: ((n, m), {"aggr": "sum", "project": True, "normalize": True}),
        "",
    ),
    "sage, maxima": ("SAGEConv", lambda n, m: ((n, m), {"aggr": "max"}), ""),
    "sage, minima": ("SAGEConv", lambda n, m: ((n, m), {"aggr": "min", "project": True}), ""),
    "sage without root": ("SAGEConv", lambda n, m: ((n, m), {"root_weight": False, "bias": False}), ""),
    "agnn": ("AGNNConv", lambda n, m: ((), {}), ""),
    "agnn, fixed": ("AGNNConv", lambda n, m: ((), {"requires_grad": False, "add_self_loops": False}), ""),
    "gat": ("GATConv", lambda n, m: ((n, m), {"heads": 3}), ""),
    "gat, mean": ("GATConv", lambda n, m: ((n, m), {"heads": 3, "concat": False, "residual": True}), ""),
    "gat without loops": (
        "GATConv",
        lambda n, m: ((n, m), {"add_self_loops": False, "negative_slope": 0.4}),
        "",
    ),
    "gat, features of edges": ("GATConv", lambda n, m: ((n, m), {"heads": 2, "edge_dim": 4}), "features"),
    "gat, added features": (
        "GATConv",
        lambda n, m: ((n, m), {"edge_dim": 4, "fill_value": "add"}),
        "features",
    ),
    "gatv2": ("GATv2Conv", lambda n, m: ((n, m), {"heads": 3}), ""),
    "gatv2, mean": (
        "GATv2Conv",
        lambda n, m: ((n, m), {"heads": 3, "concat": False, "residual": True, "share_weights": True}),
        "",
    ),
    "gatv2 without loops": (
        "GATv2Conv",
        lambda n, m: ((n, m), {"add_self_loops": False, "negative_slope": 0.4, "bias": False}),
        "",
    ),
    "gatv2, features of edges": ("GATv2Conv", lambda n, m: ((n, m), {"heads": 2, "edge_dim": 4}), "features"),
    "gatv2, features of edges without loops": (
        "GATv2Conv",
        lambda n, m: ((n, m), {"heads": 2, "edge_dim": 4, "add_self_loops": False}),
        "features",
    ),
    "gatv2, dropped features": (
        "GATv2Conv",
        lambda n, m: ((n, m), {"heads": 2, "edge_dim": 4, "dropout": 0.5}),
        "features",
    ),
    "gatv2, given features": ("GATv2Conv", lambda n, m: ((n, m), {"edge_dim": 4, "fill_value": 0.5}), "features"),
    # Without biases: a bias of the keys changes no weight, so its gradient is rounding errors.
    "transformer": ("TransformerConv", lambda n, m: ((n, m), {"heads": 3, "bias": False}), ""),
    "transformer, mean": (
        "TransformerConv",
        lambda n, m: ((n, m), {"heads": 3, "concat": False, "beta": True, "bias": False}),
        "",
    ),
    "transformer, features of edges": (
        "TransformerConv",
        lambda n, m: ((n, m), {"heads": 2, "edge_dim": 4, "bias": False}),
        "features",
    ),
    "transformer, more features than channels": (
        "TransformerConv",
        lambda n, _m: ((n, 3), {"heads": 2, "edge_dim": 4, "bias": False}),
        "features",
    ),
    "transformer, dropped features": (
        "TransformerConv",
        lambda n, m: ((n, m), {"heads": 2, "edge_dim": 4, "bias": False, "beta": True, "dropout": 0.5}),
        "features",
    ),
    "transformer, dropped": ("TransformerConv", lambda n, m: ((n, m), {"heads": 3, "bias": False, "dropout": 0.5}), ""),
    "gat, dropped features": (
        "GATConv",
        lambda n, m: ((n, m), {"heads": 2, "edge_dim": 4, "dropout": 0.5}),
        "features",
    ),
    "gat, dropped": ("GATConv", lambda n, m: ((n, m), {"heads": 2, "dropout": 0.5}), ""),
    "gatv2, dropped": ("GATv2Conv", lambda n, m: ((n, m), {"heads": 2, "dropout": 0.5}), ""),
    "gat, given features": ("GATConv", lambda n, m: ((n, m), {"edge_dim": 4, "fill_value": 0.5}), "features"),
}
SIZES = [(16, 8), (8, 16)]
# Layers that number the edges in the order of CSR, loops among them.
SORTED = ("gat, dropped", "gatv2, dropped features")


def ranks(edges: Tensor, loops: int) -> Tensor:
    """Returns the place of each edge in the order of CSR. loops > 0: of the edges that are not loops, then of one loop
    for each of these nodes."""
    if loops > 0:
        edges = torch.cat([edges[:, edges[0] != edges[1]], torch.arange(loops, device=edges.device).expand(2, -1)], 1)
    return torch.argsort(torch.argsort(edges[1] * (edges.max() + 1) + edges[0], stable=True))


@contextmanager
def masks_of_ours(places: Tensor | None = None) -> Iterator[None]:
    """Lets PyG drop the weights of edges [edges, heads] that our layers drop. Places: of edges, if not in order."""

    def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if not training or p == 0:
            return x
        mask = dropout_of_entries.factors(dropout_of_entries.new_seed(x.device), *x.shape, p, x.dtype).t()
        return x * (mask if places is None else mask[places])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nn.functional, "dropout", dropout)
        yield


def both(name: str, n: int, m: int, device: str) -> tuple[nn.Module, nn.Module]:
    """The layer of PyG, and ours with its state."""
    kind, arguments, _edges = LAYERS[name]
    given, named = arguments(n, m)
    theirs = getattr(pyg, kind)(*given, **named)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    given, named = arguments(n, m)
    ours = getattr(st.nn, kind)(*given, **named)
    assert str(ours.load_state_dict(theirs.state_dict())) == "<All keys matched successfully>"
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    return ours.to(device), theirs.to(device)


def given_for_edges(kind: str, edges: Tensor) -> tuple[Tensor, ...]:
    count = edges.shape[1]
    if kind == "weights":
        return ((torch.rand(count) + 0.5).to(edges.device).requires_grad_(),)
    return (torch.randn(count, 4).to(edges.device).requires_grad_(),) if kind == "features" else ()


@pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
@on_devices
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_a_state_of_pyg_gives_its_output_and_gradients(device: str, name: str, n: int, m: int) -> None:
    torch.manual_seed(0)
    ours, theirs = both(name, n, m, device)
    edges = graph(NODES, 200).to(device)
    x = torch.randn(NODES, n, device=device)
    results = []
    for layer in (ours, theirs):
        own = x.clone().requires_grad_()
        torch.manual_seed(1)
        more = given_for_edges(LAYERS[name][2], edges)
        loops = NODES if LAYERS[name][0] != "TransformerConv" else 0
        with masks_of_ours(ranks(edges, loops) if name in SORTED else None):
            out = layer(own, edges, *more)
        learned = [parameter for _name, parameter in sorted(layer.named_parameters())]
        g = torch.linspace(-1, 1, out.numel(), device=device).view(out.shape)
        results.append((out, *torch.autograd.grad(out, [own, *learned, *more], g)))
    for one, other in zip(*results, strict=True):
        assert error(one, other) < 1e-5


@pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
@on_devices
@pytest.mark.parametrize("given", ["edge_index", "matrix"])
@pytest.mark.parametrize(
    "name", [name for name, layer in LAYERS.items() if layer[2] != "features" and "dropped" not in name]
)
def test_edges_and_loops_that_are_there_several_times(device: str, name: str, given: str) -> None:
    torch.manual_seed(0)
    ours, theirs = both(name, 16, 8, device)
    edges = torch.randint(0, NODES, (2, 500), generator=torch.Generator().manual_seed(1)).to(device)
    loops = edges[0, edges[0] == edges[1]]
    assert NODES > loops.unique().numel() > 0 and loops.numel() > loops.unique().numel()
    x = torch.randn(NODES, 16, device=device)
    # On a device PyG takes any of several loops; weights that are alike leave no choice.
    weights = given_for_edges(LAYERS[name][2], edges)
    if device != "cpu":
        weights = tuple(torch.full_like(w, 0.7) for w in weights)
    expected = theirs(x, edges, *weights)
    if given == "edge_index":
        assert error(ours(x, edges, *weights), expected) < 1e-5
    else:
        matrix = st.SparseMatrix.from_edge_index(edges, *weights, num_nodes=NODES)
        assert error(ours(x, matrix), expected) < 1e-5


def test_a_loop_given_several_times_is_the_last() -> None:
    edges = torch.tensor([[0, 1, 1, 0, 1], [1, 1, 1, 0, 1]])
    weights = torch.tensor([2.0, 5, 7, 3, 4], requires_grad=True)
    a = st.SparseMatrix.from_edge_index(edges, weights, num_nodes=3)
    assert torch.equal(a.to_dense(), torch.tensor([[3.0, 0, 0], [2, 16, 0], [0, 0, 0]]))
    norm = a.gcn_norm(fill_value=9.0).to_dense()
    expected = torch.tensor([[1, 0, 0], [2 / 18**0.5, 4 / 6, 0], [0, 0, 1]])
    assert close(norm, expected)
    (gradient,) = torch.autograd.grad(norm[1, 1], weights)
    assert gradient[1] == gradient[2] == 0 and gradient[4] > 0


@pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
@on_devices
def test_weights_of_attention_are_those_of_pyg(device: str) -> None:
    ours, theirs = both("gat", 16, 8, device)
    edges = graph(NODES, 200).to(device)
    x = torch.randn(NODES, 16, device=device)
    out, (place, weights) = ours(x, edges, return_attention_weights=True)
    expected, (their_place, their_weights) = theirs(x, edges, return_attention_weights=True)
    assert error(out, expected) < 1e-5 and error(out, ours(x, edges)) < 1e-5
    order, other = ((p[1] * NODES + p[0]).argsort() for p in (place, their_place))
    assert torch.equal(place[:, order], their_place[:, other])
    assert error(weights[order], their_weights[other]) < 1e-5


@pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
@on_devices
@pytest.mark.parametrize("kind", ["GCNConv", "SAGEConv", "GINConv"])
def test_unmodified_layers_of_pyg_take_adj_t(device: str, kind: str) -> None:
    edges = graph(NODES, 200).to(device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
    made = {
        "GCNConv": lambda: pyg.GCNConv(8, 4, normalize=False),
        "SAGEConv": lambda: pyg.SAGEConv(8, 4),
        "GINConv": lambda: pyg.GINConv(nn.Linear(8, 4)),
    }
    layer = made[kind]().to(device)
    results = []
    for given in (st.adj_t(a), edges):
        x = random(NODES, 8, device=device, dtype=torch.float32, learn=True)
        x = x if not results else results[0][0].detach().clone().requires_grad_()
        out = layer(x, given)
        results.append((x, out, *torch.autograd.grad(out.square().sum(), [x, *layer.parameters()])))
    for one, other in zip(*results, strict=True):
        assert error(one, other) < 1e-5


@on_devices
def test_adj_t_answers_as_a_sparse_tensor(device: str) -> None:
    a = st.SparseMatrix.from_torch(torch.tensor([[0, 2.0, 0], [3, 0, 4]], device=device))
    t = st.adj_t(a)
    assert t.layout == torch.sparse_csr and t.shape == (2, 3) and t.size(1) == 3 and t.dim() == 2
    assert t.crow_indices().tolist() == [0, 1, 3] and t.col_indices().tolist() == [1, 0, 2]
    assert t.values().tolist() == [2, 3, 4] and t.t().size(0) == 3
    x = torch.eye(3, device=device)
    for product in (t @ x, torch.sparse.mm(t, x), t.matmul(x), torch.mm(t, x)):
        assert torch.equal(product, a.to_dense())
    assert torch.equal(
        torch.sparse.mm(t, x, "mean"), a.to_dense() / torch.tensor([[1.0], [2]], device=device)
    )
    assert torch.sparse.mm(t, x, "amax").tolist() == [[0, 2, 0], [3, 0, 4]]
    assert torch.sparse.mm(t, x, "amin").tolist() == [[0, 2, 0], [0, 0, 0]]
    with pytest.raises(sptile.UsageError, match="reduce must be"):
        torch.sparse.mm(t, x, "prod")
    with pytest.raises(sptile.UsageError):
        st.adj_t(x)  # type: ignore[arg-type]
    assert "adj_t(" in repr(t)


# ---- The formulas, with all pairs ----


def adjacency(edges: Tensor, loops: bool) -> Tensor:
    full = torch.zeros(NODES, NODES, dtype=torch.float64)
    full[edges[1].cpu(), edges[0].cpu()] = 1
    return torch.where(torch.eye(NODES, dtype=torch.bool), 1.0, full) if loops else full


def expected_output(layer: nn.Module, x: Tensor, edges: Tensor) -> Tensor:
    """In float64."""
    layer, x = copy.deepcopy(layer).double().cpu(), x.double().cpu()
    if isinstance(layer, st.nn.GCNConv):
        a = adjacency(edges, True)
        factor = a.sum(1).rsqrt()
        return factor[:, None] * a * factor @ x @ layer.lin.weight.t() + layer.bias
    if isinstance(layer, st.nn.GINConv):
        return layer.nn((1 + layer.eps) * x + adjacency(edges, False) @ x)
    if isinstance(layer, st.nn.SAGEConv):
        a = adjacency(edges, False)
        return layer.lin_l(a @ x / a.sum(1, keepdim=True).clamp(min=1)) + layer.lin_r(x)
    a = adjacency(edges, True).log()
    if isinstance(layer, st.nn.AGNNConv):
        unit = nn.functional.normalize(x, dim=-1)
        return (layer.beta * unit @ unit.t() + a).softmax(-1) @ x
    assert isinstance(layer, st.nn.GATConv)
    h = layer.lin(x).view(NODES, layer.heads, -1)
    scores = (h * layer.att_dst).sum(-1)[:, None] + (h * layer.att_src).sum(-1)[None]
    weights = (nn.functional.leaky_relu(scores, layer.negative_slope) + a[..., None]).softmax(1)
    return torch.einsum("ijh,jhm->ihm", weights, h).flatten(1) + layer.bias


OURS: dict[str, Callable[[], nn.Module]] = {
    "gcn, narrow": lambda: st.nn.GCNConv(8, 16),
    "gcn, wide": lambda: st.nn.GCNConv(8, 3),
    "gin": lambda: st.nn.GINConv(mlp(8, 4), eps=0.5),
    "sage": lambda: st.nn.SAGEConv(8, 16),
    "sage, wide": lambda: st.nn.SAGEConv(8, 3),
    "agnn": st.nn.AGNNConv,
    "gat": lambda: st.nn.GATConv(8, 4, heads=3),
}


@on_devices
@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("given", ["edge_index", "matrix"])
def test_layers_are_what_the_papers_say(device: str, name: str, given: str) -> None:
    torch.manual_seed(0)
    layer = OURS[name]().to(device)
    edges = graph(NODES, 200).to(device)
    x = torch.randn(NODES, 8, device=device)
    taken = edges if given == "edge_index" else st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
    assert error(layer(x, taken), expected_output(layer, x, edges)) < 1e-5


@on_devices
@pytest.mark.parametrize("name", OURS)
def test_gradients_of_layers(device: str, name: str) -> None:
    torch.manual_seed(0)
    layer = OURS[name]().to(device).double()
    edges = graph(NODES, 150).to(device)
    x = torch.randn(NODES, 8, dtype=torch.float64, device=device, requires_grad=True)
    learned = tuple(layer.parameters())
    assert torch.autograd.gradcheck(lambda x, *_: layer(x, edges), (x, *learned), fast_mode=True)


# ---- Fused aggregation and update ----


def fusing(edges: Tensor) -> st.SparseMatrix:
    """A graph whose layers fuse, as it names a kernel."""
    name = "cuda.csr.update" if edges.is_cuda else "cpu.csr.spmm_update.generic"
    return st.SparseMatrix.from_edge_index(edges, num_nodes=NODES, kernel={"spmm_update": name})


def planned(a: st.SparseMatrix) -> set[str]:
    """Operations that the graph and the matrices derived from it have planned, forward and backward."""
    found = {key[0] for handle in (a._handle, a._handle.transposed(), a._bare) for key in handle.plans}
    derived = [planned(b) for b in a._derived.values() if isinstance(b, st.SparseMatrix)]
    return found.union(*derived)


FUSED: dict[str, Callable[[], nn.Module]] = {
    "gin, relu": lambda: st.nn.GINConv(mlp(8, 4), eps=0.5),
    "gin, linear": lambda: st.nn.GINConv(nn.Linear(8, 4, bias=False)),
    "gin, batch norm": lambda: st.nn.GINConv(nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4), nn.ReLU())),
    "gcn, aggregation first": lambda: st.nn.GCNConv(8, 24),
    "gcn, update first": lambda: st.nn.GCNConv(8, 3),
}


@on_devices
@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("repeated", [False, True])
def test_fused_layers_equal_their_steps(device: str, name: str, repeated: bool) -> None:
    torch.manual_seed(0)
    layer = FUSED[name]().to(device).double()
    edges = graph(NODES, 150).to(device)
    edges = torch.cat([edges, edges[:, :20]], 1) if repeated else edges
    results = []
    for a in (fusing(edges), st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)):
        x = torch.linspace(-1, 1, NODES * 8, dtype=torch.float64, device=device).view(NODES, 8).requires_grad_()
        out = layer(x, a)
        g = torch.linspace(1, 2, out.numel(), dtype=out.dtype, device=device).view(out.shape)
        results.append((out, *torch.autograd.grad(out, [x, *layer.parameters()], g)))
        assert ("spmm_update" in planned(a)) == (len(results) == 1)
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
    if name.startswith("gin"):
        assert "spmm" not in planned(fused := fusing(edges)) and layer(x, fused) is not None


@on_devices
@pytest.mark.parametrize("name", FUSED)
def test_gradients_of_fused_layers(device: str, name: str) -> None:
    torch.manual_seed(0)
    layer, a = FUSED[name]().to(device).double(), fusing(graph(NODES, 150).to(device))
    x = torch.randn(NODES, 8, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, *_: layer(x, a), (x, *layer.parameters()), fast_mode=True)
    if name == "gcn, update first":
        assert torch.autograd.gradgradcheck(lambda x, *_: layer(x, a), (x, *layer.parameters()), fast_mode=True)


# ---- Aggregated features that the backward pass computes again ----


@pytest.mark.parametrize("edges, n, dtype, again", [
    (40, 1, torch.float32, False),  # 160 bytes of features, 4 per nonzero
    (40, 2, torch.float32, True),
    (80, 2, torch.float32, False),
    (40, 2, torch.bfloat16, False),
    (40, 3, torch.bfloat16, True),
])  # fmt: skip
def test_features_larger_than_columns_are_aggregated_again(
    edges: int, n: int, dtype: torch.dtype, again: bool
) -> None:
    from sptile.torch.nn.fused import recomputes_product

    ring = torch.arange(NODES)
    steps = [torch.stack([ring, (ring + 1 + k) % NODES]) for k in range(edges // NODES)]
    a = st.SparseMatrix.from_edge_index(torch.cat(steps, 1), num_nodes=NODES)
    x, weight = torch.ones(NODES, n, dtype=dtype), torch.ones(2 * n, n, dtype=dtype, requires_grad=True)
    assert a.nnz == edges and recomputes_product(a, x, weight) == again
    assert not recomputes_product(a, x, weight.detach())
    with torch.no_grad():
        assert not recomputes_product(a, x, weight)


def test_a_symmetric_matrix_keeps_features_as_large_as_its_transpose() -> None:
    from sptile.torch.nn.fused import recomputes_product

    ring = torch.arange(NODES)
    edges = torch.stack([ring, (ring + 1) % NODES])
    a = st.SparseMatrix.from_edge_index(torch.cat([edges, edges.flip(0)], 1), num_nodes=NODES)
    weight = torch.ones(8, 4, requires_grad=True)
    before, after = [], []
    for found in (before, after):
        found += [recomputes_product(a, torch.ones(NODES, n), weight[:, :n]) for n in (2, 4, 5)]
        assert a.is_symmetric()
    assert before == [False, True, True] and after == [False, False, True]


@on_devices
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize("low", [None, torch.bfloat16], ids=str)
def test_features_aggregated_again_give_the_same_bits(
    device: str, bias: bool, learn: bool, low: torch.dtype | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    layer = st.nn.GCNConv(8, 24, bias=bias).to(device)
    a = st.SparseMatrix.from_edge_index(graph(NODES, 150).to(device), num_nodes=NODES, format="csr")
    results = []
    for again in (True, False):
        monkeypatch.setattr("sptile.torch.nn.gcn_conv.recomputes_product", lambda *_, again=again: again)
        monkeypatch.setattr("sptile.torch.nn.gcn_conv.fused_update_pays", lambda *_: False)
        x = torch.linspace(-1, 1, NODES * 8, device=device).view(NODES, 8).requires_grad_(learn)
        with torch.autocast(device, low, enabled=low is not None):
            out = layer(x, a)
        g = torch.linspace(1, 2, out.numel(), device=device).view(out.shape).to(out.dtype)
        inputs = [*layer.parameters(), *([x] if learn else [])]
        results.append((out, *torch.autograd.grad(out, inputs, g)))
    for one, other in zip(*results, strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)


@pytest.mark.parametrize(("edges", "fused"), [(NODES * 4, False), (NODES * 12, True)])
def test_a_fused_gradient_takes_little_memory(
    edges: int, fused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A^T G of 8 columns takes 32 bytes per node, twice the 4 bytes per nonzero of an average degree of 4."""
    monkeypatch.setattr("sptile.torch.nn.fused.fused_update_pays", lambda *_, **__: True)
    pattern = torch.randint(NODES, (2, edges), generator=torch.Generator().manual_seed(1))
    a = st.SparseMatrix.from_edge_index(pattern, num_nodes=NODES)
    out = st.nn.fused.aggregate_updated(a, torch.ones(NODES, 16, requires_grad=True), torch.nn.Linear(16, 8))
    assert (out is not None) == fused


@on_devices
def test_gradients_of_features_aggregated_again(device: str) -> None:
    torch.manual_seed(0)
    layer = st.nn.GCNConv(3, 24).to(device).double()
    a = st.SparseMatrix.from_edge_index(graph(NODES, 60).to(device), num_nodes=NODES)
    x = torch.randn(NODES, 3, dtype=torch.float64, device=device, requires_grad=True)
    assert type(layer(x, a).grad_fn).__name__.startswith("_ProductUpdated")
    inputs = (x, *layer.parameters())
    assert torch.autograd.gradcheck(lambda x, *_: layer(x, a), inputs, fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda x, *_: layer(x, a), inputs, fast_mode=True)


@on_devices
@pytest.mark.parametrize("cached", [False, True])
def test_values_under_autocast_are_stored_in_one_type(device: str, cached: bool) -> None:
    a = st.SparseMatrix.from_edge_index(graph(NODES, 150).to(device), num_nodes=NODES)
    first, second = (st.nn.GCNConv(8, 8, cached=cached).to(device) for _ in range(2))
    x = torch.randn(NODES, 8, device=device)
    with torch.autocast(device, torch.bfloat16):
        second(first(x, a), a)
    norms = [b for key, b in a._derived.items() if key.startswith("gcn_norm")]
    assert cached or [b.dtype for b in norms] == [torch.bfloat16]
    assert first(x, a).dtype == torch.float32


@pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
@on_devices
@pytest.mark.parametrize("name", ["gcn", "gcn with weights", "gin", "gin, fixed"])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_fused_layers_are_those_of_pyg(device: str, name: str, n: int, m: int) -> None:
    torch.manual_seed(0)
    ours, theirs = both(name, n, m, device)
    edges = graph(NODES, 200).to(device)
    weights = torch.rand(edges.shape[1], device=device) if "weights" in name else None
    a = fusing(edges) if weights is None else fusing(edges).with_values(weights)
    results = []
    for layer, given in ((ours, (a,)), (theirs, (edges,) if weights is None else (edges, weights))):
        x = torch.linspace(-1, 1, NODES * n, device=device).view(NODES, n).requires_grad_()
        out = layer(x, *given)
        learned = [parameter for _name, parameter in sorted(layer.named_parameters())]
        results.append((out, *torch.autograd.grad(out.square().sum(), [x, *learned])))
    for one, other in zip(*results, strict=True):
        assert error(one, other) < 1e-5
    assert ("spmm_update" in planned(a)) == (name != "gin")  # its eps is trained


def test_gin_runs_the_steps_if_a_kernel_would_change_the_result() -> None:
    edges, x = graph(NODES, 150), torch.ones(NODES, 8)
    calls: list[object] = []

    def record(*arguments: object) -> None:
        calls.append(arguments)

    hooked = mlp(8, 4)
    hooked[0].register_forward_hook(record)
    pruned = mlp(8, 4)
    prune.random_unstructured(pruned[0], "weight", 0.5)
    for layer in (
        st.nn.GINConv(hooked),
        st.nn.GINConv(pruned),
        st.nn.GINConv(mlp(8, 4), train_eps=True),
        st.nn.GINConv(nn.Sequential(nn.ReLU(), nn.Linear(8, 4))),
        st.nn.GINConv(torch.relu),
    ):
        a = fusing(edges)
        layer(x, a)
        assert planned(a) == {"spmm"}
    assert len(calls) == 1


@on_devices
def test_fused_gin_sees_a_new_eps(device: str) -> None:
    edges, x = graph(NODES, 150).to(device), torch.ones(NODES, 8, device=device)
    layer, a = st.nn.GINConv(nn.Linear(8, 4)).to(device), fusing(edges)
    for eps in (0.0, 0.5, -1.0):
        layer.load_state_dict({**layer.state_dict(), "eps": torch.tensor([eps])})
        assert error(layer(x, a), expected_output(layer, x, edges)) < 1e-5
    assert planned(a) == {"spmm_update"}


@on_devices
def test_compiled_layers(device: str) -> None:
    torch.manual_seed(0)
    edges = graph(NODES, 200).to(device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
    norm = a.gcn_norm()

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gcn, self.gat = st.nn.GCNConv(8, 16), st.nn.GATConv(16, 4, heads=2)
            self.agnn, self.sage, self.gin = (
                st.nn.AGNNConv(),
                st.nn.SAGEConv(8, 8),
                st.nn.GINConv(nn.Linear(8, 8)),
            )

        def forward(self, x: Tensor) -> Tensor:
            x = self.gat(self.gcn(x, norm).relu(), a)
            return self.gin(self.sage(self.agnn(x, a), a), a)

    model, x = Model().to(device), torch.randn(NODES, 8, device=device)
    out = model(x)  # matrices that follow from the graph are made here
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")(x)
    assert close(compiled, out)
    learned = list(model.parameters())
    for one, other in zip(
        torch.autograd.grad(out.square().sum(), learned),
        torch.autograd.grad(compiled.square().sum(), learned),
        strict=True,
    ):
        assert error(one, other) < 1e-5


def missing_for_inductor() -> str:
    """Why torch's compiler makes no machine code for the CPU here; "" where it does."""
    if shutil.which(os.environ.get("CXX", "g++")) is None:
        return "there is no C++ compiler: install g++, or set CXX"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python.h is missing: install python3-dev"
    return ""


def test_compiled_by_inductor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products, attention and a layer between operations that the compiler fuses, backward, too."""
    if why := missing_for_inductor():
        pytest.skip(f"torch.compile by inductor was not tested: {why}")
    from torch._inductor import list_options, metrics

    # What an earlier run compiled would be taken as it is, and not counted.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch.manual_seed(0)
    a = st.SparseMatrix.from_edge_index(graph(NODES, 200), num_nodes=NODES)
    layer, weights = st.nn.GCNConv(8, 16), torch.rand(a.nnz, requires_grad=True)

    def function(x: Tensor) -> Tensor:
        h = layer(x, a).relu()
        return st.attention(a, h, h, st.spmm(a, h, weights).tanh()).sin()

    x = torch.randn(NODES, 8, requires_grad=True)
    learned = [x, weights, *layer.parameters()]
    expected = function(x)
    # Without what takes it most of its time: instruction sets are probed, headers compiled ahead.
    quick = {"cpp.vec_isa_ok": False, "cpp_cache_precompile_headers": False, "force_disable_caches": True}
    torch._dynamo.reset()
    metrics.reset()
    options = {name: value for name, value in quick.items() if name in list_options()}
    found = torch.compile(function, fullgraph=True, backend="inductor", options=options)(x)
    assert error(found, expected) < 1e-5
    forward = metrics.generated_kernel_count
    gradients = (torch.autograd.grad(y.square().sum(), learned) for y in (found, expected))
    for one, other in zip(*gradients, strict=True):
        assert error(one, other) < 1e-5
    assert 0 < forward < metrics.generated_kernel_count


class LargestTensor(TorchDispatchMode):
    """The most elements that an operation gave."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):  # type: ignore[no-untyped-def]
        out = function(*arguments, **(keywords or {}))
        for x in out if isinstance(out, tuple | list) else (out,):
            if isinstance(x, Tensor):
                self.elements = max(self.elements, x.numel())
        return out


@on_devices
@pytest.mark.parametrize("kind", ["gat", "agnn", "gat with dropout", "gatv2", "gatv2 with dropout", "transformer"])
def test_attention_layers_make_no_features_of_edges(device: str, kind: str) -> None:
    nodes, heads, width = 60, 4, 8
    edges = graph(nodes, 6000).to(device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=nodes)
    layers = {
        "agnn": st.nn.AGNNConv,
        "gat": lambda: st.nn.GATConv(32, width, heads=heads),
        "gat with dropout": lambda: st.nn.GATConv(32, width, heads=heads, dropout=0.5),
        "gatv2": lambda: st.nn.GATv2Conv(32, width, heads=heads),
        "gatv2 with dropout": lambda: st.nn.GATv2Conv(32, width, heads=heads, dropout=0.5),
        "transformer": lambda: st.nn.TransformerConv(32, width, heads=heads),
    }
    layer = layers[kind]().to(device)
    x = torch.randn(nodes, 32, device=device, requires_grad=True)
    layer(x, a).sum().backward()
    with LargestTensor() as largest:
        layer(x, a).sum().backward()
    limit = (a.nnz + nodes) * heads if kind.endswith("dropout") else max(nodes * 33, 32 * 33)
    assert 0 < largest.elements <= limit < a.nnz * heads * width


@on_devices
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("edge_dim", [None, 3])
@pytest.mark.parametrize("kind", ["GATv2Conv", "TransformerConv"])
def test_attention_in_16_bits(device: str, kind: str, edge_dim: int | None, autocast: bool) -> None:
    torch.manual_seed(0)
    layer = getattr(st.nn, kind)(16, 8, heads=3, edge_dim=edge_dim).to(device)
    edges = graph(NODES, 300).to(device)
    x = torch.randn(NODES, 16, device=device)
    more = () if edge_dim is None else (torch.randn(edges.shape[1], edge_dim, device=device),)

    def results(layer: nn.Module, *given: Tensor) -> tuple[Tensor, Tensor]:
        own = given[0].clone().requires_grad_()
        out = layer(own, edges, *given[1:])
        return out, torch.autograd.grad(out.float().square().sum(), own)[0]

    expected = results(layer, x, *more)
    dtype = torch.bfloat16
    if autocast:
        with torch.autocast(device, dtype=dtype):
            found = results(layer, x, *more)
    else:
        found = results(copy.deepcopy(layer).to(dtype), *(one.to(dtype) for one in (x, *more)))
    assert found[0].dtype == dtype
    for one, other in zip(found, expected, strict=True):
        assert error(one.float(), other) < 0.05


@pytest.mark.parametrize("edge_dim", [None, 3])
def test_padded_heads_give_the_same(monkeypatch: pytest.MonkeyPatch, edge_dim: int | None) -> None:
    from sptile.torch.nn import gatv2_conv

    torch.manual_seed(0)
    layer = st.nn.GATv2Conv(8, 5, heads=2, edge_dim=edge_dim)
    edges = graph(NODES, 300)
    x = torch.randn(NODES, 8, requires_grad=True)
    more = () if edge_dim is None else (torch.randn(edges.shape[1], edge_dim, requires_grad=True),)
    learned = [x, *layer.parameters(), *more]
    out = layer(x, edges, *more)
    g = torch.randn_like(out)
    expected = out, *torch.autograd.grad(out, learned, g)
    monkeypatch.setattr(gatv2_conv, "_missing", lambda _x, n: -n % 8)
    out = layer(x, edges, *more)
    for one, other in zip((out, *torch.autograd.grad(out, learned, g)), expected, strict=True):
        assert error(one, other) < 1e-6


@on_devices
@pytest.mark.parametrize("edge_dim", [3, 20, 40])
def test_transformers_give_the_same_with_padded_rows(
    monkeypatch: pytest.MonkeyPatch, device: str, edge_dim: int
) -> None:
    import sptile.torch.edge_attention as operator

    torch.manual_seed(0)
    layer = st.nn.TransformerConv(8, 5, heads=2, edge_dim=edge_dim, bias=False, dropout=0.3).double().to(device)
    edges = graph(NODES, 300).to(device)
    given = [torch.randn(n, m, dtype=torch.float64, device=device) for n, m in ((NODES, 8), (edges.shape[1], edge_dim))]

    def results(missing: Callable[[Tensor], int]) -> tuple[Tensor, ...]:
        monkeypatch.setattr(operator, "_missing", missing)
        torch.manual_seed(1)
        x, features = (one.clone().requires_grad_() for one in given)
        out = layer(x, edges, features)
        return out, *torch.autograd.grad(out.square().sum(), [x, features, *layer.parameters()])

    for one, other in zip(results(lambda x: -x.shape[-1] % 8), results(lambda _x: 0), strict=True):
        assert error(one, other) < 1e-12


@on_devices
def test_transformers_keep_nothing_of_edges_but_their_features(device: str) -> None:
    nodes, heads, width = 60, 4, 8
    edges = graph(nodes, 6000).to(device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=nodes)
    layer = st.nn.TransformerConv(32, width, heads=heads, edge_dim=6).to(device)
    x, features = torch.randn(nodes, 32, device=device), torch.randn(a.nnz, 6, device=device)
    kept: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        out = layer(x, a, features)
    assert [t.data_ptr() for t in kept if t.numel() >= a.nnz] == [features.data_ptr()]
    with LargestTensor() as largest:
        out.sum().backward()
    assert largest.elements <= 2 * heads * a.nnz


@on_devices
def test_edge_index_is_looked_at_once(device: str) -> None:
    edges = graph(NODES, 100).to(device)
    x = torch.randn(NODES, 8, device=device)
    first, second = st.nn.GCNConv(8, 4).to(device), st.nn.SAGEConv(8, 4).to(device)
    one = first._matrix(x, edges, None)
    second(x, edges)
    assert first._matrix(x, edges, None) is one
    before = first(x, edges)
    edges[0, 0] = (edges[0, 0] + 1) % NODES  # in place: seen
    assert not torch.equal(first(x, edges), before)
    cached = st.nn.GCNConv(8, 4, cached=True).to(device)
    out = cached(x, edges)
    assert torch.equal(cached(x, graph(NODES, 50, seed=3).to(device)), out)


@on_devices
def test_dropout_of_gat_is_of_training_alone(device: str) -> None:
    edges = graph(NODES, 300).to(device)
    layer = st.nn.GATConv(8, 4, heads=2, dropout=0.6).to(device)
    x = torch.randn(NODES, 8, device=device)
    assert not torch.equal(layer(x, edges), layer(x, edges))
    layer.eval()
    assert error(layer(x, edges), expected_output(layer, x, edges)) < 1e-5


@on_devices
def test_pairs_of_node_sets(device: str) -> None:
    full = (torch.rand(6, 9, generator=torch.Generator().manual_seed(0)) < 0.5).float()
    a = st.SparseMatrix.from_torch(full.to(device))
    source, target = torch.randn(9, 5, device=device), torch.randn(6, 7, device=device)
    sage = st.nn.SAGEConv((5, 7), 4).to(device)
    mean = full / full.sum(1, keepdim=True).clamp(min=1)
    expected = sage.lin_l(mean.to(device) @ source) + sage.lin_r(target)
    assert error(sage((source, target), a), expected) < 1e-5
    gat = st.nn.GATConv((5, 7), 4, heads=2, add_self_loops=False).to(device)
    assert gat((source, target), a).shape == (6, 8)
    gin = st.nn.GINConv(nn.Identity()).to(device)
    assert error(gin((source, target[:, :5]), a), full.to(device) @ source + target[:, :5]) < 1e-5


# ---- SparseLinear ----


@on_devices
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(7,), (3, 5), ()], ids=str)
def test_sparse_linear_is_the_masked_layer(device: str, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(20, 30).to(device)
    sparse = st.nn.SparseLinear.from_linear(linear, 0.15, dtype=dtype)
    weight = torch.where(linear.weight.abs() > 0.15, linear.weight, 0).to(dtype)
    x = torch.randn(*shape, 20, device=device, dtype=dtype, requires_grad=True)
    expected = nn.functional.linear(x, weight, linear.bias.to(dtype))
    tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-5
    out = sparse(x)
    assert out.dtype == dtype and error(out, expected) < tolerance
    with torch.no_grad():
        assert error(sparse(x), expected) < tolerance
    g = torch.randn_like(out)
    found = torch.autograd.grad(out, (x, sparse.values, sparse.bias), g)
    wanted = g.reshape(-1, 30).t() @ x.detach().reshape(-1, 20)
    assert error(found[0], g @ weight) < tolerance
    assert error(found[1], wanted[weight != 0]) < tolerance
    again = st.nn.SparseLinear.from_linear(linear, mask=linear.weight.abs() > 0.15, dtype=dtype)
    again.load_state_dict(sparse.state_dict())
    assert st.density(weight) == pytest.approx(sparse.values.numel() / 600)


def test_sparse_linear_learns() -> None:
    sparse = st.nn.SparseLinear.from_linear(nn.Linear(10, 10), 0.1)
    x = torch.randn(4, 10)
    with torch.no_grad():
        before = sparse(x)
    optimizer = torch.optim.SGD(sparse.parameters(), 0.1)
    sparse(x).square().sum().backward()
    optimizer.step()
    with torch.no_grad():
        assert not torch.equal(sparse(x), before)
        weight = sparse.matrix().to_dense()
        assert close(sparse(x), x.double() @ weight.double().t() + sparse.bias.double())


# ---- What layers keep follows what it was made of ----


def halves() -> tuple[Tensor, Tensor]:
    """Masks of the left and of the right half of a weight [6, 8]."""
    left = torch.zeros(6, 8, dtype=torch.bool)
    left[:, :4] = True
    return left, ~left


def sparse_linear(mask: Tensor, seed: int = 0) -> st.nn.SparseLinear:
    """A layer that has run in training, in eval and in inference mode."""
    torch.manual_seed(seed)
    layer = st.nn.SparseLinear.from_linear(nn.Linear(8, 6), mask=mask)
    layer(torch.ones(1, 8)).sum().backward()
    layer.zero_grad()
    for mode in (torch.no_grad(), torch.inference_mode()):
        with mode:
            layer(torch.ones(1, 8))
    return layer


def dense_weight(layer: st.nn.SparseLinear) -> Tensor:
    row = torch.repeat_interleave(torch.arange(6), layer.crow.diff())
    weight = torch.zeros(6, 8, dtype=torch.float64)
    return weight.index_put((row, layer.col.long()), layer.values.detach().double(), accumulate=True)


def _other() -> st.nn.SparseLinear:
    return sparse_linear(halves()[1], seed=1)


def _wider() -> st.nn.SparseLinear:
    mask = halves()[1].clone()
    mask[2, 1] = True
    return sparse_linear(mask, seed=2)


def _to_columns(layer: st.nn.SparseLinear) -> None:
    layer.col.data.copy_(_other().col)


def _average(layer: st.nn.SparseLinear) -> None:
    other = _other()
    for p, q in zip(layer.parameters(), other.parameters(), strict=True):
        p.data.mul_(0.5).add_(q.data, alpha=0.5)
    for p, q in zip(layer.buffers(), other.buffers(), strict=True):
        p.data.copy_(q.data)


def _averaged_model(layer: st.nn.SparseLinear) -> st.nn.SparseLinear:
    model = torch.optim.swa_utils.AveragedModel(layer)
    with torch.no_grad():
        model.module(torch.ones(1, 8))
        layer.values.mul_(3)
    model.update_parameters(layer)
    return model.module


def _vector(layer: st.nn.SparseLinear) -> None:
    vector = nn.utils.parameters_to_vector(layer.parameters()).detach()
    nn.utils.vector_to_parameters(2 * vector, layer.parameters())


def _step(layer: st.nn.SparseLinear) -> None:
    optimizer = torch.optim.SGD(layer.parameters(), 0.5)
    layer(torch.ones(1, 8)).square().sum().backward()
    optimizer.step()


def _through_numpy(layer: st.nn.SparseLinear) -> None:
    layer.values.data.numpy()[:] *= 3


def _on_meta(layer: st.nn.SparseLinear) -> st.nn.SparseLinear:
    empty = copy.deepcopy(layer).to("meta")
    empty.load_state_dict(_wider().state_dict(), assign=True)
    return empty


def _to_empty(layer: st.nn.SparseLinear) -> st.nn.SparseLinear:
    empty = copy.deepcopy(layer).to("meta").to_empty(device="cpu")
    empty.load_state_dict(_other().state_dict())
    return empty


CHANGES: dict[str, Callable[[st.nn.SparseLinear], object]] = {
    "data": lambda layer: layer.values.data.mul_(2),
    "numpy": _through_numpy,
    "a new parameter": lambda layer: setattr(layer, "values", nn.Parameter(2 * layer.values.detach())),
    "a state of another pattern": lambda layer: layer.load_state_dict(_other().state_dict()) and None,
    "a state of another size": lambda layer: layer.load_state_dict(_wider().state_dict()) and None,
    "an assigned state": lambda layer: layer.load_state_dict(_wider().state_dict(), assign=True) and None,
    "an assigned state, from meta": _on_meta,
    "a state after to_empty": _to_empty,
    "data of the columns": _to_columns,
    "an average": _average,
    "AveragedModel": _averaged_model,
    "vector_to_parameters": _vector,
    "an optimizer": _step,
    "prune": lambda layer: prune.l1_unstructured(layer, "values", 0.5) and None,
    "double": lambda layer: layer.double(),
    "bfloat16": lambda layer: layer.bfloat16(),
    "share_memory": lambda layer: layer.share_memory().values.data.mul_(2) is None,
    "a copy": lambda layer: _scaled(copy.deepcopy(layer)),
    "a pickle": lambda layer: _scaled(pickle.loads(pickle.dumps(layer))),
}


def _scaled(layer: st.nn.SparseLinear) -> st.nn.SparseLinear:
    layer.values.data.mul_(2)
    return layer


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("change", CHANGES)
def test_sparse_linear_is_its_parameters_and_buffers(change: str, mode: Callable[[], Any]) -> None:
    layer = sparse_linear(halves()[0])
    changed = CHANGES[change](layer)
    layer = changed if isinstance(changed, nn.Module) else layer
    with mode():
        found = layer(torch.eye(8, dtype=layer.values.dtype))  # hooks of prune run first
        expected = dense_weight(layer).t() + layer.bias.double()
    assert close(found, expected)


def test_patterns_of_many_layers_are_made_once() -> None:
    layers = [sparse_linear(halves()[seed % 2], seed) for seed in range(20)]
    made = [layer._pattern() for layer in layers]
    assert all(layer._pattern() is pattern for layer, pattern in zip(layers, made, strict=True))


def test_functional_call_of_sparse_linear() -> None:
    layer, other, x = sparse_linear(halves()[0]), _wider(), torch.randn(5, 8)
    state = {name: value.detach() for name, value in other.state_dict().items()}
    twice = {"values": 2 * layer.values.detach()}
    before = layer(x).detach()
    for mode in (torch.enable_grad, torch.no_grad):
        with mode():
            assert close(torch.func.functional_call(layer, state, (x,)), other(x))
            assert close(torch.func.functional_call(layer, twice, (x,)) - layer.bias, 2 * (before - layer.bias))
            assert torch.equal(layer(x), before)


def test_a_state_of_another_size_in_a_model_that_trains() -> None:
    model = nn.Sequential(nn.Linear(8, 8), sparse_linear(halves()[0]))
    layer, x = model[1], torch.randn(5, 8)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    retained = model(x).sum()
    retained.backward()
    wider = nn.Sequential(nn.Linear(8, 8), _wider())
    values = layer.values
    model.load_state_dict(wider.state_dict())
    assert layer.values is values  # optimizers hold it
    optimizer.zero_grad()
    model(x).square().sum().backward()
    before = layer.values.detach().clone()
    optimizer.step()
    assert before.numel() == 25 and (layer.values != before).all()
    damaged = dict(_wider().state_dict(), col=torch.zeros(24, dtype=torch.int32))
    fresh = sparse_linear(halves()[0])
    with pytest.raises(RuntimeError, match="size mismatch"):
        fresh.load_state_dict(dict(damaged, values=torch.zeros(25)))
    layer.load_state_dict(dict(_wider().state_dict(), col=torch.full((25,), 8, dtype=torch.int32)))
    with pytest.raises(sptile.BadInputError):
        layer(x)


GRAPH_LAYERS: dict[str, Callable[[], nn.Module]] = {
    "gcn": lambda: st.nn.GCNConv(8, 4),
    "sage": lambda: st.nn.SAGEConv(8, 4),
    "sums": lambda: st.nn.SAGEConv(8, 4, aggr="sum"),
    "maxima": lambda: st.nn.SAGEConv(8, 4, aggr="max"),
    "gin": lambda: st.nn.GINConv(nn.Linear(8, 4)),
    "agnn": lambda: st.nn.AGNNConv(),
    "gat": lambda: st.nn.GATConv(8, 4, heads=2),
    "gat, features": lambda: st.nn.GATConv(8, 4, edge_dim=3),
    "graph, mean": lambda: st.nn.GraphConv(8, 4, aggr="mean"),
    "appnp": lambda: st.nn.APPNP(2, 0.1),
    "sg": lambda: st.nn.SGConv(8, 4, K=2),
    "tag": lambda: st.nn.TAGConv(8, 4, K=2),
    "cheb": lambda: st.nn.ChebConv(8, 4, K=3),
    "arma": lambda: st.nn.ARMAConv(8, 4, num_stacks=2, num_layers=2),
    "cluster": lambda: st.nn.ClusterGCNConv(8, 4, diag_lambda=0.5),
    "rgcn": lambda: st.nn.RGCNConv(8, 4, num_relations=3),
    "gine, features": lambda: st.nn.GINEConv(nn.Linear(8, 4), edge_dim=3),
    "pna": lambda: st.nn.PNAConv(8, 4, ["mean", "max", "std"], ["identity", "attenuation"], torch.tensor([1, 2, 4])),
    "pna, features": lambda: st.nn.PNAConv(8, 4, ["mean", "min"], ["identity"], torch.ones(4), 3, pre_layers=2),
}


def forward(name: str, layer: nn.Module, x: Tensor, taken: Any, edges: Tensor) -> Tensor:
    """Of a graph given as `taken`, whose edges are `edges`."""
    torch.manual_seed(1)
    more = (torch.randn(edges.shape[1], 3).to(x.dtype),) if name.endswith(", features") else ()
    more = (torch.arange(edges.shape[1]) % 3,) if name == "rgcn" else more
    out: Tensor = layer(x, taken, *more)
    return out


@pytest.mark.parametrize("name", GRAPH_LAYERS)
def test_layers_see_changes_of_edge_index(name: str) -> None:
    torch.manual_seed(0)
    layer, x = GRAPH_LAYERS[name](), torch.randn(NODES, 8)
    changes: dict[str, Callable[[Tensor], object]] = {
        "numpy": lambda edges: np.add(edges.numpy(), 1, out=edges.numpy()),
        "data": lambda edges: edges.data.add_(1),
        "in place": lambda edges: edges.add_(1),
        "other memory": lambda edges: edges.set_(graph(NODES, 60, seed=5)),
    }
    for change in changes.values():
        edges = graph(NODES - 1, 60)
        forward(name, layer, x, edges, edges)
        change(edges)
        new = edges.clone()
        assert torch.equal(forward(name, layer, x, edges, edges), forward(name, layer, x, new, new))


@pytest.mark.parametrize("name", GRAPH_LAYERS)
@pytest.mark.parametrize("given", ["edge_index", "edge_index from inside", "matrix", "matrix from inside"])
def test_training_after_inference_mode(name: str, given: str) -> None:
    torch.manual_seed(0)
    layer, x = GRAPH_LAYERS[name](), torch.randn(NODES, 8, requires_grad=True)
    listed = graph(NODES, 100).tolist()
    fresh = torch.tensor(listed)
    with torch.inference_mode():
        edges: Any = torch.tensor(listed) if given.endswith("inside") else fresh.clone()
        if given.startswith("matrix"):
            edges = st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
        checked = forward(name, layer, x, edges, fresh)
    out, expected = forward(name, layer, x, edges, fresh), forward(name, layer, x, fresh, fresh)
    torch.testing.assert_close(expected, out)  # few edges are added in another order than by a matrix
    assert torch.equal(checked, out)
    learned = [x, *layer.parameters()]
    for one, other in zip(
        torch.autograd.grad(out.square().sum(), learned),
        torch.autograd.grad(expected.square().sum(), learned),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


# ---- Sums in 16 bits, long rows ----


def star(leaves: int) -> Tensor:
    """Node 0 and its neighbours, in both directions."""
    ids, hub = torch.arange(1, leaves + 1), torch.zeros(leaves, dtype=torch.long)
    return torch.stack([torch.cat([ids, hub]), torch.cat([hub, ids])])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("parallel", [0, 600])
@pytest.mark.parametrize("name", [name for name in GRAPH_LAYERS if name != "gin"])
def test_hubs_in_16_bits(name: str, parallel: int, autocast: bool, dtype: torch.dtype) -> None:
    if name == "sums" and dtype == torch.float16:
        pytest.skip("sums of so many neighbours exceed float16")
    torch.manual_seed(0)
    edges = torch.cat([star(1000), torch.tensor([[7], [0]]).expand(2, parallel)], 1)
    layer, x = GRAPH_LAYERS[name](), torch.rand(1001, 8).to(dtype)
    if not autocast:
        layer = layer.to(dtype)
    with torch.autocast("cpu", dtype, enabled=autocast):
        found = forward(name, layer, x, edges, edges)
    expected = forward(name, copy.deepcopy(layer).double(), x.double(), edges, edges)
    tolerance = 2e-2 if dtype == torch.bfloat16 else 2e-3
    assert error(found[0], expected[0]) < tolerance and error(found, expected) < tolerance
    assert found.dtype == dtype


def test_weights_of_edges_in_16_bits_get_exact_gradients() -> None:
    """The degrees of a hub, and the gradient that reaches each weight through them."""
    edges, x = star(1000), torch.rand(1001, 8).bfloat16()
    layer = st.nn.GCNConv(8, 4).bfloat16()
    gradients = []
    for dtype in (torch.bfloat16, torch.float64):
        weight = torch.ones(2000, dtype=dtype, requires_grad=True)
        out = copy.deepcopy(layer).to(dtype)(x.to(dtype), edges, weight)
        gradients.append(torch.autograd.grad(out[0].sum(), weight)[0])
    assert error(*gradients) < 3e-2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_means_of_a_million_neighbours(dtype: torch.dtype) -> None:
    count = 10**6
    edges = torch.stack([torch.arange(count), torch.zeros(count, dtype=torch.long)])
    layer = st.nn.SAGEConv(2, 2, root_weight=False, bias=False)
    nn.init.eye_(layer.lin_l.weight)
    x = torch.stack([torch.full((count,), 0.1), torch.rand(count) + 0.5], 1).to(dtype)
    found = layer.to(dtype)(x, edges)
    tolerance = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[dtype]
    assert error(found[0], x.double().mean(0)) < tolerance and not found[1:].any()
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=count)
    assert torch.equal(torch.sparse.mm(st.adj_t(a), x, "mean"), found)


def test_means_of_float16_do_not_overflow() -> None:
    layer = st.nn.SAGEConv(2, 2, root_weight=False, bias=False).half()
    nn.init.eye_(layer.lin_l.weight)
    assert (layer(torch.full((1001, 2), 100.0).half(), star(1000)) == 100).all()


def test_gradients_of_means_of_long_rows() -> None:
    edges = torch.cat([star(5000), torch.tensor([[3, 3, 9], [0, 0, 4]])], 1)
    layer = st.nn.SAGEConv(3, 2)
    gradients = []
    for dtype in (torch.float32, torch.float64):
        x = random(5001, 3, dtype=dtype, learn=True) if not gradients else x.detach().double().requires_grad_()  # noqa: F821
        out = copy.deepcopy(layer).to(dtype)(x, edges)
        g = torch.linspace(0.5, 1, out.numel(), dtype=dtype).view(out.shape)
        gradients.append((out, torch.autograd.grad(out, x, g)[0]))
    for one, other in zip(*gradients, strict=True):
        assert error(one, other) < 1e-5


def test_attention_in_float64_on_multigraphs() -> None:
    torch.manual_seed(0)
    edges = torch.randint(0, 10, (2, 300))
    x = torch.randn(10, 8, dtype=torch.float64)
    counts = torch.zeros(10, 10, dtype=torch.float64).index_put(
        (edges[1], edges[0]), torch.ones(300, dtype=torch.float64), accumulate=True
    )
    counts.fill_diagonal_(1)
    unit = nn.functional.normalize(x, dim=-1)
    expected = (unit @ unit.t() + counts.log()).softmax(-1) @ x
    assert error(st.nn.AGNNConv().double()(x, edges), expected) < 1e-14
    gat = st.nn.GATConv(8, 4).double()
    h = gat.lin(x)
    scores = nn.functional.leaky_relu((h @ gat.att_dst[0].t()) + (h @ gat.att_src[0].t()).t(), 0.2)
    assert error(gat(x, edges), (scores + counts.log()).softmax(-1) @ h + gat.bias) < 1e-14


# ---- What PyG's layers take ----


def assert_same(
    ours: nn.Module, theirs: nn.Module, tensors: list[Tensor], call: Callable[..., Any], places: Tensor | None = None
) -> None:
    """Results, and gradients of tensors and parameters. Places: see `masks_of_ours`."""
    results = []
    for layer in (ours, theirs):
        own = [x.detach().clone().requires_grad_() for x in tensors]
        torch.manual_seed(1)
        with masks_of_ours(places):
            out = call(layer, *own)
        more = []
        if isinstance(out, tuple):
            out, more = out[0], list(out[1])
        learned = [*own, *(p for _name, p in sorted(layer.named_parameters()))]
        g = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)
        found = torch.autograd.grad(out, learned, g, allow_unused=True)
        found = (torch.zeros_like(x) if one is None else one for one, x in zip(found, learned, strict=True))
        results.append([out.detach(), *more, *found])
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape
        largest = max(1.0, float(other.detach().abs().max())) if other.numel() > 0 else 1.0
        assert torch.allclose(one.double(), other.double(), rtol=0, atol=1e-12 * largest)


def pair(kind: str, *given: Any, **named: Any) -> tuple[nn.Module, nn.Module]:
    """Ours and PyG's with the same parameters, in float64."""
    torch.manual_seed(0)
    theirs = getattr(pyg, kind)(*(mlp(5, 3) if x is mlp else x for x in given), **named).double()
    ours = getattr(st.nn, kind)(*(mlp(5, 3) if x is mlp else x for x in given), **named).double()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


needs_pyg = pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
MULTIGRAPH = torch.randint(0, 11, (2, 150), generator=torch.Generator().manual_seed(4))  # of 13 nodes
BIPARTITE = MULTIGRAPH % torch.tensor([[13], [7]])  # from 13 nodes to 7
SINGLE: dict[str, tuple[Any, ...]] = {
    "GCNConv": (5, 3),
    "SAGEConv": (5, 3),
    "GINConv": (mlp,),
}


@needs_pyg
@pytest.mark.parametrize("edges", [MULTIGRAPH, MULTIGRAPH[:, :0]], ids=["edges", "none"])
@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize("shape", [(4, 13, 5), (2, 3, 13, 5), (13, 13, 5)], ids=str)
def test_batches_of_features(kind: str, shape: tuple[int, ...], edges: Tensor) -> None:
    x = torch.randn(shape, dtype=torch.float64)
    assert_same(*pair(kind, *SINGLE[kind]), [x], lambda layer, x: layer(x, edges))
    each = getattr(st.nn, kind)(*(mlp(5, 3) if given is mlp else given for given in SINGLE[kind])).double()
    stacked = torch.stack([each(one, edges) for one in x.flatten(0, -3)])
    assert error(each(x, edges).flatten(0, -3), stacked) < 1e-14


def test_batches_of_features_of_agnn() -> None:
    x = torch.randn(2, 3, 13, 5, dtype=torch.float64)
    layer = st.nn.AGNNConv().double()
    stacked = torch.stack([layer(one, MULTIGRAPH) for one in x.flatten(0, 1)])
    assert error(layer(x, MULTIGRAPH).flatten(0, 1), stacked) < 1e-14


@needs_pyg
@pytest.mark.parametrize("kind", ["SAGEConv", "GINConv", "GATConv", "GATConv, loops"])
@pytest.mark.parametrize("edges", [BIPARTITE, BIPARTITE[:, :0]], ids=["edges", "none"])
def test_pairs_and_sizes(kind: str, edges: Tensor) -> None:
    source, target = (torch.randn(n, 5, dtype=torch.float64) for n in (13, 7))
    named = {"heads": 2, "add_self_loops": kind.endswith("loops")} if kind.startswith("GAT") else {}
    kind = kind.split(",")[0]
    layers = pair(kind, *((mlp,) if kind == "GINConv" else ((5, 5), 3)), **named)
    assert_same(*layers, [source, target], lambda layer, x, y: layer((x, y), edges))
    assert_same(*layers, [source, target], lambda layer, x, y: layer((x, y), edges, size=(13, 7)))
    assert_same(*layers, [source], lambda layer, x: layer((x, None), edges, size=(13, 7)))
    if not named.get("add_self_loops"):  # an error in PyG
        assert_same(*layers, [source], lambda layer, x: layer((x, None), edges, size=(None, 7)))
    assert_same(*layers, [source], lambda layer, x: layer((x, None), edges))
    a = st.SparseMatrix._of_entries(edges[1], edges[0], None, (7, 13))
    torch.testing.assert_close(layers[0]((source, None), a), layers[0]((source, None), edges, size=(13, 7)))


@needs_pyg
@pytest.mark.parametrize("fill", ["mean", "add", 0.5, torch.tensor([1.0, -2, 0.5])], ids=str)
@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("edges", [MULTIGRAPH, MULTIGRAPH[:, :0]], ids=["edges", "none"])
@pytest.mark.parametrize("conv", ["GATConv", "GATv2Conv"])
def test_weights_and_features_of_each_edge(conv: str, edges: Tensor, loops: bool, fill: Any) -> None:
    """Repeated edges have features and weights of their own, in the order in which they were given, and so
    has dropout."""
    named = {"heads": 2, "edge_dim": 3, "add_self_loops": loops, "fill_value": fill, "dropout": 0.4}
    ours, theirs = pair(conv, 5, 3, **named)
    x = torch.randn(13, 5, dtype=torch.float64)
    features = torch.randn(edges.shape[1], 3, dtype=torch.float64)
    for mode in (True, False):
        for layer in (ours, theirs):
            layer.train(mode)
        places = ranks(edges, 13 * loops) if conv == "GATv2Conv" and edges.shape[1] > 0 else None
        assert_same(ours, theirs, [x, features], lambda layer, x, y: layer(x, edges, y), places)
        for kind in (True, None):
            assert_same(
                ours,
                theirs,
                [x],
                lambda layer, x, kind=kind: layer(x, edges, return_attention_weights=kind),
            )
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=13)
    for taken in (edges, a):
        _out, (listed, weights) = ours(x, taken, features, return_attention_weights=True)
        _out, (expected, their_weights) = theirs(x, edges, features, return_attention_weights=True)
        assert torch.equal(listed, expected) and error(weights, their_weights) < 1e-12


@needs_pyg
@pytest.mark.parametrize("kind", ["GATv2Conv", "GATv2Conv, loops", "GATv2Conv, shared", "TransformerConv"])
@pytest.mark.parametrize("edges", [BIPARTITE, BIPARTITE[:, :0]], ids=["edges", "none"])
def test_pairs_with_features_of_both(kind: str, edges: Tensor) -> None:
    source, target = (torch.randn(n, 5, dtype=torch.float64) for n in (13, 7))
    features = torch.randn(edges.shape[1], 3, dtype=torch.float64)
    named: dict[str, Any] = {"heads": 2}
    if kind.startswith("GATv2"):
        named |= {"add_self_loops": kind.endswith("loops"), "share_weights": kind.endswith("shared"), "residual": True}
    name = kind.split(",")[0]
    layers = pair(name, (5, 5), 3, **named)
    assert_same(*layers, [source, target], lambda layer, x, y: layer((x, y), edges))
    a = st.SparseMatrix._of_entries(edges[1], edges[0], None, (7, 13))
    assert torch.equal(layers[0]((source, target), a), layers[0]((source, target), edges))
    layers = pair(name, (5, 5), 3, edge_dim=3, **named)
    assert_same(*layers, [source, target, features], lambda layer, x, y, z: layer((x, y), edges, z))
    with pytest.raises(sptile.UsageError, match="target"):
        layers[0]((source, None), a)


@needs_pyg
def test_weights_of_transformers_are_those_before_dropout() -> None:
    ours, theirs = pair("TransformerConv", 5, 3, heads=2, edge_dim=3, dropout=0.4, beta=True)
    x, features = torch.randn(13, 5, dtype=torch.float64), torch.randn(150, 3, dtype=torch.float64)
    for mode in (True, False):
        for layer in (ours, theirs):
            layer.train(mode)
        assert_same(ours, theirs, [x, features], lambda layer, x, y: layer(x, MULTIGRAPH, y))
        (_out, (listed, weights)), (_, (expected, their_weights)) = (
            layer(x, MULTIGRAPH, features, return_attention_weights=True) for layer in (ours, theirs)
        )
        assert torch.equal(listed, expected) and error(weights, their_weights) < 1e-12


# Options of GATv2Conv with features that have no gradient, and the number of features.
FIXED_FEATURES: dict[str, tuple[int, dict[str, Any]]] = {
    "one": (1, {"heads": 2}),
    "eight": (8, {"heads": 3, "add_self_loops": False, "bias": False}),
    "added": (8, {"fill_value": "add", "concat": False, "residual": True}),
    "sixteen": (16, {"heads": 2, "fill_value": 0.5, "share_weights": True}),
    "dropped": (16, {"heads": 2, "dropout": 0.4}),
    "too many": (40, {"heads": 2}),
}


@needs_pyg
@pytest.mark.parametrize("name", FIXED_FEATURES)
@pytest.mark.parametrize("edges", [MULTIGRAPH, MULTIGRAPH[:, :0]], ids=["edges", "none"])
def test_features_without_gradients(name: str, edges: Tensor) -> None:
    width, named = FIXED_FEATURES[name]
    ours, theirs = pair("GATv2Conv", 5, 3, edge_dim=width, **named)
    features = torch.randn(edges.shape[1], width, dtype=torch.float64)
    x = torch.randn(13, 5, dtype=torch.float64)
    for mode in (True, False):
        for layer in (ours, theirs):
            layer.train(mode)
        places = ranks(edges, 13) if "dropout" in named else None
        assert_same(ours, theirs, [x], lambda layer, x: layer(x, edges, features), places)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=13)
    assert error(ours(x, a, features), theirs(x, edges, features)) < 1e-12
    more = [layer(x, edges, features, return_attention_weights=True) for layer in (ours, theirs)]
    assert error(more[0][0], more[1][0]) < 1e-12 and error(more[0][1][1], more[1][1][1]) < 1e-12


@needs_pyg
def test_features_without_gradients_of_pairs() -> None:
    source, target = (torch.randn(n, 5, dtype=torch.float64) for n in (13, 7))
    features = torch.randn(BIPARTITE.shape[1], 3, dtype=torch.float64)
    layers = pair("GATv2Conv", (5, 5), 3, heads=2, edge_dim=3, add_self_loops=False)
    assert_same(*layers, [source, target], lambda layer, x, y: layer((x, y), BIPARTITE, features))


def test_features_are_read_by_the_weights_alone() -> None:
    """A lin_edge with hooks, or of another class, computes the features itself."""
    torch.manual_seed(0)
    layer = st.nn.GATv2Conv(5, 3, heads=2, edge_dim=4)
    edges = graph(NODES, 100)
    x, features = torch.randn(NODES, 5), torch.randn(edges.shape[1], 4)
    calls = []
    before = layer(x, edges, features)
    handle = layer.lin_edge.register_forward_hook(lambda *given: calls.append(given))
    assert error(layer(x, edges, features), before) < 1e-5 and len(calls) == 1
    handle.remove()
    layer(x, edges, features)
    assert len(calls) == 1

    class Doubled(type(layer.lin_edge)):  # type: ignore[misc]
        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    doubled = Doubled(4, 6)
    doubled.load_state_dict(layer.lin_edge.state_dict())
    layer.lin_edge = doubled
    found = layer(x, edges, features)
    with torch.no_grad():
        layer.lin_edge = copy.deepcopy(doubled)
        layer.lin_edge.__class__ = type(doubled).__base__
        layer.lin_edge.weight.mul_(2)
    assert error(found, layer(x, edges, features)) < 1e-5


def test_features_with_gradients_are_refused_by_the_operator() -> None:
    a = st.SparseMatrix.from_edge_index(graph(NODES, 100), num_nodes=NODES)
    x, vector, weight = torch.randn(NODES, 2, 3), torch.randn(2, 3), torch.randn(2, 3, 4)
    features = torch.randn(a._entries.given, 4, requires_grad=True)
    from sptile.torch.gatv2_edges import gatv2_edges

    with pytest.raises(sptile.UnsupportedError, match="features have no gradient"):
        gatv2_edges(a._entries, x, x, vector, None, features, weight, None, 0.0, 0.2)
    many = torch.randn(a._entries.given, 17)
    with pytest.raises(sptile.UsageError, match="at most 16"):
        gatv2_edges(a._entries, x, x, vector, None, many, torch.randn(2, 3, 17), None, 0.0, 0.2)


@on_devices
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_features_of_edges_are_neither_kept_nor_made(device: str, dropout: float) -> None:
    """No tensor has the size of edges times heads times channels, and none of edges times heads is kept."""
    nodes, heads, width = 60, 4, 8
    edges = graph(nodes, 6000).to(device)
    layer = st.nn.GATv2Conv(32, width, heads=heads, edge_dim=5, dropout=dropout).to(device)
    x = torch.randn(nodes, 32, device=device, requires_grad=True)
    features = torch.randn(edges.shape[1], 5, device=device)
    count = edges.shape[1] + nodes
    layer(x, edges, features).sum().backward()
    kept: list[int] = []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel())
        return tensor

    with LargestTensor() as largest, torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        layer(x, edges, features).sum().backward()
    assert 0 < largest.elements <= count * 5 < count * heads * width
    assert max(kept) <= count * 5


@needs_pyg
@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("edge_dim", [2, 10, 40])
@pytest.mark.parametrize("edges", [BIPARTITE.unique(dim=1), BIPARTITE], ids=["single", "repeated"])
def test_transformers_with_features_of_edges(edges: Tensor, edge_dim: int, dropout: float) -> None:
    layers = pair("TransformerConv", (5, 4), 3, heads=2, edge_dim=edge_dim, dropout=dropout, beta=True)
    source, target = torch.randn(13, 5, dtype=torch.float64), torch.randn(7, 4, dtype=torch.float64)
    features = torch.randn(edges.shape[1], edge_dim, dtype=torch.float64)
    assert_same(*layers, [source, target, features], lambda layer, x, y, z: layer((x, y), edges, z))


@needs_pyg
@pytest.mark.parametrize("kind", ["GATConv", "GATv2Conv"])
def test_one_number_for_each_edge(kind: str) -> None:
    ours, theirs = pair(kind, 5, 3, edge_dim=1)
    x, features = torch.randn(13, 5, dtype=torch.float64), torch.randn(150, dtype=torch.float64)
    assert_same(ours, theirs, [x, features], lambda layer, x, y: layer(x, MULTIGRAPH, y))


LAZY: dict[str, Callable[[Any], nn.Module]] = {
    "gcn": lambda kind: kind.GCNConv(-1, 4),
    "sage": lambda kind: kind.SAGEConv(-1, 4),
    "sage, pair": lambda kind: kind.SAGEConv((-1, -1), 4),
    "gat": lambda kind: kind.GATConv(-1, 4, residual=True),
    "gat, pair": lambda kind: kind.GATConv((-1, -1), 4, residual=True),
    "gatv2": lambda kind: kind.GATv2Conv(-1, 4, residual=True),
    "transformer": lambda kind: kind.TransformerConv(-1, 4),
}


@pytest.mark.parametrize("name", LAZY)
def test_widths_of_the_first_call(name: str) -> None:
    edges, x = graph(NODES, 60), torch.randn(NODES, 8)
    layer = LAZY[name](st.nn)
    before = copy.deepcopy(layer)
    layer.reset_parameters()  # type: ignore[operator]
    with torch.inference_mode():
        out = layer(x, edges)
    assert out.shape == (NODES, 4) and out.std() > 0
    layer(x, edges).sum().backward()
    assert all(p.grad is not None and p.grad.shape == p.shape for p in layer.parameters())
    for assign in (False, True):
        loaded = copy.deepcopy(before)
        loaded.load_state_dict(layer.state_dict(), assign=assign)
        assert torch.equal(loaded(x, edges), layer(x, edges))
    loaded.load_state_dict(before.state_dict())  # lazy again
    assert loaded(torch.randn(NODES, 5), edges).shape == (NODES, 4)
    again = pickle.loads(pickle.dumps(before)).double()
    assert again(x.double(), edges).dtype == torch.float64
    if pyg is not None:
        theirs = LAZY[name](pyg)
        before.load_state_dict(theirs.state_dict())
        theirs(x, edges)
        before.load_state_dict(theirs.state_dict())
        assert error(before(x, edges), theirs(x, edges)) < 1e-5


@needs_pyg
def test_layers_in_hetero_conv() -> None:
    from torch_geometric import EdgeIndex

    x = {"a": torch.randn(13, 5, dtype=torch.float64), "b": torch.randn(7, 6, dtype=torch.float64)}
    edges = {("a", "to", "b"): BIPARTITE, ("b", "to", "a"): BIPARTITE.flip(0), ("a", "to", "a"): MULTIGRAPH}
    models = []
    for kind in (st.nn, pyg):
        layers = {
            ("a", "to", "b"): kind.SAGEConv((-1, -1), 4),
            ("b", "to", "a"): kind.GATConv((-1, -1), 4, add_self_loops=False),
            ("a", "to", "a"): kind.GCNConv(-1, 4),
        }
        models.append(pyg.HeteroConv(layers).double())
        models[-1](x, edges)
    models[0].load_state_dict(models[1].state_dict())
    found, expected = (model(x, edges) for model in models)
    assert found.keys() == expected.keys()
    assert all(error(found[key], expected[key]) < 1e-12 for key in expected)
    layer = models[0].convs[("a", "to", "a")]
    indexed = EdgeIndex(MULTIGRAPH, sparse_size=(13, 13))
    assert torch.equal(layer(x["a"], indexed), layer(x["a"], MULTIGRAPH))


@needs_pyg
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", ["SAGEConv", "GATConv", "GCNConv"])
def test_to_hetero_is_refused(kind: str, named: bool) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = getattr(st.nn, kind)(8, 4)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x, edge_index=edge_index) if named else self.conv(x, edge_index)

    types = (["a", "b"], [("a", "to", "b"), ("b", "to", "a")])
    for transform in (lambda: pyg.to_hetero(Model(), types), lambda: pyg.to_hetero_with_bases(Model(), types, 2)):
        with pytest.raises(sptile.UnsupportedError, match="HeteroConv"):
            transform()


def test_layers_as_leaves_of_torch_fx() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = st.nn.GCNConv(8, 4)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x, edge_index).relu()

    class Tracer(torch.fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return True

    model, x, edges = Model(), torch.randn(NODES, 8), graph(NODES, 60)
    traced = torch.fx.GraphModule(model, Tracer().trace(model))
    assert torch.equal(traced(x, edges), model(x, edges))


def test_cached_is_of_normalized_matrices() -> None:
    """Without `normalize` nothing is made that could be kept."""
    layer, x = st.nn.GCNConv(8, 4, cached=True, normalize=False), torch.randn(NODES, 8)
    first, second = graph(NODES, 60), graph(NODES, 50, seed=1)
    layer(x, first)
    assert torch.equal(layer(x, second), st.nn.GCNConv.forward(copy.deepcopy(layer), x, second.clone()))
    uncached = st.nn.GCNConv(8, 4, normalize=False)
    uncached.load_state_dict(layer.state_dict())
    assert torch.equal(layer(x, second), uncached(x, second))


EDGES = graph(NODES, 50)
X = torch.ones(NODES, 8)
REFUSED: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "loops without norm": (
        sptile.UsageError,
        lambda: st.nn.GCNConv(8, 4, normalize=False, add_self_loops=True),
    ),
    "an aggregation that is not there": (sptile.UnsupportedError, lambda: st.nn.SAGEConv(8, 4, aggr="lstm")),
    "edges of another shape": (sptile.UsageError, lambda: st.nn.GCNConv(8, 4)(X, EDGES[0])),
    "no graph": (sptile.UsageError, lambda: st.nn.GCNConv(8, 4)(X, None)),  # type: ignore[arg-type]
    "a node that is not there": (sptile.BadInputError, lambda: st.nn.GCNConv(8, 4)(X, EDGES + NODES)),
    "a matrix of other nodes": (
        sptile.UsageError,
        lambda: st.nn.GCNConv(8, 4)(X, st.SparseMatrix.from_edge_index(EDGES, num_nodes=NODES + 1)),
    ),
    "weights beside a matrix": (
        sptile.UsageError,
        lambda: st.nn.GCNConv(8, 4)(
            X, st.SparseMatrix.from_edge_index(EDGES, num_nodes=NODES), torch.ones(50)
        ),
    ),
    "a batch of features for attention": (sptile.UsageError, lambda: st.nn.GATConv(8, 4)(X[None], EDGES)),
    "features of no nodes": (sptile.UsageError, lambda: st.nn.GINConv(nn.Identity())(X[:, 0], EDGES)),
    "a pair for one set of nodes": (sptile.UsageError, lambda: st.nn.GCNConv(8, 4)((X, None), EDGES)),
    "no source nodes": (sptile.UsageError, lambda: st.nn.GATConv(8, 4)((None, X), EDGES)),
    "three sets of nodes": (sptile.UsageError, lambda: st.nn.SAGEConv(8, 4)((X, X, X), EDGES)),
    "another size than that of x": (sptile.UsageError, lambda: st.nn.SAGEConv(8, 4)(X, EDGES, size=(NODES, 2))),
    "a size of one number": (sptile.UsageError, lambda: st.nn.SAGEConv(8, 4)(X, EDGES, size=NODES)),
    "a width below -1": (sptile.UsageError, lambda: st.nn.GCNConv(-2, 4)),
    "a projection of unknown width": (sptile.UsageError, lambda: st.nn.SAGEConv(-1, 4, project=True)),
    "a sparse tensor of other nodes": (sptile.UsageError, lambda: st.nn.GCNConv(8, 4)(X, torch.eye(3).to_sparse_csr())),
    "weights that are a list": (sptile.UsageError, lambda: st.nn.GCNConv(8, 4)(X, EDGES, [1.0])),
    "features of other edges": (
        sptile.UsageError,
        lambda: st.nn.GATConv(8, 4, edge_dim=2)(X, EDGES, torch.ones(EDGES.shape[1] - 1, 2)),
    ),
    "features of edges that are integers": (
        sptile.UsageError,
        lambda: st.nn.GATConv(8, 4, edge_dim=2)(X, EDGES, torch.ones(EDGES.shape[1], 2).long()),
    ),
    "features of edges without room": (
        sptile.UsageError,
        lambda: st.nn.GATConv(8, 4)(X, EDGES, torch.ones(EDGES.shape[1], 4)),
    ),
    "features of edges that are missing": (
        sptile.UsageError,
        lambda: st.nn.TransformerConv(8, 4, edge_dim=2)(X, EDGES),
    ),
    "features of edges of a transformer without room": (
        sptile.UsageError,
        lambda: st.nn.TransformerConv(8, 4)(X, EDGES, torch.ones(EDGES.shape[1], 2)),
    ),
    "features of other edges in the second version": (
        sptile.UsageError,
        lambda: st.nn.GATv2Conv(8, 4, edge_dim=2)(X, EDGES, torch.ones(EDGES.shape[1] - 1, 2)),
    ),
    "another filling that is not there": (
        sptile.UnsupportedError,
        lambda: st.nn.GATv2Conv(8, 4, fill_value="max"),
    ),
    "a filling that is not there": (sptile.UnsupportedError, lambda: st.nn.GATConv(8, 4, fill_value="max")),
    "a linear layer that is none": (sptile.UsageError, lambda: st.nn.SparseLinear.from_linear(nn.ReLU())),  # type: ignore[arg-type]
    "a mask of another shape": (
        sptile.UsageError,
        lambda: st.nn.SparseLinear.from_linear(nn.Linear(2, 3), mask=torch.ones(2, 3, dtype=torch.bool)),
    ),
    "features of another width": (
        sptile.UsageError,
        lambda: st.nn.SparseLinear.from_linear(nn.Linear(2, 3))(X),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str) -> None:
    kind, call = REFUSED[case]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, sptile.Error)


def test_graphs_go_with_their_edge_index() -> None:
    from sptile.torch.nn import graph as graphs

    layer, x = st.nn.SAGEConv(8, 4), torch.ones(NODES, 8)
    edges = graph(NODES, 60, seed=9)
    layer(x, edges)
    assert any(reference() is edges for reference, _key, _matrix in graphs._seen)
    count = len(graphs._seen)
    del edges
    assert len(graphs._seen) == count - 1
    alive = [graph(NODES, 20, seed=seed) for seed in range(12)]
    for each in alive:
        layer(x, each)
    assert len(graphs._seen) <= 8
