"""The operators of sptile.torch against dense products, their gradients, what compilers and modes see of
them."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as some  # noqa: E402
from torch import Tensor  # noqa: E402
from torch_problems import DEVICES, DTYPES, close, error, matrix, of_dtypes, on_devices, places, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402

Operator = Callable[..., Tensor]


@pytest.fixture(autouse=True)
def exact_products():  # type: ignore[no-untyped-def]
    """What is compared here is not rounded to tf32."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32 = before


def laid_out(x: Tensor, layout: str) -> Tensor:
    """x, lying in memory in another way."""
    if layout == "transposed" and x.dim() >= 2:
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "wide":
        room = torch.full((*x.shape[:-1], x.shape[-1] + 3), float("nan"), dtype=x.dtype, device=x.device)
        room[..., 1:-2] = x
        return room[..., 1:-2]
    if layout == "every second":
        return x.repeat_interleave(2, 0)[::2] if x.shape[0] > 0 else x
    if layout == "turned":
        return torch.complex(x, -x).conj().imag if x.dtype in (torch.float32, torch.float64) else x
    return x


LAYOUTS = ["dense", "transposed", "wide", "every second", "turned"]


def dense_weights(a: st.SparseMatrix, values: Tensor, empty: float = 0.0) -> Tensor:
    """values [entries] as a matrix, of several heads [entries, heads] as [heads, rows, cols]."""
    row, col = places(a)
    place = row * a.shape[1] + col
    flat = torch.full((*values.shape[1:], a.shape[0] * a.shape[1]), empty, dtype=torch.float64)
    return flat.index_copy(
        -1, place, values.double().cpu().t() if values.dim() > 1 else values.double().cpu()
    ).reshape(*values.shape[1:], *a.shape)


@settings(max_examples=80, deadline=None)
@given(
    rows=some.integers(0, 40),
    cols=some.integers(0, 40),
    n=some.integers(0, 70),
    heads=some.integers(0, 3),
    dtype=some.sampled_from(DTYPES),
    layout=some.sampled_from(LAYOUTS),
    device=some.sampled_from(DEVICES),
    learned=some.booleans(),
    seed=some.integers(0, 999),
)
def test_spmm_of_any_shape(
    rows: int,
    cols: int,
    n: int,
    heads: int,
    dtype: torch.dtype,
    layout: str,
    device: str,
    learned: bool,
    seed: int,
) -> None:
    torch.manual_seed(seed)
    a, full = matrix(rows, cols, seed % 7 / 6, device=device, dtype=dtype, seed=seed)
    shape = (cols, n) if heads == 0 else (cols, heads, n)
    x = laid_out(random(*shape, device=device, dtype=dtype), layout).requires_grad_()
    values = a.values.clone().requires_grad_() if learned else None
    out = st.spmm(a, x, values)
    assert out.dtype == dtype and close(out, torch.einsum("ij,j...->i...", full, x.double().cpu()))
    g = random(*out.shape, device=device, dtype=dtype)
    out.backward(g)
    assert close(x.grad, torch.einsum("ij,i...->j...", full, g.double().cpu()))
    if values is not None:
        row, col = places(a)
        pairs = (g.double().cpu()[row] * x.detach().double().cpu()[col]).flatten(1).sum(1)
        assert close(values.grad, pairs)


@settings(max_examples=40, deadline=None)
@given(
    rows=some.integers(0, 30),
    cols=some.integers(0, 30),
    n=some.integers(0, 40),
    heads=some.integers(0, 3),
    dtype=some.sampled_from(DTYPES),
    layout=some.sampled_from(LAYOUTS),
    device=some.sampled_from(DEVICES),
    seed=some.integers(0, 999),
)
def test_sddmm_of_any_shape(
    rows: int, cols: int, n: int, heads: int, dtype: torch.dtype, layout: str, device: str, seed: int
) -> None:
    torch.manual_seed(seed)
    a, _ = matrix(rows, cols, seed % 7 / 6, device=device, seed=seed)
    tail = (n,) if heads == 0 else (heads, n)
    x = laid_out(random(rows, *tail, device=device, dtype=dtype), layout)
    y = laid_out(random(cols, *tail, device=device, dtype=dtype), layout)
    row, col = places(a)
    assert close(st.sddmm(a, x, y), (x.double().cpu()[row] * y.double().cpu()[col]).sum(-1))


