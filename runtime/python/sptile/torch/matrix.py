"""A sparse matrix over tensors: the pattern is fixed, values may be learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, TypeVar

import torch
from torch import Tensor

from .._memory import tocsr
from ..errors import UsageError
from .handle import DTYPES, Handle
from .pattern import (
    EntryOrder,
    Pattern,
    chain_orders,
    chain_patterns,
    check_list_of_ids,
    pattern_of_entries,
    pattern_of_pointers,
)


Derived = TypeVar("Derived")


class SparseMatrix:
    """A rows x cols matrix on one device, to multiply tensors with: `A @ x`, and the functions of this
    module. torch.compile takes them as they are, but not the sign @: write `spmm(A, x)`.

    crow    int32 or int64 [rows + 1], where the entries of each row begin
    col     int32 or int64 [entries], the column of each, in any order within a row
    values  float32, float64, float16 or bfloat16 [entries], or None: each entry is 1. Where it requires a
            gradient, it gets one. It must not be changed in place: make `with_values` of the new ones.
    shape   (rows, cols); None: a square matrix, or as many columns as needed
    format  how the library stores the matrix: "csr", "bittcf", "bmat", "tall", ...; "auto": on a CUDA device
            the formats are tried when a product of a new width is first needed, and the fastest is taken, on
            the CPU it is "csr". "csr" gives the same bits in every run of a program.

    Entries that are given more than once are added; without values such a matrix gets as values how often
    each was given, in the type of what it multiplies. What has a number for each entry (`values`, results of
    sddmm) has them in the order in which entries were given. The arrays are checked: UsageError and
    BadInputError say what is wrong.
    """

    def __init__(
        self,
        crow: Tensor,
        col: Tensor,
        values: Tensor | None = None,
        shape: tuple[int, int] | None = None,
        *,
        symmetric: bool | None = None,
        format: str = "auto",
    ) -> None:
        check_list_of_ids(crow, "crow")
        if shape is None:
            widest = int(col.max()) + 1 if check_list_of_ids(col, "col").numel() > 0 else 0
            shape = (crow.numel() - 1, max(crow.numel() - 1, widest))
        if crow.numel() - 1 != shape[0]:
            raise UsageError(f"crow has {crow.numel()} numbers; {shape[0]} rows need {shape[0] + 1}")
        pattern, order = pattern_of_pointers(crow, col, int(shape[1]))
        self._set(Handle(pattern, None, format), order, values)
        if symmetric is not None and symmetric != self.is_symmetric():
            raise UsageError(
                f"symmetric = {symmetric}, but the matrix is {'' if not symmetric else 'not '}symmetric"
            )

    def _set(self, bare: Handle, order: EntryOrder, values: Tensor | None) -> None:
        self._bare, self._order = bare, order
        self._derived: dict[str, Any] = {}
        self.is_normalized = False  # by gcn_norm
        pattern = bare.pattern
        self.shape = torch.Size((pattern.rows, pattern.cols))
        self.device = pattern.device
        self.nnz = pattern.nnz
        self._counts = values is None and order.position is not None and order.source is None
        if self._counts:
            values = torch.ones(order.given, device=pattern.device)
        _check_values(values, order, pattern)
        self.values = values
        self.dtype = torch.float32 if values is None else values.dtype
        fixed = values is None or not values.requires_grad
        self._learned = None if fixed else values
        self._handle = bare
        if fixed and values is not None:
            self._handle = Handle(pattern, order.to_csr(values.detach()).contiguous(), bare.format)
        self.number = self._handle.number
        self.pattern_number = bare.number

    @classmethod
    def _of(cls, bare: Handle, order: EntryOrder, values: Tensor | None) -> SparseMatrix:
        matrix = cls.__new__(cls)
        matrix._set(bare, order, values)
        return matrix

    @classmethod
    def _of_entries(
        cls, row: Tensor, col: Tensor, values: Tensor | None, shape: tuple[int, int], format: str = "auto"
    ) -> SparseMatrix:
        pattern, order = pattern_of_entries(row, col, *shape)
        return cls._of(Handle(pattern, None, format), order, values)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Tensor,
        weight: Tensor | None = None,
        num_nodes: int | None = None,
        *,
        format: str = "auto",
    ) -> SparseMatrix:
        """Of a graph as PyG has it: edge_index int64 [2, edges], sources and targets; weight [edges]. Row i
        has the edges that lead to node i, so that `A @ x` adds up what its neighbours send."""
        if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.shape[0] != 2:
            found = list(edge_index.shape) if isinstance(edge_index, Tensor) else type(edge_index).__name__
            raise UsageError(f"edge_index is {found}; pass a tensor [2, edges]")
        if num_nodes is None:
            num_nodes = int(edge_index.max()) + 1 if edge_index.numel() > 0 else 0
        return cls._of_entries(edge_index[1], edge_index[0], weight, (num_nodes, num_nodes), format)

    @classmethod
    def from_torch(cls, tensor: Tensor, *, format: str = "auto") -> SparseMatrix:
        """Of a sparse CSR or COO tensor of two dimensions, or of the entries of a dense one that are not
        0."""
        if not isinstance(tensor, Tensor) or tensor.dim() != 2:
            raise UsageError("from_torch takes a tensor of two dimensions")
        shape = (tensor.shape[0], tensor.shape[1])
        if tensor.layout == torch.sparse_csr:
            return cls(tensor.crow_indices(), tensor.col_indices(), tensor.values(), shape, format=format)
        if tensor.layout == torch.strided:
            row, col = tensor.nonzero(as_tuple=True)
            return cls._of_entries(row, col, tensor[row, col], shape, format)
        if tensor.layout == torch.sparse_coo:
            values = tensor._values() if not tensor.is_coalesced() else tensor.values()
            row, col = tensor._indices() if not tensor.is_coalesced() else tensor.indices()
            return cls._of_entries(row, col, values, shape, format)
        raise UsageError(f"from_torch takes sparse_csr, sparse_coo or strided tensors, not {tensor.layout}")

    @classmethod
    def from_scipy(cls, matrix: Any, *, format: str = "auto") -> SparseMatrix:
        """Of a SciPy sparse matrix or array, in host memory: `.to(device)` moves it."""
        csr = tocsr(matrix)
        crow, col, values = (torch.from_numpy(x.copy()) for x in (csr.indptr, csr.indices, csr.data))
        if values.dtype not in DTYPES:
            values = values.to(torch.float32)
        return cls(crow, col, values, csr.shape, format=format)

    @classmethod
    def from_bundle(cls, bundle: str | PathLike[str] | Any, *, format: str = "auto") -> SparseMatrix:
        """Of a bundle that `sptile convert` made: a path, or what `sptile.open` gave. Rows are in the
        original order; a pattern has no values."""
        import sptile

        opened = sptile.open(bundle) if isinstance(bundle, str | PathLike) else bundle
        crow, col, values = opened.csr()
        numbers = None if values is None else _tensor_of(values, opened.dtype)
        return cls(_tensor_of(crow), _tensor_of(col), numbers, tuple(opened.shape), format=format)

    @classmethod
    def block_diag(cls, matrices: Iterable[SparseMatrix], *, format: str = "auto") -> SparseMatrix:
        """Of one matrix or more, which stand on its diagonal: one product multiplies each with its own rows
        of x, `torch.cat` of the operands of each. `torch.split(y, [a.shape[0] for a in matrices])` gives
        their results. Gradients reach the values of each, which are all None or of one type; UsageError
        names the matrix that is not like the first, UnsupportedError is more than 2**31 - 1 rows or
        columns."""
        parts = _alike(matrices)
        joined = cls._of_parts(parts, True, format)
        joined.is_normalized = all(part.is_normalized for part in parts)
        return joined

    @classmethod
    def vstack(cls, matrices: Iterable[SparseMatrix], *, format: str = "auto") -> SparseMatrix:
        """Of one matrix or more of equal width, which stand under one another: one product multiplies all
        with the same x. The rest as of `block_diag`."""
        parts = _alike(matrices)
        for number, part in enumerate(parts):
            if part.shape[1] != parts[0].shape[1]:
                raise UsageError(
                    f"matrix {number} of the batch: {part.shape[1]} columns, the first has {parts[0].shape[1]}"
                )
        return cls._of_parts(parts, False, format)

    @classmethod
    def _of_parts(cls, parts: list[SparseMatrix], diagonal: bool, format: str) -> SparseMatrix:
        pattern = chain_patterns([part.pattern for part in parts], diagonal)
        order = chain_orders([part._order for part in parts], pattern.device)
        given = [part._given_values() for part in parts]
        values = None if given[0] is None else torch.cat([one for one in given if one is not None])
        return cls._of(Handle(pattern, None, format), order, values)

    def _given_values(self) -> Tensor | None:
        """The values, None where they only count how often entries were given."""
        return None if self._counts else self.values

    @property
    def pattern(self) -> Pattern:
        """The CSR arrays, `crow` and `col`."""
        return self._bare.pattern

    @property
    def requires_grad(self) -> bool:
        return self._learned is not None

    def is_symmetric(self) -> bool:
        """True if the matrix equals its transpose."""
        return self._handle.transposed() is self._handle

    def t(self) -> SparseMatrix:
        """The transpose; it is kept, as backward needs it, too. Its values are in the order of this one's."""
        bare = self._bare.transposed()
        if bare is self._bare and self._handle.transposed() is self._handle and not self.requires_grad:
            return self
        return SparseMatrix._of(bare, self._order.transposed(self._bare.source()), self.values)

    def to(self, target: torch.device | str | torch.dtype) -> SparseMatrix:
        """The same on another device, or with values of another type; itself if nothing changes."""
        if isinstance(target, torch.dtype):
            if self.values is None or self.values.dtype == target:
                return self
            converted = self.with_values(self.values.to(target))
            converted.is_normalized = self.is_normalized
            return converted
        device = torch.device(target)
        if device.type == "cuda" and device.index is None:
            device = torch.device("cuda", torch.cuda.current_device())
        if device == self.device:
            return self
        bare = Handle(self.pattern.to(device), None, self._bare.format)
        moved = SparseMatrix._of(
            bare, self._order.to(device), None if self.values is None else self.values.to(device)
        )
        moved.is_normalized = self.is_normalized
        return moved

    def cuda(self) -> SparseMatrix:
        return self.to("cuda")

    def cpu(self) -> SparseMatrix:
        return self.to("cpu")

    def with_values(self, values: Tensor | None) -> SparseMatrix:
        """The same pattern with other values [entries, as they were given], or none."""
        return SparseMatrix._of(self._bare, self._order, values)

    def with_loops(self) -> SparseMatrix:
        """The pattern of A + I: entries on the diagonal are there once. It has no values, its entries are in
        the order of CSR, and it is kept."""
        return self._derive("loops", lambda: _in_order(self._with_loops()[0]))

    def entries(self) -> SparseMatrix:
        """The pattern alone, its entries in the order of CSR. It is kept."""
        return self._derive("entries", lambda: _in_order(self._bare))

    def gcn_norm(
        self, add_self_loops: bool = True, *, fill_value: float = 1.0, dtype: torch.dtype | None = None
    ) -> SparseMatrix:
        """D^-1/2 (A + I) D^-1/2 with D the sums of the rows of A + I, as GCN has it. Entries on the diagonal
        stay and get no second one: of one that was given several times the last counts, as in PyG; a missing
        one is `fill_value`. Without `add_self_loops`: D^-1/2 A D^-1/2, all entries added up. dtype: that of
        the values, None: their own, float32 of a pattern. Gradients reach the values. Layers take the result
        as it is."""
        rows, cols = self.shape
        if rows != cols:
            raise UsageError(f"gcn_norm of a matrix of {rows} x {cols}; it has as many rows as columns")
        if self.values is None:
            values = torch.ones(self.nnz, dtype=dtype or torch.float32, device=self.device)
        else:
            values = self.values if dtype is None else self.values.to(dtype)
            values = self._order.to_csr(self._with_last_loops(values) if add_self_loops else values)
        bare = self._bare
        if add_self_loops:
            bare, order, missing = self._with_loops()
            values = order.to_csr(torch.cat([values, values.new_full((missing,), fill_value)]))
        row, col = bare.pattern.row(), bare.pattern.col.long()
        degree = values.new_zeros(rows).index_add(0, row, values)
        factor = degree.pow(-0.5)
        factor = torch.where(torch.isinf(factor), 0, factor)
        values = factor[row] * factor[col] * values  # those of mirrored entries are equal to the bit
        normalized = _in_order(bare, values)
        normalized.is_normalized = True
        return normalized

    def _with_last_loops(self, values: Tensor) -> Tensor:
        """Numbers of the entries as they were given; of entries on the diagonal that were given several times
        all but the last become 0."""
        position = self._order.position
        if position is None or self._order.source is not None:
            return values
        given = torch.arange(position.numel(), device=self.device)
        last = torch.zeros_like(given[: self.nnz]).scatter_reduce(0, position, given, "amax")
        loop = self.pattern.row() == self.pattern.col
        return torch.where(loop[position] & (last[position] != given), 0, values)

    def _with_loops(self) -> tuple[Handle, EntryOrder, int]:
        """A + I without values, the order of the entries in CSR and then of those that were missing, and how
        many these are."""
        bare = self._bare
        if "loops" not in bare.derived:
            rows = min(self.shape)
            row, col = bare.pattern.row(), bare.pattern.col
            missing = torch.ones(rows, dtype=torch.bool, device=self.device)
            missing[row[row == col]] = False
            loops = missing.nonzero().flatten()
            row, col = torch.cat([row, loops]), torch.cat([col.long(), loops])
            pattern, order = pattern_of_entries(row, col, *self.shape)
            there = loops.numel() == 0
            bare.derived["loops"] = (
                None if there else Handle(pattern, None, bare.format),
                order,
                loops.numel(),
            )
        handle, order, count = bare.derived["loops"]
        return bare if handle is None else handle, order, count

    def _derive(self, name: str, make: Callable[[], Derived]) -> Derived:
        """What follows from this matrix, made once."""
        if name not in self._derived:
            self._derived[name] = make()
        derived: Derived = self._derived[name]
        return derived

    def to_torch(self) -> Tensor:
        """A sparse CSR tensor with the same entries."""
        if self.values is None:
            values = torch.ones(self.nnz, device=self.device)
        else:
            values = self._order.to_csr(self.values)
        return torch.sparse_csr_tensor(self.pattern.crow, self.pattern.col.long(), values, tuple(self.shape))

    def to_dense(self) -> Tensor:
        """The matrix with its zeros. Differentiable."""
        values = self._order.to_csr(
            torch.ones(self._order.given, device=self.device) if self.values is None else self.values
        )
        place = self.pattern.row() * self.shape[1] + self.pattern.col
        flat = values.new_zeros(self.shape[0] * self.shape[1]).index_add(0, place, values)
        return flat.view(self.shape)

    def __matmul__(self, x: Tensor) -> Tensor:
        from .functions import spmm

        return spmm(self, x)

    def __repr__(self) -> str:
        values = "a pattern" if self.values is None else str(self.dtype)
        return f"SparseMatrix({self.shape[0]} x {self.shape[1]}, {self.nnz} entries, {values}, {self.device})"

    def __reduce__(self) -> Any:
        return _restore, (
            self.pattern.rows,
            self.pattern.cols,
            self.pattern.crow,
            self.pattern.col,
            self._order.position,
            self._order.source,
            self.values,
            self._bare.format,
        )

    def __deepcopy__(self, memo: Any) -> SparseMatrix:
        return self  # nothing of it changes


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
        raise UsageError(f"matrices is a {type(matrices).__name__}; pass a list of matrices")
    parts = list(matrices)
    if not parts:
        raise UsageError("a batch of no matrices; it has one at least")
    for number, part in enumerate(parts):
        what = f"matrix {number} of the batch: "
        if not isinstance(part, SparseMatrix):
            raise UsageError(f"{what}it is of type {type(part).__name__}; pass a SparseMatrix")
        if part.device != parts[0].device:
            raise UsageError(f"{what}it is on {part.device}, the first is on {parts[0].device}")
        found, first = (_type_of(one._given_values()) for one in (part, parts[0]))
        if found != first:
            raise UsageError(f"{what}values are {found}, those of the first are {first}")
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
    source: Tensor | None,
    values: Tensor | None,
    format: str,
) -> SparseMatrix:
    pattern = Pattern(rows, cols, crow, col)
    return SparseMatrix._of(Handle(pattern, None, format), EntryOrder(pattern.nnz, position, source), values)


def _check_values(values: Tensor | None, order: EntryOrder, pattern: Pattern) -> None:
    if values is None:
        return
    if (
        not isinstance(values, Tensor)
        or list(values.shape) != [order.given]
        or values.layout != torch.strided
    ):
        found = list(values.shape) if isinstance(values, Tensor) else type(values).__name__
        raise UsageError(f"values are {found}; pass a tensor [{order.given}]: one number for each entry")
    if values.dtype not in DTYPES:
        raise UsageError(f"values are {values.dtype}; use float32, float64, float16 or bfloat16")
    if values.device != pattern.device:
        raise UsageError(
            f"values are on {values.device}, the entries on {pattern.device}; put them on one device"
        )
