"""Compiled loops of the oblique search, in one file: numba's cache does not see edits elsewhere.

Every kernel works on rows y = X b of n candidate columns over N variables, Y is (n, N) float32, and
fills D, the score of the density that explains the row (minus the derivative of log p), together
with the few sums per row that a step needs. Reductions run in a fixed order, so that the same
input gives the same bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

f4 = np.float32

# Reassociation lets the loops vectorise; NaN and infinity keep their meaning.
_SIMD = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def wide_step(Y, width2, D, sums):  # type: ignore[no-untyped-def]
    """Score of log(width2 + y^2) / 2: D <- y / (width2 + y^2), sums <- means of weight and y D."""
    n, N = Y.shape
    for k in range(n):
        weight = f4(0)
        fit = f4(0)
        for i in range(N):
            y = Y[k, i]
            d = f4(1) / (width2 + y * y)
            D[k, i] = d * y
            weight += d
            fit += d * y * y
        sums[k, 0] = weight / N
        sums[k, 1] = fit / N


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def two_part_step(Y, pi, v0, v1, D, sums):  # type: ignore[no-untyped-def]
    """Rows ~ (1 - pi) N(0, v0) + pi N(0, v1): D <- y E[1/v | y] and, in `sums`, the means of
    0: E[1/v | y]   1: y D   2: log p(y) + log sqrt(2 pi)   3: q   4: q y^2   5: y^2,
    q being the probability of the wide part (the sums of one EM step).
    """
    n, N = Y.shape
    for k in range(n):
        i0 = f4(1 / v0[k])
        i1 = f4(1 / v1[k])
        slope = f4(0.5) * (i0 - i1)
        offset = f4(np.log(pi[k] / (1 - pi[k])) + 0.5 * np.log(v0[k] / v1[k]))
        narrow = np.log(1 - pi[k]) - 0.5 * np.log(v0[k])
        weight = 0.0
        fit = 0.0
        loglik = 0.0
        mass = 0.0
        power1 = 0.0
        power = 0.0
        for i in range(N):
            y = Y[k, i]
            y2 = y * y
            h = offset + slope * y2
            e = np.exp(-abs(h))
            q = f4(1) / (f4(1) + e)
            if h < 0:
                q = f4(1) - q
            d = i0 - q * (i0 - i1)
            D[k, i] = d * y
            weight += d
            fit += d * y2
            loglik += max(h, f4(0)) + np.log(f4(1) + e) - f4(0.5) * i0 * y2
            mass += q
            power1 += q * y2
            power += y2
        sums[k, 0] = weight / N
        sums[k, 1] = fit / N
        sums[k, 2] = loglik / N + narrow
        sums[k, 3] = mass / N
        sums[k, 4] = power1 / N
        sums[k, 5] = power / N


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def contrast_step(Y, slope):  # type: ignore[no-untyped-def]
    """Gaussian contrast of FastICA: Y <- y exp(-y^2/2), slope <- mean of (1 - y^2) exp(-y^2/2)."""
    n, N = Y.shape
    for k in range(n):
        total = f4(0)
        for i in range(N):
            y = Y[k, i]
            e = np.exp(f4(-0.5) * y * y)
            Y[k, i] = y * e
            total += (f4(1) - y * y) * e
        slope[k] = total / N
