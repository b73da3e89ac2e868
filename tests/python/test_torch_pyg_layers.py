"""Layers against those of PyG: results, all gradients and states, by a table."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch_problems import error, graph, on_devices  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile.torch import pieces  # noqa: E402

try:
    import torch_geometric.nn as pyg
except ImportError:
    pyg = None

needs_pyg = pytest.mark.skipif(pyg is None, reason="needs torch_geometric")
NODES, TARGETS, RELATIONS = 13, 7, 4


def multigraph() -> Tensor:
    """Edges of 13 nodes, of which 11 and 12 have none. Edges between nodes are repeated, loops are not: of the gradient
    of repeated weighted loops, PyG gives each a copy."""
    edges = torch.randint(0, 11, (2, 200), generator=torch.Generator().manual_seed(4))
    edges = edges[:, edges[0] != edges[1]][:, :145]
    return torch.cat([edges, torch.tensor([[0, 3, 5, 6, 9]]).expand(2, -1)], 1)


MULTIGRAPH = multigraph()
BIPARTITE = MULTIGRAPH % torch.tensor([[NODES], [TARGETS]])
NO_LOOPS = MULTIGRAPH[:, MULTIGRAPH[0] != MULTIGRAPH[1]]


class Layer(NamedTuple):
    """Arguments of a layer by the widths of operand and result, and what a call takes."""

    kind: str
    arguments: Callable[[int, int], tuple[Any, ...]]
    options: dict[str, Any] = {}
    edges: str = ""  # "weights", "types", "features" of width 3, "wide features", or none
    call: dict[str, Any] = {}
    batches: bool = True
    pairs: bool = False


def widths(n: int, m: int) -> tuple[int, int]:
    return n, m


def relations(n: int, m: int) -> tuple[int, ...]:
    return n, m, RELATIONS


def modules(n: int, m: int) -> tuple[nn.Module]:
    return (nn.Sequential(nn.Linear(n, m), nn.ReLU(), nn.Linear(m, m)),)


DEGREES = torch.tensor([2, 1, 0, 3, 4])
SOME, SCALED = ["mean", "max", "std"], ["identity", "amplification"]
EVERY = ["sum", "mean", "min", "max", "var", "std"]
ALL_SCALERS = ["identity", "amplification", "attenuation", "linear", "inverse_linear"]


def principal(aggregators: list[str], scalers: list[str]) -> Callable[[int, int], tuple[Any, ...]]:
    return lambda n, m: (n, m, aggregators, scalers, DEGREES)


BATCH = torch.arange(NODES) % 2
TABLE: dict[str, Layer] = {
    "graph": Layer("GraphConv", widths, edges="weights", pairs=True),
    "graph, mean": Layer("GraphConv", widths, {"aggr": "mean", "bias": False}, "weights", pairs=True),
    "graph, mean without weights": Layer("GraphConv", widths, {"aggr": "mean"}, pairs=True),
    "graph, max": Layer("GraphConv", widths, {"aggr": "max"}, "weights", pairs=True),
    "graph, min without weights": Layer("GraphConv", widths, {"aggr": "min"}, pairs=True),
    "lg": Layer("LGConv", lambda n, m: (), edges="weights"),
    "lg as it is": Layer("LGConv", lambda n, m: (False,)),
    "appnp": Layer("APPNP", lambda n, m: (3, 0.2), edges="weights"),
    "appnp, cached": Layer("APPNP", lambda n, m: (2, 0.1), {"cached": True, "add_self_loops": False}),
    "appnp as it is": Layer("APPNP", lambda n, m: (2, 0.5), {"normalize": False}, "weights"),
    "sg": Layer("SGConv", widths, {"K": 2}, "weights"),
    "sg without loops": Layer("SGConv", widths, {"K": 3, "add_self_loops": False, "bias": False}),
    "sg, cached": Layer("SGConv", widths, {"cached": True}),
    "tag": Layer("TAGConv", widths, {}, "weights"),
    "tag as it is": Layer("TAGConv", widths, {"K": 1, "normalize": False, "bias": False}),
    "tag without steps": Layer("TAGConv", widths, {"K": 0}),
    "cheb": Layer("ChebConv", widths, {"K": 4}, "weights"),
    "cheb, one": Layer("ChebConv", widths, {"K": 1}),
    "cheb, two": Layer("ChebConv", widths, {"K": 2, "bias": False}),
    "cheb, random walk": Layer("ChebConv", widths, {"K": 3, "normalization": "rw"}, "weights"),
    "cheb, no normalization": Layer("ChebConv", widths, {"K": 3, "normalization": None}, "weights"),
    "cheb, number": Layer("ChebConv", widths, {"K": 3}, call={"lambda_max": 3.0}),
    "cheb, numbers of graphs": Layer(
        "ChebConv", widths, {"K": 3}, "weights", {"batch": BATCH, "lambda_max": torch.tensor([2.0, 1.5]).double()}
    ),
    "arma": Layer("ARMAConv", widths, {}, "weights"),
    "arma, stacks": Layer("ARMAConv", widths, {"num_stacks": 3, "num_layers": 3, "act": None}, "weights"),
    "arma, shared": Layer(
        "ARMAConv", widths, {"num_stacks": 2, "num_layers": 2, "shared_weights": True, "act": torch.tanh, "bias": False}
    ),
    "cluster": Layer("ClusterGCNConv", widths, {"diag_lambda": 0.3}),
    "cluster, plain": Layer("ClusterGCNConv", widths, {"bias": False}),
    "rgcn": Layer("RGCNConv", relations, {}, "types", batches=False, pairs=True),
    "rgcn, sums": Layer("RGCNConv", relations, {"aggr": "add", "bias": False}, "types", batches=False, pairs=True),
    "rgcn, maxima": Layer("RGCNConv", relations, {"aggr": "max", "num_bases": 2}, "types", batches=False, pairs=True),
    "rgcn, minima": Layer("RGCNConv", relations, {"aggr": "min", "num_blocks": 2}, "types", batches=False, pairs=True),
    "rgcn, bases": Layer("RGCNConv", relations, {"num_bases": 3}, "types", batches=False, pairs=True),
    "rgcn, blocks": Layer("RGCNConv", relations, {"num_blocks": 2}, "types", batches=False, pairs=True),
    "gine": Layer("GINEConv", modules, {"train_eps": True, "eps": 0.3}, "wide features", pairs=True),
    "gine, transformed": Layer("GINEConv", modules, {"edge_dim": 3}, "features", pairs=True),
    "pna": Layer("PNAConv", principal(EVERY, ALL_SCALERS), {"train_norm": True}, batches=False),
    "pna, towers": Layer("PNAConv", principal(EVERY, SCALED), {"towers": 2, "post_layers": 2}, batches=False),
    "pna, parts": Layer("PNAConv", principal(SOME, ALL_SCALERS), {"towers": 4, "divide_input": True}, batches=False),
    "pna, deep": Layer(
        "PNAConv",
        principal(EVERY, SCALED),
        {"pre_layers": 3, "act": "leaky_relu", "act_kwargs": {"negative_slope": 0.3}, "towers": 2},
        batches=False,
    ),
    "pna, features": Layer(
        "PNAConv", principal(EVERY, SCALED), {"edge_dim": 3, "towers": 2}, "features", batches=False
    ),
    "pna, one": Layer("PNAConv", principal(["std"], ["linear"]), {"edge_dim": 3}, "features", batches=False),
    "pna, maxima": Layer("PNAConv", principal(["max"], ["identity"]), {"edge_dim": 3}, "features", batches=False),
    "pna, deep, features": Layer(
        "PNAConv",
        principal(EVERY, ALL_SCALERS),
        {"edge_dim": 3, "towers": 4, "divide_input": True, "pre_layers": 2, "act": nn.Tanh()},
        "features",
        batches=False,
    ),
    "rgcn without root": Layer("RGCNConv", relations, {"root_weight": False}, "types", batches=False),
}
of_table = pytest.mark.parametrize("name", TABLE)
WIDTHS = [(8, 4), (4, 8)]


def both(name: str, n: int, m: int, device: str = "cpu") -> tuple[nn.Module, nn.Module]:
    """Ours and PyG's in float64, with the same parameters."""
    torch.manual_seed(0)
    layer = TABLE[name]
    theirs, ours = (getattr(kind, layer.kind)(*layer.arguments(n, m), **layer.options).double() for kind in (pyg, st.nn))
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    assert str(ours.load_state_dict(theirs.state_dict())) == "<All keys matched successfully>"
    return ours.to(device), theirs.to(device)


