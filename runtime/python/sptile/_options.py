"""Options of a plan: names and types that Python accepts, checked and converted to the struct of the C interface.

`PlanSettings` declares the options and their types, `DEFAULTS` their defaults, and `OPTIONS_TEXT` describes them.
`takes_plan_options` shows them in the signature and the docstring of each function that accepts them.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import operator
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from . import _library as c
from ._arrays import dtype_code, stream_handle
from ._operations import PLAN_ATTRIBUTES
from .errors import ArgumentTypeError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

CHOICES: dict[str, dict[str | None, int]] = {
    name: {None if text == "none" else text: code for code, text in enumerate(one["choices"]) if text != "default"}
    for name, one in PLAN_ATTRIBUTES.items()
    if "choices" in one
}
"""Names that attributes of plans accept, and their codes."""
PRECISIONS, ORDERS = CHOICES["precision"], CHOICES["order"]


class PlanSettings(TypedDict, total=False):
    """Options of a plan, as keyword arguments."""

    op: str
    format: str
    kernel: str | None
    dtype: Any
    result: Any
    device: Any
    threads: int
    precision: str | None
    choice: str
    nonfinite: str
    transpose: bool
    order: str
    replan: bool
    m: int
    heads: int
    activation: str | None
    score: str
    transposed_weights: bool
    stream: Any
    refreshable: bool


DEFAULTS: dict[str, Any] = {
    "op": "spmm", "format": "auto", "kernel": None, "dtype": None, "result": None, "device": None, "threads": 0,
    "transpose": False, "order": "csr",
}  # fmt: skip
for _name, _row in PLAN_ATTRIBUTES.items():
    DEFAULTS.setdefault(_name, None if _row["default"] in ("default", "none") else _row["default"])
DEFAULTS.update(stream=None, refreshable=False)

OPTIONS_TEXT: dict[str, str] = {
    "op": """str
Operation: "spmm", "sddmm", "attention", "softmax_rows", "spmm_max", "spmm_min", "spmm_update", or the gradient
operations "attention_gradient", "attention_gradient_t", "softmax_rows_gradient", "spmm_max_gradient",
"spmm_max_gradient_t", "update_gradient" and "layer_gradient".""",
    "format": """str
Storage format, or a comma-separated list of formats to choose from. "auto" chooses among all stored formats.
A CUDA device converts a format that is not stored.""",
    "kernel": """str or None
Kernel to use. None chooses one.""",
    "dtype": """dtype or None
Type of the dense operands: "f16", "bf16", "f32" or "f64", the long name of one ("float32"), or a NumPy or torch
dtype. None uses the type of the values, float32 for a pattern.""",
    "result": """dtype or None
Type of the results, for example "f32" for 16-bit operands. None uses `dtype`.""",
    "device": """str, torch.device or None
"cpu", "cuda" or "cuda:1". None uses the device of the matrix.""",
    "threads": """int
Maximum number of CPU threads of a run. 0 uses ``SPTILE_THREADS`` if set, otherwise all available processors.""",
    "precision": """str or None
Lowest acceptable precision of products: "fp32", "tf32", "fp16", "bf16" or "fp64". None uses the kernel's
default, which `Plan.precision` reports.""",
    "nonfinite": """str
"strict" also confines NaN and infinity in B to the rows that reference them on CUDA devices. "fast" does not.""",
    "transpose": """bool
Use the transpose of the matrix.""",
    "order": """str
Order of arrays with one value per nonzero. "csr" is the order of the nonzeros in A (see `Bundle.of`), "packed" the
storage order of the format, which is faster.""",
    "stream": """stream or None
CUDA stream for conversions of arrays in device memory: an int (`cudaStream_t`), or a stream of CuPy or torch.""",
    "refreshable": """bool
Give the formats separate values, which `Plan.refresh` requires.""",
}

_KINDS = {"flag": "bool", "integer": "int", "real": "float", "choice": "str"}


def _attribute_text(row: dict[str, Any]) -> str:
    """Describes an attribute of the library: type, purpose, choices and operations."""

    def listed(names: list[str]) -> str:
        return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))

    names = ["None" if name is None else f'"{name}"' for name in CHOICES.get(row["name"], ())]
    operations = [f'"{name}"' for name in row.get("operations", "").split()]
    kind = _KINDS[row["kind"]] + (" or None" if "None" in names else "")
    choices = f": {listed(names)}" if names else ""
    return f"{kind}\n{row['summary']}{choices}." + (f"\nOnly for {listed(operations)}." if operations else "")


for _name, _row in PLAN_ATTRIBUTES.items():
    OPTIONS_TEXT.setdefault(_name, _attribute_text(_row))

Function = TypeVar("Function", bound=Callable[..., Any])


def check_names(options: dict[str, Any], function: str, without: tuple[str, ...] = ()) -> None:
    """Raises ArgumentTypeError for a keyword that is not an option of a plan."""
    known = [name for name in DEFAULTS if name not in without]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; options are {', '.join(known)}"
            raise ArgumentTypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def takes_plan_options(*without: str) -> Callable[[Function], Function]:
    """Shows the options of a plan in the signature and the docstring of a function with ``**options``.

    The wrapper refuses other keywords. `without` names the options that the function sets itself.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        own = {p.name for p in kept}
        names = [name for name in DEFAULTS if name not in without and name not in own]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=annotation)
            for name, annotation in zip(names, map(_annotation, names), strict=True)
        ]

        @functools.wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            check_names({name: None for name in options if name not in own}, function.__name__, without)
            return function(*arguments, **options)

        checked.__signature__ = signature.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
        checked.__doc__ = _with_options(inspect.getdoc(function) or "", names)
        return checked  # type: ignore[return-value]

    return decorate


