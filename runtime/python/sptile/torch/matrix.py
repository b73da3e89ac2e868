"""A sparse matrix of tensors, with a fixed pattern and values that can be trained."""

from __future__ import annotations

import copy
import operator
import warnings
from collections.abc import Callable, Iterable
from numbers import Real
from os import PathLike
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.autograd import forward_ad

from .._memory import tocsr
from ..errors import ArgumentTypeError, BadInputError, DeviceError, UnsupportedError, UsageError
from . import operators
from .arithmetic import added, multiplied, scaled_by
from .handle import (
    DTYPES,
    Handle,
    Kernel,
    PackedProduct,
    Ref,
    Stored,
    check_kernel,
    packed_address,
    packed_key,
    torch_dtype,
)
from .operands import statistic
from .pattern import (
    WIDE,
    EntryOrder,
    Loops,
    Pattern,
    apart,
    chain_orders,
    chain_patterns,
    check_ids,
    check_list_of_ids,
    kept,
    pattern_of_entries,
    pattern_of_pointers,
    rows_of_pointers,
)
from .sources import Source, source_of


Derived = TypeVar("Derived")
_PLAIN_TENSORS = (Tensor, torch.nn.Parameter)
_MAX_PACKED = 64
# Returns whether autocast is enabled for any device, in a fifth of the time of the query for one device.
_autocasts: Callable[[], bool] = getattr(
    torch._C,
    "_is_any_autocast_enabled",  # torch before 2.5 has none
    lambda: torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"),
)
Number = float  # the class has a function of that name


def _cast(name: str, dtype: torch.dtype) -> Callable[[SparseMatrix], SparseMatrix]:
    """Returns a method that converts the values to a type."""

    def cast(self: SparseMatrix) -> SparseMatrix:
        return self.to(dtype)

    cast.__name__, cast.__qualname__ = name, f"SparseMatrix.{name}"
    cast.__doc__ = f"""Returns the matrix with {str(dtype).removeprefix("torch.")} values.

        Returns
        -------
        SparseMatrix
            The matrix itself if nothing changes.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.{name}().dtype
        {dtype}
        """
    return cast


reduction: Any = None  # of products, by name; `reductions`, which imports this module, sets it