def of_edges(name: str, edges: Tensor, width: int = 8) -> tuple[Tensor, ...]:
    torch.manual_seed(2)
    if "features" in TABLE[name].edges:
        width = 3 if TABLE[name].edges == "features" else width
        return (torch.randn(edges.shape[1], width, dtype=torch.float64).to(edges.device).requires_grad_(),)
    if TABLE[name].edges == "weights":
        return ((torch.rand(edges.shape[1], dtype=torch.float64) + 0.5).to(edges.device).requires_grad_(),)
    return (torch.randint(0, RELATIONS, edges.shape[1:]).to(edges.device),) if TABLE[name].edges == "types" else ()


def gradients(out: Tensor, of: list[Tensor]) -> list[Tensor]:
    g = torch.linspace(-1, 1, out.numel(), dtype=out.dtype, device=out.device).view(out.shape)
    found = torch.autograd.grad(out, of, g, allow_unused=True)
    return [torch.zeros_like(x) if one is None else one for one, x in zip(found, of, strict=True)]


def compare(name: str, layers: tuple[nn.Module, nn.Module], x: Any, edges: Tensor, as_matrix: bool = False) -> None:
    """Results and all gradients: of features, of edge weights, of parameters."""
    results = []
    is_pair = isinstance(x, tuple)
    for layer in layers:
        own = [one.detach().clone().requires_grad_() for one in (x if is_pair else (x,)) if one is not None]
        more = of_edges(name, edges, own[0].shape[-1])
        options = {
            key: value.to(edges.device) if isinstance(value, Tensor) else value for key, value in TABLE[name].call.items()
        }
        given = ((*own, None)[:2] if is_pair else own[0],)
        size = (own[0].shape[-2], own[1].shape[-2] if len(own) > 1 else TARGETS)
        if layer is layers[0] and as_matrix:
            weights = more[0] if TABLE[name].edges == "weights" else None
            rows = size[1] if is_pair else size[0]
            a = st.SparseMatrix._of_entries(edges[1], edges[0], weights, (rows, size[0]))
            out = layer(*given, a, *more[TABLE[name].edges == "weights" :], **options)
        else:
            if is_pair and len(own) == 1:
                options["size"] = size
            out = layer(*given, edges, *more, **options)
        learned = [*own, *(one for one in more if one.requires_grad)]
        learned += [parameter for _name, parameter in sorted(layer.named_parameters())]
        results.append([out.detach(), *gradients(out, learned)])
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape
        # PyG's degrees of ClusterGCNConv are float32.
        tolerance = 1e-6 if TABLE[name].kind == "ClusterGCNConv" else 1e-11
        largest = max(1.0, float(other.nan_to_num().abs().max())) if other.numel() > 0 else 1.0
        assert torch.allclose(one, other, rtol=0, atol=tolerance * largest, equal_nan=True)


