"""What is to be estimated: a table, its directions, and the start that columns give a posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.posterior.axes import Axes, all_axes, leading_axes
from rcweb.engine.posterior.mean_field import MeanField, mean_field
from rcweb.engine.posterior.slab import density_concentration
from rcweb.engine.search.found import Found
from rcweb.engine.search.sharpen import sharpen
from rcweb.engine.search.space import LOW_NOISE, NEAR_ZERO, Space
from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array, Mask


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

    def hopeless(self, found: Found) -> bool:
        """Whether a longer search would only turn over noise: no direction stands above it, or it
        is not independent and no column is sparse."""
        none = not found.sparse.any() and not self.spectrum.white
        return none or self.spectrum.n_above_noise == 0

    @property
    def concentration(self) -> float:
        """How firmly the densities of rows are held together."""
        return density_concentration(self.space.N, self.noise)

    def axes(self) -> Axes:
        """Axes of the samples: with little noise the leading ones are enough."""
        table, K = self.table, self.space.K
        few = self.noise < LOW_NOISE and len(table.gram) > 12 * K
        single = self.noise > LOW_NOISE
        return leading_axes(table, 2 * K, single=single) if few else all_axes(table, single=single)

    def rows(self, found: Found) -> Array:
        """Rows of C up to scale, ``(V B)^T``; sharpened where there is little noise."""
        B = found.columns.B
        X = self.spectrum.V * np.sqrt(self.space.N)
        if self.noise < LOW_NOISE:
            floor = ((B * self.space.noise) ** 2).sum(axis=1)
            B = sharpen(X, B, floor, found.columns.density.pi)
        return np.asarray(B @ X.T)

    def _clear_rows(self, found: Found) -> tuple[Array, Array]:
        """The rows, and the variance of their background; entries that background and noise can
        explain are shrunk to what the background explains of them, zero without one.

        For two regulators with nearly equal activities, small entries of opposite sign would keep
        each other alive: each is certain as long as the other is there. A row that would become
        empty keeps its entries.
        """
        Y, v0 = self.rows(found), found.columns.density.v0
        background = np.maximum(v0 - self.space.floor(found.columns.B), 0.0)
        clear = np.abs(Y) > NEAR_ZERO * np.sqrt(v0)[:, None]
        clear |= ~clear.any(axis=1, keepdims=True)
        return np.where(clear, Y, (background / v0)[:, None] * Y), background

    def mean_field(
        self,
        axes: Axes,
        found: Found,
        judged: Mask | None,
        stay: float = 0.0,
        tail: float = 0.0,
    ) -> MeanField:
        """The joint posterior by mean field, from the columns found."""
        start, background = self._clear_rows(found)
        prior = self.concentration
        return mean_field(
            axes, start, background, concentration=prior, judged=judged, stay=stay, tail=tail
        )
