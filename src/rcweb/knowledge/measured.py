"""Which regulator is which measured factor, from a few measurements of it (paper, section 4.3).

Factor k was measured (vector u_k) in n_k of the samples. Its regulator s is the one whose
activities there correlate best with u_k, and ``u_k = offset + D_ss R_s``. The paper's formula for
D_ss has no offset; activities of centred data need one. Over three or four samples some regulator
always correlates well by chance, so "none fits" is a valid answer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp
from scipy.stats import t as student

from rcweb.engine.conventions import FEWEST
from rcweb.engine.matching import row_correlation
from rcweb.engine.measured import (
    ORDERS_AT_ONCE,
    match_likelihood,
    orders,
    permutation_p,
)
from rcweb.engine.types import Array
from rcweb.knowledge.hypergeometric import log_benjamini_hochberg

if TYPE_CHECKING:
    from rcweb.engine.solution import FactorScales, SeenFactors

NO_SCALE = dict.fromkeys(("scale", "scale_low", "scale_high", "offset", "error"), float("nan"))
# Share of what the table explains of a factor that its regulator explains at least. Activities have
# errors, so that over many samples a free direction always explains a little more.
NEARLY = 0.8
NOT_SEEN = "not seen in these data: chance cannot be excluded"
NO_SINGLE = "seen in these data, but no single regulator explains it"


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
    error : standard deviation of the measurements around that line
    used : whether it took part in the fit
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
    error: float
    used: bool
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
    R, U = _both(activities, measured)
    matched = _Matched.of(R, U)
    rng = np.random.default_rng(random_state)
    p = np.ones(len(matched.samples))
    for k, i in matched.chosen.items():
        p[k] = _permutation_p(*matched.samples[k], abs(matched.rho[k, i]), n_permutations, rng)
    q = np.exp(log_benjamini_hochberg(np.log(p)))
    return _table(R, U, matched, p, q, alpha)


def measured_table(
    activities: pd.DataFrame, measured: pd.DataFrame, seen: SeenFactors, alpha: float = 0.05
) -> pd.DataFrame:
    """As `match_measured`, for factors that the fit itself has judged.

    `measured` has the samples of `activities`. p and q then say whether the factor is seen in the
    table at all, and a free direction of the table competes with the regulators in `confidence`.
    """
    matched = _Matched.of(activities, measured)
    return _table(activities, measured, matched, seen.p, seen.q, alpha, seen)


def align_measured(
    measured: Any, samples: Any, n_samples: int, what: str = "the table"
) -> pd.DataFrame:
    """Measured factors over all samples, NaN where not measured.

    measured : DataFrame or Series, joined by the names `samples`; without names (None), or if it
        has none itself, it must have a row for every sample of `what`
    """
    U = measured.to_frame() if isinstance(measured, pd.Series) else measured
    if not isinstance(U, pd.DataFrame):
        array = np.asarray(U, dtype=np.float64)
        array = array[:, None] if array.ndim == 1 else array
        if len(array) != n_samples:
            raise ValueError(f"measured has {len(array)} rows, {what} {n_samples} samples.")
        names = [f"factor{k}" for k in range(array.shape[1])]
        return pd.DataFrame(array, index=samples, columns=names)
    if not U.shape[1]:
        raise ValueError("measured has no columns: one per factor is needed.")
    if samples is None:
        # Without names equal lengths are the only safe way to pair rows.
        if len(U) != n_samples:
            raise ValueError(
                f"{what} has {n_samples} rows without names and measured {len(U)}: pass "
                f"{what} as a DataFrame to join the two by sample name."
            )
        return U.astype(np.float64)
    index = pd.Index(samples)
    unknown = [name for name in U.index if name not in set(index)]
    if unknown:
        raise ValueError(
            f"sample {unknown[0]!r} was measured but is not among the samples of {what}."
        )
    if not index.is_unique or not U.index.is_unique:
        raise ValueError(f"sample names must be unique to join measurements with {what}.")
    return U.astype(np.float64).reindex(index)


def _both(activities: Any, measured: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both as tables over the same samples."""
    R = activities
    if not isinstance(R, pd.DataFrame):
        array = np.asarray(activities, dtype=np.float64)
        if array.ndim != 2:
            raise ValueError(f"activities must be samples x regulators, not {array.ndim}-d.")
        R = pd.DataFrame(array, columns=[f"rcweb{p}" for p in range(array.shape[1])])
    names = R.index if R is activities else None
    U = align_measured(measured, names, len(R), "activities")
    if not np.isfinite(R.to_numpy(np.float64)).all():
        raise ValueError("activities hold NaN or infinite values.")
    return R, U