def attention_in_float64(
    a: st.SparseMatrix, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, score: str
) -> Tensor:
    """The same with all pairs."""
    q, k, v = (x.detach().double().cpu() for x in (q, k, v))
    if score == "additive":
        scores = torch.nn.functional.leaky_relu(q[:, None, :, 0] + k[None, :, :, 0], 0.2).permute(2, 0, 1)
    else:
        if score == "cosine":
            q, k = torch.nn.functional.normalize(q, dim=-1), torch.nn.functional.normalize(k, dim=-1)
        scores = torch.einsum("ihn,jhn->hij", q, k)
    zero = torch.zeros(a._order.given, q.shape[1]) if bias is None else bias
    weights = (scores * scale + dense_weights(a, zero, -torch.inf)).softmax(-1).nan_to_num(0)
    return torch.einsum("hij,jhm->ihm", weights, v)


@settings(max_examples=40, deadline=None)
@given(
    rows=some.integers(1, 25),
    cols=some.integers(1, 25),
    n=some.integers(1, 40),
    m=some.integers(1, 40),
    heads=some.integers(1, 4),
    dtype=some.sampled_from(DTYPES),
    layout=some.sampled_from(LAYOUTS),
    score=some.sampled_from(["dot", "cosine", "additive"]),
    biased=some.booleans(),
    device=some.sampled_from(DEVICES),
    seed=some.integers(0, 999),
)
def test_attention_of_any_shape(
    rows: int,
    cols: int,
    n: int,
    m: int,
    heads: int,
    dtype: torch.dtype,
    layout: str,
    score: str,
    biased: bool,
    device: str,
    seed: int,
) -> None:
    torch.manual_seed(seed)
    a, _ = matrix(rows, cols, seed % 7 / 6, device=device, seed=seed)
    n = 1 if score == "additive" else n
    q, k, v = (
        laid_out(random(*shape, device=device, dtype=dtype), layout)
        for shape in ((rows, heads, n), (cols, heads, n), (cols, heads, m))
    )
    bias = random(a.nnz, heads, device=device, dtype=dtype) if biased else None
    out = st.attention(a, q, k, v, scale=0.5, bias=bias, score=score)
    expected = attention_in_float64(a, q, k, v, bias, 0.5, score)
    assert (
        error(out, expected) < {torch.float64: 1e-12, torch.float32: 1e-5}.get(dtype, 3e-2)
        or not expected.any()
    )


@on_devices
@pytest.mark.parametrize("score", ["dot", "cosine", "additive"])
def test_attention_in_steps_is_attention(device: str, score: str) -> None:
    """With so small a share of dropped weights that none is."""
    a, _ = matrix(20, 15, 0.3, device=device)
    n = 1 if score == "additive" else 8
    q, k, v = (random(*shape, device=device) for shape in ((20, 2, n), (15, 2, n), (15, 2, 5)))
    bias = random(a.nnz, 2, device=device)
    one, other = (st.attention(a, q, k, v, bias=bias, score=score, dropout_p=p) for p in (0.0, 1e-15))
    assert close(one, other)
    assert not close(one, st.attention(a, q, k, v, bias=bias, score=score, dropout_p=0.5))
    assert not st.attention(a, q, k, v, score=score, dropout_p=1.0).any()


@on_devices
@of_dtypes
@pytest.mark.parametrize("lies", ["n m", "m n"])
@pytest.mark.parametrize("activation", [None, "relu"])
def test_spmm_update_and_its_gradients(
    device: str, dtype: torch.dtype, lies: str, activation: str | None
) -> None:
    a, full = matrix(30, 20, 0.2, device=device, dtype=dtype)
    x, w, bias = (random(*shape, device=device, dtype=dtype) for shape in ((20, 7), (7, 12), (12,)))
    if lies == "m n":
        w = w.t().contiguous().t()
    learned = [t.requires_grad_() for t in (x, w, bias)]
    out = st.spmm_update(a, x, w, bias, activation)
    exact = [t.detach().double().cpu().requires_grad_() for t in learned]
    expected = (full @ exact[0]) @ exact[1] + exact[2]
    expected = expected.relu() if activation == "relu" else expected
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5}.get(dtype, 3e-2)
    assert error(out, expected) < tolerance
    g = random(*out.shape, device=device, dtype=dtype)
    found = torch.autograd.grad(out, learned, g)
    for one, other in zip(found, torch.autograd.grad(expected, exact, g.double().cpu()), strict=True):
        assert error(one, other) < tolerance


