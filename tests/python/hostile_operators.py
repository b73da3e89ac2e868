"""Calls every operator sptile::* with tensors that do not fit, between guard pages. A child of test_hostile.py; see
hostile.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from hostile import Log, element_count, guarded, other_shapes
from hostile_plans import damaged
from torch import Tensor

import sptile
import sptile.torch as st
import sptile.torch.compiled
from sptile.torch.handle import Ref

ROWS, COLS, N, M, HEADS = 37, 29, 5, 3, 2
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
TYPES = (*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool, torch.complex64, torch.float8_e4m3fn)
op = torch.ops.sptile


class Call(NamedTuple):
    """A call that fits. `free`: (argument, change) of the changes of shapes after which it still does."""

    operator: Any
    arguments: tuple[Any, ...]
    free: frozenset[tuple[str, str]] = frozenset()


def guarded_tensor(like: Tensor, shape: tuple[int, ...], dtype: torch.dtype, at_end: bool) -> Tensor:
    """A tensor between guard pages, with the first elements of `like`, as long as they last."""
    count = element_count(shape)
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    size = count * torch.empty(0, dtype=dtype).element_size()
    tensor = torch.frombuffer(guarded(size, at_end), dtype=dtype)
    numbers = like.detach().flatten()[:count].to(dtype)
    tensor.zero_()[: numbers.numel()] = numbers
    return tensor.reshape(shape)


def laid_out(x: Tensor, at_end: bool) -> Iterator[tuple[str, Tensor]]:
    """x with other strides, between guard pages."""
    if x.dim() > 1:
        turned = guarded_tensor(x.transpose(0, -1).contiguous(), x.transpose(0, -1).shape, x.dtype, at_end)
        yield "transposed", turned.transpose(0, -1)
    if x.dim() > 0 and x.dtype.is_floating_point:
        wide = guarded_tensor(x, (*x.shape[:-1], x.shape[-1] * 2), x.dtype, at_end)
        wide.view(*x.shape, 2)[..., 0] = x
        yield "every second", wide.view(*x.shape, 2)[..., 0]
        yield "negated lazily", torch._neg_view(guarded_tensor(-x, x.shape, x.dtype, at_end))


def any_size(name: str, dim: int) -> frozenset[tuple[str, str]]:
    return frozenset((name, f"{change} in dimension {dim}") for change in ("-1", "+1"))


def matrices() -> dict[str, st.SparseMatrix]:
    """Entries in the order of CSR, in another one, and repeated."""
    torch.manual_seed(0)
    kept = (torch.rand(ROWS, COLS) < 0.2).nonzero()
    shuffled = kept[torch.randperm(kept.shape[0])]
    entries = {"sorted": kept, "shuffled": shuffled, "repeated": torch.cat([shuffled, kept[:9]])}
    return {
        name: st.SparseMatrix._of_entries(row, col, None, (ROWS, COLS))
        for name, (row, col) in ((name, pairs.unbind(1)) for name, pairs in entries.items())
    }


def calls(a: st.SparseMatrix, dtype: torch.dtype) -> dict[str, Call]:
    """Every operator with tensors that fit, by name: its own, and more of the same in brackets."""
    given = a._entries.given
    bare, product = tuple(a._entries), tuple(a._product)
    f = lambda *shape: torch.rand(*shape).to(dtype)  # noqa: E731
    x, y = f(COLS, N), f(ROWS, N)
    q, k, v, bias = f(ROWS, HEADS, N), f(COLS, HEADS, N), f(COLS, HEADS, M), f(HEADS, given)
    one, other = f(ROWS, HEADS, 1), f(COLS, HEADS, 1)
    out, statistics = op.attention(*bare, q, k, v, bias, 1.0, 0, 0.2)
    sums, added = op.attention(*bare, one, other, v, None, 1.0, 2, 0.2)
    own, key, vector = f(ROWS, HEADS, N), f(COLS, HEADS, N), f(HEADS, N)
    seed = torch.tensor(7)
    pairs = (own, key, vector, bias, f(given, HEADS, N), seed)
    mixed, summary = op.gatv2(*bare, *pairs, 0.5, 0.2)
    wide = [x.to(torch.promote_types(dtype, torch.float32)) for x in (q, k, bias)]
    keyed = (own, key, f(COLS, HEADS, N), f(ROWS, HEADS, M), seed)
    shared, apart = (f(given, M), *keyed), (f(given, HEADS, M), *keyed)
    values, added_edges, weighed = op.edge_attention(*bare, *shared, 0.5, 0.5)
    of_edges = (weighed, values, added_edges, values, added_edges, 0.5, 0.5, True)
    raw = (*pairs[:4], f(given, M), f(HEADS, N, M), seed)
    of_raw, raw_summary = op.gatv2_edges(*bare, *raw, 0.5, 0.2)
    c, z = op.spmm_update(*product, False, x, f(N, M), f(M), True, False, True)
    arg = torch.randint(-1, COLS, (ROWS, N), dtype=torch.int32)
    row, col = a.places()
    crow = torch.zeros(ROWS + 1, dtype=torch.int64)
    crow[1:] = torch.bincount(row, minlength=ROWS).cumsum(0)
    score = (1.0, 0, 0.2)
    return {
        "spmm": Call(op.spmm, (*product, False, x, None), any_size("b", 1)),
        "spmm [transposed]": Call(op.spmm, (*product, True, y, None), any_size("b", 1)),
        "spmm [values]": Call(op.spmm, (*bare, False, x, f(given)), any_size("b", 1)),
        "spmm [heads]": Call(op.spmm, (*bare, True, q, f(HEADS, given)), any_size("b", 2)),
        "spmm_max": Call(op.spmm_max, (*bare, x, None, False), any_size("b", 1)),
        "spmm_max [values]": Call(op.spmm_max, (*bare, x, f(given), True), any_size("b", 1)),
        "spmm_max [heads]": Call(op.spmm_max, (*bare, k, f(HEADS, given), False), any_size("b", 2)),
        "spmm_max_gradient": Call(op.spmm_max_gradient, (*bare, y, arg, None, None, True, False)),
        "spmm_max_gradient [values]": Call(op.spmm_max_gradient, (*bare, y, arg, x, f(given), True, True)),
        "spmm_batch": Call(op.spmm_batch, (*product, False, f(HEADS, COLS, N)), any_size("b", 0) | any_size("b", 2)),
        "add_spmm": Call(op.add_spmm, (*product, False, x, f(ROWS, N))),
        "sddmm": Call(op.sddmm, (*bare, y, x)),
        "sddmm [heads]": Call(op.sddmm, (*bare, q, k)),
        "softmax": Call(op.softmax, (*bare, f(given)), frozenset({("s", "one dimension more in front")})),
        "softmax [heads]": Call(op.softmax, (*bare, bias), any_size("s", 0) | {("s", "one dimension less")}),
        "softmax_gradient": Call(op.softmax_gradient, (*bare, f(given), f(given))),
        "softmax_gradient [heads]": Call(op.softmax_gradient, (*bare, bias, bias)),
        "attention": Call(op.attention, (*bare, q, k, v, bias, *score), any_size("v", 2)),
        "attention [additive]": Call(op.attention, (*bare, one, other, v, None, 1.0, 2, 0.2), any_size("v", 2)),
        "attention_gradient": Call(
            op.attention_gradient, (*bare, q, k, v, bias, statistics, out, out, *score, True)
        ),
        "attention_gradient [additive]": Call(
            op.attention_gradient, (*bare, one, other, v, None, added, sums, sums, 1.0, 2, 0.2, False)
        ),
        "gatv2": Call(op.gatv2, (*bare, *pairs, 0.5, 0.2)),
        "gatv2_gradient": Call(op.gatv2_gradient, (*bare, *pairs, summary, mixed, mixed, 0.5, 0.2)),
        "dropped": Call(op.dropped, (*bare, bias, seed, 0.5), any_size("values", 0)),
        "dropped_spmm": Call(op.dropped_spmm, (*bare, k, bias, seed, 0.5), any_size("b", 2)),
        "dropped_spmm_gradient": Call(
            op.dropped_spmm_gradient, (*bare, q, k, bias, seed, 0.5, True, True)
        ),
        "dropped_attention": Call(op.dropped_attention, (*bare, v, *wide, seed, 0.5, 1.0, 0.2), any_size("v", 2)),
        "dropped_attention_gradient": Call(
            op.dropped_attention_gradient, (*bare, v, *wide, seed, out, 0.5, 1.0, 0.2, True)
        ),
        "edge_attention": Call(op.edge_attention, (*bare, *shared, 0.5, 0.5)),
        "edge_attention [heads]": Call(op.edge_attention, (*bare, *apart, 0.5, 0.5)),
        "edge_attention_gradient": Call(op.edge_attention_gradient, (*bare, *shared, *of_edges)),
        "edge_attention_gradient [heads]": Call(op.edge_attention_gradient, (*bare, *apart, *of_edges)),
        "gatv2_edges": Call(op.gatv2_edges, (*bare, *raw, 0.5, 0.2)),
        "gatv2_edges_gradient": Call(op.gatv2_edges_gradient, (*bare, *raw, raw_summary, of_raw, of_raw, 0.5, 0.2)),
        "spmm_update": Call(op.spmm_update, (*product, False, x, f(N, M), f(M), True, False, True)),
        "spmm_update [no bias]": Call(
            op.spmm_update, (*product, True, y, f(M, N), None, False, True, False), any_size("w", 0)
        ),
        "update_gradient": Call(op.update_gradient, (*product, False, z, c, c, True), any_size("z", 1)),
        "update_gradient [no relu]": Call(
            op.update_gradient, (*product, False, z, c, None, False), any_size("z", 1) | any_size("dc", 1)
        ),
        "matrix_of": Call(op.matrix_of, (row, col, ROWS, COLS, "csr", "")),
        "graph_of": Call(op.graph_of, (torch.stack([col, row]), ROWS, COLS), any_size("edge_index", 1)),
        "csr_of": Call(op.csr_of, (crow, col[torch.argsort(row, stable=True)], COLS, "csr", "")),
        "entries_of_arrays": Call(
            op.entries_of_arrays, (a.pattern.crow, a.pattern.col, None, f(a.nnz), COLS, "csr", "")
        ),
        "counted": Call(op.counted, bare[:1]),
        "transpose_of": Call(op.transpose_of, (bare[0], product[0], False)),
        "with_loops_of": Call(op.with_loops_of, bare[:1]),
        "degrees_of": Call(op.degrees_of, (bare[0], ROWS, torch.device("cpu"))),
        "segments_of": Call(op.segments_of, bare[:1]),
        "places_of": Call(op.places_of, (bare[0], given, torch.device("cpu"))),
    }


def is_token(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dim() == 0


def fits_of_type(call: Call, name: str, x: Tensor, dtype: torch.dtype) -> bool:
    """Whether one tensor may be of another type while the others keep theirs."""
    if is_token(x):
        return False
    if not x.dtype.is_floating_point:
        return name != "arg" and dtype in (torch.int32, torch.int64)  # arg is int32, as kernels write it
    if call.operator == op.dropped_attention and name == "v":
        return dtype in (torch.float16, torch.bfloat16)  # scores of 16-bit values are float32
    numbers = [one for one in call.arguments if isinstance(one, Tensor) and not is_token(one)]
    return sum(one.dtype.is_floating_point for one in numbers) == 1 and dtype in FLOATS


def changed_tensors(call: Call, name: str, x: Tensor, at_end: bool) -> Iterator[tuple[str, Any, bool]]:
    """What may stand in the place of x: how it differs, it, and whether it fits."""
    for how, shape in other_shapes(tuple(x.shape)).items():
        yield how, guarded_tensor(x, shape, x.dtype, at_end), (name, how) in call.free
    for dtype in TYPES:
        if dtype != x.dtype:
            other = guarded_tensor(x, tuple(x.shape), dtype, at_end) if x.dim() else x.to(dtype)
            yield str(dtype), other, fits_of_type(call, name, x, dtype)
    yield "of too many numbers", guarded_tensor(x, (3, *(size + 7 for size in x.shape)), x.dtype, at_end), False
    if x.dim() > 1:
        yield "sparse", x.to_sparse(), False
        yield "of lists", torch.nested.nested_tensor([x[0], x[1]]), False
    if x.dtype.is_floating_point:
        freed = x.clone()
        freed.untyped_storage().resize_(0)
        yield "freed", freed, False
    yield "a list", x.tolist() if x.dim() else [0], False


def changes(call: Call, at_end: bool) -> Iterator[tuple[str, tuple[Any, ...], bool]]:
    """Calls that differ from one that fits in one argument: how, arguments, whether they fit."""
    tensors = [isinstance(x, Tensor) for x in call.arguments]
    safe = [
        guarded_tensor(x, tuple(x.shape), x.dtype, at_end) if one and not is_token(x) else x
        for x, one in zip(call.arguments, tensors, strict=True)
    ]
    named = [argument.name for argument in call.operator.default._schema.arguments]
    optional = [str(argument.type).startswith("Optional") for argument in call.operator.default._schema.arguments]
    yield "as it fits", tuple(safe), True
    for place, name in enumerate(named):
        x = call.arguments[place]

        def with_other(other: Any, place: int = place) -> tuple[Any, ...]:
            return (*safe[:place], other, *safe[place + 1 :])

        if isinstance(x, Tensor):
            for how, other, fits in changed_tensors(call, name, x, at_end):
                yield f"{name}: {how}", with_other(other), fits
            if not is_token(x):
                yield f"{name}: on meta", with_other(x.to("meta")), call.operator == op.graph_of
            if not optional[place]:
                yield f"{name}: None", with_other(None), False
        elif isinstance(x, int) and not isinstance(x, bool):
            for other in (x - 1, x + 1, -1, 2**31, 2**40):
                # Sizes of a new matrix are free where they are not too small or too large.
                new = call.operator in (op.matrix_of, op.graph_of, op.csr_of, op.entries_of_arrays)
                if not (new and other >= x and other < 2**31) and not (name == "score" and other in (0, 1)):
                    yield f"{name} = {other}", with_other(other), False
        elif isinstance(x, float):
            yield f"{name} is nan", with_other(float("nan")), False
        elif isinstance(x, torch.device):
            yield f"{name} is meta", with_other(torch.device("meta")), False
    if named[0] == "a":
        stranger = tuple(st.SparseMatrix._of_entries(*torch.zeros(2, 1, dtype=torch.int64), None, (1, 1))._entries)
        yield "a token of a smaller matrix", (stranger[0], *safe[1:]), False
        yield "a smaller matrix", (*stranger, *safe[4:]), False


def strided(call: Call, at_end: bool) -> Iterator[tuple[str, tuple[Any, ...], str]]:
    """The call that fits with one tensor of other strides: how, arguments, and the name of that argument."""
    named = [argument.name for argument in call.operator.default._schema.arguments]
    for place, x in enumerate(call.arguments):
        if isinstance(x, Tensor) and not is_token(x):
            for how, other in laid_out(x, at_end):
                arguments = (*call.arguments[:place], other, *call.arguments[place + 1 :])
                yield f"{named[place]}: {how}", arguments, named[place]


def results(found: Any) -> list[Tensor]:
    tensors = [found] if isinstance(found, Tensor) else list(found or [])
    return [x for x in tensors if x.dim() > 0]


def try_all(log: Log, name: str, call: Call, at_end: bool) -> None:
    for how, arguments, fits in changes(call, at_end):
        of_dispatcher = any(word in how for word in ("None", "a list", "sparse", "of lists", " = "))
        log.expect(f"{name}, {how}", lambda arguments=arguments: call.operator(*arguments), fits, of_dispatcher)


def compare_strided(log: Log, name: str, call: Call, at_end: bool) -> None:
    """Other strides are refused, or give the same numbers."""
    expected = results(call.operator(*(x.clone() if isinstance(x, Tensor) and x.dim() else x for x in call.arguments)))
    for how, arguments, argument in strided(call, at_end):
        found, error = log.attempt(f"{name}, {how}", lambda arguments=arguments: call.operator(*arguments))
        if error is not None and argument != "out":
            log.wrong.append(f"{name}, {how}: refused: {error}")
        if error is None and argument == "out" and name == "add_spmm":
            log.wrong.append(f"{name}, {how}: accepted")
        if error is None and not all(map(alike, results(found), expected)):
            log.wrong.append(f"{name}, {how}: other numbers")


def alike(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one.double(), other.double(), rtol=0.05, atol=0.05)


def direct(log: Log, a: st.SparseMatrix, at_end: bool) -> None:
    """Calls without torch's dispatcher, as functions and layers make them."""
    from sptile.torch import dropout, operators
    from sptile.torch.attention import attention, attention_gradient
    from sptile.torch.edge_attention import edge_attention, edge_attention_gradient
    from sptile.torch.gatv2 import gatv2, gatv2_gradient
    from sptile.torch.gatv2_edges import gatv2_edges, gatv2_edges_gradient

    x = guarded_tensor(torch.ones(1), (1, N), torch.float32, at_end)
    three = x.view(1, 1, N)
    numbers = guarded_tensor(torch.ones(1), (1,), torch.float32, at_end)
    for name, call in {
        "spmm": lambda: operators.spmm(a._product, False, x, None),
        "spmm_max": lambda: operators.spmm_max(a._entries, x, None, False),
        "spmm_max_gradient": lambda: operators.spmm_max_gradient(
            a._entries, x, x.int(), None, None, True, False
        ),
        "spmm_batch": lambda: operators.spmm_batch(a._product, False, three),
        "add_spmm": lambda: operators.add_spmm(a._product, False, torch.ones(COLS, N), x),
        "sddmm": lambda: operators.sddmm(a._entries, x, x),
        "softmax": lambda: operators.softmax(a._entries, numbers),
        "softmax_gradient": lambda: operators.softmax_gradient(a._entries, numbers, numbers),
        "spmm_update": lambda: operators.spmm_update(a._product, False, x, x, None, False, True, True),
        "update_gradient": lambda: operators.update_gradient(a._product, False, x, x, x, True),
        "attention": lambda: attention(a._entries, three, three, three, None, 1.0, 0, 0.2),
        "attention_gradient": lambda: attention_gradient(
            a._entries, three, three, three, None, three, three, three, 1.0, 0, 0.2, False
        ),
        "gatv2": lambda: gatv2(a._entries, three, three, x, None, None, None, 0.0, 0.2),
        "gatv2_gradient": lambda: gatv2_gradient(
            a._entries, three, three, x, None, None, None, three, three, three, 0.0, 0.2
        ),
        "dropped_spmm": lambda: dropout.dropped_spmm(a._entries, three, numbers.view(1, 1), torch.tensor(1), 0.5),
        "dropped_attention": lambda: dropout.dropped_attention(
            a._entries, three, three, three, None, torch.tensor(1), 0.5, 1.0, 1.0
        ),
        "edge_attention": lambda: edge_attention(a._entries, x, three, three, three, three, None, 0.0, 1.0),
        "edge_attention_gradient": lambda: edge_attention_gradient(
            a._entries, x, three, three, three, three, None, three, three, three, three, three, 0.0, 1.0, True
        ),
        "gatv2_edges": lambda: gatv2_edges(a._entries, three, three, x, None, x, three, None, 0.0, 0.2),
        "gatv2_edges_gradient": lambda: gatv2_edges_gradient(
            a._entries, three, three, x, None, x, three, None, three, three, three, 0.0, 0.2
        ),
        "a Ref of other sizes": lambda: Ref(a._entries.token, 1, 1, 1).entries,
    }.items():
        log.expect(f"{name}, without the dispatcher", call, False)


