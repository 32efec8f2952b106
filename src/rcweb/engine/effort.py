"""How long to search and to sample: budgets in steps, never in seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rcweb.engine.checkpoint import StageStore

MOST_ENTRIES = 30_000  # entries of C up to which the full number of sweeps is made


@dataclass(frozen=True)
class Sweeps:
    """Sweeps of the sampler: at most before averaging, to learn the slab's shape, and averaged."""

    burn: int
    shape: int
    sweeps: int

    def within(self, entries: int) -> Sweeps:
        """Fewer sweeps where there are many `entries` of C: the work is entries x sweeps."""
        share = min(1.0, MOST_ENTRIES / entries)
        return Sweeps(round(self.burn * share), self.shape, round(self.sweeps * share))


@dataclass(frozen=True)
class Effort:
    """Budgets of one quality.

    searches : independent searches, the likeliest of which goes on
    converged : sampling where mean field converges; None: its answer is the answer
    stuck : sampling where it does not, and the chain must search and mix
    """

    searches: int
    converged: Sweeps | None
    stuck: Sweeps


# Measured: a stuck chain still gains after thousands of sweeps (3B, N=500, M=50: 0.84 where it
# stops early, 0.88 with all of 12,000); 450 averaged sweeps instead of 150 bring the false
# discovery rate from 0.096 to 0.055 (3A, M=150).
EFFORTS = {
    "standard": Effort(1, None, Sweeps(6000, 10, 450)),
    "high": Effort(3, Sweeps(100, 50, 400), Sweeps(24000, 50, 2000)),
}


@dataclass(frozen=True)
class Run:
    """What accompanies a fit: random numbers, budgets, where to report, where to save."""

    rng: np.random.Generator
    effort: Effort
    report: Callable[[str], None]
    checkpoint: StageStore | None = None
