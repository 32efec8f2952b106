"""Compiled loops of the refinement, in one file: numba's cache does not see edits elsewhere.

They sweep over all entries of C given Q = R^T R and Z = R^T G. The entry of a variable i with noise
precision ``weight[i]`` is 0, or from a slab; its value is integrated out of the choice between the
two. They fill `probability` and `mean` of every entry, given all others. The two of the sampler
draw every entry; their matrices are (N, P).
"""

from __future__ import annotations

import numpy as np
from numba import njit

LOG_2_PI_E = np.log(2 * np.pi * np.e)
CERTAIN = 40.0  # log odds beyond which an edge is certain
SIDE = 6  # parts of the slab on each side of zero
LIKELY = 1e-3  # probability above which an entry tells of the slab's shape
# Reassociation lets the loops vectorise; NaN and infinity keep their meaning.
_SIMD = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, nogil=True, error_model="numpy")
def draw_edges(rng, Q, Z, C, weight, log_odds, scale, probability, mean):  # type: ignore[no-untyped-def]
    """Slab N(0, scale_p^2). Returns the entropy of the entries' conditional distributions."""
    N, P = C.shape
    g = np.empty(P)
    entropy = 0.0
    for i in range(N):
        _residual(Q, Z[i], C[i], g)
        w = weight[i]
        for p in range(P):
            old = C[i, p]
            q = Q[p, p] * w
            precision = 1 / (scale[p] * scale[p])
            d = q + precision
            centre = (g[p] * w + q * old) / d
            log_d = np.log(d)
            odds = log_odds[p] + 0.5 * (centre * centre * d + np.log(precision) - log_d)
            chosen = 1 / (1 + np.exp(-odds)) if odds > -CERTAIN else 0.0
            probability[i, p] = chosen
            mean[i, p] = chosen * centre
            entropy += chosen * 0.5 * (LOG_2_PI_E - log_d)
            if 1e-9 < chosen < 1 - 1e-9:
                entropy += (1 - chosen) * odds - np.log(chosen)
            new = 0.0
            if rng.random() < chosen:
                new = centre + rng.standard_normal() / np.sqrt(d)
            _replace(Q, C, g, i, p, old, new)
    return entropy


