"""optICA: robust components of many FastICA runs, cut to their non-normal tail.

The published practice on expression tables (Sastry et al. 2019; McConn et al. 2021), without the
step that consults known regulons:

1. at each dimension FastICA over variables is run many times from random rotations;
2. components of all runs are clustered by DBSCAN with the distance ``1 - |correlation|``; a cluster
   met in more than half of the runs is a robust component, the mean of its members;
3. the dimension is the smallest at which as many components match one of the largest dimension as
   have more than a single variable (McConn et al., figure 2);
4. in each component the variables of largest weight are removed until D'Agostino's K^2 of the
   rest falls below a cut-off: the removed ones are its targets.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd
from scipy.sparse import csr_array, vstack
from sklearn.cluster import DBSCAN
from sklearn.decomposition import fastica
from sklearn.exceptions import ConvergenceWarning, EfficiencyWarning

from rcweb.lab.baselines.base import (
    Array,
    Factors,
    MethodRecord,
    check_data,
    check_density,
    cut,
    regress_activities,
    z_scores,
)

# The published number of runs, distance, share of runs and match of components. The published
# tolerance is 1e-7; its manual advises up to 1e-3 where runs take long.
N_RUNS = 100
TOL = 1e-4
MAX_ITER = 500
DISTANCE = 0.1
SHARE = 0.5
MATCH = 0.7
# A component whose largest weight is more than twice the second has a single variable.
SINGLE_VARIABLE = 2.0
# pymodulon's default, chosen on E. coli (about 4,000 genes).
K2_CUT_OFF = 550.0
# Fewest variables for which the normal approximation of the kurtosis is used.
FEWEST_VARIABLES = 20

_ABOUT = (
    "{runs} FastICA runs (logcosh, tol {tol}, at most {steps} steps), DBSCAN (distance 0.1, more "
    "than half of the runs), K^2 cut-off 550 or, if told, the mean degree; `auto`: dimensions in "
    "steps of 10 for every 250 samples, up to M"
)
RECORDS = (
    MethodRecord(
        name="optica",
        title="optICA: recurrent components of many FastICA runs",
        paper="Sastry et al. 2019; McConn et al. 2021",
        settings=_ABOUT.format(runs=N_RUNS, tol=TOL, steps=MAX_ITER),
        look=("#1B7837", "^"),
        finds_p=True,
        slow=True,
    ),
    MethodRecord(
        name="optica-quick",
        title="the same with fewer runs",
        paper="Sastry et al. 2019; McConn et al. 2021",
        settings="as `optica` with 20 runs, tol 0.001, at most 200 steps",
        look=("#7FBF7B", "^"),
        finds_p=True,
        options={"n_runs": 20, "tol": 1e-3, "max_iter": 200},
    ),
)


@dataclass(frozen=True)
class RobustComponents(Factors):
    """`network` holds the variables beyond the cut-off, `components` (P, N) all weights."""

    components: Array

    @property
    def scores(self) -> Array:
        """Uncut weights in units of their row's standard deviation."""
        return z_scores(self.components)


def fit(
    data: Array,
    n_components: int | str,
    *,
    density: float | None = None,
    random_state: int = 0,
    n_runs: int = N_RUNS,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
    k2_cut_off: float = K2_CUT_OFF,
    dimensions: Sequence[int] | None = None,
) -> RobustComponents:
    """Robust components at the dimension `n_components`, or at the best one if it is "auto".

    There may be fewer components than the dimension: those that do not recur are left out.
    `dimensions` are the ones tried for "auto". A known `density` sets the cut, else K^2 does.
    """
    auto = n_components == "auto"
    G0 = check_data(data, 1 if auto else int(n_components))
    density = check_density(density)
    if n_runs < 2:
        raise ValueError(f"n_runs must be at least 2 for components to recur, not {n_runs}.")
    if auto:
        # Ascending, since the largest dimension is the reference for all others.
        tried = sorted(dimensions or _grid(G0))
        check_data(data, tried[-1])
    else:
        tried = [int(n_components)]
    _, _, Vt = svd(G0 - G0.mean(axis=1, keepdims=True), full_matrices=False)
    found = [
        robust_components(Vt[:dimension], n_runs, tol, max_iter, random_state)
        for dimension in tried
    ]
    C = found[best_dimension(found)]
    network = cut(C, density) if density is not None else normal_cut(C, k2_cut_off)
    return RobustComponents(activities=regress_activities(G0, C), network=network, components=C)


