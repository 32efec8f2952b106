"""The result of a method, the same record for every method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rcweb.engine.types import Array, Mask

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class FactorScales:
    """``factor = offset + scale * activity``, activities of unit variance; all (F,).

    scale, low, high : posterior mean and interval, up to the sign of the regulator; offset
    error : standard deviation of the measurements around it
    """

    scale: Array
    low: Array
    high: Array
    offset: Array
    error: Array


@dataclass(frozen=True)
class SeenFactors:
    """Measured factors, judged by the table; all (F,).

    p, q : that shuffled measurements vary as much with the table; q : Benjamini-Hochberg
    free : log-likelihood of a free direction of the table against no relation
    share : share of its variance that this direction predicts in samples left out
    used : whether it took part in the posterior
    scales : of the factors that did; None if none did
    """

    p: Array
    q: Array
    free: Array
    share: Array
    used: Mask
    scales: FactorScales | None = None


@dataclass(frozen=True)
class Solution:
    """A fitted network, of P regulators over N variables.

    C : (P, N) weights; exact zeros are missing edges
    weights : (P, N) the best estimate of every entry before edges are chosen
    projection : (N, P) activities of centred samples are ``X @ projection``
    rotation : (P_star, P) the paper's B: C before zeros is ``(V B)^T``
    singular_values : (P_star,) of the centred table
    probability : (P, N) probability of every edge; the paper's method knows only 0 and 1
    score : (P, N) signed, comparable across regulators: the n largest are the n edges to show first
    noise : (N,) standard deviation of what the network leaves unexplained in each variable
    diagnosis : gives one dict per regulator, the same keys in each; called when asked for, since
        it can take a quarter of the time of a fit
    evidence : one dict per candidate number of regulators or per reason; how P was chosen
    reason : one sentence on the number of regulators
    warnings : plain sentences for the user; empty when the answer can be trusted
    directions : (N, k) leading right singular vectors of the table once its variables are scaled
        by their noise; `singular_values` has theirs and may have more. None where a method has none
    spread : (N,) standard deviation of each variable; None as above
    exact : whether weights of non-targets are zero as far as noise can tell
    centred : whether means were subtracted, if they were to be; see `engine.constant_sum`
    trace : method-specific details (the paper's method: one trace per column)
    weights_sd : (P, N) standard error of the weights; None if the method gives none
    measured : which measured factors are seen in the table; None if there are none
    """

    C: Array
    weights: Array
    projection: Array
    rotation: Array
    singular_values: Array
    probability: Array
    score: Array
    noise: Array
    diagnosis: Callable[[], Records] = list
    evidence: Records = field(default_factory=list)
    reason: str = ""
    warnings: tuple[str, ...] = ()
    directions: Array | None = None
    spread: Array | None = None
    exact: bool = True
    centred: bool = True
    trace: Any = None
    weights_sd: Array | None = None
    measured: SeenFactors | None = None
