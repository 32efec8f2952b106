"""Columns by rows and activities together: what rows alone do not show, and nothing in noise."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb.engine.matching import row_correlation
from rcweb.engine.search.activities import NOISE_SHARES, POINTS, REACH, ActivityDensity, peel_both
from rcweb.engine.search.kernels import look_up
from rcweb.engine.search.peel import peel
from rcweb.engine.search.space import Space
from rcweb.simulate import Simulation, simulate


def white(G: np.ndarray, K: int) -> tuple[Space, np.ndarray]:
    """K directions of a centred table, and the white coordinates of its samples."""
    M, N = G.shape
    U, s, Vt = np.linalg.svd(G - G.mean(axis=0), full_matrices=False)
    sigma = np.sqrt((s[K:] ** 2).sum() / ((M - 1 - K) * (N - K)))
    return Space.of(Vt[:K].T, s[:K], sigma), U[:, :K] * np.sqrt(M)


def four_variables_per_regulator(seed: int, regulators: str = "uniform") -> Simulation:
    """Rows with up to 0.65 of the entries: most are too dense to be seen alone."""
    return simulate(
        1000,
        125,
        30,
        network="author_powerlaw",
        weights="author",
        regulators=regulators,
        noise=0.3,
        random_state=seed,
    )


@pytest.mark.parametrize("seed", range(3))
def test_rows_and_activities_find_what_rows_alone_do_not(seed: int) -> None:
    truth = four_variables_per_regulator(seed)
    space, U = white(truth.data, 30)
    rng, none = np.random.default_rng(seed), np.zeros((0, 30))
    alone, _ = peel(space, none, rng, n_starts=180, most_starts=180, fill=False)
    B, sure = peel_both(space, U, none, rng, lambda line: None)
    assert len(alone) < 20
    assert sure.sum() >= 27
    assert len(B) == 30
    best = np.abs(row_correlation(space.rows(B).astype(float), truth.network)).max(axis=1)
    assert np.median(best) > 0.98
    assert (best > 0.9).sum() >= 29


def test_nothing_is_found_in_noise() -> None:
    """Neither with Gaussian samples, nor where some samples are ten times as large."""
    rng = np.random.default_rng(0)
    for size in (1.0, np.where(rng.random((600, 1)) < 0.1, 10.0, 1.0)):
        G = rng.standard_normal((600, 12)) * size @ rng.standard_normal((12, 200))
        space, U = white(G + 0.3 * rng.standard_normal(G.shape), 12)
        B, _ = peel_both(space, U, np.zeros((0, 12)), rng, lambda line: None)
        assert len(B) == 0


def nats(density: ActivityDensity, r: np.ndarray, noise: int) -> float:
    """Mean log density of `r` above a Gaussian's, at share number `noise` of `NOISE_SHARES`."""
    return float(
        np.interp(r, np.linspace(-REACH, REACH, POINTS), density.tables()[0][noise]).mean()
    )


def test_density_of_activities_is_learned() -> None:
    """A flat one from flat activities, whether known or seen by lengths alone; else a Gaussian."""
    rng = np.random.default_rng(0)
    flat, normal = rng.uniform(-1, 1, (20, 4000)) * np.sqrt(3), rng.standard_normal((20, 4000))
    noise = 6
    assert NOISE_SHARES[noise] == pytest.approx(0.3)
    seen = np.sqrt(0.7) * flat + np.sqrt(0.3) * normal
    learned = ActivityDensity.learn(seen, np.full(20, 0.3))
    assert nats(learned, flat.ravel(), 0) > 0.08  # the noise was taken off; 0.176 at best
    assert nats(learned, seen.ravel(), noise) > 0.01
    assert abs(nats(ActivityDensity.learn(normal, np.zeros(20)), normal.ravel(), 0)) < 0.001
    assert nats(ActivityDensity.from_lengths(flat.T, 0.0), flat.ravel(), 0) > 0.08
    tails = rng.standard_t(4, (4000, 20))
    for other in (normal.T, tails / tails.std(axis=0)):
        assert abs(nats(ActivityDensity.from_lengths(other, 0.0), normal.ravel(), 0)) < 0.01


def test_look_up_interpolates() -> None:
    rng = np.random.default_rng(0)
    tables = rng.standard_normal((2, 41)).astype(np.float32)
    Y = rng.uniform(-3, 3, (3, 50)).astype(np.float32)
    value = np.empty_like(Y)
    look_up(Y, 2.0, tables, np.array([1, 0, 1]), value)
    points = np.linspace(-2, 2, 41)
    expected = [np.interp(y, points, tables[k]) for y, k in zip(Y, (1, 0, 1), strict=True)]
    np.testing.assert_allclose(value, expected, atol=1e-4)
