"""EBMF against numeric integration, its bound, and a planted table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcweb.lab.baselines import ebmf, ica
from rcweb.lab.baselines.base import compress
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate


def normal(x: np.ndarray, sd: float) -> np.ndarray:
    return np.exp(-0.5 * (x / sd) ** 2) / (np.sqrt(2 * np.pi) * sd)


@given(
    x=st.floats(-4, 4),
    sd=st.floats(0.3, 2),
    spike=st.floats(0.05, 0.95),
    scales=st.lists(st.floats(0.2, 3), min_size=1, max_size=3),
)
@settings(max_examples=40, deadline=None)
def test_posterior_is_that_of_numeric_integration(
    x: float, sd: float, spike: float, scales: list[float]
) -> None:
    """Means, second moments and probabilities of point-normal and mixture priors."""
    weights = np.array([spike, *np.full(len(scales), (1 - spike) / len(scales))])
    variances = np.array([0.0, *np.square(scales)])

    # The trapezium rule on a fine grid is exact to rounding for such smooth densities.
    f, step = np.linspace(-30, 30, 6001, retstep=True)
    slab = sum(w * normal(f, s) for w, s in zip(weights[1:], scales)) * normal(x - f, sd)
    moments = [step * float((f**k * slab).sum()) for k in range(3)]
    evidence = moments[0] + spike * float(normal(np.array(x), sd))
    mean, second, inclusion, log_likelihood = ebmf.normal_means(
        np.array([x]), np.array([sd**2]), weights, variances, False, 0
    )
    assert mean[0] == pytest.approx(moments[1] / evidence, abs=1e-6)
    assert second[0] == pytest.approx(moments[2] / evidence, abs=1e-6)
    assert inclusion[0] == pytest.approx(moments[0] / evidence, abs=1e-6)
    assert log_likelihood == pytest.approx(np.log(evidence), abs=1e-6)


def test_prior_is_estimated() -> None:
    """Many steps on draws from a point-normal prior find its parameters and a higher likelihood."""
    rng = np.random.default_rng(0)
    f = np.where(rng.random(20_000) < 0.2, 2 * rng.standard_normal(20_000), 0.0)
    x, variance = f + 0.5 * rng.standard_normal(len(f)), np.full(len(f), 0.25)
    weights, variances = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    before = ebmf.normal_means(x, variance, weights.copy(), variances.copy(), True, 0)[3]
    after = ebmf.normal_means(x, variance, weights, variances, True, 200)[3]
    assert after > before
    # Three standard errors of 4,000 non-zero draws.
    assert weights[1] == pytest.approx(0.2, abs=0.015)
    assert variances[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("prior", ebmf.PRIORS)
@pytest.mark.parametrize("noise", ebmf.NOISES)
@pytest.mark.parametrize("shape", [(40, 70), (90, 60)])
def test_bound_never_falls(prior: str, noise: str, shape: tuple[int, int]) -> None:
    """Every update is a coordinate step on one bound; a wrong one would lower it."""
    sim = simulate(*shape, 4, density=0.3, noise=0.5, random_state=0)
    G0 = sim.data - sim.data.mean(axis=0)
    start = ica.fit(G0, 4)
    Q, T = compress(G0)
    state = ebmf._start(T, Q.T @ start.activities, start.network.T, len(G0), prior)
    bounds = ebmf._backfit(T, state, prior, noise, 30)
    assert len(bounds) > 3
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[-1])


def test_more_accurate_than_its_start() -> None:
    """What it is for: shrinkage and noise per variable on top of FastICA."""
    sim = simulate(120, 300, 8, density=0.15, noise=0.6, noise_kind="per_variable", random_state=2)
    start = ica.fit(sim.data, 8, density=float(sim.edges.mean()))
    found = ebmf.fit(sim.data, 8)
    before = score_network(start.network, sim.network).rho
    assert score_network(found.weights, sim.network).rho > before + 0.005


@pytest.mark.parametrize("wrong", [{"prior": "laplace"}, {"noise": "none"}])
def test_unknown_choices_are_named(wrong: dict[str, str]) -> None:
    """A misspelt prior or noise is an error that lists what there is."""
    with pytest.raises(ValueError, match=next(iter(wrong.values()))):
        ebmf.fit(np.random.default_rng(0).random((20, 30)), 2, **wrong)
