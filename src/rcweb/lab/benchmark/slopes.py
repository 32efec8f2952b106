"""Scaling exponents: slopes of log CPU time against log size (paper, section 4.2, figure 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

SIZES = {"P": "n_regulators", "M": "n_samples", "N": "n_features"}
NOUNS = {"P": "regulators", "M": "samples", "N": "variables"}


def slope(size: ArrayLike, seconds: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
    """Least-squares slope of log(seconds) on log(size) and its confidence limits.

    NaN limits when fewer than three points leave no freedom to judge the spread.
    """
    x, y = np.log(np.asarray(size, float)), np.log(np.asarray(seconds, float))
    # One size gives no slope.
    if len(x) < 2 or np.ptp(x) == 0:
        return (np.nan, np.nan, np.nan)
    x, y = x - x.mean(), y - y.mean()
    value = float(x @ y / (x @ x))
    if len(x) < 3:
        return (value, np.nan, np.nan)
    error = np.sqrt(np.sum((y - value * x) ** 2) / (len(x) - 2) / (x @ x))
    half = float(stats.t.ppf((1 + level) / 2, len(x) - 2) * error)
    return (value, value - half, value + half)


def scaling_exponents(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per method, threads and varied size, from every single fit that succeeded.

    Of processor time, summed over threads, which other work on the machine hardly changes.
    """
    ok = rows[rows["status"] == "ok"]
    lines = []
    for (method, threads, panel), group in ok.groupby(["method", "threads", "panel"], sort=False):
        exponent, low, high = slope(group[SIZES[str(panel)]], group["cpu_seconds"])
        lines.append(
            {
                "method": method,
                "threads": threads,
                "size_varied": panel,
                "exponent": exponent,
                "low": low,
                "high": high,
                "n": len(group),
            }
        )
    return pd.DataFrame(lines)
