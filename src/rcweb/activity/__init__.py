"""What is asked after the fit: changes between groups, associations, replicates, stability.

May import: estimator and what is below it.
Exports: `contrast`, `changed`, `associate`, `design`, `resample_stability`, `Stability`.
"""

from __future__ import annotations

from rcweb.activity.associate import associate
from rcweb.activity.changed import changed
from rcweb.activity.contrast import contrast
from rcweb.activity.design import design
from rcweb.activity.stability import Stability, resample_stability

__all__ = ["Stability", "associate", "changed", "contrast", "design", "resample_stability"]