@on_devices
def test_softmax_masks_and_empty_rows(device: str) -> None:
    a, _ = matrix(9, 7, 0.3, device=device)
    values = random(a.nnz, 2, device=device)
    values[::3] = -torch.inf
    found = dense_weights(a, st.softmax(a, values))
    expected = dense_weights(a, values, -torch.inf).softmax(-1).nan_to_num(0)
    assert close(found, expected)


@on_devices
@of_dtypes
@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("score", ["dot", "cosine", "additive"])
def test_parallel_entries_are_weighed_one_by_one(
    device: str, dtype: torch.dtype, heads: int, biased: bool, score: str
) -> None:
    generator = torch.Generator().manual_seed(heads)
    row, col = (torch.randint(0, n, (60,), generator=generator) for n in (6, 5))
    a = st.SparseMatrix._of_entries(row.to(device), col.to(device), None, (6, 5))
    assert a.nnz < 60
    n = 1 if score == "additive" else 4
    torch.manual_seed(0)
    learned = [random(*shape, device=device, dtype=dtype, learn=True) for shape in ((6, heads, n), (5, heads, n), (5, heads, 3))]
    if biased:
        learned.append(random(60, heads, device=device, dtype=dtype, learn=True))
    exact = [x.detach().double().cpu().requires_grad_() for x in learned]
    q, k, v = exact[:3]
    if score == "cosine":
        q, k = (torch.nn.functional.normalize(x, dim=-1) for x in (q, k))
    s = (q[row] * k[col]).sum(-1)
    if score == "additive":
        s = torch.nn.functional.leaky_relu((q[row] + k[col]).squeeze(-1), 0.2)
    s = (s * 0.5 + (exact[3] if biased else 0)).exp()
    weights = s / torch.zeros(6, heads, dtype=torch.float64).index_add(0, row, s)[row]
    expected = torch.zeros(6, heads, 3, dtype=torch.float64).index_add(0, row, weights.unsqueeze(-1) * v[col])
    out = st.attention(a, *learned[:3], scale=0.5, score=score, bias=learned[3] if biased else None)
    tolerance = {torch.float64: 1e-14, torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[dtype]
    assert error(out, expected) < tolerance
    p = st.softmax(a, s.log().to(dtype).to(device))
    assert error(p, weights) < 2 * tolerance
    g = random(6, heads, 3)
    found = torch.autograd.grad(out, learned, g.to(device, dtype))
    for one, other in zip(found, torch.autograd.grad(expected, exact, g), strict=True):
        assert error(one, other) < 10 * tolerance


@on_devices
def test_softmax_of_parallel_entries_masks(device: str) -> None:
    a = st.SparseMatrix.from_edge_index(torch.tensor([[0, 0, 0, 1, 2, 2], [1, 1, 1, 1, 2, 2]], device=device))
    inf = torch.inf
    values = torch.tensor([0.0, -inf, 0, 0, -inf, -inf], device=device, requires_grad=True)
    p = st.softmax(a, values)
    assert close(p, torch.tensor([1 / 3, 0, 1 / 3, 1 / 3, 0, 0]))
    p.square().sum().backward()
    assert values.grad.abs().max() < 1e-6
    x = torch.eye(3, device=device)
    out = st.attention(a, 0 * x, 0 * x, x, bias=values.detach())
    assert close(out, torch.tensor([[0, 0, 0], [2 / 3, 1 / 3, 0], [0, 0, 0]]))


@on_devices
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("autocast", [False, True])
def test_dropout_of_attention_forms_scores_in_float32(device: str, dtype: torch.dtype, autocast: bool) -> None:
    a, _ = matrix(20, 15, 0.3, device=device)
    q, k = (300 * torch.ones(n, 1, 4, device=device) for n in (20, 15))  # q . k overflows float16
    v = random(15, 1, 3, device=device)
    options = {"scale": 1e-5, "dropout_p": 1e-12}
    if autocast:
        with torch.autocast(device, dtype):
            out = st.attention(a, q, k, v.float(), **options)
    else:
        out = st.attention(a, q.to(dtype), k.to(dtype), v.to(dtype), **options)
    assert out.dtype == dtype
    assert error(out, attention_in_float64(a, q.to(dtype), k.to(dtype), v, None, 1e-5, "dot")) < 1e-2


@on_devices
def test_each_parallel_entry_is_dropped_by_itself(device: str) -> None:
    torch.manual_seed(1)
    count = 2000
    a = st.SparseMatrix.from_edge_index(torch.zeros(2, count, dtype=torch.int64, device=device))
    x = torch.ones(1, 1, 1, device=device)
    out = st.attention(a, x, x, x, dropout_p=0.5).item()
    assert 0.9 < out < 1.1 and out != 1  # all of them or none, if they were one: 0 or 2


@on_devices
@pytest.mark.parametrize(("rows", "cols", "entries"), [(3, 4, 2), (3, 4, 0), (0, 4, 0), (3, 0, 0), (0, 0, 0)])
def test_operands_without_elements(device: str, rows: int, cols: int, entries: int) -> None:
    ids = torch.arange(entries, device=device)
    a = st.SparseMatrix._of_entries(ids, ids, torch.ones(entries, device=device), (rows, cols))
    f = lambda *shape: torch.ones(*shape, device=device, requires_grad=True)  # noqa: E731
    for n in (0, 2):
        for m in (0, 2):
            for heads in (0, 2):
                for dropout_p in (0.0, 1e-12):
                    operands = [f(rows, heads, n), f(cols, heads, n), f(cols, heads, m)]
                    out = st.attention(a, *operands, dropout_p=dropout_p)
                    expected = torch.zeros(rows, heads, m)
                    expected[:entries] = 1  # the mean of one neighbour, whatever the score of no columns is
                    assert out.shape == expected.shape and torch.allclose(out.cpu(), expected)
                    assert all(g.shape == x.shape for g, x in zip(torch.autograd.grad(out.sum(), operands), operands, strict=True))
            update = st.spmm_update(a, f(cols, n), f(n, m), f(m), "relu")
            expected = torch.ones(rows, m)
            expected[:entries] += n
            assert torch.equal(update.cpu(), expected)
        product = torch.zeros(rows, n)
        product[:entries] = 1
        assert torch.equal((a @ f(cols, n)).cpu(), product)
        assert (f(n, rows) @ a).shape == (n, cols)
        assert torch.equal(st.sddmm(a, f(rows, n), f(cols, n)).cpu(), torch.full((entries,), float(n)))
    for heads in (0, 2):
        assert st.softmax(a, f(entries, heads)).shape == (entries, heads)
        assert st.spmm(a, f(cols, heads, 3), f(entries, heads)).shape == (rows, heads, 3)


# ---- Gradients, and what opcheck asks ----


def numbers(*shape: int, device: str) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, device=device, requires_grad=True)


