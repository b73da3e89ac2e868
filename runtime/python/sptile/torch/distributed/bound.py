"""Products that repeat with the same buffers, captured in a CUDA graph if requested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ...errors import UsageError
from .exchange import PRODUCT, Exchange


class BoundProduct:
    """A product with one operand buffer and one result buffer, made by `DistSparseMatrix.bind`.

    Parameters
    ----------
    run : callable
        Multiplies and returns the result.
    exchange : Exchange
        Exchange of the matrix.
    operand : Tensor
        Operand buffer, shape (owned, n).
    graph : bool
        Capture the product in a CUDA graph.

    Attributes
    ----------
    out : Tensor
        Rows of the result that this rank owns. Each call overwrites it.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> x = torch.ones(A.owned, 16)
    >>> product = A.bind(x)
    >>> product().shape
    torch.Size([2286, 16])
    """

    def __init__(self, run: Callable[[], Tensor], exchange: Exchange, operand: Tensor, graph: bool) -> None:
        self._run, self._exchange, self._operand = run, exchange, operand
        before = exchange.bytes_sent
        self.out = run()
        self._sent = exchange.bytes_sent - before
        self._graph: Any = None
        if graph:
            # No rank replays a graph that another has not captured.
            self._graph, _ = exchange.ranks.attempt(lambda: self._capture(exchange.device), lambda _: {})
            exchange.bytes_sent = before + self._sent

    def _capture(self, device: torch.device) -> Any:
        if device.type != "cuda":
            raise UsageError(f"graph=True requires a CUDA device, got {device}")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(device), torch.cuda.graph(graph):
            self.out = self._run()
        return graph

    def __call__(self) -> Tensor:
        """Multiplies the present contents of the operand buffer.

        Returns
        -------
        Tensor
            `out`.

        Raises
        ------
        UsageError, IoError
            See `DistSparseMatrix.fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> x = torch.ones(A.owned, 16)
        >>> product = A.bind(x)
        >>> y = product()
        >>> x.fill_(2.0).shape
        torch.Size([2286, 16])
        >>> product() is y
        True
        """
        self._exchange.agree(PRODUCT, self._operand)
        if self._graph is None:
            self.out.copy_(self._run())
        else:
            self._graph.replay()
            self._exchange.bytes_sent += self._sent
        return self.out
