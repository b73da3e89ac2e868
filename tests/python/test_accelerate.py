"""Unchanged models of PyG and torch in a scope of `accelerate`."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric")

from conftest import run_python  # noqa: E402
from layers_of_pyg import EDGE_INDEX, LAYERS, NODES, WIDTH, features, results  # noqa: E402
from torch._dynamo.backends.debugging import aot_eager  # noqa: E402
from torch_geometric.nn import GCNConv, MessagePassing, SAGEConv  # noqa: E402

import sptile.torch as st  # noqa: E402
from sptile.errors import ArgumentTypeError  # noqa: E402
from sptile.torch.accelerate import graphs, matrices, products  # noqa: E402
from sptile.torch.accelerate import state as accelerate_state  # noqa: E402
from sptile.torch.accelerate.twins import TWINS  # noqa: E402

SUM, WEIGHTED, MEAN, WEIGHTED_MEAN = "spmm sum", "weighted spmm sum", "spmm mean", "weighted spmm mean"
# What our kernels compute in a layer once it has seen its edges; layers that are not listed gather all rows.
ROUTED = {
    **dict.fromkeys(
        (
            "AntiSymmetricConv APPNP ARMAConv ChebConv ClusterGCNConv FAConv GatedGraphConv GCN2Conv GCNConv GraphConv "
            "HGTConv HypergraphConv LGConv MixHopConv PDNConv SGConv SSGConv TAGConv WLConvContinuous"
        ).split(),
        {WEIGHTED},
    ),
    **dict.fromkeys("GINConv MFConv".split(), {SUM}),
    **dict.fromkeys("DirGNNConv GPSConv HeteroConv SAGEConv SignedConv".split(), {MEAN}),
    **{name: {f"st.nn.{name}"} for name in "GATConv GATv2Conv RGCNConv TransformerConv".split()},
    "HANConv": {"softmax", WEIGHTED},
    **dict.fromkeys("AGNNConv SuperGATConv".split(), {"sddmm", "softmax", WEIGHTED}),
    "EGConv": {SUM, MEAN, WEIGHTED},
    "PPFConv": {"sddmm"},
    "SimpleConv": {WEIGHTED_MEAN},
}
PATCHED = [
    (MessagePassing, "_check_input"),
    (MessagePassing, "_index_select"),
    (pyg.nn.aggr.Aggregation, "reduce"),
    (pyg.edge_index, "_spmm"),
    (pyg.nn.conv.gcn_conv, "gcn_norm"),
    (pyg.nn.conv.gat_conv, "softmax"),
    (pyg.nn.GATConv, "forward"),
    (torch.sparse, "mm"),
    (torch.Tensor, "__matmul__"),
]


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch):
    """Nothing is kept from other tests, and the first use of few edges does not run PyG's code as it is."""
    graphs.forget()
    products.forget()
    monkeypatch.setattr(graphs, "FEW", 0)


def test_few_edges_run_the_code_of_pyg_at_first(monkeypatch):
    monkeypatch.setattr(graphs, "FEW", EDGE_INDEX.shape[1] + 1)
    layer, arguments = made("SAGEConv")
    expected = results(layer, arguments)
    with st.accelerate() as scope:
        assert_same(results(layer, arguments), expected)
        assert scope.counts == {("SAGEConv", graphs.FIRST_USE): 1}
        assert_same(results(layer, arguments), expected)
        assert scope.counts["SAGEConv", MEAN] == 1


def made(name):
    torch.manual_seed(1)
    return LAYERS[name].make(), LAYERS[name].arguments()


def assert_same(ours, theirs):
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_the_same_outputs_and_gradients(name):
    layer, arguments = made(name)
    expected = results(layer, arguments)
    with st.accelerate() as scope:
        for _ in range(3):
            assert_same(results(layer, arguments), expected)
    did = {what for _, what in scope.counts} - {"gather", "first use of the edges"}
    assert did == ROUTED.get(name, set())


def test_the_page_lists_the_layers():
    page = (Path(__file__).resolve().parents[2] / "docs/guide/pyg.md").read_text()
    section = page.split("## Keep the model as it is")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "Conv`" in line]
    routed = {name for row in rows if "PyG's code" not in row for name in re.findall(r"`(\w+)`", row.split("|")[3])}
    left = {name for row in rows if "PyG's code" in row for name in re.findall(r"`(\w+)`", row.split("|")[3])}
    assert routed - {"sddmm"} == set(ROUTED)
    assert left == set(LAYERS) - set(ROUTED)


