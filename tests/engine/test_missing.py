"""Tables with holes: what is refused, how holes are filled, activities of samples with holes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rcweb import RCweb
from rcweb.engine.missing import check_missing, fill, project_missing
from rcweb.engine.missing.correct import effective_power, observed_median
from rcweb.engine.missing.filling import WITHOUT_EDGE, without_noise
from rcweb.engine.missing.lowrank import (
    LEAST_NOISE,
    Beyond,
    LowRank,
    fit_low_rank,
    step,
)
from rcweb.engine.posterior.slab import NOISE_COUNT
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import Simulation, simulate


def planted(seed: int = 0, P: int = 10, share: float = 0.1) -> tuple[Simulation, np.ndarray]:
    """Figure 1's setting, and its table with a share of the entries missing at random."""
    sim = simulate(280, 500, P, network="author_poisson", noise=0.1, random_state=seed)
    return sim, at_random(sim.data, share, seed)


def at_random(X: np.ndarray, share: float, seed: int) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def small_missing(X: np.ndarray, share: float, seed: int) -> np.ndarray:
    """As in proteomics: the smaller a value for its variable, the likelier it is missing."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    chance = 1 / (1 + np.exp(3 * (Z - np.quantile(Z, share))))
    drawn = np.random.default_rng(seed).random(X.shape)
    return np.where(drawn < chance * share / chance.mean(), np.nan, X)


def tiny(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """9 x 6 of rank 2 with noise, standardised roughly, a quarter missing; zeros in holes."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 6)) / 1.4
    Y += 0.3 * rng.standard_normal((9, 6))
    seen = rng.random(Y.shape) > 0.25
    seen[:3] = True
    return np.where(seen, Y, 0.0), seen


# --- what cannot be filled ---


def test_empty_rows_and_columns_are_named() -> None:
    """By name where there are names, else by number; at most ten."""
    X = np.random.default_rng(0).random((6, 15))
    X[[1, 4]] = np.nan
    with pytest.raises(ValueError, match=r"2 samples without any value: 1, 4; leave them out"):
        check_missing(X)
    X = np.random.default_rng(0).random((6, 15))
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match=r"1 variable without any value: 'g3'; leave"):
        check_missing(X, [f"g{i}" for i in range(15)])
    X[:, 3:] = np.nan
    with pytest.raises(ValueError, match=r"12 variables .*: 3, 4, .*, 12 and 2 more; leave"):
        check_missing(X)


def test_variables_with_too_few_values_are_named() -> None:
    """Two of six values are too few, three will do; a complete table may have two samples."""
    X = np.random.default_rng(0).random((6, 4))
    X[:4, 2] = np.nan
    with pytest.raises(ValueError, match="1 variable measured in fewer than 3 samples: 2;"):
        check_missing(X)
    X[0, 2] = 1.0
    check_missing(X)
    check_missing(X[:2, :2])


def test_infinity_is_not_missing() -> None:
    """Also in a chunked table that is taken whole, which scikit-learn has not checked."""
    X = np.random.default_rng(0).random((8, 26))
    X[3, 1] = -np.inf
    with pytest.raises(ValueError, match="1 variable with infinite values: 'b'; NaN means"):
        check_missing(X, "abcdefghijklmnopqrstuvwxyz")
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="1 variable with infinite values: 1"):
        RCweb(2).fit(dask.from_array(X, chunks=(4, 26)))


