"""Shared by all rivals: records, results, centring, and the cut to a known density."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rcweb.engine.types import Array


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """One method of the benchmark, for its registry, tables and figures; in the rival's own file.

    name : how it is asked for
    title : what it is, in a few words
    paper : where it was published
    settings : the settings it got, every one that matters
    look : colour and marker in figures
    told : what it gets to know about the truth of a planted problem
    data : tables it applies to, "any" or "non-negative"
    finds_p : it accepts ``n_components="auto"``
    package : what has to be installed to run it, beyond what rcweb needs
    role : "ours", "rival" or "reference" (told the truth, no rival)
    slow : takes minutes; runs on fewer cells and seeds
    options : arguments of its `fit` beyond the common ones
    table_options : the same on real tables, where they differ
    """

    name: str
    title: str
    paper: str
    settings: str
    look: tuple[str, str] | None = None
    told: str = "P, mean degree"
    data: str = "any"
    finds_p: bool = False
    package: str | None = None
    role: str = "rival"
    slow: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    table_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Factors:
    """A factorisation ``data - mean = activities @ network``, of P regulators.

    activities : (M, P) states of the regulators, R
    network : (P, N) weights, C; exact zeros are missing edges if the rival was told a density
    """

    activities: Array
    network: Array

    @property
    def scores(self) -> Array:
        """Signed scores (P, N) that order edges across regulators, z-scores within each row."""
        return z_scores(self.network)


@dataclass(frozen=True)
class PosteriorFactors(Factors):
    """Factors of a method that knows posterior means.

    activities : (M, P) states of the regulators, R
    network : (P, N) weights of the likely edges alone
    weights : (P, N) posterior mean of every entry
    probability : (P, N) that an entry is not zero
    """

    weights: Array
    probability: Array

    @property
    def scores(self) -> Array:
        """Posterior means in units of their row's standard deviation."""
        return z_scores(self.weights)


def z_scores(C: Array) -> Array:
    """Rows with mean 0 and standard deviation 1; constant rows are 0."""
    C = C - C.mean(axis=1, keepdims=True)
    spread = C.std(axis=1, keepdims=True)
    return np.divide(C, spread, out=np.zeros_like(C), where=spread > 0)


def check_data(data: Array, n_components: int) -> Array:
    """The table minus its variable means, (M, N), as float64.

    data : samples x variables; ValueError for missing values
    n_components : between 1 and the smaller side of the table, else ValueError

    Examples
    --------
    >>> from rcweb.lab.baselines.base import check_data
    >>> check_data([[1.0, 2.0], [3.0, 6.0]], 1)
    array([[-1., -2.],
           [ 1.,  2.]])
    """
    data = check_table(data, n_components)
    return data - data.mean(axis=0)


def check_table(data: Array, n_components: int) -> Array:
    """The table as float64, (M, N), with its means."""
    data = np.asarray(data, dtype=np.float64)
    if data.ndim != 2:
        raise ValueError(f"data must be a table of samples x variables, not {data.ndim}-D.")
    if not np.isfinite(data).all():
        raise ValueError("data holds missing or infinite values; fill or drop them first.")
    if not 1 <= n_components <= min(data.shape):
        raise ValueError(
            f"n_components must lie between 1 and {min(data.shape)} for a table of shape "
            f"{data.shape}, not {n_components}."
        )
    return data


def check_density(density: float | None, default: float | None = None) -> float | None:
    """The density that a rival was told, checked.

    density : share of edges; ValueError outside of (0, 1]
    default : what stands for None

    Examples
    --------
    >>> from rcweb.lab.baselines.base import check_density
    >>> check_density(0.2), check_density(None, default=0.1)
    (0.2, 0.1)
    """
    if density is None:
        return default
    if not 0 < density <= 1:
        raise ValueError(f"density must lie in (0, 1], not {density}.")
    return float(density)


def compress(G0: Array) -> tuple[Array, Array]:
    """An orthonormal basis Q (M, r) and Q^T G0 (r, N), r = min(M, N): same norms, fewer rows."""
    M, N = G0.shape
    # Nothing to gain: the table has no more rows than its rank can be.
    if M <= N:
        return np.eye(M), G0
    Q, T = np.linalg.qr(G0)
    return Q, T


def cut(network: Array, density: float | None) -> Array:
    """Keep in each row the ``density * N`` largest entries by size.

    network : (P, N)
    density : share of entries to keep; None: all of them

    The paper tells every rival the mean out-degree (section 4.2); rows share it, since a mean
    says nothing about a single regulator.

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb.lab.baselines.base import cut
    >>> cut(np.array([[3.0, -2.0, 1.0, 0.5]]), density=0.5)
    array([[ 3., -2.,  0.,  0.]])
    """
    if density is None:
        return network
    N = network.shape[1]
    # At least one edge: a regulator without edges cannot be compared.
    k = int(np.clip(round(density * N), 1, N))
    size = np.abs(network)
    threshold = np.partition(size, N - k, axis=1)[:, N - k, None]
    return np.where(size >= threshold, network, 0.0)


def regress_activities(G0: Array, network: Array) -> Array:
    """Least-squares activities of a given network, ``G0 C^+``, (M, P)."""
    return np.asarray(np.linalg.lstsq(network.T, G0.T, rcond=None)[0].T)
