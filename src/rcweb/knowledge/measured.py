"""Which regulator is which measured factor, from a few measurements of it (paper, section 4.3).

Factor k was measured (vector u_k) in n_k of the samples. Its regulator s is the one whose
activities there correlate best with u_k, and ``u_k = offset + D_ss R_s``. The paper's formula for
D_ss has no offset; activities of centred data need one. Over three or four samples some regulator
always correlates well by chance, so "none fits" is a valid answer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax
from scipy.stats import t as student

from rcweb.engine.matching import row_correlation
from rcweb.engine.types import Array, Ints
from rcweb.knowledge.hypergeometric import log_benjamini_hochberg

MAX_EXACT = 8  # 8! = 40,320 orders are all visited; beyond that they are drawn
MIN_SAMPLES = 3  # two points lie on a line with anything
ORDERS_AT_ONCE = 4096
NO_SCALE = dict.fromkeys(("scale", "scale_low", "scale_high", "offset"), float("nan"))


@dataclass(frozen=True)
class MeasuredMatch:
    """One factor and the regulator assigned to it.

    factor : its name
    regulator : the name of its regulator, or None when none fits
    candidate : the regulator assigned in any case
    correlation : of the factor with the candidate over the measured samples
    p : probability that the best of all regulators correlates as well with shuffled measurements
    q : Benjamini-Hochberg over factors
    confidence : probability of the candidate among all regulators, if one of them is the factor
    sign : +1 or -1, of the correlation
    scale, scale_low, scale_high : D_ss of ``factor = offset + D_ss activity`` with its interval
    offset : see scale
    n_samples : in how many samples the factor was measured
    reason : why the candidate is or is not named
    """

    factor: str
    regulator: str | None
    candidate: str | None
    n_samples: int
    correlation: float
    p: float
    q: float
    confidence: float
    sign: int
    scale: float
    scale_low: float
    scale_high: float
    offset: float
    reason: str


def match_measured(
    activities: Any,
    measured: Any,
    *,
    alpha: float = 0.05,
    n_permutations: int = 20_000,
    random_state: int | None = 0,
) -> pd.DataFrame:
    """Assign measured factors to regulators, each regulator to one factor at most.

    activities : (samples, regulators), DataFrame or array, as ``model.transform(X)`` gives them
    measured : (samples, factors), NaN where a factor was not measured. DataFrames are joined by
        sample name, and `measured` may then hold only the samples that were measured
    alpha : share of false names accepted. A candidate is named if q <= alpha (chance excluded)
        and if the mean of 1 - confidence over it and all surer ones is at most alpha (no other
        regulator explains the measurements nearly as well); ``1 - alpha`` is also the level of
        the interval of the scale
    n_permutations : orders drawn when a factor has more than 8 samples; with 8 or fewer all n!
        orders are visited and p is exact
    random_state : seed of the orders drawn

    One row per factor, with the columns of `MeasuredMatch`. The assignment maximises the sum of
    the log-likelihoods ``-(n_k - 2)/2 log(1 - rho^2)``, in which a correlation over many samples
    weighs more than the same one over few.

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb.knowledge import match_measured
    >>> rng = np.random.default_rng(0)
    >>> activities = rng.normal(size=(30, 5))
    >>> measured = np.full((30, 1), np.nan)
    >>> measured[:8, 0] = 10 + 2 * activities[:8, 3] + 0.1 * rng.normal(size=8)
    >>> match_measured(activities, measured)[["factor", "regulator", "n_samples"]]
        factor regulator  n_samples
    0  factor0    rcweb3          8
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha}.")
    R, U = _aligned(activities, measured)
    samples = [_measured_part(U.iloc[:, k], R) for k in range(U.shape[1])]
    counts = np.array([len(u) for u, _ in samples], dtype=np.int64)
    rho = np.zeros((len(samples), R.shape[1]))
    for k, (u, r) in enumerate(samples):
        if counts[k] > 1:
            rho[k] = row_correlation(u[None, :], r.T)[0]
    likelihood = _log_likelihood(rho, counts)
    chosen = _assign(likelihood)
    rng = np.random.default_rng(random_state)
    p = np.ones(len(samples))
    for k, i in chosen.items():
        p[k] = _permutation_p(*samples[k], abs(rho[k, i]), n_permutations, rng)
    q = np.exp(log_benjamini_hochberg(np.log(p)))
    sure = _confidence(likelihood, chosen)
    distinct = _distinct(sure, eligible=(q <= alpha) & (counts >= MIN_SAMPLES), alpha=alpha)
    rows = []
    for k, (u, r) in enumerate(samples):
        s = chosen.get(k)
        candidate = None if s is None else str(R.columns[s])
        reason = _reason(len(u), candidate, q[k] <= alpha, bool(distinct[k]))
        scale = NO_SCALE if s is None else _scale(u, r[:, s], alpha)
        rows.append(
            MeasuredMatch(
                factor=str(U.columns[k]),
                regulator=candidate if reason == "named" else None,
                candidate=candidate,
                n_samples=len(u),
                correlation=np.nan if s is None else float(rho[k, s]),
                p=float(p[k]),
                q=float(q[k]),
                confidence=float(sure[k]),
                sign=0 if s is None else int(np.sign(rho[k, s])),
                **scale,
                reason=reason,
            )
        )
    return pd.DataFrame([asdict(row) for row in rows], columns=list(MeasuredMatch.__annotations__))


def _measured_part(factor: pd.Series, R: pd.DataFrame) -> tuple[Array, Array]:
    """u_k (n_k,) and the activities in the same samples (n_k, P)."""
    u = factor.to_numpy(np.float64)
    seen = np.isfinite(u)
    return u[seen], R.to_numpy(np.float64)[seen]


