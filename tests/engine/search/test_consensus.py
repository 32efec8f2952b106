"""What halves of the variables agree on, and means of many searches."""

from __future__ import annotations

import numpy as np
import pytest
from oblique_problems import planted, random_space

from rcweb.engine.search.consensus import SAME, SPLITS, agree, average, most_error
from rcweb.engine.search.halves import (
    Split,
    beyond_chance,
    can_be_split,
    part,
    recurrence,
    search_half,
    search_splits,
)
from rcweb.engine.search.joint import normalised
from rcweb.engine.search.newton import Ascent
from rcweb.engine.search.space import Density, Space


def diffuse(seed: int, N: int = 800, K: int = 8) -> tuple[Space, np.ndarray]:
    """Rows of strong entries on a background of a quarter, and their columns in the space."""
    rng = np.random.default_rng(seed)
    strong = rng.random((K, N)) < 0.06
    rows = np.where(strong, 1.0, 0.25) * rng.standard_normal((K, N))
    V = np.linalg.qr(rows.T)[0]
    return Space.of(V, np.ones(K), 0.03 / np.sqrt(N)), normalised(rows @ V)


def test_a_part_is_white_and_maps_back() -> None:
    """Coordinates of some variables have unit covariance; a row found there is one of the whole."""
    space = planted(0, N=200, P=5).space
    variables = np.random.default_rng(0).permutation(200)[:90]
    inner, L = part(space, variables)
    np.testing.assert_allclose(inner.X.T @ inner.X / 90, np.eye(inner.K), atol=1e-4)
    b = np.random.default_rng(1).standard_normal(inner.K)
    np.testing.assert_allclose(inner.X @ b, space.X[variables] @ (L @ b), atol=1e-4)


def test_both_halves_find_planted_columns() -> None:
    """Searched cold, without a variable in common. A random subspace has nothing to find."""
    found = []
    for seed in range(6):
        problem = planted(seed, N=400, P=8, density=0.1)
        true = normalised(problem.sim.network @ problem.X)
        found.append(recurrence(true, search_splits(problem.space, range(2), exact=True)))
        noise = random_space(seed, N=400, K=12)
        splits = search_splits(noise, range(2), exact=True)
        assert recurrence(splits[0].first, splits).max() < 0.75
    assert np.concatenate(found).min() > 0.95


def test_halves_do_not_depend_on_who_asks() -> None:
    """One half alone, or all at once in any number of threads: the same bits."""
    space = planted(0, N=200, P=5).space
    splits = search_splits(space, range(1, 3))
    np.testing.assert_array_equal(splits[0].second, search_half(space, 1, 1))
    np.testing.assert_array_equal(splits[1].first, search_half(space, 2, 0))


def test_recurrence_is_the_least_of_three_cosines() -> None:
    """By hand: a row at 0 degrees, its matches at 10 and at -20."""

    def at(*degrees: float) -> np.ndarray:
        angle = np.deg2rad(degrees)
        return np.column_stack([np.cos(angle), np.sin(angle)])

    split = Split(at(10, 100), at(-20, 70))
    np.testing.assert_allclose(recurrence(at(0), [split]), np.cos(np.deg2rad(30)))
    np.testing.assert_array_equal(recurrence(at(0), []), 0)


def test_recurrence_beyond_chance() -> None:
    """1 for equal columns; not above 0 for the best of K random ones; nothing in two directions."""
    rng = np.random.default_rng(0)
    for K in (8, 30, 100):
        row = normalised(rng.standard_normal((200, K)))
        best = np.abs(row).max(axis=1)  # against the axes
        assert -0.3 < beyond_chance(best, K).mean() < 0.02
        assert beyond_chance(np.ones(1), K) == pytest.approx(1)
    np.testing.assert_array_equal(beyond_chance(np.ones(3), 2), 0)


def test_too_few_variables_cannot_be_split() -> None:
    """Each half needs more variables than columns."""
    assert can_be_split(random_space(0, N=22, K=10))
    assert not can_be_split(random_space(0, N=21, K=10))


def test_means_forgive_the_errors_of_single_searches() -> None:
    """Eight noisy copies with random signs, one search missing a row: the mean is closer than any,
    its frequency is the share that has it, its error about what two such means differ by."""
    rng = np.random.default_rng(0)
    true = np.linalg.qr(rng.standard_normal((30, 30)))[0][:5]
    space = random_space(0, N=200, K=30)

    def ends() -> list[Ascent]:
        found = []
        for s in range(8):
            n = 4 if s == 0 else 5
            B = normalised(true[:n] + 0.04 * rng.standard_normal((n, 30)))
            B *= rng.choice([-1, 1], (len(B), 1))
            found.append(Ascent(B, space.rows(B), Density.start(len(B)), np.ones(len(B)), 0.0))
        return found

    first, second = average(ends()), average(ends())
    mean, frequency, error = first
    cosine = np.abs(mean @ true.T)
    assert len(mean) == 5
    assert cosine.max(axis=1).min() > 0.99
    np.testing.assert_allclose(np.sort(frequency), [7 / 8, 1, 1, 1, 1])
    between = 1 - np.abs(mean @ second[0].T).max(axis=1)
    assert error.mean() == pytest.approx(between.mean(), rel=0.6)


def test_consensus_on_a_table_of_small_effects() -> None:
    """Every planted row, found by all searches; other searches would give the same."""
    space, true = diffuse(1)
    shared = agree(space)
    cosine = np.abs(shared.B @ true.T)
    assert cosine[shared.found].max(axis=1).min() > 0.97
    assert (cosine[shared.found] > 0.97).any(axis=0).all()
    assert shared.error[shared.found].max() < most_error()
    np.testing.assert_array_equal(agree(space).B, shared.B)
    # Splits searched before, when directions were counted, need not be searched again.
    again = agree(space, search_splits(space, range(SPLITS)))
    np.testing.assert_array_equal(again.B, shared.B)


def test_no_two_means_are_one_regulator() -> None:
    """Rows of a wide cloud: a greedy start at its rim once left the other side a mean of its own,
    and the regulator was in the answer twice."""
    rng = np.random.default_rng(0)
    space, centre = random_space(0, N=200, K=12), np.eye(12)[0]
    ends = []
    for _ in range(12):
        B = normalised(np.vstack([centre + 0.14 * rng.standard_normal(12), np.eye(12)[5]]))
        ends.append(Ascent(B, space.rows(B), Density.start(2), np.ones(2), 0.0))
    mean, frequency, _ = average(ends)
    assert np.abs(np.triu(mean @ mean.T, 1)).max() < SAME
    assert len(mean) == 2
    assert frequency.min() > 0.5


def test_what_one_search_alone_has_is_no_mean() -> None:
    """Each search has rows of its own beside the one that all share; without any that is shared
    the sparsest is kept, so that there is an answer."""
    space, axes = random_space(0, N=200, K=12), np.eye(12)

    def end(rows: list[int]) -> Ascent:
        J = 1.0 / (1 + np.array(rows))
        return Ascent(axes[rows], space.rows(axes[rows]), Density.start(len(rows)), J, 0.0)

    mean, frequency, _ = average([end([0, 1]), end([0, 2]), end([0, 3])])
    np.testing.assert_allclose(mean, axes[[0]])
    np.testing.assert_allclose(frequency, 1)
    mean, _, error = average([end([2]), end([1])])
    np.testing.assert_allclose(mean, axes[[1]])
    np.testing.assert_array_equal(error, 1)
