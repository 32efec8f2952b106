"""Planted and random subspaces for the tests of the oblique search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.matching import match_rows
from rcweb.engine.search.space import Space
from rcweb.engine.spectrum import leading_directions
from rcweb.lab.simulate import Simulation, simulate


@dataclass(frozen=True)
class Problem:
    """A simulation, the space searched, and its coordinates in double precision."""

    sim: Simulation
    space: Space
    X: np.ndarray

    def accuracy(self, B: np.ndarray) -> np.ndarray:
        """|correlation| of each true row with the row of ``B X^T`` assigned to it."""
        return np.abs(match_rows(B @ self.X.T, self.sim.network).correlation)


def planted(
    seed: int, M: int = 100, N: int = 120, P: int = 6, *, noise: float = 0.1, density: float = 0.15
) -> Problem:
    sim = simulate(M, N, P, noise=noise, density=density, random_state=seed)
    spectrum = leading_directions(CondensedTable.of(sim.data - sim.data.mean(axis=0)), P)
    space = Space.of(spectrum.V, spectrum.s, spectrum.sigma)
    return Problem(sim, space, spectrum.V * np.sqrt(len(spectrum.V)))


def random_space(seed: int, N: int, K: int, noise: float = 0.2) -> Space:
    """A subspace in which nothing is sparse but by chance."""
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((N, K)))[0]
    return Space.of(V, np.ones(K), noise / np.sqrt(N))


def random_columns(seed: int, K: int) -> np.ndarray:
    """Orthogonal columns that know nothing of the data."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((K, K)))[0]
