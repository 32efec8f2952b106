"""Joint posterior of R, C and the noise by Gibbs sampling (the probabilistic form of eq. 2).

Model, for the M x N table G of centred data:

    g_mi = sum_p r_mp c_pi + e_mi,   r_m ~ N(0, Omega),   e_mi ~ N(0, sigma_i^2),
    c_pi ~ N(0, b_p) with probability 1 - pi_p, else drawn from a slab whose shape is learned,

with a Beta prior on each regulator's density pi_p, an inverse-gamma one on each sigma_i^2, and that
of `covariance` on Omega. This is the density of `entries`: b_p is learned, and 0 where zeros are
exact. The table enters only through its L leading singular pairs and the power that they leave in
each variable, so the cost of a sweep does not depend on M: rotated to principal axes, the rows
beyond L are taken as independent noise, and enter by their expectation.

Used where mean field does not converge, and with quality="high". Where noise leaves several modes
a long chain is also a search (figure 3A, M=150: accuracy 0.61-0.65 to 0.72-0.84 in 500 sweeps).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, entr

from rcweb.engine.checkpoint import StageStore
from rcweb.engine.posterior.axes import Axes
from rcweb.engine.posterior.background import fitted_background, least_edge
from rcweb.engine.posterior.covariance import ActivityCovariance, wishart_root
from rcweb.engine.posterior.kernels import draw_edges, draw_shaped_edges
from rcweb.engine.posterior.slab import (
    EDGE_COUNT,
    PRIOR_MIX,
    SPREAD,
    STEP,
    density_before,
    density_prior,
    shared_noise,
    shared_scale,
)
from rcweb.engine.types import Array, Mask, Rng

LOG_2_PI_E = np.log(2 * np.pi * np.e)  # twice the entropy of a standard Gaussian
MEASURED = 10  # sweeps between two evaluations of the energy, which take time of their own


@dataclass
class State:
    """One point of the chain: weights (P, N), noise variances (N,), densities, scales, slab.

    The variance of a variable is its noise variance divided by the share of samples in which it was
    observed: a complete table with that noise would be equally informative.

    precision : (P, P) inverse of the covariance of activities
    background : (P,) variance of the weights that are not from the slab, 0 if these are zeros
    slab : (P, N) which weights were drawn from the slab
    fidelity : (P,) of the rows at the end of the burn-in; see `Posterior`
    """

    C: Array
    variance: Array
    pi: Array
    scale: Array
    mix: Array
    precision: Array
    background: Array
    slab: Mask
    fidelity: Array

    @property
    def edge_count(self) -> Array:
        """(P,) weights from the slab."""
        return np.asarray(self.slab.sum(axis=1))

    @property
    def edge_power(self) -> Array:
        """(P,) their sum of squares."""
        return np.asarray((np.where(self.slab, self.C, 0.0) ** 2).sum(axis=1))


@dataclass(frozen=True)
class Posterior:
    """Averages over the kept sweeps: mean and mean square of every entry, probability that it is an
    edge (P, N); noise sd (N,); inverse covariance of activities (P, P)."""

    C: Array
    square: Array
    probability: Array
    noise: Array
    precision: Array

    @property
    def fidelity(self) -> Array:
        """(P,) correlation of each row with the truth that the posterior itself expects."""
        return _fidelity(self.C, self.square)


@dataclass
class Sums:
    """Over `n` sweeps: means, squares and probabilities of all entries (P, N), noise (N,), inverse
    covariance of activities (P, P)."""

    n: int
    mean: Array
    square: Array
    probability: Array
    noise: Array
    precision: Array

    @classmethod
    def zero(cls, P: int, N: int) -> Sums:
        mean, square, probability = np.zeros((3, P, N))
        return cls(0, mean, square, probability, np.zeros(N), np.zeros((P, P)))


@dataclass(frozen=True)
class Snapshot:
    """A chain in the middle of its run number `run`, as a checkpoint keeps it."""

    run: int
    sums: Sums
    state: State
    energy: Array


class Chain:
    """A Gibbs chain on `axes` from the network `C` (P, N); `concentration` of the Beta prior.

    With a `checkpoint` the chain is saved from time to time. A restored chain replays its schedule
    of runs and skips those it has already finished.
    """

    def __init__(
        self,
        axes: Axes,
        C: Array,
        rng: Rng,
        *,
        concentration: float,
        checkpoint: StageStore | None = None,
    ) -> None:
        self.axes, self.rng = axes, rng
        self.concentration = concentration
        self.state = starting_state(axes, np.asarray(C, dtype=np.float64))
        self.covariance = ActivityCovariance(axes.M, len(C))
        self.probability, self.mean = np.empty_like(self.state.C), np.empty_like(self.state.C)
        self.beside = np.zeros((len(C), 2))
        self.energy: list[float] = []
        self.runs = 0
        self.checkpoint = checkpoint
        self.resumed = checkpoint.load("chain", Snapshot, rng) if checkpoint else None
        if self.resumed is not None:
            self.state, self.energy = self.resumed.state, self.resumed.energy.tolist()

    def run(self, sweeps: int, *, shaped: bool = True) -> Posterior:
        """Advance and average; see `advance`."""
        sums = self._run(sweeps, shaped)
        if sums.n < sweeps:
            raise RuntimeError("averages of a run that is over are not kept; use advance for it.")
        return Posterior(
            C=sums.mean / sweeps,
            square=sums.square / sweeps,
            probability=sums.probability / sweeps,
            noise=sums.noise / sweeps * np.sqrt(self.axes.observed),
            precision=sums.precision / sweeps,
        )

    def advance(self, sweeps: int, *, shaped: bool = True) -> None:
        """Advance; `shaped` learns the slab's shape, otherwise it is one Gaussian (faster)."""
        self._run(sweeps, shaped)

    def allow_background(self) -> None:
        """From now on rows may have a background, which is learned; it starts as wide as the noise
        of an entry. While rows are unsure, it would take up what they should become."""
        if self.resumed is None or self.runs >= self.resumed.run:
            noise = float(np.median(self.state.variance)) / self.axes.M
            self.state.background = np.full(len(self.state.C), noise)

    def _run(self, sweeps: int, shaped: bool) -> Sums:
        self.runs += 1
        sums = Sums.zero(*self.state.C.shape)
        if self.resumed is not None and self.runs <= self.resumed.run:
            if self.runs < self.resumed.run:
                return sums
            sums = self.resumed.sums
        while sums.n < sweeps:
            self._sweep(shaped, measured=sums.n % MEASURED == 0)
            sums.n += 1
            # Conditional means and probabilities instead of the draws (Rao-Blackwell): the same
            # expectation with less variance.
            sums.mean += self.mean
            sums.square += self.state.C**2
            sums.probability += self._edge_probability()
            sums.noise += np.sqrt(self.state.variance)
            sums.precision += self.state.precision
            if self.checkpoint is not None and self.checkpoint.due():
                snapshot = Snapshot(self.runs, sums, self.state, np.array(self.energy))
                self.checkpoint.save("chain", snapshot, self.rng)
        return sums

    def burn_in(self, most: int, block: int = 300, patience: int = 3) -> int:
        """Burn-in: sweep while the energy climbs; from a poor start the chain is itself a search.

        The energy is the log posterior with R integrated out plus the entropy of the conditional
        draws; without the entropy wrong modes would win. Stops when `patience` blocks in a row are
        not higher on average than the block before by a fifth of their spread, or after `most`
        sweeps; then sampling starts from wherever the chain is. One block is not enough: chains
        pause on the way to their mode (accuracy 0.60 with one block, 0.89 with three).
        Leaves the fidelity of the rows in the last block in `state`.
        Call it first: a restored chain replays all its energies.
        """
        done = resting = 0
        n = block // MEASURED
        while done < most and resting < patience:
            sums = self._run(block, shaped=False)
            if sums.n:  # a run that a restored chain skips has no sums; its state has the result
                self.state.fidelity = _fidelity(sums.mean / sums.n, sums.square / sums.n)
            done += block
            end = done // MEASURED
            # The two latest blocks; after the first block both are that block.
            early, late = np.reshape(self.energy[max(end - 2 * n, 0) : end], (-1, n))[[0, -1]]
            climbed = done <= 2 * block or late.mean() >= early.mean() + 0.2 * late.std()
            resting = 0 if climbed else resting + 1
        return done

    def _sweep(self, shaped: bool, measured: bool) -> None:
        state, rng = self.state, self.rng
        Q, Z, likelihood = self._draw_activities()
        log_odds = np.log(state.pi / (1 - state.pi))
        # Activities first: entries of C are drawn with R given, and then variables are independent.
        density = (log_odds, state.scale, state.background)
        common = (rng, Q, Z, state.C, 1 / state.variance, *density)
        drawn = (self.probability, self.mean, state.slab, self.beside)
        used = np.zeros(len(state.mix)) if shaped else None
        if shaped:
            least = least_edge(state.background, state.C.shape[1])
            draw_shaped_edges(*common, least, STEP, SPREAD, state.mix, *drawn, used)
        else:
            # The prior belongs to the C of `likelihood`, so it is evaluated before C changes.
            prior = self._log_prior() if measured else 0.0
            draw_edges(*common, *drawn)
            if measured:
                self.energy.append(likelihood + prior + self._entropy(np.diag(Q)))
        # R C does not change if a row of C grows as its activity shrinks. Fixing the activity's
        # mean square at 1 removes this direction, along which the chain would drift slowly.
        size = np.sqrt(np.diag(Q) / self.axes.M)
        self._rescale(size)
        Q = Q / np.outer(size, size)
        Z /= size[:, None]
        state.precision = self.covariance.draw(Q, rng)
        fit = ((Q @ state.C - 2 * Z) * state.C).sum(axis=0)
        self._draw_parameters(np.maximum(self.axes.power + fit, self.axes.floor), used)

    def _draw_activities(self) -> tuple[Array, Array, float]:
        """See `draw_activities`."""
        return draw_activities(self.axes, self.state, self.rng)

    def _rescale(self, size: Array) -> None:
        """Activities are divided by `size` (P,), their weights multiplied."""
        self.state.C *= size[:, None]
        self.mean *= size[:, None]
        self.state.background *= size**2
        self.beside *= size[:, None] ** np.array([-2, -4])

    def _edge_probability(self) -> Array:
        """(P, N) that an entry is from the slab; where there is a background, whether it was drawn
        from the slab and is larger than the background would be."""
        background, state = self.state.background, self.state
        if not background.any():
            return self.probability
        least = least_edge(background, state.C.shape[1])[:, None]
        larger = state.slab & (np.abs(state.C) > least)
        return np.where(background[:, None] > 0, larger, self.probability)

    def _log_prior(self) -> float:
        """Log prior of C, densities integrated out, the slab taken as one Gaussian."""
        state = self.state
        count, N = state.edge_count, state.C.shape[1]
        power = state.edge_power / state.scale**2
        a, b = density_prior(self.concentration, count, N)
        density = (betaln(a + count, b + N - count) - betaln(a, b)).sum()
        edges = -0.5 * (power + count * np.log(2 * np.pi * state.scale**2)).sum()
        wide = state.background > 0
        width = state.background[wide]
        rest = ((state.C**2).sum(axis=1) - state.edge_power)[wide] / width
        beside = -0.5 * (rest + (N - count[wide]) * np.log(2 * np.pi * width)).sum()
        return float(density + edges + beside)

    def _entropy(self, square: Array) -> float:
        """Entropy of the conditionals from which entries were drawn: of the choice between
        background and edge, and of the Gaussians of both; `square` (P,) are the activities' sums of
        squares."""
        p, state = self.probability, self.state
        known = np.outer(square, 1 / state.variance)
        edge = 0.5 * (LOG_2_PI_E - np.log(known + state.scale[:, None] ** -2))
        entropy = (entr(p) + entr(1 - p) + p * edge).sum()
        wide = state.background > 0
        rest = 0.5 * (LOG_2_PI_E - np.log(known[wide] + 1 / state.background[wide, None]))
        return float(entropy + ((1 - p[wide]) * rest).sum())

    def _draw_parameters(self, rss: Array, used: Array | None) -> None:
        state, rng, axes = self.state, self.rng, self.axes
        total, samples = shared_noise(rss, axes.M * axes.observed, axes.observed)
        state.variance = np.maximum(total / 2 / rng.gamma(samples / 2), axes.floor)
        count, power = state.edge_count, state.edge_power
        a, b = density_prior(self.concentration, count, len(rss))
        # Log odds must stay finite, and a row that loses its last edge must be able to regain one.
        state.pi = np.clip(rng.beta(a + count, b + len(rss) - count), 1e-4, 0.98)
        state.scale = shared_scale(power, count)
        if state.background.any():
            excess, information = self.beside.T
            state.background = fitted_background(excess, information, state.scale)
        if used is not None:
            state.mix = np.maximum(rng.dirichlet(used + EDGE_COUNT * PRIOR_MIX), 1e-6)


