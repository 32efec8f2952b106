"""How many measurements name a regulator: the table of docs/interpretation.md.

    python benchmarks/measured_factors.py

Ten regulators, five of them measured in n samples with an error of 0.2 of their spread.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.engine.matching import match_rows
from rcweb.knowledge import match_measured
from rcweb.lab.benchmark.store import store_table
from rcweb.simulate import simulate

SEEDS, FACTORS, ERROR = 50, 5, 0.2
COUNTS = (3, 4, 5, 6, 8, 12)


def main() -> None:
    """Share of factors named rightly, of names that are wrong, of intervals that hold the scale."""
    warnings.simplefilter("ignore")
    found: dict[int, list] = {n: [] for n in COUNTS}
    for seed in range(SEEDS):
        truth = simulate(150, 300, 10, density=0.1, noise=0.2, random_state=seed)
        model = RCweb(10, random_state=0).fit(truth.data)
        names = list(model.get_feature_names_out())
        R = pd.DataFrame(model.transform(truth.data), columns=names)
        pairs = match_rows(model.weights_, truth.network)
        true = {int(b): (names[a], s) for a, b, s in zip(pairs.found, pairs.other, pairs.scale)}
        rng = np.random.default_rng(seed)
        for n in COUNTS:
            chosen = rng.choice(150, n, replace=False)
            U = pd.DataFrame(np.nan, R.index, range(FACTORS))
            noise = ERROR * rng.standard_normal((n, FACTORS))
            spread = truth.activities[:, :FACTORS].std(axis=0)
            U.iloc[chosen] = truth.activities[chosen][:, :FACTORS] + noise * spread
            for k, row in enumerate(match_measured(R, U).itertuples()):
                name, scale = true[k]
                right = row.regulator == name
                # An activity is `scale` times the true one, so a factor is 1 / scale times it.
                inside = row.scale_low <= 1 / scale <= row.scale_high
                found[n].append((row.regulator is not None, right, inside))
    lines = []
    for n, rows in found.items():
        named, right, inside = np.array(rows, dtype=bool).T
        some = named.any()
        lines.append(
            {
                "samples measured": n,
                "found": f"{right.mean():.1%}",
                "false among names": f"{(named & ~right).sum() / max(named.sum(), 1):.1%}",
                "scale inside its 95 % interval": f"{inside[right].mean():.0%}" if some else "",
            }
        )
        print(lines[-1], flush=True)
    store_table("measured_factors", pd.DataFrame(lines))


if __name__ == "__main__":
    main()
