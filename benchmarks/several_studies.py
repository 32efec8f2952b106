"""Studies together and apart: ``python benchmarks/several_studies.py``, for docs/studies.md."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.lab.benchmark.store import store_table
from rcweb.lab.metrics import score_network
from rcweb.simulate import simulate

SEEDS, N, P = 3, 150, 8
WORLDS = (((60, 60), (0.5, 0.5)), ((60, 60), (0.3, 1.2)), ((60, 60), (0.3, 3.0)))
OFFSET = 3.0  # of studies, in units of the signal


def draw(sizes: tuple[int, ...], noise: tuple[float, ...], seed: int) -> tuple[list, np.ndarray]:
    """One table per study, and the network behind them all."""
    truth = simulate(sum(sizes), N, P, noise=0.0, random_state=seed)
    signal = truth.activities @ truth.network
    unit = signal.std()
    rng, tables, start = np.random.default_rng(seed), [], 0
    for size, level in zip(sizes, noise):
        part = signal[start : start + size] + OFFSET * unit * rng.standard_normal(N)
        tables.append(part + level * unit * rng.standard_normal(part.shape))
        start += size
    return tables, truth.network


def rho(X: object, C: np.ndarray, **more: object) -> float:
    """Mean correlation of true and found rows."""
    return score_network(RCweb(P).fit(X, **more).components_, C).rho


def main() -> None:
    """Mean over seeds."""
    warnings.simplefilter("ignore")
    lines = []
    for sizes, noise in WORLDS:
        rows = []
        for seed in range(SEEDS):
            tables, C = draw(sizes, noise, seed)
            together = RCweb(P).fit(tables)
            first, second = together.study_noise_
            rows.append(
                {
                    "first alone": rho(tables[0], C),
                    "second alone": rho(tables[1], C),
                    "stacked": rho(np.vstack(tables), C),
                    "centred, not weighed": rho(np.vstack([t - t.mean(0) for t in tables]), C),
                    "together": score_network(together.components_, C).rho,
                    "noise ratio found": second / first,
                }
            )
        means = pd.DataFrame(rows).mean()
        ratio = f"{means.pop('noise ratio found'):.2f} ({noise[1] / noise[0]:g})"
        line = {"samples": ", ".join(map(str, sizes)), "noise": ", ".join(f"{x:g}" for x in noise)}
        lines.append({**line, **means.map("{:.3f}".format), "noise ratio found (true)": ratio})
        print(lines[-1], flush=True)
    store_table("several_studies", pd.DataFrame(lines))


if __name__ == "__main__":
    main()
