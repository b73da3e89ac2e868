"""Options of a plan: the names that Python takes, checked and turned into the struct of the C interface."""

from __future__ import annotations

import operator
from typing import Any

from . import _library as c
from ._arrays import dtype_code, stream_handle
from ._operations import OPERATIONS
from .errors import UsageError

PRECISIONS = {"fp32": c.FP32, "tf32": c.TF32, "fp16": c.FP16, "bf16": c.PRECISION_BF16, "fp64": c.FP64}
CHOICES = {"predicted": c.CHOICE_PREDICTED, "measured": c.CHOICE_MEASURED}
NONFINITE = {"fast": c.NONFINITE_FAST, "strict": c.NONFINITE_STRICT}
ORDERS = {"packed": c.ORDER_PACKED, "csr": c.ORDER_CSR}
ACTIVATIONS: dict[str | None, int] = {None: c.ACTIVATION_NONE, "relu": c.RELU}
SCORES = {"dot": c.SCORE_DOT, "cosine": c.SCORE_COSINE, "additive": c.SCORE_ADDITIVE}


def name_of(code: int, table: dict[str, int]) -> str:
    return next((name for name, value in table.items() if value == code), "default")


def named(value: Any, table: dict[Any, int], what: str) -> int:
    """The code of a name; UsageError lists those that there are."""
    try:
        return table[value]
    except (KeyError, TypeError):
        raise UsageError(f"{what} = {value!r}; use {', '.join(repr(name) for name in table)}") from None


def whole(value: Any, what: str, least: int, most: int) -> int:
    """A whole number between both; UsageError otherwise. ctypes alone would cut off what does not fit."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{what} = {value!r} is no whole number") from None
    if not least <= number <= most:
        raise UsageError(f"{what} = {number}; it is at least {least} and at most {most}")
    return number


def text(value: Any, what: str) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise UsageError(f"{what} = {value!r} is no name")
    return value.encode()


def device_of(device: Any) -> tuple[int, int]:
    """Device and ordinal of "cpu", "cuda", "cuda:1" or a torch.device."""
    kind, _, ordinal = str(device).partition(":")
    if kind == "cpu" and ordinal in ("", "0"):
        return c.CPU, 0
    if kind == "cuda" and (ordinal == "" or (ordinal.isascii() and ordinal.isdigit() and len(ordinal) < 5)):
        return c.CUDA, int(ordinal or 0)
    raise UsageError(f"device = {device!r}; use 'cpu', 'cuda' or 'cuda:0'")


def plan_options(
    n: int,
    *,
    op: str = "spmm",
    format: str = "auto",
    kernel: str | None = None,
    dtype: Any = None,
    result: Any = None,
    device: Any = None,
    threads: int = 0,
    precision: str | None = None,
    choice: str = "predicted",
    nonfinite: str = "fast",
    transpose: bool = False,
    order: str = "csr",
    replan: bool = False,
    m: int = 0,
    heads: int = 1,
    activation: str | None = None,
    score: str = "dot",
    transposed_weights: bool = False,
    stream: Any = None,
) -> tuple[bytes, c.PlanOptions]:
    """Operation and options of a plan. UsageError for a name or a number that there is not."""
    if not isinstance(op, str) or op not in OPERATIONS:
        raise UsageError(f"op = {op!r}; use {', '.join(OPERATIONS)}")
    kind, ordinal = device_of("cpu" if device is None else device)
    return op.encode(), c.PlanOptions(
        n=whole(n, "n", 1, 1 << 40),
        format=text(format, "format"),
        kernel=text(kernel, "kernel"),
        dense=c.F32 if dtype is None else dtype_code(dtype),
        result=c.NONE if result is None else dtype_code(result, "result"),
        device=kind,
        ordinal=ordinal,
        threads=whole(threads, "threads", 0, 1 << 20),
        precision=c.PRECISION_DEFAULT if precision is None else named(precision, PRECISIONS, "precision"),
        choice=named(choice, CHOICES, "choice"),
        nonfinite=named(nonfinite, NONFINITE, "nonfinite"),
        transpose=int(bool(transpose)),
        order=named(order, ORDERS, "order"),
        replan=int(bool(replan)),
        m=whole(m, "m", 0, 1 << 40),
        heads=whole(heads, "heads", 1, 65535),
        activation=named(activation, ACTIVATIONS, "activation"),
        score=named(score, SCORES, "score"),
        transposed_weights=int(bool(transposed_weights)),
        stream=None if stream is None else stream_handle(stream),
    )
