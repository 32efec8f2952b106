"""The sampler with known activities: exact conditionals, and a twin that shares no line with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from rcweb.engine.measured import other_axes
from rcweb.engine.posterior.axes import Axes
from rcweb.engine.posterior.gibbs import State, draw_activities
from rcweb.engine.posterior.measured import (
    MeasuredChain,
    MeasuredSamples,
    Measurement,
    draw_measured_activities,
)


class NoNoise:
    """A generator whose normal numbers are 0: draws become means."""

    def standard_normal(self, shape):
        return np.zeros(shape)


def problem(seed=0, n=7, N=9, P=3):
    """Samples with three measured factors, two of them of the same regulator, some not measured."""
    rng = np.random.default_rng(seed)
    rows, values = rng.standard_normal((n, N)), 5 + rng.standard_normal((n, 3))
    values[rng.random(values.shape) < 0.4] = np.nan
    values[0], values[1] = np.nan, 4.0
    C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.6)
    one = np.full(P, 0.2)
    start = (C, rng.uniform(0.5, 2, N), one, one, np.ones(13) / 13, np.eye(len(C)))
    state = State(*start, background=np.zeros(P), slab=C != 0, fidelity=one)
    others = Axes(np.zeros((0, N)), np.zeros(N), 0, np.ones(N))
    samples = MeasuredSamples(rows, values, np.array([0, 2, 2]), others)
    link = Measurement(
        np.array([2.0, -1.0, 0.3]), np.array([5.0, 4.5, 5.2]), rng.uniform(0.2, 1, 3)
    )
    return samples, state, link


def joint(samples, state, link, m):
    """Sample m one by one: the loadings, means and noise of all that was seen in it."""
    C, values = state.C, samples.values[m]
    loadings, noise, seen = list(C.T), list(state.variance), list(samples.rows[m])
    for k, s in enumerate(samples.regulator):
        if np.isfinite(values[k]):
            loadings.append(np.eye(len(C))[s] * link.scale[k])
            noise.append(link.variance[k])
            seen.append(values[k] - link.offset[k])
    return np.array(loadings), np.array(noise), np.array(seen)


def test_activities_are_those_of_the_joint_gaussian():
    """Slow twin: condition the joint normal of activities and all data of a sample, with no
    precision matrix in it."""
    samples, state, link = problem()
    found, _ = draw_measured_activities(samples, state, link, NoNoise())
    for m in range(len(samples.rows)):
        L, noise, seen = joint(samples, state, link, m)
        expected = L.T @ np.linalg.inv(L @ L.T + np.diag(noise)) @ seen
        np.testing.assert_allclose(found[m], expected, rtol=1e-9)


def test_draws_have_the_covariance_of_the_joint_gaussian():
    """4,000 draws; five standard errors."""
    samples, state, link = problem()
    rng = np.random.default_rng(1)
    draws = np.array([draw_measured_activities(samples, state, link, rng)[0] for _ in range(4000)])
    for m in (0, 1, 3):
        L, noise, _ = joint(samples, state, link, m)
        P = L.shape[1]
        expected = np.eye(P) - L.T @ np.linalg.inv(L @ L.T + np.diag(noise)) @ L
        error = np.sqrt(np.outer(np.diag(expected), np.diag(expected)) * 2 / len(draws))
        assert (np.abs(np.cov(draws[:, m].T) - expected) < 5 * error).all()


def test_likelihood_is_that_of_table_and_measurements():
    """Differences between two states against SciPy's multivariate normal density."""
    (samples, first, link), (_, second, other) = problem(), problem(3)
    found, expected = [], []
    for state, measurement in ((first, link), (second, other)):
        found.append(draw_measured_activities(samples, state, measurement, NoNoise())[1])
        total = 0.0
        for m in range(len(samples.rows)):
            L, noise, seen = joint(samples, state, measurement, m)
            total += multivariate_normal(cov=L @ L.T + np.diag(noise)).logpdf(seen)
        expected.append(total)
    assert found[1] - found[0] == pytest.approx(expected[1] - expected[0], rel=1e-9)


def test_without_measurements_it_is_the_sampler_of_all():
    """Nothing measured in the samples set apart: the same means as those of the whole table."""
    samples, state, link = problem()
    nothing = MeasuredSamples(
        samples.rows, np.full_like(samples.values, np.nan), samples.regulator, samples.others
    )
    R, more = draw_measured_activities(nothing, state, link, NoNoise())
    N = samples.rows.shape[1]
    axes = Axes(samples.rows, np.zeros(N), len(samples.rows), np.ones(N))
    Q, Z, likelihood = draw_activities(axes, state, NoNoise())
    np.testing.assert_allclose(R.T @ R, Q, rtol=1e-9)
    np.testing.assert_allclose(R.T @ samples.rows, Z, rtol=1e-9)
    assert more == pytest.approx(likelihood)


def test_scale_offset_and_error_are_learned():
    """One regulator, measured in half of the samples with error 0.4: means of the chain against the
    truth. Tolerances: three standard errors of a regression on 60 samples."""
    rng = np.random.default_rng(0)
    M, N, n = 120, 30, 60
    c = np.where(np.arange(N) < 15, rng.choice([-1.0, 1.0], N), 0.0)
    r = rng.standard_normal(M)
    G = np.outer(r, c) + 0.5 * rng.standard_normal((M, N))
    u = 7 - 3 * r[:n] + 0.4 * rng.standard_normal(n)
    whole = Axes(G, np.zeros(N), M - 1, np.ones(N))
    samples = MeasuredSamples(
        G[:n], u[:, None], np.array([0]), other_axes(G[n:], M - 1 - n, np.ones(N))
    )
    chain = MeasuredChain(whole, c[None], np.random.default_rng(1), samples, concentration=5.0)
    chain.trust_first(50)
    kept = []
    for _ in range(300):
        chain.advance(1)
        link = chain.measurement
        kept.append([link.scale[0], link.offset[0], np.sqrt(link.variance[0])])
    scale, offset, error = np.mean(kept, axis=0)
    # Activities have unit variance in the fit.
    assert abs(scale * np.sign(scale)) == pytest.approx(3 * r.std(), abs=0.3)
    assert offset == pytest.approx(7, abs=0.35)
    assert error == pytest.approx(0.4, abs=0.12)


def test_axes_of_the_others_keep_their_products():
    """More samples than variables: the triangular factor has the same Gram matrix."""
    rows = np.random.default_rng(0).standard_normal((40, 6))
    for part in (rows, rows[:4], rows[:0]):
        axes = other_axes(part, len(part), np.ones(6))
        assert len(axes.Y) <= max(len(part), 0)
        np.testing.assert_allclose(axes.Y.T @ axes.Y, part.T @ part, atol=1e-12)
