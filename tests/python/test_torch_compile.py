"""Compiled and exported functions: one graph, the results and gradients of eager calls, and no compilation for each
matrix."""

from __future__ import annotations

import gc
import io
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch._dynamo.backends.debugging import aot_eager  # noqa: E402
from torch_problems import close, error, graph, matrix, on_devices  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402

NODES, WIDTH = 20, 6


class Counted:
    """A backend that counts what it compiles, and traces gradients, too."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, module: Any, inputs: Any) -> Any:
        self.count += 1
        return aot_eager(module, inputs)


@pytest.fixture(autouse=True)
def fresh_compiler():  # type: ignore[no-untyped-def]
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def multigraph(device: str, seed: int = 0) -> Tensor:
    """edge_index with parallel edges and several loops at a node."""
    generator = torch.Generator().manual_seed(seed)
    edges = torch.randint(0, NODES, (2, 90), generator=generator)
    loops = torch.tensor([[1, 1, 4], [1, 1, 4]])
    return torch.cat([edges, loops, edges[:, :9]], 1).to(device)


PRODUCTS: dict[str, Callable[[st.SparseMatrix, Tensor], Tensor]] = {
    "A @ x": lambda a, x: a @ x,
    "x @ A": lambda a, x: x @ a,
    "of a vector": lambda a, x: a @ x[:, 0] + x[0] @ a,
    "of a batch": lambda a, x: torch.stack([x, 2 * x]) @ a,
    "torch.matmul": lambda a, x: torch.matmul(a, x) + torch.mm(x, a),  # type: ignore[call-overload]
    "of the transpose": lambda a, x: a.t() @ x + a.T @ x,
    "of the transpose of the transpose": lambda a, x: a.t().t() @ x,
    "with values": lambda a, x: a.with_values(x.flatten()[: a._entries.given] * 2) @ x,
    "without values": lambda a, x: a.with_values(None) @ x,
    "values as an operand": lambda a, x: st.spmm(a, x, x.flatten()[: a._entries.given]),
    "maxima": lambda a, x: st.spmm(a, x, reduce="max"),
    "minima of values": lambda a, x: st.spmm(a, x, x.flatten()[: a._entries.given] - 0.5, reduce="min"),
    "means": lambda a, x: st.spmm(a, x, reduce="mean"),
    "segments": lambda a, x: st.segment_reduce(a, x[a.places()[1]] * 2, "max") + st.segment_reduce(a, x[a.places()[0]]),
    "of another type": lambda a, x: (a.double() @ x.double()).float() + a.detach() @ x,
    "sddmm": lambda a, x: st.sddmm(a, x, x),
    "sddmm of the transpose": lambda a, x: st.sddmm(a.t(), x, 2 * x + 1),
    "softmax": lambda a, x: st.softmax(a, st.sddmm(a, x, x)),
    "attention": lambda a, x: st.attention(a, x, 2 * x, x),
    "attention with a bias": lambda a, x: st.attention(a, x, x, x, bias=st.sddmm(a, x, x)),
    "spmm_update": lambda a, x: st.spmm_update(a, x, x[: x.shape[1]], activation="relu"),
    "gcn_norm": lambda a, x: a.gcn_norm() @ x,
    "gcn_norm without loops": lambda a, x: a.gcn_norm(False) @ x,
    "gcn_norm with others": lambda a, x: a.gcn_norm(fill_value=3.0).t() @ x,
}


def operands(device: str, kind: str, seed: int = 0) -> tuple[st.SparseMatrix, Tensor]:
    torch.manual_seed(seed)
    x = torch.rand(NODES, NODES, device=device, requires_grad=True)  # square: @ must know its sides
    edges = multigraph(device, seed) if "multigraph" in kind else graph(NODES, 60, seed).to(device)
    weight = torch.rand(edges.shape[1], device=device) + 0.5 if "values" in kind else None
    if "learned" in kind and weight is not None:
        weight.requires_grad_()
    if "symmetric" in kind:
        edges = torch.cat([edges, edges.flip(0)], 1)
        weight = None if weight is None else torch.cat([weight, weight])
    return st.SparseMatrix.from_edge_index(edges, weight, NODES), x


KINDS = ["pattern", "values", "learned values", "multigraph", "multigraph of values", "symmetric values"]


@on_devices
@pytest.mark.parametrize("kind", KINDS)
def test_products_compile_whole(device: str, kind: str) -> None:
    """All of them as one graph, which takes less time than one after the other."""
    a, x = operands(device, kind)
    learned = [x, a.values] if a.requires_grad else [x]

    def all_products(a: st.SparseMatrix, x: Tensor) -> list[Tensor]:
        return [function(a, x) for function in PRODUCTS.values()]

    compiled = torch.compile(all_products, fullgraph=True, backend="aot_eager")
    for name, one, other in zip(PRODUCTS, compiled(a, x), all_products(a, x), strict=True):
        assert error(one, other) < 1e-5, name
        pairs = [torch.autograd.grad(y.sin().sum(), learned, retain_graph=True, allow_unused=True) for y in (one, other)]
        for found, expected in zip(*pairs, strict=True):
            assert expected is None or error(found, expected) < 1e-5, name


@on_devices
@pytest.mark.parametrize("kind", ["pattern", "values", "learned values", "multigraph of values"])
def test_fresh_matrices_do_not_compile_again(device: str, kind: str) -> None:
    backend = Counted()

    def function(a: st.SparseMatrix, x: Tensor) -> Tensor:
        return st.attention(a, a @ x, x @ a.t(), x, bias=st.sddmm(a, x, x)) + a.t() @ x

    compiled = torch.compile(function, fullgraph=True, backend=backend)
    for seed in range(12):  # numbers of entries differ, too
        a, x = operands(device, kind, seed)
        assert error(compiled(a, x), function(a, x)) < 1e-5
    assert backend.count <= 2


def test_a_size_that_varies_compiles_once_more() -> None:
    backend = Counted()
    compiled = torch.compile(lambda a, x: a @ x, fullgraph=True, backend=backend)
    for n in range(4, 16):
        a, full = matrix(n, n + 3, 0.5, dtype=torch.float32, seed=n)
        assert close(compiled(a, torch.eye(n + 3)), full)
    assert backend.count <= 3


def test_backward_needs_no_matrix_of_the_caller() -> None:
    a, full = matrix(8, 5, 0.5, dtype=torch.float64)
    x = torch.rand(5, 3, dtype=torch.float64, requires_grad=True)
    y = torch.compile(lambda a, x: a @ x, fullgraph=True, backend="aot_eager")(a, x)
    del a
    torch._dynamo.reset()
    gc.collect()
    y.sum().backward()
    assert close(x.grad, full.t() @ torch.ones(8, 3, dtype=torch.float64))


# ---- Layers ----

LAYERS: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "gcn": (lambda: st.nn.GCNConv(WIDTH, 3), "weights"),
    "gcn, wide": (lambda: st.nn.GCNConv(WIDTH, 30), "weights"),
    "gcn without loops": (lambda: st.nn.GCNConv(WIDTH, 3, add_self_loops=False), "weights"),
    "gcn as it is": (lambda: st.nn.GCNConv(WIDTH, 3, normalize=False), "weights"),
    "gcn, improved": (lambda: st.nn.GCNConv(WIDTH, 3, improved=True), "weights"),
    "sage": (lambda: st.nn.SAGEConv(WIDTH, 3), ""),
    "sage, sums": (lambda: st.nn.SAGEConv(WIDTH, 30, aggr="sum", project=True, normalize=True), ""),
    "gin": (lambda: st.nn.GINConv(nn.Linear(WIDTH, 3), train_eps=True), ""),
    "agnn": (lambda: st.nn.AGNNConv(), ""),
    "agnn without loops": (lambda: st.nn.AGNNConv(add_self_loops=False), ""),
    "gat": (lambda: st.nn.GATConv(WIDTH, 3, heads=2), ""),
    "gat without loops": (lambda: st.nn.GATConv(WIDTH, 3, heads=2, add_self_loops=False, concat=False), ""),
    "gat, features": (lambda: st.nn.GATConv(WIDTH, 3, heads=2, edge_dim=2), "features"),
    "gat, added features": (lambda: st.nn.GATConv(WIDTH, 3, edge_dim=2, fill_value="add"), "features"),
    "gat, given features": (lambda: st.nn.GATConv(WIDTH, 3, edge_dim=2, fill_value=0.5), "features"),
    "gatv2": (lambda: st.nn.GATv2Conv(WIDTH, 3, heads=2), ""),
    "gatv2 without loops": (lambda: st.nn.GATv2Conv(WIDTH, 3, heads=2, add_self_loops=False), ""),
    "gatv2, features": (lambda: st.nn.GATv2Conv(WIDTH, 3, heads=2, edge_dim=2), "features"),
    "gatv2, features without loops": (
        lambda: st.nn.GATv2Conv(WIDTH, 3, edge_dim=2, add_self_loops=False), "features"
    ),
    "gatv2, fixed features": (lambda: st.nn.GATv2Conv(WIDTH, 3, heads=2, edge_dim=2), "fixed features"),
    "gatv2, fixed features without loops": (
        lambda: st.nn.GATv2Conv(WIDTH, 3, edge_dim=2, add_self_loops=False), "fixed features"
    ),
    "transformer": (lambda: st.nn.TransformerConv(WIDTH, 3, heads=2, bias=False), ""),
    "transformer, features": (lambda: st.nn.TransformerConv(WIDTH, 3, heads=2, edge_dim=2, bias=False), "features"),
    "graph": (lambda: st.nn.GraphConv(WIDTH, 3), "weights"),
    "graph, mean": (lambda: st.nn.GraphConv(WIDTH, 30, aggr="mean"), "weights"),
    "lg": (lambda: st.nn.LGConv(), "weights"),
    "appnp": (lambda: st.nn.APPNP(2, 0.1), "weights"),
    "sg": (lambda: st.nn.SGConv(WIDTH, 3, K=2), "weights"),
    "tag": (lambda: st.nn.TAGConv(WIDTH, 3, K=2), "weights"),
    "tag, wide": (lambda: st.nn.TAGConv(WIDTH, 30, K=2), "weights"),
    "cheb": (lambda: st.nn.ChebConv(WIDTH, 3, K=3), "weights"),
    "cheb, wide": (lambda: st.nn.ChebConv(WIDTH, 30, K=3, normalization=None), "weights"),
    "arma": (lambda: st.nn.ARMAConv(WIDTH, 3, num_stacks=2, num_layers=2), "weights"),
    "cluster": (lambda: st.nn.ClusterGCNConv(WIDTH, 3, diag_lambda=0.5), ""),
    "rgcn": (lambda: st.nn.RGCNConv(WIDTH, 3, 4), "types"),
    "rgcn, wide": (lambda: st.nn.RGCNConv(WIDTH, 30, 4, num_bases=2), "types"),
    "gat, features without loops": (lambda: st.nn.GATConv(WIDTH, 3, edge_dim=2, add_self_loops=False), "features"),
}


def given(device: str, form: str, kind: str, seed: int = 0) -> tuple[Any, ...]:
    """x and the graph of a layer, with what it takes for edges."""
    torch.manual_seed(seed)
    x = torch.rand(NODES, WIDTH, device=device, requires_grad=True)
    edges = multigraph(device, seed)
    count = edges.shape[1]
    if kind == "weights":
        weight = (torch.rand(count, device=device) + 0.5).requires_grad_()
        if form == "matrix":
            return x, st.SparseMatrix.from_edge_index(edges, weight, NODES)
        return x, edges, weight
    more = ()
    if kind.endswith("features"):
        more = (torch.rand(count, 2, device=device, requires_grad=kind == "features"),)
    more = (torch.randint(0, 4, (count,), device=device),) if kind == "types" else more
    if form == "matrix":
        return x, st.SparseMatrix.from_edge_index(edges, num_nodes=NODES), *more
    return x, edges, *more


@on_devices
@pytest.mark.parametrize("form", ["edge_index", "matrix"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_compile_whole(device: str, form: str, name: str) -> None:
    make, kind = LAYERS[name]
    layer = make().to(device)
    backend = Counted()
    compiled = torch.compile(layer, fullgraph=True, backend=backend)
    for seed in range(4):
        arguments = given(device, form, kind, seed)
        found, expected = compiled(*arguments), layer(*arguments)
        assert error(found, expected) < 1e-5
    assert backend.count <= 2
    learned = [x for x in arguments if isinstance(x, Tensor) and x.requires_grad] + list(layer.parameters())
    g = torch.rand_like(expected)
    gradients = [torch.autograd.grad(y, learned, g, allow_unused=True) for y in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        assert (one is None) == (other is None) and (one is None or error(one, other) < 2e-5)


@on_devices
def test_layers_with_dropout_compile(device: str) -> None:
    torch.manual_seed(0)
    layer = st.nn.GATConv(WIDTH, 3, heads=2, dropout=0.5).to(device)
    x, edges = given(device, "edge_index", "")
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert not torch.equal(compiled(x, edges), compiled(x, edges))
    layer.eval()
    assert error(compiled(x, edges), layer(x, edges)) < 1e-5


def test_attention_weights_in_compiled_code() -> None:
    x, edges = given("cpu", "edge_index", "")
    layer = st.nn.GATConv(WIDTH, 3, heads=2, add_self_loops=False)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    found, expected = (one(x, edges, return_attention_weights=True) for one in (compiled, layer))
    assert error(found[0], expected[0]) < 1e-5 and error(found[1][1], expected[1][1]) < 1e-5
    assert torch.equal(found[1][0], expected[1][0])


@on_devices
def test_sparse_linear_compiles_and_follows_its_values(device: str) -> None:
    torch.manual_seed(0)
    layer = st.nn.SparseLinear.from_linear(nn.Linear(WIDTH, 9), 0.1).to(device)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    x = torch.rand(4, WIDTH, device=device, requires_grad=True)
    for _ in range(2):
        assert error(compiled(x), layer(x)) < 1e-5
        gradients = [torch.autograd.grad(f(x).square().sum(), [x, layer.values]) for f in (compiled, layer)]
        for one, other in zip(*gradients, strict=True):
            assert error(one, other) < 1e-5
        with torch.no_grad():
            layer.values.mul_(2)
    other = st.nn.SparseLinear.from_linear(nn.Linear(WIDTH, 9).to(device), 0.1)
    layer.load_state_dict(other.state_dict())
    assert error(compiled(x), other(x)) < 1e-5


EXPORTED: dict[str, Callable[[], nn.Module]] = {
    **{name: LAYERS[name][0] for name in ("gcn", "sage", "gin", "agnn", "gat", "graph", "cheb", "arma")},
    "sparse linear": lambda: st.nn.SparseLinear.from_linear(nn.Linear(WIDTH, 9), 0.1),
}


@pytest.mark.parametrize("name", EXPORTED)
def test_layers_are_exported(name: str) -> None:
    torch.manual_seed(0)
    layer = EXPORTED[name]().eval()
    arguments = given("cpu", "edge_index", "")
    arguments = (arguments[0].detach(), *arguments[1:])[: 1 if name == "sparse linear" else 2]
    exported = torch.export.export(layer, arguments)
    assert error(exported.module()(*arguments), layer(*arguments)) < 1e-5
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    assert error(torch.export.load(file).module()(*arguments), layer(*arguments)) < 1e-5


class Fixed(nn.Module):
    """A layer over a matrix of its own."""

    def __init__(self, a: st.SparseMatrix) -> None:
        super().__init__()
        self.a = a

    def forward(self, x: Tensor) -> Tensor:
        return self.a @ x + st.spmm(self.a.t(), x)


def test_a_module_with_a_matrix_is_exported() -> None:
    a, full = matrix(6, 6, 0.5, dtype=torch.float32)
    exported = torch.export.export(Fixed(a), (torch.eye(6),))
    assert close(exported.module()(torch.eye(6)), full + full.t())


def test_a_token_of_another_process_is_refused() -> None:
    with pytest.raises(sptile.UsageError, match="no matrix of this process"):
        torch.ops.sptile.spmm(torch.tensor(3), 4, 4, 4, False, torch.ones(4, 1), None)


@on_devices
def test_bad_operands_are_refused_with_the_reason(device: str) -> None:
    a, x = operands(device, "values")
    compiled = torch.compile(lambda a, x: a @ x, backend="aot_eager")
    with pytest.raises((sptile.UsageError, torch._dynamo.exc.TorchRuntimeError), match="a matrix with 20 columns"):
        compiled(a, x[:3].detach())
    layer = torch.compile(st.nn.SAGEConv(WIDTH, 3).to(device), fullgraph=True, backend="aot_eager")
    with pytest.raises(sptile.BadInputError, match="ids from 0 to 19"):
        layer(torch.ones(NODES, WIDTH, device=device), multigraph(device) + NODES)
