"""Named regulators of E. coli and yeast, beside FastICA: the tables of docs/interpretation.md.

RCWEB_DATA=folder python benchmarks/applications.py
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import pandas as pd

from rcweb.lab.applications import ecoli, yeast
from rcweb.lab.benchmark.store import store_table

FIRST = 7  # rows of the paper's figure 5 that the page shows


def main() -> None:
    """Run both applications and keep their tables."""
    warnings.simplefilter("ignore")
    for name, run in (("ecoli", ecoli.run), ("yeast", yeast.run)):
        with tempfile.TemporaryDirectory() as folder:
            result = run(Path(folder) / name, compare=True, random_state=0)
        store_table(f"applications_{name}", result.comparison)
        print(result.comparison.to_string(index=False), flush=True)
        if name == "yeast":
            store_table("applications_figure5", first_rows(result.figure5))


def first_rows(figure5: pd.DataFrame) -> pd.DataFrame:
    """The most significant ones."""
    return figure5.head(FIRST).drop(columns="log10_p", errors="ignore")


if __name__ == "__main__":
    main()
