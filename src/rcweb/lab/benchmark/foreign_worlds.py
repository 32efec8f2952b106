"""Tables that the model was not made for, each with its truth.

Every generator takes ``(rng, M, N, P, level)`` and returns a `World`. Unless said otherwise

    X = R C + E,   R ~ N(0, 1),   C = B W,   B ~ Bernoulli(0.1),   W ~ N(0, 1),

and E is Gaussian with 0.3 of the standard deviation of the centred signal. `level` is the one
number that a world varies; its docstring says what it means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rcweb.engine.types import Array, Mask, Rng

DENSITY = 0.1
NOISE_SHARE = 0.3


@dataclass(frozen=True)
class World:
    """data : (M, N);  rows : (P, N) true weights, to be matched;  edges : (P, N) which of them
    count as edges.  A null has no rows."""

    data: Array
    rows: Array
    edges: Mask


Generator = Callable[[Rng, int, int, int, float], World]


def sparse_rows(rng: Rng, P: int, N: int, density: float = DENSITY) -> tuple[Array, Mask]:
    """Weights C = B W and the mask B; every row has at least two targets."""
    mask = rng.random((P, N)) < density
    # A row with one target is a variable of its own and cannot be told from noise.
    for row in np.flatnonzero(mask.sum(axis=1) < 2):
        mask[row, rng.choice(N, 2, replace=False)] = True
    return np.where(mask, rng.standard_normal((P, N)), 0.0), mask


def with_noise(
    rng: Rng, clean: Array, unit: Array | None = None, ratio: float = NOISE_SHARE
) -> Array:
    """`clean` plus noise whose sd is `ratio` times that of the centred signal; `unit` is the noise
    at unit variance, white and Gaussian if None."""
    if unit is None:
        unit = rng.standard_normal(clean.shape)
    return clean + ratio * np.sqrt(clean.var(axis=0).mean()) * unit


def autoregressive(rng: Rng, M: int, N: int, coefficient: float) -> Array:
    """(M, N) of unit variance, ``e_m = a e_{m-1} + sqrt(1 - a^2) z_m`` down the columns."""
    E = rng.standard_normal((M, N))
    for m in range(1, M):
        E[m] = coefficient * E[m - 1] + np.sqrt(1 - coefficient**2) * E[m]
    return E


def background(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """No zeros: entries outside B are N(0, level^2), strong ones N(0, 1). Edges are the strong."""
    C, mask = sparse_rows(rng, P, N)
    C = np.where(mask, C, level * rng.standard_normal((P, N)))
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C), C, mask)


def twins(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Rows come in pairs with the same targets, ``w' = level w + sqrt(1 - level^2) z``."""
    C, mask = sparse_rows(rng, P, N)
    even, odd = slice(0, P - P % 2, 2), slice(1, None, 2)
    mask[odd] = mask[even]
    # Correlated weights of unit variance.
    mixed = level * C[even] + np.sqrt(1 - level**2) * rng.standard_normal(C[even].shape)
    C[odd] = np.where(mask[odd], mixed, 0.0)
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C), C, mask)


def nested(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Rows come in pairs; the targets of the second are a random share `level` of the first's."""
    C, mask = sparse_rows(rng, P, N)
    even, odd = slice(0, P - P % 2, 2), slice(1, None, 2)
    mask[odd] = mask[even] & (rng.random(mask[even].shape) < level)
    C[odd] = np.where(mask[odd], rng.standard_normal(mask[odd].shape), 0.0)
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C), C, mask)


def _constant_sum(rng: Rng, R: Array, N: int) -> World:
    """Activities R whose rows sum to one, positive weights U(0.5, 1.5); negative entries of the
    noisy table are set to zero, as in a table of amounts."""
    _, mask = sparse_rows(rng, R.shape[1], N)
    C = np.where(mask, rng.uniform(0.5, 1.5, mask.shape), 0.0)
    return World(np.maximum(with_noise(rng, R @ C), 0.0), C, mask)


