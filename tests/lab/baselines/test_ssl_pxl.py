"""The spike-and-slab lasso against its definitions and scikit-learn's lasso."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import Lasso

from rcweb.lab.baselines import ssl_pxl
from rcweb.lab.simulate import simulate


def _mode(T: np.ndarray, P: int, start: str = "ica") -> ssl_pxl._Mode:
    return ssl_pxl._start(T, P, start, 0)


def _table() -> np.ndarray:
    sim = simulate(80, 50, 4, density=0.25, noise=0.4, random_state=0)
    X = sim.data - sim.data.mean(axis=0)
    return np.asarray(X / X.std(axis=0))


def test_lasso_is_scikit_learns() -> None:
    """The same minimum for every row, with penalties that differ between coordinates."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 5)), rng.standard_normal((40, 3))
    penalty = rng.uniform(1, 12, (3, 5))
    B = np.zeros((3, 5))
    ssl_pxl.lasso(B, X.T @ X, Y.T @ X, penalty)
    for j in range(3):
        model = Lasso(alpha=1 / 40, fit_intercept=False, tol=1e-12, max_iter=100_000)
        expected = model.fit(X / penalty[j], Y[:, j]).coef_ / penalty[j]
        np.testing.assert_allclose(B[j], expected, atol=1e-5)


def test_slab_probability_is_bayes_rule() -> None:
    """The odds of two Laplace densities."""
    b, theta = np.array([[0.0, -0.3, 2.0]]), np.array([0.2, 0.5, 0.9])

    def laplace(rate: float) -> np.ndarray:
        return rate / 2 * np.exp(-rate * np.abs(b))

    slab, spike = theta * laplace(0.5), (1 - theta) * laplace(20.0)
    expected = slab / (slab + spike)
    np.testing.assert_allclose(ssl_pxl.slab_probability(b, theta, 20.0, 0.5), expected)


def test_log_posterior_is_its_definition() -> None:
    """The likelihood through P dimensions equals that of the N x N covariance."""
    T = _table()
    mode = _mode(T, 4)
    mode.sigma2 = np.linspace(0.2, 1.0, 50)
    other = _mode(T, 4, "random")
    covariances = [m.B @ m.B.T + np.diag(m.sigma2) for m in (mode, other)]
    exact = [multivariate_normal(cov=S).logpdf(T).sum() for S in covariances]
    # Equal rates make the prior of B one Laplace density, whatever the shares.
    prior = [-np.abs(m.B).sum() for m in (mode, other)]
    noise = [
        -(ssl_pxl.ETA / 2 + 1) * np.log(m.sigma2).sum()
        - ssl_pxl.ETA * ssl_pxl.XI / 2 * (1 / m.sigma2).sum()
        for m in (mode, other)
    ]
    ours = [ssl_pxl.log_posterior(T, m, len(T), 1.0, 1.0) for m in (mode, other)]
    expected = [sum(terms) for terms in zip(exact, prior, noise)]
    assert ours[0] - ours[1] == pytest.approx(expected[0] - expected[1], rel=1e-9)


@pytest.mark.parametrize("start", ssl_pxl.STARTS)
@pytest.mark.parametrize("lambda0", [5.0, 40.0])
def test_em_never_lowers_the_posterior(start: str, lambda0: float) -> None:
    """Every EM step is an ascent; a wrong one would fall."""
    T = _table()
    posteriors = ssl_pxl.climb(T, _mode(T, 4, start), len(T), lambda0, 0.1, 0, 40)
    assert len(posteriors) > 3
    assert np.diff(posteriors).min() > -1e-6 * abs(posteriors[-1])


def test_expansion_reaches_a_higher_mode_than_em_alone() -> None:
    """The paper's point: from loadings without structure rotation finds sparser modes."""
    T = _table()
    plain, expanded = _mode(T, 4, "random"), _mode(T, 4, "random")
    ssl_pxl.climb(T, plain, len(T), 20.0, 0.1, 0, 80)
    ssl_pxl.climb(T, expanded, len(T), 20.0, 0.1, 40, 40)
    values = [ssl_pxl.log_posterior(T, m, len(T), 20.0, 0.1) for m in (plain, expanded)]
    assert values[1] > values[0] + 1


def test_an_unknown_start_is_named() -> None:
    """A misspelt start is an error that lists what there is."""
    with pytest.raises(ValueError, match="pca"):
        ssl_pxl.fit(np.random.default_rng(0).random((20, 30)), 2, start="pca")
