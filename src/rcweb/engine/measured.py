"""Regulators measured in some samples: are they seen in the table, and what do they add to it?

A factor is seen if its measurements u vary with the table more than in shuffled order. Compared are
two explanations: one of the regulators found, ``u = offset + D r_s``, or a free direction of the
table, ``u = offset + Z a`` with Gaussian a, where Z are the whitened leading coordinates of the
samples. The second needs no regulator to be right, and so sees factors that the search missed.

Only factors that are seen take part in the posterior (`posterior.measured`). A table whose
posterior has one mode, or no exact zeros, stays as it is: there measurements in a few samples add
nothing to what all variables say.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp

from rcweb.engine.conventions import FEWEST, RIGHT
from rcweb.engine.effort import Sweeps
from rcweb.engine.matching import row_correlation
from rcweb.engine.posterior.axes import Axes
from rcweb.engine.posterior.gibbs import Posterior
from rcweb.engine.posterior.measured import MeasuredChain, MeasuredSamples
from rcweb.engine.search.found import mostly
from rcweb.engine.solution import FactorScales, SeenFactors
from rcweb.engine.types import Array, Ints, Rng

MAX_EXACT = 8  # 8! = 40,320 orders are all visited; beyond that they are drawn
DRAWN = 4000  # orders; p is then at least 1 / 4001
ORDERS_AT_ONCE = 4096  # tried together: memory
# Conventional: false discovery rate over factors, and share of scales outside their intervals.
ERROR_RATE = 0.05
# Ratios of the signal's variance to that of the error, each as likely beforehand.
RATIOS = (0.5, 2.0, 8.0)
MEASURED_SWEEPS = Sweeps(600, 10, 450)  # measured: 300, 10, 300 give accuracies within 0.01


def judge(values: Array, R: Array, Z: Array) -> SeenFactors:
    """Which factors `values` (M, F) are seen, given activities R (M, P) and coordinates Z (M, K);
    none is used yet."""
    # Imported here: only users who measured something need it, and it takes long.
    from scipy.stats import false_discovery_control

    rng = np.random.default_rng(0)
    p, free, share = np.array([seen(u, R, Z, rng) for u in values.T]).T
    q = np.asarray(false_discovery_control(p))
    return SeenFactors(p, q, free, share, np.zeros(len(p), bool))


def seen(u: Array, R: Array, Z: Array, rng: Rng) -> tuple[float, float, float]:
    """Probability that shuffled measurements u (M,), NaN where missing, are explained as well;
    the log-likelihood of a free direction, and the share of the variance of u that it explains."""
    there = np.isfinite(u)
    n, largest = int(there.sum()), float(np.abs(u[there]).max(initial=0.0))
    # In units of the largest: squares of extreme values overflow.
    u = u[there] / largest if largest > 0 else u[there]
    u = u - u.mean() if n else u
    size = float(np.linalg.norm(u))
    if n < FEWEST or size <= 1e-12:
        return 1.0, 0.0, 0.0
    explain = _Explanations(R[there], Z[there])
    observed = explain.evidence(u[None] / size)[0]
    hits = 0
    every = orders(n, DRAWN, rng)
    for start in range(0, len(every), ORDERS_AT_ONCE):
        found = explain.evidence(u[every[start : start + ORDERS_AT_ONCE]] / size)
        # Ties with the observed order (itself among them) must count despite rounding.
        hits += int((found >= observed - 1e-9).sum())
    p = permutation_p(hits, n, len(every))
    return p, float(explain.free(u[None] / size)[0]), explain.share(u / size)


class _Explanations:
    """Regulators and free directions over the n measured samples."""

    def __init__(self, R: Array, Z: Array) -> None:
        self.R = R
        centred = Z - Z.mean(axis=0)
        values, vectors = np.linalg.eigh(centred @ centred.T / Z.shape[1])
        # The constant, which the offset takes, has value 0 and adds nothing: u is centred.
        self.values, self.vectors = np.maximum(values, 0.0), vectors

    def evidence(self, U: Array) -> Array:
        """Log of the mean likelihood of both explanations against none, for every row of U (B, n),
        centred and of unit length; scale and error integrated out."""
        each = match_likelihood(row_correlation(U, self.R.T), U.shape[1])
        single = logsumexp(each, axis=1) - np.log(self.R.shape[1])
        return np.asarray(np.logaddexp(single, self.free(U)))

    def free(self, U: Array) -> Array:
        """Log-likelihood of a free direction alone, its prior variance averaged over `RATIOS`."""
        return np.asarray(logsumexp(self._each_free(U), axis=0) - np.log(len(RATIOS)))

    def share(self, u: Array) -> float:
        """Share of the variance of u (n,) that the likeliest free direction predicts, each sample
        being left out in turn."""
        signal = RATIOS[int(self._each_free(u[None])[:, 0].argmax())] * self.values
        smoother = (self.vectors * (signal / (1 + signal))) @ self.vectors.T + 1 / len(u)
        # Left-out residuals of a linear smoother follow from its diagonal.
        left_out = (u - smoother @ u) / np.maximum(1 - np.diag(smoother), 1e-12)
        return float(1 - left_out @ left_out)

    def _each_free(self, U: Array) -> Array:
        """Log-likelihood for each of `RATIOS`, (3, B)."""
        n, power = U.shape[1], (U @ self.vectors) ** 2
        shares = [1 / (1 + ratio * self.values) for ratio in RATIOS]
        each = [
            0.5 * np.log(share).sum() - 0.5 * (n - 1) * np.log(np.maximum(power @ share, 1e-12))
            for share in shares
        ]
        return np.array(each)


def sample_measured(
    whole: Axes,
    rows: Array,
    values: Array,
    posterior: tuple[Array, Array],
    *,
    P: int,
    concentration: float,
    rng: Rng,
) -> tuple[Posterior, FactorScales]:
    """The posterior of the table `rows` (M, N) with the factors `values` (M, F), each assigned to a
    regulator; `posterior` : C and activities of the fit without them; `P` : regulators asked
    for."""
    C, R = posterior
    measured = np.isfinite(values).any(axis=1)
    samples = MeasuredSamples(
        np.ascontiguousarray(rows[measured]),
        values[measured],
        assign(values, R),
        other_axes(rows[~measured], whole.M - int(measured.sum()), whole.observed),
    )
    chain = MeasuredChain(whole, C, rng, samples, concentration=concentration)
    sweeps = MEASURED_SWEEPS.within(C.size)
    # Errors are held small for half as long as the burn-in that follows.
    chain.trust_first(sweeps.burn // 2)
    burnt = chain.run(sweeps.burn, shaped=False)
    # As in `estimate`: only sure rows tell the shape of the slab.
    shaped = mostly(burnt.fidelity > RIGHT, P)
    if shaped:
        chain.advance(sweeps.shape)
    chain.kept.clear()
    return chain.run(sweeps.sweeps, shaped=shaped), chain.links(1 - ERROR_RATE)


def other_axes(rows: Array, M: int, observed: Array) -> Axes:
    """The axes of the samples that were not measured: their triangular factor if it is smaller."""
    if len(rows) > rows.shape[1]:
        rows = np.asarray(np.linalg.qr(rows, mode="r"))
    return Axes(np.ascontiguousarray(rows), np.zeros(rows.shape[1]), M, observed)


def assign(values: Array, R: Array) -> Ints:
    """The regulator of each factor, one to one as far as there are enough, of the largest total
    log-likelihood; factors in excess take their likeliest."""
    likelihood = np.zeros((values.shape[1], R.shape[1]))
    for k, u in enumerate(values.T):
        seen = np.isfinite(u)
        likelihood[k] = match_likelihood(row_correlation(u[seen][None], R[seen].T), seen.sum())[0]
    regulator = likelihood.argmax(axis=1)
    factors, regulators = linear_sum_assignment(-likelihood)
    regulator[factors] = regulators
    return np.asarray(regulator, dtype=np.int64)


def match_likelihood(rho: Array, n: Array | int) -> Array:
    """Gain in log-likelihood of ``u = offset + D r`` over no relation, from the correlation over n
    samples; offset, scale and noise integrated out (flat priors)."""
    # A perfect correlation would have infinite likelihood; offset and scale take two degrees of
    # freedom.
    return np.asarray(-0.5 * np.maximum(n - 2, 0) * np.log(np.maximum(1 - rho**2, 1e-12)))


def orders(n: int, n_draws: int, rng: Rng) -> Ints:
    """Orders of n measurements, one per row: all n! up to `MAX_EXACT`, drawn beyond."""
    if n <= MAX_EXACT:
        return _all_orders(n)
    return np.asarray(rng.permuted(np.tile(np.arange(n), (n_draws, 1)), axis=1))


def permutation_p(hits: int, n: int, n_draws: int) -> float:
    """p from the number of `orders` that reach what was observed."""
    # Drawn orders: the observed one counts as a draw, so that p is never 0 (Phipson, Smyth 2010).
    return hits / factorial(n) if n <= MAX_EXACT else (hits + 1) / (n_draws + 1)


@lru_cache(maxsize=MAX_EXACT)
def _all_orders(n: int) -> Ints:
    return np.array(list(permutations(range(n))), dtype=np.int64)
