"""Real tables of four organisms in the form of the field's own benchmark (Saelens et al. 2018).

Each row of the results is one method on one table, compared with one collection of known
regulators: the curve over the number of edges (`rcweb.lab.benchmark.curves`), the same with
permuted genes, knock-outs, replicates, and agreement with another fit. The tables are not part of
the package: RCWEB_DATA names their folder (docs/benchmark.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from rcweb.knowledge import GeneSets, read_gmt
from rcweb.lab.benchmark.agreement import agreement, matched_rows, replicate_agreement
from rcweb.lab.benchmark.curves import curve, met_sets
from rcweb.lab.benchmark.fits import TableFit, find
from rcweb.lab.benchmark.knockouts import knockout_areas
from rcweb.lab.datasets.files import required_data_folder

# Where halves are compared. Unrelated rows do not reach this level; above 0.9 hardly any row of any
# method recurs in a half of the samples.
HALVES_EDGES = 2000
HALVES_LEVEL = 0.7


@dataclass(frozen=True)
class OrganismCell:
    """A table, known regulators (paths below RCWEB_DATA), and what is asked of the methods.

    asked : "known" (P) or "auto"
    part : "whole": curve, knock-outs, replicates, agreement with seed 0; "halves": of the samples,
        at random; "shuffled": samples and variables in another order, signs flipped, which should
        not change the answer
    """

    figure: str
    panel: str
    table: str
    sets: str
    n_regulators: int
    asked: str = "known"
    part: str = "whole"

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        number = f"P={self.n_regulators}" if self.asked == "known" else self.asked
        return f"{self.panel} {number} {self.part}"

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        return f"{self.figure} {self.label} {self.table} {self.sets}"


@dataclass(frozen=True)
class About:
    """Files that go with a table: samples and the columns that tell replicates apart from other
    conditions, deletions, and the sets of the published decomposition."""

    samples: str | None = None
    condition: tuple[str, ...] = ()
    knockouts: str | None = None
    published: str | None = None


ABOUT = {
    "ecoli_precise/expression.parquet": About(
        "ecoli_precise/samples.tsv.gz",
        ("project", "condition"),
        "ecoli_precise/knockouts.tsv",
        "ecoli_precise/imodulons.gmt",
    ),
    "yeast_m3d_s98/expression.parquet": About(),
    "mtb_modulome/expression.parquet": About(
        "mtb_modulome/samples.tsv.gz",
        ("project", "condition"),
        published="mtb_modulome/imodulons.gmt",
    ),
    "saur_imodulon/X.parquet": About(
        "saur_imodulon/sample_table.tsv.gz", ("project", "condition", "base-media")
    ),
}

REAL_TABLES = (
    ("E. coli, RegulonDB", "ecoli_precise/expression.parquet", "ecoli_precise/regulons.gmt", 92),
    ("yeast, MacIsaac", "yeast_m3d_s98/expression.parquet", "yeast_tf/macisaac2006.gmt", 100),
    ("yeast, YEASTRACT", "yeast_m3d_s98/expression.parquet", "yeast_tf/yeastract_c3.gmt", 100),
    (
        "M. tuberculosis",
        "mtb_modulome/expression.parquet",
        "mtb_modulome/regulons_experimental.gmt",
        100,
    ),
    ("S. aureus", "saur_imodulon/X.parquet", "saur_imodulon/regulons.gmt", 36),
)


def organism_cells(asked: str = "known", part: str = "whole") -> tuple[OrganismCell, ...]:
    """Every table with every collection of its known regulators."""
    return tuple(OrganismCell("organisms", *table, asked, part) for table in REAL_TABLES)


def measure_organism(cell: OrganismCell, method: str, seed: int) -> dict[str, Any]:
    """The row of one method on the cell's part of the table."""
    measured = {"whole": _whole, "halves": _halves, "shuffled": _shuffled}
    return measured[cell.part](cell, method, seed)


def _whole(cell: OrganismCell, method: str, seed: int) -> dict[str, Any]:
    names, sets = _names(cell.table), _sets(cell.sets)
    found = _fit(cell, method, seed)
    # Permuted genes: what is met by chance.
    order = np.random.default_rng(seed).permutation(len(names))
    # FastICA beside it in the same process, so that the load of the machine cancels.
    beside = _fitted(cell.table, cell.n_regulators, "fastica", seed)
    row = {
        **_facts(found),
        "seconds_ratio": round(found.cpu_seconds / beside.cpu_seconds, 3),
        "curve": _columns(curve(found.scores, sets, variables=names)),
        "permuted": _columns(curve(found.scores[:, order], sets, variables=names)),
        "published": _published(cell),
        **_knockouts(cell, found),
    }
    groups = _conditions(cell.table)
    if groups is not None:
        row["replicates"] = round(replicate_agreement(found.activities, groups), 4)
    if seed:
        row.update(_agreement(_fit(cell, method, 0), found))
    return row


def _halves(cell: OrganismCell, method: str, seed: int) -> dict[str, Any]:
    """Known sets met in both halves of the samples, and regulators that match one to one."""
    first, second = _fitted_halves(cell.table, _asked(cell), method, seed)
    names, sets = _names(cell.table), _sets(cell.sets)
    met = [met_sets(f.scores, sets, HALVES_EDGES, variables=names) for f in (first, second)]
    return {
        "seconds": round(first.seconds + second.seconds, 3),
        "cpu_seconds": round(first.cpu_seconds + second.cpu_seconds, 3),
        "known_again": len(met[0] & met[1]),
        "rows_again": matched_rows(first.weights, second.weights, HALVES_LEVEL),
        "n_components_found": (len(first.scores) + len(second.scores)) / 2,
    }


