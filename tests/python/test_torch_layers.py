"""Layers against those of PyG where it is installed, and against the formulas of their papers everywhere."""

from __future__ import annotations

import copy
import os
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch_problems import close, error, graph, on_devices, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402

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
    "gat, given features": ("GATConv", lambda n, m: ((n, m), {"edge_dim": 4, "fill_value": 0.5}), "features"),
}
SIZES = [(16, 8), (8, 16)]


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
        out = layer(own, edges, *more)
        learned = [parameter for _name, parameter in sorted(layer.named_parameters())]
        g = torch.linspace(-1, 1, out.numel(), device=device).view(out.shape)
        results.append((out, *torch.autograd.grad(out, [own, *learned, *more], g)))
    for one, other in zip(*results, strict=True):
        assert error(one, other) < 1e-5


@pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
@on_devices
@pytest.mark.parametrize("given", ["edge_index", "matrix"])
@pytest.mark.parametrize("name", [name for name, layer in LAYERS.items() if layer[2] != "features"])
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
    with pytest.raises(sptile.UnsupportedError):
        torch.sparse.mm(t, x, "amax")
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
@pytest.mark.parametrize("kind", ["gat", "agnn", "gat with dropout"])
def test_attention_layers_make_no_features_of_edges(device: str, kind: str) -> None:
    nodes, heads, width = 60, 4, 8
    edges = graph(nodes, 6000).to(device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=nodes)
    layers = {
        "agnn": st.nn.AGNNConv,
        "gat": lambda: st.nn.GATConv(32, width, heads=heads),
        "gat with dropout": lambda: st.nn.GATConv(32, width, heads=heads, dropout=0.5),
    }
    layer = layers[kind]().to(device)
    x = torch.randn(nodes, 32, device=device, requires_grad=True)
    layer(x, a).sum().backward()
    with LargestTensor() as largest:
        layer(x, a).sum().backward()
    limit = (a.nnz + nodes) * heads if kind == "gat with dropout" else max(nodes * 33, 32 * 33)
    assert 0 < largest.elements <= limit < a.nnz * heads * width


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
    "features of edges without room": (
        sptile.UsageError,
        lambda: st.nn.GATConv(8, 4)(X, EDGES, torch.ones(EDGES.shape[1], 4)),
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
