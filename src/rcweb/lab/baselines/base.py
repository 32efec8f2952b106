"""What every rival shares: the record it returns, centring, and the cut to a known density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.engine.types import Array


@dataclass(frozen=True)
class Factors:
    """A factorisation ``data - mean = activities @ network``, of P regulators.

    activities : (M, P) states of the regulators, R
    network : (P, N) weights, C; exact zeros are missing edges if the rival was told a density
    """

    activities: Array
    network: Array


def check_data(data: Array, n_components: int) -> Array:
    """The table with its variable means taken off, (M, N), as float64."""
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
    return data - data.mean(axis=0)


def check_density(density: float | None, default: float | None = None) -> float | None:
    """`density` if it is a share of edges, `default` if it is None."""
    if density is None:
        return default
    if not 0 < density <= 1:
        raise ValueError(f"density must lie in (0, 1], not {density}.")
    return float(density)


def compress(G0: Array) -> tuple[Array, Array]:
    """An orthonormal basis Q (M, r) and Q^T G0 (r, N), r = min(M, N): same norms, fewer rows."""
    M, N = G0.shape
    if M <= N:
        return np.eye(M), G0
    Q, T = np.linalg.qr(G0)
    return Q, T


def cut(network: Array, density: float | None) -> Array:
    """Keep in each row the ``density * N`` largest entries by size; all of them if None.

    The paper tells every rival the mean out-degree (section 4.2); rows share it, since a rival
    that knows a mean knows nothing about a single regulator.
    """
    if density is None:
        return network
    N = network.shape[1]
    k = int(np.clip(round(density * N), 1, N))
    size = np.abs(network)
    threshold = np.partition(size, N - k, axis=1)[:, N - k, None]
    return np.where(size >= threshold, network, 0.0)


def regress_activities(G0: Array, network: Array) -> Array:
    """Least-squares activities of a given network, ``G0 C^+``, (M, P)."""
    return np.asarray(np.linalg.lstsq(network.T, G0.T, rcond=None)[0].T)