def operator_calls(device: str) -> dict[str, tuple[Operator, tuple[object, ...], st.SparseMatrix]]:
    """Each operator with operands."""
    torch.manual_seed(0)
    a, _ = matrix(12, 9, 0.3, device=device, dtype=torch.float64)
    op, here, nnz = torch.ops.sptile, {"device": device}, a.nnz
    r = lambda *shape: numbers(*shape, **here)  # noqa: E731
    scored = lambda n, score, bias: (
        *a._entries,
        r(12, 2, n),
        r(9, 2, n),
        r(9, 2, 3),
        bias,
        0.7,
        score,
        0.2,
    )  # noqa: E731
    calls: dict[str, tuple[Operator, tuple[object, ...]]] = {
        "spmm": (op.spmm.default, (*a._product, False, r(9, 4), None)),
        "spmm of the transpose": (op.spmm.default, (*a._product, True, r(12, 4), None)),
        "spmm with values": (op.spmm.default, (*a._entries, False, r(9, 4), r(nnz))),
        "spmm of heads, transposed": (op.spmm.default, (*a._entries, True, r(12, 3, 4), r(3, nnz))),
        "maxima": (op.spmm_max.default, (*a._product, r(9, 4), None, False)),
        "minima with values": (op.spmm_max.default, (*a._entries, r(9, 4), r(nnz), True)),
        "maxima of heads": (op.spmm_max.default, (*a._entries, r(9, 3, 4), r(3, nnz), False)),
        "sddmm": (op.sddmm.default, (*a._entries, r(12, 4), r(9, 4))),
        "sddmm of heads": (op.sddmm.default, (*a._entries, r(12, 2, 4), r(9, 2, 4))),
        "softmax": (op.softmax.default, (*a._entries, r(2, nnz))),
        "attention": (op.attention.default, scored(4, 0, r(2, nnz))),
        "attention, cosine": (op.attention.default, scored(4, 1, None)),
        "attention, additive": (op.attention.default, scored(1, 2, None)),
        "spmm_update": (
            op.spmm_update.default,
            (*a._product, False, r(9, 4), r(4, 5), r(5), True, False, False),
        ),
        "spmm_update of the transpose": (
            op.spmm_update.default,
            (*a._product, True, r(12, 4), r(5, 4), None, False, True, False),
        ),
    }
    return {name: (*call, a) for name, call in calls.items()}


