"""Products that repeat with the same buffers, captured in a CUDA graph if requested."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...errors import UsageError
from .exchange import PRODUCT, header_of
from .products import Halves, multiply


class BoundProduct:
    """A product with one operand buffer and one result buffer, made by `DistSparseMatrix.bind`.

    Parameters
    ----------
    halves : Halves
        Matrices of the rank.
    operand : Tensor
        Operand buffer, shape (owned, n).
    shape : torch.Size
        Shape of the result.
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

    def __init__(self, halves: Halves, operand: Tensor, shape: torch.Size, graph: bool) -> None:
        self._halves, self._exchange, self._operand = halves, halves.exchange, operand
        self._header = header_of(PRODUCT, operand, False)
        before = self._exchange.bytes_sent
        with torch.no_grad():
            self._rows = multiply(halves, operand)
        self.out = self._rows.view(shape)
        self._sent = self._exchange.bytes_sent - before
        self._graph: Any = None
        if graph:
            # No rank replays a graph that another has not captured.
            self._graph, _ = self._exchange.ranks.attempt(self._capture, lambda _: {})
            self.out = self._rows.view(shape)
            self._exchange.bytes_sent = before + self._sent

    def _capture(self) -> Any:
        device = self._exchange.device
        if device.type != "cuda":
            raise UsageError(f"graph=True requires a CUDA device, got {device}")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(device), torch.cuda.graph(graph), torch.no_grad():
            self._rows = multiply(self._halves, self._operand)
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
        if not self._exchange.repeats(self._header):
            self._exchange.agree(PRODUCT, self._operand)
        if self._graph is not None:
            self._graph.replay()
            self._exchange.bytes_sent += self._sent
        else:
            with torch.no_grad():
                multiply(self._halves, self._operand, self._rows)
        return self.out
