"""The kind of the values: counts, logs, centred, unit variance, proportions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.tables.finding import Finding
from rcweb.tables.look import Look

TAKE_LOGS = "Take logs first: --log, from Python np.log2(X + 1)"
# Counts that differ less than tenfold are hardly changed by logs; conventional.
TENFOLD = 10
NEARLY_WHOLE = 1e-4  # relative size of a mean, or of a departure from variance 1, that is rounding
# Sums of rows that vary this much less than those of unrelated variables would are fixed.
FIXED = 1e-3
MOST_ROWS = 200  # tell whether a few values dominate


@dataclass(frozen=True)
class Kind:
    """The kind of the values.

    whole, binary, negative : whether all are whole, all are 0 or 1, any is below 0
    counts : whole, not negative, over more than one order of magnitude
    dominated : a few large values make up most of a sample, as before logs are taken
    skewed : variables have long upper tails, which logs take away
    centred, unit_variance : of each variable over the samples
    low, high : extremes
    """

    whole: bool
    binary: bool
    negative: bool
    counts: bool
    dominated: bool
    skewed: bool
    centred: bool
    unit_variance: bool
    low: float
    high: float


def kind_of(look: Look) -> Kind:
    """Look at all values once."""
    values = look.values
    finite = values[np.isfinite(values)]
    if not len(finite):
        return Kind(*(False,) * 8, np.nan, np.nan)
    low, high = float(finite.min()), float(finite.max())
    whole = bool((np.floor(finite) == finite).all())
    positive = finite[finite > 0]
    # Whole numbers over a narrow range are ranks or scores, not counts.
    wide = len(positive) > 0 and high >= TENFOLD * float(positive.min())
    centred, unit = _standard(look)
    return Kind(
        whole=whole,
        binary=whole and low >= 0 and high <= 1,
        negative=low < 0,
        counts=whole and low >= 0 and wide,
        dominated=low >= 0 and _dominated(values),
        skewed=low > 0 and _skewed(look),
        centred=centred,
        unit_variance=unit,
        low=low,
        high=high,
    )


def describe(kind: Kind) -> str:
    """The kind in words."""
    if np.isnan(kind.low):
        return "none"
    extent = f"from {_short(kind.low)} to {_short(kind.high)}"
    if kind.binary:
        return "0 and 1 only"
    if kind.counts:
        words = f"whole numbers {extent}: counts"
    elif kind.whole:
        words = f"whole numbers {extent}"
    elif kind.dominated:
        words = f"{extent}, a few large ones dominate: no logs were taken"
    elif kind.skewed:
        words = f"{extent}, with long upper tails: no logs were taken"
    elif kind.negative:
        words = f"{extent}, of both signs: ratios, logs or centred"
    else:
        words = f"{extent}, none negative"
    standard = [
        text
        for text, holds in (("centred", kind.centred), ("of unit variance", kind.unit_variance))
        if holds
    ]
    return words + (f"; variables are {' and '.join(standard)}" if standard else "")


def not_logged(kind: Kind) -> list[Finding]:
    """Counts and other amounts, whose noise grows with their level."""
    if kind.counts:
        return [
            Finding(
                "warning",
                "The values look like raw counts; their noise grows with their level, and the few "
                f"largest variables would decide the result. {TAKE_LOGS}.",
            )
        ]
    if kind.dominated:
        return [
            Finding(
                "warning",
                "The values look like amounts of which no logs were taken: in most samples the "
                f"mean is more than twice the median. {TAKE_LOGS}. If the variables have units of "
                "their own, bring them to one scale instead.",
            )
        ]
    if kind.skewed:
        return [
            Finding(
                "warning",
                "The values look like amounts of which no logs were taken: typical variables have "
                "long upper tails, and their logs have none. One regulator may then look like "
                "several. Take logs first: from Python np.log2(X); --log, which takes log2(x + 1), "
                "does as well if values are large.",
            )
        ]
    return []


def fixed_sum(look: Look) -> tuple[str, list[Finding]]:
    """Whether all samples have the same sum: a description, and the warning that follows."""
    values = look.values
    if not np.isfinite(values).all() or len(values) < 3 or values.shape[1] < 3:
        return "", []
    largest = float(np.abs(values).max())
    if largest == 0:
        return "", []
    # Sums of huge values would overflow.
    scaled = values / largest
    sums = scaled.sum(axis=1)
    if not sums.std() < FIXED * np.sqrt(scaled.var(axis=0).sum()):
        return "", []
    mean = float(sums.mean()) * largest
    if abs(sums.mean()) <= NEARLY_WHOLE * np.abs(scaled).sum(axis=1).mean():
        return "sum to 0: samples were centred", []
    return f"all sum to {_short(mean)}: proportions, or a fixed library size", [
        Finding(
            "warning",
            f"All samples sum to {_short(mean)}. Variables that add up to a constant lose one "
            "direction when they are centred: a rise of one is a fall of the others. Fit with "
            "--no-center (from Python center=False), or take logs first (--log, or log ratios).",
        )
    ]


def _standard(look: Look) -> tuple[bool, bool]:
    """Whether variables have mean 0 and variance 1; needs all samples."""
    if not look.complete or len(look.values) < 3:
        return False, False
    seen = np.isfinite(look.values)
    n = np.maximum(seen.sum(axis=0), 1)
    filled = np.where(seen, look.values, 0.0)
    largest = float(np.abs(filled).max()) or 1.0
    # Squares of huge values would overflow.
    filled = filled / largest
    mean = filled.sum(axis=0) / n
    square = (filled**2).sum(axis=0) / n
    variance = square - mean**2
    # Constant variables can be neither centred nor scaled to variance 1.
    varying = variance > NEARLY_WHOLE**2 * square
    if not varying.any():
        return False, False
    centred = bool((mean[varying] ** 2 <= NEARLY_WHOLE**2 * square[varying]).all())
    ratio = np.sqrt(variance[varying]) * largest
    # Variances may have been computed with n or with n - 1.
    slack = NEARLY_WHOLE + 1 / n[varying]
    return centred, bool((np.abs(ratio - 1) <= slack).all())


def _dominated(values: NDArray[np.float64]) -> bool:
    """Whether in most samples the mean of the positive values is more than twice their median.

    It is for log-normal values with a spread above 1.18 (1.7 doublings), and not for their logs;
    for exponential values it is 1.4 times the median.
    """
    rows = values[np.unique(np.linspace(0, len(values) - 1, MOST_ROWS).astype(int))]
    votes = []
    for row in rows:
        positive = row[row > 0]
        # Mean and median of fewer values say little.
        if len(positive) >= 4:
            largest = positive.max()
            votes.append((positive / largest).mean() > 2 * np.median(positive / largest))
    return len(votes) > 0 and 2 * sum(votes) > len(votes)


def _skewed(look: Look) -> bool:
    """Whether the median skewness of the variables is above twice its standard error for one
    Gaussian variable, and logs take more than half of it away. All values are positive.

    Measured: amounts 0.4 to 4, their logs -0.1 to 0.04; expression tables in logs -0.3 to 0.04;
    clusters and mixtures 1.3 to 1.8, their logs 1.1 to 1.6.
    """
    values = np.where(np.isfinite(look.values), look.values, np.nan)
    values = values[:, np.isfinite(values).sum(axis=0) >= 3]
    if not values.size:
        return False
    skewness = _skewness(values)
    beyond = skewness > 2 * np.sqrt(6 / len(values))
    return beyond and abs(_skewness(np.log(values))) < skewness / 2


def _skewness(values: NDArray[np.float64]) -> float:
    """Median over the variables that vary; 0 if none does."""
    # Cubes of huge values would overflow.
    centred = values / np.nanmax(np.abs(values), axis=0).clip(1e-300)
    centred = centred - np.nanmean(centred, axis=0)
    spread = np.nanstd(centred, axis=0)
    varies = spread > NEARLY_WHOLE**2
    if not varies.any():
        return 0.0
    return float(np.median(np.nanmean((centred[:, varies] / spread[varies]) ** 3, axis=0)))


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.4g}"
