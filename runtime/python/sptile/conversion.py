"""Reads matrices, reorders their rows and converts them to bundles."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _library as c
from . import _tools as tools
from ._arrays import DTYPE_CODES, DTYPE_NAMES, dtype_code, list_address, view
from ._memory import check_memory, tocsr
from ._options import integer, string
from .bundle import Bundle, MemoryFile, path_bytes, remember_order
from .bundle import open as open_bundle
from .errors import ArgumentTypeError, BadInputError, UsageError

if TYPE_CHECKING:
    import scipy.sparse  # type: ignore[import-untyped, unused-ignore]

Path = str | os.PathLike[str] | bytes | os.PathLike[bytes]
Settings = Mapping[str, float] | None

_VALUE_TYPES = {c.DTYPE_F32: np.float32, c.DTYPE_F64: np.float64}


@dataclass(frozen=True)
class Windows:
    """Statistics of all windows of `window_rows` consecutive rows.

    Attributes
    ----------
    window_rows : int
        Height of a window.
    distinct_columns : int
        Sum of the distinct columns of each window.
    tc_blocks : int
        Number of blocks of 8 columns, ``ceil(distinct columns / 8)`` per window.
    mean_nnz_tc : float
        Nonzeros per block.
    nnz1_ratio : float
        Fraction of the distinct columns with exactly one nonzero.

    Examples
    --------
    >>> import scipy.sparse, sptile
    >>> windows = sptile.reorder(scipy.sparse.eye_array(64), "identity").before.windows[0]
    >>> windows.window_rows, windows.distinct_columns, windows.tc_blocks
    (8, 64, 8)
    """

    window_rows: int
    distinct_columns: int
    tc_blocks: int
    mean_nnz_tc: float
    nnz1_ratio: float


@dataclass(frozen=True)
class Quality:
    """Quality of a row ordering.

    Attributes
    ----------
    windows : tuple of Windows
        Windows of 8, 16, 32, 64 and 128 rows.
    jaccard_cost : float
        Sum of the Jaccard distances of consecutive rows: 0 if all rows are equal, at most rows - 1.
    working_set_columns : float
        Mean number of distinct columns in 1024 consecutive rows.
    bandwidth : int or None
        Bandwidth of a square matrix with rows and columns in this order. None for other matrices.

    Examples
    --------
    >>> import scipy.sparse, sptile
    >>> sptile.reorder(scipy.sparse.eye_array(64), "identity").before.jaccard_cost
    63.0
    """

    windows: tuple[Windows, ...]
    jaccard_cost: float
    working_set_columns: float
    bandwidth: int | None


@dataclass(frozen=True)
class Ordering:
    """A row ordering, from `reorder`.

    Attributes
    ----------
    permutation : array of int32
        Original row of each new row, shape (rows,). ``A[permutation]`` is the reordered matrix.
    before, after : Quality
        Quality of the original order and of this one.

    Examples
    --------
    >>> import sptile
    >>> ordering = sptile.reorder("data/examples/fem_plate.mtx", "pack")
    >>> ordering.permutation.shape, ordering.after.windows[0].tc_blocks < ordering.before.windows[0].tc_blocks
    ((2286,), True)
    """

    permutation: npt.NDArray[np.int32]
    before: Quality
    after: Quality


def read(
    path: Path,
    *,
    dtype: Any = None,
    real_part: bool = False,
    strict: bool = False,
    kind: str | None = None,
    base: int | None = None,
    separator: str | None = None,
    columns: str | Sequence[str] | None = None,
    threads: int = 0,
) -> scipy.sparse.csr_array:
    """Reads a matrix from a file.

    Parameters
    ----------
    path : path
        File to read.
    dtype : dtype, optional
        Type of the values, "f32" or "f64". By default that of the file, float64 for text.
    strict : bool, optional
        Refuse values that overflow or underflow in `dtype`, and integers that it cannot represent exactly.
    real_part : bool, optional
        Use the real part of a complex file. By default complex files are refused.
    kind : str, optional
        Format of the file: "edges", "mtx", "metis", "npz", ... By default detected from contents and name.
    base : int, optional
        Index of the first vertex of an edge list, 0 or 1. By default 0 if a vertex 0 occurs, otherwise 1.
    separator : str, optional
        Field separator of an edge list: "blank" (any whitespace), "tab", "comma", "semicolon", or the character. By
        default that of the first edge.
    columns : str or sequence of str, optional
        Columns of an edge list: "source", "target", "weight", "time", and "-" for a column to ignore. By default from
        the header, otherwise source, target and optional weight.
    threads : int, optional
        Number of CPU threads. 0 uses all.

    Returns
    -------
    scipy.sparse.csr_array
        Matrix with sorted rows and without duplicates. The nonzeros of a pattern are 1.

    Raises
    ------
    MissingFileError
        If the file does not exist.
    IoError
        If the file cannot be read.
    BadInputError
        If the file violates its format; the message names the line. With `strict`, also if values are lost.
    UnsupportedError
        If the matrix has more than 2**31 - 1 rows or columns.
    UsageError
        If an option is invalid.

    Warns
    -----
    UserWarning
        What was guessed, ignored or added while reading.
    RuntimeWarning
        The numbers of values that overflow or underflow in `dtype`, and of integers that it cannot represent exactly.

    Notes
    -----
    The format is detected from the contents, then from the name: Matrix Market (.mtx), edge lists (.edges, .el, .txt,
    .tsv, .csv) and METIS graphs (.graph, .metis), all optionally compressed (.gz, .bz2, .xz, .zst); Matrix Market in
    a tar archive of the SuiteSparse Matrix Collection (.tar.gz); SciPy and edge archives (.npz); MAT-files (.mat);
    AnnData (.h5ad) and 10x Genomics (.h5); Harwell-Boeing (.rb, .rua); DLMC (.smtx); FROSTT (.tns); binsparse in HDF5
    (.bsp.h5); raw CSR (.csr); and bundles (.h5). Duplicates are added; those of a pattern are counted.

    Examples
    --------
    >>> import sptile
    >>> A = sptile.read("data/examples/fem_plate.mtx", dtype="f32")
    >>> A.shape, A.nnz, A.dtype
    ((2286, 2286), 38964, dtype('float32'))
    """
    from scipy.sparse import csr_array

    code = c.DTYPE_NONE if dtype is None else _value_type(dtype)
    options = _file_options(real_part, kind, base, separator, columns, integer(threads, "threads"), code)
    matrix = tools.Matrix.read(_path(path), options)
    arrays = matrix.arrays()
    if strict and (lost := _describe_losses(matrix.losses(), arrays.value_dtype, "read as {}")):
        raise BadInputError(f"{os.fsdecode(path)}: {'; '.join(lost)}; use another dtype, or strict=False")
    for text, is_loss in matrix.notes():
        warnings.warn(text, RuntimeWarning if is_loss else UserWarning, stacklevel=2)
    check_memory(f"the row pointers of {arrays.rows} rows", 8 * (arrays.rows + 1))
    wide = arrays.nnz > np.iinfo(np.int32).max
    pointers = _borrow(matrix, arrays.row, arrays.rows + 1, np.int64).astype(np.int64 if wide else np.int32)
    ids = _borrow(matrix, arrays.col, arrays.nnz, np.int32)
    if arrays.value_dtype == c.DTYPE_NONE:
        values = np.ones(arrays.nnz, _VALUE_TYPES.get(code, np.float64))
    else:
        values = _borrow_values(matrix, arrays)
    result = csr_array((values, ids, pointers), shape=(arrays.rows, arrays.cols), copy=False)
    result.has_canonical_format = True
    return result


def convert(
    src: Any,
    path: Path | None = None,
    *,
    formats: str | Sequence[str] = "all",
    reorder: str = "identity",
    preset: str | None = None,
    settings: Settings = None,
    window_rows: int | None = None,
    seed: int = 1,
    dtype: Any = "float32",
    transpose: bool | str = "auto",
    refreshable: bool = False,
    overwrite: bool = False,
    strict: bool = False,
    real_part: bool = False,
    kind: str | None = None,
    base: int | None = None,
    separator: str | None = None,
    columns: str | Sequence[str] | None = None,
    threads: int = 0,
) -> Bundle:
    """Converts a matrix to a bundle, in memory or in a file.

    Parameters
    ----------
    src : path, sparse matrix or tensor
        Path of a file that `read` accepts, a SciPy or CuPy sparse matrix or array of any format, or a sparse torch
        tensor.
    path : path, optional
        Bundle file to write (.h5). It is created atomically. By default the bundle is in memory.
    formats : str or sequence of str, optional
        Formats to store in addition to "csr", some with a parameter ("tall:64"), or "all".
    reorder : str, optional
        Row ordering within the formats, see `reorder`.
    preset, settings, seed : optional
        Options of the row ordering, see `reorder`.
    window_rows : int, optional
        Window height to optimize the ordering for. By default the common height of all formats ("bmat": 16,
        "tall": 64), or 8.
    dtype : dtype, optional
        Type of the values in the formats: "f16", "bf16", "f32" or "f64".
    transpose : bool or "auto", optional
        Also store the formats of the transpose. "auto" stores them if the matrix is symmetric, at no cost.
    refreshable : bool, optional
        Store what `Plan.refresh` requires.
    overwrite : bool, optional
        Replace an existing file.
    strict : bool, optional
        Refuse values that overflow or underflow in `dtype`, and integers that it cannot represent exactly.
    real_part, kind, base, separator, columns : optional
        Options for files, see `read`.
    threads : int, optional
        Number of CPU threads. 0 uses all.

    Returns
    -------
    Bundle
        The bundle. Arrays with one value per nonzero are in the order of the nonzeros in `src`, see `Bundle.of`. In a
        bundle that is opened later they are in CSR order.

    Raises
    ------
    UsageError
        If an option is invalid, `src` is not a matrix, or the file exists.
    BadInputError
        If the matrix violates its format. With `strict`, also if values are lost.
    UnsupportedError
        If the matrix has more than 2**31 - 1 rows or columns.
    IoError
        If a file cannot be read or written. `MissingFileError` if `src` does not exist.

    Warns
    -----
    UserWarning
        What was guessed, ignored or added while reading a file.
    RuntimeWarning
        The numbers of values that overflow or underflow in `dtype`, and of integers that it cannot represent exactly.

    Notes
    -----
    Nonzeros are sorted and duplicates added; those of bool matrices and patterns are counted. Ctrl-C stops the
    conversion and leaves no file.

    Examples
    --------
    >>> import sptile
    >>> bundle = sptile.convert("data/examples/fem_plate.mtx", "plate.h5", formats="bmat", reorder="pack")
    >>> bundle.formats
    ('csr', 'bmat')
    """
    options = _order_options(reorder, preset, settings, window_rows, seed, threads)
    options.dtype = dtype_code(dtype)
    options.formats = _list("formats", formats)
    options.transpose = _transpose(transpose)
    options.refreshable, options.overwrite, options.strict = bool(refreshable), bool(overwrite), bool(strict)
    out = None if path is None else _path(path)
    code = c.DTYPE_F64 if options.dtype == c.DTYPE_F64 else c.DTYPE_F32
    matrix = _matrix(src, _file_options(real_part, kind, base, separator, columns, options.threads, code))
    if out is not None:
        report = matrix.convert(out, -1, options)
        bundle = open_bundle(os.fsdecode(out))
    else:
        memory = MemoryFile()
        report = matrix.convert(None, memory.fd, options)
        bundle = Bundle._create(memory, "in memory")
    if not isinstance(src, (str, bytes, os.PathLike)):
        remember_order(bundle, src)
    for sentence in _describe_losses(report, options.dtype, "{} in the bundle"):
        warnings.warn(sentence, RuntimeWarning, stacklevel=2)
    return bundle


def reorder(
    A: Any,
    method: str = "auto",
    *,
    preset: str | None = None,
    settings: Settings = None,
    window_rows: int = 8,
    seed: int = 1,
    real_part: bool = False,
    kind: str | None = None,
    base: int | None = None,
    separator: str | None = None,
    columns: str | Sequence[str] | None = None,
    threads: int = 0,
) -> Ordering:
    """Reorders the rows of a matrix so that rows that share columns are adjacent.

    Parameters
    ----------
    A : path, sparse matrix or tensor
        See `src` of `convert`.
    method : str, optional
        Method, for example "auto", "pack", "rcm" or "metis". The command `sptile list reorderers` lists all.
    preset : str, optional
        Named settings of the method.
    settings : mapping of str to float, optional
        Parameters of the method. They override those of `preset`.
    window_rows : int, optional
        Window height to optimize for, 1 to 1024.
    seed : int, optional
        Seed of the random number generator. Equal seeds give equal orderings.
    real_part, kind, base, separator, columns : optional
        Options for files, see `read`.
    threads : int, optional
        Number of CPU threads. 0 uses all.

    Returns
    -------
    Ordering
        Permutation, and the quality of the order before and after.

    Raises
    ------
    UsageError
        If an option is invalid, or A is not a matrix.
    BadInputError, UnsupportedError, IoError
        See `convert`.

    Warns
    -----
    UserWarning
        What was guessed, ignored or added while reading a file.

    Examples
    --------
    >>> import sptile
    >>> A = sptile.read("data/examples/fem_plate.mtx")
    >>> ordering = sptile.reorder(A, "pack")
    >>> reordered = A[ordering.permutation]
    >>> ordering.after.windows[0].tc_blocks < ordering.before.windows[0].tc_blocks
    True
    """
    options = _order_options(method, preset, settings, window_rows, seed, threads)
    matrix = _matrix(A, _file_options(real_part, kind, base, separator, columns, options.threads, c.DTYPE_NONE))
    rows = matrix.arrays().rows
    permutation = np.empty(rows, np.int32)
    before, after = matrix.reorder(list_address(permutation, c.DTYPE_I32, rows, "the permutation"), options)
    return Ordering(permutation, _quality(before), _quality(after))


# ---- Arguments ----


def _path(path: Path) -> bytes:
    name = path_bytes(path)
    if not name:
        raise UsageError("path must not be empty")
    return name


def _list(name: str, texts: Any) -> bytes:
    """Names with commas."""
    if isinstance(texts, (list, tuple)):
        return b",".join(string(one, name) for one in texts)
    return string(texts, name)


def _value_type(dtype: Any) -> int:
    code = dtype_code(dtype)
    if code not in _VALUE_TYPES:
        raise UsageError(f"dtype must be float32 or float64 for a SciPy matrix, got {dtype!r}")
    return code


def _describe_losses(lost: tools.Loss | tools.Report, dtype: int, now: str) -> list[str]:
    """Describes the values that a type cannot represent. {} in `now` is replaced by the result."""
    name = DTYPE_NAMES.get(dtype, "")
    return [
        f"{what.format(name)}, {now.format(result)}: {count}"
        for count, what, result in (
            (lost.overflowed, "values too large for {}", "infinite"),
            (lost.underflowed, "values too small for {}", "0"),
            (lost.inexact, "integers that {} cannot represent exactly", "rounded values"),
        )
        if count
    ]


def _transpose(transpose: Any) -> int:
    if isinstance(transpose, str) and transpose == "auto":
        return tools.TRANSPOSE_IF_SYMMETRIC
    if isinstance(transpose, (bool, np.bool_)):
        return tools.TRANSPOSE_ALWAYS if transpose else tools.TRANSPOSE_NEVER
    raise UsageError(f'transpose must be True, False or "auto", got {transpose!r}')


def _order_options(
    method: Any, preset: Any, settings: Settings, window_rows: Any, seed: Any, threads: Any
) -> tools.Options:
    options = tools.Options(
        window_rows=0 if window_rows is None else integer(window_rows, "window_rows", 1, 1024),
        seed=integer(seed, "seed", 1, 2**64 - 1),
        threads=integer(threads, "threads"),
        method=string(method, "reorder"),
    )
    if preset is not None:
        options.preset = string(preset, "preset")
    if settings is not None:
        options.settings = string(",".join(f"{name}={value}" for name, value in dict(settings).items()), "settings")
    return options


_BASES = {None: tools.BASE_AUTO, 0: tools.BASE_0, 1: tools.BASE_1}
_SEPARATORS = {"blank": " ", "tab": "\t", "comma": ",", "semicolon": ";"}


def _file_options(
    real_part: Any, kind: Any, base: Any, separator: Any, columns: Any, threads: int, dtype: int
) -> tools.Options:
    """Options of reading a file; "auto", as in the command, is None."""
    base, separator, kind, columns = (None if isinstance(x, str) and x == "auto" else x for x in (base, separator, kind, columns))
    if base is not None:
        base = integer(base, "base", 0, 1)
    if separator is not None and separator not in (*_SEPARATORS, *_SEPARATORS.values()):
        raise UsageError(f"separator must be one of {', '.join(map(repr, _SEPARATORS))} or None, got {separator!r}")
    options = tools.Options(
        dtype=dtype,
        real_part=bool(real_part),
        threads=threads,
        base=_BASES[base],
        separator=0 if separator is None else ord(_SEPARATORS.get(separator, separator)),
    )
    if kind is not None:
        options.kind = string(kind, "kind")
    if columns is not None:
        options.columns = _list("columns", columns)
    return options


# ---- Matrices ----


def _borrow(matrix: tools.Matrix, address: int | None, count: int, dtype: Any) -> npt.NDArray[Any]:
    """An array over memory of the matrix, which lives as long as the array."""
    if count == 0:
        return np.empty(0, dtype)
    memory = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address or 0)
    memory._owner = matrix
    return np.frombuffer(memory, dtype)


def _borrow_values(matrix: tools.Matrix, arrays: c.Arrays) -> npt.NDArray[Any]:
    """Values of a type of SciPy's; narrower ones are widened to float32, which is exact."""
    if arrays.value_dtype in _VALUE_TYPES:
        return _borrow(matrix, arrays.values, arrays.nnz, _VALUE_TYPES[arrays.value_dtype])
    if arrays.value_dtype == c.DTYPE_F16:
        return _borrow(matrix, arrays.values, arrays.nnz, np.float16).astype(np.float32)
    bits = _borrow(matrix, arrays.values, arrays.nnz, np.uint16).astype(np.uint32)  # upper halves of float32
    return (bits << 16).view(np.float32)


