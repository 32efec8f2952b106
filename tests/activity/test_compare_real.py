"""The numbers of docs/compare.md: real organisms, their halves and their names."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb
from rcweb.activity import compare
from rcweb.knowledge import name_regulators, read_sets

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def data() -> Path:
    if "RCWEB_DATA" not in os.environ:
        pytest.skip("RCWEB_DATA does not name the folder of real tables")
    return Path(os.environ["RCWEB_DATA"])


def fitted(X: pd.DataFrame, sets: Path) -> RCweb:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the input check: a centred table
        model = RCweb(40, random_state=0).fit(X)
    return model.set_names(name_regulators(model, read_sets(sets))["name"])


def n_related(counts: dict[str, dict[str, int]]) -> int:
    return sum(counts[r]["A"] for r in ("same", "split", "merged", "regrouped"))


def test_halves_of_the_samples_of_ecoli(data):
    """24 of 40 regulators, most of them with the same name; with shuffled genes next to none."""
    X = pd.read_parquet(data / "ecoli_precise/expression.parquet")
    order = np.random.default_rng(0).permutation(len(X))
    halves = (X.iloc[np.sort(half)] for half in (order[:139], order[139:]))
    a, b = (fitted(half, data / "ecoli_precise/regulons.gmt") for half in halves)
    found = compare(a, b)
    assert found.counts["same"]["A"] >= 24
    same = found.table[found.table["relation"] == "same"]
    assert same["correlation"].abs().median() > 0.8
    # fur-2 is another part of what RegulonDB calls fur.
    names = [
        (x.split("-")[0], y.split("-")[0])
        for x, y in zip(same["a_name"], same["b_name"])
        if not x.startswith("rcweb") and not y.startswith("rcweb")
    ]
    assert np.mean([x == y for x, y in names]) > 0.7
    rng = np.random.default_rng(1)
    network = b.network_
    shuffled = [
        replace(network, weights=network.weights[:, rng.permutation(X.shape[1])]) for _ in range(10)
    ]
    assert sum(n_related(compare(a, other).counts) for other in shuffled) <= 2


def test_ecoli_and_staphylococcus_by_names_of_genes(data):
    """The regulators of iron uptake find each other through genes of the same name."""
    ecoli, saur = data / "ecoli_precise", data / "saur_imodulon"
    a = fitted(pd.read_parquet(ecoli / "expression.parquet"), ecoli / "regulons.gmt")
    b = fitted(pd.read_parquet(saur / "X.parquet"), saur / "regulons.gmt")
    names = [
        pd.read_csv(path, sep="\t", index_col=0)["gene_name"].dropna().str.lower()
        for path in (ecoli / "genes.tsv.gz", saur / "gene_table.tsv.gz")
    ]
    pairs = (
        names[0]
        .rename_axis("a")
        .reset_index()
        .merge(names[1].rename_axis("b").reset_index(), on="gene_name")[["a", "b"]]
    )
    found = compare(a, b, pairs)
    same = found.table[found.table["relation"] == "same"]
    assert ("fur", "Fur") in set(zip(same["a_name"], same["b_name"]))
    assert n_related(found.counts) >= 10
    rng = np.random.default_rng(0)
    shuffled = [pairs.assign(b=rng.permutation(pairs["b"])) for _ in range(10)]
    assert sum(n_related(compare(a, b, other).counts) for other in shuffled) <= 2
