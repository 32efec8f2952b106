"""The steps of each pass, computed without making sparse rows dense.

Rows are centred by the mean of their own block, which avoids cancellation; joining the blocks adds
the differences of their means. With n_b rows of mean m_b and the mean m of all,

    G0^T G0 = sum_b X_b^T X_b + D^T D,   X_b centred in its block,   D_b = sqrt(n_b) (m_b - m).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rcweb.blocks.base import Parts, RowBlock, Step, dense
from rcweb.engine.lone import Scatter, far_entries
from rcweb.engine.types import Array


@dataclass(frozen=True)
class Centring:
    """The change of every row: ``row / unit - mean``.

    unit : (N,) powers of two, or None: rows are not divided
    """

    mean: Array
    unit: Array | None = None

    def __call__(self, block: RowBlock) -> Array:
        """The rows, dense."""
        return np.asarray(_divided(dense(block), self.unit) - self.mean)

    def activities(self, block: RowBlock, projection: Array) -> Array:
        """``(row / unit - mean) @ projection``; sparse rows stay sparse."""
        if not sparse.issparse(block):
            return np.asarray(self(block) @ projection)
        divided = projection if self.unit is None else projection / self.unit[:, None]
        return np.asarray(block @ divided - self.mean @ projection)

    def product(self, block: RowBlock, W: Array) -> Array:
        """``X0^T X0 W`` (N, L) of the centred rows X0; sparse rows stay sparse."""
        if not sparse.issparse(block):
            X = self(block)
            return np.asarray(X.T @ (X @ W))
        from rcweb.blocks.kernels import add_activities, add_products

        # X0 = X - 1 left^T, so X0 W = X W - left W for every row, and X0^T B = X^T B - left sum(B):
        # the mean enters by products of its own and X stays sparse.
        data, left = self.stored(block)
        columns = sparse.csr_array((data, block.indices, block.indptr), shape=block.shape).tocsc()
        entries = columns.indptr, columns.indices, columns.data
        B = np.tile(-(left @ W), (block.shape[0], 1))
        add_activities(*entries, W, B)
        out = np.outer(-left, B.sum(axis=0))
        add_products(*entries, B, out)
        return out

    def stored(self, block: RowBlock) -> tuple[Array, Array]:
        """Stored entries of sparse rows, and the means (N,) that are left to be taken off.

        A variable without zeros is centred here: its mean may be far larger than its spread, and
        subtracting products of means later would lose the digits of the spread.
        """
        data = block.data if self.unit is None else block.data / self.unit[block.indices]
        full = np.bincount(block.indices, minlength=block.shape[1]) == block.shape[0]
        if full.any():
            data = data - np.where(full, self.mean, 0.0)[block.indices]
        return data, np.where(full, 0.0, self.mean)


def _divided(X: Array, unit: Array | None) -> Array:
    return X if unit is None else X / unit


@dataclass(frozen=True)
class Moments(Step):
    """First pass: extremes of the variables as they are; means and products of rows / unit.

    unit : see `Centring`
    wanted : numbers of rows to bring along, ascending
    W : (N, L), to give the product ``X_b^T X_b W``; None for ``X_b^T X_b`` itself
    """

    unit: Array | None
    wanted: NDArray[np.intp]
    W: Array | None = None

    # low, high (N,); rows and means (N,) of each block; power (N,); product; rows wanted
    rules = ("low", "high", "rows", "rows", "sum", "sum", "rows")

    def __call__(self, block: RowBlock, start: int) -> Parts:
        # If the extremes show an overflow, the caller repeats the pass with other units.
        with np.errstate(over="ignore", invalid="ignore"):
            moments = self._sparse if sparse.issparse(block) else self._dense
            low, high, mean, power, product = moments(block)
        # Some rows come along in the first pass: outlier tests need them, and a pass is expensive.
        first, last = np.searchsorted(self.wanted, [start, start + block.shape[0]])
        rows = _divided(dense(block[self.wanted[first:last] - start]), self.unit)
        return low, high, np.array([block.shape[0]]), mean[None], power, product, rows

    def close(self, parts: Parts) -> Parts:
        """Joins blocks to one count and one mean; the differences of means go to the products."""
        low, high, counts, means, power, product, rows = parts
        if len(counts) == 1:
            return parts
        # Chan's formula for joining moments: products within blocks plus those between their means.
        n = counts.sum()
        mean = (counts / n) @ means
        with np.errstate(over="ignore", invalid="ignore"):
            between = np.sqrt(counts)[:, None] * (means - mean)
            product += between.T @ (between if self.W is None else between @ self.W)
            power += (between * between).sum(axis=0)
        return low, high, np.array([n]), mean[None], power, product, rows

    def _dense(self, block: Array) -> tuple[Array, ...]:
        low, high = block.min(axis=0), block.max(axis=0)
        X = _divided(block, self.unit)
        mean = X.mean(axis=0)
        X = X - mean
        if self.W is not None:
            return low, high, mean, np.einsum("ij,ij->j", X, X), X.T @ (X @ self.W)
        gram = X.T @ X
        return low, high, mean, np.diag(gram).copy(), gram

    def _sparse(self, block: RowBlock) -> tuple[Array, ...]:
        from rcweb.blocks.kernels import add_gram, column_moments

        n, N = block.shape
        low, high = np.full(N, np.inf), np.full(N, -np.inf)
        total, count = np.zeros(N), np.zeros(N, dtype=np.int64)
        divided = block.data if self.unit is None else block.data / self.unit[block.indices]
        column_moments(block.indices, divided, low, high, total, count)
        some_zero = count < n  # entries that are not stored are zeros, and count as extremes
        low[some_zero] = np.minimum(low[some_zero], 0.0)
        high[some_zero] = np.maximum(high[some_zero], 0.0)
        if self.unit is not None:
            low, high = low * self.unit, high * self.unit
        centring = Centring(total / n, self.unit)
        data, left = centring.stored(block)
        # Rounding can make the power of a nearly constant variable slightly negative.
        power = np.maximum(np.bincount(block.indices, data * data, N) - n * left**2, 0.0)
        if self.W is not None:
            return low, high, centring.mean, power, centring.product(block, self.W)
        # The kernel fills one triangle; the mean's part is subtracted from the full matrix.
        upper = np.zeros((N, N))
        add_gram(block.indptr, block.indices, data, upper)
        gram = upper + np.triu(upper, 1).T
        gram -= np.outer(n * left, left)
        return low, high, centring.mean, power, gram


@dataclass(frozen=True)
class Multiply(Step):
    """The contribution of each block to ``G0^T G0 W`` of the centred table."""

    centring: Centring
    W: Array
    rules = ("sum",)

    def __call__(self, block: RowBlock, start: int) -> Parts:
        return (self.centring.product(block, self.W),)


@dataclass(frozen=True)
class Participation(Step):
    """Of activities: sum, sum of squares and largest of their powers."""

    centring: Centring
    projection: Array
    rules = ("sum", "sum", "high")

    def __call__(self, block: RowBlock, start: int) -> Parts:
        power = self.centring.activities(block, self.projection) ** 2
        return power.sum(axis=0), (power**2).sum(axis=0), power.max(axis=0)


@dataclass(frozen=True)
class FarEntries(Step):
    """Entries far outside the scatter of their variables, see `rcweb.engine.lone.far_entries`."""

    scatter: Scatter
    rules = ("rows",)

    def __call__(self, block: RowBlock, start: int) -> Parts:
        return (far_entries(dense(block), self.scatter, start),)


@dataclass(frozen=True)
class Collect(Step):
    """All rows, for tables that fit in memory."""

    rules = ("rows",)

    def __call__(self, block: RowBlock, start: int) -> Parts:
        return (dense(block),)