class SparseMatrix:
    """A sparse matrix on one device, for products with tensors: ``A @ x``, ``x @ A`` and the functions of this module.

    Parameters
    ----------
    crow : Tensor
        Row pointers, int32 or int64, shape (rows + 1,).
    col : Tensor
        Column ids, int32 or int64, shape (nonzeros,), in any order within a row.
    values : Tensor, optional
        Values of type float32, float64, float16 or bfloat16, shape (nonzeros,). By default all nonzeros are 1.
        Gradients reach values that require them. Do not modify `values` in place; use `with_values`.
    shape : tuple of int, optional
        Rows and columns. By default the matrix is square, with more columns if `col` needs them.
    symmetric : bool, optional
        Expected symmetry. The constructor raises `UsageError` if the matrix differs.
    format : str, optional
        Storage format: "csr", "bittcf", "bmat", "tall", ... On a CUDA device, a comma-separated list such as
        "csr,rs_tile,tall" times its formats at the first product of each width and uses the fastest. "auto" is
        "csr" on the CPU, and on a CUDA device a list of formats that are usually fast. Only "csr" is bitwise
        reproducible between runs.
    kernel : str or dict, optional
        Kernel of `sptile list kernels` for products with the values of the matrix, also those of the transpose in the
        backward pass. Its name determines the format if `format` is "auto". A dict maps operations to kernels:
        ``{"spmm": "cuda.bittcf.acc", "sddmm": "cuda.bittcf.sddmm"}``. Operations without an entry choose their kernel,
        as do products with values that require gradients. The first product raises `UsageError`, which lists the
        available kernels, if the kernel does not fit.

    Attributes
    ----------
    shape : torch.Size
        Rows and columns.
    dtype : torch.dtype
        Type of the values. float32 for a pattern.
    device : torch.device
        Device of the matrix.
    values : Tensor or None
        Values in the order in which the nonzeros were given. None for a pattern.
    is_normalized : bool
        True if `gcn_norm` returned the matrix.

    Raises
    ------
    UsageError
        If an argument has the wrong shape, type or device.
    BadInputError
        If the arrays are not a valid CSR matrix.

    Notes
    -----
    Duplicates are added. In a matrix without values they are counted. Softmax and attention weight each duplicate
    separately. Tensors with one value per nonzero (`values`, results of `sddmm`) are in the order in which the nonzeros
    were given.

    ``torch.compile`` accepts the operators and compiles once for all matrices. Programs of ``torch.export`` take a matrix
    as an argument, or store the arrays of one that a module holds.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix(torch.tensor([0, 1, 3]), torch.tensor([0, 0, 1]), torch.tensor([1.0, 2.0, 3.0]))
    >>> A
    SparseMatrix(2 x 2, 3 nonzeros, torch.float32, cpu)
    >>> A @ torch.ones(2)
    tensor([1., 5.])
    """

    _entries: Ref  # without values
    _product: Ref  # that a product multiplies with, unless values learn

    def __init__(
        self,
        crow: Tensor,
        col: Tensor,
        values: Tensor | None = None,
        shape: tuple[int, int] | None = None,
        *,
        symmetric: bool | None = None,
        format: str = "auto",
        kernel: Kernel = None,
    ) -> None:
        check_list_of_ids(crow, "crow")
        kernels = check_kernel(kernel)
        if shape is None:
            widest = int(col.max()) + 1 if check_list_of_ids(col, "col").numel() > 0 else 0
            shape = (crow.numel() - 1, max(crow.numel() - 1, widest))
        shape = _sizes(shape)
        if crow.numel() - 1 != shape[0]:
            raise UsageError(f"crow must have {shape[0] + 1} elements for {shape[0]} rows, got {crow.numel()}")
        if torch.compiler.is_compiling():
            check_list_of_ids(col, "col")
            entries, product = torch.ops.sptile.csr_of(crow, col, shape[1], format, kernels)
            self._set_compiled(entries, product, shape, col.numel(), values, crow.device)
        else:
            pattern, order = pattern_of_pointers(crow, col, int(shape[1]))
            self._set(Ref.of(Handle(pattern, None, format, kernels), order), values)
        if symmetric is not None and symmetric != self.is_symmetric():
            raise UsageError(
                f"symmetric is {symmetric}, but the matrix is {'' if not symmetric else 'not '}symmetric"
            )

    def _set(self, entries: Ref, values: Tensor | None, product: Handle | None = None) -> None:
        """product: an existing handle whose values do not require gradients, or None."""
        found = entries.entries
        order, pattern = found.order, found.handle.pattern
        counts = values is None and order.repeats
        if counts:
            values = torch.ones(order.given, device=pattern.device)
        _check_values(values, order.given, pattern.device)
        learned = values if values is not None and not counts and operators.followed(values) else None
        if values is not None and learned is None:
            if product is None:
                numbers = order.counts() if counts else order.to_csr(values.detach()).contiguous()
                product = Handle(pattern, numbers, found.handle.format, found.handle.kernels)
            self._place(entries, Ref.of(product, order), values, None, counts, pattern.device)
        else:
            self._place(entries, entries, values, learned, counts, pattern.device)

    def _set_compiled(
        self,
        entries: Tensor,
        product: Tensor,
        shape: tuple[int, int],
        given: int,
        values: Tensor | None,
        device: torch.device,
    ) -> None:
        """In compiled code, by tokens. Repeated entries have their counts in the product alone."""
        if values is not None:
            _check_values(values, given, device)
        rows, cols = shape
        self._place(
            Ref(entries, rows, cols, given), Ref(product, rows, cols, given), values, values, False, device
        )

    def _place(
        self,
        entries: Ref,
        product: Ref,
        values: Tensor | None,
        learned: Tensor | None,
        counts: bool,
        device: torch.device,
    ) -> None:
        self._entries, self._product, self.values, self._learned = entries, product, values, learned
        self._counts, self.device = counts, device
        self.shape = torch.Size((entries.rows, entries.cols))
        self.dtype = torch.float32 if values is None else values.dtype
        self.is_normalized = False  # by gcn_norm
        self._derived: dict[str, Any] = {}
        self._packed: dict[Any, PackedProduct] = {}  # products without values, by the shape and type of x

    @classmethod
    def _of(cls, bare: Handle, order: EntryOrder, values: Tensor | None) -> SparseMatrix:
        return cls._of_ref(Ref.of(bare, order), values)

    @classmethod
    def _of_ref(cls, entries: Ref, values: Tensor | None, product: Handle | None = None) -> SparseMatrix:
        matrix = cls.__new__(cls)
        matrix._set(entries, values, product)
        return matrix

    @classmethod
    def _compiled(cls, *arguments: Any) -> SparseMatrix:
        matrix = cls.__new__(cls)
        matrix._set_compiled(*arguments)
        return matrix

    @classmethod
    def _of_entries(
        cls,
        row: Tensor,
        col: Tensor,
        values: Tensor | None,
        shape: tuple[int, int],
        format: str = "auto",
        kernel: Kernel = None,
    ) -> SparseMatrix:
        kernels = check_kernel(kernel)
        if torch.compiler.is_compiling():
            tokens = torch.ops.sptile.matrix_of(row, col, shape[0], shape[1], format, kernels)
            return cls._compiled(*tokens, shape, row.numel(), values, row.device)
        pattern, order = pattern_of_entries(row, col, *shape)
        return cls._of(Handle(pattern, None, format, kernels), order, values)

    @classmethod
    def _of_graph(cls, edge_index: Tensor, rows: int, cols: int) -> SparseMatrix:
        """Returns the matrix of an edge_index in compiled code, from the cache of the layers."""
        tokens = torch.ops.sptile.graph_of(edge_index, rows, cols)
        return cls._compiled(*tokens, (rows, cols), edge_index.shape[1], None, edge_index.device)

    @property
    def _bare(self) -> Handle:
        return self._entries.entries.handle

    @property
    def _order(self) -> EntryOrder:
        return self._entries.entries.order

    @property
    def _handle(self) -> Handle:
        return self._product.entries.handle

    @property
    def nnz(self) -> int:
        """Number of nonzeros, without duplicates.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_edge_index(torch.tensor([[0, 0, 1], [1, 1, 0]])).nnz
        2
        """
        return self._bare.pattern.nnz

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Tensor,
        weight: Tensor | None = None,
        num_nodes: int | None = None,
        *,
        format: str = "auto",
        kernel: Kernel = None,
    ) -> SparseMatrix:
        """Returns the adjacency matrix of a graph in the format of PyG.

        Parameters
        ----------
        edge_index : Tensor
            Sources and targets, shape (2, edges).
        weight : Tensor, optional
            Edge weights, shape (edges,).
        num_nodes : int, optional
            Number of nodes. By default the largest id + 1.
        format, kernel : optional
            See `SparseMatrix`.

        Returns
        -------
        SparseMatrix
            Row i contains the edges to node i, so ``A @ x`` adds the features of its neighbors.

        Raises
        ------
        UsageError, BadInputError
            If the tensors are not a valid graph.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> A @ torch.tensor([1.0, 2.0, 3.0])
        tensor([0., 1., 2.])
        """
        if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.shape[0] != 2:
            found = list(edge_index.shape) if isinstance(edge_index, Tensor) else type(edge_index).__name__
            raise UsageError(f"edge_index must be a tensor [2, edges], got {found}")
        if num_nodes is None:
            num_nodes = int(edge_index.max()) + 1 if edge_index.numel() > 0 else 0
        num_nodes, _ = _sizes((num_nodes, num_nodes), "num_nodes")
        return cls._of_entries(edge_index[1], edge_index[0], weight, (num_nodes, num_nodes), format, kernel)

    @classmethod
    def from_torch(
        cls, tensor: Any, *, format: str = "auto", kernel: Kernel = None
    ) -> SparseMatrix:
        """Returns the matrix of a torch tensor. Gradients reach the values of the tensor.

        Parameters
        ----------
        tensor : Tensor, torch_sparse.SparseTensor or tuple
            Two-dimensional tensor of a sparse layout (CSR, CSC, BSR, BSC, COO), or dense. Nonzeros keep the order of
            ``tensor.values()``; blocks also store their zeros. A `SparseTensor` has one value per nonzero, or none. A
            tuple has the arguments of `torch.sparse_coo_tensor`, (indices, values), or of `torch.sparse_csr_tensor`,
            (crow, col, values), and may end with the shape.
        format, kernel : optional
            See `SparseMatrix`.

        Returns
        -------
        SparseMatrix
            The matrix, on the device of the tensor.

        Raises
        ------
        UsageError
            If the tensor has another shape or type, or the tuple has other elements.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.tensor([[0.0, 1.0], [2.0, 0.0]]))
        SparseMatrix(2 x 2, 2 nonzeros, torch.float32, cpu)
        >>> st.SparseMatrix.from_torch((torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), (2, 2)))
        SparseMatrix(2 x 2, 2 nonzeros, torch.float32, cpu)
        """
        return cls._of_source(source_of(tensor), format, kernel)

    @classmethod
    def _of_source(cls, source: Source, format: str = "auto", kernel: Kernel = None) -> SparseMatrix:
        row, col, values, shape, has_pointers = source
        if has_pointers:
            return cls(row, col, values, shape, format=format, kernel=kernel)
        return cls._of_entries(row, col, values, _sizes(shape), format, kernel)

    @classmethod
    def from_scipy(cls, matrix: Any, *, format: str = "auto", kernel: Kernel = None) -> SparseMatrix:
        """Returns the matrix of a SciPy sparse matrix or array, on the CPU.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array
            Booleans and integers become float32.
        format, kernel : optional
            See `SparseMatrix`.

        Returns
        -------
        SparseMatrix
            The nonzeros of CSR, CSC and COO keep the order of ``matrix.data``, others that of ``matrix.tocsr()``.

        Raises
        ------
        UsageError
            If `matrix` is not a SciPy matrix, or has complex or long double values.

        Warns
        -----
        RuntimeWarning
            If float32 cannot represent an integer exactly.

        Examples
        --------
        >>> import scipy.sparse, sptile.torch as st
        >>> st.SparseMatrix.from_scipy(scipy.sparse.eye_array(3))
        SparseMatrix(3 x 3, 3 nonzeros, torch.float64, cpu)
        """
        kind = getattr(matrix, "format", None)
        if not isinstance(kind, str) or not hasattr(matrix, "tocsr"):
            raise ArgumentTypeError(f"matrix must be a SciPy sparse matrix or array, got {type(matrix).__name__}")
        if len(matrix.shape) != 2:
            raise UsageError(f"matrix must be two-dimensional, got shape {list(matrix.shape)}")
        if kind not in ("csr", "csc", "coo"):
            matrix, kind = tocsr(matrix), "csr"
        shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        values = _values_of_numpy(matrix.data if kind == "coo" else matrix.data[: matrix.indptr[-1]])
        if kind == "coo":
            row, col = (torch.from_numpy(ids.copy()) for ids in (matrix.row, matrix.col))
            return cls._of_entries(row, col, values, shape, format, kernel)
        ends, ids = (torch.from_numpy(x.copy()) for x in (matrix.indptr, matrix.indices[: values.numel()]))
        if kind == "csr":
            return cls(ends, ids, values, shape, format=format, kernel=kernel)
        return cls._of_entries(ids, rows_of_pointers(ends, ids.numel()), values, shape, format, kernel)

    @classmethod
    def from_bundle(
        cls, bundle: str | PathLike[str] | Any, *, format: str = "auto", kernel: Kernel = None
    ) -> SparseMatrix:
        """Returns the matrix of a bundle, with the rows in the original order.

        Parameters
        ----------
        bundle : path or Bundle
            Bundle file, or an open bundle.
        format : str, optional
            Format of products with the stored values: one that the bundle stores, or a comma-separated list whose
            fastest is used. A CUDA device converts formats that are not stored. "auto" uses the plan that the bundle
            stores for the number of columns, otherwise the fastest format. Products with other values use
            `SparseMatrix.format`.
        kernel : str or dict, optional
            Kernel of products with the stored values, see `SparseMatrix`. By default the fastest.

        Returns
        -------
        SparseMatrix
            The matrix. A pattern has no values.

        Raises
        ------
        MissingFileError, IoError, BadInputError
            If the bundle cannot be read. The first product raises `UsageError` if a format is not stored.

        Notes
        -----
        Gradients of x use the transpose if the bundle stores it (``transpose=True`` of `sptile.convert`), otherwise CSR
        arrays or, on a CUDA device, formats converted from them.

        Examples
        --------
        >>> import sptile, sptile.torch as st
        >>> st.SparseMatrix.from_bundle(sptile.convert("data/examples/fem_plate.mtx"))
        SparseMatrix(2286 x 2286, 38964 nonzeros, torch.float32, cpu)
        """
        from ..bundle import open as open_bundle  # not needed by other matrices

        opened = open_bundle(bundle) if isinstance(bundle, str | PathLike) else bundle
        crow, col, values = opened.csr()
        numbers = None if values is None else _tensor_of(values, opened.dtype)
        handle, kernels, rows = opened._handle(False), check_kernel(kernel), _tensor_of(crow)
        stored = Stored(handle, format, kernels) if handle.source.is_file else None
        names = (format, kernels) if stored is None else stored.names_on(rows.device)
        pattern, order = pattern_of_pointers(rows, _tensor_of(col), int(opened.shape[1]))
        matrix = cls._of(Handle(pattern, None, *names), order, numbers)
        matrix._handle.stored = stored
        return matrix

    @classmethod
    def block_diag(
        cls, matrices: Iterable[SparseMatrix], *, format: str = "auto", kernel: Kernel = None
    ) -> SparseMatrix:
        """Combines matrices into a block diagonal matrix. One product multiplies each matrix with its rows of x.

        Parameters
        ----------
        matrices : iterable of SparseMatrix
            Matrices on one device, all without values or with values of one type.
        format, kernel : optional
            See `SparseMatrix`.

        Returns
        -------
        SparseMatrix
            The combined matrix. ``torch.split(y, [a.shape[0] for a in matrices])`` splits a result. Gradients reach
            the values of each matrix.

        Raises
        ------
        UsageError
            If `matrices` is empty, or one differs from the first in device or type. The message names its position.
        UnsupportedError
            If the result has more than 2**31 - 1 rows or columns.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> st.SparseMatrix.block_diag([A, A]).shape
        torch.Size([4, 4])
        """
        parts = _alike(matrices)
        joined = cls._of_parts(parts, True, format, check_kernel(kernel))
        joined.is_normalized = all(part.is_normalized for part in parts)
        return joined

    @classmethod
    def vstack(cls, matrices: Iterable[SparseMatrix], *, format: str = "auto", kernel: Kernel = None) -> SparseMatrix:
        """Stacks matrices vertically. One product multiplies each matrix with the same x.

        Parameters
        ----------
        matrices : iterable of SparseMatrix
            Matrices with the same number of columns, on one device, all without values or with values of one type.
        format, kernel : optional
            See `SparseMatrix`.

        Returns
        -------
        SparseMatrix
            The combined matrix, see `block_diag`.

        Raises
        ------
        UsageError, UnsupportedError
            See `block_diag`. UsageError also if the numbers of columns differ.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> st.SparseMatrix.vstack([A, A]).shape
        torch.Size([4, 2])
        """
        parts = _alike(matrices)
        for number, part in enumerate(parts):
            if part.shape[1] != parts[0].shape[1]:
                raise UsageError(
                    f"matrix {number} of the batch: it has {part.shape[1]} columns, but the first has "
                    f"{parts[0].shape[1]}"
                )
        return cls._of_parts(parts, False, format, check_kernel(kernel))

    @classmethod
    def _of_parts(
        cls, parts: list[SparseMatrix], diagonal: bool, format: str, kernels: str
    ) -> SparseMatrix:
        pattern = chain_patterns([part.pattern for part in parts], diagonal)
        order = chain_orders([part._order for part in parts], pattern.device)
        given = [part._given_values() for part in parts]
        values = None if given[0] is None else torch.cat([one for one in given if one is not None])
        return cls._of(Handle(pattern, None, format, kernels), order, values)

    def _given_values(self) -> Tensor | None:
        """Returns the values; None if they only count how often entries were given."""
        return None if self._counts else self.values

    @property
    def pattern(self) -> Pattern:
        """Pattern with the attributes `rows`, `cols`, `crow` and `col` in CSR order.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).pattern.crow
        tensor([0, 1, 2])
        """
        return self._bare.pattern

    @property
    def requires_grad(self) -> bool:
        """True if the values require gradients.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.with_values(torch.ones(2, requires_grad=True)).requires_grad
        True
        """
        return self._learned is not None

    @property
    def ndim(self) -> int:
        """Number of dimensions, always 2.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).ndim
        2
        """
        return 2

    def dim(self) -> int:
        """Returns the number of dimensions.

        Returns
        -------
        int
            Always 2.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.dim()
        2
        """
        return 2

    def size(self, dim: int | None = None) -> Any:
        """Returns the shape, or one dimension of it.

        Parameters
        ----------
        dim : int, optional
            Dimension. By default both.

        Returns
        -------
        torch.Size or int
            The shape, or its element `dim`.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.size(), A.size(0)
        (torch.Size([2, 2]), 2)
        """
        return self.shape if dim is None else self.shape[dim]

    def is_symmetric(self) -> bool:
        """Returns whether the matrix equals its transpose.

        Returns
        -------
        bool
            True if it does.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.is_symmetric()
        True
        """
        if self._learned is None:
            return self._handle.transposed() is self._handle
        bare = self._bare
        values = self._order.to_csr(self._learned.detach())
        return bare.transposed() is bare and torch.equal(values, values.index_select(0, bare.source()))

    def t(self) -> SparseMatrix:
        """Returns the transpose, which the matrix keeps for backward passes.

        Returns
        -------
        SparseMatrix
            The transpose, with the values in the order of this matrix.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.tensor([[0.0, 1.0]]))
        >>> A.t().shape
        torch.Size([2, 1])
        """
        rows, cols = self.shape
        if torch.compiler.is_compiling():
            reordered = self._learned is not None or self._given_values() is None
            tokens = torch.ops.sptile.transpose_of(self._entries.token, self._product.token, reordered)
            turned = SparseMatrix._compiled(*tokens, (cols, rows), self._entries.given, self._learned, self.device)
            turned.values, turned.dtype, turned._counts = self.values, self.dtype, self._counts
            return self._like(turned)
        bare, product = self._bare, None
        if self._learned is None:
            product = self._handle.transposed()
            if product is self._handle and self._given_values() is not None:
                return self  # a symmetric pattern has its entries in another order than its transpose
        entries = Ref.of(bare.transposed(), self._order.transposed(bare.source()))
        return self._like(SparseMatrix._of_ref(entries, self._given_values(), product))

    @property
    def T(self) -> SparseMatrix:
        """The transpose, see `t`.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.tensor([[0.0, 1.0]])).T.shape
        torch.Size([2, 1])
        """
        return self.t()

    mT = T

    def _like(self, other: SparseMatrix) -> SparseMatrix:
        """Another form of this matrix."""
        other.is_normalized = self.is_normalized
        return other

    def to(
        self,
        *arguments: Any,
        device: Any = None,
        dtype: Any = None,
        non_blocking: bool = False,
        copy: bool = False,
        other: Any = None,
        memory_format: Any = None,
    ) -> SparseMatrix:
        """Returns the matrix on another device or with values of another type.

        Parameters
        ----------
        *arguments : device, dtype, Tensor or SparseMatrix
            Positional arguments of `torch.Tensor.to`.
        device : device, optional
            Device of the result.
        dtype : dtype, optional
            Type of the values, a torch or NumPy dtype or a name such as "f32". A pattern has no values and multiplies
            any type.
        non_blocking, copy, other : optional
            See `torch.Tensor.to`.
        memory_format : optional
            Ignored.

        Returns
        -------
        SparseMatrix
            The matrix itself if nothing changes.

        Raises
        ------
        UsageError
            If the type is not supported.
        UnsupportedError, DeviceError
            If the device is not the CPU or an available CUDA device.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).to(torch.float64)
        SparseMatrix(2 x 2, 2 nonzeros, torch.float64, cpu)
        """
        flags = []
        for one in arguments if other is None else (*arguments, other):
            if isinstance(one, bool):
                flags.append(one)
            elif isinstance(one, torch.dtype):
                dtype = one
            elif isinstance(one, Tensor | SparseMatrix):
                device, dtype = one.device, one.dtype
            elif one is not None:
                device = one
        non_blocking, copy = (*flags, *(non_blocking, copy)[len(flags) :])[:2]
        dtype = None if dtype is None else torch_dtype(dtype)
        place = self.device if device is None else device_of(device)
        given = self._given_values()
        cast = given is not None and dtype is not None and given.dtype != dtype
        if place == self.device and not cast and not copy:
            return self
        if given is not None:
            given = given.to(place, dtype or given.dtype, non_blocking, copy)
        product = None if cast else self._plain()
        if place == self.device:
            return self._like(SparseMatrix._of_ref(self._entries, given, product))
        stored = None if product is None else product.stored
        names = (self._bare.format, self._bare.kernels) if stored is None else stored.names_on(place)
        moved = SparseMatrix._of(Handle(self.pattern.to(place), None, *names), self._order.to(place), given)
        if moved._learned is None:
            moved._handle.stored = stored
        return self._like(moved)

    def cuda(self, device: torch.device | str | int | None = None) -> SparseMatrix:
        """Returns the matrix on a CUDA device.

        Parameters
        ----------
        device : device, optional
            Device. By default the current CUDA device.

        Returns
        -------
        SparseMatrix
            The matrix itself if it is there already.

        Raises
        ------
        DeviceError
            If there is no CUDA device.

        Examples
        --------
        >>> import torch, sptile, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A = A.cuda() if torch.cuda.is_available() else A
        """
        return self.to("cuda" if device is None else device)

    def cpu(self) -> SparseMatrix:
        """Returns the matrix in host memory.

        Returns
        -------
        SparseMatrix
            The matrix itself if it is there already.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.cpu() is A
        True
        """
        return self.to("cpu")

    double = _cast("double", torch.float64)
    float = _cast("float", torch.float32)
    half = _cast("half", torch.float16)
    bfloat16 = _cast("bfloat16", torch.bfloat16)

    def detach(self) -> SparseMatrix:
        """Returns the matrix with values that are detached from the graph of autograd.

        Returns
        -------
        SparseMatrix
            The matrix itself if its values require no gradient.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.detach() is A
        True
        """
        if self._learned is None:
            return self
        return self._like(self.with_values(self._learned.detach()))

    def clone(self) -> SparseMatrix:
        """Returns a copy. Gradients of its values reach the values of this matrix.

        Returns
        -------
        SparseMatrix
            The copy.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.clone() is A
        False
        """
        return self.to(copy=True)

    def with_values(self, values: Tensor | None) -> SparseMatrix:
        """Returns a matrix with the same pattern and other values.

        Parameters
        ----------
        values : Tensor or None
            Values in the order in which the nonzeros were given. None gives a pattern, whose nonzeros are all 1.

        Returns
        -------
        SparseMatrix
            The new matrix. It shares the pattern and its plans with this one.

        Raises
        ------
        UsageError
            If the values have the wrong shape, type or device.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_torch(torch.eye(2))
        >>> A.with_values(torch.tensor([2.0, 3.0])) @ torch.ones(2)
        tensor([2., 3.])
        """
        if torch.compiler.is_compiling():
            return self._with_compiled(values)
        return SparseMatrix._of_ref(self._entries, values)

    def _with_compiled(self, values: Tensor | None) -> SparseMatrix:
        entries, product = self._entries, self._product
        if values is None and self.values is not None and not self._counts:
            product = Ref(torch.ops.sptile.counted(entries.token), entries.rows, entries.cols, entries.given)
        if values is not None:
            _check_values(values, entries.given, self.device)
        other = SparseMatrix.__new__(SparseMatrix)
        other._place(entries, product, values, values, False, self.device)
        return other

    def places(self) -> tuple[Tensor, Tensor]:
        """Returns the rows and the columns of the nonzeros, in the order in which they were given.

        Returns
        -------
        tuple of Tensor
            Rows and columns, int64, shape (nonzeros,) each.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).places()
        (tensor([0, 1]), tensor([0, 1]))
        """
        if torch.compiler.is_compiling():
            row, col = torch.ops.sptile.places_of(self._entries.token, self._entries.given, self.device)
            return row, col
        found = self._entries.entries
        return found.row(), found.col()

    def degrees(self) -> Tensor:
        """Returns the number of nonzeros in each row, with duplicates.

        Returns
        -------
        Tensor
            float64, shape (rows, 1).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).degrees().flatten()
        tensor([1., 1.], dtype=torch.float64)
        """
        rows = self.shape[0]
        if torch.compiler.is_compiling():
            degrees: Tensor = torch.ops.sptile.degrees_of(self._entries.token, rows, self.device)
            return degrees
        found = self._entries.entries
        if not found.order.repeats:
            return self.pattern.crow.diff().double().unsqueeze(1)
        return torch.bincount(found.row(), minlength=rows).double().unsqueeze(1)

    def with_loops(self) -> SparseMatrix:
        """Returns the pattern of ``A + I``, without duplicates and in CSR order. The matrix keeps it.

        Returns
        -------
        SparseMatrix
            A matrix without values.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_edge_index(torch.tensor([[0], [1]])).with_loops().nnz
        3
        """
        return self._derive("loops", lambda: _in_order(self._with_loops()[0]))

    def entries(self) -> SparseMatrix:
        """Returns the pattern, without duplicates and in CSR order. The matrix keeps it.

        Returns
        -------
        SparseMatrix
            A matrix without values.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(2 * torch.eye(2)).entries() @ torch.ones(2)
        tensor([1., 1.])
        """
        return self._derive("entries", lambda: _in_order(self._bare))

    def gcn_norm(
        self, add_self_loops: bool = True, *, fill_value: Number = 1.0, dtype: Any = None
    ) -> SparseMatrix:
        """Returns the normalized adjacency matrix of GCN, ``D^-1/2 (A + I) D^-1/2``, where D is the row sum of A + I.

        Parameters
        ----------
        add_self_loops : bool, optional
            Add the missing nonzeros of the diagonal. Existing ones keep their value, duplicates their last value, as in
            PyG.
        fill_value : float, optional
            Value of an added nonzero.
        dtype : dtype, optional
            Type of the result. By default that of the values, float32 for a pattern.

        Returns
        -------
        SparseMatrix
            The normalized matrix. `sptile.torch.nn.GCNConv` does not normalize it again. Gradients reach the values.

        Raises
        ------
        UsageError
            If the matrix is not square.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1], [1, 0]]))
        >>> A.gcn_norm().to_dense()
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
        """
        rows, cols = self.shape
        if rows != cols:
            raise UsageError(f"gcn_norm requires a square matrix, got {rows} x {cols}")
        dtype = self.dtype if dtype is None else torch_dtype(dtype)
        wide = statistic(dtype)
        if torch.compiler.is_compiling():
            return self._compiled_norm(add_self_loops, fill_value, dtype)
        if self.values is None:
            values = torch.ones(self.nnz, dtype=wide, device=self.device)
        else:
            values = self.values.to(wide)
            values = self._order.to_csr(self._with_last_loops(values) if add_self_loops else values)
        bare = self._bare
        if add_self_loops:
            bare, loops = self._with_loops()
            values = loops.insert(values, fill_value)
            del loops
        row = bare.pattern.row(torch.int32)
        normalized = _in_order(bare, scaled(values, row, bare.pattern.col, rows).to(dtype))
        normalized.is_normalized = True
        return normalized

    def _compiled_norm(self, add_self_loops: bool, fill_value: Number, dtype: torch.dtype) -> SparseMatrix:
        """Returns gcn_norm in compiled code, where the number of distinct entries is unknown: its entries are the
        given ones, then all loops."""
        wide = statistic(dtype)
        looped, row, col = self, *self.places()
        values = row.new_ones(row.shape, dtype=wide) if self.values is None else self.values.to(wide)
        if add_self_loops:
            looped, loop, last = self._compiled_loops(row, col)
            of_loops = torch.cat([values, values.new_full((1,), fill_value)]).index_select(0, last)
            values = torch.cat([torch.where(loop, 0, values), of_loops])
            row, col = looped.places()
        normalized = looped._with_compiled(scaled(values, row, col, self.shape[0]).to(dtype))
        normalized.is_normalized = True
        return normalized

    def _compiled_loops(self, row: Tensor, col: Tensor) -> tuple[SparseMatrix, Tensor, Tensor]:
        """For compiled code: returns the pattern with all loops appended to the given entries, a mask of the given
        loops, and the index of the last given loop of each node [rows], or the number of entries if it has none."""
        rows, cols = self.shape
        nodes, given = min(rows, cols), self._entries.given
        token = torch.ops.sptile.with_loops_of(self._entries.token)
        looped = SparseMatrix._compiled(token, token, (rows, cols), given + nodes, None, self.device)
        loop = row == col
        number = torch.where(loop, torch.arange(given, device=row.device), -1)
        # The loop of a node beyond the smaller side cannot be.
        place = torch.where(loop, row, 0)
        last = number.new_full((nodes,), -1).scatter_reduce(0, place, number, "amax")
        return looped, loop, torch.where(last < 0, given, last)

    def _with_last_loops(self, values: Tensor) -> Tensor:
        """Returns the numbers of the given entries; of repeated diagonal entries, all but the last become 0."""
        if not self._order.repeats:
            return values
        position = self._order.positions()
        given = torch.arange(position.numel(), device=self.device)
        last = torch.zeros_like(given[: self.nnz]).scatter_reduce(0, position, given, "amax")
        loop = self.pattern.row() == self.pattern.col
        return torch.where(loop[position] & (last[position] != given), 0, values)

    @kept
    def _with_loops(self) -> tuple[Handle, Loops]:
        """Returns A + I without values, which is kept, and the loops added to the pattern. Their places are kept if the
        values learn, because each step then needs them."""
        bare = self._bare
        handle, loops = bare.derived.get("loops", (None, None))
        if loops is None:
            pattern, loops = bare.pattern.with_loops()
            if handle is None and loops.added > 0:
                handle = Handle(pattern, None, bare.format, bare.kernels)
            bare.derived["loops"] = handle, loops if self._learned is not None or loops.added == 0 else None
        return bare if handle is None else handle, loops

    def _derive(self, name: str, make: Callable[[], Derived]) -> Derived:
        """Returns make(), cached by name; made outside inference mode, because training may follow."""
        if name not in self._derived:
            if torch.compiler.is_compiling():
                return make()
            with apart():
                self._derived[name] = make()
        derived: Derived = self._derived[name]
        return derived

    def to_torch(self) -> Tensor:
        """Returns the matrix as a sparse CSR tensor.

        Returns
        -------
        Tensor
            Tensor of layout torch.sparse_csr, without duplicates.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).to_torch().layout
        torch.sparse_csr
        """
        if self.values is None:
            values = torch.ones(self.nnz, device=self.device)
        else:
            values = self._order.to_csr(self.values)
        return torch.sparse_csr_tensor(self.pattern.crow, self.pattern.col.long(), values, tuple(self.shape))

    def to_scipy(self) -> Any:
        """Returns a copy of the matrix as a SciPy array.

        Returns
        -------
        scipy.sparse.csr_array
            Array in host memory, without duplicates. float16 and bfloat16 values become float32.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).to_scipy().toarray()
        array([[1., 0.],
               [0., 1.]], dtype=float32)
        """
        from scipy.sparse import csr_array  # type: ignore[import-untyped, import-not-found, unused-ignore]

        tensor = self.detach().to_torch()
        values = tensor.values().to(statistic(tensor.dtype))
        arrays = (x.to("cpu", copy=True).numpy() for x in (values, self.pattern.col, tensor.crow_indices()))
        return csr_array(tuple(arrays), shape=tuple(self.shape))

    def to_dense(self) -> Tensor:
        """Returns the matrix as a dense tensor. Gradients reach the values.

        Returns
        -------
        Tensor
            Dense tensor of shape (rows, cols).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> st.SparseMatrix.from_torch(torch.eye(2)).to_dense()
        tensor([[1., 0.],
                [0., 1.]])
        """
        values = self._order.to_csr(
            torch.ones(self._order.given, device=self.device) if self.values is None else self.values
        )
        place = self.pattern.row() * self.shape[1] + self.pattern.col
        flat = values.new_zeros(self.shape[0] * self.shape[1]).index_add(0, place, values)
        return flat.view(self.shape)

    __array_ufunc__ = None  # NumPy leaves `array @ A` to this class, which refuses it

    def __matmul__(self, x: Tensor) -> Tensor:
        """Returns A x for x [cols] or [..., cols, n]; the result has rows in the place of cols."""
        return self._multiply(False, x, None, True)

    def __rmatmul__(self, x: Tensor) -> Tensor:
        """Returns x A for x [rows] or [..., rows]; the result has cols in the place of rows."""
        x = tensor_of("x", x)
        rows = self.shape[0]
        if x.layout != torch.strided or x.dim() == 0 or x.shape[-1] != rows:
            kind = "" if x.layout == torch.strided else f"{x.layout} "
            raise UsageError(
                f"x must have shape [..., {rows}] for a matrix with {rows} rows, got {kind}{list(x.shape)}"
            )
        if x.dim() == 1:
            return self._multiply(True, x, None)
        flat = self._multiply(True, x.reshape(x.shape[:-1].numel(), rows).t(), None).t()
        return flat.reshape(*x.shape[:-1], flat.shape[1])

    def __mul__(self, other: Number | Tensor | SparseMatrix) -> SparseMatrix:
        """Returns the elementwise product with a number, a sparse matrix, or a dense tensor that broadcasts to A."""
        if isinstance(other, SparseMatrix):
            return multiplied(self, other)
        return scaled_by(self, _factor(other, "*"))

    __rmul__ = __mul__

    def __truediv__(self, other: Number | Tensor) -> SparseMatrix:
        return scaled_by(self, _factor(other, "/"), divides=True)

    def __neg__(self) -> SparseMatrix:
        return scaled_by(self, -1)

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        """Returns the sum of two sparse matrices, whose entries are those of either."""
        return added(self, _term(other, "+"))

    def __radd__(self, other: object) -> SparseMatrix:
        """Returns the matrix itself for 0, with which sum() starts."""
        return self if type(other) is int and other == 0 else added(self, _term(other, "+"))

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return added(self, _term(other, "-"), -1)

    def _multiply(self, t: bool, x: Tensor, values: Tensor | None, batch: bool = False) -> Tensor:
        """Returns A x, or A^T x if t: x [cols], [cols, n] or [cols, heads, n], with `batch` [..., cols, n]."""
        plain = not t and values is None and type(x) in _PLAIN_TENSORS and not operators.watched()
        plain = plain and forward_ad._current_level < 0 and not _autocasts()
        if plain:
            packed = self._packed.get(packed_key(x))
            if packed is not None and (address := packed_address(x, packed.index)):
                return operators.packed_spmm(packed, x, address)
        x, values = tensor_of("x", x), optional_tensor("values", values)
        if torch.is_autocast_enabled(self.device.type):
            x, values = cast(self, x), cast(self, values)  # type: ignore[assignment]
        else:
            self._check_type(x, values)
        ref = self._product
        if values is None and self._learned is not None:
            values = self._learned.to(x.dtype)
        if values is not None:
            ref = self._entries
            by_head = values.dim() == 2
            values = heads_first(self, "values", values, x.shape[1] if by_head and x.dim() == 3 else None)
            if by_head:
                return operators.spmm(ref, t, x, values)
        if x.dim() == 2:
            out = operators.spmm(ref, t, x, values)
            if plain and values is None and x.numel() > 0 and out.numel() > 0 and len(self._packed) < _MAX_PACKED:
                packed = PackedProduct(ref, ref.entries.handle, x, out)
                self._packed[packed.key] = packed
            return out
        if batch and x.dim() > 2:
            return self._multiply_batch(x, values)
        if x.dim() not in (1, 3):
            raise UsageError(f"x must have shape [{self.shape[0 if t else 1]}, n], got {list(x.shape)}")
        width = x.shape[1:].numel()
        flat = operators.spmm(ref, t, x.reshape(x.shape[0], width), values)
        return flat.reshape(flat.shape[0], *x.shape[1:])

    def _multiply_batch(self, x: Tensor, values: Tensor | None) -> Tensor:
        """Returns A x of x [..., cols, n]. Fixed values multiply the batch where it is in memory; others that learn
        multiply a copy whose rows are those of A."""
        lead, (cols, n) = x.shape[:-2], x.shape[-2:]
        if x.layout != torch.strided or cols != self.shape[1]:
            remedy = "; for x [nodes, heads, n] use spmm(A, x)" if x.dim() == 3 and x.shape[0] == self.shape[1] else ""
            kind = "" if x.layout == torch.strided else f"{x.layout} "
            raise UsageError(
                f"x must have shape [..., {self.shape[1]}, n] for a matrix with {self.shape[1]} columns, got "
                f"{kind}{list(x.shape)}{remedy}"
            )
        flat = x.reshape(lead.numel(), cols, n)
        if values is None:
            out = operators.spmm_batch(self._product, False, flat)
        else:
            wide = flat.transpose(0, 1).reshape(cols, lead.numel() * n)
            out = operators.spmm(self._entries, False, wide, values)
            out = out.view(out.shape[0], lead.numel(), n).transpose(0, 1)
        return out.reshape(*lead, *out.shape[1:])

    def _check_type(self, x: Tensor, values: Tensor | None = None) -> None:
        """Refuses x of another type than the values of A that it is multiplied with."""
        if values is None and self.values is not None and self.dtype != x.dtype and not self._counts:
            raise UsageError(
                f"x must be {self.dtype} like the values of A, got {x.dtype}; use A.to({x.dtype}) or x.to({self.dtype})"
            )

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: Any,
        arguments: tuple[Any, ...] = (),
        keywords: dict[str, Any] | None = None,
    ) -> Any:
        """Products of torch; other functions of it are refused."""
        sides_are_named = not torch.compiler.is_compiling() or _sides_are_named()
        if function is torch.sparse.mm and isinstance(arguments[0], SparseMatrix):
            return arguments[0]._sparse_mm(*arguments[1:], **(keywords or {}))
        arithmetic = ARITHMETIC.get(function)
        if arithmetic is not None and not keywords:
            return arithmetic(*arguments)
        if function not in PRODUCTS or keywords or len(arguments) != 2:
            return NotImplemented
        first, second = arguments
        if not sides_are_named:
            raise UnsupportedError("this version of torch cannot compile A @ x; use spmm(A, x)")
        if function is _FROM_THE_RIGHT:
            first, second = second, first
        return first.__matmul__(second) if isinstance(first, SparseMatrix) else second.__rmatmul__(first)

    def _sparse_mm(self, x: Tensor, reduce: str = "sum") -> Tensor:
        """Returns torch.sparse.mm(A, x, reduce)."""
        return reduction(self, x, None, reduce)

    def __repr__(self) -> str:
        values = "pattern" if self.values is None else str(self.dtype)
        return f"SparseMatrix({self.shape[0]} x {self.shape[1]}, {self.nnz} nonzeros, {values}, {self.device})"

    def __reduce__(self) -> Any:
        return _restore, (
            self.pattern.rows,
            self.pattern.cols,
            self.pattern.crow,
            self.pattern.col,
            None if self._order.position is None else self._order.position.long(),
            None,
            self._given_values(),
            self._bare.format,
            self.is_normalized,
            self._bare.kernels,
        )

    def __copy__(self) -> SparseMatrix:
        return self._like(SparseMatrix._of_ref(self._entries, self._given_values(), self._plain()))

    def _plain(self) -> Handle | None:
        """Returns the handle of products with the values, which copies share; None if the values are learned."""
        return self._handle if self._learned is None else None

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseMatrix:
        values = self._given_values()
        if values is not None and values.requires_grad and not values.is_leaf:
            raise TypeError(
                "cannot deep copy a SparseMatrix whose values are not leaf tensors; copy A.detach(), or call "
                "A.with_values with copies of the tensors"
            )
        copied = self._like(SparseMatrix._of_ref(self._entries, copy.deepcopy(values, memo), self._plain()))
        memo[id(self)] = copied
        return copied


