"""The sampler: exact posteriors where they can be computed, calibration where they cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.posterior.axes import Axes, all_axes, leading_axes
from rcweb.engine.posterior.gibbs import (
    MEASURED,
    Chain,
    Snapshot,
    State,
    Sums,
    _wishart,
    draw_activities,
)
from rcweb.engine.posterior.kernels import draw_edges
from rcweb.storage.checkpoint import Checkpoint


def whole(G: np.ndarray) -> Axes:
    return all_axes(CondensedTable.of(G))


def leading(G: np.ndarray, L: int) -> Axes:
    return leading_axes(CondensedTable.of(G), L)


def draw(
    seed: int, M: int = 80, N: int = 100, P: int = 3, *, spread: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A centred table from the sampler's own prior: density 0.2, normal weights, unit noise."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.2)
    sd = np.exp(spread * rng.standard_normal(N))
    G = rng.standard_normal((M, P)) @ C + sd * rng.standard_normal((M, N))
    return G - G.mean(axis=0), C, sd


def state_of(C: np.ndarray, variance: np.ndarray) -> State:
    P = len(C)
    one = np.ones(P)
    start = (C.copy(), variance, np.full(P, 0.2), one, np.ones(1), np.eye(P))
    return State(*start, background=np.zeros(P), slab=C != 0, fidelity=one)


def exact_probabilities(
    power: np.ndarray, M: int, variance: float, pi: float, scale: float
) -> np.ndarray:
    """P(c_i != 0) for one regulator and N = 3, summed over the 8 supports and a grid of weights.

    R is integrated out: rows of G are N(0, c c^T + v), so that
    log p = - M/2 log(1 + c.c / v) + c.S.c / (2 v^2 (1 + c.c / v)) + constant, S = G^T G.
    """
    grid = np.linspace(-5, 5, 81)
    step = grid[1] - grid[0]
    slab = np.exp(-0.5 * (grid / scale) ** 2) / np.sqrt(2 * np.pi) / scale * step
    values = np.concatenate([[0.0], grid])
    weight = np.concatenate([[1 - pi], pi * slab])
    edge = np.concatenate([[False], np.ones(len(grid), bool)])
    c = np.stack(np.meshgrid(values, values, values, indexing="ij"), axis=-1).reshape(-1, 3)
    prior = np.einsum("i,j,k->ijk", weight, weight, weight).ravel()
    gain = 1 + (c**2).sum(axis=1) / variance
    log_p = -0.5 * M * np.log(gain) + np.einsum("ni,ij,nj->n", c, power, c) / (
        2 * variance**2 * gain
    )
    mass = prior * np.exp(log_p - log_p.max())
    mass /= mass.sum()
    is_edge = np.stack(np.meshgrid(edge, edge, edge, indexing="ij"), axis=-1).reshape(-1, 3)
    return mass @ is_edge


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_one_regulator_against_exact_enumeration(seed: int) -> None:
    """Activities and edges drawn in turn, all else fixed, visit supports as often as they should.

    8,000 sweeps; tolerance 0.04, from the autocorrelation of the chain (about ten sweeps).
    """
    rng = np.random.default_rng(seed)
    M, variance, pi, scale = 10, 1.0, 0.4, 1.0
    G = rng.standard_normal((M, 1)) @ np.array([[1.0, 0.6, 0.0]]) + rng.standard_normal((M, 3))
    expected = exact_probabilities(G.T @ G, M, variance, pi, scale)
    table = Axes(Y=G, rest=np.zeros(3), M=M, observed=np.ones(3))
    state = state_of(np.zeros((1, 3)), np.full(3, variance))
    probability, mean, total = np.empty((1, 3)), np.empty((1, 3)), np.zeros(3)
    log_odds = np.log([pi / (1 - pi)])
    sweeps = 8000
    for _ in range(sweeps):
        Q, Z, _ = draw_activities(table, state, rng)
        density = (log_odds, np.array([scale]), state.background)
        drawn = (probability, mean, state.slab, np.empty((1, 2)))
        draw_edges(rng, Q, Z, state.C, 1 / state.variance, *density, *drawn)
        total += probability[0]
    assert np.ptp(expected) > 0.05, "all entries alike: nothing would be told apart"
    np.testing.assert_allclose(total / sweeps, expected, atol=0.04)


@pytest.mark.parametrize("shape", [(20, 8), (8, 20)])
def test_likelihood_is_that_of_the_model(shape: tuple[int, int]) -> None:
    """Differences of log p(G | C, noise) against SciPy's multivariate normal density."""
    rng = np.random.default_rng(0)
    M, N = shape
    G = rng.standard_normal((M, N))
    table = Axes(Y=G, rest=np.zeros(N), M=M, observed=np.ones(N))
    states = [
        state_of(rng.standard_normal((2, N)) * (rng.random((2, N)) < 0.5), rng.uniform(0.5, 2, N))
        for _ in range(3)
    ]
    found = [draw_activities(table, s, rng)[2] for s in states]
    expected = [
        multivariate_normal(cov=s.C.T @ s.C + np.diag(s.variance)).logpdf(G).sum() for s in states
    ]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize(("M", "N", "L"), [(12, 30, None), (60, 15, None), (40, 12, 12)])
