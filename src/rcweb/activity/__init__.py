"""Analyses of fitted models: regulators found again in resamples, and in another fit.

May import: estimator and what is below it.
Exports: `compare`, `Comparison`, `resample_stability`, `Stability`.
"""

from __future__ import annotations

from rcweb.activity.compare import Comparison, compare
from rcweb.activity.stability import Stability, resample_stability

__all__ = ["Comparison", "Stability", "compare", "resample_stability"]
