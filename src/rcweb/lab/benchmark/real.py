"""Real tables: found target sets against known regulators (paper, section 4.4).

Every method shows as many edges as FastICA has with |z| > 3, its strongest ones; each sign of a
regulator is a set of its own; a pair counts when it is significant at Bonferroni 0.05 over all
pairs. The tables are not part of the package: the environment variable RCWEB_DATA names their
folder (docs/benchmark.md).
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.types import Array
from rcweb.knowledge import overlap_test, read_gmt

Z_CUT = 3.0
ALPHA = 0.05
MIN_SIZE = 5


class NoDataError(RuntimeError):
    """The real tables are not on this machine."""


@dataclass(frozen=True)
class RealCell:
    """A table, the sets it is compared with (paths below RCWEB_DATA), and the number asked for."""

    figure: str
    panel: str
    table: str
    sets: str
    n_regulators: int

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        return f"{self.label} {self.table} {self.sets}"

    @property
    def label(self) -> str:
        """A name to read."""
        return f"{self.figure} {self.panel} P={self.n_regulators}"


def real_cells() -> tuple[RealCell, ...]:
    """Yeast against two maps of its regulators, E. coli against RegulonDB and the iModulons."""
    yeast, ecoli = "yeast_m3d_s98/expression.parquet", "ecoli_precise/expression.parquet"
    return (
        RealCell("real", "E. coli, RegulonDB", ecoli, "ecoli_precise/regulons.gmt", 92),
        RealCell("real", "E. coli, iModulons", ecoli, "ecoli_precise/imodulons.gmt", 92),
        *(
            RealCell("real", f"yeast, {name}", yeast, f"yeast_tf/{file}.gmt", P)
            for P in (100, 160)
            for name, file in (("MacIsaac", "macisaac2006"), ("YEASTRACT", "yeastract_c3"))
        ),
    )


def data_folder() -> Path:
    """The folder of the real tables, or an error that says how to name it."""
    folder = os.environ.get("RCWEB_DATA", "")
    if not folder:
        raise NoDataError(
            "the real tables are not part of rcweb: set the environment variable RCWEB_DATA to "
            "the folder that holds them (docs/benchmark.md says which)."
        )
    if not Path(folder).is_dir():
        raise NoDataError(f"RCWEB_DATA names {folder!r}, which is not a folder.")
    return Path(folder)


def measure_real(cell: RealCell, method: str, seed: int) -> dict[str, Any]:
    """Known regulators met and significant pairs at FastICA's number of edges."""
    table = _table(cell.table)
    scores, seconds = _scores(cell.table, cell.n_regulators, method, seed)
    fastica, _ = _scores(cell.table, cell.n_regulators, "fastica", seed)
    n_edges = int((np.abs(fastica) > Z_CUT).sum())
    edges = strongest(scores, n_edges)
    rng = np.random.default_rng(seed)
    row = {"seconds": round(seconds, 3), "n_edges": n_edges, **_counts(edges, table, cell.sets)}
    control = _counts(edges[:, rng.permutation(edges.shape[1])], table, cell.sets)
    row.update({f"{name}_permuted": value for name, value in control.items()})
    row["n_components_found"] = len(scores)
    return row


def strongest(scores: Array, n: int) -> Array:
    """The n entries of largest size, the others zero."""
    n = min(n, int(np.count_nonzero(scores)))
    if n == 0:
        return np.zeros_like(scores)
    size = np.abs(scores)
    return np.where(size >= np.partition(size.ravel(), -n)[-n], scores, 0.0)


def _counts(edges: Array, table: pd.DataFrame, sets: str) -> dict[str, int]:
    names = [str(name) for name in table.columns]
    known = _sets(sets)
    overlaps = overlap_test(edges, known, targets=names, signs="apart", min_size=MIN_SIZE)
    significant = overlaps.log_bonferroni <= np.log(ALPHA)
    return {
        "regulators_met": int(significant.any(axis=0).sum()),
        "pairs": int(significant.sum()),
    }


@lru_cache(maxsize=2)
def _table(path: str) -> pd.DataFrame:
    return pd.read_parquet(data_folder() / path)


@lru_cache(maxsize=4)
def _sets(path: str) -> Any:
    return read_gmt(data_folder() / path)


# FastICA's edges set the number for all methods, and the same fit is compared with several maps.
@lru_cache(maxsize=8)
def _scores(path: str, P: int, method: str, seed: int) -> tuple[Array, float]:
    """Signed scores (P, N), comparable across regulators, and the seconds of the fit."""
    X = _table(path).to_numpy(dtype=np.float64)
    start = time.perf_counter()
    scores = _fit(X, P, method, seed)
    return scores, time.perf_counter() - start


def _fit(X: Array, P: int, method: str, seed: int) -> Array:
    if method in ("fastica", "fastica-samples"):
        from rcweb.lab.baselines import ica

        over = "variables" if method == "fastica" else "samples"
        # logcosh is what iModulons and their successors use on expression.
        return _z_scores(ica.fit(X, P, random_state=seed, fun="logcosh", over=over).network)
    if method == "varimax":
        from rcweb.lab.baselines import varimax

        return _z_scores(varimax.fit(X, P, random_state=seed).network)
    if method in ("rcweb", "rcweb-paper"):
        from rcweb.estimator import RCweb

        engine = "paper" if method == "rcweb-paper" else "refined"
        return np.asarray(RCweb(P, method=engine, random_state=seed).fit(X).edge_score_)
    raise ValueError(f"the real tables are not run with {method!r}.")


def _z_scores(C: Array) -> Array:
    C = C - C.mean(axis=1, keepdims=True)
    return np.asarray(C / C.std(axis=1, keepdims=True))
