"""Runs plans of every operation, refreshes them and makes matrices, with NumPy arrays that do not fit, between guard
pages. A child of test_hostile.py; see hostile.py."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from hostile import Log, element_count, guarded, other_shapes

import sptile
from sptile._operations import OPERATIONS, Operand

ROWS, COLS, N, M, HEADS = 31, 23, 5, 3, 2
TYPES = ("float64", "float16", "int32", "int64", "uint8", "bool", "complex64", ">f4", "U3", "O")
Array = np.ndarray


def guarded_array(like: Array, shape: tuple[int, ...], dtype: Any, at_end: bool) -> Array:
    """An array between guard pages, with the first elements of `like`, as long as they last."""
    dtype = np.dtype(dtype)
    count = element_count(shape)
    if dtype.hasobject or count == 0:
        return np.zeros(shape, dtype)
    array = np.frombuffer(guarded(count * dtype.itemsize, at_end), dtype)
    numbers = like.ravel()[:count]
    array[:] = 0
    array[: numbers.size] = numbers.astype(dtype)
    return array.reshape(shape)


def matrices() -> dict[str, Any]:
    """Entries in the order of CSR, in another one, and repeated; and a batch."""
    rng = np.random.default_rng(0)
    a = sp.random_array((ROWS, COLS), density=0.2, format="coo", dtype=np.float32, rng=rng)
    order = rng.permutation(a.nnz)
    row, col, data = a.row[order], a.col[order], a.data[order]
    twice = np.concatenate([np.arange(a.nnz), np.arange(7)])
    upper, lower = (sp.random_array(shape, density=0.3, rng=rng) for shape in ((ROWS - 9, COLS - 4), (9, 4)))
    return {
        "sorted": sptile.Bundle.of(a.tocsr()),
        "shuffled": sptile.Bundle.of(sp.coo_array((data, (row, col)), a.shape)),
        "repeated": sptile.Bundle.of(sp.coo_array((data[twice], (row[twice], col[twice])), a.shape)),
        "batch": sptile.block_diag([part.astype(np.float32).tocsr() for part in (upper, lower)]),
    }


class Case(NamedTuple):
    """A plan and operands that fit."""

    plan: Any
    operands: tuple[Array, ...]


def shape_of(plan: Any, spec: Operand, given: int) -> tuple[int, ...]:
    """What docs/guide/graph-layers.md says."""
    rows = {"rows": ROWS, "cols": COLS, "entries": given, "features": given, "inner": N, "one": 1}[spec.extent]
    width = {"n": N, "m": M, "one": 1, "two": 2}[spec.width]
    shape = (rows,) if spec.extent == "entries" else (width,) if spec.extent == "one" else (rows, width)
    return shape if spec.shared or plan.heads == 1 else (plan.heads, *shape)


def operand_of(plan: Any, spec: Operand, given: int, rng: Any, at_end: bool) -> Array:
    shape = shape_of(plan, spec, given)
    if spec.element == "index":
        return guarded_array(rng.integers(-1, 8, shape), shape, np.int32, at_end)
    return guarded_array(rng.random(shape, np.float32), shape, np.float32, at_end)


def cases(kind: str, bundle: Any, given: int, at_end: bool) -> Iterator[tuple[str, Case]]:
    rng = np.random.default_rng(1)
    for op, heads in product(OPERATIONS, (1, HEADS)):
        if kind != "sorted" and op.startswith(("gatv2", "edge_attention")):
            continue  # requires distinct nonzeros in CSR order
        if op in ("spmm_update", "update_gradient", "layer_gradient") and heads > 1:
            continue
        plan = bundle.plan(N, op=op, heads=heads, m=M, dtype="float32", refreshable=op == "spmm")
        operands = tuple(operand_of(plan, spec, given, rng, at_end) for spec in OPERATIONS[op])
        yield f"{op} x {heads}", Case(plan, operands)


def changed_operands(spec: Operand, x: Array, at_end: bool) -> Iterator[tuple[str, Any]]:
    """What does not fit in the place of x."""
    for how, shape in other_shapes(x.shape).items():
        yield how, guarded_array(x, shape, x.dtype, at_end)
    for dtype in TYPES:
        if x.dtype == dtype:
            continue
        yield dtype, guarded_array(x, x.shape, dtype, at_end)
    yield "a list", x.tolist()
    yield "text", "x"
    yield "a mask", np.ma.masked_array(x, mask=True)
    yield "of no memory", Interface(x.shape)
    if not spec.optional and not spec.result:
        yield "None", None
    if spec.result:
        still = x.view()
        still.flags.writeable = False
        yield "read-only", still
        yield "one number repeated", np.lib.stride_tricks.as_strided(x, x.shape, (0,) * x.ndim)
        yield "between two elements", misaligned(x, at_end)


class Interface:
    """An array whose pointer is null."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.__cuda_array_interface__ = {"version": 3, "shape": shape, "typestr": "<f4", "data": (0, False)}


