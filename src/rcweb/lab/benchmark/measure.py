"""One measurement: a method on a planted problem, scored and timed."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from rcweb.engine.matching import match_rows
from rcweb.engine.types import Array
from rcweb.lab.benchmark.methods import Estimate, get_method
from rcweb.lab.benchmark.scenarios import Cell
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import Simulation, simulate

CONFIDENT = 0.9


@lru_cache(maxsize=1)
def _draw(cell: Cell, seed: int) -> Simulation:
    """The methods of one cell and seed follow each other: draw their data once."""
    return cell.draw(seed)


def measure(cell: Cell, method: str, seed: int) -> dict[str, Any]:
    """Scores of one fit, its seconds and those of all its threads; the clocks hold it alone."""
    sim = _draw(cell, seed)
    P = cell.n_regulators
    asked: dict[str, int | str] = {"known": P, "auto": "auto", "double": 2 * P}
    run = get_method(method).run
    start, start_cpu = time.perf_counter(), time.process_time()
    estimate = run(sim, asked[cell.asked], seed)
    times = {
        "seconds": round(time.perf_counter() - start, 4),
        "cpu_seconds": round(time.process_time() - start_cpu, 4),
    }
    return {**times, **score(estimate, sim)}


def score(estimate: Estimate, sim: Simulation) -> dict[str, Any]:
    """The scores of the paper's section 4.1, and the calibration of edges where there is one."""
    edges = score_network(estimate.network, sim.network, estimate.ranking)
    weights = estimate.network if estimate.weights is None else estimate.weights
    entries = score_network(weights, sim.network)
    row: dict[str, Any] = {
        "rho": round(entries.rho, 5),
        "rho_best_match": round(entries.rho_best_match, 5),
        "rho_edges": round(edges.rho, 5),
    }
    for name in ("precision", "recall", "f1", "average_precision"):
        row[name] = round(getattr(edges, name), 5)
    row["true_density"] = round(float(sim.edges.mean()), 4)
    row["n_components_found"] = len(estimate.network)
    row["n_edges"] = int(np.count_nonzero(estimate.network))
    row["exact_support"] = bool(edges.precision == 1 and edges.recall == 1)
    if estimate.probability is not None:
        row.update(_calibration(estimate.network, estimate.probability, sim))
    return row


def _calibration(network: Array, probability: Array, sim: Simulation) -> dict[str, Any]:
    """Realised false discovery rate, and precision among edges called almost certain."""
    pairs = match_rows(network, sim.network)
    true = np.zeros(network.shape, bool)
    true[pairs.found] = sim.edges[pairs.other]
    called, sure = network != 0, probability > CONFIDENT
    return {
        "fdr": round(float((called & ~true).sum() / max(called.sum(), 1)), 5),
        "precision_confident": round(float((sure & true).sum() / max(sure.sum(), 1)), 5),
        "n_confident": int(sure.sum()),
    }


def warm_up(method: str) -> None:
    """A tiny fit, so that imports and compilation happen outside the clock."""
    sim = simulate(40, 60, 4, density=0.2, noise=0.1, random_state=0)
    # Some methods take amounts only; those that centre do not see the shift.
    sim = replace(sim, data=sim.data - sim.data.min())
    get_method(method).run(sim, 4, 0)
