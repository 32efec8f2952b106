"""How often 95 % intervals of activities hold the planted activity: the table in docs/activity.md.

``python benchmarks/activity_coverage.py [seeds]`` writes one line per world: samples that were
fitted / 60 new ones. Regulators count that the fit calls found, right or wrong; they
are matched one to one to the planted ones, sign and scale by the weights.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.engine.matching import match_rows
from rcweb.lab.benchmark.store import store_table
from rcweb.lab.simulate import simulate

SAMPLES = (15, 25, 40, 80, 200)
MANY = 40
JUDGED = (15, 40, 200)
NEW = 60
FIRST_SEED = 200  # the estimate was developed on seeds below
MISSING = 0.3
# Name, then variables, regulators, noise / signal, density, activities, noise, network.
WORLDS = (
    ("100 variables, 5 regulators", 100, 5, 0.3, 0.2, "gaussian", "homoscedastic", "poisson"),
    ("60 variables, unequal noise", 60, 4, 0.5, 0.25, "gaussian", "per_variable", "poisson"),
    ("uniform activities", 200, 8, 0.5, 0.15, "uniform", "per_variable", "poisson"),
    ("noise as large as signal", 300, 10, 1.0, 0.15, "gaussian", "per_variable", "powerlaw"),
    ("heavy-tailed activities, hubs", 300, 10, 0.5, 0.1, "heavy", "homoscedastic", "hubs"),
    ("heavy-tailed noise, shared targets", 300, 10, 0.5, 0.15, "correlated", "heavy", "modules"),
)


def covered(world: tuple, M: int, seed: int, method: str = "refined") -> np.ndarray:
    """Shares of intervals that hold the truth: fitted and new samples, complete and with 30 % of
    the values missing; then the share of regulators found, and of these the share right."""
    _, N, P, noise, density, regulators, kind, network = world
    truth = simulate(
        M + NEW, N, P, density=density, noise=noise, regulators=regulators, noise_kind=kind,
        network=network, random_state=seed,
    )  # fmt: skip
    model = RCweb(P, method=method, center=True, random_state=0).fit(truth.data[:M])
    pairs = match_rows(model.weights_, truth.network)
    found = np.ones(len(pairs.found), bool)
    if method == "refined":
        found = model.diagnosis_["found"].to_numpy(dtype=bool)[pairs.found]
    true = (truth.activities - truth.activities[:M].mean(axis=0))[:, pairs.other] * pairs.scale
    holes = np.random.default_rng(seed).random(truth.data.shape) < MISSING
    shares = []
    for X in (truth.data, np.where(holes, np.nan, truth.data)):
        R, sd = model.transform(X, return_std=True)
        inside = (np.abs(R[:, pairs.found] - true) < 1.96 * sd[:, pairs.found])[:, found]
        shares += [inside[:M].mean(), inside[M:].mean()]
    right = np.abs(pairs.correlation[found]) > 0.95
    return np.array([*shares, found.mean(), right.mean()])


def main(seeds: int) -> None:
    """Store the table, and the range over worlds of those with 40 samples or more."""
    warnings.simplefilter("ignore")
    lines, many, holes = [], [], []
    for world, method in [*((w, "refined") for w in WORLDS), (WORLDS[0], "paper")]:
        name = world[0] if method == "refined" else f'{world[0]}, `method="paper"`'
        line, rights = {"planted world": name}, []
        for M in SAMPLES:
            rows = [covered(world, M, FIRST_SEED + s, method) for s in range(seeds)]
            fitted, new, few, few_new, _, right = np.nanmean(rows, axis=0)
            line[f"M = {M}"] = f"{fitted:.3f} / {new:.3f}"
            if M >= MANY:
                many += [fitted, new]
                holes += [few, few_new]
            if M in JUDGED:
                rights.append(f"{right:.2f}")
        lines.append({**line, f"right at {', '.join(map(str, JUDGED))}": " ".join(rights)})
        print(lines[-1], flush=True)
    store_table("activity_coverage", pd.DataFrame(lines))
    ranges = {"complete": many, "30 % missing": holes}
    spread = [{"values": k, "least": min(v), "greatest": max(v)} for k, v in ranges.items()]
    store_table("activity_coverage_range", pd.DataFrame(spread).round(3))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