def test_the_estimator_refuses_the_same() -> None:
    """At fit with the names of the frame; at transform rows alone; infinity everywhere."""
    X = pd.DataFrame(np.random.default_rng(0).random((8, 5)), columns=list("abcde"))
    model = RCweb(2, random_state=0).fit(X)
    holes = X.copy()
    holes["c"] = np.nan
    with pytest.raises(ValueError, match="without any value: 'c'"):
        RCweb(2).fit(holes)
    assert np.isfinite(model.transform(holes)).all()
    holes.iloc[5] = np.nan
    with pytest.raises(ValueError, match="1 sample without any value: 5"):
        model.transform(holes)
    X.iloc[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        RCweb(2).fit(X)


# --- the model ---


def slow_step(Y: np.ndarray, seen: np.ndarray, model: LowRank) -> LowRank:
    """The textbook, sample by sample and variable by variable, with explicit sums."""
    (M, N), K = Y.shape, model.W.shape[1]
    first, second = [], []
    for m in range(M):
        A, b = np.eye(K), np.zeros(K)
        for i in range(N):
            if seen[m, i]:
                A += np.outer(model.W[i], model.W[i]) / model.psi[i]
                b += model.W[i] * (Y[m, i] - model.mu[i]) / model.psi[i]
        z = np.linalg.solve(A, b)
        first.append(np.append(z, 1.0))
        second.append(np.outer(first[-1], first[-1]))
        second[-1][:K, :K] += np.linalg.inv(A)
    W, mu, rest, count = np.zeros((N, K)), np.zeros(N), np.zeros(N), seen.sum(axis=0)
    for i in range(N):
        rows = np.flatnonzero(seen[:, i])
        S = sum(second[m] for m in rows)
        b = sum(first[m] * Y[m, i] for m in rows)
        w = np.linalg.solve(S + np.diag([K * model.psi[i]] * K + [0.0]), b)
        W[i], mu[i] = w[:K], w[K]
        rest[i] = sum(Y[m, i] ** 2 - 2 * w @ first[m] * Y[m, i] + w @ second[m] @ w for m in rows)
    rest = np.maximum(rest, LEAST_NOISE * count)
    typical = np.prod(rest / count) ** (1 / N)
    psi = (rest + NOISE_COUNT * typical) / (count + NOISE_COUNT)
    total = sum(second) / M
    centre = total[:K, K]
    root = np.linalg.cholesky(total[:K, :K] - np.outer(centre, centre))
    return LowRank(mu + W @ centre, W @ root, psi)


@pytest.mark.parametrize("K", [0, 1, 3])
def test_a_step_is_the_textbook(K: int) -> None:
    """Three steps of the vectorised model against sums written out."""
    Y, seen = tiny()
    rng = np.random.default_rng(1)
    fast = slow = LowRank(0.1 * rng.standard_normal(6), rng.standard_normal((6, K)), rng.random(6))
    for _ in range(3):
        fast, slow = step(Y, seen, fast).better, slow_step(Y, seen, slow)
    for name in ("mu", "W", "psi"):
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), atol=1e-10)


@pytest.mark.parametrize("K", [0, 1, 3])
def test_a_step_of_a_complete_table_is_the_textbook(K: int) -> None:
    """All samples share one covariance, and all variables one decomposition."""
    Y = np.random.default_rng(2).standard_normal((9, 6))
    everything = np.ones_like(Y, bool)
    rng = np.random.default_rng(1)
    model = LowRank(0.1 * rng.standard_normal(6), rng.standard_normal((6, K)), rng.random(6))
    fast, slow = step(Y, everything, model).better, slow_step(Y, everything, model)
    for name in ("mu", "W", "psi"):
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), atol=1e-10)


def test_beyond_a_limit_is_a_truncated_normal() -> None:
    """Means and variances against scipy's, also far beyond the limit, where densities vanish."""
    around, psi = np.array([[0.3, -1.0, 25.0], [2.0, 0.5, -25.0]]), np.array([0.5, 2.0, 1.0])
    lower, upper = np.array([-0.2, -np.inf, 0.0]), np.array([np.inf, 0.7, np.inf])
    below = np.array([[True, False, True], [False, False, True]])
    above = np.array([[False, True, False], [False, True, False]])
    mean, variance = Beyond(lower, upper, below, above).expect(slice(0, 2), around, psi)
    for m, i in np.ndindex(around.shape):
        if not (below[m, i] or above[m, i]):
            assert mean[m, i] == variance[m, i] == 0
            continue
        sd = np.sqrt(psi[i])
        ends = (-np.inf, lower[i]) if below[m, i] else (upper[i], np.inf)
        cut = stats.truncnorm(*((np.array(ends) - around[m, i]) / sd), around[m, i], sd)
        assert mean[m, i] == pytest.approx(cut.mean(), rel=1e-6)
        assert variance[m, i] == pytest.approx(cut.var(), rel=1e-4, abs=1e-9)


