"""Prepare the user's table for the methods: centring, units, constant variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

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
    lone : (n, 3) single extreme entries that were replaced: sample, variable, value
    """

    mean: Array
    varying: Mask
    scale: float
    units: Array | None = None
    lone: Array = field(default_factory=lambda: np.empty((0, 3)), kw_only=True)


@dataclass(frozen=True)
class Prepared(Preparation):
    """A table ready for a method: `G0` (M, N_varying), centred if asked for, without constants."""

    G0: Array = field(kw_only=True)


def prepare(X: Array, *, center: bool) -> Prepared:
    """Subtract means (if `center`) and drop constant variables, which nothing can regulate."""
    low, high = X.min(axis=0), X.max(axis=0)
    varying, scale, units = judge(low, high)
    # Constant variables are judged before centring: afterwards rounding would make them vary.
    scaled = X / (scale if units is None else units)
    mean = scaled.mean(axis=0) if center else np.zeros(X.shape[1])
    G0 = np.ascontiguousarray((scaled - mean)[:, varying])
    if units is not None:
        mean = mean * units
    return Prepared(np.where(varying, mean * scale, X[0]), varying, scale, units, G0=G0)


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
    units = 1.0 if prepared.units is None else prepared.units[prepared.varying]
    if solution.directions is not None and solution.spread is not None:
        solution = replace(
            solution,
            directions=_widen(solution.directions.T, prepared.varying).T,
            spread=_widen(solution.spread[None] * units * prepared.scale, prepared.varying)[0],
        )
    return replace(
        solution,
        C=_widen(solution.C * units, prepared.varying),
        weights=_widen(solution.weights * units, prepared.varying),
        weights_sd=None
        if solution.weights_sd is None
        else _widen(solution.weights_sd * units, prepared.varying),
        probability=_widen(solution.probability, prepared.varying),
        score=_widen(solution.score, prepared.varying),
        projection=_widen(solution.projection.T / units, prepared.varying).T,
        noise=_widen(solution.noise[None] * units * prepared.scale, prepared.varying)[0],
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


def _widen(values: Array, varying: Mask) -> Array:
    if varying.all():
        return values
    wide = np.zeros((values.shape[0], len(varying)))
    wide[:, varying] = values
    return wide
