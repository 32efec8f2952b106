"""Exact zeros: the joint posterior of R, C and noise; without noise the zeros themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rcweb.engine.checkpoint import staged
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import GOOD_PART, LITTLE, RIGHT
from rcweb.engine.effort import Run
from rcweb.engine.estimate.network import NetworkEstimate, from_posterior, regress
from rcweb.engine.estimate.problem import RefinedProblem
from rcweb.engine.estimate.sampled import COLLINEAR, inflation, sample
from rcweb.engine.measured import sample_measured
from rcweb.engine.posterior.axes import Axes, all_axes
from rcweb.engine.posterior.gibbs import Posterior
from rcweb.engine.posterior.mean_field import MeanField
from rcweb.engine.search.found import Found, mostly
from rcweb.engine.search.search import search_thoroughly
from rcweb.engine.search.space import Space
from rcweb.engine.solution import FactorScales
from rcweb.engine.types import Array, Mask


@dataclass(frozen=True)
class Unsettled:
    """A posterior to be sampled, from where mean field ended; `converged` if it came to rest."""

    problem: RefinedProblem
    found: Found
    axes: Axes
    field: MeanField
    converged: bool

    def sampled(self, run: Run) -> tuple[NetworkEstimate, Found]:
        """What the sampler says: 0.3-5 s instead of the 20-60 ms of mean field."""
        problem, found = self.problem, replace(self.found, sampled=not self.converged)
        posterior = sample(problem, self.axes, self.field, found, self.converged, run)
        found = _graded(problem, posterior, found)
        return from_posterior(problem.table, posterior), found


def estimate_sparse(
    problem: RefinedProblem, found: Found, run: Run
) -> tuple[NetworkEstimate, Found, Unsettled | None]:
    """Exact zeros: the joint posterior of R, C and noise; without noise the zeros themselves.

    Mean field first. If it does not converge, the thorough search runs if it was deferred, and the
    posterior is left to be sampled, unless all columns are noise.
    """
    if problem.space.noise_free:
        estimate = _noise_free(problem.table, problem.rows(found))
        # K - 1 zeros can be had in any direction, more are a regulator's; one direction alone can
        # not be turned.
        exact = (estimate.probability == 0).sum(axis=1) >= problem.space.K
        exact |= problem.space.K == 1
        zeros = found.sparse | exact
        found = replace(found, sparse=zeros, same=found.same | exact, trusted=exact)
        return estimate, found, None
    axes = problem.axes()
    field = problem.mean_field(axes, found, _judged(problem, found))
    enough = found.thorough or found.sparse.sum() >= problem.spectrum.P
    enough |= problem.space.noise_kind == "shared"
    if not (enough or _converged(problem, field, found) or problem.hopeless(found)):
        found = _search_thoroughly(problem, found, run)
        field = problem.mean_field(axes, found, _judged(problem, found))
    converged = _converged(problem, field, found)
    run.report(f"posterior: {field.rounds} rounds, {'' if converged else 'not '}converged")
    noise_alone = problem.spectrum.n_above_noise == 0
    if converged:
        found = _graded(problem, field.posterior, found)
    elif noise_alone:
        none = np.zeros(len(found.score))
        found = replace(found, same=none.astype(bool), recurrence=none)
    settled = noise_alone or (converged and run.effort.converged is None)
    unsettled = None if settled else Unsettled(problem, found, axes, field, converged)
    return from_posterior(problem.table, field.posterior), found, unsettled


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
        concentration=problem.concentration,
        rng=run.rng,
    )
    found = _graded(problem, posterior, found)
    return from_posterior(table, posterior), found, scales


def _graded(problem: RefinedProblem, posterior: Posterior, found: Found) -> Found:
    """The columns with what a converged posterior says about them."""
    if not problem.spectrum.white:
        return found
    found = replace(found, trusted=_trusted(posterior, problem.space, found))
    # Noise hides that a row is sparse, or the search had not found it; the posterior knows how far
    # it can trust each row. With little noise a chain that trusts but a few rows found none.
    if problem.blurred or (found.sampled and mostly(found.trusted, problem.spectrum.P)):
        # Not a row in which targets are the majority: it may be a common factor, such as a batch,
        # and must be sparser than chance.
        known = found.trusted & ~_mostly_targets(posterior)
        found = replace(found, sparse=found.sparse | known, same=found.same | known)
    return found


def _trusted(posterior: Posterior, space: Space, found: Found) -> Mask:
    """Rows that the posterior expects to be right, and that have zeros to rest on: at least as many
    as there are directions, and not few of the variables. A row with fewer is dense, and any
    mixture of rows would do as well. So would they if a background has a good part of the power: a
    common factor, such as a batch, whose largest entries look like edges. And one dense row is what
    sparse rows leave, but two can be turned into each other, as those of three batches; with much
    noise sparse rows may look like such ones."""
    zeros = (1 - posterior.probability).sum(axis=1)
    inside = (posterior.probability * posterior.square).sum(axis=1)
    rests = zeros >= max(space.K, LITTLE * space.N)
    rests &= inside > (1 - GOOD_PART) * posterior.square.sum(axis=1)
    dense = (_mostly_targets(posterior) & ~found.sparser) | space.gaussian(found.columns.J)
    rests &= ~dense | (dense.sum() < 2) | space.blurred
    return np.asarray((posterior.fidelity > RIGHT) & rests)


def _mostly_targets(posterior: Posterior) -> Mask:
    """Rows in which targets are the majority."""
    return np.asarray(posterior.probability.mean(axis=1) >= 0.5)


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
        good = good | (field.posterior.fidelity > RIGHT)
    return (
        field.converged
        and mostly(good, problem.spectrum.P)
        and inflation(problem.table, field.posterior) < COLLINEAR
    )


def _search_thoroughly(problem: RefinedProblem, found: Found, run: Run) -> Found:
    def search() -> Found:
        return search_thoroughly(problem.space, found, run.report, problem.samples)

    return staged(run.checkpoint, "search again", search, Found, run.rng)


def _noise_free(table: CondensedTable, Y: Array) -> NetworkEstimate:
    # Sharpened zeros are near 1e-10; 1e-6 leaves room for rounding.
    edges = np.abs(Y) > 1e-6 * np.abs(Y).max(axis=1, keepdims=True)
    Y = np.where(edges, Y, 0.0)
    return replace(regress(table, Y), probability=edges.astype(np.float64), score=Y)
