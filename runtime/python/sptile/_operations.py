"""The operations that can be planned, with the shapes of their operands: what sptile_plan_create lists."""

from __future__ import annotations

from typing import NamedTuple


class Operand(NamedTuple):
    """One dense operand. `extent` says how many rows it has: "rows" or "cols" of the matrix, "inner" (n),
    "one" (a vector of `width` numbers), or "entries" (a list of one number for each entry, no columns).
    `width` says how many columns: "n", "m", "one" or "two"."""

    name: str
    extent: str
    width: str = "n"
    result: bool = False
    optional: bool = False
    shared: bool = False
    """All heads have the same."""
    element: str = "usual"
    """"usual": `dtype`, of a result `result`; "operand": `dtype`; "statistic": float32, or float64."""


OPERATIONS: dict[str, tuple[Operand, ...]] = {
    "spmm": (Operand("B", "cols"), Operand("C", "rows", result=True)),
    "sddmm": (Operand("X", "rows"), Operand("Y", "cols"), Operand("out", "entries", result=True)),
    "attention": (
        Operand("X", "rows"),
        Operand("Y", "cols"),
        Operand("V", "cols", "m"),
        Operand("bias", "entries", optional=True),
        Operand("statistics", "rows", "two", result=True, optional=True, element="statistic"),
        Operand("out", "rows", "m", result=True),
    ),
    "attention_gradient": (
        Operand("X", "rows"),
        Operand("Y", "cols"),
        Operand("V", "cols", "m"),
        Operand("bias", "entries", optional=True),
        Operand("statistics", "rows", "two", element="statistic"),
        Operand("out", "rows", "m"),
        Operand("dout", "rows", "m"),
        Operand("delta", "rows", "one", result=True, element="statistic"),
        Operand("dbias", "entries", result=True, optional=True),
        Operand("dX", "rows", result=True),
    ),
    "attention_gradient_t": (
        Operand("X", "cols"),
        Operand("Y", "rows"),
        Operand("V", "rows", "m"),
        Operand("bias", "entries", optional=True),
        Operand("statistics", "cols", "two", element="statistic"),
        Operand("dout", "cols", "m"),
        Operand("delta", "cols", "one", element="statistic"),
        Operand("dV", "rows", "m", result=True),
        Operand("dY", "rows", result=True),
    ),
    "softmax_rows": (Operand("S", "entries"), Operand("P", "entries", result=True)),
    "softmax_rows_gradient": (
        Operand("P", "entries"),
        Operand("dP", "entries"),
        Operand("dS", "entries", result=True),
    ),
    "spmm_update": (
        Operand("B", "cols"),
        Operand("W", "inner", "m", shared=True),
        Operand("bias", "one", "m", optional=True, shared=True),
        Operand("Z", "rows", result=True, optional=True, element="operand"),
        Operand("C", "rows", "m", result=True),
    ),
    "update_gradient": (
        Operand("Z", "rows"),
        Operand("dC", "rows", "m"),
        Operand("C", "rows", "m", optional=True),
        Operand("G", "rows", "m", result=True, optional=True, element="operand"),
        Operand("dbias", "one", "m", result=True, optional=True),
        Operand("dW", "inner", "m", result=True),
    ),
}
