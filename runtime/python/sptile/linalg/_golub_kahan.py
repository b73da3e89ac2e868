"""Block Golub-Kahan bidiagonalization with thick restarts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._dense import Dense, orthonormalize

Product = Callable[[Any, Any], None]
"""(operand, result): multiplies, and writes the result."""


class Sizes(NamedTuple):
    """Limits of the iteration."""

    wanted: int
    """Singular triplets."""
    block: int
    """Columns of a product."""
    basis: int
    """Maximum number of vectors of each basis, at least `wanted` + `block` or all."""
    steps: int
    """Maximum number of products with the matrix."""


class Triplets(NamedTuple):
    U: Any
    s: np.ndarray[Any, Any]
    V: Any
    residuals: np.ndarray[Any, Any]
    """Norm of ``A.T @ u - s * v`` of each triplet. Those of ``A @ v - s * u`` are rounding errors."""
    steps: int


def largest_triplets(
    forward: Product,
    adjoint: Product,
    rows: int,
    cols: int,
    sizes: Sizes,
    rtol: float,
    dense: Dense,
    random: np.random.Generator,
) -> Triplets:
    """Computes the largest singular values of a matrix with ``cols <= rows``.

    Both bases are kept orthonormal, and all coefficients of a new block are computed, so that a restart needs no special
    case: it replaces the bases by the first singular vectors and continues with the pending block (Baglama and Reichel,
    Restarted block Lanczos bidiagonalization methods, 2006).
    """
    block, capacity = min(sizes.block, cols), min(sizes.basis, cols)
    U, V = dense.empty(rows, capacity), dense.empty(cols, capacity + block)
    B = np.zeros((capacity, capacity))  # A V = U B
    p, w, steps = 0, block, 0
    # Values of a closed Krylov space, which may lack copies of a multiple singular value. The next block is random and
    # has them: values are final if they are the same when that closes the space again, in the number of steps that the
    # first space took.
    settled: Any = None
    settled_at = 0
    dense.random(V[:, :w], 1.0, random)
    orthonormalize(dense, V[:, :w], V[:, :0], random)
    while True:
        new = slice(p, p + w)
        forward(V[:, new], U[:, new])
        B[:p, new], B[new, new] = orthonormalize(dense, U[:, new], U[:, :p], random)
        p, last, steps = p + w, new, steps + 1
        left, s, right = np.linalg.svd(B[:p, :p])
        w = min(block, cols - p)
        S, length = _next_block(dense, adjoint, U[:, last], V, p, w, float(s[0]), random)
        residuals = np.linalg.norm(S @ left[last, : sizes.wanted], axis=0)
        done = p == cols or (steps >= sizes.steps and p >= sizes.wanted)
        if p >= sizes.wanted and bool((residuals <= rtol * s[0]).all()):
            values, closed = s[: sizes.wanted], length <= max(rtol, 100 * dense.eps) * s[0]
            if settled is None:
                done |= not closed
            else:
                same = bool((np.abs(values - settled) <= rtol * s[0]).all())
                done |= same and (closed or steps >= 2 * settled_at)
            if closed:
                settled, settled_at = values, steps
        if done:
            break
        if p + w > capacity:
            kept = min(sizes.wanted + (capacity - sizes.wanted) // 3, capacity - w)
            dense.rotate(U[:, :p], left[:, :kept], U[:, :kept])
            dense.rotate(V[:, :p], right[:kept].T, V[:, :kept])
            dense.rotate(V[:, p : p + w], np.eye(w), V[:, kept : kept + w])
            B[:] = 0
            B[:kept, :kept] = np.diag(s[:kept])
            p = kept
    found = dense.empty(rows, sizes.wanted), dense.empty(cols, sizes.wanted)
    dense.rotate(U[:, :p], left[:, : sizes.wanted], found[0])
    dense.rotate(V[:, :p], right[: sizes.wanted].T, found[1])
    return Triplets(found[0], s[: sizes.wanted], found[1], residuals, steps)


def _next_block(
    dense: Dense, adjoint: Product, u: Any, V: Any, p: int, w: int, scale: float, random: np.random.Generator
) -> tuple[Any, float]:
    """Writes the next w right vectors to ``V[:, p : p + w]``, orthogonal to the first p. `scale`: norm of A.

    Returns S with ``A.T @ u = V[:, :p] @ _ + V[:, p : p + w] @ S``, and the norm of S.
    """
    width, block = u.shape[1], V[:, p : p + w]
    if w >= width:
        adjoint(u, block[:, :width])
        if w > width:
            dense.random(block[:, width:], scale, random)
        S = orthonormalize(dense, block, V[:, :p], random)[1][:, :width]
    else:  # fewer vectors are left than a block has: any basis of them is right
        image = dense.empty(V.shape[0], width)
        adjoint(u, image)
        if w > 0:
            dense.random(block, 1.0, random)
            orthonormalize(dense, block, V[:, :p], random)
        S = dense.inner(block, image)
    return S, float(np.linalg.norm(S, 2)) if S.size else 0.0
