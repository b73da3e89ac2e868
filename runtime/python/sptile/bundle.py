"""Sparse matrices for plans: bundle files, and matrices of SciPy, CuPy or torch."""

from __future__ import annotations

import copy as copying
import ctypes
import os
import sys
import warnings
from ctypes import byref, c_char_p, c_int
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arrays
from . import _library as c
from ._arrays import View
from ._calls import Recent
from ._memory import tocsr
from ._options import PRECISIONS, PlanSettings, name_of, plan_options, takes_plan_options, text
from ._matrix import MatrixHandle, Source, describe, describe_into, made, memory_view, raw_view, shared
from ._order import Order, sorted_entries
from ._plan import Plan
from .errors import ArgumentTypeError, BadInputError, InternalError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LARGEST_ID = 2**31 - 1


class CsrArrays(NamedTuple):
    """Read-only CSR arrays of a matrix, from `Bundle.csr`.

    Attributes
    ----------
    indptr : array of int64
        Row pointers, shape (rows + 1,).
    indices : array of int32
        Column ids, shape (nnz,).
    values : array or None
        Values, shape (nnz,). None for a pattern, whose nonzeros are all 1.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> arrays = sptile.Bundle.of(scipy.sparse.csr_array(np.array([[0.0, 5.0], [6.0, 0.0]]))).csr()
    >>> arrays.indptr, arrays.indices, arrays.values
    (array([0, 1, 2]), array([1, 0], dtype=int32), array([5., 6.]))
    """

    indptr: Any
    indices: Any
    values: Any


class Prediction(NamedTuple):
    """Predicted run time of one storage format, from `Bundle.predict`.

    Attributes
    ----------
    format : str
        Storage format.
    kernel : str or None
        Kernel that runs the format. None if the device has no kernel for it.
    microseconds : float or None
        Predicted run time. None if the kernel has no cost model.
    precision : str
        Precision of the kernel.
    usable : bool
        True if the kernel supports the requested types and precision.
    chosen : bool
        True for the format that a plan uses.

    Examples
    --------
    >>> import scipy.sparse, sptile
    >>> bundle = sptile.Bundle.of(scipy.sparse.eye_array(3, format="csr", dtype="float32"))
    >>> [prediction] = bundle.predict(16)
    >>> prediction.format, prediction.usable, prediction.chosen
    ('csr', True, True)
    """

    format: str
    kernel: str | None
    microseconds: float | None
    precision: str
    usable: bool
    chosen: bool


class _InOrder:
    """Of a file: its entries are sorted, each is there once. They have the order of a matrix that was converted."""

    device = "cpu"
    is_file = False
    kept = ()
    order: Order | None = None
    unordered = ""
    doubles: Any = None
    """Values of the given entries; only if some are repeated."""

    @property
    def given(self) -> int | None:
        return None if self.order is None else self.order.given

    def given_doubles(self) -> Any:
        if self.doubles is None:
            raise InternalError("a file has no repeated entries")
        return self.doubles