@needs_pyg
@on_devices
@pytest.mark.parametrize(("n", "m"), WIDTHS)
@of_table
def test_a_state_of_pyg_gives_its_results_and_gradients(device: str, name: str, n: int, m: int) -> None:
    layers = both(name, n, m, device)
    x = torch.randn(NODES, n, dtype=torch.float64, device=device)
    for edges in (MULTIGRAPH, graph(NODES, 60), MULTIGRAPH[:, :0]):
        fresh = both(name, n, m, device) if "cached" in name else layers
        compare(name, fresh, x, edges.to(device))
        fresh = both(name, n, m, device) if "cached" in name else layers
        compare(name, fresh, x, edges.to(device), as_matrix=True)
    ours, theirs = layers
    assert str(theirs.load_state_dict(ours.state_dict())) == "<All keys matched successfully>"
    assert ours.state_dict().keys() == theirs.state_dict().keys()


@needs_pyg
@pytest.mark.parametrize("shape", [(4, NODES, 8), (2, 3, NODES, 8), (NODES, NODES, 8)], ids=str)
@pytest.mark.parametrize("name", [name for name, layer in TABLE.items() if layer.batches])
def test_batches_of_features(name: str, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, dtype=torch.float64)
    compare(name, both(name, 8, 4), x, MULTIGRAPH)
    ours = both(name, 8, 4)[0]
    call = lambda x: ours(x, MULTIGRAPH, *of_edges(name, MULTIGRAPH), **TABLE[name].call)  # noqa: E731
    if "cached" not in name:
        assert error(call(x).flatten(0, -3), torch.stack([call(one) for one in x.flatten(0, -3)])) < 1e-13


@needs_pyg
@pytest.mark.parametrize("as_matrix", [False, True])
@pytest.mark.parametrize("edges", [BIPARTITE, BIPARTITE[:, :0]], ids=["edges", "none"])
@pytest.mark.parametrize("name", [name for name, layer in TABLE.items() if layer.pairs])
def test_pairs_of_node_sets(name: str, edges: Tensor, as_matrix: bool) -> None:
    source, target = (torch.randn(n, 8, dtype=torch.float64) for n in (NODES, TARGETS))
    compare(name, both(name, 8, 4), (source, target), edges, as_matrix)
    if TABLE[name].kind != "RGCNConv":  # needs the targets
        compare(name, both(name, 8, 4), (source, None), edges, as_matrix)
    if TABLE[name].kind not in ("RGCNConv", "GINEConv"):  # one width
        layer, wide = TABLE[name], torch.randn(TARGETS, 6, dtype=torch.float64)
        pair = [getattr(kind, layer.kind)((8, 6), 4, **layer.options).double() for kind in (st.nn, pyg)]
        pair[0].load_state_dict(pair[1].state_dict())
        compare(name, (pair[0], pair[1]), (source, wide), edges, as_matrix)


# ---- Embeddings ----


@needs_pyg
@pytest.mark.parametrize("named", [{}, {"num_bases": 2}, {"aggr": "add", "root_weight": False}, {"aggr": "max"}], ids=str)
@pytest.mark.parametrize("given", ["none", "ids", "pair of ids", "none and ids"])
def test_ids_are_embeddings(given: str, named: dict[str, Any]) -> None:
    torch.manual_seed(0)
    theirs, ours = (kind.RGCNConv(NODES, 4, RELATIONS, **named).double() for kind in (pyg, st.nn))
    ours.load_state_dict(theirs.state_dict())
    ids, targets = torch.randperm(NODES), torch.tensor([3, 1, 1, 0, 12, 5, 6])
    x = {"none": None, "ids": ids, "pair of ids": (ids, targets), "none and ids": (None, targets)}[given]
    edges = BIPARTITE if "and" in given or "pair" in given else MULTIGRAPH
    types = torch.arange(edges.shape[1]) % RELATIONS
    results = []
    for layer in (ours, theirs):
        out = layer(x, edges, types)
        results.append([out, *gradients(out, [p for _name, p in sorted(layer.named_parameters())])])
    for one, other in zip(*results, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-12)


