"""Studies together and apart: ``python benchmarks/several_studies.py``, for docs/studies.md."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.engine.matching import match_rows
from rcweb.lab.benchmark.store import store_table
from rcweb.lab.metrics import score_network
from rcweb.simulate import simulate

SEEDS, N, P = 3, 150, 8
WORLDS = (
    ((60, 60), (0.5, 0.5)),
    ((60, 60), (0.3, 1.2)),
    ((60, 60), (0.3, 3.0)),
    ((25, 120), (0.2, 0.8)),
    ((40, 150), (0.3, 1.5)),
)
LOST = 0.25  # share of a regulator's targets that one study lacks
FLAG_SEEDS = 10
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
    store_table("studies_disagree", pd.DataFrame([flagged(changed) for changed in (True, False)]))


def flagged(changed: bool) -> dict[str, str]:
    """How often a regulator is told to disagree, of which one study lacks a quarter of the targets,
    or none."""
    hits, others, n_others = 0, 0, 0
    for seed in range(FLAG_SEEDS):
        truth = simulate(120, N, P, noise=0.3, random_state=100 + seed)
        C = truth.network.copy()
        targets = np.flatnonzero(C[0])
        C[0, targets[: int(np.ceil(LOST * len(targets)))]] = 0
        second = truth.data[60:]
        if changed:
            second = second + truth.activities[60:] @ (C - truth.network)
        model = RCweb(P).fit([truth.data[:60], second])
        table = model.studies_
        told = table.groupby("regulator")["disagrees"].any()
        pairs = match_rows(model.weights_, truth.network)
        true = pd.Series(pairs.other, np.array(model.get_feature_names_out())[pairs.found])
        first = told.index.map(true) == 0
        hits += int(told[first].any()) if changed else 0
        others += int(told[~first].sum() if changed else told.sum())
        n_others += int((~first).sum() if changed else len(told))
    name = "a quarter of the targets of one regulator" if changed else "nothing"
    return {
        "missing in one study": name,
        "flagged": f"{hits} of {FLAG_SEEDS}" if changed else "",
        "other regulators flagged": f"{others} of {n_others}",
    }


if __name__ == "__main__":
    main()
