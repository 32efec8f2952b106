"""The data in the form the posterior needs: leading axes of the table, and the residual power."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.types import Array


@dataclass(frozen=True)
class Axes:
    """What the posterior needs of the data.

    Y : (L, N) leading rows of the table turned to its principal axes, ``s V^T``
    rest : (N,) sum of squares that Y leaves in each variable
    M : number of independent samples (one is lost to centring)
    observed : (N,) share of them in which each variable was measured; the others were filled with
        their expectation, and so have no noise
    single : whether products with Y, the most expensive ones, are in float32; enough where noise
        exceeds the rounding by far
    """

    Y: Array
    rest: Array
    M: int
    observed: Array
    single: bool = False

    @cached_property
    def power(self) -> Array:
        """Sum of squares of each variable, (N,)."""
        return np.asarray(np.einsum("ij,ij->j", self.Y, self.Y) + self.rest)

    @cached_property
    def floor(self) -> float:
        """Least noise variance of a variable: rounding relative to a typical variance."""
        return float(1e-12 * self.power.mean() / self.M)

    @cached_property
    def _scaled(self) -> tuple[float, NDArray[Any]]:
        """A unit, and Y in it, so that single precision rounds the same way in any user's units."""
        if not self.single:
            return 1.0, self.Y
        unit = float(np.sqrt(self.power.mean() / self.M))
        return unit, (self.Y / unit).astype(np.float32)

    def scores(self, H: Array) -> NDArray[Any]:
        """``Y H^T`` (L, P) for H (P, N), in the precision of products."""
        unit, Y = self._scaled
        return np.asarray(Y @ (unit * H.T).astype(Y.dtype))

    def cross(self, R: NDArray[Any]) -> Array:
        """``R^T Y`` (P, N) for R (L, P)."""
        unit, Y = self._scaled
        return np.asarray(unit * (R.T.astype(Y.dtype, copy=False) @ Y).astype(np.float64))


def all_axes(table: CondensedTable, *, single: bool = False) -> Axes:
    """All axes of the table; with more samples than variables, its triangular factor."""
    M, N = table.M - 1, table.N
    if table.axes is not None:
        # The sign of the whole table must not reach the random draws.
        sign = np.sign(table.axes.flat[np.abs(table.axes).argmax()]) or 1.0
        return Axes(np.ascontiguousarray(sign * table.axes), table.rest, M, table.observed, single)
    # Any factor Y with Y^T Y = S serves, since rotating samples changes nothing in the model. The
    # ridge keeps Cholesky defined where variables are dependent.
    gram = table.gram + np.diag(np.full(N, 1e-12 * np.trace(table.gram) / N))
    Y = np.ascontiguousarray(np.linalg.cholesky(gram).T, dtype=np.float64)
    return Axes(Y, table.rest, M, table.observed, single)


def leading_axes(table: CondensedTable, L: int, *, single: bool = False) -> Axes:
    """The L leading principal axes, and the power that they leave in each variable."""
    leading = table.leading(L)
    Y = np.ascontiguousarray((leading.V * leading.values).T)
    # Cheaper, but the rest is then taken as independent noise: at noise above 0.12 of a row
    # this raises the false discovery rate from 0.05 to 0.07-0.10.
    rest = np.maximum(table.power - (Y * Y).sum(axis=0), 0.0)
    return Axes(Y, rest, table.M - 1, table.observed, single)