@dataclass(frozen=True)
class _Matched:
    """Factors and the regulators assigned to them.

    samples : of each factor u (n,) and activities (n, P), in the samples in which it was measured
    rho, likelihood : (F, P) correlations, and gains in log-likelihood over no relation
    chosen : factor -> regulator, one to one; factors in excess of regulators have none
    """

    samples: list[tuple[Array, Array]]
    rho: Array
    likelihood: Array
    chosen: dict[int, int]

    @classmethod
    def of(cls, R: pd.DataFrame, U: pd.DataFrame) -> _Matched:
        activities = R.to_numpy(np.float64)
        samples = [
            (u[np.isfinite(u)], activities[np.isfinite(u)]) for u in U.to_numpy(np.float64).T
        ]
        rho = np.zeros((len(samples), R.shape[1]))
        for k, (u, r) in enumerate(samples):
            if len(u) > 1:
                rho[k] = row_correlation(u[None, :], r.T)[0]
        counts = np.array([[len(u)] for u, _ in samples])
        likelihood = match_likelihood(rho, counts)
        k, s = linear_sum_assignment(-likelihood)
        return cls(samples, rho, likelihood, dict(zip(k.tolist(), s.tolist())))

    def mixed(self, seen: SeenFactors) -> NDArray[np.bool_]:
        """Factors of which no regulator explains `NEARLY` as much as the table does, (F,)."""
        return np.asarray((self.rho**2).max(axis=1) < NEARLY * np.maximum(seen.share, 0.0))

    def confidence(self, free: Array | None) -> Array:
        """Posterior of each candidate among all regulators, every one as likely beforehand, (F,);
        with `free` (F,) also against a direction that is as likely as all of them together."""
        sure = np.zeros(len(self.samples))
        for k, s in self.chosen.items():
            others = [logsumexp(self.likelihood[k])]
            if free is not None:
                others.append(free[k] + np.log(self.likelihood.shape[1]))
            sure[k] = np.exp(self.likelihood[k, s] - logsumexp(others))
        return sure


def _table(
    R: pd.DataFrame,
    U: pd.DataFrame,
    matched: _Matched,
    p: Array,
    q: Array,
    alpha: float,
    seen: SeenFactors | None = None,
) -> pd.DataFrame:
    """One row per factor."""
    counts = np.array([len(u) for u, _ in matched.samples])
    mixed = np.zeros(len(counts), bool) if seen is None else matched.mixed(seen)
    sure = matched.confidence(None if seen is None else np.where(mixed, seen.free, -np.inf))
    distinct = _distinct(sure, eligible=(q <= alpha) & (counts >= FEWEST), alpha=alpha)
    not_seen = "none fits: chance cannot be excluded" if seen is None else NOT_SEEN
    rows = []
    for k, (u, r) in enumerate(matched.samples):
        s = matched.chosen.get(k)
        candidate = None if s is None else str(R.columns[s])
        reason = _reason(len(u), candidate, q[k] <= alpha, bool(distinct[k]), not_seen, mixed[k])
        scale = NO_SCALE if s is None else _scale(u, r[:, s], alpha)
        sign = 0 if s is None else int(np.sign(matched.rho[k, s]))
        if seen is not None and seen.scales is not None and seen.used[k]:
            # Regressed on activities that the factor helped to estimate, it would look too exact.
            scale = _posterior_scale(seen.scales, int(seen.used[:k].sum()), sign)
        rows.append(
            MeasuredMatch(
                factor=str(U.columns[k]),
                regulator=candidate if reason == "named" else None,
                candidate=candidate,
                n_samples=len(u),
                correlation=np.nan if s is None else float(matched.rho[k, s]),
                p=float(p[k]),
                q=float(q[k]),
                confidence=float(sure[k]),
                sign=sign,
                **scale,
                used=seen is not None and bool(seen.used[k]),
                reason=reason,
            )
        )
    return pd.DataFrame([asdict(row) for row in rows], columns=list(MeasuredMatch.__annotations__))


