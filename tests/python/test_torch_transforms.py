"""Derivatives of all kinds against those of dense products: forward mode, torch.func, batched gradients, vmap, tracing."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch.autograd import forward_ad, gradcheck, gradgradcheck  # noqa: E402
from torch_problems import close, matrix, on_devices, places  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402

ROWS, COLS, HEADS = 7, 5, 2


def parallel(device: str) -> st.SparseMatrix:
    """A matrix some of whose entries are given several times."""
    generator = torch.Generator().manual_seed(3)
    row, col = (torch.randint(0, n, (30,), generator=generator).to(device) for n in (ROWS, COLS))
    values = torch.rand(30, dtype=torch.float64, generator=generator).to(device)
    a = st.SparseMatrix._of_entries(row, col, values, (ROWS, COLS))
    assert a._order.repeats
    return a


def dense(a: st.SparseMatrix, values: Tensor) -> Tensor:
    row, col = (ids.to(values.device) for ids in places(a))
    return values.new_zeros(a.shape).index_put((row, col), values, accumulate=True)


def entry_softmax(a: st.SparseMatrix, s: Tensor) -> Tensor:
    row = places(a)[0].to(s.device)
    e = (s - s.detach().amax()).exp()
    return e / s.new_zeros(a.shape[0], *s.shape[1:]).index_add(0, row, e)[row]


def entry_attention(a: st.SparseMatrix, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, score: str) -> Tensor:
    row, col = (ids.to(q.device) for ids in places(a))
    if score == "cosine":
        q, k = (torch.nn.functional.normalize(x, dim=-1) for x in (q, k))
    s = (q[row] * k[col]).sum(-1)
    if score == "additive":
        s = torch.nn.functional.leaky_relu(q[row] + k[col], 0.2).squeeze(-1)
    s = s * (q.shape[-1] ** -0.5 if score == "dot" else 1)
    weights = entry_softmax(a, s if bias is None else s + bias)
    return v.new_zeros(a.shape[0], *v.shape[1:]).index_add(0, row, weights.unsqueeze(-1) * v[col])


Pair = tuple[Callable[..., Tensor], Callable[..., Tensor], tuple[tuple[int, ...], ...]]


def functions(a: st.SparseMatrix) -> dict[str, Pair]:
    """Of each: ours, the same of dense or indexed tensors, shapes of the operands."""
    n, fixed, (row, col) = a._order.given, a.to_dense(), places(a)
    row, col = row.to(a.device), col.to(a.device)
    heads = lambda x, v: torch.stack([dense(a, v[:, h]) @ x[:, h] for h in range(HEADS)], 1)  # noqa: E731
    scored = lambda score, width: (  # noqa: E731
        lambda q, k, v, b: st.attention(a, q, k, v, bias=b, score=score),
        lambda q, k, v, b: entry_attention(a, q, k, v, b, score),
        ((ROWS, HEADS, width), (COLS, HEADS, width), (COLS, HEADS, 4), (n, HEADS)),
    )
    return {
        "spmm": (lambda x: a @ x, lambda x: fixed @ x, ((COLS, 3),)),
        "spmm of a vector": (lambda x: st.spmm(a, x), lambda x: fixed @ x, ((COLS,),)),
        "from the left": (lambda x: x @ a, lambda x: x @ fixed, ((3, ROWS),)),
        "of the transpose": (lambda x: a.t() @ x, lambda x: fixed.t() @ x, ((ROWS, 3),)),
        "with values": (lambda x, v: st.spmm(a, x, v), lambda x, v: dense(a, v) @ x, ((COLS, 3), (n,))),
        "of learned values": (lambda x, v: a.with_values(v) @ x, lambda x, v: dense(a, v) @ x, ((COLS, 3), (n,))),
        "left of learned values": (lambda x, v: x @ a.with_values(v), lambda x, v: x @ dense(a, v), ((3, ROWS), (n,))),
        "of heads": (lambda x, v: st.spmm(a, x, v), heads, ((COLS, HEADS, 3), (n, HEADS))),
        "sddmm": (lambda x, y: st.sddmm(a, x, y), lambda x, y: (x[row] * y[col]).sum(-1), ((ROWS, 3), (COLS, 3))),
        "sddmm of heads": (
            lambda x, y: st.sddmm(a, x, y),
            lambda x, y: (x[row] * y[col]).sum(-1),
            ((ROWS, HEADS, 3), (COLS, HEADS, 3)),
        ),
        "softmax": (lambda s: st.softmax(a, s), lambda s: entry_softmax(a, s), ((n,),)),
        "softmax of heads": (lambda s: st.softmax(a, s), lambda s: entry_softmax(a, s), ((n, HEADS),)),
        "attention": scored("dot", 3),
        "attention, cosine": scored("cosine", 3),
        "attention, additive": scored("additive", 1),
        "attention without a bias": (
            lambda q, k, v: st.attention(a, q, k, v),
            lambda q, k, v: entry_attention(a, q, k, v, None, "dot"),
            ((ROWS, HEADS, 3), (COLS, HEADS, 3), (COLS, HEADS, 4)),
        ),
        "spmm_update": (
            lambda x, w, b: st.spmm_update(a, x, w, b, "relu"),
            lambda x, w, b: (fixed @ x @ w + b).relu(),
            ((COLS, 3), (3, 4), (4,)),
        ),
    }


NAMES = list(functions(matrix(ROWS, COLS, 0.5, dtype=torch.float64)[0]))
# Functions whose gradient has no derivative itself.
ONCE = {name for name in NAMES if name.startswith(("softmax", "attention"))}
of_all = pytest.mark.parametrize("name", NAMES)
of_matrices = pytest.mark.parametrize("repeats", [False, True], ids=["once", "repeated"])


def problem(device: str, repeats: bool, name: str) -> tuple[Callable[..., Tensor], Callable[..., Tensor], tuple[Tensor, ...]]:
    torch.manual_seed(0)
    a = parallel(device) if repeats else matrix(ROWS, COLS, 0.5, device=device, dtype=torch.float64)[0]
    ours, other, shapes = functions(a)[name]
    return ours, other, tuple(torch.randn(shape, dtype=torch.float64, device=device) for shape in shapes)


@on_devices
@of_matrices
@of_all
def test_results_and_derivatives_of_all_kinds(device: str, repeats: bool, name: str) -> None:
    ours, other, operands = problem(device, repeats, name)
    tangents = tuple(torch.randn_like(x) for x in operands)
    assert close(ours(*operands), other(*operands))
    # Forward mode, as a level of duals and as a transform.
    expected = torch.func.jvp(other, operands, tangents)
    for found, wanted in zip(torch.func.jvp(ours, operands, tangents), expected, strict=True):
        assert close(found, wanted)
    alone = torch.func.jvp(lambda x: other(x, *operands[1:]), operands[:1], tangents[:1])[1]
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(operands, tangents, strict=True)]
        found, tangent = forward_ad.unpack_dual(ours(*duals))
        assert tangent is not None and close(found, expected[0]) and close(tangent, expected[1])
        one = [duals[0], *operands[1:]]
        assert close(forward_ad.unpack_dual(ours(*one)).tangent, alone)
    # Reverse mode, of one and of many gradients.
    numbers = tuple(range(len(operands)))
    g = torch.randn(3, *expected[0].shape, dtype=torch.float64, device=device)
    wanted = torch.func.vmap(torch.func.vjp(other, *operands)[1])(g)
    for found, right in zip(torch.func.vmap(torch.func.vjp(ours, *operands)[1])(g), wanted, strict=True):
        assert close(found, right)
    learned = tuple(x.clone().requires_grad_() for x in operands)
    batched = torch.autograd.grad(ours(*learned), learned, g, is_grads_batched=True)
    for found, right in zip(batched, wanted, strict=True):
        assert close(found, right)
    jacobians = torch.func.jacrev(other, numbers)(*operands)
    for transform in (torch.func.jacrev, torch.func.jacfwd):
        for found, right in zip(transform(ours, numbers)(*operands), jacobians, strict=True):
            assert close(found, right)
    for strategy in ("reverse-mode", "forward-mode"):
        of_torch = torch.autograd.functional.jacobian(ours, operands, vectorize=True, strategy=strategy)
        for found, right in zip(of_torch, jacobians, strict=True):
            assert close(found, right)
    assert gradcheck(ours, learned, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)


@on_devices
@of_matrices
@of_all
def test_second_derivatives_are_right_or_refused(device: str, repeats: bool, name: str) -> None:
    ours, other, operands = problem(device, repeats, name)
    square = lambda f: lambda *x: f(*x).square().sum()  # noqa: E731
    numbers = tuple(range(len(operands)))
    if name in ONCE:
        with pytest.raises(sptile.UnsupportedError, match="second derivative"):
            torch.func.hessian(square(ours), numbers)(*operands)
        return
    found, wanted = (torch.func.hessian(square(f), numbers)(*operands) for f in (ours, other))
    for row, right in zip(found, wanted, strict=True):
        for one, block in zip(row, right, strict=True):
            assert close(one, block)
    if name != "spmm_update":
        learned = tuple(x.clone().requires_grad_() for x in operands)
        assert gradgradcheck(ours, learned, check_fwd_over_rev=True, check_rev_over_rev=True)


@on_devices
@of_matrices
@of_all
def test_vmap_is_a_loop(device: str, repeats: bool, name: str) -> None:
    ours, _other, operands = problem(device, repeats, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # torch warns of operators that it has to call one by one
        for batched in range(1 << len(operands)):
            if batched == 0:
                continue
            dims = [(-1 if batched & 1 else 0) if batched >> i & 1 else None for i in range(len(operands))]
            many = [
                x if dim is None else torch.stack([x, 2 * x, -x], dim) for x, dim in zip(operands, dims, strict=True)
            ]
            found = torch.func.vmap(ours, tuple(dims))(*many)
            for i in range(3):
                one = [x if dim is None else x.select(dim, i) for x, dim in zip(many, dims, strict=True)]
                assert close(found[i], ours(*one))
        nested = torch.func.vmap(torch.func.vmap(ours))(*(torch.stack([torch.stack([x, -x])] * 3) for x in operands))
        assert close(nested[2, 1], ours(*(-x for x in operands)))
        gradient = torch.func.grad(lambda *x: ours(*x).square().sum())  # sums of a softmax have none
        per_sample = torch.func.vmap(gradient)(*(torch.stack([x, -x]) for x in operands))
        assert close(per_sample[1], gradient(*(-x for x in operands)))


@of_all
def test_tracing_is_refused(name: str) -> None:
    ours, _other, operands = problem("cpu", False, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(sptile.UnsupportedError, match=r"torch\.jit\.trace"):
            torch.jit.trace(ours, operands, check_trace=False)


@on_devices
def test_operators_of_their_own_say_what_they_lack(device: str) -> None:
    a, _ = matrix(ROWS, COLS, 0.5, device=device, dtype=torch.float64)
    x, w = (torch.ones(*shape, dtype=torch.float64, device=device) for shape in ((COLS, 3), (3, 4)))
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward mode"):
        torch.ops.sptile.spmm_update(*a._product, False, forward_ad.make_dual(x, x), w, None, False, False, False)


@on_devices
def test_a_matrix_of_duals_keeps_their_tangents(device: str) -> None:
    a, _ = matrix(6, 6, 0.5, device=device, dtype=torch.float64)
    x = torch.eye(6, dtype=torch.float64, device=device)
    t = torch.rand_like(a.values)

    def products(values: Tensor) -> Tensor:
        b = a.with_values(values)
        return b.gcn_norm() @ x + b.t() @ x + b.to_dense() + b.to(torch.float64) @ x

    values = torch.rand_like(a.values) + 0.5
    expected = torch.autograd.functional.jvp(products, values, t)[1]
    assert close(torch.func.jvp(products, (values,), (t,))[1], expected)
    with forward_ad.dual_level():
        assert close(forward_ad.unpack_dual(products(forward_ad.make_dual(values, t))).tangent, expected)


def test_checkpoints_and_hooks_keep_gradients() -> None:
    from torch.utils.checkpoint import checkpoint

    a, full = matrix(6, 6, 0.5, dtype=torch.float64)
    x = torch.rand(6, 2, dtype=torch.float64, requires_grad=True)
    expected = full.t() @ torch.ones(6, 2, dtype=torch.float64)
    checkpoint(lambda x: a @ x, x, use_reentrant=False).sum().backward()
    assert close(x.grad, expected)
    with torch.autograd.graph.save_on_cpu():
        (found,) = torch.autograd.grad((a @ x).sum(), x)
    assert close(found, expected)


class Typed(torch.nn.Module):
    """A layer that takes relations, or features, of 60 edges."""

    def __init__(self, layer: torch.nn.Module, width: int = 0) -> None:
        super().__init__()
        self.layer = layer
        features = torch.linspace(-1, 1, 60 * width).view(60, width)
        self.register_buffer("types", features if width > 0 else torch.arange(60) % 4)

    def forward(self, x: Tensor, edge_index: Tensor | st.SparseMatrix) -> Tensor:
        return self.layer(x, edge_index, self.types)


class Featured(torch.nn.Module):
    """A layer with features of edges, called like the others."""

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.register_buffer("features", torch.linspace(-1, 1, 60 * 2).view(60, 2))

    def forward(self, x: Tensor, edge_index: Tensor | st.SparseMatrix) -> Tensor:
        return self.layer(x, edge_index, self.features)


LAYERS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: st.nn.GCNConv(5, 3),
    "sage": lambda: st.nn.SAGEConv(5, 3),
    "gin": lambda: st.nn.GINConv(torch.nn.Linear(5, 3)),
    "gat": lambda: st.nn.GATConv(5, 3, heads=2),
    "gatv2": lambda: st.nn.GATv2Conv(5, 3, heads=2),
    "transformer": lambda: st.nn.TransformerConv(5, 3, heads=2, bias=False),
    "transformer, features": lambda: Featured(st.nn.TransformerConv(5, 3, heads=2, edge_dim=2, bias=False)),
    "agnn": lambda: st.nn.AGNNConv(),
    "graph": lambda: st.nn.GraphConv(5, 3, aggr="mean"),
    "appnp": lambda: st.nn.APPNP(2, 0.1),
    "tag": lambda: st.nn.TAGConv(5, 3, K=2),
    "cheb": lambda: st.nn.ChebConv(5, 3, K=3),
    "arma": lambda: st.nn.ARMAConv(5, 3, num_stacks=2, num_layers=2),
    "cluster": lambda: st.nn.ClusterGCNConv(5, 3),
    "rgcn": lambda: Typed(st.nn.RGCNConv(5, 3, 4)),
    "gine": lambda: Typed(st.nn.GINEConv(torch.nn.Linear(5, 3)), 5),
    "gine, transformed": lambda: Typed(st.nn.GINEConv(torch.nn.Linear(5, 3), edge_dim=2), 2),
    "pna": lambda: st.nn.PNAConv(5, 3, ["mean", "std"], ["identity", "linear"], torch.tensor([1, 2, 3])),
    "pna, features": lambda: Typed(st.nn.PNAConv(5, 3, ["sum", "var"], ["identity"], torch.tensor([1, 2, 3]), 2), 2),
    "pna, two layers": lambda: st.nn.PNAConv(5, 3, ["sum", "var"], ["identity"], torch.tensor([1, 2, 3]), pre_layers=2),
    "sparse linear": lambda: st.nn.SparseLinear.from_linear(torch.nn.Linear(5, 3)),
}


@on_devices
@pytest.mark.parametrize("given", ["edge_index", "matrix"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_in_transforms(device: str, given: str, name: str) -> None:
    """Also of graphs that are first seen there: what a layer keeps of them serves calls outside."""
    torch.manual_seed(0)
    layer = LAYERS[name]().double().to(device)
    x = torch.rand(12, 5, dtype=torch.float64, device=device)
    edges = torch.randint(0, 12, (2, 60)).to(device)
    graph = edges if given == "edge_index" else st.SparseMatrix.from_edge_index(edges, num_nodes=12)
    rest = () if name == "sparse linear" else (graph,)
    parameters = dict(layer.named_parameters())

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        return torch.func.functional_call(layer, parameters, (x, *rest)).square().sum()

    found = torch.func.grad(loss)(parameters, x)
    samples = torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, torch.stack([2 * x, x]))
    tangent = torch.func.jvp(lambda x: loss(parameters, x), (x,), (x,))[1]
    own = x.clone().requires_grad_()
    value = layer(own, *rest).square().sum()
    expected = torch.autograd.grad(value, [own, *parameters.values()])
    assert close(tangent, (expected[0] * x).sum())
    for key, wanted in zip(parameters, expected[1:], strict=True):
        assert close(found[key], wanted) and close(samples[key][1], wanted)


@on_devices
def test_compiled_transforms(device: str) -> None:
    """Where a compiler gives up on a frame, it must not look into functions that pass addresses on."""
    torch.manual_seed(0)
    a, _ = matrix(12, 12, 0.4, device=device, dtype=torch.float32)
    layer = LAYERS["gat"]().to(device)
    parameters = dict(layer.named_parameters())
    x = torch.rand(12, 5, device=device)

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        return torch.func.functional_call(layer, parameters, (x, a)).square().sum()

    functions = {
        "grad": lambda x: torch.func.grad(loss)(parameters, x)["lin.weight"],
        "jvp": lambda x: torch.func.jvp(lambda y: a @ y, (x,), (x,))[1],
        "vmap": lambda x: torch.func.vmap(lambda y: a @ y)(torch.stack([x, -x])),
    }
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in functions.items():
            assert close(torch.compile(function, backend="aot_eager")(x), function(x)), name
    torch._dynamo.reset()
