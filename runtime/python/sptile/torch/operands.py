"""The tensors that the operators sptile::* take: a table of their shapes and types, and the check of a call by it.

Every operator checks its tensors before it reads their memory. Fake implementations do the same check.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..errors import InternalError, UsageError
from .handle import DTYPES, Entries, Ref

# Argument of checks: a matrix, or its Ref while a compiler traces.
Sizes = Entries | Ref

FLOATS = "float32, float64, float16 or bfloat16"


class Operand(NamedTuple):
    """One tensor of an operator, as the table writes it: `name? kind [shape]`.

    shape  `rows` and `cols` are the sizes of the matrix, of its transpose where the operator has t, and `given` is its
           number of given entries. A number is that size. The first tensor with any other name sets it.
    kind   "float": a type of DTYPES, the same for all; "number": any type of DTYPES; "statistic": the type in which a
           softmax of them is formed; "ids": int32 or int64; "arg": int32; "seed": int64; "token": of a matrix, int64
    mark   "?": may be None; "!": is written, so contiguous and apart from the others
    """

    name: str
    mark: str
    kind: str
    shape: tuple[str | int, ...]


class Row(NamedTuple):
    """The forms that an operator's tensors may have, and the argument whose value is the number of the form; None:
    the number of dimensions of the first tensor decides."""

    chosen_by: str | None
    forms: tuple[tuple[Operand, ...], ...]


_OPERAND = re.compile(r"(\w+)([?!]?)(?: (\w+))? \[([\w, ]*)\]")


def _operand(name: str, mark: str, kind: str, shape: str) -> Operand:
    sizes = tuple(int(size) if size.isdigit() else size for size in shape.split(", ") if size)
    return Operand(name, mark, kind or "float", sizes)


def _row(*forms: str, chosen_by: str | None = None) -> Row:
    return Row(chosen_by, tuple(tuple(_operand(*one) for one in _OPERAND.findall(form)) for form in forms))


def _attention(n: str, more: str = "") -> str:
    return f"q [rows, heads, {n}], k [cols, heads, {n}], v [cols, heads, m], bias? [heads, given]" + more


_SCORED = "x [rows, heads, n], y [cols, heads, n], vector [heads, n], bias? [heads, given]"
_GATV2 = _SCORED + ", edges? [given, heads, n], seed? seed []"
_GATV2_EDGES = _SCORED + ", features [given, width], weight [heads, n, width], seed? seed []"
_OF_GATV2 = ", statistics statistic [rows, heads, 2], out [rows, heads, n], dout [rows, heads, n]"
_EDGES = (
    "q [rows, heads, n], k [cols, heads, n], v [cols, heads, n], edge_queries [rows, heads, m], seed? seed []"
)
_OF_EDGES = (
    ", statistics statistic [rows, heads, 2], out [rows, heads, n], sums [rows, heads, m], dout [rows, heads, n],"
    " dsums [rows, heads, m]"
)
_SHARED_EDGES, _EDGES_OF_HEADS = "edges [given, m], ", "edges [given, heads, m], "
_OF_GRADIENT = ", statistics statistic [heads, rows, 2], out [rows, heads, m], dout [rows, heads, m]"
_DROPPED_ATTENTION = (
    "v [cols, heads, m], q statistic [rows, heads, n], k statistic [cols, heads, n], bias? statistic [heads, given],"
    " seed seed []"
)
_TOKENS = "entries token [], product token []"

# The tensors of each operator, in the order of its schema. That of the matrix itself, `a`, is left out.
OPERANDS: dict[str, Row] = {
    "spmm": _row("x [cols, n], values? [given]", "x [cols, heads, n], values [heads, given]"),
    "spmm_max": _row("x [cols, n], values? [given]", "x [cols, heads, n], values [heads, given]"),
    "spmm_max_gradient": _row(
        "g [rows, n], arg arg [rows, n], x? [cols, n], values? [given]",
        "g [rows, heads, n], arg arg [rows, heads, n], x? [cols, heads, n], values [heads, given]",
    ),
    "spmm_batch": _row("x [batch, cols, n]"),
    "add_spmm": _row("x [cols, n], out! [rows, n]"),
    "sddmm": _row("x [rows, n], y [cols, n]", "x [rows, heads, n], y [cols, heads, n]"),
    "softmax": _row("values [given]", "values [heads, given]"),
    "softmax_gradient": _row("p [given], dp [given]", "p [heads, given], dp [heads, given]"),
    "spmm_update": _row(
        "x [cols, n], weight [n, m], bias? [m]",
        "x [cols, n], weight [m, n], bias? [m]",
        chosen_by="transposed_weights",
    ),
    "update_gradient": _row(
        "z [rows, n], dc [rows, m], out? [rows, m]", "z [rows, n], dc [rows, m], out [rows, m]", chosen_by="relu"
    ),
    # Scores: dot, cosine, additive.
    "attention": _row(_attention("n"), _attention("n"), _attention("1"), chosen_by="score"),
    "attention_gradient": _row(
        _attention("n", _OF_GRADIENT), _attention("n", _OF_GRADIENT), _attention("1", _OF_GRADIENT), chosen_by="score"
    ),
    "gatv2": _row(_GATV2),
    "gatv2_gradient": _row(_GATV2 + _OF_GATV2),
    "edge_attention": _row(_SHARED_EDGES + _EDGES, _EDGES_OF_HEADS + _EDGES),
    "edge_attention_gradient": _row(_SHARED_EDGES + _EDGES + _OF_EDGES, _EDGES_OF_HEADS + _EDGES + _OF_EDGES),
    "dropped": _row("values [heads, given], seed seed []"),
    "dropped_spmm": _row("x [cols, heads, n], values [heads, given], seed seed []"),
    "dropped_spmm_gradient": _row("g [rows, heads, n], x [cols, heads, n], values [heads, given], seed seed []"),
    "dropped_attention": _row(_DROPPED_ATTENTION),
    "dropped_attention_gradient": _row(_DROPPED_ATTENTION + ", dout [rows, heads, m]"),
    "gatv2_edges": _row(_GATV2_EDGES),
    "gatv2_edges_gradient": _row(_GATV2_EDGES + _OF_GATV2),
    "matrix_of": _row("row ids [given], col ids [given]"),
    "graph_of": _row("edge_index ids [2, edges]"),
    "csr_of": _row("crow ids [pointers], col ids [given]"),
    "entries_of_arrays": _row("crow ids [pointers], col ids [stored], position? ids [given], values? number [stored]"),
    "counted": _row("entries token []"),
    "transpose_of": _row(_TOKENS),
    "with_loops_of": _row("entries token []"),
    "degrees_of": _row("entries token []"),
    "segments_of": _row("entries token []"),
    "places_of": _row("entries token []"),
}


def statistic(dtype: torch.dtype) -> torch.dtype:
    """The type in which a softmax is formed."""
    return torch.float64 if dtype == torch.float64 else torch.float32


class _Bound:
    """Sizes by name that the operands of a call have determined, and the description of the matrix for messages."""

    def __init__(self, operator: str, a: Sizes | None, t: bool) -> None:
        self.operator, self.a = operator, a
        self.of: dict[str | int, Any] = {}
        self._nouns: dict[str | int, str] = {}
        if a is not None:
            rows, cols = ("cols", "rows") if t else ("rows", "cols")
            self.of = {rows: a.rows, cols: a.cols, "given": a.given}
            self._nouns = {rows: "rows", cols: "columns", "given": "nonzeros"}

    def size(self, name: str | int, found: Any) -> Any:
        """Returns the required size; `found` if it is not determined yet."""
        return name if isinstance(name, int) else self.of.setdefault(name, found)

    def text(self, operand: Operand) -> str:
        return "[" + ", ".join(str(self.of.get(size, size)) for size in operand.shape) + "]"

    def refuse(self, why: str) -> UsageError:
        return UsageError(f"{self.operator}: {why}")

    def matrix(self, operand: Operand) -> str:
        """The sizes of the matrix that a shape has."""
        named = [f"{self.of[size]} {self._nouns[size]}" for size in operand.shape if size in self._nouns]
        return f" for a matrix with {' and '.join(named)}" if named else ""


def _check_shape(bound: _Bound, operand: Operand, x: Tensor, others: list[Operand]) -> None:
    """Refuses x unless it is of a shape; `others`: that it might have had in another form."""
    fits = x.layout == torch.strided and x.dim() == len(operand.shape)
    if not fits or any(size != bound.size(name, size) for name, size in zip(operand.shape, x.shape, strict=True)):
        kind = "" if x.layout == torch.strided else f"{x.layout} "
        wanted = " or ".join(dict.fromkeys(bound.text(one) for one in (operand, *others)))
        raise bound.refuse(f"{operand.name} must have shape {wanted}{bound.matrix(operand)}, got {kind}{list(x.shape)}")


def _check_floats(bound: _Bound, operand: Operand, x: Tensor, first: Tensor) -> None:
    if first.dtype not in DTYPES:
        raise bound.refuse(f"{operand.name} must be {FLOATS}, got {x.dtype}")
    wanted = first.dtype if operand.kind == "float" else statistic(first.dtype)
    if x.dtype != wanted:
        raise bound.refuse(
            f"{operand.name} must be {wanted} because the first operand is {first.dtype}, got {x.dtype}"
        )


_WHOLE = {"ids": (torch.int32, torch.int64), "arg": (torch.int32,), "seed": (torch.int64,), "token": (torch.int64,)}


def _check_type(bound: _Bound, operand: Operand, x: Tensor, first: Tensor) -> None:
    if operand.kind == "number":
        if x.dtype not in DTYPES:
            raise bound.refuse(f"{operand.name} must be {FLOATS}, got {x.dtype}")
    elif operand.kind not in _WHOLE:
        _check_floats(bound, operand, x, first)
    elif x.dtype not in _WHOLE[operand.kind]:
        wanted = " or ".join(str(dtype).removeprefix("torch.") for dtype in _WHOLE[operand.kind])
        raise bound.refuse(f"{operand.name} must be {wanted}, got {x.dtype}")


def _check_device(bound: _Bound, operand: Operand, x: Tensor, first: Tensor) -> None:
    if operand.kind == "token":
        return
    device = None if bound.a is None else bound.a.device
    if device is not None and x.device != device:
        raise bound.refuse(f"{operand.name} must be on {device}, the device of the matrix, got {x.device}")
    if x.device != first.device:
        raise bound.refuse(f"{operand.name} must be on {first.device} like the first operand, got {x.device}")


def _check_memory(bound: _Bound, operand: Operand, x: Tensor) -> None:
    if x.numel() > 0 and x.data_ptr() == 0:
        raise bound.refuse(f"{operand.name} has no memory; it was freed, or its subclass of Tensor stores none")


def check_memory_of(operator: str, name: str, x: Tensor) -> None:
    """Raises UsageError for a tensor whose memory was freed."""
    _check_memory(_Bound(operator, None, False), Operand(name, "", "float", ()), x)


def _range(x: Tensor) -> tuple[int, int]:
    """Returns the address of the first byte of x, and the address one past the last."""
    if x.numel() == 0:
        return 0, 0
    reach = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
    begin = x.data_ptr()
    return begin, begin + (reach + 1) * x.element_size()


def _check_contiguous(operator: str, name: str, out: Tensor) -> None:
    if not out.is_contiguous() or out.is_neg():
        raise UsageError(f"{operator}: {name} must be contiguous, got strides {list(out.stride())}")


def _check_apart(operator: str, name: str, out: Tensor, others: Iterator[Tensor | None]) -> None:
    """Refuses a result that shares memory with an operand."""
    begin, end = _range(out)
    for x in others:
        first, last = (0, 0) if x is None else _range(x)
        if begin < last and first < end:
            raise UsageError(f"{operator}: {name} overlaps an operand; pass separate memory for results")


# Calls that a matrix remembers at most.
_MOST_REMEMBERED = 256


class Check:
    """The check of an operator's tensors: shapes, types, devices and layouts, against the matrix and each other.

    A matrix remembers the calls that fit: the same call again costs one look-up.
    """

    def __init__(self, name: str, schema: Any, leading: int) -> None:
        """schema: a FunctionSchema; leading: number of arguments that represent the matrix."""
        if name not in OPERANDS:
            raise InternalError(f"sptile::{name} has no row in operands.OPERANDS")
        self.name, self.row = name, OPERANDS[name]
        arguments = schema.arguments[leading:]
        named = {one.name: place for place, one in enumerate(arguments)}
        self._tensors = [place for place, one in enumerate(arguments) if "Tensor" in str(one.type)]
        self._t = named.get("t")
        self._choice = None if self.row.chosen_by is None else named[self.row.chosen_by]
        self._flags = [place for place in (self._t, self._choice) if place is not None]
        self._written = [
            (place, operand.name)
            for place, operand in zip(self._tensors, self.row.forms[0], strict=True)
            if operand.mark == "!"
        ]

    def __call__(self, a: Sizes | None, arguments: tuple[Any, ...]) -> None:
        """Raises UsageError for tensors that do not fit `a` or each other."""
        if type(a) is Entries:
            key = self._key(arguments)
            if key is None or key not in a.fitting:
                self._compare(a, arguments)
                if key is not None:
                    self._remember(a, key)
        else:
            self._compare(a, arguments)
        for place, name in self._written:
            _check_contiguous(self.name, name, arguments[place])
            if type(a) is Entries:
                others = (arguments[other] for other in self._tensors if other != place)
                _check_apart(self.name, name, arguments[place], others)

    def _key(self, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Returns the properties of dense tensors that are compared; None if one has no shape or no address (sparse
        tensors), which the full check then reports."""
        key: list[Any] = [self.name]
        try:
            for place in self._flags:
                key.append(arguments[place])
            for place in self._tensors:
                x = arguments[place]
                if x is None:
                    key.append(None)
                    continue
                if x.data_ptr() == 0 and x.numel() > 0:
                    return None
                key += (x.shape, x.dtype, x.device)
        except (AttributeError, RuntimeError):
            return None
        return tuple(key)

    @staticmethod
    def _remember(a: Entries, key: tuple[Any, ...]) -> None:
        if len(a.fitting) >= _MOST_REMEMBERED:
            a.fitting.clear()
        a.fitting.add(key)

    def _compare(self, a: Sizes | None, arguments: tuple[Any, ...]) -> None:
        bound = _Bound(self.name, a, self._t is not None and bool(arguments[self._t]))
        tensors = [arguments[place] for place in self._tensors]
        form, others = self._form(bound, arguments, tensors[0])
        first = tensors[0]
        for number, (operand, x) in enumerate(zip(form, tensors, strict=True)):
            if x is None and operand.mark == "?":
                continue
            if not isinstance(x, Tensor):
                found = "none" if x is None else type(x).__name__
                raise bound.refuse(f"{operand.name} must be a tensor {bound.text(operand)}, got {found}")
            if x.is_nested:
                raise bound.refuse(f"{operand.name} must be a tensor {bound.text(operand)}, got a nested tensor")
            _check_type(bound, operand, x, first)
            _check_device(bound, operand, x, first)
            _check_shape(bound, operand, x, [other[number] for other in others])
            if type(a) is Entries:
                _check_memory(bound, operand, x)

    def _form(
        self, bound: _Bound, arguments: tuple[Any, ...], first: Any
    ) -> tuple[tuple[Operand, ...], list[tuple[Operand, ...]]]:
        """Returns the form of a call, and the forms that the rank of its first tensor permits."""
        forms = self.row.forms
        if self._choice is not None:
            number = int(arguments[self._choice])
            if not 0 <= number < len(forms):
                raise bound.refuse(f"{self.row.chosen_by} must be from 0 to {len(forms) - 1}, got {number}")
            return forms[number], []
        rank = first.dim() if isinstance(first, Tensor) else 0
        found = [form for form in forms if len(form[0].shape) == rank]
        return (found[0], []) if found else (forms[0], list(forms[1:]))


