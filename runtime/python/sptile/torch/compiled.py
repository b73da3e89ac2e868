"""Operators that create matrices in compiled code, where compilers see their tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..errors import UsageError
from .exported import entries_of_arrays
from .handle import Arrays, Entries, Handle, Ref, entries_of
from .matrix import SparseMatrix
from .operands import Check
from .operators import TAGS, library, segments_of
from .pattern import pattern_of_entries, untraced

Tokens = tuple[Tensor, Tensor]


def _entries_with(token: Tensor, **said: Any) -> Entries:
    """Returns the entries of a token. Raises UsageError if their sizes differ from the caller's."""
    a = entries_of(token)
    for name, value in said.items():
        if value != getattr(a, name):
            raise UsageError(f"{name} is {value}, but the matrix of the token has {name} {getattr(a, name)}")
    return a


def _tokens(a: SparseMatrix) -> Tokens:
    """Of the entries and of the product."""
    return a._entries.entries.token(), a._product.entries.token()


def _matrix_of(row: Tensor, col: Tensor, rows: int, cols: int, format: str, kernels: str = "") -> Tokens:
    pattern, order = pattern_of_entries(row, col, rows, cols)
    return _tokens(SparseMatrix._of(Handle(pattern, None, format, kernels), order, None))


def _graph_of(edge_index: Tensor, rows: int, cols: int) -> Tokens:
    from .nn.graph import matrix_of_edges

    return _tokens(matrix_of_edges(edge_index, rows, cols))


def _csr_of(crow: Tensor, col: Tensor, cols: int, format: str, kernels: str = "") -> Tokens:
    from .nn.graph import matrix_of_pointers

    return _tokens(matrix_of_pointers(crow, col, cols, format, kernels))


def _entries_of_arrays(
    crow: Tensor, col: Tensor, position: Tensor | None, values: Tensor | None, cols: int, format: str, kernels: str
) -> Tensor:
    return entries_of_arrays(Arrays(crow, col, position, values, cols, format, kernels)).token()


def _counted(entries: Tensor) -> Tensor:
    return _tokens(SparseMatrix._of_ref(_ref(entries), None))[1]


def _transpose_of(entries: Tensor, product: Tensor, learned: bool) -> Tokens:
    """As SparseMatrix.t() does."""
    a, b = entries_of(entries), entries_of(product)
    if b.handle.pattern is not a.handle.pattern or b.order is not a.order:
        raise UsageError("transpose_of: entries and product must be tokens of one matrix")
    turned = b.handle.transposed()
    if turned is b.handle and not learned:
        return a.token(), b.token()
    order = a.order.transposed(a.handle.source())
    return Entries(a.handle.transposed(), order).token(), Entries(turned, order).token()


def _with_loops_of(entries: Tensor) -> Tensor:
    """Returns the pattern with all loops appended to the entries, cached."""
    a = entries_of(entries)
    derived = a.handle.derived.setdefault("all loops", {})
    if a.order not in derived:
        loops = torch.arange(min(a.rows, a.cols), device=a.device)
        row, col = torch.cat([a.row(), loops]), torch.cat([a.col(), loops])
        pattern, order = pattern_of_entries(row, col, a.rows, a.cols)
        derived[a.order] = Entries(Handle(pattern, None, a.handle.format, a.handle.kernels), order)
    found: Entries = derived[a.order]
    return found.token()


def _places_of(entries: Tensor, given: int, device: torch.device) -> Tokens:
    a = _entries_with(entries, given=given, device=device)
    return a.row(), a.col()


def _degrees_of(entries: Tensor, rows: int, device: torch.device) -> Tensor:
    _entries_with(entries, rows=rows, device=device)
    return SparseMatrix._of_ref(_ref(entries), None).degrees()


def _segments_of(entries: Tensor) -> Tensor:
    return segments_of(entries_of(entries)).token()


def _ref(token: Tensor) -> Ref:
    a = entries_of(token)
    return Ref(token, a.rows, a.cols, a.given, a)


def _token(*_arguments: Any) -> Tensor:
    return torch.zeros((), dtype=torch.int64, device="cpu")  # names no matrix


def _two_tokens(*_arguments: Any) -> Tokens:
    return _token(), _token()


def _two_lists(_entries: Tensor, given: int, device: torch.device) -> Tokens:
    row, col = (torch.empty(given, dtype=torch.int64, device=device) for _ in range(2))
    return row, col


def _list_of_rows(_entries: Tensor, rows: int, device: torch.device) -> Tensor:
    return torch.empty((rows, 1), dtype=torch.float64, device=device)


# Schema, implementation, and fake implementation for compilers.
OPERATORS: tuple[tuple[str, Callable[..., Any], Callable[..., Any]], ...] = (
    (
        "matrix_of(Tensor row, Tensor col, SymInt rows, SymInt cols, str format, str kernels='') -> (Tensor, Tensor)",
        _matrix_of,
        _two_tokens,
    ),
    ("graph_of(Tensor edge_index, SymInt rows, SymInt cols) -> (Tensor, Tensor)", _graph_of, _two_tokens),
    ("csr_of(Tensor crow, Tensor col, SymInt cols, str format, str kernels='') -> (Tensor, Tensor)", _csr_of, _two_tokens),
    (
        "entries_of_arrays(Tensor crow, Tensor col, Tensor? position, Tensor? values, SymInt cols, str format, "
        "str kernels) -> Tensor",
        _entries_of_arrays,
        _token,
    ),
    ("counted(Tensor entries) -> Tensor", _counted, _token),
    (
        "transpose_of(Tensor entries, Tensor product, bool learned) -> (Tensor, Tensor)",
        _transpose_of,
        _two_tokens,
    ),
    ("with_loops_of(Tensor entries) -> Tensor", _with_loops_of, _token),
    ("degrees_of(Tensor entries, SymInt rows, Device device) -> Tensor", _degrees_of, _list_of_rows),
    ("segments_of(Tensor entries) -> Tensor", _segments_of, _token),
    ("places_of(Tensor entries, SymInt given, Device device) -> (Tensor, Tensor)", _places_of, _two_lists),
)


def _checked(run: Callable[..., Any], check: Check) -> Callable[..., Any]:
    """`run`, after the check of its tensors."""

    def checked_run(*arguments: Any) -> Any:
        check(None, arguments)
        return run(*arguments)

    return checked_run


def _register(schema: str, run: Callable[..., Any], fake: Callable[..., Any]) -> None:
    name = schema.split("(")[0]
    library.define(schema, tags=TAGS)
    check = Check(name, getattr(torch.ops.sptile, name).default._schema, 0)
    library.impl(name, untraced(_checked(untraced(run), check)), "CompositeExplicitAutograd")
    torch.library.register_fake(f"sptile::{name}", _checked(fake, check), lib=library)


for _operator in OPERATORS:
    _register(*_operator)
