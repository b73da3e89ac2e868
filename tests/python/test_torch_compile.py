"""Compiled and exported functions: one graph, the results and gradients of eager calls, and no compilation for each
matrix."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch._dynamo.backends.debugging import aot_eager  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402
from torch_problems import close, error, graph, matrix, on_devices  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile.torch import exported  # noqa: E402
from sptile.torch.dropout import new_seed  # noqa: E402
from sptile.torch.functions import drop_weights, dropped_product  # noqa: E402

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


class Hetero(nn.Module):
    """A HeteroConv of one node type and two edge types."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = st.nn.HeteroConv({("a", kind, "a"): st.nn.GraphConv(WIDTH, 3) for kind in ("to", "by")})

    def forward(self, x: Tensor, edges: Any, weight: Tensor | None = None) -> Tensor:
        kinds = self.conv.edge_types
        weights = None if weight is None else dict.fromkeys(kinds, weight)
        found: Tensor = self.conv({"a": x}, dict.fromkeys(kinds, edges), edge_weight_dict=weights)["a"]
        return found


class Light(nn.Module):
    """A LightGCN, which has its own features."""

    def __init__(self) -> None:
        super().__init__()
        self.model = st.nn.LightGCN(NODES, 4, 2)

    def forward(self, x: Tensor, edges: Any, weight: Tensor | None = None) -> Tensor:
        found: Tensor = self.model.get_embedding(edges, weight)
        return found + x.sum()


DEGREES = torch.tensor([1, 2, 5, 3])
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
    "gine": (lambda: st.nn.GINEConv(nn.Linear(WIDTH, 3), edge_dim=2), "features"),
    "pna": (lambda: st.nn.PNAConv(WIDTH, 3, ["mean", "max", "std"], ["identity", "linear"], DEGREES), ""),
    "pna, features": (lambda: st.nn.PNAConv(WIDTH, 3, ["sum", "min"], ["attenuation"], DEGREES, 2), "features"),
    "pna, two layers": (lambda: st.nn.PNAConv(WIDTH, 3, ["mean"], ["identity"], DEGREES, pre_layers=2, act="tanh"), ""),
    "gat, features without loops": (lambda: st.nn.GATConv(WIDTH, 3, edge_dim=2, add_self_loops=False), "features"),
    "hetero": (Hetero, "weights"),
    "light gcn": (Light, "weights"),
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


def test_inductor_compiles_a_model_for_all_sizes() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gcn, self.gat = st.nn.GCNConv(WIDTH, 8), st.nn.GATConv(8, 4, heads=2)
            self.sage = st.nn.SAGEConv(8, 3)

        def forward(self, x: Tensor, edges: Any) -> Tensor:
            found: Tensor = self.sage(self.gat(self.gcn(x, edges).relu(), edges).relu(), edges)
            return found

    torch.manual_seed(0)
    model = Model()
    compiled = torch.compile(model, fullgraph=True)
    for nodes in (20, 31, 17):
        x, edges = torch.rand(nodes, WIDTH, requires_grad=True), torch.randint(0, nodes, (2, 5 * nodes))
        pairs = []
        for one in (compiled, model):
            out = one(x, edges)
            pairs.append((out, *torch.autograd.grad(out.sin().sum(), [x, *model.parameters()])))
        torch.testing.assert_close(*pairs, rtol=1e-4, atol=1e-5)


@on_devices
def test_layers_with_dropout_compile(device: str) -> None:
    torch.manual_seed(0)
    layer = st.nn.GATConv(WIDTH, 3, heads=2, dropout=0.5).to(device)
    x, edges = given(device, "edge_index", "")
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert not torch.equal(compiled(x, edges), compiled(x, edges))
    layer.eval()
    assert error(compiled(x, edges), layer(x, edges)) < 1e-5


