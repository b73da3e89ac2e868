"""Sparse matrices on tensor cores: plan a product once, run it many times.

    import numpy, sptile
    plan = sptile.open("cora.h5").plan(64)
    C = plan(numpy.ones((plan.shape[1], 64), numpy.float32))

Names are loaded when they are first used, NumPy with them: `import sptile` takes some milliseconds.
`sptile.torch` has operators with gradients.
"""

import importlib as _importlib
from typing import TYPE_CHECKING, Any

from ._library import lib as _lib
from .errors import (
    BadInputError,
    CheckError,
    DeviceError,
    Error,
    InternalError,
    IoError,
    UnsupportedError,
    UsageError,
)

if TYPE_CHECKING:
    from ._plan import Plan
    from .batch import Batch, block_diag, vstack
    from .bundle import Bundle, CsrArrays, Prediction, open
    from .conversion import Ordering, Quality, Windows, convert, read, reorder
    from .part import Part, open_part
    from .products import aslinearoperator, plan, sddmm, spmm

__version__: str = _lib.sptile_version().decode()

# Where names are. The module of Plan is _plan: `sptile.plan` is the function.
_HOMES = {
    "Batch": "batch",
    "block_diag": "batch",
    "vstack": "batch",
    "Bundle": "bundle",
    "CsrArrays": "bundle",
    "Prediction": "bundle",
    "open": "bundle",
    "Plan": "_plan",
    "Ordering": "conversion",
    "Quality": "conversion",
    "Windows": "conversion",
    "convert": "conversion",
    "read": "conversion",
    "reorder": "conversion",
    "Part": "part",
    "open_part": "part",
    "aslinearoperator": "products",
    "plan": "products",
    "sddmm": "products",
    "spmm": "products",
}

__all__ = [
    "BadInputError",
    "Batch",
    "Bundle",
    "CheckError",
    "CsrArrays",
    "DeviceError",
    "Error",
    "InternalError",
    "IoError",
    "Ordering",
    "Part",
    "Plan",
    "Prediction",
    "Quality",
    "UnsupportedError",
    "UsageError",
    "Windows",
    "aslinearoperator",
    "block_diag",
    "convert",
    "open",
    "open_part",
    "plan",
    "read",
    "reorder",
    "sddmm",
    "spmm",
    "vstack",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sptile' has no attribute {name!r}")
    value = getattr(_importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
