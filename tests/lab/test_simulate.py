"""The simulator does what its docstring states: moments, ranges, degrees, the truth returned."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb.lab.simulate import NETWORKS, NOISE_KINDS, REGULATORS, WEIGHTS, simulate


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_shapes_and_live_regulators(network: str, weights: str) -> None:
    sim = simulate(20, 50, 6, network=network, weights=weights, random_state=0)
    assert sim.data.shape == (20, 50)
    assert sim.activities.shape == (20, 6)
    assert sim.network.shape == sim.edges.shape == (6, 50)
    assert sim.edges.any(axis=1).all()
    assert sim.noise_sd.shape == (50,)


@pytest.mark.parametrize("network", ["poisson", "powerlaw", "hubs"])
def test_mean_degree(network: str) -> None:
    """Mean out-degree / N is the density, within 4 standard errors of 400 rows."""
    sim = simulate(2, 400, 400, network=network, density=0.2, random_state=1)
    degrees = sim.edges.sum(axis=1)
    error = degrees.std() / np.sqrt(len(degrees))
    assert abs(degrees.mean() - 80) < 4 * max(error, 1)


def test_power_law_degrees_have_the_stated_tail() -> None:
    """p(k) ~ k^-2: the number of rows with degree above k falls as 1/k - 1/N."""
    sim = simulate(2, 2000, 2000, network="powerlaw", density=0.05, random_state=0)
    degrees = sim.edges.sum(axis=1)
    share = [(degrees > k).mean() for k in (50, 100, 400)]
    expected = np.array([1 / k - 1 / 2000 for k in (50, 100, 400)])
    np.testing.assert_allclose(share / share[0], expected / expected[0], rtol=0.15)


def test_the_authors_power_law_is_log_spaced() -> None:
    """Out-degrees from about 0.65 N down to 0.09 N, mean 0.41 N."""
    degrees = simulate(2, 5000, 30, network="author_powerlaw", random_state=0).edges.mean(axis=1)
    assert degrees[0] == pytest.approx(1 - 10**-0.45, abs=0.03)
    assert degrees[-1] == pytest.approx(1 - 10**-0.04, abs=0.03)
    assert degrees.mean() == pytest.approx(0.41, abs=0.02)


def test_the_authors_poisson_adds_a_regulator() -> None:
    """Every regulated variable draws one more; some draw one they already have."""
    plain = simulate(2, 4000, 30, network="poisson", density=0.1, random_state=0).edges.sum(axis=0)
    more = simulate(2, 4000, 30, network="author_poisson", density=0.1, random_state=0)
    gain = more.edges.sum(axis=0).mean() - plain.mean()
    assert 0.75 < gain < 1


@pytest.mark.parametrize(
    ("weights", "low", "high"),
    [("uniform", 0, 1), ("bounded", 0.5, 1.5), ("positive", 0.5, 1.5), ("author", 0, 0.5)],
)
def test_ranges_of_weights(weights: str, low: float, high: float) -> None:
    sim = simulate(2, 500, 20, weights=weights, density=0.5, random_state=0)
    size = np.abs(sim.network[sim.edges])
    assert low <= size.min() < low + 0.05
    assert high - 0.05 < size.max() <= high
    assert (sim.network.min() >= 0) == (weights == "positive")


@pytest.mark.parametrize("regulators", REGULATORS)
def test_regulators_have_their_moments(regulators: str) -> None:
    R = simulate(20000, 4, 3, regulators=regulators, random_state=0).activities
    mean, var = {"uniform": (0.5, 1 / 12), "heavy": (0, 3)}.get(regulators, (0, 1))
    np.testing.assert_allclose(R.mean(axis=0), mean, atol=0.06)
    np.testing.assert_allclose(R.var(axis=0), var, rtol=0.5 if regulators == "heavy" else 0.1)
    off = np.corrcoef(R.T)[0, 1]
    assert off == pytest.approx(0.3 if regulators == "correlated" else 0, abs=0.05)
    lag = np.corrcoef(R[1:, 0], R[:-1, 0])[0, 1]
    assert lag == pytest.approx(0.7 if regulators == "autocorrelated" else 0, abs=0.05)


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_ratio_noise_is_a_ratio_of_spreads(kind: str) -> None:
    """Sd of the noise / sd of the centred clean table is the level, and noise_sd is its sd."""
    sim = simulate(3000, 60, 5, noise=0.4, noise_kind=kind, random_state=0)
    clean = sim.activities @ sim.network
    E = sim.data - clean
    ratio = np.sqrt((E**2).mean() / clean.var(axis=0).mean())
    assert ratio == pytest.approx(0.4, rel=0.1)
    np.testing.assert_allclose(E.std(axis=0), sim.noise_sd, rtol=0.5 if kind == "heavy" else 0.1)
    assert (np.ptp(sim.noise_sd) > 0) == (kind == "per_variable")


def test_the_authors_noise_is_a_ratio_of_variances() -> None:
    sim = simulate(500, 60, 5, noise=0.5, noise_convention="author", random_state=0)
    clean = sim.activities @ sim.network
    E = sim.data - clean
    assert E.std() == pytest.approx(0.5 * clean.var() * np.sqrt(12), rel=0.02)
    np.testing.assert_allclose(E.std(axis=0), sim.noise_sd, rtol=0.15)
    assert np.abs(E).max() <= np.sqrt(3) * sim.noise_sd[0] * 1.02


def test_without_noise_the_data_are_the_product() -> None:
    sim = simulate(30, 40, 5, noise=0.0, random_state=0)
    np.testing.assert_allclose(sim.data, sim.activities @ sim.network, atol=1e-12)


def test_same_seed_same_bits() -> None:
    one, two, other = (simulate(20, 30, 3, random_state=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.data, two.data)
    assert not np.array_equal(one.data, other.data)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_samples": 0}, "n_samples must be at least 1, not 0"),
        ({"density": 1.0}, "density .* not 1.0"),
        ({"noise": -1}, "not -1"),
        ({"network": "ring"}, "not 'ring'"),
        ({"weights": "heavy"}, "not 'heavy'"),
        ({"regulators": "none"}, "not 'none'"),
        ({"noise_convention": "mine"}, "not 'mine'"),
        ({"noise_kind": "pink"}, "not 'pink'"),
        ({"noise_convention": "author", "noise_kind": "heavy"}, "'heavy'"),
    ],
)
def test_bad_options_are_named(options: dict, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        simulate(**{"n_samples": 5, "n_features": 6, "n_regulators": 2, **options})
