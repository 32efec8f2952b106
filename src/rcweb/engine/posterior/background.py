"""The background of rows: how wide it is, what exceeds it, and whether it has long tails.

Entries beside the edges of a regulator are small effects. They need not be Gaussian: in real tables
about a tenth of them are three times as large as the others, and a Gaussian background would call
most of those edges. Two densities are fitted to rows y with noise of unit variance,

    y_pi ~ (1 - pi_p) [ (1 - w) N(0, b_p + 1) + w N(0, WIDER b_p + 1) ] + pi_p N(0, s_p + 1),

with the share w of the tail at 0 and free. The tail counts if that makes the rows likelier by more
than one nat, for one parameter (Akaike). Edges are Gaussian here: a density of edges that may have
any shape would take the tail for edges.
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
# Largest variance of the background in units of the slab's: beyond, the two would swap roles.
MOST_BACKGROUND = 0.25
MOST_FITS = 200  # rounds of expectation maximisation
STEADY = 0.01  # relative change of the background, and change of the tail, that ends them
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
    """Share of the background in its tail, 0 where it is Gaussian as far as can be told.

    rows : (P, N);  noise : (P,) variance of the noise in each
    """
    squares = rows**2 / noise[:, None]
    without, _ = _fit(squares, 0.0)
    with_tail, share = _fit(squares, 0.1)
    return share if with_tail > without + 1 else 0.0


def _fit(squares: Array, tail: float) -> tuple[float, float]:
    """Log-likelihood of rows with these `squares` (P, N) and the tail's share, fitted by
    expectation maximisation from the share `tail`; 0 stays 0.

    The background starts at the variance that the median square has for a Gaussian: a start below
    it would split the background in two.
    """
    P, N = squares.shape
    background = np.maximum(np.median(squares, axis=1) / MEDIAN_SQUARE - 1, 0.05)
    density, edge = np.full(P, 0.05), 25 * (background + 1)
    sums = np.empty((P, 6))
    for _ in range(MOST_FITS):
        part_sums(squares, density, background, WIDER, tail, edge, sums)
        near, far, edges, near_power, far_power, edge_power = sums.T
        last, share = background, tail
        density = np.clip(edges / N, SMALLEST_PART, 0.5)
        if tail > 0:
            tail = float(np.clip(far.sum() / (near + far).sum(), SMALLEST_PART, 0.5))
        excess = np.maximum(near_power - near, 0) + np.maximum(far_power - far, 0) / WIDER
        background = np.maximum(excess / np.maximum(near + far, SMALLEST_PART), SMALLEST_PART)
        # Twice as wide as the part below, or the two would swap roles.
        widest = background * (WIDER if tail > 0 else 1)
        edge = np.maximum(edge_power / np.maximum(edges, SMALLEST_PART) - 1, 2 * widest)
        settled = (np.abs(background - last) <= STEADY * background).all()
        if settled and abs(tail - share) <= STEADY:
            break
    parts = np.array([background, WIDER * background, edge]) + 1
    shares = np.array([(1 - density) * (1 - tail), (1 - density) * tail, density])
    likelihood = sum(
        (share / np.sqrt(variance))[:, None] * np.exp(-0.5 * squares / variance[:, None])
        for share, variance in zip(shares, parts)
    )
    return float(np.log(np.maximum(likelihood, 1e-300)).sum()), tail
