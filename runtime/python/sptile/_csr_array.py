"""SciPy's CSR array with products by kept plans. SciPy is imported with this module."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import scipy.sparse as sp  # type: ignore[import-untyped, import-not-found, unused-ignore]

from . import _library as c
from ._plan import Plan
from .bundle import Bundle, csr_memory, fitting

_NARROW = 16
"""Columns below which SciPy multiplies if values must be compared: the comparison takes as long as a product of SciPy with
a vector, and saves less."""
_CHUNK = 2**18  # entries that are compared at once, in cache


def _equal(array: Any, snapshot: Any) -> bool:
    """Returns whether two arrays have the same bytes, so that -0.0 is a change and NaN is none."""
    if array.shape != snapshot.shape or array.dtype != snapshot.dtype:
        return False
    array, snapshot = (x.view(f"u{x.itemsize}") for x in (array, snapshot))
    return all(
        np.array_equal(array[i : i + _CHUNK], snapshot[i : i + _CHUNK]) for i in range(0, len(array), _CHUNK)
    )


def _is_same(array: Any, other: Any) -> bool:
    """Returns whether two arrays are the same memory."""
    return array is other or array.__array_interface__ == other.__array_interface__


class _Side:
    """Plans of a CSR array or of its transpose, with copies of what the plans would not see change. Arrays are those of
    the array itself, or of its transpose in CSC.

    Plans of the array itself read its indices and values in each product if they borrow them. Row pointers are always
    converted and divided among threads. A transpose has its own indices and values.
    """

    def __init__(self, A: Any, transposed: bool) -> None:
        shape = A.shape[::-1] if A.format == "csc" else A.shape
        plain = sp.csr_array((A.data, A.indices, A.indptr), shape=shape)
        memory = csr_memory(plain)
        _, indices, values = memory.kept
        self.borrows = (
            not transposed
            and np.may_share_memory(indices, A.indices)
            and values is not None
            and np.may_share_memory(values, A.data)
        )
        self.options: Any = {"transpose": transposed, "refreshable": not self.borrows}
        self.bundle = Bundle._create(memory, memory.name)
        self.plans: dict[int, Plan] = {}
        self.indptr = A.indptr.copy()
        self.indices: Any = None if self.borrows else A.indices.copy()
        self.data: Any = None if self.borrows else A.data.copy()

    def fits(self, A: Any) -> bool:
        """Returns whether the structure is that of the plans."""
        return _equal(A.indptr, self.indptr) and (self.indices is None or _equal(A.indices, self.indices))

    def refresh(self, A: Any, plan: Plan) -> None:
        """Gives all plans the values of the array, if these changed."""
        if self.data is not None and not _equal(A.data, self.data):
            plan.refresh(A.data[: int(self.indptr[-1])])
            self.data[:] = A.data

    def plan(self, n: int) -> Plan:
        found = fitting(self.plans, n)
        if found is None:
            found = self.plans[n] = self.bundle.plan(n, **self.options)
        return found


class _Kept:
    """Plans of a CSR array, which its transpose shares."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.arrays: tuple[Any, ...] = ()
        self.sides: dict[bool, _Side] = {}

    def product(self, A: Any, B: Any, transposed: bool) -> Any:
        """Multiplies by the CSR array, or by its transpose. Returns None if SciPy should multiply."""
        n = B.shape[1] if B.ndim == 2 else 1
        with self.lock:
            arrays = (A.data, A.indices, A.indptr)
            if not self.arrays or not all(map(_is_same, arrays, self.arrays)):
                self.arrays, self.sides = arrays, {}
            side = self.sides.get(transposed)
            if n < _NARROW and (transposed or (side is not None and not side.borrows)):
                return None
            if side is None or not side.fits(A):
                side = self.sides[transposed] = _Side(A, transposed)
                if n < _NARROW and not side.borrows:
                    return None
            plan = side.plan(n)
            side.refresh(A, plan)
        return plan(B)


def _multiplies(A: Any, B: Any, rows: int) -> bool:
    """Returns whether plans multiply these as SciPy does, in their common type."""
    return (
        type(B) is np.ndarray
        and A.ndim == 2
        and B.dtype == A.data.dtype
        and B.dtype.char in "fd"
        and B.dtype.isnative
        and B.ndim in (1, 2)
        and B.shape[0] == rows
        and 0 < min(A.shape) <= max(A.shape) < 2**31
        and B.size > 0
        and B.flags.aligned
        and A.indptr[-1] > 0
    )


