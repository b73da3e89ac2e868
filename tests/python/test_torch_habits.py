"""SparseMatrix where torch expects a tensor: layouts, tuples, arithmetic, batches and memory layouts of operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import scipy.sparse  # noqa: E402
from torch import Tensor  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch_problems import close, matrix, on_devices, random  # noqa: E402

import sptile  # noqa: E402
import sptile.torch as st  # noqa: E402

ROWS, COLS = 6, 8

# ---- Input and output ----


@on_devices
@pytest.mark.parametrize("shape", [(6, 9), (9, 6)])
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc", "coo"])
def test_all_layouts_give_the_matrix_and_its_gradients(device: str, layout: str, shape: tuple[int, int]) -> None:
    full = matrix(*shape, 0.3, dtype=torch.float64)[1].to(device).requires_grad_()
    tensor = getattr(full, f"to_sparse_{layout}" if layout != "coo" else "to_sparse")(
        *(((3, 3),) if layout.startswith("bs") else ())
    )
    a = st.SparseMatrix.from_torch(tensor)
    assert torch.equal(a.to_dense(), full) and torch.equal(a.values, tensor.values().reshape(-1))
    x = random(shape[1], 4, device=device)
    (found,) = torch.autograd.grad((a @ x).square().sum(), full)
    (expected,) = torch.autograd.grad((full @ x).square().sum(), full)
    stored = st.SparseMatrix.from_torch(tensor.detach()).with_values(torch.ones_like(a.values)).to_dense()
    assert close(found, expected * stored)
    for matrix_of in (a, st.SparseMatrix.from_torch(tensor.detach())):
        compiled = torch.compile(lambda x, a=matrix_of: torch.matmul(a, x), fullgraph=True, backend="aot_eager")
        assert close(compiled(x), full @ x)


@on_devices
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_values_without_history_are_not_copied(device: str, layout: str) -> None:
    tensor = getattr(torch.eye(3, device=device), f"to_sparse_{layout}" if layout != "coo" else "to_sparse")()
    assert st.SparseMatrix.from_torch(tensor).values.data_ptr() == tensor.values().data_ptr()


@on_devices
@pytest.mark.parametrize("block", [(1, 4), (2, 3), (4, 1)])
@pytest.mark.parametrize("layout", ["bsr", "bsc"])
def test_values_of_blocks_keep_their_order(device: str, layout: str, block: tuple[int, int]) -> None:
    height, width = block
    ids = torch.tensor([0, 2, 1], device=device)
    pointers = torch.tensor([0, 2, 3], device=device)
    shape = (2 * height, 3 * width) if layout == "bsr" else (3 * height, 2 * width)
    values = torch.arange(1.0, 3 * height * width + 1, device=device).view(3, height, width).requires_grad_()
    tensor = getattr(torch, f"sparse_{layout}_tensor")(pointers, ids, values, shape)
    a = st.SparseMatrix.from_torch(tensor)
    assert torch.equal(a.values, values.flatten()) and torch.equal(a.to_dense(), tensor.to_dense())
    weights = torch.rand(shape, device=device)
    (found,) = torch.autograd.grad((a.to_dense() * weights).sum(), values)
    row, col = a.places()
    assert torch.equal(found.flatten(), weights[row, col])


@on_devices
def test_tuples_are_the_arguments_of_torch(device: str) -> None:
    indices = torch.tensor([[2, 0, 0], [1, 3, 0]], device=device)
    values = torch.tensor([1.0, 2, 3], device=device, requires_grad=True)
    crow, col = torch.tensor([0, 2, 2, 3], device=device), torch.tensor([0, 3, 1], device=device)
    for arguments, make in (((indices, values), torch.sparse_coo_tensor), ((crow, col, values), torch.sparse_csr_tensor)):
        for size in ((), ((3, 4),), ([5, 6] if make is torch.sparse_coo_tensor else [3, 6],), (torch.Size([3, 9]),)):
            a = st.SparseMatrix.from_torch((*arguments, *size))
            assert torch.equal(a.to_dense(), make(*arguments, *size).to_dense())
            assert a.values is values and a.requires_grad
    pattern = st.SparseMatrix.from_torch((indices.int(), None, (3, 4)), format="csr")
    assert pattern.values is None and pattern.nnz == 3 and pattern.to_dense().sum() == 3
    empty = torch.zeros(2, 0, dtype=torch.int64, device=device)
    assert st.SparseMatrix.from_torch((empty, torch.ones(0, device=device))).shape == (0, 0)
    assert st.SparseMatrix.from_torch((crow[:1], crow[:0], torch.ones(0, device=device))).shape == (0, 0)


@on_devices
def test_transforms_reach_the_values_of_tensors_and_tuples(device: str) -> None:
    indices = torch.tensor([[2, 0, 0], [1, 3, 3]], device=device)  # an element is given twice
    values, x = random(3, device=device), random(4, 2, device=device)

    def loss(a: st.SparseMatrix) -> Tensor:
        return (a @ x).square().sum()

    def dense(v: Tensor) -> Tensor:
        full = v.new_zeros(3, 4).index_put(tuple(indices), v, accumulate=True)
        return (full @ x).square().sum()

    expected = torch.func.grad(dense)(values)
    for given in (lambda v: (indices, v, (3, 4)), lambda v: torch.sparse_coo_tensor(indices, v, (3, 4))):
        found = torch.func.grad(lambda v, given=given: loss(st.SparseMatrix.from_torch(given(v))))(values)
        assert close(found, expected)
    of_tuple = lambda v: loss(st.SparseMatrix.from_torch((indices, v, (3, 4))))  # noqa: E731
    assert close(*(torch.func.jvp(f, (values,), (2 * values,))[1] for f in (of_tuple, dense)))
    assert close(*(torch.func.vmap(f)(torch.stack([values, -values])) for f in (of_tuple, dense)))


@on_devices
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_scipy_receives_a_copy(device: str, dtype: torch.dtype | None) -> None:
    a, full = matrix(ROWS, COLS, 0.4, device=device, dtype=dtype)
    found = a.to_scipy()
    assert isinstance(found, scipy.sparse.csr_array) and found.shape == (ROWS, COLS) and found.has_canonical_format
    assert found.dtype == ("float64" if dtype == torch.float64 else "float32")
    assert (found.toarray() == full.numpy()).all()
    found.data[:] = -7
    found.indices[:] = 0
    assert torch.equal(a.to_dense().double().cpu(), full)
    twice = st.SparseMatrix.from_edge_index(torch.tensor([[0, 0], [1, 1]], device=device))
    assert twice.to_scipy().toarray().tolist() == [[0, 0], [2, 0]]
    learned = twice.with_values(torch.tensor([1.0, 2], device=device, requires_grad=True))
    assert learned.to_scipy()[1, 0] == 3
    assert torch.equal(st.SparseMatrix.from_scipy(found).to_dense(), torch.from_numpy(found.toarray()))


# ---- Arithmetic ----


def pair(device: str, kind: str) -> tuple[st.SparseMatrix, st.SparseMatrix]:
    """Two matrices of float64 whose values learn: of other patterns, of one pattern, or with repeated entries."""
    a, _ = matrix(ROWS, COLS, 0.4, device=device, dtype=torch.float64, seed=1)
    if kind == "same pattern":
        return a, a.with_values(torch.rand_like(a.values))
    b, _ = matrix(ROWS, COLS, 0.5, device=device, dtype=torch.float64, seed=2)
    if kind == "repeated":
        row, col = b.places()
        twice = torch.cat([row, row[:9]]), torch.cat([col, col[:9]])
        b = st.SparseMatrix._of_entries(*twice, torch.rand(b.nnz + 9, dtype=torch.float64, device=device), (ROWS, COLS))
        assert b._order.repeats
    return a, b


def column(device: str) -> Tensor:
    return random(ROWS, 1, device=device)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "torch.add": torch.add,
    "torch.sub": torch.sub,
    "torch.mul": torch.mul,
}


@on_devices
@pytest.mark.parametrize("kind", ["other pattern", "same pattern", "repeated"])
@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_of_two_matrices_is_that_of_dense_ones(device: str, name: str, kind: str) -> None:
    a, b = pair(device, kind)
    for first, second in ((a, b), (b, a), (a, a)):
        values = [one.values.clone().requires_grad_() for one in (first, second)]

        def ours(x: Tensor, y: Tensor, first: Any = first, second: Any = second) -> Tensor:
            found = BINARY[name](first.with_values(x), second.with_values(y))
            assert found.nnz == found.values.numel() or found._entries.token is first._entries.token
            return found.to_dense()

        def dense(x: Tensor, y: Tensor, first: Any = first, second: Any = second) -> Tensor:
            return BINARY[name](first.with_values(x).to_dense(), second.with_values(y).to_dense())

        assert close(ours(*values), dense(*values))
        assert torch.autograd.gradcheck(ours, values, fast_mode=True)
        g = random(ROWS, COLS, device=device)
        for one, other in zip(*(torch.autograd.grad(f(*values), values, g) for f in (ours, dense)), strict=True):
            assert close(one, other)
        tangents = tuple(torch.rand_like(x) for x in values)
        assert close(*(torch.func.jvp(f, tuple(values), tangents)[1] for f in (ours, dense)))
        stacked = tuple(torch.stack([x, 2 * x]) for x in values)
        assert close(*(torch.func.vmap(f)(*stacked) for f in (ours, dense)))


FACTORS: dict[str, Callable[[str], Any]] = {
    "a number": lambda device: 2.5,
    "an integer": lambda device: 3,
    "a tensor of one number": lambda device: torch.tensor(2.5, device=device, dtype=torch.float64),
    "one element": lambda device: torch.full((1, 1), 2.5, device=device, dtype=torch.float64),
    "a row": lambda device: random(COLS, device=device) + 3,
    "a row [1, cols]": lambda device: random(1, COLS, device=device) + 3,
    "a column": lambda device: column(device) + 3,
    "a matrix": lambda device: random(ROWS, COLS, device=device) + 3,
}


@on_devices
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("name", FACTORS)
def test_factors_are_broadcast_to_the_nonzeros(device: str, name: str, repeats: bool) -> None:
    a, factor = pair(device, "repeated")[repeats], FACTORS[name](device)
    full = a.to_dense()
    forms: list[tuple[Any, Any]] = [
        (a * factor, full * factor),
        (factor * a, full * factor),
        (a / factor, full / factor),
        (torch.mul(a, factor), full * factor),  # type: ignore[call-overload]
        (torch.div(a, factor), full / factor),  # type: ignore[call-overload]
        (-a, -full),
        (torch.neg(a), -full),  # type: ignore[call-overload]
    ]
    if isinstance(factor, Tensor):
        forms += [(torch.mul(factor, a), full * factor), (factor.mul(a), full * factor)]  # type: ignore[call-overload]
    for found, expected in forms:
        assert isinstance(found, st.SparseMatrix) and found.nnz == a.nnz and close(found.to_dense(), expected)
    if not isinstance(factor, Tensor):
        return
    operands = (a.values.clone().requires_grad_(), factor.clone().requires_grad_())
    for one in (operator.mul, operator.truediv):
        assert torch.autograd.gradcheck(
            lambda v, f, one=one: one(a.with_values(v), f).to_dense(), operands, fast_mode=True
        )


def test_types_of_results_are_promoted_as_those_of_tensors() -> None:
    a, _ = matrix(ROWS, COLS, 0.4, dtype=torch.float16)
    pattern, ones = matrix(ROWS, COLS, 0.4, seed=5)
    for b in (a.float(), a.double(), a.bfloat16(), pattern):
        for sign in (operator.add, operator.mul):
            dtype = torch.promote_types(a.dtype, b.dtype) if b is not pattern else a.dtype
            assert sign(a, b).dtype == sign(b, a).dtype == dtype
    assert (a * 2).dtype == torch.float16 and (a * torch.ones(COLS)).dtype == torch.float32
    assert (pattern * 2).dtype == torch.float32 and (pattern * torch.ones(COLS).double()).dtype == torch.float64
    assert torch.equal((pattern + pattern).to_dense().double(), 2 * ones)
    twice = st.SparseMatrix.from_edge_index(torch.tensor([[0, 0], [1, 1]]))
    assert (twice * 3).to_dense()[1, 0] == 6 and (twice + twice).to_dense()[1, 0] == 4
    assert (twice * twice).to_dense()[1, 0] == 4


def test_sums_of_many_matrices_start_with_zero() -> None:
    a, full = matrix(ROWS, COLS, 0.4, dtype=torch.float64)
    assert torch.equal(sum([a, a, a]).to_dense(), 3 * full)  # type: ignore[arg-type, union-attr]


@on_devices
def test_results_keep_format_and_kernels(device: str) -> None:
    a, _ = matrix(ROWS, COLS, 0.4, device=device, dtype=torch.float32, format="csr")
    b, _ = matrix(ROWS, COLS, 0.5, device=device, dtype=torch.float32)
    for c in (a * 2, a + b, a * b, a - a):
        assert c._bare.format == "csr"


REFUSED: dict[str, tuple[type[Exception], Callable[[st.SparseMatrix], object]]] = {
    "a sum with a number": (TypeError, lambda a: a + 1),
    "a sum with a dense matrix": (TypeError, lambda a: a + torch.ones(ROWS, COLS)),
    "a dense matrix and a sum": (TypeError, lambda a: torch.ones(ROWS, COLS) + a),
    "a dense matrix less a matrix": (TypeError, lambda a: torch.ones(ROWS, COLS) - a),
    "a number and a sum": (TypeError, lambda a: 1 + a),
    "a quotient of matrices": (TypeError, lambda a: a / a),
    "a number by a matrix": (TypeError, lambda a: 1 / a),
    "a dense matrix by a matrix": (TypeError, lambda a: torch.ones(ROWS, COLS) / a),
    "a name": (TypeError, lambda a: a * "2"),
    "an array": (TypeError, lambda a: a * a.to_dense().numpy()),
    "an array from the left": (TypeError, lambda a: a.to_dense().numpy() * a),
    "torch.add of a number": (TypeError, lambda a: torch.add(a, 1)),  # type: ignore[call-overload]
    "other shapes": (sptile.UsageError, lambda a: a + a.t()),
    "a product of other shapes": (sptile.UsageError, lambda a: a * a.t()),
    "a row of another width": (sptile.UsageError, lambda a: a * torch.ones(ROWS)),
    "a cube": (sptile.UsageError, lambda a: a * torch.ones(1, ROWS, COLS)),
    "a sparse tensor": (sptile.UsageError, lambda a: a * a.to_torch()),
    "complex numbers": (sptile.UsageError, lambda a: a * torch.tensor(1j)),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_arithmetic_that_is_not_defined_is_refused(case: str) -> None:
    kind, call = REFUSED[case]
    with pytest.raises(kind, match=r"A [-+*/] |unsupported operand|values must be"):
        call(matrix(ROWS, COLS, 0.4, dtype=torch.float32)[0])


def test_arithmetic_compiles_whole() -> None:
    a, b = pair("cpu", "repeated")

    def function(a: st.SparseMatrix, b: st.SparseMatrix, x: Tensor, row: Tensor) -> Tensor:
        c = (2 * a - b / 3) * row
        d = -(a * 0.5 + a) + c
        return d @ x + (a * torch.ones_like(row)) @ x

    x, row = random(COLS, 3, learn=True), random(COLS, learn=True)
    torch._dynamo.reset()
    found = torch.compile(function, fullgraph=True, backend="aot_eager")(a, b, x, row)
    expected = function(a, b, x, row)
    assert close(found, expected)
    gradients = (torch.autograd.grad(y.square().sum(), (x, row)) for y in (found, expected))
    for one, other in zip(*gradients, strict=True):
        assert close(one, other)


# ---- Operands ----


class Copies(TorchDispatchMode):
    """Counts elements of floating-point tensors that operations outside sptile write."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):  # type: ignore[no-untyped-def]
        out = function(*arguments, **(keywords or {}))
        if function.namespace != "sptile" and isinstance(out, Tensor) and "empty" not in str(function):
            places = {x.untyped_storage().data_ptr() for x in arguments if isinstance(x, Tensor)}
            self.elements += 0 if out.untyped_storage().data_ptr() in places else out.numel()
        return out


