"""Long tails of the background: found where they are, and no edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from rcweb.engine.edges import keep_at_fdr
from rcweb.engine.posterior.background import TAIL, WIDER, tail_share
from rcweb.engine.posterior.entries import entries_of_rows
from rcweb.engine.posterior.kernels import part_sums

NOISE = 0.05
BACKGROUNDS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "laplace": lambda rng, size: rng.laplace(size=size) / np.sqrt(2),
    "t": lambda rng, size: rng.standard_t(4, size=size) / np.sqrt(2),
    "uniform": lambda rng, size: rng.uniform(-np.sqrt(3), np.sqrt(3), size),
}


WEIGHTS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "even": lambda rng, size: rng.choice([-1, 1], size) * rng.uniform(0.5, 1.5, size),
}


def rows(
    kind: str, seed: int, width: float = 0.2, weights: str = "normal"
) -> tuple[np.ndarray, np.ndarray]:
    """Weights of sd 1 in a twentieth of the entries, elsewhere a background of sd `width`; and
    where the weights are."""
    rng = np.random.default_rng([seed, 7])
    strong = rng.random((12, 1500)) < 0.05
    Y = np.where(strong, 1.0, 0.0) * WEIGHTS[weights](rng, strong.shape)
    Y += np.where(strong, 0.0, width * BACKGROUNDS[kind](rng, strong.shape))
    return Y + NOISE * rng.standard_normal(strong.shape), strong


def share(Y: np.ndarray) -> float:
    """Of rows whose noise is known."""
    return tail_share(Y, np.full(len(Y), NOISE**2))


@pytest.mark.parametrize("kind", BACKGROUNDS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_tail_is_found_where_there_is_one(weights: str, kind: str) -> None:
    """A Gaussian background has none, nor has one of shorter tails. So it is with weights of about
    equal size too, none of which is small: with edges as one Gaussian, whose middle is small
    weights, no tail was found beside them. That of Student's t is longer than a twentieth of the
    entries: beside weights of equal size it may be taken for them."""
    found = [share(rows(kind, seed, weights=weights)[0]) == TAIL for seed in range(6)]
    least = {"laplace": 6, "t": 4}.get(kind, 0)
    assert sum(found) >= least
    assert kind in ("laplace", "t") or not any(found)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_tail_of_exact_zeros_makes_no_difference(weights: str) -> None:
    """Where there is no background, both densities are the same, and so are edges."""
    Y, strong = rows("normal", 0, width=0.0, weights=weights)
    noise, start = np.full(Y.shape[1], NOISE**2), np.full(len(Y), NOISE**2)
    with_tail, without = (
        keep_at_fdr(entries_of_rows(Y, noise, start, 20.0, tail).edge_probability, 0.05)
        for tail in (TAIL, 0.0)
    )
    assert (with_tail != without).sum() < 0.03 * strong.sum()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_tail_of_few_entries_is_found(weights: str) -> None:
    """Four rows of 150 entries: when the share was fitted, and had to pay for it, a tail was found
    in 7 of 20 such tables, and in 2 with even weights."""
    found = []
    for seed in range(20):
        Y, _ = rows("laplace", seed, weights=weights)
        found.append(share(Y[:4, :150]) > 0)
    assert np.mean(found) >= 0.7


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["laplace", "t"])
def test_the_tail_is_no_edge(kind: str, seed: int) -> None:
    """Of edges drawn at 5 % few are of the background; with a Gaussian one most were."""
    Y, strong = rows(kind, seed)

    def false(tail: float) -> float:
        noise, start = np.full(Y.shape[1], NOISE**2), np.full(len(Y), 0.01)
        entries = entries_of_rows(Y, noise, start, 20.0, tail)
        edges = keep_at_fdr(entries.edge_probability, 0.05)
        assert (edges & strong).sum() > 0.15 * strong.sum()
        return float((edges & ~strong).sum() / edges.sum())

    assert false(share(Y)) < 0.1
    assert false(0.0) > 2 * false(share(Y))


def test_units_and_signs_change_nothing() -> None:
    Y, _ = rows("laplace", 0)
    scale = np.random.default_rng(0).uniform(-5, 5, (len(Y), 1))
    noise = np.full(len(Y), NOISE**2) * scale[:, 0] ** 2
    assert tail_share(Y * scale, noise) == pytest.approx(share(Y), rel=1e-9)


def test_parts_are_weighed_by_their_densities() -> None:
    """The compiled sums against densities of SciPy, with entries far beyond every part."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal((3, 50)) * rng.choice([1.0, 3.0, 100.0], (3, 50))
    density, background = np.array([0.02, 0.1, 0.4]), np.array([0.01, 1.0, 30.0])
    centre, spread, tail = np.array([0.0, 7.0, 20.0]), np.array([6.0, 41.0, 701.0]), 0.2
    sums = np.empty((3, 7))
    part_sums(np.abs(y), density, background, WIDER, tail, centre, spread, sums)
    for p in range(3):
        edge, beside = density[p] / 2, 1 - density[p]
        shares = np.array([beside * (1 - tail), beside * tail, edge, edge])
        sd = np.sqrt([background[p] + 1, WIDER * background[p] + 1, spread[p], spread[p]])
        mean = np.array([0.0, 0.0, centre[p], -centre[p]])
        log = np.log(shares)[:, None] + norm.logpdf(y[p], mean[:, None], sd[:, None])
        part = np.exp(log - np.logaddexp.reduce(log, axis=0))
        of = np.array([part[0], part[1], part[2] + part[3]])
        lean = ((part[2] - part[3]) * y[p]).sum()
        expected = np.concatenate([of.sum(axis=1), of @ y[p] ** 2, [lean]])
        np.testing.assert_allclose(sums[p], expected, rtol=1e-9, atol=1e-12)
