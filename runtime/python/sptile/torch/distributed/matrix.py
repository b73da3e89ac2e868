"""A sparse matrix that is divided among processes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from ...errors import Error, UsageError
from ...part import Part
from ..functions import _check_type
from ..handle import DTYPES, Handle
from ..matrix import SparseMatrix, _in_order
from ..pattern import pattern_of_entries
from .exchange import ADD_UP, COLLECT, FETCH, PRODUCT, Exchange, Lists
from .own_part import open_own_part
from .products import Fetch, Product
from .ranks import Ranks, as_error
from .whole import Measured, compare, without_entries

Derived = TypeVar("Derived")


class DistSparseMatrix:
    """A square matrix of which each rank of a process group owns some rows: `A @ x` multiplies the rows of x that
    it owns, and gives those of the result. Every rank must call the same.

    path    the folder that `sptile partition` made, with as many parts as the group has ranks; rank p takes part p
    group   a process group of torch.distributed, None: all ranks. With NCCL rows go from device to device
    device  where the matrix is; None: the current CUDA device where the group has NCCL, else the CPU
    format  as of SparseMatrix; "csr" gives the same bits in every run of a program, wherever it is
    check   "always": before each exchange all ranks compare what they are about to do, in a message of 40 bytes
            through host memory, so that another width or type, or an operand that one of them refuses, is an error
            in all. "first": only of what is new to this rank; it saves the message, but a rank that differs
            later is found by the time-out of the group alone.
    never_slower  columns of an operand with which a product must not take longer than with the whole matrix on
            the device of rank 0. Both are measured now; if the whole is faster, rank 0 owns all rows, the
            others none, no rank waits for another in a product, and rank 0 warns. It reads all parts for it,
            and checks that they are of one partition.

    rank, world_size   of the group
    shape, nnz         of the whole matrix
    rows               int64 [owned]: which rows of the whole matrix those of this rank are
    symmetric          whether it equals its transpose
    dtype              of the values, float32 of a pattern
    local, halo        SparseMatrix [owned, owned] and [owned, needed]
    fell_back          whether rank 0 has all rows, as `never_slower` wants it
    measured           for `never_slower`: (divided, whole), seconds of a product; None without it

    Every rank raises the same error where one has a part that is missing, damaged, or of another partition, or where
    anything else goes wrong in one of them: InternalError of what is no error of sptile. IoError names ranks that
    ended while others waited for them.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        group: dist.ProcessGroup | None = None,
        device: torch.device | str | None = None,
        *,
        format: str = "auto",
        check: str = "always",
        never_slower: int | None = None,
    ) -> None:
        ranks = Ranks(group)
        part = open_own_part(path, ranks)
        place = _device(device, ranks)

        def place_part() -> tuple[SparseMatrix, SparseMatrix, Exchange]:
            if never_slower is not None and (not isinstance(never_slower, int) or never_slower < 1):
                raise UsageError(f"never_slower = {never_slower!r}; it is a number of columns, or None")
            local, halo = (
                SparseMatrix.from_bundle(one, format=format).to(place) for one in (part.local, part.halo)
            )
            return local, halo, Exchange(Lists.of(part), ranks, place, check)

        (local, halo, exchange), told = ranks.attempt(place_part, lambda _: {"never_slower": never_slower})
        if any(one != told[0] for one in told):
            raise UsageError(
                f"never_slower differs: {[one['never_slower'] for one in told]}; give all ranks the same"
            )
        self.shape, self.nnz, self.symmetric, self.id = (
            torch.Size(part.shape),
            part.nnz,
            part.symmetric,
            part.id,
        )
        self.rows = torch.from_numpy(part.old_ids.astype("int64")).to(place)
        self.fell_back = False
        self.measured: Measured | None = None
        self._set(local, halo, exchange)
        if never_slower is not None:
            self._take_the_faster(path, part, never_slower, format)

    def _take_the_faster(self, path: str | os.PathLike[str], part: Part, n: int, format: str) -> None:
        """Gives rank 0 all rows if it is faster alone."""
        ranks = self._exchange.ranks
        x, _ = ranks.attempt(
            lambda: torch.zeros(self.owned, n, dtype=self.dtype, device=self.device), lambda _: {}
        )
        self.measured, whole = compare(path, part, ranks, lambda: self @ x, lambda rows: x.new_zeros(rows, n), format)
        self._exchange.bytes_sent = 0
        divided, alone = self.measured
        if not alone < divided:
            return
        self.fell_back = True
        owned = self.shape[0] if ranks.rank == 0 else 0
        local = without_entries(0, 0, self.local) if whole is None else whole
        lists = Lists.alone(owned, ranks.size)
        exchange = Exchange(lists, ranks, self.device, self._exchange.check, alone=True)
        self.rows = torch.arange(owned, device=self.device)
        self._set(local, without_entries(owned, 0, self.local), exchange)
        if ranks.rank == 0:
            warnings.warn(
                f"a product of {n} columns takes {divided:.3g} s in {ranks.size} parts, {alone:.3g} s with the "
                f"whole matrix on {self.device} of rank 0, which has all rows now; the other ranks have none",
                RuntimeWarning,
                stacklevel=3,
            )

    def _set(self, local: SparseMatrix, halo: SparseMatrix, exchange: Exchange) -> None:
        self.local, self.halo, self._exchange = local, halo, exchange
        self.device, self.dtype = local.device, local.dtype
        self.rank, self.world_size = exchange.ranks.rank, exchange.ranks.size
        self.is_normalized = False
        self._derived: dict[str, Any] = {}

    def _with(self, local: SparseMatrix, halo: SparseMatrix, nnz: int) -> DistSparseMatrix:
        """Another matrix that is divided as this one."""
        matrix = DistSparseMatrix.__new__(DistSparseMatrix)
        matrix.shape, matrix.nnz, matrix.symmetric, matrix.id = self.shape, nnz, self.symmetric, self.id
        matrix.rows, matrix.fell_back, matrix.measured = self.rows, self.fell_back, self.measured
        matrix._set(local, halo, self._exchange)
        return matrix

    @property
    def owned(self) -> int:
        """Rows that this rank owns."""
        return self._exchange.owned

    @property
    def needed(self) -> int:
        """Rows of others that its entries need."""
        return self.halo.shape[1]

    @property
    def bytes_sent(self) -> int:
        """Bytes of rows that this rank sent since the matrix was opened, forwards and backwards, those of matrices
        that were made of it too. They are counted as they are handed over; the messages of `check` are not among
        them."""
        return self._exchange.bytes_sent

    def __matmul__(self, x: Tensor) -> Tensor:
        """A x: x [owned], [owned, n] or [owned, heads, n], the result the same, with gradients.

        UsageError, in all ranks, for an operand of another shape, type or device, or where ranks have operands of
        different widths or types; IoError where a rank has ended."""
        flat = self._operand(PRODUCT, x, True)
        out: Tensor = Product.apply(flat, self, False)  # type: ignore[no-untyped-call]
        return out.reshape(x.shape)

    def fetch(self, x: Tensor) -> Tensor:
        """The rows of others that this rank needs, in the order of the columns of halo: x [owned, ...], the result
        [needed, ...]. Gradients go back to the ranks that own them, and are added in the order of ranks. Errors
        as of A @ x."""
        flat = self._operand(FETCH, x, False)
        out: Tensor = Fetch.apply(flat, self._exchange)  # type: ignore[no-untyped-call]
        return out.reshape(out.shape[0], *x.shape[1:])

    def with_halo(self, x: Tensor) -> Tensor:
        """x [owned, ...] with the rows of others behind its own: [owned + needed, ...], the operand of
        `joined`."""
        return torch.cat([x, self.fetch(x)])

    @property
    def joined(self) -> SparseMatrix:
        """The pattern of this rank's rows, [owned, owned + needed]: columns of local, then those of halo. It is
        kept."""
        return self._derive("joined", self._join)

    def _join(self) -> SparseMatrix:
        here, beside = self.local.pattern, self.halo.pattern
        row = torch.cat([here.row(), beside.row()])
        col = torch.cat([here.col.long(), beside.col.long() + self.owned])
        pattern, _ = pattern_of_entries(row, col, self.owned, self.owned + self.needed)
        return _in_order(Handle(pattern, None, "csr"))

    def take(self, whole: Tensor) -> Tensor:
        """This rank's rows of a tensor [rows, ...] that has one for each row of the whole matrix, on its device."""
        if not isinstance(whole, Tensor) or whole.dim() == 0 or whole.shape[0] != self.shape[0]:
            found = list(whole.shape) if isinstance(whole, Tensor) else type(whole).__name__
            raise UsageError(f"take is given {found}; pass a tensor [{self.shape[0]}, ...]")
        return whole.index_select(0, self.rows.to(whole.device)).to(self.device)

    def collect(self, x: Tensor) -> Tensor:
        """The rows of all ranks, x [owned, ...] of each, in the order of the whole matrix: [rows, ...] in every rank,
        in host memory. Without gradients; the other way of `take`."""
        flat = self._operand(COLLECT, x, False).detach().cpu()
        ranks = self._exchange.ranks
        counts = [one[0] for one in ranks.numbers([self.owned])]
        most = max(counts)
        mine = torch.zeros((most, flat.shape[1]), dtype=flat.dtype)
        mine[: self.owned] = flat
        places = torch.zeros(most, dtype=torch.int64)
        places[: self.owned] = self.rows.cpu()
        whole = torch.empty((self.shape[0], flat.shape[1]), dtype=flat.dtype)
        all_rows = [torch.empty_like(mine).view(torch.uint8) for _ in counts]
        all_places = [torch.empty_like(places) for _ in counts]

        def gather() -> None:
            dist.all_gather(all_rows, mine.view(torch.uint8), group=ranks.control)
            dist.all_gather(all_places, places, group=ranks.control)

        ranks.guarded("collect", gather)
        for rows, place, count in zip(all_rows, all_places, counts, strict=True):
            whole[place[:count]] = rows.view(flat.dtype)[:count]
        return whole.reshape(self.shape[0], *x.shape[1:])

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        """Adds up what all ranks have of tensors of one type on the matrix's device, in place and in one message:
        gradients of weights, where each rank has its share of a loss. Without gradients. UsageError, in all ranks,
        where they have different numbers of elements or types."""
        refusal: Error | None = None
        parts: list[Tensor] = []
        flat = torch.empty(0, device=self.device)
        try:
            parts = list(tensors)
            flat = torch.cat(
                [flat.new_empty(0, dtype=parts[0].dtype), *(x.detach().flatten() for x in parts)]
            )
        except MemoryError as error:
            refusal = as_error(error)
        except Exception as error:  # whatever it is: the others wait to hear of it
            refusal = UsageError(f"add_up takes tensors of one type on {self.device}: {error}")
        if refusal is None and (flat.dtype not in DTYPES or any(x.dtype != flat.dtype for x in parts)):
            refusal = UsageError(
                f"add_up takes floating-point tensors of one type, not {flat.dtype} and others"
            )
        self._exchange.agree(ADD_UP, flat[None], refusal)
        sums = self._exchange.sum_over_ranks(flat).split([x.numel() for x in parts])
        with torch.no_grad():
            for x, added in zip(parts, sums, strict=True):
                x.copy_(added.view_as(x))

    def gcn_norm(
        self, add_self_loops: bool = True, *, fill_value: float = 1.0, dtype: torch.dtype | None = None
    ) -> DistSparseMatrix:
        """D^-1/2 (A + I) D^-1/2, as SparseMatrix.gcn_norm has it; degrees of columns that others own are
        fetched. Layers take the result as it is."""
        local, halo = self.local, self.halo
        of_local, of_halo = _values(local, dtype), _values(halo, dtype)
        bare, added = local._bare, 0
        if add_self_loops:
            bare, order, added = local._with_loops()
            of_local = order.to_csr(torch.cat([of_local, of_local.new_full((added,), fill_value)]))
        row, col = bare.pattern.row(), bare.pattern.col.long()
        halo_row, halo_col = halo.pattern.row(), halo.pattern.col.long()
        degree = of_local.new_zeros(self.owned).index_add(0, row, of_local).index_add(0, halo_row, of_halo)
        factor = degree.pow(-0.5)
        factor = torch.where(torch.isinf(factor), 0, factor)
        of_others = self.fetch(factor)
        normal = _in_order(bare, factor[row] * factor[col] * of_local)
        beside = _in_order(halo._bare, factor[halo_row] * of_others[halo_col] * of_halo)
        loops = sum(one[0] for one in self._exchange.ranks.numbers([added]))
        normalized = self._with(normal, beside, self.nnz + loops)
        normalized.is_normalized = True
        return normalized

    def unweighted(self) -> DistSparseMatrix:
        """The pattern: each entry is 1. It is kept."""
        if self.local.values is None:
            return self
        return self._derive(
            "unweighted", lambda: self._with(self.local.entries(), self.halo.entries(), self.nnz)
        )

    def _derive(self, name: str, make: Callable[[], Derived]) -> Derived:
        """What follows from this matrix, made once."""
        if name not in self._derived:
            self._derived[name] = make()
        derived: Derived = self._derived[name]
        return derived

    def _operand(self, call: int, x: object, multiplied: bool) -> Tensor:
        """x as [owned, n], once all ranks agree about it."""
        operand = x if isinstance(x, Tensor) else torch.empty(0, 0)
        try:
            refusal = self._refusal(x, multiplied)
            autocast = torch.is_autocast_enabled(self.device.type)
            if refusal is None and autocast and operand.dtype != torch.float64:
                operand = operand.to(torch.get_autocast_dtype(self.device.type))
        except Exception as error:  # memory that ends, too: the others wait to hear of it
            refusal = as_error(error)
        self._exchange.agree(call, operand, refusal)
        return operand.reshape(self.owned, operand.shape[1:].numel())

    def _refusal(self, x: object, multiplied: bool) -> Error | None:
        """What is wrong with an operand."""
        if not isinstance(x, Tensor):
            return UsageError(f"x is of type {type(x).__name__}; pass a torch.Tensor")
        if x.layout != torch.strided or x.dim() == 0 or x.shape[0] != self.owned:
            return UsageError(
                f"x is {list(x.shape)}; rank {self.rank} owns {self.owned} of {self.shape[0]} rows, so pass "
                f"[{self.owned}, n]"
            )
        if x.dtype not in DTYPES:
            return UsageError(f"x is {x.dtype}; use float32, float64, float16 or bfloat16")
        if x.device != self.device:
            return UsageError(f"x is on {x.device}, the matrix on {self.device}; move one of them")
        if multiplied and not torch.is_autocast_enabled(self.device.type):
            try:
                _check_type(self.local, x)
            except Error as error:
                return error
        return None

    def __repr__(self) -> str:
        return (
            f"DistSparseMatrix({self.shape[0]} x {self.shape[1]}, {self.nnz} entries, rank {self.rank} of "
            f"{self.world_size}: {self.owned} rows, {self.needed} of others, {self.device}"
            f"{', all in rank 0' if self.fell_back else ''})"
        )


def _device(device: torch.device | str | None, ranks: Ranks) -> torch.device:
    if device is None:
        device = "cuda" if "nccl" in ranks.backends.get("cuda", "") and torch.cuda.is_available() else "cpu"
    found = torch.device(device)
    if found.type == "cuda" and found.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return found


def _values(a: SparseMatrix, dtype: torch.dtype | None) -> Tensor:
    """Values in the order of CSR."""
    if a.values is None:
        return torch.ones(a.nnz, dtype=dtype or torch.float32, device=a.device)
    return a.values if dtype is None else a.values.to(dtype)
