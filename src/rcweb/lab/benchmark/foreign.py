"""The plan on foreign worlds: cells, and the scores of one method in one of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import RIGHT
from rcweb.engine.matching import match_rows, row_correlation
from rcweb.engine.types import Array
from rcweb.lab.benchmark.fits import TableFit, find
from rcweb.lab.benchmark.foreign_nulls import NULLS
from rcweb.lab.benchmark.foreign_worlds import WORLDS, World
from rcweb.lab.benchmark.random_worlds import RandomCell

BINS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
# Worlds whose tables have no negative entry.
NON_NEGATIVE = ("one-hot", "mixture", "counts, raw")
# Worlds in which rows cannot be told apart: a method should say so rather than be right.
UNTELLABLE = ("twins", "rotation-invariant blocks", "M < P")


@dataclass(frozen=True)
class ForeignCell:
    """A world of `WORLDS` or `NULLS` with its sizes and level.

    panel : its name on pages;  asked : "known" (P) or "auto"
    """

    figure: str
    panel: str
    world: str
    level: float = 0.0
    n_samples: int = 200
    n_features: int = 500
    n_regulators: int = 20
    asked: str = "known"

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        return f"{self.panel} ({self.asked})"

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        sizes = f"M={self.n_samples} N={self.n_features} P={self.n_regulators}"
        return f"{self.figure} {self.label} {self.world} {self.level:g} {sizes}"

    def draw(self, seed: int) -> World:
        """The table number `seed` of this cell; "known" and "auto" share it."""
        generator = {**WORLDS, **NULLS}[self.world]
        sizes = (self.n_samples, self.n_features, self.n_regulators)
        return generator(np.random.default_rng([seed, *sizes]), *sizes, self.level)


def foreign_cells(asked: str = "known") -> tuple[ForeignCell, ...]:
    """Worlds with a truth, then nulls; permuted real tables only where RCWEB_DATA is set."""
    levels: tuple[tuple[str, tuple[float, ...]], ...] = (
        ("background", (0.05, 0.1, 0.2, 0.3, 0.4)),
        ("twins", (0.0, 0.9)),
        ("nested", (0.5,)),
        ("correlated", (0.5, 0.7, 0.9, 0.95)),
        ("correlated pairs", (0.95,)),
        ("saturation", (0.5, 2.0)),
        ("multiplicative noise", (0.3, 0.6)),
        ("AR noise", (0.8,)),
        ("AR noise over variables", (0.8,)),
        ("outlier samples", (0.02, 0.1)),
    )
    cells = [
        ForeignCell("foreign", f"{world} {level:g}", world, level, asked=asked)
        for world, values in levels
        for level in values
    ]

    def sized(panel: str, world: str, level: float, M: int, N: int, P: int) -> ForeignCell:
        return ForeignCell("foreign", panel, world, level, M, N, P, asked)

    cells += [
        sized("one-hot", "one-hot", 0.0, 200, 500, 10),
        sized("mixture 0.3", "mixture", 0.3, 200, 500, 10),
        sized("mixture 1", "mixture", 1.0, 200, 500, 10),
        sized("batches 0.3", "batches", 0.3, 200, 500, 22),
        sized("batches 1", "batches", 1.0, 200, 500, 22),
        sized("counts, logCPM 20", "counts, logCPM", 20.0, 150, 600, 12),
        sized("counts, logCPM 200", "counts, logCPM", 200.0, 150, 600, 12),
        sized("counts, raw 200", "counts, raw", 200.0, 150, 600, 12),
        sized("few samples M=12 P=10", "few samples", 0.0, 12, 500, 10),
        sized("few samples M=30 P=20", "few samples", 0.0, 30, 500, 20),
        sized("M < P", "few samples", 0.0, 15, 500, 20),
        sized("very sparse rows N=1000 M=50", "very sparse rows", 0.3, 50, 1000, 20),
        sized("very sparse rows N=1000 M=100", "very sparse rows", 0.5, 100, 1000, 20),
        sized("very sparse rows N=5000 M=100", "very sparse rows", 0.2, 100, 5000, 20),
        sized("rotation-invariant blocks", "rotation-invariant blocks", 0.0, 200, 500, 10),
        sized("Hill curves", "Hill curves", 0.7, 200, 500, 10),
        sized("limit of detection 0.4", "limit of detection", 0.4, 150, 400, 10),
        sized("depth of sequencing", "depth of sequencing", 1.0, 150, 500, 10),
        sized("confounded batches", "confounded batches", 0.7, 120, 500, 10),
        sized("copied samples", "copied samples", 4.0, 200, 500, 10),
        sized("copied variables 0.3", "copied variables", 0.3, 150, 500, 10),
    ]
    null_levels = {"null: AR samples": 0.9, "null: AR variables": 0.9, "null: heavy tails": 3.0}
    for world in NULLS:
        if world != "null: permuted real table" or os.environ.get("RCWEB_DATA"):
            cells.append(sized(world, world, null_levels.get(world, 1.0), 100, 400, 10))
    return tuple(cells)


def measure_foreign(cell: ForeignCell | RandomCell, method: str, seed: int) -> dict[str, Any]:
    """Scores of one fit; its seconds of CPU beside FastICA's on the same table, same process."""
    world = _draw(cell, seed)
    # More components than a centred table has directions cannot be asked of any method.
    M, N = world.data.shape
    # Every table of a random world has a number of its own.
    P = len(world.rows) if isinstance(cell, RandomCell) else cell.n_regulators
    known = min(P, M - 1, N)
    density = float(world.edges.mean()) if len(world.rows) else None
    asked = known if cell.asked == "known" else cell.asked
    found = find(world.data, asked, method, seed, density)
    # Timed in the same process, so that the load of the machine cancels.
    beside = found if method == "fastica" else _fastica(cell, seed, known, density)
    return {
        "seconds": round(found.seconds, 4),
        "cpu_seconds": round(found.cpu_seconds, 4),
        # The clock of some machines moves in steps of milliseconds.
        "seconds_ratio": round(found.cpu_seconds / max(beside.cpu_seconds, 1e-3), 3),
        "peak_mb": round(found.peak_mb, 1),
        **score_world(found, world),
        **({"about": cell.about(seed)} if isinstance(cell, RandomCell) else {}),
    }