class _File(_InOrder):
    """A file, opened once and shared by all matrices of a bundle. Pickles contain its absolute path."""

    is_file = True

    def __init__(self, path: bytes, copy: bool, matrix: bytes | None = None, part: Any = None) -> None:
        self.path, self.copy, self.matrix = _absolute(path), copy, matrix
        self._given_path = path
        self._part = part

    @property
    def name(self) -> str:
        return os.fsdecode(self.path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_given_path": self.path, "_part": None}

    def __deepcopy__(self, _: Any) -> _File:
        return self

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        if self._part is not None:
            c.check(c.lib.sptile_part_matrix(self._part, self.matrix, byref(options), byref(handle)))
            return
        options.copy = int(self.copy)
        options.matrix = self.matrix
        c.check(c.lib.sptile_matrix_open(self._given_path, byref(options), byref(handle)))


def _absolute(path: bytes) -> bytes:
    """Returns the absolute path. Links are not resolved, because `..` after a link changes the folder."""
    try:
        return path if os.path.isabs(path) else os.path.join(os.getcwdb(), path)
    except OSError:  # the current folder is gone
        return path


class MemoryFile(_InOrder):
    """A bundle file in memory, without a name: `fd` is closed with the last bundle of it."""

    name = "in memory"
    is_file = True

    def __init__(self) -> None:
        self.fd = os.memfd_create("sptile")

    def __del__(self, close: Any = os.close) -> None:
        if hasattr(self, "fd"):
            close(self.fd)

    def __reduce__(self) -> tuple[Any, ...]:
        with os.fdopen(os.open(f"/proc/self/fd/{self.fd}", os.O_RDONLY | os.O_CLOEXEC), "rb") as file:
            kept = {name: value for name, value in self.__dict__.items() if name != "fd"}
            return _memory_file, (file.read(),), kept

    def __deepcopy__(self, _: Any) -> MemoryFile:
        return self

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        c.check(c.lib.sptile_matrix_open(b"/proc/self/fd/%d" % self.fd, byref(options), byref(handle)))


def _memory_file(content: bytes) -> MemoryFile:
    memory = MemoryFile()
    with os.fdopen(os.dup(memory.fd), "wb") as file:
        file.write(content)
    return memory


class CsrMemory(NamedTuple):
    """CSR arrays, or COO ones in device memory. `kept` owns them; `name` is for people; `values`: those of the
    given entries, where some in host memory are repeated. The rest as in Source."""

    arrays: c.Arrays
    stream: int | None
    kept: Any
    name: str
    order: Order | None = None
    unordered: str = ""
    values: Any = None
    is_file: bool = False

    @property
    def given(self) -> int:
        return int(self.arrays.nnz) if self.order is None else self.order.given

    @property
    def device(self) -> str:
        return _arrays.device_name(self.arrays.device, self.arrays.ordinal)

    def given_doubles(self) -> Any:
        if self.device != "cpu":
            raise UnsupportedError(
                "scaled=True does not support duplicates in device memory; call A.sum_duplicates() first"
            )
        if self.values is not None:
            return _doubles(self.values)
        arrays = self.arrays
        if not arrays.values:
            return np.ones(self.given)
        values = raw_view(self.kept, arrays.values, arrays.nnz, arrays.value_dtype)
        values = _doubles(values)
        return values if self.order is None else values[self.order.place]

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        c.check(c.lib.sptile_matrix_create(byref(self.arrays), byref(options), self.stream, byref(handle)))

    def __reduce__(self) -> tuple[Any, ...]:
        a, kept = self.arrays, self.kept
        if a.device != c.DEVICE_CPU:
            raise TypeError("cannot copy or pickle a Bundle of a matrix in device memory")
        parts = (
            raw_view(kept, a.row, a.rows + 1, c.DTYPE_I64).copy(),
            raw_view(kept, a.col, a.nnz, c.DTYPE_I32).copy(),
            raw_view(kept, a.values, a.nnz, a.value_dtype).copy() if a.values else None,
        )
        given = None if self.values is None else self.values.copy()
        return _csr_memory, (a.rows, a.cols, *parts, a.value_dtype, self.name, self.order, self.unordered, given)


def _csr_memory(
    rows: int,
    cols: int,
    indptr: Any,
    indices: Any,
    values: Any,
    dtype: int,
    name: str,
    order: Order | None,
    unordered: str = "",
    given: Any = None,
) -> CsrMemory:
    arrays = c.Arrays(
        rows=rows,
        cols=cols,
        nnz=len(indices),
        row=_arrays.list_address(indptr, c.DTYPE_I64, rows + 1, "the row pointers of A"),
        col=_arrays.list_address(indices, c.DTYPE_I32, len(indices), "the column ids of A"),
        values=None if values is None else _arrays.list_address(values, dtype, len(indices), "the values of A"),
        value_dtype=dtype,
        device=c.DEVICE_CPU,
    )
    return CsrMemory(arrays, None, (indptr, indices, values), name, order, unordered, given)


class Bundle:
    """A sparse matrix with its storage formats, from `sptile.open`, `sptile.convert` or `Bundle.of`.

    A bundle is a context manager that calls `close`. Plans remain valid after the bundle is closed.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    nnz : int
        Number of stored nonzeros.
    formats : tuple of str
        Stored formats.
    symmetric : bool or None
        True if the matrix is symmetric, None if unknown.
    device : str
        "cpu" or, for example, "cuda:0".

    Examples
    --------
    >>> import numpy as np, sptile
    >>> bundle = sptile.convert("data/examples/fem_plate.mtx", "plate.h5", formats="bittcf")
    >>> bundle.shape, bundle.nnz, bundle.formats
    ((2286, 2286), 38964, ('csr', 'bittcf'))
    >>> C = bundle @ np.ones((2286, 16), np.float32)
    """

    __array_ufunc__ = None  # NumPy leaves `B @ bundle` to this class, which does not support it

    def __init__(self) -> None:
        raise ArgumentTypeError("create bundles with sptile.open, sptile.convert or Bundle.of")

    @classmethod
    def _create(cls, source: Source, name: str, device: str = "cpu") -> Bundle:
        bundle = cls.__new__(cls)
        bundle._set(source, name, device)
        return bundle

    def _set(self, source: Source, name: str, device: str) -> None:
        self._name = name
        self.device = device
        handle = made(source, False)
        self._handles: dict[bool, MatrixHandle] | None = {False: handle}
        self._products: dict[tuple[str, str], dict[int, Plan]] = {}  # of `A @ B`, by type and device, then width
        self._recent = Recent()
        info = describe(handle)
        self.shape: tuple[int, int] = (info.rows, info.cols)
        self.nnz: int = info.nnz
        self._value_dtype = int(info.value_dtype)
        self.symmetric: bool | None = {1: True, 0: False}.get(info.symmetric)
        self.formats: tuple[str, ...] = tuple(_format_name(handle, i) for i in range(info.format_count))

    @classmethod
    def of(cls, A: Any, *, copy: bool = False) -> Bundle:
        """Returns the bundle of a matrix.

        Parameters
        ----------
        A : Bundle, path, sparse matrix or tensor
            A bundle, the path of a bundle file, a SciPy or CuPy sparse matrix or array, or a torch sparse CSR tensor.
            float32 and float64 values are used as they are, and so are 16-bit values of torch. Booleans and
            integers become float32, or float64 in `sptile.plan` with ``dtype="f64"``.
        copy : bool, optional
            Copy all arrays. By default the bundle borrows 32-bit column ids, 64-bit row pointers and
            values, which must not change while the bundle or one of its plans is in use.

        Returns
        -------
        Bundle
            A itself if it is a bundle.

        Raises
        ------
        BadInputError
            If the arrays are not a valid matrix.
        UnsupportedError
            If the values are complex or have another unsupported type.

        Warns
        -----
        RuntimeWarning
            If float32 cannot represent an integer exactly.

        Notes
        -----
        Nonzeros that are out of order are sorted in a copy, and duplicates are added in float64.

        Arrays with one value per nonzero (`Plan.refresh`, `Plan.sddmm`, bias and weights of attention) are in the
        order of the nonzeros in A: ``A.data`` for CSR, CSC, COO and BSR (block by block), the rows of LIL, the items
        of DOK. Duplicates have one value each. DIA has no such order.

        Copies and pickles are independent. Those of a file store its absolute path.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sptile
        >>> bundle = sptile.Bundle.of(scipy.sparse.csr_array(np.array([[0, 1], [2, 0]])))
        >>> bundle.dtype
        dtype('float32')
        >>> bundle @ np.array([3, 4], np.float32)
        array([4., 6.], dtype=float32)
        """
        return bundle_of(A, bool(copy))

    @property
    def dtype(self) -> Any:
        """NumPy type of the values. None for a pattern.

        Examples
        --------
        >>> import scipy.sparse, sptile
        >>> sptile.Bundle.of(scipy.sparse.eye_array(3, format="csr")).dtype
        dtype('float64')
        """
        return None if self._value_dtype == c.DTYPE_NONE else _arrays.numpy_dtype(self._value_dtype)

    def close(self) -> None:
        """Releases the matrix. Plans and views of its arrays remain valid.

        Further calls raise `UsageError`.

        Examples
        --------
        >>> import scipy.sparse, sptile
        >>> bundle = sptile.Bundle.of(scipy.sparse.eye_array(3, format="csr"))
        >>> bundle.close()
        """
        self._handles = None
        self._products = {}
        self._recent = Recent()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        formats = ", ".join(self.formats)
        return f"<sptile.Bundle {self.shape[0]}x{self.shape[1]} nnz={self.nnz} [{formats}] {self._name}>"

    def _handle(self, refreshable: bool) -> MatrixHandle:
        """The handle whose formats own their values, or the one whose formats borrow them; created on first use."""
        handles = self._handles
        if handles is None:
            raise UsageError("the bundle is closed")
        found = handles.get(refreshable)
        return found or handles.setdefault(refreshable, shared(handles[False], refreshable))

    def __getstate__(self) -> dict[str, Any]:
        if self._handles is None:
            raise TypeError("cannot copy or pickle a closed Bundle")
        return {**self.__dict__, "_products": {}, "_recent": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _recent=Recent())

    def __copy__(self) -> Bundle:
        return copying.deepcopy(self)

    def csr(self) -> CsrArrays:
        """Returns the CSR arrays in the original order of the rows.

        Returns
        -------
        CsrArrays
            Read-only views, which remain valid after the bundle is closed. Arrays in device memory are objects with
            ``__cuda_array_interface__``.

        Raises
        ------
        BadInputError
            If the arrays are damaged.

        Notes
        -----
        `Plan.refresh` does not change these arrays.

        Examples
        --------
        >>> import scipy.sparse, sptile
        >>> indptr, indices, values = sptile.Bundle.of(scipy.sparse.eye_array(3, format="csr")).csr()
        >>> values
        array([1., 1., 1.])
        """
        handle = self._handle(False)
        arrays = c.Arrays()
        c.check(c.lib.sptile_matrix_arrays(handle, byref(arrays)))
        values = None
        if arrays.value_dtype != c.DTYPE_NONE:
            values = memory_view(handle, arrays, arrays.values, arrays.nnz, arrays.value_dtype)
        return CsrArrays(
            memory_view(handle, arrays, arrays.row, arrays.rows + 1, arrays.row_dtype),
            memory_view(handle, arrays, arrays.col, arrays.nnz, arrays.col_dtype),
            values,
        )

    def _memory(self) -> CsrMemory:
        """Returns the CSR arrays as given, or as stored by the library."""
        handle = self._handle(False)
        source = handle.source
        if isinstance(source, CsrMemory):
            return source
        if source.device != "cpu" and (handle.order is not None or source.unordered):
            raise UsageError("cannot nest batches in device memory whose nonzeros are out of order; create one batch")
        arrays = c.Arrays()
        c.check(c.lib.sptile_matrix_arrays(handle, byref(arrays)))
        repeated = handle.order is not None and handle.order.repeated
        values = source.given_doubles() if repeated else None
        return CsrMemory(arrays, None, handle, self._name, handle.order, source.unordered, values)

    def tocsr(self) -> Any:
        """Returns the matrix as a SciPy CSR array.

        Returns
        -------
        scipy.sparse.csr_array
            Shares column ids and values with the bundle, read-only, if SciPy supports their types. The values of a
            pattern are float32 ones.

        Raises
        ------
        UsageError
            If the matrix is in device memory.

        Examples
        --------
        >>> import scipy.sparse, sptile
        >>> sptile.Bundle.of(scipy.sparse.eye_array(2, format="csr")).tocsr().toarray()
        array([[1., 0.],
               [0., 1.]])
        """
        from scipy.sparse import csr_array  # type: ignore[import-untyped, import-not-found, unused-ignore]

        if self.device != "cpu":
            raise UsageError(f"tocsr requires a matrix in host memory, got one on {self.device}")
        indptr, indices, values = self.csr()
        if values is None:
            values = np.ones(self.nnz, np.float32)
        if self.nnz <= _LARGEST_ID:
            indptr = indptr.astype(np.int32)
        matrix = csr_array((values, indices, indptr), shape=self.shape)
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def __matmul__(self, B: Any) -> Any:
        """Computes ``A @ B`` with a plan for the width, type and device of B, which the bundle keeps."""
        C = self._recent.multiply(B)
        return self._multiply(B) if C is None else C

    def _multiply(self, B: Any) -> Any:
        view = dense_view(B, "B")
        n = max(view.shape[1] if len(view.shape) == 2 else 1, 1)
        dtype, device = _arrays.DTYPE_NAMES[view.dtype or 0], view.device_name
        plans = self._products.setdefault((dtype, device), {})
        plan = fitting(plans, n)
        if plan is None:
            plan = plans[n] = self.plan(n, dtype=dtype, device=device)
        C = plan(B)
        self._recent.remember(plan._multiply, len(view.shape))
        return C

    @takes_plan_options()
    def plan(self, n: int, **options: Unpack[PlanSettings]) -> Plan:
        """Plans an operation for dense operands with at most `n` columns.

        Parameters
        ----------
        n : int
            Maximum number of columns.
        **options
            Options of a plan.

        Returns
        -------
        Plan
            The plan, for any number of runs.

        Raises
        ------
        UsageError
            If an option is invalid, or a format is not stored.
        UnsupportedError
            If this build or machine has no kernel for the request.
        DeviceError
            If the device is missing or out of memory.
        BadInputError
            If the arrays are damaged.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sptile
        >>> bundle = sptile.Bundle.of(scipy.sparse.eye_array(3, format="csr", dtype="float32"))
        >>> plan = bundle.plan(16, threads=1)
        >>> (plan @ np.ones((3, 16), np.float32)).shape
        (3, 16)
        """
        refreshable = bool(options.pop("refreshable", False))
        return Plan._create(self._handle(refreshable), n, self._filled(options))

    @takes_plan_options("refreshable")
    def predict(self, n: int, **options: Unpack[PlanSettings]) -> list[Prediction]:
        """Predicts the run time of each stored format. `Bundle.plan` chooses among them.

        Parameters
        ----------
        n : int
            Maximum number of columns.
        **options
            Options of a plan.

        Returns
        -------
        list of Prediction
            One entry per stored format.

        Raises
        ------
        UsageError
            If an option is invalid.

        Examples
        --------
        >>> import scipy.sparse, sptile
        >>> bundle = sptile.convert(scipy.sparse.eye_array(64, format="csr"), formats="bittcf")
        >>> [prediction.format for prediction in bundle.predict(16)]
        ['csr', 'bittcf']
        """
        handle = self._handle(False)
        operation, wanted = plan_options(n, **self._filled(options))
        count, capacity = c_int(0), 0
        while True:
            room = (c.Prediction * max(capacity, 1))()
            size = ctypes.sizeof(c.Prediction)
            c.check(
                c.lib.sptile_predict(handle, operation, byref(wanted), room, size, capacity, byref(count))
            )
            if count.value <= capacity:
                return [_prediction(one) for one in room[: count.value]]
            capacity = count.value

    def _filled(self, options: PlanSettings) -> PlanSettings:
        filled = options.copy()
        if filled.get("device") is None:
            filled["device"] = self.device
        if filled.get("dtype") is None:
            filled["dtype"] = _arrays.DTYPE_NAMES.get(self._value_dtype, "float32")
        return filled


def dense_view(B: Any, name: str) -> _arrays.View:
    """Checks a dense operand."""
    view = _arrays.view(B, name)
    if view.dtype not in _arrays.DTYPE_NAMES:
        raise UsageError(f"{name} must be {', '.join(_arrays.DTYPE_CODES)}, got {view.dtype_name}")
    if len(view.shape) not in (1, 2):
        raise UsageError(f"{name} must have one or two dimensions, got {len(view.shape)}")
    return view


def fitting(plans: dict[int, Plan], n: int) -> Plan | None:
    """Returns the narrowest plan, of those cached by width, that supports n columns."""
    found = [p for p in list(plans.values()) if p.least_n <= n <= p.n]
    return min(found, key=lambda p: p.n) if found else None


def bundle_of(A: Any, copy: bool = False, integers: str = "float32") -> Bundle:
    """Returns the bundle of a matrix, see `Bundle.of`. `integers`: type to which booleans and integers convert."""
    if isinstance(A, Bundle):
        return A
    if isinstance(A, (str, os.PathLike)):
        return open(A, copy=copy)
    memory = csr_memory(A, copy, integers=integers)
    return Bundle._create(memory, memory.name, memory.device)


def open(path: str | os.PathLike[str], *, copy: bool = False, matrix: str | None = None) -> Bundle:
    """Opens a bundle file by mapping it into memory, in constant time.

    Parameters
    ----------
    path : path
        File that `sptile.convert` or the command `sptile convert` wrote.
    copy : bool, optional
        Read the file into memory instead, for directories that others can write to.
    matrix : str, optional
        Matrix to open if the file has several, for example "halo" in a file of `sptile partition`.

    Returns
    -------
    Bundle
        The bundle. It remains valid if the file is replaced or deleted.

    Raises
    ------
    MissingFileError
        If the file does not exist.
    IoError
        If the file cannot be read.
    BadInputError
        If the file is not a bundle, or is damaged.

    Examples
    --------
    >>> import sptile
    >>> _ = sptile.convert("data/examples/fem_plate.mtx", "plate.h5", formats="bittcf")
    >>> with sptile.open("plate.h5") as bundle:
    ...     print(bundle.shape)
    (2286, 2286)
    """
    name = path_bytes(path)
    return Bundle._create(_File(name, bool(copy), text(matrix, "matrix")), os.fsdecode(name))


def path_bytes(path: Any) -> bytes:
    """Encodes a path for the library."""
    try:
        name = os.fsencode(path)
    except TypeError:
        raise ArgumentTypeError(f"path must be a str, bytes or os.PathLike, got {path!r}") from None
    except ValueError as error:
        raise UsageError(f"path is invalid: {path!r}: {error}") from None
    if b"\0" in name:
        raise UsageError(f"path must not contain a NUL byte, got {path!r}")
    return name


def part_bundle(path: bytes, copy: bool, matrix: bytes | None, part: Any) -> Bundle:
    """A bundle of an open part, `sptile_part`, whose file is not opened again."""
    return Bundle._create(_File(path, copy, matrix, part), os.fsdecode(path))


class _Joined(_InOrder):
    """All parts in a folder, of which one is open."""

    def __init__(self, folder: bytes, part: Any) -> None:
        self.folder, self.part, self.name = folder, part, os.fsdecode(folder)

    def make(self, _options: c.MatrixOptions, handle: MatrixHandle) -> None:
        c.check(c.lib.sptile_part_whole(self.part, self.folder, byref(handle)))


def whole_bundle(folder: Any, part: Any) -> Bundle:
    """Returns the entire matrix, joined from the parts in a folder, of which `part`, an `sptile_part`, is open."""
    source = _Joined(path_bytes(folder), part)
    return Bundle._create(source, source.name)


def _format_name(handle: MatrixHandle, index: int) -> str:
    name = c_char_p()
    c.check(c.lib.sptile_matrix_format(handle, index, byref(name)))
    return (name.value or b"").decode()


def _prediction(one: c.Prediction) -> Prediction:
    return Prediction(
        one.format.decode(),
        one.kernel.decode() if one.kernel else None,
        float(one.microseconds) if one.microseconds >= 0 else None,
        name_of(one.precision, PRECISIONS),
        bool(one.usable),
        bool(one.chosen),
    )


# ---- Matrices of others ----


def csr_memory(A: Any, copy: bool = False, pointers: bool = False, integers: str = "float32") -> CsrMemory:
    """Returns the arrays of a matrix of SciPy, CuPy or torch, as `Bundle.of` accepts them.

    `pointers` converts matrices in device memory to CSR, which may lose the order of their nonzeros. `integers` is the
    type to which booleans and integers convert.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(A, getattr(torch, "Tensor", ())):
        return _of_torch(A, torch, copy, integers)
    if hasattr(A, "tocsr") and isinstance(getattr(A, "shape", None), tuple):
        return _of_sparse(A, copy, pointers, integers)
    raise ArgumentTypeError(
        f"A must be a Bundle, a path, a SciPy or CuPy sparse matrix, or a torch sparse CSR tensor, got "
        f"{type(A).__name__}"
    )


def _of_sparse(A: Any, copy: bool, pointers: bool, integers: str) -> CsrMemory:
    """Returns the CSR arrays of a SciPy or CuPy matrix, by tocsr if it is in another format."""
    name = type(A).__name__
    if len(A.shape) != 2:
        raise UsageError(f"A must be two-dimensional, got {len(A.shape)} dimensions")
    packages = {base.__module__.partition(".")[0] for base in type(A).__mro__}
    package = next((name for name in ("scipy", "cupyx") if name in packages), "")
    format = getattr(A, "format", "") if package else ""
    if package == "scipy" and format in _ENTRIES:
        return _of_entries(A.shape, _ENTRIES[format](A), name, copy, integers)
    if package == "cupyx" and format in _DEVICE_ENTRIES and not pointers:
        parts = [_arrays.view(part, "an array of A") for part in _DEVICE_ENTRIES[format](A)]
        return _of_arrays(A.shape, parts, name, copy, integers, layout=c.LAYOUT_COO)
    csr = tocsr(A)
    try:
        parts = [_arrays.view(csr.indptr, "A.indptr"), _arrays.view(csr.indices, "A.indices")]
        parts.append(_arrays.view(csr.data, "A.data"))
    except AttributeError:
        raise ArgumentTypeError(
            f"A.tocsr() must have indptr, indices and data, got {type(csr).__name__}"
        ) from None
    # Rows of lil are lists in order; CSR arrays of other packages are not checked here.
    unordered = name if format == "dia" or (package == "cupyx" and csr is not A) else ""
    return _of_arrays(csr.shape, parts, name, copy, integers, unordered)


def _of_torch(A: Any, torch: Any, copy: bool, integers: str) -> CsrMemory:
    if A.layout is not torch.sparse_csr or A.dim() != 2:
        raise UsageError(
            f"A must be a two-dimensional torch.sparse_csr tensor, got {A.layout} with {A.dim()} dimensions; use "
            "A.to_sparse_csr()"
        )
    A = A.detach()
    parts = [
        _arrays.view(A.crow_indices(), "A.crow_indices()"),
        _arrays.view(A.col_indices(), "A.col_indices()"),
        _arrays.view(A.values(), "A.values()"),
    ]
    return _of_arrays(tuple(A.shape), parts, "torch.Tensor", copy, integers)


def _of_arrays(
    shape: tuple[int, ...],
    parts: list[View],
    name: str,
    copy: bool,
    integers: str,
    unordered: str = "",
    layout: int = c.LAYOUT_CSR,
) -> CsrMemory:
    """Of row pointers (COO: rows), column ids and values, all on one device."""
    if len(shape) != 2:
        raise UsageError(f"A must be two-dimensional, got {len(shape)} dimensions")
    rows, cols = int(shape[0]), int(shape[1])
    for part, what in zip(parts, ("row pointers", "column ids", "values"), strict=True):
        if len(part.shape) != 1:
            raise BadInputError(f"the {what} of A must be one-dimensional, got shape {part.shape}")
        if (part.device, part.ordinal) != (parts[0].device, parts[0].ordinal):
            raise UsageError(
                f"the arrays of A must be on one device, got {what} on {part.device_name} and row pointers on "
                f"{parts[0].device_name}"
            )
        if what != "values" and part.dtype not in (c.DTYPE_I32, c.DTYPE_I64):
            raise UsageError(f"the {what} of A must be int32 or int64, got {part.dtype_name}")
    parts = [*parts[:2], _floating(parts[2], integers)]
    if layout == c.LAYOUT_CSR and parts[0].shape != (rows + 1,):
        raise BadInputError(
            f"A has {rows} rows, so it must have {rows + 1} row pointers, got {parts[0].shape[0]}"
        )
    if layout == c.LAYOUT_COO and parts[0].shape != parts[1].shape:
        raise BadInputError(f"A has {parts[0].shape[0]} row ids but {parts[1].shape[0]} column ids")
    if parts[1].shape[0] > parts[2].shape[0]:
        raise BadInputError(f"A has {parts[1].shape[0]} column ids but {parts[2].shape[0]} values")
    if copy:
        parts = [_arrays.view(part.framework.contiguous(part.owner), "A") for part in parts]
    if parts[0].device == c.DEVICE_CPU:
        return _host_memory(rows, cols, parts, name, unordered)
    return _device_memory(rows, cols, parts, name, unordered, layout)


_INTEGERS = {"bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


def _floating(values: View, integers: str) -> View:
    """Returns values of a type that plans support, after conversion of booleans and integers to `integers`."""
    if values.dtype in _arrays.DTYPE_NAMES:
        return values
    if values.dtype_name not in _INTEGERS:
        raise UnsupportedError(f"A has {values.dtype_name} values; convert them to float32 or float64")
    cast = _casts(values)
    converted = cast(integers)
    inexact = int((converted != cast("float64")).sum())
    if inexact:
        warnings.warn(
            f"{integers} cannot represent {inexact} of {values.shape[0]} {values.dtype_name} values of A exactly; "
            "convert A to float64",
            RuntimeWarning,
            stacklevel=2,
        )
    return _arrays.view(converted, "the values of A")


def _casts(values: View) -> Any:
    """Returns a function that converts values to a type, given by its name."""
    torch = sys.modules.get("torch")
    if values.framework.name == "torch" and torch is not None:
        return lambda name: values.owner.to(getattr(torch, name))
    return values.owner.astype


def _host_array(view: View) -> Any:
    """A view as a contiguous NumPy array; bfloat16 as uint16."""
    array = view.owner
    if not isinstance(array, np.ndarray):
        if view.dtype == c.DTYPE_BF16:  # torch has no NumPy array of it
            array = array.contiguous().view(sys.modules["torch"].int16).numpy()
        else:
            array = np.asarray(array)
    if view.dtype == c.DTYPE_BF16:
        array = np.ascontiguousarray(array).view(np.uint16)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.require(array, requirements=["C", "A"])


def _host_memory(rows: int, cols: int, parts: list[View], name: str, unordered: str) -> CsrMemory:
    indptr = np.require(_host_array(parts[0]), np.int64, ["C", "A"])
    nnz = int(indptr[-1])
    if not 0 <= nnz <= parts[1].shape[0]:
        raise BadInputError(f"the row pointers of A end with {nnz}, but A has {parts[1].shape[0]} column ids")
    indices, values = _host_array(parts[1])[:nnz], _host_array(parts[2])[:nnz]
    if indices.dtype != np.int32:
        if nnz and (indices.min() < 0 or indices.max() > _LARGEST_ID):
            raise BadInputError(
                f"the column ids of A are from {indices.min()} to {indices.max()}, but A has {cols} columns"
            )
        indices = indices.astype(np.int32)
    order, given = None, None
    if not _in_order(indptr, indices, cols):
        row = np.repeat(np.arange(rows, dtype=np.int32), np.diff(indptr))
        indptr, indices, order = sorted_entries(row, indices, rows, cols)
        values, given = _sorted_values(values, parts[2].dtype or c.DTYPE_NONE, order)
    return _csr_memory(
        rows, cols, indptr, indices, values, parts[2].dtype or c.DTYPE_NONE, name, order, unordered, given
    )


def _in_order(indptr: Any, indices: Any, cols: int) -> bool:
    """Whether columns ascend strictly row after row. Damaged arrays are left to the library, which names the
    place."""
    lengths = np.diff(indptr)
    if indptr[0] != 0 or (lengths < 0).any() or len(indices) < 2:
        return True
    ascending = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    ascending[starts[(starts > 0) & (starts < len(indices))] - 1] = True  # a row begins there
    return bool(ascending.all()) or bool(indices.min() < 0 or indices.max() >= cols)


def _sorted_values(values: Any, dtype: int, order: Order | None) -> tuple[Any, Any]:
    """Returns values in the order of the CSR arrays, repeated entries added up in double precision, and the given
    values if entries are repeated."""
    if order is None:
        return values, None
    if not order.repeated:
        return values[order.position], None
    total = order.total(_doubles(values))
    return _bfloat16_of(total) if dtype == c.DTYPE_BF16 else total.astype(values.dtype), values


def _doubles(values: Any) -> Any:
    """Values in double; uint16 ones are bfloat16."""
    if values.dtype == np.uint16:
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float64)


def _bfloat16_of(numbers: Any) -> Any:
    """Numbers as bfloat16, to the nearest, in uint16."""
    numbers = numbers.astype(np.float32)
    bits = numbers.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)


# ---- Entries in another order than CSR ----


def remember_order(bundle: Bundle, A: Any) -> None:
    """Gives a bundle that was converted of a matrix the order of its entries."""
    if type(A).__module__.startswith("cupyx."):
        A = A.get()
    handle, entries = bundle._handle(False), None
    source = handle.source
    if not isinstance(source, _InOrder):
        raise InternalError(f"{source.name} was not converted")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(A, torch.Tensor):
        entries = _of_torch_entries(A.detach().cpu(), torch)
        if entries is None:
            source.unordered = f"{A.layout} tensor"
    elif getattr(A, "format", "") in _ENTRIES:
        entries = _ENTRIES[A.format](A)
    elif getattr(A, "format", "") == "csr":
        if not _in_order(A.indptr, A.indices[: A.indptr[-1]], A.shape[1]):
            row = _lines(A.indptr, A.shape[0], len(A.indices), "row pointers")
            entries = row, A.indices[: len(row)], A.data[: len(row)]
    elif getattr(A, "format", "") != "lil":
        source.unordered = type(A).__name__
    if entries is not None:
        row, col, values = (np.asarray(part) for part in entries)
        _, indices, source.order = sorted_entries(row, col, A.shape[0], A.shape[1])
        if len(indices) != bundle.nnz:
            raise InternalError(f"{len(indices)} entries became {bundle.nnz}")
        if source.order is not None and source.order.repeated:
            source.doubles = values.astype(np.float64)
    describe_into(handle, source, False)


def _of_torch_entries(A: Any, torch: Any) -> tuple[Any, Any, Any] | None:
    if A.layout is torch.sparse_coo:
        return *A._indices().numpy(), A._values().double().numpy()
    if A.layout is torch.sparse_csr:
        row = _lines(A.crow_indices(), A.shape[0], A._nnz(), "row pointers")
        return row, A.col_indices().numpy(), A.values().double().numpy()
    if A.layout is torch.sparse_csc:
        col = _lines(A.ccol_indices(), A.shape[1], A._nnz(), "column pointers")
        return A.row_indices().numpy(), col, A.values().double().numpy()
    return None


def _lines(indptr: Any, lines: int, count: int, what: str) -> Any:
    """The column of each entry of CSC, the row of each block of BSR."""
    indptr = np.asarray(indptr)
    if indptr.shape != (lines + 1,):
        raise BadInputError(f"the {what} of A must have shape {(lines + 1,)}, got {indptr.shape}")
    lengths = np.diff(indptr)
    if indptr[0] != 0 or (lengths < 0).any() or indptr[-1] > count:
        raise BadInputError(f"the {what} of A must increase from 0 to at most {count}")
    return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)


def _of_csc(A: Any) -> tuple[Any, Any, Any]:
    col = _lines(A.indptr, A.shape[1], min(len(A.indices), len(A.data)), "column pointers")
    return A.indices[: len(col)], col, A.data[: len(col)]


def _of_bsr(A: Any) -> tuple[Any, Any, Any]:
    """Blocks one after the other, each row by row."""
    line = _lines(A.indptr, A.shape[0] // A.blocksize[0], min(len(A.indices), len(A.data)), "row pointers")
    height, width = A.blocksize
    data = A.data[: len(line)]
    row = line[:, None, None].astype(np.int64) * height + np.arange(height)[:, None]
    col = A.indices[: len(line), None, None].astype(np.int64) * width + np.arange(width)
    return np.broadcast_to(row, data.shape).ravel(), np.broadcast_to(col, data.shape).ravel(), data.ravel()


def _of_coo(A: Any) -> tuple[Any, Any, Any]:
    return A.row, A.col, A.data


_ENTRIES: dict[str, Any] = {
    "csc": _of_csc,
    "bsr": _of_bsr,
    "coo": _of_coo,
    "dok": lambda A: _of_coo(A.tocoo()),  # in the order of its items
}
"""Row, column and value of each entry of SciPy's matrices, in the order in which these have them."""


def _of_entries(
    shape: tuple[int, int], entries: tuple[Any, Any, Any], name: str, copy: bool, integers: str
) -> CsrMemory:
    """Of entries in host memory."""
    views = [_arrays.view(part, what) for part, what in zip(entries, ("rows", "columns", "A.data"), strict=True)]
    views[2] = _floating(views[2], integers)
    row, col, values = (_host_array(view) for view in views)
    if not row.shape == col.shape == values.shape or row.ndim != 1:
        raise BadInputError(
            f"row ids, column ids and values of A must have one length, got {row.shape}, {col.shape} and {values.shape}"
        )
    for ids, most, what in ((row, shape[0], "row"), (col, shape[1], "column")):
        if ids.dtype.kind not in "iu":
            raise UsageError(f"the {what} ids of A must be int32 or int64, got {ids.dtype}")
        if len(ids) and (ids.min() < 0 or ids.max() >= most):
            raise BadInputError(
                f"the {what} ids of A are from {ids.min()} to {ids.max()}, but A has {most} {what}s"
            )
    if max(shape) > _LARGEST_ID:
        raise UnsupportedError(f"A is {shape[0]} x {shape[1]}; at most {_LARGEST_ID} rows and columns are supported")
    dtype = views[2].dtype or c.DTYPE_NONE
    indptr, indices, order = sorted_entries(row, col, shape[0], shape[1])
    values, given = _sorted_values(values.copy() if copy else values, dtype, order)
    if copy:
        indices = indices.copy()
    return _csr_memory(shape[0], shape[1], indptr, indices, values, dtype, name, order, "", given)


def _of_device_csc(A: Any) -> tuple[Any, Any, Any]:
    cupy = sys.modules["cupy"]
    places = cupy.arange(len(A.indices))
    return A.indices, cupy.searchsorted(A.indptr, places, side="right") - 1, A.data


_DEVICE_ENTRIES: dict[str, Any] = {"csc": _of_device_csc, "coo": _of_coo}
"""The same of CuPy's."""


def _device_memory(
    rows: int, cols: int, parts: list[View], name: str, unordered: str, layout: int
) -> CsrMemory:
    for part in parts:
        if part.strides != (1,) and part.shape[0] > 1:
            raise UsageError("the arrays of A in device memory must be contiguous")
    arrays = c.Arrays(
        rows=rows,
        cols=cols,
        nnz=parts[1].shape[0],
        row=parts[0].pointer,
        col=parts[1].pointer,
        values=parts[2].pointer,
        value_dtype=parts[2].dtype,
        layout=layout,
        row_dtype=parts[0].dtype,
        col_dtype=parts[1].dtype,
        disorder=c.DISORDER_SUM,
        device=c.DEVICE_CUDA,
        ordinal=parts[0].ordinal,
    )
    stream = parts[0].framework.stream(parts[0].ordinal)
    return CsrMemory(arrays, stream, [part.owner for part in parts], name, None, unordered)
