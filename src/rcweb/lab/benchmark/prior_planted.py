"""Planted tables with known lists: what they add to the network, and what wrong ones do to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.matching import match_rows
from rcweb.lab.benchmark import prior_adapter
from rcweb.lab.benchmark.measure import score
from rcweb.lab.benchmark.methods import Estimate
from rcweb.lab.benchmark.prior import ask
from rcweb.lab.benchmark.prior_lists import KnownLists
from rcweb.lab.benchmark.prior_methods import OURS_GUIDED, Asked, ListProblem
from rcweb.lab.benchmark.prior_splits import ListSplit, make_split
from rcweb.lab.benchmark.scenarios import AUTHOR, Cell, figure3
from rcweb.lab.simulate import Simulation

PLANTED_CONDITIONS = ("clean", "false 50 %", "random")
NETWORK_SCORES = ("rho", "rho_edges", "recall", "recall_hidden", "fdr", "fdr_hidden")


@dataclass(frozen=True)
class PlantedPriorCell:
    """A cell of figure 3 in the author's convention, half of the true targets known.

    world : panel of the figure, "A" (Poisson, 50 % noise) or "B" (power law, 10 % noise)
    condition : "clean"; "false 50 %": half of the shown targets are wrong; "random" lists
    """

    figure: str
    panel: str
    world: str
    n_samples: int
    n_features: int = 500
    n_regulators: int = 30
    condition: str = "clean"

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        return f"{self.panel}, {self.condition}"

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        sizes = f"M={self.n_samples} N={self.n_features} P={self.n_regulators}"
        return f"{self.figure} {self.label} {self.world} {sizes}"

    def scenario(self) -> Cell:
        """The cell of the figure that draws the table."""
        sizes = (self.n_samples, self.n_features)
        cells = figure3(AUTHOR, "", self.world)
        return next(cell for cell in cells if (cell.n_samples, cell.n_features) == sizes)


def planted_prior_cells() -> tuple[PlantedPriorCell, ...]:
    """Where a blind fit finds little (A, few samples) and where it finds nearly all (B)."""
    worlds = (("A", 50), ("A", 100), ("A", 150), ("B", 100))
    return tuple(
        PlantedPriorCell("prior", f"planted {world} M={M}", world, M, condition=condition)
        for world, M in worlds
        for condition in PLANTED_CONDITIONS
    )


def measure_planted_prior(cell: PlantedPriorCell, method: str, seed: int) -> dict[str, Any]:
    """Hidden targets found again; of ours also the network with lists and without them."""
    problem, sim = _drawn(cell.scenario(), seed)
    members = tuple(np.flatnonzero(row) for row in sim.edges)
    known = KnownLists(tuple(f"r{k}" for k in range(len(members))), members)
    split = make_split(known, cell.n_features, cell.condition, seed)
    asked = Asked(problem, split, np.full(len(members), -1, np.int64))
    row = ask(asked, method, seed)
    if method == OURS_GUIDED:
        with_lists = prior_adapter.guided_network(problem.blind, problem.table, split.shown)
        without = prior_adapter.network_of(problem.blind)
        for suffix, estimate in (("", with_lists), ("_blind", without)):
            found = {**score(estimate, sim), **_not_shown(estimate, sim, split)}
            row.update({f"{name}{suffix}": found[name] for name in NETWORK_SCORES})
    return row


def _not_shown(estimate: Estimate, sim: Simulation, split: ListSplit) -> dict[str, float]:
    """Recall and FDR over the entries that no list showed: those shown were told, not found."""
    shown = np.zeros(sim.edges.shape, bool)
    for source, members in zip(split.source, split.shown):
        # A random list shows nothing of any regulator.
        if source >= 0:
            shown[source, members] = True
    pairs = match_rows(estimate.network, sim.network)
    drawn = (estimate.network[pairs.found] != 0) & ~shown[pairs.other]
    right = drawn & sim.edges[pairs.other]
    return {
        "recall_hidden": round(float(right.sum() / max((sim.edges & ~shown).sum(), 1)), 5),
        "fdr_hidden": round(float(1 - right.sum() / max(drawn.sum(), 1)), 5),
    }


# The conditions and methods of one cell and seed do not all follow each other.
@lru_cache(maxsize=32)
def _drawn(cell: Cell, seed: int) -> tuple[ListProblem, Simulation]:
    sim = cell.draw(seed)
    names = pd.Index([f"v{n}" for n in range(cell.n_features)])
    return ListProblem(pd.DataFrame(sim.data, columns=names), cell.n_regulators), sim
