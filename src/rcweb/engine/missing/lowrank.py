"""A low-rank model with noise per variable, fitted to the measured entries of a table.

    x_mi = mu_i + w_i^T z_m + e_mi,   z_m ~ N(0, I_K),   e_mi ~ N(0, psi_i),   w_i ~ N(0, I / K)

for variables in units of their standard deviation, by expectation-maximisation (factor analysis
with missing data: Rubin, Thayer 1982; Ghahramani, Jordan 1994). With O_m the variables measured in
sample m and O_i the samples that measured variable i,

    E:  A_m = I + sum_{i in O_m} w_i w_i^T / psi_i,
        <z_m> = A_m^-1 sum_{i in O_m} w_i (x_mi - mu_i) / psi_i,
        <z_m z_m^T> = <z_m><z_m>^T + A_m^-1,
    M:  (w_i, mu_i) = argmin sum_{m in O_i} <(x_mi - mu_i - w_i^T z_m)^2> + K psi_i w_i^T w_i,
        psi_i = what that leaves per measurement,

then z is brought back to mean zero and unit covariance (parameter expansion: Liu, Rubin, Wu 1998),
which saves most of the steps. EM maximises the likelihood of the measured entries times the prior
on w; the prior keeps directions that few measurements support from growing.

An entry at a limit of detection is known to lie at it or beyond (a Tobit model: Tobin 1958). It is
replaced by the mean of the normal distribution beyond the limit, around what the model expects of
it, and its variance there is added to the noise; z is taken as independent of it (mean field).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.posterior.slab import NOISE_COUNT
from rcweb.engine.types import Array, Mask

# Noise variance beside that of the variable: sums of w w^T / psi must leave I above rounding.
LEAST_NOISE = 1e-10
# Length of a step of values at limits, of which expectation-maximisation makes many short ones;
# below 2 (Salakhutdinov, Roweis 2003). Measured: with 1, 400 steps reach less than 100 do.
OVER_RELAXED = 1.8
BLOCK_BYTES = 1 << 26  # of products <z z^T> held at a time


@dataclass(frozen=True)
class LowRank:
    """mu (N,), W (N, K), psi (N,)."""

    mu: Array
    W: Array
    psi: Array


@dataclass(frozen=True)
class Beyond:
    """Limits of the variables, (N,), infinite where there are none, and the entries (M, N) that lie
    at them or beyond."""

    lower: Array
    upper: Array
    below: Mask
    above: Mask

    @property
    def either(self) -> Mask:
        """(M, N) beyond either limit."""
        return self.below | self.above

    def relaxed(self, before: Array, after: Array) -> Array:
        """A longer step of the entries beyond limits, (M, N) before and after it, that stays on
        their side of the limit."""
        step = before + OVER_RELAXED * (after - before)
        step = np.where(self.below, np.minimum(step, self.lower), np.maximum(step, self.upper))
        return np.where(self.either, step, after)

    def expect(self, rows: slice, around: Array, psi: Array) -> tuple[Array, Array]:
        """Means and variances of the entries of some rows, (m, N), that lie beyond their limits
        and are normal with mean `around` (m, N) and variance `psi` (N,); 0 for the others."""
        mean, variance = np.zeros((2, *around.shape))
        sd = np.sqrt(psi)
        for which, side, limit in (
            (self.below[rows], 1.0, self.lower),
            (self.above[rows], -1.0, self.upper),
        ):
            i, j = np.nonzero(which)
            a = side * (limit[j] - around[i, j]) / sd[j]
            # Mean of a standard normal below a, with its sign turned: density over probability.
            mills = np.exp(-0.5 * a * a - 0.5 * np.log(2 * np.pi) - log_ndtr(a))
            mean[i, j] = around[i, j] - side * sd[j] * mills
            variance[i, j] = psi[j] * np.clip(1 - mills * (a + mills), 0.0, 1.0)
        return mean, variance


@dataclass(frozen=True)
class Fit:
    """A model, its expectation of every entry (M, N), the steps made, and whether it converged.

    values : (M, N) what was seen, with entries beyond limits at their expectation there
    known : (N,) share of the noise of each variable that was seen: 1 for an entry that was
        measured, 0 for one that was not, between for one beyond a limit
    """

    model: LowRank
    expected: Array
    values: Array
    known: Array
    iterations: int
    converged: bool


def fit_low_rank(
    Y: Array,
    seen: Mask,
    K: int,
    *,
    tol: float,
    max_iter: int,
    start: LowRank | None = None,
    beyond: Beyond | None = None,
) -> Fit:
    """Fit K components to the entries of `Y` (M, N; zero elsewhere) that were `seen`.

    Stops when the expectation of entries not seen, or beyond limits, moves by at most `tol` times
    the noise (root mean squares over all of them), or after `max_iter` steps.
    """
    model = start or start_from_zeros(Y, seen, K)
    hole = ~seen
    hidden = np.zeros_like(hole) if beyond is None else beyond.either
    before = np.full(int(hole.sum() + hidden.sum()), np.inf)
    # EM raises the likelihood at every step. At `max_iter` it returns the model so far with
    # converged = False; the filled values are then less exact.
    for iteration in range(max_iter + 1):
        made = step(Y, seen, model, beyond)
        now = np.concatenate([made.expected[hole], made.values[hidden]])
        converged = bool(_rms(now - before) <= tol * np.sqrt(model.psi.mean()))
        if converged or iteration == max_iter:
            break
        model, before = made.better, now
        Y = Y if beyond is None else beyond.relaxed(Y, made.values)
    known = (seen.sum(axis=0) - made.lost / model.psi) / len(Y)
    return Fit(model, made.expected, made.values, known, iteration, converged)


def _rms(values: Array) -> float:
    return float(np.sqrt((values * values).mean())) if len(values) else 0.0


def start_from_zeros(Y: Array, seen: Mask, K: int) -> LowRank:
    """Leading directions of the table with zeros in its holes. Zeros shrink a variable's weights by
    the share that was measured, so weights are divided by it."""
    M, N = Y.shape
    share = seen.mean(axis=0)
    W = np.zeros((N, K))
    if K:
        leading = CondensedTable.of(Y).leading(K)
        W = leading.V * leading.values / np.sqrt(M) / share[:, None]
    # The division can explain more than a variable's whole variance, which is 1: leave 5 % of it as
    # noise.
    power = (W * W).sum(axis=1)
    W *= np.sqrt(np.minimum(1.0, 0.95 / np.maximum(power, 1e-300)))[:, None]
    return LowRank(np.zeros(N), W, 1 - np.minimum(power, 0.95))


@dataclass(frozen=True)
class EMStep:
    """The better model; what the given one expects of every entry (M, N); the entries that were
    seen (M, N), those beyond limits at their expectation; and their variance there, summed over
    samples (N,)."""

    better: LowRank
    expected: Array
    values: Array
    lost: Array


def step(Y: Array, seen: Mask, model: LowRank, beyond: Beyond | None = None) -> EMStep:
    """One step of expectation-maximisation from the given model."""
    (M, N), K = Y.shape, model.W.shape[1]
    # Products are stored as upper triangles: half of the memory, and sums over samples become one
    # matrix product with the mask.
    size = (K + 1) * (K + 2) // 2
    complete = bool(seen.all())
    moments = np.zeros((0 if complete else N, size))
    cross, total, lost = np.zeros((N, K + 1)), np.zeros(size), np.zeros(N)
    expected, values = np.empty_like(Y), Y if beyond is None else Y.copy()
    for rows in _blocks(M, size):
        Z, second = _posterior(Y[rows], seen[rows], model)
        expected[rows] = model.mu + Z[:, :K] @ model.W.T
        if beyond is not None:
            mean, variance = beyond.expect(rows, expected[rows], model.psi)
            values[rows] = np.where(beyond.either[rows], mean, Y[rows])
            lost += variance.sum(axis=0)
        if not complete:
            moments += seen[rows].T.astype(np.float64) @ second
        cross += values[rows].T @ Z
        total += second.sum(axis=0)
    power, count = (values * values).sum(axis=0) + lost, seen.sum(axis=0)
    coefficients, rest = np.empty((N, K + 1)), np.empty(N)
    for variables in _blocks(N, size):
        ridge = K * model.psi[variables]
        if complete:
            w, explained = _regress_alike(total, cross[variables], ridge, M)
        else:
            w, explained = _regress(moments[variables], cross[variables], ridge)
        coefficients[variables], rest[variables] = w, power[variables] - explained
    rest = np.maximum(rest, LEAST_NOISE * count)
    # Shrinkage towards the geometric mean, as in `posterior.slab.shared_noise`: a variable with few
    # measurements could otherwise be fitted perfectly and get noise zero.
    typical = np.exp(np.log(rest / count).mean())
    psi = (rest + NOISE_COUNT * typical) / (count + NOISE_COUNT)
    return EMStep(_normalise(coefficients, psi, total / M), expected, values, lost)


def _posterior(Y: Array, seen: Mask, model: LowRank) -> tuple[Array, Array]:
    """(<z_m>, 1), (m, K + 1), and the packed products <(z, 1) (z, 1)^T> of the samples."""
    K = model.W.shape[1]
    root = np.sqrt(model.psi)[:, None]
    if seen.all():  # one covariance for all samples
        scaled = model.W / root
        one = np.linalg.inv(np.eye(K) + scaled.T @ scaled)
        covariance = np.broadcast_to(one, (len(Y), K, K))
    else:
        A = _unpack(seen.astype(np.float64) @ _packed_products(model.W / root), K)
        A[:, np.arange(K), np.arange(K)] += 1
        covariance = np.linalg.inv(A)
    pull = np.where(seen, Y - model.mu, 0.0) @ (model.W / root**2)
    Z = np.ones((len(Y), K + 1))
    Z[:, :K] = np.einsum("mkl,ml->mk", covariance, pull)
    second = _packed_products(Z)
    i, j = np.triu_indices(K + 1)
    inner = j < K
    second[:, inner] += covariance[:, i[inner], j[inner]]
    return Z, second


def _regress(moments: Array, cross: Array, ridge: Array) -> tuple[Array, Array]:
    """Coefficients (n, K + 1), the last being the mean, and the power that they explain (n,)."""
    K = cross.shape[1] - 1
    S = _unpack(moments, K + 1)
    S[:, np.arange(K), np.arange(K)] += ridge[:, None]
    w = np.asarray(np.linalg.solve(S, cross[:, :, None])[:, :, 0], dtype=np.float64)
    return w, (w * cross).sum(axis=1) + ridge * (w[:, :K] ** 2).sum(axis=1)


def _regress_alike(total: Array, cross: Array, ridge: Array, M: int) -> tuple[Array, Array]:
    """The same where every variable was measured in all M samples, which have the packed products
    `total`: one decomposition serves all variables."""
    K = cross.shape[1] - 1
    S = _unpack(total[None], K + 1)[0]
    centre = S[:K, K] / M
    values, turn = np.linalg.eigh(S[:K, :K] - M * np.outer(centre, centre))
    pull = (cross[:, :K] - cross[:, K:] * centre) @ turn
    w = pull / (values + ridge[:, None]) @ turn.T
    w = np.column_stack([w, cross[:, K] / M - w @ centre])
    return w, (w * cross).sum(axis=1) + ridge * (w[:, :K] ** 2).sum(axis=1)


def _normalise(coefficients: Array, psi: Array, moment: Array) -> LowRank:
    """The same model with z of mean zero and unit covariance, `moment` being its packed mean
    products."""
    K = coefficients.shape[1] - 1
    second = _unpack(moment[None], K + 1)[0]
    centre = second[:K, K]
    root = np.linalg.cholesky(second[:K, :K] - np.outer(centre, centre))
    W = coefficients[:, :K]
    return LowRank(coefficients[:, K] + W @ centre, W @ root, psi)


def _packed_products(Z: Array) -> Array:
    """Products of all pairs of columns, (m, n) to (m, n (n + 1) / 2): outer products, halved."""
    i, j = np.triu_indices(Z.shape[1])
    return Z[:, i] * Z[:, j]


def _unpack(packed: Array, n: int) -> Array:
    """Symmetric matrices (m, n, n) from their upper triangles."""
    i, j = np.triu_indices(n)
    full = np.empty((len(packed), n, n))
    full[:, i, j] = packed
    full[:, j, i] = packed
    return full


def _blocks(n: int, width: int) -> list[slice]:
    """Slices of 0 to n so that `width` doubles for each of a slice fit into BLOCK_BYTES."""
    most = max(1, BLOCK_BYTES // (8 * max(width, 1)))
    return [slice(a, min(a + most, n)) for a in range(0, n, most)]