@on_devices
@pytest.mark.parametrize("kind", ["attention", "list", "product"])
def test_compiled_gradients_have_the_mask_of_the_result(device: str, kind: str) -> None:
    """Attention is linear in its values, here those of all nodes: <g, A v> = <A^T g, v>."""
    torch.manual_seed(0)
    a, _ = matrix(8, 8, 0.5, device=device)
    v, q = torch.rand(8, 2, 4, device=device, requires_grad=True), torch.rand(8, 2, 4, device=device)
    weights = st.softmax(a, torch.rand(a.nnz, 2, device=device))

    def call(v: Tensor) -> Tensor:
        if kind == "attention":
            return st.attention(a, q, q, v, dropout_p=0.5)
        seed = new_seed(v.device)
        if kind == "list":
            return st.spmm(a, v, drop_weights(a, weights, seed, 0.5))
        return dropped_product(a, v, weights, seed, 0.5)

    for backend in ("aot_eager", "inductor") if device == "cpu" and kind == "attention" else ("aot_eager",):
        torch._dynamo.reset()
        compiled = torch.compile(call, fullgraph=True, backend=backend)
        out, other = compiled(v), compiled(v)
        g = torch.rand_like(out)
        (gradient,) = torch.autograd.grad(out, v, g)
        assert float((g * out.detach()).sum()) == pytest.approx(float((gradient * v.detach()).sum()), rel=1e-5)
        assert not torch.equal(out, other)


@on_devices
def test_biases_of_types_compile(device: str) -> None:
    a, _ = matrix(8, 8, 0.5, device=device)
    types = torch.arange(a.nnz, device=device) % 3
    q, k, v = (torch.rand(8, 2, 4, device=device) for _ in range(3))
    table = torch.rand(3, 2, device=device, requires_grad=True)

    def call(table: Tensor, types: Tensor) -> Tensor:
        return st.attention(a, q, k, v, bias=table, bias_index=types)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for given_types in (types, types.flip(0)):
        outs = [function(table, given_types) for function in (compiled, call)]
        results = [(out, *torch.autograd.grad(out.square().sum(), table)) for out in outs]
        for one, other in zip(*results, strict=True):
            assert error(one, other) < 1e-5
    with pytest.raises(sptile.BadInputError):
        compiled(table, types + 3)


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


@pytest.mark.parametrize("form", ["edge_index", "matrix"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_exported(form: str, name: str) -> None:
    make, kind = LAYERS[name]
    torch.manual_seed(0)
    layer = make().eval()
    arguments = tuple(x.detach() for x in given("cpu", form, kind))
    program = torch.export.export(layer, arguments)
    expected = layer(*arguments)
    assert error(program.module()(*arguments), expected) < 1e-5
    assert error(loaded(program)(*arguments), expected) < 1e-5


def loaded(program: Any) -> Any:
    """Returns the module of a program that was saved and loaded."""
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file).module()


def test_sparse_linear_is_exported() -> None:
    layer, x = st.nn.SparseLinear.from_linear(nn.Linear(WIDTH, 9), 0.1).eval(), torch.rand(NODES, WIDTH)
    assert error(loaded(torch.export.export(layer, (x,)))(x), layer(x)) < 1e-5


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", ["pattern", "values", "multigraph", "multigraph of values"])
def test_an_exported_program_takes_other_matrices(kind: str, strict: bool) -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor, a: st.SparseMatrix) -> Tensor:
            return st.attention(a, x, x, a @ x) + a.t() @ x + st.spmm(a, x, reduce="max")

    model, auto = Model(), torch.export.Dim.AUTO
    a, x = (one.detach() for one in operands("cpu", kind))
    dynamic = ({0: auto}, [{0: auto}] * len(torch.utils._pytree.tree_leaves(a)))
    program = loaded(torch.export.export(model, (x, a), dynamic_shapes=dynamic, strict=strict))
    for seed in range(3):
        a, x = (one.detach() for one in operands("cpu", kind, seed))
        assert error(program(x, a), model(x, a)) < 1e-5
    rows, cols = torch.tensor([[1, 2, 2], [0, 1, 2]])  # in order
    if kind == "pattern":
        a, x = st.SparseMatrix._of_entries(rows, cols, None, (3, 3)), torch.rand(3, NODES)
        assert error(program(x, a), model(x, a)) < 1e-5


