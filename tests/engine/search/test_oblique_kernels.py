"""The compiled loops of the oblique search against plain NumPy, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from rcweb.engine.search.kernels import (
    TOGETHER,
    contrast_step,
    plane_products,
    two_part_log_density,
    two_part_step,
    wide_step,
)
from rcweb.engine.search.space import Density, Space, e_step, m_step, negentropy


def rows(seed: int, n: int = 5, N: int = 83) -> np.ndarray:
    """Rows with zeros, ordinary entries and a few large ones: all branches of the kernels."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((n, N)) * rng.choice([0.01, 1.0, 30.0], size=(n, N), p=[0.4, 0.5, 0.1])
    Y[:, 0] = 0.0
    return Y.astype(np.float32)


@pytest.mark.parametrize("width", [0.02, 0.4, 1.5])
def test_wide_step_is_the_score_of_its_density(width: float) -> None:
    """D = y / (w^2 + y^2), with the means of 1 / (w^2 + y^2) and of y D."""
    Y = rows(0)
    D, sums = np.empty_like(Y), np.empty((len(Y), 2), np.float32)
    wide_step(Y, np.float32(width**2), D, sums)
    y = Y.astype(np.float64)
    weight = 1 / (width**2 + y**2)
    np.testing.assert_allclose(D, weight * y, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(sums[:, 0], weight.mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(sums[:, 1], (weight * y**2).mean(axis=1), rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_two_part_step_is_the_e_step_of_the_mixture(seed: int) -> None:
    """Score, likelihood and responsibilities as SciPy's normal densities give them."""
    rng = np.random.default_rng(seed)
    Y = rows(seed)
    n = len(Y)
    pi, v0, v1 = rng.uniform(0.001, 0.9, n), rng.uniform(4e-4, 0.5, n), rng.uniform(1, 9, n)
    D, sums, log_density = np.empty_like(Y), np.empty((n, 5)), np.empty(n)
    two_part_step(Y, pi, v0, v1, D, sums)
    two_part_log_density(Y, pi, v0, v1, log_density)
    y = Y.astype(np.float64)
    narrow = np.log(1 - pi)[:, None] + norm.logpdf(y, scale=np.sqrt(v0)[:, None])
    wide = np.log(pi)[:, None] + norm.logpdf(y, scale=np.sqrt(v1)[:, None])
    log_p = np.logaddexp(narrow, wide)
    q = np.exp(wide - log_p)
    precision = (1 - q) / v0[:, None] + q / v1[:, None]
    np.testing.assert_allclose(D, precision * y, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(log_density, (log_p + 0.5 * np.log(2 * np.pi)).mean(axis=1))
    expected = [precision, precision * y**2, 1 - q, (1 - q) * y**2, y**2]
    for column, values in enumerate(expected):
        np.testing.assert_allclose(sums[:, column], values.mean(axis=1), rtol=2e-4, atol=1e-5)


def test_score_is_minus_the_derivative_of_the_log_density() -> None:
    """The direction that the search climbs belongs to the likelihood that it reports."""
    density = Density(np.array([0.3]), np.array([0.05]), np.array([2.0]))
    for y in (-2.0, -0.3, 0.1, 0.7, 3.0):
        step = 1e-2

        def log_p(value: float) -> float:
            return float(negentropy(np.full((1, 1), value, np.float32), density)[0])

        slope = (log_p(y + step) - log_p(y - step)) / (2 * step)
        score = e_step(np.full((1, 1), y, np.float32), density)[0][0, 0]
        assert score == pytest.approx(-slope, rel=0.02, abs=0.02)


def test_contrast_step_is_fastica_with_the_gaussian_contrast() -> None:
    """Y <- y exp(-y^2/2) in place, and the mean slope (1 - y^2) exp(-y^2/2)."""
    Y = rows(1)
    y = Y.astype(np.float64)
    slope = np.empty(len(Y), np.float32)
    contrast_step(Y, slope)
    np.testing.assert_allclose(Y, y * np.exp(-(y**2) / 2), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(slope, ((1 - y**2) * np.exp(-(y**2) / 2)).mean(axis=1), atol=1e-5)


def test_em_steps_raise_the_likelihood_and_find_the_mixture() -> None:
    """Alternating the two steps is expectation maximisation: never down, and to the planted pi."""
    rng = np.random.default_rng(0)
    Y = (rng.standard_normal((1, 4000)) * np.where(rng.random((1, 4000)) < 0.2, 2.0, 0.1)).astype(
        np.float32
    )
    density, floor, likelihood = Density.start(1), np.array([1e-4]), []
    for _ in range(40):
        likelihood.append(negentropy(Y, density)[0])
        density = m_step(e_step(Y, density)[1], floor)
    assert np.diff(likelihood).min() > -1e-5  # single precision
    assert density.pi[0] == pytest.approx(0.2, abs=0.02)
    assert np.sqrt(density.v0[0]) == pytest.approx(0.1, rel=0.05)
    assert np.sqrt(density.v1[0]) == pytest.approx(2.0, rel=0.1)


def test_narrow_part_keeps_between_its_bounds() -> None:
    """The noise floor from below, `widest` from above, and the wide part stays the wider one."""
    sums = np.zeros((2, 5))
    sums[:, 2:] = [[0.5, 0.0, 0.5], [0.9, 5.0, 6.0]]  # v0 would be 0 and about 5.6
    density = m_step(sums, np.array([0.01, 0.01]), widest=0.2)
    np.testing.assert_allclose(density.v0, [0.01, 0.2])
    assert (density.v1 >= 1.5 * density.v0).all()


def test_negentropy_of_a_gaussian_row_is_zero() -> None:
    """Zero for a Gaussian row of unit size, positive for a sparse one of the same size."""
    rng = np.random.default_rng(0)
    gaussian = rng.standard_normal((1, 20000)).astype(np.float32)
    one = Density(np.array([0.5]), np.array([1.0]), np.array([1.0 + 1e-9]))
    assert negentropy(gaussian, one)[0] == pytest.approx(0, abs=0.02)
    sparse = gaussian * (rng.random((1, 20000)) < 0.1) * np.float32(np.sqrt(10))
    two = Density(np.array([0.1]), np.array([4e-4]), np.array([10.0]))
    assert negentropy(sparse, two)[0] > 0.5


def test_noise_of_a_row_is_what_the_space_says() -> None:
    """`floor` is the variance of X b when V is estimated from a table with that noise."""
    rng = np.random.default_rng(1)
    N, s, sigma = 20000, np.array([80.0, 50.0, 30.0]), 0.2
    V = np.linalg.qr(rng.standard_normal((N, 3)))[0]
    space = Space.of(V, s, sigma)
    B = np.array([[1.0, 0, 0], [0, 0.6, 0.8]])
    # First order: V is off by sigma / s times unit normal entries in each column.
    error = np.sqrt(N) * (sigma * rng.standard_normal((N, 3)) / s) @ B.T
    np.testing.assert_allclose(space.floor(B), error.var(axis=0), rtol=0.05)
    np.testing.assert_allclose(space.rows(B), B @ (np.sqrt(N) * V).T, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("N", [1, TOGETHER - 1, TOGETHER, 5 * TOGETHER + 3])
def test_logs_of_products_are_sums_of_logs(N: int) -> None:
    """Rows in the plane of two, whatever their length leaves for the last product."""
    Y, angles = rows(1, 2, N), np.linspace(0, np.pi, 7)
    turns = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
    products = np.empty((len(turns), N // TOGETHER + 1))
    plane_products(Y[0], Y[1], turns, np.float32(1e-3), products)
    y = turns.astype(np.float64) @ Y.astype(np.float64)
    logs = np.log(1e-3 + y**2).sum(axis=1)
    np.testing.assert_allclose(np.log(products).sum(axis=1), logs, rtol=1e-4, atol=1e-4)


def test_products_of_the_largest_entries_are_finite() -> None:
    """A million variables, all power in those that are multiplied; and none in the others."""
    Y = np.zeros((2, 2 * TOGETHER), np.float32)
    Y[0, :TOGETHER] = np.sqrt(1e6 / TOGETHER)
    products = np.empty((1, 3))
    plane_products(Y[0], Y[1], np.eye(1, 2, dtype=np.float32), np.float32(1e-4), products)
    logs = np.log(products[0]) / TOGETHER
    np.testing.assert_allclose(logs, [np.log(1e6 / TOGETHER), np.log(1e-4), 0], rtol=1e-5)
