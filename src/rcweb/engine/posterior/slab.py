"""Priors that sampling and mean field share: the slab's shape, and how far rows share scales."""

from __future__ import annotations

import numpy as np

from rcweb.engine.types import Array

# Slab: 13 Gaussians in steps of 0.4 row scales whose weights are learned; wide enough for any
# weight distribution seen. Measured against one Gaussian: false discovery rate 0.05 instead of
# 0.06, accuracy +0.005. The prior weights are those of a Gaussian slab.
STEP = 0.4
SPREAD = 0.07  # variance of a part; with steps of 0.4 neighbours overlap without a dip between
_CENTRES = STEP * np.array([0.0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6])
PRIOR_MIX = np.exp(-(_CENTRES**2) / 2 / 0.93) / np.exp(-(_CENTRES**2) / 2 / 0.93).sum()
# Where little is measured, the other rows and variables tell. Measured: with 10 for both accuracy
# is the same to 0.0003, the false discovery rate to 0.004; 20 pseudo-measurements are too many
# where samples are 12 to 30.
EDGE_COUNT = 20.0  # pseudo-edges by which rows share the scale and shape of their weights
NOISE_COUNT = 10.0  # pseudo-measurements by which variables share their noise
# Largest share of a variable's own data that its regulators' activities may have followed; at 1
# what is corrected for it would be divided by zero.
MOST_PULL = 0.9


def density_concentration(N: int, noise: float) -> float:
    """Pseudo-count of the prior on densities: the more noise (in sd of a row), the less a row says
    about its own density, and the more it borrows from the others."""
    return N * float(np.clip(0.02 + 1.2 * (noise - 0.15), 0.02, 0.2))


def density_prior(concentration: float, count: Array, N: int) -> tuple[float, float]:
    """Parameters of the Beta prior on each row's density, from the number of edges of all rows.

    Rows share a typical density, the geometric mean of theirs. Learned, because a fixed mean of 0.2
    fails on very sparse rows (15 targets of 3,000: accuracy 0.87 instead of 0.998).
    """
    typical = float(np.exp(np.log(density_before(count, N)).mean()))
    return concentration * typical, concentration * (1 - typical)


def density_before(count: Array, N: int) -> Array:
    """Density expected of rows with `count` edges among N variables, with a Beta(1, 4) prior on
    each: a row without edges counts as 1 / (N + 5), one of which nothing is known as 1 / 5."""
    return np.asarray((count + 1) / (N + 5))


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
    return np.asarray(np.sqrt((power + EDGE_COUNT * shared) / (count + EDGE_COUNT)))
