"""How often p is small where nothing changed: contrasts of activities, and tests of known lists.

    python benchmarks/null_changes.py --data ../shared/data/ecoli_precise

E. coli. Samples are residuals of replicates (each condition at its mean) or any samples, two
against two; or the labels of all samples are shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from ecoli_table import ecoli_table

from rcweb import RCweb
from rcweb.activity import changed, contrast
from rcweb.lab.benchmark.store import store_table

P, PAIRS, SHUFFLES = 92, 60, 20


def main() -> None:
    """Store both tables."""
    data = ecoli_table(__doc__.splitlines()[0])
    X, sets, condition = data.X, data.sets, data.condition
    rng = np.random.default_rng(0)
    residual = X - X.groupby(condition).transform("mean")
    replicated = condition.map(condition.value_counts()) > 1
    lines = []
    kinds = {
        "`changed` with `groups`, residuals of replicates": (residual[replicated], condition),
        "`changed` with `groups`, labels shuffled": (X, "shuffled"),
        "`changed` without `groups`, any samples": (X, None),
    }
    for name, (table, groups) in kinds.items():
        found = list(pairs(table, groups, condition, sets, rng))
        p = np.concatenate([one["p"] for one in found])
        any_list = np.mean([(one["q"] < 0.05).any() for one in found])
        lines.append(line(name, p) | {"any list at q < 0.05": f"{any_list:.2f}"})
        print(lines[-1], flush=True)
    store_table("null_changes", pd.DataFrame(lines))
    R = pd.DataFrame(RCweb(P).fit(X).transform(X), X.index)
    shuffled = [
        contrast(R, rng.permutation(condition), "control__wt_glc")["p"] for _ in range(SHUFFLES)
    ]
    store_table("null_contrasts", pd.DataFrame([line("labels shuffled", np.concatenate(shuffled))]))


def pairs(
    table: pd.DataFrame,
    groups: object,
    condition: pd.Series,
    sets: object,
    rng: np.random.Generator,
) -> Iterator[pd.DataFrame]:
    """Tests of all lists between two samples and two others, without a change."""
    for _ in range(PAIRS):
        labels = condition[table.index]
        if isinstance(groups, str):
            labels = pd.Series(rng.permutation(labels), table.index)
            sizes = labels.value_counts()
            ends = rng.choice(sizes.index[sizes == 2], 2, replace=False)
            yield changed(table, sets, *ends, groups=labels)
            continue
        chosen = rng.choice(len(table), 4, replace=False)
        ends = [list(table.index[chosen[:2]]), list(table.index[chosen[2:]])]
        if groups is None:
            yield changed(table, sets, *ends)
        else:
            labels = labels.copy()
            labels.iloc[chosen[:2]], labels.iloc[chosen[2:]] = "one", "two"
            yield changed(table, sets, "one", "two", groups=labels)


def line(name: str, p: np.ndarray) -> dict[str, str]:
    """Shares of small p."""
    return {
        "": name,
        "p < 0.05": f"{(p < 0.05).mean():.3f}",
        "p < 0.001": f"{(p < 0.001).mean():.4f}",
        "tests": f"{len(p):,}",
    }


if __name__ == "__main__":
    main()
