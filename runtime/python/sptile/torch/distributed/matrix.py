"""A sparse matrix whose rows are distributed over processes."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from ...errors import ArgumentTypeError, Error, UsageError
from ...part import Part
from .. import operators
from ..handle import DTYPES, Handle, packed_key, torch_dtype
from ..matrix import _PLAIN_TENSORS, SparseMatrix, _in_order
from ..pattern import pattern_of_entries
from .bound import BoundProduct
from .boundary import rows_from
from .exchange import ADD_UP, COLLECT, FETCH, PRODUCT, WIRES, Exchange, Lists
from .own_part import open_own_part
from .products import Fetch, Halves, Product, apply_product
from .ranks import Ranks, as_error
from .whole import Measured, compare, trial_columns, without_entries

Derived = TypeVar("Derived")
# Numbers of the matrices that this process has opened.
_serials = itertools.count()


class DistSparseMatrix:
    """A square matrix whose rows are distributed over the ranks of a process group.

    ``A @ x`` multiplies with the rows of x that this rank owns and returns its rows of the result. All ranks must make
    the same calls.

    Parameters
    ----------
    path : path
        Directory that `sptile partition` wrote, with one part per rank.
    group : torch.distributed.ProcessGroup, optional
        Process group. By default all ranks. With NCCL, rows are sent from device to device.
    device : device, optional
        Device of the matrix. By default the current CUDA device if the group has NCCL, otherwise the CPU.
    format : str, optional
        Storage format, see `sptile.torch.SparseMatrix`. Only "csr" is bitwise reproducible between runs.
    check : str, optional
        "first": the ranks compare calls that are new, and calls whose operand a rank refuses. If other ranks are in the
        exchange of an earlier kind of call meanwhile, all ranks stop, and the group cannot be used again. "every": the
        ranks compare every call, in a message of 40 bytes before it, to find errors in programs.
    wire : str, optional
        How rows are sent. "group": by the backend of the process group. "peers": kernels write them into the memory of
        the other devices, which must be CUDA devices of one host that can map each other's memory. "auto": the faster
        of both, measured when the matrix is opened.
    never_slower : int, "auto" or None, optional
        Number of columns of a product that must not be slower than on rank 0 alone. Both are timed when the matrix is
        opened. If rank 0 alone is faster, it owns all rows and warns. "auto": 128 columns on CUDA devices, fewer if an
        operand would exceed 256 MiB; rank 0 reads the entire matrix only if a product takes longer than 0.9 times the
        sum of the local products. On the CPU, "auto" does nothing, like None.

    Attributes
    ----------
    rank, world_size : int
        Rank of this process and size of the group.
    shape, nnz
        Shape and number of nonzeros of the entire matrix.
    rows : Tensor
        Rows of the entire matrix that this rank owns, int64, shape (owned,).
    symmetric : bool
        True if the entire matrix is symmetric.
    dtype : torch.dtype
        Type of the values, float32 for a pattern.
    local, halo : SparseMatrix
        Matrices of shape (owned, owned) and (owned, needed).
    interior : int
        Number of rows before the first one with nonzeros in `halo`. Only later rows need rows of other ranks.
    fell_back : bool
        True if rank 0 owns all rows because of `never_slower`.
    measured : tuple of float or None
        Seconds of a product (distributed, rank 0 alone), if both were timed because of `never_slower`.

    Raises
    ------
    UsageError
        If an option is invalid, or the numbers of parts and ranks differ.
    UnsupportedError
        With wire="peers", if devices cannot map each other's memory.
    MissingFileError, IoError, BadInputError
        If a part cannot be read, is damaged, or belongs to another partition.

    Warns
    -----
    RuntimeWarning
        If `never_slower` assigns all rows to rank 0.

    Notes
    -----
    An error on one rank is raised on all ranks. `IoError` names ranks that have exited.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> A.shape, A.owned
    (torch.Size([2286, 2286]), 2286)
    >>> y = A @ torch.ones(A.owned, 16)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        group: dist.ProcessGroup | None = None,
        device: torch.device | str | None = None,
        *,
        format: str = "auto",
        check: str = "first",
        wire: str = "auto",
        never_slower: int | str | None = "auto",
    ) -> None:
        ranks = Ranks(group)
        part = open_own_part(path, ranks)
        place = _device(device, ranks)

        def place_part() -> tuple[SparseMatrix, SparseMatrix, Exchange, SparseMatrix]:
            columns = isinstance(never_slower, int) and never_slower >= 1
            if not columns and never_slower not in ("auto", None):
                raise UsageError(f'never_slower must be a number of columns, "auto" or None, got {never_slower!r}')
            if wire not in WIRES:
                raise UsageError(f"wire must be one of {', '.join(map(repr, WIRES))}, got {wire!r}")
            local, halo = (
                SparseMatrix.from_bundle(one, format=format).to(place) for one in (part.local, part.halo)
            )
            return local, halo, Exchange(Lists.of(part), ranks, place, check), rows_from(halo, part.interior)

        (local, halo, exchange, boundary), told = ranks.attempt(
            place_part,
            lambda made: {
                "never_slower": never_slower,
                "wire": wire,
                "serial": next(_serials),
                "sends": len(made[2].send_rows),
                "owned": made[2].owned,
            },
        )
        for name in ("never_slower", "wire"):
            if any(one[name] != told[0][name] for one in told):
                raise UsageError(f"{name} must be equal on all ranks, got {[one[name] for one in told]}")
        exchange.start(f"exchange/{told[0]['serial']}", any(one["sends"] for one in told))
        exchange.choose(wire)
        self.shape, self.nnz, self.symmetric, self.id = (
            torch.Size(part.shape),
            part.nnz,
            part.symmetric,
            part.id,
        )
        self.rows = torch.from_numpy(part.old_ids.astype("int64")).to(place)
        self.fell_back = False
        self.measured: Measured | None = None
        self._set(local, halo, exchange, boundary)
        if isinstance(never_slower, int):
            self._take_the_faster(path, part, never_slower, format)
        elif never_slower == "auto" and self.device.type == "cuda" and ranks.size > 1:
            n = trial_columns(max(one["owned"] for one in told), self.dtype.itemsize)
            self._take_the_faster(path, part, n, format, only_if_close=True)

    def _take_the_faster(
        self, path: str | os.PathLike[str], part: Part, n: int, format: str, *, only_if_close: bool = False
    ) -> None:
        """Gives rank 0 all rows if it is faster alone. With `only_if_close`, does not time rank 0 alone if the local
        products show that it is slower."""
        ranks = self._exchange.ranks
        x, _ = ranks.attempt(
            lambda: torch.zeros(self.owned, n, dtype=self.dtype, device=self.device), lambda _: {}
        )
        local = (lambda: self.local @ x) if only_if_close else None
        self.measured, whole = compare(
            path, part, ranks, lambda: self @ x, lambda rows: x.new_zeros(rows, n), format, local
        )
        self._exchange.bytes_sent = 0
        if self.measured is None:
            return
        divided, alone = self.measured
        if not alone < divided:
            return
        self.fell_back = True
        owned = self.shape[0] if ranks.rank == 0 else 0
        local = without_entries(0, 0, self.local) if whole is None else whole
        lists = Lists.alone(owned, ranks.size)
        exchange = Exchange(lists, ranks, self.device, self._exchange.check, alone=True)
        exchange.start(f"{self._exchange.name}/alone", False)
        self.rows = torch.arange(owned, device=self.device)
        self._set(local, without_entries(owned, 0, self.local), exchange, without_entries(0, 0, self.local))
        if ranks.rank == 0:
            warnings.warn(
                f"a product with {n} columns takes {divided:.3g} s on {ranks.size} ranks but {alone:.3g} s on "
                f"{self.device} of rank 0 alone, which now owns all rows",
                RuntimeWarning,
                stacklevel=3,
            )

    def _set(self, local: SparseMatrix, halo: SparseMatrix, exchange: Exchange, boundary: SparseMatrix) -> None:
        self.local, self.halo, self._exchange = local, halo, exchange
        self.interior = exchange.owned - boundary.shape[0]
        self._halves = Halves(local, halo, boundary, exchange, self.symmetric, {})
        self.device, self.dtype = local.device, local.dtype
        self.rank, self.world_size = exchange.ranks.rank, exchange.ranks.size
        self.is_normalized = False
        self._derived: dict[str, Any] = {}

    def _with(self, local: SparseMatrix, halo: SparseMatrix, nnz: int) -> DistSparseMatrix:
        """Another matrix that is divided as this one."""
        matrix = DistSparseMatrix.__new__(DistSparseMatrix)
        matrix.shape, matrix.nnz, matrix.symmetric, matrix.id = self.shape, nnz, self.symmetric, self.id
        matrix.rows, matrix.fell_back, matrix.measured = self.rows, self.fell_back, self.measured
        matrix._set(local, halo, self._exchange, rows_from(halo, self.interior))
        return matrix

    @property
    def owned(self) -> int:
        """Number of rows that this rank owns.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.owned
        2286
        """
        return self._exchange.owned

    @property
    def needed(self) -> int:
        """Number of rows of other ranks that a product needs.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.needed
        0
        """
        return self.halo.shape[1]

    @property
    def bytes_sent(self) -> int:
        """Bytes of rows that this rank has sent, without the messages of `check`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.bytes_sent
        0
        """
        return self._exchange.bytes_sent

    @property
    def wire(self) -> str:
        """How rows are sent: "peers", or the backend of the process group, such as "nccl".

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.wire
        'gloo'
        """
        return self._exchange.wire

    def synchronize(self) -> None:
        """Waits for the current stream of the device. Raises errors of other ranks instead of waiting for these ranks.

        Raises
        ------
        UsageError
            If another rank has refused an operand or made a different call.
        IoError
            If the stream has not finished within the time-out of the group; names ranks that have exited.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> y = A @ torch.ones(A.owned, 16)
        >>> A.synchronize()
        """
        self._exchange.synchronize()

    def __matmul__(self, x: Tensor) -> Tensor:
        """Computes this rank's rows of ``A @ x``, where x has the shape (owned,), (owned, n) or (owned, heads, n)."""
        if type(x) in _PLAIN_TENSORS and not torch.is_autocast_enabled(self.device.type) and not operators.watched():
            a = self._halves
            known = a.repeated.get(packed_key(x))
            address = 0 if known is None else known.step.address(x)
            if known is not None and address and a.exchange.repeats(known.headers[x.requires_grad]):
                if not (x.requires_grad and torch.is_grad_enabled()):
                    return known.run(a.exchange, x, address)
                found: Tensor = apply_product(x, a, False)
                return found
        flat = self._operand(PRODUCT, x, True)
        out: Tensor = Product.apply(flat, self._halves, False)  # type: ignore[no-untyped-call]
        return out.reshape(x.shape)

    def bind(self, x: Tensor, *, graph: bool = False) -> BoundProduct:
        """Prepares repeated products ``A @ x`` with the same buffers. Gradients do not reach x.

        Parameters
        ----------
        x : Tensor
            Contiguous rows of this rank, shape (owned, ...). Later products read its contents at that time.
        graph : bool, optional
            Capture the product in a CUDA graph, so that a call costs the host little more than its launch. All ranks
            must pass the same value.

        Returns
        -------
        BoundProduct
            Its call multiplies, overwrites its attribute ``out``, and returns it. As with ``A @ x``, all ranks must
            make the same calls, and errors of other ranks are raised.

        Raises
        ------
        UsageError
            On all ranks, if an operand does not match or is not contiguous, under autocast, or with graph=True if the
            device is not a CUDA device.
        IoError
            If a rank has exited.

        Notes
        -----
        x must keep its memory, for example ``x.copy_(next)``. A graph replays the kernels of the plans that exist when
        it is captured. It may be replayed between other calls on the same stream, in the same order on all ranks.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> x = torch.ones(A.owned, 16)
        >>> product = A.bind(x)
        >>> product() is product.out
        True
        """
        refusal: Error | None = None
        if torch.is_autocast_enabled(self.device.type):
            refusal = UsageError("bind does not support autocast; pass x in the type of the product")
        elif isinstance(x, Tensor) and not x.is_contiguous():
            refusal = UsageError(f"bind requires a contiguous operand, got strides {x.stride()}")
        x = x.detach() if isinstance(x, Tensor) else x
        flat = self._operand(PRODUCT, x, True, refusal)

        return BoundProduct(self._halves, flat, x.shape, graph)

    def fetch(self, x: Tensor) -> Tensor:
        """Fetches the rows of other ranks that this rank needs. Gradients return to their owners.

        Parameters
        ----------
        x : Tensor
            Rows of this rank, shape (owned, ...).

        Returns
        -------
        Tensor
            Rows of other ranks in the order of the columns of `halo`, shape (needed, ...).

        Raises
        ------
        UsageError
            On all ranks, if an operand does not match.
        IoError
            If a rank has exited.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.fetch(torch.ones(A.owned, 4)).shape
        torch.Size([0, 4])
        """
        flat = self._operand(FETCH, x, False)
        out: Tensor = Fetch.apply(flat, self._exchange)  # type: ignore[no-untyped-call]
        return out.reshape(out.shape[0], *x.shape[1:])

    def with_halo(self, x: Tensor) -> Tensor:
        """Returns the rows of this rank followed by the rows of other ranks that it needs.

        Parameters
        ----------
        x : Tensor
            Rows of this rank, shape (owned, ...).

        Returns
        -------
        Tensor
            Operand of `joined`, shape (owned + needed, ...).

        Raises
        ------
        UsageError, IoError
            See `fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.with_halo(torch.ones(A.owned, 4)).shape
        torch.Size([2286, 4])
        """
        return torch.cat([x, self.fetch(x)])

    @property
    def joined(self) -> SparseMatrix:
        """Pattern of this rank's rows, shape (owned, owned + needed): the columns of `local`, then those of `halo`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.joined.shape
        torch.Size([2286, 2286])
        """
        return self._derive("joined", self._join)

    def _join(self) -> SparseMatrix:
        here, beside = self.local.pattern, self.halo.pattern
        row = torch.cat([here.row(), beside.row()])
        col = torch.cat([here.col.long(), beside.col.long() + self.owned])
        pattern, _ = pattern_of_entries(row, col, self.owned, self.owned + self.needed)
        return _in_order(Handle(pattern, None, "csr"))

    def take(self, whole: Tensor) -> Tensor:
        """Selects the rows of this rank.

        Parameters
        ----------
        whole : Tensor
            Tensor with one row per row of the entire matrix, shape (rows, ...).

        Returns
        -------
        Tensor
            Rows of this rank on the device of the matrix, shape (owned, ...).

        Raises
        ------
        UsageError
            If the tensor has another number of rows.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.take(torch.ones(A.shape[0], 4)).shape
        torch.Size([2286, 4])
        """
        if not isinstance(whole, Tensor) or whole.dim() == 0 or whole.shape[0] != self.shape[0]:
            found = list(whole.shape) if isinstance(whole, Tensor) else type(whole).__name__
            raise UsageError(f"take requires a tensor [{self.shape[0]}, ...], got {found}")
        return whole.index_select(0, self.rows.to(whole.device)).to(self.device)

    def collect(self, x: Tensor) -> Tensor:
        """Gathers the rows of all ranks on every rank, the inverse of `take`. Gradients do not reach x.

        Parameters
        ----------
        x : Tensor
            Rows of this rank, shape (owned, ...).

        Returns
        -------
        Tensor
            Rows in the order of the entire matrix, shape (rows, ...), in host memory.

        Raises
        ------
        UsageError, IoError
            See `fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.collect(torch.ones(A.owned, 4)).shape
        torch.Size([2286, 4])
        """
        flat = self._operand(COLLECT, x, False).detach().cpu()
        ranks = self._exchange.ranks
        counts = [one[0] for one in ranks.numbers([self.owned])]
        most = max(counts)
        mine = flat.new_zeros((most, flat.shape[1]))
        mine[: self.owned] = flat
        places = flat.new_zeros(most, dtype=torch.int64)
        places[: self.owned] = self.rows.cpu()
        whole = flat.new_empty((self.shape[0], flat.shape[1]))
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
        """Sums tensors over all ranks, in place and in one message, for example gradients of weights.

        Parameters
        ----------
        tensors : iterable of Tensor
            Floating-point tensors of one type on the device of the matrix.

        Raises
        ------
        UsageError
            On all ranks, if sizes or types differ.
        IoError
            If a rank has exited.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> gradient = torch.ones(3)
        >>> A.add_up([gradient])
        """
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
            refusal = UsageError(f"add_up requires tensors of one type on {self.device}: {error}")
        if refusal is None and (flat.dtype not in DTYPES or any(x.dtype != flat.dtype for x in parts)):
            refusal = UsageError(
                f"add_up requires floating-point tensors of one type, got {flat.dtype} and others"
            )
        self._exchange.agree(ADD_UP, flat[None], refusal)
        sums = self._exchange.sum_over_ranks(flat).split([x.numel() for x in parts])
        with torch.no_grad():
            for x, added in zip(parts, sums, strict=True):
                x.copy_(added.view_as(x))

    def gcn_norm(
        self, add_self_loops: bool = True, *, fill_value: float = 1.0, dtype: Any = None
    ) -> DistSparseMatrix:
        """Returns the normalized adjacency matrix of GCN, see `sptile.torch.SparseMatrix.gcn_norm`.

        Parameters
        ----------
        add_self_loops : bool, optional
            Add the missing nonzeros of the diagonal.
        fill_value : float, optional
            Value of an added nonzero.
        dtype : dtype, optional
            Type of the result. By default that of the values, float32 for a pattern.

        Returns
        -------
        DistSparseMatrix
            The normalized matrix. Layers do not normalize it again.

        Raises
        ------
        UsageError, IoError
            See `fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.gcn_norm().is_normalized
        True
        """
        dtype = None if dtype is None else torch_dtype(dtype)
        local, halo = self.local, self.halo
        of_local, of_halo = _values(local, dtype), _values(halo, dtype)
        bare, added = local._bare, 0
        if add_self_loops:
            bare, loops = local._with_loops()
            of_local, added = loops.insert(of_local, fill_value), loops.added
        row, col = bare.pattern.row(), bare.pattern.col.long()
        halo_row, halo_col = halo.pattern.row(), halo.pattern.col.long()
        degree = of_local.new_zeros(self.owned).index_add(0, row, of_local).index_add(0, halo_row, of_halo)
        factor = degree.pow(-0.5)
        factor = torch.where(torch.isinf(factor), 0, factor)
        of_others = self.fetch(factor)
        normal = _in_order(bare, factor[row] * factor[col] * of_local)
        beside = _in_order(halo._bare, factor[halo_row] * of_others[halo_col] * of_halo)
        of_all = sum(one[0] for one in self._exchange.ranks.numbers([added]))
        normalized = self._with(normal, beside, self.nnz + of_all)
        normalized.is_normalized = True
        return normalized

    def unweighted(self) -> DistSparseMatrix:
        """Returns the pattern, whose nonzeros are all 1. The matrix keeps it.

        Returns
        -------
        DistSparseMatrix
            The matrix itself if it is a pattern.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> A.unweighted().local.values is None
        True
        """
        if self.local.values is None:
            return self
        return self._derive(
            "unweighted", lambda: self._with(self.local.entries(), self.halo.entries(), self.nnz)
        )

    def _derive(self, name: str, make: Callable[[], Derived]) -> Derived:
        """Returns make(), cached by name."""
        if name not in self._derived:
            self._derived[name] = make()
        derived: Derived = self._derived[name]
        return derived

    def _operand(self, call: int, x: object, multiplied: bool, refusal: Error | None = None) -> Tensor:
        """x as [owned, n], once all ranks agree about it, unless this rank has a `refusal`."""
        operand = x if isinstance(x, Tensor) else torch.empty(0, 0, device="cpu")
        try:
            refusal = refusal or self._refusal(x, multiplied)
            autocast = torch.is_autocast_enabled(self.device.type)
            if refusal is None and autocast and operand.dtype != torch.float64:
                operand = operand.to(torch.get_autocast_dtype(self.device.type))
        except Exception as error:  # memory that ends, too: the others wait to hear of it
            refusal = as_error(error)
        self._exchange.agree(call, operand, refusal)
        return operand.reshape(self.owned, operand.shape[1:].numel())

    def _refusal(self, x: object, multiplied: bool) -> Error | None:
        """Returns the error of an operand, if any."""
        if not isinstance(x, Tensor):
            return ArgumentTypeError(f"x must be a torch.Tensor, got {type(x).__name__}")
        if x.layout != torch.strided or x.dim() == 0 or x.shape[0] != self.owned:
            return UsageError(
                f"x must have shape [{self.owned}, n], because rank {self.rank} owns {self.owned} of {self.shape[0]} "
                f"rows, got {list(x.shape)}"
            )
        if x.dtype not in DTYPES:
            return UsageError(f"x must be float32, float64, float16 or bfloat16, got {x.dtype}")
        if x.device != self.device:
            return UsageError(f"x must be on {self.device}, the device of the matrix, got {x.device}")
        if multiplied and not torch.is_autocast_enabled(self.device.type):
            try:
                self.local._check_type(x)
            except Error as error:
                return error
        return None

    def __repr__(self) -> str:
        return (
            f"DistSparseMatrix({self.shape[0]} x {self.shape[1]}, {self.nnz} nonzeros, rank {self.rank} of "
            f"{self.world_size}: {self.owned} rows, {self.needed} of others, {self.device}"
            f"{', all on rank 0' if self.fell_back else ''})"
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