class Fixed(nn.Module):
    """A layer with a matrix."""

    def __init__(self, a: st.SparseMatrix) -> None:
        super().__init__()
        self.a = a

    def forward(self, x: Tensor) -> Tensor:
        return self.a @ x + st.spmm(self.a.t(), x) + st.attention(self.a, x, x, x)


ANOTHER_PROCESS = """
import sys, torch, sptile.torch
program, x, expected = sys.argv[1:]
found = torch.export.load(program).module()(torch.load(x))
torch.testing.assert_close(found, torch.load(expected))
"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", ["values", "learned values", "multigraph"])
def test_a_module_with_a_matrix_runs_in_another_process(tmp_path: Path, kind: str, strict: bool) -> None:
    a, x = operands("cpu", kind)
    x = x.detach()
    files = [tmp_path / name for name in ("program.pt2", "x.pt", "expected.pt")]
    torch.export.save(torch.export.export(Fixed(a), (x,), strict=strict), files[0])
    torch.save(x, files[1])
    torch.save(Fixed(a)(x).detach(), files[2])
    subprocess.run([sys.executable, "-c", ANOTHER_PROCESS, *map(str, files)], check=True, timeout=300)


def test_a_program_does_not_rebuild_its_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    a, x = operands("cpu", "values")
    program = loaded(torch.export.export(Fixed(a), (x.detach(),)))
    program(x)
    monkeypatch.setattr(exported, "_made", None)
    program(x)


def test_a_matrix_is_the_tree_of_its_arrays() -> None:
    a, x = operands("cpu", "multigraph of values")
    leaves, spec = pytree.tree_flatten(a)
    assert pytree.tree_unflatten(leaves, spec) is a
    other = pytree.tree_map(torch.clone, a)
    assert other is not a and torch.equal(other @ x, a @ x) and torch.equal(other.values, a.values)
    assert pytree.tree_leaves(pytree.tree_map(lambda leaf: leaf.dim(), a)) == [1, 1, 2, 1, 1]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0, 1, 3], [0, 1, 0], None), "ascending columns"),
        (([0, 1, 3], [0, 0, 1], [0, 1, 1]), "a place of each nonzero"),
        (([0, 1, 3], [0, 0, 1], [0, 1, 3]), "ids from 0 to 2"),
        (([0, 4, 3], [0, 0, 1], None), "crow must increase"),
        (([0, 1, 3], [0, 0, 2], None), "ids from 0 to 1"),
    ],
)
def test_bad_arrays_of_a_program_are_refused(arrays: Any, message: str) -> None:
    tensors = [None if x is None else torch.tensor(x, dtype=torch.int32) for x in arrays]
    with pytest.raises(sptile.BadInputError, match=message):
        torch.ops.sptile.entries_of_arrays(*tensors, None, 2, "auto", "")


# ---- adj_t ----


def test_layers_of_pyg_with_adj_t_compile_whole() -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    layers = [pyg.SAGEConv(WIDTH, 3), pyg.GCNConv(WIDTH, 3, normalize=False), pyg.GINConv(nn.Linear(WIDTH, 3))]
    for layer in [*layers, pyg.SAGEConv(WIDTH, 3, aggr="max")]:
        for inside in (False, True):
            torch._dynamo.reset()
            backend = Counted()

            def function(x: Tensor, a: Any, layer: nn.Module = layer, inside: bool = inside) -> Any:
                return layer(x, st.adj_t(a) if inside else a)

            compiled = torch.compile(function, fullgraph=True, backend=backend)
            for seed in range(4):
                x, a = given("cpu", "matrix", "", seed)
                graph = a if inside else st.adj_t(a)
                pairs = [(y, torch.autograd.grad(y.sin().sum(), x)[0]) for y in (f(x, graph) for f in (compiled, function))]
                assert all(error(found, expected) < 1e-5 for found, expected in zip(*pairs, strict=True))
            assert backend.count <= 2


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
