"""Newton ascent: derivatives against differences, the objective by definition, never downhill."""

from __future__ import annotations

import numpy as np
import pytest
from oblique_problems import planted, random_columns
from scipy.stats import norm

from rcweb.engine.search.joint import normalised
from rcweb.engine.search.kernels import two_part_derivatives
from rcweb.engine.search.newton import Ascent, ascend
from rcweb.engine.search.space import Density, Space


def log_density(y: np.ndarray, pi: float, v0: float, v1: float) -> np.ndarray:
    """Of the two-part density, by SciPy."""
    narrow = np.log(1 - pi) + norm.logpdf(y, scale=np.sqrt(v0))
    wide = np.log(pi) + norm.logpdf(y, scale=np.sqrt(v1))
    return np.logaddexp(narrow, wide)


def test_derivatives_are_those_of_the_density() -> None:
    """psi = -(log p)' and its slope, against central differences in double precision."""
    pi, v0, v1, h = 0.2, 0.1, 2.0, 1e-4
    y = np.linspace(-4, 4, 81)
    Y = y[None].astype(np.float32)
    psi, slope, mean = np.empty_like(Y), np.empty_like(Y), np.empty(1)
    two_part_derivatives(Y, np.array([pi]), np.array([v0]), np.array([v1]), psi, slope, mean)
    up, here, down = (log_density(y + d, pi, v0, v1) for d in (h, 0, -h))
    np.testing.assert_allclose(psi[0], -(up - down) / (2 * h), atol=2e-4)
    np.testing.assert_allclose(slope[0], -(up - 2 * here + down) / h**2, atol=5e-3)
    assert mean[0] == pytest.approx(slope.mean(), rel=1e-5)


@pytest.mark.parametrize("n", [3, 6])
def test_objective_is_negentropy_and_volume(n: int) -> None:
    """All columns or some of them: J by SciPy, and the volume that the rows span."""
    problem = planted(0)
    point = Ascent.at(problem.space, random_columns(1, problem.space.K)[:n])
    Y = point.B @ problem.X.T
    d = point.density
    gaussian = -0.5 * np.log(2 * np.pi * np.e)
    J = [(log_density(y, d.pi[k], d.v0[k], d.v1[k]) - gaussian).mean() for k, y in enumerate(Y)]
    np.testing.assert_allclose(point.J, J, atol=1e-4)
    volume = 0.5 * np.linalg.slogdet(point.B @ point.B.T)[1]
    assert pytest.approx(np.sum(J) + volume, abs=1e-4) == point.L


@pytest.mark.parametrize("seed", range(3))
def test_ascent_rises_and_finds_the_planted_rows(seed: int) -> None:
    """From near the truth it ends at it; a step is never accepted downhill."""
    problem = planted(seed, N=300, P=6, density=0.1, noise=0.5)
    rng = np.random.default_rng(seed)
    true = normalised(problem.sim.network @ problem.X)
    start = Ascent.at(problem.space, true + 0.1 * rng.standard_normal(true.shape))
    values = [start.L]
    point = start
    for _ in range(12):
        point = ascend(problem.space, point, 1)
        values.append(point.L)
    assert np.diff(values).min() >= 0
    assert problem.accuracy(point.B).min() > 0.95


def test_some_rows_are_found_beside_gaussian_ones() -> None:
    """Three of six columns: the other directions count as Gaussian and do not pull."""
    problem = planted(4, N=300, P=6, density=0.1, noise=0.5)
    true = normalised(problem.sim.network @ problem.X)[:3]
    rng = np.random.default_rng(0)
    start = true + 0.1 * rng.standard_normal(true.shape)
    end = ascend(problem.space, Ascent.at(problem.space, start), 20)
    assert np.abs((end.B * true).sum(axis=1)).min() > 0.95


def test_density_reaches_its_floor() -> None:
    """A row of exact zeros and noise: the narrow part ends as narrow as the noise."""
    problem = planted(2, noise=0.1)
    true = normalised(problem.sim.network @ problem.X)
    density = Ascent.at(problem.space, true, Density.start(len(true)), rounds=80).density
    np.testing.assert_allclose(density.v0, problem.space.floor(true), rtol=0.25)


@pytest.mark.parametrize("kind", ["beside a background", "dense", "few"])
def test_the_density_of_a_row_is_near_its_maximum(kind: str) -> None:
    """From one start rows of real tables ended 2 to 12 nats below, from another dense rows did."""
    rng = np.random.default_rng(0)
    N, share, width = {
        "beside a background": (3000, 0.08, 0.7),
        "dense": (1000, 0.5, 0.05),
        "few": (3000, 0.01, 0.1),
    }[kind]
    targets = rng.random((N, 4)) < share
    X = width * rng.standard_normal((N, 4))
    X += targets * rng.uniform(1.0, 3.0, (N, 4)) * rng.choice([-1, 1], (N, 4))
    X /= np.sqrt((X**2).mean(axis=0))
    space = Space.at(X, np.full(4, 0.02))
    short, long = (Ascent.at(space, np.eye(4), rounds=n) for n in (15, 3000))
    assert (N * (long.J - short.J) < 2).all()
    assert (long.J > 0.02).all()


def test_some_rows_of_a_point_are_its_own() -> None:
    """The same rows, densities and scores, and the objective of these rows alone."""
    problem = planted(0)
    point = Ascent.at(problem.space, random_columns(0, problem.space.K))
    some = point.take(np.array([1, 3]))
    again = Ascent.at(problem.space, point.B[[1, 3]], point.density.take(np.array([1, 3])), 0)
    np.testing.assert_array_equal(some.Y, point.Y[[1, 3]])
    np.testing.assert_allclose(some.J, again.J, rtol=1e-6)
    np.testing.assert_allclose(some.L, again.L, rtol=1e-6)
    assert point.take(np.arange(problem.space.K)) is point
