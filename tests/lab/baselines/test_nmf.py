"""NMF and its consensus on planted non-negative tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.distance import cdist

from rcweb.lab.baselines import nmf
from rcweb.lab.metrics import score_network


@pytest.fixture(scope="module")
def planted() -> tuple[np.ndarray, np.ndarray]:
    """A table (80, 60) and its network (4, 60)."""
    rng = np.random.default_rng(0)
    H = rng.uniform(0.5, 1.5, (4, 60)) * (rng.random((4, 60)) < 0.25)
    W = rng.exponential(size=(80, 4))
    return W @ H + 0.02 * rng.random((80, 60)), H


@pytest.mark.parametrize("n_runs", [1, 8])
def test_recovers_planted_programmes(n_runs: int, planted: tuple[np.ndarray, np.ndarray]) -> None:
    """One run and the consensus find sparse non-negative rows, and explain the table."""
    X, H = planted
    found = nmf.fit(X, 4, density=float((H > 0).mean()), n_runs=n_runs)
    assert score_network(found.network, H).rho > 0.97
    full = nmf.fit(X, 4, n_runs=n_runs)
    assert full.network.min() >= 0
    assert full.activities.min() >= 0
    # Runs stop at a relative decrease of 1e-4, here at errors of up to 0.16.
    assert np.linalg.norm(X - full.activities @ full.network) < 0.2 * np.linalg.norm(X)


def test_same_seed_same_bits(planted: tuple[np.ndarray, np.ndarray]) -> None:
    """Results of the benchmark can be repeated exactly."""
    a, b = (nmf.fit(planted[0], 4, n_runs=3, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(a.network, b.network)


def test_consensus_leaves_out_spectra_that_do_not_recur() -> None:
    """Three groups of near copies and scattered spectra: the medians are those of the groups."""
    rng = np.random.default_rng(1)
    centres = np.kron(np.eye(3), np.ones((1, 10)))
    copies = np.repeat(centres, 10, axis=0) + 0.05 * rng.random((30, 30))
    stray = rng.random((5, 30)) * (rng.random((5, 30)) < 0.15)
    found = nmf.consensus(np.vstack([copies, stray]), 3, 10, 0)
    assert score_network(found, centres).rho > 0.99
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    medians = np.stack(
        [
            np.median(
                copies[k : k + 10] / np.linalg.norm(copies[k : k + 10], axis=1, keepdims=True),
                axis=0,
            )
            for k in (0, 10, 20)
        ]
    )
    np.testing.assert_allclose(
        np.sort(found, axis=0),
        np.sort(medians / medians.sum(axis=1, keepdims=True), axis=0),
        atol=1e-12,
    )


def test_local_distance_is_its_definition() -> None:
    """The mean over the nearest 30 % of as many as there are runs, oneself left out."""
    X = np.random.default_rng(2).random((25, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    nearest = np.sort(cdist(X, X), axis=1)[:, 1:4]
    np.testing.assert_allclose(nmf.local_distance(X, 10), nearest.mean(axis=1), atol=1e-6)


def test_refit_is_non_negative_least_squares(planted: tuple[np.ndarray, np.ndarray]) -> None:
    """Activities of given spectra equal scipy's, sample by sample."""
    X, H = planted
    W, _ = nmf.refit(X, H)
    expected = np.stack([nnls(H.T, x)[0] for x in X])
    np.testing.assert_allclose(W, expected, atol=0.02)


def test_signed_tables_are_refused() -> None:
    """NMF says that it does not apply and why."""
    with pytest.raises(ValueError, match="negative entries; the smallest is -2"):
        nmf.fit(np.array([[1.0, -2.0], [3.0, 4.0]]), 1)
    with pytest.raises(ValueError, match="n_runs"):
        nmf.fit(np.ones((4, 3)), 1, n_runs=0)
