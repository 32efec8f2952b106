"""Exact tail of the hypergeometric distribution, and corrections for many tests, in logarithms.

Section 4.3: the significance of an overlap is its probability by chance. Overlaps of large sets
reach 1e-400, which a float cannot hold; the logarithm can.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from rcweb.engine.types import Array, Ints

# A term this much smaller than the sum no longer changes it; later terms are smaller still.
NEGLIGIBLE = 1e-18


def log_tail(overlap: ArrayLike, drawn: ArrayLike, marked: ArrayLike, universe: int) -> Array:
    """Natural log of P(X >= overlap), X = marked ones among `drawn` out of `universe`.

    P(X = k) = binom(K, k) binom(N - K, n - k) / binom(N, n), summed term by term from the larger
    end. The arguments broadcast; 0 (p = 1) where the overlap cannot be smaller, -inf where it
    cannot be reached.
    """
    k, n, K = (np.asarray(a, dtype=np.int64) for a in (overlap, drawn, marked))
    for name, values in (("drawn", n), ("marked", K)):
        if values.size and (values.min() < 0 or values.max() > universe):
            raise ValueError(f"{name} must lie between 0 and the universe of {universe}.")
    k, n, K = np.broadcast_arrays(k, n, K)
    if not k.size:
        return np.zeros(k.shape)
    # Pairs of sets share their sizes: each distinct (k, n, K) is summed once.
    k = np.clip(k, 0, universe + 1)
    # Coded as one integer each: np.unique over rows is much slower.
    radix = (int(k.max()) + 1, int(n.max()) + 1, int(K.max()) + 1)
    cases, inverse = np.unique(np.ravel_multi_index((k, n, K), radix), return_inverse=True)
    k_case, n_case, K_case = np.unravel_index(cases, radix)
    return _distinct_tails(k_case, n_case, K_case, universe)[inverse].reshape(k.shape)


def _distinct_tails(k: Ints, n: Ints, K: Ints, N: int) -> Array:
    result = np.zeros(len(k))
    smallest, largest = np.maximum(0, n + K - N), np.minimum(n, K)
    result[k > largest] = -np.inf
    inside = (k > smallest) & (k <= largest)
    # Above the mode terms fall from k upwards; below it they fall from k - 1 downwards and the
    # tail is the complement, which is then far from 0 and loses nothing.
    upper = inside & (k * (N + 2) > (n + 1) * (K + 1))
    lower = inside & ~upper
    result[upper] = _log_sum(k[upper], n[upper], K[upper], N, step=1)
    below = _log_sum(k[lower] - 1, n[lower], K[lower], N, step=-1)
    result[lower] = np.log1p(-np.exp(below))
    # Rounding may lift a probability just above 1.
    return np.minimum(result, 0.0)


def _log_pmf(k: Ints, n: Ints, K: Ints, N: int) -> Array:
    def log_choose(a: Ints | int, b: Ints) -> Array:
        return gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(np.subtract(a, b) + 1.0)

    return log_choose(K, k) + log_choose(N - K, n - k) - log_choose(N, n)


def _log_sum(k: Ints, n: Ints, K: Ints, N: int, step: int) -> Array:
    """Log of the sum of P(X = j) over j = k, k + step, ..., by the ratio of neighbours."""
    total, term = np.ones(len(k)), np.ones(len(k))
    active, j = np.arange(len(k)), k.astype(np.float64)
    nf, Kf = n.astype(np.float64), K.astype(np.float64)
    # Ends: beyond the mode terms fall, ever faster, and at the end of the support they are 0.
    while active.size:
        rise, fall = (Kf - j) * (nf - j), (j + 1) * (N - Kf - nf + j + 1)
        if step < 0:
            rise, fall = j * (N - Kf - nf + j), (Kf - j + 1) * (nf - j + 1)
        term = term * rise / fall
        total[active] += term
        going = term > NEGLIGIBLE * total[active]
        active, j, nf, Kf, term = active[going], j[going] + step, nf[going], Kf[going], term[going]
    return _log_pmf(k, n, K, N) + np.log(total)


def log_bonferroni(log_p: Array, n_tests: int | None = None) -> Array:
    """Log of min(1, m p) for m tests; m is the number of p-values unless given."""
    return np.minimum(log_p + np.log(max(n_tests or log_p.size, 1)), 0.0)


def log_benjamini_hochberg(log_p: Array) -> Array:
    """Log of the smallest false discovery rate at which each test is rejected, any shape.

    q_(i) = min over j >= i of p_(j) m / j with p_(1) <= p_(2) <= ...
    """
    flat = log_p.ravel()
    order = np.argsort(flat, kind="stable")
    ranked = flat[order] + np.log(max(len(flat), 1)) - np.log(np.arange(1, len(flat) + 1))
    q = np.empty_like(flat)
    # From the largest p down, so that q never falls as p grows.
    q[order] = np.minimum.accumulate(ranked[::-1])[::-1]
    return np.minimum(q, 0.0).reshape(log_p.shape)


def benjamini_hochberg(p: ArrayLike) -> Array:
    """The same for probabilities that a float can hold, (n,)."""
    from scipy.stats import false_discovery_control

    values = np.asarray(p, dtype=np.float64)
    return np.asarray(false_discovery_control(values)) if values.size else values


def from_log(log_p: Array) -> Array:
    """Probabilities for reading, never 0: what a float cannot hold shows as 2.2e-308."""
    return np.exp(np.maximum(log_p, np.log(np.finfo(np.float64).tiny)))


def format_p(log10_p: float) -> str:
    """Text of a probability, also where a float would be 0.

    log10_p : its logarithm

    Examples
    --------
    >>> from rcweb.knowledge import format_p
    >>> format_p(-411.9)
    '1.3e-412'
    """
    if np.isneginf(log10_p):
        return "0"
    if log10_p > -3:
        return f"{10**log10_p:.2g}"
    exponent = int(np.floor(log10_p))
    mantissa = f"{10 ** (log10_p - exponent):.1f}"
    # 9.96 rounds to 10.0, which belongs to the next exponent.
    return f"1.0e{exponent + 1}" if mantissa == "10.0" else f"{mantissa}e{exponent}"
