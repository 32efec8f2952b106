"""NMF, and consensus NMF (cNMF; Kotliar et al. 2019), for non-negative tables.

``min |X - W H|^2`` with W, H >= 0, on the table itself, its means left in. cNMF runs it many times
from random starts, drops spectra (rows of H) that have few close neighbours among the other runs,
clusters the rest into P groups, takes the median spectrum of each and refits W and then H.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning

from rcweb.lab.baselines.base import Array, Factors, MethodRecord, check_density, check_table, cut

MAX_ITER = 1000
TOL = 1e-4
# The published number of runs, share of them that a spectrum's neighbours are looked for among,
# and largest mean distance to those; distances are between spectra of length 1.
N_RUNS = 100
NEIGHBOURS = 0.3
DENSITY_THRESHOLD = 0.5

RECORDS = (
    MethodRecord(
        name="nmf",
        title="non-negative matrix factorisation (scikit-learn)",
        paper="Lee & Seung 1999",
        settings="variables scaled to unit variance, one run from NNDSVDa, tol 1e-4, cut",
        look=("#B2182B", "X"),
        data="non-negative",
        options={"n_runs": 1},
    ),
    MethodRecord(
        name="cnmf",
        title="consensus NMF",
        paper="Kotliar et al. 2019",
        settings=(
            "variables scaled to unit variance, 100 random starts, density threshold 0.5 over 30 % "
            "of the runs, k-means, medians, refit; cut to the mean degree"
        ),
        look=("#EF8A62", "X"),
        data="non-negative",
        slow=True,
    ),
    MethodRecord(
        name="cnmf-quick",
        title="the same with fewer runs",
        paper="Kotliar et al. 2019",
        settings="as `cnmf` with 10 runs",
        look=("#FDDBC7", "X"),
        data="non-negative",
        slow=True,
        options={"n_runs": 10},
    ),
)


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    n_runs: int = N_RUNS,
) -> Factors:
    """One run of NMF if `n_runs` is 1, else the consensus of that many.

    Variables are scaled to unit variance without centring, as published, and the network scaled
    back. `activities` and `network` describe the table with its means. Entries beyond the mean
    `density` are cut.
    """
    X = check_table(data, n_components)
    density = check_density(density)
    if X.min() < 0:
        raise ValueError(
            f"NMF does not apply to tables with negative entries; the smallest is {X.min():g}. "
            "Give it counts or other non-negative data, not centred."
        )
    if n_runs < 1:
        raise ValueError(f"n_runs must be at least 1, not {n_runs}.")
    scale = X.std(axis=0)
    # A constant variable has no variance to scale to.
    scale[scale == 0] = 1.0
    X = X / scale
    if n_runs == 1:
        # NNDSVDa is deterministic: a single run should not depend on luck.
        W, H = _factorise(X, n_components, "nndsvda", random_state)
    else:
        spectra = _spectra(X, n_components, n_runs, random_state)
        W, H = refit(X, consensus(spectra, n_components, n_runs, random_state))
    return Factors(activities=W, network=cut(H * scale, density))


def _spectra(X: Array, P: int, n_runs: int, seed: int) -> Array:
    """The rows of H of all runs, (n_runs * P, N)."""
    seeds = np.random.default_rng(seed).integers(2**31, size=n_runs)
    return np.vstack([_factorise(X, P, "random", int(s))[1] for s in seeds])


def consensus(spectra: Array, P: int, n_runs: int, seed: int) -> Array:
    """Medians of the P clusters of those spectra that recur, (P, N), each with sum 1.

    If fewer than P recur, all are clustered: a threshold must not decide the number of regulators.
    """
    # A spectrum of zeros has no direction; it cannot be clustered.
    length = np.linalg.norm(spectra, axis=1, keepdims=True)
    spectra = spectra[length[:, 0] > 0] / length[length > 0][:, None]
    recurrent = spectra[local_distance(spectra, n_runs) < DENSITY_THRESHOLD]
    if len(recurrent) < P:
        recurrent = spectra
    # Best of ten starts; scikit-learn stops each after 300 steps at most and uses the last centres.
    labels = KMeans(P, n_init=10, random_state=seed).fit_predict(recurrent)
    medians = np.stack([np.median(recurrent[labels == k], axis=0) for k in range(P)])
    return np.asarray(medians / np.maximum(medians.sum(axis=1, keepdims=True), 1e-300))


def local_distance(spectra: Array, n_runs: int) -> Array:
    """Mean distance of each unit spectrum to its nearest ``0.3 n_runs`` others."""
    n = min(max(1, int(NEIGHBOURS * n_runs)), len(spectra) - 1)
    # Squared distance of unit vectors; rounding may push it below zero.
    square = np.maximum(2 - 2 * spectra @ spectra.T, 0.0)
    np.fill_diagonal(square, 0.0)
    # The n + 1 nearest include the spectrum itself, at distance 0.
    nearest = np.partition(square, n, axis=1)[:, : n + 1]
    return np.asarray(np.sqrt(nearest).sum(axis=1) / n)


def refit(X: Array, H: Array) -> tuple[Array, Array]:
    """W for the given spectra, then H for that W, both by non-negative least squares."""
    W = _given(X, H)
    return W, _given(X.T, W.T).T


def _given(X: Array, H: Array) -> Array:
    """argmin of ``|X - W H|`` over W >= 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Convex in W. Stops at tol or after MAX_ITER steps, and then the last iterate is used.
        W, _, _ = non_negative_factorization(
            np.ascontiguousarray(X),
            H=np.ascontiguousarray(H),
            n_components=len(H),
            update_H=False,
            max_iter=MAX_ITER,
            tol=TOL,
        )
    return np.asarray(W)


def _factorise(X: Array, P: int, init: str, seed: int) -> tuple[Array, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Stops at tol or after MAX_ITER steps. A run that did not converge is used as it is; the
        # consensus drops spectra that do not recur.
        W, H, _ = non_negative_factorization(
            X, n_components=P, init=init, max_iter=MAX_ITER, tol=TOL, random_state=seed
        )
    return np.asarray(W), np.asarray(H)
