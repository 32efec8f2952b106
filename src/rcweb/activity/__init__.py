"""What is asked after the fit: changes between groups, associations, replicates, stability, and
which regulators another fit has too.

May import: estimator and what is below it.
Exports: `contrast`, `changed`, `associate`, `design`, `compare`, `Comparison`,
`resample_stability`, `Stability`.
"""

from __future__ import annotations

from rcweb.activity.associate import associate
from rcweb.activity.changed import changed
from rcweb.activity.compare import Comparison, compare
from rcweb.activity.contrast import contrast
from rcweb.activity.design import design
from rcweb.activity.stability import Stability, resample_stability

__all__ = [
    "Comparison",
    "Stability",
    "associate",
    "changed",
    "compare",
    "contrast",
    "design",
    "resample_stability",
]
