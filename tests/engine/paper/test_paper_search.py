"""The compiled search against its slow twin, and the certificates of what it returns."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from rcweb.engine.basis import Basis, truncated_svd
from rcweb.engine.paper import kernels
from rcweb.engine.paper.column import (
    Problem,
    SwitchBack,
    continue_column,
    start_column,
)
from rcweb.engine.paper.columns import find_columns, is_repeat
from rcweb.engine.paper.solve import network_of
from rcweb.engine.paper.workspace import DEPTH
from rcweb.lab.simulate import simulate

STEPS = SwitchBack()


def find_column(problem: Problem, found: np.ndarray, A: np.ndarray, switch: SwitchBack) -> tuple:
    """One column from the beginning."""
    return continue_column(problem, found, switch, start_column(problem, A))


def planted(seed: int, P: int, *, N: int = 60, noise: float, network: str = "poisson") -> Basis:
    sim = simulate(50, N, P, network=network, density=0.2, noise=noise, random_state=seed)
    return truncated_svd(sim.data, P)


def search_all(basis: Basis, degree: int | None, k: int) -> list:
    """As the twin's `find_columns`: every column kept, repeats or not."""
    problem = Problem(basis.V, basis.s, basis.noise, degree)
    P = len(basis.s)
    A, found, results = np.eye(P), np.empty((P, 0)), []
    for _ in range(P):
        b, trace = find_column(problem, found, A, SwitchBack(k=k))
        results.append((b, trace))
        A = A + np.outer(b, b)
        found = np.column_stack([found, b])
    return results


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("degree", [None, 15])
@pytest.mark.parametrize("P", [1, 2, 5, 12])
def test_same_rows_in_the_same_order_as_the_twin(noise: float, degree: int | None, P: int) -> None:
    """Downdates, iterated eigenvectors and pruned arg-max change nothing of the published list."""
    for seed in range(5):
        basis = planted(seed, P, noise=noise)
        level = basis.noise if noise else 0.0
        basis = Basis(basis.U, basis.s, basis.V, level)
        slow = reference.find_columns(basis.V, 7, degree, basis.s, level)
        for column, (b, trace) in zip(slow, search_all(basis, degree, 7), strict=True):
            assert column.removed == list(trace.omega_minus)
            assert abs(column.b @ b) == pytest.approx(1, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 8), st.sampled_from(["poisson", "powerlaw", "hubs"]))
def test_twin_on_random_problems(seed: int, P: int, network: str) -> None:
    """The same on problems that nobody picked, the first two columns with the degree given."""
    basis = planted(seed, P, N=40, noise=0.2, network=network)
    slow = reference.find_columns(basis.V, 5, 10, count=2)
    for column, (b, trace) in zip(slow, search_all(basis, 10, 5)):
        assert column.removed == list(trace.omega_minus)
        assert abs(column.b @ b) == pytest.approx(1, abs=1e-8)


def test_lambda_is_the_squared_inverse_of_the_smallest_singular_value() -> None:
    """The trace is that of V_omega0 itself, not of an approximation that has drifted away."""
    basis = planted(0, 6, noise=0.3)
    _, trace = find_column(Problem(basis.V, basis.s, 0.0, 30), np.empty((6, 0)), np.eye(6), STEPS)
    for n in (1, 10, 20, 30):
        rest = np.delete(basis.V, trace.omega_minus[:n], axis=0)
        expected = np.linalg.svd(rest, compute_uv=False)[-1] ** -2
        assert trace.lam[n - 1] == pytest.approx(expected, rel=1e-6)


def test_spoiled_inverse_is_noticed_and_refreshed() -> None:
    """The guard measures a residual against K; an inverse that drifted away must not be used."""
    basis = planted(1, 6, noise=0.3)
    problem = Problem(basis.V, basis.s, 0.0, 30)
    work = start_column(problem, np.eye(6)).work
    before = work.refreshes[0]
    rng = np.random.default_rng(0)
    spoil = rng.standard_normal((6, 6))
    work.K_inv[...] += 0.05 * (spoil + spoil.T)
    kernels.advance(basis.V, np.eye(6), False, work, 2, 1 / basis.s, 0.0, False)
    assert work.refreshes[0] == before + 1
    np.testing.assert_allclose(work.K_inv @ work.K, np.eye(6), atol=1e-10)
    clean = find_column(Problem(basis.V, basis.s, 0.0, 2), np.empty((6, 0)), np.eye(6), STEPS)[1]
    assert list(work.omega_minus[:2]) == list(clean.omega_minus)