def _shuffled(cell: OrganismCell, method: str, seed: int) -> dict[str, Any]:
    found = _fitted_shuffled(cell.table, _asked(cell), method, seed)
    return {**_facts(found), **_agreement(_fit(cell, method, seed), found)}


def _agreement(first: TableFit, second: TableFit) -> dict[str, float]:
    shares = agreement(first.weights, second.weights)
    for grade, rows in (("certified", first.certified), ("kept", first.kept)):
        if rows is not None:
            of_grade = agreement(first.weights, second.weights, rows=rows)
            shares.update({f"{name}_{grade}": value for name, value in of_grade.items()})
    return {name: round(value, 4) for name, value in shares.items() if not np.isnan(value)}


def _facts(found: TableFit) -> dict[str, Any]:
    row: dict[str, Any] = {
        "seconds": round(found.seconds, 3),
        "cpu_seconds": round(found.cpu_seconds, 3),
        "peak_mb": round(found.peak_mb, 1),
        "n_components_found": len(found.scores),
        "n_edges": int(found.edges.sum()),
    }
    for grade, rows in (("certified", found.certified), ("kept", found.kept)):
        if rows is not None:
            row[f"n_{grade}"] = int(rows.sum())
    return row


def _columns(table: pd.DataFrame) -> dict[str, list[Any]]:
    """A curve as JSON keeps it."""
    return {str(name): values.tolist() for name, values in table.round(5).items()}


def _knockouts(cell: OrganismCell, found: TableFit) -> dict[str, Any]:
    path = ABOUT[cell.table].knockouts
    conditions = _conditions(cell.table)
    if path is None or conditions is None or not len(found.scores):
        return {}
    contrasts = pd.read_csv(required_data_folder() / path, sep="\t")
    names = _names(cell.table)
    areas = knockout_areas(
        found.edges, found.activities, _sets(cell.sets), contrasts, conditions, names
    )
    return {"knockout_area": round(float(areas.mean()), 4), "n_knockouts": len(areas)}


def _published(cell: OrganismCell) -> dict[str, Any] | None:
    """The published sets, scored by the same rule at their own number of edges."""
    path = ABOUT[cell.table].published
    if path is None:
        return None
    names = _names(cell.table)
    edges = _sets(path).matrix(names).toarray()
    return _columns(curve(edges, _sets(cell.sets), (int(edges.sum()),), variables=names))


def _asked(cell: OrganismCell) -> int | str:
    return cell.n_regulators if cell.asked == "known" else cell.asked


def _fit(cell: OrganismCell, method: str, seed: int) -> TableFit:
    return _fitted(cell.table, _asked(cell), method, seed)


# One fit is compared with several maps and with the fits of other seeds.
@lru_cache(maxsize=48)
def _fitted(table: str, asked: int | str, method: str, seed: int) -> TableFit:
    found = find(_table(table).to_numpy(np.float64), asked, method, seed)
    # Up to 48 fits stay in memory.
    small = {"scores": found.scores.astype(np.float32), "weights": found.weights.astype(np.float32)}
    return TableFit(**{**vars(found), **small, "probability": None})


@lru_cache(maxsize=8)
def _fitted_halves(
    table: str, asked: int | str, method: str, seed: int
) -> tuple[TableFit, TableFit]:
    X = _table(table).to_numpy(np.float64)
    first, second = np.array_split(np.random.default_rng(seed).permutation(len(X)), 2)
    one = find(X[np.sort(first)], asked, method, seed)
    return one, find(X[np.sort(second)], asked, method, seed)


@lru_cache(maxsize=8)
def _fitted_shuffled(table: str, asked: int | str, method: str, seed: int) -> TableFit:
    """A fit of the shuffled table, its weights in the order of the table and with its signs."""
    X = _table(table).to_numpy(np.float64)
    rng = np.random.default_rng(seed)
    samples, variables = rng.permutation(len(X)), rng.permutation(X.shape[1])
    signs = rng.choice([-1.0, 1.0], X.shape[1])
    found = find((X * signs)[samples][:, variables], asked, method, seed)
    weights = np.empty_like(found.weights)
    # Back to the order of the table, then the signs.
    weights[:, variables] = found.weights
    return TableFit(**{**vars(found), "weights": weights * signs})


@lru_cache(maxsize=2)
def _table(path: str) -> pd.DataFrame:
    return pd.read_parquet(required_data_folder() / path)


def _names(path: str) -> list[str]:
    return [str(name) for name in _table(path).columns]


@lru_cache(maxsize=8)
def _sets(path: str) -> GeneSets:
    return read_gmt(required_data_folder() / path)


def _conditions(table: str) -> pd.Series | None:
    """Condition of each sample, ``project__condition``, in the order of the table."""
    about = ABOUT[table]
    if about.samples is None:
        return None
    samples = pd.read_csv(required_data_folder() / about.samples, sep="\t", index_col=0)
    parts = samples[list(about.condition)].reindex(_table(table).index).astype(str)
    return parts.agg("__".join, axis=1)
