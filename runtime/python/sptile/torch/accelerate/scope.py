"""Scopes in which unchanged models use the kernels of sptile."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from types import TracebackType
from typing import Any, TypeVar

import torch
from torch import nn

from ...errors import ArgumentTypeError
from . import layers, originals, products, sparse_tensors, state, twins
from .state import Patches, current

Model = TypeVar("Model", bound=nn.Module)

_lock = threading.RLock()
_active = 0  # scopes of all threads
# The patches of the imported modules, and which these are. Finding them takes longer than a small product.
_found: tuple[Patches, tuple[int, ...]] = Patches(()), ()


def _imported() -> tuple[int, ...]:
    """Returns what changes when a package is imported, or another one under its name."""
    return len(sys.modules), *(id(sys.modules.get(name)) for name in ("torch_geometric", "torch_sparse"))


def _apply() -> None:
    global _found
    originals.make_lists()
    if _found[1] != _imported() or not _found[0].are_current():
        of_pyg = (*layers.patches(), *twins.patches(), *sparse_tensors.patches())
        found = Patches((*of_pyg, *products.patches(), *originals.patches(_suspended)))
        _found = found, _imported()
    _found[0].apply()


@contextmanager
def _suspended() -> Iterator[None]:
    """Without the patches, for all threads."""
    with _lock:
        _found[0].revert()
        try:
            yield
        finally:
            _apply()


def _install() -> None:
    global _active
    with _lock:
        if _active == 0:
            _apply()
        _active += 1
        state.in_scope = True


def _remove() -> None:
    global _active
    with _lock:
        _active -= 1
        if _active == 0:
            state.in_scope = False
            _found[0].revert()


class Scope(ContextDecorator):
    """A context manager and decorator, see `accelerate`.

    Attributes
    ----------
    counts : Counter
        How often a layer did something: keys are pairs (layer, what).
    """

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._entered: list[Scope | None] = []

    def __enter__(self) -> Scope:
        _install()
        self._entered.append(current.scope)
        current.scope = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        current.scope, current.graph = self._entered.pop(), None
        _remove()

    def _count(self, layer: str, what: str) -> None:
        self.counts[layer, what] += 1

    def table(self) -> str:
        """Returns what the layers did, as a table: products by sptile, and what was left to PyG or torch and why.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> A = torch.eye(3).to_sparse_csr()
        >>> with st.accelerate() as scope:
        ...     y = A @ torch.ones(3, 2)
        ...     y = A @ y
        >>> print(scope.table())
        layer  what                       times
        torch  first use of the matrix        1
        torch  spmm                           1
        """
        rows = [("layer", "what", "times"), *((*key, str(count)) for key, count in sorted(self.counts.items()))]
        wide = [max(len(row[i]) for row in rows) for i in range(3)]
        wide[1] = max(wide[1], 24)
        return "\n".join(f"{row[0]:<{wide[0]}}  {row[1]:<{wide[1]}}  {row[2]:>{wide[2]}}" for row in rows)


def accelerate(model: Any = None, enabled: bool = True) -> Any:
    """Makes unchanged models use the kernels of sptile: layers of PyG, and products of sparse tensors of torch.

    Parameters
    ----------
    model : torch.nn.Module, optional
        Model whose forward passes are accelerated from now on. By default a scope is returned, a context manager and
        decorator that accelerates what is called in it.
    enabled : bool, optional
        False returns the model to its former state.

    Returns
    -------
    torch.nn.Module or Scope
        The model itself, or the scope. `Scope.table` reports what was accelerated and why other calls were not.

    Raises
    ------
    ArgumentTypeError
        If `model` is not a module.

    Notes
    -----
    In a scope, a `MessagePassing` layer of PyG whose messages are features of neighbors, also times a weight per edge
    or per edge and head, sums or averages them by `spmm`; dot products of both ends are `sddmm`, and `softmax` over the
    edges of a node is ours. Everything else in a layer runs unchanged. `torch.sparse.mm`, `addmm`, `sampled_addmm`,
    ``A @ x`` of CSR and COO tensors, `EdgeIndex.matmul` and `torch_sparse.matmul` use plans.

    Matrices are kept by the storage and version of their tensors. A matrix that is seen for the first time is made only
    if its product is large. Results of `gcn_norm` and of functions that add self-loops are kept as well. Do not change
    an `edge_index` through `.data` or through memory that it shares with NumPy.

    `GATConv`, `GATv2Conv`, `TransformerConv` and `RGCNConv` run as the layers of `sptile.torch.nn` with their parameters
    and allocate no features per edge. Subclasses, hooks and options that those layers lack run PyG's code.

    Code that `torch.compile` compiles within a scope, or for an accelerated model, runs the layers of PyG that
    `sptile.torch.nn` has as those layers. Other layers run PyG's code there. Functions that a module has imported by name,
    as in ``from torch import mm``, are never accelerated.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = torch.eye(3).to_sparse_csr()
    >>> with st.accelerate():
    ...     y = A @ torch.ones(3, 2)
    >>> model = st.accelerate(torch.nn.Linear(2, 2))
    >>> model = st.accelerate(model, enabled=False)
    """
    if model is None:
        return Scope()
    if not isinstance(model, nn.Module):
        raise ArgumentTypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    for hooks, hook in ((model._forward_pre_hooks, _enter), (model._forward_hooks, _leave)):
        for key in [key for key, value in hooks.items() if value is hook]:
            del hooks[key]
            model._forward_hooks_always_called.pop(key, None)
    twins.detach(model)
    if enabled:
        twins.attach(model)
        model.register_forward_pre_hook(_enter, prepend=True)
        model.register_forward_hook(_leave, always_call=True)
    return model


def _enter(model: nn.Module, arguments: Any) -> None:
    if not torch.compiler.is_compiling():
        scope = Scope()
        scope.__enter__()
        current.models.append(scope)


def _leave(model: nn.Module, arguments: Any, result: Any) -> None:
    if not torch.compiler.is_compiling() and current.models:
        current.models.pop().__exit__(None, None, None)
