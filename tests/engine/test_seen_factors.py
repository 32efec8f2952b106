"""Whether a measured factor is seen in a table: level, power, units, order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, multivariate_normal

from rcweb.engine.measured import RATIOS, _Explanations, assign, judge, orders, seen


def table(seed, M=40, P=8):
    """Activities, and coordinates of which they are mixtures."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((M, P))
    return Z @ np.linalg.qr(rng.standard_normal((P, P)))[0], Z


def test_p_is_uniform_when_nothing_is_there():
    """100 factors that are noise: Kolmogorov-Smirnov at 1e-3."""
    R, Z = table(0)
    rng = np.random.default_rng(1)
    p = [seen(rng.standard_normal(40), R, Z, rng)[0] for _ in range(100)]
    assert kstest(p, "uniform").pvalue > 1e-3


def test_a_mixture_of_regulators_is_seen():
    """Seven of eight regulators are missing among those found; the table itself still has them."""
    R, Z = table(2, M=80)
    rng = np.random.default_rng(0)
    u = R[:, 1:].sum(axis=1) + 0.3 * rng.standard_normal(80)
    p, free, share = seen(u, R[:, :1], Z, rng)
    assert p < 0.001
    assert free > 10
    assert 0.8 < share < 1


def test_evidence_of_a_free_direction_is_that_of_a_gaussian_process():
    """Slow twin: differences of SciPy's density over a grid of error levels, which the formula has
    integrated out."""
    rng = np.random.default_rng(0)
    n, K = 6, 3
    Z, R = rng.standard_normal((n, K)), rng.standard_normal((n, 1))
    U = rng.standard_normal((2, n))
    U -= U.mean(axis=1, keepdims=True)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    basis = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]  # without the constant
    centred = Z - Z.mean(axis=0)
    grid = np.linspace(-9, 9, 601)  # log of the error's variance, flat prior

    def evidence(u, ratio):
        shape = basis.T @ (np.eye(n) + ratio * centred @ centred.T / K) @ basis
        unit = multivariate_normal(cov=shape)
        level = unit.logpdf(np.outer(np.exp(-grid / 2), basis.T @ u)) - (n - 1) / 2 * grid
        return np.log(np.trapezoid(np.exp(level), grid))

    expected = [np.log(np.mean([np.exp(evidence(u, ratio)) for ratio in RATIOS])) for u in U]
    found = _Explanations(R, Z).free(U)
    assert found[1] - found[0] == pytest.approx(expected[1] - expected[0], abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-50, 50))
def test_units_of_a_factor_do_not_matter(seed, factor, shift):
    """Kelvin or Celsius, also upside down."""
    R, Z = table(seed % 5, M=7)
    u = R[:, 0] + 0.5 * np.random.default_rng(seed).standard_normal(7)
    a, b = (seen(v, R, Z, np.random.default_rng(0)) for v in (u, shift - factor * u))
    assert a == pytest.approx(b, abs=1e-6)


def test_order_of_samples_does_not_matter():
    """Up to 8 samples every order is visited: the same p, exactly."""
    R, Z = table(3, M=12)
    u = np.where(np.arange(12) < 7, R[:, 2], np.nan)
    turned = np.random.default_rng(0).permutation(12)
    rng = np.random.default_rng(0)
    assert seen(u, R, Z, rng) == pytest.approx(seen(u[turned], R[turned], Z[turned], rng))


def test_shuffled_measurements_are_not_seen():
    """20 tables of 10 factors in shuffled order: at most the promised share of tables has any."""
    wrong = 0
    for seed in range(20):
        R, Z = table(seed, M=30)
        values = np.random.default_rng(seed).permuted(R[:, :5], axis=0)
        values[20:] = np.nan
        wrong += bool((judge(values, R, Z).q <= 0.05).any())
    assert wrong <= 4  # binomial, 20 tables at 0.05: 4 or fewer in 99.7 %


def test_factors_that_tell_nothing():
    """Constant, measured twice or never: p = 1, no warning."""
    R, Z = table(0, M=10)
    values = np.full((10, 3), np.nan)
    values[:, 0], values[:2, 1] = 3.0, (1.0, 2.0)
    found = judge(values, R, Z)
    assert (found.p == 1).all()
    assert not found.used.any()


def test_factors_are_assigned_one_to_one_and_the_rest_to_their_best():
    """Two regulators, three factors: the third shares."""
    R, _ = table(1, P=2)
    values = np.column_stack([R[:, 1], -R[:, 0], R[:, 0] + 0.5 * R[:, 1]])
    assert assign(values[:, :2], R).tolist() == [1, 0]
    assert assign(values, R)[2] == 0


def test_orders_are_all_or_drawn():
    rng = np.random.default_rng(0)
    assert len(np.unique(orders(4, 10, rng), axis=0)) == 24
    assert orders(12, 10, rng).shape == (10, 12)


def test_share_is_that_of_samples_left_out_one_by_one():
    """Slow twin: the regression without each sample, in a loop."""
    rng = np.random.default_rng(3)
    n, K = 12, 4
    Z = rng.standard_normal((n, K))
    u = Z @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(n)
    u = (u - u.mean()) / np.linalg.norm(u - u.mean())
    explain = _Explanations(Z, Z)
    ratio = RATIOS[int(explain._each_free(u[None])[:, 0].argmax())]
    centred = Z - Z.mean(axis=0)
    A = np.column_stack([np.ones(n), centred])
    penalty = np.diag([0.0] + [K / ratio] * K)
    rest = 0.0
    for m in range(n):
        keep = np.arange(n) != m
        b = np.linalg.solve(A[keep].T @ A[keep] + penalty, A[keep].T @ u[keep])
        rest += (u[m] - A[m] @ b) ** 2
    assert explain.share(u) == pytest.approx(1 - rest, rel=1e-9)