def tensor_of(name: str, x: object) -> Tensor:
    if isinstance(x, Tensor):
        return x
    raise ArgumentTypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}")


def optional_tensor(name: str, x: object) -> Tensor | None:
    return None if x is None else tensor_of(name, x)


def cast(a: SparseMatrix, x: Tensor | None) -> Tensor | None:
    """Returns x in the type that autocast requires."""
    return None if x is None else x.to(product_type(x, a.device.type))


def product_type(x: Tensor, kind: str) -> torch.dtype:
    """Returns the type of x in products on a kind of device: that of x, or that of autocast."""
    if not torch.is_autocast_enabled(kind) or x.dtype == torch.float64 or not x.is_floating_point():
        return x.dtype
    return torch.get_autocast_dtype(kind)


def heads_first(a: SparseMatrix, name: str, values: Tensor, heads: int | None) -> Tensor:
    """The user's values [entries], or [entries, heads] as [heads, entries]."""
    given = a._entries.given
    wanted = [given] if heads is None else [given, heads]
    if list(values.shape) != wanted:
        raise UsageError(
            f"{name} must have shape {wanted}, one value per nonzero{'' if heads is None else ' and head'}, got "
            f"{list(values.shape)}"
        )
    return values if heads is None else values.t()


def _sides_are_named() -> bool:
    """Runs while torch compiles. For `A @ x`, torch 2.11 swaps the operands but keeps the function name of `x @ A`,
    because its table has no name for the swapped function; and its table may have the functions that a scope of
    `accelerate` has put in the place of torch's. Corrects the names once, and restarts the compilation."""
    try:
        from torch._dynamo.exc import RestartAnalysis
        from torch._dynamo.variables import builtin

        tables = builtin.BUILTIN_TO_TENSOR_FN_MAP, builtin.BUILTIN_TO_TENSOR_RFN_MAP
    except (ImportError, AttributeError):
        return False
    getattr(builtin, "populate_builtin_to_tensor_fn_map", lambda: None)()  # once, if the table is empty
    correct = True
    for table, function in zip(tables, (_FROM_THE_LEFT, _FROM_THE_RIGHT), strict=True):
        correct = correct and table.get(operator.matmul) is function
        table[operator.matmul] = function
    if not correct:
        raise RestartAnalysis(restart_reason="sptile names the sides of a product")
    return True


