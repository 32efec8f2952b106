"""Compiled loop of the sampler. Alone in its file: numba's cache does not see edits elsewhere."""

from __future__ import annotations

import numpy as np
from numba import njit

LOG_2_PI_E = np.log(2 * np.pi * np.e)


@njit(cache=True, nogil=True, error_model="numpy")
def draw_edges(  # type: ignore[no-untyped-def]
    rng, Q, Z, C, weight, log_odds, scale, means, spread, log_mix, probability, mean, used
):
    """One Gibbs sweep over all entries of C (N, P), given Q = R^T R and Z = (R^T G)^T (N, P).

    Entry c = C[i, p] of a variable with noise precision ``weight[i]`` is 0, or drawn from a slab:
    a mixture of Gaussians N(scale_p means_j, scale_p^2 spread), j = 0 .. n - 1, equally spaced as
    0, +1, -1, +2, -2, ... steps, with log weights `log_mix`. Value and mixture part are integrated
    out of the choice between zero and slab. Fills `probability` and `mean` of every entry, given
    all others, and `used`, the number of draws from each part. Returns the summed entropy of the
    entries' conditional distributions (the slab taken as one Gaussian).
    """
    N, P = C.shape
    n = means.shape[0]
    g = np.empty(P)
    part = np.empty(n)
    centre = np.empty(n)
    mix = np.exp(log_mix)
    used[:] = 0
    entropy = 0.0
    for i in range(N):
        for k in range(P):
            g[k] = Z[i, k]
        for p in range(P):
            c = C[i, p]
            if c != 0.0:
                for k in range(P):
                    g[k] -= Q[p, k] * c
        w = weight[i]
        for p in range(P):
            old = C[i, p]
            q = Q[p, p] * w
            b = g[p] * w + q * old
            precision = 1 / (spread * scale[p] * scale[p])
            d = q + precision
            odds = log_odds[p] + 0.5 * b * b / d + 0.5 * np.log(precision / d)
            if n == 1:
                total = 1.0
                part[0] = 1.0
                centre[0] = b / d
                expected = centre[0]
            else:
                # Equal steps: weights of all parts are products of powers of two exponentials.
                step = means[1] * scale[p]
                tilt = b * step * precision / d
                excess = 0.0
                if tilt > 75.0:
                    excess = tilt - 75.0
                    tilt = 75.0
                elif tilt < -75.0:
                    excess = -tilt - 75.0
                    tilt = -75.0
                up = np.exp(tilt)
                down = 1 / up
                shrink = np.exp(-0.5 * step * step * precision * (1 - precision / d))
                shrink2 = shrink * shrink
                power = shrink
                ratio = shrink * shrink2
                u = up
                v = down
                part[0] = mix[0]
                centre[0] = b / d
                total = mix[0]
                expected = mix[0] * centre[0]
                for j in range(1, (n + 1) // 2):
                    shift = j * step * precision / d
                    x = mix[2 * j - 1] * u * power
                    part[2 * j - 1] = x
                    centre[2 * j - 1] = centre[0] + shift
                    y = mix[2 * j] * v * power
                    part[2 * j] = y
                    centre[2 * j] = centre[0] - shift
                    total += x + y
                    expected += x * centre[2 * j - 1] + y * centre[2 * j]
                    power *= ratio
                    ratio *= shrink2
                    u *= up
                    v *= down
                expected /= total
                odds += np.log(total) + excess * (n // 2)
            chosen = 1 / (1 + np.exp(-odds)) if odds > -40.0 else 0.0
            probability[i, p] = chosen
            mean[i, p] = chosen * expected
            entropy += chosen * 0.5 * (LOG_2_PI_E - np.log(q + 1 / (scale[p] * scale[p])))
            if 1e-9 < chosen < 1 - 1e-9:
                entropy += (1 - chosen) * odds - np.log(chosen)
            new = 0.0
            draw = rng.random()
            if draw < chosen:
                j = 0
                draw = draw / chosen * total
                while j < n - 1 and draw > part[j]:
                    draw -= part[j]
                    j += 1
                used[j] += 1
                new = centre[j] + rng.standard_normal() / np.sqrt(d)
            change = new - old
            if change != 0.0:
                C[i, p] = new
                for k in range(P):
                    g[k] -= Q[p, k] * change
    return entropy
