"""Two fits side by side on real tables: the tables of docs/compare.md.

python benchmarks/two_fits.py --data ../shared/data
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from rcweb import RCweb
from rcweb.activity import Comparison, compare
from rcweb.lab.benchmark.store import store_table
from rcweb.lab.datasets import load_ecoli

P, SHUFFLES = 40, 100


def main() -> None:
    """Two halves of the samples of E. coli; E. coli beside S. aureus by the names of genes."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    coli, staph = data / "ecoli_precise", data / "saur_imodulon"
    # The table of docs/figures/compare.py, in double precision.
    ecoli = named(load_ecoli().expression, coli / "genes.tsv.gz", "gene_name")
    aureus = named(pd.read_parquet(staph / "X.parquet"), staph / "gene_table.tsv.gz", "gene_name")
    order = np.random.default_rng(0).permutation(len(ecoli))
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    first, second = (fit(ecoli.iloc[half]) for half in halves)
    pairs = {
        "two random halves of the samples, *E. coli*": (first, second),
        "*E. coli* and *S. aureus*, genes of the same name": (fit(ecoli), fit(aureus)),
    }
    lines = []
    for name, (a, b) in pairs.items():
        lines.append({"": name, **line(compare(a, b)), **shuffled(a, b)})
        print(lines[-1], flush=True)
    store_table("two_fits", pd.DataFrame(lines))


def named(X: pd.DataFrame, genes: Path, column: str) -> pd.DataFrame:
    """Names of genes instead of ids; ids where a name is missing or taken."""
    names = pd.read_csv(genes, sep="\t", index_col=0)[column].reindex(X.columns)
    taken = names.isna() | names.duplicated(keep=False)
    return X.set_axis(list(names.mask(taken, pd.Series(X.columns, X.columns))), axis=1)


def fit(X: pd.DataFrame) -> RCweb:
    """As the page says."""
    return RCweb(P, random_state=0).fit(X)


def line(result: Comparison) -> dict[str, str]:
    """Numbers of relations."""
    table = result.table
    kinds = table["relation"].value_counts()
    same = table[table["relation"] == "same"]
    return {
        "same": f"{len(same)} of {P}",
        "median correlation": f"{same['correlation'].abs().median():.2f}",
        **{kind: str(kinds.get(kind, 0)) for kind in ("split", "merged", "lost", "new")},
    }


def shuffled(a: RCweb, b: RCweb) -> dict[str, str]:
    """Pairs that are related although the variables of B are in another order."""
    rng, related = np.random.default_rng(0), 0
    weights = frame(b)
    for _ in range(SHUFFLES):
        other = weights.set_axis(rng.permutation(weights.columns), axis=1)
        table = compare(frame(a), other).table
        related += int(table["relation"].isin(["same", "split", "merged", "regrouped"]).sum())
    return {f"related pairs in {SHUFFLES} shuffles": str(related)}


def frame(model: RCweb) -> pd.DataFrame:
    """The network as a table."""
    return pd.DataFrame(model.components_, model.get_feature_names_out(), model.feature_names_in_)


if __name__ == "__main__":
    main()
