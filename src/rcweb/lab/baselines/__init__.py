"""Rivals, one file and one signature each.

``fit(data, n_components, *, density=None, random_state=0) -> Factors``
"""

from __future__ import annotations

from rcweb.lab.baselines.base import Factors

__all__ = ["Factors"]
