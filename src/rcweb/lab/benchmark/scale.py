"""Time, passes and peak memory of tables that are read in blocks (docs/scale.md)."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rcweb.engine.types import Array
from rcweb.lab.benchmark.scale_data import PlantedRows
from rcweb.lab.metrics import score_network

SCALE_METHODS = ("rcweb", "ipca-fastica")
# scikit-learn's default is 5 N rows, whose decomposition would take most of the memory allowed.
BATCH_ROWS = 1000
_PEAK = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class ScaleCell:
    """A planted table of `rcweb.lab.benchmark.scale_data`; panel = the size that varies."""

    figure: str
    panel: str
    n_samples: int
    n_features: int
    n_regulators: int
    filled: float = 1.0

    @property
    def entries(self) -> int:
        """Numbers of the table, zeros included."""
        return self.n_samples * self.n_features

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        kind = "" if self.filled == 1 else f", {self.filled:.0%} filled"
        size = f"M={self.n_samples:,} N={self.n_features:,} P={self.n_regulators}"
        return f"{self.panel}: {size}{kind}"

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        return f"{self.figure} {self.label}"


def growing_cells() -> tuple[ScaleCell, ...]:
    """One size at a time around M = 40,000, N = 500, P = 20."""
    base = {"n_samples": 40_000, "n_features": 500, "n_regulators": 20}
    ranges: dict[str, tuple[str, tuple[int, ...]]] = {
        "M": ("n_samples", (10_000, 40_000, 160_000)),
        "N": ("n_features", (250, 500, 1000, 2000)),
        "P": ("n_regulators", (10, 20, 40, 80)),
    }
    return tuple(
        ScaleCell("scale", panel, **{**base, name: value})
        for panel, (name, values) in ranges.items()
        for value in values
    )


def sparse_cells() -> tuple[ScaleCell, ...]:
    """Twenty thousand variables, one entry in twenty filled: like cells and genes."""
    sizes = (12_500, 25_000, 50_000, 100_000)
    return tuple(ScaleCell("scale", "sparse", M, 20_000, 50, 0.05) for M in sizes)


def largest_cell() -> ScaleCell:
    """Sixteen gigabytes."""
    return ScaleCell("scale", "largest", 2_000_000, 1000, 30)


def measure_scale(cell: ScaleCell, method: str, seed: int) -> dict[str, Any]:
    """Seconds, passes, peak memory and accuracy of one fit; rows are drawn as they are read.

    A sparse table is drawn before the clock starts, and is in memory.
    """
    rows = PlantedRows(
        cell.n_samples, cell.n_features, cell.n_regulators, filled=cell.filled, seed=seed
    )
    table = rows if cell.filled == 1 else _in_memory(rows)
    fit = {"rcweb": _rcweb, "ipca-fastica": _incremental}.get(method)
    if fit is None:
        raise ValueError(f"{method!r} does not read tables in blocks; known are {SCALE_METHODS}.")
    held = forget_peak()
    start, start_cpu = time.perf_counter(), time.process_time()
    network, passes = fit(table, cell.n_regulators, seed)
    return {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(time.process_time() - start_cpu, 3),
        "passes": passes,
        "peak_mb": round(peak_mb()),
        "held_mb": round(held),
        "rho": round(score_network(network, rows.network).rho, 5),
        "n_components_found": len(network),
    }


def _in_memory(rows: PlantedRows) -> Any:
    M = rows.n_samples
    pieces = [rows.read(i, min(i + 4096, M)) for i in range(0, M, 4096)]
    return sparse.csr_array(sparse.vstack(pieces), dtype=np.float64)


def _rcweb(table: Any, P: int, seed: int) -> tuple[Array, int]:
    from rcweb.blocks.local import Local
    from rcweb.estimator import RCweb

    X = Local(table) if isinstance(table, PlantedRows) else table
    model = RCweb(P, random_state=seed).fit(X)
    return model.weights_, model.passes_


def _incremental(table: Any, P: int, seed: int) -> tuple[Array, int]:
    from rcweb.lab.baselines.incremental import fit_batches

    return fit_batches(_batches(table), P, random_state=seed), 1


def _batches(table: Any) -> Iterator[Array]:
    M = table.shape[0]
    read = table.read if isinstance(table, PlantedRows) else lambda i, j: table[i:j].toarray()
    for start in range(0, M - M % BATCH_ROWS, BATCH_ROWS):
        # The last batch takes what is left: a batch must have at least P rows.
        yield read(start, M if start + 2 * BATCH_ROWS > M else start + BATCH_ROWS)


def forget_peak() -> float:
    """Start to look for the peak; returns the megabytes held now. Linux only, else the peak is
    that of the process so far."""
    gc.collect()
    if _PEAK.exists():
        # What earlier fits of this process have freed goes back to the system first.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        # 5 resets the peak resident size (man proc).
        _PEAK.write_text("5")
    return peak_mb()


def peak_mb() -> float:
    """Largest resident size of this process since `forget_peak`, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts bytes, Linux kilobytes.
    return largest / (1e6 if sys.platform == "darwin" else 1e3)
