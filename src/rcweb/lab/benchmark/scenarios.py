"""A cell of the benchmark: how its data are drawn, and what a method is told about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from typing import Any

import pandas as pd

from rcweb.lab.simulate import Simulation, simulate

# How many regulators a method is asked for: as many as planted, no number, twice as many.
ASKED = ("known", "auto", "double")


@dataclass(frozen=True)
class Cell:
    """The arguments of `rcweb.lab.simulate.simulate`, under a figure and a panel.

    asked : one of ``ASKED``; everything but "known" makes sense for rcweb alone
    """

    figure: str
    panel: str
    n_samples: int
    n_features: int
    n_regulators: int
    network: str = "poisson"
    density: float = 0.1
    weights: str = "normal"
    regulators: str = "uniform"
    noise: float = 0.1
    noise_convention: str = "ratio"
    noise_kind: str = "homoscedastic"
    asked: str = "known"

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        size = f"N={self.n_features} M={self.n_samples} P={self.n_regulators}"
        asked = "" if self.asked == "known" else f" ({self.asked})"
        return f"{self.figure} {self.panel} {size}{asked}"

    @property
    def key(self) -> str:
        """A name to store: it changes with every argument that is not at its default."""
        # The first five are in the label. Only changed arguments, so that a new argument with a
        # default leaves old keys valid.
        changed = [f for f in fields(self)[5:] if getattr(self, f.name) != f.default]
        return " ".join([self.label, *(f"{f.name}={getattr(self, f.name)}" for f in changed)])

    def draw(self, seed: int) -> Simulation:
        """The planted problem number `seed` of this cell."""
        arguments = asdict(self)
        for name in ("figure", "panel", "asked"):
            del arguments[name]
        return simulate(**arguments, random_state=seed)


# The author's noise convention compares variances of uncentred tables; HONEST repeats the figures
# with the ratio of standard deviations.
AUTHOR: dict[str, Any] = {"weights": "author", "noise_convention": "author"}
HONEST: dict[str, Any] = {"weights": "author", "noise_convention": "ratio"}


def figure1(convention: dict[str, Any], panel: str) -> tuple[Cell, ...]:
    """Caption of figure 1: Poisson, out-degree 0.1 N, 10 % noise."""
    return tuple(
        Cell("fig1", panel, 280, 500, P, network="author_poisson", noise=0.1, **convention)
        for P in (10, 30, 60, 100)
    )


def figure2(convention: dict[str, Any], suffix: str, panels: Iterable[str]) -> tuple[Cell, ...]:
    """Caption of figure 2: accuracy against P (A, B) and against N (C), M = 2000."""
    cells = []
    for panel in panels:
        name = panel + suffix
        sizes = [(N, P) for N in (500, 1000) for P in (30, 60, 120)]
        world: dict[str, Any] = {"network": "author_powerlaw", "density": 0.4, "noise": 0.1}
        if panel == "A":
            world = {"network": "author_poisson", "density": 0.25, "noise": 0.5}
        if panel == "C":
            sizes = [(N, 60) for N in (250, 500, 1000, 2000, 4000)]
        cells += [Cell("fig2", name, 2000, N, P, **world, **convention) for N, P in sizes]
    return tuple(cells)


def figure3(convention: dict[str, Any], suffix: str, panels: Iterable[str]) -> tuple[Cell, ...]:
    """Caption of figure 3: accuracy against M, P = 30."""
    worlds: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
        "A": (
            (50, 100, 150, 200, 250, 300),
            {"network": "author_poisson", "density": 0.2, "noise": 0.5},
        ),
        "B": (
            (50, 100, 200, 400, 800),
            {"network": "author_powerlaw", "density": 0.4, "noise": 0.1},
        ),
    }
    return tuple(
        Cell("fig3", panel + suffix, M, N, 30, **worlds[panel][1], **convention)
        for panel in panels
        for N in (500, 1000)
        for M in worlds[panel][0]
    )


def published_figure3() -> pd.DataFrame:
    """The published points of figure 3: panel, network, method, N, M, rho."""
    with files("rcweb.lab.benchmark").joinpath("published_figure3.csv").open("r") as file:
        return pd.read_csv(file, comment="#")


def figure4() -> tuple[Cell, ...]:
    """Caption of figure 4: power-law networks, out-degree 0.4 N; one size varied at a time."""
    base: dict[str, Any] = {"n_samples": 800, "n_features": 800, "n_regulators": 30}
    ranges = {
        "P": ("n_regulators", (10, 20, 40, 80)),
        "M": ("n_samples", (200, 400, 800, 1600, 3200)),
        "N": ("n_features", (200, 400, 800, 1600, 3200)),
    }
    return tuple(
        Cell(
            "fig4",
            panel,
            **{**base, name: value},
            network="author_powerlaw",
            density=0.4,
            noise=0.1,
            **AUTHOR,
        )
        for panel, (name, values) in ranges.items()
        for value in values
    )


def worlds() -> tuple[Cell, ...]:
    """Worlds the paper does not draw: other networks, regulators, noises, weights, densities."""
    variations: dict[str, dict[str, Any]] = {
        "power law": {"network": "powerlaw"},
        "hubs": {"network": "hubs"},
        "modules": {"network": "modules"},
        "gaussian regulators": {"regulators": "gaussian"},
        "correlated regulators": {"regulators": "correlated"},
        "autocorrelated regulators": {"regulators": "autocorrelated"},
        "heavy regulators": {"regulators": "heavy"},
        "noise per variable": {"noise_kind": "per_variable"},
        "heavy noise": {"noise_kind": "heavy"},
        "uniform weights": {"weights": "uniform"},
        "positive weights": {"weights": "positive"},
        "bounded weights": {"weights": "bounded"},
        "hubs, heavy noise": {"network": "hubs", "noise_kind": "heavy"},
    }
    default: dict[str, Any] = {"density": 0.2, "noise": 0.5}
    named = [
        Cell("worlds", name, 300, 500, 30, **{**default, **change})
        for name, change in variations.items()
    ]
    dense = [
        Cell("worlds", f"density {d}", 300, 500, 30, density=d, noise=0.3)
        for d in (0.05, 0.1, 0.3, 0.5)
    ]
    return (*named, *dense)


def claims() -> tuple[Cell, ...]:
    """The noise-free claims of the abstract: density 0.5, and N / P = 2 at density 0.1."""
    clean: dict[str, Any] = {"noise": 0.0, "weights": "author"}
    ratio2 = [Cell("claims", "N/P = 2", 600, 2 * P, P, density=0.1, **clean) for P in (100, 250)]
    return (Cell("claims", "density 0.5", 280, 500, 30, density=0.5, **clean), *ratio2)


def unknown_p() -> tuple[Cell, ...]:
    """Figures 1 and 3B with the number of regulators unknown, known, and asked for twice."""
    cells = figure1(AUTHOR, "fig1") + tuple(
        c for c in figure3(AUTHOR, "", "B") if c.n_features == 500 and c.n_samples >= 400
    )
    return tuple(
        Cell(**{**asdict(c), "figure": "unknown_p", "panel": c.panel, "asked": asked})
        for c in cells
        for asked in ASKED
    )