def misaligned(x: Array, at_end: bool) -> Array:
    raw = guarded_array(np.zeros(1), (x.nbytes + 1,), np.uint8, at_end)
    return raw[:-1].view(x.dtype).reshape(x.shape) if at_end else raw[1:].view(x.dtype).reshape(x.shape)


def strided(x: Array, at_end: bool) -> Iterator[tuple[str, Array]]:
    """The numbers of x with other strides."""
    yield "backwards", guarded_array(x[::-1].copy(), x.shape, x.dtype, at_end)[::-1]
    yield "every second", every_second(x, at_end)
    if x.ndim > 1:
        turned = x.transpose().copy()
        yield "transposed", guarded_array(turned, turned.shape, x.dtype, at_end).transpose()
    yield "between two elements", misaligned_copy(x, at_end)


def every_second(x: Array, at_end: bool) -> Array:
    wide = guarded_array(x, (*x.shape[:-1], 2 * x.shape[-1]), x.dtype, at_end).reshape(*x.shape, 2)
    wide[..., 0] = x
    return wide[..., 0]


def misaligned_copy(x: Array, at_end: bool) -> Array:
    found = misaligned(x, at_end)
    found[...] = x
    return found


def run(plan: Any, operands: tuple[Any, ...], **options: Any) -> Any:
    return plan.run(*operands, **options)


def try_runs(log: Log, name: str, case: Case, at_end: bool) -> None:
    plan, operands = case
    log.expect(f"{name}, as it fits", lambda: run(plan, operands), True)
    expected = [x.copy() for x in operands]
    for place, (spec, x) in enumerate(zip(OPERATIONS[plan.op], operands, strict=True)):
        for how, other in changed_operands(spec, x, at_end):
            given = (*operands[:place], other, *operands[place + 1 :])
            log.expect(f"{name}, {spec.name}: {how}", lambda given=given: run(plan, given), False)
        if not spec.result:
            for how, other in strided(x, at_end):
                given = (*operands[:place], other, *operands[place + 1 :])
                log.expect(f"{name}, {spec.name}: {how}", lambda given=given: run(plan, given), True)
                if not all(map(alike, operands, expected)):
                    log.wrong.append(f"{name}, {spec.name}: {how}: other numbers")
    for place, spec in enumerate(OPERATIONS[plan.op]):
        if spec.result:
            overlapping = (operands[0] if operands[0].shape == operands[place].shape else None, *operands[1:])
            if overlapping[0] is not None:
                given = (*overlapping[:place], operands[0], *overlapping[place + 1 :])
                log.expect(f"{name}, {spec.name} is an operand", lambda given=given: run(plan, given), False)
    log.expect(f"{name}, one operand more", lambda: run(plan, (*operands, operands[0])), False)
    for option, value in {"alpha": "x", "slope": None, "stream": 7, "workspace": 3}.items():
        log.expect(f"{name}, {option} = {value!r}", lambda o=option, v=value: run(plan, operands, **{o: v}), False)


def alike(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True))