def iterate(K_inv: np.ndarray, v: np.ndarray, below: float, tolerance: float) -> tuple:
    P = len(v)
    y = np.empty(P)
    scratch = np.empty((DEPTH + 1, P)), np.empty((4, DEPTH))
    lam, angle = kernels.top_eigenvector(K_inv, v, below, tolerance, *scratch, y)
    return lam, angle, y


@pytest.mark.parametrize("tolerance", [kernels.ANGLE, kernels.LOOSE])
def test_eigenvector_is_certified_or_refused(tolerance: float) -> None:
    """Against a full decomposition; with a false bound on the second eigenvalue it says no."""
    rng = np.random.default_rng(0)
    for gap in (1.0, 0.1, 0.01):
        Q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
        values = np.concatenate([np.linspace(1, 3, 19), [3 * (1 + gap)]])
        K_inv = (Q * values) @ Q.T
        v = Q[:, -2] + 1e-3 * rng.standard_normal(20)
        v /= np.linalg.norm(v)
        lam, angle, y = iterate(K_inv, v, 3.0, tolerance)
        assert lam == pytest.approx(values[-1], rel=max(1e-12, tolerance**2))
        assert np.linalg.norm(v - Q[:, -1] * (v @ Q[:, -1])) <= angle + 1e-12 <= tolerance + 1e-12
        np.testing.assert_allclose(y, K_inv @ v, atol=1e-12)
    v = Q[:, -2].copy()
    assert iterate(K_inv, v, 3.0 * (1 + gap) + 1, tolerance)[0] == -1.0


def test_largest_row_is_that_of_the_full_product() -> None:
    """The candidates hold the largest row as long as they are used, and the lead is no promise
    too much, while w wanders at different speeds; N is well above the number of candidates."""
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((1000, 5)))[0]
    problem = Problem(V, np.ones(5), 0.0, 500)
    work = start_column(problem, np.eye(5)).work
    rebuilt = 0
    for step in np.repeat([0.3, 0.02, 0.001, 0.02], 50):
        work.v[:] += step * rng.standard_normal(5) / np.sqrt(5)
        work.v[:] /= np.linalg.norm(work.v)
        centre = work.centre.copy()
        kernels._move(work, np.eye(5), False)
        i, lead = kernels.largest_row(V, work)
        rebuilt += not np.array_equal(centre, work.centre)
        u = np.where(work.omega0, np.abs(V @ work.v), -1.0)
        assert i == np.argmax(u)
        assert lead <= u[i] - np.sort(u)[-2] + 1e-15
        work.omega0[i] = False
    assert 10 < rebuilt < 150


@pytest.mark.parametrize("rule", ["steps", "correlation"])
def test_a_search_that_goes_on_is_a_search_from_the_beginning(rule: str) -> None:
    """A repeat is searched again from where inflation ended, not anew: the rows are the same."""
    basis = planted(2, 6, noise=0.2)
    problem = Problem(basis.V, basis.s, basis.noise, 20)
    b, _ = find_column(problem, np.empty((6, 0)), np.eye(6), STEPS)
    found, A = b[:, None], np.eye(6) + np.outer(b, b)
    start = start_column(problem, A)
    for k in (2, 4, 8, 16):
        switch = SwitchBack(rule=rule, k=k)
        resumed_b, resumed = continue_column(problem, found, switch, start)
        fresh_b, fresh = find_column(problem, found, A, switch)
        assert list(resumed.omega_minus) == list(fresh.omega_minus)
        assert resumed.inflated_steps == fresh.inflated_steps
        np.testing.assert_array_equal(resumed_b, fresh_b)


