"""Operations with their operands, attributes and formats, as the library describes them."""

from __future__ import annotations

import json
from ctypes import byref, c_char_p
from typing import Any, NamedTuple

from . import _library as c


class Operand(NamedTuple):
    """One dense operand. `extent` is its number of rows: "rows" or "cols" of the matrix, "inner" (n), "one" (a vector of
    `width` numbers), "entries" (a list of one number per entry) or "features" (one row per entry). `width` is its number
    of columns: "n", "m", "one" or "two". `shared` operands are the same for all heads. `element` is the type: "usual"
    (`dtype`, or `result` of a result), "operand" (`dtype`), "statistic" (float32, or float64) or "index" (int32)."""

    name: str
    extent: str
    width: str = "n"
    result: bool = False
    optional: bool = False
    shared: bool = False
    element: str = "usual"


def _describe() -> Any:
    text = c_char_p()
    c.check(c.lib.sptile_describe(byref(text)))
    return json.loads(text.value or b"{}")


_library = _describe()

OPERATIONS: dict[str, tuple[Operand, ...]] = {
    one["name"]: tuple(Operand(**operand) for operand in one["operands"]) for one in _library["operations"]
}
PLAN_ATTRIBUTES: dict[str, dict[str, Any]] = {
    one["name"]: one for one in _library["attributes"] if one["given"] == "plan"
}
FORMATS: tuple[str, ...] = tuple(_library["formats"])