def try_values(log: Log, name: str, case: Case, given: int, at_end: bool) -> None:
    """Values of a run, and new values of a matrix."""
    plan, operands = case
    values = guarded_array(np.ones(1), (given,), np.float32, at_end)
    log.expect(f"{name}, values", lambda: run(plan, operands, values=values), True)
    log.expect(f"{name}, refresh", lambda: plan.refresh(values), True)
    for how, other in changed_operands(Operand("values", "entries"), values, at_end):
        log.expect(f"{name}, values: {how}", lambda other=other: run(plan, operands, values=other), how == "None")
        log.expect(f"{name}, refresh, {how}", lambda other=other: plan.refresh(other), False)
        log.expect(
            f"{name}, refresh, packed, {how}", lambda other=other: plan.refresh(other, order="packed"), False
        )
    log.expect(f"{name}, refresh in no order", lambda: plan.refresh(values, order="none"), False)
    wrong = 8 - case.plan.nnz
    log.expect(f"{name}, refresh, packed", lambda: plan.refresh(values[:wrong], order="packed"), False)


def damaged(a: Any, at_end: bool) -> Iterator[tuple[str, Any]]:
    """The matrix with one array changed."""
    names = [name for name in ("indptr", "indices", "data", "row", "col") if hasattr(a, name)]
    for name in names:
        array = getattr(a, name)
        changes: dict[str, Any] = {
            "one less": guarded_array(array, (array.shape[0] - 1, *array.shape[1:]), array.dtype, at_end),
            "two dimensions": guarded_array(array, (*array.shape, 1), array.dtype, at_end),
            "complex": array.astype(np.complex64),
        }
        if name != "data":
            for number in (-1, 1 << 30):
                changes[f"{number} at the end"] = with_last(array, number, at_end)
                changes[f"{number} in the middle"] = with_last(array, number, at_end, array.shape[0] // 2)
        for how, other in changes.items():
            twin = copy.copy(a)
            if a.format == "coo" and name in ("row", "col"):
                coords = {"row": a.row, "col": a.col, name: other}
                twin.coords = (coords["row"], coords["col"])
            else:
                setattr(twin, name, other)
            yield f"{name}: {how}", twin


def with_last(array: Array, number: int, at_end: bool, place: int = -1) -> Array:
    changed = guarded_array(array, array.shape, array.dtype, at_end)
    changed[place] = number
    return changed


def try_matrices(log: Log, at_end: bool) -> None:
    """Matrices of SciPy whose arrays are damaged: an error, or a matrix that multiplies."""
    a = sp.random_array((ROWS - 1, COLS - 1), density=0.2, dtype=np.float32, rng=np.random.default_rng(2))
    B = np.ones((COLS - 1, 2), np.float32)
    users: dict[str, Callable[[Any], Any]] = {
        "Bundle.of": lambda m: sptile.spmm(m, B),
        "block_diag": lambda m: sptile.block_diag([m, m]).plan(2)(np.ones((2 * COLS - 2, 2), np.float32)),
        "vstack": lambda m: sptile.vstack([m, m]).plan(2)(B),
        "convert": lambda m: sptile.convert(m).plan(2)(B),
    }
    for format in ("csr", "csc", "coo"):
        whole = a.asformat(format)
        for (how, twin), (user, use) in product(damaged(whole, at_end), users.items()):
            log.attempt(f"{user} of {format}, {how}", lambda use=use, twin=twin: use(twin))


def main() -> None:
    log = Log()
    made = matrices()
    for at_end in (True, False):
        try_matrices(log, at_end)
    for kind, at_end in [("sorted", False), *((kind, True) for kind in made)]:
        given = made[kind]._handle(False).source_count
        for name, case in cases(kind, made[kind], given, at_end):
            try_runs(log, f"{name} of {kind}", case, at_end)
            if case.plan.op == "spmm" and case.plan.heads == 1:
                try_values(log, f"{name} of {kind}", case, given, at_end)
    log.end()


if __name__ == "__main__":
    main()
