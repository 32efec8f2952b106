"""From the columns of a search to weights and grades: which of them are regulators.

Every regulator is graded. Certified: disjoint halves of the variables lead to it. Found: other
starts lead to it. Where noise is not independent and zeros are exact, both must also recur in
halves of the samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import FEWEST, GOOD_PART, LITTLE
from rcweb.engine.curved import curve_of
from rcweb.engine.effort import Run
from rcweb.engine.estimate.diffuse import confirmed_first, estimate_diffuse
from rcweb.engine.estimate.network import NetworkEstimate
from rcweb.engine.estimate.sparse import Unsettled, estimate_sparse
from rcweb.engine.samples import participation_ratio, rows_seen
from rcweb.engine.search.found import Found
from rcweb.engine.searched import Searched
from rcweb.engine.solution import Records
from rcweb.engine.spectrum import FEW_LEFT, Spectrum
from rcweb.engine.types import Mask


@dataclass(frozen=True)
class Graded:
    """Weights and the probability of every edge, and the columns with their grades; `unsettled` if
    the posterior must be sampled to know them."""

    searched: Searched
    estimate: NetworkEstimate
    found: Found
    unsettled: Unsettled | None = None

    @property
    def keep(self) -> NDArray[np.intp]:
        """Columns to return."""
        return _choose_regulators(self.found, self.searched.problem.spectrum, self.searched.asked)

    @property
    def n_curves(self) -> int:
        """Curves of other regulators that would be regulators otherwise."""
        return int(self.found.confirmed_curves.sum())

    @property
    def n_straight(self) -> int:
        """Columns to return that are no curves."""
        return int((~self.found.curve[self.keep]).sum())

    @property
    def curved(self) -> bool:
        """Whether a good part of the regulators has curves: these are directions of their own, in
        which the regulators are mixed with them, and which fewer directions do not have. The
        strongest are the regulators': a curve is weaker than what it is a curve of."""
        many = self.n_curves > GOOD_PART * self.found.confirmed.sum()
        asked, K = self.searched.asked, self.searched.problem.space.K
        return many and 0 < self.n_straight < (K if isinstance(asked, str) else asked)

    def sampled(self, run: Run) -> Graded:
        """With the posterior sampled, where it is unsettled and that can matter: where noise is not
        independent, the sampler confirms no column that was not confirmed before."""
        white = self.searched.problem.spectrum.white
        if self.unsettled is None or not (white or self.found.confirmed.any()):
            return replace(self, unsettled=None)
        return _graded(self.searched, *self.unsettled.sampled(run))

    @property
    def records(self) -> Records:
        """What `evidence_` says of the curves."""
        return [
            {"evidence": "directions searched before", "count": self.searched.problem.space.K},
            {"evidence": "curves of other regulators in them", "count": self.n_curves},
        ]


def grade(searched: Searched, run: Run) -> Graded:
    """Weights and probabilities, and what they say about the columns."""
    problem, found = searched.problem, searched.found
    if found.exact:
        estimate, found, unsettled = estimate_sparse(problem, found, run)
        return replace(_graded(searched, estimate, found), unsettled=unsettled)
    return _graded(searched, estimate_diffuse(problem, found), found)


def _graded(searched: Searched, estimate: NetworkEstimate, found: Found) -> Graded:
    found = _told_apart(searched, found, estimate)
    estimate = confirmed_first(searched.problem, estimate, found.confirmed)
    return Graded(searched, estimate, found)


def _told_apart(searched: Searched, found: Found, estimate: NetworkEstimate) -> Found:
    """Which rows can be told from noise and from other regulators.

    Under noise not those of fewer than three targets: one variable alone, or two that share noise
    as copies do, look the same (Anderson and Rubin, 1956). For the same reason not those that are
    active in fewer than three samples, by their participation ratio: errors of one sample are a
    direction of their own, sparse where they have long tails, and the same in all halves of the
    variables. Nor curves of another regulator (`curved`); that one is not certified either, since
    any mixture of it and its curves is as good.
    """
    space, targets = searched.problem.space, estimate.probability > 0.5
    R = searched.rows_of_samples(rows_seen(space.N)) @ estimate.projection
    main = curve_of(estimate.C, targets, R)
    active = participation_ratio((R**2).sum(axis=0), (R**4).sum(axis=0))
    # A tenth of few samples: Gaussian activities are as if active in a third of them.
    enough = active >= min(FEWEST, LITTLE * len(R))
    seen = space.noise_free | (targets.sum(axis=1) >= FEWEST)
    found = replace(
        found,
        identified=found.identified & seen,
        curve=main >= 0,
        in_enough=space.noise_free | enough,
        fidelity=estimate.fidelity,
        paired=_paired(targets),
    )
    # Curves that are no more than noise are mixed with nothing.
    mixed = main[found.confirmed_curves]
    return replace(found, straight=~np.isin(np.arange(len(main)), mixed))


def _paired(targets: Mask) -> Mask:
    """(n,) rows most of whose targets (n, N) another has too, and that have most of that one's.
    Zeros do not tell such a pair from any turn of the two; only the sizes of weights may."""
    count = targets.sum(axis=1)
    common = targets.astype(np.float32) @ targets.T.astype(np.float32)
    np.fill_diagonal(common, 0)
    return np.asarray((common > np.maximum.outer(count, count) / 2).any(axis=1))


def _choose_regulators(
    found: Found, spectrum: Spectrum, n_components: int | str
) -> NDArray[np.intp]:
    """The P best columns, confirmed ones first. With "auto" as many as directions stand above noise
    that is independent. Above other noise the confirmed (the best, if none is), and what halves of
    the variables share though halves of the samples do not; where small effects are everywhere,
    what more than one search found. Graded as neither, these have no edges, but a regulator that
    half of the searches miss may be real. All where too few samples tell noise.

    However sparse, rows of few samples come last.
    """
    good, wild = found.confirmed, ~found.in_enough
    order = np.lexsort((-found.score, found.curve, ~good, wild))
    if not isinstance(n_components, str):
        return order[: min(spectrum.P, n_components)]
    kept = good | (found.recurrent & found.apart if found.exact else found.frequency > 0)
    if spectrum.ends or spectrum.n_left < FEW_LEFT:
        kept = ~wild
    return np.flatnonzero(kept) if kept.any() else order[:1]