_sides_are_named._dynamo_marked_constant = True  # type: ignore[attr-defined]

_FROM_THE_LEFT, _FROM_THE_RIGHT = Tensor.__matmul__, Tensor.__rmatmul__  # scopes of `accelerate` replace the attribute
# Functions of torch that take a SparseMatrix.
PRODUCTS = (
    operator.matmul,
    torch.matmul,
    torch.mm,
    torch.mv,
    torch.sparse.mm,
    Tensor.matmul,
    Tensor.mm,
    Tensor.mv,
    Tensor.__matmul__,
    Tensor.__rmatmul__,
)


def _factor(x: object, sign: str) -> Number | Tensor:
    """Returns x if it is a number or a tensor; refuses others."""
    if isinstance(x, Tensor | Real):
        return x  # type: ignore[return-value]
    wanted = "a number, a dense tensor" + (" or a SparseMatrix" if sign == "*" else "")
    raise ArgumentTypeError(f"A {sign} x requires {wanted}, got {type(x).__name__}")


def _term(x: object, sign: str) -> SparseMatrix:
    """Returns x if it is a sparse matrix; refuses others, with which the sum would be dense."""
    if isinstance(x, SparseMatrix):
        return x
    raise ArgumentTypeError(f"A {sign} B requires sparse matrices, got {type(x).__name__}; use A.to_dense()")