# ---- Layers that run as ours ----

ATTENTION = [name for name, twin in TWINS.items() if twin.eager]


class Backend:
    """A backend that counts our operators in what it compiles, and traces gradients, too."""

    def __init__(self):
        self.graphs = self.operators = 0

    def __call__(self, module, inputs):
        self.graphs += 1
        self.operators += sum("sptile" in str(node.target) for node in module.graph.nodes)
        return aot_eager(module, inputs)


@pytest.fixture
def backend():
    torch._dynamo.reset()
    yield Backend()
    torch._dynamo.reset()


@pytest.mark.parametrize("name", LAYERS)
def test_compiled_layers_give_the_same_outputs_and_gradients(name, backend):
    layer, arguments = made(name)
    expected = results(layer, arguments)
    compiled = torch.compile(layer, backend=backend, fullgraph=name in TWINS)
    with st.accelerate():
        assert_same(results(compiled, arguments), expected)
    assert bool(backend.operators) == (name in TWINS or name in INSIDE)


# Layers that call layers that run as ours.
INSIDE = "AntiSymmetricConv DirGNNConv GPSConv HeteroConv".split()


@pytest.mark.parametrize("name", TWINS)
def test_compiled_layers_of_a_model_run_as_ours(name, backend):
    layer, arguments = made(name)
    expected = results(layer, arguments)
    compiled = torch.compile(st.accelerate(layer), backend=backend, fullgraph=True)
    assert_same(results(compiled, arguments), expected)
    assert backend.operators > 0
    counted = backend.operators
    torch._dynamo.reset()
    assert_same(results(torch.compile(st.accelerate(layer, enabled=False), backend=backend), arguments), expected)
    assert backend.operators == counted and "forward" not in vars(layer)


def test_compiled_code_follows_the_scope(backend):
    layer, arguments = made("SAGEConv")
    expected = layer(*arguments)
    with st.accelerate():
        compiled = torch.compile(layer, backend=backend, fullgraph=True)
        torch.testing.assert_close(compiled(*arguments), expected)
        counted = backend.operators
        compiled(*arguments)
        assert backend.graphs == 1 and counted > 0
    torch.testing.assert_close(compiled(*arguments), expected)
    assert backend.graphs == 2 and backend.operators == counted


def test_fresh_edges_do_not_compile_again(backend):
    layer = st.accelerate(SAGEConv(WIDTH, 6))
    compiled = torch.compile(layer, backend=backend, fullgraph=True)
    for nodes in (NODES, 31, 23, 50):
        x, edges = torch.rand(nodes, WIDTH), torch.randint(0, nodes, (2, 5 * nodes))
        torch.testing.assert_close(compiled(x, edges), layer(x, edges))
    assert backend.graphs <= 2


def test_inductor_compiles_a_model_of_pyg():
    torch._dynamo.reset()
    torch.manual_seed(1)
    model = pyg.nn.GAT(WIDTH, 8, num_layers=2, out_channels=3, heads=2, v2=True)
    arguments = (features(), EDGE_INDEX)
    expected = results(model, arguments)
    with st.accelerate():
        assert_same(results(torch.compile(model), arguments), expected)
    torch._dynamo.reset()


@pytest.mark.parametrize("name", TWINS)
def test_types_under_autocast(name):
    layer, arguments = made(name)
    torch._dynamo.reset()
    compiled = torch.compile(layer, backend="eager")
    with torch.autocast("cpu", torch.bfloat16):
        expected = layer(*arguments)
        with st.accelerate():
            layer(*arguments)
            for found in (layer(*arguments), compiled(*arguments)):
                torch.testing.assert_close(found, expected, rtol=0.03, atol=0.03)
    torch._dynamo.reset()


class Reversed(pyg.nn.GATv2Conv):
    """A layer that computes something else."""

    def message(self, x_j, alpha):
        return -super().message(x_j, alpha)


def hooked():
    layer = pyg.nn.GATv2Conv(WIDTH, 6)
    layer.register_message_forward_hook(lambda module, inputs, output: 2 * output)
    return layer


def hooked_inside():
    layer = pyg.nn.TransformerConv(WIDTH, 6)
    layer.lin_value.register_forward_hook(lambda module, inputs, output: 2 * output)
    return layer


