"""Wild entries are pulled in; tables without any are left as they are."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb import RCweb
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.outliers import LIMIT, TOO_MANY, WILD, LimitedTable, limit_outliers
from rcweb.engine.sample_noise import EqualSamples
from rcweb.engine.samples import InMemory, tied
from rcweb.engine.spectrum import leading_directions
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate


def limit(samples: InMemory, n_components: int) -> LimitedTable:
    """`limit_outliers` from the directions of the table as it is."""
    whole = CondensedTable.of(samples.G0)
    directions = leading_directions(whole, n_components)
    equal = EqualSamples(whole, samples, directions, None, tied(samples.G0))
    return limit_outliers(equal, n_components)


def limited_table(G: np.ndarray) -> tuple[np.ndarray, float]:
    """The table with wild entries pulled in, centred again, and their share."""
    result = limit(InMemory(G), 5)
    assert result.wild > TOO_MANY
    condensed = result.spectrum.table.power / result.spectrum.factor**2
    np.testing.assert_allclose(condensed, (result.samples.G0**2).sum(axis=0))
    return result.samples.G0, result.wild


def table(seed: int, noise_kind: str = "homoscedastic") -> np.ndarray:
    sim = simulate(100, 150, 5, noise=0.3, noise_kind=noise_kind, random_state=seed)
    return sim.data - sim.data.mean(axis=0)


def spoiled(G: np.ndarray, seed: int, share: float = 0.003, size: float = 6.0) -> tuple:
    """A few entries shifted by `size` standard deviations of the table; and which."""
    rng = np.random.default_rng(seed)
    wild = rng.random(G.shape) < share
    X = G + np.where(wild, size * G.std() * rng.choice([-1, 1], G.shape), 0.0)
    return X - X.mean(axis=0), wild


@pytest.mark.parametrize("kind", ["homoscedastic", "per_variable"])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_gaussian_tables_are_left_as_they_are(kind: str, noise: float) -> None:
    """Without outliers nothing is copied, and nothing changes."""
    for seed in range(4):
        sim = simulate(100, 150, 5, noise=noise, noise_kind=kind, random_state=seed)
        G = sim.data - sim.data.mean(axis=0)
        samples = InMemory(G)
        result = limit(samples, 5)
        assert result.samples is samples
        assert result.wild < TOO_MANY


@pytest.mark.parametrize("seed", range(4))
def test_planted_wild_entries_are_pulled_in(seed: int) -> None:
    """Closer to the table before it was spoiled, in the entries spoiled, by a factor of three."""
    G = table(seed)
    X, wild = spoiled(G, seed)
    before = X.copy()
    limited, share = limited_table(X)
    np.testing.assert_array_equal(X, before)
    assert share == pytest.approx(wild.mean(), rel=0.5)
    assert np.abs(limited - G)[wild].mean() < np.abs(X - G)[wild].mean() / 3
    np.testing.assert_allclose(limited.mean(axis=0), 0, atol=1e-12)
    # The other entries stay where they were, but for the means and the 0.3 % beyond the limit.
    assert np.median(np.abs(limited - X)[~wild]) < 0.05 * G.std()


def test_limit_is_measured_from_the_fit() -> None:
    """Nothing remains further from the low-rank fit than some robust standard deviations, neither
    of the table as it is now nor as it was."""
    X, wild = spoiled(table(0), 0)
    result = limit(InMemory(X), 5)
    V, factor, G = result.spectrum.V, result.spectrum.factor, result.samples.G0
    fit = ((G * factor) @ V) @ (V / factor[:, None]).T
    scatter = 1.4826 * np.median(np.abs(X - fit), axis=0)
    assert (np.abs(G - fit) / scatter).max() < 1.2 * LIMIT
    assert (np.abs(X - fit) / scatter)[wild].min() > WILD


def test_what_many_variables_share_is_no_wild_entry() -> None:
    """A regulator that is on in two samples, at twenty times the table's scale, keeps its size."""
    rng = np.random.default_rng(0)
    G = table(0)
    row = rng.standard_normal(150) * (rng.random(150) < 0.3)
    G[[10, 50]] += 20 * G.std() * row
    X, _ = spoiled(G, 1, size=5.0)
    result = limit(InMemory(X), 6).samples.G0
    before = G - G.mean(axis=0)
    for sample in (10, 50):
        assert np.corrcoef(result[sample], before[sample])[0, 1] > 0.98
        assert np.abs(result[sample]).sum() > 0.9 * np.abs(before[sample]).sum()


def test_scale_is_immaterial() -> None:
    """The same entries are limited in other units."""
    X, _ = spoiled(table(1), 1)
    one, share = limited_table(X)
    for scale in (1e-9, 1e9):
        other, same = limited_table(X * scale)
        assert same == share
        np.testing.assert_allclose(other, one * scale, rtol=1e-6, atol=1e-9 * scale)


def test_signs_are_immaterial() -> None:
    """Variables that are often at their least value, negated: often at their greatest."""
    G, _ = spoiled(np.maximum(table(3), -0.2), seed=3)
    expected, wild = limited_table(G)
    sign = np.where(np.arange(G.shape[1]) % 2, -1.0, 1.0)
    found, share = limited_table(G * sign)
    assert share == wild
    np.testing.assert_allclose(found * sign, expected, atol=1e-10 * G.std())


def test_network_survives_wild_entries() -> None:
    """Three entries in a thousand shifted far away: regulators are found all the same."""
    sim = simulate(100, 150, 5, noise=0.1, random_state=0)
    X, _ = spoiled(sim.data, 0, size=10.0)
    model = RCweb(5, random_state=0).fit(X)
    assert score_network(model.components_, sim.network).rho > 0.95
