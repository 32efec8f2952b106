"""Samples are divided by their noise where it differs, and left as they are where it does not."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb import RCweb
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.sample_noise import EqualSamples, equalise
from rcweb.engine.samples import InMemory, medians, tied
from rcweb.lab.benchmark.random_worlds import random_world
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate


def planted(seed: int, noise: np.ndarray, M: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """A centred table of 12 regulators and 300 variables whose noise in sample m is ``noise[m]`` of
    the signal, and its network."""
    rng = np.random.default_rng([seed, 7])
    sim = simulate(M, 300, 12, noise=0.0, random_state=seed)
    G = sim.data + noise[:, None] * sim.data.std() * rng.standard_normal(sim.data.shape)
    return G - G.mean(axis=0), sim.network


def equalised(G: np.ndarray, n_components: int | str) -> EqualSamples:
    return equalise(CondensedTable.of(G), InMemory(G), n_components)


def outliers(M: int, n: int, seed: int, size: float = 10.0) -> np.ndarray:
    noise = np.full(M, 0.3)
    noise[np.random.default_rng(seed).permutation(M)[:n]] *= size
    return noise


@pytest.mark.parametrize("M", [1, 2, 7, 40])
def test_medians_are_numpys_to_the_bit(M: int) -> None:
    """Sorted side by side, for speed; with the smallest left out, those of the others."""
    values = np.random.default_rng(M).standard_normal((M, 5)).round(1)
    np.testing.assert_array_equal(medians(values), np.median(values, axis=0))
    without = np.arange(5) % M
    left = [np.median(np.sort(column)[n:]) for column, n in zip(values.T, without)]
    np.testing.assert_array_equal(medians(values, without), left)


@pytest.mark.parametrize("asked", [12, "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_equal_samples_are_left_as_they_are(seed: int, asked: int | str) -> None:
    """The very same objects: nothing is copied, no pass over the data is spent."""
    G, _ = planted(seed, np.full(200, 0.3))
    samples = InMemory(G)
    equal = equalise(CondensedTable.of(G), samples, asked)
    assert equal.weigh is None
    assert equal.samples is samples


@pytest.mark.parametrize("asked", [12, "auto"])
@pytest.mark.parametrize("n", [4, 20])
def test_weights_are_one_over_the_noise(n: int, asked: int | str) -> None:
    """Also of the samples that make directions of their own: few outliers would be fitted by spare
    directions and look quiet."""
    noise = outliers(200, n, seed=1)
    G, _ = planted(1, noise)
    equal = equalised(G, asked)
    assert equal.weigh is not None
    weight = equal.weigh.weight(G)
    loud = noise > 1
    assert np.median(weight[~loud]) / weight[loud] == pytest.approx(10, rel=0.35)
    assert (weight**2).mean() == pytest.approx(1, rel=0.05)
    # And the directions are those of the regulators.
    assert len(equal.spectrum.s) == 12


def test_samples_without_noise_do_not_outweigh_the_others() -> None:
    """A reference sample, which is exact, counts as much as a typical one."""
    noise = outliers(200, 10, seed=0)
    noise[:3] = 1e-4
    G, _ = planted(0, noise)
    equal = equalised(G, 12)
    assert equal.weigh is not None
    weight = equal.weigh.weight(G)
    np.testing.assert_allclose(weight[:3], np.median(weight), rtol=0.01)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_and_order_do_not_matter(unit: float) -> None:
    """The weights belong to the samples, in any unit and order of samples."""
    G, _ = planted(2, outliers(200, 10, seed=2))
    order = np.random.default_rng(0).permutation(len(G))
    one, other = equalised(G, 12), equalised(unit * G[order], 12)
    assert one.weigh is not None
    assert other.weigh is not None
    np.testing.assert_allclose(
        other.weigh.weight(unit * G[order]), one.weigh.weight(G)[order], rtol=1e-6
    )


@pytest.mark.parametrize("asked", [12, "auto"])
def test_noisy_samples_cost_no_regulator(asked: int | str) -> None:
    """A tenth of the samples ten times as noisy: rho was 0.73, and 40 regulators with "auto"."""
    G, network = planted(3, outliers(200, 20, seed=3))
    model = RCweb(asked, random_state=0).fit(G)
    assert model.n_components_ == 12
    assert score_network(model.weights_, network).rho > 0.99


def test_holes_leave_samples_as_they_are() -> None:
    """What fills a hole has no residual, so that samples with many would look quiet: beyond a tenth
    of all values nothing is divided."""
    G, _ = planted(4, outliers(200, 20, seed=4))
    observed = np.full(G.shape[1], 0.85)
    equal = equalise(CondensedTable.of(G, observed), InMemory(G, observed), 12)
    assert equal.weigh is None


def test_a_table_that_is_not_centred_stays_so() -> None:
    """Limits and weights move means; they are taken off again only where they had been."""
    G = np.random.default_rng(0).standard_normal((20, 5)) + 3
    samples, _ = InMemory(G, centred=False).limited(lambda rows: rows * 2)
    np.testing.assert_allclose(samples.some(20), 2 * G)
    centred, _ = InMemory(G).limited(lambda rows: rows * 2)
    np.testing.assert_allclose(centred.some(20).mean(axis=0), 0, atol=1e-12)


def test_samples_that_keep_their_means_are_divided_and_not_shifted() -> None:
    """Means of clusters and mixtures hold a direction; the weighted mean was taken off."""
    G, _ = planted(8, outliers(200, 20, seed=8))
    G = G + 3 * G.std() * np.random.default_rng(8).standard_normal(G.shape[1])
    equal = equalise(CondensedTable.of(G), InMemory(G, centred=False), 13)
    assert equal.weigh is not None
    ratio = equal.samples.some(200) / G
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(G.shape[1]), rtol=1e-6)


def test_a_sample_of_zeros_is_no_error() -> None:
    """In a table with its means, as rounded answers have, a sample may be all zeros: it has no rest
    and no direction, and once gave weights that were not finite."""
    G, _ = planted(5, outliers(200, 20, seed=5))
    G[7] = 0.0
    samples = InMemory(G, centred=False)
    equal = equalise(CondensedTable.of(G), samples, 12)
    assert equal.weigh is not None
    assert np.isfinite(equal.samples.some(200)).all()


def test_a_few_missing_values_do_not_hide_noisy_samples() -> None:
    """One value in twenty missing: filled entries have no residual, but they are few. Left to
    themselves, a tenth of the samples would turn the regulators."""
    G, network = planted(0, np.where(np.arange(200) < 20, 5.0, 0.3))
    G[np.random.default_rng(0).random(G.shape) < 0.05] = np.nan
    model = RCweb(12, random_state=0).fit(G)
    assert score_network(model.weights_, network).rho > 0.98


def test_answers_on_a_scale_are_no_outliers_and_no_noise() -> None:
    """Of five steps most answers are the middle one. Medians then tell no scatter: what differs
    from the middle was limited as an outlier, samples were weighted by how many answers differed,
    and 68 regulators were returned instead of 5."""
    world, _ = random_world(np.random.default_rng([70048, 0, 2010]))  # rounded, 5 regulators
    G = world.data - world.data.mean(axis=0)
    unclear = tied(G)
    assert unclear.mean() > 0.5
    np.testing.assert_array_equal(tied(-G), unclear)
    assert equalised(G, "auto").weigh is None
    model = RCweb(random_state=0).fit(world.data)
    assert model.n_components_ == 5
    assert score_network(model.weights_, world.rows).rho > 0.98


def test_variables_of_equal_values_do_not_hide_noisy_samples() -> None:
    """The others tell the noise of samples, and give the weights they give alone."""
    noise = outliers(200, 10, seed=6)
    G, _ = planted(6, noise)
    zeros = np.where(np.abs(G[:, :40]) > 2 * G[:, :40].std(axis=0), G[:, :40], 0.0)
    zeros -= zeros.mean(axis=0)
    mixed, alone = equalised(np.hstack([G, zeros]), 12), equalised(G, 12)
    assert mixed.weigh is not None
    assert alone.weigh is not None
    assert mixed.tied[len(G[0]) :].all()
    one, other = mixed.weigh.weight(np.hstack([G, zeros])), alone.weigh.weight(G)
    assert np.corrcoef(np.log(one), np.log(other))[0, 1] > 0.95
