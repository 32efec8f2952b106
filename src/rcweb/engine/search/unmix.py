"""Two columns turned in their own plane: a local optimum that climbing cannot leave.

Sparse rows c1, c2 can end up as c1 + c2 and c1 - c2, or as c1 and c1 + c2: still sparse, and so
certified, but wrong. Such rows are zero at the same variables. The plane of two columns is small
enough to try all directions, which finds the best pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.matching import row_correlation
from rcweb.engine.search.joint import Columns, climb
from rcweb.engine.search.kernels import TOGETHER, plane_products
from rcweb.engine.search.space import NEAR_ZERO, Space
from rcweb.engine.types import Array

ANGLES = np.linspace(0, np.pi, 90, endpoint=False)  # steps of 2 degrees; the climb does the rest
TURNS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
# The length of one direction outside the other's.
LOG_SINE = np.log(np.maximum(np.abs(np.sin(ANGLES[:, None] - ANGLES)), 1e-9))
# Correlation of being near zero above which a pair is tried, in standard errors 1 / sqrt(N).
# Each try costs time; at 1.5 one pair in fifteen is tried by chance.
ZERO_CORRELATION = 1.5
# Least rise of the log-likelihood of two rows that counts, in nats: one for each of the two angles
# that are fitted (Akaike).
GAIN = 2.0
# Pairs tried, at most, for each column. By chance (K - 1) / 30 are, 4 of 120 columns; where all
# rows are near zero at the same variables, as in amounts of which no logs were taken, it would be
# half of all columns: E. coli's 193 directions did not end in ten minutes.
PAIRS_EACH = 5
MOST_TIMES = 5  # measured: one round left three mixed columns turned (0.992), five did not (1.000)


def unmix(space: Space, columns: Columns) -> Columns:
    """Turn pairs of columns where that makes them sparser; else return the same columns.

    Of three columns that are mixed with each other only two can be corrected at once, so it is
    repeated. Stops when no pair gains, when the joint likelihood of all columns does not rise, or
    after `MOST_TIMES`; a later round never replaces a likelier answer.
    """
    for _ in range(MOST_TIMES):
        turned = _turned(space, columns)
        if turned is None:
            break
        again = climb(space, turned, columns.density, np.full(30, space.level), free_steps=15)
        rise = again.objective - columns.objective
        columns = again if rise > 0 else columns
        if rise < GAIN:
            break
    return columns


def _turned(space: Space, columns: Columns) -> Array | None:
    """B with every suspicious pair turned to its likeliest position; None if no pair gains."""
    B = columns.B.copy()
    changed = False
    for j, k in _suspects(space.rows(B), np.sqrt(columns.density.v0)):
        pair, gain = _best_pair(space, B[[j, k]])
        if gain * space.N > GAIN:
            B[[j, k]] = pair
            changed = True
    return B if changed else None


def _suspects(Y: NDArray[np.float32], width: Array) -> NDArray[np.intp]:
    """Pairs of rows that are near zero at the same variables more often than independent rows, the
    surest of them.

    The correlation of zeros is used rather than that of squares: for rows with more than half of
    the entries, squares of turned rows look like those of independent rows.
    """
    near = (np.abs(Y) < NEAR_ZERO * width[:, None]).astype(np.float64)
    least = ZERO_CORRELATION / np.sqrt(Y.shape[1])
    together = np.triu(row_correlation(near, near), k=1)
    pairs = np.argwhere(together > least)
    surest = np.argsort(-together[tuple(pairs.T)], kind="stable")[: PAIRS_EACH * len(Y)]
    return np.asarray(pairs[np.sort(surest)])


def _best_pair(space: Space, b: Array) -> tuple[Array, float]:
    """The likeliest two directions in the plane of the two rows of `b`, and what they gain.

    The density of a row is p(y) ~ 1 / sqrt(w^2 + y^2), w twice the noise; the pair's likelihood
    is the sum of two rows' plus log |sin| of the angle between them, as in `climb`.
    """
    length = np.linalg.norm(TURNS @ b, axis=1)
    width2 = 4 * space.floor(b).max()
    units = (TURNS / length[:, None]).astype(np.float32)
    products = np.empty((len(units), space.N // TOGETHER + 1))
    first, second = space.rows(b)
    plane_products(first, second, units, np.float32(width2), products)
    row = -0.5 * np.log(products).sum(axis=1) / space.N - np.log(length)
    pair = row[:, None] + row + LOG_SINE
    one, two = np.unravel_index(np.argmax(pair), pair.shape)
    now = pair[0, len(ANGLES) // 2]  # angles 0 and pi/2: the columns as they are
    best = (TURNS[[one, two]] @ b) / length[[one, two], None]
    return best, float(pair[one, two] - now)