BATCHES: dict[str, Callable[[str], Tensor]] = {
    "contiguous": lambda device: random(5, COLS, 3, device=device),
    "two dimensions": lambda device: random(2, 3, COLS, 3, device=device),
    "one": lambda device: random(1, COLS, 3, device=device),
    "none": lambda device: random(0, COLS, 3, device=device),
    "no columns": lambda device: random(5, COLS, 0, device=device),
    "one column": lambda device: random(5, COLS, 1, device=device),
    "a batch of as many as columns": lambda device: random(COLS, COLS, 3, device=device),
    "some columns": lambda device: random(5, COLS, 9, device=device)[..., 2:5],
    "some of the batch": lambda device: random(9, COLS, 3, device=device)[::2],
    "nodes first": lambda device: random(COLS, 5, 3, device=device).transpose(0, 1),
    "columns first": lambda device: random(5, 3, COLS, device=device).transpose(1, 2),
    "one for all": lambda device: random(COLS, 3, device=device).expand(5, COLS, 3),
}
IN_PLACE = {"contiguous", "two dimensions", "one", "some columns", "some of the batch", "nodes first"}


@on_devices
@pytest.mark.parametrize("kind", ["pattern", "values", "learned", "repeated"])
@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_is_multiplied_as_by_a_dense_matrix(device: str, name: str, kind: str) -> None:
    a = matrix(ROWS, COLS, 0.4, device=device)[0] if kind == "pattern" else pair(device, "repeated")[kind == "repeated"]
    learned = a.values.clone().requires_grad_() if kind == "learned" else None
    a = a if learned is None else a.with_values(learned)
    x = BATCHES[name](device).requires_grad_()
    operands = [x] if learned is None else [x, learned]
    for form in (lambda: a @ x, lambda: torch.matmul(a, x)):  # type: ignore[call-overload]
        found, expected = form(), a.to_dense().double() @ x
        assert close(found, expected) and found.shape == expected.shape
        g = random(*expected.shape, device=device)
        for one, other in zip(*(torch.autograd.grad(y, operands, g) for y in (found, expected)), strict=True):
            assert close(one, other)


