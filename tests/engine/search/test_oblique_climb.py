"""The joint likelihood: what is reported is what is defined, and climbing climbs it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oblique_problems import Problem, planted, random_columns
from scipy.stats import norm

from rcweb.engine.search.joint import (
    Columns,
    climb,
    complement,
    fixed_point,
    judge,
    normalised,
)
from rcweb.engine.search.space import Density

NO_WIDTHS = np.zeros(0)


def likelihood(problem: Problem, B: np.ndarray, density: Density) -> float:
    """L(B) by its definition, in double precision, relative to unit Gaussian rows."""
    Y = B @ problem.X.T
    v0, v1, pi = (a[:, None] for a in (density.v0, density.v1, density.pi))
    narrow = np.log(1 - pi) + norm.logpdf(Y, scale=np.sqrt(v0))
    wide = np.log(pi) + norm.logpdf(Y, scale=np.sqrt(v1))
    gaussian = -0.5 * np.log(2 * np.pi * np.e)
    mean = (np.logaddexp(narrow, wide) - gaussian).mean(axis=1).sum()
    return float(Y.shape[1] * (mean + np.log(abs(np.linalg.det(B)))))


def tangent_gradient(problem: Problem, columns: Columns, step: float = 1e-5) -> np.ndarray:
    """Numerical gradient of L / N over unit rows, densities held."""
    B, K = columns.B, problem.space.K
    gradient = np.zeros_like(B)
    for k in range(len(B)):
        for axis in np.eye(K):
            up, down = B.copy(), B.copy()
            up[k], down[k] = B[k] + step * axis, B[k] - step * axis
            rise = likelihood(problem, normalised(up), columns.density) - likelihood(
                problem, normalised(down), columns.density
            )
            gradient[k] += axis * rise / (2 * step * problem.space.N)
    return gradient


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_objective_is_the_likelihood_of_its_definition(noise: float) -> None:
    """`objective` and J after a climb agree with densities from SciPy in double precision."""
    problem = planted(0, noise=noise)
    K = problem.space.K
    found = climb(
        problem.space, random_columns(0, K), Density.start(K), np.full(5, 0.3), free_steps=5
    )
    assert found.objective == pytest.approx(likelihood(problem, found.B, found.density), rel=1e-4)
    logdet = np.log(abs(np.linalg.det(found.B)))
    assert found.objective == pytest.approx(problem.space.N * (found.J.sum() + logdet))
    np.testing.assert_allclose(np.linalg.norm(found.B, axis=1), 1)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_climb_never_ends_below_its_start(seed: int, noise: float) -> None:
    """From random columns far up; from an end point no further down than rounding (0.1 %)."""
    problem = planted(seed, noise=noise)
    K = problem.space.K
    start = judge(problem.space, random_columns(seed, K), Density.start(K))
    widths = np.geomspace(0.5, problem.space.level, 30)
    end = climb(problem.space, start.B, Density.start(K), widths, free_steps=15)
    assert end.objective > start.objective + 0.1 * problem.space.N
    again = climb(problem.space, end.B, end.density, NO_WIDTHS, free_steps=30)
    assert again.objective > end.objective - 1e-3 * abs(end.objective)


@pytest.mark.parametrize("seed", range(4))
def test_end_of_a_long_climb_is_stationary(seed: int) -> None:
    """By finite differences: the gradient over unit rows has all but vanished.

    The space is told a third of its noise: a narrow part that rests on its floor is not at its own
    optimum, and the step, which takes it to be, then ends beside the stationary point.
    """
    problem = planted(seed, N=80, P=4, noise=0.3)
    space = replace(problem.space, noise=problem.space.noise / 3)
    start = random_columns(seed, 4)
    early = climb(space, start, Density.start(4), NO_WIDTHS, free_steps=1)
    late = climb(space, start, Density.start(4), np.geomspace(1, 0.1, 60), free_steps=300)
    assert np.abs(tangent_gradient(problem, early)).max() > 0.1
    assert np.abs(tangent_gradient(problem, late)).max() < 2e-3


def test_one_step_goes_uphill() -> None:
    """The move of a single step has a positive slope under the numerical gradient."""
    for seed in range(5):
        problem = planted(seed, N=80, P=4, noise=0.2)
        K = problem.space.K
        here = climb(
            problem.space, random_columns(seed, K), Density.start(K), NO_WIDTHS, free_steps=10
        )
        there = climb(problem.space, here.B, here.density, NO_WIDTHS, free_steps=1)
        slope = (tangent_gradient(problem, here) * (there.B - here.B)).sum()
        assert slope > 0


def test_truth_scores_above_random_columns_and_is_kept() -> None:
    """The planted columns are (next to) an optimum: climbing from them stays with them."""
    problem = planted(2)
    B = normalised(problem.sim.network @ problem.X)  # X^T X = N: coordinates of the true rows
    true = climb(problem.space, B, Density.start(6), np.full(5, problem.space.level), free_steps=15)
    other = climb(
        problem.space, random_columns(0, 6), Density.start(6), np.full(30, 0.5), free_steps=0
    )
    assert true.objective > other.objective
    assert problem.accuracy(true.B).min() > 0.995


def test_columns_held_do_not_move() -> None:
    """`free` moves its rows alone, and these stay independent of the rows held."""
    problem = planted(1)
    B = random_columns(3, 6)
    free = np.array([1, 4])
    found = climb(problem.space, B, Density.start(6), np.full(20, 0.4), free=free)
    held = np.setdiff1d(np.arange(6), free)
    np.testing.assert_array_equal(found.B[held], B[held])
    assert np.abs(found.B[free] - B[free]).max() > 0.01
    assert found.objective > judge(problem.space, B, Density.start(6)).objective


def test_complement_is_orthonormal_and_orthogonal() -> None:
    """Of rows that are neither orthogonal nor all of the space; and of none at all."""
    B = np.random.default_rng(0).standard_normal((3, 7))
    Q = complement(B, 7)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(B @ Q, 0, atol=1e-12)
    np.testing.assert_array_equal(complement(B[:0], 7), np.eye(7))


def test_fixed_point_is_orthogonal_and_finds_sparse_rows() -> None:
    """Independent components are a start worth having on an easy problem, always orthogonal."""
    problem = planted(0, N=150, P=5, density=0.1)
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    B = fixed_point(problem.space, start, 60)
    np.testing.assert_allclose(B @ B.T, np.eye(5), atol=1e-5)
    assert np.median(problem.accuracy(B)) > 0.9
