"""The background of rows: how wide it is, what exceeds it, and whether it has long tails.

Entries beside the edges of a regulator are small effects. They need not be Gaussian: in real tables
about a tenth of them are three times as large as the others, and a Gaussian background would call
most of those edges. Two densities are fitted to rows y with noise of unit variance,

    y_pi ~ (1 - pi_p) [ (1 - w) N(0, b_p + 1) + w N(0, WIDER b_p + 1) ] + pi_p N(+-m_p, s_p),

one without a tail, w = 0, and one with w = TAIL; the likelier one is taken. They have as many
parameters. Edges are two Gaussians here, which may keep away from zero:
one would need its middle for small edges, which are not there where weights are of equal size, and
for the tail. A density of any shape would take all of the tail for edges.
"""

from __future__ import annotations

import numpy as np

from rcweb.engine.conventions import MEDIAN_SQUARE
from rcweb.engine.posterior.kernels import part_sums
from rcweb.engine.types import Array

# Variance of the tail in units of the background's. Measured on six real tables: 6 to 12 are the
# likeliest, and edges by 9 agree best with known regulators (recovery and relevance above those of
# three free Gaussians on all six).
WIDER = 9.0
# Share of the background in its tail, where it has one. Measured on 269 planted tables with
# backgrounds of 0.1 to 0.3: a tail is seen in 79 of 91 Laplace backgrounds, 67 of 90 of Student's
# t, and 8 of 88 Gaussian ones; with 0.1 in 76, 77 and 20, with 0.4 in 75, 28 and 4. A share that is
# fitted and must pay for it is seen in 60, 56 and 15. Real tables have 0.08 to 0.12; with 0.2 they
# draw 4 to 9 % more edges than with 0.1.
TAIL = 0.2
# Largest variance of the background in units of the slab's: beyond, the two would swap roles.
MOST_BACKGROUND = 0.25
MOST_FITS = 200  # rounds of expectation maximisation
STEADY = 0.005  # relative change of the background that ends them
SMALLEST_PART = 1e-4  # of a part that is not empty: an empty one would stay so


def least_edge(background: Array, N: int) -> Array:
    """(P,) size above which an entry can be an edge: larger than N entries of a background of these
    variances would be."""
    return np.asarray(np.sqrt(2 * np.log(N) * background))


def fitted_background(excess: Array, information: Array, scale: Array) -> Array:
    """(P,) variance of each row's background by a step of Fisher scoring, from where `excess` and
    `information` (P,) were summed; `scale` (P,) of the slab."""
    return np.clip(excess / np.maximum(information, 1e-300), 0.0, MOST_BACKGROUND * scale**2)


def tail_share(rows: Array, noise: Array) -> float:
    """Share of the background in its tail: `TAIL`, or 0 where rows are likelier without one.

    rows : (P, N);  noise : (P,) variance of the noise in each
    """
    sizes = np.abs(rows) / np.sqrt(noise)[:, None]
    return TAIL if log_likelihood(sizes, TAIL) > log_likelihood(sizes, 0.0) else 0.0


def log_likelihood(sizes: Array, tail: float) -> float:
    """Log-likelihood of rows with these `sizes` (P, N) and a share `tail` of the background in its
    tail, fitted by expectation maximisation.

    The background starts at the variance that the median square has for a Gaussian: a start below
    it would split the background in two.
    """
    P, N = sizes.shape
    background = np.maximum(np.median(sizes, axis=1) ** 2 / MEDIAN_SQUARE - 1, 0.05)
    density, power = np.full(P, 0.05), 25 * (background + 1)
    # Half of the edges' power in their distance from zero, half in their scatter.
    centre, spread = np.sqrt(power / 2), power / 2
    sums = np.empty((P, 7))
    for _ in range(MOST_FITS):
        part_sums(sizes, density, background, WIDER, tail, centre, spread, sums)
        near, far, edges, near_power, far_power, edge_power, lean = sums.T
        last = background
        density = np.clip(edges / N, SMALLEST_PART, 0.5)
        excess = np.maximum(near_power - near, 0) + np.maximum(far_power - far, 0) / WIDER
        background = np.maximum(excess / np.maximum(near + far, SMALLEST_PART), SMALLEST_PART)
        # Twice the power of all else, and scattered as far, or the two would swap roles.
        rest = background * (1 + (WIDER - 1) * tail) + 1
        power = np.maximum(edge_power / np.maximum(edges, SMALLEST_PART), 2 * rest)
        centre = np.minimum(lean / np.maximum(edges, SMALLEST_PART), np.sqrt(power - rest))
        spread = power - centre**2
        if (np.abs(background - last) <= STEADY * background).all():
            break
    y, one = sizes[:, :, None], np.ones(P)
    means = np.array([0 * one, 0 * one, centre, -centre]).T[:, None]
    variances = np.array([background + 1, WIDER * background + 1, spread, spread]).T[:, None]
    shares = np.array([(1 - density) * (1 - tail), (1 - density) * tail, density / 2, density / 2])
    parts = np.exp(-0.5 * (y - means) ** 2 / variances) / np.sqrt(variances)
    likelihood = (parts * shares.T[:, None]).sum(axis=2)
    return float(np.log(np.maximum(likelihood, 1e-300)).sum())