def starting_state(axes: Axes, C: Array) -> State:
    """Rows of `C` scaled so that regulators have unit variance; noise from what is left."""
    P, N = C.shape
    gram = C @ C.T
    # Ridge: relative to each row, and to the largest row for rows that are empty.
    gram.flat[:: P + 1] += 1e-6 * np.diag(gram) + max(1e-14 * np.diag(gram).max(), 1e-300)
    CY = C @ axes.Y.T
    R = np.linalg.solve(gram, CY)
    size = np.sqrt((R**2).sum(axis=1) / axes.M) + 1e-300
    C = C * size[:, None]
    rss = axes.power.sum() - (R * CY).sum()  # least squares
    variance = max(rss / N / axes.M, axes.floor)
    pi, unknown = density_before(np.zeros(P), 0), np.zeros(P)  # replaced in the first sweep
    scale = shared_scale((C**2).sum(axis=1), pi * N)
    start = (C, np.full(N, variance), pi, scale, PRIOR_MIX.copy(), np.eye(P))
    return State(*start, background=np.zeros(P), slab=C != 0, fidelity=unknown)


def _fidelity(mean: Array, square: Array) -> Array:
    power = (mean**2).sum(axis=1)
    return np.asarray(np.sqrt(power / np.maximum(square.sum(axis=1), 1e-300)))


