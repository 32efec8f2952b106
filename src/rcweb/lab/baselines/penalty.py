"""Choose the penalty at which a method's network has the given density."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rcweb.lab.baselines.base import Array

# Twelve halvings of [1e-5, 1] fix the penalty to about 0.3 %.
STEPS = 12
CLOSE = 0.02


def penalty_for(density: float, network_at: Callable[[float], Array], scale: float) -> float:
    """The penalty in [1e-5, 1] x `scale` whose network has the share `density` of non-zeros.

    Bisection of the logarithm; stops within 2 % of the density. `network_at` may continue from
    its last solution: the share need only fall as the penalty grows, roughly.
    """
    low, high = np.log(1e-5 * scale), np.log(scale)
    middle = (low + high) / 2
    # Stops within 2 % of the density or after STEPS halvings; then the last penalty is returned,
    # and the density is only approximate.
    for _ in range(STEPS):
        middle = (low + high) / 2
        share = float(np.mean(network_at(float(np.exp(middle))) != 0))
        if abs(share - density) <= CLOSE * density:
            break
        if share > density:
            low = middle
        else:
            high = middle
    return float(np.exp(middle))
