"""The table of E. coli for scripts: ``--data`` names the folder ecoli_precise."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rcweb.knowledge import GeneSets, read_sets


@dataclass(frozen=True)
class EcoliTable:
    """X : samples x genes;  sets : known targets;  condition : of each sample."""

    folder: Path
    X: pd.DataFrame
    sets: GeneSets
    condition: pd.Series


def ecoli_table(description: str) -> EcoliTable:
    """Read it from the folder that the command line names."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    X = pd.read_parquet(folder / "expression.parquet")
    sets = read_sets(folder / "regulons.gmt").within(list(X.columns), 5)
    condition = pd.Series(X.index.str.rsplit("__", n=1).str[0], index=X.index)
    return EcoliTable(folder, X, sets, condition)