# ---- Memory ----


def rows_in_memory(x: Tensor) -> Tensor:
    """Returns x, copied unless its last dimension has stride 1 and the other dimensions do not overlap."""
    if x.is_neg():
        x = x.resolve_neg()
    sizes, strides = x.shape, x.stride()
    if sizes[-1] != 1 and strides[-1] != 1:
        return x.contiguous()
    if x.dim() == 2:
        return x if strides[0] >= sizes[1] else x.clone(memory_format=torch.contiguous_format)
    beside = strides[1] >= sizes[2] or sizes[1] == 1
    return x if beside and strides[0] >= sizes[2] else x.clone(memory_format=torch.contiguous_format)


def list_in_memory(x: Tensor) -> Tensor:
    """x, contiguous."""
    return (x.resolve_neg() if x.is_neg() else x).contiguous()


def operand(x: Tensor) -> tuple[int, int, int]:
    """Address and strides of x [rows, n] or [rows, heads, n], as `rows_in_memory` gives it."""
    strides = x.stride()
    return (x.data_ptr(), strides[0], 0) if len(strides) == 2 else (x.data_ptr(), strides[0], strides[1])


def number_list(x: Tensor) -> tuple[int, int, int]:
    """Address of [nnz] or [heads, nnz], contiguous."""
    return x.data_ptr(), 0, 0


