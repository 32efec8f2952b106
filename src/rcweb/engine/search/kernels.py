"""Compiled loops of the oblique search, in one file: numba's cache does not see edits elsewhere.

Every kernel works on rows y = X b of n candidate columns over N variables, Y (n, N) float32, and
fills D, the score of the row's density (minus the derivative of log p), together with the few sums
per row that a step needs. Reductions run in a fixed order, so that the same input gives the same
bits. Single precision halves the memory traffic of the matrix products and loops, and a search
only has to end near an optimum; likelihoods that are compared are summed in double precision.
"""

from __future__ import annotations

import numpy as np
from numba import njit

f4 = np.float32

# Factors of one product: the log of a product takes the place of the sum of so many logs. In double
# precision even the 32 largest entries of a row of a million stay far below the overflow.
TOGETHER = 32

# Reassociation lets the loops vectorise; NaN and infinity keep their meaning.
_SIMD = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def wide_step(Y, width2, D, sums):  # type: ignore[no-untyped-def]
    """Score of log(width2 + y^2) / 2: D <- y / (width2 + y^2), sums <- means of weight and y D."""
    # A heavy-tailed density without a parameter to fit and without an exponential: cheap enough
    # for the many steps in which most starts are still wrong.
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


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy", inline="always")
def _exp(x):  # type: ignore[no-untyped-def]
    """exp(x) to 2e-7, |x| cut at 87: the library's is a call, which no loop vectorises around.

    x = n log 2 + r (log 2 in two parts); exp(r) by its series to the 7th power, 2^n by its bits.
    """
    # Beyond 87 the bits of 2^n would leave the exponent of a float32.
    x = min(max(x, f4(-87)), f4(87))
    n = np.floor(x * f4(1.4426950408889634) + f4(0.5))
    # The first part of log 2 has few bits, so that n times it is exact and r keeps its digits.
    r = x - n * f4(0.693359375) + n * f4(2.1219444005469057e-4)
    series = f4(1 / 5040)
    series = series * r + f4(1 / 720)
    series = series * r + f4(1 / 120)
    series = series * r + f4(1 / 24)
    series = series * r + f4(1 / 6)
    series = series * r + f4(0.5)
    bits = (np.int32(n) + np.int32(127)) << np.int32(23)
    return (series * r * r + r + f4(1)) * np.int32(bits).view(np.float32)


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def two_part_step(Y, pi, v0, v1, D, sums):  # type: ignore[no-untyped-def]
    """Rows ~ (1 - pi) N(0, v0) + pi N(0, v1): D <- y E[1/v | y] and, in `sums`, the means of
    0: E[1/v | y]   1: y D   2: 1 - q   3: (1 - q) y^2   4: y^2,
    q being the probability of the wide part (the sums of one EM step).
    """
    n, N = Y.shape
    for k in range(n):
        i0 = f4(1 / v0[k])
        i1 = f4(1 / v1[k])
        # log odds of the wide part are linear in y^2, so one exponential an entry is enough.
        slope = f4(0.5) * (i0 - i1)
        offset = f4(np.log(pi[k] / (1 - pi[k])) + 0.5 * np.log(v0[k] / v1[k]))
        weight = f4(0)
        fit = f4(0)
        narrow = f4(0)
        narrow_power = f4(0)
        power = f4(0)
        for i in range(N):
            y = Y[k, i]
            y2 = y * y
            rest = f4(1) / (f4(1) + _exp(offset + slope * y2))  # 1 - q
            d = i1 + rest * (i0 - i1)
            D[k, i] = d * y
            weight += d
            fit += d * y2
            narrow += rest
            narrow_power += rest * y2
            power += y2
        sums[k, 0] = weight / N
        sums[k, 1] = fit / N
        sums[k, 2] = narrow / N
        sums[k, 3] = narrow_power / N
        sums[k, 4] = power / N


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy", inline="always")
def _product(a, b, n, first, second, width2):  # type: ignore[no-untyped-def]
    """Of width2 + y^2 over `n` entries of y = first a + second b."""
    product = 1.0
    for i in range(n):
        y = first * a[i] + second * b[i]
        product *= np.float64(width2 + y * y)
    return product


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def plane_products(one, two, turns, width2, products):  # type: ignore[no-untyped-def]
    """Rows ``turns (n, 2) (one, two)``: products (n, N // TOGETHER + 1) <- of width2 + y^2 over
    each `TOGETHER` entries, and over those left."""
    n, whole = len(turns), len(one) // TOGETHER
    for k in range(n):
        first, second = turns[k, 0], turns[k, 1]
        for m in range(whole):
            # Slices of known length, so that the loop vectorises.
            part = slice(TOGETHER * m, TOGETHER * m + TOGETHER)
            products[k, m] = _product(one[part], two[part], TOGETHER, first, second, width2)
        a, b = one[TOGETHER * whole :], two[TOGETHER * whole :]
        products[k, whole] = _product(a, b, len(a), first, second, width2)


