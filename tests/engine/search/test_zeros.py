"""The start from exact zeros: dense rows of one sign, which have no tails, are found by them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oblique_problems import planted, random_space

from rcweb import RCweb
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.matching import match_rows
from rcweb.engine.search.joint import Columns
from rcweb.engine.search.search import search_columns
from rcweb.engine.search.space import Space
from rcweb.engine.search.start import joint_start, likelier_start
from rcweb.engine.search.zeros import can_be_drawn, orthogonal_to, zero_chance, zero_start
from rcweb.engine.spectrum import leading_directions
from rcweb.engine.types import Array


def dense(seed: int, N: int, P: int, noise: float) -> tuple[Space, Array]:
    """Half of all entries are edges, all weights positive and of a size."""
    rng = np.random.default_rng(seed)
    C = rng.uniform(0.5, 1.5, (P, N)) * (rng.random((P, N)) < 0.5)
    G = rng.standard_normal((200, P)) @ C
    G += noise * G.std() * rng.standard_normal(G.shape)
    spectrum = leading_directions(CondensedTable.of(G - G.mean(axis=0)), P)
    return Space.of(spectrum.V, spectrum.s, spectrum.sigma), C


def accuracy(space: Space, columns: Columns, C: Array) -> float:
    rows = space.rows(columns.B).astype(np.float64)
    return float(np.abs(match_rows(rows, C).correlation).mean())


@given(st.integers(2, 13), st.integers(0, 100))
def test_a_draw_is_orthogonal_to_its_variables(K: int, seed: int) -> None:
    """Against the last right singular vector, one stack at a time."""
    rows = np.random.default_rng(seed).standard_normal((3, K - 1, K))
    for b, stack in zip(orthogonal_to(rows), rows):
        null = np.linalg.svd(stack)[2][-1]
        assert abs(b @ null) == pytest.approx(1)


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_dense_rows_of_one_sign_are_found(seed: int, noise: float) -> None:
    """FastICA's start mixes them, and the search from it ended at a correlation of 0.4."""
    space, C = dense(seed, 300, 10, noise)
    assert accuracy(space, joint_start(space, np.random.default_rng(0)), C) < 0.95
    found = search_columns(space, 10)
    assert found.by_zeros
    assert found.exact
    assert accuracy(space, found.columns, C) > 0.97
    assert found.certified.any()


def test_a_fit_says_that_it_took_long() -> None:
    """The second start costs several times what FastICA does: the user is told why."""
    rng = np.random.default_rng(0)
    C = rng.uniform(0.5, 1.5, (5, 200)) * (rng.random((5, 200)) < 0.5)
    X = rng.standard_normal((100, 5)) @ C + 0.1 * rng.standard_normal((100, 200))
    assert "took longer: few directions searched from zeros" in RCweb(5).fit(X).reason_
    C = np.where(rng.random((5, 200)) < 0.1, rng.standard_normal((5, 200)), 0)
    X = rng.standard_normal((100, 5)) @ C + 0.1 * rng.standard_normal((100, 200))
    assert "took longer" not in RCweb(5).fit(X).reason_


def test_sparse_rows_need_no_second_start() -> None:
    """All are sparser than chance after the first one."""
    space = planted(0, noise=0.1).space
    assert can_be_drawn(space)
    assert not search_columns(space, space.K).by_zeros


def test_the_start_leaves_other_random_numbers_alone() -> None:
    """What a table without it drew is drawn with it."""
    space = random_space(0, N=60, K=4)
    start = joint_start(space, np.random.default_rng(0))
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    likelier = likelier_start(space, start, rng)
    assert likelier.objective >= start.objective
    assert rng.random() == other.random()


@pytest.mark.parametrize("K", [3, 6, 10])
def test_its_null_is_about_what_it_reaches_by_chance(K: int) -> None:
    """`zero_chance` of some spaces is exceeded by a clear margin in few others."""
    rng = np.random.default_rng(0)
    spaces = [random_space(seed, N=150, K=K) for seed in range(8)]
    reached = [zero_start(space, rng).score.max() for space in spaces]
    level = np.median([zero_chance(space, rng) for space in spaces])
    assert np.mean(np.array(reached) > 1.3 * level + 4 / 150) <= 1 / 8


def test_few_directions_can_be_drawn() -> None:
    """Of a row half of which are zeros one in 2^(K - 1) draws has zeros alone."""
    able = [can_be_drawn(random_space(0, N=60, K=K)) for K in range(1, 16)]
    assert able == [False] + 12 * [True] + 2 * [False]