def _matrix(src: Any, options: tools.Options) -> tools.Matrix:
    if isinstance(src, (str, bytes, os.PathLike)):
        matrix = tools.Matrix.read(_path(src), options)
        for text, is_loss in matrix.notes():
            if not is_loss:  # the report states lost values
                warnings.warn(text, UserWarning, stacklevel=3)
        return matrix
    kept, arrays = _csr_arrays(src)
    matrix = tools.Matrix.copy(arrays, options)
    del kept
    return matrix


def _csr_arrays(src: Any) -> tuple[Any, c.Arrays]:
    """Returns the CSR arrays of a framework's matrix in host memory, and their owner."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(src, getattr(torch, "Tensor", ())):
        return _from_torch(torch, src)
    if type(src).__module__.startswith("cupyx."):
        src = src.get()  # SciPy's
    if hasattr(src, "tocsr") and hasattr(src, "shape"):
        return _from_scipy(src)
    hint = "; convert a dense array with scipy.sparse.csr_array" if hasattr(src, "__array__") else ""
    raise ArgumentTypeError(
        f"expected a path, a SciPy or CuPy sparse matrix, or a sparse torch tensor, got {type(src).__name__}{hint}"
    )


def _from_torch(torch: Any, src: Any) -> tuple[Any, c.Arrays]:
    if src.layout is torch.strided:
        raise UsageError("expected a sparse tensor, got a dense one; use .to_sparse_csr()")
    if src.dim() != 2:
        raise UsageError(f"A must be two-dimensional, got {src.dim()} dimensions")
    if src.dense_dim() > 0:
        raise UsageError("A must have two sparse dimensions, got a dense dimension")
    src = src.detach()
    if src.layout is not torch.sparse_csr:
        src = _checked(torch, src)
    if src.layout in (torch.sparse_bsr, torch.sparse_bsc):
        src = src.to_sparse()
    if src.is_complex():
        raise UsageError(f"A has {src.dtype} values; pass the real part")
    if src.layout is torch.sparse_coo:  # sums of bool are bool, those of 8 bits wrap, those of 16 bits are rounded
        src = src.to(_sum_type(torch, src.dtype))
    if src.layout is not torch.sparse_csr:
        check_memory(f"the row pointers of {src.shape[0]} rows", 8 * (src.shape[0] + 1))
        src = src.to_sparse_csr()
    values = src.values()
    if not values.is_floating_point():
        values = values.to(torch.int64)
    parts = [part.cpu().contiguous() for part in (src.crow_indices(), src.col_indices(), values)]
    return _described(tuple(src.shape), *parts)


def _checked(torch: Any, src: Any) -> Any:
    """Returns the tensor if its indices are valid for its layout, because torch's conversions index memory with
    them."""
    try:
        if src.layout is torch.sparse_coo:
            coalesced = src.is_coalesced()
            return torch.sparse_coo_tensor(
                src._indices(), src._values(), src.shape, check_invariants=True, is_coalesced=coalesced
            )
        by_row = src.layout is torch.sparse_bsr
        pointers, ids = (src.crow_indices(), src.col_indices()) if by_row else (src.ccol_indices(), src.row_indices())
        return torch.sparse_compressed_tensor(
            pointers, ids, src.values(), src.shape, layout=src.layout, check_invariants=True
        )
    except RuntimeError as error:
        raise BadInputError(f"A is not a valid {src.layout} tensor: {error}") from None


def _sum_type(torch: Any, dtype: Any) -> Any:
    """The type of sums of values: exact, or at least float32."""
    if not dtype.is_floating_point:
        return torch.int64
    return torch.float32 if dtype.itemsize == 2 else dtype


def _from_scipy(src: Any) -> tuple[Any, c.Arrays]:
    if len(src.shape) != 2:
        raise UsageError(f"A must be two-dimensional, got {len(src.shape)} dimensions")
    if src.format != "csr":  # sums of bool are bool, those of 8 bits wrap, those of 16 bits are rounded
        if src.dtype.kind in "biu" and src.dtype != np.uint64:
            src = src.astype(np.int64)
        elif src.dtype == np.float16:
            src = src.astype(np.float32)
    csr = tocsr(src)
    values = np.asarray(csr.data)
    if values.dtype.kind == "u" and values.max(initial=0) > np.iinfo(np.int64).max:
        raise UsageError(f"A has {values.dtype} values above 2**63 - 1; pass A.astype(float)")
    if values.dtype.kind in "biu":
        values = values.astype(np.int64)
    elif values.dtype.name not in DTYPE_CODES:
        raise UsageError(f"A must have real values of type {', '.join(DTYPE_CODES)}, got {values.dtype}")
    parts = [np.ascontiguousarray(part, part.dtype.newbyteorder("=")) for part in map(np.asarray, (csr.indptr, csr.indices, values))]
    return _described(tuple(csr.shape), *parts)


def _described(shape: tuple[int, ...], pointers: Any, columns: Any, values: Any) -> tuple[Any, c.Arrays]:
    kept = pointers, columns, values
    row, col, data = (view(part, name) for part, name in zip(kept, ("row pointers", "columns", "values")))
    for one in (row, col, data):
        if len(one.shape) != 1:
            raise UsageError(f"the arrays of A must be one-dimensional, got {len(one.shape)} dimensions")
    if row.dtype not in (c.DTYPE_I32, c.DTYPE_I64) or col.dtype not in (c.DTYPE_I32, c.DTYPE_I64):
        raise UsageError(
            f"row pointers and column ids must be int32 or int64, got {row.dtype_name} and {col.dtype_name}"
        )
    if row.shape[0] != shape[0] + 1:
        raise UsageError(f"A has {shape[0]} rows, so it must have {shape[0] + 1} row pointers, got {row.shape[0]}")
    nnz = int(pointers[-1])
    if not 0 <= nnz <= min(col.shape[0], data.shape[0]):
        raise UsageError(
            f"the row pointers of A end with {nnz}, but A has {col.shape[0]} column ids and {data.shape[0]} values"
        )
    return kept, c.Arrays(
        rows=shape[0], cols=shape[1], nnz=nnz, row=row.pointer, col=col.pointer, values=data.pointer,
        value_dtype=data.dtype, row_dtype=row.dtype, col_dtype=col.dtype, disorder=c.DISORDER_SUM,
    )  # fmt: skip


def _quality(measured: tools.Quality) -> Quality:
    windows = tuple(
        Windows(w.window_rows, w.distinct_columns, w.tc_blocks, w.mean_nnz_tc, w.nnz1_ratio) for w in measured.windows
    )
    bandwidth = None if measured.bandwidth < 0 else measured.bandwidth
    return Quality(windows, measured.jaccard_cost, measured.working_set_columns, bandwidth)
