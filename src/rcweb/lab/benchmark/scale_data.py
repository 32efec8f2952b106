"""Planted tables of any length, whose rows are drawn when they are read.

A table is a function of its seed and shape: rows come in pieces of fixed size, each from a stream
of its own, so that any range can be read, any number of times, from any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from rcweb.engine.types import Array, Rng
from rcweb.lab.simulate import simulate

PIECE = 1024  # rows drawn at once
SPARSE_DEGREE = 0.02  # share of the variables that a regulator of a sparse table reaches
SPARSE_NOISE = 0.3  # log-sd that stored entries are multiplied by
UNEXPLAINED = 0.2  # share of the stored entries of a sparse table that no regulator explains


@dataclass(frozen=True)
class PlantedRows:
    """Rows of ``R C + noise``; `filled` is the share of entries that are not zero, 1 = dense.

    Dense: Poisson network of density 0.1, normal weights, regulators U(0, 1), noise of half the
    signal's standard deviation. Sparse: each sample has few active regulators, all effects are
    positive, noise multiplies, and one entry in five is background: like counts of cells.
    """

    n_samples: int
    n_features: int
    n_regulators: int
    filled: float = 1.0
    seed: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, self.n_features

    @cached_property
    def network(self) -> Array:
        """C (P, N)."""
        P, N = self.n_regulators, self.n_features
        if self.filled == 1:
            return simulate(2, N, P, density=0.1, random_state=self.seed).network
        rng = np.random.default_rng(self.seed)
        return (rng.random((P, N)) < SPARSE_DEGREE) * rng.uniform(0.5, 1.5, (P, N))

    @cached_property
    def _sparse_network(self) -> Any:
        return sparse.csr_array(self.network)

    def read(self, start: int, stop: int) -> Any:
        """Rows `start` to `stop`, an array or sparse rows."""
        # Rounded up, so that the last piece is included.
        first, last = start // PIECE, -(-stop // PIECE)
        pieces = [self._piece(k) for k in range(first, last)]
        stack = np.vstack if self.filled == 1 else sparse.vstack
        low = first * PIECE
        return stack(pieces)[start - low : stop - low]

    def _piece(self, k: int) -> Any:
        # A stream per piece: the same rows, whatever is read before them.
        rng = np.random.default_rng([self.seed, k])
        n = min(PIECE, self.n_samples - k * PIECE)
        return self._dense(rng, n) if self.filled == 1 else self._sparse(rng, n)

    def _dense(self, rng: Rng, n: int) -> Array:
        # Standard deviation of the signal: U(0, 1) has variance 1/12.
        signal = np.sqrt((self.network**2).sum(axis=0).mean() / 12)
        noise = rng.standard_normal((n, self.n_features))
        return rng.random((n, self.n_regulators)) @ self.network + 0.5 * signal * noise

    def _sparse(self, rng: Rng, n: int) -> Any:
        shape = (n, self.n_regulators)
        share = (1 - UNEXPLAINED) * self.filled / (SPARSE_DEGREE * self.n_regulators)
        active = (rng.random(shape) < share) * rng.uniform(0.5, 1.5, shape)
        rows = sparse.csr_array(active) @ self._sparse_network
        rows += sparse.random_array(
            (n, self.n_features), density=UNEXPLAINED * self.filled, random_state=rng, format="csr"
        )
        rows.data *= np.exp(SPARSE_NOISE * rng.standard_normal(len(rows.data)))
        return rows