NAMES = list(operator_calls("cpu"))


@on_devices
@pytest.mark.parametrize("name", NAMES)
def test_opcheck(device: str, name: str) -> None:
    operator, arguments, _a = operator_calls(device)[name]
    assert set(torch.library.opcheck(operator, arguments).values()) == {"SUCCESS"}


def first_result(
    operator: Operator, arguments: tuple[object, ...]
) -> tuple[Callable[..., Tensor], tuple[Tensor, ...]]:
    """A function of the tensors among the arguments, and these."""
    learns = [isinstance(x, Tensor) and x.requires_grad for x in arguments]
    tensors = tuple(x for x, one in zip(arguments, learns, strict=True) if one)

    def function(*given: Tensor) -> Tensor:
        rest = iter(given)
        out = operator(*(next(rest) if one else x for x, one in zip(arguments, learns, strict=True)))
        return out if isinstance(out, Tensor) else out[0]

    return function, tensors


@on_devices
@pytest.mark.parametrize("name", NAMES)
def test_gradcheck(device: str, name: str) -> None:
    operator, arguments, _a = operator_calls(device)[name]
    function, tensors = first_result(operator, arguments)
    assert torch.autograd.gradcheck(function, tensors)
    if name.startswith(("spmm", "sddmm")) and "update" not in name:
        assert torch.autograd.gradgradcheck(function, tensors)
        return
    first = torch.autograd.grad(function(*tensors).square().sum(), tensors, create_graph=True)
    with pytest.raises(sptile.UnsupportedError, match="second derivative"):
        sum(x.sum() for x in first).backward()


@on_devices
def test_gradcheck_as_users_call(device: str) -> None:
    a, _ = matrix(8, 6, 0.4, device=device)
    x, y, w, s = (numbers(*shape, device=device) for shape in ((6, 3), (8, 3), (a.nnz,), (a.nnz, 2)))
    check = torch.autograd.gradcheck
    assert check(lambda x, w: st.spmm(a, x, w), (x, w))
    assert check(lambda x, w: a.with_values(w) @ x, (x, w))
    assert check(lambda x, w: st.spmm(a, x.view(6, 3, 1).expand(6, 3, 2), w), (x, w))
    assert check(lambda x, s: st.spmm(a, x.view(6, 1, 3).expand(6, 2, 3), s), (x, s))
    assert check(lambda y, x: st.sddmm(a, y, x), (y, x))
    assert check(lambda s: st.softmax(a, s), (s,))
    assert check(lambda y, x: a.t() @ y, (y, x), raise_exception=True)


# ---- Compilers, modes, threads ----


@on_devices
def test_compiled_whole(device: str) -> None:
    a, full = matrix(20, 15, 0.3, device=device, dtype=torch.float32)
    w = random(a.nnz, device=device, dtype=torch.float32, learn=True)
    x = random(15, 8, device=device, dtype=torch.float32, learn=True)

    def function(x: Tensor, w: Tensor) -> Tensor:
        y = st.spmm(a, x) + st.spmm(a, x, w).relu()
        scores = st.softmax(a, st.sddmm(a, y, x))
        out = st.attention(a, y, x, x, bias=scores)
        return st.spmm_update(a, x, out.t() @ y, activation="relu") + out

    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    one, other = function(x, w), compiled(x, w)
    assert close(one, other)
    for first, second in zip(
        torch.autograd.grad(one.square().sum(), (x, w)),
        torch.autograd.grad(other.square().sum(), (x, w)),
        strict=True,
    ):
        assert close(first, second)