def junk(x: Any) -> dict[str, Any]:
    """What users may pass in the place of a tensor."""
    tensor = x if isinstance(x, Tensor) else torch.ones(3)
    return {
        "a number": 3,
        "text": "x",
        "a list": [1.0],
        "an array": np.ones(tuple(tensor.shape), np.float32),
        "a scalar": torch.tensor(1.0),
        "empty": tensor.new_empty(0),
        "complex": tensor.to(torch.complex64),
        "bool": tensor.bool(),
        "sparse": tensor.to_sparse(),
        "on meta": tensor.to("meta"),
        "of four dimensions": tensor.new_ones(2, 2, 2, 2),
    }


def functions(log: Log, a: st.SparseMatrix) -> None:
    """Functions and constructors as users call them, with one argument that is something else."""
    given = a._entries.given
    f = torch.rand
    row, col = a.places()
    crow = torch.zeros(ROWS + 1, dtype=torch.int64)
    crow[1:] = torch.bincount(row, minlength=ROWS).cumsum(0)
    col = col[torch.argsort(row, stable=True)]
    q, k, v = f(ROWS, HEADS, N), f(COLS, HEADS, N), f(COLS, HEADS, M)
    accepted = {
        "spmm": (st.spmm, (a, f(COLS, N), f(given))),
        "maxima": (lambda a, x, values: st.spmm(a, x, values, "max"), (a, f(COLS, N), f(given))),
        "segment_reduce": (st.segment_reduce, (a, f(given))),
        "sddmm": (st.sddmm, (a, f(ROWS, N), f(COLS, N))),
        "softmax": (st.softmax, (a, f(given))),
        "attention": (lambda a, q, k, v, bias: st.attention(a, q, k, v, bias=bias), (a, q, k, v, f(given, HEADS))),
        "dropped attention": (
            lambda a, q, k, v, bias: st.attention(a, q, k, v, bias=bias, dropout_p=0.5), (a, q, k, v, f(given, HEADS))
        ),
        "spmm_update": (st.spmm_update, (a, f(COLS, N), f(N, M), f(M))),
        "from the left": (lambda x, a: x @ a, (f(N, ROWS), a)),
        "of a batch": (lambda x: a @ x, (f(HEADS, COLS, N),)),
        "with_values": (lambda values: a.with_values(values) @ f(COLS, N), (f(given),)),
        "SparseMatrix": (
            lambda *parts: st.SparseMatrix(*parts, (ROWS, COLS)) @ f(COLS, N), (crow, col, f(given))
        ),
        "from_edge_index": (
            lambda edges, weight: st.SparseMatrix.from_edge_index(edges, weight, ROWS) @ f(ROWS, N),
            (torch.stack([a.places()[1], a.places()[0]]), f(given)),
        ),
    }  # fmt: skip
    for name, (function, arguments) in accepted.items():
        log.expect(f"{name}, as it fits", lambda f=function, x=arguments: f(*x), True)
        for place, x in enumerate(arguments):
            for what, other in junk(x).items():
                # Of Python: operands of @ that know no matrix.
                foreign = name == "from the left"
                changed = (*arguments[:place], other, *arguments[place + 1 :])
                log.expect(f"{name}, argument {place}: {what}", lambda f=function, x=changed: f(*x), False, foreign)


