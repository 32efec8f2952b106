"""A floor or a ceiling that bends all variables is found, undone, and found only where it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from rcweb.engine.response import (
    END_FIRST,
    Response,
    _Directions,
    _Ends,
    _weighted,
    find_response,
)
from rcweb.lab.simulate import simulate

# A table of the model, of unit variance, and what is measured of it.
PLAIN = simulate(90, 150, 6, density=0.15, noise=0.4, random_state=0).data
PLAIN /= PLAIN.std()


def measured_as(X: np.ndarray, kind: str) -> np.ndarray:
    return {
        "amounts": lambda: 3 + 2 * np.exp(0.5 * X),
        "losses": lambda: 3 - 2 * np.exp(0.5 * X),
        "saturated": lambda: np.tanh(X),
    }[kind]()


ENDS = {"amounts": (3, np.inf), "losses": (-np.inf, 3), "saturated": (-1, 1)}
KINDS = pytest.mark.parametrize("kind", list(ENDS))


@KINDS
def test_ends_are_found_and_undone(kind: str) -> None:
    """The values are a linear function of those before the measurement, up to a thousandth of
    their variance."""
    X = measured_as(PLAIN, kind)
    response = find_response(X)
    assert response is not None
    for found, true in zip((response.floor, response.ceiling), ENDS[kind]):
        assert found == true if np.isinf(true) else abs(found - true) < 0.05 * X.std()
    assert np.corrcoef(response(X).ravel(), PLAIN.ravel())[0, 1] ** 2 > 0.999


def linear_tables() -> dict[str, np.ndarray]:
    """Effects add up, and what is not Gaussian may look like a curve."""
    rng = np.random.default_rng(0)
    M, N, P = 120, 300, 8
    shape, mask = (M, P), rng.random((P, N)) < 0.1
    signed, positive = mask * rng.standard_normal((P, N)), mask * rng.uniform(0.3, 1.7, (P, N))
    noise = rng.standard_normal((M, N))
    rare = np.where(rng.random(shape) < 0.05, 4 * rng.standard_normal(shape), 0)
    return {
        "the model": PLAIN,
        "long-tailed noise": PLAIN + 0.3 * rng.standard_t(3, PLAIN.shape),
        "skewed noise": PLAIN + 0.5 * rng.chisquare(2, PLAIN.shape),
        "long-tailed activities": rng.standard_t(3, shape) @ signed + 0.2 * noise,
        "activities in few samples": rare @ signed + 0.3 * noise,
        "skewed activities": rng.gamma(0.5, 1, shape) @ signed + 0.2 * noise,
        "amounts that add up": rng.gamma(0.5, 1, shape) @ positive + 0.2 * noise,
        "amounts of uneven noise": (rng.gamma(1, 1, shape) @ positive + 0.1)
        * rng.lognormal(0, 0.1, (M, N)),
        "mixtures of uneven noise": (
            rng.dirichlet(np.full(P, 0.5), M) @ rng.gamma(0.5, 1, (P, N)) + 0.05
        )
        * rng.lognormal(0, 0.2, (M, N)),
        "proportions": rng.dirichlet(np.full(P, 0.5), M) @ positive + 0.05 * noise,
        "samples of unequal noise": PLAIN + rng.lognormal(-1, 0.7, (90, 1)) * noise[:90, :150],
        "noise alone": noise,
        "long-tailed noise alone": rng.standard_t(3, (M, N)),
        "a random walk": np.cumsum(noise, axis=0),
        "a scale of five steps": np.clip(np.round(PLAIN), -2, 2),
        "two samples": PLAIN[:2],
    }


@pytest.mark.parametrize("kind", list(linear_tables()))
def test_a_line_is_left_alone(kind: str) -> None:
    assert find_response(linear_tables()[kind]) is None


@KINDS
def test_order_units_and_sign_change_nothing(kind: str) -> None:
    """The ends are properties of the table; of its negative, floor and ceiling change places."""
    X = measured_as(PLAIN, kind)
    rng = np.random.default_rng(0)
    found = find_response(X)
    assert found is not None
    assert find_response(X[np.ix_(rng.permutation(90), rng.permutation(150))]) == found
    for unit, zero in ((100.0, -7.0), (-0.01, 2.0)):
        other = find_response(unit * X + zero)
        assert other is not None
        ends = [unit * end + zero for end in (found.floor, found.ceiling)]
        close = 0.01 * abs(unit) * X.std()
        np.testing.assert_allclose(sorted([other.floor, other.ceiling]), sorted(ends), atol=close)


end = st.one_of(st.just(np.inf), st.floats(1e-6, 1e6))


@given(below=end, above=end, values=st.lists(st.floats(-50, 50), min_size=2, max_size=20))
def test_readings_and_values_are_one_to_one(
    below: float, above: float, values: list[float]
) -> None:
    """Within what was seen and beyond it, and larger readings have larger values."""
    if np.isinf(below) and np.isinf(above):
        return
    response = Response(-1 - below, -1.0, 1.0, 1 + above)
    X = np.sort(values)
    Y = response(X)
    assert (np.diff(Y) >= 0).all()
    np.testing.assert_allclose(response.readings(Y), X, rtol=1e-6, atol=1e-6)
    assert np.isnan(response(np.array([np.nan]))).all()


def slow_cost(X: np.ndarray, response: Response, K: int, noise: np.ndarray) -> float:
    """- log p per entry of the readings: Gaussian with K directions, their cost, and slopes that
    are differences."""
    M, N = X.shape
    Y = (response(X) - response(X).mean(axis=0)) / noise
    # The likeliest covariance with K directions beside equal noise (Tipping & Bishop, 1999), but
    # for the degrees of freedom of its noise.
    power, V = np.linalg.eigh(Y.T @ Y / M)
    power, V = power[::-1], V[:, ::-1]
    rest = power[K:].sum() * M / ((M - 1 - K) * (N - K))
    covariance = V[:, :K] * power[:K] @ V[:, :K].T + rest * (np.eye(N) - V[:, :K] @ V[:, :K].T)
    log_p = multivariate_normal(np.zeros(N), covariance).logpdf(Y).sum() + M * N / 2 * np.log(
        2 * np.pi
    )
    # Of the quadratic form only what depends on the curve is kept: it is K M / 2 plus that of the
    # noise, whose degrees of freedom are not exactly its number of entries.
    form = K * M / 2 + (M - 1 - K) * (N - K) / 2
    step = 1e-6 * np.ptp(X)
    slopes = (response(X + step) - response(X - step)) / (2 * step)
    whole = -(log_p + form) + M * np.log(noise).sum() - np.log(slopes).sum()
    return float((whole + K * N / 2 * np.log(M)) / (M * N))


@KINDS
def test_cost_is_the_likelihood(kind: str) -> None:
    """The sum over eigenvalues is the Gaussian density of the values times the Jacobian."""
    X = measured_as(PLAIN, kind)[:60, :40]
    ends = _Ends(X)
    floor, ceiling = (END_FIRST if np.isfinite(end) else np.inf for end in ENDS[kind])
    response = ends.response([floor, ceiling])
    fitted = _Directions.of(response(X))
    expected = slow_cost(X, response, fitted.K, fitted.noise)
    assert ends.cost([floor, ceiling]) == pytest.approx(expected, abs=1e-3)


def test_weights_of_uneven_noise() -> None:
    """Each reading counts by its precision: what is told is nearer to the truth, relative to its
    size, and where the curve is a line nothing changes."""
    rng = np.random.default_rng(0)
    true = rng.gamma(1, 1, (60, 3)) @ rng.gamma(0.5, 1, (3, 80)) + 0.1
    X = true * rng.lognormal(0, 0.3, true.shape)
    told = _Directions.of(X).told(3)
    mean = X.mean(axis=0)
    U, s, V = np.linalg.svd(X - mean, full_matrices=False)
    line = Response(-1e9, X.min(), X.max(), np.inf)
    plain = (U[:, :3] * s[:3]) @ V[:3] + mean
    np.testing.assert_allclose(_weighted(X, told, 3, line), plain, atol=1e-6)
    weighted = _weighted(X, told, 3, Response(0.0, X.min(), X.max(), np.inf))
    errors = [np.median(np.abs(table - true) / true) for table in (weighted, told)]
    assert errors[0] < 0.9 * errors[1], errors
