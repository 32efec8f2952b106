"""Truncated singular value decomposition of the table and its noise level (paper, section 2).

``G0 = U S V^T + rest``: everything after this stage lives in the P columns of ``V`` (N x P).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import svds

from rcweb.engine.types import Array

# Above this size of the smaller side, a few singular triplets are found by Lanczos iteration.
_DENSE_LIMIT = 2500


@dataclass(frozen=True)
class Basis:
    """The best approximation of rank P, in the paper's letters.

    U : (M, P) left singular vectors
    s : (P,) singular values, descending
    V : (N, P) right singular vectors; in each column the entry largest by magnitude is positive
    noise : standard deviation of an entry of what the P triplets leave over
    """

    U: Array
    s: Array
    V: Array
    noise: float

    @property
    def rank(self) -> int:
        """Number of singular values above rounding error."""
        return int((self.s > rounding_level(self.s, len(self.U), len(self.V))).sum())


def rounding_level(s: Array, M: int, N: int) -> float:
    """Singular values of an M x N table below this are zero up to rounding."""
    return float(s[0] * max(M, N) * np.finfo(np.float64).eps) if len(s) else 0.0


def truncated_svd(G0: Array, P: int) -> Basis:
    """Return the `P` largest singular triplets of `G0` (M x N), signs fixed.

    The noise is ``sqrt(rest / ((M - P) (N - P)))``, the rest being the sum of squares that the
    triplets leave over and the denominator its degrees of freedom.
    """
    if not 1 <= P <= min(G0.shape):
        raise ValueError(
            f"{P} singular vectors were asked for; a {G0.shape[0]} x {G0.shape[1]} table has "
            f"1 to {min(G0.shape)}."
        )
    if min(G0.shape) <= _DENSE_LIMIT or min(G0.shape) < 10 * P:
        return truncate(thin_svd(G0), P)
    # svds draws its start at random by default; a fixed one makes the answer reproducible.
    start = np.ones(min(G0.shape)) / np.sqrt(min(G0.shape))
    U, s, Vt = svds(G0, k=P, v0=start)
    order = np.argsort(-s)
    # The rest by subtraction, since its singular values are never computed; rounding can make it
    # slightly negative.
    rest = max(float((G0 * G0).sum() - (s * s).sum()), 0.0)
    return _fix_signs(U[:, order], s[order], Vt[order].T, _noise(rest, G0.shape, P))


def thin_svd(G0: Array) -> Basis:
    """All min(M, N) singular triplets of `G0`, signs fixed; nothing is left over."""
    U, s, Vt = linalg.svd(G0, full_matrices=False, check_finite=False)
    return _fix_signs(U, s, Vt.T, 0.0)


def truncate(full: Basis, P: int) -> Basis:
    """Keep the first `P` triplets of a complete decomposition; the others give the noise."""
    rest = float((full.s[P:] ** 2).sum())
    noise = _noise(rest, (len(full.U), len(full.V)), P)
    return replace(leading(full, P), noise=noise)


def leading(basis: Basis, P: int) -> Basis:
    """The first `P` triplets, with the noise level unchanged."""
    U, V = np.ascontiguousarray(basis.U[:, :P]), np.ascontiguousarray(basis.V[:, :P])
    return replace(basis, U=U, s=basis.s[:P].copy(), V=V)


def _noise(rest: float, shape: tuple[int, ...], P: int) -> float:
    freedom = (shape[0] - P) * (shape[1] - P)
    return float(np.sqrt(rest / freedom)) if freedom > 0 else 0.0


def _fix_signs(U: Array, s: Array, V: Array, noise: float) -> Basis:
    """Make the largest entry of each column of V positive: libraries differ in the signs."""
    peak = np.argmax(np.abs(V), axis=0)
    sign = np.where(V[peak, np.arange(V.shape[1])] < 0, -1.0, 1.0)
    return Basis(
        U=np.ascontiguousarray(U * sign), s=s, V=np.ascontiguousarray(V * sign), noise=noise
    )


def noise_edge(noise: float, M: int, N: int) -> float:
    """Singular values of an M x N table of pure noise stay below this, 99 times in 100.

    The largest squared one is ``noise^2 r^2``, ``r = sqrt(M) + sqrt(N)``, plus
    ``noise^2 r (M^-1/2 + N^-1/2)^(1/3)`` times a Tracy-Widom variable (Johnstone, 2001), whose
    99 per cent point is 2.02.
    """
    r = np.sqrt(M) + np.sqrt(N)
    width = r * (1 / np.sqrt(M) + 1 / np.sqrt(N)) ** (1 / 3)
    return float(noise * np.sqrt(r * r + 2.02 * width))


def median_noise(s: Array, M: int, N: int) -> float:
    """Noise of an entry from the median of all min(M, N) singular values.

    The squared singular values of pure noise, divided by ``noise^2 max(M, N)``, follow the law of
    Marchenko and Pastur with ratio ``beta = min(M, N) / max(M, N)``; its median turns the observed
    median into a noise level as long as fewer than half of the triplets carry signal
    (Gavish and Donoho, 2014).
    """
    beta = min(M, N) / max(M, N)
    return float(np.median(s) / np.sqrt(max(M, N) * _marchenko_pastur_median(beta)))


def _marchenko_pastur_median(beta: float) -> float:
    """Median of the law with ratio `beta`: density ~ sqrt((high - x) (x - low)) / x."""
    low, high = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2
    # x = middle - half cos(angle) takes the square-root ends out of the density; midpoints of
    # the grid keep clear of its pole at zero when beta is 1.
    angle = (np.arange(2000) + 0.5) * np.pi / 2000
    x = (high + low) / 2 - (high - low) / 2 * np.cos(angle)
    density = np.sin(angle) ** 2 / x
    mass = np.cumsum(density) - density / 2
    return float(np.interp(0.5, mass / density.sum(), x))