def _aligned(activities: Any, measured: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both as tables over the same samples."""
    R = activities if isinstance(activities, pd.DataFrame) else None
    U = measured.to_frame() if isinstance(measured, pd.Series) else measured
    if R is None:
        array = np.asarray(activities, dtype=np.float64)
        if array.ndim != 2:
            raise ValueError(f"activities must be samples x regulators, not {array.ndim}-d.")
        R = pd.DataFrame(array, columns=[f"rcweb{p}" for p in range(array.shape[1])])
        # Without names equal lengths are the only safe way to pair rows.
        if isinstance(U, pd.DataFrame) and len(U) != len(R):
            raise ValueError(
                f"activities has {len(R)} rows without names and measured {len(U)}: pass "
                "activities as a DataFrame to join the two by sample name."
            )
        if isinstance(U, pd.DataFrame):
            R.index = U.index
    if not isinstance(U, pd.DataFrame):
        array = np.asarray(U, dtype=np.float64)
        array = array[:, None] if array.ndim == 1 else array
        if len(array) != len(R):
            raise ValueError(f"measured has {len(array)} rows, activities {len(R)} samples.")
        U = pd.DataFrame(
            array, index=R.index, columns=[f"factor{k}" for k in range(array.shape[1])]
        )
    unknown = [name for name in U.index if name not in set(R.index)]
    if unknown:
        raise ValueError(
            f"sample {unknown[0]!r} was measured but is not among the activities' samples."
        )
    if not R.index.is_unique or not U.index.is_unique:
        raise ValueError("sample names must be unique to join measurements with activities.")
    if not np.isfinite(R.to_numpy(np.float64)).all():
        raise ValueError("activities hold NaN or infinite values.")
    return R.loc[U.index], U


def _log_likelihood(rho: Array, counts: Ints) -> Array:
    """Gain over no relation, offset, scale and noise integrated out (flat priors), (K, P)."""
    # A perfect correlation would have infinite likelihood.
    unexplained = np.maximum(1 - rho**2, 1e-12)
    # Offset and scale take two degrees of freedom.
    freedom = np.maximum(counts - 2, 0)[:, None]
    return -0.5 * freedom * np.log(unexplained)


def _assign(likelihood: Array) -> dict[int, int]:
    """Factor -> regulator, one to one; factors in excess of regulators get none."""
    k, s = linear_sum_assignment(-likelihood)
    return dict(zip(k.tolist(), s.tolist()))


@lru_cache(maxsize=MAX_EXACT)
def _all_orders(n: int) -> Ints:
    return np.array(list(permutations(range(n))), dtype=np.int64)


def _permutation_p(u: Array, R: Array, observed: float, n_draws: int, rng: Any) -> float:
    """P(max over regulators |rho(shuffled u, R_i)| >= observed), so it accounts for n and P."""
    n = len(u)
    if n < 2:
        return 1.0
    exact = n <= MAX_EXACT
    # Shuffling the measurements keeps the correlations among regulators.
    orders = _all_orders(n) if exact else rng.permuted(np.tile(np.arange(n), (n_draws, 1)), axis=1)
    hits = 0
    # In parts: all orders times all regulators would take too much memory.
    for start in range(0, len(orders), ORDERS_AT_ONCE):
        best = np.abs(row_correlation(u[orders[start : start + ORDERS_AT_ONCE]], R.T)).max(axis=1)
        # Ties with the observed order (itself among them) must count despite rounding.
        hits += int((best >= observed - 1e-9).sum())
    # Drawn orders: the observed one counts as a draw, so that p is never 0 (Phipson, Smyth 2010).
    return hits / factorial(n) if exact else (hits + 1) / (n_draws + 1)


def _scale(u: Array, r: Array, alpha: float) -> dict[str, float]:
    """Least squares ``u = offset + D r`` and Student's interval for D."""
    n, centred = len(u), r - r.mean() if len(r) else r
    power = float(centred @ centred)
    if n < 2 or power == 0:
        return NO_SCALE
    scale = float(centred @ u / power)
    offset = float(u.mean() - scale * r.mean())
    half = np.inf  # two points leave no freedom to estimate the spread
    if n >= MIN_SAMPLES:
        spread = np.sqrt(((u - offset - scale * r) ** 2).sum() / (n - 2) / power)
        half = float(student.ppf(1 - alpha / 2, n - 2) * spread)
    return {
        "scale": scale,
        "scale_low": scale - half,
        "scale_high": scale + half,
        "offset": offset,
    }


def _confidence(likelihood: Array, chosen: dict[int, int]) -> Array:
    """Posterior of the candidate among all regulators, every one as likely beforehand, (K,)."""
    sure = np.zeros(len(likelihood))
    for k, s in chosen.items():
        sure[k] = softmax(likelihood[k])[s]
    return sure


def _distinct(sure: Array, eligible: NDArray[np.bool_], alpha: float) -> NDArray[np.bool_]:
    """The largest group of eligible factors, surest first, with at most alpha expected errors."""
    # Bayesian false discovery rate: the mean of 1 - confidence over those named.
    order = np.argsort(np.where(eligible, -sure, np.inf), kind="stable")[: eligible.sum()]
    expected = np.cumsum(1 - sure[order]) / np.arange(1, len(order) + 1)
    distinct = np.zeros(len(sure), dtype=bool)
    distinct[order[expected <= alpha]] = True
    return distinct


def _reason(n: int, candidate: str | None, beyond_chance: bool, distinct: bool) -> str:
    if candidate is None:
        return "more factors than regulators"
    if n < MIN_SAMPLES:
        return f"measured in fewer than {MIN_SAMPLES} samples"
    if not beyond_chance:
        return "none fits: chance cannot be excluded"
    if not distinct:
        return "none fits: another regulator explains it nearly as well"
    return "named"