def draw_activities(axes: Axes, state: State, rng: Rng) -> tuple[Array, Array, float]:
    """Q = R^T R (P, P) and Z = R^T G (P, N) for activities R drawn given C and the noise; and
    log p(G | C, noise) with R integrated out, up to a constant."""
    P, N = state.C.shape
    weighted = state.C / state.variance
    A = weighted @ state.C.T + state.precision
    root = np.linalg.cholesky(A)
    inverse_root = np.linalg.inv(root)  # A^-1 = inverse_root^T inverse_root
    T = inverse_root @ weighted
    YT = axes.scores(T).astype(np.float64)
    L = len(YT)
    R = (YT + rng.standard_normal((L, P))) @ inverse_root
    Q, Z = R.T @ R, axes.cross(R)
    # The other M - L rotated samples are zero: their activities are draws from N(0, A^-1), of which
    # only the Gram matrix matters. It is drawn at once, so the cost does not depend on M.
    if axes.M > L:
        Q += inverse_root.T @ _wishart(axes.M - L, P, rng) @ inverse_root
    if axes.rest.any():  # rows beyond the axes, by their expectation
        H = inverse_root.T @ T  # (P, N): mean of R is Y H^T
        Q += (H * axes.rest) @ H.T
        Z += H * axes.rest
        Z += inverse_root.T @ (np.sqrt(axes.rest) * rng.standard_normal((P, N)))
    logdet = 2 * np.log(np.diag(root)).sum() + np.log(state.variance).sum()
    logdet -= np.linalg.slogdet(state.precision)[1]
    misfit = (axes.power / state.variance).sum() - (YT**2).sum() - (T * T @ axes.rest).sum()
    return Q, Z, float(-0.5 * (axes.M * logdet + misfit))


def _wishart(n: int, P: int, rng: Rng) -> Array:
    """Wishart with n degrees of freedom and identity scale."""
    if n <= P:  # Bartlett's factor needs n > P - 1 degrees of freedom
        E = rng.standard_normal((n, P))
        return E.T @ E
    T = wishart_root(n, P, rng)
    return T @ T.T