def damaged_tensors(log: Log) -> None:
    """Sparse tensors whose indices are not those of their layout."""
    ids, ends = torch.tensor([0, 1, 10**6, -5]), torch.tensor([0, 2, 4])
    values = torch.ones(4)
    unchecked = {"check_invariants": False}
    tensors = {
        "coo": torch.sparse_coo_tensor(torch.stack([ids, ids]), values, (2, 2), **unchecked),
        "csr": torch.sparse_csr_tensor(ends, ids, values, (2, 2), **unchecked),
        "csr, pointers": torch.sparse_csr_tensor(ends * 10**6, ids[:1].repeat(4), values, (2, 2), **unchecked),
        "csc": torch.sparse_csc_tensor(ends, ids, values, (2, 2), **unchecked),
        "bsr": torch.sparse_bsr_tensor(ends[:2], ids[:2], torch.ones(2, 2, 2), (2, 2), **unchecked),
    }
    for name, tensor in tensors.items():
        log.expect(f"convert of {name}", lambda x=tensor: sptile.convert(x).csr(), False)
        log.expect(f"from_torch of {name}", lambda x=tensor: st.SparseMatrix.from_torch(x), False)


def damaged_matrices(log: Log) -> None:
    """Matrices of SciPy with damaged arrays: an error, or a matrix that multiplies."""
    whole = sp.random_array((ROWS, COLS), density=0.2, dtype=np.float32, rng=np.random.default_rng(3))
    x = torch.ones(COLS, 2)
    for format in ("csr", "csc", "coo"):
        for how, a in damaged(whole.asformat(format), True):
            log.attempt(f"from_scipy of {format}, {how}", lambda a=a: st.SparseMatrix.from_scipy(a) @ x)


def main() -> None:
    torch.set_num_threads(1)
    log = Log()
    damaged_tensors(log)
    damaged_matrices(log)
    made = matrices()
    for a in made.values():
        functions(log, a)
    for kind, at_end in [("sorted", False), *((kind, True) for kind in made)]:
        a = made[kind]
        direct(log, a, at_end)
        for name, call in calls(a, torch.float32).items():
            try_all(log, f"{name} of {kind}", call, at_end)
            if "_of" not in name:
                compare_strided(log, name, call, at_end)
    log.end()


if __name__ == "__main__":
    main()
