"""Compiled loops of the posterior, in one file: numba's cache does not see edits elsewhere.

They sweep over all entries of C (P, N) given Q = R^T R (P, P) and Z = R^T G (P, N). The entry of a
variable i with noise precision ``weight[i]`` is 0 or comes from a slab; the choice between the two
is made with the value integrated out. They fill `probability` and `mean` of every entry, given all
others.

Given the activities, variables are independent. So a tile of variables that fits the cache is swept
at a time, regulator by regulator, and the entries of one regulator together: these loops vectorise.
Random numbers are drawn in a separate loop, which does not. Measured: a sweep over 15,000 entries
takes 0.28 instead of 0.92 ms.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TILE = 256  # variables swept at a time
SIDE = 6  # parts of the slab on each side of zero
LIKELY = 1e-3  # below this probability an entry adds nothing to the slab's shape: save the time
# Clip before exponentials overflow: beyond, the edge is certain and its slab part the outermost.
MOST_ODDS, MOST_TILT = 300.0, 75.0
# Reassociation lets the loops vectorise; NaN and infinity keep their meaning. Helpers are inlined
# (inline="always"): called as functions, they were compiled to sums in another order in the process
# that compiles than in those that load the result from the cache.
_SIMD = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD)
def draw_edges(  # type: ignore[no-untyped-def]
    rng, Q, Z, C, weight, log_odds, scale, background, probability, mean, slab, sums
):
    """Slab N(0, scale_p^2); every entry of C is drawn anew. One that is not from the slab is zero,
    or N(0, background_p).

    probability <- of the slab; slab <- whether the entry was drawn from it; sums (P, 2) <-
    numerator and denominator of a step of Fisher scoring of the background, 0 where no row has one.
    """
    P, N = C.shape
    g, width = np.empty(TILE), np.empty(TILE)
    field, small, wide = _empty_beside()
    learn = background.max() > 0
    sums[:] = 0.0
    for start in range(0, N, TILE):
        tile = slice(start, min(start + TILE, N))
        w = weight[tile]
        for p in range(P):
            c, pr, m, from_slab = C[p, tile], probability[p, tile], mean[p, tile], slab[p, tile]
            _residuals(Q[p], Z[p, tile], C, p, tile, g)
            precision = 1 / (scale[p] * scale[p])
            _beside(Q[p, p], w, background[p], g, field, small, wide)
            for i in range(len(w)):
                inverse = 1 / (Q[p, p] * w[i] + precision)
                centre = g[i] * w[i] * inverse
                # Bayes factor of N(0, scale^2) against zero, the entry integrated out.
                odds = log_odds[p] + 0.5 * centre * centre / inverse - 0.5 * field[i] * small[i]
                chosen = 1 - 1 / (1 + _exp(odds) * np.sqrt(precision * inverse * wide[i]))
                pr[i] = chosen
                m[i] = chosen * centre + (1 - chosen) * small[i]
                # Kept for the draws below: the residual is no longer needed.
                g[i] = centre
                width[i] = np.sqrt(inverse)
            if learn:
                _learn_beside(Q[p, p], w, field, wide, pr, sums[p])
            for i in range(len(w)):
                from_slab[i] = rng.random() < pr[i]
                if from_slab[i]:
                    c[i] = g[i] + width[i] * rng.standard_normal()
                else:
                    c[i] = _draw_beside(rng, background[p], small[i], wide[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD)
def draw_shaped_edges(  # type: ignore[no-untyped-def]
    rng,
    Q,
    Z,
    C,
    weight,
    log_odds,
    scale,
    background,
    least,
    step,
    spread,
    mix,
    probability,
    mean,
    slab,
    sums,
    used,
):
    """As `draw_edges`, with a slab that is a mixture of n Gaussians N(j step scale_p, spread
    scale_p^2), j = 0, 1, -1, 2, -2, ..., with weights `mix`; `used` counts the draws from each part
    that are at least as large as `least` (P,), what the background can be.
    """
    P, N = C.shape
    g, inverse = np.empty(TILE), np.empty(TILE)
    up, shrink, total, lean, _ = parts = _empty_parts()
    field, small, wide = _empty_beside()
    learn = background.max() > 0
    sums[:] = 0.0
    for start in range(0, N, TILE):
        tile = slice(start, min(start + TILE, N))
        w = weight[tile]
        for p in range(P):
            c, pr, m, from_slab = C[p, tile], probability[p, tile], mean[p, tile], slab[p, tile]
            unit, precision = step * scale[p], 1 / (spread * scale[p] * scale[p])
            _residuals(Q[p], Z[p, tile], C, p, tile, g)
            _beside(Q[p, p], w, background[p], g, field, small, wide)
            _weigh(Q[p, p], w, unit, precision, step, spread, mix, g, inverse, parts)
            for i in range(len(w)):
                odds = log_odds[p] - 0.5 * field[i] * small[i]
                chosen = _choose(g[i], inverse[i], total[i], odds, unit, precision, 1 / wide[i])
                centre = g[i] + unit * precision * inverse[i] * lean[i] / total[i]
                pr[i] = chosen
                m[i] = chosen * centre + (1 - chosen) * small[i]
            if learn:
                _learn_beside(Q[p, p], w, field, wide, pr, sums[p])
            for i in range(len(w)):
                from_slab[i] = rng.random() < pr[i]
                if from_slab[i]:
                    j = _pick_part(rng.random() * total[i], up[i], shrink[i], mix)
                    new = g[i] + j * unit * precision * inverse[i]
                    new += np.sqrt(inverse[i]) * rng.standard_normal()
                    if abs(new) >= least[p]:
                        used[2 * j - 1 if j > 0 else -2 * j] += 1
                    c[i] = new
                else:
                    c[i] = _draw_beside(rng, background[p], small[i], wide[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD)
def expect_shaped_edges(  # type: ignore[no-untyped-def]
    Q,
    Z,
    mean,
    weight,
    log_odds,
    scale,
    background,
    wider,
    tail,
    least,
    step,
    spread,
    mix,
    probability,
    variance,
    centre,
    width,
    sums,
    used,
):
    """As `draw_shaped_edges`, but every entry is replaced by its mean; nothing is drawn. An entry
    that is not from the slab comes from N(0, background_p) or, a share `tail` of them, from
    N(0, wider background_p).

    probability <- of the slab; mean, variance <- of the entry; centre, width <- its mean and
    variance if it is from the slab. `used` counts entries from the slab beyond `least` (P,). sums
    (P, 3) <- their sum of squares, and numerator and denominator of a step of Fisher scoring of the
    background: such an entry is seen as N(0, background + 1 / q), q = Q_pp weight, one of the tail
    as N(0, wider background + 1 / q).
    """
    P, N = mean.shape
    g, inverse = np.empty(TILE), np.empty(TILE)
    up, shrink, total, lean, reach = parts = _empty_parts()
    sums[:] = 0.0
    for start in range(0, N, TILE):
        tile = slice(start, min(start + TILE, N))
        w = weight[tile]
        for p in range(P):
            m, pr, v = mean[p, tile], probability[p, tile], variance[p, tile]
            edge, around = centre[p, tile], width[p, tile]
            unit, precision = step * scale[p], 1 / (spread * scale[p] * scale[p])
            _residuals(Q[p], Z[p, tile], mean, p, tile, g)
            _weigh(Q[p, p], w, unit, precision, step, spread, mix, g, inverse, parts)
            b = background[p]
            power = 0.0
            excess = 0.0
            information = 0.0
            heavy = tail > 0 and b > 0
            for i in range(len(w)):
                q = Q[p, p] * w[i]
                narrow = 1 / (1 + b * q)
                field = g[i] / inverse[i]
                small = field * b * narrow
                rest = b * narrow + small * small
                # Evidence of the background: exp(field small / 2) sqrt(narrow); with a tail, that
                # of the tail times `mixed`.
                odds = log_odds[p] - 0.5 * field * small
                far = 0.0
                seen = narrow
                mixed = 1.0
                if heavy:
                    flat = 1 / (1 + wider * b * q)
                    large = field * wider * b * flat
                    rest_of = (1 - tail) * _exp(-0.5 * field * (large - small))
                    mixed = tail + rest_of * np.sqrt(narrow / flat)
                    odds = log_odds[p] - 0.5 * field * large
                    seen = flat
                    far = tail / mixed
                    small += far * (large - small)
                    rest += far * (wider * b * flat + large * large - rest)
                slab = total[i] / mixed
                chosen = _choose(g[i], inverse[i], slab, odds, unit, precision, seen)
                shift = unit * precision * inverse[i]
                off = shift * lean[i] / total[i]
                square = g[i] * (g[i] + 2 * off) + shift * shift * reach[i] / total[i]
                square += inverse[i]
                edge[i] = g[i] + off
                around[i] = square - edge[i] * edge[i]
                new = chosen * edge[i] + (1 - chosen) * small
                pr[i] = chosen
                # Rounding can make the difference of squares slightly negative.
                v[i] = max(chosen * square + (1 - chosen) * rest - new * new, 0.0)
                m[i] = new
                power += chosen * square
                near = (1 - chosen) * (1 - far)
                excess += near * (field * field - q) * narrow * narrow
                information += near * q * q * narrow * narrow
                if heavy:
                    beyond = (1 - chosen) * far * wider * flat * flat
                    excess += beyond * (field * field - q)
                    information += beyond * wider * q * q
            sums[p, 0] += power
            sums[p, 1] += excess
            sums[p, 2] += information
            for i in range(len(w)):
                if pr[i] > LIKELY and abs(edge[i]) >= least[p]:
                    _count_parts(up[i], shrink[i], mix, pr[i] / total[i], used)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD)
def part_sums(  # type: ignore[no-untyped-def]
    sizes, density, background, wider, tail, centre, spread, sums
):
    """Entries with noise of unit variance and these `sizes` |y| (P, N), as a mixture of background
    (share 1 - tail), its tail, both centred Gaussians, and edges (share `density` of all), two
    Gaussians at plus and minus `centre` of variance `spread`, noise included.

    sums (P, 7) <- number of entries in each, sum of their squares in each, and sum over the edges
    of the size times its sign's expectation.
    """
    P, N = sizes.shape
    for p in range(P):
        v0, v1, v2 = background[p] + 1, wider * background[p] + 1, spread[p]
        mu = centre[p]
        # Odds beside the widest part, so that no exponential overflows.
        share0 = 2 * (1 - density[p]) * (1 - tail) / density[p] * np.sqrt(v2 / v0)
        share1 = 2 * (1 - density[p]) * tail / density[p] * np.sqrt(v2 / v1)
        s = np.zeros(7)
        for i in range(N):
            y = sizes[p, i]
            y2 = y * y
            other = _exp(-2 * mu * y / v2)  # the edge of the other sign, beside this one
            edge = 0.5 * (y - mu) * (y - mu) / v2
            near = share0 * _exp(edge - 0.5 * y2 / v0)
            far = share1 * _exp(edge - 0.5 * y2 / v1)
            out = 1 / (1 + other + near + far)
            near *= out
            far *= out
            out *= 1 + other
            s[0] += near
            s[1] += far
            s[2] += out
            s[3] += near * y2
            s[4] += far * y2
            s[5] += out * y2
            s[6] += out * y * (1 - other) / (1 + other)
        sums[p] = s


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _residuals(q, z, C, p, tile, g):  # type: ignore[no-untyped-def]
    """g <- `z` minus what all other regulators explain of it, for the entries of regulator p in the
    tile; `q` and `z` are the rows of Q and Z."""
    # The loop subtracts p as well, so that it has no branch; its own part is added back first.
    own = C[p, tile]
    for i in range(len(z)):
        g[i] = z[i] + q[p] * own[i]
    for k in range(C.shape[0]):
        if q[k] != 0:  # where rows are held, no entry depends on another
            c = C[k, tile]
            for i in range(len(z)):
                g[i] -= q[k] * c[i]


@njit(cache=True, nogil=True, inline="always")
def _empty_beside():  # type: ignore[no-untyped-def]
    """Scratch for `_beside`."""
    return np.empty(TILE), np.empty(TILE), np.empty(TILE)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _beside(q, w, b, g, field, small, wide):  # type: ignore[no-untyped-def]
    """Entries of a background of variance `b` in a tile, given their residuals `g`: what pulls at
    them, their mean, and the evidence against zeros, ``exp(field small / 2) / sqrt(wide)``."""
    for i in range(len(w)):
        wide[i] = 1 + b * q * w[i]
        field[i] = g[i] * w[i]
        small[i] = b * field[i] / wide[i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _learn_beside(q, w, field, wide, pr, sums):  # type: ignore[no-untyped-def]
    """Add the entries of a tile to the sums of a row: with q = Q_pp weight, one that is not from
    the slab is seen as N(0, background + 1 / q)."""
    excess = 0.0
    information = 0.0
    for i in range(len(w)):
        precision = q * w[i]
        beside = (1 - pr[i]) / (wide[i] * wide[i])
        excess += beside * (field[i] * field[i] - precision)
        information += beside * precision * precision
    sums[0] += excess
    sums[1] += information


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _draw_beside(rng, b, small, wide):  # type: ignore[no-untyped-def]
    """An entry of the background; zero, and nothing drawn, without one."""
    return small + np.sqrt(b / wide) * rng.standard_normal() if b > 0 else 0.0


@njit(cache=True, nogil=True, inline="always")
def _empty_parts():  # type: ignore[no-untyped-def]
    """Scratch for `_weigh`: separate arrays, or its loop would not vectorise."""
    return np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _weigh(q, w, unit, precision, step, spread, mix, g, inverse, parts):  # type: ignore[no-untyped-def]
    """Weights of the slab's parts for the entries of a tile, given their residuals `g`.

    g, inverse <- centre and variance under the middle part. The parts being equally spaced, part j
    has weight ``mix_j up^j shrink^(j^2)``; parts <- up, shrink, and the sums of 1, j and j^2 times
    the weights.
    """
    for i in range(len(w)):
        inverse[i] = 1 / (q * w[i] + precision)
        g[i] *= w[i] * inverse[i]
    ups, shrinks, totals, leans, reaches = parts
    for i in range(len(w)):
        up = _exp(min(max(g[i] * unit * precision, -MOST_TILT), MOST_TILT))
        shrink = _exp(-0.5 * step * step / spread * (1 - precision * inverse[i]))
        # up^j and shrink^(j^2) by recurrence, as (j + 1)^2 = j^2 + (2 j + 1): two exponentials an
        # entry instead of thirteen.
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
        ups[i] = up
        shrinks[i] = shrink
        totals[i] = total
        leans[i] = lean
        reaches[i] = reach


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _choose(centre, inverse, total, log_odds, unit, precision, narrow):  # type: ignore[no-untyped-def]
    """Probability of the slab, `total` being the sum of the weights of its parts; `narrow` is the
    share of its variance that an entry of the background keeps given the data, 1 without one."""
    base = log_odds + 0.5 * centre * centre / inverse
    certain = (base > MOST_ODDS) | (abs(centre * unit * precision) > MOST_TILT)
    base = MOST_ODDS if certain else base
    return 1 - 1 / (1 + _exp(base) * np.sqrt(precision * inverse / narrow) * total)


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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _pick_part(draw, up, shrink, mix):  # type: ignore[no-untyped-def]
    """The part j in which `draw` falls, between 0 and the sum of all weights."""
    draw -= mix[0]
    power = shrink
    ratio = shrink * shrink * shrink
    down = 1 / up
    u = up
    v = down
    for j in range(1, SIDE + 1):
        if draw <= 0:
            return 0 if j == 1 else 1 - j
        draw -= mix[2 * j - 1] * u * power
        if draw <= 0:
            return j
        draw -= mix[2 * j] * v * power
        power *= ratio
        ratio *= shrink * shrink
        u *= up
        v *= down
    return -SIDE


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SIMD, inline="always")
def _exp(x):  # type: ignore[no-untyped-def]
    """exp(x) to 3e-14, |x| cut at 700: the library's is a call, which no loop vectorises around.

    x = n log 2 + r (log 2 in two parts); exp(r) by its series to the 12th power, 2^n by its bits.
    """
    # Beyond 700 the bits of 2^n would leave the exponent of a double.
    x = min(max(x, -700.0), 700.0)
    n = np.floor(x * 1.4426950408889634 + 0.5)
    # The first part of log 2 has few bits, so that n times it is exact and r keeps its digits.
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