def test_functions_see_shapes_without_computing() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    a, _ = matrix(20, 15, 0.3, dtype=torch.float32)
    with FakeTensorMode(allow_non_fake_inputs=True):
        x = torch.empty(15, 4)
        assert st.spmm(a, x).shape == (20, 4)
        assert st.sddmm(a, torch.empty(20, 4), x).shape == (a.nnz,)
        with pytest.raises(sptile.UsageError):
            st.spmm(a, torch.empty(14, 4))


@on_devices
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_casts_as_for_products_of_torch(device: str, dtype: torch.dtype) -> None:
    a, full = matrix(20, 15, 0.3, device=device, dtype=torch.float32)
    x = random(15, 8, device=device, dtype=torch.float32, learn=True)
    w = random(a.nnz, device=device, dtype=torch.float32, learn=True)
    with torch.autocast(device, dtype):
        out = st.spmm(a, x)
        learned = st.spmm(a, x, w)
        scores = st.sddmm(a, out.float(), x)
        kept = st.spmm(a, x.double().detach(), a.values.double())
        update = st.spmm_update(a, x, random(8, 3, device=device, dtype=torch.float32))
        attended = st.attention(a, out, x, x)
    assert out.dtype == learned.dtype == scores.dtype == update.dtype == attended.dtype == dtype
    assert kept.dtype == torch.float64
    assert close(out, full @ x.double().cpu().detach())
    (out.sum() + learned.sum()).backward()
    assert x.grad.dtype == w.grad.dtype == torch.float32


