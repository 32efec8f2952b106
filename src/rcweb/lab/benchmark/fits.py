"""One fit of any method to any table: what the plans on real and foreign tables need of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcweb.engine.limits import at_limits
from rcweb.engine.types import Array, Mask
from rcweb.lab.baselines.base import cut
from rcweb.lab.benchmark.methods import fit_table, get_method
from rcweb.lab.benchmark.scale import forget_peak, peak_mb

if TYPE_CHECKING:
    from rcweb.estimator import RCweb

# A component without zeros has its edges at |z| > 3, the usual cut for ICA on expression.
Z_CUT = 3.0

OUR_OPTIONS: dict[str, dict[str, Any]] = {"rcweb": {}, "rcweb-paper": {"method": "paper"}}
# Methods that use the density for nothing but a cut at the end: their weights are those before it.
CUT_LAST = ("fastica", "fastica-samples", "varimax", "vsp", "nmf", "cnmf", "cnmf-quick")


@dataclass(frozen=True)
class TableFit:
    """What a method found in a table of M samples and N variables.

    scores : (P, N) signed; the n largest in size are the n best edges
    weights : (P, N) best estimate of every entry
    edges : (P, N) edges the method itself would draw
    activities : (M, P)
    probability : (P, N) of every edge, or None
    certified : (P,) regulators the method certifies, or None if it has no certificate
    kept : (P,) regulators it certifies or would find again with any seed, or None
    seconds, cpu_seconds : by the clock, and of the processor, which other work does not lengthen
    peak_mb : largest memory beyond what the process held before
    """

    scores: Array
    weights: Array
    edges: Mask
    activities: Array
    probability: Array | None = None
    certified: Mask | None = None
    kept: Mask | None = None
    seconds: float = float("nan")
    cpu_seconds: float = float("nan")
    peak_mb: float = float("nan")


def find(
    X: Array, n_components: int | str, method: str, seed: int, density: float | None = None
) -> TableFit:
    """Fit a table. Planted tables have a known `density`, which rivals get; on real tables (None)
    they get their options for such tables."""
    # Memory of the data and of earlier fits is not the method's.
    held = forget_peak()
    start, cpu_start = time.perf_counter(), time.process_time()
    if method in OUR_OPTIONS:
        found = _ours(X, n_components, OUR_OPTIONS[method], seed)
    else:
        found = _rival(X, n_components, method, seed, density)
    cost = {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu_start,
        "peak_mb": peak_mb() - held,
    }
    return TableFit(**{**vars(found), **cost})


@contextmanager
def random_stream(number: int) -> Iterator[None]:
    """Let the search draw other random numbers; 0 is the stream that users get.

    The search draws from a fixed stream whatever `random_state` is, so two seeds agree by
    construction. How much an answer owes to the draw shows only with another stream.
    """
    from rcweb.engine.search import halves, search

    modules, usual = (halves, search), halves.STREAM
    try:
        for module in modules:
            vars(module)["STREAM"] = usual + number
        yield
    finally:
        for module in modules:
            vars(module)["STREAM"] = usual


def _ours(X: Array, n_components: int | str, options: dict[str, Any], seed: int) -> TableFit:
    from rcweb.estimator import RCweb

    with random_stream(seed):
        return table_fit(RCweb(n_components, random_state=seed, **options).fit(X), X)


def table_fit(model: RCweb, X: Array, batch: Any = None) -> TableFit:
    """What a fitted model found in the table `X`.

    Weights are scored as effects on what is measured. Beyond a limit of detection nothing is: the
    effect on a variable is its weight times the share of its values that are off the limit
    (McDonald, Moffitt 1980).
    """
    off = 1 - at_limits(X, model.limits_).mean(axis=0) if batch is None else 1.0
    grades = model.diagnosis_.filter(["certified", "found"]).astype(bool)
    return TableFit(
        scores=np.asarray(model.edge_score_),
        weights=np.asarray(model.weights_) * off,
        edges=np.asarray(model.components_) != 0,
        activities=np.asarray(model.transform(X, batch=batch)),
        probability=np.asarray(model.edge_probability_),
        certified=grades["certified"].to_numpy() if "certified" in grades else None,
        kept=grades.any(axis=1).to_numpy() if "found" in grades else None,
    )


def _rival(
    X: Array, n_components: int | str, method: str, seed: int, density: float | None
) -> TableFit:
    rival = get_method(method)
    if density is None or rival.fit is None:
        factors = fit_table(method, X, n_components, seed)
    else:
        # Fit without the cut, since weights are scored before it; cut below.
        told = None if method in CUT_LAST else density
        factors = rival.fit(
            X, n_components, density=told, random_state=seed, **rival.record.options
        )
    network = cut(factors.network, density) if method in CUT_LAST else factors.network
    # Before any cut, where a rival tells the two apart.
    kept = (getattr(factors, name, None) for name in ("weights", "components", "network"))
    weights = np.asarray(next(values for values in kept if values is not None))
    varying = network[:, network.any(axis=0)]  # a constant variable has no weight in any method
    dense = bool(varying.size) and bool(varying.all())
    return TableFit(
        scores=factors.scores,
        weights=weights,
        edges=np.abs(factors.scores) > Z_CUT if dense else network != 0,
        activities=np.asarray(factors.activities),
        probability=getattr(factors, "probability", None),
    )
