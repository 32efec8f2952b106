"""From agreement with a list to the probability of being a target.

Agreement `a` is standard normal for a variable that has nothing to do with the list, and N(m, v)
for a target; members are measured in units of the unlisted variables first. A listed variable is a
target with probability `reliability` times the confidence of its source, an unlisted one with the
`prevalence`; all four are learned from the list's members, each left out, and from the unlisted
variables.

Unlisted variables may also agree for other reasons than being targets, and the table cannot tell
the two apart. So one thing is assumed about them: of the targets that show in the table, half are
listed. Among unlisted variables of some agreement there are then as many targets as there are
members of that agreement, and their share is the probability, unless that above is smaller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

from rcweb.engine.types import Array, Ints

ROUNDS_OF_EM = 30  # of EM; it converges in about ten
HIGHEST_AGREEMENT = 12.0  # agreement counts up to here, in sd: more would let one member decide
# Pseudo-observations of a target's agreement: a list of three members has finite parameters too.
MEAN, MEAN_COUNT = 2.0, 1.5
VARIANCE, VARIANCE_COUNT = 2.0, 2.0
LEAST_SHARE, LARGEST_SHARE = 0.01, 0.99  # of a list that is seen
TWO_SD = 0.9772  # share of a normal distribution below two standard deviations
SURE = 1e-9  # least distance of a probability from 0 and 1: log-odds stay finite


@dataclass(frozen=True)
class Targets:
    """What one list is in this table.

    reliability : share of the list that is seen; prevalence : share of targets among the others
    mean, variance : agreement of targets
    """

    reliability: float
    prevalence: float
    mean: float = MEAN
    variance: float = VARIANCE

    @property
    def strength(self) -> float:
        """What being listed adds to the log-odds of being a target."""
        return float(logit(self.reliability) - logit(self.prevalence))

    def ratio(self, a: Array) -> Array:
        """Log density of a target over that of any other variable, never falling as `a` grows."""
        a = np.minimum(a, HIGHEST_AGREEMENT)
        if self.variance > 1:
            # Left of its minimum the wider density would win again.
            a = np.maximum(a, self.mean / (1 - self.variance))
        far = (a - self.mean) ** 2 / self.variance
        return np.asarray(0.5 * (a * a - far - np.log(self.variance)))


def learn_targets(
    a: Array, members: Ints, confidence: Array, expected: tuple[float, float] = (0.5, 1.0)
) -> Targets:
    """Fit the mixture to the agreement of all variables, (N,).

    expected : reliability that lists have here, and how many members that counts as
    """
    own, others = np.minimum(a[members], HIGHEST_AGREEMENT), np.delete(a, members)
    found = Targets(0.6, len(own) / len(a), max(float(own.mean()), 1.0))
    for _ in range(ROUNDS_OF_EM):
        r = expit(logit(found.reliability * confidence) + found.ratio(own))
        # A mean below 1 would take in the upper half of what has nothing to do with the list.
        mean = max(float((r @ own + MEAN * MEAN_COUNT) / (r.sum() + MEAN_COUNT)), 1.0)
        spread = r @ (own - mean) ** 2 + VARIANCE * VARIANCE_COUNT
        found = replace(
            found,
            reliability=share_seen(r, confidence, expected),
            mean=mean,
            variance=float(spread / (r.sum() + VARIANCE_COUNT)),
        )
    share = learn_prevalence(found.ratio(others), found.prevalence)
    # At most as many as are listed and seen.
    most = found.reliability * confidence.sum() / len(others)
    return replace(found, prevalence=min(share, most))


def learn_prevalence(ratio: Array, share: float) -> float:
    """Share of targets among variables of these log-likelihood ratios, beginning at `share`."""
    for _ in range(ROUNDS_OF_EM):
        share = float((expit(logit(share) + ratio).sum() + 0.5) / (len(ratio) + 1))
    return share


def member_log_odds(
    a: Array, members: Ints, confidence: Array, expected: tuple[float, float]
) -> tuple[Array, float]:
    """Log-odds of the members to be targets, (n,), and the list's reliability.

    A wrong member is like any unlisted variable, so members are judged in units of these: what
    resembles one member of a list of alike ones resembles all of them, and unlisted variables
    scatter more than random lists say. With 60 % false members a probability of 0.86 was true in
    0.66 to 0.78 beside random lists, and is in 0.77 to 0.87 beside unlisted variables.
    """
    # Median and two standard deviations above it: few targets among them do not move these.
    middle, upper = np.quantile(np.delete(a, members), [0.5, TWO_SD])
    scaled = a.copy()
    scaled[members] = (a[members] - middle) / max((upper - middle) / 2, 1.0)
    found = learn_targets(scaled, members, confidence, expected)
    odds = logit(found.reliability * confidence) + found.ratio(scaled[members])
    return np.asarray(odds), found.reliability


def target_log_odds(a: Array, members: Ints, confidence: Array, found: Targets) -> Array:
    """Log-odds of every variable to be a target, (N,)."""
    before = np.full(len(a), found.prevalence)
    before[members] = found.reliability * confidence
    odds = logit(before) + found.ratio(a)
    unlisted = np.ones(len(a), bool)
    unlisted[members] = False
    share = _share_of_targets(a[unlisted], a[members], expit(odds[members]))
    odds[unlisted] = np.minimum(odds[unlisted], logit(np.clip(share, SURE, 1 - SURE)))
    return odds


def share_seen(seen: Array, confidence: Array, expected: tuple[float, float]) -> float:
    """Reliability of a list from the probabilities of its members, (n,)."""
    share, count = expected
    found = (seen.sum() + share * count) / (confidence.sum() + count)
    return float(np.clip(found, LEAST_SHARE, LARGEST_SHARE))


def _share_of_targets(others: Array, own: Array, seen: Array) -> Array:
    """Of unlisted variables about as agreeing as each, the share of targets if there are as many as
    listed ones that are `seen`: members per variable, as a rising function of agreement."""
    order = np.argsort(others, kind="stable")
    at = np.searchsorted(others[order], own).clip(max=len(others) - 1)
    members = np.bincount(at, weights=seen, minlength=len(others))
    share = np.empty(len(others))
    share[order] = isotonic_regression(members)
    return share