def test_activities_have_the_moments_of_their_posterior(M: int, N: int, L: int | None) -> None:
    """Mean of Q = R^T R and Z = R^T G over 4,000 draws against the formulas, row by row of G.

    R given C is normal with precision A = I + C^T W C and mean G W C A^-1. Where only a triangular
    factor of the table is kept, the rows that it lacks must still come in by their spread.
    """
    G, C, _ = draw(1, M, N, 2)
    table = whole(G) if L is None else leading(G, L)
    variance = np.linspace(0.7, 1.4, N)
    state = state_of(C, variance)
    rng = np.random.default_rng(0)
    n = 4000
    draws = [draw_activities(table, state, rng)[:2] for _ in range(n)]
    Q, Z = (np.array([d[k] for d in draws]) for k in (0, 1))
    weighted = C.T / variance[:, None]
    A_inverse = np.linalg.inv(C @ weighted + np.eye(2))
    H = weighted @ A_inverse
    rows = max(len(table.Y), table.M)
    expected = rows * A_inverse + H.T @ G.T @ G @ H
    assert np.abs(Q.mean(axis=0) - expected).max() < 5 * Q.std(axis=0).max() / np.sqrt(n)
    error = np.abs(Z.mean(axis=0) - (G.T @ G @ H).T)
    assert error.max() < 5 * Z.std(axis=0).max() / np.sqrt(n)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_wishart_has_its_mean_and_rank(n: int) -> None:
    """E[W] = n I, symmetric, of rank min(n, P): fewer samples than regulators included."""
    rng = np.random.default_rng(0)
    draws = np.array([_wishart(n, 3, rng) for _ in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), n * np.eye(3), atol=0.06 * n + 0.1)
    np.testing.assert_allclose(draws[0], draws[0].T)
    assert np.linalg.matrix_rank(draws[0]) == min(n, 3)
    np.testing.assert_allclose(draws[:, 0, 0].var(), 2 * n, rtol=0.15)


@pytest.mark.parametrize(("M", "N"), [(20, 35), (35, 20)])
def test_tables_keep_the_inner_products(M: int, N: int) -> None:
    """Y^T Y + diag(rest) has the diagonal of G^T G always, and all of it at full rank."""
    G, _, _ = draw(0, M, N)
    target = G.T @ G
    Y = whole(G).Y
    np.testing.assert_allclose(Y.T @ Y, target, atol=1e-9 * np.trace(target))
    complete = leading(G, min(M - 1, N))
    np.testing.assert_allclose(complete.Y.T @ complete.Y, target, atol=1e-9 * np.trace(target))
    np.testing.assert_allclose(complete.rest, 0, atol=1e-9 * np.trace(target))
    few = leading(G, 5)
    np.testing.assert_allclose((few.Y**2).sum(axis=0) + few.rest, np.diag(target))
    assert (few.rest >= 0).all()
    assert few.Y.shape == (5, N)
    assert whole(G).M == complete.M == few.M == M - 1


@pytest.mark.parametrize(("M", "N"), [(60, 90), (90, 60)])
def test_leading_axes_at_full_rank_give_the_same_posterior(M: int, N: int) -> None:
    """Two representations of one table: as close as two seeds of one of them."""
    G, C, _ = draw(3, M, N)

    def posterior(table: Axes, seed: int) -> np.ndarray:
        chain = Chain(table, C, np.random.default_rng(seed), concentration=0.1 * N)
        chain.run(30)
        return chain.run(300).probability

    one, other = posterior(whole(G), 0), posterior(whole(G), 1)
    axes = posterior(leading(G, min(M - 1, N)), 2)
    seeds = np.abs(one - other)
    assert np.abs(one - axes).mean() < 2 * seeds.mean()
    assert np.abs(one - axes).max() < 0.25


