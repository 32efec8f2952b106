"""From what was read off an instrument to the values that a network is about.

Values at limits of detection count as missing; a response that bends all variables is undone, and
the values of each variable get the units of its readings back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rcweb.engine.limits import hide_limits
from rcweb.engine.response import Response
from rcweb.engine.types import Array


@dataclass(frozen=True)
class Instrument:
    """What the variables of a table were measured with.

    limits : (2, N) of detection; None if there are none
    response : None if it is linear
    slopes : (N,) of the readings over their values; see `Response.slopes`
    """

    limits: Array | None = None
    response: Response | None = None
    slopes: Array | None = None

    @classmethod
    def of(cls, model: Any) -> Instrument:
        """Of the table of a fitted model; models of earlier versions may know nothing of it."""
        limits = getattr(model, "limits_", None)
        if limits is not None and not np.isfinite(limits).any():
            limits = None
        curve = getattr(model, "response_", np.empty(0))
        if not len(curve):
            return cls(limits)
        return cls(limits, Response(*map(float, curve)), model.response_slopes_)

    @property
    def plain(self) -> bool:
        """Whether values are the readings."""
        return self.limits is None and self.response is None

    def __call__(self, X: Array) -> Array:
        """The values of readings (M, N), NaN where they lie at limits."""
        return self.straight(hide_limits(X, self.limits))

    def straight(self, X: Array) -> Array:
        """The values of readings (M, N), whether or not they lie at limits."""
        if self.response is None or self.slopes is None:
            return X
        return self.response(X) * self.slopes

    def readings(self, values: Array) -> Array:
        """The readings (M, N) of values, without limits."""
        if self.response is None or self.slopes is None:
            return values
        return self.response.readings(values / self.slopes)

    def variable(self, n: int) -> Instrument:
        """For tables of one variable, (M, 1)."""
        limits = None if self.limits is None else self.limits[:, [n]]
        return Instrument(limits, self.response, None if self.slopes is None else self.slopes[[n]])
