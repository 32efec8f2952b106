"""Priors that sampling and mean field share: the slab's shape, and how far rows share scales."""

from __future__ import annotations

import numpy as np

from rcweb.engine.types import Array

# Slab: 13 Gaussians in steps of 0.4 row scales; wide enough for any weight distribution seen.
STEP = 0.4
SPREAD = 0.07
_CENTRES = STEP * np.array([0.0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6])
PRIOR_MIX = np.exp(-(_CENTRES**2) / 2 / 0.93) / np.exp(-(_CENTRES**2) / 2 / 0.93).sum()
PRIOR_MIX_COUNT = 30.0
PRIOR_DENSITY = 0.2  # mean of the Beta prior on the density of a row
SCALE_COUNT = 20.0  # rows share their scale with this many pseudo-edges
NOISE_COUNT = 10.0  # variables share their noise with this many pseudo-samples


def beta_prior(concentration: float) -> tuple[float, float]:
    """Parameters of the Beta prior on each row's density, of mean `PRIOR_DENSITY`."""
    return concentration * PRIOR_DENSITY, concentration * (1 - PRIOR_DENSITY)


def shared_noise(rss: Array, M: Array, observed: Array) -> tuple[Array, Array]:
    """Sum of squared residuals and number of samples of each variable (N,), those shared included.

    rss : what is left in each variable; M : samples in which it was measured, a share `observed`.
    Entries filled in leave no residual: ``rss / observed`` is ``M sigma^2 / observed``.
    """
    rss = rss / observed
    typical = np.exp(np.mean(np.log(rss / M)))
    return np.asarray(rss + NOISE_COUNT * typical), np.asarray(M + NOISE_COUNT)


def shared_scale(power: Array, count: Array) -> Array:
    """Scale of each row's edges from their number and sum of squares, (P,).

    Each row is pulled towards the median of all: a mean would be ruled by one row in large units.
    """
    shared = max(float(np.median(power / np.maximum(count, 1.0))), 1e-300)
    return np.asarray(np.sqrt((power + SCALE_COUNT * shared) / (count + SCALE_COUNT)))