@on_devices
@pytest.mark.parametrize("learn, most", [(False, 24), (True, 27)])
def test_a_repeated_product_makes_few_calls(device: str, learn: bool, most: int) -> None:
    """On the host, calls take most of the time of a small product."""
    a, full = matrix(20, 15, 0.3, device=device, dtype=torch.float32)
    x = random(15, 8, device=device, dtype=torch.float32, learn=learn)
    calls: list[str] = []

    def count(_frame: Any, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            calls.append(event)

    for _ in range(2):
        st.spmm(a, x)
    before = sys.getprofile()
    sys.setprofile(count)
    out = st.spmm(a, x)
    sys.setprofile(before)
    assert close(out, full @ x.detach().double().cpu())
    on_stream = 5 if device == "cuda" else 0  # precision, stream, workspace
    assert len(calls) <= most + on_stream


@on_devices
def test_autocast_of_any_device_reaches_a_repeated_product(device: str) -> None:
    a, full = matrix(20, 15, 0.3, device=device, dtype=torch.float32)
    x = random(15, 8, device=device, dtype=torch.float32)
    for dtype in (torch.float32, torch.bfloat16, torch.float32, torch.bfloat16):
        with torch.autocast(device, torch.bfloat16, enabled=dtype == torch.bfloat16):
            out = st.spmm(a, x)
        assert out.dtype == dtype and close(out, full @ x.double().cpu())


def test_threads_share_a_matrix() -> None:
    a, full = matrix(300, 200, 0.1, dtype=torch.float64)
    wrong: list[int] = []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for i in range(30):
            x = torch.randn(
                200, 1 + (seed + i) % 5, dtype=torch.float64, generator=generator, requires_grad=True
            )
            y = a @ x
            y.sum().backward()
            if not close(y, full @ x.detach()) or not close(x.grad, full.t() @ torch.ones_like(y)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nothing_is_left_of_many_matrices() -> None:
    import resource

    def made(count: int) -> int:
        for _ in range(count):
            a, _full = matrix(200, 200, 0.05, dtype=torch.float32)
            x = torch.ones(200, 8, requires_grad=True)
            (a @ x).sum().backward()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    made(300)
    before = made(10)
    assert made(1500) - before < 20_000  # KiB; what they hold together is 60 MB


# ---- What is refused ----


def refusals(device: str) -> dict[str, tuple[type[Exception], Callable[[], object]]]:
    a, _ = matrix(6, 5, 0.5, device=device, dtype=torch.float32)
    f = lambda *shape, **options: torch.ones(*shape, device=device, **options)  # noqa: E731
    usage, nnz = sptile.UsageError, a.nnz
    other = {} if device == "cpu" else {"on another device": (usage, lambda: a @ torch.ones(5, 2))}
    return other | {
        "no tensor": (usage, lambda: st.spmm(a, [1.0] * 5)),  # type: ignore[arg-type]
        "no matrix": (usage, lambda: st.spmm(f(6, 5), f(5, 2))),  # type: ignore[arg-type]
        "too few rows": (usage, lambda: a @ f(4, 2)),
        "too many dimensions": (usage, lambda: a @ f(5, 2, 2, 2)),
        "no dimension": (usage, lambda: a @ f(())),
        "integers": (usage, lambda: a @ torch.ones(5, 2, dtype=torch.int64, device=device)),
        "complex numbers": (usage, lambda: a @ torch.ones(5, 2, dtype=torch.complex64, device=device)),
        "eight bits": (usage, lambda: a @ f(5, 2).to(torch.float8_e4m3fn)),
        "a sparse operand": (usage, lambda: a @ torch.eye(5, device=device).to_sparse()),
        "values of another type": (usage, lambda: st.spmm(a, f(5, 2), f(nnz).double())),
        "too few values": (usage, lambda: st.spmm(a, f(5, 2), f(nnz - 1))),
        "values of heads, x without": (usage, lambda: st.spmm(a, f(5, 2), f(nnz, 3))),
        "values of other heads": (usage, lambda: st.spmm(a, f(5, 2, 2), f(nnz, 3))),
        "sddmm of different widths": (usage, lambda: st.sddmm(a, f(6, 2), f(5, 3))),
        "sddmm of different types": (usage, lambda: st.sddmm(a, f(6, 2), f(5, 2).double())),
        "sddmm of swapped sides": (usage, lambda: st.sddmm(a, f(5, 2), f(6, 2))),
        "softmax of too many": (usage, lambda: st.softmax(a, f(nnz + 1))),
        "softmax of three dimensions": (usage, lambda: st.softmax(a, f(nnz, 1, 1))),
        "softmax of integers": (usage, lambda: st.softmax(a, f(nnz).long())),
        "a score that is not there": (usage, lambda: st.attention(a, f(6, 2), f(5, 2), f(5, 2), score="sum")),
        "a share above 1": (usage, lambda: st.attention(a, f(6, 2), f(5, 2), f(5, 2), dropout_p=1.5)),
        "additive of many numbers": (
            usage,
            lambda: st.attention(a, f(6, 2), f(5, 2), f(5, 2), score="additive"),
        ),
        "heads that differ": (usage, lambda: st.attention(a, f(6, 2, 3), f(5, 2, 3), f(5, 4, 3))),
        "attention of swapped sides": (usage, lambda: st.attention(a, f(5, 2, 3), f(6, 2, 3), f(5, 2, 3))),
        "a scale that is none": (
            usage,
            lambda: st.attention(a, f(6, 2), f(5, 2), f(5, 2), scale=float("nan")),
        ),
        "a bias of another length": (usage, lambda: st.attention(a, f(6, 2), f(5, 2), f(5, 2), bias=f(3))),
        "weights of another width": (usage, lambda: st.spmm_update(a, f(5, 2), f(3, 4))),
        "weights of three dimensions": (usage, lambda: st.spmm_update(a, f(5, 2), f(2, 4, 1))),
        "weights of another type": (usage, lambda: st.spmm_update(a, f(5, 2), f(2, 4).half())),
        "a bias of another width": (usage, lambda: st.spmm_update(a, f(5, 2), f(2, 4), f(3))),
        "an activation that is not there": (
            usage,
            lambda: st.spmm_update(a, f(5, 2), f(2, 4), activation="gelu"),
        ),
        "a handle that is none": (usage, lambda: torch.ops.sptile.spmm.default(torch.tensor(10**9), 6, 5, nnz, False, f(5, 2), None)),
    }


@on_devices
@pytest.mark.parametrize("case", refusals("cpu"))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_does_not_fit_is_refused(device: str, case: str) -> None:
    kind, call = refusals(device)[case]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, sptile.Error) and len(str(caught.value)) > 15


# ---- Relative bias ----


@on_devices
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("dropout_p", [0.0, 0.3])
@pytest.mark.parametrize("heads", [1, 3])
def test_a_table_of_biases_is_a_bias_per_nonzero(device: str, heads: int, dropout_p: float, repeats: bool) -> None:
    torch.manual_seed(0)
    row, col = torch.randint(0, 20, (60,)), torch.randint(0, 15, (60,))
    if not repeats:
        places = torch.unique(row * 15 + col)[torch.randperm(torch.unique(row * 15 + col).numel())]
        row, col = places // 15, places % 15
    a = st.SparseMatrix._of_entries(row.to(device), col.to(device), None, (20, 15))
    types = torch.randint(0, 4, row.shape, device=device)
    shapes = ((20, heads, 4), (15, heads, 4), (15, heads, 5))
    q, k, v = (torch.randn(*shape, dtype=torch.float64, device=device, requires_grad=True) for shape in shapes)
    table = torch.randn(6, heads, dtype=torch.float64, device=device, requires_grad=True)  # two types are not there

    def results(**named: Tensor) -> list[Tensor]:
        torch.manual_seed(3)
        out = st.attention(a, q, k, v, dropout_p=dropout_p, **named)
        g = torch.linspace(-1, 1, out.numel(), dtype=out.dtype, device=device).view(out.shape)
        return [out, *torch.autograd.grad(out, [q, k, v, table], g)]

    found, expected = results(bias=table, bias_index=types), results(bias=table[types])
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-12)
    assert not found[-1][4:].any()
    for same_types in (types.int(), types):
        again = results(bias=table, bias_index=same_types)
        assert all(torch.equal(one, two) for one, two in zip(again, found, strict=True))
    same = results(bias=table[:, 0], bias_index=types)[0]
    assert close(same, results(bias=table[:, 0][types])[0])
    kept = a._derived["bias types"]
    results(bias=table, bias_index=types)
    assert a._derived["bias types"] is kept
    types[0] = (types[0] + 1) % 4  # in place: seen
    assert close(results(bias=table, bias_index=types)[0], results(bias=table[types])[0])
    assert a._derived["bias types"] is not kept