@njit(cache=True, nogil=True, error_model="numpy")
def draw_shaped_edges(  # type: ignore[no-untyped-def]
    rng, Q, Z, C, weight, log_odds, scale, step, spread, mix, probability, mean, used
):
    """Slab = mixture of n Gaussians N(j step scale_p, spread scale_p^2), j = 0, 1, -1, 2, -2, ...,
    with weights `mix`; `used` counts the draws from each part.

    The parts being equally spaced, part j has relative weight ``mix_j up^j shrink^(j^2)``.
    """
    N, P = C.shape
    n = mix.shape[0]
    g = np.empty(P)
    part = np.empty(n)
    for i in range(N):
        _residual(Q, Z[i], C[i], g)
        w = weight[i]
        for p in range(P):
            old = C[i, p]
            q = Q[p, p] * w
            precision = 1 / (spread * scale[p] * scale[p])
            d = q + precision
            share = precision / d
            middle = (g[p] * w + q * old) / d
            shift = step * scale[p] * share
            tilt = middle * step * scale[p] * precision
            base = log_odds[p] + 0.5 * middle * middle * d
            if base > 300.0 or abs(tilt) > 75.0:
                # Beyond the range of exponentials the edge is certain, its part the outermost.
                base = 300.0
                tilt = min(max(tilt, -75.0), 75.0)
            up = np.exp(tilt)
            down = 1 / up
            shrink = np.exp(-0.5 * step * step / spread * (1 - share))
            shrink2 = shrink * shrink
            power = shrink
            ratio = shrink * shrink2
            u = up
            v = down
            part[0] = mix[0]
            total = mix[0]
            lean = 0.0
            for j in range(1, (n + 1) // 2):
                x = mix[2 * j - 1] * u * power
                y = mix[2 * j] * v * power
                part[2 * j - 1] = x
                part[2 * j] = y
                total += x + y
                lean += j * (x - y)
                power *= ratio
                ratio *= shrink2
                u *= up
                v *= down
            odds = np.exp(min(base, 300.0)) * np.sqrt(share) * total
            chosen = odds / (1 + odds) if odds < 1e17 else 1.0
            probability[i, p] = chosen
            mean[i, p] = chosen * (middle + shift * lean / total)
            new = 0.0
            draw = rng.random()
            if draw < chosen:
                j = 0
                draw = draw / chosen * total
                while j < n - 1 and draw > part[j]:
                    draw -= part[j]
                    j += 1
                used[j] += 1
                sign = 1.0 if j % 2 == 1 else -1.0
                centre = middle + sign * ((j + 1) // 2) * shift
                new = centre + rng.standard_normal() / np.sqrt(d)
            _replace(Q, C, g, i, p, old, new)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _exp(x):  # type: ignore[no-untyped-def]
    """exp(x) to 3e-14, |x| cut at 700: the library's is a call, which no loop vectorises around.

    x = n log 2 + r (log 2 in two parts); exp(r) by its series to the 12th power, 2^n by its bits.
    """
    x = min(max(x, -700.0), 700.0)
    n = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - n * 0.693145751953125 - n * 1.4286068203094172e-6
    series = 1 / 479001600
    series = series * r + 1 / 39916800
    series = series * r + 1 / 3628800
    series = series * r + 1 / 362880
    series = series * r + 1 / 40320
    series = series * r + 1 / 5040
    series = series * r + 1 / 720
    series = series * r + 1 / 120
    series = series * r + 1 / 24
    series = series * r + 1 / 6
    series = series * r + 0.5
    bits = (np.int64(np.int32(n)) + np.int64(1023)) << np.int64(52)
    return (series * r * r + r + 1.0) * np.int64(bits).view(np.float64)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD)
def expect_shaped_edges(  # type: ignore[no-untyped-def]
    Q, Z, mean, weight, log_odds, scale, step, spread, mix, probability, variance, used
):
    """As `draw_shaped_edges`, but every entry is replaced by its mean: nothing is drawn.

    All matrices are (P, N) here, so that a regulator's entries are updated together. Returns the
    largest change of a mean, in scales of its row.
    """
    P, N = mean.shape
    g, new = np.empty(N), np.empty(N)
    ups, shrinks, totals = np.empty(N), np.empty(N), np.empty(N)
    largest = 0.0
    for p in range(P):
        for i in range(N):
            g[i] = Z[p, i] + Q[p, p] * mean[p, i]
        for k in range(P):
            for i in range(N):
                g[i] -= Q[p, k] * mean[k, i]
        precision = 1 / (spread * scale[p] * scale[p])
        unit = step * scale[p]
        # Without branches and calls, so that it vectorises: this loop is all the time there is.
        for i in range(N):
            inverse = 1 / (Q[p, p] * weight[i] + precision)
            share = precision * inverse
            middle = g[i] * weight[i] * inverse
            # Beyond the range of exponentials the edge is certain, its part the outermost.
            tilt = middle * unit * precision
            base = log_odds[p] + 0.5 * middle * middle / inverse
            base = 300.0 if (base > 300.0) | (abs(tilt) > 75.0) else base
            up = _exp(min(max(tilt, -75.0), 75.0))
            shrink = _exp(-0.5 * step * step / spread * (1 - share))
            shrink2 = shrink * shrink
            power = shrink
            ratio = shrink * shrink2
            down = 1 / up
            u = up
            v = down
            total = mix[0]
            lean = 0.0
            reach = 0.0
            for j in range(1, SIDE + 1):
                x = mix[2 * j - 1] * u * power
                y = mix[2 * j] * v * power
                total += x + y
                lean += j * (x - y)
                reach += j * j * (x + y)
                power *= ratio
                ratio *= shrink2
                u *= up
                v *= down
            chosen = 1 - 1 / (1 + _exp(base) * np.sqrt(share) * total)
            shift = unit * share
            lean *= shift / total
            square = inverse + middle * middle + 2 * middle * lean + shift * shift * reach / total
            new[i] = chosen * (middle + lean)
            probability[p, i] = chosen
            variance[p, i] = max(chosen * square - new[i] * new[i], 0.0)
            ups[i] = up
            shrinks[i] = shrink
            totals[i] = total
        for i in range(N):
            largest = max(largest, abs(new[i] - mean[p, i]) / scale[p])
            mean[p, i] = new[i]
        for i in range(N):
            if probability[p, i] > LIKELY:
                _count_parts(ups[i], shrinks[i], mix, probability[p, i] / totals[i], used)
    return largest


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _count_parts(up, shrink, mix, share, used):  # type: ignore[no-untyped-def]
    """Add an edge to the parts of the slab that it comes from; `share` is its probability over
    the sum of the parts' weights."""
    used[0] += share * mix[0]
    power = shrink
    ratio = shrink * shrink * shrink
    down = 1 / up
    u = up
    v = down
    for j in range(1, SIDE + 1):
        used[2 * j - 1] += share * mix[2 * j - 1] * u * power
        used[2 * j] += share * mix[2 * j] * v * power
        power *= ratio
        ratio *= shrink * shrink
        u *= up
        v *= down


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _residual(Q, z, c, g):  # type: ignore[no-untyped-def]
    """g <- z - Q c, c being sparse."""
    P = g.shape[0]
    for k in range(P):
        g[k] = z[k]
    for p in range(P):
        if c[p] != 0.0:
            for k in range(P):
                g[k] -= Q[p, k] * c[p]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _replace(Q, C, g, i, p, old, new):  # type: ignore[no-untyped-def]
    change = new - old
    if change != 0.0:
        C[i, p] = new
        for k in range(g.shape[0]):
            g[k] -= Q[p, k] * change