@njit(cache=True, nogil=True, error_model="numpy")
def two_part_log_density(Y, pi, v0, v1, mean):  # type: ignore[no-untyped-def]
    """mean[k] <- mean over a row of log((1 - pi) N(y; 0, v0) + pi N(y; 0, v1)) + log sqrt(2 pi)."""
    n, N = Y.shape
    for k in range(n):
        narrow = np.log(1 - pi[k]) - 0.5 * np.log(v0[k])
        offset = np.log(pi[k]) - 0.5 * np.log(v1[k]) - narrow
        slope = 0.5 * (1 / v0[k] - 1 / v1[k])
        total = 0.0
        for i in range(N):
            y2 = np.float64(Y[k, i]) ** 2
            # log(1 + e^h) = max(h, 0) + log(1 + e^-|h|): the exponential cannot overflow. The
            # library's log and exp in double precision: these values are compared, not climbed.
            h = offset + slope * y2
            total += max(h, 0.0) + np.log1p(np.exp(-abs(h))) - 0.5 * y2 / v0[k]
        mean[k] = total / N + narrow


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def contrast_step(Y, slope):  # type: ignore[no-untyped-def]
    """Gaussian contrast of FastICA: Y <- y exp(-y^2/2), slope <- mean of (1 - y^2) exp(-y^2/2)."""
    n, N = Y.shape
    for k in range(n):
        total = f4(0)
        for i in range(N):
            y = Y[k, i]
            e = _exp(f4(-0.5) * y * y)
            Y[k, i] = y * e
            total += (f4(1) - y * y) * e
        slope[k] = total / N


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def two_part_derivatives(Y, pi, v0, v1, D, H, mean):  # type: ignore[no-untyped-def]
    """Two-part density: D <- psi = -(log p)', H <- psi', mean <- row means of psi'."""
    n, N = Y.shape
    for k in range(n):
        i0 = f4(1 / v0[k])
        i1 = f4(1 / v1[k])
        gap = i0 - i1
        slope = f4(0.5) * gap
        offset = f4(np.log(pi[k] / (1 - pi[k])) + 0.5 * np.log(v0[k] / v1[k]))
        total = f4(0)
        for i in range(N):
            y = Y[k, i]
            y2 = y * y
            rest = f4(1) / (f4(1) + _exp(offset + slope * y2))
            d = i1 + rest * gap
            # psi' = E[1/v] - y^2 Var[1/v]; negative where the two parts compete.
            h = d - gap * gap * rest * (f4(1) - rest) * y2
            D[k, i] = d * y
            H[k, i] = h
            total += h
        mean[k] = total / N


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy", inline="always")
def _log_sum(y, n, offset, slope, half):  # type: ignore[no-untyped-def]
    """Sum over the `n` entries of y of log(1 + e^h) - half y^2, with h = offset + slope y^2."""
    # The log of a product instead of the sum of logs: factors of at most 2 stay far below the
    # overflow of a float32, and the loop has no call that keeps it from vectorising.
    product = f4(1)
    linear = f4(0)
    for i in range(n):
        y2 = y[i] * y[i]
        h = offset + slope * y2
        product *= f4(1) + _exp(-abs(h))
        linear += max(h, f4(0)) - half * y2
    return linear + np.log(np.float64(product))


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def fit_two_part(Y, pi, v0, v1, floor, rounds, J):  # type: ignore[no-untyped-def]
    """`rounds` of EM for each row's density, in place, v0 never below `floor`; then J <- the
    negentropy of the row.

    EM maximises the mean log density over pi, v0 and v1. The number of rounds is fixed: the caller
    starts from the density of the last step, so a few are enough to follow it.
    """
    n, N = Y.shape
    for k in range(n):
        for _ in range(rounds):
            slope = f4(0.5 / v0[k] - 0.5 / v1[k])
            offset = f4(np.log(pi[k] / (1 - pi[k])) + 0.5 * np.log(v0[k] / v1[k]))
            narrow = f4(0)
            narrow_power = f4(0)
            power = f4(0)
            for i in range(N):
                y2 = Y[k, i] * Y[k, i]
                rest = f4(1) / (f4(1) + _exp(offset + slope * y2))
                narrow += rest
                narrow_power += rest * y2
                power += y2
            q = 1 - narrow / N
            # Guards: an empty part must not divide by zero, and the two parts must stay apart, or
            # they would swap roles or merge and never separate again.
            v0[k] = max(narrow_power / N / max(1 - q, 1e-6), floor[k])
            v1[k] = max((power - narrow_power) / N / max(q, 1e-6), 1.5 * v0[k])
            pi[k] = min(max(q, 1e-3), 0.9)
        slope = f4(0.5 / v0[k] - 0.5 / v1[k])
        offset = f4(np.log(pi[k] / (1 - pi[k])) + 0.5 * np.log(v0[k] / v1[k]))
        half = f4(0.5 / v0[k])
        whole = N - N % TOGETHER
        total = 0.0
        for first in range(0, whole, TOGETHER):
            # Slices of known length, so that the loop vectorises.
            total += _log_sum(Y[k, first : first + TOGETHER], TOGETHER, offset, slope, half)
        total += _log_sum(Y[k, whole:], N - whole, offset, slope, half)
        # + 0.5: minus the mean log density of a standard Gaussian, up to the shared constant.
        J[k] = total / N + np.log(1 - pi[k]) - 0.5 * np.log(v0[k]) + 0.5


@njit(cache=True, nogil=True, fastmath=_SIMD, error_model="numpy")
def look_up(Y, reach, tables, which, D):  # type: ignore[no-untyped-def]
    """D <- values at Y of functions tabulated at equal distances from -reach to reach, linear in
    between and constant beyond; row k of Y is looked up in row which[k] of `tables`."""
    n, N = Y.shape
    last = tables.shape[1] - 1
    per_unit = f4(last / (2 * reach))
    for k in range(n):
        table = tables[which[k]]
        for i in range(N):
            x = min(max((Y[k, i] + f4(reach)) * per_unit, f4(0)), f4(last))
            j = min(np.int32(x), np.int32(last - 1))
            D[k, i] = table[j] + (x - f4(j)) * (table[j + 1] - table[j])
