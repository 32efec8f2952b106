"""optICA: its cut-off against scipy, its choice of dimension, its consensus on planted tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import normaltest

from rcweb.lab.baselines import optica
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate


def test_running_omnibus_is_scipys() -> None:
    """K^2 of every prefix from running sums equals scipy's of the prefix."""
    x = np.random.default_rng(0).standard_t(4, size=120)
    ours = optica.omnibus_of_prefixes(x)
    theirs = [normaltest(x[:n]).statistic for n in range(optica.FEWEST_VARIABLES, len(x) + 1)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_cut_is_that_of_the_published_loop() -> None:
    """Taking off the largest weight until K^2 <= cut-off, one at a time, gives the same targets."""
    rng = np.random.default_rng(1)
    C = rng.standard_normal((3, 400))
    C[0, :25] += 8 * rng.choice([-1, 1], 25)
    C[1, 7] = 30.0
    cut_off = 50.0
    found = optica.normal_cut(C, cut_off)
    for row, kept in zip(C, found):
        order = list(np.argsort(np.abs(row)))
        while normaltest(row[order]).statistic > cut_off:
            order.pop()
        expected = np.setdiff1d(np.arange(400), order)
        np.testing.assert_array_equal(np.flatnonzero(kept), expected)
        np.testing.assert_array_equal(kept[expected], row[expected])
    assert np.count_nonzero(found[1]) == 1
    assert not found[2].any()


def test_dimension_rule() -> None:
    """The first dimension at which matches with the largest reach the multi-variable components."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal((5, 200))
    single = np.zeros((1, 200))
    single[0, 3] = 1.0
    few = np.vstack([base[:1] + base[1:2] + base[2:3] + base[3:4], base[4:]])
    enough = np.vstack([base[:4], single])
    largest = np.vstack([base, single])
    assert optica.best_dimension([few, enough, largest]) == 1
    assert optica.best_dimension([few, largest]) == 1


def test_only_components_that_recur_are_kept() -> None:
    """Three directions met in every run, with any sign, among directions met once each."""
    rng = np.random.default_rng(3)
    true = np.linalg.qr(rng.standard_normal((30, 3)))[0].T
    runs = []
    for _ in range(10):
        again = true * rng.choice([-1, 1], (3, 1)) + 0.02 * rng.standard_normal((3, 30))
        runs += [again, rng.standard_normal((5, 30))]
    W = np.vstack(runs)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    labels = optica._cluster(W, 10)
    assert set(labels) == {-1, 0, 1, 2}
    np.testing.assert_array_equal(np.bincount(labels + 1), [50, 10, 10, 10])
    means = np.stack([optica._mean_of(W[labels == k]) for k in range(3)])
    np.testing.assert_allclose(np.abs(means @ true.T), np.eye(3), atol=0.05)


def test_runs_that_break_down_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """FastICA may fail close to the rank of a table (yeast, 240 of 247 dimensions); the components
    of the other runs are found all the same."""
    data = simulate(60, 200, 4, noise=0.1, density=0.1, random_state=0).data
    whole, calls = optica.fit(data, 4, n_runs=6, density=0.1), []
    sound = optica.fastica

    def brittle(*args: object, **kwargs: object) -> object:
        calls.append(1)
        if len(calls) in broken:
            raise np.linalg.LinAlgError("SVD did not converge")
        return sound(*args, **kwargs)

    monkeypatch.setattr(optica, "fastica", brittle)
    broken = {2}
    some = optica.fit(data, 4, n_runs=6, density=0.1)
    assert abs(score_network(some.network, whole.network).rho) > 0.99
    broken = set(range(100))
    assert len(optica.fit(data, 4, n_runs=6, density=0.1).network) == 0


def test_auto_chooses_a_dimension() -> None:
    """Six planted regulators: larger dimensions add nothing that recurs."""
    sim = simulate(60, 400, 6, density=0.08, noise=0.2, random_state=4)
    found = optica.fit(
        sim.data, "auto", density=float(sim.edges.mean()), n_runs=10, dimensions=(12, 6, 9)
    )
    assert len(found.components) == 6
    assert found.activities.shape == (60, 6)
    assert score_network(found.components, sim.network).rho > 0.95


def test_bad_numbers_are_named() -> None:
    """One run cannot show what recurs; a dimension must fit the table."""
    data = np.random.default_rng(0).random((20, 30))
    with pytest.raises(ValueError, match="n_runs"):
        optica.fit(data, 3, n_runs=1)
    with pytest.raises(ValueError, match="25"):
        optica.fit(data, "auto", dimensions=(5, 25))