@on_devices
@pytest.mark.parametrize("name", sorted(IN_PLACE))
def test_a_batch_is_not_copied(device: str, name: str) -> None:
    a, x = pair(device, "repeated")[0], BATCHES[name](device).requires_grad_()
    g = torch.ones((*x.shape[:-2], ROWS, x.shape[-1]), dtype=x.dtype, device=device)
    torch.autograd.grad(a @ x, x, g)  # makes the transpose
    with Copies() as copies:
        torch.autograd.grad(a @ x, x, g)
    assert copies.elements == 0


@on_devices
def test_a_batch_may_have_more_matrices_than_a_plan_has_heads(device: str) -> None:
    a = st.SparseMatrix.from_torch(torch.tensor([[0.0, 2], [3, 0]], device=device))
    x = torch.arange(140_000.0, device=device).view(70_000, 2, 1)
    assert torch.equal(a @ x, a.to_dense() @ x)


@on_devices
def test_slices_of_matrices_are_not_copied(device: str) -> None:
    a = pair(device, "repeated")[0]
    wide = random(2 * COLS, 9, device=device)
    for x in (wide[:COLS], wide[::2, 2:7], wide[3 : 3 + COLS, :1]):
        a @ x
        with Copies() as copies:
            found = a @ x
        assert copies.elements == 0 and close(found, a.to_dense() @ x)


