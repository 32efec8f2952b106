"""Analyses of a fitted model: how often its regulators are found again in resamples.

May import: estimator and what is below it.
Exports: `resample_stability`, `Stability`.
"""

from __future__ import annotations

from rcweb.activity.stability import Stability, resample_stability

__all__ = ["Stability", "resample_stability"]
