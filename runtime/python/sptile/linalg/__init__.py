"""Truncated singular value decomposition and principal component analysis of sparse matrices.

>>> import scipy.sparse, sptile.linalg
>>> A = scipy.sparse.random_array((500, 200), density=0.1, format="csr", rng=0)
>>> U, s, Vt = sptile.linalg.svds(A, 10)
>>> U.shape, s.shape, Vt.shape
((500, 10), (10,), (10, 200))
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from .. import _arrays
from .. import _library as c
from .._options import integer, named
from ..bundle import Bundle, bundle_of
from ..errors import ArgumentTypeError, UsageError
from ._dense import NotFiniteError
from ._golub_kahan import Product, Sizes, largest_triplets
from ._products import Products

__all__ = ["PCA", "SVD", "pca", "svds"]


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return sorted(__all__)


_BLOCK_BYTES = 64
"""Bytes of a row of a block of the method "lanczos": a product gathers rows of one cache line. A wider block reads the
matrix less often, but converges in more columns: twice this width takes up to 30 % longer."""
_BASIS = 64  # vectors of a basis beyond twice the number of singular values
_MOST_PRODUCTS = 1000
_METHODS = {"lanczos": 0, "randomized": 1}
_RTOL = {c.DTYPE_F32: 1e-5, c.DTYPE_F64: 1e-10}


class SVD(NamedTuple):
    """Largest singular triplets of a matrix, from `svds`. A is approximately ``U * s @ Vt``.

    Attributes
    ----------
    U : array
        Left singular vectors as columns, of shape (rows, k).
    s : array
        Singular values, largest first, of shape (k,).
    Vt : array
        Right singular vectors as rows, of shape (k, cols). The entry of largest magnitude of each row is positive.

    Examples
    --------
    >>> import scipy.sparse, sptile.linalg
    >>> A = scipy.sparse.diags_array([1.0, 3.0, 2.0], format="csr")
    >>> sptile.linalg.svds(A, 2).s.round(6)
    array([3., 2.])
    """

    U: Any
    s: Any
    Vt: Any


class PCA(NamedTuple):
    """Principal components of the rows of a matrix, from `pca`. Definitions are those of ``sklearn.decomposition.PCA``.

    Attributes
    ----------
    scores : array
        Rows in the coordinates of the components, of shape (rows, k): ``(A - mean) @ components.T``.
    components : array
        Principal axes as orthonormal rows, of shape (k, cols). The entry of largest magnitude of each row is positive.
    singular_values : array
        Singular values of ``A - mean``, largest first, of shape (k,).
    mean : array
        Mean of each column, of shape (cols,).
    explained_variance : array
        Variance of each column of `scores`, with ``rows - 1`` degrees of freedom.
    explained_variance_ratio : array
        `explained_variance` as fractions of the total variance of A.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile.linalg
    >>> A = scipy.sparse.csr_array(np.array([[1.0, 0], [0, 1], [2, 2], [1, 1]]))
    >>> sptile.linalg.pca(A, 1).explained_variance_ratio.round(6)
    array([0.75])
    """

    scores: Any
    components: Any
    singular_values: Any
    mean: Any
    explained_variance: Any
    explained_variance_ratio: Any


def svds(
    A: Any,
    k: int = 6,
    *,
    method: str = "lanczos",
    rtol: float | None = None,
    maxiter: int | None = None,
    seed: int | np.random.Generator = 0,
    dtype: Any = None,
    device: Any = None,
    threads: int = 0,
) -> SVD:
    """Computes the `k` largest singular values of a sparse matrix and their vectors.

    Parameters
    ----------
    A : Bundle, path, sparse matrix or tensor
        See `Bundle.of`. Integers become float32, or float64 with ``dtype="f64"``.
    k : int, optional
        Number of singular values, from 1 to ``min(A.shape)``.
    method : str, optional
        "lanczos": block Golub-Kahan bidiagonalization with thick restarts, in narrow blocks. "randomized": the same
        with random blocks of more than `k` columns (randomized block Krylov), which also finds all copies of a singular
        value that occurs more often than a narrow block has columns.
    rtol : float, optional
        Iterates until ``norm(A.T @ u - s * v) <= rtol * s[0]`` for each of the `k` triplets. ``norm(A @ v - s * u)`` is
        always of the order of rounding errors. By default 1e-5 for float32 and 1e-10 for float64.
    maxiter : int, optional
        Maximum number of products of A with a block. By default 1000.
    seed : int or numpy.random.Generator, optional
        Source of the random numbers of the first block.
    dtype : dtype, optional
        Type of all computations and results, "f32" or "f64". By default the type of the values, float32 for 16-bit
        values and patterns.
    device : str, optional
        "cpu", "cuda" or "cuda:1". By default the device of A.
    threads : int, optional
        Maximum number of CPU threads of products, see `sptile.plan`. BLAS has its own number.

    Returns
    -------
    SVD
        NumPy arrays, or torch tensors or CuPy arrays if A is a matrix of these. On a CUDA device arrays are those of
        torch, if it is imported, or CuPy.

    Raises
    ------
    UsageError
        If `k`, `rtol`, `maxiter` or another option is invalid.
    BadInputError
        If A has NaN or infinite values, or its arrays are not a valid matrix.
    UnsupportedError
        If the values are complex, or of 16 bits on a CUDA device.

    Warns
    -----
    RuntimeWarning
        If `maxiter` products do not suffice. The result is the best approximation so far.

    Notes
    -----
    The same `seed` gives the same bits for any number of threads. Memory: about ``2 * k + 80`` vectors of each side
    ("randomized": ``5 * k + 50``), A and its transpose.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile.linalg
    >>> A = scipy.sparse.random_array((500, 200), density=0.1, format="csr", rng=0)
    >>> U, s, Vt = sptile.linalg.svds(A, 10)
    >>> np.allclose(s, np.linalg.svd(A.toarray(), compute_uv=False)[:10])
    True
    """
    products, sizes = _prepared(A, k, method, maxiter, dtype, device, threads)
    U, s, V = _decompose(products, sizes, rtol, seed)
    return SVD(U, products.dense.put(s), products.dense.framework.contiguous(V.T))


def pca(
    A: Any,
    k: int = 6,
    *,
    method: str = "lanczos",
    rtol: float | None = None,
    maxiter: int | None = None,
    seed: int | np.random.Generator = 0,
    dtype: Any = None,
    device: Any = None,
    threads: int = 0,
) -> PCA:
    """Computes the first `k` principal components of the rows of a sparse matrix.

    The means of the columns are subtracted implicitly: the matrix stays sparse, and each product adds a matrix of rank 1.

    Parameters
    ----------
    A : Bundle, path, sparse matrix or tensor
        Rows are samples, columns are variables. See `svds`.
    k : int, optional
        Number of components, from 1 to ``min(A.shape)``.
    method, rtol, maxiter, seed, dtype, device, threads : optional
        See `svds`.

    Returns
    -------
    PCA
        Arrays as `svds` returns them.

    Raises
    ------
    UsageError
        If A has fewer than two rows, or an option is invalid.
    BadInputError
        If A has NaN or infinite values, or its arrays are not a valid matrix.
    UnsupportedError
        If the values are complex, or of 16 bits on a CUDA device.

    Warns
    -----
    RuntimeWarning
        If `maxiter` products do not suffice.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile.linalg
    >>> A = scipy.sparse.random_array((500, 200), density=0.1, format="csr", rng=0)
    >>> found = sptile.linalg.pca(A, 10)
    >>> centred = A.toarray() - A.mean(axis=0)
    >>> np.allclose(found.scores, centred @ found.components.T)
    True
    """
    products, sizes = _prepared(A, k, method, maxiter, dtype, device, threads)
    rows = products.shape[0]
    if rows < 2:
        raise UsageError(f"pca requires at least two rows, got shape {products.shape}")
    products.centre()
    U, s, V = _decompose(products, sizes, rtol, seed)
    mean = products.dense.host(products.mean)[:, 0]
    squares = products.sum_of_squares()
    total = squares - rows * float(mean @ mean)
    if total <= products.dense.eps * squares:  # rounding errors of constant columns
        total = 0.0
    ratios = s**2 / total if total > 0 else np.zeros(sizes.wanted)
    vector = products.dense.put
    return PCA(
        scores=U * vector(s),
        components=products.dense.framework.contiguous(V.T),
        singular_values=vector(s),
        mean=vector(mean),
        explained_variance=vector(s**2 / (rows - 1)),
        explained_variance_ratio=vector(ratios),
    )


def _prepared(
    A: Any, k: Any, method: str, maxiter: Any, dtype: Any, device: Any, threads: int
) -> tuple[Products, Sizes]:
    """Checks the arguments."""
    wanted = None if dtype is None else _arrays.dtype_code(dtype)
    bundle: Bundle = bundle_of(A, integers="float64" if wanted == c.DTYPE_F64 else "float32")
    if wanted is None:
        wanted = c.DTYPE_F64 if bundle.dtype == np.float64 else c.DTYPE_F32
    if wanted not in _RTOL:
        raise UsageError(f"dtype must be float32 or float64, got {dtype!r}")
    count = integer(k, "k")
    if not 1 <= count <= min(bundle.shape):
        raise UsageError(
            f"k must be from 1 to {min(bundle.shape)}, the smaller dimension of {bundle.shape}, got {count}"
        )
    sizes = _sizes(method, count, wanted, maxiter)
    return Products(A, bundle, wanted, str(device or bundle.device), threads, sizes.block), sizes


def _sizes(method: str, wanted: int, dtype: int, maxiter: int | None) -> Sizes:
    named(method, _METHODS, "method")
    if maxiter is None:
        steps = _MOST_PRODUCTS
    else:
        steps = integer(maxiter, "maxiter", 1, 2**31 - 1)
    if method == "randomized":
        block = wanted + 10
        return Sizes(wanted, block, 4 * block, steps)
    return Sizes(wanted, _BLOCK_BYTES // _arrays.ITEMSIZE[dtype], 2 * wanted + _BASIS, steps)


def _decompose(products: Products, sizes: Sizes, rtol: Any, seed: Any) -> tuple[Any, Any, Any]:
    """Returns U, s in float64, and V, with signs that do not depend on the first block."""
    tolerance = _RTOL[products.dense.code] if rtol is None else _real(rtol)
    if not isinstance(seed, np.random.Generator):
        seed = np.random.default_rng(integer(seed, "seed", 0, 2**64 - 1))
    rows, cols = products.shape
    sides: tuple[Product, Product] = (products.forward, products.adjoint)
    if rows < cols:
        sides = (products.adjoint, products.forward)
    try:
        found = largest_triplets(
            *sides, max(rows, cols), min(rows, cols), sizes, tolerance, products.dense, seed
        )
    except NotFiniteError:
        raise products.not_finite() from None
    missed = int((found.residuals > tolerance * found.s[0]).sum())
    if missed:
        warnings.warn(
            f"{missed} of {sizes.wanted} singular triplets did not converge to rtol = {tolerance:g} in {found.steps} products: "
            f"the largest residual is {found.residuals.max() / found.s[0]:.2g} s[0]; increase maxiter or rtol",
            RuntimeWarning,
            stacklevel=3,
        )
    U, V = (found.U, found.V) if rows >= cols else (found.V, found.U)
    numbers = products.dense.host(V)
    peaks = numbers[np.abs(numbers).argmax(0), np.arange(sizes.wanted)]
    signs = products.dense.put(np.where(peaks < 0, -1.0, 1.0))
    return U * signs, found.s, V * signs


def _real(rtol: Any) -> float:
    try:
        number = float(rtol)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"rtol must be a number, got {rtol!r}") from None
    if not 0 <= number < math.inf:
        raise UsageError(f"rtol must be finite and at least 0, got {rtol!r}")
    return number