class _Planned:
    """Products of an array and its transpose; `_kept` has their plans."""

    _transposed: bool

    def _product(self, B: Any, transposed: bool) -> Any:
        """Returns ``self @ B``, or ``self.T @ B``, or None if SciPy should multiply."""
        A: Any = self
        if not _multiplies(A, B, A.shape[0] if transposed else A.shape[-1]):
            return None
        return self._shared().product(A, B, transposed != self._transposed)

    def _shared(self) -> _Kept:
        kept: _Kept | None = self.__dict__.get("_kept")
        return self.__dict__.setdefault("_kept", _Kept()) if kept is None else kept

    def __matmul__(self, other: Any) -> Any:
        found = self._product(other, False)
        return super().__matmul__(other) if found is None else found  # type: ignore[misc]

    def __rmatmul__(self, other: Any) -> Any:
        found = None
        if type(other) is np.ndarray and other.ndim in (1, 2):
            found = self._product(other.T, True)
        return super().__rmatmul__(other) if found is None else found.T  # type: ignore[misc]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_kept", None)
        return state


class csr_array(_Planned, sp.csr_array):  # type: ignore[misc]
    """A `scipy.sparse.csr_array` whose products with dense arrays run plans, which it keeps.

    Plans multiply for ``A @ B``, ``A.dot(B)``, ``B @ A``, ``A.T @ B`` and ``B @ A.T`` if B is a NumPy array of the type
    of A, float32 or float64. SciPy does everything else, and has the same rules for types and shapes.

    Parameters
    ----------
    arg1, shape, dtype, copy, maxprint : optional
        Like those of `scipy.sparse.csr_array`.

    Notes
    -----
    Changes in place are safe. ``A @ B`` reads the indices and values of A in each product if they are sorted, without
    duplicates and with int32 indices. ``A.T @ B``, and arrays that are not in order, need a copy: each product compares
    `data`, `indices` and `indptr` with those of the copy, and refreshes it. Below 16 columns this does not pay, and
    SciPy multiplies. The copies take about twice the memory of A.

    A copy, a slice or a result of arithmetic is again an `sptile.csr_array` if SciPy keeps the class, without plans. A
    pickle has no plans.

    ``__binsparse_descriptor__`` and ``__binsparse__`` follow the draft of the array API for exchange of sparse arrays.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> A = sptile.csr_array(scipy.sparse.eye_array(3, format="csr"))
    >>> A.data *= 2
    >>> A @ np.ones(3)
    array([2., 2., 2.])
    """

    _transposed = False

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """Returns the transpose as a CSC array. It shares the plans if it shares the arrays.

        Parameters
        ----------
        axes : optional
            None, as in SciPy.
        copy : bool, optional
            Copy the arrays.

        Returns
        -------
        scipy.sparse.csc_array
            An array whose products also run plans.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sptile
        >>> A = sptile.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
        >>> A.T @ np.ones(2)
        array([1., 5.])
        """
        plain = super().transpose(axes, copy)
        if plain.ndim != 2:
            return plain
        found = _csc_array(plain)
        if not copy:
            found.__dict__["_kept"] = self._shared()
        return found

    def _canonical(self) -> Any:
        if self.has_canonical_format:
            return self
        sorted_ = self.copy()
        sorted_.sum_duplicates()
        return sorted_

    def __binsparse_descriptor__(self) -> dict[str, Any]:
        """Returns the descriptor of the arrays of `__binsparse__`."""
        arrays = self.__binsparse__()
        return {
            "binsparse": {
                "version": "0.1",
                "format": "CSR",
                "shape": list(self.shape),
                "number_of_stored_values": len(arrays["values"]),
                "data_types": {name: _binsparse_type(array.dtype) for name, array in arrays.items()},
            },
            "original_source": f"sptile, version {c.lib.sptile_version().decode()}",
        }

    def __binsparse__(self) -> dict[str, Any]:
        """Returns the arrays by their names in binsparse: sorted, without duplicates."""
        A = self._canonical()
        nnz = int(A.indptr[-1])
        return {"pointers_to_1": A.indptr, "indices_1": A.indices[:nnz], "values": A.data[:nnz]}


def _binsparse_type(dtype: Any) -> str:
    if dtype.kind == "c":
        return f"complex[float{4 * dtype.itemsize}]"
    return "bint8" if dtype.kind == "b" else str(dtype.name)


class _csc_array(_Planned, sp.csc_array):  # type: ignore[misc]
    """The transpose of a csr_array."""

    _transposed = True

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """Returns the csr_array of which this is the transpose."""
        found = csr_array(super().transpose(axes, copy))
        if not copy:
            found.__dict__["_kept"] = self._shared()
        return found