@on_devices
def test_derivatives_of_batches_of_all_kinds(device: str) -> None:
    a = pair(device, "repeated")[0]
    x = random(4, COLS, 3, device=device)
    ours, dense = (lambda x: a @ x), (lambda x: a.to_dense() @ x)
    assert torch.autograd.gradcheck(ours, x.requires_grad_()) and torch.autograd.gradgradcheck(ours, x)
    x = x.detach()
    for transform in (
        lambda f: torch.func.grad(lambda x: f(x).square().sum())(x),
        lambda f: torch.func.jvp(f, (x,), (2 * x,))[1],
        lambda f: torch.func.vmap(f, 1, 2)(torch.stack([x, -x], 1)),
        lambda f: torch.func.jacrev(f)(x),
        lambda f: torch.func.hessian(lambda x: f(x).square().sum())(x[:1]),
    ):
        assert close(transform(ours), transform(dense))
    y = ours(x.requires_grad_())
    g = random(2, *y.shape, device=device)
    assert close(torch.autograd.grad(y, x, g, is_grads_batched=True)[0], a.to_dense().t() @ g)


def test_a_batch_compiles_for_all_matrices() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda a, x: a @ x, fullgraph=True, backend="aot_eager")
    for seed in range(3):
        a, full = matrix(ROWS, COLS, 0.4, dtype=torch.float64, seed=seed)
        x = random(seed + 2, COLS, 3, learn=True)
        found = compiled(a, x)
        assert close(found, full @ x)
        (g,) = torch.autograd.grad(found.sum(), x)
        assert close(g, full.sum(0).view(-1, 1).expand(x.shape))


def test_autocast_applies_to_batches() -> None:
    a, full = matrix(ROWS, COLS, 0.4, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        found = a @ random(3, COLS, 2, dtype=torch.float32)
    assert found.dtype == torch.bfloat16 and found.shape == (3, ROWS, 2)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((COLS, 2, 3), r"use spmm\(A, x\)"), ((2, ROWS, 3), r"\[\.\.\., 8, n\]"), ((2, 2, COLS + 1, 3), r"\[\.\.\., 8, n\]")],
)
def test_a_batch_of_another_shape_is_refused(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(sptile.UsageError, match=message):
        matrix(ROWS, COLS, 0.4)[0] @ torch.ones(shape)
