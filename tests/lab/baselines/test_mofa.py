"""MOFA through its package, where that is installed."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from rcweb.lab.baselines import mofa
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate

installed = importlib.util.find_spec("mofapy2") is not None
needs_mofa = pytest.mark.skipif(not installed, reason="mofapy2 is not installed")


@needs_mofa
def test_recovers_an_easy_network() -> None:
    """Posterior means, probabilities and activities fit together and repeat exactly."""
    sim = simulate(200, 150, 5, density=0.2, weights="bounded", noise=0.1, random_state=3)
    a, b = (mofa.fit(sim.data, 5, random_state=0) for _ in range(2))
    # From its start, principal components, it stays partly rotated: 0.87 here.
    assert score_network(a.weights, sim.network).rho > 0.8
    np.testing.assert_array_equal(a.weights, b.weights)
    assert 0 <= a.probability.min() <= a.probability.max() <= 1
    G0 = sim.data - sim.data.mean(axis=0)
    assert np.sum((G0 - a.activities @ a.weights) ** 2) < 0.1 * np.sum(G0**2)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "mofapy2.run.entry_point", None)
    with pytest.raises(ImportError, match="pip install mofapy2"):
        mofa.fit(np.random.default_rng(0).random((20, 30)), 2)


def test_an_unknown_mode_is_named() -> None:
    """A misspelt convergence mode is an error that lists what there is."""
    with pytest.raises(ValueError, match="hasty"):
        mofa.fit(np.random.default_rng(0).random((20, 30)), 2, convergence="hasty")
