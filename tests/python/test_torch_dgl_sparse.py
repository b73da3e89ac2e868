"""Functions with the names of dgl.sparse, compared with dense mathematics in float64, and their gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_problems import on_devices  # noqa: E402

import sptile.torch.sparse as dglsp  # noqa: E402
from sptile.errors import ArgumentTypeError, BadInputError, UsageError  # noqa: E402

SHAPE = (5, 6)
# Unsorted, with an empty row and an empty column; the second set of indices has a duplicate.
INDICES = torch.tensor([[4, 0, 2, 0, 4, 1, 2], [1, 3, 5, 0, 0, 3, 2]])
REPEATED = torch.tensor([[4, 0, 4, 2, 0], [1, 3, 1, 5, 0]])
# The same nonzeros in rows and columns, in another order.
SYMMETRIC = torch.tensor([[1, 0, 2, 0], [0, 1, 2, 0]])
DIMS = [None, 0, 1]
both_indices = pytest.mark.parametrize("indices", [INDICES, REPEATED], ids=["distinct", "repeated"])
all_indices = pytest.mark.parametrize(
    "indices", [INDICES, REPEATED, SYMMETRIC], ids=["distinct", "repeated", "symmetric"]
)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, dtype=torch.float64, generator=generator) + 0.5


def made(indices: Tensor = INDICES, width: int | None = None, seed: int = 0, shape: tuple[int, int] = SHAPE):
    """A matrix with one value per nonzero, or a vector."""
    size = indices.shape[1]
    return dglsp.spmatrix(indices, numbers(*((size,) if width is None else (size, width)), seed=seed), shape)


def dense(indices: Tensor, val: Tensor, shape: tuple[int, int] = SHAPE) -> Tensor:
    zeros = torch.zeros(*shape, *val.shape[1:], dtype=val.dtype)
    return zeros.index_put((indices[0], indices[1]), val, accumulate=True)


def same_gradients(function, expected, *inputs: Tensor) -> None:
    """Results and gradients of two functions of tensors are equal."""
    results = []
    for one in (function, expected):
        leaves = [x.clone().requires_grad_() for x in inputs]
        out = one(*leaves)
        weights = numbers(*out.shape, seed=9)
        results.append((out.detach(), *torch.autograd.grad((out * weights).sum(), leaves)))
    for found, wanted in zip(*results, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


# ---- Products ----


@both_indices
@pytest.mark.parametrize("columns", [(), (3,)], ids=["vector", "matrix"])
def test_spmm(indices: Tensor, columns: tuple[int, ...]) -> None:
    A = made(indices)
    same_gradients(
        lambda val, x: dglsp.val_like(A, val) @ x,
        lambda val, x: dense(indices, val) @ x,
        A.val, numbers(6, *columns, seed=1),
    )  # fmt: skip


@both_indices
def test_bspmm(indices: Tensor) -> None:
    A = made(indices, 4)
    same_gradients(
        lambda val, x: dglsp.bspmm(dglsp.val_like(A, val), x),
        lambda val, x: torch.einsum("lmk,mnk->lnk", dense(indices, val), x),
        A.val, numbers(6, 3, 4, seed=1),
    )  # fmt: skip


@both_indices
def test_sddmm(indices: Tensor) -> None:
    A, (row, col) = made(indices), indices
    for x, y in (((5, 3), (3, 6)), ((5,), (6,))):
        same_gradients(
            lambda val, x, y: dglsp.sddmm(dglsp.val_like(A, val), x, y).val,
            lambda val, x, y: val * (x @ y if x.dim() == 2 else torch.outer(x, y))[row, col],
            A.val, numbers(*x, seed=1), numbers(*y, seed=2),
        )  # fmt: skip


@pytest.mark.parametrize("width", [None, 4])
def test_bsddmm(width: int | None) -> None:
    A, (row, col) = made(width=width), INDICES
    same_gradients(
        lambda val, x, y: dglsp.bsddmm(dglsp.val_like(A, val), x, y).val,
        lambda val, x, y: val.view(7, -1) * torch.einsum("lmk,mnk->lnk", x, y)[row, col],
        A.val, numbers(5, 3, 4, seed=1), numbers(3, 6, 4, seed=2),
    )  # fmt: skip


def test_spspmm() -> None:
    A, B = made(), made(INDICES.flip(0), seed=3, shape=(6, 5))
    same_gradients(
        lambda a, b: (dglsp.val_like(A, a) @ dglsp.val_like(B, b)).to_dense(),
        lambda a, b: dense(INDICES, a) @ dense(INDICES.flip(0), b, (6, 5)),
        A.val, B.val,
    )  # fmt: skip
    half = dglsp.spspmm(A.to(dtype=torch.float16), B.to(dtype=torch.float16))
    assert half.dtype == torch.float16 and not half.has_duplicate()
    torch.testing.assert_close(half.to_dense().double(), A.to_dense() @ B.to_dense(), rtol=2e-3, atol=0)


def test_matmul_chooses_the_product() -> None:
    A, x = made(), numbers(6, 2)
    torch.testing.assert_close(dglsp.matmul(A, x), dglsp.spmm(A, x))
    assert isinstance(dglsp.matmul(A, A.T), dglsp.SparseMatrix)
    torch.testing.assert_close(dglsp.matmul(x.T, x), x.T @ x)
    with pytest.raises(UsageError, match="dense X and a sparse A"):
        dglsp.matmul(x.T, A.T)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("width", [None, 3])
@all_indices
def test_softmax(dim: int, width: int | None, indices: Tensor) -> None:
    A, group = made(indices, width, shape=(3, 3) if indices is SYMMETRIC else SHAPE), indices[1 - dim]

    def expected(val: Tensor) -> Tensor:
        top = val.exp()
        return top / torch.stack([top[group == one].sum(0) for one in group])

    same_gradients(lambda val: dglsp.val_like(A, val).softmax(dim).val, expected, A.val)


# ---- Reductions ----

REDUCTIONS = {
    "sum": lambda x: x.sum(0),
    "smax": lambda x: x.amax(0),
    "smin": lambda x: x.amin(0),
    "smean": lambda x: x.mean(0),
    "sprod": lambda x: x.prod(0),
}


@pytest.mark.parametrize("rtype", REDUCTIONS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("width", [None, 3])
@all_indices
def test_reductions(rtype: str, dim: int | None, width: int | None, indices: Tensor) -> None:
    A = made(indices, width, shape=(3, 3) if indices is SYMMETRIC else SHAPE)

    def expected(val: Tensor) -> Tensor:
        if dim is None:
            return REDUCTIONS[rtype](val)
        parts = [val[indices[1 - dim] == one] for one in range(A.shape[1 - dim])]
        return torch.stack([REDUCTIONS[rtype](x) if len(x) else x.sum(0) for x in parts])

    same_gradients(lambda val: dglsp.reduce(dglsp.val_like(A, val), dim, rtype), expected, A.val)
    torch.testing.assert_close(getattr(A, rtype)(dim), getattr(dglsp, rtype)(A, dim))


@pytest.mark.parametrize("rtype", ["sum", "smax", "smin", "sprod"])
@pytest.mark.parametrize("dim", DIMS)
def test_reductions_of_integers_are_integers(rtype: str, dim: int | None) -> None:
    A = made()
    whole = dglsp.val_like(A, torch.arange(1, 8))
    expected = dglsp.reduce(whole.double(), dim, rtype)
    assert torch.equal(dglsp.reduce(whole, dim, rtype), expected.long())


def test_reductions_of_nothing_are_zero() -> None:
    A = dglsp.spmatrix(torch.empty(2, 0, dtype=torch.int64), torch.empty(0, 2), (3, 4))
    for rtype in REDUCTIONS:
        assert torch.equal(dglsp.reduce(A, None, rtype), torch.zeros(2))
        assert torch.equal(dglsp.reduce(A, 0, rtype), torch.zeros(4, 2))


# ---- Elementwise operations ----


@pytest.mark.parametrize("width", [None, 2])
def test_sums_and_products_of_matrices(width: int | None) -> None:
    A, B = made(INDICES, width), made(REPEATED, width, seed=4)
    for own, of_dense in ((dglsp.add, torch.add), (dglsp.sub, torch.sub), (dglsp.mul, torch.mul)):
        same_gradients(
            lambda a, b, own=own: own(dglsp.val_like(A, a), dglsp.val_like(B, b)).to_dense(),
            lambda a, b, of_dense=of_dense: of_dense(dense(INDICES, a), dense(REPEATED, b)),
            A.val, B.val,
        )  # fmt: skip
        assert not own(A, B).has_duplicate()
    assert dglsp.mul(A, B).nnz == 4


def test_a_quotient_keeps_the_order_of_the_dividend() -> None:
    order = torch.tensor([3, 1, 0, 2, 6, 5, 4])
    A, B = made(), dglsp.spmatrix(INDICES[:, order], numbers(7, seed=5), SHAPE)
    quotient = A / B
    assert torch.equal(quotient.indices(), A.indices())
    torch.testing.assert_close(quotient.val, A.val / B.val[torch.argsort(order)])
    for other in (made(REPEATED), made(INDICES[:, :6])):
        with pytest.raises(UsageError, match="same nonzeros"):
            A / other


def test_numbers_and_operators() -> None:
    A = made()
    for found, expected in (
        (A * 2, A.val * 2),
        (2 * A, A.val * 2),
        (A / 2, A.val / 2),
        (A**2, A.val**2),
        (-A, -A.val),
        (A * torch.tensor(2.0), A.val * 2),
        (A + A - A, A.coalesce().val),
    ):
        torch.testing.assert_close(found.val, expected)
    with pytest.raises(ArgumentTypeError, match="scalar must be a number"):
        A ** torch.ones(2)


@pytest.mark.parametrize("width", [None, 2])
@pytest.mark.parametrize("shape", [(6,), (1, 6), (5, 1)], ids=str)
def test_broadcasts(width: int | None, shape: tuple[int, ...]) -> None:
    A, (row, col) = made(width=width), INDICES
    for op, own in (("add", "sp_add_v"), ("sub", "sp_sub_v"), ("mul", "sp_mul_v"), ("truediv", "sp_div_v")):
        calculate = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "truediv": torch.div}[op]

        def expected(val: Tensor, v: Tensor, calculate=calculate) -> Tensor:
            chosen = v.expand(*SHAPE)[row, col]
            return calculate(val, chosen if width is None else chosen.unsqueeze(1))

        same_gradients(
            lambda val, v, own=own: getattr(dglsp, own)(dglsp.val_like(A, val), v).val, expected, A.val, numbers(*shape)
        )
        torch.testing.assert_close(dglsp.sp_broadcast_v(A, numbers(*shape), op).val, expected(A.val, numbers(*shape)))


# ---- Creation and conversion ----


@on_devices
def test_formats_agree(device: str) -> None:
    A = made().to(device)
    for pointers, create in ((A.csr(), dglsp.from_csr), (A.csc(), dglsp.from_csc)):
        crow, inner, order = pointers
        again = create(crow, inner, A.val[order], SHAPE)
        torch.testing.assert_close(again.to_dense(), A.to_dense())
        assert create(crow, inner).nnz == 7
    for convert in (dglsp.to_torch_sparse_coo, dglsp.to_torch_sparse_csr, dglsp.to_torch_sparse_csc):
        tensor = convert(A)
        torch.testing.assert_close(tensor.to_dense(), A.to_dense())
        torch.testing.assert_close(dglsp.from_torch_sparse(tensor).to_dense(), A.to_dense())
        torch.testing.assert_close(convert(made(width=2).to(device)).to_dense(), made(width=2).to(device).to_dense())
    assert A.coalesce().csr()[2] is None and A.T.shape == (6, 5)
    torch.testing.assert_close(A.T.to_dense(), A.to_dense().T)
    torch.testing.assert_close(A.matrix.to_dense(), A.to_dense())


def test_diagonals() -> None:
    D = dglsp.diag(torch.tensor([2.0, 4.0]), (2, 3))
    assert D.is_diag() and D.shape == (2, 3) and not made().is_diag()
    assert torch.equal(dglsp.diag(torch.tensor([2.0, 4.0])).inv().val, torch.tensor([0.5, 0.25]))
    assert dglsp.identity((3, 2), d=4, dtype=torch.float64).val.shape == (2, 4)
    for matrix in (D, made(), dglsp.identity((2, 2), d=2)):
        with pytest.raises(UsageError, match="square diagonal"):
            matrix.inv()


def test_values_keep_their_order() -> None:
    val = torch.arange(5)
    A = dglsp.spmatrix(REPEATED, val, SHAPE)
    assert torch.equal(A.val, val) and torch.equal(A.indices(), REPEATED) and A.nnz == 5
    assert A.has_duplicate() and A.coalesce().nnz == 4
    assert A.float().dtype == torch.float32 and A.to(dtype=torch.int64) is A and A.cpu() is A
    text = "shape=(5, 6), nnz=5, val_size=(2,))"
    assert repr(made(REPEATED, 2)).endswith(text) and "values=tensor([0, 1, 2, 3, 4])" in repr(A)


def test_wrong_arguments_are_refused() -> None:
    A, wide = made(), made(width=2)
    for call, error, message in (
        (lambda: dglsp.spmatrix(INDICES, numbers(6)), UsageError, r"val must have shape \[7\] or \[7, D\], got \[6\]"),
        (lambda: dglsp.spmatrix(INDICES, numbers(7, 2, 2)), UsageError, "val must have shape"),
        (lambda: dglsp.spmatrix(INDICES[0]), UsageError, r"indices must be a tensor \[2, nnz\]"),
        (lambda: dglsp.spmatrix(INDICES, shape=(2, 2)), BadInputError, "row"),
        (lambda: dglsp.spmatrix(INDICES - 1), BadInputError, "row|col"),
        (lambda: dglsp.from_csr(torch.tensor([0, 9]), torch.tensor([0])), BadInputError, "crow must increase"),
        (lambda: dglsp.diag(numbers(2), (3, 3)), UsageError, "smaller side"),
        (lambda: dglsp.val_like(A, [1.0]), ArgumentTypeError, "val must be a torch.Tensor, got list"),
        (lambda: wide @ numbers(6, 2), UsageError, r"X must have shape \[6, N, 2\]"),
        (lambda: A @ numbers(6, 2, 2), UsageError, r"X must have shape \[6\] or \[6, N\]"),
        (lambda: A @ numbers(5, 2), UsageError, "x must have shape"),
        (lambda: A @ A, UsageError, "requires shapes"),
        (lambda: wide @ wide.T, UsageError, "requires shapes"),
        (lambda: dglsp.val_like(A, torch.arange(7)) @ torch.ones(6), UsageError, "float32"),
        (lambda: dglsp.sddmm(wide, numbers(5, 3), numbers(3, 6)), UsageError, "X1 and X2 must have shape"),
        (lambda: dglsp.softmax(A, 2), UsageError, "dim must be 0 or 1, got 2"),
        (lambda: dglsp.reduce(A, 2), UsageError, "dim must be 0 or 1, got 2"),
        (lambda: dglsp.reduce(A, 0, "max"), UsageError, "rtype must be one of 'sum', 'smax'"),
        (lambda: dglsp.sp_broadcast_v(A, numbers(5), "add"), UsageError, "v must have shape"),
        (lambda: dglsp.sp_broadcast_v(A, numbers(6), "pow"), UsageError, "op must be 'add'"),
        (lambda: A + A.T, UsageError, "matrices and values of one shape"),
        (lambda: A + wide, UsageError, "matrices and values of one shape"),
        (lambda: A + 1, ArgumentTypeError, "B must be a SparseMatrix of sptile.torch.sparse, got int"),
        (lambda: wide.matrix, UsageError, "one value per nonzero, got vectors of 2"),
    ):
        with pytest.raises(error, match=message):
            call()
