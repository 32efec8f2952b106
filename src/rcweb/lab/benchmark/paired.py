"""Which of two methods is ahead on the same tables, or whether nobody can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

LEVEL = 0.05
# With five pairs even five wins have p = 0.0625: fewer than six can show nothing.
FEWEST_PAIRS = 6


@dataclass(frozen=True)
class PairedComparison:
    """n : pairs compared;  difference : mean of first less second;  p : two-sided, 1 if n < 6."""

    n: int
    difference: float
    p: float

    @property
    def tie(self) -> bool:
        """No difference can be told."""
        return self.p >= LEVEL


def compare(first: pd.Series, second: pd.Series) -> PairedComparison:
    """Wilcoxon's signed-rank test over the index that both share.

    Values are indexed by (unit, seed). Seeds of a unit are not independent, so units count, each
    with its mean over seeds; only if there are fewer than six units, seeds count.
    """
    paired = pd.concat([first, second], axis=1, keys=["a", "b"]).dropna()
    difference = paired["a"] - paired["b"]
    by_unit = difference.groupby(level="unit").mean()
    pairs = by_unit if len(by_unit) >= FEWEST_PAIRS else difference
    n = len(pairs)
    if not n:
        return PairedComparison(0, float("nan"), 1.0)
    # Wilcoxon's test is undefined if all differences are zero.
    moved = n >= FEWEST_PAIRS and bool(np.any(pairs != 0))
    p = float(wilcoxon(pairs).pvalue) if moved else 1.0
    return PairedComparison(n, float(pairs.mean()), p)