def test_relations_are_seen_to_change() -> None:
    torch.manual_seed(0)
    layer, x = st.nn.RGCNConv(8, 4, RELATIONS), torch.randn(NODES, 8)
    types = torch.arange(150) % RELATIONS
    a = st.SparseMatrix.from_edge_index(MULTIGRAPH, num_nodes=NODES)
    for graph_ in (MULTIGRAPH, a):
        first = layer(x, graph_, types)
        assert torch.equal(layer(x, graph_, types.clone()), first) and torch.equal(layer(x, graph_, types.int()), first)
        changed = types.clone()
        changed.numpy()[:40] = 0
        second = layer(x, graph_, changed)
        assert not torch.allclose(first, second) and torch.equal(layer(x, MULTIGRAPH.clone(), changed), second)
        assert torch.equal(st.nn.RGCNConv.forward(layer, x, graph_, types), first)
    assert "relations" in a._derived and a._derived["relations"].types is not types


# ---- Caches, dropout, sizes ----


@pytest.mark.parametrize("kind", ["SGConv", "APPNP"])
def test_caches_end_with_new_parameters_and_devices(kind: str) -> None:
    layer: Any = st.nn.SGConv(8, 4, cached=True) if kind == "SGConv" else st.nn.APPNP(2, 0.1, cached=True)
    x, other = torch.randn(NODES, 8), torch.randn(NODES, 8)
    first = layer(x, MULTIGRAPH)
    kept = layer(other, NO_LOOPS)
    assert torch.equal(kept, first) == (kind == "SGConv")
    assert torch.equal(kept, layer(other, MULTIGRAPH))
    for end in (layer.double, layer.reset_parameters):
        layer(x.to(torch.float64 if end == layer.reset_parameters else torch.float32), MULTIGRAPH)
        end()
        assert layer._cache is None


def test_dropout_of_steps_is_of_training_alone() -> None:
    torch.manual_seed(0)
    x = torch.ones(4000, 2)
    ring = torch.stack([torch.arange(4000), torch.arange(4000).roll(1)])
    for given in (ring, st.SparseMatrix.from_edge_index(ring, num_nodes=4000)):
        for normalize in (True, False):
            layer = st.nn.APPNP(1, 0.0, dropout=0.25, normalize=normalize, add_self_loops=False)
            out = layer(x, given)
            kept = (out[:, 0] != 0).double().mean()
            assert 0.7 < kept < 0.8 and torch.allclose(out[out != 0], torch.tensor(1 / 0.75))
            batch = layer(torch.ones(3, 2, 4000, 5), given)
            assert batch.shape == (3, 2, 4000, 5) and 0.7 < (batch[0, 0, :, 0] != 0).double().mean() < 0.8
            layer.eval()
            assert torch.allclose(layer(x, given), x)
    arma = st.nn.ARMAConv(2, 2, dropout=0.5)
    assert not torch.equal(arma(x, ring), arma(x, ring))
    arma.eval()
    assert torch.equal(arma(x, ring), arma(x, ring))


LAZY: dict[str, Callable[[Any], Any]] = {
    "graph": lambda kind: kind.GraphConv(-1, 4),
    "graph, pair": lambda kind: kind.GraphConv((-1, -1), 4),
    "sg": lambda kind: kind.SGConv(-1, 4),
    "tag": lambda kind: kind.TAGConv(-1, 4),
    "cheb": lambda kind: kind.ChebConv(-1, 4, K=3),
    "arma": lambda kind: kind.ARMAConv(-1, 4, num_stacks=2, num_layers=2),
    "arma, shared": lambda kind: kind.ARMAConv(-1, 4, num_layers=2, shared_weights=True),
    "cluster": lambda kind: kind.ClusterGCNConv(-1, 4),
}


@pytest.mark.parametrize("name", LAZY)
def test_widths_of_the_first_call(name: str) -> None:
    torch.manual_seed(0)
    edges, x = graph(NODES, 60), torch.randn(NODES, 8)
    layer = LAZY[name](st.nn)
    before = copy.deepcopy(layer)
    layer.reset_parameters()
    with torch.inference_mode():
        out = layer(x, edges)
    assert out.shape == (NODES, 4) and out.std() > 0
    layer(x, edges).sum().backward()
    assert all(p.grad is None or p.grad.shape == p.shape for p in layer.parameters())
    for assign in (False, True):
        loaded = copy.deepcopy(before)
        loaded.load_state_dict(layer.state_dict(), assign=assign)
        assert torch.equal(loaded(x, edges), layer(x, edges))
    loaded.load_state_dict(before.state_dict())  # lazy again
    assert loaded(torch.randn(NODES, 5), edges).shape == (NODES, 4)
    again = pickle.loads(pickle.dumps(before)).double()
    assert again(x.double(), edges).dtype == torch.float64
    if pyg is not None and name.startswith(("graph", "sg", "cluster")):  # PyG's others fail in state_dict or forward
        theirs = LAZY[name](pyg)
        before.load_state_dict(theirs.state_dict())
        theirs(x, edges)
        before.load_state_dict(theirs.state_dict())
        assert error(before(x, edges), theirs(x, edges)) < 1e-5


