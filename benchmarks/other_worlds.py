"""Tables of kinds that no plan has, written as somebody else might: is the engine right there?

``python benchmarks/other_worlds.py`` fits four tables of each kind with the number of regulators
told, with "auto" and with FastICA (told), and writes one line per kind and method, means over the
tables, to ``benchmarks/results/other_worlds/worlds.csv``. Kinds were written and looked at with
seeds below 100; the tables here have others. About three minutes on one core.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from rcweb.engine.types import Array, Mask, Rng
from rcweb.lab.benchmark.fits import find
from rcweb.lab.benchmark.foreign import score_world
from rcweb.lab.benchmark.foreign_worlds import World, with_noise

SEEDS = range(100, 104)
METHODS = (("rcweb", "known"), ("rcweb", "auto"), ("fastica", "known"))
NULL_P = 8  # asked for where there is nothing to find
SCORES = ("rho", "fdr", "n_edges", "n_certified", "n_certified_right")
OUT = Path(__file__).parent / "results" / "other_worlds" / "worlds.csv"


def rows(rng: Rng, P: int, N: int, density: float, weights: str = "normal") -> tuple[Array, Mask]:
    """Weights and targets, five at least: normal, or U(0.5, 1.5) of one sign or of either."""
    mask = rng.random((P, N)) < density
    for row in mask:
        row[rng.choice(N, 5, replace=False)] = True
    sizes = rng.uniform(0.5, 1.5, (P, N))
    drawn = {
        "normal": rng.standard_normal((P, N)),
        "positive": sizes,
        "even": sizes * rng.choice([-1, 1], (P, N)),
    }
    return np.where(mask, drawn[weights], 0.0), mask


def usual(P: int, N: int, M: int, density: float, ratio: float = 0.5) -> Callable[[Rng], World]:
    """The model itself, of other sizes."""

    def draw(rng: Rng) -> World:
        C, mask = rows(rng, P, N, density)
        return World(with_noise(rng, rng.standard_normal((M, P)) @ C, ratio=ratio), C, mask)

    return draw


def cascade(rng: Rng) -> World:
    """Regulators regulate each other, and saturate."""
    C, mask = rows(rng, 15, 600, 0.08)
    above = np.tril(rng.standard_normal((15, 15)) * (rng.random((15, 15)) < 0.2), -1)
    R = rng.standard_normal((250, 15))
    for k in range(15):
        R[:, k] = np.tanh(R[:, k] + 0.6 * R @ above[k])
    return World(with_noise(rng, R @ C, ratio=0.4), C, mask)


def cells(rng: Rng) -> World:
    """Counts of single cells with twelve programs, in logs after their depth is taken off."""
    C, mask = rows(rng, 12, 800, 0.06, "positive")
    rate = (
        rng.lognormal(0, 1, 800) * 2 * np.exp(0.7 * np.clip(rng.gamma(0.5, 1, (600, 12)) @ C, 0, 4))
    )
    counts = rng.poisson(rng.gamma(2, rate * rng.lognormal(0, 0.3, (600, 1)) / 2))
    depth = counts.sum(axis=1, keepdims=True)
    X = np.log1p(counts / depth * np.median(depth))
    return World(X, C * X.std(axis=0), mask & (X.std(axis=0) > 0))


def typed(types: int, programs: int) -> Callable[[Rng], World]:
    """Every cell is of one type and runs programs beside it."""

    def draw(rng: Rng) -> World:
        C, mask = rows(rng, types + programs, 500, 0.08, "positive")
        kind = np.eye(types)[rng.integers(types, size=300)]
        R = np.hstack([kind, rng.gamma(0.6, 1, (300, programs))])
        return World(with_noise(rng, R @ C, ratio=0.4), C, mask)

    return draw


def types_with_baselines(rng: Rng) -> World:
    """The same counted, in logs: every gene has a level of its own."""
    C, mask = rows(rng, 12, 600, 0.08, "positive")
    R = np.hstack([np.eye(6)[rng.integers(6, size=400)], rng.gamma(0.6, 1, (400, 6))])
    X = np.log1p(rng.poisson(rng.lognormal(0.7, 1, 600) * np.exp(R @ C)))
    return World(X, C * X.std(axis=0), mask)


def operons(rng: Rng) -> World:
    """Targets come in groups of one to six variables, which share noise too."""
    group = np.repeat(np.arange(900), rng.integers(1, 7, 900))[:900]
    C, mask = rows(rng, 20, group.max() + 1, 0.05)
    C = C[:, group] * rng.uniform(0.6, 1.4, 900)
    noise = 0.6 * rng.standard_normal((200, group.max() + 1))[:, group]
    noise += 0.8 * rng.standard_normal((200, 900))
    return World(with_noise(rng, rng.standard_normal((200, 20)) @ C, noise, 0.5), C, mask[:, group])


def perturbations(rng: Rng) -> World:
    """Every regulator is perturbed in four to eight samples only."""
    C, mask = rows(rng, 20, 800, 0.05)
    R = np.zeros((160, 20))
    for r in R.T:
        r[rng.choice(160, rng.integers(4, 9), replace=False)] = rng.choice([-1, 1])
    return World(with_noise(rng, R * rng.uniform(1, 2, R.shape) @ C, ratio=0.7), C, mask)


def market(rng: Rng) -> World:
    """A factor of all variables and eight sectors without common members; long tails."""
    C = np.zeros((9, 300))
    C[0] = rng.uniform(0.5, 1.5, 300)
    C[rng.integers(1, 9, 300), np.arange(300)] = rng.uniform(0.5, 1.5, 300)
    noise = rng.standard_t(4, (500, 300)) / np.sqrt(2)
    return World(with_noise(rng, rng.standard_t(4, (500, 9)) @ C, noise, 0.8), C, C != 0)


def questionnaire(rng: Rng) -> World:
    """Fifty questions on a scale of five steps, five correlated traits."""
    C = 0.05 * rng.standard_normal((5, 50))
    C[np.arange(50) // 10, np.arange(50)] += rng.uniform(0.4, 0.9, 50) * rng.choice([-1, 1], 50)
    R = rng.multivariate_normal(np.zeros(5), 0.7 * np.eye(5) + 0.3, 800)
    answers = R @ C + 0.7 * rng.standard_normal((800, 50))
    return World(np.clip(np.round(1.2 * answers + 3), 1, 5), C, np.abs(C) > 0.2)


def log_ratios(rng: Rng) -> World:
    """Counts of which only proportions are known, as centred log ratios."""
    C, mask = rows(rng, 8, 250, 0.1)
    level = np.exp(rng.normal(2, 1.5, 250) + 0.8 * rng.standard_normal((200, 8)) @ C)
    X = np.log(rng.multinomial(50_000, level / level.sum(axis=1, keepdims=True)) + 0.5)
    return World(X - X.mean(axis=1, keepdims=True), C, mask)


def cycles(rng: Rng) -> World:
    """Four of twelve regulators oscillate."""
    C, mask = rows(rng, 12, 500, 0.08)
    R = rng.standard_normal((150, 12))
    period, phase = rng.uniform(10, 40, 4), rng.uniform(0, 6, 4)
    R[:, :4] = np.sin(2 * np.pi * np.arange(150)[:, None] / period + phase)
    return World(with_noise(rng, R @ C, ratio=0.4), C, mask)


def unequal_strength(rng: Rng) -> World:
    """The strongest of twenty regulators has ten times the weights of the weakest."""
    C, mask = rows(rng, 20, 600, 0.08)
    C = C * np.geomspace(1, 0.1, 20)[:, None]
    return World(with_noise(rng, rng.standard_normal((200, 20)) @ C, ratio=0.2), C, mask)


def unequal_batches(rng: Rng) -> World:
    """Three batches of 100, 60 and 20 samples shift every variable."""
    C, mask = rows(rng, 12, 600, 0.08)
    signal = rng.standard_normal((180, 12)) @ C
    shift = 0.8 * signal.std() * rng.standard_normal((3, 600))[np.repeat([0, 1, 2], [100, 60, 20])]
    return World(with_noise(rng, signal, ratio=0.5) + shift, C, mask)


def replicates(rng: Rng) -> World:
    """Forty conditions three times, a background, noise unequal in samples and variables."""
    C, mask = rows(rng, 25, 1500, 0.05)
    C = C + 0.1 * rng.standard_normal(C.shape) * (rng.random(C.shape) < 0.5)
    signal = np.repeat(rng.laplace(size=(40, 25)), 3, axis=0) @ C
    noise = rng.standard_normal(signal.shape) * rng.lognormal(0, 0.4, (120, 1))
    return World(with_noise(rng, signal, noise * rng.lognormal(0, 0.4, 1500), 0.5), C, mask)


def laplace_background(rng: Rng) -> World:
    """Small effects everywhere, with long tails."""
    C, mask = rows(rng, 20, 1000, 0.06)
    C = C + rng.laplace(0, 0.12, C.shape)
    return World(with_noise(rng, rng.standard_normal((200, 20)) @ C, ratio=0.5), C, mask)


def opposed_pairs(rng: Rng) -> World:
    """Activities of pairs correlate by -0.8."""
    C, mask = rows(rng, 16, 600, 0.08)
    R = rng.standard_normal((200, 16))
    R[:, 1::2] = -0.8 * R[:, ::2] + 0.6 * R[:, 1::2]
    return World(with_noise(rng, R @ C, ratio=0.4), C, mask)


def amounts(rng: Rng) -> World:
    """No logs were taken of the model's table; every variable has a level of its own."""
    world = usual(12, 500, 150, 0.1)(rng)
    X = np.exp(0.5 * world.data / world.data.std() + rng.standard_normal(500))
    return World(X, world.rows * X.mean(axis=0), world.edges)


