"""The files that pages of the documentation speak of: a small planted table and what goes with it.

Six regulators, of which `known_targets.gmt` lists half of the targets; 60 samples under four
conditions, which change the first two regulators; ten variables per operon.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from rcweb.simulate import simulate

CONDITIONS = ("wt", "ko", "heat", "cold")
M, N, P = 60, 120, 6


@cache
def example() -> dict[str, pd.DataFrame]:
    """Tables by name: expression (samples x genes), sheet, genes, known (edges), operons."""
    truth = simulate(M, N, P, density=0.15, noise=0.2, random_state=3)
    samples = [f"s{m:02d}" for m in range(M)]
    names = [f"g{n:03d}" for n in range(N)]
    condition = np.repeat(CONDITIONS, M // len(CONDITIONS))
    R, C = truth.activities.copy(), truth.network
    R[condition == "ko", 0] -= 2
    R[condition == "heat", 1] += 2
    X = truth.data + (R - truth.activities) @ C
    rng = np.random.default_rng(0)
    edges = [
        (f"tf{p + 1}", names[n], float(np.sign(C[p, n])))
        for p in range(P)
        for n in np.flatnonzero(C[p])
        if rng.random() < 0.5
    ]
    factors = pd.DataFrame(R[:20, :2] + 0.1 * rng.standard_normal((20, 2)), samples[:20])
    return {
        "expression": pd.DataFrame(X, samples, names),
        "sheet": pd.DataFrame(
            {
                "condition": condition,
                "donor": [f"d{m % 5}" for m in range(M)],
                "age": 20 + np.arange(M) % 30,
                "lab": np.where(np.arange(M) % 2, "A", "B"),
            },
            index=pd.Index(samples, name="sample"),
        ),
        "genes": pd.DataFrame(
            {"name": [f"abc{n}" for n in range(N)], "product": [f"protein {n}" for n in range(N)]},
            index=pd.Index(names, name="gene_id"),
        ),
        "known": pd.DataFrame(edges, columns=["regulator", "target", "effect"]),
        "operons": pd.DataFrame({"gene": names, "operon": [f"o{n // 3}" for n in range(N)]}),
        "measured": factors.set_axis(["tf1", "tf2"], axis=1),
    }


def write_example_files(folder: Path) -> None:
    """All of them, under the names that the pages use."""
    tables = example()
    X, sheet = tables["expression"], tables["sheet"]
    for name in ("expression.csv", "new.csv", "new_samples.csv"):
        (X.iloc[:10] if name.startswith("new") else X).to_csv(folder / name)
    for name in ("expression.tsv", "table.tsv", "new.tsv"):
        (X.iloc[:10] if name.startswith("new") else X).to_csv(folder / name, sep="\t")
    # As spreadsheets come: genes down, annotation beside the samples.
    messy = X.T.copy()
    messy.insert(0, "product", tables["genes"]["product"])
    messy.insert(1, "start", 1000 * np.arange(N) + 190)
    messy.to_csv(folder / "messy.tsv", sep="\t", index_label="gene_id")
    np.save(folder / "table.npy", X.to_numpy())
    for lab in "AB":
        X[(sheet["lab"] == lab).to_numpy()].to_csv(folder / f"{lab}.tsv", sep="\t")
    sheet.to_csv(folder / "sheet.tsv", sep="\t")
    tables["genes"].to_csv(folder / "genes.tsv", sep="\t")
    tables["operons"].to_csv(folder / "operons.tsv", sep="\t", index=False)
    tables["measured"].to_csv(folder / "measured.tsv", sep="\t")
    tables["known"].to_csv(folder / "known_edges.tsv", sep="\t", index=False)
    sets = tables["known"].groupby("regulator")["target"].apply("\t".join)
    text = "".join(f"{name}\tplanted\t{members}\n" for name, members in sets.items())
    for name in ("known_targets.gmt", "regulons.gmt"):
        (folder / name).write_text(text)