def test_the_width_of_edge_features_is_that_of_the_first_call() -> None:
    torch.manual_seed(0)
    x, features = torch.randn(NODES, 8), torch.randn(MULTIGRAPH.shape[1], 3)
    layer = st.nn.GINEConv(nn.Linear(8, 4), edge_dim=-1)
    before = copy.deepcopy(layer)
    out = layer(x, MULTIGRAPH, features)
    assert layer.lin is not None and layer.lin.weight.shape == (8, 3)
    before.load_state_dict(layer.state_dict())
    assert torch.equal(before(x, MULTIGRAPH, features), out)


# ---- Messages in pieces ----

PIECES = ["gine", "gine, transformed", "pna, deep", "pna, features", "pna, deep, features"]


@on_devices
@pytest.mark.parametrize("elements", [1, 100, 1000])
@pytest.mark.parametrize("name", PIECES)
def test_pieces_give_the_same(device: str, name: str, elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = both(name, 8, 4, device)[0]
    edges = MULTIGRAPH.to(device)
    x = torch.randn(NODES, 8, dtype=torch.float64, device=device, requires_grad=True)
    more = of_edges(name, edges)

    def results() -> list[Tensor]:
        a = st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
        out = layer(x, a, *more)
        return [out, *gradients(out, [x, *more, *layer.parameters()])]

    expected = results()
    monkeypatch.setitem(pieces._ELEMENTS, device, elements)
    found, again = results(), results()
    for one, other, third in zip(found, expected, again, strict=True):
        assert torch.allclose(one, other, rtol=1e-11, atol=1e-11) and torch.equal(one, third)


class Largest(TorchDispatchMode):
    """The most elements of a result of an operation."""

    elements = 0

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        out = function(*arguments, **(keywords or {}))
        for x in out if isinstance(out, tuple | list) else (out,):
            if isinstance(x, Tensor):
                self.elements = max(self.elements, x.numel())
        return out


@on_devices
@pytest.mark.parametrize("name", [*PIECES, "pna"])
def test_messages_are_neither_kept_nor_written_at_once(device: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    monkeypatch.setitem(pieces._ELEMENTS, device, 4096)
    layer = both(name, 8, 4, device)[0].float()
    edges = torch.randint(0, NODES, (2, 10_000), device=device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
    x = torch.randn(NODES, 8, device=device, requires_grad=True)
    more = tuple(one.detach().float() for one in of_edges(name, edges))
    layer(x, a, *more).sum().backward()  # makes the pieces
    kept: list[Tensor] = []
    with Largest() as largest, torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x) or x, lambda x: x):
        layer(x, a, *more).sum().backward()
    given = [one.data_ptr() for one in more]
    assert all(one.numel() < 10_000 or one.data_ptr() in given for one in kept)
    assert largest.elements <= 2 * 4096


@on_devices
@pytest.mark.parametrize("name", ["pna, features", "pna, maxima"])
def test_pieces_find_nan_and_the_extremes_of_long_rows(
    device: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row in several pieces, with the largest message and NaN in any of them."""
    monkeypatch.setitem(pieces._ELEMENTS, device, 8 * 8)
    edges = torch.stack([torch.arange(NODES).repeat(8), torch.arange(2).repeat_interleave(4 * NODES)])
    a = st.SparseMatrix.from_edge_index(edges.to(device), num_nodes=NODES)
    x, values = torch.zeros(NODES, 1, device=device), torch.randn(edges.shape[1], 1, dtype=torch.float64)
    call = lambda y: pieces.reduce_messages(  # noqa: E731
        a, lambda _i, j, e, _p: j + e, 1, ["max", "min"], None, x.double(), y.to(device)
    )
    for place in (0, 51, 52, 103):
        for special in (100.0, -100.0, torch.nan, torch.inf):
            changed = values.clone()
            changed[place] = special
            found = call(changed)
            for name_, reduce in (("max", torch.amax), ("min", torch.amin)):
                expected = reduce(changed.view(2, -1), 1)
                assert torch.equal(found[name_][:2, 0].cpu().nan_to_num(7), expected.nan_to_num(7))
                assert not found[name_][2:].any()


@on_devices
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("name", [*PIECES, "pna"])
def test_layers_of_pieces_in_16_bits(device: str, name: str, autocast: bool) -> None:
    layer = both(name, 8, 4, device)[0].float()
    edges = MULTIGRAPH.to(device)
    x = torch.randn(NODES, 8, device=device)
    more = tuple(one.detach().float() for one in of_edges(name, edges))
    expected = layer(x, edges, *more)
    if autocast:
        with torch.autocast(device, torch.bfloat16):
            found = layer(x, edges, *more)
    else:
        found = copy.deepcopy(layer).bfloat16()(x.bfloat16(), edges, *(one.bfloat16() for one in more))
    assert found.dtype == torch.bfloat16 and error(found.float(), expected) < 0.05


def test_random_activations_keep_messages() -> None:
    """Computed again, they would be others."""

    def results(step: Tensor | float) -> tuple[Tensor, Tensor]:
        torch.manual_seed(0)
        layer = st.nn.PNAConv(8, 4, ["sum"], ["identity"], DEGREES, pre_layers=2, act="rrelu").double()
        x = (torch.randn(NODES, 8, dtype=torch.float64) + step).requires_grad_()
        out = layer(x, MULTIGRAPH).sum()
        return out.detach(), torch.autograd.grad(out, x)[0]

    out, gradient = results(0.0)
    step = 1e-6 * gradient / gradient.norm()
    assert float(results(step)[0] - out) == pytest.approx(float((gradient * step).sum()), rel=1e-3)


def test_histograms_of_degrees_are_those_of_pyg() -> None:
    graphs = [SimpleNamespace(edge_index=edges, num_nodes=NODES) for edges in (MULTIGRAPH, NO_LOOPS[:, :9])]
    found = st.nn.PNAConv.get_degree_histogram(graphs)
    assert found.sum() == 2 * NODES
    if pyg is not None:
        assert torch.equal(found, pyg.PNAConv.get_degree_histogram(graphs))


# ---- Models of several layers ----

ONE_TO_TWO, TWO_TO_ONE, TWO_TO_TWO = ("one", "to", "two"), ("two", "to.dot", "one"), ("two", "again", "two")


def heterogeneous(kind: Any, aggr: str | None) -> nn.Module:
    layers = {
        ONE_TO_TWO: kind.GraphConv((5, 6), 4),
        TWO_TO_ONE: kind.SAGEConv((6, 5), 4),
        TWO_TO_TWO: kind.ClusterGCNConv(6, 4),
    }
    return kind.HeteroConv(layers, aggr).double()  # type: ignore[no-any-return]


@needs_pyg
@pytest.mark.parametrize("as_matrix", [False, True])
@pytest.mark.parametrize("aggr", ["sum", "mean", "min", "max", "cat", None])
def test_edge_types_have_a_layer_each(aggr: str | None, as_matrix: bool) -> None:
    torch.manual_seed(0)
    ours, theirs = (heterogeneous(kind, aggr) for kind in (st.nn, pyg))
    ours.load_state_dict(theirs.state_dict())
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    x = {
        "one": torch.randn(NODES, 5, dtype=torch.float64, requires_grad=True),
        "two": torch.randn(TARGETS, 6, dtype=torch.float64, requires_grad=True),
    }
    edges: dict[Any, Any] = {
        ONE_TO_TWO: BIPARTITE,
        TWO_TO_ONE: BIPARTITE.flip(0).contiguous(),
        TWO_TO_TWO: MULTIGRAPH % TARGETS,
        ("two", "unknown", "two"): MULTIGRAPH % TARGETS,
    }
    weights = {ONE_TO_TWO: torch.rand(150, dtype=torch.float64, requires_grad=True)}
    results = []
    for model in (ours, theirs):
        taken, named = edges, {"edge_weight_dict": weights}
        if model is ours and as_matrix:
            shapes = {ONE_TO_TWO: (7, 13), TWO_TO_ONE: (13, 7), TWO_TO_TWO: (7, 7)}
            taken = {
                key: st.SparseMatrix._of_entries(edges[key][1], edges[key][0], weights.get(key), shape)
                for key, shape in shapes.items()
            }
            named = {}
        out = model(x, taken, **named)
        learned = [*x.values(), *weights.values(), *(p for _name, p in sorted(model.named_parameters()))]
        results.append([*out.values(), *gradients(torch.cat([one.flatten() for one in out.values()]), learned)])
        assert list(out) == ["two", "one"]
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape and error(one, other) < 1e-6  # degrees of float32, see above
    partial = {ONE_TO_TWO: BIPARTITE}
    found, expected = (model(x, partial, weights) for model in (ours, theirs))
    assert found.keys() == expected.keys() == {"two"} and error(found["two"], expected["two"]) < 1e-12
    ours.reset_parameters()


def test_heterogeneous_models_of_other_arguments() -> None:
    key = ("a", "to", "a")
    x, edges = {"a": torch.randn(NODES, 8)}, {key: MULTIGRAPH}
    rgcn, gat = st.nn.RGCNConv(8, 4, RELATIONS), st.nn.GATConv(8, 4, edge_dim=3)
    types, features = torch.arange(150) % RELATIONS, torch.randn(150, 3)
    found = st.nn.HeteroConv({key: rgcn})(x, edges, edge_type_dict={key: types})["a"]
    assert torch.equal(found, rgcn(x["a"], MULTIGRAPH, types))
    found = st.nn.HeteroConv({key: gat})(x, edges, edge_attr_dict={key: features})["a"]
    assert torch.equal(found, gat(x["a"], MULTIGRAPH, features))
    pair = ("a", "to", "b")
    sage = st.nn.SAGEConv((8, 8), 4)
    with pytest.warns(UserWarning, match="'a'"):
        model = st.nn.HeteroConv({pair: sage})
    found = model(x, {pair: BIPARTITE}, size_dict={pair: (NODES, TARGETS)})["b"]
    assert torch.equal(found, sage((x["a"], None), BIPARTITE, size=(NODES, TARGETS)))


@needs_pyg
def test_light_gcn_is_that_of_pyg() -> None:
    torch.manual_seed(0)
    weights = torch.rand(150, dtype=torch.float64)
    labels = torch.randint(0, NODES, (2, 20))
    for given in ({}, {"alpha": 0.4}, {"alpha": torch.tensor([0.5, 0.3, 0.2]), "normalize": False}):
        theirs, ours = (kind.LightGCN(NODES, 6, 2, **given).double() for kind in (pyg, st.nn))
        ours.load_state_dict(theirs.state_dict())
        assert ours.state_dict().keys() == theirs.state_dict().keys()
        a = st.SparseMatrix.from_edge_index(MULTIGRAPH, num_nodes=NODES)
        assert error(ours(a), theirs(MULTIGRAPH)) < 1e-12
        calls: list[Callable[[Any], Tensor]] = [
            lambda model: model.get_embedding(MULTIGRAPH, weights),
            lambda model: model(MULTIGRAPH, labels, weights),
            lambda model: model.predict_link(MULTIGRAPH, labels, prob=True),
            lambda model: model.predict_link(MULTIGRAPH),
            lambda model: model.link_pred_loss(model(MULTIGRAPH, labels), torch.arange(20) % 2),
            lambda model: model.recommendation_loss(model(MULTIGRAPH, labels), model(MULTIGRAPH, labels.flip(1))),
            lambda model: model.recommendation_loss(
                model(MULTIGRAPH, labels), model(MULTIGRAPH, labels.flip(1)), torch.tensor([1, 4]), 0.3
            ),
            lambda model: model.recommendation_loss(model(MULTIGRAPH), model(MULTIGRAPH).flip(0), lambda_reg=0),
        ]
        for call in calls:
            found, expected = call(ours), call(theirs)
            assert error(found, expected) < 1e-11
            if expected.requires_grad and expected.dim() == 0:
                pair = (torch.autograd.grad(y, model.embedding.weight) for y, model in ((found, ours), (expected, theirs)))
                assert error(*(one[0] for one in pair)) < 1e-11
        source, target = torch.tensor([2, 5]), torch.tensor([1, 3, 9, 10])
        for more in ({}, {"src_index": source}, {"dst_index": target}, {"src_index": source, "dst_index": target}):
            assert torch.equal(
                ours.recommend(MULTIGRAPH, k=3, **more), theirs.recommend(MULTIGRAPH, k=3, **more)
            )


# ---- Refused ----

X, TYPES = torch.ones(NODES, 8), torch.arange(150) % RELATIONS
ALL = ("a", "to", "a")
REFUSED: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "an aggregation of GraphConv": (sptile.UnsupportedError, lambda: st.nn.GraphConv(8, 4, aggr="median")),
    "an aggregation of RGCNConv": (sptile.UnsupportedError, lambda: st.nn.RGCNConv(8, 4, 2, aggr="mul")),
    "weights beside a matrix": (
        sptile.UsageError,
        lambda: st.nn.GraphConv(8, 4)(X, st.SparseMatrix.from_edge_index(MULTIGRAPH, num_nodes=NODES), torch.ones(150)),
    ),
    "no polynomials": (sptile.UsageError, lambda: st.nn.ChebConv(8, 4, K=0)),
    "a Laplacian that is not there": (sptile.UsageError, lambda: st.nn.ChebConv(8, 4, K=2, normalization="col")),
    "eigenvalues without graphs": (
        sptile.UsageError,
        lambda: st.nn.ChebConv(8, 4, K=2)(X, MULTIGRAPH, lambda_max=torch.ones(2)),
    ),
    "no stacks": (sptile.UsageError, lambda: st.nn.ARMAConv(8, 4, num_stacks=0)),
    "two decompositions": (sptile.UsageError, lambda: st.nn.RGCNConv(8, 4, 2, num_bases=2, num_blocks=2)),
    "blocks that do not fit": (sptile.UsageError, lambda: st.nn.RGCNConv(8, 4, 2, num_blocks=3)),
    "blocks of ids": (sptile.UsageError, lambda: st.nn.RGCNConv(NODES * 2, 4, 4, num_blocks=2)(torch.arange(NODES), MULTIGRAPH, TYPES)),
    "a relation that is not there": (sptile.BadInputError, lambda: st.nn.RGCNConv(8, 4, 2)(X, MULTIGRAPH, TYPES)),
    "relations of other edges": (sptile.UsageError, lambda: st.nn.RGCNConv(8, 4, 4)(X, MULTIGRAPH, TYPES[1:])),
    "no relations": (sptile.UsageError, lambda: st.nn.RGCNConv(8, 4, 4)(X, MULTIGRAPH, None)),  # type: ignore[arg-type]
    "relations of floats": (sptile.UsageError, lambda: st.nn.RGCNConv(8, 4, 4)(X, MULTIGRAPH, TYPES.float())),
    "a batch for relations": (sptile.UsageError, lambda: st.nn.RGCNConv(8, 4, 4)(X[None], MULTIGRAPH, TYPES)),
    "relations without targets": (sptile.UsageError, lambda: st.nn.RGCNConv(8, 4, 4)((X, None), MULTIGRAPH, TYPES)),
    "a layer without edge features": (sptile.UsageError, lambda: st.nn.GINEConv(nn.Linear(8, 4))(X, MULTIGRAPH)),
    "edge features of another width": (
        sptile.UsageError,
        lambda: st.nn.GINEConv(nn.Linear(8, 4))(X, MULTIGRAPH, torch.ones(150, 3)),
    ),
    "edge features of other edges": (
        sptile.UsageError,
        lambda: st.nn.GINEConv(nn.Linear(8, 4))(X, MULTIGRAPH, torch.ones(149, 8)),
    ),
    "edge features that are a list": (
        sptile.ArgumentTypeError,
        lambda: st.nn.GINEConv(nn.Linear(8, 4))(X, MULTIGRAPH, [1.0]),  # type: ignore[arg-type]
    ),
    "a module without a width": (sptile.UsageError, lambda: st.nn.GINEConv(nn.ReLU(), edge_dim=3)),
    "x of another width than the module": (
        sptile.UsageError,
        lambda: st.nn.GINEConv(nn.Linear(6, 4), edge_dim=3)(X, MULTIGRAPH, torch.ones(150, 3)),
    ),
    "an aggregator of PNAConv": (sptile.UnsupportedError, lambda: st.nn.PNAConv(8, 4, ["median"], SCALED, DEGREES)),
    "a scaler of PNAConv": (sptile.UnsupportedError, lambda: st.nn.PNAConv(8, 4, SOME, ["square"], DEGREES)),
    "no aggregators": (sptile.UsageError, lambda: st.nn.PNAConv(8, 4, [], SCALED, DEGREES)),
    "an unknown width of PNAConv": (sptile.UsageError, lambda: st.nn.PNAConv(-1, 4, SOME, SCALED, DEGREES)),
    "towers that do not divide": (sptile.UsageError, lambda: st.nn.PNAConv(8, 4, SOME, SCALED, DEGREES, towers=3)),
    "no nodes in the training set": (sptile.UsageError, lambda: st.nn.PNAConv(8, 4, SOME, SCALED, 0 * DEGREES)),
    "an unknown activation": (
        sptile.UnsupportedError,
        lambda: st.nn.PNAConv(8, 4, SOME, SCALED, DEGREES, pre_layers=2, act="module"),
    ),
    "features without edge_dim": (
        sptile.UsageError,
        lambda: st.nn.PNAConv(8, 4, SOME, SCALED, DEGREES)(X, MULTIGRAPH, torch.ones(150, 3)),
    ),
    "edge_dim without features": (
        sptile.UsageError,
        lambda: st.nn.PNAConv(8, 4, SOME, SCALED, DEGREES, edge_dim=3)(X, MULTIGRAPH),
    ),
    "a batch for PNAConv": (sptile.UsageError, lambda: st.nn.PNAConv(8, 4, SOME, SCALED, DEGREES)(X[None], MULTIGRAPH)),
    "x of another width": (sptile.UsageError, lambda: st.nn.PNAConv(6, 4, SOME, SCALED, DEGREES)(X, MULTIGRAPH)),
    "a pair for one set of nodes": (sptile.UsageError, lambda: st.nn.TAGConv(8, 4)((X, X), MULTIGRAPH)),
    "loops between node types": (
        sptile.UsageError,
        lambda: st.nn.HeteroConv({("a", "to", "b"): st.nn.GATConv((8, 8), 4)}),
    ),
    "an edge type of two names": (sptile.UsageError, lambda: st.nn.HeteroConv({("a", "b"): st.nn.LGConv()})),  # type: ignore[dict-item]
    "a combination that is not there": (sptile.UsageError, lambda: st.nn.HeteroConv({ALL: st.nn.LGConv()}, "median")),
    "missing node types": (sptile.UsageError, lambda: st.nn.HeteroConv({ALL: st.nn.LGConv()})({}, {ALL: MULTIGRAPH})),
    "too few weights of layers": (sptile.UsageError, lambda: st.nn.LightGCN(3, 4, 2, alpha=torch.ones(2))),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str) -> None:
    kind, call = REFUSED[case]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, sptile.Error)