def optional_list(x: Tensor | None) -> tuple[int, int, int] | None:
    """The list, or None."""
    return None if x is None else number_list(x)


def pairs(x: Tensor) -> tuple[int, int, int]:
    """Address and strides of [heads, rows, 2], contiguous."""
    return x.data_ptr(), 2, 0


def singles(x: Tensor) -> tuple[int, int, int]:
    """Address and strides of [heads, rows], contiguous."""
    return x.data_ptr(), 1, 0


def beside(x: Tensor) -> tuple[int, int, int]:
    """Address and strides of [rows, heads], contiguous: heads of a row are adjacent."""
    return x.data_ptr(), x.shape[1], 1


def rows_of_heads(x: Tensor) -> tuple[int, int, int]:
    """Address and strides of [heads, n], contiguous: one row for each head."""
    return x.data_ptr(), x.shape[1], x.shape[1]


def matrices_of_heads(x: Tensor) -> tuple[int, int, int]:
    """Address and strides of [heads, n, m], contiguous: a matrix for each head."""
    return x.data_ptr(), x.shape[2], x.shape[1] * x.shape[2]


def checked(run: Callable[..., Any], check: Check) -> Callable[..., Any]:
    """`run(a, *arguments)`, after the check of its arguments."""

    def checked_run(a: Any, *arguments: Any) -> Any:
        check(a, arguments)
        return run(a, *arguments)

    return checked_run