def _grid(G0: Array) -> list[int]:
    """Steps of ``10 (M // 250 + 1)`` up to the number of samples, as in the published program."""
    M = len(G0)
    step = (M // 250 + 1) * 10
    return list(range(step, min(M - 1, G0.shape[1]) + 1, step)) or [min(M - 1, G0.shape[1])]


def robust_components(
    Vt: Array, n_runs: int, tol: float, max_iter: int, random_state: int
) -> Array:
    """Means of the recurrent clusters of `n_runs` runs in the span of Vt (D, N), unit variance.

    Components are rotations ``W Vt`` of orthonormal rows, so that their correlations are ``W W^T``
    (rows of Vt have mean zero): everything but the contrast happens in D dimensions.
    """
    D, N = Vt.shape
    rng = np.random.default_rng(random_state)
    Z = Vt * np.sqrt(N)
    W = np.vstack([_rotation(Z, rng, tol, max_iter) for _ in range(n_runs)])
    labels = _cluster(W, n_runs)
    centres = [_mean_of(W[labels == label]) for label in range(labels.max(initial=-1) + 1)]
    C = np.reshape(centres, (-1, D)) @ Z
    # The larger tail of a component points upwards.
    sign = np.where(-C.min(axis=1, initial=0) > C.max(axis=1, initial=0), -1.0, 1.0)
    return np.asarray(C * sign[:, None])


def _rotation(Z: Array, rng: np.random.Generator, tol: float, max_iter: int) -> Array:
    """One run: the rotation W (D, D) at which ``W Z`` is farthest from normal; none of its rows if
    the run broke down, as some do close to the rank of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Stops at tol or after max_iter steps. Runs that did not converge are kept: components that
        # do not recur drop out in the clustering.
        try:
            _, W, _ = fastica(
                Z.T,
                whiten=False,
                fun="logcosh",
                tol=tol,
                max_iter=max_iter,
                w_init=rng.standard_normal((len(Z), len(Z))),
            )
        except np.linalg.LinAlgError:
            return np.empty((0, len(Z)))
    return np.asarray(W)


def _cluster(W: Array, n_runs: int) -> np.ndarray:
    """DBSCAN labels of the unit rows of W; -1 for rows that do not recur."""
    if not len(W):
        return np.empty(0, np.intp)
    blocks = []
    # In blocks: a dense matrix of all pairs of n_runs * D components can exceed the memory.
    for start in range(0, len(W), 1000):
        # Not exactly 0, which a sparse matrix would not store and DBSCAN would take as far.
        distance = np.maximum(1 - np.abs(W[start : start + 1000] @ W.T), 1e-12)
        blocks.append(csr_array(np.where(distance <= DISTANCE, distance, 0.0)))
    model = DBSCAN(eps=DISTANCE, min_samples=round(SHARE * n_runs) + 1, metric="precomputed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EfficiencyWarning)
        return np.asarray(model.fit_predict(vstack(blocks, format="csr")))


def _mean_of(members: Array) -> Array:
    """The mean of unit vectors turned to the side of the first."""
    sign = np.sign(members @ members[0])
    return np.asarray((members * sign[:, None]).mean(axis=0))


def best_dimension(found: Sequence[Array]) -> int:
    """Which of the components, of ascending dimension, to keep (step 3 of the module)."""
    final = found[-1]
    for k, C in enumerate(found):
        matches = np.abs(_unit(final) @ _unit(C).T) > MATCH
        largest = -np.sort(-np.abs(C), axis=1)[:, :2]
        single = int((largest[:, 0] > SINGLE_VARIABLE * largest[:, 1]).sum())
        if len(C) and matches.sum() >= len(C) - single:
            return k
    # Reached only if nothing recurs at the largest dimension; otherwise that one matches itself.
    return len(found) - 1


def _unit(C: Array) -> Array:
    return np.asarray(C / np.linalg.norm(C, axis=1, keepdims=True))


def normal_cut(C: Array, cut_off: float) -> Array:
    """In each row the largest entries, removed one by one until K^2 of the rest is small."""
    kept = np.zeros_like(C)
    for row, out in zip(C, kept):
        order = np.argsort(np.abs(row), kind="stable")
        small = np.flatnonzero(omnibus_of_prefixes(row[order]) <= cut_off)
        # The longest prefix that passes, not the first: K^2 is not monotone.
        targets = order[FEWEST_VARIABLES + small[-1] if len(small) else 0 :]
        out[targets] = row[targets]
    return kept


def omnibus_of_prefixes(x: Array) -> Array:
    """D'Agostino and Pearson's K^2 of the first n of x, n = FEWEST_VARIABLES, ..., len(x), all from
    running sums."""
    n = np.arange(FEWEST_VARIABLES, len(x) + 1, dtype=np.float64)
    s1, s2, s3, s4 = (np.cumsum(x**k)[FEWEST_VARIABLES - 1 :] / n for k in (1, 2, 3, 4))
    m2 = s2 - s1**2
    m3 = s3 - 3 * s1 * s2 + 2 * s1**3
    m4 = s4 - 4 * s1 * s3 + 6 * s1**2 * s2 - 3 * s1**4
    # Equal values have no variance, hence no skewness.
    m2 = np.maximum(m2, 1e-300)
    return _skewness_z(m3 / m2**1.5, n) ** 2 + _kurtosis_z(m4 / m2**2, n) ** 2


def _skewness_z(g1: Array, n: Array) -> Array:
    """D'Agostino 1970: nearly standard normal for normal data."""
    y = g1 * np.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta2 = 3 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
    beta2 = beta2 / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    W2 = -1 + np.sqrt(2 * (beta2 - 1))
    return np.asarray(np.arcsinh(y / np.sqrt(2 / (W2 - 1))) / np.sqrt(0.5 * np.log(W2)))


def _kurtosis_z(b2: Array, n: Array) -> Array:
    """Anscombe & Glynn 1983, the same for the kurtosis."""
    expected = 3 * (n - 1) / (n + 1)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (b2 - expected) / np.sqrt(variance)
    root = 6 * (n**2 - 5 * n + 2) / ((n + 7) * (n + 9))
    root *= np.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    A = 6 + 8 / root * (2 / root + np.sqrt(1 + 4 / root**2))
    term = 1 - 2 / (9 * A)
    inner = 1 + x * np.sqrt(2 / (A - 4))
    return np.asarray((term - np.cbrt((1 - 2 / A) / inner)) / np.sqrt(2 / (9 * A)))