def one_hot(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Clusters: each sample has activity 1 for one regulator and 0 for the others."""
    return _constant_sum(rng, np.eye(P)[rng.permutation(np.arange(M) % P)], N)


def mixture(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Proportions: each sample is Dirichlet(level, ..., level)."""
    return _constant_sum(rng, rng.dirichlet(np.full(P, level), M), N)


def correlated(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """All activities correlate by `level`: ``r_p = sqrt(level) s + sqrt(1 - level) z_p``."""
    C, mask = sparse_rows(rng, P, N)
    shared = rng.standard_normal((M, 1))
    R = np.sqrt(level) * shared + np.sqrt(1 - level) * rng.standard_normal((M, P))
    return World(with_noise(rng, R @ C), C, mask)


def correlated_pairs(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Activities come in pairs that correlate by `level`, independent of all others."""
    C, mask = sparse_rows(rng, P, N)
    shared = np.repeat(rng.standard_normal((M, -(-P // 2))), 2, axis=1)[:, :P]
    R = np.sqrt(level) * shared + np.sqrt(1 - level) * rng.standard_normal((M, P))
    return World(with_noise(rng, R @ C), C, mask)


def batches(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """The last two of the P regulators are batches: samples fall in one of two groups (+-1), and
    every variable responds, N(0, level^2). They are no regulators: the truth is the others."""
    C, mask = sparse_rows(rng, P - 2, N)
    # Dense by construction: a batch shifts every variable.
    groups = rng.choice([-1.0, 1.0], (M, 2))
    shift = groups @ (level * rng.standard_normal((2, N)))
    return World(with_noise(rng, rng.standard_normal((M, P - 2)) @ C) + shift, C, mask)


def _counts(rng: Rng, M: int, N: int, P: int, level: float) -> tuple[Array, Array, Mask, Array]:
    """Poisson counts, rate ``L_m q_n exp(0.3 (R C)_mn)``; q log-normal (log-sd 1) over variables
    with mean 1, L log-normal (log-sd 0.3) over samples with mean `level`."""
    C, mask = sparse_rows(rng, P, N)
    effect = 0.3 * rng.standard_normal((M, P)) @ C
    # Log-means of minus half the variance make the means 1.
    abundance = rng.lognormal(-0.5, 1.0, N)
    depth = level * rng.lognormal(-0.045, 0.3, (M, 1))
    return rng.poisson(depth * abundance * np.exp(effect)).astype(float), C, mask, abundance


def counts_log(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Counts (mean `level` a variable) as log2 of counts per million, 0.5 added to each count."""
    counts, C, mask, _ = _counts(rng, M, N, P, level)
    total = counts.sum(axis=1, keepdims=True)
    return World(np.log2(1e6 * (counts + 0.5) / (total + 1.0)), C, mask)


def counts_raw(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """The same counts untransformed; true weights are those of a small effect, q_n C_pn."""
    counts, C, mask, abundance = _counts(rng, M, N, P, level)
    # To first order in the effect, a count changes by its abundance times the effect.
    return World(counts, C * abundance, mask)


def saturated(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """``tanh(level g / sd)`` of the signal g, sd over the whole table, then noise."""
    C, mask = sparse_rows(rng, P, N)
    signal = rng.standard_normal((M, P)) @ C
    return World(with_noise(rng, np.tanh(level * signal / signal.std())), C, mask)


def multiplicative(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """``g exp(level z)`` for each entry of the signal g, then a tenth of the usual noise."""
    C, mask = sparse_rows(rng, P, N)
    signal = rng.standard_normal((M, P)) @ C
    signal = signal * np.exp(level * rng.standard_normal(signal.shape))
    return World(with_noise(rng, signal, ratio=NOISE_SHARE / 10), C, mask)


def ar_noise(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Noise is first-order autoregressive over samples, coefficient `level`."""
    C, mask = sparse_rows(rng, P, N)
    noise = autoregressive(rng, M, N, level)
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C, noise), C, mask)


def ar_noise_variables(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Noise is first-order autoregressive over variables, coefficient `level`."""
    C, mask = sparse_rows(rng, P, N)
    noise = autoregressive(rng, N, M, level).T
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C, noise), C, mask)


def outlier_samples(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """In a share `level` of the samples the noise is 10 times larger."""
    C, mask = sparse_rows(rng, P, N)
    noise = rng.standard_normal((M, N))
    # At least one sample, however small the table.
    noise[rng.permutation(M)[: max(1, round(level * M))]] *= 10
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C, noise), C, mask)


def plain(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """The model itself; sizes make it foreign (few samples)."""
    C, mask = sparse_rows(rng, P, N)
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C), C, mask)


def very_sparse(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Each regulator has 10 to 20 targets, whatever N; the noise has sd `level`."""
    size = rng.integers(10, 21, P)
    # Ranks of random numbers: exactly `size` targets in each row.
    mask = rng.random((P, N)).argsort(axis=1).argsort(axis=1) < size[:, None]
    C = np.where(mask, rng.standard_normal((P, N)), 0.0)
    signal = rng.standard_normal((M, P)) @ C
    return World(signal + level * rng.standard_normal((M, N)), C, mask)


def rotation_blocks(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Regulators come in pairs; the two share all their targets, a block of ``2 N / P`` variables,
    with weights N(0, 1): any rotation within a pair is as likely, so no row can be told."""
    pair = np.arange(P) // 2
    block = np.arange(N) * (pair[-1] + 1) // N
    mask = pair[:, None] == block[None, :]
    C = np.where(mask, rng.standard_normal((P, N)), 0.0)
    return World(with_noise(rng, rng.standard_normal((M, P)) @ C), C, mask)


def _linear_effects(R: Array, X: Array, mask: Mask) -> Array:
    """Weights of the regression of the table on the true activities, at true edges."""
    design = np.column_stack([np.ones(len(R)), R])
    return np.where(mask, np.linalg.lstsq(design, X, rcond=None)[0][1:], 0.0)


def hill_curves(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Every edge has its own Hill curve, ``w r^2 / (k^2 + r^2)``; activities r are log-normal
    (log-sd `level`), k too (log-sd 0.5). True weights are those of log r."""
    W, mask = sparse_rows(rng, P, N)
    log_r, k = level * rng.standard_normal((M, P)), rng.lognormal(0.0, 0.5, (P, N))
    square = np.exp(2 * log_r)
    signal = sum(W[p] * square[:, [p]] / (k[p] ** 2 + square[:, [p]]) for p in range(P))
    data = with_noise(rng, np.asarray(signal))
    return World(data, _linear_effects(log_r, data, mask), mask)


def detection_limit(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Variables have means N(0, 1); values below the quantile `level` of the table are set to it.
    Variables that are never above it keep the place of a constant."""
    C, mask = sparse_rows(rng, P, N)
    R = rng.standard_normal((M, P))
    data = with_noise(rng, R @ C) + rng.standard_normal(N)
    data = np.maximum(data, np.quantile(data, level))
    return World(data, _linear_effects(R, data, mask), mask & (data.std(axis=0) > 0))


def sequencing_depth(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """``log2(1 + count)`` without normalisation; Poisson rates ``20 L_m q_n exp(0.5 (R C)_mn)``, q
    (log-sd 1) and the depth L (log-sd `level`) log-normal."""
    C, mask = sparse_rows(rng, P, N)
    R = rng.standard_normal((M, P))
    rate = 20 * rng.lognormal(0.0, 1.0, N) * rng.lognormal(0.0, level, (M, 1)) * np.exp(0.5 * R @ C)
    data = np.log2(1 + rng.poisson(rate))
    return World(data, _linear_effects(R, data, mask), mask)


def confounded_batches(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Six batches shift every variable, N(0, level^2), and the activities of two regulators,
    N(0, 1.5^2)."""
    C, mask = sparse_rows(rng, P, N)
    batch = np.arange(M) * 6 // M
    R = rng.standard_normal((M, P))
    R[:, :2] += 1.5 * rng.standard_normal((6, 2))[batch]
    shift = level * rng.standard_normal((6, N))[batch]
    return World(with_noise(rng, R @ C) + shift, C, mask)


def copied_samples(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """Every sample is there `level` times, exactly."""
    C, mask = sparse_rows(rng, P, N)
    once = with_noise(rng, rng.standard_normal((round(M / level), P)) @ C)
    return World(np.repeat(once, round(level), axis=0)[:M], C, mask)


def copied_variables(rng: Rng, M: int, N: int, P: int, level: float) -> World:
    """A share `level` of the variables are exact copies of others, noise included."""
    C, mask = sparse_rows(rng, P, N)
    data = with_noise(rng, rng.standard_normal((M, P)) @ C)
    own = N - round(level * N)
    of = np.concatenate([np.arange(own), rng.choice(own, N - own)])
    return World(data[:, of], C[:, of], mask[:, of])


WORLDS: dict[str, Generator] = {
    "background": background,
    "twins": twins,
    "nested": nested,
    "one-hot": one_hot,
    "mixture": mixture,
    "correlated": correlated,
    "correlated pairs": correlated_pairs,
    "batches": batches,
    "counts, logCPM": counts_log,
    "counts, raw": counts_raw,
    "saturation": saturated,
    "multiplicative noise": multiplicative,
    "AR noise": ar_noise,
    "AR noise over variables": ar_noise_variables,
    "outlier samples": outlier_samples,
    "few samples": plain,
    "very sparse rows": very_sparse,
    "rotation-invariant blocks": rotation_blocks,
    "Hill curves": hill_curves,
    "limit of detection": detection_limit,
    "depth of sequencing": sequencing_depth,
    "confounded batches": confounded_batches,
    "copied samples": copied_samples,
    "copied variables": copied_variables,
}