@pytest.mark.parametrize("spread", [0.0, 0.4], ids=["equal noise", "noise per variable"])
def test_probabilities_are_calibrated(spread: float) -> None:
    """40 tables drawn from the prior: of edges said to be p-probable, a share p is real.

    12,000 entries in bins of p; each bin within 3.5 binomial standard errors and 0.02 (the prior on
    the slab and the shared noise are estimated from the table itself).
    """
    said, real = [], []
    for seed in range(40):
        G, C, _ = draw(seed, spread=spread)
        chain = Chain(whole(G), C, np.random.default_rng(seed), concentration=10.0)
        chain.run(30, shaped=False)
        chain.run(10)
        said.append(chain.run(50).probability.ravel())
        real.append((C != 0).ravel())
    p, true = np.concatenate(said), np.concatenate(real)
    bins = np.digitize(p, [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    for k in range(8):
        inside = bins == k
        expected, n = p[inside].mean(), inside.sum()
        assert n > 50
        allowed = 3.5 * np.sqrt(expected * (1 - expected) / n) + 0.02
        assert true[inside].mean() == pytest.approx(expected, abs=allowed)


def test_noise_and_densities_are_recovered() -> None:
    """Standard deviations per variable and the density of each row, from many samples."""
    G, C, sd = draw(0, M=400, N=80, spread=0.5)
    chain = Chain(whole(G), C, np.random.default_rng(0), concentration=8.0)
    chain.run(30)
    found = chain.run(60)
    assert np.corrcoef(found.noise, sd)[0, 1] > 0.97
    np.testing.assert_allclose(found.noise, sd, rtol=0.15, atol=0.1)  # shared: shrunk to typical
    np.testing.assert_allclose(found.probability.mean(axis=1), (C != 0).mean(axis=1), atol=0.08)
    strong = np.abs(C) > 1
    assert found.probability[strong].min() > 0.99
    np.testing.assert_allclose(np.abs(found.C[strong]), np.abs(C[strong]), rtol=0.35)


def test_chain_wanders_from_a_poor_start_to_the_truth() -> None:
    """Rows half mixed with each other: burning in unmixes them, within its budget."""
    G, C, _ = draw(2, M=150, N=120)
    mixed = np.array([[1, 0.5, 0], [0, 1, 0.5], [0.5, 0, 1]]) @ C
    chain = Chain(whole(G), mixed, np.random.default_rng(0), concentration=12.0)
    swept = chain.burn_in(3000)
    assert 600 <= swept <= 3000
    assert len(chain.energy) == swept // MEASURED
    assert np.mean(chain.energy[-5:]) > chain.energy[0]
    found = chain.run(50)
    strong = np.abs(C) > 1
    assert found.probability[strong].mean() > 0.98
    assert found.probability[C == 0].mean() < 0.12


def test_same_seed_same_bits_and_no_input_changed() -> None:
    """The chain owns its generator and its copies."""
    G, C, _ = draw(0)
    before_G, before_C = G.copy(), C.copy()
    runs = []
    for _ in range(2):
        chain = Chain(whole(G), C, np.random.default_rng(7), concentration=10.0)
        chain.run(5, shaped=False)
        runs.append(chain.run(10))
    for name in ("C", "probability", "noise"):
        np.testing.assert_array_equal(getattr(runs[0], name), getattr(runs[1], name))
    np.testing.assert_array_equal(G, before_G)
    np.testing.assert_array_equal(C, before_C)


def test_entropy_is_that_of_the_conditional_distributions() -> None:
    """Of the choice of every entry, plus those of the Gaussians of an edge and of a background."""
    G, C, _ = draw(0, M=30, N=7, P=2)
    chain = Chain(whole(G), C, np.random.default_rng(0), concentration=1.0)
    chain.state.variance = np.linspace(0.5, 2, 7)
    chain.state.scale = np.array([0.8, 1.3])
    chain.state.background = np.array([0.0, 0.2])
    chain.probability[:] = np.random.default_rng(1).uniform(0.1, 0.9, (2, 7))
    chain.probability[0, 0], chain.probability[1, 1] = 0.0, 1.0
    square, expected = np.array([20.0, 30.0]), 0.0
    for p in range(2):
        for i in range(7):
            chosen = chain.probability[p, i]
            if 0 < chosen < 1:
                expected -= chosen * np.log(chosen) + (1 - chosen) * np.log(1 - chosen)
            precision = square[p] / chain.state.variance[i] + 1 / chain.state.scale[p] ** 2
            expected += chosen * norm(scale=1 / np.sqrt(precision)).entropy()
            if p == 1:
                beside = square[p] / chain.state.variance[i] + 1 / 0.2
                expected += (1 - chosen) * norm(scale=1 / np.sqrt(beside)).entropy()
    assert chain._entropy(square) == pytest.approx(expected)


def test_log_prior_counts_edges_and_background_by_their_densities() -> None:
    """Differences between two networks, density by density; densities of rows are integrated."""
    G, C, _ = draw(0, M=30, N=7, P=2)
    chain = Chain(whole(G), C, np.random.default_rng(0), concentration=1.0)
    state = chain.state
    state.scale, state.background = np.array([0.8, 1.3]), np.array([0.0, 0.2])
    state.slab = np.random.default_rng(2).random((2, 7)) < 0.5

    def weights() -> float:
        edges = norm.logpdf(state.C, scale=state.scale[:, None])
        beside = norm.logpdf(state.C[1], scale=np.sqrt(0.2))
        return float(edges[state.slab].sum() + beside[~state.slab[1]].sum())

    before = chain._log_prior() - weights()
    state.C = np.where(state.slab | [[False], [True]], 0.5 * state.C + 0.1, 0.0)
    assert chain._log_prior() - weights() == pytest.approx(before)


@pytest.mark.parametrize("width", [0.0, 0.1, 0.3])
def test_background_is_learned_beside_edges(width: float) -> None:
    """Small weights everywhere, of standard deviation `width`: once it is allowed, the chain finds
    their width, and calls few of them edges. Without any it stays below the noise of an entry."""
    G, C, _ = draw(0, M=300, N=200)
    rng = np.random.default_rng(1)
    small = np.where(C == 0, width * rng.standard_normal(C.shape), 0.0)
    R = np.linalg.lstsq(C.T, G.T, rcond=None)[0].T
    G = G + R @ small
    chain = Chain(whole(G), C, np.random.default_rng(0), concentration=20.0)
    chain.run(30, shaped=False)
    before = chain.run(50, shaped=False).probability
    chain.allow_background()
    chain.advance(50)
    found = chain.run(100)
    noise = np.median(chain.state.variance) / 300
    if width:
        np.testing.assert_allclose(np.sqrt(chain.state.background), width, rtol=0.35)
        false = (found.probability > 0.5) & (C == 0)
        assert false.sum() <= 0.05 * (found.probability > 0.5).sum()
        assert false.sum() < ((before > 0.5) & (C == 0)).sum()
    else:
        assert np.median(chain.state.background) < noise


def test_single_precision_gives_the_same_products() -> None:
    """To its seven digits, in whatever units the table is."""
    for unit in (1e-30, 1.0, 1e30):
        G, C, _ = draw(0)
        table = CondensedTable.of(unit * G)
        double, single = all_axes(table), all_axes(table, single=True)
        R = double.scores(C)
        assert single.scores(C).dtype == np.float32
        np.testing.assert_allclose(single.scores(C), R, atol=3e-6 * np.abs(R).max())
        Z = double.cross(R)
        np.testing.assert_allclose(single.cross(R), Z, atol=3e-6 * np.abs(Z).max())


def test_a_chain_resumed_while_it_climbs_stops_where_it_would_have(tmp_path: Path) -> None:
    """Energies of blocks that are over are those of their time, not the last ones."""
    G, C, _ = draw(2, M=150, N=120)
    mixed = np.array([[1, 0.5, 0], [0, 1, 0.5], [0.5, 0, 1]]) @ C

    def chain(folder: Path | None) -> Chain:
        checkpoint = None if folder is None else Checkpoint(folder, {"fit": "one"})
        rng = np.random.default_rng(0)
        return Chain(whole(G), mixed, rng, concentration=12.0, checkpoint=checkpoint)

    alone = chain(None)
    swept = alone.burn_in(2000)
    assert swept > 300
    for stop in (150, swept - 50):
        first = chain(tmp_path / str(stop))
        first.burn_in(stop - stop % 100)
        first.advance(stop % 100, shaped=False)
        snapshot = Snapshot(first.runs, Sums.zero(*C.shape), first.state, np.array(first.energy))
        snapshot.sums.n = stop % 100
        first.checkpoint.save("chain", snapshot, first.rng)
        assert chain(tmp_path / str(stop)).burn_in(2000) == swept


def test_the_burn_in_tells_how_sure_the_rows_are(tmp_path: Path) -> None:
    """Clear rows are nearly fixed, rows of noise are not; a chain restored later still knows."""
    G, C, _ = draw(2, M=150, N=120)
    clear = Chain(whole(G), C, np.random.default_rng(0), concentration=12.0)
    clear.burn_in(600)
    noise = np.random.default_rng(1).standard_normal(G.shape)
    checkpoint = Checkpoint(tmp_path / "c", {"fit": "one"})
    blind = Chain(
        whole(noise), C, np.random.default_rng(0), concentration=12.0, checkpoint=checkpoint
    )
    swept = blind.burn_in(600)
    assert clear.state.fidelity.min() > 0.9
    assert blind.state.fidelity.max() < 0.7
    blind.advance(5, shaped=False)
    sums = Sums.zero(*C.shape)
    sums.n = 5
    snapshot = Snapshot(blind.runs, sums, blind.state, np.array(blind.energy))
    checkpoint.save("chain", snapshot, blind.rng)
    restored = Chain(
        whole(noise), C, np.random.default_rng(0), concentration=12.0, checkpoint=checkpoint
    )
    assert restored.burn_in(600) == swept
    np.testing.assert_array_equal(restored.state.fidelity, blind.state.fidelity)
