"""``method="refined"`` on planted networks: what is found, how many, and which edges are kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb
from rcweb.engine.effort import EFFORTS, Effort, Sweeps
from rcweb.engine.matching import match_rows, row_correlation
from rcweb.engine.posterior.gibbs import Chain, Posterior
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import Simulation, simulate


def easy(seed: int, *, noise: float = 0.1, **options: object) -> Simulation:
    return simulate(100, 120, 6, density=0.15, noise=noise, random_state=seed, **options)


def fit(X: object, n_components: int | str = 6, **options: object) -> RCweb:
    return RCweb(n_components, random_state=0, **options).fit(X)


@pytest.mark.parametrize("network", ["poisson", "powerlaw"])
@pytest.mark.parametrize("seed", range(3))
def test_planted_networks_are_recovered(seed: int, network: str) -> None:
    """Little noise, equal and unequal out-degrees: every regulator, and most edges."""
    sim = easy(seed, network=network)
    model = fit(sim.data)
    found = score_network(model.components_, sim.network)
    assert found.rho_per_regulator.min() > 0.98
    assert found.precision > 0.85
    assert found.recall > 0.85
    activities = np.abs(match_rows(model.transform(sim.data).T, sim.activities.T).correlation)
    assert activities.min() > 0.95


@pytest.mark.parametrize(
    "world",
    [
        {"network": "modules"},
        {"network": "hubs"},
        {"regulators": "correlated"},
        {"regulators": "heavy"},
        {"weights": "positive"},
        {"noise": 0.3, "noise_kind": "per_variable"},
        {"noise": 0.3, "noise_kind": "heavy"},
        {"noise": 0.5},
    ],
    ids=lambda world: " ".join(map(str, world.values())),
)
def test_other_worlds(world: dict) -> None:
    """Shared targets, other regulators, one-sided weights, uneven and heavy-tailed noise."""
    sim = easy(1, **world)
    found = score_network(fit(sim.data).components_, sim.network)
    assert found.rho > 0.98
    assert found.precision > 0.8


@pytest.mark.parametrize("n_components", [8, "auto", 16])
@pytest.mark.parametrize("seed", range(3))
def test_without_noise_the_support_is_exact(seed: int, n_components: int | str) -> None:
    """Half of all entries are edges: every edge and every zero, however many were asked for."""
    sim = simulate(60, 120, 8, density=0.5, noise=0.0, random_state=seed)
    model = fit(sim.data, n_components)
    assert model.n_components_ == 8
    pairs = match_rows(model.components_, sim.network)
    np.testing.assert_array_equal(
        model.components_[pairs.found] != 0, sim.network[pairs.other] != 0
    )
    assert np.abs(pairs.correlation).min() > 1 - 1e-8
    assert model.score(sim.data) == pytest.approx(1, abs=1e-9)
    assert model.noise_.max() < 1e-6 * sim.data.std()


@pytest.mark.parametrize("seed", range(4))
def test_number_of_regulators(seed: int) -> None:
    """Found without being told; and twice too many asked for gives the same network."""
    sim = easy(seed, weights="bounded")
    known, auto, twice = (fit(sim.data, n) for n in (6, "auto", 12))
    assert auto.n_components_ == twice.n_components_ == 6
    rho = [score_network(model.components_, sim.network).rho for model in (known, auto, twice)]
    np.testing.assert_allclose(rho, rho[0], atol=0.005)
    assert "6" in auto.reason_
    kept = auto.evidence_.set_index("evidence")["count"]
    assert kept["regulators kept"] == 6
    assert kept["columns found"] == 6


def test_fewer_than_there_are() -> None:
    """Three of six asked for: three true ones, not mixtures of all."""
    sim = easy(0)
    model = fit(sim.data, 3)
    assert model.n_components_ == 3
    assert np.abs(match_rows(model.components_, sim.network).correlation).min() > 0.9


@pytest.mark.parametrize("degree", [1, 5, 18])
@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_degree_gives_exactly_that_many_edges(degree: int, noise: float) -> None:
    """Mean number of targets as asked, and these are the best-scored entries."""
    model = fit(easy(0, noise=noise).data, degree=degree)
    edges = model.components_ != 0
    assert edges.sum() == degree * 6
    score = np.abs(model.edge_score_)
    assert score[edges].min() >= score[~edges].max()


def test_more_false_edges_allowed_keeps_more() -> None:
    """Monotone in fdr, as sets; same regulators throughout; never an edge of probability 0."""
    X = easy(2, noise=0.4).data
    strict, default, loose = (fit(X, fdr=rate) for rate in (0.001, 0.05, 0.4))
    sets = [model.components_ != 0 for model in (strict, default, loose)]
    assert sets[0].sum() < sets[1].sum() < sets[2].sum()
    assert (sets[1] | ~sets[0]).all()
    assert (sets[2] | ~sets[1]).all()
    for model, kept, rate in zip((strict, default, loose), sets, (0.001, 0.05, 0.4)):
        np.testing.assert_array_equal(model.edge_probability_, strict.edge_probability_)
        assert (1 - model.edge_probability_[kept]).mean() <= rate


def test_edges_kept_are_as_sure_as_promised() -> None:
    """Realised false discoveries over 8 tables at the default rate of 0.05: at most 0.08.

    Edges with probability above 0.9 are true in nine of ten cases at least.
    """
    false = kept = sure = sure_true = 0
    for seed in range(8):
        sim = easy(seed, noise=0.4)
        model = fit(sim.data)
        pairs = match_rows(model.components_, sim.network)
        true = np.zeros(model.components_.shape, bool)
        true[pairs.found] = sim.network[pairs.other] != 0
        edges = model.components_ != 0
        false, kept = false + (edges & ~true).sum(), kept + edges.sum()
        likely = model.edge_probability_ > 0.9
        sure, sure_true = sure + likely.sum(), sure_true + (likely & true).sum()
    assert kept > 500
    assert false / kept < 0.08
    assert sure_true / sure > 0.9


def test_scores_rank_edges_across_regulators() -> None:
    """True edges first, better than by chance by far; score, weight and probability agree."""
    sim = easy(0, noise=0.5)
    model = fit(sim.data)
    found = score_network(model.components_, sim.network, ranking=model.edge_score_)
    assert found.average_precision > 0.9
    edges = model.components_ != 0
    assert (np.sign(model.edge_score_) == np.sign(model.components_))[edges].all()
    assert model.edge_probability_[edges].min() > model.edge_probability_[~edges].mean()
    table = model.network_.edges()
    assert np.abs(table["score"]).is_monotonic_decreasing
    assert len(table) == edges.sum()


def test_regulators_come_strongest_first_with_the_heavier_tail_positive() -> None:
    """Order and sign, which are arbitrary, are the same for everybody."""
    model = fit(easy(0).data)
    power = (model.components_**2).sum(axis=1)
    assert (np.diff(power) < 1e-2 * power[0]).all()
    assert ((model.edge_score_**3).sum(axis=1) >= 0).all()


def test_names_travel() -> None:
    """A DataFrame's columns are the targets; regulators are numbered."""
    sim = easy(0)
    names = [f"gene{i}" for i in range(120)]
    model = fit(pd.DataFrame(sim.data, columns=names))
    np.testing.assert_array_equal(model.feature_names_in_, names)
    table = model.network_.edges()
    assert set(table["target"]) <= set(names)
    assert set(table["regulator"]) <= {f"rcweb{p}" for p in range(6)}
    plain = fit(sim.data)
    np.testing.assert_array_equal(plain.components_, model.components_)
    assert list(model.diagnosis_.index) == [f"rcweb{p}" for p in range(6)]


