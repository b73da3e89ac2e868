"""Base of the structs of the C interface that start with their size."""

from __future__ import annotations

import ctypes
from typing import Any

from .errors import UsageError


class Sized(ctypes.Structure):
    """A struct whose field `size` is set. `_defaults_` are the defaults of fields that are not 0."""

    _defaults_: dict[str, float] = {}

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(self), **{**self._defaults_, **fields})
        for name, value in fields.items():
            if isinstance(value, int) and (getattr(self, name) or 0) != value:
                raise UsageError(f"{name} = {value} does not fit in {type(self).__name__}.{name}")
