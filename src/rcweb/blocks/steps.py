"""Questions asked of each block, and how to answer them without making sparse rows dense.

Within a block rows are centred by the mean of that block, so that nothing cancels, and the means
of the blocks are kept: with n_b rows of mean m_b and the mean m of all,

    G0^T G0 = sum_b X_b^T X_b + D^T D,   X_b centred in its block,   D_b = sqrt(n_b) (m_b - m).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rcweb.blocks.base import Array, Block, Parts, dense


@dataclass(frozen=True)
class Moments:
    """First pass: extremes, means and products.

    scale : rows are divided by it
    wanted : numbers of rows to bring along, ascending
    W : (N, L), to give the product ``X_b^T X_b W``; None for ``X_b^T X_b`` itself
    """

    scale: float
    wanted: NDArray[np.intp]
    W: Array | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """low, high (N,); rows per block; means (blocks, N); power (N,); product; rows wanted."""
        return ("low", "high", "rows", "rows", "sum", "sum", "rows")

    def __call__(self, block: Block, start: int) -> Parts:
        # Overflow is looked for in the extremes, and the pass repeated with another scale.
        with np.errstate(over="ignore", invalid="ignore"):
            moments = _sparse_moments if sparse.issparse(block) else _dense_moments
            low, high, mean, power, product = moments(block, self.scale, self.W)
        first, last = np.searchsorted(self.wanted, [start, start + block.shape[0]])
        rows = dense(block[self.wanted[first:last] - start]) / self.scale
        return low, high, np.array([block.shape[0]]), mean[None], power, product, rows


def _dense_moments(X: Array, scale: float, W: Array | None) -> tuple[Array, ...]:
    low, high = X.min(axis=0), X.max(axis=0)
    X = X if scale == 1 else X / scale
    mean = X.mean(axis=0)
    X = X - mean
    product = X.T @ X if W is None else X.T @ (X @ W)
    power = np.diag(product).copy() if W is None else np.einsum("ij,ij->j", X, X)
    return low, high, mean, power, product


def _sparse_moments(X: Block, scale: float, W: Array | None) -> tuple[Array, ...]:
    from rcweb.blocks.kernels import add_gram, column_moments

    n, N = X.shape
    low, high = np.full(N, np.inf), np.full(N, -np.inf)
    total, count = np.zeros(N), np.zeros(N, dtype=np.int64)
    column_moments(X.indices, X.data, low, high, total, count)
    some_zero = count < n
    low[some_zero] = np.minimum(low[some_zero], 0.0)
    high[some_zero] = np.maximum(high[some_zero], 0.0)
    mean = total / scale / n
    data, left = _shift_full(X, mean, scale)
    power = np.bincount(X.indices, data * data, N) - n * left**2
    if W is not None:
        return low, high, mean, np.maximum(power, 0.0), product(X, mean, scale, W)
    upper = np.zeros((N, N))
    add_gram(X.indptr, X.indices, data, upper)
    gram = upper + np.triu(upper, 1).T
    gram -= np.outer(n * left, left)
    return low, high, mean, power, gram


def _shift_full(X: Block, mean: Array, scale: float) -> tuple[Array, Array]:
    """Stored entries divided by `scale`, and the means that are left to be taken off.

    A variable without zeros is centred at once: its mean may be far larger than its spread, and
    products of both would cancel.
    """
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    data = X.data / scale
    if full.any():
        data -= np.where(full, mean, 0.0)[X.indices]
    return data, np.where(full, 0.0, mean)


def product(X: Block, mean: Array, scale: float, W: Array) -> Array:
    """``X0^T X0 W`` (N, L) with ``X0 = X / scale - mean``; sparse rows stay sparse."""
    if not sparse.issparse(X):
        X = (X if scale == 1 else X / scale) - mean
        return np.asarray(X.T @ (X @ W))
    from rcweb.blocks.kernels import add_activities, add_products

    data, left = _shift_full(X, mean, scale)
    columns = sparse.csr_array((data, X.indices, X.indptr), shape=X.shape).tocsc()
    stored = columns.indptr, columns.indices, columns.data
    B = np.tile(-(left @ W), (X.shape[0], 1))
    add_activities(*stored, W, B)
    out = np.outer(-left, B.sum(axis=0))
    add_products(*stored, B, out)
    return out


@dataclass(frozen=True)
class Multiply:
    """``G0^T G0 W`` for the centred table: what each block adds to it."""

    mean: Array
    scale: float
    W: Array
    rules = ("sum",)

    def __call__(self, block: Block, start: int) -> Parts:
        return (product(block, self.mean, self.scale, self.W),)


@dataclass(frozen=True)
class Participation:
    """Of the activities ``(x / scale - mean) @ projection``: sum, sum of squares and largest of
    their powers."""

    mean: Array
    scale: float
    projection: Array
    rules = ("sum", "sum", "high")

    def __call__(self, block: Block, start: int) -> Parts:
        power = activities(block, self.mean, self.scale, self.projection) ** 2
        return power.sum(axis=0), (power**2).sum(axis=0), power.max(axis=0)


def activities(block: Block, mean: Array, scale: float, projection: Array) -> Array:
    """``(block / scale - mean) @ projection``."""
    if sparse.issparse(block):
        return np.asarray(block @ (projection / scale) - mean @ projection)
    return np.asarray(((block if scale == 1 else block / scale) - mean) @ projection)


@dataclass(frozen=True)
class Collect:
    """All rows, for tables that are small after all."""

    rules = ("rows",)

    def __call__(self, block: Block, start: int) -> Parts:
        return (dense(block),)
