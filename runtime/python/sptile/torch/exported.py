"""Matrices of exported programs: their arrays are constants or inputs of the program, from which each call takes the
matrix."""

from __future__ import annotations

import threading
import weakref
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree
from torch.utils.weak import WeakTensorKeyDictionary

from ..errors import BadInputError, UnsupportedError
from .handle import Arrays, DerivedRef, Entries, Handle, Ref, refuse_capture
from .matrix import SparseMatrix
from .nn.graph import unchanged
from .operands import check_memory_of
from .pattern import apart, check_ids, pattern_of_entries, rows_of_pointers, short

# ---- Entries of arrays ----


class _Rebuilt(NamedTuple):
    """What was made of arrays, with copies of them."""

    settings: tuple[Any, ...]
    arrays: list[Tensor | None]
    entries: Entries
    products: list[tuple[Tensor, Entries]]  # the latest one, of values


_rebuilt: Any = WeakTensorKeyDictionary()  # by the column tensor, as long as it lives
_origins: Any = WeakTensorKeyDictionary()  # references to the entries that own the column tensor
_matrices: Any = WeakTensorKeyDictionary()  # references to flattened matrices, by the tensor of their width
_lock = threading.RLock()


def entries_of_arrays(arrays: Arrays) -> Entries:
    """Returns the entries of arrays, rebuilt if they are other tensors or have other numbers."""
    crow, col, position, values = arrays[:4]
    with _lock:
        if values is None and (origin := _origin(arrays)) is not None:
            return origin
        settings, ids = arrays[4:], (crow, col, position)
        found: _Rebuilt | None = _rebuilt.get(col)
        if found is None or found.settings != settings or not all(map(_same, found.arrays, ids)):
            refuse_capture("cannot rebuild the matrix of an exported program", col.device)
            with apart():
                copies = [None if x is None else x.clone() for x in ids]
                found = _rebuilt[col] = _Rebuilt(settings, copies, _made(arrays), [])
        if values is None:
            return found.entries
        check_memory_of("entries_of_arrays", "values", values)
        if not found.products or not _same(found.products[0][0], values):
            refuse_capture("cannot rebuild the matrix of an exported program", col.device)
            with apart():
                copy = values.detach().clone()
                handle = Handle(found.entries.handle.pattern, copy, arrays.format, arrays.kernels)
                found.products[:] = [(copy, Entries(handle, found.entries.order))]
        return found.products[0][1]


def _origin(arrays: Arrays) -> Entries | None:
    """Returns the entries whose arrays these are; None if a program has been loaded with them."""
    reference = _origins.get(arrays.col)
    entries: Entries | None = None if reference is None else reference()
    if entries is None:
        return None
    own = Arrays.of(entries)
    same = own.crow is arrays.crow and _position(entries) is arrays.position and own[4:] == arrays[4:]
    return entries if same else None


def _position(a: Entries) -> Tensor:
    """Returns the place of each given entry, also if they are in order: programs take matrices of both kinds."""
    if a.order.position is not None:
        return a.order.position
    derived = a.handle.derived
    if "in order" not in derived:
        with apart():
            derived["in order"] = short(torch.arange(a.given, device=a.device))
    found: Tensor = derived["in order"]
    return found


def _same(kept: Tensor | None, now: Tensor | None) -> bool:
    return kept is now if kept is None or now is None else unchanged(kept, now)


def _made(arrays: Arrays) -> Entries:
    """The entries without values. Arrays are checked: they may come from a file."""
    row, col, position = rows_of_pointers(arrays.crow, arrays.col.numel()), arrays.col, arrays.position
    if position is not None:
        check_ids(position, "position", col.numel())
        row, col = row[position], col[position]
    pattern, order = pattern_of_entries(row, col, arrays.crow.numel() - 1, arrays.cols)
    if pattern.nnz != arrays.col.numel() or not torch.equal(pattern.col, arrays.col):
        raise BadInputError("the arrays of a stored matrix must have ascending columns and a place of each nonzero")
    return Entries(Handle(pattern, None, arrays.format, arrays.kernels), order)


# ---- Matrices as arguments ----

Settings = list[Any]  # has values, is normalized, format, kernels: what JSON can store


def _flatten(a: SparseMatrix) -> tuple[list[Any], Settings]:
    """Returns crow, col, a tensor [cols, 0], position, and values if there are any."""
    if "leaves" in a._derived:
        leaves, settings = a._derived["leaves"]
        return list(leaves), settings
    if a._entries._entries is None:
        raise UnsupportedError("exported code cannot return a SparseMatrix that it creates; return its tensors")
    entries, values = a._entries.entries, a._given_values()
    arrays = Arrays.of(entries)
    with apart():
        width = torch.empty((arrays.cols, 0), device=a.device)
    leaves = [arrays.crow, arrays.col, width, _position(entries), *([] if values is None else [values])]
    settings = [values is not None, a.is_normalized, arrays.format, arrays.kernels]
    a._derived["leaves"] = leaves, settings
    _origins[arrays.col], _matrices[width] = weakref.ref(entries), weakref.ref(a)
    return list(leaves), settings


def _unflatten(leaves: Any, settings: Settings) -> SparseMatrix:
    """Returns the matrix with these leaves: the one that was flattened, or a matrix of operators on them. Functions of
    leaves that give no tensors give a matrix that can only be flattened."""
    leaves = list(leaves)
    if not all(isinstance(x, Tensor) for x in leaves):
        a = SparseMatrix.__new__(SparseMatrix)
        a._derived = {"leaves": (leaves, settings)}
        return a
    reference = None if torch.compiler.is_compiling() else _matrices.get(leaves[2])
    known = None if reference is None else reference()
    if known is not None and all(x is y for x, y in zip(known._derived["leaves"][0], leaves, strict=True)):
        return known
    a = _of_leaves(leaves, settings)
    a.is_normalized = settings[1]
    a._derived["leaves"] = leaves, settings
    return a


def _of_leaves(leaves: list[Tensor], settings: Settings) -> SparseMatrix:
    has_values, _is_normalized, format, kernels = settings
    crow, col, width, position = leaves[:4]
    values = leaves[4] if has_values else None
    rows, cols, given = crow.shape[0] - 1, width.shape[0], position.shape[0]
    arrays = Arrays(crow, col, position, None, cols, format, kernels)
    if not torch.compiler.is_compiling() and all(type(x) in (Tensor, torch.nn.Parameter) for x in leaves):
        found = entries_of_arrays(arrays)
        return SparseMatrix._of_ref(Ref(found.token(), rows, cols, given, found), values)
    entries = DerivedRef(arrays.token, rows, cols, given)
    product = DerivedRef(lambda: torch.ops.sptile.counted(entries.token), rows, cols, given)
    a = SparseMatrix.__new__(SparseMatrix)
    a._place(entries, product, values, values, False, col.device)
    return a


def _flatten_with_keys(a: SparseMatrix) -> tuple[list[tuple[Any, Any]], Settings]:
    leaves, settings = _flatten(a)
    names = ["crow", "col", "width", "position", *["values"] * settings[0]]
    return [(_pytree.GetAttrKey(name), x) for name, x in zip(names, leaves, strict=True)], settings


_pytree.register_pytree_node(
    SparseMatrix,
    _flatten,
    _unflatten,
    serialized_type_name="sptile.torch.SparseMatrix",
    flatten_with_keys_fn=_flatten_with_keys,
)
