"""The covariance of activities: its evidence against another formula, and what is learned."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import invwishart, multivariate_normal

from rcweb import RCweb
from rcweb.engine.posterior.covariance import ActivityCovariance
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate


def activities(M: int, P: int, correlation: float, seed: int = 0) -> np.ndarray:
    """Of unit variance, all pairs with the same correlation."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((M, 1))
    own = rng.standard_normal((M, P))
    return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_evidence_against_bayes_rule(correlation: float) -> None:
    """p(R | nu) = p(R | Omega) p(Omega | nu) / p(Omega | R, nu) for any Omega."""
    M, P = 30, 3
    R = activities(M, P, correlation)
    Q = R.T @ R
    model = ActivityCovariance(M, P)
    omega = 0.7 * np.eye(P) + 0.3
    by_rule = [
        multivariate_normal.logpdf(R, cov=omega).sum()
        + invwishart.logpdf(omega, nu + P + 1, nu * np.eye(P))
        - invwishart.logpdf(omega, nu + P + 1 + M, nu * np.eye(P) + Q)
        for nu in model.nu
    ]
    difference = model.evidence(Q) - by_rule
    np.testing.assert_allclose(difference, difference[0], rtol=1e-9, atol=1e-6)


def test_independent_activities_keep_their_prior_and_others_show_their_covariance() -> None:
    """Independent ones are shrunk to independence: closer to it than their chance correlations."""
    M, P = 200, 8
    for correlation in (0.0, 0.9):
        R = activities(M, P, correlation)
        omega = np.linalg.inv(ActivityCovariance(M, P).expected(R.T @ R))
        size = np.sqrt(np.diag(omega))
        off = ~np.eye(P, dtype=bool)
        learned, seen = (omega / np.outer(size, size))[off], np.corrcoef(R.T)[off]
        if correlation:
            np.testing.assert_allclose(learned, seen, atol=0.06)
        else:
            assert np.abs(learned).max() < 0.5 * np.abs(seen).max()


def test_draws_scatter_around_the_expectation() -> None:
    M, P = 100, 4
    R = activities(M, P, 0.7)
    Q, rng = R.T @ R, np.random.default_rng(1)
    model = ActivityCovariance(M, P)
    drawn = np.array([model.draw(Q, rng) for _ in range(2000)])
    weight = np.exp(model.evidence(Q) - model.evidence(Q).max())
    each = [model.freedom[i] * model._scale(Q, i) for i in range(len(weight))]
    mean = np.einsum("i,ijk->jk", weight / weight.sum(), np.array(each))
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * error).all()


def test_regulators_that_act_together_are_told_apart() -> None:
    """With independent activities as the prior, one row became what two have in common: smallest
    correlation 0.83, a tenth of the edges false."""
    sim = simulate(150, 200, 8, density=0.15, noise=0.3, random_state=5)
    rng = np.random.default_rng(5)
    shared = np.repeat(rng.standard_normal((150, 4)), 2, axis=1)
    R = np.sqrt(0.95) * shared + np.sqrt(0.05) * rng.standard_normal((150, 8))
    signal = R @ sim.network
    X = signal + 0.3 * signal.std() * rng.standard_normal(signal.shape)
    model = RCweb(8, random_state=0).fit(X)
    assert score_network(model.weights_, sim.network).rho_per_regulator.min() > 0.97
    assert score_network(model.components_, sim.network).precision > 0.93
