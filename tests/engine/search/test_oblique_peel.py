"""Columns one after the other: planted ones are found, chance ones are not certified."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from oblique_problems import planted, random_columns, random_space

from rcweb.engine.search.deflate import deflate
from rcweb.engine.search.joint import complement
from rcweb.engine.search.peel import (
    MARGIN,
    NEW_SHARE,
    chance_level,
    draw_starts,
    independent,
    one_unit,
    peel,
    pick_independent,
    propose,
)


@pytest.mark.parametrize("seed", range(4))
def test_best_one_unit_search_is_a_planted_row(seed: int) -> None:
    """The sparsest row found is one of the truth, far above chance."""
    problem = planted(seed)
    space, K, rng = problem.space, problem.space.K, np.random.default_rng(seed)
    columns, score = one_unit(space, draw_starts(space, 96, rng))
    np.testing.assert_allclose(np.linalg.norm(columns, axis=1), 1, atol=1e-5)
    best = columns[np.argmax(score)]
    assert problem.accuracy(best[None]).max() > 0.99
    assert score.max() > 3 * MARGIN * chance_level(space, K, rng)


def test_found_columns_are_not_found_again() -> None:
    """With a column taken, its row scores nothing: the search ends at others."""
    problem = planted(0)
    space, rng = problem.space, np.random.default_rng(0)
    first = peel(space, np.zeros((0, 6)), rng, n_starts=96, most_starts=96)[0][:1]
    columns, score = propose(space, first, 96, rng)
    best = columns[np.argsort(-score)[:10]]
    assert np.abs(best @ first[0]).max() < 0.9
    assert np.median(problem.accuracy(best[:1])) > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_peeling_finds_every_planted_row(seed: int) -> None:
    """From nothing, all six rows, none twice."""
    problem = planted(seed)
    rng = np.random.default_rng(seed)
    B, certified = peel(problem.space, np.zeros((0, 6)), rng, n_starts=96, most_starts=384)
    assert len(B) == 6
    assert certified.all()
    assert problem.accuracy(B).min() > 0.99
    assert np.linalg.svd(B, compute_uv=False)[-1] > 0.1


def test_dense_rows_are_found_beside_those_taken() -> None:
    """Rows with half of the entries, 16 of 24 taken: found among the directions that are left, and
    released they are exact, although what is left of them alone is blurred."""
    problem = planted(0, M=300, N=400, P=24, noise=0.05, density=0.5)
    space, rng = problem.space, np.random.default_rng(0)
    true, certified = peel(space, np.zeros((0, 24)), rng, n_starts=96, most_starts=1536)
    assert certified.all()
    inner = space.within(complement(true[:16], 24))
    assert inner.K == 8
    assert inner.level == pytest.approx(np.sqrt(space.level**2 + 16 / 400), rel=0.1)
    columns, score = propose(space, true[:16], 96, rng)
    best = columns[np.argmax(score)]
    assert problem.accuracy(best[None]).max() > 0.98
    assert np.abs(true[:16] @ best).max() < 0.5


@pytest.mark.parametrize("seed", range(6))
def test_next_to_nothing_is_certified_in_a_random_subspace(seed: int) -> None:
    """In pure noise at most one column of ten passes (measured: one in 12 subspaces of this size).

    The threshold is MARGIN times the best of one more random subspace, so that a single column can
    be lucky; in a planted subspace all pass.
    """
    space = random_space(seed, N=300, K=10)
    rng = np.random.default_rng(seed)
    _, certified = peel(space, np.zeros((0, 10)), rng, n_starts=96, most_starts=96)
    assert certified.sum() <= 1


def test_columns_given_are_kept_and_the_rest_is_filled_in() -> None:
    """Three true columns handed in come first, hardly moved; the other three are found."""
    problem = planted(0)
    rng = np.random.default_rng(0)
    true, _ = peel(problem.space, np.zeros((0, 6)), rng, n_starts=96, most_starts=96)
    B, certified = peel(problem.space, true[3:], rng, n_starts=96, most_starts=96)
    assert np.abs((B[:3] * true[3:]).sum(axis=1)).min() > 0.99
    assert problem.accuracy(B).min() > 0.99
    assert certified.all()


def test_chance_level_is_positive_repeatable_and_falls_with_the_table() -> None:
    """Same seed, same number; more variables leave less to chance, more directions leave more."""
    small, large = random_space(0, 80, 6), random_space(0, 400, 6)
    first = chance_level(small, 6, np.random.default_rng(3))
    assert first == chance_level(small, 6, np.random.default_rng(3))
    assert 0 < chance_level(large, 6, np.random.default_rng(3)) < first
    wide = random_space(0, 80, 15)
    assert chance_level(wide, 15, np.random.default_rng(3)) > first


def test_greedy_choice_is_independent_best_first_and_above_the_threshold() -> None:
    """The matroid greedy: repeats and dependent candidates are passed over, however good."""
    e = np.eye(4)
    almost = (e[0] + 0.1 * e[1]) / np.linalg.norm(e[0] + 0.1 * e[1])
    candidates = np.array([e[1], almost, e[0], e[2], e[3]])
    score = np.array([2.0, 3.9, 4.0, 1.0, 0.1])
    pick = partial(pick_independent, share=NEW_SHARE)
    chosen = pick(candidates, score, 0.5, np.zeros((0, 4)), 4)
    np.testing.assert_array_equal(chosen, [e[0], e[1], e[2]])
    np.testing.assert_array_equal(pick(candidates, score, 0.5, e[:1], 1), [e[1]])
    assert pick(candidates, score, 9.0, e[:1], 4).shape == (0, 4)
    turned = np.array([[np.sqrt(1 - NEW_SHARE**2), NEW_SHARE - 0.01, 0, 0]])
    assert len(pick(turned, np.ones(1), 0.0, e[:1], 1)) == 0


@pytest.mark.parametrize("seed", range(30))
def test_greedy_choice_is_that_of_one_candidate_after_the_other(seed: int) -> None:
    """All lengths at once, beside a slow twin that measures each candidate when its turn comes."""
    rng = np.random.default_rng(seed)
    K, n = int(rng.integers(1, 12)), int(rng.integers(0, 80))
    candidates = rng.standard_normal((n, K))
    candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    taken, order = candidates[: int(rng.integers(0, K))], rng.permutation(n)
    most, share = int(rng.integers(0, K + 2)), float(rng.choice([0.1, NEW_SHARE**2, NEW_SHARE]))
    kept, chosen = list(taken), []
    for c in order:
        inside = np.linalg.qr(np.array(kept).T)[0] if kept else np.zeros((K, 0))
        b = candidates[c] - inside @ (inside.T @ candidates[c])
        if len(chosen) < most and np.linalg.norm(b) > share:
            kept.append(candidates[c])
            chosen.append(c)
    np.testing.assert_array_equal(independent(candidates, order, taken, most, share), chosen)


@pytest.mark.parametrize("n", [1, 40, 120, 200])
def test_starts_are_as_many_as_asked_and_span_the_complement(n: int) -> None:
    """More starts than variables are made of pairs of them."""
    space = planted(0).space.within(complement(random_columns(0, 6)[:2], 6))
    starts = draw_starts(space, n, np.random.default_rng(0))
    assert starts.shape == (n, 4)
    assert np.linalg.matrix_rank(starts) == min(n, 4)


def test_deflation_gives_orthonormal_columns_and_most_of_the_rows() -> None:
    """A complete orthogonal set; on an easy problem close to the truth already."""
    problem = planted(1)
    B = deflate(problem.space, np.random.default_rng(0))
    np.testing.assert_allclose(B @ B.T, np.eye(6), atol=1e-10)
    assert problem.accuracy(B).mean() > 0.95
    again = deflate(problem.space, np.random.default_rng(0))
    np.testing.assert_array_equal(B, again)