def test_biases_of_types_are_exact_and_reproducible_for_many_nonzeros() -> None:
    torch.manual_seed(0)
    count = 200_000
    a = st.SparseMatrix._of_entries(torch.arange(count) // 100, torch.arange(count) % 100, None, (count // 100, 100))
    q, k, v = (torch.randn(n, 2, 4) for n in (count // 100, 100, 100))
    table, types = torch.randn(3, 2, requires_grad=True), torch.randint(0, 3, (count,))
    gradients = []
    for _ in range(2):
        out = st.attention(a, q, k, v, bias=table, bias_index=types)
        gradients.append(torch.autograd.grad(out.square().sum(), table)[0])
    exact = [x.double() for x in (q, k, v)]
    wide = table.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(st.attention(a, *exact, bias=wide[types]).square().sum(), wide)
    assert torch.equal(*gradients) and error(gradients[0], expected) < 1e-4


def test_tables_of_biases_that_do_not_fit() -> None:
    a, _ = matrix(6, 5, 0.5)
    q, k, v = torch.ones(6, 2, 4), torch.ones(5, 2, 4), torch.ones(5, 2, 3)
    types, table = torch.zeros(a.nnz, dtype=torch.int64), torch.ones(3, 2)
    refused = [
        (sptile.ArgumentTypeError, None, types),
        (sptile.ArgumentTypeError, table, types.tolist()),
        (sptile.UsageError, table, types.float()),
        (sptile.UsageError, table, types[1:]),
        (sptile.UsageError, table.unsqueeze(0), types),
        (sptile.UsageError, torch.ones(3, 1), types),
        (sptile.BadInputError, table, types + 3),
        (sptile.BadInputError, table, types - 1),
        (sptile.BadInputError, table[:0], types),
    ]
    for kind, bias, index in refused:
        with pytest.raises(kind):
            st.attention(a, q, k, v, bias=bias, bias_index=index)