def _product(x: Any, y: Any) -> SparseMatrix:
    return x.__mul__(y) if isinstance(x, SparseMatrix) else y.__mul__(x)


def _quotient(x: Any, y: Any) -> SparseMatrix:
    return _term(x, "/").__truediv__(y)


def _sum(x: Any, y: Any) -> SparseMatrix:
    return _term(x, "+").__add__(y)


def _difference(x: Any, y: Any) -> SparseMatrix:
    return _term(x, "-").__sub__(y)


# Functions of torch that take a SparseMatrix and return one. They call methods: in compiled code, an operator between a
# matrix and a tensor calls the function of torch.
ARITHMETIC: dict[Any, Callable[..., SparseMatrix]] = {
    **dict.fromkeys((torch.mul, torch.multiply, Tensor.mul, Tensor.multiply, Tensor.__rmul__), _product),
    **dict.fromkeys((torch.div, torch.divide, torch.true_divide, Tensor.div, Tensor.divide), _quotient),
    **dict.fromkeys((torch.add, Tensor.add), _sum),
    **dict.fromkeys((torch.sub, torch.subtract, Tensor.sub, Tensor.subtract), _difference),
    **dict.fromkeys((torch.neg, torch.negative), SparseMatrix.__neg__),
}


def scaled(values: Tensor, row: Tensor, col: Tensor, nodes: int) -> Tensor:
    """Returns D^-1/2 A D^-1/2, where D has the row sums of A: values, rows and columns of the entries. Mirrored
    entries are bitwise equal."""
    sums = values.to(WIDE.get(values.dtype, values.dtype))
    factor = sums.new_zeros(nodes).index_add(0, row, sums).pow(-0.5)
    factor = torch.where(torch.isinf(factor), 0, factor).to(values.dtype)
    return factor.index_select(0, row) * factor.index_select(0, col) * values