@pytest.mark.parametrize("rule", ["steps", "correlation"])
def test_all_columns_independent(rule: str) -> None:
    """A fixed k repeats columns on power-law networks; the search must end with P of them."""
    for seed in range(5):
        basis = planted(seed, 8, N=80, noise=0.0, network="powerlaw")
        problem = Problem(basis.V, basis.s, basis.noise, None)
        columns = find_columns(problem, SwitchBack(rule=rule))
        assert columns.B.shape[1] + len(columns.missing) == 8
        assert not columns.missing
        cosines = np.abs(columns.B.T @ columns.B) - np.eye(8)
        assert cosines.max() <= 0.95
        assert np.linalg.matrix_rank(columns.B) == 8


def test_correlation_rule_leaves_inflation_when_the_cosine_falls() -> None:
    """Definition of the rule: below 1 - epsilon and fallen twice in a row at the switch."""
    basis = planted(3, 8, noise=0.1)
    problem = Problem(basis.V, basis.s, basis.noise, 20)
    b, _ = find_column(problem, np.empty((8, 0)), np.eye(8), STEPS)
    A = np.eye(8) + np.outer(b, b)
    _, trace = find_column(problem, b[:, None], A, SwitchBack("correlation", k=1, epsilon=0.05))
    inflated = basis.V @ A
    cosines = []
    for n in range(1, trace.inflated_steps + 1):
        rest = np.delete(inflated, trace.omega_minus[:n], axis=0)
        cosines.append(abs(np.linalg.svd(rest)[2][-1] @ b))
    ok = [
        j >= 2 and c < 0.95 and c < cosines[j - 1] < cosines[j - 2] for j, c in enumerate(cosines)
    ]
    assert ok[-1]
    assert not any(ok[:-1])


def test_missing_columns_are_named() -> None:
    """Two regulators with the same targets in the same proportions are one: say what is missing."""
    basis = planted(0, 4, noise=0.1)
    problem = Problem(basis.V, basis.s, basis.noise, 10)
    # With epsilon this large every second column counts as a repeat.
    columns = find_columns(problem, SwitchBack(epsilon=1 - 1e-9), max_inflations=1)
    assert columns.B.shape[1] == 1
    assert len(columns.missing) == 3
    assert columns.missing[0].startswith("column 2")


def test_repeat_is_a_small_angle_or_a_vector_in_the_span() -> None:
    B = np.eye(3)[:, :2]
    assert is_repeat(np.array([1.0, 0.0, 0.0]), B, 0.05)
    assert is_repeat(np.array([1.0, 1.0, 0.0]) / np.sqrt(2), B, 0.05)
    assert not is_repeat(np.array([0.6, 0.0, 0.8]), B, 0.05)
    assert not is_repeat(np.array([1.0, 0.0, 0.0]), np.empty((3, 0)), 0.05)


def test_parallel_rows_do_not_stop_the_search() -> None:
    """Variables with the same single regulator have parallel rows: v stands still too early.

    With every variable under a single regulator all rows are parallel to one of P directions.
    """
    C = np.zeros((3, 30))
    for p in range(3):
        C[p, 10 * p : 10 * p + 10] = np.arange(1, 11)
    R = np.random.default_rng(0).random((20, 3))
    basis = truncated_svd(R @ C, 3)
    columns = find_columns(Problem(basis.V, basis.s, basis.noise, None), STEPS)
    found = network_of(basis.V, columns)
    assert sorted(map(tuple, found != 0)) == sorted(map(tuple, C != 0))


@pytest.mark.slow
@pytest.mark.parametrize("P", [30, 60])
def test_fifty_times_faster_than_the_twin(P: int) -> None:
    """Cost per removal is O(P^2) and a few rows, not a decomposition of V_omega0."""
    sim = simulate(300, 1000, P, density=0.25, noise=0.2, random_state=0)
    basis = truncated_svd(sim.data, P)
    problem = Problem(basis.V, basis.s, basis.noise, 250)
    find_column(problem, np.empty((P, 0)), np.eye(P), STEPS)  # compile outside the clock
    start = time.thread_time()
    for _ in range(10):
        find_column(problem, np.empty((P, 0)), np.eye(P), STEPS)
    fast = (time.thread_time() - start) / 10
    start = time.thread_time()
    reference.find_columns(basis.V, 10, 250, count=1)
    slow = time.thread_time() - start
    assert slow / fast >= 50
