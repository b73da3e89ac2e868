"""Sparse matrix products on tensor cores and CPUs: plan once, multiply many times.

>>> import numpy, scipy.sparse, sptile
>>> A = scipy.sparse.eye_array(100, format="csr", dtype="float32")
>>> plan = sptile.plan(A, 64)
>>> C = plan @ numpy.ones((100, 64), numpy.float32)

`sptile.torch` has operators with gradients, `sptile.linalg` decompositions. Names are imported at first use, and NumPy
with them.
"""

import importlib as _importlib
from typing import TYPE_CHECKING, Any

from ._library import lib as _lib
from .errors import (
    ArgumentTypeError,
    BadInputError,
    CheckError,
    DeviceError,
    Error,
    InternalError,
    IoError,
    MissingFileError,
    UnsupportedError,
    UsageError,
)

if TYPE_CHECKING:
    from . import linalg
    from ._config import show_config
    from ._csr_array import csr_array
    from ._plan import Plan
    from .batch import Batch, block_diag, vstack
    from .bundle import Bundle, CsrArrays, Prediction, open
    from .conversion import Ordering, Quality, Windows, convert, read, reorder
    from .part import Part, open_part
    from .products import aslinearoperator, plan, sddmm, spmm

__version__: str = _lib.sptile_version().decode()

# Module of each name that is imported at first use. `sptile.plan` is the function, so the class Plan is in `_plan`.
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
    "show_config": "_config",
    "csr_array": "_csr_array",
}

__all__ = [
    "ArgumentTypeError",
    "BadInputError",
    "Batch",
    "Bundle",
    "CheckError",
    "CsrArrays",
    "DeviceError",
    "Error",
    "InternalError",
    "IoError",
    "MissingFileError",
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
    "csr_array",
    "linalg",
    "open",
    "open_part",
    "plan",
    "read",
    "reorder",
    "sddmm",
    "show_config",
    "spmm",
    "vstack",
]


def __getattr__(name: str) -> Any:
    if name == "linalg":
        return _importlib.import_module(".linalg", __name__)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sptile' has no attribute {name!r}")
    value = getattr(_importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return sorted([*__all__, "__version__"])
