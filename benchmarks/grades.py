"""How often regulators of each grade are right: the numbers in docs/reading.md.

``python benchmarks/grades.py`` fits tables of the plan ``foreign``, two of every world, with the
number of regulators told and with "auto", and writes ``benchmarks/results/grades/grades.csv``: one
line per table, number asked for and grade. A regulator is right if its weights correlate above 0.9
with those of a planted one. In nulls nothing is right. About ten minutes on one core; RCWEB_DATA
adds the null made of a real table.
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np

from rcweb import RCweb
from rcweb.engine.conventions import RIGHT
from rcweb.engine.matching import row_correlation
from rcweb.lab.benchmark.foreign import UNTELLABLE, ForeignCell, foreign_cells
from rcweb.network.grades import GRADES, grades_of

SEEDS = (0, 1)
OUT = Path(__file__).parent / "results" / "grades" / "grades.csv"
COLUMNS = ("world", "kind", "asked", "seed", "grade", "regulators", "right", "edges")


def kind_of(cell: ForeignCell) -> str:
    """Whether there is something to find, and whether rows can be told apart."""
    if cell.world.startswith("null"):
        return "noise"
    return "untellable" if cell.panel.startswith(UNTELLABLE) else "planted"


def counts(cell: ForeignCell, seed: int) -> list[dict[str, object]]:
    """Regulators of each grade in one table, and how many of them are right."""
    world = cell.draw(seed)
    most = min(cell.n_samples - 1, cell.n_features)
    known = min(cell.n_regulators, most)
    model = RCweb(known if cell.asked == "known" else "auto", random_state=0).fit(world.data)
    grades = np.array(grades_of(model.diagnosis_))
    best = np.zeros(len(grades))
    if len(world.rows):
        best = np.abs(row_correlation(model.weights_, world.rows)).max(axis=1)
    edges = (model.components_ != 0).sum(axis=1)
    return [
        {
            "world": cell.panel,
            "kind": kind_of(cell),
            "asked": cell.asked,
            "seed": seed,
            "grade": grade,
            "regulators": int((grades == grade).sum()),
            "right": int((best[grades == grade] > RIGHT).sum()),
            "edges": int(edges[grades == grade].sum()),
        }
        for grade in GRADES
    ]


def main(out: Path) -> None:
    """Write the table."""
    warnings.simplefilter("ignore")
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for cell in (*foreign_cells(), *foreign_cells("auto")):
            for seed in SEEDS:
                writer.writerows(counts(cell, seed))
                file.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
