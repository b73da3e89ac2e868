"""The functions and the matrix class of `dgl.sparse` (DGL 2.1), with gradients.

>>> import torch, sptile.torch.sparse as dglsp
>>> A = dglsp.spmatrix(torch.tensor([[0, 1], [1, 0]]), torch.tensor([2.0, 3.0]))
>>> dglsp.softmax(A) @ torch.tensor([1.0, 2.0])
tensor([2., 1.])

Products, reductions and softmax use the kernels of sptile. A product of two sparse matrices, and reductions of
integers, use PyTorch.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partialmethod
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from ..errors import ArgumentTypeError, UsageError
from . import functions, matrix
from .handle import DTYPES
from .operands import statistic
from .pattern import EntryOrder, check_list_of_ids, rows_of_pointers
from .sources import source_of

Shape = tuple[int, int]
Number = float  # the class has a method of that name


def _cast(name: str, dtype: torch.dtype) -> Callable[[SparseMatrix], SparseMatrix]:
    """Returns a method that converts the values to a type."""

    def cast(self: SparseMatrix) -> SparseMatrix:
        return self.to(dtype=dtype)

    cast.__name__, cast.__qualname__ = name, f"SparseMatrix.{name}"
    cast.__doc__ = f"""Returns the matrix with {str(dtype).removeprefix("torch.")} values.

        Returns
        -------
        SparseMatrix
            The matrix itself if nothing changes.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).{name}().dtype
        {dtype}
        """
    return cast


class SparseMatrix:
    """A sparse matrix whose nonzeros have one value each, or a vector of values. Created by `spmatrix` and others.

    The methods `softmax`, `reduce`, `sum`, `smax`, `smin`, `smean` and `sprod` are the functions of the same names, and
    the operators ``@``, ``+``, ``-``, ``*``, ``/`` and ``**`` are `matmul`, `add`, `sub`, `mul`, `div` and `power`.

    Attributes
    ----------
    val : Tensor
        Values, shape (nnz,) or (nnz, D), in the order in which the nonzeros were given. Do not modify them in place.
    shape : tuple of int
        Rows and columns.
    nnz : int
        Number of nonzeros, with duplicates.
    dtype : torch.dtype
        Type of the values. Products require float32, float64, float16 or bfloat16.
    device : torch.device
        Device of the matrix.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.spmatrix(torch.tensor([[0, 1], [1, 0]]), torch.tensor([2.0, 3.0]))
    SparseMatrix(indices=tensor([[0, 1],
                                 [1, 0]]),
                 values=tensor([2., 3.]),
                 shape=(2, 2), nnz=2)
    """

    val: Tensor
    shape: Shape
    nnz: int
    dtype: torch.dtype
    device: torch.device
    _pattern: matrix.SparseMatrix  # without values
    _matrix: matrix.SparseMatrix | None  # with values, for products
    # Functions of this module, which defines them below.
    softmax: Callable[..., SparseMatrix]
    reduce: Callable[..., Tensor]
    sum: Callable[..., Tensor]
    smax: Callable[..., Tensor]
    smin: Callable[..., Tensor]
    smean: Callable[..., Tensor]
    sprod: Callable[..., Tensor]

    @classmethod
    def _of(cls, pattern: matrix.SparseMatrix, val: Tensor | None) -> SparseMatrix:
        given = pattern._entries.given
        if val is None:
            val = torch.ones(given, device=pattern.device)
        if not isinstance(val, Tensor):
            raise ArgumentTypeError(f"val must be a torch.Tensor, got {type(val).__name__}")
        if val.layout != torch.strided or val.dim() not in (1, 2) or val.shape[0] != given:
            raise UsageError(f"val must have shape [{given}] or [{given}, D], got {list(val.shape)}")
        if val.device != pattern.device:
            raise UsageError(f"val must be on {pattern.device}, the device of the indices, got {val.device}")
        made = cls.__new__(cls)
        made.val, made.nnz, made.dtype, made.device = val, given, val.dtype, pattern.device
        made.shape = pattern.shape[0], pattern.shape[1]
        made._pattern, made._matrix = pattern, None
        return made

    @property
    def matrix(self) -> matrix.SparseMatrix:
        """The `sptile.torch.SparseMatrix` of a matrix with one floating-point value per nonzero.

        Raises
        ------
        UsageError
            If the values are vectors or integers.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).matrix
        SparseMatrix(2 x 2, 2 nonzeros, torch.float32, cpu)
        """
        if self._matrix is None:
            if self.val.dim() > 1:
                raise UsageError(f"A must have one value per nonzero, got vectors of {self.val.shape[1]}")
            self._matrix = self._pattern.with_values(self.val)
        return self._matrix

    @property
    def row(self) -> Tensor:
        """Row indices of the nonzeros, int64, shape (nnz,).

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).row
        tensor([0, 1])
        """
        return self.coo()[0]

    @property
    def col(self) -> Tensor:
        """Column indices of the nonzeros, int64, shape (nnz,).

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).col
        tensor([0, 1])
        """
        return self.coo()[1]

    def coo(self) -> tuple[Tensor, Tensor]:
        """Returns the row and column indices of the nonzeros.

        Returns
        -------
        tuple of Tensor
            Rows and columns, int64, shape (nnz,) each.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).coo()
        (tensor([0, 1]), tensor([0, 1]))
        """
        return self._pattern.places()

    def indices(self) -> Tensor:
        """Returns the row and column indices of the nonzeros in one tensor.

        Returns
        -------
        Tensor
            Indices, int64, shape (2, nnz).

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).indices()
        tensor([[0, 1],
                [0, 1]])
        """
        return torch.stack(self.coo())

    def csr(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns the arrays of the CSR format.

        Returns
        -------
        tuple of Tensor
            Row pointers, column indices, and the position in `val` of each nonzero; None if that is the order of `val`.

        Examples
        --------
        >>> import torch, sptile.torch.sparse as dglsp
        >>> dglsp.spmatrix(torch.tensor([[1, 2, 1], [2, 4, 3]])).csr()
        (tensor([0, 0, 2, 3]), tensor([2, 3, 4]), tensor([0, 2, 1]))
        """
        row, col = self.coo()
        return _compressed(row, col, self.shape[0])

    def csc(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns the arrays of the CSC format.

        Returns
        -------
        tuple of Tensor
            Column pointers, row indices, and the position in `val` of each nonzero; None if that is the order of `val`.

        Examples
        --------
        >>> import torch, sptile.torch.sparse as dglsp
        >>> dglsp.spmatrix(torch.tensor([[1, 2, 1], [2, 4, 3]])).csc()
        (tensor([0, 0, 0, 1, 2, 3]), tensor([1, 1, 2]), tensor([0, 2, 1]))
        """
        row, col = self.coo()
        return _compressed(col, row, self.shape[1])

    def to_dense(self) -> Tensor:
        """Returns the matrix as a dense tensor, in which duplicates are added.

        Returns
        -------
        Tensor
            Dense tensor of shape (rows, cols) or (rows, cols, D).

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).to_dense()
        tensor([[1., 0.],
                [0., 1.]])
        """
        zeros = self.val.new_zeros(*self.shape, *self.val.shape[1:])
        return zeros.index_put(self.coo(), self.val, accumulate=True)

    def transpose(self) -> SparseMatrix:
        """Returns the transpose, with the values in the same order.

        Returns
        -------
        SparseMatrix
            The transpose.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 3)).transpose().shape
        (3, 2)
        """
        return SparseMatrix._of(self._pattern.t(), self.val)

    t = transpose

    @property
    def T(self) -> SparseMatrix:
        """The transpose, see `transpose`.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 3)).T.shape
        (3, 2)
        """
        return self.transpose()

    def to(self, device: Any = None, dtype: torch.dtype | None = None) -> SparseMatrix:
        """Returns the matrix on another device or with values of another type.

        Parameters
        ----------
        device : device, optional
            Device of the result.
        dtype : torch.dtype, optional
            Type of the values.

        Returns
        -------
        SparseMatrix
            The matrix itself if nothing changes.

        Examples
        --------
        >>> import torch, sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).to(dtype=torch.float64).dtype
        torch.float64
        """
        pattern = self._pattern if device is None else self._pattern.to(device)
        val = self.val.to(pattern.device, self.dtype if dtype is None else dtype)
        return self if val is self.val and pattern is self._pattern else SparseMatrix._of(pattern, val)

    def cuda(self) -> SparseMatrix:
        """Returns the matrix on the current CUDA device.

        Returns
        -------
        SparseMatrix
            The matrix itself if it is there already.

        Examples
        --------
        >>> import torch, sptile.torch.sparse as dglsp
        >>> A = dglsp.identity((2, 2))
        >>> A = A.cuda() if torch.cuda.is_available() else A
        """
        return self.to("cuda")

    def cpu(self) -> SparseMatrix:
        """Returns the matrix in host memory.

        Returns
        -------
        SparseMatrix
            The matrix itself if it is there already.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> A = dglsp.identity((2, 2))
        >>> A.cpu() is A
        True
        """
        return self.to("cpu")

    double = _cast("double", torch.float64)
    float = _cast("float", torch.float32)

    def coalesce(self) -> SparseMatrix:
        """Returns the matrix with its nonzeros sorted by row and column, and duplicates added. Gradients reach `val`.

        Returns
        -------
        SparseMatrix
            The matrix without duplicates.

        Examples
        --------
        >>> import torch, sptile.torch.sparse as dglsp
        >>> A = dglsp.spmatrix(torch.tensor([[1, 0, 1], [1, 1, 1]]), torch.tensor([1.0, 2.0, 3.0]))
        >>> A.coalesce().val
        tensor([2., 4.])
        """
        bare = self._pattern._bare
        pattern = matrix.SparseMatrix._of(bare, EntryOrder(bare.pattern.nnz), None)
        return SparseMatrix._of(pattern, self._pattern._order.to_csr(self.val))

    def has_duplicate(self) -> bool:
        """Returns whether a nonzero was given more than once.

        Returns
        -------
        bool
            True if there are duplicates.

        Examples
        --------
        >>> import torch, sptile.torch.sparse as dglsp
        >>> dglsp.spmatrix(torch.tensor([[1, 1], [1, 1]])).has_duplicate()
        True
        """
        return self._pattern._order.repeats

    def is_diag(self) -> bool:
        """Returns whether all nonzeros are on the diagonal.

        Returns
        -------
        bool
            True if they are.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).is_diag()
        True
        """
        return torch.equal(*self.coo())

    def neg(self) -> SparseMatrix:
        """Returns the matrix with negated values.

        Returns
        -------
        SparseMatrix
            The negated matrix.

        Examples
        --------
        >>> import sptile.torch.sparse as dglsp
        >>> dglsp.identity((2, 2)).neg().val
        tensor([-1., -1.])
        """
        return val_like(self, -self.val)

    def inv(self) -> SparseMatrix:
        """Returns the inverse of a square diagonal matrix.

        Returns
        -------
        SparseMatrix
            The inverse.

        Raises
        ------
        UsageError
            If the matrix is not square and diagonal with one value per nonzero.

        Examples
        --------
        >>> import torch, sptile.torch.sparse as dglsp
        >>> dglsp.diag(torch.tensor([1.0, 2.0])).inv().val
        tensor([1.0000, 0.5000])
        """
        if self.shape[0] != self.shape[1] or self.val.dim() > 1 or not self.is_diag():
            raise UsageError(f"inv requires a square diagonal matrix with one value per nonzero, got {_about(self)}")
        return val_like(self, 1.0 / self.val)

    def __matmul__(self, other: Tensor | SparseMatrix) -> Tensor | SparseMatrix:
        return matmul(self, other)

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        return add(self, other)

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return sub(self, other)

    def __mul__(self, other: SparseMatrix | Number | Tensor) -> SparseMatrix:
        return mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: SparseMatrix | Number | Tensor) -> SparseMatrix:
        return div(self, other)

    def __pow__(self, scalar: Number | Tensor) -> SparseMatrix:
        return power(self, scalar)

    __neg__ = neg

    def __repr__(self) -> str:
        size = "" if self.val.dim() == 1 else f", val_size=({self.val.shape[1]},)"
        parts = (
            _indented("indices=", self.indices()),
            _indented("values=", self.val),
            f"shape={self.shape}, nnz={self.nnz}{size})",
        )
        return _indented("SparseMatrix(", ",\n".join(parts))


def _indented(head: str, text: object) -> str:
    """Returns text after a head that its later lines are aligned with."""
    return head + str(text).replace("\n", "\n" + " " * len(head))


def _about(a: SparseMatrix) -> str:
    return f"a matrix of shape {list(a.shape)} with values of shape {list(a.val.shape)}"


def _compressed(outer: Tensor, inner: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """Returns pointers, inner indices and the order of the nonzeros, sorted by the outer index."""
    pointers = torch.cat([outer.new_zeros(1), torch.bincount(outer, minlength=size).cumsum(0)])
    if bool((outer[1:] >= outer[:-1]).all()):
        return pointers, inner, None
    order = torch.argsort(outer, stable=True)
    return pointers, inner[order], order


def _matrix(name: str, a: object) -> SparseMatrix:
    if isinstance(a, SparseMatrix):
        return a
    raise ArgumentTypeError(f"{name} must be a SparseMatrix of sptile.torch.sparse, got {type(a).__name__}")


# ---- Creation ----


def spmatrix(indices: Tensor, val: Tensor | None = None, shape: Shape | None = None) -> SparseMatrix:
    """Creates a sparse matrix from the indices of its nonzeros.

    Parameters
    ----------
    indices : Tensor
        Row and column indices, int32 or int64, shape (2, nnz).
    val : Tensor, optional
        Values of shape (nnz,) or (nnz, D). By default ones in float32.
    shape : tuple of int, optional
        Rows and columns. By default the largest indices + 1.

    Returns
    -------
    SparseMatrix
        The matrix.

    Raises
    ------
    UsageError, BadInputError
        If shapes or devices do not match, or an index is out of range.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.spmatrix(torch.tensor([[1, 1, 2], [2, 4, 3]])).shape
    (3, 5)
    """
    if not isinstance(indices, Tensor) or indices.dim() != 2 or indices.shape[0] != 2:
        found = list(indices.shape) if isinstance(indices, Tensor) else type(indices).__name__
        raise UsageError(f"indices must be a tensor [2, nnz], got {found}")
    return from_coo(indices[0], indices[1], val, shape)


def from_coo(row: Tensor, col: Tensor, val: Tensor | None = None, shape: Shape | None = None) -> SparseMatrix:
    """Creates a sparse matrix from the arrays of the COO format.

    Parameters
    ----------
    row, col : Tensor
        Row and column indices, int32 or int64, shape (nnz,) each.
    val, shape : optional
        See `spmatrix`.

    Returns
    -------
    SparseMatrix
        The matrix.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.from_coo(torch.tensor([1, 2]), torch.tensor([2, 4])).shape
    (3, 5)
    """
    sizes = (_extent("row", row), _extent("col", col)) if shape is None else matrix._sizes(shape)
    return SparseMatrix._of(matrix.SparseMatrix._of_entries(row, col, None, sizes), val)


def _extent(name: str, ids: Tensor) -> int:
    return int(ids.max()) + 1 if check_list_of_ids(ids, name).numel() > 0 else 0


def from_csr(indptr: Tensor, indices: Tensor, val: Tensor | None = None, shape: Shape | None = None) -> SparseMatrix:
    """Creates a sparse matrix from the arrays of the CSR format.

    Parameters
    ----------
    indptr, indices : Tensor
        Row pointers of shape (rows + 1,) and column indices of shape (nnz,), int32 or int64.
    val, shape : optional
        See `spmatrix`.

    Returns
    -------
    SparseMatrix
        The matrix.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.from_csr(torch.tensor([0, 1, 3]), torch.tensor([1, 0, 2])).row
    tensor([0, 1, 1])
    """
    row = rows_of_pointers(check_list_of_ids(indptr, "indptr"), check_list_of_ids(indices, "indices").numel())
    return from_coo(row, indices, val, (indptr.numel() - 1, _extent("indices", indices)) if shape is None else shape)


def from_csc(indptr: Tensor, indices: Tensor, val: Tensor | None = None, shape: Shape | None = None) -> SparseMatrix:
    """Creates a sparse matrix from the arrays of the CSC format.

    Parameters
    ----------
    indptr, indices : Tensor
        Column pointers of shape (cols + 1,) and row indices of shape (nnz,), int32 or int64.
    val, shape : optional
        See `spmatrix`.

    Returns
    -------
    SparseMatrix
        The matrix.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.from_csc(torch.tensor([0, 1, 3]), torch.tensor([1, 0, 2])).col
    tensor([0, 1, 1])
    """
    col = rows_of_pointers(check_list_of_ids(indptr, "indptr"), check_list_of_ids(indices, "indices").numel())
    return from_coo(indices, col, val, (_extent("indices", indices), indptr.numel() - 1) if shape is None else shape)


def from_torch_sparse(torch_sparse_tensor: Tensor) -> SparseMatrix:
    """Creates a sparse matrix from a sparse tensor of torch. Gradients reach its values.

    Parameters
    ----------
    torch_sparse_tensor : Tensor
        Two-dimensional tensor, see `sptile.torch.SparseMatrix.from_torch`.

    Returns
    -------
    SparseMatrix
        The matrix.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.from_torch_sparse(torch.eye(2).to_sparse_csr()).val
    tensor([1., 1.])
    """
    row, col, val, shape, has_pointers = source_of(torch_sparse_tensor)
    return (from_csr if has_pointers else from_coo)(row, col, val, shape)


def val_like(mat: SparseMatrix, val: Tensor) -> SparseMatrix:
    """Creates a sparse matrix with the indices of another one. Both share plans.

    Parameters
    ----------
    mat : SparseMatrix
        Matrix with the indices.
    val : Tensor
        Values of shape (nnz,) or (nnz, D).

    Returns
    -------
    SparseMatrix
        The new matrix.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.val_like(dglsp.identity((2, 2)), torch.tensor([2.0, 3.0])).val
    tensor([2., 3.])
    """
    return SparseMatrix._of(_matrix("mat", mat)._pattern, val)


def diag(val: Tensor, shape: Shape | None = None) -> SparseMatrix:
    """Creates a diagonal matrix.

    Parameters
    ----------
    val : Tensor
        Diagonal, shape (n,) or (n, D).
    shape : tuple of int, optional
        Rows and columns, the smaller of which is n. By default (n, n).

    Returns
    -------
    SparseMatrix
        The matrix.

    Raises
    ------
    UsageError
        If the shape does not match.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.diag(torch.tensor([1.0, 2.0]), (2, 3)).to_dense()
    tensor([[1., 0., 0.],
            [0., 2., 0.]])
    """
    if not isinstance(val, Tensor) or val.dim() not in (1, 2):
        raise UsageError("val must be a tensor [n] or [n, D]")
    size = val.shape[0]
    if shape is not None and min(matrix._sizes(shape)) != size:
        raise UsageError(f"the smaller side of shape must be {size}, the length of the diagonal, got {tuple(shape)}")
    place = torch.arange(size, device=val.device)
    return from_coo(place, place, val, (size, size) if shape is None else shape)


def identity(shape: Shape, d: int | None = None, dtype: torch.dtype | None = None, device: Any = None) -> SparseMatrix:
    """Creates a matrix with ones on the diagonal.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.
    d : int, optional
        Length of the vector of ones per nonzero. By default one value.
    dtype, device : optional
        Type and device of the values.

    Returns
    -------
    SparseMatrix
        The matrix.

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.identity((2, 3), d=4).val.shape
    torch.Size([2, 4])
    """
    size = min(matrix._sizes(shape))
    return diag(torch.ones((size,) if d is None else (size, d), dtype=dtype, device=device), shape)


def to_torch_sparse_coo(spmat: SparseMatrix) -> Tensor:
    """Returns the matrix as a sparse COO tensor of torch.

    Parameters
    ----------
    spmat : SparseMatrix
        The matrix.

    Returns
    -------
    Tensor
        Tensor of shape (rows, cols) or (rows, cols, D), not coalesced.

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.to_torch_sparse_coo(dglsp.identity((2, 2))).layout
    torch.sparse_coo
    """
    shape = (*spmat.shape, *spmat.val.shape[1:])
    return torch.sparse_coo_tensor(spmat.indices(), spmat.val, shape, check_invariants=False)


def to_torch_sparse_csr(spmat: SparseMatrix) -> Tensor:
    """Returns the matrix as a sparse CSR tensor of torch.

    Parameters
    ----------
    spmat : SparseMatrix
        The matrix.

    Returns
    -------
    Tensor
        Tensor of shape (rows, cols) or (rows, cols, D).

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.to_torch_sparse_csr(dglsp.identity((2, 2))).layout
    torch.sparse_csr
    """
    return torch.sparse_csr_tensor(*_in_order(spmat, *spmat.csr()), check_invariants=False)


def to_torch_sparse_csc(spmat: SparseMatrix) -> Tensor:
    """Returns the matrix as a sparse CSC tensor of torch.

    Parameters
    ----------
    spmat : SparseMatrix
        The matrix.

    Returns
    -------
    Tensor
        Tensor of shape (rows, cols) or (rows, cols, D).

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.to_torch_sparse_csc(dglsp.identity((2, 2))).layout
    torch.sparse_csc
    """
    return torch.sparse_csc_tensor(*_in_order(spmat, *spmat.csc()), check_invariants=False)


def _in_order(
    a: SparseMatrix, pointers: Tensor, inner: Tensor, order: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
    """Returns the arguments of a constructor of torch."""
    val = a.val if order is None else a.val[order]
    return pointers, inner, val, (*a.shape, *val.shape[1:])


# ---- Products ----


def spmm(A: SparseMatrix, X: Tensor) -> Tensor:
    """Multiplies a sparse matrix with a dense one, ``A @ X``.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (L, M).
    X : Tensor
        Dense tensor of shape (M, N) or (M,). For values of shape (nnz, K), shape (M, N, K).

    Returns
    -------
    Tensor
        Result of shape (L, N), (L,) or (L, N, K).

    Raises
    ------
    UsageError
        If shapes, types or devices do not match.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.spmm(dglsp.diag(torch.tensor([2.0, 3.0])), torch.ones(2, 1))
    tensor([[2.],
            [3.]])
    """
    A, X = _matrix("A", A), matrix.tensor_of("X", X)
    if A.val.dim() == 1:
        if X.dim() not in (1, 2):
            raise UsageError(f"X must have shape [{A.shape[1]}] or [{A.shape[1]}, N], got {list(X.shape)}")
        return A.matrix @ X
    if X.dim() != 3:
        raise UsageError(f"X must have shape [{A.shape[1]}, N, {A.val.shape[1]}], got {list(X.shape)}")
    return functions.spmm(A._pattern, X.transpose(1, 2), A.val).transpose(1, 2)


def bspmm(A: SparseMatrix, X: Tensor) -> Tensor:
    """Multiplies a sparse matrix whose values are vectors with a batch of dense matrices, see `spmm`.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (L, M) with values of shape (nnz, K).
    X : Tensor
        Dense tensor of shape (M, N, K).

    Returns
    -------
    Tensor
        Result of shape (L, N, K).

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.bspmm(dglsp.identity((2, 2), d=4), torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """
    return spmm(A, X)


def spspmm(A: SparseMatrix, B: SparseMatrix) -> SparseMatrix:
    """Multiplies two sparse matrices, ``A @ B``, by `torch.sparse.mm`.

    Parameters
    ----------
    A, B : SparseMatrix
        Matrices of shape (L, M) and (M, N), with one value per nonzero.

    Returns
    -------
    SparseMatrix
        Matrix of shape (L, N), without duplicates. Gradients reach the values of A and B.

    Raises
    ------
    UsageError
        If shapes, types or devices do not match.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> A = dglsp.spmatrix(torch.tensor([[0, 1], [1, 0]]), torch.tensor([2.0, 3.0]))
    >>> dglsp.spspmm(A, A).to_dense()
    tensor([[6., 0.],
            [0., 6.]])
    """
    A, B = _matrix("A", A), _matrix("B", B)
    alike = A.val.dim() == B.val.dim() == 1 and A.shape[1] == B.shape[0]
    if not alike or A.dtype != B.dtype or A.device != B.device or A.dtype not in DTYPES:
        raise UsageError(
            "A @ B requires shapes (L, M) and (M, N) and one floating-point value of one type per nonzero, on one "
            f"device, got {_about(A)} of {A.dtype} on {A.device} and {_about(B)} of {B.dtype} on {B.device}"
        )
    wide = statistic(A.dtype)
    out = torch.sparse.mm(to_torch_sparse_coo(A.to(dtype=wide)), to_torch_sparse_coo(B.to(dtype=wide))).coalesce()
    return spmatrix(out.indices(), out.values().to(A.dtype), (A.shape[0], B.shape[1]))


def matmul(A: Tensor | SparseMatrix, B: Tensor | SparseMatrix) -> Tensor | SparseMatrix:
    """Multiplies two matrices by `spmm`, `spspmm` or `torch.matmul`.

    Parameters
    ----------
    A, B : SparseMatrix or Tensor
        Matrices. B is dense if A is.

    Returns
    -------
    Tensor or SparseMatrix
        ``A @ B``, sparse if both are.

    Raises
    ------
    UsageError
        If shapes, types or devices do not match, or only A is dense.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.matmul(dglsp.diag(torch.tensor([2.0, 3.0])), torch.ones(2))
    tensor([2., 3.])
    """
    if isinstance(A, Tensor):
        if not isinstance(B, Tensor):
            raise UsageError("X @ A of a dense X and a sparse A is not supported; use (A.T @ X.T).T or X @ A.matrix")
        return torch.matmul(A, B)
    return spspmm(A, B) if isinstance(B, SparseMatrix) else spmm(A, B)


def sddmm(A: SparseMatrix, X1: Tensor, X2: Tensor) -> SparseMatrix:
    """Computes ``(X1 @ X2) * A`` at the nonzeros of A.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (L, N), whose values multiply the result.
    X1, X2 : Tensor
        Dense tensors of shape (L, M) and (M, N), or (L,) and (N,). For batches (L, M, K) and (M, N, K).

    Returns
    -------
    SparseMatrix
        Matrix with the indices of A. Its values have shape (nnz,), or (nnz, K) for batches.

    Raises
    ------
    UsageError
        If shapes, types or devices do not match.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.sddmm(dglsp.diag(torch.tensor([1.0, 2.0])), torch.ones(2, 3), torch.ones(3, 2)).val
    tensor([3., 6.])
    """
    A, X1, X2 = _matrix("A", A), matrix.tensor_of("X1", X1), matrix.tensor_of("X2", X2)
    if X1.dim() != X2.dim() or X1.dim() not in (1, 2, 3) or X1.dim() < 3 and A.val.dim() == 2:
        raise UsageError(
            "X1 and X2 must have shape [L, M] and [M, N], or [L, M, K] and [M, N, K] for batches, got "
            f"{list(X1.shape)} and {list(X2.shape)} for values of shape {list(A.val.shape)}"
        )
    if X1.dim() == 1:
        X1, X2 = X1.unsqueeze(1), X2.unsqueeze(0)
    # [rows, heads, n] and [cols, heads, n]
    x, y = (X1, X2.t()) if X1.dim() == 2 else (X1.transpose(1, 2), X2.permute(1, 2, 0))
    dots = functions.sddmm(A._pattern, x, y)
    return val_like(A, dots * (A.val.unsqueeze(1) if dots.dim() > A.val.dim() else A.val))


def bsddmm(A: SparseMatrix, X1: Tensor, X2: Tensor) -> SparseMatrix:
    """Computes ``(X1 @ X2) * A`` at the nonzeros of A for a batch, see `sddmm`.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (L, N) with values of shape (nnz,) or (nnz, K).
    X1, X2 : Tensor
        Dense tensors of shape (L, M, K) and (M, N, K).

    Returns
    -------
    SparseMatrix
        Matrix with the indices of A and values of shape (nnz, K).

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.bsddmm(dglsp.identity((2, 2)), torch.ones(2, 3, 4), torch.ones(3, 2, 4)).val.shape
    torch.Size([2, 4])
    """
    return sddmm(A, X1, X2)


def softmax(input: SparseMatrix, dim: int = 1) -> SparseMatrix:
    """Computes the softmax over the nonzeros of each row or column.

    Parameters
    ----------
    input : SparseMatrix
        Matrix with scores.
    dim : int, optional
        1 for rows, 0 for columns.

    Returns
    -------
    SparseMatrix
        Matrix with the same indices. Duplicates each have a weight.

    Raises
    ------
    UsageError
        If `dim` is neither 0 nor 1.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.softmax(dglsp.spmatrix(torch.tensor([[0, 0, 1], [0, 1, 1]]))).val
    tensor([0.5000, 0.5000, 1.0000])
    """
    a = _matrix("input", input)
    return val_like(a, functions.softmax(_segments(a, dim), a.val))


# ---- Elementwise operations ----


def add(A: SparseMatrix, B: SparseMatrix) -> SparseMatrix:
    """Adds two sparse matrices, ``A + B``.

    Parameters
    ----------
    A, B : SparseMatrix
        Matrices of one shape.

    Returns
    -------
    SparseMatrix
        Matrix with the nonzeros of either, without duplicates.

    Raises
    ------
    UsageError
        If shapes or devices do not match.

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.add(dglsp.identity((2, 2)), dglsp.identity((2, 2))).val
    tensor([2., 2.])
    """
    _check_alike(A, B, "+")
    (row, col), (other_row, other_col) = A.coo(), B.coo()
    joined = torch.cat([row, other_row]), torch.cat([col, other_col])
    return from_coo(*joined, torch.cat([A.val, B.val]), A.shape).coalesce()


def sub(A: SparseMatrix, B: SparseMatrix) -> SparseMatrix:
    """Subtracts two sparse matrices, ``A - B``.

    Parameters
    ----------
    A, B : SparseMatrix
        Matrices of one shape.

    Returns
    -------
    SparseMatrix
        Matrix with the nonzeros of either, without duplicates.

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.sub(dglsp.identity((2, 2)), dglsp.identity((2, 2))).val
    tensor([0., 0.])
    """
    return add(A, _matrix("B", B).neg())


def mul(A: SparseMatrix | Number | Tensor, B: SparseMatrix | Number | Tensor) -> SparseMatrix:
    """Multiplies two sparse matrices, or one with a number, elementwise, ``A * B``.

    Parameters
    ----------
    A, B : SparseMatrix or number
        Matrices of one shape, or a matrix and a number.

    Returns
    -------
    SparseMatrix
        Matrix with the nonzeros of both, without duplicates, or those of the only matrix.

    Raises
    ------
    UsageError
        If shapes or devices do not match.

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.mul(2, dglsp.identity((2, 2))).val
    tensor([2., 2.])
    """
    if _is_number(A):
        A, B = B, A
    a = _matrix("A", A)
    if _is_number(B):
        return val_like(a, a.val * B)
    b = _matrix("B", B)
    _check_alike(a, b, "*")
    a, b = a.coalesce(), b.coalesce()
    place, other = (one.row * a.shape[1] + one.col for one in (a, b))
    at = torch.searchsorted(other, place)
    kept = (torch.cat([other, other.new_full((1,), -1)])[at] == place).nonzero().flatten()
    return from_coo(a.row[kept], a.col[kept], a.val[kept] * b.val[at[kept]], a.shape)


def div(A: SparseMatrix, B: SparseMatrix | Number | Tensor) -> SparseMatrix:
    """Divides a sparse matrix by a number, or by one with the same nonzeros, elementwise, ``A / B``.

    Parameters
    ----------
    A : SparseMatrix
        Dividend.
    B : SparseMatrix or number
        Divisor.

    Returns
    -------
    SparseMatrix
        Quotient with the indices of A.

    Raises
    ------
    UsageError
        If the matrices have other nonzeros, or duplicates in another order.

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.div(dglsp.identity((2, 2)), 2).val
    tensor([0.5000, 0.5000])
    """
    A = _matrix("A", A)
    if _is_number(B):
        return val_like(A, A.val / B)
    B = _matrix("B", B)
    _check_alike(A, B, "/")
    divisor = B.val
    if not torch.equal(A.indices(), B.indices()):
        first, second = A.coalesce(), B.coalesce()
        if A.has_duplicate() or B.has_duplicate() or not torch.equal(first.indices(), second.indices()):
            raise UsageError("A / B requires matrices with the same nonzeros, without duplicates")
        divisor = A._pattern._order.from_csr(second.val)
    return val_like(A, A.val / divisor)


def power(A: SparseMatrix, scalar: Number | Tensor) -> SparseMatrix:
    """Raises the values to a power, ``A ** scalar``.

    Parameters
    ----------
    A : SparseMatrix
        The matrix.
    scalar : number
        Exponent.

    Returns
    -------
    SparseMatrix
        Matrix with the indices of A.

    Raises
    ------
    ArgumentTypeError
        If the exponent is not a number.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.power(dglsp.diag(torch.tensor([2.0, 3.0])), 2).val
    tensor([4., 9.])
    """
    if not _is_number(scalar):
        raise ArgumentTypeError(f"scalar must be a number, got {type(scalar).__name__}")
    return val_like(_matrix("A", A), A.val**scalar)


def _is_number(x: object) -> bool:
    return isinstance(x, Real) or isinstance(x, Tensor) and x.dim() == 0


def _check_alike(a: SparseMatrix, b: SparseMatrix, sign: str) -> None:
    a, b = _matrix("A", a), _matrix("B", b)
    if a.shape != b.shape or a.val.shape[1:] != b.val.shape[1:] or a.device != b.device:
        raise UsageError(
            f"A {sign} B requires matrices and values of one shape on one device, got {_about(a)} on {a.device} and "
            f"{_about(b)} on {b.device}"
        )


# ---- Broadcasts ----

_BROADCASTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
}


def sp_broadcast_v(A: SparseMatrix, v: Tensor, op: str) -> SparseMatrix:
    """Applies an operation to each nonzero and the element of a vector for its row or column.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (rows, cols).
    v : Tensor
        Vector of shape (cols,), (1, cols) or (rows, 1).
    op : str
        "add", "sub", "mul" or "truediv".

    Returns
    -------
    SparseMatrix
        Matrix with the indices of A.

    Raises
    ------
    UsageError
        If the vector has another shape, or the operation is unknown.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.sp_broadcast_v(dglsp.identity((2, 2)), torch.tensor([1.0, 2.0]), "add").val
    tensor([2., 3.])
    """
    A, v, found = _matrix("A", A), matrix.tensor_of("v", v), _BROADCASTS.get(op)
    if found is None:
        raise UsageError(f"op must be 'add', 'sub', 'mul' or 'truediv', got {op!r}")
    rows, cols = A.shape
    if tuple(v.shape) in ((cols,), (1, cols)):
        at = A.col
    elif tuple(v.shape) == (rows, 1):
        at = A.row
    else:
        raise UsageError(f"v must have shape [{cols}], [1, {cols}] or [{rows}, 1], got {list(v.shape)}")
    elements = v.flatten().index_select(0, at)
    return val_like(A, found(A.val, elements if A.val.dim() == 1 else elements.unsqueeze(1)))


def _broadcast(name: str, op: str, verb: str, example: str) -> Callable[[SparseMatrix, Tensor], SparseMatrix]:
    """Returns sp_broadcast_v for one operation."""

    def broadcast(A: SparseMatrix, v: Tensor) -> SparseMatrix:
        return sp_broadcast_v(A, v, op)

    broadcast.__name__ = broadcast.__qualname__ = name
    broadcast.__doc__ = f"""{verb} each nonzero and the element of a vector for its row or column.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (rows, cols).
    v : Tensor
        Vector of shape (cols,), (1, cols) or (rows, 1).

    Returns
    -------
    SparseMatrix
        Matrix with the indices of A.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.{name}(dglsp.identity((2, 2)), torch.tensor([1.0, 2.0])).val
    {example}
    """
    return broadcast


sp_add_v = _broadcast("sp_add_v", "add", "Adds", "tensor([2., 3.])")
sp_sub_v = _broadcast("sp_sub_v", "sub", "Subtracts", "tensor([ 0., -1.])")
sp_mul_v = _broadcast("sp_mul_v", "mul", "Multiplies", "tensor([1., 2.])")
sp_div_v = _broadcast("sp_div_v", "truediv", "Divides", "tensor([1.0000, 0.5000])")


# ---- Reductions ----

# Names here, those of segment_reduce, and of torch.
_REDUCTIONS = {
    "sum": ("sum", "sum"),
    "smax": ("max", "amax"),
    "smin": ("min", "amin"),
    "smean": ("mean", "mean"),
    "sprod": (None, "prod"),
}


def _segments(a: SparseMatrix, dim: int) -> matrix.SparseMatrix:
    """Returns the pattern whose rows are the rows of A for dim = 1, and its columns for dim = 0."""
    if dim not in (0, 1):
        raise UsageError(f"dim must be 0 or 1, got {dim!r}")
    return a._pattern if dim == 1 else a._pattern.t()


def reduce(input: SparseMatrix, dim: int | None = None, rtype: str = "sum") -> Tensor:
    """Reduces the nonzeros of each column, of each row, or all of them.

    Parameters
    ----------
    input : SparseMatrix
        Matrix of shape (rows, cols).
    dim : int, optional
        0 gives a result per column, 1 one per row. By default all nonzeros are reduced.
    rtype : str, optional
        "sum", "smax", "smin", "smean" or "sprod".

    Returns
    -------
    Tensor
        Result of shape (cols,), (rows,) or (), followed by D for values of shape (nnz, D). 0 without nonzeros.

    Raises
    ------
    UsageError
        If the reduction is unknown, or `dim` is neither 0 nor 1.

    Examples
    --------
    >>> import torch, sptile.torch.sparse as dglsp
    >>> dglsp.reduce(dglsp.spmatrix(torch.tensor([[0, 1, 1], [0, 0, 2]])), 1)
    tensor([1., 2.])
    """
    a = _matrix("input", input)
    if rtype not in _REDUCTIONS:
        raise UsageError(f"rtype must be one of {', '.join(map(repr, _REDUCTIONS))}, got {rtype!r}")
    own, of_torch = _REDUCTIONS[rtype]
    segments = None if dim is None else _segments(a, dim)
    if segments is not None and own is not None and a.dtype in DTYPES:
        return functions.segment_reduce(segments, a.val, own)
    place = a.row.new_zeros(a.nnz) if segments is None else segments.places()[0]
    out = a.val.new_zeros(1 if segments is None else segments.shape[0], *a.val.shape[1:])
    index = place.view(-1, *[1] * (out.dim() - 1)).expand_as(a.val)
    out = out.scatter_reduce(0, index, a.val, of_torch, include_self=False)
    return out.squeeze(0) if segments is None else out


def _reduction(rtype: str, name: str) -> Callable[[SparseMatrix, int | None], Tensor]:
    """Returns reduce for one reduction."""

    def reduction(input: SparseMatrix, dim: int | None = None) -> Tensor:
        return reduce(input, dim, rtype)

    reduction.__name__ = reduction.__qualname__ = rtype
    reduction.__doc__ = f"""Returns the {name} of the nonzeros of each column, of each row, or of all, see `reduce`.

    Parameters
    ----------
    input : SparseMatrix
        Matrix of shape (rows, cols).
    dim : int, optional
        0 gives a result per column, 1 one per row. By default all nonzeros are reduced.

    Returns
    -------
    Tensor
        Result of shape (cols,), (rows,) or (), followed by D for values of shape (nnz, D).

    Examples
    --------
    >>> import sptile.torch.sparse as dglsp
    >>> dglsp.{rtype}(dglsp.identity((2, 2)), 1)
    tensor([1., 1.])
    """
    return reduction


sum = _reduction("sum", "sum")
smax = _reduction("smax", "maximum")
smin = _reduction("smin", "minimum")
smean = _reduction("smean", "mean")
sprod = _reduction("sprod", "product")

for _method in (softmax, reduce, sum, smax, smin, smean, sprod):
    setattr(SparseMatrix, _method.__name__, partialmethod(_method))

__all__ = [
    "SparseMatrix",
    "add",
    "bsddmm",
    "bspmm",
    "diag",
    "div",
    "from_coo",
    "from_csc",
    "from_csr",
    "from_torch_sparse",
    "identity",
    "matmul",
    "mul",
    "power",
    "reduce",
    "sddmm",
    "smax",
    "smean",
    "smin",
    "softmax",
    "sp_add_v",
    "sp_broadcast_v",
    "sp_div_v",
    "sp_mul_v",
    "sp_sub_v",
    "spmatrix",
    "spmm",
    "sprod",
    "spspmm",
    "sub",
    "sum",
    "to_torch_sparse_coo",
    "to_torch_sparse_csc",
    "to_torch_sparse_csr",
    "val_like",
]


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return sorted(__all__)