@lru_cache(maxsize=1)
def _draw(cell: ForeignCell | RandomCell, seed: int) -> World:
    return cell.draw(seed)


@lru_cache(maxsize=1)
def _fastica(cell: ForeignCell | RandomCell, seed: int, P: int, density: float | None) -> TableFit:
    return find(_draw(cell, seed).data, P, "fastica", seed, density)


def score_world(found: TableFit, world: World) -> dict[str, Any]:
    """rho, number found, edges, calibration and certificates; in a null counts alone.

    rho is of all weights or of those at the edges drawn, whichever is higher: where every entry
    counts, a cut loses, and where most are zero it gains.
    """
    row: dict[str, Any] = {
        "n_components_found": len(found.weights),
        "n_edges": int(found.edges.sum()),
    }
    if found.certified is not None:
        row["n_certified"] = int(found.certified.sum())
        row["n_edges_certified"] = int(found.edges[found.certified].sum())
    if not len(world.rows):
        return row
    pairs = match_rows(found.weights, world.rows)
    rho = max(
        (_rho(weights, world.rows) for weights in (found.weights, found.weights * found.edges)),
        key=np.mean,
    )
    true = np.zeros(found.edges.shape, bool)
    true[pairs.found] = world.edges[pairs.other]
    hits = int((found.edges & true).sum())
    row["rho"] = round(float(rho.mean()), 5)
    row["n_true"] = len(rho)
    row["n_found"] = int((rho > RIGHT).sum())
    row["fdr"] = round(1 - hits / row["n_edges"], 5) if row["n_edges"] else 0.0
    row["recall"] = round(hits / max(int(world.edges.sum()), 1), 5)
    if found.certified is not None:
        # Not one to one: a certified row is right if it is any true row.
        best = np.abs(row_correlation(found.weights, world.rows)).max(axis=1, initial=0.0)
        row["n_certified_right"] = int((best[found.certified] > RIGHT).sum())
    if found.probability is not None:
        row.update(calibration(found.probability, true))
    return row


def _rho(weights: Array, rows: Array) -> Array:
    """(P,) |correlation| of each true row with the row assigned to it one to one."""
    pairs = match_rows(weights, rows)
    rho = np.zeros(len(rows))
    rho[pairs.other] = np.abs(pairs.correlation)
    return rho


def calibration(probability: Array, true: NDArray[np.bool_]) -> dict[str, Any]:
    """Bins of the probability: entries, mean probability and share of true edges in each; and
    their mean absolute difference weighted by entries of probability above 0.05."""
    p, t = probability.ravel(), true.ravel()
    which = np.clip(np.searchsorted(BINS, p, side="right") - 1, 0, len(BINS) - 2)
    n = np.bincount(which, minlength=len(BINS) - 1)
    mean, share = (
        np.bincount(which, weights=values, minlength=len(n)) / np.maximum(n, 1) for values in (p, t)
    )
    # Most entries are clear zeros and would hide errors of the others.
    upper = n[1:].sum()
    error = float((n[1:] * np.abs(mean - share)[1:]).sum() / upper) if upper else 0.0
    return {
        "calibration": {
            "n": n.tolist(),
            "probability": mean.round(5).tolist(),
            "true": share.round(5).tolist(),
        },
        "calibration_error": round(error, 5),
    }
