"""From columns to R, C, noise and the probability of every edge, on the data themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rcweb.engine.checkpoint import staged
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import ENOUGH_TO_TELL, GOOD_PART, LITTLE
from rcweb.engine.edges import comparable
from rcweb.engine.effort import Run
from rcweb.engine.measured import sample_measured
from rcweb.engine.posterior.axes import Axes, all_axes, leading_axes
from rcweb.engine.posterior.background import tail_share
from rcweb.engine.posterior.entries import entries_beside_noise
from rcweb.engine.posterior.gibbs import Chain, Posterior
from rcweb.engine.posterior.mean_field import MeanField, mean_field
from rcweb.engine.posterior.slab import density_concentration
from rcweb.engine.search.found import Found, mostly
from rcweb.engine.search.search import search_thoroughly
from rcweb.engine.search.sharpen import sharpen
from rcweb.engine.search.space import AGREED, LOW_NOISE, NEAR_ZERO, Space
from rcweb.engine.solution import FactorScales
from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array, Mask

# Variance inflation of activities above which mean field draws false edges: equal correlations of
# 0.7 make 3.1, of 0.9 make 9.4.
COLLINEAR = 2.5


@dataclass(frozen=True)
class NetworkEstimate:
    """Rows of the network before edges are chosen, in units of the rescaled table.

    C : (K, N) weights, activities having unit variance; probability, score : (K, N)
    C_sd : (K, N) standard error of C; fidelity : (K,) expected correlation of C with the truth
    noise : (N,) standard deviation; projection : (N, K) from the rescaled table to activities
    held : whether rows are those of the search, and activities least squares on them
    """

    C: Array
    C_sd: Array
    fidelity: Array
    probability: Array
    score: Array
    noise: Array
    projection: Array
    held: bool = False

    def power(self, M: int) -> Array:
        """Sum of squares that each row explains in M samples, (K,): activities have unit
        variance."""
        return np.asarray(M * (self.C**2).sum(axis=1))


@dataclass(frozen=True)
class RefinedProblem:
    """Leading directions of the rescaled table, and the space in which columns are searched;
    `samples` gives white coordinates (M, K) of the samples."""

    spectrum: Spectrum
    space: Space
    samples: Callable[[], Array] | None = None

    @property
    def table(self) -> CondensedTable:
        """The rescaled table."""
        return self.spectrum.table

    @property
    def noise(self) -> float:
        """Typical noise of a row in its standard deviations, not rounded up."""
        return float(np.sqrt((self.space.noise**2).mean()))

    @property
    def blurred(self) -> bool:
        """Whether noise may hide that a row is sparse and is independent, as the model assumes.

        Only then does the posterior replace the test of sparseness: with correlated noise, as in
        time series, it gave 13,000 to 18,000 edges.
        """
        return self.space.blurred and self.spectrum.white

    def hopeless(self, found: Found, least: float = 0.0) -> bool:
        """Whether a longer search or a sampler would only turn over noise: no direction stands
        above it, or it is not independent and at most a share `least` of the columns are sparse."""
        few = found.sparse.mean() <= least and not self.spectrum.white
        return few or self.spectrum.n_above_noise == 0


def estimate_diffuse(problem: RefinedProblem, found: Found) -> NetworkEstimate:
    """Small effects everywhere: the joint posterior if it stays with the columns found, else their
    rows as they are, with the same density of entries.

    On real tables the posterior has many modes: it leads from the columns that searches share to
    others that they do not (of the regulators found by two sets of searches 0.09 to 0.8 agreed).
    """
    Y = problem.space.rows(found.columns.B).astype(np.float64)
    noise, judged = problem.space.floor(found.columns.B), found.confirmed
    tail = 0.0
    if judged.any():
        some = np.flatnonzero(judged)[:ENOUGH_TO_TELL]
        tail = tail_share(Y[some], noise[some])
        field = _mean_field(problem, _axes(problem), found, judged, stay=AGREED, tail=tail)
        if field.converged:
            posterior = _from_posterior(problem.table, field.posterior)
            return replace(posterior, score=comparable(posterior.C, posterior.C))
    probability, width = np.empty(Y.shape), found.columns.density.v0
    # What rows share of their density, they share with those of the same grade.
    for rows in filter(np.any, (judged, ~judged)):
        part = (Y[rows], noise[rows], width[rows])
        entries = entries_beside_noise(*part, _concentration(problem), tail)
        probability[rows] = entries.edge_probability
    fit = regress(problem.table, Y)
    # Rows have unit power: what is not noise is the share of the truth in them.
    fidelity = np.sqrt(np.maximum(1 - noise, 0.0))
    score = comparable(Y, fit.C)
    return replace(fit, fidelity=fidelity, probability=probability, score=score, held=True)


def confirmed_first(
    problem: RefinedProblem, estimate: NetworkEstimate, confirmed: Mask
) -> NetworkEstimate:
    """Held rows, with the activities of the confirmed as if there were no others, and those of the
    others from what these leave.

    The others may be mixtures and curves of them, and would take a part of their activity away:
    deletions of 23 regulators of E. coli change their activities more than 0.83 of the others',
    and 0.75 if all rows are fitted at once. A posterior has no more rows than it needs.
    """
    if not estimate.held or not confirmed.any() or confirmed.all():
        return estimate
    fit = regress(problem.table, estimate.C, confirmed)
    return replace(estimate, C=fit.C, C_sd=fit.C_sd, noise=fit.noise, projection=fit.projection)


def estimate_sparse(
    problem: RefinedProblem, found: Found, run: Run
) -> tuple[NetworkEstimate, Found]:
    """Exact zeros: the joint posterior of R, C and noise; without noise the zeros themselves.

    Mean field first: 20-60 ms instead of 0.3-5 s of sampling. If it does not converge, the thorough
    search runs if it was deferred, and the posterior is sampled. Neither is done where all columns
    are noise.
    """
    if problem.space.noise_free:
        estimate = _noise_free(problem.table, _rows(problem, found))
        # K - 1 zeros can be had in any direction, more are a regulator's; one direction alone can
        # not be turned.
        exact = (estimate.probability == 0).sum(axis=1) >= problem.space.K
        exact |= problem.space.K == 1
        return estimate, replace(
            found, sparse=found.sparse | exact, same=found.same | exact, trusted=exact
        )
    axes = _axes(problem)
    field = _mean_field(problem, axes, found, _judged(problem, found))
    enough = found.thorough or found.sparse.sum() >= problem.spectrum.P
    enough |= problem.space.noise_kind == "shared"
    if not (enough or _converged(problem, field, found) or problem.hopeless(found)):
        found = _search_thoroughly(problem, found, run)
        field = _mean_field(problem, axes, found, _judged(problem, found))
    converged = _converged(problem, field, found)
    run.report(f"posterior: {field.rounds} rounds, {'' if converged else 'not '}converged")
    posterior = field.posterior
    if run.effort.converged is not None or not (converged or problem.hopeless(found, LITTLE)):
        posterior = _sample(problem, axes, field, found, converged, run)
        found = replace(found, sampled=not converged)
        converged = True
    if converged:
        found = _graded(problem, posterior, found)
    elif problem.spectrum.n_above_noise == 0:
        none = np.zeros(len(found.score))
        found = replace(found, same=none.astype(bool), recurrence=none)
    return _from_posterior(problem.table, posterior), found


def estimate_measured(
    problem: RefinedProblem,
    found: Found,
    estimate: NetworkEstimate,
    table: CondensedTable,
    rows: Array,
    values: Array,
    run: Run,
) -> tuple[NetworkEstimate, Found, FactorScales]:
    """The posterior with the factors `values` (M, F) of the samples `rows` (M, N), condensed in
    `table`, from where the sampler ended without them; and the scales of the factors."""
    run.report(f"measured: {values.shape[1]} factors take part in the posterior")
    posterior, scales = sample_measured(
        all_axes(table),
        rows,
        values,
        (estimate.C, rows @ estimate.projection),
        P=problem.spectrum.P,
        concentration=_concentration(problem),
        rng=run.rng,
    )
    found = _graded(problem, posterior, found)
    return _from_posterior(table, posterior), found, scales


def _graded(problem: RefinedProblem, posterior: Posterior, found: Found) -> Found:
    """The columns with what a converged posterior says about them."""
    if not problem.spectrum.white:
        return found
    found = replace(found, trusted=_trusted(posterior, problem.space))
    # Noise hides that a row is sparse, or the search had not found it; the posterior knows how far
    # it can trust each row. With little noise a chain that trusts but a few rows found none.
    if problem.blurred or (found.sampled and mostly(found.trusted, problem.spectrum.P)):
        # Not a row in which targets are the majority, or a background has a good part of the power:
        # it may be a common factor, such as a batch, and must be sparser than chance.
        few = (1 - posterior.probability).mean(axis=1) > 0.5
        inside = (posterior.probability * posterior.square).sum(axis=1)
        known = found.trusted & few & (inside > (1 - GOOD_PART) * posterior.square.sum(axis=1))
        found = replace(found, sparse=found.sparse | known, same=found.same | known)
    return found


def _trusted(posterior: Posterior, space: Space) -> Mask:
    """Rows that the posterior expects to be right, and that have zeros to rest on: at least as many
    as there are directions, and not few of the variables. A row with fewer is dense, and any
    mixture of rows would do as well."""
    zeros = (1 - posterior.probability).sum(axis=1)
    return np.asarray((posterior.fidelity > 1 - LITTLE) & (zeros >= max(space.K, LITTLE * space.N)))


def _mean_field(
    problem: RefinedProblem,
    axes: Axes,
    found: Found,
    judged: Mask | None,
    stay: float = 0.0,
    tail: float = 0.0,
) -> MeanField:
    start, background = _clear_rows(problem, found)
    prior = _concentration(problem)
    return mean_field(
        axes, start, background, concentration=prior, judged=judged, stay=stay, tail=tail
    )


def _judged(problem: RefinedProblem, found: Found) -> Mask | None:
    """Rows that must come to rest: where noise hides sparseness any row may be a regulator."""
    return None if problem.blurred else found.sparse


def _converged(problem: RefinedProblem, field: MeanField, found: Found) -> bool:
    """Whether to believe mean field: it converged, to columns that are not chance, and activities
    are not so collinear that weights leak from one regulator to another.

    At low noise wrong columns converge as well, so convergence alone is not enough.
    """
    good = found.sparse
    if problem.blurred:
        good = good | (field.posterior.fidelity > 1 - LITTLE)
    return (
        field.converged
        and mostly(good, problem.spectrum.P)
        and _inflation(problem.table, field.posterior) < COLLINEAR
    )


def _inflation(table: CondensedTable, posterior: Posterior) -> float:
    """Median variance inflation factor of the activities, divided by the M / (M - P) that as many
    independent activities have by chance."""
    projection = _from_posterior(table, posterior).projection
    gram = projection.T @ table.times(projection)
    size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    P = len(gram)
    correlation = gram / np.outer(size, size) + 1e-9 * np.eye(P)
    by_chance = table.M / max(table.M - P, 1)
    return float(np.median(np.diag(np.linalg.inv(correlation)))) / by_chance


def _search_thoroughly(problem: RefinedProblem, found: Found, run: Run) -> Found:
    def search() -> Found:
        return search_thoroughly(problem.space, found, run.report, problem.samples)

    return staged(run.checkpoint, "search again", search, Found, run.rng)


def _rows(problem: RefinedProblem, found: Found) -> Array:
    """Rows of C up to scale, ``(V B)^T``; sharpened where there is little noise."""
    B = found.columns.B
    X = problem.spectrum.V * np.sqrt(problem.space.N)
    if problem.noise < LOW_NOISE:
        floor = ((B * problem.space.noise) ** 2).sum(axis=1)
        B = sharpen(X, B, floor, found.columns.density.pi)
    return np.asarray(B @ X.T)


def _clear_rows(problem: RefinedProblem, found: Found) -> tuple[Array, Array]:
    """The rows, and the variance of their background; entries that background and noise can explain
    are shrunk to what the background explains of them, zero without one.

    For two regulators with nearly equal activities, small entries of opposite sign would keep each
    other alive: each is certain as long as the other is there. A row that would become empty keeps
    its entries.
    """
    Y, v0 = _rows(problem, found), found.columns.density.v0
    background = np.maximum(v0 - problem.space.floor(found.columns.B), 0.0)
    clear = np.abs(Y) > NEAR_ZERO * np.sqrt(v0)[:, None]
    clear |= ~clear.any(axis=1, keepdims=True)
    return np.where(clear, Y, (background / v0)[:, None] * Y), background


def _axes(problem: RefinedProblem) -> Axes:
    table, K = problem.table, problem.space.K
    few = problem.noise < LOW_NOISE and len(table.gram) > 12 * K
    single = problem.noise > LOW_NOISE
    return leading_axes(table, 2 * K, single=single) if few else all_axes(table, single=single)


def _concentration(problem: RefinedProblem) -> float:
    return density_concentration(problem.space.N, problem.noise)


def _sample(
    problem: RefinedProblem, axes: Axes, field: MeanField, found: Found, calm: bool, run: Run
) -> Posterior:
    start = field.posterior
    # In double precision: over thousands of sweeps single roundings would grow, and tables that
    # differ in their last bits, such as chunks added up in another order, would end apart.
    chain = Chain(
        replace(axes, single=False),
        _edges_alone(start),
        run.rng,
        concentration=_concentration(problem),
        checkpoint=run.checkpoint,
    )
    budget, shaped = run.effort.converged if calm else None, True
    if budget is not None:
        chain.advance(budget.burn, shaped=False)
    else:
        budget = run.effort.stuck.within(start.C.size)
        # Rows that are sparser than chance are near their mode already: one block without a climb
        # is then enough, and a short one where mean field came to rest there.
        near = mostly(found.sparse, problem.spectrum.P)
        block = 100 if near and field.converged else 300
        swept = chain.burn_in(budget.burn, block=block, patience=1 if near else 3)
        run.report(f"refine: {swept} sweeps until the posterior stopped climbing")
        # Rows that are still unsure say nothing about the slab's shape or a background, and what is
        # learned from them holds them where they are: 3A, M=100, N=1000: accuracy 0.71 instead of
        # 0.77 with a shape, M=100, N=500 0.48 instead of 0.51 with a background.
        shaped = mostly(chain.state.fidelity > 1 - LITTLE, problem.spectrum.P)
    if shaped:
        chain.allow_background()
        chain.advance(budget.shape)
    # Edges move between collinear regulators in a number of sweeps that grows with the inflation;
    # fewer would leave them certain wherever they are.
    longer = max(_inflation(problem.table, start) / COLLINEAR, 1.0)
    return chain.run(
        int(min(longer * budget.sweeps, max(budget.burn, budget.sweeps))), shaped=shaped
    )


def _edges_alone(posterior: Posterior) -> Array:
    """Weights that are likelier edges than not, in rows that have any: small entries of opposite
    sign, in two regulators with nearly equal activities, would keep each other alive."""
    likely = posterior.probability > 0.5
    return np.where(likely | ~likely.any(axis=1, keepdims=True), posterior.C, 0.0)


def _from_posterior(table: CondensedTable, posterior: Posterior) -> NetworkEstimate:
    # Posterior mean of activities with prior N(0, Omega): r = (C W C^T + Omega^-1)^-1 C W x. The
    # score is a weight over its standard error, noise / sqrt(samples that measured the variable).
    weight = posterior.C / posterior.noise**2
    A = weight @ posterior.C.T + posterior.precision
    return NetworkEstimate(
        C=posterior.C,
        C_sd=np.sqrt(np.maximum(posterior.square - posterior.C**2, 0.0)),
        fidelity=posterior.fidelity,
        probability=posterior.probability,
        score=posterior.C * np.sqrt((table.M - 1) * table.observed) / posterior.noise,
        noise=posterior.noise,
        projection=np.asarray(np.linalg.solve(A, weight).T, dtype=np.float64),
    )


def _noise_free(table: CondensedTable, Y: Array) -> NetworkEstimate:
    # Sharpened zeros are near 1e-10; 1e-6 leaves room for rounding.
    edges = np.abs(Y) > 1e-6 * np.abs(Y).max(axis=1, keepdims=True)
    Y = np.where(edges, Y, 0.0)
    return replace(regress(table, Y), probability=edges.astype(np.float64), score=Y)


def regress(table: CondensedTable, Y: Array, first: Mask | None = None) -> NetworkEstimate:
    """Activities by least squares on the rows `Y`, both scaled to activities of unit variance;
    every entry counts as an edge, and rows as right. The rest of the rows explains what those of
    `first` leave, if it is given."""
    if first is None:
        projection = np.asarray(np.linalg.pinv(Y), dtype=np.float64)
    else:
        projection = np.empty(Y.T.shape)
        projection[:, first], rest = np.linalg.pinv(Y[first]), np.linalg.pinv(Y[~first])
        projection[:, ~first] = rest - projection[:, first] @ (Y[first] @ rest)
    cross = table.times(projection)  # (N, K): products of variables with activities
    gram = projection.T @ cross
    size = np.sqrt(np.diag(gram) / table.M)
    rest = table.power - 2 * (cross.T * Y).sum(axis=0) + (Y * (gram @ Y)).sum(axis=0)
    noise = np.sqrt(np.maximum(rest, 0.0) / (table.M * table.observed))
    # K directions of the samples are fitted, which the residuals do not show.
    sd = noise / np.sqrt(np.maximum(table.M * table.observed - len(Y), 1.0))
    return NetworkEstimate(
        C=Y * size[:, None],
        C_sd=np.broadcast_to(sd, Y.shape),
        fidelity=np.ones(len(Y)),
        probability=np.ones(Y.shape),
        score=Y,
        noise=noise,
        projection=projection / size,
    )
