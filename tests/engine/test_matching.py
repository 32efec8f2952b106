"""One-to-one matching: order, sign and scale are undone; the assignment is the best one."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcweb.engine.matching import match_rows, row_correlation


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_undoes_order_sign_and_scale(seed: int, P: int) -> None:
    rng = np.random.default_rng(seed)
    other = rng.standard_normal((P, 20))
    order = rng.permutation(P)
    factor = rng.choice([-1, 1], P) * rng.uniform(0.1, 10, P)
    found = other[order] * factor[:, None]
    match = match_rows(found, other)
    np.testing.assert_array_equal(match.other, order[match.found])
    np.testing.assert_allclose(np.abs(match.correlation), 1)
    np.testing.assert_allclose(match.scale[:, None] * found[match.found], other[match.other])


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_no_other_assignment_is_better(seed: int, n: int, m: int) -> None:
    """Against all assignments, one by one."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((n, 6)), rng.standard_normal((m, 6))
    rho = np.abs(row_correlation(A, B))
    if n > m:
        rho = rho.T
    best = max(
        sum(rho[i, j] for i, j in enumerate(columns))
        for columns in permutations(range(rho.shape[1]), rho.shape[0])
    )
    match = match_rows(A, B)
    assert len(match.found) == min(n, m)
    assert np.abs(match.correlation).sum() == pytest.approx(best)


def test_correlation_is_pearson() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((3, 10)), rng.standard_normal((2, 10))
    np.testing.assert_allclose(row_correlation(A, B), np.corrcoef(A, B)[:3, 3:])


def test_constant_and_extreme_rows() -> None:
    """A constant row correlates with nothing; huge and tiny numbers neither overflow nor vanish."""
    A = np.array([[1.0, 1.0, 1.0], [1e200, 0.0, -1e200], [1e-200, 0.0, -1e-200]])
    rho = row_correlation(A, np.array([[1.0, 0.0, -1.0]]))
    np.testing.assert_allclose(rho[:, 0], [0, 1, 1])


def test_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 4 variables"):
        match_rows(np.ones((1, 3)), np.ones((1, 4)))