def test_values_at_a_limit_are_filled_beyond_it() -> None:
    """A third of the values at a limit: filled they are closer to the truth than left or taken as
    missing, never above the limit, and the means are those without it."""
    rng = np.random.default_rng(0)
    whole = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 60))
    whole += 0.5 * rng.standard_normal(whole.shape) + rng.standard_normal(60)
    limit = np.quantile(whole, 0.33)
    X, cut = np.maximum(whole, limit), whole <= limit
    limits = np.full(60, limit), np.full(60, np.inf)
    filled = fill(X, limits=limits)
    assert (filled.data[cut] <= limit).all()
    np.testing.assert_array_equal(filled.data[~cut], X[~cut])
    often = cut.mean(axis=0) < 0.8
    error = np.abs(filled.mean - whole.mean(axis=0))[often]
    assert error.mean() < 0.2 * np.abs(X.mean(axis=0) - whole.mean(axis=0))[often].mean()

    def miss(data: np.ndarray) -> float:
        return float(np.sqrt(((data - whole)[:, often][cut[:, often]] ** 2).mean()))

    holes = fill(np.where(cut & often, np.nan, X))
    assert miss(filled.data) < 0.7 * miss(holes.data)
    assert miss(filled.data) < 0.6 * miss(X)
    # An entry beyond the limit tells something, but not all.
    measured = 1 - cut.mean(axis=0)
    some = (measured < 0.95) & (measured > 0.05)
    assert (filled.observed[some] > measured[some]).all()
    assert (filled.observed <= 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_limit_filled_in_at_random_is_no_limit(seed: int) -> None:
    """Values not measured, whatever they were, and set to the smallest one: taken as below it, they
    would drown the table. What lies beyond a limit, the other variables tell."""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((100, 4)) @ rng.standard_normal((4, 80))
    whole += rng.standard_normal(whole.shape)
    gone = rng.random(whole.shape) < 0.3
    low = np.where(gone, np.inf, whole).min(axis=0)
    gone |= whole == low  # which looks the same
    limits = low, np.full(80, np.inf)
    filled = fill(np.where(gone, low, whole), limits=limits)
    np.testing.assert_array_equal(filled.data, fill(np.where(gone, np.nan, whole)).data)
    np.testing.assert_allclose(filled.observed, 1 - gone.mean(axis=0))
    below = np.quantile(whole, 0.3, axis=0)
    cut = fill(np.maximum(whole, below), limits=(below, np.full(80, np.inf)))
    assert (cut.data[whole < below] <= np.broadcast_to(below, whole.shape)[whole < below]).all()


def test_variables_of_one_value_each_are_filled_with_it() -> None:
    """Nothing varies, so there is nothing to model; the mean of no variables was a warning."""
    X = np.tile([1.0, 2.0, 5.0], (6, 1))
    holes = np.where(np.eye(6, 3) > 0, np.nan, X)
    filled = fill(holes)
    np.testing.assert_array_equal(filled.data, X)
    assert filled.n_components == 0


def test_limits_of_a_table_that_tells_nothing() -> None:
    """Of two kinds of samples one lies at the limit of every variable: no entry off the limits says
    where another is to be expected."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((2, 4)), [3, 2], axis=0)
    low = np.where(X[0] < X[-1], X[0], -np.inf)
    high = np.where(X[0] > X[-1], X[0], np.inf)
    assert np.isfinite(fill(X, limits=(low, high)).data).all()


def test_limits_and_holes_together() -> None:
    """A table may have both: holes get their expectation, which may lie on either side."""
    rng = np.random.default_rng(1)
    whole = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 40))
    whole += 0.2 * rng.standard_normal(whole.shape)
    limit = np.quantile(whole, 0.25, axis=0)
    hole = rng.random(whole.shape) < 0.1
    X = np.where(hole, np.nan, np.maximum(whole, limit))
    filled = fill(X, limits=(limit, np.full(40, np.inf)))
    assert np.corrcoef(filled.data[hole], whole[hole])[0, 1] > 0.9
    assert (filled.data[hole] < np.broadcast_to(limit, X.shape)[hole]).any()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products held a few samples at a time sum to the same."""
    Y, seen = tiny()
    model = LowRank(np.zeros(6), np.random.default_rng(1).standard_normal((6, 2)), np.ones(6))
    whole = step(Y, seen, model)
    monkeypatch.setattr("rcweb.engine.missing.lowrank.BLOCK_BYTES", 8 * 6 * 2)
    parts = step(Y, seen, model)
    np.testing.assert_allclose(parts.better.W, whole.better.W, atol=1e-12)
    np.testing.assert_allclose(parts.expected, whole.expected, atol=1e-12)


def test_holes_get_the_conditional_expectation() -> None:
    """Of the Gaussian with covariance W W^T + diag(psi), by its textbook formula."""
    Y, seen = tiny()
    fit = fit_low_rank(Y, seen, 2, tol=1e-6, max_iter=500)
    assert fit.converged
    model = fit.model
    S = model.W @ model.W.T + np.diag(model.psi)
    for m in range(len(Y)):
        o, h = seen[m], ~seen[m]
        expected = model.mu[h] + S[np.ix_(h, o)] @ np.linalg.solve(
            S[np.ix_(o, o)], (Y[m] - model.mu)[o]
        )
        np.testing.assert_allclose(fit.expected[m, h], expected, atol=1e-9)


def test_likelihood_climbs() -> None:
    """Of the measured entries, with everything else integrated out; ends above its start."""
    Y, seen = tiny(3)
    rng = np.random.default_rng(1)
    model = LowRank(np.zeros(6), 0.3 * rng.standard_normal((6, 2)), np.ones(6))
    found = [log_likelihood(Y, seen, model)]
    for _ in range(8):
        model = step(Y, seen, model).better
        found.append(log_likelihood(Y, seen, model))
    assert (np.diff(found[:4]) > 0).all()
    assert found[-1] > found[0] + 5


def log_likelihood(Y: np.ndarray, seen: np.ndarray, model: LowRank) -> float:
    S = model.W @ model.W.T + np.diag(model.psi)
    total = 0.0
    for y, o in zip(Y - model.mu, seen):
        total -= np.linalg.slogdet(S[np.ix_(o, o)])[1] + y[o] @ np.linalg.solve(
            S[np.ix_(o, o)], y[o]
        )
    return total / 2


# --- filling ---


@pytest.mark.parametrize("P", [10, 30])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_as_many_directions_as_planted(P: int, share: float) -> None:
    """Found without being told; holes closer to the truth than the noise, measured values kept."""
    sim, X = planted(P=P, share=share)
    filled = fill(X)
    assert (filled.n_components, filled.converged) == (P, True)
    hole = np.isnan(X)
    np.testing.assert_array_equal(filled.data[~hole], X[~hole])
    np.testing.assert_allclose(filled.observed, 1 - hole.mean(axis=0))
    error = (filled.data - sim.activities @ sim.network)[hole]
    assert np.sqrt((error**2).mean()) < 0.8 * sim.noise_sd.mean()
    assert np.median(filled.noise) == pytest.approx(sim.noise_sd.mean(), rel=0.15)


def test_noise_is_filled_with_means() -> None:
    """Where nothing predicts anything no direction is found."""
    X = at_random(5 + np.random.default_rng(0).standard_normal((100, 80)), 0.2, 1)
    filled = fill(X)
    assert filled.n_components == 0
    hole = np.isnan(X)
    np.testing.assert_allclose(
        filled.data[hole], np.broadcast_to(np.nanmean(X, axis=0), X.shape)[hole]
    )


def test_a_table_without_noise_is_completed_exactly() -> None:
    """Up to the least noise that the model knows, 1e-5 of a variable's spread."""
    sim = simulate(120, 90, 4, noise=0.0, density=0.3, random_state=0)
    filled = fill(at_random(sim.data, 0.1, 0))
    assert filled.n_components == 4
    assert np.abs(filled.data - sim.data).max() < 1e-3 * sim.data.std()


def test_means_of_values_missing_by_others() -> None:
    """Missing where another variable is large: the mean of what was measured is off, not ours."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((400, 1))
    X = z @ np.ones((1, 12)) + 0.2 * rng.standard_normal((400, 12))
    full = X[:, 0].copy()
    X[z[:, 0] > 0.3, 0] = np.nan
    filled = fill(X)
    assert abs(np.nanmean(X[:, 0]) - full.mean()) > 0.4
    assert abs(filled.mean[0] - full.mean()) < 0.03
    assert abs(filled.data[:, 0].mean() - full.mean()) < 0.03


def test_directions_of_noise_are_dropped() -> None:
    """A direction as strong as noise makes it goes, its power to the noise; a strong one stays."""
    rng = np.random.default_rng(0)
    W = np.linalg.qr(rng.standard_normal((300, 2)))[0] * np.array([10.0, 1.5])
    model = without_noise(LowRank(np.zeros(300), W, np.ones(300)), 200.0)
    assert model.W.shape == (300, 1)
    np.testing.assert_allclose(np.abs(model.W[:, 0]), np.abs(W[:, 0]), atol=1e-12)
    np.testing.assert_allclose(model.psi, 1 + W[:, 1] ** 2)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_order_and_units_are_immaterial(seed: int) -> None:
    """Permuted and rescaled per variable, shifted: the same holes permuted and rescaled."""
    rng = np.random.default_rng(seed)
    X = at_random(simulate(60, 40, 3, noise=0.2, random_state=seed).data, 0.15, seed)
    rows, columns = rng.permutation(60), rng.permutation(40)
    scale = 10.0 ** rng.uniform(-12, 12, 40) * rng.choice([-1, 1], 40)
    one = fill(X, 3)
    other = fill((X * scale + 3 * scale)[rows][:, columns], 3)
    back = np.empty_like(one.data)
    back[np.ix_(rows, columns)] = other.data
    np.testing.assert_allclose(back / scale - 3, one.data, atol=1e-3 * np.nanstd(X))
    np.testing.assert_array_equal(one.data, fill(X, 3).data)


def test_constant_and_complete_variables() -> None:
    """A constant one keeps its value; a complete table stays as it is."""
    X = at_random(simulate(60, 40, 3, random_state=0).data, 0.15, 0)
    X[:, 7] = np.where(np.isnan(X[:, 7]), np.nan, 4.2)
    filled = fill(X)
    assert (filled.data[:, 7] == 4.2).all()
    assert filled.noise[7] == 0
    complete = simulate(30, 20, 2, random_state=0).data
    np.testing.assert_array_equal(fill(complete).data, complete)
    assert (fill(complete).observed == 1).all()


# --- noise of filled tables ---


def test_residuals_of_filled_tables_are_corrected() -> None:
    """Effective power is that of M samples with noise sigma^2 / observed; medians skip holes."""
    rng = np.random.default_rng(0)
    M, observed = 4000, np.array([1.0, 0.7, 0.4])
    residual = 2.0 * rng.standard_normal((M, 3))
    for i, share in enumerate(observed):
        residual[: M - round(share * M), i] = 0.0
    rng.shuffle(residual)
    power = effective_power((residual**2).sum(axis=0), observed)
    np.testing.assert_allclose(power, M * 4 / observed, rtol=0.08)
    size = np.abs(residual)
    medians = [np.median(column[column > 0]) for column in size.T]
    np.testing.assert_allclose(observed_median(size, observed), medians)


# --- the estimator ---


@pytest.mark.parametrize("P", [10, 30])
def test_a_tenth_missing_costs_nothing(P: int) -> None:
    """Figure 1's setting: rho within 0.01 of the complete table's, edges and noise as good."""
    sim, X = planted(P=P)
    complete = RCweb(P, random_state=0).fit(sim.data)
    holes = RCweb(P, random_state=0).fit(X)
    best = score_network(complete.components_, sim.network)
    found = score_network(holes.components_, sim.network)
    assert abs(found.rho - best.rho) < 0.01
    assert abs(found.precision - best.precision) < 0.02
    assert abs(found.recall - best.recall) < 0.02
    np.testing.assert_allclose(np.median(holes.noise_ / sim.noise_sd), 1, atol=0.05)
    np.testing.assert_allclose(holes.observed_, 1 - np.isnan(X).mean(axis=0))
    assert (complete.observed_ == 1).all()


@pytest.mark.parametrize("holes", [at_random, small_missing])
def test_a_third_missing(holes: object) -> None:
    """30 %, at random and small values: rho above 0.99, precision within 0.03 of complete data."""
    sim = planted(P=10)[0]
    best = score_network(RCweb(10, random_state=0).fit(sim.data).components_, sim.network)
    X = holes(sim.data, 0.3, 0)  # type: ignore[operator]
    found = score_network(RCweb(10, random_state=0).fit(X).components_, sim.network)
    assert found.rho > 0.99
    assert found.precision > best.precision - 0.03


def test_less_measured_is_less_sure() -> None:
    """Half of the variables measured in a fifth of the samples: lower scores, no false edges."""
    sim = simulate(200, 100, 4, noise=0.3, density=0.3, random_state=0)
    X = sim.data.copy()
    rare = np.arange(100) < 50
    X[:, rare] = at_random(X[:, rare], 0.8, 0)
    one, other = (RCweb(4, random_state=0).fit(data) for data in (sim.data, X))
    size = [np.abs(model.edge_score_) for model in (one, other)]
    ratio = [score[:, rare].mean() / score.mean() for score in size]
    assert ratio[1] < 0.8 * ratio[0]
    precision = [score_network(model.components_, sim.network).precision for model in (one, other)]
    assert precision[1] > precision[0] - 0.03


def test_paper_method_takes_holes() -> None:
    """The published method on the filled table finds the planted network."""
    sim = simulate(150, 120, 5, noise=0.02, density=0.15, random_state=0)
    model = RCweb(5, method="paper").fit(at_random(sim.data, 0.1, 0))
    assert score_network(model.components_, sim.network).rho > 0.95


# --- new samples ---


def test_projection_is_the_posterior_given_what_was_measured() -> None:
    """Ridge and least-squares projections, against the formulas on the measured variables."""
    rng = np.random.default_rng(0)
    W, noise = rng.standard_normal((3, 12)), 0.5 + rng.random(12)
    X = at_random(rng.standard_normal((8, 12)), 0.3, 1)
    X[3] = X[2] = np.where(np.arange(12) < 9, rng.standard_normal(12), np.nan)
    ridge = np.linalg.solve((W / noise**2) @ W.T + np.eye(3), W / noise**2).T
    found = project_missing(X, ridge, W)
    least_squares = project_missing(X, np.linalg.pinv(W), W)
    for m, x in enumerate(X):
        o = ~np.isnan(x)
        V = W[:, o] / noise[o] ** 2
        np.testing.assert_allclose(found[m], np.linalg.solve(V @ W[:, o].T + np.eye(3), V @ x[o]))
        np.testing.assert_allclose(least_squares[m], np.linalg.lstsq(W[:, o].T, x[o])[0])
    complete = rng.standard_normal((4, 12))
    np.testing.assert_array_equal(project_missing(complete, ridge, W), complete @ ridge)


def test_undetermined_activities_stay_small() -> None:
    """One variable measured, three regulators, least squares: finite, and that variable is met."""
    W = np.random.default_rng(0).standard_normal((3, 12))
    X = np.full((1, 12), np.nan)
    X[0, 5] = 2.0
    R = project_missing(X, np.linalg.pinv(W), W)
    assert np.isfinite(R).all()
    assert np.abs(R).max() < 100
    assert (R @ W)[0, 5] == pytest.approx(2.0)


@pytest.mark.parametrize("method", ["refined", "paper"])
def test_new_samples_with_holes(method: str) -> None:
    """Activities nearly those of the complete samples; score over what was measured."""
    sim = simulate(150, 120, 5, noise=0.05, density=0.2, random_state=0)
    model = RCweb(5, method=method, random_state=0).fit(sim.data)
    X = at_random(sim.data, 0.2, 1)
    full, holes = model.transform(sim.data), model.transform(X)
    for a, b in zip(full.T, holes.T):
        assert np.corrcoef(a, b)[0, 1] > 0.99
    assert model.score(X) == pytest.approx(model.score(sim.data), abs=0.01)
    never = sim.data.copy()
    never[:, 3] = np.nan
    assert np.isfinite(model.score(never))


def test_without_an_edge_of_noise_few_directions_fill() -> None:
    """Singular values that fall without a step are all above "noise"; taken as directions, half of
    the rank of E. coli's table made filling take ten minutes, and its errors larger."""
    rng = np.random.default_rng(0)
    s = 1 / np.arange(1, 161)
    X = rng.standard_normal((160, 160)) * s @ rng.standard_normal((160, 350))
    holes = rng.random(X.shape) < 0.05
    filled = fill(np.where(holes, np.nan, X))
    assert filled.n_components == WITHOUT_EDGE
    error = np.sqrt(((filled.data - X)[holes] ** 2).mean()) / X[holes].std()
    more = fill(np.where(holes, np.nan, X), 60)
    assert error < 0.35
    assert filled.iterations <= more.iterations
