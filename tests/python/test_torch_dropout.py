"""Dropout of weights: its generator, its gradients, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_problems import close, graph, matrix, on_devices, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402
from sptile.torch import dropout  # noqa: E402

NODES, HEADS, WIDTH = 40, 3, 4


def numbers_of_splitmix64(seed: int, count: int) -> list[int]:
    """The generator as Steele, Lea and Flood give it."""
    ones, numbers = (1 << 64) - 1, []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & ones
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & ones
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ones
        numbers.append(z ^ (z >> 31))
    return numbers


def test_the_generator_is_splitmix64() -> None:
    assert numbers_of_splitmix64(1234567, 2) == [6457827717110365317, 3203168211198807973]  # published


@on_devices
@pytest.mark.parametrize("heads", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", [0, 1234567, -1, -(2**63)])
def test_masks_compare_numbers_of_the_generator(device: str, seed: int, heads: int) -> None:
    count, pairs, p = 50, (heads + 1) // 2, 0.3
    found = dropout.factors(torch.tensor(seed, device=device), count, heads, p, torch.float64).cpu()
    numbers = numbers_of_splitmix64(seed % 2**64, count * pairs)
    for head in range(heads):
        for entry in range(count):
            number = numbers[entry * pairs + head // 2] >> (32 * (head % 2)) & (2**32 - 1)
            number -= 2**32 * (number >> 31)
            expected = 0 if number < round(p * 2**32) - 2**31 else 1 / (1 - p)
            assert found[head, entry] == pytest.approx(expected, abs=1e-15)


@on_devices
def test_masks_do_not_depend_on_blocks(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = torch.tensor(3, device=device)
    expected = dropout.factors(seed, 1000, HEADS, 0.5, torch.float32)
    monkeypatch.setitem(dropout._BLOCK, device, 70)
    assert torch.equal(dropout.factors(seed, 1000, HEADS, 0.5, torch.float32), expected)
    places = torch.randperm(1000, device=device)[:300].int()
    found = dropout.factors(seed, 300, HEADS, 0.5, torch.float32, places)
    assert torch.equal(found, expected[:, places.long()])


@on_devices
@pytest.mark.parametrize("p", [0.1, 0.5, 0.6, 0.999])
def test_masks_drop_at_the_rate_and_independently(device: str, p: float) -> None:
    count, heads = 100_000, 4
    dropped = dropout.factors(dropout.new_seed(torch.device(device)), count, heads, p, torch.float32) == 0
    dropped = dropped.double().cpu() - p
    deviation = (p * (1 - p) / count) ** 0.5
    assert dropped.mean(1).abs().max() < 5 * deviation
    other = dropout.factors(torch.tensor(1, device=device), count, heads, p, torch.float32).eq(0).double().cpu() - p
    pairs = [dropped[:, 1:] * dropped[:, :-1], dropped[1:] * dropped[:-1], dropped * other]
    for products in pairs:  # neighbours, heads, seeds
        assert products.mean(-1).abs().max() < 6 * p * (1 - p) / count**0.5


def test_extreme_probabilities() -> None:
    seed = torch.tensor(5)
    for dtype in (torch.float16, torch.float32, torch.float64):
        assert not dropout.factors(seed, 1000, 2, 1.0, dtype).any()
        assert dropout.factors(seed, 1000, 2, 1e-12, dtype).all()
        assert not dropout.factors(seed, 1000, 2, 1 - 1e-12, dtype).isnan().any()
    for p in (-0.1, 1.5, float("nan")):
        with pytest.raises(sptile.UsageError, match="probability"):
            dropout.factors(seed, 10, 2, p, torch.float32)


# ---- Attention and layers ----


def dense_attention(
    a: st.SparseMatrix, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, mask: Tensor, score: str
) -> Tensor:
    """Of matrices without repeated entries, mask [nonzeros, heads]."""
    row, col = a.places()
    if score == "cosine":
        q, k = (torch.nn.functional.normalize(x, dim=-1) for x in (q, k))
    if score == "additive":
        dots = torch.nn.functional.leaky_relu((q[row] + k[col]).squeeze(-1), 0.3)
    else:
        dots = (q[row] * k[col]).sum(-1)
    scores = (0.7 * dots + bias).exp()
    sums = torch.zeros(a.shape[0], *scores.shape[1:], dtype=scores.dtype).index_add(0, row, scores)
    weights = scores / sums[row] * mask
    return torch.zeros(a.shape[0], *v.shape[1:], dtype=v.dtype).index_add(0, row, weights.unsqueeze(-1) * v[col])


@pytest.mark.parametrize("heads", [1, HEADS])
@pytest.mark.parametrize("score", ["dot", "cosine", "additive"])
def test_gradients_are_those_of_the_same_mask(score: str, heads: int) -> None:
    a, _ = matrix(20, 15, 0.3)
    n = 1 if score == "additive" else WIDTH
    torch.manual_seed(0)
    shapes = ((20, heads, n), (15, heads, n), (15, heads, 5), (a.nnz, heads))
    tensors = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    torch.manual_seed(11)
    mask = dropout.factors(dropout.new_seed(a.device), a.nnz, heads, 0.4, torch.float64).t()

    def call(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        torch.manual_seed(11)
        return st.attention(a, q, k, v, scale=0.7, bias=bias, dropout_p=0.4, score=score, negative_slope=0.3)

    results = []
    for out in (call(*tensors), dense_attention(a, *tensors, mask, score)):
        g = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)
        results.append((out, *torch.autograd.grad(out, tensors, g)))
    for one, other in zip(*results, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-12)
    assert torch.autograd.gradcheck(call, tensors)


def test_transforms_drop_the_same_weights() -> None:
    a, _ = matrix(20, 15, 0.3)
    q, k, v = (torch.randn(*shape, dtype=torch.float64) for shape in ((20, 2, 4), (15, 2, 4), (15, 2, 3)))

    def call(v: Tensor) -> Tensor:
        torch.manual_seed(2)
        return st.attention(a, q, k, v, dropout_p=0.5)

    expected = call(v)
    assert close(torch.func.jvp(call, (v,), (v,))[1], expected)
    gradient = torch.func.grad(lambda x: call(x).square().sum())(v)
    own = v.clone().requires_grad_()
    assert close(gradient, torch.autograd.grad(call(own).square().sum(), own)[0])
    lists = random(3, 2, a.nnz)
    seed = torch.tensor(4)
    batch = torch.vmap(lambda x: dropout.dropped(a._entries, x, seed, 0.5))(lists)
    assert torch.equal(batch, torch.stack([dropout.dropped(a._entries, x, seed, 0.5) for x in lists]))
    tangent = torch.func.jvp(lambda x: dropout.dropped(a._entries, x, seed, 0.5), (lists[0],), (lists[1],))[1]
    assert torch.equal(tangent, batch[1])


@contextmanager
def saved() -> Iterator[list[Tensor]]:
    """The tensors that autograd keeps, once each."""
    kept: dict[int, Tensor] = {}

    def keep(x: Tensor) -> Tensor:
        kept[x.data_ptr()] = x
        return x

    found: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        yield found
    found += kept.values()


KINDS: dict[str, Callable[[float], Any]] = {
    "attention": lambda p: lambda x, a, _e: st.attention(a, *3 * [x.view(NODES, HEADS, -1)], dropout_p=p),
    "gat": lambda p: st.nn.GATConv(12, WIDTH, heads=HEADS, dropout=p),
    "gat, features": lambda p: st.nn.GATConv(12, WIDTH, heads=HEADS, dropout=p, edge_dim=2),
    "gatv2": lambda p: st.nn.GATv2Conv(12, WIDTH, heads=HEADS, dropout=p),
    "gatv2, features": lambda p: st.nn.GATv2Conv(12, WIDTH, heads=HEADS, dropout=p, edge_dim=2),
    "transformer": lambda p: st.nn.TransformerConv(12, WIDTH, heads=HEADS, dropout=p),
    "transformer, features": lambda p: st.nn.TransformerConv(12, WIDTH, heads=HEADS, dropout=p, edge_dim=2),
}


@on_devices
@pytest.mark.parametrize("kind", KINDS)
def test_dropout_keeps_a_seed(device: str, kind: str) -> None:
    """No number of an edge and head is kept that would not be kept without dropout."""
    edges = graph(NODES, 1200).to(device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
    features = torch.randn(edges.shape[1], 2, device=device)
    large = []
    for p in (0.0, 0.5):
        torch.manual_seed(0)
        made = KINDS[kind](p)
        layer = made.to(device) if isinstance(made, torch.nn.Module) else made
        x = torch.randn(NODES, 12, device=device, requires_grad=True)
        with saved() as kept:
            more = features if "features" in kind else None
            out = layer(x, a, more)
        of_edges = [t for t in kept if t.numel() >= edges.shape[1] - NODES]
        large.append((sum(t.numel() for t in of_edges), len(of_edges)))
        out.sum().backward()
    assert large[1] <= large[0]
    if "features" not in kind:
        assert large[1] == (0, 0)


@on_devices
@pytest.mark.parametrize("kind", KINDS)
def test_seeds_repeat_masks(device: str, kind: str) -> None:
    edges = graph(NODES, 400).to(device)
    a = st.SparseMatrix.from_edge_index(edges, num_nodes=NODES)
    made = KINDS[kind](0.5)
    layer = made.to(device) if isinstance(made, torch.nn.Module) else made
    x = torch.randn(NODES, 12, device=device, requires_grad=True)
    features = torch.randn(edges.shape[1], 2, device=device) if "features" in kind else None

    def step(seed: int) -> tuple[Tensor, Tensor]:
        torch.manual_seed(seed)
        out = layer(x, a, features)
        return out, torch.autograd.grad(out.square().sum(), x)[0]

    first, again, other = step(1), step(1), step(2)
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert not close(first[0], other[0])
