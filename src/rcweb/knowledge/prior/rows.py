"""Probability of a target from the regulator, found without lists, in which a list stands out.

The posterior of the blind fit gives every edge a probability p, of which the regulator's density pi
is the part known before the data. The list replaces pi: the log-odds of a listed edge are
logit(p) - logit(pi) + logit(reliability), and an unlisted one has the prevalence of targets among
unlisted variables in place of the reliability. Both are learned.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from rcweb.engine.types import Array
from rcweb.knowledge.prior.evidence import BlindRow
from rcweb.knowledge.prior.lists import TargetList
from rcweb.knowledge.prior.mixture import (
    ROUNDS_OF_EM,
    SURE,
    Targets,
    learn_prevalence,
    share_seen,
)


def row_log_odds(
    probability: Array, rows: BlindRow, one: TargetList, expected: tuple[float, float]
) -> tuple[Array, Targets]:
    """Log-odds of every variable (N,), members judged in the row that the others choose; and what
    the list is worth.

    probability : (P, N) of the blind edges; expected : as in `mixture.learn_targets`
    """
    chosen, by_others = rows.choice(one.members[None], one.confidence)
    best, others = int(chosen[0]), by_others[0]
    density = np.clip(probability.mean(axis=1), SURE, 1 - SURE)
    own = np.clip(probability[others, one.members], SURE, 1 - SURE)
    ratio = logit(own) - logit(density[others])
    reliability = 0.6
    for _ in range(ROUNDS_OF_EM):
        seen = expit(logit(reliability * one.confidence) + ratio)
        reliability = share_seen(seen, one.confidence, expected)
    odds = logit(np.clip(probability[best], SURE, 1 - SURE)) - logit(density[best])
    prevalence = learn_prevalence(np.delete(odds, one.members), float(density[best]))
    odds += logit(prevalence)
    odds[one.members] = ratio + logit(reliability * one.confidence)
    return odds, Targets(reliability, prevalence)
