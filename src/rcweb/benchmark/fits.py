"""One fit of any method to any table: what the plans on real and foreign tables need of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rcweb.baselines.base import cut
from rcweb.benchmark.scale import forget_peak, peak_mb

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A component without zeros has its edges at |z| > 3, the usual cut for ICA on expression.
Z_CUT = 3.0

OURS: dict[str, dict[str, Any]] = {"rcweb": {}, "rcweb-paper": {"method": "paper"}}
# Methods that are a module of another name, with options.
MODULES: dict[str, tuple[str, dict[str, Any]]] = {
    "fastica": ("ica", {}),
    "fastica-samples": ("ica", {"over": "samples"}),
}
# Methods that use the density for nothing but a cut at the end: their weights are those before it.
CUT_LAST = ("fastica", "fastica-samples", "varimax")


@dataclass(frozen=True)
class Found:
    """What a method found in a table of M samples and N variables.

    scores : (P, N) signed; the n largest in size are the n best edges
    weights : (P, N) best estimate of every entry
    edges : (P, N) edges the method itself would draw
    activities : (M, P)
    probability : (P, N) of every edge, or None
    certified : (P,) regulators the method vouches for, or None if it does not say
    seconds, peak_mb : time, and largest memory beyond what the process held before
    """

    scores: Array
    weights: Array
    edges: Mask
    activities: Array
    probability: Array | None = None
    certified: Mask | None = None
    seconds: float = float("nan")
    peak_mb: float = float("nan")


def fit_table(
    X: Array,
    n_components: int | str,
    method: str,
    seed: int,
    density: float | None = None,
    **options: Any,
) -> Found:
    """Fit `method` with `options`; rivals are told the true `density` where there is a truth."""
    held = forget_peak()
    start = time.perf_counter()
    if method in OURS:
        found = _ours(X, n_components, seed, **OURS[method], **options)
    else:
        found = _rival(X, n_components, method, seed, density, **options)
    seconds = time.perf_counter() - start
    return Found(**{**vars(found), "seconds": seconds, "peak_mb": peak_mb() - held})


def _ours(X: Array, n_components: int | str, seed: int, **options: Any) -> Found:
    from rcweb import RCweb

    model = RCweb(n_components, random_state=seed, **options).fit(X)
    certified = model.diagnosis_.get("certified")
    return Found(
        scores=np.asarray(model.edge_score_),
        weights=np.asarray(model.weights_),
        edges=np.asarray(model.components_) != 0,
        activities=np.asarray(model.transform(X)),
        probability=np.asarray(model.edge_probability_),
        certified=None if certified is None else np.asarray(certified, dtype=bool),
    )


def _rival(
    X: Array, n_components: int | str, method: str, seed: int, density: float | None, **options: Any
) -> Found:
    module, fixed = MODULES.get(method, (method.replace("-", "_"), {}))
    fit = import_module(f"rcweb.baselines.{module}").fit
    told = None if method in CUT_LAST else density
    factors = fit(X, n_components, density=told, random_state=seed, **fixed, **options)
    weights = getattr(factors, "weights", None)
    weights = np.asarray(factors.network if weights is None else weights)
    network = cut(factors.network, density) if method in CUT_LAST else factors.network
    scores = z_scores(weights)
    return Found(
        scores=scores,
        weights=weights,
        edges=network != 0 if (network == 0).any() else np.abs(scores) > Z_CUT,
        activities=np.asarray(factors.activities),
        probability=getattr(factors, "probability", None),
    )


def z_scores(C: Array) -> Array:
    """Rows less their mean, in units of their standard deviation; a constant row is zero."""
    C = C - C.mean(axis=1, keepdims=True)
    sd = C.std(axis=1, keepdims=True)
    return np.divide(C, sd, out=np.zeros_like(C), where=sd > 0)
