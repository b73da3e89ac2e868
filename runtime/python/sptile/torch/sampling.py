"""Mini-batches of large graphs: samples of neighbors as matrices, and batches of PyG with theirs."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import PathLike
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from .._sampling import Graph, Sample, mixed
from ..bundle import Bundle
from ..bundle import open as open_bundle
from ..errors import ArgumentTypeError, UsageError
from .handle import Handle
from .matrix import SparseMatrix, device_of
from .pattern import EntryOrder, Pattern, apart, check_ids

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")
_ALIGNMENT = 16  # elements of int64 between the starts of arrays in one buffer


class Batch:
    """A sampled neighborhood, which `NeighborLoader` yields.

    Attributes
    ----------
    n_id : Tensor
        Nodes of the graph, int64, shape (nodes,): first the seeds of the batch, then their neighbors in the order in
        which they were found.
    batch_size : int
        Number of seeds.
    num_sampled_nodes : list of int
        Number of new nodes in each hop. The first are the seeds.
    input_id : Tensor
        Positions of the seeds in `input_nodes`, int64, shape (batch_size,), on the CPU.
    e_id : Tensor
        Nonzeros of the graph that the edges are, int64, shape (edges,), in the order in which they were given. If the
        graph has duplicates, in the order of ``A.entries()``.
    x : Tensor or None
        Features of the nodes, shape (nodes, ...).
    y : Tensor or None
        Labels of the seeds, shape (batch_size, ...).

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[1, 2, 3], [0, 0, 1]]), num_nodes=4)
    >>> batch = next(iter(st.NeighborLoader(A, [2, 2], torch.tensor([0]))))
    >>> batch.n_id, batch.num_sampled_nodes
    (tensor([0, 1, 2, 3]), [1, 2, 1])
    """

    def __init__(self, host: _HostBatch, arrays: _Arrays, x: Tensor | None, y: Tensor | None) -> None:
        self.n_id, self.e_id, self.x, self.y = arrays.node_ids, arrays.edge_ids, x, y
        self.batch_size, self.input_id = host.ends[0], host.input_id
        self.num_sampled_nodes = np.diff(host.ends, prepend=0).tolist()
        self._host, self._arrays = host, arrays
        self._adjs: tuple[SparseMatrix, ...] | None = None

    @property
    def adjs(self) -> tuple[SparseMatrix, ...]:
        """Matrices for the layers of a network, one per hop, outermost first.

        Rows are the nodes whose result later layers need, columns the nodes from which it is computed.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[1, 2, 3], [0, 0, 1]]), num_nodes=4)
        >>> layers = [st.nn.SAGEConv(8, 4), st.nn.SAGEConv(4, 2)]
        >>> batch = next(iter(st.NeighborLoader(A, [2, 2], torch.tensor([0]), x=torch.ones(4, 8))))
        >>> x = batch.x
        >>> for layer, adj in zip(layers, batch.adjs):
        ...     x = layer((x, x[: adj.shape[0]]), adj)
        >>> x.shape
        torch.Size([1, 2])
        """
        if self._adjs is None:
            ends = self._host.ends
            hops = range(len(ends) - 1, 0, -1)
            self._adjs = tuple(self._matrix(ends[hop - 1], ends[hop]) for hop in hops)
        return self._adjs

    @property
    def adj(self) -> SparseMatrix:
        """Square matrix of all nodes and edges, for layers that need one.

        Rows of nodes of the last hop are empty. After one layer per hop, the first `batch_size` rows of the result are
        valid.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[1, 2, 3], [0, 0, 1]]), num_nodes=4)
        >>> next(iter(st.NeighborLoader(A, [2, 2], torch.tensor([0])))).adj
        SparseMatrix(4 x 4, 3 nonzeros, pattern, cpu)
        """
        nodes = self._host.ends[-1]
        return self._matrix(nodes, nodes)

    def _matrix(self, rows: int, cols: int) -> SparseMatrix:
        """Returns the first rows. All their columns are among the first `cols` nodes."""
        host, arrays = self._host, self._arrays
        edges = int(host.row_ptr[rows])
        values = None if arrays.values is None else arrays.values[:edges]
        with apart():
            pattern = Pattern(rows, cols, arrays.row_ptr[: rows + 1], arrays.col_idx[:edges])
            pattern.most_per_row, pattern.may_be_symmetric = host.most_per_row, False
            return SparseMatrix._of(Handle(pattern, None, host.format), EntryOrder(edges), values)

    def __repr__(self) -> str:
        nodes, edges = self.n_id.numel(), self.e_id.numel()
        return f"Batch({self.batch_size} seeds, {nodes} nodes, {edges} edges, {self.n_id.device})"


class _HostBatch(NamedTuple):
    """What the host knows of a batch."""

    ends: list[int]
    row_ptr: Any
    most_per_row: int
    input_id: Tensor
    format: str


class _Arrays(NamedTuple):
    """The arrays of a sample on the device of the batch."""

    node_ids: Tensor
    edge_ids: Tensor
    row_ptr: Tensor
    col_idx: Tensor
    values: Tensor | None


class _Transfer:
    """Copies of tensors to a device without waiting for it. On a CUDA device they run on a separate stream, for which
    the stream of the caller of `ready` waits."""

    def __init__(self, device: torch.device) -> None:
        self.pinned = device.type == "cuda"
        self._device = device
        self._stream: Any = torch.cuda.Stream(device) if self.pinned else None

    def empty(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """Returns memory of the host that the device can read while the host goes on."""
        return torch.empty(tuple(shape), dtype=dtype, device="cpu", pin_memory=self.pinned)

    def copy(self, tensors: Sequence[Tensor | None]) -> tuple[list[Tensor | None], Any]:
        """Returns the tensors on the device, and the event after which they are complete."""
        if not self.pinned:
            return list(tensors), None
        with torch.cuda.stream(self._stream):
            copies = [None if x is None else x.to(self._device, non_blocking=True) for x in tensors]
            event = torch.cuda.Event()
            event.record(self._stream)
        return copies, event

    def ready(self, tensors: Iterable[Tensor | None], event: Any) -> None:
        """Lets the current stream use copies."""
        if event is None:
            return
        stream = torch.cuda.current_stream(self._device)
        stream.wait_event(event)
        for x in tensors:
            if x is not None:
                x.record_stream(stream)


def _ahead(
    items: Iterable[_Item], make: Callable[[_Item], _Made], workers: int, most: int
) -> Iterator[_Made]:
    """Yields make(item) in order. `workers` threads compute at most `most` results ahead; without workers, the caller's
    thread computes each when it is needed."""
    if workers == 0:
        yield from map(make, items)
        return
    remaining, made = iter(items), deque[Future[_Made]]()
    pool = ThreadPoolExecutor(workers, "sptile-batches")
    try:
        while True:
            while len(made) < most and (item := next(remaining, None)) is not None:
                made.append(pool.submit(make, item))
            if not made:
                return
            yield made.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class NeighborLoader:
    """Iterates over mini-batches of a graph: the seeds of each, and samples of their neighborhoods, as `Batch`.

    Each iteration over the loader is an epoch with other samples and, with `shuffle`, another order. Samples depend on
    `seed`, the epoch and the number of the batch, not on `num_workers`.

    Parameters
    ----------
    A : SparseMatrix, Bundle or path
        Graph in host memory, shape (nodes, nodes). Row i has the neighbors of node i; with
        `SparseMatrix.from_edge_index` these are the sources of its edges. Values become edge weights of the batches.
    num_neighbors : list of int
        Maximum number of neighbors that are sampled per node, without replacement, for each hop. -1 takes all.
    input_nodes : Tensor, optional
        Seeds: int64 ids of nodes, or a mask of shape (nodes,). By default all nodes. Repeated seeds in a batch have
        separate rows, with separate samples.
    batch_size : int, optional
        Number of seeds per batch.
    shuffle : bool, optional
        Order the seeds anew in each epoch.
    drop_last : bool, optional
        Leave out the last batch if it has fewer seeds.
    x : Tensor, optional
        Features of the nodes, shape (nodes, ...), in host memory or on `device`. `Batch.x` has those of its nodes.
    y : Tensor, optional
        Labels of the nodes, shape (nodes, ...). `Batch.y` has those of its seeds.
    seed : int, optional
        Start of the random numbers.
    device : device, optional
        Device of the batches. By default the CPU. Batches are copied to a CUDA device from page-locked memory on a
        separate stream; the host never waits for the device.
    num_workers : int, optional
        Number of threads that prepare batches. 0 prepares each when it is needed.
    prefetch_factor : int, optional
        Number of batches per worker that are prepared ahead.
    format : str, optional
        Storage format of the matrices, see `SparseMatrix`.

    Attributes
    ----------
    epoch : int
        Number of the next epoch. Set it to continue a training.

    Raises
    ------
    UsageError
        If the graph is not square or not on the CPU, if its values require gradients, or if an argument is out of
        range or has the wrong shape.
    BadInputError
        If a seed is not a node.

    Notes
    -----
    Threads share the graph; nothing is copied to other processes. Repeated edges of the graph count as one.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.randint(100, (2, 1000)), num_nodes=100)
    >>> loader = st.NeighborLoader(A, [10, 5], batch_size=32, shuffle=True)
    >>> len(loader), sum(batch.batch_size for batch in loader)
    (4, 100)
    """

    def __init__(
        self,
        A: SparseMatrix | Bundle | str | PathLike[str],
        num_neighbors: Sequence[int],
        input_nodes: Tensor | None = None,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        x: Tensor | None = None,
        y: Tensor | None = None,
        seed: int = 0,
        device: Any = None,
        num_workers: int = 1,
        prefetch_factor: int = 2,
        format: str = "csr",
    ) -> None:
        self._graph, self._values, self._source = _graph_of(A)
        self.num_neighbors = _fan_outs(num_neighbors)
        self.batch_size = _count("batch_size", batch_size, 1)
        self.num_workers = _count("num_workers", num_workers, 0)
        self.prefetch_factor = _count("prefetch_factor", prefetch_factor, 1)
        self.seed, self.epoch = _count("seed", seed), 0
        self.shuffle, self.drop_last = bool(shuffle), bool(drop_last)
        self.device = torch.device("cpu") if device is None else device_of(device)
        self.input_nodes = _seeds(input_nodes, self._graph.nodes)
        self.x, self.y = (_rows("x", x, self._graph.nodes), _rows("y", y, self._graph.nodes))
        for name, rows in (("x", self.x), ("y", self.y)):
            if rows is not None and not rows.is_cpu and rows.device != self.device:
                raise UsageError(
                    f"{name} must be on the CPU or on {self.device}, the device of the batches, got {rows.device}"
                )
        self._format = format
        self._transfer = _Transfer(self.device)

    def __len__(self) -> int:
        """Returns the number of batches of an epoch."""
        seeds = self.input_nodes.numel()
        return seeds // self.batch_size if self.drop_last else -(-seeds // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        """Yields the batches of the next epoch."""
        epoch = self.epoch
        self.epoch += 1
        order = self._order(epoch)
        parts = enumerate(order.split(self.batch_size)[: len(self)])

        def make(part: tuple[int, Tensor]) -> _Sent:
            return self._make(part[1], mixed(self.seed, epoch, part[0]))

        for sent in _ahead(parts, make, self.num_workers, self.num_workers * self.prefetch_factor):
            yield self._received(sent)

    def _order(self, epoch: int) -> Tensor:
        count = self.input_nodes.numel()
        if not self.shuffle:
            return torch.arange(count, device="cpu")
        generator = torch.Generator("cpu").manual_seed(mixed(self.seed, epoch) >> 1)
        return torch.randperm(count, generator=generator, device="cpu")

    @torch.no_grad()
    def _make(self, input_id: Tensor, random: int) -> _Sent:
        """Samples a batch and starts its copy."""
        seeds = self.input_nodes[input_id]
        sample = self._graph.sample(seeds.numpy(), self.num_neighbors, random)
        edge_ids = sample.edge_ids if self._source is None else self._source[sample.edge_ids].astype(np.int64)
        buffer, slices = self._packed(sample, edge_ids)
        values = None
        if self._values is not None:
            values = self._gathered(self._values, torch.from_numpy(np.array(sample.edge_ids)))
        x, y = self._rows_of(self.x, buffer[slices[0]]), self._rows_of(self.y, seeds)
        copies, event = self._transfer.copy((buffer, values, x, y))
        degrees = np.diff(sample.row_ptr)
        most = int(degrees.max()) if degrees.size else 0
        host = _HostBatch(sample.ends, np.array(sample.row_ptr), most, input_id, self._format)
        return _Sent(host, slices, copies, event)

    def _packed(self, sample: Sample, edge_ids: Any) -> tuple[Tensor, list[slice]]:
        """Returns one buffer with the arrays of a sample, so that one copy transfers them, and the place of each array.
        Arrays of int32 fill half of theirs."""
        arrays = (sample.node_ids, edge_ids, sample.row_ptr, sample.col_idx)
        slices, size = [], 0
        for array in arrays:
            slices.append(slice(size, size + (array.nbytes + 7) // 8))
            size = -(-slices[-1].stop // _ALIGNMENT) * _ALIGNMENT
        buffer = self._transfer.empty((size,), torch.int64)
        memory = buffer.numpy()
        for place, array in zip(slices, arrays, strict=True):
            memory[place].view(array.dtype)[: array.size] = array
        return buffer, slices

    def _gathered(self, rows: Tensor, ids: Tensor) -> Tensor:
        out = self._transfer.empty((ids.numel(), *rows.shape[1:]), rows.dtype)
        return torch.index_select(rows, 0, ids, out=out)

    def _rows_of(self, rows: Tensor | None, ids: Tensor) -> Tensor | None:
        """Returns rows in host memory; None if they are on the device."""
        return None if rows is None or not rows.is_cpu else self._gathered(rows, ids)

    def _received(self, sent: _Sent) -> Batch:
        """Returns the batch for the current stream."""
        host, slices, copies, event = sent
        self._transfer.ready(copies, event)
        buffer, values, x, y = copies
        node_ids, edge_ids, row_ptr, col_idx = (buffer[place] for place in slices)  # type: ignore[index]
        col_idx = col_idx.view(torch.int32)[: edge_ids.numel()]
        if self.x is not None and x is None:
            x = self.x.index_select(0, node_ids)
        if self.y is not None and y is None:
            y = self.y.index_select(0, node_ids[: host.ends[0]])
        return Batch(host, _Arrays(node_ids, edge_ids, row_ptr, col_idx, values), x, y)

    def __repr__(self) -> str:
        fan_outs, seeds = self.num_neighbors.tolist(), self.input_nodes.numel()
        return f"NeighborLoader({fan_outs}, {seeds} seeds, batch_size={self.batch_size})"


class _Sent(NamedTuple):
    """A batch in flight to the device."""

    host: _HostBatch
    slices: list[slice]
    copies: list[Tensor | None]
    event: Any


def _graph_of(A: Any) -> tuple[Graph, Tensor | None, Any]:
    """Returns the pattern of a graph, its values in CSR order, and the given entry of each one of CSR. None: these
    are the same, or entries repeat."""
    if isinstance(A, str | PathLike):
        A = open_bundle(A)
    if isinstance(A, Bundle):
        if A.device != "cpu":
            raise UsageError(f"the graph must be in host memory, got a Bundle on {A.device}")
        A = SparseMatrix.from_bundle(A)
    if not isinstance(A, SparseMatrix):
        raise ArgumentTypeError(f"A must be a SparseMatrix, a Bundle or a path, got {type(A).__name__}")
    if A.device.type != "cpu":
        raise UsageError(f"the graph must be in host memory, got a SparseMatrix on {A.device}; pass A.cpu()")
    if A.shape[0] != A.shape[1]:
        raise UsageError(f"the graph must have a square matrix, got shape {list(A.shape)}")
    if A.requires_grad:
        raise UsageError("the values of the graph must not require gradients; pass A.detach()")
    pattern, order = A.pattern, A._order
    values = None if A.values is None else A._handle.values
    if values is not None:
        values = values.to(A.dtype)
    source = None if order.source is None else order.source.numpy()
    return Graph(pattern.crow.numpy(), pattern.col.numpy()), values, source


def _fan_outs(num_neighbors: Any) -> Any:
    if not isinstance(num_neighbors, Sequence) or isinstance(num_neighbors, str | bytes):
        raise ArgumentTypeError(f"num_neighbors must be a list with one number per hop, got {num_neighbors!r}")
    counts = [_count("num_neighbors", number) for number in num_neighbors]
    if not counts:
        raise UsageError("num_neighbors must have one number per hop, got none")
    for count in counts:
        if count < 1 and count != -1:
            raise UsageError(f"num_neighbors must be 1 or more, or -1 for all neighbors, got {count}")
    return np.array(counts, np.int64)


def _count(name: str, number: Any, least: int | None = None) -> int:
    try:
        count = operator.index(number)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be an integer, got {number!r}") from None
    if least is not None and count < least:
        raise UsageError(f"{name} must be {least} or more, got {count}")
    if not -(2**63) <= count < 2**63:
        raise UsageError(f"{name} must fit in 64 bits, got {count}")
    return count


def _seeds(input_nodes: Tensor | None, nodes: int) -> Tensor:
    """Returns ids of nodes, int64, on the CPU."""
    if input_nodes is None:
        return torch.arange(nodes, device="cpu")
    if isinstance(input_nodes, Tensor) and input_nodes.dtype == torch.bool:
        if list(input_nodes.shape) != [nodes]:
            raise UsageError(f"a mask of input_nodes must have shape {[nodes]}, got {list(input_nodes.shape)}")
        return input_nodes.cpu().nonzero().flatten()
    check_ids(input_nodes, "input_nodes", nodes)
    return input_nodes.to("cpu", torch.int64).contiguous()


def _rows(name: str, rows: Tensor | None, nodes: int) -> Tensor | None:
    if rows is None:
        return None
    if not isinstance(rows, Tensor):
        raise ArgumentTypeError(f"{name} must be a torch.Tensor, got {type(rows).__name__}")
    if rows.dim() == 0 or rows.shape[0] != nodes or rows.layout != torch.strided:
        raise UsageError(f"{name} must be a dense tensor with {nodes} rows, one per node, got shape {list(rows.shape)}")
    return rows.detach()


# ---- Batches of PyG ----


def from_batch(batch: Any, *, format: str = "csr") -> Any:
    """Gives a batch of PyG the matrix of its edges, as `adj_t`.

    Parameters
    ----------
    batch : torch_geometric.data.Data
        Batch with `edge_index`, for example of PyG's ``NeighborLoader``, and optionally `edge_weight`.
    format : str, optional
        Storage format, see `SparseMatrix`.

    Returns
    -------
    torch_geometric.data.Data
        The batch itself. Its `adj_t` is a `SparseMatrix` of shape (num_nodes, num_nodes) with the weights as values.

    Raises
    ------
    ArgumentTypeError
        If the batch has no `edge_index`.
    UsageError, BadInputError
        If the edges are not a valid graph.

    Examples
    --------
    >>> import torch, types, sptile.torch as st
    >>> batch = types.SimpleNamespace(edge_index=torch.tensor([[1, 2], [0, 0]]), num_nodes=3)
    >>> st.from_batch(batch).adj_t @ torch.ones(3)
    tensor([2., 0., 0.])
    """
    edges = getattr(batch, "edge_index", None)
    if not isinstance(edges, Tensor):
        raise ArgumentTypeError(f"batch must have an edge_index, got {type(batch).__name__}")
    weight = getattr(batch, "edge_weight", None)
    batch.adj_t = SparseMatrix.from_edge_index(edges, weight, int(batch.num_nodes), format=format)
    return batch


def loader(batches: Iterable[Any], *, prefetch: int = 2, format: str = "csr") -> Iterator[Any]:
    """Iterates over batches of PyG, and gives each the matrix of its edges while the previous ones are in use.

    Parameters
    ----------
    batches : iterable
        Loader of PyG, for example ``NeighborLoader``. For a CUDA device, wrap the result in ``PrefetchLoader`` of PyG,
        which copies the matrices, too.
    prefetch : int, optional
        Number of batches that one thread prepares ahead. 0 prepares each when it is needed.
    format : str, optional
        Storage format, see `SparseMatrix`.

    Returns
    -------
    iterator
        The batches, see `from_batch`.

    Raises
    ------
    ArgumentTypeError, UsageError, BadInputError
        See `from_batch`.

    Examples
    --------
    >>> import torch, types, sptile.torch as st
    >>> batches = [types.SimpleNamespace(edge_index=torch.tensor([[1], [0]]), num_nodes=2)]
    >>> [batch.adj_t.shape for batch in st.loader(batches)]
    [torch.Size([2, 2])]
    """
    ahead = _count("prefetch", prefetch, 0)
    return _ahead(batches, lambda batch: from_batch(batch, format=format), min(ahead, 1), ahead)


__all__ = ["Batch", "NeighborLoader", "from_batch", "loader"]
