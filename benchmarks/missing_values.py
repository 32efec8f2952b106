"""Accuracy with holes: the table of docs/scale.md. ``python benchmarks/missing_values.py``"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.lab.benchmark.scenarios import AUTHOR, figure1
from rcweb.lab.benchmark.store import store_table
from rcweb.lab.metrics import score_network

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


def main() -> None:
    """Figure 1's setting: correlation, precision and recall."""
    warnings.simplefilter("ignore")
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
