"""Prepare the user's table for the methods: centring, units, constant variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import LITTLE
from rcweb.engine.solution import Solution
from rcweb.engine.types import Array, Mask

# Squares of numbers beyond these limits overflow or vanish; such tables are rescaled.
_LARGE, _SMALL = 1e100, 1e-100
# Ratio of the ninth to the first decile of spreads above which variables have different units: the
# squares of the small ones would be lost in the noise, or the rounding, of the large ones.
_DIFFERENT = 1e4
# Ratio of the largest to the typical spread above which one variable costs the others their last
# digits: squares then differ by 1e10, of the 1e16 that doubles hold.
_DWARFS = 1e5
_LEAST = 2.0**-960  # unit whose reciprocal is far from overflow
_ROUNDED = 1e-9  # spread beside the value below which a variable may vary by rounding alone


@dataclass(frozen=True)
class Preparation:
    """How a table was prepared, so that it can be undone.

    mean : (N,) what was taken off each variable; for a constant variable its value
    varying : (N,) which variables are not constant
    scale : power of two that the table was divided by; 1 unless numbers are extreme
    units : (N,) powers of two that variables were divided by instead; None unless too different
    columns : (N_varying,) the varying variables in the order in which a method gets them
    lone : (n, 3) single extreme entries that were replaced: sample, variable, value
    """

    mean: Array
    varying: Mask
    scale: float
    units: Array | None = None
    columns: NDArray[np.intp] | None = None
    lone: Array = field(default_factory=lambda: np.empty((0, 3)), kw_only=True)

    def in_units(self, units: Array) -> Self:
        """The same of a table whose variables (N,) were measured in other `units`: one of the
        prepared table's is so many of the user's."""
        whole = units if self.units is None else units * self.units
        return replace(self, units=whole, mean=self.mean * units)


@dataclass(frozen=True)
class Prepared(Preparation):
    """A table ready for a method: `G0` (M, N_varying), centred if asked for, without constants; and
    which sample each of its rows is, (M,); `copies` of other samples were left out."""

    G0: Array = field(kw_only=True)
    samples: NDArray[np.intp] = field(kw_only=True)
    copies: int = field(default=0, kw_only=True)

    @property
    def means(self) -> Array:
        """(N_varying,) what was taken off the variables, in the units and the order of `G0`."""
        units = 1.0 if self.units is None else self.units[self.columns]
        return np.asarray(self.mean[self.columns] / units / self.scale)

    @property
    def copies_note(self) -> tuple[str, ...]:
        """One sentence on samples that count once, nothing if there are none."""
        if not self.copies:
            return ()
        one = "1 sample is an exact copy"
        what = one if self.copies == 1 else f"{self.copies} samples are exact copies"
        return (f"{what} of another: what was measured once counts once.",)


def prepare(X: Array, *, center: bool, arrange: bool = False) -> Prepared:
    """Subtract means (if `center`) and drop constant variables, which nothing can regulate.

    With `arrange`, samples and variables get an order of their own (`own_order`) before anything is
    summed over them: permuted tables then give the same bits. Exact copies of samples are left out
    if there are many: a table of 50 samples, four times each, has the noise of 50, and would seem
    to have that of 200. A few, such as two of the 278 samples of E. coli, change nothing.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    varying, scale, units = judge(low, high)
    # Constant variables are judged before centring: afterwards rounding would make them vary.
    G0 = (X / (scale if units is None else units))[:, varying]
    samples, columns = np.arange(len(X)), np.flatnonzero(varying)
    if arrange:
        samples, order = own_order(G0)
        G0, columns = G0[np.ix_(samples, order)], columns[order]
        copy = _copies(G0)
        if copy.mean() > LITTLE:
            G0, samples = G0[~copy], samples[~copy]
    mean = np.zeros(X.shape[1])
    if center:
        mean[columns] = G0.mean(axis=0)
        G0 -= mean[columns]
    if units is not None:
        mean = mean * units
    taken_off = np.where(varying, mean * scale, X[0])
    copies = len(X) - len(samples)
    return Prepared(
        taken_off, varying, scale, units, columns, G0=G0, samples=samples, copies=copies
    )


def _copies(G: Array) -> Mask:
    """(M,) samples equal to the one before, in an order that brings copies together."""
    copy = np.zeros(len(G), bool)
    # Few columns first: hardly any sample agrees with its neighbour in all of them.
    near = 1 + np.flatnonzero((G[1:, :8] == G[:-1, :8]).all(axis=1))
    copy[near] = (G[near] == G[near - 1]).all(axis=1)
    return copy