def test_noise_per_variable_is_estimated() -> None:
    """`noise_` follows the planted standard deviations, in the units of the data."""
    sim = easy(0, noise=0.4, noise_kind="per_variable")
    model = fit(1000 * sim.data)
    assert np.log(model.noise_ / sim.noise_sd).std() < 0.15  # planted: 0.5
    assert np.median(model.noise_ / sim.noise_sd) == pytest.approx(1000, rel=0.1)


def test_progress_is_printed_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """`verbose` speaks, silence is the default."""
    X = easy(0).data
    fit(X)
    assert capsys.readouterr().out == ""
    fit(X, verbose=1)
    assert "search:" in capsys.readouterr().out


def test_dense_rows_are_not_turned_in_their_plane() -> None:
    """Two rows with more than half of the entries once came back as their sum and difference."""
    sim = simulate(
        400, 1000, 30, network="author_powerlaw", weights="author", noise=0.1, random_state=0
    )
    found = RCweb(30, random_state=0).fit(sim.data).weights_
    assert score_network(found, sim.network).rho_per_regulator.min() > 0.98


@pytest.mark.parametrize(("noise", "collinear", "learned"), [(1.2, 0.0, False), (0.1, 0.9, True)])
def test_the_shape_of_weights_is_learned_from_sure_rows_only(
    noise: float, collinear: float, learned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shape learned from rows that are unsure held them where they were: accuracy 0.71 instead
    of 0.77 (figure 3A, M=100). Both tables are sampled, the second for its collinear activities."""
    from rcweb.engine.posterior import gibbs

    sim = simulate(40, 150, 10, density=0.3, random_state=0)
    common = np.random.default_rng(0).standard_normal((40, 1))
    signal = (np.sqrt(collinear) * common + np.sqrt(1 - collinear) * sim.activities) @ sim.network
    unit = np.random.default_rng(1).standard_normal(signal.shape)
    drawn = {"draw_edges": 0, "draw_shaped_edges": 0}
    for name in drawn:

        def counted(*arguments: object, name: str = name, draw: object = getattr(gibbs, name)):
            drawn[name] += 1
            return draw(*arguments)

        monkeypatch.setattr(gibbs, name, counted)
    # Which rows are sure is known before the chain is long.
    monkeypatch.setitem(EFFORTS, "standard", Effort(1, None, Sweeps(600, 10, 100)))
    fit(signal + noise * signal.std() * unit, 10)
    assert drawn["draw_edges"] > 0, "this table was to be sampled"
    assert bool(drawn["draw_shaped_edges"]) is learned


@pytest.mark.parametrize(("collinear", "longer"), [(0.7, 1.0), (0.95, 4.0)])
def test_collinear_activities_are_averaged_longer(
    collinear: float, longer: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In proportion to their variance inflation: edges move slowly between such regulators, and 450
    sweeps left false ones certain (0.105 of the edges at 0.95, now 0.06)."""
    sweeps: list[int] = []
    usual = Chain.run

    def counted(chain: Chain, n: int, *, shaped: bool = True) -> Posterior:
        sweeps.append(n)
        return usual(chain, 20, shaped=shaped)

    monkeypatch.setattr(Chain, "run", counted)
    rng = np.random.default_rng(0)
    C = np.where(rng.random((10, 300)) < 0.1, rng.standard_normal((10, 300)), 0.0)
    common, own = rng.standard_normal((150, 1)), rng.standard_normal((150, 10))
    signal = (np.sqrt(collinear) * common + np.sqrt(1 - collinear) * own) @ C
    fit(signal + 0.2 * signal.std() * rng.standard_normal(signal.shape), 10)
    assert len(sweeps) == 1
    assert 450 * longer <= sweeps[0] <= EFFORTS["standard"].stuck.burn


@pytest.mark.parametrize(("background", "searched"), [(0.2, 28), (0.0, 19)])
def test_small_effects_without_an_end_are_searched_with_room(
    background: float, searched: int
) -> None:
    """P as asked for, of twice as many directions, where regulators of falling strength have no
    end; where zeros are exact P and some are enough."""
    rng = np.random.default_rng(0)
    strong = rng.random((100, 800)) < 0.05
    C = np.where(strong, 1.0, background) * rng.standard_normal((100, 800))
    C *= np.arange(1, 101)[:, None] ** -0.5
    noise = np.repeat(rng.standard_normal((60, 800)), 2, axis=0)  # neighbours share it
    model = fit(rng.standard_normal((120, 100)) @ C + 0.02 * noise, 14)
    assert model.n_components_ == 14
    assert model.rotation_.shape[0] == searched


@pytest.mark.parametrize("seed", range(3))
def test_small_effects_that_end_are_searched_without_room(seed: int) -> None:
    """Noise that samples remember has directions too, and where they come to an end those not asked
    for are its own: with room for them, one to three of these regulators were lost."""
    rng = np.random.default_rng(seed)
    strong = rng.random((12, 200)) < 0.12
    C = np.where(strong, rng.uniform(0.5, 1.5, strong.shape), 0.2 * rng.normal(size=strong.shape))
    noise = rng.standard_normal((150, 200))
    for m in range(1, 150):
        noise[m] = 0.6 * noise[m - 1] + 0.8 * noise[m]
    R = rng.standard_normal((150, 1)) + rng.standard_normal((150, 12))
    model = fit(R @ C + noise, 12)
    assert model.rotation_.shape[0] == 12
    assert np.abs(row_correlation(model.weights_, C)).max(axis=0).min() > 0.85