def written():
    layer = pyg.nn.GATConv(WIDTH, 6)
    layer.message = lambda x_j, alpha: alpha.unsqueeze(-1) * x_j * 3
    return layer


LEFT = {
    "a subclass": (lambda: Reversed(WIDTH, 6), ()),
    "a hook of messages": (hooked, ()),
    "a hook of a linear layer": (hooked_inside, ()),
    "a message of its own": (written, ()),
    "another flow": (lambda: pyg.nn.GATConv(WIDTH, 6, flow="target_to_source"), ()),
    "another aggregation": (lambda: pyg.nn.GATConv(WIDTH, 6, aggr="max"), ()),
    "features without weights": (lambda: pyg.nn.GATConv(WIDTH, 6), (torch.rand(EDGE_INDEX.shape[1], 3),)),
    "returned weights": (lambda: pyg.nn.TransformerConv(WIDTH, 6), (None, True)),
    "no features": (lambda: pyg.nn.GATv2Conv(-1, 6), ()),
}


@pytest.mark.parametrize("name", LEFT)
def test_layers_that_are_not_ours_run_the_code_of_pyg(name):
    make, more = LEFT[name]
    torch.manual_seed(1)
    layer, arguments = make(), (features(), EDGE_INDEX, *more)
    with st.accelerate() as scope:
        first = layer(*arguments)
        assert not any(what.startswith("st.nn") for _, what in scope.counts)
        layer(*arguments)
        second = layer(*arguments)
    expected = layer(*arguments)
    first, second, expected = (x[0] if isinstance(x, tuple) else x for x in (first, second, expected))
    torch.testing.assert_close(first, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(second, expected, rtol=1e-4, atol=1e-5)
    assert any(what.startswith("st.nn") for _, what in scope.counts) == (name == "no features")


@pytest.mark.parametrize("name", ATTENTION)
def test_attention_keeps_nothing_of_edges_times_features(name):
    torch.manual_seed(1)
    few, many = 10, 4000
    x, edges = torch.rand(few, 16, requires_grad=True), torch.randint(0, few, (2, many))
    relations = (torch.arange(many) % 3,) if name == "RGCNConv" else ()
    settings = {"num_relations": 3} if relations else {"heads": 2}
    layer = getattr(pyg.nn, name)(16, 16, **settings)
    sizes = []

    def keep(tensor):
        sizes.append(tensor.numel())
        return tensor

    with st.accelerate():
        layer(x, edges, *relations)
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            layer(x, edges, *relations).sum().backward()
    assert sizes and max(sizes) < 4 * many


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_weights_are_dropped_as_in_our_layers(name):
    torch.manual_seed(1)
    layer, ours = (getattr(kind, name)(WIDTH, 6, heads=2, dropout=0.5) for kind in (pyg.nn, st.nn))
    ours.load_state_dict(layer.state_dict())
    arguments = (features(), EDGE_INDEX)

    def run(layer):
        torch.manual_seed(7)
        return layer(*arguments)

    with st.accelerate() as scope:
        run(layer)
        torch.testing.assert_close(run(layer), run(ours), rtol=1e-4, atol=1e-5)
    assert scope.counts[name, f"st.nn.{name}"] == 1


@pytest.mark.parametrize("name", ["GATConv", "RGCNConv"])
def test_attention_between_two_sets_of_nodes(name):
    torch.manual_seed(1)
    edges = torch.stack([EDGE_INDEX[0], EDGE_INDEX[1] % 7])
    if name == "RGCNConv":
        layer, arguments = pyg.nn.RGCNConv((WIDTH, 5), 6, 3), ((features(), features(5)[:7]), edges, torch.arange(edges.shape[1]) % 3)
    else:
        layer, arguments = pyg.nn.GATConv((WIDTH, 5), 6, add_self_loops=False), ((features(), None), edges, None, (NODES, 7))
    expected = layer(*arguments)
    with st.accelerate() as scope:
        for _ in range(2):
            torch.testing.assert_close(layer(*arguments), expected, rtol=1e-4, atol=1e-5)
    assert scope.counts[name, f"st.nn.{name}"] == 1


def test_edge_features_of_a_transformer():
    torch.manual_seed(1)
    layer = pyg.nn.TransformerConv(WIDTH, 6, heads=2, edge_dim=3)
    arguments = (features(), EDGE_INDEX, torch.rand(EDGE_INDEX.shape[1], 3))
    expected = results(layer, arguments)
    with st.accelerate() as scope:
        for _ in range(2):
            assert_same(results(layer, arguments), expected)
    assert scope.counts["TransformerConv", "st.nn.TransformerConv"] == 1


def test_embeddings_of_relations():
    torch.manual_seed(1)
    layer = pyg.nn.RGCNConv(NODES, 6, 3, num_bases=2)
    arguments = (None, EDGE_INDEX, torch.arange(EDGE_INDEX.shape[1]) % 3)
    expected = layer(*arguments)
    with st.accelerate() as scope:
        for _ in range(2):
            torch.testing.assert_close(layer(*arguments), expected, rtol=1e-4, atol=1e-5)
    assert scope.counts["RGCNConv", "st.nn.RGCNConv"] == 1


# ---- Edges and settings ----


@pytest.mark.parametrize("reduce", ["add", "mean", "max", "min"])
@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
def test_reductions_and_flows(reduce, flow):
    torch.manual_seed(1)
    layer = SAGEConv(WIDTH, 6, aggr=reduce, flow=flow)
    expected = results(layer, (features(), EDGE_INDEX))
    with st.accelerate() as scope:
        for _ in range(2):
            assert_same(results(layer, (features(), EDGE_INDEX)), expected)
    assert scope.counts["SAGEConv", f"spmm {'sum' if reduce == 'add' else reduce}"] == 1


def test_a_pair_of_features_and_a_size():
    torch.manual_seed(1)
    layer = SAGEConv((WIDTH, 5), 6)
    edges = torch.stack([EDGE_INDEX[0], EDGE_INDEX[1] % 7])
    arguments = ((features(), features(5)[:7]), edges)
    expected = layer(*arguments)
    with st.accelerate() as scope:
        for _ in range(2):
            torch.testing.assert_close(layer(*arguments), expected)
    assert scope.counts["SAGEConv", MEAN] == 1


def test_large_products_are_routed_at_first(monkeypatch):
    monkeypatch.setattr(matrices, "PAYS_AT_ONCE", 1)
    layer, arguments = made("SAGEConv")
    with st.accelerate() as scope:
        layer(*arguments)
    assert scope.counts == {("SAGEConv", MEAN): 1}


def test_a_changed_edge_index_has_another_matrix():
    layer, _ = made("SAGEConv")
    x, edges = features(), EDGE_INDEX.clone()
    with st.accelerate() as scope:
        layer(x, edges), layer(x, edges)
        edges[0, :50] = 3
        ours = layer(x, edges), layer(x, edges)
    assert scope.counts["SAGEConv", MEAN] == 2
    for out in ours:
        torch.testing.assert_close(out, layer(x, edges))


def test_matrices_go_with_their_edges():
    layer, _ = made("SAGEConv")
    with st.accelerate():
        for _ in range(3):
            edges = EDGE_INDEX.clone()
            layer(features(), edges), layer(features(), edges)
        del edges
        layer(features(), EDGE_INDEX), layer(features(), EDGE_INDEX)
    assert len(graphs._matrices) == 2  # with the number of sources, and without


def test_weights_that_learn_keep_their_edges():
    layer = GCNConv(WIDTH, 6)
    with st.accelerate() as scope:
        for _ in range(3):
            weight = torch.rand(EDGE_INDEX.shape[1], requires_grad=True)
            layer(features(), EDGE_INDEX, weight).sum().backward()
            assert weight.grad is not None
    assert scope.counts["GCNConv", WEIGHTED] == 2


def test_a_written_norm_is_made_again():
    layer, norm = GCNConv(WIDTH, 6), pyg.nn.conv.gcn_conv
    with st.accelerate():
        edges, weight = norm.gcn_norm(EDGE_INDEX, None, NODES)
        assert norm.gcn_norm(EDGE_INDEX, None, NODES)[0] is edges
        weight.zero_()
        expected = layer(features(), EDGE_INDEX)
    torch.testing.assert_close(expected, layer(features(), EDGE_INDEX))


def test_ids_out_of_range_are_reported_as_by_pyg():
    layer, edges = SAGEConv(WIDTH, 6), EDGE_INDEX.clone()
    edges[0, 3] = NODES
    with st.accelerate():
        for _ in range(2):
            with pytest.raises(IndexError, match=f"to {NODES}, but there are features of {NODES} nodes"):
                layer(features(), edges)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_types(dtype):
    layer, x = SAGEConv(WIDTH, 6).to(dtype), features().to(dtype)
    expected = layer(x, EDGE_INDEX)
    with st.accelerate():
        for _ in range(2):
            torch.testing.assert_close(layer(x, EDGE_INDEX), expected)


def test_inference_mode():
    layer, arguments = made("GCNConv")
    with torch.inference_mode():
        expected = layer(*arguments)
        with st.accelerate():
            for _ in range(2):
                torch.testing.assert_close(layer(*arguments), expected)


def test_edge_index_of_pyg():
    layer = SAGEConv(WIDTH, 6)
    order = (EDGE_INDEX[1] * NODES + EDGE_INDEX[0]).argsort()
    edges = pyg.EdgeIndex(EDGE_INDEX[:, order], sparse_size=(NODES, NODES), sort_order="col")
    expected = layer(features(), edges)
    with st.accelerate() as scope:
        for _ in range(3):
            torch.testing.assert_close(layer(features(), edges), expected)
    assert scope.counts["EdgeIndex", MEAN] + scope.counts["SAGEConv", MEAN] >= 2


def test_a_layer_of_the_user():
    class Scaled(MessagePassing):
        def forward(self, x, edge_index, weight):
            return self.propagate(edge_index, x=x, weight=weight)

        def message(self, x_j, weight):
            return torch.tanh(x_j * weight.view(-1, 1)) if x_j.shape[1] > 4 else weight[:, None] * x_j

    layer, weight = Scaled(), torch.rand(EDGE_INDEX.shape[1])
    for width in (3, 6):
        x = features(width)
        expected = layer(x, EDGE_INDEX, weight)
        with st.accelerate() as scope:
            for _ in range(2):
                torch.testing.assert_close(layer(x, EDGE_INDEX, weight), expected)
        assert bool(scope.counts["Scaled", WEIGHTED]) == (width == 3)


# ---- Products of torch ----


def sparse(layout):
    torch.manual_seed(3)
    dense = torch.rand(30, 20) * (torch.rand(30, 20) > 0.7)
    return dense.to_sparse_csr() if layout == torch.sparse_csr else dense.to_sparse_coo()


PRODUCTS = {
    "@": lambda a, x: a @ x,
    "torch.mm": lambda a, x: torch.mm(a, x),
    "torch.sparse.mm": lambda a, x: torch.sparse.mm(a, x),
    "Tensor.matmul": lambda a, x: a.matmul(x),
    "addmm": lambda a, x: torch.addmm(torch.ones(30, x.shape[1]), a, x, beta=0.5, alpha=2),
}


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
def test_products_of_sparse_tensors(product, layout):
    a, x = sparse(layout), torch.rand(20, 5, requires_grad=True)
    expected = PRODUCTS[product](a, x)
    (gradient,) = torch.autograd.grad(expected.square().sum(), x)
    with st.accelerate() as scope:
        for _ in range(3):
            out = PRODUCTS[product](a, x)
            torch.testing.assert_close(out, expected)
            torch.testing.assert_close(torch.autograd.grad(out.square().sum(), x)[0], gradient)
    assert scope.counts["torch", "spmm"] == 2


def test_values_of_a_sparse_tensor_learn():
    x = torch.rand(20, 5)
    a = sparse(torch.sparse_csr).requires_grad_()
    (expected,) = torch.autograd.grad((a @ x).square().sum(), a)
    with st.accelerate():
        for _ in range(3):
            (ours,) = torch.autograd.grad((a @ x).square().sum(), a)
            torch.testing.assert_close(ours.to_dense() * (a.detach().to_dense() != 0), expected.to_dense() * (a.detach().to_dense() != 0))


def test_changed_values_are_seen():
    a, x = sparse(torch.sparse_csr), torch.rand(20, 5)
    with st.accelerate():
        a @ x, a @ x
        a.values().mul_(2)
        ours = a @ x, a @ x
    for out in ours:
        torch.testing.assert_close(out, a @ x)


def test_sampled_addmm():
    a, x, y = sparse(torch.sparse_csr), torch.rand(30, 6), torch.rand(6, 20)
    expected = torch.sparse.sampled_addmm(a, x, y, beta=0.5, alpha=2)
    with st.accelerate() as scope:
        for _ in range(2):
            ours = torch.sparse.sampled_addmm(a, x, y, beta=0.5, alpha=2)
            torch.testing.assert_close(ours.to_dense(), expected.to_dense())
    assert scope.counts["torch", "sddmm"] == 1


def test_other_operands_are_left_to_torch():
    a = sparse(torch.sparse_csr)
    with st.accelerate() as scope:
        torch.testing.assert_close(torch.eye(3) @ torch.ones(3, 2), torch.ones(3, 2))
        with pytest.raises(RuntimeError):
            a @ torch.ones(7, 2)
        with pytest.raises(RuntimeError):
            a @ torch.ones(20, 2, dtype=torch.float64)
    assert not scope.counts


# ---- Scopes ----


def test_a_scope_leaves_no_trace():
    before = [getattr(owner, name) for owner, name in PATCHED]
    with pytest.raises(ZeroDivisionError), st.accelerate():
        assert [getattr(owner, name) for owner, name in PATCHED] != before
        with st.accelerate():
            pass
        assert [getattr(owner, name) for owner, name in PATCHED] != before
        1 / 0  # noqa: B018
    assert [getattr(owner, name) for owner, name in PATCHED] == before
    assert "__matmul__" not in vars(torch.Tensor)


COMPILED_IN_A_SCOPE = """
import gc, sys, weakref
import torch
import sptile.torch as st
from sptile.torch.accelerate import scope

{first}
A = torch.eye(3).to_sparse_csr()
x = torch.ones(3, 2)
with st.accelerate():
    replaced = [weakref.ref(patch.replacement) for patch in scope._found[0].patches]
    compiled = torch.compile(lambda x: torch.mm(x.t(), x) + x.t().matmul(x), backend="aot_eager")
    assert compiled(x).tolist() == [[6, 6], [6, 6]]
    replaced += [weakref.ref(patch.replacement) for patch in scope._found[0].patches]
    assert torch.equal(A @ x, x) and torch.mm is not original

assert torch.mm is original and "torch._dynamo" in sys.modules
matrix = st.SparseMatrix.from_torch(A)
compiled = torch.compile(lambda x: torch.matmul(matrix, x) + torch.mm(matrix, x), backend="aot_eager", fullgraph=True)
assert torch.equal(compiled(x), 2 * x)
torch._dynamo.reset()
scope._found = scope.Patches(()), 0
gc.collect()
assert not [function() for function in replaced if function() is not None]
"""


@pytest.mark.parametrize("first", ["original = torch.mm", "import torch._dynamo; original = torch.mm"])
def test_what_is_compiled_in_a_scope_leaves_no_trace(first):
    """torch and its compiler list their functions when they are first needed, here in a scope."""
    run = run_python(COMPILED_IN_A_SCOPE.format(first=first))
    assert run.returncode == 0, run.stderr


def test_other_threads_are_not_in_the_scope():
    layer, arguments = made("SAGEConv")
    seen = []
    with st.accelerate() as scope:
        layer(*arguments), layer(*arguments)
        count = scope.counts.total()
        thread = threading.Thread(target=lambda: seen.append(layer(*arguments)))
        thread.start()
        thread.join()
        assert scope.counts.total() == count
    torch.testing.assert_close(seen[0], layer(*arguments))


def test_a_decorator_and_its_table():
    layer, arguments = made("SAGEConv")

    scope = st.accelerate()

    @scope
    def run():
        return layer(*arguments)

    run(), run()
    assert "first use of the edges" in scope.table()
    assert scope.counts["SAGEConv", MEAN] == 1


def test_a_model():
    layer, arguments = made("SAGEConv")
    expected = layer(*arguments)
    hooks = len(layer._forward_hooks), len(layer._forward_pre_hooks)
    assert st.accelerate(st.accelerate(layer)) is layer
    layer(*arguments)
    found = len(graphs._matrices)
    torch.testing.assert_close(layer(*arguments), expected)
    assert len(graphs._matrices) > found
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        torch.testing.assert_close(other(*arguments), expected)
    assert st.accelerate(layer, enabled=False) is layer
    assert (len(layer._forward_hooks), len(layer._forward_pre_hooks)) == hooks


def test_a_model_that_fails_leaves_its_scope():
    layer = st.accelerate(SAGEConv(WIDTH, 6))
    with pytest.raises((RuntimeError, ValueError)):
        layer(features(3), EDGE_INDEX)
    assert accelerate_state.current.scope is None and "__matmul__" not in vars(torch.Tensor)


def test_only_modules_are_models():
    with pytest.raises(ArgumentTypeError, match="model must be a torch.nn.Module, got int"):
        st.accelerate(3)
