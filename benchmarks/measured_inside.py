"""What measured regulators add inside the fit: the first table of docs/measured.md.

    python benchmarks/measured_inside.py

Figure 3A of the paper with 100 samples: 10 of the 30 regulators are measured in a share of the
samples, with an error in units of their standard deviation.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.engine.matching import match_rows, row_correlation
from rcweb.lab.benchmark.scenarios import AUTHOR, figure3
from rcweb.lab.benchmark.store import store_table
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import Simulation

SEEDS, FACTORS = 3, 10
CASES = (  # share of the samples, error, whether the measurements are shuffled
    (0.2, 0.1, False),
    (0.5, 0.1, False),
    (0.5, 0.3, False),
    (0.5, 1.0, False),
    (0.5, 0.3, True),
)


def main() -> None:
    """One line per case: names, rows of the factors and all rows, after the fit and in it."""
    warnings.simplefilter("ignore")
    (cell,) = [c for c in figure3(AUTHOR, "", "A") if (c.n_features, c.n_samples) == (500, 100)]
    results: dict[tuple, list] = {case: [] for case in CASES}
    for seed in range(SEEDS):
        truth = cell.draw(seed)
        blind = RCweb(cell.n_regulators, random_state=seed).fit(truth.data)
        for case in CASES:
            measured = measurements(truth, *case, np.random.default_rng(seed))
            blind.measure(blind.transform(truth.data), measured)
            inside = RCweb(cell.n_regulators, random_state=seed).fit(truth.data, measured=measured)
            after, within = scores(blind, truth), scores(inside, truth)
            same = np.array_equal(blind.weights_, inside.weights_)
            results[case].append([*after, *within, same])
    lines = []
    for (share, error, shuffled), rows in results.items():
        named, right, row, every, named_in, right_in, row_in, every_in, same = np.mean(rows, axis=0)
        lines.append(
            {
                "samples, error": f"{share:.0%}, {error}" + (", shuffled" if shuffled else ""),
                "named, right: after the fit": f"{named:.2f}, {right:.2f}",
                "named, right: in the fit": f"{named_in:.2f}, {right_in:.2f}",
                "row: after": "-" if shuffled else f"{row:.2f}",
                "row: in": "-" if shuffled else f"{row_in:.2f}",
                "all rows: blind": f"{every:.2f}",
                "all rows: in": f"{every_in:.2f}" + (", same bits" if same == 1 else ""),
            }
        )
        print(lines[-1], flush=True)
    store_table("measured_inside", pd.DataFrame(lines))


def measurements(
    truth: Simulation, share: float, error: float, shuffled: bool, rng: np.random.Generator
) -> np.ndarray:
    """(M, F): the first regulators in a share of the samples, with errors; NaN elsewhere."""
    R = truth.activities[:, :FACTORS]
    values = R + error * R.std(axis=0) * rng.standard_normal(R.shape)
    values[rng.permutation(len(R))[round(share * len(R)) :]] = np.nan
    if shuffled:
        seen = np.isfinite(values[:, 0])
        values[seen] = rng.permuted(values[seen], axis=0)
    return values


def scores(model: RCweb, truth: Simulation) -> tuple[float, float, float, float]:
    """Share of factors named, and named rightly; correlation of the rows assigned to factors with
    the true ones; accuracy of all rows."""
    table, names = model.measured_, list(model.get_feature_names_out())
    pairs = match_rows(model.weights_, truth.network)
    regulator = {int(true): names[found] for found, true in zip(pairs.found, pairs.other)}
    named = table["regulator"].notna()
    right = [name == regulator.get(k) for k, name in enumerate(table["regulator"])]
    rows = model.weights_[[names.index(name) for name in table["candidate"]]]
    correlation = np.abs(np.diag(row_correlation(rows, truth.network[:FACTORS])))
    every = score_network(model.weights_, truth.network).rho
    return float(named.mean()), float(np.mean(right)), float(correlation.mean()), every


if __name__ == "__main__":
    main()
