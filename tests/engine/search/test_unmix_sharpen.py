"""Pairs turned in their plane are mended; zeros of noise-free rows become exact."""

from __future__ import annotations

import numpy as np
import pytest
from oblique_problems import planted

from rcweb.engine.matching import match_rows
from rcweb.engine.search.joint import Columns, climb, normalised
from rcweb.engine.search.search import search_columns
from rcweb.engine.search.sharpen import sharpen
from rcweb.engine.search.space import Density, Space
from rcweb.engine.search.unmix import PAIRS_EACH, _suspects, unmix


def settled(space: Space, B: np.ndarray) -> Columns:
    return climb(space, B, Density.start(len(B)), np.full(3, space.level), free_steps=15)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("turn", [((1, 1), (1, -1)), ((1, 0), (1, 1))])
def test_a_turned_pair_is_mended(seed: int, turn: tuple) -> None:
    """(c1 + c2, c1 - c2) and (c1, c1 + c2) come back as (c1, c2); climbing alone stays turned."""
    problem = planted(seed)
    space = problem.space
    good = search_columns(space, space.K).columns
    B = good.B.copy()
    B[[2, 3]] = np.array(turn) @ B[[2, 3]]
    turned = settled(space, normalised(B))
    mended = unmix(space, turned)
    assert mended.objective >= turned.objective
    assert mended.objective == pytest.approx(good.objective, rel=1e-3)
    assert problem.accuracy(mended.B).min() > 0.99


def test_climbing_alone_leaves_a_turned_pair() -> None:
    """What the test above mends is a local optimum: without it `unmix` would not be needed."""
    problem = planted(0)
    good = search_columns(problem.space, problem.space.K).columns
    B = good.B.copy()
    B[[2, 3]] = B[2] + B[3], B[2] - B[3]
    stuck = settled(problem.space, normalised(B))
    assert stuck.objective < good.objective - 50
    assert problem.accuracy(stuck.B).min() < 0.9


@pytest.mark.parametrize("seed", range(4))
def test_three_columns_mixed_with_each_other_are_mended(seed: int) -> None:
    """Pair by pair, one after the other: once was not enough for dense rows of a large table."""
    problem = planted(seed)
    space = problem.space
    good = search_columns(space, space.K).columns
    B = good.B.copy()
    B[[2, 3, 4]] = np.array([[1, 1, 0], [1, -1, 1], [0, 1, 1]]) @ B[[2, 3, 4]]
    turned = settled(space, normalised(B))
    assert problem.accuracy(turned.B).min() < 0.95
    assert problem.accuracy(unmix(space, turned).B).min() > 0.99


def test_only_the_surest_pairs_are_tried() -> None:
    """Rows that are all near zero at the same variables, as of amounts without logs, made half of
    all pairs suspects: 193 directions did not end."""
    rng = np.random.default_rng(0)
    K, N = 40, 600
    Y = rng.standard_normal((K, N)) * np.where(rng.random(N) < 0.5, 1e-3, 1.0)
    Y[1] = Y[0] * rng.choice([-1, 1], N)
    pairs = _suspects(Y.astype(np.float32), np.full(K, 0.1)).tolist()
    assert len(pairs) == PAIRS_EACH * K < K * (K - 1) / 2
    assert [0, 1] in pairs
    assert pairs == sorted(pairs)


def test_good_columns_are_left_alone() -> None:
    """Nothing to gain: the very same object comes back."""
    problem = planted(1)
    good = search_columns(problem.space, problem.space.K).columns
    assert unmix(problem.space, good) is good


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("density", [0.15, 0.5])
def test_zeros_without_noise_are_exact(seed: int, density: float) -> None:
    """From columns good to a few per cent: true zeros below 1e-9, true edges far above."""
    problem = planted(seed, M=60, P=8, noise=0.0, density=density)
    found = search_columns(problem.space, problem.space.K).columns
    B = sharpen(problem.X, found.B, np.zeros(8), found.density.pi)
    Y = B @ problem.X.T
    pairs = match_rows(Y, problem.sim.network)
    zero = problem.sim.network[pairs.other] == 0
    Y = Y[pairs.found]
    assert np.abs(Y[zero]).max() < 1e-9
    assert np.abs(Y[~zero]).min() > 1e-6
    np.testing.assert_allclose(np.linalg.norm(B, axis=1), 1)
    before = np.abs((found.B @ problem.X.T)[pairs.found][zero]).max()
    assert before > 1e-4, "the start was exact already: nothing was tested"


def test_sharpening_keeps_sign_and_stops_at_the_noise() -> None:
    """With noise the column moves little, stays on its side, and rows are not worse."""
    problem = planted(0, noise=0.02)
    found = search_columns(problem.space, problem.space.K).columns
    floor = ((found.B * problem.space.noise) ** 2).sum(axis=1)
    B = sharpen(problem.X, found.B, floor, found.density.pi)
    assert ((B * found.B).sum(axis=1) > 0.98).all()
    assert problem.accuracy(B).min() > 0.999


def test_a_column_that_is_not_isolated_keeps_its_start() -> None:
    """In a plane without any sparse row there is nothing to sharpen to."""
    rng = np.random.default_rng(0)
    X = np.sqrt(200) * np.linalg.qr(rng.standard_normal((200, 5)))[0]
    start = normalised(rng.standard_normal((3, 5)))
    B = sharpen(X, start, np.full(3, 1e-8), np.full(3, 0.3))
    turned = (B * start).sum(axis=1)
    assert (turned > 0.98).all()
