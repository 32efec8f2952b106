"""Accuracy with holes: the tables of docs/scale.md. ``python benchmarks/missing_values.py``"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.lab.benchmark.scenarios import AUTHOR, figure1
from rcweb.lab.benchmark.store import store_table
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import simulate

SEEDS = 3
KINDS = ("nothing", "10 % at random", "30 % at random", "30 %, the small values")


def holes(X: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Which values are missing."""
    if kind == "nothing":
        return np.zeros(X.shape, bool)
    if kind.endswith("random"):
        return rng.random(X.shape) < float(kind.split()[0]) / 100
    # Three of five below the median of their variable.
    return (np.median(X, axis=0) > X) & (rng.random(X.shape) < 0.6)


def at_random(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A third of the values."""
    return rng.random(Z.shape) < 0.3


def not_detected(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All below a limit."""
    return Z < -0.6


def seldom_detected(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The smaller, the likelier."""
    return rng.random(Z.shape) < 1 / (1 + np.exp(3 * (Z + 0.7)))


WHY = {
    "at random": at_random,
    "all below a limit": not_detected,
    "the smaller, the likelier": seldom_detected,
}


def empty_or_smallest() -> None:
    """100 samples, 400 variables, 10 regulators, a third missing: left empty, or set to the
    smallest value of their variable; the number of regulators is not told."""
    lines = []
    for why, missing in WHY.items():
        for noise in (0.3, 1.0):
            scores = []
            for seed in range(SEEDS):
                truth = simulate(100, 400, 10, noise=noise, random_state=seed)
                X, rng = truth.data, np.random.default_rng(seed)
                # Variables differ in how far they are above the limit.
                Z = (X - X.mean(axis=0)) / X.std(axis=0) + 0.7 * rng.standard_normal(X.shape[1])
                gone = missing(Z, rng)
                often = (~gone).sum(axis=0) >= 4
                X, gone, network = X[:, often], gone[:, often], truth.network[:, often]
                smallest = np.where(gone, np.inf, X).min(axis=0)
                models = (
                    RCweb(random_state=0).fit(np.where(gone, other, X))
                    for other in (X, np.nan, smallest)
                )
                scores.append([score_network(m.weights_, network).rho for m in models])
            nothing, empty, filled = np.mean(scores, axis=0)
            lines.append(
                {
                    "missing": why,
                    "noise": noise,
                    "nothing missing": f"{nothing:.3f}",
                    "left empty": f"{empty:.3f}",
                    "set to the smallest value": f"{filled:.3f}",
                }
            )
            print(lines[-1], flush=True)
    store_table("small_values", pd.DataFrame(lines))


def main() -> None:
    """Figure 1's setting: correlation, precision and recall."""
    warnings.simplefilter("ignore")
    empty_or_smallest()
    cells = [cell for cell in figure1(AUTHOR, "author") if cell.n_regulators <= 60]
    lines = []
    for kind in KINDS:
        line = {"missing": kind}
        for cell in cells:
            scores = []
            for seed in range(SEEDS):
                truth = cell.draw(seed)
                gone = holes(truth.data, kind, np.random.default_rng(seed))
                model = RCweb(cell.n_regulators).fit(np.where(gone, np.nan, truth.data))
                # Edges by the network, accuracy by the best estimate of every weight.
                edges = score_network(model.components_, truth.network)
                rho = score_network(model.weights_, truth.network).rho
                scores.append((rho, edges.precision, edges.recall))
            rho, precision, recall = np.mean(scores, axis=0)
            line[f"P = {cell.n_regulators}"] = f"{rho:.5f}, {precision:.3f}, {recall:.3f}"
        lines.append(line)
        print(line, flush=True)
    store_table("missing_values", pd.DataFrame(lines))


if __name__ == "__main__":
    main()
