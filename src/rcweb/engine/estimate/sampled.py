"""The posterior sampled, where mean field is not to be believed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import RIGHT
from rcweb.engine.effort import Run
from rcweb.engine.estimate.network import from_posterior
from rcweb.engine.estimate.problem import RefinedProblem
from rcweb.engine.posterior.axes import Axes
from rcweb.engine.posterior.gibbs import Chain, Posterior
from rcweb.engine.posterior.mean_field import MeanField
from rcweb.engine.search.found import Found, mostly
from rcweb.engine.types import Array

# Variance inflation of activities above which mean field draws false edges: equal correlations of
# 0.7 make 3.1, of 0.9 make 9.4.
COLLINEAR = 2.5


def inflation(table: CondensedTable, posterior: Posterior) -> float:
    """Median variance inflation factor of the activities, divided by the M / (M - P) that as many
    independent activities have by chance."""
    projection = from_posterior(table, posterior).projection
    gram = projection.T @ table.times(projection)
    size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    P = len(gram)
    correlation = gram / np.outer(size, size) + 1e-9 * np.eye(P)
    by_chance = table.M / max(table.M - P, 1)
    return float(np.median(np.diag(np.linalg.inv(correlation)))) / by_chance


def sample(
    problem: RefinedProblem, axes: Axes, field: MeanField, found: Found, calm: bool, run: Run
) -> Posterior:
    """A chain from where mean field ended; `calm` if it converged there, to columns that are not
    chance."""
    start = field.posterior
    # In double precision: over thousands of sweeps single roundings would grow, and tables that
    # differ in their last bits, such as chunks added up in another order, would end apart.
    chain = Chain(
        replace(axes, single=False),
        _edges_alone(start),
        run.rng,
        concentration=problem.concentration,
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
        shaped = mostly(chain.state.fidelity > RIGHT, problem.spectrum.P)
    if shaped:
        chain.allow_background()
        chain.advance(budget.shape)
    # Edges move between collinear regulators in a number of sweeps that grows with the inflation;
    # fewer would leave them certain wherever they are.
    longer = max(inflation(problem.table, start) / COLLINEAR, 1.0)
    return chain.run(
        int(min(longer * budget.sweeps, max(budget.burn, budget.sweeps))), shaped=shaped
    )


def _edges_alone(posterior: Posterior) -> Array:
    """Weights that are likelier edges than not, in rows that have any: small entries of opposite
    sign, in two regulators with nearly equal activities, would keep each other alive."""
    likely = posterior.probability > 0.5
    return np.where(likely | ~likely.any(axis=1, keepdims=True), posterior.C, 0.0)