def _annotation(name: str) -> str:
    """The annotation as it is written in `PlanSettings`."""
    annotation = PlanSettings.__annotations__.get(name, Any)
    return str(getattr(annotation, "__forward_arg__", annotation))


def _with_options(doc: str, names: list[str]) -> str:
    """Appends the options to the Parameters section of a docstring."""
    lines = []
    for name in names:
        kind, _, text = OPTIONS_TEXT[name].partition("\n")
        lines.append(f"{name} : {kind}, default {DEFAULTS[name]!r}\n{textwrap.indent(text, '    ')}")
    return doc.replace("**options\n    Options of a plan.", "\n".join(lines), 1)


def name_of(code: int, table: dict[str | None, int]) -> str:
    return next((str(name) for name, value in table.items() if value == code), "default")


def named(value: Any, table: dict[Any, int], what: str) -> int:
    """Returns the code of a name. UsageError lists the valid names."""
    try:
        return table[value]
    except (KeyError, TypeError):
        kind = UsageError if isinstance(value, str) else ArgumentTypeError
        raise kind(f"{what} must be one of {', '.join(repr(name) for name in table)}, got {value!r}") from None


def integer(value: Any, what: str, minimum: int | None = None, maximum: int = 0) -> int:
    """Returns an integer argument. Without limits, the library checks its range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{what} must be an integer, got {value!r}") from None
    if minimum is not None and not minimum <= number <= maximum:
        raise UsageError(f"{what} must be from {minimum} to {maximum}, got {number}")
    return number


def text(value: Any, what: str) -> bytes | None:
    return None if value is None else string(value, what)


def string(value: Any, what: str) -> bytes:
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{what} must be a str, got {value!r}")
    if "\0" in value:
        raise UsageError(f"{what} must not contain a NUL character, got {value!r}")
    return value.encode("utf-8", "surrogateescape")


def device_of(device: Any) -> tuple[int, int]:
    """Returns device and ordinal of "cpu", "cuda", "cuda:1" or a torch.device."""
    kind, _, ordinal = str(device).partition(":")
    if kind == "cpu" and ordinal in ("", "0"):
        return c.DEVICE_CPU, 0
    if kind == "cuda" and (ordinal == "" or (ordinal.isascii() and ordinal.isdigit() and len(ordinal) < 5)):
        return c.DEVICE_CUDA, int(ordinal or 0)
    raise UsageError(f"device must be 'cpu', 'cuda' or 'cuda:N', got {device!r}")


def attribute_value(name: str, value: Any) -> float:
    """Returns an attribute of a plan as a number."""
    row = PLAN_ATTRIBUTES[name]
    if name in CHOICES:
        return 0 if value is None and row["default"] == "default" else named(value, CHOICES[name], name)
    if row["kind"] == "integer":
        return integer(value, name, row["min"], row["max"])
    return float(value) if row["kind"] == "real" else int(bool(value))


def plan_options(n: int, **given: Unpack[PlanSettings]) -> tuple[bytes | None, c.PlanOptions]:
    """Returns operation and options of a plan. UsageError names an invalid option."""
    o = {**DEFAULTS, **given}
    kind, ordinal = device_of("cpu" if o["device"] is None else o["device"])
    options = c.PlanOptions(
        n=integer(n, "n"),
        format=text(o["format"], "format"),
        kernel=text(o["kernel"], "kernel"),
        dense=c.DTYPE_F32 if o["dtype"] is None else dtype_code(o["dtype"]),
        result=c.DTYPE_NONE if o["result"] is None else dtype_code(o["result"], "result"),
        device=kind,
        ordinal=ordinal,
        threads=integer(o["threads"], "threads"),
        transpose=int(bool(o["transpose"])),
        stream=None if o["stream"] is None else stream_handle(o["stream"]),
    )
    c.set_attributes(options, {name: attribute_value(name, o[name]) for name in PLAN_ATTRIBUTES})
    return text(o["op"], "op"), options