def own_order(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """An order of the samples and one of the variables that are properties of the table, whatever
    the order and the signs in which its variables come.

    By sums of square roots, which no usual normalisation makes equal. Two samples may be each
    other's negative (replicates that a table was centred on), so samples are ordered by their
    product with a weighted sum of all of them. Equal keys keep the user's order.
    """
    centred = X - X.mean(axis=0)
    size = np.abs(centred)
    np.sqrt(size, out=size)
    together = centred @ (size.sum(axis=1) @ centred)
    return np.argsort(-together, kind="stable"), np.argsort(-size.sum(axis=0), kind="stable")


def judge(low: Array, high: Array) -> tuple[Mask, float, Array | None]:
    """From the extremes of each variable (N,): which of them vary, and what to divide the table by:
    one scale, or (then the scale is 1) units of the variables (N,)."""
    # Halves first: the difference of two huge numbers of opposite sign overflows.
    spread = high / 2 - low / 2
    size = np.maximum(np.abs(low), np.abs(high))
    varying = spread > 8 * np.finfo(np.float64).eps * size
    if varying.sum() < 2:
        raise ValueError(
            f"{int(varying.sum())} of the {len(low)} variables vary over the samples; "
            "a network needs at least 2."
        )
    units = different_units(low, high, varying)
    if units is not None:
        return varying, 1.0, units
    extreme = is_extreme(float(size[varying].max())) or is_extreme(float(spread[varying].max()))
    return varying, power_of_two(float(spread[varying].max())) if extreme else 1.0, None


def is_extreme(size: float) -> bool:
    """Whether squares of numbers of this size overflow or vanish."""
    return size > _LARGE or 0 < size < _SMALL


def power_of_two(size: float) -> float:
    """The largest one that is not above `size`: division by it loses no digit."""
    return float(2.0 ** np.floor(np.log2(size)))


def different_units(low: Array, high: Array, varying: Mask) -> Array | None:
    """Powers of two (N,) that bring variables to a spread near 1; None if spreads are alike.

    A variable that may vary by rounding alone is divided by its value instead: scaled to a spread
    of 1, its rounding would look like data.
    """
    spread, size = high / 2 - low / 2, np.maximum(np.abs(low), np.abs(high))
    real = varying & (spread > _ROUNDED * size)
    if not real.any():
        return None
    small, middle, large = np.quantile(np.log(spread[real]), [0.1, 0.5, 0.9])
    largest = np.log(spread[real].max())
    if large - small < np.log(_DIFFERENT) and largest - middle < np.log(_DWARFS):
        return None
    unit = np.maximum(np.where(real, spread, np.where(varying, size, 1.0)), _LEAST)
    return np.asarray(2.0 ** np.floor(np.log2(unit)))


def restore(
    solution: Solution, prepared: Preparation, names: Sequence[str] | None = None
) -> Solution:
    """Give constant variables back their place, without edges, and numbers their size."""
    note = constant_note(prepared.varying, names)
    N, columns = len(prepared.varying), prepared.columns
    if columns is None:
        columns = np.flatnonzero(prepared.varying)
    units = 1.0 if prepared.units is None else prepared.units[columns]
    if solution.directions is not None and solution.spread is not None:
        solution = replace(
            solution,
            directions=_widen(solution.directions.T, columns, N).T,
            spread=_widen(solution.spread[None] * units * prepared.scale, columns, N)[0],
        )
    return replace(
        solution,
        C=_widen(solution.C * units, columns, N),
        weights=_widen(solution.weights * units, columns, N),
        weights_sd=None
        if solution.weights_sd is None
        else _widen(solution.weights_sd * units, columns, N),
        probability=_widen(solution.probability, columns, N),
        score=_widen(solution.score, columns, N),
        projection=_widen(solution.projection.T / units, columns, N).T,
        noise=_widen(solution.noise[None] * units * prepared.scale, columns, N)[0],
        singular_values=solution.singular_values * prepared.scale,
        warnings=(*solution.warnings, *note),
    )


def constant_note(varying: Mask, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """One sentence naming the constant variables, by number if they have no names; nothing if there
    are none."""
    constant = np.flatnonzero(~varying)
    if not len(constant):
        return ()
    from rcweb.engine.missing.check import some_of

    return (f"Constant over the samples and without edges: variables {some_of(constant, names)}.",)


def _widen(values: Array, columns: NDArray[np.intp], N: int) -> Array:
    """`values` (n, N_varying) at their place among N variables, zero elsewhere."""
    wide = np.zeros((len(values), N))
    wide[:, columns] = values
    return wide
