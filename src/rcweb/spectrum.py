"""How many directions of a table carry signal, and a basis of them in fair units.

Used by the refined method. Singular pairs come from the Gram matrix of the smaller side: several
times faster than an SVD and exact enough for data with noise; the published method, which must
resolve zeros to rounding, uses ``rcweb.basis``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from rcweb.basis import noise_edge

Array = NDArray[np.float64]

SPARE = 1.4  # directions searched per regulator asked for, where the spectrum has that many
CLEAR_STEP = 1.5  # fall of singular values that makes the user's larger number superfluous
SIGNAL_LIMIT = 0.7  # at most this share of the rank is taken as signal
# Variables are divided by the square root of their noise: half way between the raw table, where a
# noisy variable rules, and full whitening, where a variable of little interest counts like all.
NOISE_POWER = 0.5
ROUNDING = 1e-7  # relative size of singular values that the Gram matrix cannot tell from zero


@dataclass(frozen=True)
class Spectrum:
    """Leading directions of the table after rescaling its variables.

    s : (K,) singular values, descending
    V : (N, K) right singular vectors of the rescaled table
    factor : (N,) what each variable was multiplied by
    sigma : standard deviation of the noise in an entry of the rescaled table
    n_signal : number of singular values of the table above the edge of noise
    P : number of regulators to look for, at most K
    """

    s: Array
    V: Array
    factor: Array
    sigma: float
    n_signal: int
    P: int


def leading_directions(G0: Array, n_components: int | str) -> Spectrum:
    """Basis for `n_components` regulators, or for as many as the spectrum supports ("auto")."""
    M, N = G0.shape
    rank = min(M - 1, N)
    if isinstance(n_components, str):
        n_signal = _count_whitened(G0)
        P = K = int(np.clip(n_signal, 1, max(1, min(rank, N - 1))))
    else:
        values = _singular_values(G0)
        n_signal = _count_signal(values, M, N)
        P = n_components
        if n_signal < P < len(values) and values[n_signal - 1] > CLEAR_STEP * values[n_signal]:
            P = max(n_signal, 1)
        K = int(np.clip(_above_edge(values, P, M, N), P, max(P, min(SPARE * P, 0.8 * rank))))
    factor = _factors(G0, K, NOISE_POWER)
    s, V, sigma = _decompose(G0 * factor if factor.std() > 0 else G0, K)
    return Spectrum(s=s, V=V, factor=factor, sigma=sigma, n_signal=n_signal, P=P)


def _gram(G0: Array) -> Array:
    return G0 @ G0.T if G0.shape[0] <= G0.shape[1] else G0.T @ G0


def _singular_values(G0: Array) -> Array:
    values = np.linalg.eigvalsh(_gram(G0))[::-1]
    return np.sqrt(np.maximum(values, 0.0))


def _noise(values: Array, n: int, M: int, N: int) -> float:
    """Noise sd of an entry from what the first n singular values leave (one sample is the mean)."""
    freedom = (M - 1 - n) * (N - n)
    return float(np.sqrt((values[n:] ** 2).sum() / freedom)) if freedom > 0 else 0.0


def _count_signal(values: Array, M: int, N: int) -> int:
    """Singular values that stand above noise, tested one after the other (Kritchman, Nadler 2008).

    The n-th is compared with the edge of the noise that is left once n are taken away.
    """
    most = max(1, int(SIGNAL_LIMIT * min(M - 1, N)))
    for n in range(1, most + 1):
        edge = noise_edge(_noise(values, n, M, N), max(M - n, 1), max(N - n + 1, 1))
        if values[n - 1] <= max(edge, ROUNDING * values[0]):
            return n - 1
    return most


def _count_whitened(G0: Array, rounds: int = 10) -> int:
    """Signal directions once all variables are equally noisy; counted until the count stands.

    The first counts are too high where noise differs between variables, since the noisiest ones
    make directions of their own.
    """
    M, N = G0.shape
    n = _count_signal(_singular_values(G0), M, N)
    for _ in range(rounds):
        before = n
        n = _count_signal(_singular_values(G0 * _factors(G0, n, power=1.0)), M, N)
        if n == before:
            break
    return n


def _above_edge(values: Array, P: int, M: int, N: int) -> int:
    """Directions that stand above noise when the first P are signal: room for more than P."""
    edge = _noise(values, P, M, N) * (np.sqrt(M) + np.sqrt(N))
    return int((values > max(edge, ROUNDING * values[0])).sum())


def _decompose(G0: Array, K: int) -> tuple[Array, Array, float]:
    M, N = G0.shape
    gram = _gram(G0)
    size = len(gram)
    values, vectors = eigh(gram, subset_by_index=[size - K, size - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    s = np.sqrt(np.maximum(values, 1e-14 * values[0]))
    V = vectors if M > N else G0.T @ (vectors / s)
    rest = max(float(np.trace(gram) - values.sum()), 0.0)
    freedom = (M - 1 - K) * (N - K)
    sigma = np.sqrt(rest / freedom) if freedom > 0 else 0.0
    peak = np.abs(V).argmax(axis=0)
    return s, V * np.where(V[peak, np.arange(K)] < 0, -1.0, 1.0), float(sigma)


def _factors(G0: Array, n: int, power: float) -> Array:
    """Noise of each variable beyond the first n directions, to the minus `power`; ones where all
    variables are equally noisy as far as the number of samples can tell."""
    M, N = G0.shape
    total = (G0 * G0).sum(axis=0)
    if n < 1 or M - 1 - n < 3:
        return np.ones(N)
    s, V, _ = _decompose(G0, n)
    rest = total - ((V * s) ** 2).sum(axis=1)
    if rest.sum() < 1e-10 * total.sum():
        return np.ones(N)
    rest = np.maximum(rest, 1e-6 * np.median(rest))
    if np.log(rest).std() < 2 * np.sqrt(2 / (M - 1 - n)):
        return np.ones(N)
    noise = np.sqrt(rest / np.median(rest))
    return np.maximum(noise, 1e-3) ** -power
