"""Several studies in one table: own means, own noise level, one network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtr

from rcweb.engine.basis import noise_edge
from rcweb.engine.condensed import MOST_DIRECTIONS, CondensedTable
from rcweb.engine.types import Array, Ints, Mask

NOISE_ROUNDS = 10  # of scaling and fitting again
SETTLED = 0.01  # relative change of a noise level that no longer matters
ALTERNATIONS = 50  # between noise of studies and of variables
# Of the typical noise, added to each study: small ones borrow from the others. Measured: 1 to 4 do
# the same to 0.0001.
PSEUDO_SAMPLES = 2.0
WIDEST = 1e3  # ratio to the typical noise beyond which a study has no say, or all of it, anyway
_TINY_POWER = 1e-300


@dataclass(frozen=True)
class StudyLevels:
    """What is a study's own.

    mean : (S, N) of what was measured; NaN where a study did not measure a variable
    noise : (S,) noise levels, relative: their geometric mean over the samples is 1
    """

    mean: Array
    noise: Array


def study_levels(X: Array, study: Ints) -> StudyLevels:
    """Means and noise levels of studies; `X` (M, N) with NaN, `study` (M,) numbered from 0.

    Noise is what a common low-rank fit to all studies leaves. The noise levels weigh the studies in
    that fit, so both are found in turns.
    """
    S, seen = int(study.max()) + 1, ~np.isnan(X)
    member = np.arange(S)[:, None] == study
    count = member.astype(np.float64) @ seen
    total = member.astype(np.float64) @ np.where(seen, X, 0.0)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    Y = _standardised(np.where(seen, X - mean[study], 0.0))
    # Each study by itself to begin with: where noise differs, a common fit takes the noise of one
    # study for directions of all.
    alone = [_residual(Y[rows], seen[rows]) for rows in member]
    power = np.array([(rest**2).sum(axis=0) for rest, _ in alone])
    lost = np.array([leverage.sum() for _, leverage in alone])
    noise = np.clip(_relative_noise(power, count, lost, study), 1 / WIDEST, WIDEST)
    for _ in range(NOISE_ROUNDS):
        rest, leverage = _residual(Y / noise[study][:, None], seen)
        step = _relative_noise(member @ rest**2, count, member @ leverage, study)
        noise = np.clip(noise * step, 1 / WIDEST, WIDEST)
        # Stops where nothing changes any more; at the limit the last levels are used.
        if np.abs(np.log(step)).max() < SETTLED:
            break
    return StudyLevels(mean, noise / _typical(noise, study))


def _standardised(Y: Array) -> Array:
    """Variables in units of their size, so that those in large units do not decide alone."""
    peak = np.abs(Y).max(axis=0)
    peak[peak == 0] = 1.0
    # Two steps: squares of numbers near the limits of floats overflow.
    Y = Y / peak
    return np.asarray(Y / np.maximum(np.sqrt((Y * Y).mean(axis=0)), _TINY_POWER))


def _residual(Z: Array, seen: Mask) -> tuple[Array, Array]:
    """What the directions above noise leave of a centred table (zero = missing), and how many
    degrees of freedom they take from each sample (M,)."""
    M, N = Z.shape
    most = min(MOST_DIRECTIONS, (min(M, N) - 1) // 2)
    if most < 1 or not Z.any():
        return Z, np.zeros(M)
    leading = CondensedTable.of(Z).leading(most)
    n = 0
    # Ends: the count grows in each turn. Each further direction lowers the rest, and so the edge.
    while n < most:
        above = int((leading.values > noise_edge(leading.noise(n), M, N)).sum())
        if above <= n:
            break
        n = above
    V, values = leading.V[:, :n], leading.values[:n]
    U = Z @ V
    rest = np.where(seen, Z - U @ V.T, 0.0) * np.sqrt(N / (N - n))
    return rest, ((U / np.maximum(values, _TINY_POWER)) ** 2).sum(axis=1)


def _relative_noise(power: Array, count: Array, lost: Array, study: Ints) -> Array:
    """(S,) noise levels from residual squares (S, N) of variables that differ in noise too.

    ``power_si = freedom_si * level_s^2 * psi_i``, solved in turns for psi and level. A study loses
    `lost` (S,) samples to the directions of the fit, one to its mean. Without that correction a
    study that seems quiet would draw the directions to it and seem quieter still. Variables of one
    study alone tell nothing about its level.
    """
    size = np.bincount(study)
    left = np.maximum(1 - (1 + lost) / size, 0.0)[:, None]
    shared = ((count > 1).sum(axis=0) > 1) & (power.sum(axis=0) > 0)
    level = np.ones(len(power))
    if not shared.any() or (power[:, shared].sum(axis=1) <= 0).any():
        return level
    power, freedom = power[:, shared], (count * left)[:, shared]
    borrowed = PSEUDO_SAMPLES * shared.sum()
    for _ in range(ALTERNATIONS):
        psi = (power / level[:, None]).sum(axis=0) / np.maximum(freedom.sum(axis=0), 1.0)
        now = (power / psi).sum(axis=1)
        typical = _typical(level, study)
        now = (now + borrowed * typical) / (freedom.sum(axis=1) + borrowed)
        done = np.abs(np.log(now / level)).max() < 1e-3 * SETTLED
        level = now
        if done:
            break
    root = np.sqrt(level)
    return np.asarray(root / _typical(root, study))


def _typical(level: Array, study: Ints) -> float:
    """Geometric mean over the samples."""
    return float(np.exp(np.log(level)[study].mean()))


@dataclass(frozen=True)
class Agreement:
    """How each study (S) sees each regulator (P); arrays are (S, P).

    share : of the variance of the study, ``||R_p||^2 ||C_p||^2 / ||G||^2``
    correlation : of the row as the study alone gives it, others held fixed, with the common row
    excess : mean squared deviation of its entries from the common ones, in standard errors, beside
        what is usual; the larger one of that over edges and over the other entries
    log_p : that `excess` is chance; 0 where nothing can be tested
    """

    share: Array
    correlation: Array
    excess: Array
    log_p: Array


def agreement(Y: Array, study: Ints, R: Array, C: Array, weights: Array) -> Agreement:
    """Estimate every row again from each study alone, and compare with the common one.

    Y : (M, N) centred by study, NaN = not measured; R : (M, P) activities; C, weights : (P, N)
        network, and the best estimate of every entry

    With all other rows fixed the study's own row is ``C_p + R_p^T E / R_p^T R_p``, where E is what
    the common network leaves; its standard error is ``sd(E_i) / ||R_p||``. Squared deviations in
    units of it are averaged over the edges, and over the other entries: an edge of one study alone
    may have been left out. Studies differ a little everywhere, so averages are compared with those
    of the other studies and regulators, see `_unusual`.
    """
    S, P = int(study.max()) + 1, len(C)
    share, correlation = np.zeros((S, P)), np.zeros((S, P))
    squares, freedom = np.zeros((2, S, P)), np.zeros((2, S, P))
    for s in range(S):
        rows = study == s
        seen, r = ~np.isnan(Y[rows]), R[rows] - R[rows].mean(axis=0)
        y, count = np.where(seen, Y[rows], 0.0), seen.sum(axis=0)
        rest = np.where(seen, y - r @ weights, 0.0)
        measured = count > 1
        size = np.sqrt(np.maximum((r * r).sum(axis=0), _TINY_POWER))[:, None]
        noise = np.sqrt((rest**2).sum(axis=0) / np.maximum(count - 1, 1))
        # A variable measured in some samples only: its sums are enlarged to all of them.
        z = (r.T @ rest) * np.sqrt(len(r) / np.maximum(count, 1)) / size
        own = weights + z * np.sqrt(len(r) / np.maximum(count, 1)) / size
        z = np.divide(z, noise, out=np.zeros_like(z), where=noise > 0)
        share[s] = size[:, 0] ** 2 * (C[:, measured] ** 2).sum(axis=1)
        share[s] /= max(float((y * y).sum()), _TINY_POWER)
        correlation[s] = _paired_correlation(own[:, measured], weights[:, measured])
        for k, part in enumerate(((C != 0) & measured, (C == 0) & measured)):
            squares[k, s], freedom[k, s] = (z * z * part).sum(axis=1), part.sum(axis=1)
    excess, p_value = zip(*(_unusual(*part) for part in zip(squares, freedom)))
    # Two tests of each.
    log_p = np.log(np.clip(2 * np.minimum(*p_value), _TINY_POWER, 1.0))
    tested = freedom[0] > 0
    return Agreement(share, correlation, np.maximum(*excess), np.where(tested, log_p, 0.0))


def _unusual(squares: Array, freedom: Array) -> tuple[Array, Array]:
    """Mean squares (S, P) beside their median, if that is above 1, and how probable such are.

    The larger p of two: of the chi-square law, and of the scatter of the logarithms over studies
    and regulators, since entries of a row are not independent.
    """
    tested = (freedom > 0) & (squares > 0)
    if not tested.any():
        return np.zeros(squares.shape), np.ones(squares.shape)
    mean = squares / np.maximum(freedom, 1)
    ratio = mean / max(1.0, float(np.median(mean[tested])))
    logs = np.log(np.where(tested, mean, 1.0))
    centre = float(np.median(logs[tested]))
    scatter = 1.4826 * float(np.median(np.abs(logs[tested] - centre)))
    by_scatter = ndtr((centre - logs) / scatter) if scatter > 0 else np.zeros(logs.shape)
    by_law = chdtrc(np.maximum(freedom, 1), ratio * freedom)
    return ratio, np.where(tested, np.maximum(by_law, by_scatter), 1.0)


def _paired_correlation(A: Array, B: Array) -> Array:
    """Correlation of each row of A with the same row of B; 0 where one is constant."""
    A, B = (X - X.mean(axis=1, keepdims=True) for X in (A, B))
    scale = np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1)
    return np.divide((A * B).sum(axis=1), scale, out=np.zeros(len(A)), where=scale > 0)