def _permutation_p(u: Array, R: Array, observed: float, n_draws: int, rng: Any) -> float:
    """P(max over regulators |rho(shuffled u, R_i)| >= observed), so it accounts for n and P."""
    n = len(u)
    if n < 2:
        return 1.0
    # Shuffling the measurements keeps the correlations among regulators.
    every = orders(n, n_draws, rng)
    hits = 0
    # In parts: all orders times all regulators would take too much memory.
    for start in range(0, len(every), ORDERS_AT_ONCE):
        best = np.abs(row_correlation(u[every[start : start + ORDERS_AT_ONCE]], R.T)).max(axis=1)
        # Ties with the observed order (itself among them) must count despite rounding.
        hits += int((best >= observed - 1e-9).sum())
    return permutation_p(hits, n, len(every))


def _scale(u: Array, r: Array, alpha: float) -> dict[str, float]:
    """Least squares ``u = offset + D r``, Student's interval for D, and the scatter around it."""
    n, centred = len(u), r - r.mean() if len(r) else r
    power = float(centred @ centred)
    if n < 2 or power == 0:
        return NO_SCALE
    scale = float(centred @ u / power)
    offset = float(u.mean() - scale * r.mean())
    half, error = np.inf, np.nan  # two points leave no freedom to estimate the spread
    if n >= FEWEST:
        error = float(np.sqrt(((u - offset - scale * r) ** 2).sum() / (n - 2)))
        half = float(student.ppf(1 - alpha / 2, n - 2) * error / np.sqrt(power))
    return {
        "scale": scale,
        "scale_low": scale - half,
        "scale_high": scale + half,
        "offset": offset,
        "error": error,
    }


def _posterior_scale(scales: FactorScales, k: int, sign: int) -> dict[str, float]:
    """The scale of factor number k of those used, with the sign of its regulator."""
    low, high = float(scales.low[k]), float(scales.high[k])
    flip = scales.scale[k] * sign < 0
    return {
        "scale": float(-scales.scale[k] if flip else scales.scale[k]),
        "scale_low": -high if flip else low,
        "scale_high": -low if flip else high,
        "offset": float(scales.offset[k]),
        "error": float(scales.error[k]),
    }


def _distinct(sure: Array, eligible: NDArray[np.bool_], alpha: float) -> NDArray[np.bool_]:
    """The largest group of eligible factors, surest first, with at most alpha expected errors."""
    # Bayesian false discovery rate: the mean of 1 - confidence over those named.
    order = np.argsort(np.where(eligible, -sure, np.inf), kind="stable")[: eligible.sum()]
    expected = np.cumsum(1 - sure[order]) / np.arange(1, len(order) + 1)
    distinct = np.zeros(len(sure), dtype=bool)
    distinct[order[expected <= alpha]] = True
    return distinct


def _reason(
    n: int,
    candidate: str | None,
    beyond_chance: bool,
    distinct: bool,
    not_seen: str,
    mixed: bool,
) -> str:
    if candidate is None:
        return "more factors than regulators"
    if n < FEWEST:
        return f"measured in fewer than {FEWEST} samples"
    if not beyond_chance:
        return not_seen
    if not distinct and mixed:
        return NO_SINGLE
    if not distinct:
        return "none fits: another regulator explains it nearly as well"
    return "named"