def _sizes(shape: Any, name: str = "shape") -> tuple[int, int]:
    """Rows and columns."""
    if torch.compiler.is_compiling():
        return shape[0], shape[1]
    try:
        rows, cols = (operator.index(size) for size in shape)
    except (TypeError, ValueError):
        wanted, found = ("(rows, columns)", shape) if name == "shape" else ("an integer", shape[0])
        raise ArgumentTypeError(f"{name} must be {wanted}, got {found!r}") from None
    return rows, cols


def _values_of_numpy(data: Any) -> Tensor:
    """A copy of the values of a SciPy matrix in a type that there is."""
    kind = data.dtype.kind
    if kind in "bui":
        converted = data.astype("float32")
        exact = converted.astype("float64") == data if data.dtype.itemsize < 8 else converted.astype(object) == data
        if not exact.all():
            warnings.warn(
                f"float32 cannot represent {int((~exact).sum())} of {data.size} {data.dtype} values of the matrix "
                "exactly; pass matrix.astype('float64')",
                RuntimeWarning,
                stacklevel=3,
            )
        return torch.from_numpy(converted)
    if data.dtype.name not in ("float16", "float32", "float64"):
        raise UsageError(
            f"the matrix must have float32, float64 or float16 values, got {data.dtype}; pass "
            + ("matrix.real" if kind == "c" else "matrix.astype('float64')")
        )
    return torch.from_numpy(data.astype(data.dtype.newbyteorder("=")))


