"""Every rival solves an easy planted problem and keeps the common contract."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest

from rcweb.lab.baselines import (
    bfrm,
    dictionary,
    ebmf,
    empca,
    ica,
    ksvd,
    l1_sphere,
    optica,
    oracle,
    psmf,
    sparse_pca,
    ssl_pxl,
    varimax,
    vsp,
)
from rcweb.lab.baselines.base import Factors
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import Simulation, simulate

RIVALS: dict[str, tuple[Callable, float]] = {
    # name: (fit, accuracy it must reach on the easy problem)
    "bfrm": (partial(bfrm.fit, n_burn=60, n_sweeps=60), 0.97),
    "dictionary": (dictionary.fit, 0.9),
    "ebmf": (ebmf.fit, 0.97),
    "ebmf_ash": (partial(ebmf.fit, prior="ash", max_sweeps=20), 0.97),
    "empca": (empca.fit, 0.9),
    "ica": (ica.fit, 0.97),
    "ica_samples": (partial(ica.fit, over="samples"), 0.9),
    # The same number of regulators for every variable, here one, is not how networks are.
    "ksvd": (ksvd.fit, 0.8),
    "l1_sphere": (l1_sphere.fit, 0.97),
    "optica": (partial(optica.fit, n_runs=10), 0.97),
    "psmf": (psmf.fit, 0.97),
    "sparse_pca": (sparse_pca.fit, 0.97),
    "ssl_pxl": (ssl_pxl.fit, 0.97),
    "varimax": (varimax.fit, 0.9),
    "vsp": (vsp.fit, 0.9),
}


@pytest.fixture(scope="module")
def easy() -> Simulation:
    return simulate(200, 150, 5, density=0.2, weights="bounded", noise=0.1, random_state=3)


@pytest.fixture(scope="module")
def found_by(easy: Simulation) -> Callable[[str], Factors]:
    """What a rival finds in the easy table, fitted once."""

    @cache
    def fitted(name: str) -> Factors:
        fit, _ = RIVALS[name]
        return fit(easy.data, 5, density=float(easy.edges.mean()), random_state=0)

    return fitted


@pytest.mark.parametrize("name", RIVALS)
def test_recovers_an_easy_network(
    name: str, easy: Simulation, found_by: Callable[[str], Factors]
) -> None:
    """A rival that misses five sparse regulators at 10 % noise would be a straw man."""
    level, found = RIVALS[name][1], found_by(name)
    assert found.network.shape == easy.network.shape
    assert found.activities.shape == (200, 5)
    assert score_network(found.network, easy.network).rho >= level


@pytest.mark.parametrize("name", RIVALS)
def test_same_seed_same_bits(name: str, easy: Simulation) -> None:
    """Results of the benchmark can be repeated exactly."""
    fit, _ = RIVALS[name]
    a, b = (fit(easy.data, 5, density=0.2, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(a.network, b.network)
    np.testing.assert_array_equal(a.activities, b.activities)


@pytest.mark.parametrize("name", RIVALS)
def test_activities_and_network_explain_the_data(
    name: str, easy: Simulation, found_by: Callable[[str], Factors]
) -> None:
    """R C stands for the centred data: order, sign and scale of the two agree."""
    found = found_by(name)
    G0 = easy.data - easy.data.mean(axis=0)
    # Cuts and penalties leave something over; a sign or a scale gone wrong leaves much more.
    assert np.sum((G0 - found.activities @ found.network) ** 2) < 0.3 * np.sum(G0**2)


@pytest.mark.parametrize(
    "name", ["empca", "ica", "ica_samples", "l1_sphere", "optica", "varimax", "vsp"]
)
def test_cut_to_the_density_told(name: str, easy: Simulation) -> None:
    """Rivals that are cut have exactly the mean degree they were told, per row."""
    fit, _ = RIVALS[name]
    network = fit(easy.data, 5, density=0.2, random_state=0).network
    np.testing.assert_array_equal((network != 0).sum(axis=1), 30)


@pytest.mark.parametrize("name", RIVALS)
def test_bad_input_is_named(name: str, easy: Simulation) -> None:
    """Wrong sizes, densities and missing values are refused with the offending value."""
    fit, _ = RIVALS[name]
    with pytest.raises(ValueError, match="151"):
        fit(easy.data, 151)
    with pytest.raises(ValueError, match="density"):
        fit(easy.data, 5, density=1.5)
    holes = easy.data.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="missing"):
        fit(holes, 5)


def test_oracle_is_above_every_rival(easy: Simulation, found_by: Callable[[str], Factors]) -> None:
    """Told the support, the oracle is the upper end of every comparison."""
    found = oracle.fit(easy.data, 5, network=easy.network, noise_sd=easy.noise_sd)
    best = score_network(found.network, easy.network)
    assert best.f1 == 1
    for name in RIVALS:
        assert score_network(found_by(name).network, easy.network).rho <= best.rho + 1e-9


@pytest.mark.parametrize(
    ("fit", "level"), [(psmf.fit, 0.8), (bfrm.fit, 0.8), (empca.fit, 0.9), (ksvd.fit, 0.9)]
)
def test_figure_1_of_the_paper(fit: Callable, level: float) -> None:
    """The four rivals of the paper recover figure 1, P = 10, in the author's conventions."""
    sim = simulate(
        280,
        500,
        10,
        network="author_poisson",
        weights="author",
        noise_convention="author",
        random_state=0,
    )
    found = fit(sim.data, 10, density=float(sim.edges.mean()), random_state=0)
    assert score_network(found.network, sim.network).rho >= level