def saturated(rng: Rng) -> World:
    """One detector, which saturates at both ends."""
    world = usual(12, 500, 150, 0.1)(rng)
    X = np.tanh(world.data / world.data.std())
    return World(X, world.rows * (1 - X**2).mean(axis=0), world.edges)


def concentrations(rng: Rng) -> World:
    """Amounts that add up, without logs: activities and weights are positive, noise follows the
    amount."""
    C, mask = rows(rng, 12, 500, 0.1, "positive")
    X = rng.gamma(1, 1, (150, 12)) @ C + 0.3
    return World(X * rng.lognormal(0, 0.2, X.shape), C, mask)


def null(X: Array) -> World:
    """A table without sparse regulators."""
    nothing = np.zeros((0, X.shape[1]))
    return World(X, nothing, nothing.astype(bool))


def null_counts(rng: Rng) -> World:
    """Counts of cells that differ by their depth alone."""
    return null(np.log1p(rng.poisson(rng.lognormal(1, 1, 500) * rng.lognormal(0, 0.5, (200, 1)))))


def null_dense(rng: Rng) -> World:
    """Eight dense factors."""
    signal = rng.standard_normal((150, 8)) @ rng.standard_normal((8, 400))
    return null(signal + rng.standard_normal(signal.shape))


def null_walk(rng: Rng) -> World:
    """Samples walk at random."""
    return null(np.cumsum(rng.standard_normal((120, 400)), axis=0))