def device_of(device: Any) -> torch.device:
    """A device on which a matrix may be."""
    try:
        found = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    except (TypeError, RuntimeError) as error:
        raise UsageError(f"device must be a torch device, got {device!r}: {error}") from None
    if found.type not in ("cpu", "cuda"):
        raise UnsupportedError(f"device must be the CPU or a CUDA device, got {found}")
    if found.type == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"device is {found}, but torch finds no CUDA device")
    if found.type == "cuda" and found.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu") if found.type == "cpu" else found


def _tensor_of(array: Any, dtype: Any = None) -> Tensor:
    """A copy of an array of a bundle, on its device. torch knows bfloat16 of others by its bits alone."""
    bits = getattr(dtype, "name", "") == "bfloat16"
    if hasattr(array, "__cuda_array_interface__"):
        tensor = torch.as_tensor(array, device="cuda").clone()
    else:
        tensor = torch.from_numpy((array.view("int16") if bits else array).copy())
    return tensor.view(torch.bfloat16) if bits else tensor


def _alike(matrices: Iterable[SparseMatrix]) -> list[SparseMatrix]:
    """Matrices for a batch, on one device and with values of one type."""
    if not isinstance(matrices, Iterable) or isinstance(matrices, (str, bytes, Tensor)):
        raise ArgumentTypeError(f"matrices must be a list of matrices, got {type(matrices).__name__}")
    parts = list(matrices)
    if not parts:
        raise UsageError("a batch requires at least one matrix")
    for number, part in enumerate(parts):
        what = f"matrix {number} of the batch: "
        if not isinstance(part, SparseMatrix):
            raise ArgumentTypeError(f"{what}expected a SparseMatrix, got {type(part).__name__}")
        if part.device != parts[0].device:
            raise UsageError(f"{what}it is on {part.device}, but the first is on {parts[0].device}")
        found, first = (_type_of(one._given_values()) for one in (part, parts[0]))
        if found != first:
            raise UsageError(f"{what}its values are {found}, but those of the first are {first}")
    return parts


