"""One order and one sign for the variables of a table, whatever the user's are.

Rounding in searches and samplers can decide between two answers that are equally good. So the
engine sees every table in the same form: variables in the order of their power, each with the
sign of its product with the first, leading directions with a positive sum of cubes. Permuting or
negating columns of the user's table then changes nothing but the labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.spectrum import Spectrum
from rcweb.engine.types import Array


@dataclass(frozen=True)
class Arrangement:
    """Variable ``order[i]`` of the user's table, times ``sign[i]``, is the engine's variable i."""

    order: NDArray[np.intp]
    sign: Array

    def arranged(self, values: Array) -> Array:
        """A signed quantity of the user's variables (N,), in the engine's order and signs."""
        return np.asarray(values[self.order] * self.sign)

    def arranged_rows(self, rows: Array) -> Array:
        """Samples (n, N) in the engine's order and signs of variables."""
        return np.ascontiguousarray(rows[:, self.order] * self.sign)

    def restore(self, rows: Array) -> Array:
        """Rows (n, N) of signed quantities, in the user's order and signs."""
        return self.restore_order(rows * self.sign)

    def restore_order(self, values: Array) -> Array:
        """Unsigned quantities (..., N) in the user's order."""
        restored = np.empty_like(values)
        restored[..., self.order] = values
        return restored


def arrange(spectrum: Spectrum) -> tuple[Spectrum, Arrangement]:
    """The spectrum in the engine's order and signs, and the way back."""
    table = spectrum.table
    # By power: it changes neither with the order nor with the sign of the user's columns.
    order = np.argsort(-table.power, kind="stable")
    # One column of S = G0^T G0 has the products of all variables with the strongest one.
    first = np.zeros((table.N, 1))
    first[order[0]] = 1.0
    sign = np.where(table.times(first)[order, 0] < 0, -1.0, 1.0)
    V = spectrum.V[order] * sign[:, None]
    V = V * np.where((V * V * V).sum(axis=0) < 0, -1.0, 1.0)
    arranged = replace(
        spectrum,
        table=table.arranged(order, sign),
        V=np.ascontiguousarray(V),
        factor=spectrum.factor[order],
    )
    return arranged, Arrangement(order, sign)