def null_field(rng: Rng) -> World:
    """Noise that is smooth over samples and over variables."""
    field = rng.standard_normal((140, 530))
    for width, axis in ((9, 0), (13, 1)):
        kernel = np.exp(-0.5 * np.linspace(-2, 2, width) ** 2)
        field = np.apply_along_axis(np.convolve, axis, field, kernel, "valid")
    return null(field + 0.3 * field.std() * rng.standard_normal(field.shape))


def null_curved(rng: Rng) -> World:
    """Every variable saturates in its own mixture of three activities."""
    signal = np.tanh(rng.standard_normal((200, 3)) @ rng.standard_normal((3, 300)))
    return null(signal + 0.3 * rng.standard_normal(signal.shape))


KINDS: dict[str, Callable[[Rng], World]] = {
    "a cascade of regulators": cascade,
    "counts of cells": cells,
    "3 types, 8 programs": typed(3, 8),
    "10 types, 3 programs": typed(10, 3),
    "types with baselines": types_with_baselines,
    "operons": operons,
    "perturbed in few samples": perturbations,
    "a market and its sectors": market,
    "a questionnaire": questionnaire,
    "log ratios of counts": log_ratios,
    "cycles": cycles,
    "unequal strength": unequal_strength,
    "unequal batches": unequal_batches,
    "replicates": replicates,
    "a Laplace background": laplace_background,
    "opposed pairs": opposed_pairs,
    "amounts without logs": amounts,
    "a detector that saturates": saturated,
    "amounts that add up": concentrations,
    "4,000 variables, 60 samples": usual(30, 4000, 60, 0.04),
    "80 regulators": usual(80, 400, 1200, 0.1),
    "30 variables": usual(4, 30, 300, 0.3),
    "3 regulators": usual(3, 200, 100, 0.2),
    "2 regulators": usual(2, 200, 100, 0.2),
    "null: counts": null_counts,
    "null: dense factors": null_dense,
    "null: random walk": null_walk,
    "null: smooth field": null_field,
    "null: curved": null_curved,
}


def line(kind: str, method: str, asked: str) -> dict[str, object]:
    """Mean scores over the tables of a kind; a null has edges and certificates alone."""
    scores = []
    for seed in SEEDS:
        world = KINDS[kind](np.random.default_rng(seed))
        density = float(world.edges.mean()) if len(world.rows) else None
        known = len(world.rows) or NULL_P
        found = find(world.data, asked if asked == "auto" else known, method, 0, density)
        scores.append(score_world(found, world))
    means = pd.DataFrame(scores).reindex(columns=SCORES).mean().round(4)
    return {"kind": kind, "method": method, "asked": asked, **means}


def main(out: Path) -> None:
    """Write the table."""
    warnings.simplefilter("ignore")
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for kind in KINDS:
        for method, asked in METHODS:
            lines.append(line(kind, method, asked))
            print(*lines[-1].values(), flush=True)
    pd.DataFrame(lines).to_csv(out, index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
