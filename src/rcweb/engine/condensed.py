"""A centred table condensed to what the refined method asks of it, however many samples it has.

Everything follows from ``S = G0^T G0``: singular pairs, regressions, the sampler's statistics.
With fewer samples than variables the rows are kept, with more samples S itself, and for a table
that is large on both sides some leading axes and the power that they leave in each variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from rcweb.engine.types import Array

# Relative size of singular values that a Gram matrix cannot tell from zero: forming it squares
# them, so the limit is near the square root of the 2e-16 of double precision.
ROUNDING = 1e-7

MOST_DIRECTIONS = 150  # of a low-rank fit: the cost of a step grows with their square
ALL_AT_ONCE = 0.15  # share of the eigenpairs above which computing all of them is faster


@dataclass(frozen=True)
class Leading:
    """Leading singular pairs of a table: values (n,), V (N, n); shape and sum of all squares."""

    values: Array
    V: Array
    M: int
    N: int
    total: float

    def noise(self, n: int) -> float:
        """Noise of an entry from what the first n pairs leave (one sample is lost to the mean)."""
        return entry_noise(self.total - float((self.values[:n] ** 2).sum()), n, self.M, self.N)


def entry_noise(rest: float, n: int, M: int, N: int) -> float:
    """Standard deviation of an entry if `rest` is the power beyond n directions.

    n directions and the mean take degrees of freedom; dividing by M N would make noise too small.
    """
    freedom = (M - 1 - n) * (N - n)
    return float(np.sqrt(max(rest, 0.0) / freedom)) if freedom > 0 else 0.0


@dataclass(frozen=True)
class CondensedTable:
    """The centred table G0 (M x N), of which ``S = G0^T G0`` is known.

    M : number of samples
    axes : (L, N) with ``S = axes^T axes + diag(rest)``; None where `gram` is S itself
    gram : Gram matrix of the smaller side: ``axes axes^T`` (L, L), or S (N, N)
    rest : (N,) power of each variable beyond the axes; zero unless axes were left out
    observed : (N,) share of the samples in which each variable was measured
    """

    M: int
    axes: Array | None
    gram: Array
    rest: Array
    observed: Array

    @classmethod
    def of(cls, G0: Array, observed: Array | None = None) -> CondensedTable:
        """A table in memory, `G0` (M x N) centred."""
        M, N = G0.shape
        axes = G0 if M <= N else None  # the smaller side: its Gram matrix costs less
        return cls.condensed(M, axes, G0 @ G0.T if M <= N else G0.T @ G0, observed=observed)

    @classmethod
    def condensed(
        cls,
        M: int,
        axes: Array | None,
        gram: Array,
        rest: Array | None = None,
        observed: Array | None = None,
    ) -> CondensedTable:
        """From its parts; by default nothing is left out and nothing is missing."""
        N = len(gram) if axes is None else axes.shape[1]
        return cls(
            M,
            axes,
            gram,
            np.zeros(N) if rest is None else rest,
            np.ones(N) if observed is None else observed,
        )

    @property
    def N(self) -> int:
        return len(self.rest)

    @cached_property
    def power(self) -> Array:
        """Sum of squares of each variable, (N,)."""
        if self.axes is None:
            return np.diag(self.gram).copy()
        return np.asarray((self.axes * self.axes).sum(axis=0) + self.rest)

    def scaled(self, factor: Array | None) -> CondensedTable:
        """The table with each variable multiplied by `factor` (N,); itself for None."""
        if factor is None:
            return self
        rest = self.rest * factor**2
        if self.axes is None:
            gram = self.gram * factor * factor[:, None]
            return CondensedTable(self.M, None, gram, rest, self.observed)
        axes = self.axes * factor
        return CondensedTable(self.M, axes, axes @ axes.T, rest, self.observed)

    def arranged(self, order: NDArray[np.intp], sign: Array) -> CondensedTable:
        """The table with its variables in another `order`, multiplied by `sign` (N,)."""
        rest, observed = self.rest[order], self.observed[order]
        if self.axes is None:
            gram = self.gram[np.ix_(order, order)] * sign * sign[:, None]
            return CondensedTable(self.M, None, np.ascontiguousarray(gram), rest, observed)
        axes = np.take(self.axes, order, axis=1)
        axes *= sign
        return CondensedTable(self.M, axes, self.gram, rest, observed)

    def times(self, P: Array) -> Array:
        """``S P`` for P (N, k)."""
        if self.axes is None:
            return self.gram @ P
        return self.axes.T @ (self.axes @ P) + self.rest[:, None] * P

    def squares(self) -> Array:
        """Squared singular values of the axes or of S, ascending."""
        if "_all" in vars(self):
            return self._all[0]
        return np.asarray(np.linalg.eigvalsh(self.gram), dtype=np.float64)

    @cached_property
    def _all(self) -> tuple[Array, Array]:
        """All eigenvalues of the Gram matrix, ascending, and their vectors."""
        # Divide and conquer: fastest for all pairs, but it cannot compute a few of them only.
        values, vectors = eigh(self.gram, driver="evd")
        return values, vectors

    def _largest(self, n: int) -> tuple[Array, Array]:
        """The n largest eigenvalues of the Gram matrix, descending, and their vectors."""
        size = len(self.gram)
        if n <= ALL_AT_ONCE * size and "_all" not in vars(self):
            values, vectors = eigh(self.gram, subset_by_index=[size - n, size - 1])
            # LAPACK's routine for a few may return fewer where many eigenvalues are equal.
            if len(values) == n:
                return values[::-1], vectors[:, ::-1]
        values, vectors = self._all
        return values[::-1][:n], vectors[:, ::-1][:, :n]

    @property
    def total(self) -> float:
        """Sum of all squares."""
        return float(np.trace(self.gram) + self.rest.sum())

    def leading(self, n: int, keep: Callable[[Leading], int] | None = None) -> Leading:
        """The n largest singular values and their right singular vectors, signs fixed; of these
        only the first, as many as `keep` says of the values, if it is given."""
        squares, vectors = self._largest(n)
        # A floor instead of zero: V divides by the values.
        values = np.sqrt(np.maximum(squares, ROUNDING**2 * squares[0]))
        found = Leading(values, vectors[:0], self.M, self.N, self.total)
        k = n if keep is None else keep(found)
        V = vectors[:, :k] if self.axes is None else self.axes.T @ (vectors[:, :k] / values[:k])
        return replace(found, V=V * np.where(-V.min(axis=0) > V.max(axis=0), -1.0, 1.0))
