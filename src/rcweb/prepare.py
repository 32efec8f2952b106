"""From the user's table to the table the methods see: centring and constant variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rcweb.solution import Solution

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Squares of numbers beyond these limits overflow or vanish; such tables are rescaled.
_LARGE, _SMALL = 1e100, 1e-100
# Ratio of the ninth to the first decile of spreads above which variables have units of their own:
# the squares of the small ones would drown in the noise, or the rounding, of the large ones.
_DIFFERENT = 1e4
_ROUNDED = 1e-9  # spread beside the value below which a variable may vary by rounding alone


@dataclass(frozen=True)
class Preparation:
    """What was done to a table before a method saw it, so that it can be undone.

    mean : (N,) what was taken off each variable; for a constant variable its value
    varying : (N,) which variables are not constant
    scale : power of two that the table was divided by; 1 unless numbers are extreme
    units : (N,) powers of two that variables were divided by besides; None unless too different
    """

    mean: Array
    varying: Mask
    scale: float
    units: Array | None = None


@dataclass(frozen=True)
class Prepared(Preparation):
    """A table ready for a method: `G0` (M, N_varying), centred if asked for, without constants."""

    G0: Array = field(kw_only=True)


def prepare(X: Array, *, center: bool) -> Prepared:
    """Take off means (if `center`) and set constant variables aside: nothing can regulate them."""
    low, high = X.min(axis=0), X.max(axis=0)
    varying, scale = judge(low, high)
    units = different_units(low / scale, high / scale, varying)
    scaled = X / scale if units is None else X / scale / units
    mean = scaled.mean(axis=0) if center else np.zeros(X.shape[1])
    G0 = np.ascontiguousarray((scaled - mean)[:, varying])
    if units is not None:
        mean = mean * units
    return Prepared(np.where(varying, mean * scale, X[0]), varying, scale, units, G0=G0)


def judge(low: Array, high: Array) -> tuple[Mask, float]:
    """From the extremes of each variable (N,): which of them vary, and the scale of the table."""
    # Halves first: the difference of two huge numbers of opposite sign overflows.
    spread = high / 2 - low / 2
    size = np.maximum(np.abs(low), np.abs(high))
    varying = spread > 8 * np.finfo(np.float64).eps * size
    if varying.sum() < 2:
        raise ValueError(
            f"{int(varying.sum())} of the {len(low)} variables vary over the samples; "
            "a network needs at least 2."
        )
    largest = float(size[varying].max())
    extreme = largest > _LARGE or float(spread[varying].max()) < _SMALL
    scale = float(2.0 ** np.floor(np.log2(spread[varying].max()))) if extreme else 1.0
    return varying, scale


def different_units(low: Array, high: Array, varying: Mask) -> Array | None:
    """Powers of two (N,) that bring variables to a spread near 1; None if spreads are alike.

    What may be rounding alone keeps its size: made as large as the others it would be a variable.
    """
    spread = high / 2 - low / 2
    real = varying & (spread > _ROUNDED * np.maximum(np.abs(low), np.abs(high)))
    if not real.any():
        return None
    small, large = np.quantile(np.log(spread[real]), [0.1, 0.9])
    if large - small < np.log(_DIFFERENT):
        return None
    return np.asarray(2.0 ** np.floor(np.log2(np.where(real, spread, 1.0))))


def restore(
    solution: Solution, prepared: Preparation, names: Sequence[str] | None = None
) -> Solution:
    """Give constant variables back their place, without edges, and numbers their size."""
    note = constant_note(prepared.varying, names)
    units = 1.0 if prepared.units is None else prepared.units[prepared.varying]
    return replace(
        solution,
        C=_widen(solution.C * units, prepared.varying),
        weights=_widen(solution.weights * units, prepared.varying),
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
    from rcweb.missing.check import some_of

    return (f"Constant over the samples and without edges: variables {some_of(constant, names)}.",)


def _widen(values: Array, varying: Mask) -> Array:
    if varying.all():
        return values
    wide = np.zeros((values.shape[0], len(varying)))
    wide[:, varying] = values
    return wide
