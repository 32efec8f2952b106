"""Which statistic tells the deleted regulator? Contrasts of activities, and tests of known lists.

    python benchmarks/knockouts.py --data ../shared/data/ecoli_precise

For each deletion strain of E. coli: the share of the other components (or lists) that change less
than the one of the deleted regulator, mean over strains; and how often it is significant.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from ecoli_table import ecoli_table
from sklearn.decomposition import FastICA

from rcweb import RCweb
from rcweb.activity import changed, contrast
from rcweb.knowledge import GeneSets, overlap_test
from rcweb.lab.benchmark.store import store_table

P = 92


def area(values: pd.Series, chosen: str) -> float:
    """Share of the others below `chosen`, ties count half."""
    others = values.drop(chosen)
    return float((others < values[chosen]).mean() + 0.5 * (others == values[chosen]).mean())


def main() -> None:
    """Store one line per method."""
    data = ecoli_table(__doc__.splitlines()[0])
    X, sets, condition = data.X, data.sets, data.condition
    strains = pd.read_csv(data.folder / "knockouts.tsv", sep="\t")
    there = set(condition)
    strains = strains[
        strains["regulator"].isin(sets.names)
        & strains["deletion"].isin(there)
        & strains["wild_type"].isin(there)
    ]
    model = RCweb(P, random_state=0).fit(X)
    fits = {"RCweb": (model.components_ != 0, model.transform(X))}
    for seed in range(3):
        ica = FastICA(P, random_state=seed, whiten="unit-variance", max_iter=500, tol=1e-3)
        rows = ica.fit_transform((X - X.mean()).to_numpy().T).T
        z = rows / rows.std(axis=1, keepdims=True)
        fits[f"FastICA, seed {seed}"] = (
            np.abs(z) > 3,
            (X - X.mean()).to_numpy() @ np.linalg.pinv(z),
        )
    lines = []
    for name, (edges, activities) in fits.items():
        lines += judge(name, edges, activities, X, sets, condition, strains)
    for name, groups in (("with `groups`", condition), ("without `groups`", None)):
        found = []
        for row in strains.itertuples():
            ends = (row.deletion, row.wild_type)
            if groups is None:  # then groups are given by the names of their samples
                ends = tuple(list(X.index[condition == end]) for end in ends)
            table = changed(X, sets, *ends, groups=groups).set_index("regulator")
            significant = bool(table.loc[row.regulator, "q"] < 0.05)
            found.append((area(table["t"], row.regulator), significant))
        lines.append(line(f"known lists, `changed` {name}", found))
    store_table("knockouts", pd.DataFrame(lines))


def judge(
    name: str,
    edges: np.ndarray,
    activities: np.ndarray,
    X: pd.DataFrame,
    sets: GeneSets,
    condition: pd.Series,
    strains: pd.DataFrame,
) -> list[dict[str, str]]:
    """Areas by change in units of the spread, and by |t| of the contrast."""
    names = [f"r{p}" for p in range(len(edges))]
    weights = pd.DataFrame(edges.astype(float), index=names, columns=X.columns)
    table = overlap_test(weights, sets).table()
    best = table.sort_values("log10_p").groupby("set")["regulator"].first()
    R = pd.DataFrame(activities, index=X.index, columns=names)
    plain, tested = [], []
    for row in strains.itertuples():
        chosen = best.get(row.regulator)
        if chosen is None:
            continue
        means = R.groupby(condition).mean()
        change = (means.loc[row.deletion] - means.loc[row.wild_type]).abs() / R.std()
        plain.append((area(change, chosen), None))
        both = contrast(R, condition, row.wild_type)
        both = both[both["group"] == row.deletion].set_index("regulator")
        tested.append((area(both["t"].abs(), chosen), bool(both.loc[chosen, "q"] < 0.05)))
    return [line(f"{name}, change / sd", plain), line(f"{name}, `contrast`, absolute t", tested)]


def line(name: str, found: list[tuple[float, bool | None]]) -> dict[str, str]:
    """Mean area, its standard error, and the number of significant ones."""
    areas = np.array([a for a, _ in found])
    error = areas.std(ddof=1) / np.sqrt(len(areas))
    hits = [hit for _, hit in found if hit is not None]
    return {
        "judged by": name,
        "area": f"{areas.mean():.3f} ± {error:.3f}",
        "deleted one at q < 0.05": f"{sum(hits)} of {len(hits)}" if hits else "",
    }


if __name__ == "__main__":
    main()
