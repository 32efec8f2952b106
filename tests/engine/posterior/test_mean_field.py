"""Mean field with its reaction term: the equations, calibration, and when they do not converge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.posterior import kernels
from rcweb.engine.posterior.axes import Axes, all_axes
from rcweb.engine.posterior.background import WIDER
from rcweb.engine.posterior.gibbs import Chain
from rcweb.engine.posterior.kernels import expect_shaped_edges
from rcweb.engine.posterior.mean_field import MOST, MeanField, mean_field
from rcweb.engine.posterior.slab import PRIOR_MIX, SPREAD, STEP, shared_scale
from rcweb.lab.metrics import score_network


def planted(
    seed: int, M: int = 120, N: int = 150, P: int = 5, noise: float = 1.0
) -> tuple[Axes, np.ndarray]:
    """A centred table of the model: density 0.2, normal weights; its axes and its network."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.2)
    G = rng.standard_normal((M, P)) @ C + noise * rng.standard_normal((M, N))
    return all_axes(CondensedTable.of(G - G.mean(axis=0))), C


def settled(axes: Axes, C: np.ndarray) -> MeanField:
    """From the network `C`, zeros taken as exact at first."""
    return mean_field(axes, C, np.zeros(len(C)), concentration=20.0)


def entry_by_entry(
    Q: np.ndarray,
    Z: np.ndarray,
    mean: np.ndarray,
    weight: np.ndarray,
    log_odds: np.ndarray,
    scale: np.ndarray,
    background: np.ndarray,
    least: np.ndarray,
    mix: np.ndarray,
    tail: float,
) -> dict[str, np.ndarray]:
    """The same sweep in plain arithmetic: background and each part of the slab a Gaussian of its
    own.

    Likelihood of entry c given the others: N(c; g / Q_pp, 1 / (w Q_pp)). Evidence of a part
    N(m, v) is N(g / Q_pp; m, v + 1 / (w Q_pp)). One step of Fisher scoring for the variance b of a
    sample of N(0, b + e_i): the mean of y_i^2 - e_i weighted by 1 / (b + e_i)^2. In the tail, of
    variance a b, numerator and denominator have the factors a and a^2.
    """
    P, N = mean.shape
    names = ("probability", "variance", "centre", "width")
    out = {"mean": mean.copy(), **{name: np.empty((P, N)) for name in names}}
    out["used"], out["sums"] = np.zeros(len(mix)), np.zeros((P, 3))
    order = [0] + [sign * j for j in range(1, 7) for sign in (1, -1)]
    for p in range(P):
        for i in range(N):
            others = sum(Q[p, k] * out["mean"][k, i] for k in range(P) if k != p)
            at, error = (Z[p, i] - others) / Q[p, p], 1 / (weight[i] * Q[p, p])
            centres, v = np.array(order) * STEP * scale[p], SPREAD * scale[p] ** 2
            evidence = mix * norm.pdf(at, centres, np.sqrt(v + error))
            beside = np.array([1.0, WIDER])
            small = beside * background[p]
            density = np.array([1 - tail, tail]) * norm.pdf(at, 0, np.sqrt(small + error))
            odds = np.exp(log_odds[p]) * evidence.sum() / density.sum()
            density /= density.sum()
            chosen = odds / (1 + odds)
            part = evidence / evidence.sum()
            v_post = 1 / (1 / v + 1 / error)
            m_post = v_post * (centres / v + at / error)
            v_small, m_small = small * error / (small + error), at * small / (small + error)
            slab_mean, slab_square = part @ m_post, part @ (v_post + m_post**2)
            entry = chosen * slab_mean + (1 - chosen) * density @ m_small
            square = chosen * slab_square + (1 - chosen) * density @ (v_small + m_small**2)
            out["mean"][p, i], out["variance"][p, i] = entry, square - entry**2
            out["probability"][p, i] = chosen
            out["centre"][p, i], out["width"][p, i] = slab_mean, slab_square - slab_mean**2
            weighted = (1 - chosen) * density * beside / (small + error) ** 2
            excess, information = weighted.sum() * (at**2 - error), weighted @ beside
            out["sums"][p] += [chosen * slab_square, excess, information]
            if chosen > kernels.LIKELY and abs(slab_mean) >= least[p]:
                out["used"] += chosen * part
    return out


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("spread", "tail"), [(0.0, 0.0), (0.3, 0.0), (0.3, 0.2)])
def test_sweep_is_the_mixture_computed_entry_by_entry(
    seed: int, spread: float, tail: float
) -> None:
    """The vectorised loop against one that evaluates every Gaussian by itself."""
    rng = np.random.default_rng(seed)
    P, N, M = 4, 9, 30
    R = rng.standard_normal((M, P))
    C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.5)
    Q, Z = R.T @ R, R.T @ (R @ C + rng.standard_normal((M, N)))
    weight, scale = rng.uniform(0.5, 2, N), rng.uniform(0.5, 2, P)
    log_odds, mix = rng.normal(-1, 1, P), rng.dirichlet(20 * PRIOR_MIX + 1)
    background = spread * rng.uniform(0.5, 2, P)
    least = np.sqrt(background)
    out = {name: np.empty((P, N)) for name in ("probability", "variance", "centre", "width")}
    out.update(mean=C.copy(), sums=np.empty((P, 3)), used=np.zeros(len(mix)))
    expect_shaped_edges(
        Q, Z, out["mean"], weight, log_odds, scale,
        background, WIDER, tail, least, STEP, SPREAD, mix,
        out["probability"], out["variance"], out["centre"], out["width"], out["sums"], out["used"],
    )  # fmt: skip
    slow = entry_by_entry(Q, Z, C, weight, log_odds, scale, background, least, mix, tail)
    for name, expected in slow.items():
        np.testing.assert_allclose(out[name], expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_exponential_of_the_loop_is_exact() -> None:
    """Its own exponential, which lets the loop vectorise, to 13 digits and without overflow."""
    x = np.linspace(-690, 690, 4001)
    np.testing.assert_allclose([kernels._exp(v) for v in x], np.exp(x), rtol=4e-14)
    assert np.isfinite(kernels._exp(1e6))
    assert kernels._exp(-1e6) > 0


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_the_sampler(seed: int) -> None:
    """Means and probabilities of a long chain, on tables with one mode; noise as large as edges."""
    axes, C = planted(seed)
    field = settled(axes, C)
    chain = Chain(axes, C, np.random.default_rng(seed), concentration=20.0)
    chain.advance(100)
    sampled = chain.run(600)
    found = field.posterior
    assert score_network(found.C, sampled.C).rho_per_regulator.min() > 0.999
    assert np.abs(found.probability - sampled.probability).mean() < 0.02
    np.testing.assert_allclose(found.noise, sampled.noise, rtol=0.08)


def test_probabilities_are_calibrated() -> None:
    """Among edges of probability 0.5 to 0.9 about that share is true; plain mean field claims more.

    Few samples, so that activities are uncertain: there the reaction term earns its place.
    """
    claimed, true = [], []
    for seed in range(8):
        axes, C = planted(seed, M=60, N=120, P=8)
        found = settled(axes, C).posterior.probability
        middle = (found > 0.5) & (found < 0.9)
        claimed.append(found[middle])
        true.append(C[middle] != 0)
    assert np.concatenate(true).mean() == pytest.approx(np.concatenate(claimed).mean(), abs=0.06)


def test_expected_fidelity_is_the_real_one() -> None:
    """Correlation of each row with the truth, as the posterior expects it without knowing it."""
    for noise in (0.5, 1.0, 2.0):
        axes, C = planted(1, noise=noise)
        field = settled(axes, C)
        real = score_network(field.posterior.C, C).rho_per_regulator
        np.testing.assert_allclose(np.sort(field.posterior.fidelity), np.sort(real), atol=0.04)


def test_converges_from_a_rough_start_and_not_from_nothing() -> None:
    """A few rounds from columns as the search finds them; a random start does not come to rest."""
    axes, C = planted(0)
    rng = np.random.default_rng(0)
    rough = C + 0.2 * rng.standard_normal(C.shape)
    assert settled(axes, rough).converged
    axes, C = planted(0, M=80, P=20, noise=2.0)
    lost = settled(axes, rng.standard_normal(C.shape))
    assert lost.rounds == MOST
    assert not lost.converged


@pytest.mark.parametrize("scale", [1e-9, 3.0, 1e9])
def test_units_are_immaterial(scale: float) -> None:
    """Single precision included: it rounds the table in units of its own."""
    axes, C = planted(2)
    other = Axes(scale * axes.Y, axes.rest, axes.M, axes.observed)
    for single in (False, True):
        one = settled(replace(axes, single=single), C).posterior
        two = settled(replace(other, single=single), C).posterior
        np.testing.assert_allclose(two.probability, one.probability, atol=1e-6)
        np.testing.assert_allclose(two.C, scale * one.C, rtol=1e-4, atol=1e-7 * scale)


def test_single_precision_is_enough_where_there_is_noise() -> None:
    """The same probabilities to four digits, products with the table in half the time."""
    axes, C = planted(3)
    double, single = (settled(replace(axes, single=s), C) for s in (False, True))
    np.testing.assert_allclose(
        single.posterior.probability, double.posterior.probability, atol=1e-4
    )


def test_noise_of_variables_with_holes_is_not_underestimated() -> None:
    """Entries filled with their expectation leave no residual, which `observed` accounts for."""
    axes, C = planted(4)
    R = np.linalg.lstsq(C.T, axes.Y.T, rcond=None)[0].T
    hidden = np.random.default_rng(0).random(axes.Y.shape) < 0.5
    Y = np.where(hidden, R @ C, axes.Y)
    known = settled(axes, C).posterior.noise
    for observed, ratio in ((1 - hidden.mean(axis=0), 1.0), (np.ones(len(known)), np.sqrt(0.5))):
        filled = settled(Axes(Y, axes.rest, axes.M, observed), C).posterior
        assert np.median(filled.noise / known) == pytest.approx(ratio, abs=0.12)


def test_one_row_in_large_units_does_not_rule_the_scales() -> None:
    """Rows share their scale by the median: a mean gave all rows that of a single wild one."""
    power, count = np.array([10.0, 12.0, 1e8]), np.array([10.0, 10.0, 1.0])
    assert shared_scale(power, count)[:2].max() < 2