def _type_of(values: Tensor | None) -> torch.dtype | None:
    return None if values is None else values.dtype


def _in_order(bare: Handle, values: Tensor | None = None) -> SparseMatrix:
    """A matrix whose entries were given in the order of CSR."""
    return SparseMatrix._of(bare, EntryOrder(bare.pattern.nnz), values)


def _restore(
    rows: int,
    cols: int,
    crow: Tensor,
    col: Tensor,
    position: Tensor | None,
    _source: Tensor | None,
    values: Tensor | None,
    format: str,
    is_normalized: bool = False,
    kernels: str = "",
) -> SparseMatrix:
    """A matrix of a pickle. Arrays are checked: the file may come from anywhere."""
    rows, cols = _sizes((rows, cols))
    row = rows_of_pointers(check_list_of_ids(crow, "crow"), check_list_of_ids(col, "col").numel())
    if row.numel() > 0 and crow.numel() - 1 != rows:
        raise BadInputError(f"crow must have {rows + 1} elements for {rows} rows, got {crow.numel()}")
    if position is not None:
        check_ids(position, "position", col.numel())
        row, col = row[position], col[position]
    words = str(kernels).split()
    kernel = dict(zip(words[::2], words[1::2], strict=False))
    matrix = SparseMatrix._of_entries(row, col, values, (rows, cols), str(format), kernel)
    matrix.is_normalized = bool(is_normalized)
    return matrix


torch.serialization.add_safe_globals([_restore])


def _check_values(values: Tensor | None, given: int, device: torch.device) -> None:
    if values is None:
        return
    if not isinstance(values, Tensor) or values.dim() != 1 or values.shape[0] != given or values.layout != torch.strided:
        found = list(values.shape) if isinstance(values, Tensor) else type(values).__name__
        raise UsageError(f"values must be a tensor [{given}], one value per nonzero, got {found}")
    if values.dtype not in DTYPES:
        raise UsageError(f"values must be float32, float64, float16 or bfloat16, got {values.dtype}")
    if values.device != device:
        raise UsageError(f"values must be on {device}, the device of the matrix, got {values.device}")
